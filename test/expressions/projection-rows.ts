/** Tables of projections of one predicate through one field. */
import { assert } from 'chai'
import { projectLeafInclusive, projectLeafStrict } from '../../src/expressions/project-leaf.ts'
import { inclusiveProjection } from '../../src/expressions/project.ts'
import { createPartitionSpec, type PartitionField } from '../../src/metadata/partition-spec.ts'
import { Schema } from '../../src/metadata/schema.ts'
import { parseTransform } from '../../src/types/transforms/transform.ts'
import { parseType } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import { boundPredicate, partitionText, predicateText, type Operation } from '../support/bound-predicates.ts'
import { strictProjection } from '../support/strict-projection.ts'

export type ProjectionRow = [
  type: string,
  transform: string,
  op: Operation,
  operand: Value | readonly Value[] | undefined,
  inclusive: string,
  strict: string,
  reason?: string,
]

/** One test for each row: column `x` of the type, in a spec whose only field is the transform of it. */
export function testProjections(rows: readonly ProjectionRow[]): void {
  for (const [type, transform, op, operand, inclusive, strict, reason = ''] of rows) {
    const sourceType = parseType(type)
    const predicate = boundPredicate(op, sourceType, operand)
    it(`${transform} of ${type}, ${predicateText(predicate)}: ${inclusive}; ${strict} ${reason}`, () => {
      const schema = new Schema([{ id: 1, name: 'x', required: false, type: sourceType }])
      const field: PartitionField = {
        sourceId: 1,
        fieldId: 1000,
        name: 'x_part',
        transform: parseTransform(transform),
      }
      const spec = createPartitionSpec(0, [field])
      assert.deepEqual(
        {
          inclusive: partitionText(inclusiveProjection(predicate, spec, schema)),
          strict: partitionText(strictProjection(predicate, spec, schema)),
        },
        { inclusive, strict },
      )
      assert.equal(partitionText(projectLeafInclusive(predicate, field, 0, schema)), inclusive)
      assert.equal(partitionText(projectLeafStrict(predicate, field, 0, schema)), strict)
    })
  }
}
