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

/** T over the values of one column, all as `bigint`: ints, longs, and decimals by their unscaled value. */
interface Truncation {
  readonly term: PartitionTerm
  /** The least and the greatest value of the column; absent for a decimal. */
  readonly min?: bigint
  readonly max?: bigint
  /** Whether T keeps the order, but for the wrapped partition. */
  readonly isOrdered: boolean
  /** The partition of the values that are too near to the least one; it is above 0, and they are below. */
  readonly wrapped?: bigint
  readonly truncate: (value: bigint) => bigint
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
  const ordered = comparePartition('lt-eq', term, toValue(partition))
  if (wrapped === undefined || wrapped <= partition) return ordered
  return disjunction<PartitionExpression>(ordered, comparePartition('eq', term, toValue(wrapped)))
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
  const ordered = comparePartition('gt', term, toValue(partition))
  if (wrapped === undefined || wrapped <= partition) return ordered
  return conjunction<PartitionExpression>(ordered, comparePartition('not-eq', term, toValue(wrapped)))
}

function partitionsOf({ truncate, toValue }: Truncation, values: readonly Value[]): Value[] {
  return values.map((value) => toValue(truncate(toBigInt(value))))
}

function truncationOf(width: number, type: Type, term: PartitionTerm): Truncation {
  switch (type.kind) {
    case 'int':
      return wrapping({
        term,
        min: -(2n ** 31n),
        max: 2n ** 31n - 1n,
        isOrdered: width <= MAX_ORDERED_INT_WIDTH,
        truncate: (value) => BigInt(truncateInt(width, Number(value))),
        toValue: Number,
      })
    case 'long':
      return wrapping({
        term,
        min: -(2n ** 63n),
        max: 2n ** 63n - 1n,
        isOrdered: true,
        truncate: (value) => truncateLong(width, value),
        toValue: (value) => value,
      })
    default:
      return {
        term,
        isOrdered: true,
        truncate: (value) => truncateDecimal(width, value),
        toValue: (value) => value,
      }
  }
}

function wrapping(truncation: Truncation & { readonly min: bigint }): Truncation {
  const lowest = truncation.truncate(truncation.min)
  return lowest > 0n ? { ...truncation, wrapped: lowest } : truncation
}

function toBigInt(value: Value): bigint {
  return BigInt(value as number | bigint)
}
