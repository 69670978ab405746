/**
 * What a literal is as a value of a column's type: the conversion table (R11.8), cell by cell.
 *
 * Most literals are a value of the type, or can never be one. Two more answers keep comparisons true: a number beyond
 * the type's range, and one that falls between two neighbouring values (1.234 on two digits, 16777217 on floats, a
 * ninth digit on microseconds).
 */
import { describeLiteral } from './describe-literal.ts'
import type { Literal } from './literal.ts'
import { parseDate, parseTime, parseTimestamp } from './date-time-text.ts'
import { parseDecimal, rescale, type Decimal } from './decimal-scale.ts'
import { floatOfDouble, nearestFloat, type BetweenFloats } from './nearest-float.ts'
import { floorDivide } from '../types/transforms/floor-divide.ts'
import { formatType, type FixedType, type Type } from '../types/type.ts'
import type { Value } from '../types/value.ts'

/** Between two values of the type, next to each other, and equal to neither. */
export interface BetweenValues {
  readonly kind: 'between'
  readonly below: Value
  readonly above: Value
  /**
   * The one of the two that the literal becomes in other implementations, whose answers are kept too; absent where it
   * becomes neither (decimal literals).
   */
  readonly rounded?: Value
}

export type Converted =
  | { readonly kind: 'value'; readonly value: Value }
  | BetweenValues
  /** Greater, or less, than every value of the type (R11.10), but for `beyond`: the infinity of a float. */
  | { readonly kind: 'above-max' | 'below-min'; readonly beyond?: Value }
  /** `reason` is a clause for an error message: how to write a value of the type. */
  | { readonly kind: 'not-convertible'; readonly reason: string }

type TimestampKind = 'timestamp' | 'timestamptz' | 'timestamp_ns' | 'timestamptz_ns'

const MIN_INT = -(2n ** 31n)
const MAX_INT = 2n ** 31n - 1n
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n
const MAX_FLOAT = (2 - 2 ** -23) * 2 ** 127
const MICROS_PER_DAY = 86_400_000_000n
const NANOS_PER_MICRO = 1000n
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * The literal as a value of `type`. A NaN is not convertible to anything (R11.6).
 *
 * Doubles on a float column become the nearest float, and doubles and floats on a decimal column the nearest decimal, as
 * in Java: a person who writes `= 0.1` means what the column makes of 0.1. Whoever evaluates the residual may compare
 * with the double itself, though, so they are between two values where they are none (R11.9, R11.10). An instant (`timestamptz`) on a column without
 * zone means its UTC wall clock; a timestamp without zone is no instant, and is refused on a column with one.
 */
export function convertLiteral(literal: Literal, type: Type): Converted {
  switch (type.kind) {
    case 'boolean':
      return literal.kind === 'boolean' ? exactly(literal.value) : refuse(type)
    case 'int':
      return toInt(literal, type)
    case 'long':
      return toLong(literal, type)
    case 'float':
      return toFloat(literal, type)
    case 'double':
      return toDouble(literal, type)
    case 'decimal':
      return toDecimal(literal, type, type.scale)
    case 'date':
      return toDate(literal, type)
    case 'time':
      return toTime(literal, type)
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return toTimestamp(literal, type.kind)
    case 'string':
      return literal.kind === 'string' ? exactly(literal.value) : refuse(type)
    case 'uuid':
      if (literal.kind !== 'uuid' && literal.kind !== 'string') return refuse(type)
      return UUID.test(literal.value) ? exactly(literal.value.toLowerCase()) : refuse(type)
    case 'fixed':
      return toFixed(literal, type)
    case 'binary':
      return toBinary(literal, type)
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
      return refuse(type)
  }
}

function toInt(literal: Literal, type: Type): Converted {
  if (literal.kind === 'int') return exactly(literal.value)
  return literal.kind === 'long' || isHugeInteger(literal) ? intOf(literal.value) : refuse(type)
}

