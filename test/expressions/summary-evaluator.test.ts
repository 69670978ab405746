import { assert } from 'chai'
import type { ComparisonOperation, SetOperation, UnaryOperation } from '../../src/expressions/expression.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from '../../src/expressions/expression.ts'
import type { PartitionExpression } from '../../src/expressions/partition-expression.ts'
import { compileSummaryFilter, type SummaryFacts } from '../../src/expressions/summary-evaluator.ts'
import type { Transform } from '../../src/types/transforms/transform.ts'
import { parseType } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import { singleValueBytes } from '../support/iceberg-values.ts'
import { hex } from './stated-metrics.ts'

type Verdict = 'might' | 'cannot'
type Operation = UnaryOperation | ComparisonOperation | SetOperation

/** A predicate on the first partition field, an identity of `type`. */
function predicate(type: string, op: Operation, ...values: Value[]): PartitionExpression {
  const fieldType = parseType(type)
  const term = { position: 0, fieldType, type: fieldType }
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

function summary(
  type: string,
  nulls: boolean,
  nans: boolean | undefined,
  lower?: unknown,
  upper?: unknown,
): SummaryFacts {
  return {
    containsNull: nulls,
    containsNan: nans,
    lowerBound: lower === undefined ? undefined : singleValueBytes(type, lower),
    upperBound: upper === undefined ? undefined : singleValueBytes(type, upper),
  }
}

function verdict(
  expression: PartitionExpression,
  summaries: readonly SummaryFacts[] | undefined,
  liveFiles: number | undefined = 1,
  fieldCount = summaries?.length ?? 1,
): Verdict {
  return compileSummaryFilter(expression, fieldCount)(summaries, liveFiles) ? 'might' : 'cannot'
}

type Row = [expected: Verdict, op: Operation, values: readonly Value[], why: string]

function check(
  title: string,
  type: string,
  facts: SummaryFacts,
  rows: readonly Row[],
  liveFiles: number | undefined = 1,
): void {
  describe(title, () => {
    for (const [expected, op, values, why] of rows)
      it(`${expected}: ${op} ${values.slice(0, 3).map(String).join(', ')}: ${why}`, () => {
        assert.equal(verdict(predicate(type, op, ...values), [facts], liveFiles), expected)
      })
  })
}

const numbers = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i)

