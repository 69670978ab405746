import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { bind } from '../../src/expressions/bind.ts'
import type { BoundExpression } from '../../src/expressions/bound-expression.ts'
import {
  alwaysFalse,
  alwaysTrue,
  and,
  bucket,
  equal,
  greaterThan,
  greaterThanOrEqual,
  isIn,
  isNan,
  isNull,
  lessThan,
  lessThanOrEqual,
  not,
  notEqual,
  notIn,
  notNan,
  notNull,
  notStartsWith,
  or,
  ref,
  startsWith,
  truncate,
} from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { rewriteNot } from '../../src/expressions/rewrite-not.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { thrown } from '../support/rejection.ts'

const a = equal('a', 1)
const b = equal('b', 2)
const c = isNull('c')
const schema = parseSchema({
  type: 'struct',
  fields: ['a', 'b', 'c'].map((name, id) => ({ id, name, required: false, type: 'int' })),
})

/** What is below AND and OR, from left to right; iterative, for trees of any depth. */
function leavesOf(root: Expression | BoundExpression): unknown[] {
  const leaves: unknown[] = []
  const pending = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop())
    if (node.op === 'and' || node.op === 'or') pending.push(node.right, node.left)
    else leaves.push(node)
  return leaves
}

function depthOf(node: Expression | BoundExpression): number {
  return node.op === 'and' || node.op === 'or' ? 1 + Math.max(depthOf(node.left), depthOf(node.right)) : 0
}

