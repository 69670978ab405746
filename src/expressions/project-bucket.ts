/**
 * Predicates through `bucket[N]` (R3.9). Equal values are in one bucket, and a bucket says nothing about order:
 *
 * | predicate        | inclusive           | strict                   |
 * | ---------------- | ------------------- | ------------------------ |
 * | `= v`, `in S`    | in the buckets      | none                     |
 * | `!= v`, `not in` | none                | not in the buckets       |
 * | all others       | none                | none                     |
 */
import { bucketOf } from '../types/transforms/bucket.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from './expression.ts'
import type { PartitionExpression, PartitionTerm } from './partition-expression.ts'
import { literalsOf, partitionIn, partitionNotIn, type ValuePredicate } from './partition-predicate.ts'

export function projectBucketInclusive(
  predicate: ValuePredicate,
  numBuckets: number,
  term: PartitionTerm,
): PartitionExpression {
  return predicate.op === 'eq' || predicate.op === 'in'
    ? partitionIn(term, bucketsOf(predicate, numBuckets))
    : ALWAYS_TRUE
}

export function projectBucketStrict(
  predicate: ValuePredicate,
  numBuckets: number,
  term: PartitionTerm,
): PartitionExpression {
  return predicate.op === 'not-eq' || predicate.op === 'not-in'
    ? partitionNotIn(term, bucketsOf(predicate, numBuckets))
    : ALWAYS_FALSE
}

function bucketsOf(predicate: ValuePredicate, numBuckets: number): number[] {
  return literalsOf(predicate).map((value) => bucketOf(numBuckets, predicate.term.sourceType, value))
}
