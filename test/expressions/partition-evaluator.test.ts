import { assert } from 'chai'
import type { ComparisonOperation, SetOperation, UnaryOperation } from '../../src/expressions/expression.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from '../../src/expressions/expression.ts'
import { compilePartitionFilter, type PartitionOutcome } from '../../src/expressions/partition-evaluator.ts'
import type { PartitionExpression } from '../../src/expressions/partition-expression.ts'
import { parseType } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import { hex } from './stated-metrics.ts'

type Operation = UnaryOperation | ComparisonOperation | SetOperation

function predicate(type: string, position: number, op: Operation, ...values: Value[]): PartitionExpression {
  const fieldType = parseType(type)
  const term = { position, fieldType, type: fieldType }
  switch (op) {
    case 'is-null':
    case 'not-null':
    case 'is-nan':
    case 'not-nan':
      return { op, term }
    case 'in':
    case 'not-in':
      return { op, term, values }
    default:
      return { op, term, value: values[0] }
  }
}

describe('partition evaluator (R6.8)', () => {
  const UNDECIDED = undefined
  const rows: [
    expected: PartitionOutcome,
    type: string,
    value: Value | null,
    op: Operation,
    literals: readonly Value[],
    why: string,
  ][] = [
    [true, 'int', null, 'is-null', [], 'R6.8'],
    [false, 'int', 5, 'is-null', [], 'R6.8'],
    [false, 'int', null, 'not-null', [], 'R6.8'],
    [true, 'int', 5, 'not-null', [], 'R6.8'],

    [false, 'int', null, 'lt', [5], 'R6.9: Java says true'],
    [false, 'int', null, 'lt-eq', [5], 'R6.9: Java says true'],
    [false, 'int', null, 'gt', [5], 'R6.8'],
    [false, 'int', null, 'gt-eq', [5], 'R6.8'],
    [false, 'int', null, 'eq', [5], 'R6.8'],
    [true, 'int', null, 'not-eq', [5], 'R6.8'],
    [false, 'int', null, 'in', [5, 6], 'R6.8'],
    [true, 'int', null, 'not-in', [5, 6], 'R6.8'],
    [false, 'string', null, 'starts-with', ['a'], 'R6.8: no crash'],
    [true, 'string', null, 'not-starts-with', ['a'], 'R6.8: no crash'],

    [true, 'int', 4, 'lt', [5], 'below'],
    [false, 'int', 5, 'lt', [5], 'equal'],
    [true, 'int', 5, 'lt-eq', [5], 'equal'],
    [false, 'int', 6, 'lt-eq', [5], 'above'],
    [true, 'int', 6, 'gt', [5], 'above'],
    [false, 'int', 5, 'gt', [5], 'equal'],
    [true, 'int', 5, 'gt-eq', [5], 'equal'],
    [false, 'int', 4, 'gt-eq', [5], 'below'],
    [true, 'int', 5, 'eq', [5], 'equal'],
    [false, 'int', 4, 'eq', [5], 'not equal'],
    [true, 'int', 4, 'not-eq', [5], 'not equal'],
    [false, 'int', 5, 'not-eq', [5], 'equal'],
    [true, 'int', 5, 'in', [4, 5], 'a member'],
    [false, 'int', 6, 'in', [4, 5], 'no member'],
    [true, 'int', 6, 'not-in', [4, 5], 'no member'],
    [false, 'int', 5, 'not-in', [4, 5], 'a member'],
    [true, 'string', 'abc', 'starts-with', ['ab'], 'it does'],
    [false, 'string', 'abc', 'starts-with', ['b'], 'it does not'],
    [false, 'string', 'abc', 'not-starts-with', ['ab'], 'it does'],
    [true, 'string', 'abc', 'not-starts-with', ['abcd'], 'it is shorter'],

    [UNDECIDED, 'string', 'a\u{1f600}', 'starts-with', ['a\ud83d'], 'half a character is no prefix'],
    [UNDECIDED, 'string', 'abc', 'not-starts-with', ['a\ud83d'], 'half a character is no prefix'],
    [true, 'string', 'a\u{1f600}b', 'starts-with', ['a\u{1f600}'], 'a whole one is'],

    [true, 'long', 2n ** 62n, 'gt', [2n ** 62n - 1n], 'exact past 2^53'],
    [true, 'long', 2n ** 62n, 'in', [1n, 2n ** 62n], 'exact past 2^53'],
    [false, 'decimal(38,2)', 10n ** 37n, 'eq', [10n ** 37n + 1n], 'exact'],
    [true, 'string', '\uFFFF', 'lt', ['\u{10000}'], 'R5.20: by code point'],
    [true, 'boolean', false, 'lt', [true], 'R5.19'],
    [true, 'binary', hex('7f'), 'lt', [hex('80')], 'R5.19: unsigned'],
    [true, 'binary', hex('0102'), 'in', [hex('01'), hex('0102')], 'bytes are members by content'],
    [false, 'fixed[2]', hex('0102'), 'not-in', [hex('0101'), hex('0102')], 'bytes are members by content'],

    [true, 'float', -0, 'eq', [0], 'R6.8, R11.22a: -0.0 is 0.0'],
    [false, 'float', -0, 'lt', [0], 'R6.8: Java says true'],
    [true, 'float', -0, 'in', [0, 1], 'R6.8: Java says false'],
    [false, 'float', 0, 'not-in', [-0, 1], 'R6.8'],
    [false, 'double', 0, 'not-eq', [-0], 'R6.8'],

    [true, 'float', NaN, 'is-nan', [], 'R6.8'],
    [false, 'float', NaN, 'not-nan', [], 'R6.8'],
    [false, 'float', null, 'is-nan', [], 'R6.8: null is not NaN'],
    [true, 'float', null, 'not-nan', [], 'R6.8: null is not NaN'],
    [false, 'float', 1, 'is-nan', [], 'R6.8'],
    [false, 'float', NaN, 'is-null', [], 'NaN is not null'],
    [true, 'float', NaN, 'not-null', [], 'NaN is not null'],
    [UNDECIDED, 'float', NaN, 'gt', [5], 'R6.10: Java says true, the spec false'],
    [UNDECIDED, 'float', NaN, 'gt-eq', [5], 'R6.10'],
    [UNDECIDED, 'float', NaN, 'lt', [5], 'R6.10'],
    [UNDECIDED, 'float', NaN, 'eq', [5], 'R6.10'],
    [UNDECIDED, 'float', NaN, 'not-eq', [5], 'R6.10'],
    [UNDECIDED, 'float', NaN, 'in', [5, 6], 'R6.10'],
    [UNDECIDED, 'float', NaN, 'not-in', [5, 6], 'R6.10'],
    [true, 'float', Infinity, 'gt', [5], 'infinities are numbers'],

    [
      true,
      'uuid',
      '20000000-0000-0000-0000-000000000000',
      'lt',
      ['50000000-0000-0000-0000-000000000000'],
      'R5.20: both orders agree',
    ],
    [
      UNDECIDED,
      'uuid',
      'f0000000-0000-0000-0000-000000000000',
      'lt',
      ['50000000-0000-0000-0000-000000000000'],
      'R5.20: Java says true, the bytes say false',
    ],
    [
      false,
      'uuid',
      'f0000000-0000-0000-0000-000000000000',
      'eq',
      ['50000000-0000-0000-0000-000000000000'],
      'no order is needed',
    ],

    [UNDECIDED, 'timestamp', 17489, 'lt', [0n], 'stored as something that is no timestamp'],
    [UNDECIDED, 'long', 5, 'in', [4n, 5n], 'stored as something that is no long'],
  ]
  for (const [expected, type, value, op, literals, why] of rows)
    it(`${String(expected)}: ${type} ${String(value)} ${op} ${literals.map(String).join(', ')}: ${why}`, () => {
      assert.strictEqual(compilePartitionFilter(predicate(type, 0, op, ...literals))([value]), expected)
    })

  describe('what is not known decides nothing (B074)', () => {
    const isFirstKnown = (position: number): boolean => position === 0
    it('a position beyond the tuple', () => {
      assert.isUndefined(compilePartitionFilter(predicate('int', 1, 'is-null'))([5]))
    })
    it('a field that the manifest lacks, where null is a stand-in', () => {
      const isNull = compilePartitionFilter(predicate('int', 1, 'is-null'))
      assert.isUndefined(isNull([5, null], isFirstKnown))
      assert.isTrue(isNull([5, null]))
      assert.isUndefined(compilePartitionFilter(predicate('int', 1, 'eq', 5))([5, null], isFirstKnown))
      assert.isTrue(compilePartitionFilter(predicate('int', 0, 'eq', 5))([5, null], isFirstKnown))
    })
  })

  describe('AND and OR in three values', () => {
    const outcomes: [PartitionOutcome, PartitionExpression][] = [
      [true, ALWAYS_TRUE],
      [false, ALWAYS_FALSE],
      [undefined, predicate('int', 7, 'eq', 1)],
    ]
    for (const [a, left] of outcomes)
      for (const [b, right] of outcomes) {
        const both =
          a === false || b === false ? false : a === undefined || b === undefined ? undefined : true
        const either =
          a === true || b === true ? true : a === undefined || b === undefined ? undefined : false
        it(`${String(a)}, ${String(b)}: and ${String(both)}, or ${String(either)}`, () => {
          assert.strictEqual(compilePartitionFilter({ op: 'and', left, right })([]), both)
          assert.strictEqual(compilePartitionFilter({ op: 'or', left, right })([]), either)
        })
      }
  })

  it('R3.6: applies the transform of the term to the stored value', () => {
    const type = parseType('int')
    const term = {
      position: 0,
      fieldType: type,
      transform: { kind: 'bucket', numBuckets: 16 },
      type,
    } as const
    const filter = compilePartitionFilter({ op: 'eq', term, value: 3 })
    assert.isTrue(filter([34]), '34 is in bucket 3 (R14.5): Java compares 34 itself')
    assert.isFalse(filter([4]), '4 is in bucket 6')
    assert.isFalse(filter([null]))
  })

  it('R2.13: decides nothing about an unknown transform', () => {
    const type = parseType('int')
    const term = {
      position: 0,
      fieldType: type,
      transform: { kind: 'unknown', text: 'zorder' },
      type,
    } as const
    assert.isUndefined(compilePartitionFilter({ op: 'is-null', term })([null]))
  })
})
