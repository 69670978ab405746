/**
 * Partition transforms by the letter of the specification, slow and with exact integers (spec: Partition Transforms,
 * Appendix B). `zorder[3]` stands for transforms that no reader knows; its results may be anything.
 */
import {
  type Cell,
  codePoints,
  compare,
  DATE,
  INT,
  isNano,
  isTimestamp,
  type Kind,
  MICROS_PER_DAY,
  MIN_INT,
  MIN_LONG,
  type TwinType,
  uuidBytes,
  type Value,
} from './values.ts'

export type TransformKind =
  'identity' | 'bucket' | 'truncate' | 'year' | 'month' | 'day' | 'hour' | 'void' | 'zorder'

export interface TwinTransform {
  readonly kind: TransformKind
  /** Of a bucket or a truncate; else 0. */
  readonly parameter: number
  readonly text: string
}

export function twinTransform(text: string): TwinTransform {
  const [kind, parameter = '0'] = text.split(/[[\]]/)
  return { kind: kind as TransformKind, parameter: Number(parameter), text }
}

export const IDENTITY = twinTransform('identity')

export const TIME_UNITS: readonly TransformKind[] = ['year', 'month', 'day', 'hour']

/** What may be applied to a type, besides `void` and the unknown one. */
export function transformKindsOf(kind: Kind): TransformKind[] {
  const kinds: TransformKind[] = ['identity']
  if (kind === 'unknown') return []
  if (kind === 'date') kinds.push('year', 'month', 'day')
  if (isTimestamp(kind)) kinds.push('year', 'month', 'day', 'hour')
  if (['int', 'long', 'decimal', 'string', 'binary'].includes(kind)) kinds.push('truncate')
  if (!['boolean', 'float', 'double'].includes(kind)) kinds.push('bucket')
  return kinds
}

export function resultType(transform: TwinTransform, source: TwinType): TwinType {
  if (transform.kind === 'day') return DATE
  return ['bucket', 'year', 'month', 'hour'].includes(transform.kind) ? INT : source
}

/** Whether a greater value never has a smaller result, but for the least values of a wrapped truncation. */
export function keepsOrder({ kind, parameter }: TwinTransform, source: TwinType): boolean {
  if (kind === 'truncate' && source.kind === 'int') return parameter <= 2 ** 30
  return kind !== 'bucket' && kind !== 'void' && kind !== 'zorder'
}

export function applyTransform(transform: TwinTransform, { kind }: TwinType, cell: Cell): Cell {
  if (cell === null || transform.kind === 'void') return null
  switch (transform.kind) {
    case 'identity':
    case 'zorder':
      return cell
    case 'bucket':
      return (murmur3(hashedBytes(kind, cell)) & 0x7fffffff) % transform.parameter
    case 'truncate':
      return truncate(kind, transform.parameter, cell)
    default:
      return timeUnit(transform.kind, kind, cell)
  }
}

/**
 * What writers before 0.10 stored: instants before 1970 cut towards 1970 instead of down (R3.14). Days of dates are
 * whole, and were right.
 */
export function applyOldTimeTransform(transform: TwinTransform, { kind }: TwinType, cell: Cell): Cell {
  if (cell === null) return null
  const unit = timeUnit(transform.kind, kind, cell)
  if (unit >= 0 || (transform.kind === 'day' && kind === 'date')) return unit
  return timeUnit(transform.kind, kind, previous(cell)) === unit ? unit + 1 : unit
}

function previous(cell: Value): Value {
  return typeof cell === 'bigint' ? cell - 1n : (cell as number) - 1
}

function truncate(kind: Kind, width: number, value: Value): Value {
  if (typeof value === 'string') return codePoints(value).slice(0, width).join('')
  if (value instanceof Uint8Array) return value.slice(0, width)
  const bits = kind === 'int' ? 32 : kind === 'long' ? 64 : 256
  // R14.6: every step wraps around, as in the machines that wrote the partitions.
  const fit = (result: bigint) => BigInt.asIntN(bits, result)
  const [whole, divisor] = [BigInt(value), BigInt(width)]
  const cut = fit(whole - (fit((whole % divisor) + divisor) % divisor))
  return kind === 'int' ? Number(cut) : cut
}

