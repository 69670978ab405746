import { assert } from 'chai'
import { compileKeyOverlap } from '../../src/expressions/key-overlap.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { singleValueBytes } from '../support/iceberg-values.ts'
import { hex, statedMetrics, type StatedColumn } from './stated-metrics.ts'

const SCHEMA = parseSchema({
  type: 'struct',
  fields: [
    { id: 1, name: 'id', required: true, type: 'int' },
    { id: 2, name: 'opt', required: false, type: 'int' },
    { id: 3, name: 'u', required: true, type: 'uuid' },
    { id: 4, name: 'ts', required: true, type: 'timestamp' },
    { id: 5, name: 'd', required: true, type: 'double' },
    {
      id: 6,
      name: 'st',
      required: false,
      type: { type: 'struct', fields: [{ id: 7, name: 'x', required: true, type: 'int' }] },
    },
    {
      id: 8,
      name: 'list',
      required: true,
      type: { type: 'list', 'element-id': 9, element: 'int', 'element-required': true },
    },
    { id: 10, name: 's', required: true, type: 'string' },
    { id: 11, name: 'l', required: true, type: 'long' },
  ],
})

const int = (value: number): Uint8Array => singleValueBytes('int', value)
const double = (value: number): Uint8Array => singleValueBytes('double', value)
const text = (value: string): Uint8Array => singleValueBytes('string', value)
const uuid = (start: string): Uint8Array => hex(start.padEnd(32, '0'))

/** Ten rows, all counted and not null unless stated. */
const full = (column: StatedColumn): StatedColumn => ({ values: 10, nulls: 0, ...column })
const range = (lower: number, upper: number): StatedColumn => full({ lower: int(lower), upper: int(upper) })
const bounds = (lower: Uint8Array, upper: Uint8Array): StatedColumn => full({ lower, upper })

type Verdict = 'applies' | 'cannot'

