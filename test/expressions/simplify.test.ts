import { assert } from 'chai'
import { ALWAYS_FALSE, ALWAYS_TRUE, type Expression } from '../../src/expressions/expression.ts'
import { conjunction, disjunction } from '../../src/expressions/simplify.ts'

const X: Expression = { op: 'is-null', term: { name: 'x' } }
const Y: Expression = { op: 'not-null', term: { name: 'x' } }

describe('conjunction and disjunction (R11.21)', () => {
  const rows: [left: Expression, right: Expression, and: Expression, or: Expression][] = [
    [ALWAYS_FALSE, X, ALWAYS_FALSE, X],
    [X, ALWAYS_FALSE, ALWAYS_FALSE, X],
    [ALWAYS_TRUE, X, X, ALWAYS_TRUE],
    [X, ALWAYS_TRUE, X, ALWAYS_TRUE],
    [ALWAYS_TRUE, ALWAYS_FALSE, ALWAYS_FALSE, ALWAYS_TRUE],
    [ALWAYS_FALSE, ALWAYS_TRUE, ALWAYS_FALSE, ALWAYS_TRUE],
    [ALWAYS_TRUE, ALWAYS_TRUE, ALWAYS_TRUE, ALWAYS_TRUE],
    [ALWAYS_FALSE, ALWAYS_FALSE, ALWAYS_FALSE, ALWAYS_FALSE],
    // No other algebra: neither x and x nor x and not x.
    [X, X, { op: 'and', left: X, right: X }, { op: 'or', left: X, right: X }],
    [X, Y, { op: 'and', left: X, right: Y }, { op: 'or', left: X, right: Y }],
  ]
  for (const [left, right, and, or] of rows)
    it(`${left.op}, ${right.op}`, () => {
      assert.deepEqual(conjunction<Expression>(left, right), and)
      assert.deepEqual(disjunction<Expression>(left, right), or)
    })

  it('a side that is left is the same object', () => {
    assert.strictEqual(conjunction<Expression>(ALWAYS_TRUE, X), X)
    assert.strictEqual(disjunction<Expression>(X, ALWAYS_FALSE), X)
  })
})
