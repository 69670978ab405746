import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { bind } from '../../src/expressions/bind.ts'
import { equal, isNull } from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { thrown } from '../support/rejection.ts'

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

const schema = parseSchema({
  type: 'struct',
  fields: [
    column(1, 'id', 'long', true),
    column(2, 'st', struct(column(3, 'x', 'int', true), column(4, 'in', struct(column(5, 'Y'))))),
    column(6, 'l', list(7, struct(column(8, 'y'))), true),
    column(9, 'm', map(10, 11, struct(column(12, 'z')))),
    column(15, 'a.b'),
    column(16, 'rs', struct(column(17, 'x', 'int', true)), true),
  ],
})

function messageOf(expression: Expression, caseSensitive = true): string {
  const error = thrown(() => bind(expression, schema, { caseSensitive }))
  assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
  return error.message
}

function termOf(name: string, caseSensitive = true): { fieldId: number; name: string; isOptional: boolean } {
  const bound = bind(equal(name, 5), schema, { caseSensitive })
  assert.property(bound, 'term')
  return 'term' in bound ? bound.term : { fieldId: -1, name: '', isOptional: false }
}

describe('names in filters', () => {
  const found: [name: string, id: number, reason: string][] = [
    ['id', 1, 'a top column'],
    ['st.x', 3, 'a field of a struct'],
    ['st.in.Y', 5, 'two levels'],
    ['a.b', 15, 'R11.1: a dot in the name itself'],
  ]
  for (const [name, id, reason] of found)
    it(`R11.1: ${reason}: ${name}`, () => {
      assert.equal(termOf(name).fieldId, id)
    })

  it('R11.1: a name that is a column and a path is ambiguous', () => {
    const ambiguous = parseSchema({
      type: 'struct',
      fields: [column(1, 'a', struct(column(2, 'b'))), column(3, 'a.b')],
    })
    assert.match(thrown(() => bind(equal('a.b', 5), ambiguous)).message, /"a\.b" is that of columns 2 and 3/)
  })

  it('R10.5: without case, the name is the one of the schema', () => {
    assert.deepInclude(termOf('ST.IN.y', false), { fieldId: 5, name: 'st.in.Y' })
    assert.match(messageOf(equal('ID', 5)), /Cannot filter on column "ID"/)
  })

  it('R10.5: without case, two names that differ in nothing else are an error', () => {
    const twins = parseSchema({ type: 'struct', fields: [column(1, 'a'), column(2, 'A'), column(3, 'b')] })
    assert.match(thrown(() => bind(equal('b', 5), twins, { caseSensitive: false })).message, /"a" and "A"/)
    assert.equal(bind(equal('A', 5), twins).op, 'eq')
  })

  it('R11.3: an unknown name, with the closest of many', () => {
    assert.equal(
      messageOf(equal('st.inn.Y', 5)),
      'Cannot filter on column "st.inn.Y": the schema has none of that name; the closest of its columns are "st.in.Y", "st.in", "st.x", "st", "id"',
    )
  })

  it('R11.3: an unknown name, with all of few', () => {
    const small = parseSchema({ type: 'struct', fields: [column(1, 'name'), column(2, 'price')] })
    assert.equal(
      thrown(() => bind(equal('pirce', 5), small)).message,
      'Cannot filter on column "pirce": the schema has none of that name; its columns are "price", "name"',
    )
  })

  it('R11.3: an unknown name of an empty schema', () => {
    assert.equal(
      thrown(() => bind(isNull('x'), parseSchema({ type: 'struct', fields: [] }))).message,
      'Cannot filter on column "x": the schema has no columns',
    )
  })

  it('R11.3: a hostile name does not fill the screen', () => {
    assert.isBelow(messageOf(equal('x'.repeat(100_000), 5)).length, 300)
  })

  for (const name of ['l.element', 'l.element.y', 'l.y', 'm.key', 'm.value', 'm.z'])
    it(`R11.4: ${name} is in a list or map`, () => {
      assert.match(messageOf(isNull(name)), /^Cannot filter on column "[lm]\..*it is in a list or map/)
    })

  const nested: [name: string, op: string, reason: string][] = [
    ['st', 'is-null', 'a struct'],
    ['m', 'is-null', 'a map'],
    ['rs', 'false', 'a required struct'],
    ['l', 'false', 'a required list'],
  ]
  for (const [name, op, reason] of nested)
    it(`R11.5: ${reason} can be tested for null`, () => {
      assert.equal(bind(isNull(name), schema).op, op)
    })
  for (const [name, kind] of [
    ['st', 'struct'],
    ['l', 'list'],
    ['m', 'map'],
  ])
    it(`R11.5: a ${kind} is compared with nothing`, () => {
      assert.equal(
        messageOf(equal(name, 5)),
        `Cannot compare column "${name}" (${kind}) with the int 5: such a column can only be tested for null`,
      )
    })

  it('R11.13: a required field of an optional struct may be missing', () => {
    assert.isTrue(termOf('st.x').isOptional)
    assert.isFalse(termOf('rs.x').isOptional)
  })
})