describe('key overlap of equality deletes (R7.16)', () => {
  const rows: [expected: Verdict, column: string, data: StatedColumn, deletes: StatedColumn, why: string][] =
    [
      ['applies', 'id', range(1, 5), range(5, 9), 'they share 5'],
      ['cannot', 'id', range(1, 4), range(5, 9), 'no value in common'],
      ['cannot', 'id', range(10, 14), range(5, 9), 'no value in common'],
      ['applies', 'id', {}, range(5, 9), 'the data file has no metrics'],
      ['applies', 'id', range(1, 4), {}, 'the delete file has no metrics'],
      ['applies', 'id', full({ lower: int(1) }), range(5, 9), 'a bound is missing'],
      ['applies', 'id', range(1, 4), full({ upper: int(9) }), 'a bound is missing'],
      [
        'cannot',
        'id',
        { lower: int(1), upper: int(4) },
        { lower: int(5), upper: int(9) },
        'a required column has no nulls',
      ],
      ['applies', 'id', range(4, 1), range(5, 9), 'R5.24: bounds upside down'],
      ['applies', 'id', bounds(hex('01'), hex('04')), range(5, 9), 'R5.22: bounds of a wrong length'],

      [
        'applies',
        'opt',
        { lower: int(1), upper: int(4) },
        { lower: int(5), upper: int(9) },
        'nulls are not counted on either side',
      ],
      ['cannot', 'opt', range(1, 4), { lower: int(5), upper: int(9) }, 'no nulls in the data'],
      ['cannot', 'opt', { lower: int(1), upper: int(4) }, range(5, 9), 'no nulls in the delete'],
      [
        'applies',
        'opt',
        { ...range(1, 4), nulls: 1 },
        { ...range(5, 9), nulls: 1 },
        'a null deletes null rows',
      ],
      ['cannot', 'opt', full({ nulls: 10 }), range(5, 9), 'null rows, and no null deleted'],
      ['cannot', 'opt', range(1, 4), full({ nulls: 10 }), 'only null rows are deleted'],
      ['applies', 'opt', full({ nulls: 10 }), full({ nulls: 10 }), 'null rows are deleted'],
      ['applies', 'opt', full({ nulls: 10 }), {}, 'the delete may hold null'],
      [
        'applies',
        'opt',
        { nulls: 0, values: 9, lower: int(1), upper: int(4) },
        { ...range(5, 9), nulls: 1 },
        'R5.3: a row without value is null',
      ],

      [
        'applies',
        'st.x',
        { values: 8, nulls: 0, lower: int(1), upper: int(4) },
        { values: 8, nulls: 0, lower: int(5), upper: int(9) },
        'B092: rows without struct are not counted on either side',
      ],
      [
        'cannot',
        'st.x',
        range(1, 4),
        { values: 8, nulls: 0, lower: int(5), upper: int(9) },
        'all rows of the data have the struct',
      ],
      [
        'applies',
        'st.x',
        { lower: int(1), upper: int(4) },
        { lower: int(5), upper: int(9) },
        'B093: required in an optional struct may be null',
      ],

      [
        'cannot',
        'l',
        bounds(hex('01000000'), hex('04000000')),
        bounds(hex('0500000000000000'), hex('0900000000000000')),
        'R5.22: an int from before the promotion',
      ],
      [
        'applies',
        'l',
        bounds(hex('01000000'), hex('05000000')),
        bounds(hex('0500000000000000'), hex('0900000000000000')),
        'R5.22: they share 5',
      ],
      [
        'applies',
        'ts',
        bounds(hex('51440000'), hex('51440000')),
        bounds(hex('0060a5a64a5e0500'), hex('0060a5a64a5e0500')),
        'R5.22: a date from before the promotion, and its midnight',
      ],
      [
        'cannot',
        'ts',
        bounds(hex('51440000'), hex('51440000')),
        bounds(hex('0160a5a64a5e0500'), hex('0160a5a64a5e0500')),
        'R5.22: a microsecond later',
      ],

      ['cannot', 's', bounds(text('a'), text('c')), bounds(text('d'), text('e')), 'no value in common'],
      [
        'applies',
        's',
        bounds(text('\uFB00'), text('\u{1F600}')),
        bounds(text('\uFF5E'), text('\uFF5E')),
        'B095: by bytes it is within',
      ],

      [
        'applies',
        'd',
        full({ nans: 2, lower: double(1), upper: double(5) }),
        full({ nans: 1, lower: double(100), upper: double(100) }),
        'NaN is deleted',
      ],
      [
        'applies',
        'd',
        bounds(double(1), double(5)),
        bounds(double(100), double(100)),
        'NaNs are not counted',
      ],
      [
        'cannot',
        'd',
        full({ nans: 0, lower: double(1), upper: double(5) }),
        bounds(double(100), double(100)),
        'no NaN in the data',
      ],
      [
        'applies',
        'd',
        full({ nans: 0, lower: double(-0), upper: double(-0) }),
        full({ nans: 0, lower: double(0), upper: double(0) }),
        'R5.20: -0.0 is 0.0',
      ],
      [
        'applies',
        'd',
        full({ nans: 0, lower: double(NaN), upper: double(1) }),
        full({ nans: 0, lower: double(5), upper: double(5) }),
        'R5.9: a NaN bound',
      ],

      ['cannot', 'u', bounds(uuid('10'), uuid('20')), bounds(uuid('50'), uuid('50')), 'apart in both orders'],
      [
        'applies',
        'u',
        bounds(uuid('10'), uuid('f0')),
        bounds(uuid('50'), uuid('50')),
        'R5.20: signed, the data would be upside down',
      ],
      [
        'applies',
        'u',
        bounds(uuid('90'), uuid('20')),
        bounds(uuid('f5'), uuid('f5')),
        'R5.20: signed, it is within',
      ],
      [
        'applies',
        'u',
        bounds(uuid('30'), uuid('a0')),
        bounds(uuid('80'), uuid('20')),
        'each in another order: both may hold 90…',
      ],
      [
        'applies',
        'u',
        bounds(uuid('ff0000000000000030'), uuid('ff00000000000000a0')),
        bounds(uuid('ff0000000000000080'), uuid('ff0000000000000020')),
        'the same in the second half',
      ],
    ]
  for (const [expected, name, data, deletes, why] of rows)
    it(`${expected}: ${name}: ${why}`, () => {
      const key = SCHEMA.locateByName(name)!
      const mayApply = compileKeyOverlap([key])
      const { id } = key.field
      const dataMetrics = statedMetrics(10, { [id]: data })
      const deleteMetrics = statedMetrics(10, { [id]: deletes })
      assert.equal(mayApply(dataMetrics, deleteMetrics), expected === 'applies')
      assert.equal(mayApply(deleteMetrics, dataMetrics), expected === 'applies', 'the other way round')
    })

  it('one column that cannot agree is enough', () => {
    const mayApply = compileKeyOverlap([SCHEMA.locate(1)!, SCHEMA.locate(2)!])
    const data = statedMetrics(10, { 1: range(1, 4), 2: range(1, 4) })
    assert.isTrue(mayApply(data, statedMetrics(10, { 1: range(1, 4), 2: range(4, 9) })))
    assert.isFalse(mayApply(data, statedMetrics(10, { 1: range(1, 4), 2: range(5, 9) })))
  })

  it('R7.16 step 1: columns that are nested or repeated say nothing', () => {
    const mayApply = compileKeyOverlap([SCHEMA.locate(6)!, SCHEMA.locate(8)!, SCHEMA.locate(9)!])
    assert.isTrue(mayApply(statedMetrics(10, { 9: range(1, 4) }), statedMetrics(10, { 9: range(5, 9) })))
  })

  it('R5.3: with the number of rows not known, an optional column may hold null', () => {
    const mayApply = compileKeyOverlap([SCHEMA.locate(7)!])
    const data = statedMetrics(-1, { 7: range(1, 4) })
    assert.isTrue(mayApply(data, statedMetrics(-1, { 7: range(5, 9) })))
    assert.isFalse(mayApply(data, statedMetrics(10, { 7: range(5, 9) })))
  })
})
