import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { parseSchema } from '../../src/metadata/schema.ts'

const column = (id: number, name: string, type: unknown = 'int', required = false): unknown => ({
  id,
  name,
  required,
  type,
})
const struct = (...fields: unknown[]): unknown => ({ type: 'struct', fields })
const list = (elementId: number, element: unknown): unknown => ({
  type: 'list',
  'element-id': elementId,
  'element-required': true,
  element,
})
const map = (keyId: number, valueId: number, value: unknown): unknown => ({
  type: 'map',
  'key-id': keyId,
  key: 'string',
  'value-id': valueId,
  'value-required': true,
  value,
})

describe('Schema', () => {
  const schema = parseSchema({
    type: 'struct',
    'schema-id': 7,
    'identifier-field-ids': [1],
    fields: [
      column(1, 'id', 'long', true),
      column(2, 'st', struct(column(3, 'x', 'int', true), column(4, 'in', struct(column(5, 'Y'))))),
      column(6, 'l', list(7, struct(column(8, 'y', 'int', true))), true),
      column(9, 'm', map(10, 11, struct(column(12, 'z')))),
      column(13, 'plain', list(14, 'int')),
      column(15, 'dotted.name'),
    ],
  })

  const names: [name: string, id: number | undefined, reason: string][] = [
    ['id', 1, 'a top column'],
    ['st.x', 3, 'a field of a struct'],
    ['st.in.Y', 5, 'two levels'],
    ['l', 6, 'the list itself'],
    ['l.element', 7, 'R11.2: its elements'],
    ['l.element.y', 8, 'R11.2: a field of them'],
    ['l.y', 8, 'R11.2: the short name omits element'],
    ['m.key', 10, 'R11.2: the keys'],
    ['m.value.z', 12, 'R11.2: a field of the values'],
    ['m.z', 12, 'R11.2: the short name omits value'],
    ['plain.element', 14, 'a list of primitives has no short name'],
    ['dotted.name', 15, 'R11.1: a dot in the name itself'],
    ['ID', undefined, 'case matters'],
    ['x', undefined, 'a nested name alone'],
    ['st.in.Y.z', undefined, 'beyond a leaf'],
    ['constructor', undefined, 'no name of Object.prototype'],
  ]
  for (const [name, id, reason] of names)
    it(`finds "${name}": ${reason}`, () => {
      assert.equal(schema.findFieldByName(name)?.id, id)
    })

  it('R10.5: finds names without case', () => {
    assert.equal(schema.findFieldByName('ST.IN.y', false)?.id, 5)
    assert.equal(schema.findFieldByName('M.Z', false)?.id, 12)
  })

  it('finds by id at any depth, with full names', () => {
    assert.equal(schema.findField(5)?.name, 'Y')
    assert.equal(schema.fullName(12), 'm.value.z')
    assert.isUndefined(schema.findField(99))
    assert.equal(schema.schemaId, 7)
    assert.deepEqual(schema.identifierFieldIds, [1])
  })

  it('B093, R11.4: tells what is around a column', () => {
    const place = (id: number): unknown => {
      const { parentIds, isOptional, isRepeated } = schema.locate(id)!
      return { parentIds, isOptional, isRepeated }
    }
    assert.deepEqual(place(1), { parentIds: [], isOptional: false, isRepeated: false })
    assert.deepEqual(place(3), { parentIds: [2], isOptional: true, isRepeated: false })
    assert.deepEqual(place(8), { parentIds: [6, 7], isOptional: false, isRepeated: true })
    assert.deepEqual(place(12), { parentIds: [9, 11], isOptional: true, isRepeated: true })
    assert.deepEqual(
      [...schema.allFields()].map((entry) => entry.field.id),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    )
  })

  it('R11.2: a short name never hides a full one', () => {
    const both = parseSchema(struct(column(1, 'l', list(2, struct(column(3, 'y')))), column(4, 'l.y')))
    assert.equal(both.findFieldByName('l.y')?.id, 4)
    assert.equal(both.findFieldByName('l.element.y')?.id, 3)
  })

  it('R11.1: refuses two columns with one full name', () => {
    const both = parseSchema(struct(column(1, 'a', struct(column(2, 'b'))), column(3, 'a.b')))
    assert.throws(() => both.findFieldByName('a.b'), /the name "a.b" is that of columns 2 and 3/)
  })

  it('refuses two columns with one id', () => {
    const both = parseSchema(struct(column(1, 'a'), column(1, 'b')))
    assert.throws(() => both.findField(1), /"a" and "b" share the id 1/)
  })

  it('R10.5: names that differ in case only are an error without case, and none with it', () => {
    const both = parseSchema(struct(column(1, 'a'), column(2, 'A'), column(3, 'c')))
    assert.equal(both.findFieldByName('A')?.id, 2)
    try {
      both.findFieldByName('c', false)
      assert.fail('it must fail')
    } catch (error) {
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
    }
  })

  it('schema-id defaults to 0, and null counts as absent (B174)', () => {
    const bare = parseSchema({ fields: [], 'schema-id': null, 'identifier-field-ids': null })
    assert.equal(bare.schemaId, 0)
    assert.isEmpty(bare.identifierFieldIds)
  })
})
