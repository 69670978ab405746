import { assert } from 'chai'
import { isIcebergError, type IcebergErrorCode } from '../../src/errors.ts'
import {
  childFields,
  formatType,
  isPrimitive,
  MAX_TYPE_DEPTH,
  parseType,
  type Type,
} from '../../src/types/type.ts'

describe('parseType', () => {
  const strings: [text: string, type: Type, formatted: string, reason: string][] = [
    ['long', { kind: 'long' }, 'long', 'plain'],
    [' Timestamp_NS ', { kind: 'timestamp_ns' }, 'timestamp_ns', 'white space and case'],
    ['fixed[16]', { kind: 'fixed', length: 16 }, 'fixed[16]', 'fixed'],
    ['FIXED [ 16 ]', { kind: 'fixed', length: 16 }, 'fixed[16]', 'white space inside'],
    ['decimal(9,2)', { kind: 'decimal', precision: 9, scale: 2 }, 'decimal(9, 2)', 'as PyIceberg writes it'],
    ['decimal( 38 , 10 )', { kind: 'decimal', precision: 38, scale: 10 }, 'decimal(38, 10)', 'white space'],
    ['geometry', { kind: 'geometry', crs: 'OGC:CRS84' }, 'geometry', 'the default CRS'],
    ['geometry(srid:3857)', { kind: 'geometry', crs: 'srid:3857' }, 'geometry(srid:3857)', 'a CRS'],
    [
      'Geometry(EPSG:4326)',
      { kind: 'geometry', crs: 'EPSG:4326' },
      'geometry(EPSG:4326)',
      'a CRS keeps its case',
    ],
    [
      'geography',
      { kind: 'geography', crs: 'OGC:CRS84', algorithm: 'spherical' },
      'geography',
      'both defaults',
    ],
    [
      'geography(EPSG:4326, Karney)',
      { kind: 'geography', crs: 'EPSG:4326', algorithm: 'karney' },
      'geography(EPSG:4326, karney)',
      'an algorithm in any case',
    ],
    ['variant', { kind: 'variant' }, 'variant', 'v3'],
    ['unknown', { kind: 'unknown' }, 'unknown', 'v3'],
  ]
  for (const [text, type, formatted, reason] of strings)
    it(`reads ${JSON.stringify(text)}: ${reason}`, () => {
      assert.deepEqual(parseType(text), type)
      assert.equal(formatType(type), formatted)
      assert.deepEqual(parseType(formatted), type)
    })

  it('reads nested types', () => {
    const type = parseType({
      type: 'struct',
      fields: [
        { id: 1, name: 'id', required: true, type: 'long', doc: 'the key', 'initial-default': 7 },
        {
          id: 2,
          name: 'tags',
          required: false,
          doc: null,
          type: { type: 'list', 'element-id': 3, 'element-required': false, element: 'string' },
        },
        {
          id: 4,
          name: 'm',
          required: false,
          type: {
            type: 'map',
            'key-id': 5,
            key: 'string',
            'value-id': 6,
            'value-required': true,
            value: 'double',
          },
        },
      ],
    })
    assert.equal(
      formatType(type),
      'struct<1: id: required long, 2: tags: optional list<string>, 4: m: optional map<string, double>>',
    )
    assert.deepInclude(childFields(type)[0], { doc: 'the key', initialDefault: 7 })
    assert.notProperty(childFields(type)[1], 'doc')
    assert.deepEqual(
      childFields(childFields(type)[2].type).map((field) => [field.id, field.name, field.required]),
      [
        [5, 'key', true],
        [6, 'value', true],
      ],
    )
  })

  const refused: [json: unknown, code: IcebergErrorCode, message: RegExp, reason: string][] = [
    ['interval', 'ERR_UNSUPPORTED', /"interval"/, 'a name this version does not know'],
    ['time_of_day(3)', 'ERR_UNSUPPORTED', /time_of_day/, 'a parameter of a type we do not know'],
    ['', 'ERR_INVALID_METADATA', /no type name/, 'no name'],
    ['décimal', 'ERR_INVALID_METADATA', /no type name/, 'not a name'],
    ['fixed', 'ERR_INVALID_METADATA', /fixed\[length\]/, 'the length is missing'],
    ['fixed[-1]', 'ERR_INVALID_METADATA', /fixed\[length\]/, 'a negative length'],
    ['fixed[99999999999]', 'ERR_INVALID_METADATA', /fixed\[length\]/, 'more than 32 bits'],
    ['decimal(39,2)', 'ERR_INVALID_METADATA', /1 to 38/, 'too many digits'],
    ['decimal(9)', 'ERR_INVALID_METADATA', /precision, scale/, 'the scale is missing'],
    ['decimal(9,2', 'ERR_INVALID_METADATA', /closing/, 'no bracket'],
    ['geography(EPSG:4326, flat)', 'ERR_INVALID_METADATA', /spherical/, 'an algorithm nobody knows'],
    [null, 'ERR_INVALID_METADATA', /null/, 'null'],
    [[['long']], 'ERR_INVALID_METADATA', /an array/, 'an array in place of an object (B221)'],
    [
      { type: 'struct', fields: [[0]] },
      'ERR_INVALID_METADATA',
      /an array/,
      'an array in place of a field (B221)',
    ],
    [{ type: 'struct' }, 'ERR_INVALID_METADATA', /"fields" is missing/, 'no fields'],
    [
      { type: 'list', element: 'int', 'element-required': true },
      'ERR_INVALID_METADATA',
      /element-id/,
      'no id',
    ],
    [{ type: { type: 'int' } }, 'ERR_INVALID_METADATA', /an object/, 'an object in place of a name'],
    [
      { type: 'struct', fields: [{ id: 1.5, name: 'a', required: true, type: 'int' }] },
      'ERR_INVALID_METADATA',
      /field "a": "id" is 1.5/,
      'an id that is no integer',
    ],
    [
      { type: 'struct', fields: [{ id: 1, name: 'a', type: 'int' }] },
      'ERR_INVALID_METADATA',
      /"required" is missing/,
      'required is missing',
    ],
  ]
  for (const [json, code, message, reason] of refused)
    it(`refuses ${reason}`, () => {
      const error = failureOf(() => parseType(json))
      assert.isTrue(isIcebergError(error, code), String(error))
      assert.match(error.message, message)
    })

  it('B221: refuses nesting beyond the limit, however deep, and reads up to it', () => {
    const nested = (levels: number): unknown => {
      let json: unknown = 'int'
      for (let i = 0; i < levels; i++)
        json = { type: 'list', 'element-id': i, 'element-required': true, element: json }
      return json
    }
    assert.equal(parseType(nested(MAX_TYPE_DEPTH)).kind, 'list')
    for (const levels of [MAX_TYPE_DEPTH + 1, 100_000]) {
      const error = failureOf(() => parseType(nested(levels)))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_METADATA'), String(error))
      assert.match(error.message, /deeper than 200 levels/)
    }
  })

  it('a hostile text makes a short message', () => {
    const error = failureOf(() => parseType(`fixed[${' '.repeat(1_000_000)}x]`))
    assert.isBelow(error.message.length, 300)
  })
})

describe('isPrimitive', () => {
  it('is false for nested types and variants only', () => {
    for (const text of ['int', 'fixed[2]', 'decimal(3,1)', 'geometry', 'geography', 'unknown', 'binary'])
      assert.isTrue(isPrimitive(parseType(text)), text)
    assert.isFalse(isPrimitive({ kind: 'variant' }))
    assert.isFalse(isPrimitive({ kind: 'struct', fields: [] }))
    assert.isFalse(
      isPrimitive({ kind: 'list', elementId: 1, elementRequired: true, element: { kind: 'int' } }),
    )
  })
})

function failureOf(action: () => unknown): Error {
  try {
    action()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return assert.fail('it must fail')
}
