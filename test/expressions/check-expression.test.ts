import { assert } from 'chai'
import { InvalidArgumentError } from '../../src/errors.ts'
import { and, equal, isIn, not, notNull, or, truncate } from '../../src/expressions/builders.ts'
import { toExpression, type Filter } from '../../src/expressions/to-expression.ts'
import { thrown } from '../support/rejection.ts'

/** What no compiler has checked, and what the error says of it. */
const ROWS: readonly [given: object, message: string][] = [
  [{ op: 'and' }, 'missing is no expression'],
  [{ op: 'and', left: { op: 'true' }, right: 5 }, '5 is no expression'],
  [{ op: 'or', left: { op: 'true' }, right: [] }, 'an array is no expression'],
  [{ op: 'not', child: 'a = 1' }, '"a = 1" is no expression'],
  [{ op: 'xor', left: 1, right: 2 }, 'there is no operation "xor"'],
  [{ op: 'toString' }, 'there is no operation "toString"'],
  [{ op: 'is-null' }, '"is-null" has no term with a name'],
  [{ op: 'is-null', term: 'a' }, '"is-null" has no term with a name'],
  [{ op: 'is-null', term: { name: 5 } }, '"is-null" has no term with a name'],
  [{ op: 'is-null', term: { name: 'a', transform: 'day' } }, 'the transform of "a" is "day"'],
  [{ op: 'eq', term: { name: 'a' } }, '"eq" has no literal'],
  [{ op: 'eq', term: { name: 'a' }, literal: 5 }, '"eq" has no literal'],
  [{ op: 'eq', term: { name: 'a' }, literal: { kind: 'int' } }, '"eq" has no literal'],
  [{ op: 'in', term: { name: 'a' }, literals: 5 }, '"in" has no list of literals'],
  [{ op: 'in', term: { name: 'a' }, literals: [null] }, '"in" has no list of literals'],
]

describe('expressions that come as objects', () => {
  for (const [given, message] of ROWS)
    it(`${JSON.stringify(given)}: ${message}`, () => {
      const error = thrown(() => toExpression(given as Filter))
      assert.instanceOf(error, InvalidArgumentError)
      assert.equal(error.message, `Cannot use filter: ${message}`)
    })

  it('those of the builders are taken as they are', () => {
    const tree = and(or(equal('a', 1), not(notNull('b'))), isIn(truncate(2, 'c'), ['x', 'y']))
    assert.strictEqual(toExpression(tree), tree)
  })

  it('deep ones too', () => {
    let tree: Filter = equal('a', 1)
    for (let i = 0; i < 100_000; i++) tree = { op: 'not', child: tree }
    assert.strictEqual(toExpression(tree), tree)
  })
})
