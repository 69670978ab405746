import { assert } from 'chai'
import type { BoundExpression } from '../../src/expressions/bound-expression.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from '../../src/expressions/expression.ts'
import { inclusiveProjection } from '../../src/expressions/project.ts'
import {
  createPartitionSpec,
  type PartitionField,
  type PartitionSpec,
} from '../../src/metadata/partition-spec.ts'
import { Schema } from '../../src/metadata/schema.ts'
import { parseTransform } from '../../src/types/transforms/transform.ts'
import { formatType, parseType, type NestedField } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import { boundPredicate, partitionText, type Operation } from '../support/bound-predicates.ts'
import { daysOf, microsOf } from '../support/instants.ts'
import { strictProjection } from '../support/strict-projection.ts'
import { testProjections, type ProjectionRow } from './projection-rows.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

const COLUMNS: readonly [id: number, name: string, type: string][] = [
  [1, 'i', 'int'],
  [2, 'l', 'long'],
  [3, 's', 'string'],
  [4, 'ts', 'timestamp'],
  [5, 'd', 'date'],
  [6, 'gone', 'unknown'],
]
const SCHEMA = new Schema([
  ...COLUMNS.map(([id, name, type]): NestedField => ({ id, name, required: false, type: parseType(type) })),
  {
    id: 10,
    name: 'st',
    required: false,
    type: {
      kind: 'struct',
      fields: [{ id: 11, name: 'x', required: true, type: { kind: 'int' } }],
    },
  },
  {
    id: 20,
    name: 'list',
    required: false,
    type: { kind: 'list', elementId: 21, elementRequired: true, element: { kind: 'int' } },
  },
])

/** Fields `[source id, transform]`. */
function specOf(...fields: readonly [sourceId: number, transform: string][]): PartitionSpec {
  return createPartitionSpec(
    0,
    fields.map(([sourceId, transform], i): PartitionField => ({
      sourceId,
      fieldId: 1000 + i,
      name: `p${i}`,
      transform: parseTransform(transform),
    })),
  )
}

/** A predicate on a column of the schema. */
function on(
  id: number,
  op: Operation,
  operand?: Value | readonly Value[],
  transform?: string,
): BoundExpression {
  const { type } = SCHEMA.findField(id)!
  return boundPredicate(
    op,
    type,
    operand,
    transform === undefined ? { fieldId: id } : { fieldId: id, transform },
  )
}
const and = (left: BoundExpression, right: BoundExpression): BoundExpression => ({ op: 'and', left, right })
const or = (left: BoundExpression, right: BoundExpression): BoundExpression => ({ op: 'or', left, right })

function both(
  bound: BoundExpression,
  spec: PartitionSpec,
  schema = SCHEMA,
): [inclusive: string, strict: string] {
  return [
    partitionText(inclusiveProjection(bound, spec, schema)),
    partitionText(strictProjection(bound, spec, schema)),
  ]
}