describe('summary evaluator', () => {
  check('int 10 to 20, no null (R2.20)', 'int', summary('int', false, undefined, 10, 20), [
    ['cannot', 'lt', [5], 'all above'],
    ['cannot', 'lt', [10], '10 is the least'],
    ['might', 'lt-eq', [10], '10 is'],
    ['cannot', 'lt-eq', [9], '10 is above'],
    ['cannot', 'gt', [20], '20 is the greatest'],
    ['might', 'gt', [19], '20 is above'],
    ['cannot', 'gt-eq', [21], 'all below'],
    ['might', 'gt-eq', [20], '20 is'],
    ['might', 'eq', [10], 'within'],
    ['cannot', 'eq', [25], 'above'],
    ['cannot', 'eq', [9], 'below'],
    ['might', 'not-eq', [10], 'there are others'],
    ['might', 'in', [10, 11], 'within'],
    ['cannot', 'in', [1, 2], 'below'],
    ['cannot', 'in', [30, 31], 'above'],
    ['cannot', 'in', [1, 30], 'R2.12, trap 7: none within'],
    ['might', 'in', numbers(100, 201), 'R2.5: more than 200 are not compared'],
    ['cannot', 'in', numbers(100, 200), 'R2.5: 200 are'],
    ['might', 'not-in', [10, 11], 'there are others'],
    ['cannot', 'is-null', [], 'no null'],
    ['might', 'not-null', [], 'all are'],
  ])

  check('int 10 only, no null (R2.11)', 'int', summary('int', false, undefined, 10, 10), [
    ['cannot', 'not-eq', [10], 'every partition is 10'],
    ['cannot', 'not-in', [10, 11], 'every partition is 10'],
    ['might', 'not-eq', [11], 'every partition matches'],
    ['might', 'not-in', [11, 12], 'every partition matches'],
    ['cannot', 'not-in', numbers(0, 1000), 'R2.11: sets of not in have no limit'],
    ['might', 'not-in', numbers(11, 1000), 'every partition matches'],
  ])

  check('int 10 only, and null', 'int', summary('int', true, undefined, 10, 10), [
    ['might', 'not-eq', [10], 'the null partition'],
    ['might', 'not-in', [10, 11], 'the null partition'],
    ['might', 'is-null', [], 'B077: the null partition'],
    ['might', 'not-null', [], 'B078: null among values is no reason'],
  ])

  check('int, null only (trap 8)', 'int', summary('int', true, undefined), [
    ['cannot', 'lt', [5], 'no value'],
    ['cannot', 'lt-eq', [10], 'no value'],
    ['cannot', 'gt', [20], 'no value'],
    ['cannot', 'gt-eq', [21], 'no value'],
    ['cannot', 'eq', [10], 'no value'],
    ['cannot', 'in', [10, 11], 'no value'],
    ['cannot', 'in', numbers(0, 201), 'R2.5: tested before the limit'],
    ['might', 'not-eq', [10], 'null is not 10'],
    ['might', 'not-in', [10, 11], 'null is not among them'],
    ['might', 'is-null', [], 'all are'],
    ['cannot', 'not-null', [], 'none is'],
  ])

  describe('no null, no NaN, no bounds (R2.7b)', () => {
    const contradiction = summary('int', false, undefined)
    const everything: Row[] = [
      ['might', 'lt', [5], 'it contradicts itself'],
      ['might', 'eq', [10], 'it contradicts itself'],
      ['might', 'in', [10, 11], 'it contradicts itself'],
      ['might', 'not-eq', [10], 'it contradicts itself'],
      ['might', 'is-null', [], 'it contradicts itself'],
      ['might', 'not-null', [], 'it contradicts itself'],
    ]
    check('in a manifest with files', 'int', contradiction, everything)
    it('might: in a manifest whose files are not counted', () => {
      for (const op of ['lt', 'is-null'] as const)
        assert.isTrue(compileSummaryFilter(predicate('int', op, 5), 1)([contradiction], undefined))
    })
    check(
      'in a manifest without files',
      'int',
      contradiction,
      [
        ['cannot', 'lt', [5], 'no value'],
        ['cannot', 'eq', [10], 'no value'],
        ['cannot', 'in', [10, 11], 'no value'],
        ['might', 'not-eq', [10], 'as in Java'],
        ['cannot', 'is-null', [], 'no null'],
        ['might', 'not-null', [], 'as in Java'],
      ],
      0,
    )
    check('NaN of a field that has none', 'int', summary('int', false, true), [
      ...everything,
      ['might', 'is-nan', [], 'it contradicts itself'],
      ['might', 'not-nan', [], 'it contradicts itself'],
    ])
    check('of floats that are not NaN', 'float', summary('float', false, false), [
      ['might', 'is-nan', [], 'it contradicts itself'],
      ['might', 'lt', [5], 'it contradicts itself'],
    ])

    it('is reported with its position, and only then', () => {
      const intType = parseType('int')
      const filter = compileSummaryFilter(
        {
          op: 'and',
          left: predicate('int', 'eq', 15),
          right: { op: 'eq', term: { position: 1, fieldType: intType, type: intType }, value: 5 },
        },
        2,
      )
      const reported: number[] = []
      const report = (position: number): void => {
        reported.push(position)
      }
      const good = summary('int', false, undefined, 10, 20)
      assert.isTrue(filter([good, contradiction], 3, report))
      assert.deepEqual(reported, [1])
      assert.isFalse(filter([contradiction, good], 3, report), 'the other field still prunes')
      assert.deepEqual(reported, [1, 0])
      filter([good, good], 3, report)
      filter([good, contradiction], 0, report)
      assert.deepEqual(reported, [1, 0])
    })
  })

  check('int from 10, no upper bound (R2.8)', 'int', summary('int', false, undefined, 10), [
    ['cannot', 'lt', [5], 'all above'],
    ['might', 'lt-eq', [10], '10 is'],
    ['might', 'gt', [20], 'the upper bound is infinite'],
    ['might', 'eq', [10], 'Java prunes'],
    ['might', 'eq', [25], 'Java prunes'],
    ['cannot', 'eq', [5], 'below'],
    ['cannot', 'in', [1, 2], 'below'],
    ['might', 'in', [10, 11], 'Java fails'],
    ['might', 'in', [1, 30], 'Java fails'],
    ['might', 'not-eq', [10], 'there may be others'],
  ])

  check('int up to 20, no lower bound (R2.8)', 'int', summary('int', true, undefined, undefined, 20), [
    ['might', 'gt', [30], 'no information'],
    ['might', 'lt', [5], 'no information'],
    ['might', 'eq', [30], 'no information'],
    ['might', 'not-null', [], 'there are values'],
  ])

  describe('floats (R2.20)', () => {
    check('null and NaN', 'float', summary('float', true, true), [
      ['might', 'is-nan', [], 'NaN'],
      ['might', 'not-nan', [], 'null'],
      ['might', 'not-null', [], 'NaN'],
      ['might', 'is-null', [], 'null'],
      ['cannot', 'lt', [5], 'R2.7: no number'],
      ['cannot', 'gt', [5], 'R2.7: NaN is not above a number'],
      ['might', 'not-eq', [1], 'neither is 1'],
    ])
    check('null only', 'float', summary('float', true, false), [
      ['cannot', 'is-nan', [], 'no NaN'],
      ['might', 'not-nan', [], 'null'],
      ['cannot', 'not-null', [], 'R2.6: nothing else'],
      ['might', 'is-null', [], 'null'],
      ['cannot', 'lt', [5], 'no number'],
    ])
    check('null, NaN not known', 'float', summary('float', true, undefined), [
      ['might', 'is-nan', [], 'there may be NaN'],
      ['might', 'not-nan', [], 'null'],
      ['might', 'not-null', [], 'R2.6: there may be NaN'],
      ['cannot', 'lt', [5], 'no number'],
    ])
    check('NaN only', 'float', summary('float', false, true), [
      ['might', 'is-nan', [], 'all are'],
      ['cannot', 'not-nan', [], 'none is not'],
      ['might', 'not-null', [], 'all are'],
      ['cannot', 'is-null', [], 'no null'],
      ['cannot', 'eq', [1], 'no number'],
    ])
    check('1 only', 'float', summary('float', false, false, 1, 1), [
      ['cannot', 'not-eq', [1], 'every partition is 1'],
      ['cannot', 'is-nan', [], 'no NaN'],
    ])
    check('1 only, NaN not known', 'float', summary('float', false, undefined, 1, 1), [
      ['might', 'not-eq', [1], 'R2.11: there may be NaN'],
      ['might', 'not-nan', [], '1'],
    ])
    check('0.0 only', 'float', summary('float', false, false, 0, 0), [
      ['might', 'eq', [-0], 'R5.20'],
      ['might', 'lt-eq', [-0], 'R5.20'],
      ['might', 'not-in', [-0, 1], 'R5.20: -0.0 may be another value'],
      ['cannot', 'not-in', [0, 1], 'every partition is 0.0'],
    ])
    check('NaN bounds', 'float', summary('float', false, undefined, NaN, NaN), [
      ['might', 'lt', [5], 'R5.9: not known, but there is something'],
    ])
  })

  check(
    'string abc to abd (R2.9, R2.10, R2.20)',
    'string',
    summary('string', false, undefined, 'abc', 'abd'),
    [
      ['might', 'starts-with', ['ab'], 'all do'],
      ['cannot', 'starts-with', ['abe'], 'above'],
      ['cannot', 'starts-with', ['abb'], 'below'],
      ['might', 'starts-with', ['abcde'], 'between'],
      ['cannot', 'starts-with', ['abda'], 'R2.9: the upper bound ends within the prefix'],
      ['might', 'starts-with', [''], 'all do'],
      ['cannot', 'not-starts-with', ['ab'], 'all do'],
      ['might', 'not-starts-with', ['abc'], 'abd does not'],
      ['might', 'not-starts-with', ['abcde'], 'abc is shorter'],
    ],
  )
  check('string, null only', 'string', summary('string', true, undefined), [
    ['cannot', 'starts-with', ['a'], 'R2.5'],
    ['might', 'not-starts-with', ['a'], 'R2.10: null'],
  ])
  check('string abc to abd, and null', 'string', summary('string', true, undefined, 'abc', 'abd'), [
    ['might', 'not-starts-with', ['ab'], 'R2.10: null'],
  ])

  check(
    'uuid 10… to f0… (R5.20)',
    'uuid',
    {
      containsNull: false,
      containsNan: undefined,
      lowerBound: hex('10000000000000000000000000000000'),
      upperBound: hex('f0000000000000000000000000000000'),
    },
    [
      ['might', 'eq', ['50000000-0000-0000-0000-000000000000'], 'within as bytes'],
      ['might', 'eq', ['01000000-0000-0000-0000-000000000000'], 'R5.24: signed, they are upside down'],
    ],
  )

  check(
    'long, written as int before the promotion (R3.27, R13.4)',
    'long',
    { containsNull: false, containsNan: undefined, lowerBound: hex('f6ffffff'), upperBound: hex('0a000000') },
    [
      ['might', 'eq', [-10n], 'the lower bound'],
      ['cannot', 'eq', [11n], 'above 10'],
    ],
  )

  describe('the whole manifest', () => {
    const intSummary = summary('int', false, undefined, 10, 20)
    const rows: [
      expected: Verdict,
      expression: PartitionExpression,
      summaries: readonly SummaryFacts[] | undefined,
      why: string,
      fieldCount?: number,
    ][] = [
      ['might', predicate('int', 'eq', 5), undefined, 'R2.2: no summaries'],
      ['might', ALWAYS_FALSE, undefined, 'R2.2, trap 6: not even a false filter'],
      ['cannot', ALWAYS_FALSE, [], 'R2.2: an unpartitioned spec is evaluated'],
      ['might', ALWAYS_TRUE, [], 'R2.2: an unpartitioned spec is evaluated'],
      ['might', predicate('int', 'eq', 5), [], 'R2.3, B074: fewer summaries than fields', 1],
      ['might', predicate('int', 'eq', 5), [intSummary], 'R2.3: the missing field may be the first', 2],
      ['might', predicate('int', 'eq', 5), [intSummary, intSummary], 'R2.3: more than fields', 1],
      ['might', ALWAYS_FALSE, [intSummary], 'R2.3: not as many as fields', 2],
      ['cannot', predicate('int', 'eq', 5), [intSummary, intSummary], 'R2.3: as many as fields', 2],
      [
        'cannot',
        { op: 'and', left: predicate('int', 'eq', 15), right: predicate('int', 'eq', 5) },
        [intSummary],
        'R2.3: one side is enough',
      ],
      [
        'might',
        { op: 'or', left: predicate('int', 'eq', 5), right: predicate('int', 'eq', 15) },
        [intSummary],
        'R2.3: one side is enough',
      ],
    ]
    for (const [expected, expression, summaries, why, fieldCount] of rows)
      it(`${expected}: ${expression.op}: ${why}`, () => {
        assert.equal(verdict(expression, summaries, 1, fieldCount), expected)
      })
  })

  describe('a transform of the partition value (R3.6, R2.13)', () => {
    const intType = parseType('int')
    const rows: [expected: Verdict, transform: Transform, value: number, why: string][] = [
      ['cannot', { kind: 'truncate', width: 10 }, 0, 'truncated values are 10 and 20'],
      ['might', { kind: 'truncate', width: 10 }, 20, 'truncated values are 10 and 20'],
      ['might', { kind: 'bucket', numBuckets: 16 }, 3, 'buckets have no order'],
      ['might', { kind: 'unknown', text: 'zorder' }, 3, 'nothing is known'],
    ]
    for (const [expected, transform, value, why] of rows)
      it(`${expected}: ${transform.kind} = ${value}: ${why}`, () => {
        const term = { position: 0, fieldType: intType, transform, type: intType }
        assert.equal(verdict({ op: 'eq', term, value }, [summary('int', false, undefined, 10, 20)]), expected)
      })
  })
})
