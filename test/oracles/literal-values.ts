/**
 * What the literal of a predicate is under a column's type, read from the rules and exactly (R11.8 to R11.11): whole
 * units and fractions of them for all that is counted, so that a digit too many is not lost.
 */
import type { Literal } from '../../src/expressions/literal.ts'
import { floorDivide } from '../naive-twin/transforms.ts'
import {
  compare,
  isNano,
  isTimestamp,
  MICROS_PER_DAY,
  type TwinType,
  type Value,
} from '../naive-twin/values.ts'

/** Of a counted type: units of it, `numerator / denominator`. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Above or below every value of the type: comparisons with it are constants (R11.10). */
export interface Beyond {
  readonly beyond: 'above' | 'below'
}

export type Operand = Value | Fraction | Beyond

const ABOVE: Beyond = { beyond: 'above' }
const BELOW: Beyond = { beyond: 'below' }

const FLOAT_LIMIT = 3.4028234663852886e38
const BITS: Partial<Record<TwinType['kind'], number>> = { int: 32, date: 32, long: 64 }

export function isFraction(operand: Operand): operand is Fraction {
  return typeof operand === 'object' && 'numerator' in operand
}

export function isBeyond(operand: Operand): operand is Beyond {
  return typeof operand === 'object' && 'beyond' in operand
}

/** Below, equal to or above 0, for a value that is not NaN. */
export function compareWith(value: Value, operand: Value | Fraction): number {
  if (!isFraction(operand)) return compare(value, operand)
  return compare(BigInt(value as number | bigint) * operand.denominator, operand.numerator)
}

/** @throws RangeError for a literal that is no value of the type */
export function operandOf(literal: Literal, type: TwinType): Operand {
  switch (type.kind) {
    case 'int':
    case 'long':
      return whole(literal, type)
    case 'date':
      return literal.kind === 'string' ? dateOf(literal.value) : whole(literal, type)
    case 'float':
    case 'double':
      return floating(literal, type)
    case 'decimal':
      return decimal(literal, type)
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return instant(literal, type)
    case 'fixed':
    case 'binary':
      return literal.kind === 'string' ? new Uint8Array(Buffer.from(literal.value, 'hex')) : literal.value
    case 'uuid':
      return (literal.value as string).toLowerCase()
    default:
      return literal.value
  }
}

function units(numerator: bigint, denominator = 1n): Fraction {
  return { numerator, denominator }
}

function whole(literal: Literal, type: TwinType): Operand {
  if (typeof literal.value !== 'number' && typeof literal.value !== 'bigint') throw notOf(literal, type)
  const value = BigInt(literal.value)
  if (BigInt.asIntN(BITS[type.kind]!, value) !== value) return value > 0n ? ABOVE : BELOW
  return units(value)
}

function floating(literal: Literal, { kind }: TwinType): Operand {
  const { value } = literal
  if (typeof value === 'bigint' || kind === 'double' || literal.kind !== 'double') return value
  if (Math.abs(literal.value) > FLOAT_LIMIT) return literal.value > 0 ? ABOVE : BELOW
  return Math.fround(literal.value)
}

/** Floats and doubles round half away from zero (R11.9). */
function decimal(literal: Literal, type: TwinType): Fraction {
  const scale = 10n ** BigInt(type.scale)
  if (literal.kind === 'decimal') {
    const digits = 10n ** BigInt(Math.abs(literal.scale))
    return literal.scale < 0 ? units(literal.value * digits * scale) : units(literal.value * scale, digits)
  }
  if (typeof literal.value === 'bigint' || literal.kind === 'int') return units(BigInt(literal.value) * scale)
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(String(literal.value))
  if (match === null) throw notOf(literal, type)
  const [, sign, before, after, exponent = '0'] = match
  const shift = BigInt(Number(exponent) - after.length)
  const digits = BigInt(before + after) * (sign === '-' ? -1n : 1n) * scale
  const exact = shift < 0n ? units(digits, 10n ** -shift) : units(digits * 10n ** shift)
  if (literal.kind === 'string') return exact
  const half = exact.numerator < 0n ? -exact.denominator : exact.denominator
  return units((2n * exact.numerator + half) / (2n * exact.denominator))
}

/** Longs are microseconds, whatever the type's unit; digits beyond the unit are a fraction of it. */
function instant(literal: Literal, type: TwinType): Fraction {
  const perMicro = isNano(type.kind) ? 1000n : 1n
  if (typeof literal.value === 'bigint') return units(literal.value * perMicro)
  if (literal.kind !== 'string') throw notOf(literal, type)
  const match = /^(?:(.+?)[T ])?(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?$/i.exec(
    literal.value,
  )
  if (match === null) throw notOf(literal, type)
  const [, date, hours, minutes, seconds = '0', fraction = '', offset = 'Z'] = match
  const days = isTimestamp(type.kind) ? dateOf(date).numerator : 0n
  const time = (BigInt(hours) * 60n + BigInt(minutes)) * 60n + BigInt(seconds)
  const nanos = (days * MICROS_PER_DAY + (time - offsetOf(offset)) * 1_000_000n) * 1000n
  return units((nanos + BigInt(fraction.padEnd(9, '0'))) * perMicro, 1000n)
}

/** In seconds. */
function offsetOf(text: string): bigint {
  if (text === 'Z' || text === 'z') return 0n
  const seconds = BigInt(text.slice(1, 3)) * 3600n + BigInt(text.slice(4)) * 60n
  return text.startsWith('-') ? -seconds : seconds
}

function dateOf(text: string): Fraction {
  const match = /^([+-]?\d{4,})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) throw new RangeError(`Cannot read the date ${JSON.stringify(text)}: it is not ISO 8601`)
  const [year, month, day] = match.slice(1).map(Number)
  return units(floorDivide(BigInt(new Date(0).setUTCFullYear(year, month - 1, day)), 86_400_000n))
}

function notOf(literal: Literal, type: TwinType): RangeError {
  return new RangeError(`Cannot read the ${literal.kind} ${String(literal.value)}: it is no ${type.text}`)
}
