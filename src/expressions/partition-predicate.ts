/** Making predicates on a partition field; sets are made small first, since transforms map many values to one. */
import { valueKey } from '../types/value-set.ts'
import type { Value } from '../types/value.ts'
import type { BoundComparisonPredicate, BoundSetPredicate } from './bound-expression.ts'
import type { ComparisonOperation } from './expression.ts'
import type { PartitionPredicate, PartitionTerm } from './partition-expression.ts'

/** A bound predicate with literals, which its projection transforms. */
export type ValuePredicate = BoundComparisonPredicate | BoundSetPredicate

/** The literal of the predicate, or all of its set. */
export function literalsOf(predicate: ValuePredicate): readonly Value[] {
  return 'values' in predicate ? predicate.values : [predicate.value]
}

export function comparePartition(
  op: ComparisonOperation,
  term: PartitionTerm,
  value: Value,
): PartitionPredicate {
  return { op, term, value }
}

/** That the partition value is among `values`, of which there is at least one: `eq` if all are the same (R3.21). */
export function partitionIn(term: PartitionTerm, values: readonly Value[]): PartitionPredicate {
  const distinct = distinctValues(values)
  return distinct.length === 1 ? { op: 'eq', term, value: distinct[0] } : { op: 'in', term, values: distinct }
}

/** The opposite of {@link partitionIn}, `not-eq` or `not-in`. */
export function partitionNotIn(term: PartitionTerm, values: readonly Value[]): PartitionPredicate {
  const distinct = distinctValues(values)
  return distinct.length === 1
    ? { op: 'not-eq', term, value: distinct[0] }
    : { op: 'not-in', term, values: distinct }
}

/** In the order of first appearance. Linear, for sets of many thousands. */
function distinctValues(values: readonly Value[]): Value[] {
  const byKey = new Map<Value, Value>()
  for (const value of values) {
    const key = valueKey(value)
    if (!byKey.has(key)) byKey.set(key, value)
  }
  return [...byKey.values()]
}
