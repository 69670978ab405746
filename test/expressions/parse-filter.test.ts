/** Filter texts: what each means, and how each of the wrong ones is refused. */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import {
  and,
  bucket,
  day,
  equal,
  greaterThan,
  greaterThanOrEqual,
  hour,
  isIn,
  isNan,
  isNull,
  lessThan,
  lessThanOrEqual,
  month,
  not,
  notEqual,
  notIn,
  notNan,
  notNull,
  notStartsWith,
  or,
  startsWith,
  truncate,
  year,
} from '../../src/expressions/builders.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE, type Expression } from '../../src/expressions/expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import { formatJson } from '../../src/metadata/lossless-json.ts'
import { parseFilter } from '../../src/expressions/parse-filter.ts'
import { toExpression, type Filter } from '../../src/expressions/to-expression.ts'

/** Whole numbers of a text are longs, as bigints are to builders. */
const A = equal('a', 1n)
const B = equal('b', 2n)
const C = equal('c', 3n)

type Row = [text: string, expected: Expression]

/** Checked against PyIceberg 0.12, whose parser gives the same for each. */
const LIKE_PYICEBERG: readonly Row[] = [
  ['foo = 5', equal('foo', 5n)],
  ['foo == 5', equal('foo', 5n)],
  ["foo != 'x'", notEqual('foo', 'x')],
  ['foo <> 5', notEqual('foo', 5n)],
  ['foo < +5', lessThan('foo', 5n)],
  ['foo <= -5', lessThanOrEqual('foo', -5n)],
  ['foo > 5', greaterThan('foo', 5n)],
  ['foo >= 5', greaterThanOrEqual('foo', 5n)],
  ['5 < foo', greaterThan('foo', 5n)],
  ['5 >= foo', lessThanOrEqual('foo', 5n)],
  ['TRUE = foo', equal('foo', true)],
  ['foo = FALSE', equal('foo', false)],
  ['true', ALWAYS_TRUE],
  ['FALSE', ALWAYS_FALSE],
  ['foo is null', isNull('foo')],
  ['foo IS NOT NULL', notNull('foo')],
  ['foo is nan', isNan('foo')],
  ['FOO IS NOT NAN', notNan('FOO')],
  ['foo in (1, 2)', isIn('foo', [1n, 2n])],
  ["foo in ('a','b''c')", isIn('foo', ['a', "b'c"])],
  ['foo not in (1,2)', notIn('foo', [1n, 2n])],
  ['foo between 1 and 5', and(greaterThanOrEqual('foo', 1n), lessThanOrEqual('foo', 5n))],
  ['foo between 1 and 5 and b = 2', and(greaterThanOrEqual('foo', 1n), lessThanOrEqual('foo', 5n), B)],
  ["foo like 'data%'", startsWith('foo', 'data')],
  ["foo like 'data'", equal('foo', 'data')],
  ["foo not like 'data%'", notStartsWith('foo', 'data')],
  ["foo not like 'data'", notEqual('foo', 'data')],
  ["foo like 'dat\\%a%'", startsWith('foo', 'dat%a')],
  ["foo like 'dat\\%'", equal('foo', 'dat%')],
  ["foo like '%'", startsWith('foo', '')],
  ["foo = ''", equal('foo', '')],
  ["foo = 'it''s'", equal('foo', "it's")],
  ['a = 1 and b = 2 or c = 3', or(and(A, B), C)],
  ['a = 1 or b = 2 and c = 3', or(A, and(B, C))],
  ['not a = 1 and b = 2', and(not(A), B)],
  ['not (a = 1 or b = 2)', not(or(A, B))],
  ['not not a = 1', A],
  ['((a = 1) and (b = 2))', and(A, B)],
  ['"foo bar" = 1', equal('foo bar', 1n)],
  ['"x"."y" = 1', equal('x.y', 1n)],
  ['x.y.z = 1', equal('x.y.z', 1n)],
  ['x . in = 1', equal('x.in', 1n)],
  ['foo_1$ = 1', equal('foo_1$', 1n)],
  ['_x = 1', equal('_x', 1n)],
  ['nan = 1', equal('nan', 1n)],
  ["date = '2026-10-28'", equal('date', '2026-10-28')],
  ['year = 2017', equal('year', 2017n)],
  ['  a = 1\n\tAND b = 2 ', and(A, B)],
  ['a = 9223372036854775807', equal('a', 2n ** 63n - 1n)],
]

