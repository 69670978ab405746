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

const NOT_OF_KIND = 'its value is not of that kind'

/** Literals that no builder makes, and the whole error. */
const LITERALS: readonly [literal: object, message: string][] = [
  [{ kind: 'long', value: 5 }, `Cannot filter by the "long" literal 5: ${NOT_OF_KIND}`],
  [{ kind: 'int', value: '5' }, `Cannot filter by the "int" literal "5": ${NOT_OF_KIND}`],
  [{ kind: 'int', value: 1.5 }, `Cannot filter by the "int" literal 1.5: ${NOT_OF_KIND}`],
  [{ kind: 'decimal', value: 5n }, `Cannot filter by the "decimal" literal 5: ${NOT_OF_KIND}`],
  [{ kind: 'binary', value: [1] }, `Cannot filter by the "binary" literal an array: ${NOT_OF_KIND}`],
  [{ kind: 'other', value: 1 }, `Cannot filter by the "other" literal 1: ${NOT_OF_KIND}`],
  [{ kind: 'double', value: NaN }, 'Cannot filter by NaN: no value equals it; test for it with isNan'],
  [
    { kind: 'float', value: 0.1 },
    'Cannot use filter: 0.1 is no float of 32 bits; the nearest is 0.10000000149011612',
  ],
]

const OUT_OF_RANGE = 'and its parameter must be a number from 1 to 2147483647'

const TRANSFORMS: readonly [transform: object, message: string][] = [
  [{ kind: 'truncate', width: 0 }, `is truncate by 0, ${OUT_OF_RANGE}`],
  [{ kind: 'truncate', width: 2 ** 31 }, `is truncate by 2147483648, ${OUT_OF_RANGE}`],
  [{ kind: 'truncate', width: 1.5 }, `is truncate by 1.5, ${OUT_OF_RANGE}`],
  [{ kind: 'truncate' }, `is truncate by missing, ${OUT_OF_RANGE}`],
  [{ kind: 'bucket', numBuckets: '16' }, `is bucket by "16", ${OUT_OF_RANGE}`],
  [{ kind: 'bucket', numBuckets: 0 }, `is bucket by 0, ${OUT_OF_RANGE}`],
  [{ kind: 'zorder' }, 'is of no kind "zorder"'],
  [{ kind: 'toString' }, 'is of no kind "toString"'],
]

describe('expressions that come as objects', () => {
  for (const [given, message] of ROWS)
    it(`${JSON.stringify(given)}: ${message}`, () => {
      const error = thrown(() => toExpression(given as Filter))
      assert.instanceOf(error, InvalidArgumentError)
      assert.equal(error.message, `Cannot use filter: ${message}`)
    })

  for (const [literal, message] of LITERALS)
    it(message, () => {
      const term = { name: 'a' }
      for (const given of [
        { op: 'eq', term, literal },
        { op: 'in', term, literals: [{ kind: 'int', value: 1 }, literal] },
      ]) {
        const error = thrown(() => toExpression(given as Filter))
        assert.instanceOf(error, InvalidArgumentError)
        assert.equal(error.message, message)
      }
    })

  for (const [transform, message] of TRANSFORMS)
    it(`the transform ${JSON.stringify(transform)} ${message}`, () => {
      const error = thrown(() => toExpression({ op: 'is-null', term: { name: 'a', transform } } as Filter))
      assert.instanceOf(error, InvalidArgumentError)
      assert.equal(error.message, `Cannot use filter: the transform of "a" ${message}`)
    })

  it('a hole in a list is no literal', () => {
    const literals = new Array<unknown>(1)
    const error = thrown(() => toExpression({ op: 'in', term: { name: 'a' }, literals } as unknown as Filter))
    assert.equal(error.message, 'Cannot use filter: "in" has no list of literals')
  })

  it('a million nodes and no more, be they the same ones again and again', () => {
    let shared: Filter = { op: 'true' }
    for (let i = 0; i < 18; i++) shared = { op: 'and', left: shared, right: shared }
    assert.strictEqual(toExpression(shared), shared)
    for (let i = 0; i < 42; i++) shared = { op: 'and', left: shared, right: shared }
    const cycle: Record<string, unknown> = { op: 'not' }
    cycle.child = cycle
    for (const given of [shared, cycle]) {
      const error = thrown(() => toExpression(given as Filter))
      assert.instanceOf(error, InvalidArgumentError)
      assert.equal(error.message, 'Cannot use filter: it has more than 1000000 nodes, or contains itself')
    }
  })

  it('ten million values in lists and no more', () => {
    const literals = Array.from({ length: 100_000 }, () => ({ kind: 'int', value: 1 }))
    let shared: unknown = { op: 'in', term: { name: 'a' }, literals }
    for (let i = 0; i < 7; i++) shared = { op: 'or', left: shared, right: shared }
    const error = thrown(() => toExpression(shared as Filter))
    assert.equal(error.message, 'Cannot use filter: its lists have more than 10000000 values')
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
