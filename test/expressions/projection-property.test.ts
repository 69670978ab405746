/**
 * The two promises of R3.1, tried on random values: what a predicate says of a row, its inclusive projection says of the
 * row's partition; and what the strict projection says of a partition, the predicate says of every row in it. Predicates
 * and projections are evaluated here, by comparisons of their own. Partition values are also those of writers that store others than the exact ones.
 */
import { assert } from 'chai'
import type { BoundExpression, BoundPredicate } from '../../src/expressions/bound-expression.ts'
import type { PartitionExpression } from '../../src/expressions/partition-expression.ts'
import { inclusiveProjection } from '../../src/expressions/project.ts'
import { createPartitionSpec, type PartitionSpec } from '../../src/metadata/partition-spec.ts'
import { Schema } from '../../src/metadata/schema.ts'
import { applyTransform, canTransform } from '../../src/types/transforms/apply-transform.ts'
import { formatTransform, parseTransform, type Transform } from '../../src/types/transforms/transform.ts'
import { parseType, type Type } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import {
  boundPredicate,
  partitionText,
  predicateText,
  valueText,
  type Operation,
} from '../support/bound-predicates.ts'
import { microsOf } from '../support/instants.ts'
import { seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { strictProjection } from '../support/strict-projection.ts'

const CHECKS_PER_CASE = 560
const CHECKS_OF_TREES = 4500

const COMPARISONS: readonly Operation[] = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq', 'in', 'not-in']
const NULL_TESTS: readonly Operation[] = ['is-null', 'not-null']
const PREFIX_TESTS: readonly Operation[] = ['starts-with', 'not-starts-with']

const CALENDAR = ['year', 'month', 'day', 'hour', 'identity', 'bucket[5]', 'void']
const CASES: readonly [type: string, transforms: readonly string[]][] = [
  ['boolean', ['identity']],
  [
    'int',
    [
      ...['identity', 'bucket[1]', 'bucket[16]', 'truncate[1]', 'truncate[7]', 'truncate[8]', 'truncate[10]'],
      ...['truncate[1000]', 'truncate[1073741823]', 'truncate[1073741824]', 'truncate[1073741825]'],
      ...['truncate[2147483646]', 'truncate[2147483647]', 'void', 'zorder[3]'],
    ],
  ],
  ['long', ['identity', 'bucket[16]', 'truncate[1]', 'truncate[7]', 'truncate[8]', 'truncate[10]']],
  ['long', ['truncate[1000]', 'truncate[1073741825]', 'truncate[2147483647]', 'void']],
  ['decimal(9,2)', ['identity', 'bucket[16]', 'truncate[1]', 'truncate[10]', 'truncate[50]']],
  ['decimal(38,0)', ['bucket[7]', 'truncate[10]']],
  ['float', ['identity', 'bucket[16]']],
  ['double', ['identity']],
  ['date', ['year', 'month', 'day', 'identity', 'bucket[5]']],
  ['time', ['identity', 'bucket[16]']],
  ['timestamp', CALENDAR],
  ['timestamptz', CALENDAR],
  ['timestamp_ns', CALENDAR],
  ['timestamptz_ns', CALENDAR],
  ['string', ['identity', 'bucket[16]', 'truncate[1]', 'truncate[2]', 'truncate[3]', 'truncate[9]', 'void']],
  ['binary', ['identity', 'bucket[16]', 'truncate[1]', 'truncate[2]', 'truncate[3]']],
  ['fixed[2]', ['identity', 'bucket[16]']],
  ['uuid', ['identity', 'bucket[16]']],
]

const tally = { checks: 0, skipped: 0, proven: 0 }

describe('projections keep their promises (R3.1)', () => {
  for (const [typeText, transforms] of CASES)
    for (const text of transforms)
      it(`${text} of ${typeText} ${WITH_SEED}`, () => {
        const type = parseType(typeText)
        const schema = new Schema([{ id: 1, name: 'x', required: false, type }])
        const transform = parseTransform(text)
        const spec = createPartitionSpec(0, [{ sourceId: 1, fieldId: 1000, name: 'p', transform }])
        const random = new RandomValues(`${typeText} ${text}`)
        for (let i = 0; i < CHECKS_PER_CASE; i++) {
          const { value, predicate } = random.check(type, 1, transform)
          check(predicate, [value], spec, schema)
        }
      })

  it(`trees of predicates, specs of several fields ${WITH_SEED}`, () => {
    const types = ['int', 'string', 'timestamp', 'date'].map(parseType)
    const schema = new Schema(types.map((type, i) => ({ id: i + 1, name: `c${i}`, required: false, type })))
    const transforms = ['identity', 'bucket[3]', 'truncate[10]', 'truncate[2]', 'year', 'day', 'hour', 'void']
    const random = new RandomValues('trees')
    const tree = (depth: number, row: readonly (Value | null)[]): BoundExpression => {
      if (depth > 0 && random.chance(0.7))
        return {
          op: random.chance(0.5) ? 'and' : 'or',
          left: tree(depth - 1, row),
          right: tree(depth - 1, row),
        }
      const column = random.below(types.length)
      return random.predicate(types[column], column + 1, row[column], { kind: 'identity' })
    }
    for (let i = 0; i < CHECKS_OF_TREES; i++) {
      const fields = Array.from({ length: random.below(4) }, (_, at) => ({
        sourceId: 1 + random.below(types.length),
        fieldId: 1000 + at,
        name: `p${at}`,
        transform: parseTransform(random.pick(transforms)),
      }))
      const row = types.map((type) => random.valueOrNull(type))
      check(tree(3, row), row, createPartitionSpec(0, fields), schema)
    }
  })

  it('tried enough, and projections say something', () => {
    assert.isAtLeast(tally.checks, 50_000)
    assert.isAbove(tally.skipped, tally.checks / 5)
    assert.isAbove(tally.proven, tally.checks / 5)
  })
})

/** The promises for one row, whose columns have the ids 1, 2, …, in each partition that it may have been stored in. */
function check(
  filter: BoundExpression,
  row: readonly (Value | null)[],
  spec: PartitionSpec,
  schema: Schema,
): void {
  const matches = holdsForRow(filter, row)
  const inclusive = inclusiveProjection(filter, spec, schema)
  const strict = strictProjection(filter, spec, schema)
  const writers = asksForPartition(filter) ? (['exact'] as const) : WRITERS
  for (const writer of writers) {
    const tuple = spec.fields.map(({ sourceId, transform }) => {
      const { type } = schema.findField(sourceId)!
      const value = row[sourceId - 1]
      if (value === null || !canTransform(transform, type)) return null
      return storedBy(writer, transform, type, value)
    })
    const isKept = holdsForPartition(inclusive, tuple)
    const isProven = holdsForPartition(strict, tuple)
    if (writer === writers[0]) {
      tally.checks++
      if (!isKept) tally.skipped++
      if (isProven) tally.proven++
    }
    if ((matches && !isKept) || (isProven && !matches))
      assert.fail(
        `row (${row.map(shown).join(', ')}) in partition (${tuple.map(shown).join(', ')}) ` +
          `${matches ? 'matches' : 'does not match'} ${filterText(filter)}; ` +
          `inclusive ${partitionText(inclusive)}, strict ${partitionText(strict)}`,
      )
  }
}

/** Transforms in the filter are taken for what the partition holds, whoever wrote it (R3.6). */
function asksForPartition(filter: BoundExpression): boolean {
  return 'term' in filter && filter.term.transform.kind !== 'identity'
}

const WRITERS = ['floor', 'rounding', 'java', 'promoted'] as const

/**
 * What a writer has stored for the value. All but `exact` store hours as ints, which wrap.
 *
 * - `rounding`: towards zero (R3.14), so that all but the start of a unit before 1970 lies one too high; not days of dates
 * - `java`: the last instant of the first second of a unit before 1970 lies one too low (R14.10)
 * - `promoted`: wrote longs when the column was an int (R3.27)
 */
function storedBy(
  writer: (typeof WRITERS)[number] | 'exact',
  transform: Transform,
  type: Type,
  value: Value,
): Value | null {
  const right = applyTransform(transform, type, value)
  if (writer === 'exact') return right
  if (writer === 'promoted' && type.kind === 'long' && value === BigInt.asIntN(32, value as bigint)) {
    const stored = applyTransform(transform, { kind: 'int' }, Number(value))
    return typeof right === 'bigint' ? BigInt(stored as number) : stored
  }
  if (!['year', 'month', 'day', 'hour'].includes(transform.kind) || typeof right !== 'number') return right
  const isDay = transform.kind === 'day' && type.kind === 'date'
  const before = (units: number): Value | null =>
    applyTransform(
      transform,
      type,
      typeof value === 'number' ? value - units : (value as bigint) - BigInt(units),
    )
  if (writer === 'rounding' && right < 0 && !isDay) return (before(1) === right ? right + 1 : right) | 0
  if (writer === 'java' && right < 0 && typeof value === 'bigint') {
    const second = type.kind.endsWith('_ns') ? 1_000_000_000 : 1_000_000
    const isLast = (value + 1n) % BigInt(second) === 0n
    return (isLast && before(second) !== right ? right - 1 : right) | 0
  }
  return right | 0
}

function holdsForRow(filter: BoundExpression, row: readonly (Value | null)[]): boolean {
  switch (filter.op) {
    case 'true':
      return true
    case 'false':
      return false
    case 'and':
      return holdsForRow(filter.left, row) && holdsForRow(filter.right, row)
    case 'or':
      return holdsForRow(filter.left, row) || holdsForRow(filter.right, row)
    default: {
      const { transform, sourceType, fieldId } = filter.term
      return holds(filter, applyTransform(transform, sourceType, row[fieldId - 1]))
    }
  }
}

function holdsForPartition(expression: PartitionExpression, tuple: readonly (Value | null)[]): boolean {
  switch (expression.op) {
    case 'true':
      return true
    case 'false':
      return false
    case 'and':
      return holdsForPartition(expression.left, tuple) && holdsForPartition(expression.right, tuple)
    case 'or':
      return holdsForPartition(expression.left, tuple) || holdsForPartition(expression.right, tuple)
    default: {
      const { position, fieldType, transform } = expression.term
      const stored = tuple[position]
      return holds(
        expression,
        transform === undefined ? stored : applyTransform(transform, fieldType, stored),
      )
    }
  }
}

/** Two-valued: null fails every comparison, and so passes its opposite (R11.22a). */
function holds(
  predicate: { op: Operation; value?: Value; values?: readonly Value[] },
  value: Value | null,
): boolean {
  const { op } = predicate
  switch (op) {
    case 'is-null':
      return value === null
    case 'not-null':
      return value !== null
    case 'not-eq':
      return value === null || compare(value, predicate.value!) !== 0
    case 'not-in':
      return value === null || predicate.values!.every((other) => compare(value, other) !== 0)
    case 'not-starts-with':
      return value === null || !startsWith(value, predicate.value!)
  }
  if (value === null) return false
  switch (op) {
    case 'lt':
      return compare(value, predicate.value!) < 0
    case 'lt-eq':
      return compare(value, predicate.value!) <= 0
    case 'gt':
      return compare(value, predicate.value!) > 0
    case 'gt-eq':
      return compare(value, predicate.value!) >= 0
    case 'eq':
      return compare(value, predicate.value!) === 0
    case 'in':
      return predicate.values!.some((other) => compare(value, other) === 0)
    case 'starts-with':
      return startsWith(value, predicate.value!)
    default:
      throw new Error(`Cannot evaluate ${op}`)
  }
}

function compare(a: Value, b: Value): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  return a < b ? -1 : a > b ? 1 : 0
}