const OURS: readonly Row[] = [
  ['foo NOT BETWEEN 1 AND 5', or(lessThan('foo', 1n), greaterThan('foo', 5n))],
  ["foo STARTS WITH 'a%_\\'", startsWith('foo', 'a%_\\')],
  ["foo Not Starts With 'a'", notStartsWith('foo', 'a')],
  ["foo LIKE 'a\\_b\\%%'", startsWith('foo', 'a_b%')],
  ["starts STARTS WITH 'a'", startsWith('starts', 'a')],
  ['foo IN ()', isIn('foo', [])],
  ["foo IN (1, 'x', TRUE)", isIn('foo', [1n, 'x', true])],
  ['`foo bar` = 1', equal('foo bar', 1n)],
  ['"a.b" = 1', equal('a.b', 1n)],
  ['"a""b".`c``d` = 1', equal('a"b.c`d', 1n)],
  ['größe = 1', equal('größe', 1n)],
  ['"in" = 1', equal('in', 1n)],
  ['bucket(16, id) = 3', equal(bucket(16, 'id'), 3n)],
  ['BUCKET (16, x.id) IN (3, 4)', isIn(bucket(16, 'x.id'), [3n, 4n])],
  ["truncate(3, name) LIKE 'abc%'", startsWith(truncate(3, 'name'), 'abc')],
  ['year(ts) > 56', greaterThan(year('ts'), 56n)],
  ['680 <= month(ts)', greaterThanOrEqual(month('ts'), 680n)],
  ["day(ts) = DATE '2026-10-28'", equal(day('ts'), { kind: 'date', value: 20_754 })],
  ['hour(ts) IS NULL', isNull(hour('ts'))],
  ["year(ts) = LONG '2026'", equal(year('ts'), 2026n)],
  ["5 = LONG_COLUMN AND a = LONG '-5'", and(equal('LONG_COLUMN', 5n), equal('a', -5n))],
  ['bucket = 1 AND day = 2', and(equal('bucket', 1n), equal('day', 2n))],
  ['TRUE AND a = 1', A],
  ['NOT TRUE OR a = 1', A],
]

/** What stands after `a = `. */
const VALUES: readonly [text: string, expected: Literal][] = [
  ['1.5', { kind: 'double', value: 1.5 }],
  ['1.50', { kind: 'double', value: 1.5 }],
  ['-.5', { kind: 'double', value: -0.5 }],
  ['5.', { kind: 'double', value: 5 }],
  ['1e3', { kind: 'double', value: 1000 }],
  ['-0.0', { kind: 'double', value: -0 }],
  ['1.7976931348623157E+308', { kind: 'double', value: Number.MAX_VALUE }],
  ['9007199254740993', { kind: 'long', value: 9_007_199_254_740_993n }],
  ['-9223372036854775808', { kind: 'long', value: -(2n ** 63n) }],
  ['9223372036854775808', { kind: 'decimal', value: 2n ** 63n, scale: 0 }],
  ["X'00fF'", { kind: 'binary', value: Uint8Array.of(0, 255) }],
  ["x''", { kind: 'binary', value: new Uint8Array() }],
  ["DATE '1969-12-31'", { kind: 'date', value: -1 }],
  ["TIME '12:30:00.000001'", { kind: 'time', value: 45_000_000_001n }],
  ["TIMESTAMP '1970-01-01 00:00:01'", { kind: 'timestamp', value: 1_000_000n }],
  ["timestamp '1970-01-01T00:00:01.5'", { kind: 'timestamp', value: 1_500_000n }],
  ["TIMESTAMPTZ '1970-01-01T01:00:00+01:00'", { kind: 'timestamptz', value: 0n }],
  ["TIMESTAMP_NS '1970-01-01T00:00:00.123456789'", { kind: 'timestamp_ns', value: 123_456_789n }],
  ["TIMESTAMPTZ_NS '1970-01-01T00:00:00.123456789Z'", { kind: 'timestamptz_ns', value: 123_456_789n }],
  ["DECIMAL '12.50'", { kind: 'decimal', value: 1250n, scale: 2 }],
  ["DECIMAL '1e3'", { kind: 'decimal', value: 1n, scale: -3 }],
  ["DOUBLE '0.10000000000000000001'", { kind: 'double', value: 0.1 }],
  ["DOUBLE '-Infinity'", { kind: 'double', value: -Infinity }],
  [
    "UUID 'F79C3E09-677C-4BBD-A479-3F349CB785E7'",
    { kind: 'uuid', value: 'f79c3e09-677c-4bbd-a479-3f349cb785e7' },
  ],
]

