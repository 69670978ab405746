/**
 * Literals that are exact in the type they are compared with, in every way a user may write them, and what they stand
 * for (R11.8, R11.9, R11.11).
 */
import type { Literal } from '../../src/expressions/literal.ts'
import type { Random } from './random.ts'
import { floorDivide, yearAndMonth } from './transforms.ts'
import {
  isNano,
  isTimestamp,
  type Kind,
  MAX_INT,
  MICROS_PER_DAY,
  MIN_INT,
  type TwinType,
  type Value,
} from './values.ts'

/** `value`, which is not NaN, as a literal that converts to it under `type`. */
export function literalFor(type: TwinType, value: Value, random: Random): Literal {
  return random.pick(literalsFor(type, value))
}

function literalsFor(type: TwinType, value: Value): Literal[] {
  switch (type.kind) {
    case 'boolean':
      return [{ kind: 'boolean', value: value as boolean }]
    case 'int':
      return integers(BigInt(value as number))
    case 'long':
      return integers(value as bigint)
    case 'float':
    case 'double':
      return floats(type.kind, value as number)
    case 'decimal':
      return decimals(type, value as bigint)
    case 'date':
      return [
        { kind: 'date', value: value as number },
        ...integers(BigInt(value as number)),
        ...isoText(type.kind, BigInt(value as number) * MICROS_PER_DAY, 'date'),
      ]
    case 'time':
      return [
        { kind: 'time', value: value as bigint },
        { kind: 'long', value: value as bigint },
        ...isoText(type.kind, value as bigint, 'time'),
      ]
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return timestamps(type.kind, value as bigint)
    case 'string':
      return [{ kind: 'string', value: value as string }]
    case 'uuid':
      return ['uuid' as const, 'string' as const].map((kind) => ({ kind, value: value as string }))
    case 'fixed':
    case 'binary':
      return [
        { kind: 'fixed', value: value as Uint8Array },
        { kind: 'binary', value: value as Uint8Array },
        { kind: 'string', value: Buffer.from(value as Uint8Array).toString('hex') },
      ]
    case 'unknown':
      throw new RangeError('Cannot write a literal of the type unknown: it has no values')
  }
}

function integers(value: bigint): Literal[] {
  const long: Literal = { kind: 'long', value }
  return value < MIN_INT || value > MAX_INT ? [long] : [long, { kind: 'int', value: Number(value) }]
}

function floats(kind: 'float' | 'double', value: number): Literal[] {
  const literals: Literal[] = [{ kind, value }]
  // A double infinity is beyond the range of a float, which makes a constant of the predicate (R11.8).
  if (kind === 'float' && Math.abs(value) !== Infinity) literals.push({ kind: 'double', value })
  else if (kind === 'double' && Object.is(Math.fround(value), value)) literals.push({ kind: 'float', value })
  if (Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 24)
    literals.push(...integers(BigInt(value)))
  return literals
}

function decimals({ scale }: TwinType, unscaled: bigint): Literal[] {
  const literals: Literal[] = [
    { kind: 'decimal', value: unscaled, scale },
    { kind: 'decimal', value: unscaled * 10n, scale: scale + 1 },
    { kind: 'string', value: `${unscaled}e-${scale}` },
  ]
  const unit = 10n ** BigInt(scale)
  if (unscaled % unit === 0n && unscaled / unit === BigInt.asIntN(32, unscaled / unit))
    literals.push({ kind: 'decimal', value: unscaled / unit, scale: 0 }, ...integers(unscaled / unit))
  if (unscaled > -(10n ** 14n) && unscaled < 10n ** 14n && unscaled !== 0n)
    literals.push({ kind: 'double', value: Number(`${unscaled}e-${scale}`) })
  return literals
}

function timestamps(
  kind: 'timestamp' | 'timestamptz' | 'timestamp_ns' | 'timestamptz_ns',
  value: bigint,
): Literal[] {
  const literals: Literal[] = [{ kind, value }]
  const zoned = kind.startsWith('timestamptz')
  if (!isNano(kind)) {
    literals.push({ kind: 'long', value }, ...isoText(kind, value, zoned ? 'zoned' : 'local'))
    const nanos = value * 1000n
    if (BigInt.asIntN(64, nanos) === nanos)
      literals.push({ kind: zoned ? 'timestamptz_ns' : 'timestamp_ns', value: nanos })
  } else {
    const micros = floorDivide(value, 1000n)
    literals.push(...isoText(kind, micros, zoned ? 'zoned' : 'local', value - micros * 1000n))
    if (micros * 1000n === value)
      literals.push(
        { kind: 'long', value: micros },
        { kind: zoned ? 'timestamptz' : 'timestamp', value: micros },
      )
  }
  return literals
}

