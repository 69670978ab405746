/**
 * Random columns of every type, with the metrics that a writer would keep of them, whole or in part: no predicate that
 * some row satisfies may prune the file (B105). A row satisfies a predicate here if it does so under any order that an
 * engine or a writer may have: zeros equal or apart, uuids by bytes or by signed halves.
 */
import { assert } from 'chai'
import type { BoundPredicate, BoundTerm } from '../../src/expressions/bound-expression.ts'
import type { ComparisonOperation } from '../../src/expressions/expression.ts'
import { compileMetricsFilter } from '../../src/expressions/metrics-evaluator.ts'
import type { Transform } from '../../src/types/transforms/transform.ts'
import { parseType } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import { singleValueBytes } from '../support/iceberg-values.ts'
import { seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { statedMetrics, type StatedColumn } from './stated-metrics.ts'

const ROUNDS = 1500
const COMPARISONS = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq'] as const
const COMPARISONS_OF_TEXT = [...COMPARISONS, 'starts-with', 'not-starts-with'] as const
const MAX_CUT = 3

type Compare = (a: Value, b: Value) => number

const random = seededRandom(SEED)
const below = (end: number): number => Math.floor(random() * end)
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]
const chance = (probability: number): boolean => random() < probability

interface Domain {
  readonly type: string
  make(): Value
  /** All that anyone may use; the first is the specification's. */
  readonly orders: readonly Compare[]
  /** Bytes of a bound, in any form that a reader must take. */
  bytes(value: Value): Uint8Array
  readonly transforms?: readonly NaiveTransform[]
}

interface NaiveTransform {
  readonly transform: Transform
  readonly resultType: string
  apply(value: Value): Value
}

const natural: Compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
const byBytes: Compare = (a, b) => Buffer.compare(bytesOf(a), bytesOf(b))
const zerosApart: Compare = (a, b) =>
  a === 0 && b === 0 ? Number(Object.is(b, -0)) - Number(Object.is(a, -0)) : natural(a, b)
const signedHalves: Compare = (a, b) => {
  const [x, y] = [uuidBytes(a), uuidBytes(b)]
  for (const at of [0, 8]) {
    const order = natural(x.readBigInt64BE(at), y.readBigInt64BE(at))
    if (order !== 0) return order
  }
  return 0
}
const unsignedUuid: Compare = (a, b) => Buffer.compare(uuidBytes(a), uuidBytes(b))

function bytesOf(value: Value): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array)
}

function uuidBytes(value: Value): Buffer {
  return Buffer.from((value as string).replaceAll('-', ''), 'hex')
}

const INTS = [-(2 ** 31), -(2 ** 31) + 5, -11, -10, -1, 0, 1, 9, 10, 19, 20, 2 ** 31 - 1]
const LONGS = [
  ...INTS.map(BigInt),
  -(2n ** 63n),
  -(2n ** 32n),
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
]
const FLOATS = [-Infinity, -2.5, -1, -0, 0, 1, 1.5, 2.5, Infinity, NaN]
const CHARACTERS = ['', 'a', 'b', 'ab', '\u00E9', '\uD7FF', '\uE000', '\uFFFF', '\u{10000}', '\u{10FFFF}']
const MICROS_PER_DAY = 86_400_000_000n

const truncateLong = (width: bigint, bits: number, value: bigint): bigint =>
  BigInt.asIntN(bits, value - (((value % width) + width) % width))
const floorDivide = (value: bigint, by: bigint): bigint => (value - (((value % by) + by) % by)) / by

const someInt = (): number => (chance(0.5) ? oneOf(INTS) : below(40) - 20)
const someLong = (): bigint => (chance(0.5) ? oneOf(LONGS) : BigInt(below(40) - 20))
const someBytes = (): Uint8Array =>
  Uint8Array.from({ length: below(4) }, () => oneOf([0, 1, 0x7f, 0x80, 0xff]))
const someText = (): string => Array.from({ length: below(3) }, () => oneOf(CHARACTERS)).join('')
const isInt = (value: bigint): boolean => BigInt.asIntN(32, value) === value

function longDomain(type: string): Domain {
  return { type, make: someLong, orders: [natural], bytes: (value) => singleValueBytes(type, value) }
}