const OPERATOR = 'an operator (such as =, <, IN, BETWEEN, LIKE or IS NULL)'
const FILTER_MARK = '^'

/** `^` marks the column that the message names; it is not part of the text. */
const REFUSED: readonly [marked: string, why: string][] = [
  ['^', 'expected a condition, found the end'],
  ['  ^', 'expected a condition, found the end'],
  ['^AND', 'expected a condition, found AND'],
  ['a = 1 AND ^', 'expected a condition, found the end'],
  ['a = ^', 'expected a value, found the end'],
  ['a = ^)', 'expected a value, found )'],
  ['a = 1 ^b', 'expected AND, OR or the end, found b'],
  ['a = 1^)', 'expected AND, OR or the end, found )'],
  ['(a = 1^', 'expected AND, OR or ")", found the end'],
  ['a ^5', `expected ${OPERATOR}, found 5`],
  ['a NOT ^= 5', `expected ${OPERATOR}, found =`],
  ['5 ^', `expected ${OPERATOR}, found the end`],
  ['1 = ^1', 'expected a column, found 1'],
  ['1 < a ^< 5', 'expected AND, OR or the end, found <'],
  ['a IS ^5', 'expected NOT, NULL or NAN, found 5'],
  ['a IS NOT ^5', 'expected NULL or NAN, found 5'],
  ['a IN ^1', 'expected "(", found 1'],
  ['a IN (1 ^2)', 'expected "," or ")", found 2'],
  ['a IN (1, ^)', 'expected a value, found )'],
  ['a BETWEEN 1 ^OR 2', 'expected AND, found OR'],
  ['a LIKE ^5', 'expected a text in single quotes, found 5'],
  ["a STARTS ^'x'", "expected WITH, found 'x'"],
  ['bucket(^id, 16) = 1', 'expected a whole number, found id'],
  ['bucket(^0, id) = 1', 'the parameter of a transform must be 1 to 2147483647'],
  ['truncate(^2147483648, id) = 1', 'the parameter of a transform must be 1 to 2147483647'],
  ['year(^3) = 1', 'expected a column, found 3'],
  [
    'year(ts) = ^2026',
    "year gives years since 1970 (2026 is 56): compare the column itself with a date or timestamp, or write LONG '2026' to mean that",
  ],
  [
    '^11 = month(ts)',
    "month gives months since January 1970 (January 2026 is 672): compare the column itself with a date or timestamp, or write LONG '11' to mean that",
  ],
  [
    'hour(ts) IN (480000, ^23)',
    "hour gives hours since 1970-01-01T00:00: compare the column itself with a date or timestamp, or write LONG '23' to mean that",
  ],
  [
    'day(ts) BETWEEN 20000 AND ^31',
    "day gives days since 1970-01-01: compare the column itself with a date or timestamp, or write LONG '31' to mean that",
  ],
  ["a = LONG ^'x'", '"x" is no LONG: write a whole number'],
  ['^lower(a) = 1', 'lower is no function of filters; they are bucket, truncate, year, month, day and hour'],
  ['active^', 'a column alone is no condition: compare it, as in "active = TRUE"'],
  ['(active^)', 'a column alone is no condition: compare it, as in "active = TRUE"'],
  ['NOT active ^AND a = 1', 'a column alone is no condition: compare it, as in "active = TRUE"'],
  ['a = ^b', 'expected a value, found the name b: a text stands in single quotes'],
  ['a = ^"eu"', 'expected a value, found the name eu: a text stands in single quotes'],
  ['a = ^NULL', 'nothing equals null: test for it with IS NULL or IS NOT NULL'],
  ['a IN (1, ^null)', 'nothing equals null: test for it with IS NULL or IS NOT NULL'],
  ['a = ^Infinity', "infinity is written DOUBLE 'Infinity'"],
  ['a < ^inf', "infinity is written DOUBLE 'Infinity'"],
  ['a IS ^TRUE', 'IS tests for NULL and NAN only: compare, as in "active = TRUE"'],
  ['a IS NOT ^false', 'IS tests for NULL and NAN only: compare, as in "active = FALSE"'],
  ['a != ^NaN', 'nothing equals NaN: test for it with IS NAN or IS NOT NAN'],
  ["a LIKE ^'a%b'", 'LIKE takes % only at the end of a pattern; for itself it is \\%'],
  ["a LIKE ^'%\\%'", 'LIKE takes % only at the end of a pattern; for itself it is \\%'],
  ["a LIKE ^'a_b'", 'LIKE takes no _ for any character; for itself it is \\_'],
  ["a LIKE ^'a\\b'", 'LIKE takes a backslash only before % or _; try = or STARTS WITH'],
  ["a LIKE ^'a\\\\%'", 'LIKE takes a backslash only before % or _; try = or STARTS WITH'],
  [
    'a = ^12345678901234567.89',
    "12345678901234567.89 is no double exactly: write DECIMAL '...' or DOUBLE '...', as the type of the column is",
  ],
  [
    'a = ^1e999',
    "1e999 is beyond the doubles, which end at 1.7976931348623157e+308: infinity is DOUBLE 'Infinity'",
  ],
  [
    'a = ^-1e400',
    "-1e400 is beyond the doubles, which end at 1.7976931348623157e+308: infinity is DOUBLE '-Infinity'",
  ],
  [
    "a = DOUBLE ^'1e400'",
    "1e400 is beyond the doubles, which end at 1.7976931348623157e+308: infinity is DOUBLE 'Infinity'",
  ],
  [
    'a = ^1e-999',
    "1e-999 is no double exactly: write DECIMAL '...' or DOUBLE '...', as the type of the column is",
  ],
  ['a = ^16abc', '16abc is no number'],
  ['a = ^1.2.3', '1.2.3 is no number'],
  ["a = ^X'0'", 'X takes an even number of hexadecimal digits'],
  ["a = ^X'zz'", 'X takes an even number of hexadecimal digits'],
  ["a = DATE ^'2026-02-29'", '"2026-02-29" is no DATE: write a date, as in "2026-10-28"'],
  ["a = TIME ^'12:30:00.0000001'", '"12:30:00.0000001" is no TIME: a time has six digits after the point'],
  [
    "a = TIMESTAMP ^'2026-10-28'",
    '"2026-10-28" is no TIMESTAMP: write a time too, as in "2026-10-28T00:00:00"',
  ],
  [
    "a = TIMESTAMP ^'2026-01-01T00:00:00Z'",
    "TIMESTAMP has no zone: write TIMESTAMPTZ '2026-01-01T00:00:00Z'",
  ],
  [
    "a = TIMESTAMP_NS ^'2026-01-01T00:00:00+01:00'",
    "TIMESTAMP_NS has no zone: write TIMESTAMPTZ_NS '2026-01-01T00:00:00+01:00'",
  ],
  [
    "a = TIMESTAMP ^'2026-10-28 12:30:00.123456789'",
    '"2026-10-28 12:30:00.123456789" is no TIMESTAMP: write TIMESTAMP_NS for nine digits',
  ],
  ["a = DECIMAL ^'x'", '"x" is no DECIMAL: write a number, as in 12.50'],
  ["a = DOUBLE ^'NaN'", '"NaN" is no DOUBLE: write a number or Infinity'],
  ["a = ^'x", "the ' that opens here never closes"],
  ['^"x', 'the " that opens here never closes'],
  ['a ^; b', '";" means nothing here'],
  ['a = ^😀', '"😀" means nothing here'],
]