/** ISO 8601, for the years 1 to 9999 only; else nothing. */
function isoText(
  kind: Kind,
  micros: bigint,
  form: 'date' | 'time' | 'local' | 'zoned',
  nanos = 0n,
): Literal[] {
  const days = floorDivide(micros, MICROS_PER_DAY)
  const { year, month, day } = yearAndMonth(days)
  if (year < 1n || year > 9999n) return []
  const date = `${pad(year, 4)}-${pad(month + 1n, 2)}-${pad(day, 2)}`
  if (form === 'date') return [{ kind: 'string', value: date }]
  const ofDay = micros - days * MICROS_PER_DAY
  const seconds = ofDay / 1_000_000n
  const fraction = pad(ofDay % 1_000_000n, 6) + (isNano(kind) ? pad(nanos, 3) : '')
  const time = `${pad(seconds / 3600n, 2)}:${pad((seconds / 60n) % 60n, 2)}:${pad(seconds % 60n, 2)}.${fraction}`
  if (form === 'time') return [{ kind: 'string', value: time }]
  return [{ kind: 'string', value: `${date}T${time}${form === 'zoned' ? '+00:00' : ''}` }]
}

function pad(value: bigint, width: number): string {
  return value.toString().padStart(width, '0')
}

/** What a literal made here is under `type`. */
export function valueOf(literal: Literal, type: TwinType): Value {
  const { kind, scale } = type
  if (literal.kind === 'string') return parsed(literal.value, type)
  if (kind === 'decimal') return unscaledOf(literal, scale)
  if (isTimestamp(kind) && literal.kind !== kind) return rescaled(literal.value as bigint, literal.kind, kind)
  switch (kind) {
    case 'int':
    case 'date':
    case 'float':
    case 'double':
      return Number(literal.value)
    case 'long':
      return BigInt(literal.value as number | bigint)
    default:
      return literal.value
  }
}

function unscaledOf(literal: Literal, scale: number): bigint {
  if (literal.kind === 'decimal')
    return literal.scale > scale
      ? literal.value / 10n ** BigInt(literal.scale - scale)
      : literal.value * 10n ** BigInt(scale - literal.scale)
  if (literal.kind === 'double') return parsedDecimal(String(literal.value), scale)
  return BigInt(literal.value as number | bigint) * 10n ** BigInt(scale)
}

/** A bare long is microseconds, whatever the type's unit. */
function rescaled(value: bigint, from: Literal['kind'], to: Kind): bigint {
  const fromNanos = from.endsWith('_ns')
  if (fromNanos === isNano(to)) return value
  return fromNanos ? floorDivide(value, 1000n) : value * 1000n
}

function parsed(text: string, type: TwinType): Value {
  switch (type.kind) {
    case 'decimal':
      return parsedDecimal(text, type.scale)
    case 'date':
      return Date.parse(`${text}T00:00:00Z`) / 86_400_000
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns': {
      const [, date = '1970-01-01', time, fraction] = /^(?:(.+)T)?(\d\d:\d\d:\d\d)\.(\d+)/.exec(text)!
      const units = 10n ** BigInt(fraction.length)
      return BigInt(Date.parse(`${date}T${time}Z`) / 1000) * units + BigInt(fraction)
    }
    case 'fixed':
    case 'binary':
      return new Uint8Array(Buffer.from(text, 'hex'))
    default:
      return text
  }
}

/** Digits with a point or an exponent, exact at the scale. */
function parsedDecimal(text: string, scale: number): bigint {
  const [digits, exponent = '0'] = text.split('e')
  const [whole, fraction = ''] = digits.split('.')
  const shift = Number(exponent) - fraction.length + scale
  const unscaled = BigInt(whole + fraction)
  return shift >= 0 ? unscaled * 10n ** BigInt(shift) : unscaled / 10n ** BigInt(-shift)
}