const DOMAINS: readonly Domain[] = [
  {
    type: 'boolean',
    make: () => chance(0.5),
    orders: [natural],
    bytes: (value) => singleValueBytes('boolean', value),
  },
  {
    type: 'int',
    make: someInt,
    orders: [natural],
    bytes: (value) => singleValueBytes('int', value),
    transforms: [10, 7, 2 ** 30].map((width) => ({
      transform: { kind: 'truncate', width },
      resultType: 'int',
      apply: (value) => Number(truncateLong(BigInt(width), 32, BigInt(value as number))),
    })),
  },
  {
    type: 'long',
    make: someLong,
    orders: [natural],
    bytes: (value) =>
      isInt(value as bigint) && chance(0.5)
        ? singleValueBytes('int', value)
        : singleValueBytes('long', value),
    transforms: [10, 2 ** 31 - 1].map((width) => ({
      transform: { kind: 'truncate', width },
      resultType: 'long',
      apply: (value) => truncateLong(BigInt(width), 64, value as bigint),
    })),
  },
  {
    type: 'float',
    make: () => oneOf(FLOATS),
    orders: [natural, zerosApart],
    bytes: (value) => singleValueBytes('float', value),
  },
  {
    type: 'double',
    make: () => oneOf(FLOATS),
    orders: [natural, zerosApart],
    bytes: (value) => singleValueBytes(oneOf(['float', 'double']), value),
  },
  {
    type: 'decimal(38,2)',
    make: () => oneOf([someLong(), someLong() * 10n ** 18n, oneOf([-129n, -128n, 127n, 128n, 255n, 256n])]),
    orders: [natural],
    bytes: (value) => {
      const padding = Buffer.alloc(below(3), (value as bigint) < 0n ? 0xff : 0)
      return Buffer.concat([padding, singleValueBytes('decimal(38,2)', value)])
    },
  },
  { type: 'date', make: someInt, orders: [natural], bytes: (value) => singleValueBytes('date', value) },
  longDomain('time'),
  longDomain('timestamptz'),
  longDomain('timestamptz_ns'),
  longDomain('timestamp_ns'),
  {
    type: 'timestamp',
    make: () => (chance(0.5) ? BigInt(below(6) - 3) * MICROS_PER_DAY : someLong()),
    orders: [natural],
    bytes: (value) => {
      const days = (value as bigint) / MICROS_PER_DAY
      return days * MICROS_PER_DAY === value && chance(0.5)
        ? singleValueBytes('date', days)
        : singleValueBytes('timestamp', value)
    },
    transforms: [
      {
        transform: { kind: 'day' },
        resultType: 'date',
        apply: (value) => Number(floorDivide(value as bigint, MICROS_PER_DAY)),
      },
    ],
  },
  {
    type: 'string',
    make: someText,
    orders: [byBytes],
    bytes: (value) => Buffer.from(value as string),
    transforms: [1, 2].map((width) => ({
      transform: { kind: 'truncate', width },
      resultType: 'string',
      apply: (value) =>
        Array.from(value as string)
          .slice(0, width)
          .join(''),
    })),
  },
  { type: 'binary', make: someBytes, orders: [byBytes], bytes: (value) => value as Uint8Array },
  {
    type: 'fixed[3]',
    make: () => Uint8Array.of(oneOf([0, 127, 128, 255]), oneOf([0, 255]), 7),
    orders: [byBytes],
    bytes: (value) => value as Uint8Array,
  },
  {
    type: 'uuid',
    // Second halves have one sign: an engine and a writer of different orders would disagree about those.
    make: () =>
      `${oneOf(['00', '10', '7f', '80', 'f0'])}000000-0000-0000-${oneOf(['00', '10', '7f'])}00-000000000000`,
    orders: [unsignedUuid, signedHalves],
    bytes: (value) => uuidBytes(value),
  },
]

describe(`metrics of random columns prune no file that holds a match ${WITH_SEED}`, () => {
  for (const domain of DOMAINS)
    it(`${domain.type}, and prune enough`, () => {
      let prunable = 0
      let pruned = 0
      for (let round = 0; round < ROUNDS; round++) {
        const rows = someRows(domain)
        const isWhole = chance(0.5)
        const column = columnOf(domain, rows, isWhole)
        const through = domain.transforms !== undefined && chance(0.4) ? oneOf(domain.transforms) : undefined
        const predicate = somePredicate(domain, through)
        const matches = rows.some((row) => satisfies(domain, through, predicate, row))
        const metrics = statedMetrics(rows.length, { 1: column })
        const might = compileMetricsFilter(predicate)(metrics)
        if (matches && !might)
          assert.fail(
            `round ${round}: ${describePredicate(predicate)} prunes ${rows.map(String).join(', ')} with ${JSON.stringify(column)}`,
          )
        if (matches || !isWhole) continue
        prunable++
        if (!might) pruned++
      }
      // The others lie between bounds, or are kept because orders disagree.
      assert.isAbove(prunable, ROUNDS / 10)
      assert.isAbove(pruned / prunable, 0.8, `${pruned} of ${prunable}`)
    })
})

function someRows(domain: Domain): (Value | null)[] {
  const pool = Array.from({ length: 1 + below(3) }, () => domain.make())
  const nulls = oneOf([0, 0, 0.3, 1])
  return Array.from({ length: 1 + below(5) }, () => (chance(nulls) ? null : oneOf(pool)))
}