describe('parse filter', () => {
  for (const [text, expected] of LIKE_PYICEBERG)
    it(`as PyIceberg: ${text}`, () => {
      assert.deepEqual(parseFilter(text), expected)
    })

  for (const [text, expected] of OURS)
    it(text, () => {
      assert.deepEqual(parseFilter(text), expected)
    })

  for (const [text, literal] of VALUES)
    it(`the value ${text}`, () => {
      assert.deepEqual(parseFilter(`a = ${text}`), { op: 'eq', term: { name: 'a' }, literal })
    })

  for (const [marked, why] of REFUSED)
    it(`refuses ${marked}`, () => {
      const column = marked.indexOf(FILTER_MARK) + 1
      const message = refusalOf(() => parseFilter(marked.replace(FILTER_MARK, '')))
      assert.equal(message, `Cannot parse filter at column ${column}: ${why}`)
    })

  it('names the line too where there are several', () => {
    const message = refusalOf(() => parseFilter('a = 1\nAND\n  b 5'))
    assert.include(message, 'at line 3, column 5: ')
  })

  it('shows only the beginning of long words', () => {
    const message = refusalOf(() => parseFilter(`a = 1 ${'x'.repeat(1e6)}`))
    assert.isBelow(message.length, 200)
  })
})

describe('parse filter: texts of any size', () => {
  it('100,000 values in a list', () => {
    const text = `a IN (${Array.from({ length: 100_000 }, (_, i) => i).join(', ')})`
    assert.isTrue(formatExpression(parseFilter(text)) === text)
  })

  it('50,000 terms of a chain become a tree of 16 levels', () => {
    const filter = parseFilter(Array.from({ length: 50_000 }, (_, i) => `a=${i}`).join(' OR '))
    assert.equal(depthOf(filter), 16)
  })

  it('500 parentheses in each other, and not one more', () => {
    assert.deepEqual(parseFilter(nested(500)), A)
    assert.include(
      refusalOf(() => parseFilter(nested(501))),
      'more than 500 parentheses are open here',
    )
    assert.include(
      refusalOf(() => parseFilter('('.repeat(100_000))),
      'at column 501',
    )
  })

  it('parentheses one after the other are not counted', () => {
    assert.equal(depthOf(parseFilter(Array.from({ length: 600 }, () => '(a = 1)').join(' OR '))), 10)
  })

  it('500 levels where AND, OR and NOT take turns', () => {
    const text = 'a=1 OR b=2 AND NOT ('.repeat(500) + 'c=3' + ')'.repeat(500)
    assert.equal(depthOf(parseFilter(text)), 1500)
  })

  it('100,000 times NOT', () => {
    assert.deepEqual(parseFilter('NOT '.repeat(100_001) + 'a = 1'), not(A))
  })

  it('numbers of more than 400 digits are refused unread', () => {
    const digits = '9'.repeat(1e6)
    assert.include(
      refusalOf(() => parseFilter(`a = ${digits}`)),
      'a number of 1000000 characters is too long',
    )
    assert.include(
      refusalOf(() => parseFilter(`a = DECIMAL '${digits}'`)),
      '1000000 characters are too many',
    )
  })

  for (const text of ["'", "a = '", 'a = "', 'a.', ' ', '+', "a LIKE '\\", '((a', 'a = 1 AND '])
    it(`${text.trim()} again and again is refused`, () => {
      refusalOf(() => parseFilter(text.repeat(30_001)))
    })
})

