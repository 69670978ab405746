/**
 * From a filter on rows to filters on the partitions of a spec (section 3 of the planning rules).
 *
 * - inclusive: a row that matches lies in a partition that matches. Partitions that do not match can be skipped.
 * - strict: all rows of a partition that matches match. Their filter need not be evaluated.
 *
 * For the spec `day(ts)` and the filter `ts >= 2017-12-01T10:00` the inclusive projection is `ts_day >= 2017-12-01`, the
 * strict one `ts_day > 2017-12-01`: on the day itself some rows match.
 *
 * Here is the inclusive one of whole filters. The strict one is wanted leaf by leaf only, by residuals (R6.4).
 *
 * A partition field about which nothing can be said adds `true` to the inclusive projection, `false` to the strict one.
 * Every manifest is judged by its own spec (R3.22, B071), and columns are found by id (R3.23).
 */
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import type { Schema } from '../metadata/schema.ts'
import type { BoundExpression } from './bound-expression.ts'
import { ALWAYS_TRUE } from './expression.ts'
import type { PartitionExpression } from './partition-expression.ts'
import { projectLeafInclusive } from './project-leaf.ts'
import { conjunction, disjunction } from './simplify.ts'

/**
 * `schema` is the one that `bound` was bound to, and that the types of the partition tuples come from.
 *
 * A spec without a field of any filtered column gives `true`, unless the filter is `false`.
 */
export function inclusiveProjection(
  bound: BoundExpression,
  spec: PartitionSpec,
  schema: Schema,
): PartitionExpression {
  switch (bound.op) {
    case 'true':
    case 'false':
      return bound
    case 'and':
      return conjunction(
        inclusiveProjection(bound.left, spec, schema),
        inclusiveProjection(bound.right, spec, schema),
      )
    case 'or':
      return disjunction(
        inclusiveProjection(bound.left, spec, schema),
        inclusiveProjection(bound.right, spec, schema),
      )
    default:
      // A row lies in one partition of each field, so all of them hold at once (R3.4, B085).
      return spec.fields.reduce<PartitionExpression>(
        (all, field, position) => conjunction(all, projectLeafInclusive(bound, field, position, schema)),
        ALWAYS_TRUE,
      )
  }
}