/** What a writer keeps: everything true if whole, otherwise with gaps, and nulls that it did not count as values (B092). */
function columnOf(domain: Domain, rows: readonly (Value | null)[], isWhole: boolean): StatedColumn {
  const floating = domain.type === 'float' || domain.type === 'double'
  const values = rows.filter((row) => row !== null)
  const numbers = values.filter((value) => !Number.isNaN(value))
  const order =
    domain.orders.length > 1 && domain.type === 'uuid' ? oneOf(domain.orders) : domain.orders.at(-1)!
  const sorted = numbers.toSorted(order)
  const column: StatedColumn = {
    values: rows.length,
    nulls: rows.length - values.length,
    ...(floating ? { nans: values.length - numbers.length } : {}),
  }
  if (sorted.length > 0) {
    column.lower = domain.bytes(sorted[0])
    const upper = domain.bytes(sorted.at(-1)!)
    column.upper = upper
    if (domain.type === 'string' && chance(0.5)) {
      column.lower = column.lower.slice(0, below(MAX_CUT))
      const cut = cutUpper(upper)
      if (cut === undefined) delete column.upper
      else column.upper = cut
    }
  }
  if (isWhole) return column
  const omitsNulls = chance(0.3)
  if (omitsNulls) Object.assign(column, { values: values.length, nulls: 0 })
  const kept = Object.entries(column).filter(([fact]) => chance(0.75) || (omitsNulls && fact === 'values'))
  return Object.fromEntries(kept)
}

/** The first bytes with one added to the last that can be: as a writer that knows bytes only. */
function cutUpper(upper: Uint8Array): Uint8Array | undefined {
  if (upper.length <= MAX_CUT) return upper
  for (let at = MAX_CUT - 1; at >= 0; at--)
    if (upper[at] < 0xff) return Uint8Array.from([...upper.slice(0, at), upper[at] + 1])
  return undefined
}

function somePredicate(domain: Domain, through: NaiveTransform | undefined): BoundPredicate {
  const sourceType = parseType(domain.type)
  const term: BoundTerm = {
    fieldId: 1,
    name: 'c',
    sourceType,
    transform: through?.transform ?? { kind: 'identity' },
    type: through === undefined ? sourceType : parseType(through.resultType),
    isOptional: true,
  }
  const unbound = { op: 'is-null', term: { name: 'c' } } as const
  const literal = (): Value => {
    for (;;) {
      const value = domain.make()
      const made = through === undefined || chance(0.2) ? value : through.apply(value)
      if (typeof made !== typeof value && through?.resultType !== 'date') continue
      const result = through?.resultType === 'date' ? through.apply(value) : made
      if (!Number.isNaN(result)) return result
    }
  }
  const floating = domain.type === 'float' || domain.type === 'double'
  const choice = below(10)
  if (choice === 0) {
    const op = oneOf(
      floating ? (['is-null', 'not-null', 'is-nan', 'not-nan'] as const) : (['is-null', 'not-null'] as const),
    )
    return { op, term, unbound }
  }
  if (choice <= 3)
    return {
      op: oneOf(['in', 'not-in'] as const),
      term,
      values: Array.from({ length: 2 + below(3) }, literal),
      unbound,
    }
  const op: ComparisonOperation = oneOf(domain.type === 'string' ? COMPARISONS_OF_TEXT : COMPARISONS)
  return { op, term, value: literal(), unbound }
}

function satisfies(
  domain: Domain,
  through: NaiveTransform | undefined,
  predicate: BoundPredicate,
  row: Value | null,
): boolean {
  const value = row === null || through === undefined ? row : through.apply(row)
  switch (predicate.op) {
    case 'is-null':
      return value === null
    case 'not-null':
      return value !== null
    case 'is-nan':
      return value !== null && Number.isNaN(value)
    case 'not-nan':
      return value === null || !Number.isNaN(value)
  }
  const isNegative = predicate.op.startsWith('not-')
  if (value === null || Number.isNaN(value)) return isNegative
  // After a transform to a number the order is that of numbers.
  const orders = through?.resultType === 'date' ? [natural] : domain.orders
  return orders.some((order) => compares(order, predicate, value))
}

function compares(order: Compare, predicate: BoundPredicate, value: Value): boolean {
  switch (predicate.op) {
    case 'lt':
      return order(value, predicate.value) < 0
    case 'lt-eq':
      return order(value, predicate.value) <= 0
    case 'gt':
      return order(value, predicate.value) > 0
    case 'gt-eq':
      return order(value, predicate.value) >= 0
    case 'eq':
      return order(value, predicate.value) === 0
    case 'not-eq':
      return order(value, predicate.value) !== 0
    case 'starts-with':
      return (value as string).startsWith(predicate.value as string)
    case 'not-starts-with':
      return !(value as string).startsWith(predicate.value as string)
    case 'in':
      return predicate.values.some((element) => order(value, element) === 0)
    case 'not-in':
      return predicate.values.every((element) => order(value, element) !== 0)
    default:
      return assert.fail(predicate.op)
  }
}

function describePredicate(predicate: BoundPredicate): string {
  const literals = 'values' in predicate ? predicate.values : 'value' in predicate ? [predicate.value] : []
  return `${predicate.term.transform.kind} ${predicate.op} ${literals.map(String).join(', ')}`
}