function toLong(literal: Literal, type: Type): Converted {
  if (literal.kind === 'int') return exactly(BigInt(literal.value))
  if (literal.kind === 'long') return exactly(literal.value)
  if (!isHugeInteger(literal)) return refuse(type)
  return { kind: literal.value > 0n ? 'above-max' : 'below-min' }
}

/** A whole number beyond 64 bits: what it was written as is a decimal, but it says where it lies (R11.10). */
function isHugeInteger(literal: Literal): literal is Extract<Literal, { kind: 'decimal' }> {
  return (
    literal.kind === 'decimal' &&
    literal.scale === 0 &&
    (literal.value > MAX_LONG || literal.value < MIN_LONG)
  )
}

/** A 64-bit integer as an int or a day. */
function intOf(value: bigint): Converted {
  if (value > MAX_INT) return { kind: 'above-max' }
  return value < MIN_INT ? { kind: 'below-min' } : exactly(Number(value))
}

function toFloat(literal: Literal, type: Type): Converted {
  switch (literal.kind) {
    case 'int':
    case 'long':
      return floatOf(BigInt(literal.value), 'float')
    case 'decimal':
      return isHugeInteger(literal) ? hugeFloatOf(literal.value, MAX_FLOAT, 'float') : refuse(type)
    case 'float':
      return Number.isNaN(literal.value) ? refuseNaN() : exactly(literal.value)
    case 'double':
      if (Number.isNaN(literal.value)) return refuseNaN()
      return toNearestFloat(literal.value)
    default:
      return refuse(type)
  }
}

/**
 * The nearest float. Java takes infinity, too, for a literal beyond the floats (R11.8), and so loses rows that hold it
 * to `x = Infinity` and `x > 1e39`.
 */
function toNearestFloat(value: number): Converted {
  if (!Number.isFinite(value)) return exactly(value)
  if (value > MAX_FLOAT) return { kind: 'above-max', beyond: Infinity }
  if (value < -MAX_FLOAT) return { kind: 'below-min', beyond: -Infinity }
  return exactlyOrBetween(floatOfDouble(value))
}

function toDouble(literal: Literal, type: Type): Converted {
  switch (literal.kind) {
    case 'int':
    case 'long':
      return floatOf(BigInt(literal.value), 'double')
    case 'decimal':
      return isHugeInteger(literal) ? hugeFloatOf(literal.value, Number.MAX_VALUE, 'double') : refuse(type)
    case 'float':
    case 'double':
      return Number.isNaN(literal.value) ? refuseNaN() : exactly(literal.value)
    default:
      return refuse(type)
  }
}

function floatOf(integer: bigint, width: 'float' | 'double'): Converted {
  return exactlyOrBetween(nearestFloat(integer, width))
}

function exactlyOrBetween(near: number | BetweenFloats): Converted {
  if (typeof near === 'number') return exactly(near)
  return { kind: 'between', below: near.below, above: near.above, rounded: near.nearest }
}

/** An integer of any size; beyond the finite numbers, of which `greatest` is the last, only infinity is farther out. */
function hugeFloatOf(integer: bigint, greatest: number, width: 'float' | 'double'): Converted {
  if (integer > BigInt(greatest)) return { kind: 'between', below: greatest, above: Infinity }
  if (integer < -BigInt(greatest)) return { kind: 'between', below: -Infinity, above: -greatest }
  return floatOf(integer, width)
}

function toDecimal(literal: Literal, type: Type, scale: number): Converted {
  switch (literal.kind) {
    case 'int':
    case 'long':
      return decimalAt({ unscaled: BigInt(literal.value), scale: 0 }, scale)
    case 'float':
    case 'double': {
      if (Number.isNaN(literal.value)) return refuseNaN()
      // The shortest text that reads back as the double, which is what Java starts from; none for infinities.
      const decimal = parseDecimal(String(literal.value))
      if (decimal === undefined) return refuse(type)
      const rescaled = rescale(decimal, scale)
      if (rescaled.kind !== 'between') return decimalAt(decimal, scale)
      return { kind: 'between', below: rescaled.below, above: rescaled.above, rounded: rescaled.nearest }
    }
    case 'decimal':
      return decimalAt({ unscaled: literal.value, scale: literal.scale }, scale)
    case 'string': {
      const decimal = parseDecimal(literal.value)
      return decimal === undefined ? refuse(type) : decimalAt(decimal, scale)
    }
    default:
      return refuse(type)
  }
}

