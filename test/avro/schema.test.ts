import { assert } from 'chai'
import {
  fieldIdCoverage,
  parseAvroSchema,
  unwrapOptional,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
} from '../../src/avro/schema.ts'
import { isIcebergError } from '../../src/errors.ts'
import { thrown } from '../support/rejection.ts'

const LOCATION = 's3://b/m.avro'
const parseText = (text: string) => parseAvroSchema(new Uint8Array(Buffer.from(text)), LOCATION)
const parse = (json: unknown) => parseText(JSON.stringify(json))
const parseRecord = (json: unknown) => parse(json) as AvroRecord
const record = (name: string, ...fields: [name: string, type: unknown, attributes?: object][]) => ({
  type: 'record',
  name,
  fields: fields.map(([field, type, attributes]) => ({ name: field, type, ...attributes })),
})

describe('parseAvroSchema: types', () => {
  for (const type of ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])
    it(`${type}, by name and as an object`, () => {
      const expected = { type, logicalType: undefined, scale: 0 }
      assert.deepEqual(parse(type), expected as AvroSchema)
      assert.deepEqual(parse({ type }), expected as AvroSchema)
      assert.deepEqual(parse({ type: { type: { type } } }), expected as AvroSchema)
    })

  it('logical types, with the scale of a decimal', () => {
    assert.deepEqual(parse({ type: 'int', logicalType: 'date' }), {
      type: 'int',
      logicalType: 'date',
      scale: 0,
    })
    assert.deepEqual(
      parse({ type: 'fixed', name: 'd', size: 4, logicalType: 'decimal', precision: 9, scale: 2 }),
      { type: 'fixed', size: 4, logicalType: 'decimal', scale: 2 },
    )
  })

  it('enum, fixed, map, array with its element id, union', () => {
    assert.deepEqual(parse({ type: 'enum', name: 'e', symbols: ['A', 'B'] }), {
      type: 'enum',
      symbols: ['A', 'B'],
    })
    assert.deepInclude(parse({ type: 'fixed', name: 'f', size: 0 }), { type: 'fixed', size: 0 })
    assert.equal((parse({ type: 'map', values: 'long' }) as { values: AvroSchema }).values.type, 'long')
    const array = parse({ type: 'array', items: 'int', 'element-id': 133 })
    assert.deepInclude(array, { type: 'array', elementId: 133 })
    const union = parse(['null', 'int', 'string']) as AvroUnion
    assert.deepEqual(
      union.branches.map(({ type }) => type),
      ['null', 'int', 'string'],
    )
  })

  it('a record: names, original names and ids of its fields', () => {
    const { name, fields } = parseRecord(
      record(
        'r',
        ['plain', 'int', { 'field-id': 1 }],
        ['_x31_', 'int', { 'field-id': 2, 'iceberg-field-name': '1' }],
        ['none', 'int'],
        ['text', 'int', { 'field-id': '1000' }],
        ['negative', 'int', { 'field-id': -1 }],
        ['null', 'int', { 'field-id': null }],
      ),
    )
    assert.equal(name, 'r')
    assert.deepEqual(
      fields.map((field) => [field.name, field.originalName, field.id]),
      [
        ['plain', 'plain', 1],
        ['_x31_', '1', 2],
        ['none', 'none', undefined],
        ['text', 'text', 1000],
        ['negative', 'negative', -1],
        ['null', 'null', undefined],
      ],
    )
  })
})

describe('parseAvroSchema: names (format-reference 3.2)', () => {
  const typeOf = (json: unknown, field: number) => parseRecord(json).fields[field].type
  const fixed = (name: string, size: number, namespace?: string) => ({ type: 'fixed', name, size, namespace })

  it('a type defined once is referred to afterwards', () => {
    const json = record('r', ['a', fixed('f', 3)], ['b', 'f'], ['c', ['null', 'f']], ['d', { type: 'f' }])
    const { fields } = parseRecord(json)
    assert.equal(fields[0].type, fields[1].type)
    assert.deepInclude(typeOf(json, 1), { type: 'fixed', size: 3 })
    assert.deepInclude(typeOf(json, 3), { type: 'fixed', size: 3 })
    assert.deepInclude(unwrapOptional(typeOf(json, 2))?.schema, { type: 'fixed', size: 3 })
  })

  it('a bare name resolves in the enclosing namespace, a dotted name is full', () => {
    const json = {
      ...record(
        'r',
        ['a', fixed('f', 1)],
        ['b', fixed('f', 2, 'other')],
        ['c', fixed('third.f', 3)],
        ['bare', 'f'],
        ['own', 'space.f'],
        ['full', 'other.f'],
        ['dotted', 'third.f'],
      ),
      namespace: 'space',
    }
    assert.deepEqual(
      [3, 4, 5, 6].map((i) => (typeOf(json, i) as { size: number }).size),
      [1, 1, 2, 3],
    )
  })

  it('a record with a dotted name gives its namespace to what is inside', () => {
    const json = record('space.r', ['a', fixed('f', 1)], ['b', 'space.f'])
    assert.deepInclude(typeOf(json, 1), { type: 'fixed', size: 1 })
  })

  it('a name without a namespace is found inside one', () => {
    const inner = { ...record('inner', ['x', 'f']), namespace: 'space' }
    const json = record('r', ['a', fixed('f', 1)], ['b', inner])
    assert.deepInclude((typeOf(json, 1) as AvroRecord).fields[0].type, { size: 1 })
  })

  it('B221: a record may contain itself', () => {
    const schema = parseRecord(
      record('node', ['next', ['null', 'node']], ['all', { type: 'array', items: 'node' }]),
    )
    assert.equal(unwrapOptional(schema.fields[0].type)?.schema, schema)
    assert.equal((schema.fields[1].type as { items: AvroSchema }).items, schema)
    assert.equal(fieldIdCoverage(schema), 'none')
  })
})