describe('projection of filters', () => {
  describe('R3.3: and, or and constants', () => {
    const spec = specOf([1, 'identity'], [3, 'bucket[10]'])
    const identity = on(1, 'eq', 5)
    const bucket = on(3, 'eq', 'iceberg')
    const unpartitioned = on(2, 'eq', 5n)
    const rows: [name: string, bound: BoundExpression, inclusive: string, strict: string][] = [
      ['true', ALWAYS_TRUE, 'true', 'true'],
      ['false (R3.28)', ALWAYS_FALSE, 'false', 'false'],
      ['and', and(identity, bucket), 'p0 = 5 and p1 = 9', 'false'],
      ['or', or(identity, bucket), 'p0 = 5 or p1 = 9', 'p0 = 5'],
      ['and of what says nothing', and(identity, unpartitioned), 'p0 = 5', 'false'],
      ['or of what says nothing', or(identity, unpartitioned), 'true', 'p0 = 5'],
      ['nested', and(or(identity, on(1, 'eq', 6)), bucket), '(p0 = 5 or p0 = 6) and p1 = 9', 'false'],
      ['or with false', or(identity, ALWAYS_FALSE), 'p0 = 5', 'p0 = 5'],
      ['and with true', and(ALWAYS_TRUE, identity), 'p0 = 5', 'p0 = 5'],
    ]
    for (const [name, bound, inclusive, strict] of rows)
      it(name, () => {
        assert.deepEqual(both(bound, spec), [inclusive, strict])
      })

    it('R3.28: true stays true, and false stays false, for every spec', () => {
      for (const other of [specOf(), specOf([1, 'void']), specOf([1, 'zorder[3]'], [99, 'identity'])]) {
        assert.deepEqual(both(ALWAYS_TRUE, other), ['true', 'true'])
        assert.deepEqual(both(ALWAYS_FALSE, other), ['false', 'false'])
      }
    })
  })

  describe('R3.4, B085: all fields of the column', () => {
    it('the worked example: bucket[7](i), bucket[5](i), identity(l)', () => {
      const spec = specOf([1, 'bucket[7]'], [1, 'bucket[5]'], [2, 'identity'])
      assert.deepEqual(both(on(1, 'eq', 5), spec), ['p0 = 1 and p1 = 3', 'false'])
      assert.deepEqual(both(on(1, 'not-eq', 5), spec), ['true', 'p0 != 1 or p1 != 3'])
    })

    it('B085: bucket and identity of one column', () => {
      const spec = specOf([1, 'bucket[16]'], [1, 'identity'])
      assert.deepEqual(both(on(1, 'eq', 34), spec), ['p0 = 3 and p1 = 34', 'p1 = 34'])
      assert.deepEqual(both(on(1, 'lt', 34), spec), ['p1 < 34', 'p1 < 34'])
    })

    it('no field of the column, or no field at all', () => {
      for (const spec of [specOf([2, 'identity']), specOf()])
        assert.deepEqual(both(on(1, 'eq', 5), spec), ['true', 'false'])
    })

    it('the position is that of the field in the spec', () => {
      assert.deepEqual(both(on(1, 'eq', 5), specOf([2, 'identity'], [3, 'void'], [1, 'identity'])), [
        'p2 = 5',
        'p2 = 5',
      ])
    })
  })

  describe('R3.5: values are of the type of the partition field', () => {
    const rows: [id: number, transform: string, op: Operation, operand: Value, type: string, value: Value][] =
      [
        [4, 'day', 'eq', microsOf('2017-12-01T10:00:00.000000'), 'date', 17_501],
        [4, 'hour', 'eq', microsOf('2017-12-01T10:00:00.000000'), 'int', 420_034],
        [4, 'year', 'eq', microsOf('2017-12-01T10:00:00.000000'), 'int', 47],
        [5, 'month', 'eq', daysOf('2017-12-01'), 'int', 575],
        [3, 'bucket[10]', 'eq', 'iceberg', 'int', 9],
        [3, 'truncate[3]', 'eq', 'iceberg', 'string', 'ice'],
        [2, 'truncate[8]', 'eq', 17n, 'long', 16n],
        [2, 'identity', 'eq', 17n, 'long', 17n],
      ]
    for (const [id, transform, op, operand, type, value] of rows)
      it(`${transform} gives a ${type}`, () => {
        const projected = inclusiveProjection(on(id, op, operand), specOf([id, transform]), SCHEMA)
        assert.isTrue('term' in projected && 'value' in projected)
        if (!('term' in projected && 'value' in projected)) return
        assert.equal(formatType(projected.term.fieldType), type)
        assert.equal(formatType(projected.term.type), type)
        assert.isFalse('transform' in projected.term)
        assert.strictEqual(projected.value, value)
      })
  })

  describe('R3.6: transform terms', () => {
    const rows: [
      term: string,
      id: number,
      field: string,
      op: Operation,
      operand: Value | readonly Value[] | undefined,
      both: string | undefined,
      reason: string,
    ][] = [
      ['bucket[16]', 1, 'bucket[16]', 'eq', 3, 'p0 = 3', 'the same transform'],
      ['bucket[16]', 1, 'bucket[16]', 'not-eq', 3, 'p0 != 3', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'lt', 3, 'p0 < 3', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'lt-eq', 3, 'p0 <= 3', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'gt', 3, 'p0 > 3', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'gt-eq', 3, 'p0 >= 3', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'in', [3, 5], 'p0 in (3, 5)', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'not-in', [3, 5], 'p0 not in (3, 5)', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'is-null', undefined, 'p0 is null', 'every operator'],
      ['bucket[16]', 1, 'bucket[16]', 'not-null', undefined, 'p0 is not null', 'every operator'],
      ['bucket[16]', 1, 'bucket[8]', 'eq', 3, undefined, 'another width'],
      ['bucket[16]', 1, 'bucket[8]', 'is-null', undefined, undefined, 'another width'],
      ['bucket[16]', 1, 'truncate[16]', 'eq', 3, undefined, 'another transform'],
      ['truncate[2]', 3, 'truncate[2]', 'starts-with', 'a', 'p0 starts with "a"', 'R11.16'],
      ['truncate[2]', 3, 'truncate[2]', 'starts-with', 'abc', 'p0 starts with "abc"', 'as it is'],
      ['truncate[2]', 3, 'truncate[3]', 'eq', 'ab', undefined, 'another width'],
      ['day', 4, 'day', 'eq', 17_501, 'p0 = 17501', 'day(ts) = 2017-12-01'],
      ['day', 4, 'day', 'gt-eq', 17_501, 'p0 >= 17501', 'the same transform'],
      ['day', 4, 'day', 'eq', -1, 'p0 = -1', 'without the time fix'],
      ['day', 4, 'hour', 'eq', 17_501, undefined, 'another transform'],
      ['month', 5, 'month', 'lt', -1, 'p0 < -1', 'without the time fix'],
      // Java compares the partition untransformed here, and loses the partition 34.
      ['bucket[16]', 1, 'identity', 'eq', 3, 'bucket[16](p0) = 3', 'computed from the partition value'],
      ['bucket[16]', 1, 'identity', 'not-eq', 3, 'bucket[16](p0) != 3', 'computed'],
      ['bucket[16]', 1, 'identity', 'in', [3, 5], 'bucket[16](p0) in (3, 5)', 'computed'],
      ['bucket[16]', 1, 'identity', 'is-null', undefined, 'bucket[16](p0) is null', 'computed'],
      ['day', 4, 'identity', 'eq', -1, 'day(p0) = -1', 'computed'],
      ['truncate[2]', 3, 'identity', 'starts-with', 'ab', 'truncate[2](p0) starts with "ab"', 'computed'],
      ['bucket[16]', 1, 'void', 'eq', 3, undefined, 'R3.19'],
      ['bucket[16]', 1, 'zorder[3]', 'eq', 3, undefined, 'R3.20'],
      ['void', 1, 'void', 'is-null', undefined, undefined, 'R3.19: even the same'],
      ['zorder[3]', 1, 'zorder[3]', 'eq', 3, undefined, 'R3.20: even the same'],
      ['zorder[3]', 1, 'identity', 'eq', 3, undefined, 'R3.20, B067: it cannot be computed'],
    ]
    for (const [term, id, field, op, operand, expected, reason] of rows)
      it(`${term}(x) ${op} through ${field}: ${expected ?? 'none'}, ${reason}`, () => {
        const projected = both(on(id, op, operand, term), specOf([id, field]))
        assert.deepEqual(projected, expected === undefined ? ['true', 'false'] : [expected, expected])
      })

    it('the types of a computed term: of the stored value, and of what is compared', () => {
      const projected = strictProjection(on(4, 'eq', 17_501, 'day'), specOf([4, 'identity']), SCHEMA)
      assert.deepEqual('term' in projected && projected.term, {
        position: 0,
        fieldType: { kind: 'timestamp' },
        transform: { kind: 'day' },
        type: { kind: 'date' },
      })
    })
  })

  describe('R3.8: identity', () => {
    const VALUES: readonly [type: string, value: Value, other: Value, shown: string, otherShown: string][] = [
      ['boolean', true, false, 'true', 'false'],
      ['int', 5, 6, '5', '6'],
      ['long', 5n, 2n ** 53n + 1n, '5n', '9007199254740993n'],
      ['float', 1.5, -0, '1.5', '-0'],
      ['double', -Infinity, 0, '-Infinity', '0'],
      ['decimal(9,2)', 150n, -1n, '150n', '-1n'],
      ['date', 17_501, -1, '17501', '-1'],
      ['time', 0n, 1n, '0n', '1n'],
      ['timestamp', 0n, -1n, '0n', '-1n'],
      ['timestamptz', 0n, -1n, '0n', '-1n'],
      ['timestamp_ns', 0n, -1n, '0n', '-1n'],
      ['timestamptz_ns', 0n, -1n, '0n', '-1n'],
      ['string', 'a', '💰', '"a"', '"💰"'],
      [
        'uuid',
        'f79c3e09-677c-4bbd-a479-3f349cb785e7',
        '00000000-0000-0000-0000-000000000000',
        '"f79c3e09-677c-4bbd-a479-3f349cb785e7"',
        '"00000000-0000-0000-0000-000000000000"',
      ],
      ['fixed[2]', bytes('0001'), bytes('ffff'), '0x0001', '0xffff'],
      ['binary', bytes(''), bytes('ff'), '0x', '0xff'],
    ]
    testProjections(
      VALUES.flatMap(([type, value, other, shown, otherShown]) => {
        const compared = (
          [
            ['lt', '<'],
            ['lt-eq', '<='],
            ['gt', '>'],
            ['gt-eq', '>='],
            ['eq', '='],
            ['not-eq', '!='],
          ] as const
        ).map(([op, symbol]): ProjectionRow => {
          const text = `p0 ${symbol} ${shown}`
          return [type, 'identity', op, value, text, text]
        })
        const isIn = `p0 in (${shown}, ${otherShown})`
        const notIn = `p0 not in (${shown}, ${otherShown})`
        return [
          ...compared,
          [type, 'identity', 'in', [value, other], isIn, isIn],
          [type, 'identity', 'not-in', [value, other], notIn, notIn],
          [type, 'identity', 'is-null', undefined, 'p0 is null', 'p0 is null'],
          [type, 'identity', 'not-null', undefined, 'p0 is not null', 'p0 is not null'],
        ]
      }),
    )
    testProjections([
      ['double', 'identity', 'is-nan', undefined, 'p0 is nan', 'p0 is nan', 'R3.7'],
      ['float', 'identity', 'not-nan', undefined, 'p0 is not nan', 'p0 is not nan', 'R3.7'],
      ['string', 'identity', 'starts-with', 'ab', 'p0 starts with "ab"', 'p0 starts with "ab"'],
      [
        'string',
        'identity',
        'not-starts-with',
        'ab',
        'p0 does not start with "ab"',
        'p0 does not start with "ab"',
      ],
    ])
  })

  describe('R3.19, R3.20, B059: void and unknown say nothing', () => {
    testProjections(
      ['void', 'zorder[3]', 'bucket[abc]'].flatMap((transform): ProjectionRow[] => [
        ['int', transform, 'eq', 5, 'true', 'false'],
        ['int', transform, 'not-eq', 5, 'true', 'false'],
        ['int', transform, 'in', [5, 6], 'true', 'false'],
        ['int', transform, 'is-null', undefined, 'true', 'false', 'trap 17: its nulls are not those of rows'],
        ['int', transform, 'not-null', undefined, 'true', 'false'],
      ]),
    )
  })

  describe('R3.21: sets', () => {
    it('many values become at most as many buckets', () => {
      const many = Array.from({ length: 100_000 }, (_, i) => i)
      const projected = inclusiveProjection(on(1, 'in', many), specOf([1, 'bucket[16]']), SCHEMA)
      assert.isTrue('values' in projected)
      if ('values' in projected) assert.sameMembers([...projected.values], many.slice(0, 16))
    })

    it('a field that cannot collapse them keeps them all', () => {
      const many = Array.from({ length: 100_000 }, (_, i) => `${i}`)
      const projected = strictProjection(on(3, 'not-in', many), specOf([3, 'truncate[9]']), SCHEMA)
      assert.isTrue('values' in projected)
      if ('values' in projected) assert.deepEqual(projected.values, many)
    })
  })

  describe('R3.22, R3.24, trap 18, B071: each manifest by its own spec', () => {
    const filter = on(1, 'eq', 34)
    const rows: [name: string, spec: PartitionSpec, inclusive: string][] = [
      ['bucket[8] of before', specOf([1, 'bucket[8]']), 'p0 = 3'],
      ['bucket[16] of now', specOf([1, 'bucket[16]']), 'p0 = 3'],
      ['the unpartitioned first spec', specOf(), 'true'],
      ['a field removed in format version 1', specOf([1, 'void'], [2, 'identity']), 'true'],
      ['a field removed in format version 2', specOf([2, 'identity']), 'true'],
    ]
    for (const [name, spec, inclusive] of rows)
      it(name, () => {
        assert.equal(both(filter, spec)[0], inclusive)
      })
  })

  describe('R3.23, R3.26: columns by id', () => {
    const filter = boundPredicate('eq', { kind: 'int' }, 5, { fieldId: 7 })
    const schema = new Schema([{ id: 7, name: 'i', required: false, type: { kind: 'int' } }])

    it('a renamed column keeps its partition', () => {
      assert.deepEqual(both(filter, specOf([7, 'identity']), schema), ['p0 = 5', 'p0 = 5'])
    })

    it('a column added again under its name has another id, which the old field does not match', () => {
      assert.deepEqual(both(filter, specOf([1, 'identity']), schema), ['true', 'false'])
    })

    it('a field whose column the schema lacks says nothing (R1.10)', () => {
      for (const transform of ['identity', 'bucket[16]', 'truncate[8]'])
        assert.deepEqual(both(on(1, 'is-null'), specOf([1, transform]), schema), ['true', 'false'], transform)
    })

    it('a column of type unknown says nothing', () => {
      for (const transform of ['identity', 'bucket[16]', 'day'])
        assert.deepEqual(both(on(6, 'is-null'), specOf([6, transform])), ['true', 'false'], transform)
    })
  })

  describe('R3.25: nested columns', () => {
    it('a field of a struct is a column like another', () => {
      assert.deepEqual(both(on(11, 'eq', 34), specOf([11, 'bucket[16]'])), ['p0 = 3', 'false'])
    })

    it('R3.7: null in an optional struct is a null partition', () => {
      assert.deepEqual(both(on(11, 'is-null'), specOf([11, 'identity'])), ['p0 is null', 'p0 is null'])
    })

    it('neither a struct, nor a list, nor what is in a list, is the source of a field', () => {
      for (const id of [10, 20, 21])
        assert.deepEqual(both(on(id, 'is-null'), specOf([id, 'identity'])), ['true', 'false'], `column ${id}`)
    })
  })

  describe('R3.27: promoted columns', () => {
    it('the partition has the type of the schema, and the buckets of before', () => {
      const bound = on(2, 'eq', 34n)
      const projected = inclusiveProjection(bound, specOf([2, 'identity']), SCHEMA)
      assert.deepEqual('term' in projected && projected.term.fieldType, { kind: 'long' })
      assert.deepEqual(both(bound, specOf([2, 'bucket[16]'])), ['p0 = 3', 'false'])
    })

    it('a predicate bound to another type of the column says nothing', () => {
      const bound = boundPredicate('eq', { kind: 'int' }, 34, { fieldId: 2 })
      assert.deepEqual(both(bound, specOf([2, 'bucket[16]'], [2, 'identity'])), ['true', 'false'])
    })

    it('types are compared by what they say', () => {
      const schema = new Schema([{ id: 1, name: 'x', required: false, type: parseType('decimal(9, 2)') }])
      const bound = boundPredicate('eq', parseType('decimal(9,2)'), 1420n)
      assert.deepEqual(both(bound, specOf([1, 'identity']), schema), ['p0 = 1420n', 'p0 = 1420n'])
    })
  })

  it('B126: thousands of terms in a balanced tree', () => {
    let level: BoundExpression[] = Array.from({ length: 2 ** 14 }, (_, i) => on(1, 'eq', i))
    while (level.length > 1)
      level = Array.from({ length: level.length / 2 }, (_, i) => or(level[2 * i], level[2 * i + 1]))
    assert.equal(inclusiveProjection(level[0], specOf([1, 'bucket[16]']), SCHEMA).op, 'or')
    assert.equal(strictProjection(level[0], specOf([1, 'bucket[16]']), SCHEMA).op, 'false')
  })

  it('B064: the zone of the process does not matter', () => {
    const zone = process.env.TZ
    const instant = microsOf('2025-12-31T21:00:00.000000')
    try {
      process.env.TZ = 'Asia/Tokyo'
      assert.deepEqual(both(on(4, 'gt-eq', instant), specOf([4, 'day'])), ['p0 >= 20453', 'p0 > 20453'])
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })
})
