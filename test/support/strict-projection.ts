/** The strict projection of a whole filter, made of those of its leaves: one field that proves a leaf is enough (R3.4). */
import type { BoundExpression } from '../../src/expressions/bound-expression.ts'
import { ALWAYS_FALSE } from '../../src/expressions/expression.ts'
import type { PartitionExpression } from '../../src/expressions/partition-expression.ts'
import { projectLeafStrict } from '../../src/expressions/project-leaf.ts'
import { conjunction, disjunction } from '../../src/expressions/simplify.ts'
import type { PartitionSpec } from '../../src/metadata/partition-spec.ts'
import type { Schema } from '../../src/metadata/schema.ts'

export function strictProjection(
  bound: BoundExpression,
  spec: PartitionSpec,
  schema: Schema,
): PartitionExpression {
  switch (bound.op) {
    case 'true':
    case 'false':
      return bound
    case 'and':
    case 'or': {
      const join = bound.op === 'and' ? conjunction<PartitionExpression> : disjunction<PartitionExpression>
      return join(strictProjection(bound.left, spec, schema), strictProjection(bound.right, spec, schema))
    }
    default:
      return spec.fields.reduce<PartitionExpression>(
        (any, field, position) => disjunction(any, projectLeafStrict(bound, field, position, schema)),
        ALWAYS_FALSE,
      )
  }
}
