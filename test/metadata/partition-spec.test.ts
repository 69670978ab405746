import { assert } from 'chai'
import { parsePartitionSpec, partitionFields, sanitizeName } from '../../src/metadata/partition-spec.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import { formatType } from '../../src/types/type.ts'

const field = (
  name: string,
  transform: string,
  extra: object = { 'source-id': 1, 'field-id': 1000 },
): object => ({
  name,
  transform,
  ...extra,
})

describe('parsePartitionSpec', () => {
  it('reads the object of table metadata', () => {
    const spec = parsePartitionSpec({ 'spec-id': 3, fields: [field('d', 'DAY')] })
    assert.deepEqual(spec, {
      specId: 3,
      isUnpartitioned: false,
      fields: [{ sourceId: 1, fieldId: 1000, name: 'd', transform: { kind: 'day' } }],
    })
  })

  it('reads the bare array of v1 metadata and manifest headers, and null for none (B020)', () => {
    assert.equal(parsePartitionSpec([field('d', 'day')], 5).specId, 5)
    assert.deepEqual(parsePartitionSpec(null, 5), { specId: 5, isUnpartitioned: true, fields: [] })
  })

  it('R1.11, B082: fields without ids get 1000, 1001, ... in each spec', () => {
    const spec = parsePartitionSpec(
      [field('a', 'identity', { 'source-id': 1 }), field('b', 'void', { 'source-id': 2 })],
      0,
    )
    assert.deepEqual(
      spec.fields.map((known) => known.fieldId),
      [1000, 1001],
    )
  })

  it('B059: unknown transforms stay', () => {
    const spec = parsePartitionSpec([field('z', 'zorder[3]')], 0)
    assert.deepEqual(spec.fields[0].transform, { kind: 'unknown', text: 'zorder[3]' })
  })

  it('B059, R1.11: a transform of several columns stays, as an unknown one', () => {
    const spec = parsePartitionSpec([field('b', 'bucket[4]', { 'source-ids': [2, 3], 'field-id': 1000 })], 0)
    assert.equal(spec.fields[0].sourceId, 2)
    assert.equal(spec.fields[0].transform.kind, 'unknown')
    assert.equal(formatTransform(spec.fields[0].transform), 'bucket[4]')
  })

  it('source-ids with one column is that column', () => {
    const spec = parsePartitionSpec([field('b', 'bucket[4]', { 'source-ids': [2], 'field-id': 1000 })], 0)
    assert.deepInclude(spec.fields[0], { sourceId: 2, transform: { kind: 'bucket', numBuckets: 4 } })
  })

  it('no fields, or void ones only, is unpartitioned (format-reference 6.2)', () => {
    assert.isTrue(parsePartitionSpec([], 0).isUnpartitioned)
    assert.isTrue(parsePartitionSpec([field('a', 'void')], 0).isUnpartitioned)
    assert.isFalse(
      parsePartitionSpec([field('a', 'void'), field('b', 'day', { 'source-id': 1, 'field-id': 1001 })], 0)
        .isUnpartitioned,
    )
  })

  const refused: [json: unknown, message: RegExp, reason: string][] = [
    [
      [field('a', 'day', { 'source-id': 1 }), field('b', 'day')],
      /1 of its 2 fields have a "field-id"/,
      'R1.11: only some fields have ids',
    ],
    [[field('a', 'day'), field('b', 'day')], /share a "field-id" \(1000, 1000\)/, 'two fields share an id'],
    [[field('a', 'bucket[0]')], /parameter must be/, 'B060: a malformed known transform'],
    [[field('a', 'day', { 'field-id': 1000 })], /field "a" .* "source-id" is missing/, 'no source'],
    [
      [field('a', 'day', { 'source-ids': ['x'], 'field-id': 1000 })],
      /"source-id" is missing/,
      'a source that is no id',
    ],
    [[{ name: 'a', 'source-id': 1, 'field-id': 1000 }], /"transform" is missing/, 'no transform'],
    [[[0]], /an array, not an object/, 'B221: an array in place of a field'],
    [{ 'spec-id': 1 }, /"fields" is missing/, 'no fields'],
    ['day', /"day", not an object/, 'a string'],
  ]
  for (const [json, message, reason] of refused)
    it(`refuses ${reason}`, () => {
      assert.throws(() => parsePartitionSpec(json, 0), message)
    })

  it('an object without spec-id needs one from elsewhere', () => {
    assert.equal(parsePartitionSpec({ fields: [] }, 4).specId, 4)
    assert.throws(() => parsePartitionSpec({ fields: [] }), /"spec-id" is missing/)
  })
})

describe('partitionFields (R1.10)', () => {
  const schema = parseSchema({
    fields: [
      { id: 1, name: 'ts', required: true, type: 'timestamptz' },
      {
        id: 2,
        name: 'st',
        required: true,
        type: { type: 'struct', fields: [{ id: 3, name: 's', required: true, type: 'string' }] },
      },
    ],
  })
  const rows: [transform: string, sourceId: number, type: string, reason: string][] = [
    ['identity', 1, 'timestamptz', 'the source type'],
    ['day', 1, 'date', 'a fixed type'],
    ['truncate[3]', 3, 'string', 'R3.25: a nested source'],
    ['identity', 9, 'unknown', 'the column is gone'],
    ['truncate[3]', 9, 'unknown', 'the column is gone'],
    ['void', 9, 'unknown', 'the column is gone'],
    ['bucket[4]', 9, 'int', 'the column is gone, the type is fixed'],
    ['hour', 9, 'int', 'the column is gone, the type is fixed'],
    ['day', 9, 'date', 'the column is gone, the type is fixed'],
    ['identity', 2, 'unknown', 'no primitive'],
    ['zorder[3]', 1, 'unknown', 'an unknown transform'],
  ]
  for (const [transform, sourceId, type, reason] of rows)
    it(`${transform} of column ${sourceId} is ${type}: ${reason}`, () => {
      const spec = parsePartitionSpec([field('p', transform, { 'source-id': sourceId, 'field-id': 1000 })], 0)
      const [only] = partitionFields(spec, schema)
      assert.equal(only.field, spec.fields[0])
      assert.equal(formatType(only.type), type)
    })
})

describe('sanitizeName (R4.11)', () => {
  const rows: [name: string, sanitized: string][] = [
    ['ts_day', 'ts_day'],
    ['data.x', 'data_x2Ex'],
    ['9lives', '_9lives'],
    ['ä-1.x', '_xE4_x2D1_x2Ex'],
    ['日', '_x65E5'],
    ['', ''],
  ]
  for (const [name, sanitized] of rows)
    it(`"${name}" is "${sanitized}"`, () => {
      assert.equal(sanitizeName(name), sanitized)
    })
})