function decimalAt(decimal: Decimal, scale: number): Converted {
  const rescaled = rescale(decimal, scale)
  switch (rescaled.kind) {
    case 'exact':
      return exactly(rescaled.unscaled)
    case 'between':
      return { kind: 'between', below: rescaled.below, above: rescaled.above }
    default:
      return rescaled
  }
}

function toDate(literal: Literal, type: Type): Converted {
  switch (literal.kind) {
    case 'int':
    case 'date':
      return exactly(literal.value)
    case 'long':
      return intOf(literal.value)
    case 'decimal':
      return isHugeInteger(literal) ? intOf(literal.value) : refuse(type)
    case 'timestamp':
    case 'timestamptz':
      return dayOf(literal.value, MICROS_PER_DAY)
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return dayOf(literal.value, MICROS_PER_DAY * NANOS_PER_MICRO)
    case 'string': {
      const days = parseDate(literal.value)
      if (days === undefined) return refuse(type)
      return days === (days | 0) ? exactly(days) : refuseRange(type)
    }
    default:
      return refuse(type)
  }
}

/** The day of an instant; a time after midnight lies between two days. */
function dayOf(instant: bigint, unitsPerDay: bigint): Converted {
  const days = inUnits(instant, unitsPerDay)
  if (days.kind === 'value') return exactly(Number(days.value))
  const day = Number(days.below)
  return { kind: 'between', below: day, above: day + 1, rounded: day }
}

function toTime(literal: Literal, type: Type): Converted {
  if (literal.kind === 'long' || literal.kind === 'time') return exactly(literal.value)
  const nanos = literal.kind === 'string' ? parseTime(literal.value) : undefined
  return nanos === undefined ? refuse(type) : inUnits(nanos, NANOS_PER_MICRO)
}

function toTimestamp(literal: Literal, kind: TimestampKind): Converted {
  const type = { kind }
  const isZoned = kind === 'timestamptz' || kind === 'timestamptz_ns'
  const isNanos = kind === 'timestamp_ns' || kind === 'timestamptz_ns'
  switch (literal.kind) {
    // Microseconds whatever the column's unit is.
    case 'long':
      return isNanos ? inLong(literal.value * NANOS_PER_MICRO, type) : exactly(literal.value)
    case 'timestamp':
    case 'timestamptz':
      if (isZoned && literal.kind === 'timestamp') return refuseUnzonedLiteral(literal, kind)
      return isNanos ? inLong(literal.value * NANOS_PER_MICRO, type) : exactly(literal.value)
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (isZoned && literal.kind === 'timestamp_ns') return refuseUnzonedLiteral(literal, kind)
      return isNanos ? exactly(literal.value) : inUnits(literal.value, NANOS_PER_MICRO)
    case 'string':
      return timestampOf(literal.value, type, isZoned, isNanos)
    default:
      return refuse(type)
  }
}

function timestampOf(text: string, type: Type, isZoned: boolean, isNanos: boolean): Converted {
  const parsed = parseTimestamp(text)
  if (parsed === undefined) {
    if (parseDate(text) === undefined) return refuse(type)
    const midnight = `${text}T00:00:00${isZoned ? 'Z' : ''}`
    return { kind: 'not-convertible', reason: `write a time too, as in "${midnight}"` }
  }
  if (isZoned && !parsed.isZoned) return refuseUnzoned(text)
  if (!isZoned && parsed.isZoned)
    return { kind: 'not-convertible', reason: 'write it without an offset, since the column has no zone' }
  if (isNanos) return inLong(parsed.nanos, type)
  const micros = inUnits(parsed.nanos, NANOS_PER_MICRO)
  const highest = micros.kind === 'between' ? micros.above : micros.value
  const lowest = micros.kind === 'between' ? micros.below : micros.value
  return highest <= MAX_LONG && lowest >= MIN_LONG ? micros : refuseRange(type)
}