function startsWith(value: Value, prefix: Value): boolean {
  const bytes = Buffer.from(prefix as string)
  return Buffer.from(value as string)
    .subarray(0, bytes.length)
    .equals(bytes)
}

/** Values that lie close together and at the ends of ranges, where projections go wrong. */
class RandomValues {
  readonly #random: () => number

  constructor(name: string) {
    let seed = SEED
    for (const unit of name) seed = (Math.imul(seed, 31) + unit.charCodeAt(0)) | 0
    this.#random = seededRandom(seed)
  }

  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  check(
    type: Type,
    fieldId: number,
    transform: Transform,
  ): { value: Value | null; predicate: BoundPredicate } {
    const value = this.valueOrNull(type)
    return { value, predicate: this.predicate(type, fieldId, value, transform) }
  }

  valueOrNull(type: Type): Value | null {
    return this.chance(0.03) ? null : this.value(type)
  }

  /** On the column, or sometimes on `transform` of it; its literals are often those that `value` is close to. */
  predicate(type: Type, fieldId: number, value: Value | null, transform: Transform): BoundPredicate {
    const isTerm = transform.kind !== 'void' && canTransform(transform, type) && this.chance(0.1)
    const literal = (): Value => {
      const near = value !== null && this.chance(0.6) ? this.#near(type, value) : this.value(type)
      return isTerm ? applyTransform(transform, type, near)! : near
    }
    const first = literal()
    const op = this.pick([
      ...COMPARISONS,
      ...(this.chance(0.2) ? NULL_TESTS : []),
      ...(typeof first === 'string' && type.kind === 'string' ? PREFIX_TESTS : []),
    ])
    const operand = op === 'in' || op === 'not-in' ? [first, literal(), literal()] : first
    return boundPredicate(op, type, operand, {
      fieldId,
      transform: isTerm ? formatTransform(transform) : 'identity',
    })
  }

