/**
 * Types and values of the twin: how they are ordered, and random ones of each type, rich in those that break things.
 *
 * A value is in memory what the library's users see (bigint for 64 bits and for unscaled decimals, text for uuids), but
 * nothing here is the library's: a mistake there must not cancel itself out.
 */
import type { Random } from './random.ts'

export type Value = boolean | number | bigint | string | Uint8Array
export type Cell = Value | null

export type Kind =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'decimal'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'string'
  | 'uuid'
  | 'fixed'
  | 'binary'
  | 'unknown'

export interface TwinType {
  readonly kind: Kind
  /** As in the JSON of a schema: `decimal(9,2)`. */
  readonly text: string
  /** Of a decimal. */
  readonly precision: number
  readonly scale: number
  /** Of a fixed, in bytes. */
  readonly length: number
}

export function twinType(text: string): TwinType {
  const [kind, ...numbers] = text.split(/[(),[\]]/)
  const [first, second] = numbers.map(Number)
  const isDecimal = kind === 'decimal'
  return {
    kind: kind as Kind,
    text,
    precision: isDecimal ? first : 0,
    scale: isDecimal ? second : 0,
    length: kind === 'fixed' ? first : 0,
  }
}

export const INT = twinType('int')
export const DATE = twinType('date')

export const MIN_INT = -(2 ** 31)
export const MAX_INT = 2 ** 31 - 1
export const MIN_LONG = -(2n ** 63n)
export const MAX_LONG = 2n ** 63n - 1n
export const MICROS_PER_DAY = 86_400_000_000n
/** Beyond it, hours are no 32-bit integers. */
const MAX_MICROS = 7_000_000_000_000_000_000n

export function isFloating(kind: Kind): boolean {
  return kind === 'float' || kind === 'double'
}

export function isTimestamp(kind: Kind): boolean {
  return kind.startsWith('timestamp')
}

export function isNano(kind: Kind): boolean {
  return kind.endsWith('_ns')
}

/** Below, equal to or above 0; numbers come without NaN. -0 equals 0, text goes by code points, bytes are unsigned. */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string') return compareCodePoints(a, b as string)
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  return a < b ? -1 : a > b ? 1 : 0
}

function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0
  const [left, right] = [codePoints(a), codePoints(b)]
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) return left[i].codePointAt(0)! - right[i].codePointAt(0)!
  }
  return left.length - right.length
}

export function codePoints(text: string): string[] {
  return Array.from(text)
}

/** Java's order of uuids, two signed halves: bounds that Java has collected are in it. */
export function compareSignedUuids(a: string, b: string): number {
  const [x, y] = [halves(a), halves(b)]
  return compare(x[0], y[0]) || compare(x[1], y[1])
}

function halves(uuid: string): [bigint, bigint] {
  const hex = uuid.replaceAll('-', '')
  return [hex.slice(0, 16), hex.slice(16)].map((half) => BigInt.asIntN(64, BigInt(`0x${half}`))) as [
    bigint,
    bigint,
  ]
}

/** The same for values that partitions and deletes do not tell apart: bits, with one NaN. */
export function keyOf(cell: Cell): string {
  if (cell === null) return 'null'
  if (cell instanceof Uint8Array) return `x${Buffer.from(cell).toString('hex')}`
  if (Object.is(cell, -0)) return '-0'
  return `${typeof cell === 'string' ? 's' : ''}${String(cell)}`
}

const LETTERS = [
  'a',
  'b',
  'c',
  'A',
  'z',
  'é',
  '日',
  '💰',
  '💰',
  '💰',
  '\uFFFF',
  '\u{10000}',
  '\u{10FFFF}',
  '\uD7FF',
  ' ',
  "'",
]
const BYTES = [0, 1, 0x41, 0x7f, 0x80, 0xff]

/** Any value of the type, NaN included; never null. */
export function randomValue(type: TwinType, random: Random): Value {
  switch (type.kind) {
    case 'boolean':
      return random.chance(0.5)
    case 'int':
      if (random.chance(0.7)) return random.pick([0, 0, random.between(-30, 30)])
      return random.pick([MIN_INT, MIN_INT + 1, MIN_INT + 12, MAX_INT, MAX_INT - 1, Number(random.bits(32))])
    case 'long':
      if (random.chance(0.7)) return BigInt(random.between(-30, 30))
      return random.pick([
        MIN_LONG,
        MIN_LONG + 1n,
        MAX_LONG,
        MAX_LONG - 1n,
        2n ** 53n + 1n,
        -(2n ** 31n) - 1n,
        random.bits(64),
      ])
    case 'float':
      return randomFloat(random, 3.4028234663852886e38, 2 ** -149, Math.fround(0.1))
    case 'double':
      return randomFloat(random, Number.MAX_VALUE, Number.MIN_VALUE, 0.1)
    case 'decimal':
      return randomDecimal(type, random)
    case 'date':
      if (random.chance(0.8)) return random.pick([0, 17_500]) + random.between(-800, 800)
      return random.pick([MIN_INT, MAX_INT, -1, 0, -365, -366, -719_162])
    case 'time':
      return random.pick([
        0n,
        MICROS_PER_DAY - 1n,
        BigInt(random.int(24)) * 3_600_000_000n,
        randomDayTime(random),
      ])
    case 'timestamp':
    case 'timestamptz':
      return random.chance(0.05) ? random.pick([MAX_MICROS, -MAX_MICROS]) : randomMicros(random)
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (random.chance(0.05)) return random.pick([MIN_LONG, MAX_LONG])
      return randomMicros(random) * 1000n + BigInt(random.pick([0, 0, 1, 999]))
    case 'string':
      return randomString(random)
    case 'uuid':
      return randomUuid(random)
    case 'fixed':
      return Uint8Array.from({ length: type.length }, () => random.pick(BYTES))
    case 'binary':
      return Uint8Array.from({ length: random.chance(0.1) ? 20 : random.int(5) }, () => random.pick(BYTES))
    case 'unknown':
      throw new RangeError('Cannot make a value of the type unknown: it has none')
  }
}

