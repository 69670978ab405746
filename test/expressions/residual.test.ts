import { assert } from 'chai'
import { bind } from '../../src/expressions/bind.ts'
import {
  alwaysFalse,
  alwaysTrue,
  and,
  bucket,
  equal,
  greaterThan,
  greaterThanOrEqual,
  isIn,
  isNan,
  isNull,
  lessThan,
  not,
  notEqual,
  or,
  startsWith,
} from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { ResidualEvaluator } from '../../src/expressions/residual.ts'
import { rewriteNot } from '../../src/expressions/rewrite-not.ts'
import { createPartitionSpec, type PartitionSpec } from '../../src/metadata/partition-spec.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { parseTransform } from '../../src/types/transforms/transform.ts'
import type { Value } from '../../src/types/value.ts'

const SCHEMA = parseSchema({
  type: 'struct',
  fields: [
    { id: 1, name: 'i', required: false, type: 'int' },
    { id: 2, name: 'ts', required: false, type: 'timestamp' },
    { id: 3, name: 's', required: false, type: 'string' },
    { id: 4, name: 'f', required: false, type: 'float' },
    { id: 5, name: 'b', required: false, type: 'int' },
    { id: 6, name: 'u', required: false, type: 'uuid' },
  ],
})

function specOf(...fields: [sourceId: number, transform: string][]): PartitionSpec {
  return createPartitionSpec(
    0,
    fields.map(([sourceId, transform], position) => ({
      sourceId,
      fieldId: 1000 + position,
      name: `p${position}`,
      transform: parseTransform(transform),
    })),
  )
}

function residualOf(
  filter: Expression,
  spec: PartitionSpec,
  tuple: readonly (Value | null)[],
  isKnown?: (position: number) => boolean,
): Expression {
  const evaluator = new ResidualEvaluator(rewriteNot(filter), bind(filter, SCHEMA), spec, SCHEMA)
  return evaluator.residualFor(tuple, isKnown)
}

const at = (text: string): Literal => ({ kind: 'timestamp', value: BigInt(Date.parse(`${text}Z`)) * 1000n })

type Row = [expected: Expression, filter: Expression, tuple: readonly (Value | null)[], why: string]

function check(title: string, spec: PartitionSpec, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [expected, filter, tuple, why] of rows)
      it(`${tuple.map(String).join(', ')}: ${formatExpression(filter)} leaves ${formatExpression(expected)}: ${why}`, () => {
        assert.deepEqual(residualOf(filter, spec, tuple), expected)
      })
  })
}

const TRUE = alwaysTrue()
const FALSE = alwaysFalse()