describe('boolean structure', () => {
  const simplified: [title: string, actual: Expression, expected: Expression][] = [
    ['false and x', and(alwaysFalse(), a), alwaysFalse()],
    ['x and false', and(a, alwaysFalse()), alwaysFalse()],
    ['true and x', and(alwaysTrue(), a), a],
    ['x and true', and(a, alwaysTrue()), a],
    ['true or x', or(alwaysTrue(), a), alwaysTrue()],
    ['x or true', or(a, alwaysTrue()), alwaysTrue()],
    ['false or x', or(alwaysFalse(), a), a],
    ['x or false', or(a, alwaysFalse()), a],
    ['not true', not(alwaysTrue()), alwaysFalse()],
    ['not false', not(alwaysFalse()), alwaysTrue()],
    ['not not x', not(not(a)), a],
    ['x and x: no other algebra', and(a, a), { op: 'and', left: a, right: a }],
    ['x or not x: no other algebra', or(a, not(a)), { op: 'or', left: a, right: { op: 'not', child: a } }],
    ['one operand', and(a), a],
    ['no operand of and', and(), alwaysTrue()],
    ['no operand of or', or(), alwaysFalse()],
  ]
  for (const [title, actual, expected] of simplified)
    it(`R11.21: ${title}`, () => {
      assert.deepEqual(actual, expected)
    })

  it('B117: every operand counts, in order', () => {
    const operands = [a, b, c, equal('a', 4), equal('b', 5)]
    assert.deepEqual(leavesOf(and(...operands)), operands)
    assert.deepEqual(leavesOf(or(...operands)), operands)
  })

  const negations: [Expression, Expression][] = [
    [isNull('x'), notNull('x')],
    [isNan('x'), notNan('x')],
    [lessThan('x', 1), greaterThanOrEqual('x', 1)],
    [lessThanOrEqual('x', 1), greaterThan('x', 1)],
    [equal('x', 1), notEqual('x', 1)],
    [isIn('x', [1, 2]), notIn('x', [1, 2])],
    [startsWith('x', 'a'), notStartsWith('x', 'a')],
    [equal(bucket(4, 'x'), 1), notEqual(bucket(4, 'x'), 1)],
    [alwaysTrue(), alwaysFalse()],
  ]
  for (const [one, other] of negations) {
    it(`R11.22: not ${one.op}`, () => {
      assert.deepEqual(rewriteNot({ op: 'not', child: one }), other)
    })
    it(`R11.22: not ${other.op}`, () => {
      assert.deepEqual(rewriteNot({ op: 'not', child: other }), one)
    })
  }

  const notC = notNull('c')
  const rewritten: [title: string, actual: Expression, expected: Expression][] = [
    ['x', a, a],
    ['not (x and y)', not(and(a, c)), or(notEqual('a', 1), notC)],
    ['not (x or y)', not(or(a, c)), and(notEqual('a', 1), notC)],
    ['not (x and not y)', not(and(a, not(c))), or(notEqual('a', 1), c)],
    ['x or not (y or not z)', or(a, not(or(b, not(c)))), or(a, and(notEqual('b', 2), c))],
    ['not not x', { op: 'not', child: { op: 'not', child: a } }, a],
    ['constants go', { op: 'and', left: a, right: { op: 'not', child: { op: 'false' } } }, a],
  ]
  for (const [title, actual, expected] of rewritten)
    it(`R11.22, B112: ${title}`, () => {
      assert.deepEqual(rewriteNot(actual), expected)
    })

  it('R11.22: what no NOT concerns stays the same object', () => {
    const result = rewriteNot(or(a, not(b)))
    assert.isTrue(result.op === 'or' && result.left === a)
  })

  it('R11.22a: NOT (a < 5) is false for null, as a >= 5 is', () => {
    assert.deepEqual(rewriteNot(not(lessThan('a', 5))), greaterThanOrEqual('a', 5))
  })

  it('R11.20: a node that is no part of a filter', () => {
    for (const node of [{ op: 'count', term: ref('a') }, {}, { op: 'toString' }]) {
      const error = thrown(() => rewriteNot(and(a, node as unknown as Expression)))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
      assert.match(error.message, /is no operation of a filter/)
    }
  })

  for (const [title, op] of [
    ['ANDs', 'and'],
    ['ORs', 'or'],
  ] as const) {
    const terms = Array.from({ length: 20_000 }, (_, i) => equal('a', i))
    it(`B126: 20,000 ${title} that lean to the left`, () => {
      const tree = terms.reduce<Expression>((left, right) => ({ op, left, right }), terms[0])
      assert.equal(depthOf(bind(tree, schema)), 15)
      assert.deepEqual(leavesOf(rewriteNot(tree)), [terms[0], ...terms])
    })
    it(`B126: 20,000 ${title} that lean to the right`, () => {
      const tree = terms.reduceRight<Expression>((right, left) => ({ op, left, right }), b)
      assert.equal(depthOf(bind(tree, schema)), 15)
      assert.deepEqual(leavesOf(rewriteNot(tree)), [...terms, b])
    })
    it(`B126: 20,000 ${title} in a call, and negated`, () => {
      const tree = op === 'and' ? and(...terms) : or(...terms)
      assert.equal(depthOf(tree), 15)
      assert.lengthOf(leavesOf(bind(not(tree), schema)), 20_000)
    })
  }

  it('B126: 20,000 NOTs', () => {
    let tree: Expression = a
    for (let i = 0; i < 20_000; i++) tree = { op: 'not', child: tree }
    assert.equal(rewriteNot(tree), a)
  })

  it('B126: AND and OR may take turns 500 times', () => {
    const nested = (turns: number): Expression => {
      let tree: Expression = a
      for (let i = 0; i < turns; i++) tree = { op: i % 2 === 0 ? 'and' : 'or', left: b, right: tree }
      return tree
    }
    assert.equal(depthOf(bind(nested(500), schema)), 500)
    assert.match(thrown(() => bind(nested(502), schema)).message, /nested in each other more than 500 times/)
    assert.match(thrown(() => bind(nested(50_000), schema)).message, /more than 500 times/)
  })

  it('terms', () => {
    assert.deepEqual(equal(ref('x'), 1), equal('x', 1))
    assert.deepEqual(truncate(3, 'x'), { name: 'x', transform: { kind: 'truncate', width: 3 } })
    for (const parameter of [0, -1, 1.5, NaN, 2 ** 31])
      for (const build of [bucket, truncate]) {
        const error = thrown(() => build(parameter, 'x'))
        assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'))
        assert.match(error.message, /its parameter must be 1 to 2147483647/)
      }
  })
})
