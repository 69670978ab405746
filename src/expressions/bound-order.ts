/**
 * Order of bounds, on the single-value bytes themselves (R5.19, R5.20, R5.22): nothing is decoded into a value and
 * nothing is allocated, because a plan compares bounds of every column in every file.
 *
 * | type                       | usable when                  | compared as                                              |
 * | -------------------------- | ---------------------------- | -------------------------------------------------------- |
 * | boolean                    | 1 byte                       | 0 before anything else                                   |
 * | int, date                  | 4 bytes                      | int                                                      |
 * | long                       | 8 bytes, or 4: an int        | two words, high one first                                |
 * | time, timestamptz(_ns)     | 8 bytes                      | the same                                                 |
 * | timestamp, timestamp_ns    | 8 bytes, or 4: a date        | the same, of the date's midnight                         |
 * | float; double              | 4 bytes; 8, or 4: a float    | number; NaN is not usable                                |
 * | decimal                    | 1 to 16 bytes without padding | big-endian two's complement                             |
 * | string, fixed, binary      | always                       | unsigned bytes: for UTF-8 the order of code points (B095) |
 * | uuid                       | 16 bytes                     | unsigned bytes, and two signed halves: see below         |
 *
 * Bounds of a uuid are written in one of two orders, and nothing says which: bytes, as the specification and Parquet
 * have it, or two signed halves, as Java compares them. What is not true under both is not proven.
 *
 * -0.0 equals 0.0 in a filter, but some engines tell them apart. `compare` takes them as equal and serves proofs by
 * inequality; `compareTotal` puts -0.0 first and serves proofs by equality. So a zero proves only what is true either way.
 */
import type { Type } from '../types/type.ts'
import { unscaledBytes } from '../types/unscaled-bytes.ts'
import type { Value } from '../types/value.ts'

/** The single-value bytes of a bound or of a literal: `length` of them, from `offset`. A `ByteSlot` is one. */
export interface BoundBytes {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly length: number
}

/** Negative, zero or positive, of two usable bounds. */
export type CompareBounds = (a: BoundBytes, b: BoundBytes) => number

export interface BoundOrder {
  /** Whether the bytes are a value of the type that can be compared: no bad length (B224), no NaN (R5.9, B087). */
  readonly isUsable: (bound: BoundBytes) => boolean
  readonly compare: CompareBounds
  readonly compareTotal: CompareBounds
}

/** The orders in which bounds of a type may have been written: two for uuid, none for types without order (R13.5). */
export function boundOrders(type: Type): readonly BoundOrder[] {
  switch (type.kind) {
    case 'boolean':
      return [orderOf(hasLength(1), (a, b) => truth(a) - truth(b))]
    case 'int':
    case 'date':
      return [orderOf(hasLength(4), (a, b) => intAt(a.bytes, a.offset) - intAt(b.bytes, b.offset))]
    case 'long':
      return [orderOf(isLongOrInt, compareLongs)]
    case 'time':
    case 'timestamptz':
    case 'timestamptz_ns':
      return [orderOf(hasLength(8), compareLongs)]
    case 'timestamp':
      return [timestampOrder(MICROS_PER_DAY)]
    case 'timestamp_ns':
      return [timestampOrder(NANOS_PER_DAY)]
    case 'float':
      return [floatingOrder((bound) => bound.length === 4 && !Number.isNaN(floatingOf(bound)))]
    case 'double':
      return [
        floatingOrder(
          (bound) => (bound.length === 8 || bound.length === 4) && !Number.isNaN(floatingOf(bound)),
        ),
      ]
    case 'decimal':
      return [orderOf(isDecimal, compareDecimals)]
    case 'string':
    case 'fixed':
    case 'binary':
      return [orderOf(() => true, compareBytes)]
    case 'uuid':
      return [orderOf(hasLength(16), compareBytes), orderOf(hasLength(16), compareSignedHalves)]
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
      return []
  }
}

function orderOf(isUsable: (bound: BoundBytes) => boolean, compare: CompareBounds): BoundOrder {
  return { isUsable, compare, compareTotal: compare }
}

function hasLength(length: number): (bound: BoundBytes) => boolean {
  return (bound) => bound.length === length
}

function truth({ bytes, offset }: BoundBytes): number {
  return bytes[offset] === 0 ? 0 : 1
}

function intAt(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
}

function isLongOrInt({ length }: BoundBytes): boolean {
  return length === 8 || length === 4
}

/** Of a long, or of an int from before the promotion, which is sign-extended (B086). */
function highWord({ bytes, offset, length }: BoundBytes): number {
  return length === 8 ? intAt(bytes, offset + 4) : intAt(bytes, offset) >> 31
}

function lowWord({ bytes, offset }: BoundBytes): number {
  return intAt(bytes, offset) >>> 0
}

function compareLongs(a: BoundBytes, b: BoundBytes): number {
  const high = highWord(a) - highWord(b)
  return high !== 0 ? high : lowWord(a) - lowWord(b)
}

const WORD = 2 ** 32
const LONG_END = 2 ** 63
const MICROS_PER_DAY = 86_400_000_000
const NANOS_PER_DAY = 86_400_000_000_000

/**
 * Longs, beside dates from before the promotion (R5.22, B086). Midnights in the range of a long are exact as numbers: the
 * units of a day are a multiple of 2^13, which leaves at most 50 bits.
 */
