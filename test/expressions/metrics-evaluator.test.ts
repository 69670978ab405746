import { assert } from 'chai'
import { bind } from '../../src/expressions/bind.ts'
import {
  alwaysFalse,
  alwaysTrue,
  and,
  bucket,
  day,
  equal,
  greaterThan,
  greaterThanOrEqual,
  isIn,
  isNan,
  isNull,
  lessThan,
  lessThanOrEqual,
  not,
  notEqual,
  notIn,
  notNan,
  notNull,
  notStartsWith,
  or,
  startsWith,
  truncate,
} from '../../src/expressions/builders.ts'
import type { ColumnMetrics } from '../../src/expressions/column-metrics.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { compileMetricsFilter } from '../../src/expressions/metrics-evaluator.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { singleValueBytes } from '../support/iceberg-values.ts'
import { hex, statedMetrics, type StatedColumn } from './stated-metrics.ts'

const ID = {
  i: 1,
  l: 2,
  f: 3,
  d: 4,
  s: 5,
  dec: 6,
  ts: 7,
  tsn: 8,
  u: 9,
  b: 10,
  bin: 11,
  st: 12,
  x: 13,
  tz: 14,
}

const SCHEMA = parseSchema({
  type: 'struct',
  fields: [
    { id: ID.i, name: 'i', required: false, type: 'int' },
    { id: ID.l, name: 'l', required: false, type: 'long' },
    { id: ID.f, name: 'f', required: false, type: 'float' },
    { id: ID.d, name: 'd', required: false, type: 'double' },
    { id: ID.s, name: 's', required: false, type: 'string' },
    { id: ID.dec, name: 'dec', required: false, type: 'decimal(9,2)' },
    { id: ID.ts, name: 'ts', required: false, type: 'timestamp' },
    { id: ID.tsn, name: 'tsn', required: false, type: 'timestamp_ns' },
    { id: ID.u, name: 'u', required: false, type: 'uuid' },
    { id: ID.b, name: 'b', required: false, type: 'boolean' },
    { id: ID.bin, name: 'bin', required: false, type: 'binary' },
    {
      id: ID.st,
      name: 'st',
      required: false,
      type: { type: 'struct', fields: [{ id: ID.x, name: 'x', required: true, type: 'double' }] },
    },
    { id: ID.tz, name: 'tz', required: false, type: 'timestamptz' },
  ],
})

type Verdict = 'might' | 'cannot'

function verdict(filter: Expression, metrics: ColumnMetrics): Verdict {
  return compileMetricsFilter(bind(filter, SCHEMA))(metrics) ? 'might' : 'cannot'
}

type Row = [expected: Verdict, filter: Expression, why: string]

function check(title: string, metrics: ColumnMetrics, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [expected, filter, why] of rows)
      it(`${expected}: ${formatExpression(filter).slice(0, 80)}: ${why}`, () => {
        assert.equal(verdict(filter, metrics), expected)
      })
  })
}

/** A file of ten rows with one column of ten values, none of them null unless stated. */
function ten(id: number, column: StatedColumn): ColumnMetrics {
  return statedMetrics(10, { [id]: { values: 10, nulls: 0, ...column } })
}

const int = (value: number): Uint8Array => singleValueBytes('int', value)
const float = (value: number): Uint8Array => singleValueBytes('float', value)
const text = (value: string): Uint8Array => singleValueBytes('string', value)
const decimal = (unscaled: bigint): Uint8Array => singleValueBytes('decimal(9,2)', unscaled)
/** As a number it would be an int literal, which has no -0. */
const NEGATIVE_ZERO: Literal = { kind: 'float', value: -0 }
const micros = (value: bigint): Literal => ({ kind: 'timestamp', value })
/** All zeros but for the first byte. */
const uuid = (start: string): Literal => ({
  kind: 'uuid',
  value: `${start}000000-0000-0000-0000-000000000000`,
})
const uuidBytes = (start: string): Uint8Array => hex(start.padEnd(32, '0'))

const numbers = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i)

