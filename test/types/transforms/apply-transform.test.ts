import { assert } from 'chai'
import { isIcebergError } from '../../../src/errors.ts'
import { applyTransform, canTransform } from '../../../src/types/transforms/apply-transform.ts'
import { parseTransform } from '../../../src/types/transforms/transform.ts'
import { parseType, type Type } from '../../../src/types/type.ts'

const LIST: Type = { kind: 'list', elementId: 2, elementRequired: true, element: { kind: 'int' } }
const STRUCT: Type = { kind: 'struct', fields: [] }

const typeOf = (text: string): Type => (text === 'list' ? LIST : text === 'struct' ? STRUCT : parseType(text))

const TIMESTAMPS = ['timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns']
const BUCKETABLE = [
  'int',
  'long',
  'decimal(9,2)',
  'date',
  'time',
  ...TIMESTAMPS,
  'string',
  'uuid',
  'fixed[4]',
  'binary',
]
const OTHERS = ['boolean', 'float', 'double']
const NO_VALUES = ['variant', 'geometry', 'geography', 'list', 'struct']
const ALL = [...BUCKETABLE, ...OTHERS, 'unknown', ...NO_VALUES]

describe('canTransform (R14.3)', () => {
  const rows: [transform: string, types: readonly string[]][] = [
    ['identity', [...BUCKETABLE, ...OTHERS, 'unknown']],
    ['bucket[16]', BUCKETABLE],
    ['truncate[4]', ['int', 'long', 'decimal(9,2)', 'string', 'binary']],
    ['year', ['date', ...TIMESTAMPS]],
    ['month', ['date', ...TIMESTAMPS]],
    ['day', ['date', ...TIMESTAMPS]],
    ['hour', TIMESTAMPS],
    ['void', ALL],
    ['zorder[3]', []],
  ]
  for (const [text, types] of rows)
    it(`${text}: ${types.length} of ${ALL.length} types`, () => {
      const transform = parseTransform(text)
      for (const type of ALL) assert.equal(canTransform(transform, typeOf(type)), types.includes(type), type)
    })
})

describe('applyTransform (R14.1)', () => {
  for (const text of ['identity', 'bucket[16]', 'truncate[4]', 'year', 'void', 'zorder[3]'])
    it(`${text} of null is null`, () => {
      assert.isNull(applyTransform(parseTransform(text), { kind: 'int' }, null))
    })

  it('void of anything is null', () => {
    assert.isNull(applyTransform({ kind: 'void' }, { kind: 'int' }, 5))
  })

  it('identity is the value, not a copy', () => {
    const value = new Uint8Array([1])
    assert.strictEqual(applyTransform({ kind: 'identity' }, { kind: 'binary' }, value), value)
  })

  const refused: [transform: string, type: string][] = [
    ['zorder[3]', 'int'],
    ['hour', 'date'],
    ['bucket[16]', 'double'],
    ['truncate[4]', 'uuid'],
    ['identity', 'variant'],
  ]
  for (const [text, type] of refused)
    it(`${text} of ${type} cannot be computed`, () => {
      try {
        applyTransform(parseTransform(text), parseType(type), 1)
        assert.fail('it was computed')
      } catch (error) {
        assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'))
        assert.include((error as Error).message, `Cannot compute ${text} of a value of type ${type}`)
      }
    })
})