function timestampOrder(unitsPerDay: number): BoundOrder {
  const midnight = (bound: BoundBytes): number => intAt(bound.bytes, bound.offset) * unitsPerDay
  const high = (bound: BoundBytes): number =>
    bound.length === 8 ? intAt(bound.bytes, bound.offset + 4) : Math.floor(midnight(bound) / WORD)
  const low = (bound: BoundBytes): number => {
    if (bound.length === 8) return lowWord(bound)
    const units = midnight(bound)
    return units - Math.floor(units / WORD) * WORD
  }
  const isUsable = (bound: BoundBytes): boolean => {
    if (bound.length !== 4) return bound.length === 8
    const units = midnight(bound)
    return units >= -LONG_END && units < LONG_END
  }
  return orderOf(isUsable, (a, b) => {
    const difference = high(a) - high(b)
    return difference !== 0 ? difference : low(a) - low(b)
  })
}

const FLOATING = new DataView(new ArrayBuffer(8))

/** A double of 8 bytes, or a float of 4. */
function floatingOf({ bytes, offset, length }: BoundBytes): number {
  FLOATING.setInt32(0, intAt(bytes, offset), true)
  if (length === 4) return FLOATING.getFloat32(0, true)
  FLOATING.setInt32(4, intAt(bytes, offset + 4), true)
  return FLOATING.getFloat64(0, true)
}

function floatingOrder(isUsable: (bound: BoundBytes) => boolean): BoundOrder {
  return {
    isUsable,
    compare: (a, b) => compareNumbers(floatingOf(a), floatingOf(b)),
    compareTotal: (a, b) => {
      const x = floatingOf(a)
      const y = floatingOf(b)
      return x === 0 && y === 0 ? Number(Object.is(y, -0)) - Number(Object.is(x, -0)) : compareNumbers(x, y)
    },
  }
}

/** Not a subtraction: infinities are among them. */
function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What the widest decimal needs, sign included. */
const MAX_DECIMAL_BYTES = 16

function isDecimal(bound: BoundBytes): boolean {
  return bound.length > 0 && significantLength(bound) <= MAX_DECIMAL_BYTES
}

/** Bytes that are left when those that only repeat the sign are dropped: writers pad (R13.2, B100). */
function significantLength({ bytes, offset, length }: BoundBytes): number {
  const padding = bytes[offset] >= 0x80 ? 0xff : 0
  const last = offset + length - 1
  let at = offset
  while (at < last && bytes[at] === padding && bytes[at + 1] >> 7 === padding >> 7) at++
  return last - at + 1
}

function compareDecimals(a: BoundBytes, b: BoundBytes): number {
  const isNegative = a.bytes[a.offset] >= 0x80
  if (isNegative !== b.bytes[b.offset] >= 0x80) return isNegative ? -1 : 1
  const length = significantLength(a)
  const longer = length - significantLength(b)
  if (longer !== 0) return isNegative ? -longer : longer
  // Numbers of one sign and one length are ordered as their bytes are.
  const from = a.offset + a.length - length
  const other = b.offset + b.length - length
  for (let i = 0; i < length; i++) {
    const difference = a.bytes[from + i] - b.bytes[other + i]
    if (difference !== 0) return difference
  }
  return 0
}

/** Unsigned; a prefix comes first. */
function compareBytes(a: BoundBytes, b: BoundBytes): number {
  const difference = comparePrefixes(a, b, Math.min(a.length, b.length))
  return difference !== 0 ? difference : a.length - b.length
}

/** Compares the first `length` bytes of both, which both must have. */
export function comparePrefixes(a: BoundBytes, b: BoundBytes, length: number): number {
  for (let i = 0; i < length; i++) {
    const difference = a.bytes[a.offset + i] - b.bytes[b.offset + i]
    if (difference !== 0) return difference
  }
  return 0
}

const UUID_HALF = 8

function compareSignedHalves(a: BoundBytes, b: BoundBytes): number {
  for (let i = 0; i < 2 * UUID_HALF; i++) {
    const x = a.bytes[a.offset + i]
    const y = b.bytes[b.offset + i]
    if (x === y) continue
    // The first byte of a half holds its sign.
    return i % UUID_HALF === 0 ? (x ^ 0x80) - (y ^ 0x80) : x - y
  }
  return 0
}

/**
 * The single-value bytes of a value (R13.1), to be compared with bounds; `undefined` where the value is not of the type,
 * or is a string that UTF-8 cannot hold.
 */
export function encodeBound(type: Type, value: Value): BoundBytes | undefined {
  const bytes = encode(type, value)
  return bytes === undefined ? undefined : { bytes, offset: 0, length: bytes.length }
}

function encode(type: Type, value: Value): Uint8Array | undefined {
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? Uint8Array.of(value ? 1 : 0) : undefined
    case 'int':
    case 'date':
      return typeof value === 'number' && (value | 0) === value ? intBytes(value) : undefined
    case 'float':
      return typeof value === 'number' ? floatBytes(value) : undefined
    case 'double':
      return typeof value === 'number' ? doubleBytes(value) : undefined
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? longBytes(value) : undefined
    case 'decimal':
      return typeof value === 'bigint' ? unscaledBytes(value) : undefined
    case 'string':
      return typeof value === 'string' && !LONE_SURROGATE.test(value) ? Buffer.from(value, 'utf8') : undefined
    case 'uuid':
      return typeof value === 'string' && UUID.test(value)
        ? Buffer.from(value.replaceAll('-', ''), 'hex')
        : undefined
    case 'fixed':
    case 'binary':
      return value instanceof Uint8Array ? value : undefined
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

const LONE_SURROGATE = /\p{Surrogate}/u
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function intBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setInt32(0, value, true)
  return bytes
}

function longBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value, true)
  return bytes
}

function floatBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setFloat32(0, value, true)
  return bytes
}

function doubleBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return bytes
}