function randomFloat(random: Random, largest: number, smallest: number, tenth: number): number {
  if (random.chance(0.6)) return random.between(-40, 40) / 4
  return random.pick([0, -0, NaN, Infinity, -Infinity, largest, -largest, smallest, -smallest, tenth])
}

function randomDecimal({ precision }: TwinType, random: Random): bigint {
  const largest = 10n ** BigInt(precision) - 1n
  if (random.chance(0.7)) return BigInt(random.between(-300, 300))
  return random.pick([0n, largest, -largest, random.bits(128) % largest, 127n, 128n, -128n, -129n])
}

function randomDayTime(random: Random): bigint {
  return BigInt(random.int(86_400)) * 1_000_000n + BigInt(random.int(1_000_000))
}

/** Mostly around 1970 and 2017, often on the border of an hour, a day, a month or a year, or one microsecond beside. */
function randomMicros(random: Random): bigint {
  const day = BigInt(
    random.pick([0, 0, 17_501]) + random.pick([0, -1, -31, 31, 365, -365, random.between(-40, 40)]),
  )
  const ofDay = random.pick([0n, BigInt(random.int(24)) * 3_600_000_000n, randomDayTime(random), 999_999n])
  return day * MICROS_PER_DAY + ofDay + BigInt(random.pick([0, 0, 1, -1]))
}

function randomString(random: Random): string {
  const length = random.chance(0.1) ? random.between(15, 20) : random.int(5)
  const head = random.pick(['', '', '', 'ab', '💰'])
  return head + Array.from({ length }, () => random.pick(LETTERS)).join('')
}

function randomUuid(random: Random): string {
  const first = random.pick([0x00, 0x10, 0x7f, 0x80, 0xf0, 0xff])
  const bytes = Array.from({ length: 16 }, (_, i) =>
    i === 0 ? first : random.pick([0, 1, 0x7f, 0x80, 0xff]),
  )
  return uuidOf(Uint8Array.from(bytes))
}

export function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export function uuidBytes(uuid: string): Uint8Array {
  return new Uint8Array(Buffer.from(uuid.replaceAll('-', ''), 'hex'))
}

/** A value beside this one, or the same; within the type's range, never NaN. */
export function neighbour(type: TwinType, value: Value, random: Random): Value {
  switch (type.kind) {
    case 'int':
    case 'date': {
      const moved = (value as number) + random.pick([-1, 1, -10, 10])
      return moved < MIN_INT || moved > MAX_INT ? value : moved
    }
    case 'long':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns': {
      const moved = (value as bigint) + random.pick([-1n, 1n, -10n, 1000n, 3_600_000_000n])
      return moved < MIN_LONG || moved > MAX_LONG ? value : moved
    }
    case 'time': {
      const moved = (value as bigint) + random.pick([-1n, 1n])
      return moved < 0n || moved >= MICROS_PER_DAY ? value : moved
    }
    case 'decimal': {
      const moved = (value as bigint) + random.pick([-1n, 1n, 10n])
      const limit = 10n ** BigInt(type.precision)
      return moved <= -limit || moved >= limit ? value : moved
    }
    case 'float':
    case 'double':
      return Number.isNaN(value) ? random.pick([0, Infinity]) : neighbourFloat(type, value as number, random)
    case 'string': {
      const points = codePoints(value as string)
      const cut = points.slice(0, random.int(points.length + 1)).join('')
      return random.pick([cut, cut, cut + random.pick(LETTERS), (value as string) + random.pick(LETTERS)])
    }
    case 'binary': {
      const bytes = value as Uint8Array
      return random.chance(0.5) ? bytes.slice(0, random.int(bytes.length + 1)) : Uint8Array.of(...bytes, 0)
    }
    case 'uuid': {
      const bytes = uuidBytes(value as string)
      bytes[random.pick([0, 15])] ^= 1
      return uuidOf(bytes)
    }
    case 'fixed': {
      const bytes = (value as Uint8Array).slice()
      if (bytes.length > 0) bytes[bytes.length - 1] ^= 1
      return bytes
    }
    case 'boolean':
      return value !== true
    case 'unknown':
      return value
  }
}

function neighbourFloat({ kind }: TwinType, value: number, random: Random): number {
  const moved = random.pick([value + 0.25, value - 0.25, -value])
  return kind === 'float' ? Math.fround(moved) : moved
}
