/**
 * Predicates on strings and binaries through `truncate[W]` (R3.11). T cuts to W code points or bytes, which keeps the
 * order:
 *
 * | predicate          | inclusive | strict      |
 * | ------------------ | --------- | ----------- |
 * | `< v`, `<= v`      | `<= T(v)` | `< T(v)`    |
 * | `> v`, `>= v`      | `>= T(v)` | `> T(v)`    |
 * | `= v`, `in S`      | in T(S)   | none        |
 * | `!= v`, `not in S` | none      | not in T(S) |
 *
 * A prefix p of n code points:
 *
 * | n compared with W     | n < W          | n = W  | n > W, inclusive   | n > W, strict         |
 * | --------------------- | -------------- | ------ | ------------------ | --------------------- |
 * | starts with p         | starts with p  | `= p`  | starts with T(p)   | none                  |
 * | does not start with p | does not …     | `!= p` | none (B056)        | does not … with T(p)  |
 */
import { codePointCount, truncateBinary, truncateString } from '../types/transforms/truncate.ts'
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

export function projectTruncatedTextInclusive(
  predicate: ValuePredicate,
  width: number,
  term: PartitionTerm,
): PartitionExpression {
  switch (predicate.op) {
    case 'lt':
    case 'lt-eq':
      return comparePartition('lt-eq', term, truncate(width, predicate.value))
    case 'gt':
    case 'gt-eq':
      return comparePartition('gt-eq', term, truncate(width, predicate.value))
    case 'eq':
    case 'in':
      return partitionIn(term, prefixesOf(predicate, width))
    case 'not-eq':
    case 'not-in':
      return ALWAYS_TRUE
    case 'starts-with': {
      const prefix = predicate.value as string
      const op = codePointCount(prefix) === width ? 'eq' : 'starts-with'
      return comparePartition(op, term, truncateString(width, prefix))
    }
    case 'not-starts-with': {
      const prefix = predicate.value as string
      const length = codePointCount(prefix)
      // The partition `he` of width 2 may hold `heat`, which does not start with `hello`.
      if (length > width) return ALWAYS_TRUE
      return comparePartition(length === width ? 'not-eq' : 'not-starts-with', term, prefix)
    }
  }
}

export function projectTruncatedTextStrict(
  predicate: ValuePredicate,
  width: number,
  term: PartitionTerm,
): PartitionExpression {
  switch (predicate.op) {
    case 'lt':
    case 'lt-eq':
      return comparePartition('lt', term, truncate(width, predicate.value))
    case 'gt':
    case 'gt-eq':
      return comparePartition('gt', term, truncate(width, predicate.value))
    case 'eq':
    case 'in':
      return ALWAYS_FALSE
    case 'not-eq':
    case 'not-in':
      return partitionNotIn(term, prefixesOf(predicate, width))
    case 'starts-with': {
      const prefix = predicate.value as string
      const length = codePointCount(prefix)
      if (length > width) return ALWAYS_FALSE
      return comparePartition(length === width ? 'eq' : 'starts-with', term, prefix)
    }
    case 'not-starts-with': {
      const prefix = predicate.value as string
      const op = codePointCount(prefix) === width ? 'not-eq' : 'not-starts-with'
      return comparePartition(op, term, truncateString(width, prefix))
    }
  }
}

function prefixesOf(predicate: ValuePredicate, width: number): Value[] {
  return literalsOf(predicate).map((value) => truncate(width, value))
}

function truncate(width: number, value: Value): Value {
  return typeof value === 'string' ? truncateString(width, value) : truncateBinary(width, value as Uint8Array)
}