describe('parseAvroSchema: what is no schema', () => {
  const nested = (depth: number, open: string, inner: string, close: string) =>
    open.repeat(depth) + inner + close.repeat(depth)
  const arrays = (depth: number) => nested(depth, '{"type":"array","items":', '"int"', '}')
  const records = (depth: number) =>
    nested(depth, '{"type":"record","name":"r","fields":[{"name":"f","type":', '"int"', '}]}')
  const deep = nested(100_000, '[', '', ']')
  const text = (json: unknown) => JSON.stringify(json)

  const rows: [text: string, message: RegExp, why: string][] = [
    ['', /is not JSON$/, 'nothing'],
    ['{', /is not JSON$/, 'half an object'],
    ['\u00ff\u0000', /is not JSON$/, 'binary'],
    ['null', /null is not a schema$/, 'null'],
    ['7', /7 is not a schema$/, 'a number'],
    ['[]', /a union has no branches$/, 'an empty union'],
    ['{}', /nothing is not a schema$/, 'an object without a type'],
    ['"nobody"', /type "nobody" is not defined$/, 'a name that nobody defined'],
    [text('x'.repeat(1_000_000)), /type "x{99}… is not defined$/, 'an endless name, cut in the message'],
    ['{"type":"nobody"}', /type "nobody" is not defined$/, 'a type that nobody defined'],
    ['{"type":"record","name":"r"}', /a record has no fields$/, 'a record without fields'],
    ['{"type":"record","name":"r","fields":{}}', /a record has no fields$/, 'fields that are an object'],
    [
      '{"type":"record","name":"r","fields":[[0]]}',
      /record r has a field without a name$/,
      'B221: fields [[0]]',
    ],
    ['{"type":"record","name":"r","fields":[null]}', /record r has a field without a name$/, 'a null field'],
    ['{"type":"record","name":"r","fields":[{"type":"int"}]}', /a field without a name$/, 'no name'],
    [
      '{"type":"record","name":"r","fields":[{"name":[],"type":"int"}]}',
      /a field without a name$/,
      'a name of []',
    ],
    [
      '{"type":"record","name":"r","fields":[{"name":"f"}]}',
      /nothing is not a schema$/,
      'a field without a type',
    ],
    [
      '{"type":"record","name":{"toString":1,"valueOf":1},"fields":[0]}',
      /a field without a name$/,
      'B221: a name that cannot be made a string',
    ],
    [`{"type":"record","name":${deep},"fields":[0]}`, /a field without a name$/, 'B221: a name 100,000 deep'],
    ['{"type":"enum","name":"e"}', /an enum has no symbols$/, 'an enum without symbols'],
    [
      '{"type":"enum","name":"e","symbols":[{"toString":1}]}',
      /an enum has no symbols$/,
      'a symbol of another type',
    ],
    [`{"type":"enum","name":"e","symbols":[${deep}]}`, /an enum has no symbols$/, 'a symbol 100,000 deep'],
    ['{"type":"fixed","name":"f"}', /a fixed type has the size nothing$/, 'a fixed without a size'],
    ['{"type":"fixed","name":"f","size":-1}', /a fixed type has the size -1$/, 'a negative size'],
    ['{"type":"fixed","name":"f","size":1.5}', /a fixed type has the size 1\.5$/, 'half a byte'],
    ['{"type":"fixed","name":"f","size":2147483648}', /has the size 2147483648$/, 'a size of 2^31'],
    [`{"type":"fixed","name":"f","size":${deep}}`, /has the size an array$/, 'B221: a size 100,000 deep'],
    ['{"type":"array"}', /nothing is not a schema$/, 'an array without items'],
    ['{"type":"map","values":7}', /7 is not a schema$/, 'a map of 7'],
    ['{"type":"array","items":"int","element-id":"x"}', /element-id is "x"$/, 'an id that is no number'],
    [text(record('r', ['f', 'int', { 'field-id': 1.5 }])), /field-id is 1\.5$/, 'a fractional id'],
    [text(record('r', ['f', 'int', { 'field-id': 2 ** 31 }])), /field-id is 2147483648$/, 'an id of 2^31'],
    [
      text(record('r', ['f', 'int', { 'field-id': '99999999999' }])),
      /field-id is "9+"$/,
      'a long id in quotes',
    ],
    [
      text(record('r', ['f', 'int', { 'field-id': {} }])),
      /field-id is an object$/,
      'an id that is an object',
    ],
    [deep, /it nests deeper than 64 levels$|a union has no branches$/, 'B221: 100,000 brackets'],
    [arrays(100_000), /it nests deeper than 64 levels$/, 'B221: 100,000 nested arrays'],
    [records(100_000), /it nests deeper than 64 levels$/, 'B221: 100,000 nested records'],
    [
      nested(100_000, '{"type":', '"int"', '}'),
      /it nests deeper than 64 levels$/,
      'B221: 100,000 types of types',
    ],
    [nested(100_000, '[', '"int"', ']'), /it nests deeper than 64 levels$/, 'B221: 100,000 unions of unions'],
    [
      text(Array<string>(200_001).fill('int')),
      /it has more than 200000 nodes$/,
      'B221: a union of more branches than any schema has nodes',
    ],
  ]
  for (const [schema, message, why] of rows)
    it(`refuses ${why}`, () => {
      const error = thrown(() => parseText(schema))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
      assert.match(error.message, message)
      assert.isBelow(error.message.length, 300)
      assert.include(error.message, `Cannot read ${LOCATION}: `)
      assert.equal(error.location, LOCATION)
    })

  it('takes 30 nested records', () => {
    assert.equal(parseText(records(30)).type, 'record')
  })

  it('B221: names that double each other thirty times are refused, because walks see 2^30 nodes', () => {
    let inner: unknown = record('r0', ['n', 'null'])
    for (let i = 1; i <= 30; i++) inner = record(`r${i}`, ['a', inner], ['b', `r${i - 1}`])
    const error = thrown(() => parse(inner))
    assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
    assert.match(error.message, /it has more than 200000 nodes$/)
  })

  it('a record that is referred to a thousand times is not refused', () => {
    const fields = Array.from({ length: 1000 }, (_, i): [string, unknown] => [
      `f${i}`,
      { type: 'array', items: i === 0 ? record('kv', ['key', 'int'], ['value', 'long']) : 'kv' },
    ])
    assert.equal(parseRecord(record('r', ...fields)).fields.length, 1000)
  })
})

describe('unwrapOptional', () => {
  const rows: [json: unknown, type: string | undefined, nullBranch: number, why: string][] = [
    ['int', 'int', -1, 'no union at all'],
    [['null', 'int'], 'int', 0, 'null first'],
    [['int', 'null'], 'int', 1, 'B010: null second'],
    [['int'], undefined, -1, 'one branch'],
    [['int', 'long'], undefined, -1, 'two real types'],
    [['null', 'int', 'long'], undefined, -1, 'three branches'],
  ]
  for (const [json, type, nullBranch, why] of rows)
    it(`${JSON.stringify(json)}: ${why}`, () => {
      const optional = unwrapOptional(parse(json))
      assert.equal(optional?.schema.type, type)
      if (optional !== undefined) assert.equal(optional.nullBranch, nullBranch)
    })
})

describe('fieldIdCoverage', () => {
  const id = (n: number) => ({ 'field-id': n })
  const pairs = (attributes: object) => ({
    type: 'array',
    items: record('kv', ['key', 'int', attributes], ['value', 'long', attributes]),
  })
  const rows: [json: unknown, expected: string, why: string][] = [
    [record('r', ['a', 'int', id(1)], ['b', 'int', id(2)]), 'all', 'every field has one'],
    [record('r', ['a', 'int'], ['b', 'int']), 'none', 'no field has one'],
    [record('r', ['a', 'int', id(1)], ['b', 'int']), 'some', 'one of two'],
    [record('r', ['a', record('s', ['b', 'int']), id(1)]), 'some', 'the nested field has none'],
    [record('r', ['a', record('s', ['b', 'int', id(1)])]), 'some', 'only the nested field has one'],
    [record('r', ['a', ['null', record('s', ['b', 'int'])], id(1)]), 'some', 'inside a union'],
    [record('r', ['a', { type: 'map', values: record('s', ['b', 'int']) }, id(1)]), 'some', 'inside a map'],
    [
      record('r', ['a', 'int', id(1)], ['m', pairs({}), id(2)]),
      'all',
      'BigQuery: no ids in key-value records only',
    ],
    [record('r', ['a', 'int', id(1)], ['m', pairs(id(7)), id(2)]), 'all', 'ids in key-value records too'],
    [record('r', ['a', 'int'], ['m', pairs({})]), 'none', 'none anywhere'],
    [record('r', ['a', 'int'], ['m', pairs(id(7))]), 'some', 'only key-value records have ids'],
    [record('r'), 'all', 'no fields, none missing'],
    ['int', 'all', 'no record at all'],
  ]
  for (const [json, expected, why] of rows)
    it(`${expected}: ${why}`, () => {
      assert.equal(fieldIdCoverage(parse(json)), expected)
    })
})
