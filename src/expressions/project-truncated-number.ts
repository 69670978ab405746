/**
 * Predicates on int, long and decimal through `truncate[W]` (R3.10). T rounds down to a multiple of W; u is the unit of
 * the column's last digit:
 *
 * | predicate | inclusive      | strict       | predicate | inclusive | strict      |
 * | --------- | -------------- | ------------ | --------- | --------- | ----------- |
 * | `< v`     | `<= T(v - u)`  | `< T(v)`     | `= v`     | `= T(v)`  | none        |
 * | `<= v`    | `<= T(v)`      | `< T(v + u)` | `!= v`    | none      | `!= T(v)`   |
 * | `> v`     | `>= T(v + u)`  | `> T(v)`     | `in S`    | in T(S)   | none        |
 * | `>= v`    | `>= T(v)`      | `> T(v - u)` | `not in`  | none      | not in T(S) |
 *
 * **The wrapped partition.** Unless W divides 2^31 (2^63), the multiple below the least value MIN does not exist, and
 * rows near MIN are stored in the positive partition T(MIN). Values grow with their partitions everywhere but there. So
 * `<` and `<=` are `or = T(MIN)`, and a literal in that partition says `= T(MIN)` for what is below it, `not null` for
 * what is above; the strict `>` and `>=` are `and != T(MIN)`. Decimals do not wrap, nor does anything end for them.
 *
 * Ints of a W above 2^30 wrap for positive values too, in no order at all: only equality is projected.
 *
 * **A long may have been an int.** Rows written then are in partitions of ints, so that a long has the wrapped partition
 * of ints besides its own, equality asks for both T(v), and a W above 2^30 leaves no order either.
 */
import { truncateDecimal, truncateInt, truncateLong } from '../types/transforms/truncate.ts'
import type { Type } from '../types/type.ts'
import type { Value } from '../types/value.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from './expression.ts'
import type { PartitionExpression, PartitionTerm } from './partition-expression.ts'
import {
  comparePartition,
  literalsOf,
  partitionIn,
  partitionNotIn,
  type ValuePredicate,
} from './partition-predicate.ts'
import { conjunction, disjunction } from './simplify.ts'

/** Sums of a remainder and the width are ints up to here (R14.6). */
const MAX_ORDERED_INT_WIDTH = 2 ** 30

const MIN_INT = -(2n ** 31n)
const MAX_INT = 2n ** 31n - 1n
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

/** T over the values of one column, all as `bigint`: ints, longs, and decimals by their unscaled value. */
interface Truncation {
  readonly term: PartitionTerm
  /** The least and the greatest value of the column; absent for a decimal. */
  readonly min?: bigint
  readonly max?: bigint
  /** Whether T keeps the order, but for the wrapped partition. */
  readonly isOrdered: boolean
  /** Partitions of values that are too near to the least one, of the column or of ints: above 0, and they are below. */
  readonly wrapped: readonly bigint[]
  readonly truncate: (value: bigint) => bigint
  /** T of a value of a column that was of the narrower type. */
  readonly truncateBefore?: (value: bigint) => bigint
  /** Back to a value of the column's type. */
  readonly toValue: (value: bigint) => Value
}

export function projectTruncatedNumberInclusive(
  predicate: ValuePredicate,
  width: number,
  term: PartitionTerm,
): PartitionExpression {
  const truncation = truncationOf(width, predicate.term.sourceType, term)
  switch (predicate.op) {
    case 'lt': {
      const value = toBigInt(predicate.value)
      return value === truncation.min ? ALWAYS_FALSE : atMost(truncation, value - 1n)
    }
    case 'lt-eq':
      return atMost(truncation, toBigInt(predicate.value))
    case 'gt': {
      const value = toBigInt(predicate.value)
      return value === truncation.max ? ALWAYS_FALSE : atLeast(truncation, value + 1n)
    }
    case 'gt-eq':
      return atLeast(truncation, toBigInt(predicate.value))
    case 'eq':
    case 'in':
      return partitionIn(term, partitionsOf(truncation, literalsOf(predicate)))
    case 'not-eq':
    case 'not-in':
    case 'starts-with':
    case 'not-starts-with':
      return ALWAYS_TRUE
  }
}

