/**
 * Single values outside a row: the binary form of bounds and partition summaries (spec: Appendix D; R13.1), and the
 * JSON form of defaults and partition tuples (format-reference 2.7).
 *
 * Bounds carry no type and are not rewritten when a column is promoted, so the length tells what was written (R5.22,
 * B086):
 *
 * | type now                      | 4 bytes                     | 8 bytes | any other length |
 * | ----------------------------- | --------------------------- | ------- | ---------------- |
 * | long                          | an int                      | a long  | unknown          |
 * | double                        | a float                     | a double| unknown          |
 * | timestamp, timestamp_ns       | a date: days, at midnight   | as is   | unknown          |
 * | time, timestamptz(_ns)        | unknown                     | as is   | unknown          |
 * | int, date, float              | as is                       | unknown | unknown          |
 *
 * A length that fits nothing is unknown, and never cut to the width that would fit (B224).
 */
import { calendarDate } from './transforms/calendar.ts'
import type { DecimalType, Type } from './type.ts'
import type { JsonValue, Value } from './value.ts'

const MICROS_PER_SECOND = 1_000_000n
const NANOS_PER_SECOND = 1_000_000_000n
const SECONDS_PER_DAY = 86_400n
/** 10^38 - 1, the greatest decimal, has this many bytes. */
const MAX_DECIMAL_BYTES = 16
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

// `ignoreBOM` keeps a leading U+FEFF: it is part of the value here.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The value that `bytes` stand for under `type`, or `undefined` when they cannot be one: a bad length, invalid UTF-8,
 * a date beyond the range of the timestamp it was promoted to, or a type without comparable bounds (unknown, variant,
 * geometry, geography, nested; R13.5). Zero bytes are the value `''` of a string (B101) and of a binary.
 *
 * The result shares no memory with `bytes`. NaN is returned as it is: whether a NaN bound may be used is for the
 * evaluator to say.
 */