  value(type: Type): Value {
    switch (type.kind) {
      case 'boolean':
        return this.chance(0.5)
      case 'int':
        return Number(this.#integer(-(2n ** 31n), 2n ** 31n - 1n))
      case 'long':
        return this.#integer(-(2n ** 63n), 2n ** 63n - 1n)
      case 'decimal':
        return this.#integer(1n - 10n ** BigInt(type.precision), 10n ** BigInt(type.precision) - 1n)
      case 'date':
        return this.chance(0.05)
          ? this.pick([-(2 ** 31), 2 ** 31 - 1])
          : Math.floor(Number(this.#instant() / 86_400_000_000n))
      case 'time':
        return this.#integer(0n, 86_399_999_999n)
      case 'timestamp':
      case 'timestamptz':
        return this.chance(0.05) ? this.#farInstant() : this.#instant()
      case 'timestamp_ns':
      case 'timestamptz_ns':
        return this.#instant() * 1000n + this.pick([0n, 1n, 999n, -1n])
      case 'float':
      case 'double':
        return this.pick([-Infinity, -1.5, -0, 0, 0.5, 1.5, 2, Infinity])
      case 'string':
        return Array.from({ length: this.below(5) }, () => this.pick(['a', 'b', 'é', '\uffff', '💰'])).join(
          '',
        )
      case 'binary':
        return Uint8Array.from({ length: this.below(5) }, () => this.pick([0, 1, 0x7f, 0x80, 0xff]))
      case 'fixed':
        return Uint8Array.from({ length: type.length }, () => this.pick([0, 1, 0x7f, 0x80, 0xff]))
      case 'uuid':
        return `${this.pick(['0', '7', '8', 'f'])}0000000-0000-0000-0000-00000000000${this.below(3)}`
      default:
        throw new Error(`Cannot make values of type ${type.kind}`)
    }
  }

  #integer(min: bigint, max: bigint): bigint {
    const ints = max > 2n ** 31n ? [-(2n ** 31n), 2n ** 31n - 1n] : []
    const base = this.pick([min, max, 0n, 1000n, -1000n, min / 2n, max / 2n, ...ints])
    return clamp(base + BigInt(this.below(45) - 22), min, max)
  }

  /** Microseconds about the start of an hour, day, month or year, or in its first second. */
  #instant(): bigint {
    const year = this.pick(['1968', '1969', '1970', '1971', '2017'])
    const start = this.pick(['01-01T00', '01-31T23', '02-28T10', '03-01T00', '12-31T00', '12-31T23'])
    const offset = this.pick([0n, 0n, -1n, 1n, 999_998n, 999_999n, 1_000_000n, 1_000_001n, 3_599_999_999n])
    return microsOf(`${year}-${start}:00:00.000000`) + offset
  }

  /** Microseconds at the ends of their range, and where their hours come to the ends of ints. */
  #farInstant(): bigint {
    const hour = 3_600_000_000n
    const base = this.pick([-(2n ** 63n), 2n ** 63n - 1n, -(2n ** 31n) * hour, 2n ** 31n * hour])
    const offset = this.pick([0n, -1n, 1n, hour, -hour, 999_999n, 1_800_000_000n, -1_800_000_000n])
    return clamp(base + offset, -(2n ** 63n), 2n ** 63n - 1n)
  }