function toFixed(literal: Literal, type: FixedType): Converted {
  const bytes = bytesOf(literal)
  return bytes?.length === type.length ? exactly(bytes) : refuse(type)
}

function toBinary(literal: Literal, type: Type): Converted {
  const bytes = bytesOf(literal)
  return bytes === undefined ? refuse(type) : exactly(bytes)
}

function bytesOf(literal: Literal): Uint8Array | undefined {
  if (literal.kind === 'fixed' || literal.kind === 'binary') return literal.value
  if (literal.kind !== 'string' || literal.value.length % 2 !== 0) return undefined
  return /^[0-9a-f]*$/i.test(literal.value) ? new Uint8Array(Buffer.from(literal.value, 'hex')) : undefined
}

function exactly(value: Value): { readonly kind: 'value'; readonly value: Value } {
  return { kind: 'value', value }
}

/** `value` in units of `divisor`: Java's rounding, but downwards before 1970 too. */
function inUnits(
  value: bigint,
  divisor: bigint,
): { readonly kind: 'value'; readonly value: bigint } | (BetweenValues & { below: bigint; above: bigint }) {
  const below = floorDivide(value, divisor)
  if (below * divisor === value) return { kind: 'value', value: below }
  return { kind: 'between', below, above: below + 1n, rounded: below }
}

function inLong(value: bigint, type: Type): Converted {
  return value > MAX_LONG || value < MIN_LONG ? refuseRange(type) : exactly(value)
}

function refuseRange(type: Type): Converted {
  return { kind: 'not-convertible', reason: `it is beyond the range of ${formatType(type)}` }
}

function refuseNaN(): Converted {
  return { kind: 'not-convertible', reason: 'NaN equals nothing, test for it with IS NAN or IS NOT NAN' }
}

function refuseUnzoned(text: string): Converted {
  return { kind: 'not-convertible', reason: `write it with an offset, as in "${text}Z"` }
}

/** What was typed as a timestamp without zone needs another type, not only an offset. */
function refuseUnzonedLiteral(literal: Literal, kind: TimestampKind): Converted {
  const reason = `write it with an offset, as in ${kind.toUpperCase()} '${describeLiteral(literal)}Z'`
  return { kind: 'not-convertible', reason }
}

function refuse(type: Type): Converted {
  return { kind: 'not-convertible', reason: howToWrite(type) }
}

function howToWrite(type: Type): string {
  switch (type.kind) {
    case 'boolean':
      return 'write true or false'
    case 'int':
    case 'long':
      return 'write a whole number, without quotes'
    case 'float':
    case 'double':
      return 'write a number, without quotes'
    case 'decimal':
      return 'write a number, as in 12.50'
    case 'date':
      return 'write a date, as in "2026-10-28"'
    case 'time':
      return 'write a time of day, as in "12:30:00"'
    case 'timestamp':
    case 'timestamp_ns':
      return 'write a timestamp without offset, as in "2026-10-28T12:30:00"'
    case 'timestamptz':
    case 'timestamptz_ns':
      return 'write a timestamp with an offset, as in "2026-10-28T12:30:00Z"'
    case 'string':
      return 'write a string'
    case 'uuid':
      return 'write 36 characters, as in "f79c3e09-677c-4bbd-a479-3f349cb785e7"'
    case 'fixed':
      return `write ${type.length} bytes, as ${type.length * 2} hexadecimal digits`
    case 'binary':
      return 'write bytes, as an even number of hexadecimal digits'
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
      return 'such a column can only be tested for null'
  }
}