export function decodeSingleValue(type: Type, bytes: Uint8Array): Value | undefined {
  const length = bytes.byteLength
  switch (type.kind) {
    case 'boolean':
      return length === 1 ? bytes[0] !== 0 : undefined
    case 'int':
    case 'date':
      return length === 4 ? view(bytes).getInt32(0, true) : undefined
    case 'long':
      if (length === 4) return BigInt(view(bytes).getInt32(0, true))
      return length === 8 ? view(bytes).getBigInt64(0, true) : undefined
    case 'time':
    case 'timestamptz':
    case 'timestamptz_ns':
      return length === 8 ? view(bytes).getBigInt64(0, true) : undefined
    case 'timestamp':
      if (length === 4) return midnight(view(bytes).getInt32(0, true), MICROS_PER_SECOND)
      return length === 8 ? view(bytes).getBigInt64(0, true) : undefined
    case 'timestamp_ns':
      if (length === 4) return midnight(view(bytes).getInt32(0, true), NANOS_PER_SECOND)
      return length === 8 ? view(bytes).getBigInt64(0, true) : undefined
    case 'float':
      return length === 4 ? view(bytes).getFloat32(0, true) : undefined
    case 'double':
      if (length === 4) return view(bytes).getFloat32(0, true)
      return length === 8 ? view(bytes).getFloat64(0, true) : undefined
    case 'decimal':
      return decodeUnscaled(bytes)
    case 'string':
      return decodeUtf8(bytes)
    case 'uuid':
      return length === 16 ? formatUuid(bytes) : undefined
    case 'fixed':
    case 'binary':
      return new Uint8Array(bytes)
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
      return undefined
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Midnight of `days` in units of 1/`perSecond` seconds; `undefined` beyond 64 bits (nanoseconds end in 2262). */
function midnight(days: number, perSecond: bigint): bigint | undefined {
  const value = BigInt(days) * SECONDS_PER_DAY * perSecond
  return value < MIN_LONG || value > MAX_LONG ? undefined : value
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * A decimal's unscaled value from big-endian two's complement of any length (R13.2, B100); `undefined` for zero bytes
 * or for more digits than any decimal has. Bytes that only repeat the sign count for nothing.
 */
export function decodeUnscaled(bytes: Uint8Array): bigint | undefined {
  const length = bytes.byteLength
  if (length === 0) return undefined
  const sign = bytes[0] >= 0x80 ? 0xff : 0
  let start = 0
  while (start < length - 1 && bytes[start] === sign && bytes[start + 1] >> 7 === sign >> 7) start++
  if (length - start > MAX_DECIMAL_BYTES) return undefined
  let value = sign === 0 ? 0n : -1n
  for (let i = start; i < length; i++) value = (value << 8n) | BigInt(bytes[i])
  return value
}

/** The text form of 16 big-endian bytes: lower case, with dashes. */
export function formatUuid(bytes: Uint8Array): string {
  const hex = formatHex(bytes)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function formatHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/**
 * A value as a JSON single value (format-reference 2.7), null for null.
 *
 * Longs are numbers up to 2^53 and `bigint` beyond, so that the lossless writer prints a bare integer either way. NaN
 * and the infinities, which JSON lacks, are the strings `"NaN"`, `"Infinity"` and `"-Infinity"`. Bytes are upper-case
 * hex, as Java writes them. Times carry six digits of a second, the `_ns` types nine.
 */
export function valueToJson(type: Type, value: Value | null): JsonValue {
  if (value === null) return null
  if (value instanceof Uint8Array) return formatHex(value).toUpperCase()
  switch (type.kind) {
    case 'float':
      return typeof value === 'number' ? floatingToJson(shortestFloat(value)) : value
    case 'double':
      return typeof value === 'number' ? floatingToJson(value) : value
    case 'long':
      return narrow(value)
    case 'decimal':
      return typeof value === 'bigint' ? formatDecimal(value, type) : value
    case 'date':
      return typeof value === 'number' ? formatDate(value) : value
    case 'time':
      return typeof value === 'bigint' ? formatTime(value, MICROS_PER_SECOND) : value
    case 'timestamp':
      return typeof value === 'bigint' ? formatTimestamp(value, MICROS_PER_SECOND) : value
    case 'timestamptz':
      return typeof value === 'bigint' ? `${formatTimestamp(value, MICROS_PER_SECOND)}+00:00` : value
    case 'timestamp_ns':
      return typeof value === 'bigint' ? formatTimestamp(value, NANOS_PER_SECOND) : value
    case 'timestamptz_ns':
      return typeof value === 'bigint' ? `${formatTimestamp(value, NANOS_PER_SECOND)}+00:00` : value
    case 'uuid':
      return typeof value === 'string' ? value.toLowerCase() : value
    default:
      // A value the type does not explain (a partition value under a transform we do not know) is shown as it is.
      return typeof value === 'number' ? floatingToJson(value) : narrow(value)
  }
}

function narrow(value: Exclude<Value, Uint8Array>): JsonValue {
  if (typeof value !== 'bigint') return value
  const asNumber = Number(value)
  return Number.isSafeInteger(asNumber) ? asNumber : value
}

function floatingToJson(value: number): JsonValue {
  return Number.isFinite(value) ? value : String(value)
}

/** The number with the fewest digits that is the same float: 0.1 and not 0.10000000149011612. */
function shortestFloat(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits))
    if (Math.fround(candidate) === value) return candidate
  }
  return value
}

function formatDecimal(unscaled: bigint, { scale }: DecimalType): string {
  if (scale < 0) return `${unscaled}E+${-scale}`
  if (scale === 0) return unscaled.toString()
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** ISO 8601 of a day number; years outside 0 to 9999 carry a sign. Exact for every int, unlike `Date`. */
function formatDate(days: number): string {
  const { year, month, day } = calendarDate(days)
  const sign = year < 0 ? '-' : year > 9999 ? '+' : ''
  return `${sign}${Math.abs(year).toString().padStart(4, '0')}-${two(month)}-${two(day)}`
}

function formatTime(sinceMidnight: bigint, perSecond: bigint): string {
  const seconds = Number(sinceMidnight / perSecond)
  const fraction = (sinceMidnight % perSecond).toString().padStart(perSecond.toString().length - 1, '0')
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${fraction}`
}

function formatTimestamp(value: bigint, perSecond: bigint): string {
  const perDay = SECONDS_PER_DAY * perSecond
  const sinceMidnight = ((value % perDay) + perDay) % perDay
  return `${formatDate(Number((value - sinceMidnight) / perDay))}T${formatTime(sinceMidnight, perSecond)}`
}

function two(value: number): string {
  return value.toString().padStart(2, '0')
}