/** Where the least values of a type go when their truncation wraps around; else undefined. */
export function wrappedTruncation(transform: TwinTransform, type: TwinType): Value | undefined {
  if (transform.kind !== 'truncate' || (type.kind !== 'int' && type.kind !== 'long')) return undefined
  const least = type.kind === 'int' ? MIN_INT : MIN_LONG
  const result = truncate(type.kind, transform.parameter, least)
  return compare(result, least) > 0 ? result : undefined
}

function timeUnit(unit: TransformKind, kind: Kind, value: Value): number {
  const perDay = isNano(kind) ? MICROS_PER_DAY * 1000n : MICROS_PER_DAY
  if (unit === 'hour') return Number(floorDivide(value as bigint, perDay / 24n))
  const days = kind === 'date' ? BigInt(value as number) : floorDivide(value as bigint, perDay)
  if (unit === 'day') return Number(days)
  const { year, month } = yearAndMonth(days)
  return Number(unit === 'year' ? year - 1970n : (year - 1970n) * 12n + month)
}

export function floorDivide(a: bigint, b: bigint): bigint {
  return a % b < 0n ? a / b - 1n : a / b
}

const EPOCH = daysBeforeYear(1970n)
const MONTH_LENGTHS = [31n, 28n, 31n, 30n, 31n, 30n, 31n, 31n, 30n, 31n, 30n, 31n]

function daysBeforeYear(year: bigint): bigint {
  const last = year - 1n
  return 365n * last + floorDivide(last, 4n) - floorDivide(last, 100n) + floorDivide(last, 400n)
}

/** Of a day since 1970-01-01; `month` 0 to 11, `day` from 1. */
export function yearAndMonth(days: bigint): { year: bigint; month: bigint; day: bigint } {
  const day = days + EPOCH
  let year = floorDivide(day * 400n, 146_097n) + 1n
  while (daysBeforeYear(year) > day) year--
  while (daysBeforeYear(year + 1n) <= day) year++
  let rest = day - daysBeforeYear(year)
  const isLeap = daysBeforeYear(year + 1n) - daysBeforeYear(year) === 366n
  let month = 0
  for (;;) {
    const length = MONTH_LENGTHS[month] + (month === 1 && isLeap ? 1n : 0n)
    if (rest < length) return { year, month: BigInt(month), day: rest + 1n }
    rest -= length
    month++
  }
}

/** Appendix B: what of a value is hashed. */
function hashedBytes(kind: Kind, value: Value): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (kind === 'uuid') return uuidBytes(value as string)
  if (kind === 'string') return new TextEncoder().encode(value as string)
  if (kind === 'decimal') return shortestTwosComplement(value as bigint)
  const long = BigInt(value)
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(isNano(kind) ? floorDivide(long, 1000n) : long)
  return bytes
}

export function shortestTwosComplement(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  do {
    bytes.unshift(Number(rest & 0xffn))
    rest >>= 8n
  } while (!(rest === 0n && bytes[0] < 0x80) && !(rest === -1n && bytes[0] >= 0x80))
  return Uint8Array.from(bytes)
}

/** Murmur3, 32 bits, x86 variant, seed 0; signed. */
export function murmur3(bytes: Uint8Array): number {
  let hash = 0
  const whole = bytes.length - (bytes.length % 4)
  for (let i = 0; i < whole; i += 4) {
    const block = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
    hash = Math.imul(rotate(hash ^ mix(block), 13), 5) + 0xe6546b64
  }
  let tail = 0
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8) | bytes[i]
  hash ^= mix(tail) ^ bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function mix(block: number): number {
  return Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593)
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}