describe('residuals', () => {
  const L = at('2017-12-01T10:00:00')
  const after = greaterThan('ts', L)
  const before = lessThan('ts', L)
  const same = equal('ts', L)
  const other = notEqual('ts', L)
  const wholeDay = and(
    greaterThanOrEqual('ts', at('2017-12-01T00:00:00')),
    lessThan('ts', at('2017-12-02T00:00:00')),
  )

  check('day(ts) (R6.11)', specOf([2, 'day']), [
    [FALSE, after, [17500], 'the day before'],
    [TRUE, before, [17500], 'the day before'],
    [FALSE, same, [17500], 'the day before'],
    [TRUE, other, [17500], 'the day before'],
    [FALSE, wholeDay, [17500], 'the day before'],
    [TRUE, not(same), [17500], 'the day before'],

    [after, after, [17501], 'some rows are later'],
    [before, before, [17501], 'some rows are earlier'],
    [same, same, [17501], 'some rows may be'],
    [other, other, [17501], 'some rows may be'],
    [TRUE, wholeDay, [17501], 'the whole day is asked for'],
    [other, not(same), [17501], 'R11.22a: residuals have no NOT'],

    [TRUE, after, [17502], 'the day after'],
    [FALSE, before, [17502], 'the day after'],
    [FALSE, same, [17502], 'the day after'],
    [TRUE, other, [17502], 'the day after'],
    [FALSE, wholeDay, [17502], 'the day after'],
    [TRUE, not(same), [17502], 'the day after'],

    [FALSE, after, [null], 'null is not later'],
    [FALSE, before, [null], 'R6.9, trap 30: Java says true, and returns rows with null'],
    [FALSE, same, [null], 'null is not that instant'],
    [TRUE, other, [null], 'R11.22a'],
    [FALSE, wholeDay, [null], 'null is in no day'],
    [TRUE, not(same), [null], 'R11.22a'],

    [equal('i', 5), and(after, equal('i', 5)), [17502], 'a column of no partition stays'],
    [and(after, equal('i', 5)), and(after, equal('i', 5)), [17501], 'both stay'],
    [FALSE, and(after, equal('i', 5)), [17500], 'R11.21'],
    [TRUE, or(after, equal('i', 5)), [17502], 'R11.21'],
    [equal('i', 5), or(after, equal('i', 5)), [17500], 'R11.21'],
  ])

  check('bucket[16](i) (R6.11)', specOf([1, 'bucket[16]']), [
    [equal('i', 5), equal('i', 5), [7], '5 is in bucket 7'],
    [notEqual('i', 5), notEqual('i', 5), [7], '5 is in bucket 7'],
    [isIn('i', [5, 34]), isIn('i', [5, 34]), [7], '5 is in bucket 7'],
    [FALSE, isNull('i'), [7], 'null has no bucket'],
    [FALSE, equal('i', 5), [3], '5 is elsewhere'],
    [TRUE, notEqual('i', 5), [3], '5 is elsewhere'],
    [isIn('i', [5, 34]), isIn('i', [5, 34]), [3], '34 is in bucket 3'],
    [FALSE, equal('i', 5), [null], 'null is not 5'],
    [TRUE, notEqual('i', 5), [null], 'R11.22a'],
    [TRUE, isNull('i'), [null], 'all rows are'],
    [lessThan('i', 5), lessThan('i', 5), [null], 'buckets have no order'],
    [TRUE, equal(bucket(16, 'i'), 3), [3], 'R3.6: the same transform'],
    [FALSE, equal(bucket(16, 'i'), 3), [7], 'R3.6: the same transform'],
    [equal(bucket(8, 'i'), 3), equal(bucket(8, 'i'), 3), [3], 'R3.6: another transform'],
  ])

  check('identity(i) (R6.9)', specOf([1, 'identity']), [
    [FALSE, lessThan('i', 5), [null], 'R6.9: Java says true'],
    [FALSE, or(not(lessThan('i', 5)), FALSE), [null], 'R11.22a: not (i < 5) means i >= 5'],
    [TRUE, lessThan('i', 5), [4], 'exact'],
    [FALSE, lessThan('i', 5), [5], 'exact'],
    [TRUE, equal(bucket(16, 'i'), 3), [34], 'R3.6: Java says false'],
    [FALSE, equal(bucket(16, 'i'), 3), [4], 'R3.6: 4 is in bucket 6'],
    [TRUE, equal(bucket(16, 'i'), 6), [4], 'R3.6: Java says false'],
  ])

  check('identity(i), bucket[4](i) (B085)', specOf([1, 'bucket[4]'], [1, 'identity']), [
    [TRUE, lessThan('i', 5), [3, 4], 'the second field decides'],
    [FALSE, lessThan('i', 5), [3, 5], 'the second field decides'],
  ])

  check('identity(s)', specOf([3, 'identity']), [
    [TRUE, startsWith('s', 'ab'), ['abc'], 'exact'],
    [FALSE, startsWith('s', 'ab'), [null], 'R6.8: Java fails'],
    [TRUE, not(startsWith('s', 'ab')), [null], 'R6.8: Java fails'],
  ])

  check('identity(f) of NaN (R6.10)', specOf([4, 'identity']), [
    [greaterThan('f', 5), greaterThan('f', 5), [NaN], 'Java says true, the spec false'],
    [lessThan('f', 5), lessThan('f', 5), [NaN], 'no constant'],
    [equal('f', 5), equal('f', 5), [NaN], 'no constant'],
    [notEqual('f', 5), notEqual('f', 5), [NaN], 'no constant'],
    [isNan('f'), isNan('f'), [NaN], 'no constant'],
    [TRUE, equal('f', 0), [-0], 'R11.22a: -0.0 is 0.0'],
    [FALSE, isNan('f'), [1], 'exact'],
  ])

  check('identity(u), where the two orders disagree (R5.20)', specOf([6, 'identity']), [
    [
      lessThan('u', { kind: 'uuid', value: '50000000-0000-0000-0000-000000000000' }),
      lessThan('u', { kind: 'uuid', value: '50000000-0000-0000-0000-000000000000' }),
      ['f0000000-0000-0000-0000-000000000000'],
      'Java says true, the bytes say false',
    ],
  ])

  check('void(i) (R3.19, trap 17)', specOf([1, 'void']), [
    [isNull('i'), isNull('i'), [null], 'the partition says nothing about rows'],
    [equal('i', 5), or(equal('i', 5), FALSE), [null], 'R6.2: bound and simplified'],
  ])

  check('unknown transform (R3.20)', specOf([1, 'zorder[3]']), [
    [equal('i', 5), equal('i', 5), [3n], 'nothing is known of the transform'],
  ])

  it('R6.2: without partition fields the rewritten filter stays as it is, unbound', () => {
    const filter = not(equal('i', 5))
    const rewritten = rewriteNot(filter)
    const evaluator = new ResidualEvaluator(rewritten, bind(filter, SCHEMA), specOf(), SCHEMA)
    assert.strictEqual(evaluator.residualFor([]), rewritten)
    assert.strictEqual(evaluator.constant, rewritten)
  })

  it('B074: a field that the manifest lacks decides nothing', () => {
    const spec = specOf([1, 'identity'])
    assert.deepEqual(
      residualOf(isNull('i'), spec, [null], () => false),
      isNull('i'),
    )
    assert.deepEqual(residualOf(isNull('i'), spec, []), isNull('i'))
    assert.deepEqual(residualOf(isNull('i'), spec, [null]), TRUE)
  })

  it('is one expression for all tuples where the partition says nothing', () => {
    const filter = and(equal('b', 5), equal('s', 'x'))
    const evaluator = new ResidualEvaluator(filter, bind(filter, SCHEMA), specOf([1, 'identity']), SCHEMA)
    assert.deepEqual(evaluator.constant, filter)
    assert.strictEqual(evaluator.residualFor([1]), evaluator.residualFor([2]))
  })

  it('R6.4: leaves are the predicates of the filter themselves', () => {
    const filter = equal('b', 5)
    assert.strictEqual(residualOf(and(filter, lessThan('i', 5)), specOf([1, 'identity']), [4]), filter)
  })
})
