/** Expressions as text: their look, and that the text means what the tree means. */
import { assert } from 'chai'
import fc from 'fast-check'
import {
  and,
  bucket,
  equal,
  greaterThan,
  isIn,
  isNull,
  lessThan,
  not,
  notNan,
  notStartsWith,
  or,
  startsWith,
  truncate,
  year,
} from '../../src/expressions/builders.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE, type Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import { parseFilter } from '../../src/expressions/parse-filter.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { canonical, expressions } from './random-expressions.ts'

const A = equal('a', 1)
const B = equal('b', 2)
const C = equal('c', 3)
const D = equal('d', 4)

const ROWS: readonly [expected: string, expression: Expression, why: string][] = [
  ['true', ALWAYS_TRUE, 'what a residual is when nothing is left'],
  ['false', ALWAYS_FALSE, 'its opposite'],
  ['a = 1 AND b = 2 AND c = 3 AND d = 4', and(A, B, C, D), 'a chain needs no parentheses'],
  [
    'a = 1 AND b = 2 AND c = 3',
    { op: 'and', left: A, right: and(B, C) },
    'nor does one that leans to the right',
  ],
  ['a = 1 AND b = 2 OR c = 3', or(and(A, B), C), 'AND binds more than OR'],
  ['a = 1 AND (b = 2 OR c = 3)', and(A, or(B, C)), 'and OR less'],
  ['NOT a = 1 AND b = 2', and(not(A), B), 'NOT binds most'],
  ['NOT (a = 1 AND b = 2)', not(and(A, B)), 'and takes no chain without them'],
  ['NOT NOT a = 1', { op: 'not', child: not(A) }, 'not simplified'],
  ["year(ts) = LONG '2026'", equal(year('ts'), 2026n), 'not the calendar year: the parser asks to say so'],
  ['a < 5.0', lessThan('a', { kind: 'double', value: 5 }), 'a double is no whole number'],
  ['a < 1e+300', lessThan('a', 1e300), 'nor is one with an exponent'],
  ['a < -0.0', lessThan('a', { kind: 'double', value: -0 }), 'its sign stays'],
  ["a > DOUBLE '-Infinity'", greaterThan('a', -Infinity), 'there is no plain text for it'],
  ["a = 'it''s'", equal('a', "it's"), 'a quote is doubled'],
  ["a = X'00FF'", equal('a', Uint8Array.of(0, 255)), 'bytes in hex'],
  ["a = DATE '2026-10-28'", equal('a', { kind: 'date', value: 20_754 }), 'typed, as SQL does'],
  ["a = TIME '12:30:00'", equal('a', { kind: 'time', value: 45_000_000_000n }), 'no fraction of zeros'],
  ["a = TIMESTAMP '1970-01-01T00:00:00.1'", equal('a', { kind: 'timestamp', value: 100_000n }), 'tenths'],
  ["a = TIMESTAMPTZ '1970-01-01T00:00:00+00:00'", equal('a', new Date(0)), 'in UTC'],
  [
    "a = TIMESTAMP_NS '1969-12-31T23:59:59.999999999'",
    equal('a', { kind: 'timestamp_ns', value: -1n }),
    'nine digits',
  ],
  ["a = DECIMAL '-0.05'", equal('a', { kind: 'decimal', value: -5n, scale: 2 }), 'at its own scale'],
  ["a = DECIMAL '5E+2'", equal('a', { kind: 'decimal', value: 5n, scale: -2 }), 'a scale below zero'],
  ["a = DECIMAL '5E-1000000'", equal('a', { kind: 'decimal', value: 5n, scale: 1e6 }), 'not a million zeros'],
  ['a IN (1, true)', isIn('a', [1, true]), 'values as they come'],
  ['a IN ()', isIn('a', []), 'even none'],
  ["a LIKE 'x%'", startsWith('a', 'x'), 'what every dialect reads'],
  ["a NOT LIKE '%'", notStartsWith('a', ''), 'the empty prefix'],
  ["a STARTS WITH '5%'", startsWith('a', '5%'), 'no escapes, which dialects read in different ways'],
  ["a NOT STARTS WITH 'x_\\'", notStartsWith('a', 'x_\\'), 'the same'],
  ['x.y IS NULL', isNull('x.y'), 'plain names as they are'],
  ['größe IS NOT NAN', notNan('größe'), 'in any script'],
  ['"two words"."in" IS NULL', isNull('two words.in'), 'quotes where a part needs them'],
  ['"a""b" IS NULL', isNull('a"b'), 'a quote is doubled'],
  ['"a..b" IS NULL', isNull('a..b'), 'a name with points that join nothing'],
  ['bucket(16, id) = 3', equal(bucket(16, 'id'), 3), 'the parameter first'],
  ['truncate(2, "a b") = 3', equal(truncate(2, 'a b'), 3), 'the same'],
  ['year(ts) = 56', equal(year('ts'), 56), 'years since 1970 (R11.18)'],
  ['a = 1', equal({ name: 'a', transform: { kind: 'identity' } }, 1), 'identity is the column (R11.18)'],
]

describe('format expression', () => {
  for (const [expected, expression, why] of ROWS)
    it(`${expected}: ${why}`, () => {
      assert.equal(formatExpression(expression), expected)
    })

  it(`the text of a random tree is read as the same tree ${WITH_SEED}`, () => {
    fc.assert(
      fc.property(expressions(), (expression) => {
        const text = formatExpression(expression)
        const read = parseFilter(text)
        assert.deepEqual(read, canonical(expression), text)
        assert.equal(formatExpression(read), formatExpression(canonical(expression)))
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  it(`no parenthesis is too many: without a pair the text means something else ${WITH_SEED}`, () => {
    fc.assert(
      fc.property(expressions(), (expression) => {
        const simplified = canonical(expression)
        const text = formatExpression(simplified)
        for (const shorter of withoutOnePair(text))
          assert.notDeepEqual(parseFilter(shorter), simplified, text)
      }),
      { seed: SEED, numRuns: 200 },
    )
  })

  it('a chain of 100,000 terms that leans to one side', () => {
    let chain: Expression = A
    for (let i = 1; i < 100_000; i++) chain = { op: 'and', left: chain, right: A }
    assert.equal(formatExpression(chain), Array.from({ length: 100_000 }, () => 'a = 1').join(' AND '))
  })
})

/** The text without each pair of parentheses that is around a condition, one at a time; none stands in a value. */
function* withoutOnePair(text: string): Generator<string> {
  const open: number[] = []
  for (const { 0: token, index } of text.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]/g)) {
    if (token === '(') open.push(index)
    if (token !== ')') continue
    const start = open.pop()!
    const isList = /(?:IN |bucket|truncate|year|month|day|hour)$/.test(text.slice(0, start))
    if (!isList) yield `${text.slice(0, start)} ${text.slice(start + 1, index)} ${text.slice(index + 1)}`
  }
}