describe('filters of every form', () => {
  const FILTERS: readonly [what: string, filter: unknown, expected: Expression][] = [
    ['an expression', A, A],
    ['text', 'a = 1', A],
    ['JSON text', ' {"type": "eq", "term": "a", "value": 1}', A],
    [
      'JSON text with a number past 2^53, exactly',
      '{"type": "eq", "term": "a", "value": 9007199254740993}',
      equal('a', 9_007_199_254_740_993n),
    ],
    ['parsed JSON', { type: 'eq', term: 'a', value: 1 }, A],
    ['a JSON constant as text', 'true', ALWAYS_TRUE],
    ['a JSON constant', false, ALWAYS_FALSE],
  ]
  for (const [what, filter, expected] of FILTERS)
    it(what, () => {
      assert.deepEqual(toExpression(filter as Filter), expected)
    })

  const NO_FILTERS: readonly [filter: unknown, message: string][] = [
    [undefined, 'Cannot use filter: missing is no expression'],
    [null, 'Cannot use filter: null is no expression'],
    [5, 'Cannot use filter: 5 is no expression'],
    [[A], 'Cannot use filter: an array is no expression'],
    [{}, 'Cannot use filter: an object is no expression'],
    ['{"type":', 'Cannot parse filter as JSON: Unexpected end at offset 8 (line 1, column 9)'],
  ]
  for (const [filter, message] of NO_FILTERS)
    it(`refuses ${formatJson(filter)}`, () => {
      assert.equal(
        refusalOf(() => toExpression(filter as Filter)),
        message,
      )
    })
})

function nested(depth: number): string {
  return `${'('.repeat(depth)}a = 1${')'.repeat(depth)}`
}

function depthOf(expression: Expression): number {
  if (expression.op === 'not') return 1 + depthOf(expression.child)
  if (expression.op !== 'and' && expression.op !== 'or') return 0
  return 1 + Math.max(depthOf(expression.left), depthOf(expression.right))
}

function refusalOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (isIcebergError(error, 'ERR_INVALID_ARGUMENT')) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}