export function projectTruncatedNumberStrict(
  predicate: ValuePredicate,
  width: number,
  term: PartitionTerm,
): PartitionExpression {
  const truncation = truncationOf(width, predicate.term.sourceType, term)
  switch (predicate.op) {
    case 'lt':
      return below(truncation, toBigInt(predicate.value))
    case 'lt-eq': {
      const value = toBigInt(predicate.value)
      return value === truncation.max ? { op: 'not-null', term } : below(truncation, value + 1n)
    }
    case 'gt':
      return above(truncation, toBigInt(predicate.value))
    case 'gt-eq': {
      const value = toBigInt(predicate.value)
      return value === truncation.min ? { op: 'not-null', term } : above(truncation, value - 1n)
    }
    case 'not-eq':
    case 'not-in':
      return partitionNotIn(term, partitionsOf(truncation, literalsOf(predicate)))
    case 'eq':
    case 'in':
    case 'starts-with':
    case 'not-starts-with':
      return ALWAYS_FALSE
  }
}

/** Partitions that may hold a value up to `value`, included. */
function atMost(truncation: Truncation, value: bigint): PartitionExpression {
  const { term, isOrdered, wrapped, toValue } = truncation
  if (!isOrdered) return ALWAYS_TRUE
  const partition = truncation.truncate(value)
  if (partition > value) return comparePartition('eq', term, toValue(partition))
  return wrapped
    .filter((other) => other > partition)
    .reduce<PartitionExpression>(
      (any, other) => disjunction(any, comparePartition('eq', term, toValue(other))),
      comparePartition('lt-eq', term, toValue(partition)),
    )
}

/** Partitions that may hold a value from `value` on. */
function atLeast(truncation: Truncation, value: bigint): PartitionExpression {
  const { term, isOrdered, toValue } = truncation
  if (!isOrdered) return ALWAYS_TRUE
  const partition = truncation.truncate(value)
  return partition > value ? { op: 'not-null', term } : comparePartition('gt-eq', term, toValue(partition))
}

/** Partitions all of whose values are below `value`. */
function below(truncation: Truncation, value: bigint): PartitionExpression {
  const { term, isOrdered, toValue } = truncation
  const partition = truncation.truncate(value)
  if (!isOrdered || partition > value) return ALWAYS_FALSE
  return comparePartition('lt', term, toValue(partition))
}

/** Partitions all of whose values are above `value`. */
function above(truncation: Truncation, value: bigint): PartitionExpression {
  const { term, isOrdered, wrapped, toValue } = truncation
  if (!isOrdered) return ALWAYS_FALSE
  const partition = truncation.truncate(value)
  return wrapped
    .filter((other) => other > partition)
    .reduce<PartitionExpression>(
      (all, other) => conjunction(all, comparePartition('not-eq', term, toValue(other))),
      comparePartition('gt', term, toValue(partition)),
    )
}

function partitionsOf(truncation: Truncation, values: readonly Value[]): Value[] {
  const { truncate, truncateBefore, toValue } = truncation
  return values.flatMap((value) => {
    const exact = toBigInt(value)
    const partition = toValue(truncate(exact))
    if (truncateBefore === undefined || exact < MIN_INT || exact > MAX_INT) return partition
    return [partition, toValue(truncateBefore(exact))]
  })
}

function truncationOf(width: number, type: Type, term: PartitionTerm): Truncation {
  const truncateAsInt = (value: bigint): bigint => BigInt(truncateInt(width, Number(value)))
  const truncateAsLong = (value: bigint): bigint => truncateLong(width, value)
  const isOrdered = width <= MAX_ORDERED_INT_WIDTH
  switch (type.kind) {
    case 'int':
      return {
        term,
        min: MIN_INT,
        max: MAX_INT,
        isOrdered,
        wrapped: [truncateAsInt(MIN_INT)].filter(isPositive),
        truncate: truncateAsInt,
        toValue: Number,
      }
    case 'long':
      return {
        term,
        min: MIN_LONG,
        max: MAX_LONG,
        isOrdered,
        wrapped: [truncateAsInt(MIN_INT), truncateAsLong(MIN_LONG)].filter(isPositive),
        truncate: truncateAsLong,
        truncateBefore: truncateAsInt,
        toValue: (value) => value,
      }
    default:
      return {
        term,
        isOrdered: true,
        wrapped: [],
        truncate: (value) => truncateDecimal(width, value),
        toValue: (value) => value,
      }
  }
}

function isPositive(value: bigint): boolean {
  return value > 0n
}

function toBigInt(value: Value): bigint {
  return BigInt(value as number | bigint)
}