describe('metrics evaluator', () => {
  describe('record counts (R5.1, trap 26)', () => {
    const rows: [expected: Verdict, recordCount: number, filter: Expression, why: string][] = [
      ['cannot', 0, equal('i', 5), 'a file without rows has none that matches'],
      ['cannot', 0, alwaysTrue(), 'not even for true'],
      ['might', -1, equal('i', 5), 'a negative count is not known'],
      ['might', -1, alwaysFalse(), 'and then nothing is decided'],
      ['might', 10, alwaysTrue(), 'constants are evaluated'],
      ['cannot', 10, alwaysFalse(), 'constants are evaluated'],
    ]
    for (const [expected, recordCount, filter, why] of rows)
      it(`${expected}: ${formatExpression(filter)} of ${recordCount} records: ${why}`, () => {
        assert.equal(verdict(filter, statedMetrics(recordCount)), expected)
      })
  })

  check('nothing known (R5.5, trap 25)', statedMetrics(10), [
    ['might', isNull('i'), 'no null counts'],
    ['might', notNull('i'), 'no null counts'],
    ['might', equal('i', 5), 'the column may have been added later'],
    ['might', notEqual('i', 5), 'no bounds'],
    ['might', isIn('i', [5, 6]), 'no bounds'],
    ['might', isNan('f'), 'no NaN counts'],
    ['might', notNan('f'), 'no NaN counts'],
    ['might', startsWith('s', 'a'), 'no bounds'],
    ['might', notStartsWith('s', 'a'), 'no bounds'],
  ])

  check('int 10 to 20 without nulls (R5.6)', ten(ID.i, { lower: int(10), upper: int(20) }), [
    ['cannot', lessThan('i', 10), 'the least value is 10'],
    ['might', lessThan('i', 11), '10 is below'],
    ['might', lessThanOrEqual('i', 10), '10 is not above'],
    ['cannot', lessThanOrEqual('i', 9), '10 is above'],
    ['cannot', greaterThan('i', 20), 'the greatest value is 20'],
    ['might', greaterThan('i', 19), '20 is above'],
    ['might', greaterThanOrEqual('i', 20), '20 is not below'],
    ['cannot', greaterThanOrEqual('i', 21), '20 is below'],
    ['cannot', equal('i', 9), 'below all values'],
    ['might', equal('i', 10), 'the lower bound'],
    ['might', equal('i', 20), 'the upper bound'],
    ['cannot', equal('i', 21), 'above all values'],
    ['might', notEqual('i', 10), 'there is more than one value'],
    ['cannot', isIn('i', [1, 30]), 'R2.12, trap 7: one below, one above, none within'],
    ['might', isIn('i', [1, 15]), '15 is within'],
    ['might', notIn('i', [1, 30]), 'there is more than one value'],
    ['cannot', isNull('i'), 'no nulls'],
    ['might', notNull('i'), 'no nulls'],
    ['cannot', isIn('i', numbers(100, 200)), '200 values are compared, none is within'],
    ['might', isIn('i', numbers(100, 201)), '201 values are not compared (R5.7)'],
    ['cannot', isIn('i', [...numbers(100, 200), 150]), 'repeated values count once (R5.7)'],
    ['might', isIn('i', [-5, 20, 100]), 'the upper bound is among them'],
    ['might', isIn('i', [-5, 10, 100]), 'the lower bound is among them'],
    ['cannot', not(and(greaterThanOrEqual('i', 5), notNull('i'))), 'B112: NOT is pushed to the leaves first'],
    ['cannot', and(equal('i', 15), equal('i', 9)), 'one side is enough'],
    ['might', or(equal('i', 9), equal('i', 15)), 'one side is enough'],
    ['cannot', or(equal('i', 9), equal('i', 21)), 'neither side'],
    ['might', and(equal('i', 15), equal('l', 1n)), 'neither is excluded'],
    ['might', equal(bucket(16, 'i'), 3), 'R5.10: buckets have no order'],
    ['might', isNull(bucket(16, 'i')), 'R5.10: buckets are not asked for nulls'],
    ['cannot', isNull(truncate(10, 'i')), 'R5.10: nulls of the column'],
    ['cannot', equal(truncate(10, 'i'), 0), 'R5.10: truncated values are 10 and 20'],
    ['might', equal(truncate(10, 'i'), 10), 'R5.10'],
    ['cannot', lessThan(truncate(10, 'i'), 10), 'R5.10'],
    ['cannot', isIn(truncate(10, 'i'), [0, 30]), 'R5.10'],
    ['might', notEqual(truncate(10, 'i'), 10), '20 is another'],
    ['cannot', notEqual(truncate(100, 'i'), 0), 'all values truncate to 0'],
  ])

  check('int 10 only', ten(ID.i, { lower: int(10), upper: int(10) }), [
    ['cannot', notEqual('i', 10), 'R5.8: every row is 10'],
    ['cannot', notIn('i', [10, 11]), 'R5.8: every row is 10'],
    ['might', notEqual('i', 11), 'every row matches'],
    ['might', notIn('i', [11, 12]), 'every row matches'],
    ['cannot', notIn('i', [...numbers(100, 500), 10]), 'R5.7: sets of not in have no limit'],
    ['might', equal('i', 10), 'every row matches'],
    ['might', isIn('i', [10, 11]), 'every row matches'],
  ])

  check(
    'int 10 only, and nulls',
    statedMetrics(10, { [ID.i]: { values: 10, nulls: 3, lower: int(10), upper: int(10) } }),
    [
      ['might', notEqual('i', 10), 'R11.22a: null is not 10'],
      ['might', notIn('i', [10, 11]), 'R11.22a'],
      ['might', isNull('i'), 'three nulls'],
      ['might', notNull('i'), 'B078: nulls among values are no reason'],
    ],
  )

  check(
    'int 10 only, nulls not counted',
    statedMetrics(10, { [ID.i]: { values: 10, lower: int(10), upper: int(10) } }),
    [
      ['might', notEqual('i', 10), 'R5.3: there may be nulls'],
      ['might', isNull('i'), 'R5.3: there may be nulls'],
    ],
  )

  check('int of nulls only (B104)', statedMetrics(10, { [ID.i]: { values: 10, nulls: 10 } }), [
    ['cannot', lessThan('i', 5), 'null is not below 5'],
    ['cannot', equal('i', 5), 'null is not 5'],
    ['might', notEqual('i', 5), 'R11.22a: null is not 5'],
    ['cannot', isIn('i', [5, 6]), 'null is in no list'],
    ['cannot', isIn('i', numbers(0, 201)), 'R5.7: before the limit'],
    ['might', notIn('i', [5, 6]), 'R11.22a'],
    ['might', isNull('i'), 'all are'],
    ['cannot', notNull('i'), 'none is'],
    ['cannot', notNull(bucket(16, 'i')), 'R5.10: the bucket of null is null'],
    ['cannot', equal(bucket(16, 'i'), 3), 'R5.10: the bucket of null is null'],
  ])

  check('nulls only, values not counted', statedMetrics(10, { [ID.i]: { nulls: 10 } }), [
    ['cannot', equal('i', 5), 'R5.3: as many nulls as rows'],
    ['cannot', notNull('i'), 'R5.3: as many nulls as rows'],
    ['might', isNull('i'), 'all are'],
  ])

  check('string of nulls only', statedMetrics(10, { [ID.s]: { values: 10, nulls: 10 } }), [
    ['cannot', startsWith('s', 'a'), 'R5.7'],
    ['might', notStartsWith('s', 'a'), 'R11.22a'],
  ])

  check('no value counted in ten rows (R5.3, B092)', statedMetrics(10, { [ID.i]: { values: 0, nulls: 0 } }), [
    ['cannot', equal('i', 5), 'no row has a value'],
    ['might', isNull('i'), 'ten rows lack it'],
    ['cannot', notNull('i'), 'no row has a value'],
    ['might', notEqual('i', 5), 'ten rows lack it'],
  ])

  check(
    'a double below an optional struct, rows {null, {34.0}} (B092, B093, trap 30)',
    statedMetrics(2, {
      [ID.x]: {
        values: 1,
        nulls: 0,
        nans: 0,
        lower: singleValueBytes('double', 34),
        upper: singleValueBytes('double', 34),
      },
    }),
    [
      ['might', isNull('st.x'), 'the row without struct was not counted'],
      ['might', notEqual('st.x', 34), 'the row without struct is not 34'],
      ['might', notIn('st.x', [34, 35]), 'the row without struct is not among them'],
      ['might', notNan('st.x'), 'neither row is NaN'],
      ['cannot', isNan('st.x'), 'no NaN'],
      ['cannot', equal('st.x', 35), 'the bounds hold all the same'],
      ['might', equal('st.x', 34), 'the other row'],
    ],
  )

  check(
    'NaN only in the rows that were counted (B092)',
    statedMetrics(2, { [ID.x]: { values: 1, nulls: 0, nans: 1 } }),
    [
      ['might', notNan('st.x'), 'R6.8: the row without struct is null, which is not NaN'],
      ['cannot', equal('st.x', 1), 'R5.7: NaN or null'],
    ],
  )

  check('int with a lower bound of 10 only', ten(ID.i, { lower: int(10) }), [
    ['cannot', isIn('i', [1, 2]), 'all below'],
    ['might', isIn('i', [1, 12]), '12 is not below'],
    ['cannot', equal('i', 5), 'below'],
    ['might', greaterThan('i', 50), 'no upper bound'],
    ['might', notIn('i', [1, 2]), 'no upper bound'],
    ['might', notEqual('i', 10), 'no upper bound'],
    ['might', startsWith('s', 'a'), 'nothing known of s'],
  ])

  check('int with an upper bound of 20 only', ten(ID.i, { upper: int(20) }), [
    ['cannot', isIn('i', [30, 40]), 'R5.7 Do: whichever bound is known'],
    ['might', isIn('i', [10, 40]), '10 is not above'],
    ['cannot', equal('i', 25), 'above'],
    ['might', lessThan('i', 1), 'no lower bound'],
    ['might', notIn('i', [30, 31]), 'no lower bound'],
    ['might', equal(truncate(10, 'i'), 30), 'R14.6: without a lower bound a value may have wrapped around'],
  ])

  check('bounds upside down, 1000 to 10 (R5.24, B099)', ten(ID.i, { lower: int(1000), upper: int(10) }), [
    ['might', lessThan('i', 500), 'not believed'],
    ['might', greaterThan('i', 500), 'not believed'],
    ['might', equal('i', 500), 'not believed'],
    ['might', isIn('i', [1, 500]), 'not believed'],
    ['might', equal(truncate(10000, 'i'), 10000), 'R5.10: not even if the transform makes them equal'],
    ['cannot', isNull('i'), 'counts are another matter (R5.25)'],
  ])

  describe('floats', () => {
    check('NaN bounds (R5.9, B087, trap 23)', ten(ID.f, { lower: float(NaN), upper: float(NaN) }), [
      ['might', lessThan('f', 1), 'NaN bounds are not known'],
      ['might', lessThanOrEqual('f', 1), 'NaN bounds are not known'],
      ['might', greaterThan('f', 1), 'NaN bounds are not known'],
      ['might', greaterThanOrEqual('f', 1), 'NaN bounds are not known'],
      ['might', equal('f', 1), 'NaN bounds are not known'],
      ['might', isIn('f', [1, 2]), 'NaN bounds are not known'],
      ['might', notEqual('f', 1), 'NaN bounds are not known'],
      ['might', isNan('f'), 'NaNs not counted'],
      ['might', notNan('f'), 'NaNs not counted'],
    ])

    check('a NaN lower bound beside a number', ten(ID.f, { lower: float(NaN), upper: float(5) }), [
      ['might', equal('f', 7), 'R5.9: the writer did not know NaN'],
      ['might', greaterThan('f', 7), 'R5.9: the writer did not know NaN'],
    ])

    check('a NaN upper bound beside a number', ten(ID.f, { lower: float(5), upper: float(NaN) }), [
      ['cannot', equal('f', 4), 'R5.9: NaN is above everything, 5 is the least'],
      ['might', greaterThan('f', 100), 'the upper bound is not known'],
    ])

    check('NaN only', ten(ID.f, { nans: 10 }), [
      ['cannot', lessThan('f', 1), 'R5.7'],
      ['cannot', greaterThan('f', 1), 'R5.7: NaN is not above a number'],
      ['cannot', equal('f', 1), 'R5.7'],
      ['cannot', isIn('f', [1, 2]), 'R5.7'],
      ['might', isNan('f'), 'all are'],
      ['cannot', notNan('f'), 'none is not'],
      ['might', notEqual('f', 1), 'R11.22a'],
      ['might', notIn('f', [1, 2]), 'R11.22a'],
    ])

    check('one NaN among the number 1 (B118)', ten(ID.f, { nans: 1, lower: float(1), upper: float(1) }), [
      ['might', isNan('f'), 'there is one'],
      ['might', notNan('f'), 'there are others'],
      ['might', notEqual('f', 1), 'R5.8: NaN is not 1'],
    ])

    check('1 only, NaNs not counted', ten(ID.f, { lower: float(1), upper: float(1) }), [
      ['might', notEqual('f', 1), 'R5.8: there may be NaN'],
      ['might', isNan('f'), 'there may be NaN'],
    ])

    check('no NaN', ten(ID.f, { nans: 0, lower: float(1), upper: float(1) }), [
      ['cannot', isNan('f'), 'none'],
      ['might', notNan('f'), 'all'],
      ['cannot', notEqual('f', 1), 'R5.8'],
    ])

    check('nulls only', statedMetrics(10, { [ID.f]: { values: 10, nulls: 10 } }), [
      ['cannot', isNan('f'), 'R5.7: null is not NaN'],
      ['might', notNan('f'), 'R6.8: null is not NaN'],
    ])

    check('-0.0 to 0.0 (R5.6)', ten(ID.f, { nans: 0, lower: float(-0), upper: float(0) }), [
      ['cannot', lessThan('f', NEGATIVE_ZERO), 'nothing is below -0.0'],
      ['might', lessThan('f', 0), 'some engines put -0.0 below 0.0'],
      ['cannot', greaterThan('f', 0), 'nothing is above 0.0'],
      ['might', greaterThan('f', NEGATIVE_ZERO), 'some engines put 0.0 above -0.0'],
      ['might', equal('f', NEGATIVE_ZERO), 'R5.20'],
      ['might', equal('f', 0), 'R5.20'],
      ['might', notEqual('f', 0), 'some engines tell them apart'],
    ])

    check(
      '0.0 only (R5.20: a zero proves only what is true either way)',
      ten(ID.f, { nans: 0, lower: float(0), upper: float(0) }),
      [
        ['might', equal('f', NEGATIVE_ZERO), 'R5.20: Java prunes'],
        ['might', lessThanOrEqual('f', NEGATIVE_ZERO), 'R5.20: Java prunes'],
        ['might', isIn('f', [NEGATIVE_ZERO, 7]), 'R5.20'],
        ['cannot', notEqual('f', 0), 'R5.8'],
        ['cannot', lessThan('f', NEGATIVE_ZERO), 'nothing is below zero'],
      ],
    )

    check('-0.0 only', ten(ID.f, { nans: 0, lower: float(-0), upper: float(-0) }), [
      ['might', greaterThanOrEqual('f', 0), 'R5.20: Java prunes'],
      ['might', equal('f', 0), 'R5.20'],
      ['cannot', greaterThan('f', 0), 'nothing is above zero'],
    ])

    check(
      'infinities',
      ten(ID.d, {
        nans: 0,
        lower: singleValueBytes('double', -Infinity),
        upper: singleValueBytes('double', Infinity),
      }),
      [
        ['might', lessThan('d', -1e308), '-Infinity is below'],
        ['might', equal('d', Infinity), 'the upper bound'],
      ],
    )
  })

  describe('strings', () => {
    check('abc to abd (R5.6)', ten(ID.s, { lower: text('abc'), upper: text('abd') }), [
      ['might', startsWith('s', 'ab'), 'all do'],
      ['might', startsWith('s', 'abc'), 'the lower bound does'],
      ['cannot', startsWith('s', 'abe'), 'above'],
      ['cannot', startsWith('s', 'abb'), 'below'],
      ['might', startsWith('s', 'abcde'), 'between abc and abd'],
      ['cannot', startsWith('s', 'abda'), 'R5.11: the upper bound ends within the prefix'],
      ['might', startsWith('s', 'a'), 'all do'],
      ['might', startsWith('s', ''), 'all do'],
      ['cannot', notStartsWith('s', 'ab'), 'R5.12: all do'],
      ['might', notStartsWith('s', 'abc'), 'abd does not'],
      ['might', notStartsWith('s', 'x'), 'none does'],
      ['cannot', notStartsWith('s', ''), 'R5.12: all do'],
      ['might', startsWith(truncate(2, 's'), 'zz'), 'R5.10: not through a transform'],
      ['cannot', equal(truncate(2, 's'), 'ac'), 'R5.10: all truncate to ab'],
      ['cannot', notStartsWith(truncate(2, 's'), 'ab'), 'R5.10: all truncate to ab'],
      ['cannot', notEqual(truncate(2, 's'), 'ab'), 'R5.10: all truncate to ab'],
    ])

    check('a cut upper bound (R5.11, B096)', ten(ID.s, { lower: text('abc'), upper: text('abd') }), [
      ['might', equal('s', 'abczzzz'), 'a bound need not be a value'],
      ['might', startsWith('s', 'abcz'), 'a bound need not be a value'],
    ])

    check('a lower bound only', ten(ID.s, { lower: text('m') }), [
      ['cannot', startsWith('s', 'a'), 'R5.11: below'],
      ['might', startsWith('s', 'z'), 'no upper bound'],
      ['might', notStartsWith('s', 'm'), 'R5.12: both bounds are needed'],
    ])

    check('an upper bound only', ten(ID.s, { upper: text('m') }), [
      ['cannot', startsWith('s', 'z'), 'R5.7 Do: whichever bound is known'],
      ['might', startsWith('s', 'a'), 'no lower bound'],
    ])

    check(
      'nulls among strings',
      statedMetrics(10, { [ID.s]: { values: 10, nulls: 1, lower: text('ab'), upper: text('ab') } }),
      [['might', notStartsWith('s', 'a'), 'R5.12: null does not start with a']],
    )

    check(
      'U+FFFF to U+10000 (R5.20, B095, trap 21)',
      ten(ID.s, { lower: text('\uFFFF'), upper: text('\u{10000}') }),
      [
        ['might', equal('s', '\uFFFF'), 'UTF-16 units would put the lower bound above the upper'],
        ['cannot', equal('s', '\uFB00'), 'below by bytes'],
      ],
    )

    check('ligature to emoji (B095)', ten(ID.s, { lower: text('\uFB00'), upper: text('\u{1F600}') }), [
      ['might', equal('s', '\uFF5E'), 'by bytes it is within'],
    ])

    check('the empty string (B101)', ten(ID.s, { lower: text(''), upper: text('') }), [
      ['cannot', equal('s', 'x'), 'zero bytes are a bound'],
      ['might', equal('s', ''), 'the value'],
      ['cannot', notEqual('s', ''), 'R5.8: the only value'],
      ['cannot', startsWith('s', 'x'), 'R5.11: an upper bound that ends within the prefix is below it'],
    ])

    check(
      'bounds cut within a character (R5.22)',
      ten(ID.s, { lower: hex('f09f92'), upper: hex('f09f93') }),
      [
        ['cannot', equal('s', 'a'), 'bytes need not decode'],
        ['might', equal('s', '\u{1F4A0}'), 'f0 9f 92 a0 is within'],
        ['might', equal(truncate(1, 's'), 'a'), 'they do not decode, so they are not transformed'],
      ],
    )
  })

  describe('other types', () => {
    check('decimal(9,2) of 1.00 (R5.6, R5.21)', ten(ID.dec, { lower: decimal(100n), upper: decimal(100n) }), [
      ['might', equal('dec', 1), '1 is 1.00'],
      ['might', equal('dec', { kind: 'decimal', value: 1000n, scale: 3 }), '1.000 is 1.00'],
      ['might', isIn('dec', [1, 2]), '1 is 1.00'],
      ['cannot', notEqual('dec', 1), '1 is 1.00'],
      ['cannot', notIn('dec', [1, 2]), 'R5.21: scales make no difference once literals are rescaled'],
      ['cannot', equal('dec', 1.005), 'R11.9: it becomes 1.01'],
    ])

    check(
      'decimal(9,2) of -327.69 to 655.35, padded (B100)',
      ten(ID.dec, { lower: hex('ffffffffff7fff'), upper: hex('000000000000ffff') }),
      [
        ['might', equal('dec', { kind: 'decimal', value: -32769n, scale: 2 }), 'the lower bound'],
        ['cannot', equal('dec', { kind: 'decimal', value: -32770n, scale: 2 }), 'below'],
        ['might', equal('dec', { kind: 'decimal', value: 65535n, scale: 2 }), 'the upper bound'],
        ['cannot', equal('dec', { kind: 'decimal', value: 65536n, scale: 2 }), 'above'],
        ['might', equal('dec', { kind: 'decimal', value: -1n, scale: 2 }), 'within'],
        ['might', equal('dec', { kind: 'decimal', value: 0n, scale: 2 }), 'within'],
      ],
    )

    check('boolean, false only', ten(ID.b, { lower: hex('00'), upper: hex('00') }), [
      ['cannot', equal('b', true), 'R5.19: false is before true'],
      ['might', equal('b', false), 'all are'],
      ['cannot', notEqual('b', false), 'R5.8'],
    ])

    check('binary 7f to 80', ten(ID.bin, { lower: hex('7f'), upper: hex('80') }), [
      ['might', equal('bin', hex('7fff')), 'R5.19: bytes are unsigned'],
      ['cannot', equal('bin', hex('8000')), 'R5.19: a prefix is first'],
      ['cannot', equal('bin', hex('')), 'R5.19: nothing is before everything'],
    ])

    check('uuid 10… to 20… (R5.20)', ten(ID.u, { lower: uuidBytes('10'), upper: uuidBytes('20') }), [
      ['cannot', equal('u', uuid('01')), 'below in both orders'],
      ['cannot', equal('u', uuid('30')), 'above in both orders'],
      ['might', equal('u', uuid('18')), 'within in both orders'],
      ['might', greaterThan('u', uuid('90')), 'by bytes all are below, signed all are above'],
      ['cannot', greaterThan('u', uuid('30')), 'all are below in both orders'],
    ])

    check('uuid 10… to f0… (R5.6, trap 22)', ten(ID.u, { lower: uuidBytes('10'), upper: uuidBytes('f0') }), [
      ['might', equal('u', uuid('50')), 'Java prunes: signed, the upper bound is below'],
      ['might', lessThan('u', uuid('05')), 'signed, f0… is below'],
    ])

    check('uuid from 10…', ten(ID.u, { lower: uuidBytes('10') }), [
      ['might', lessThan('u', uuid('05')), 'by bytes 80… is above the bound, signed it is below the literal'],
    ])

    check(
      'uuid f0… to 10…, as Java orders them',
      ten(ID.u, { lower: uuidBytes('f0'), upper: uuidBytes('10') }),
      [
        ['might', equal('u', uuid('01')), 'signed, it is within'],
        ['might', equal('u', uuid('ff')), 'signed, it is within'],
        ['might', equal('u', uuid('50')), 'R5.24: by bytes they are upside down'],
      ],
    )

    check('uuids of one value', ten(ID.u, { lower: uuidBytes('f0'), upper: uuidBytes('f0') }), [
      ['cannot', notEqual('u', uuid('f0')), 'R5.20: both orders agree'],
      ['cannot', equal('u', uuid('50')), 'R5.20: both orders agree'],
    ])
  })

  describe('bounds from before a promotion (R5.22, B086, trap 24)', () => {
    check('long, written as int', ten(ID.l, { lower: hex('f6ffffff'), upper: hex('0a000000') }), [
      ['might', equal('l', -10n), 'the lower bound is -10'],
      ['cannot', equal('l', -11n), 'the lower bound is -10'],
      ['might', equal('l', 10n), 'the upper bound is 10'],
      ['cannot', equal('l', 11n), 'the upper bound is 10'],
      ['cannot', greaterThan('l', 2n ** 40n), 'the upper bound is 10'],
    ])

    check(
      'long, one bound of each width',
      ten(ID.l, { lower: hex('f6ffffff'), upper: hex('ffffffff00000000') }),
      [
        ['might', equal('l', 4294967295n), 'the upper bound is 2^32 - 1'],
        ['cannot', equal('l', 4294967296n), 'the upper bound is 2^32 - 1'],
      ],
    )

    check('double, written as float', ten(ID.d, { nans: 0, lower: float(1.5), upper: float(2.5) }), [
      ['cannot', lessThan('d', 1.5), 'the lower bound is 1.5'],
      ['might', equal('d', 2), 'within'],
    ])

    check(
      'timestamp, written as date 2017-11-19',
      ten(ID.ts, { lower: hex('51440000'), upper: hex('51440000') }),
      [
        ['might', greaterThan('ts', micros(946684800000000n)), 'Java prunes: it takes days for microseconds'],
        ['cannot', equal('ts', micros(1511049600000001n)), 'a promoted date is a midnight'],
        ['might', equal('ts', micros(1511049600000000n)), '17489 days'],
        ['cannot', notEqual('ts', micros(1511049600000000n)), 'R5.8: the only value'],
        ['might', equal(day('ts'), { kind: 'date', value: 17489 }), 'R5.10'],
        ['cannot', equal(day('ts'), { kind: 'date', value: 17490 }), 'R5.10'],
      ],
    )

    check(
      'timestamp, written as a date before 1970',
      ten(ID.ts, { lower: hex('ffffffff'), upper: hex('ffffffff') }),
      [
        ['might', equal('ts', micros(-86400000000n)), '1969-12-31'],
        ['cannot', lessThan('ts', micros(-86400000000n)), 'the only value'],
        ['cannot', greaterThan('ts', micros(-86400000000n)), 'the only value'],
      ],
    )

    check('timestamp_ns, written as date', ten(ID.tsn, { lower: hex('51440000'), upper: hex('51440000') }), [
      ['might', equal('tsn', { kind: 'timestamp_ns', value: 1511049600000000000n }), '17489 days'],
      ['cannot', equal('tsn', { kind: 'timestamp_ns', value: 1511049600000000001n }), 'the only value'],
    ])

    check(
      'timestamp_ns, of a day beyond its range',
      ten(ID.tsn, { lower: hex('ffffff7f'), upper: hex('ffffff7f') }),
      [['might', equal('tsn', { kind: 'timestamp_ns', value: 0n }), 'not known']],
    )

    check('timestamptz in four bytes', ten(ID.tz, { lower: hex('51440000'), upper: hex('51440000') }), [
      ['might', equal('tz', { kind: 'timestamptz', value: 0n }), 'no date becomes one, so not known'],
    ])
  })

  describe('bounds of a wrong length (R5.22, B224)', () => {
    check(
      'nine bytes of a long',
      ten(ID.l, { lower: hex('640000000000000000'), upper: hex('c80000000000000000') }),
      [['might', equal('l', 5n), 'never cut to eight']],
    )
    check(
      'eight bytes of an int',
      ten(ID.i, { lower: hex('6400000000000000'), upper: hex('c800000000000000') }),
      [['might', equal('i', 5), 'never cut to four']],
    )
    check(
      'no byte of a long, decimal and uuid',
      statedMetrics(10, {
        [ID.l]: { nulls: 0, lower: hex(''), upper: hex('') },
        [ID.dec]: { nulls: 0, lower: hex(''), upper: hex('') },
        [ID.u]: { nulls: 0, lower: hex(''), upper: hex('') },
      }),
      [
        ['might', equal('l', 5n), 'not known'],
        ['might', equal('dec', 5), 'not known'],
        ['might', equal('u', uuid('50')), 'not known'],
        ['might', notEqual('l', 5n), 'not known'],
      ],
    )
    check('one good bound beside a bad one', ten(ID.l, { lower: hex('64000000'), upper: hex('ff') }), [
      ['cannot', equal('l', 5n), 'the lower bound is 100'],
      ['might', equal('l', 500n), 'the upper bound is not known'],
    ])
  })

  describe('truncation that wraps around (R5.10, R14.6)', () => {
    check('from the least int', ten(ID.i, { lower: int(-2147483648), upper: int(50) }), [
      ['might', equal(truncate(10, 'i'), 2147483646), 'the least int truncates to it'],
      ['might', greaterThan(truncate(10, 'i'), 100), 'the least int truncates above'],
    ])
    check('of a width that is almost all ints', ten(ID.i, { lower: int(-1), upper: int(5) }), [
      [
        'might',
        equal(truncate(2147483647, 'i'), 0),
        'the remainder plus the width overflows for 5, not for 0',
      ],
    ])
  })

  it('R5.7, B106: takes a hundred thousand literals and as many ORs', () => {
    const values = numbers(1000, 100_000)
    const metrics = ten(ID.i, { lower: int(10), upper: int(10) })
    assert.equal(verdict(isIn('i', values), metrics), 'might')
    assert.equal(verdict(notIn('i', values), metrics), 'might')
    assert.equal(verdict(notIn('i', [...values, 10]), metrics), 'cannot')
    assert.equal(verdict(or(...values.slice(0, 10_000).map((value) => equal('i', value))), metrics), 'cannot')
  })

  it('B106: an unbalanced chain needs no stack', () => {
    const leaf = bind(equal('i', 5), SCHEMA)
    let chain = leaf
    for (let i = 0; i < 20_000; i++)
      chain = i < 10_000 ? { op: 'or', left: chain, right: leaf } : { op: 'or', left: leaf, right: chain }
    assert.isFalse(compileMetricsFilter(chain)(ten(ID.i, { lower: int(10), upper: int(20) })))
    assert.isTrue(compileMetricsFilter(chain)(ten(ID.i, { lower: int(1), upper: int(20) })))
  })
})