  #near(type: Type, value: Value): Value {
    const step = this.pick([0, 0, 1, -1, 2, -2, 7, -8, 10])
    switch (type.kind) {
      case 'int':
      case 'date':
        return Math.min(Math.max((value as number) + step, -(2 ** 31)), 2 ** 31 - 1)
      case 'decimal':
        return (value as bigint) + BigInt(step)
      case 'time':
        return clamp((value as bigint) + BigInt(step), 0n, 86_399_999_999n)
      case 'string': {
        const points = Array.from(value as string)
        return points.slice(0, this.below(points.length + 1)).join('') + this.pick(['', '', 'a', '💰'])
      }
      default:
        return typeof value === 'bigint' ? clamp(value + BigInt(step), -(2n ** 63n), 2n ** 63n - 1n) : value
    }
  }
}

function clamp(value: bigint, min: bigint, max: bigint): bigint {
  return value < min ? min : value > max ? max : value
}

function shown(value: Value | null): string {
  return value === null ? 'null' : valueText(value)
}

function filterText(filter: BoundExpression): string {
  switch (filter.op) {
    case 'true':
    case 'false':
      return filter.op
    case 'and':
    case 'or':
      return `(${filterText(filter.left)} ${filter.op} ${filterText(filter.right)})`
    default:
      return `${predicateText(filter)} [column ${filter.term.fieldId}]`
  }
}
