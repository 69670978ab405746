/** Expression JSON (R11.25 to R11.27): both forms read, the term form written. */
import { assert } from 'chai'
import fc from 'fast-check'
import { isIcebergError } from '../../src/errors.ts'
import {
  and,
  bucket,
  day,
  equal,
  greaterThan,
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
  startsWith,
  truncate,
} from '../../src/expressions/builders.ts'
import { expressionFromJson, expressionToJson } from '../../src/expressions/expression-json.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE, type Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import { formatJson, parseJson } from '../../src/metadata/lossless-json.ts'
import type { JsonValue } from '../../src/types/value.ts'
import { thrown } from '../support/rejection.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { canonical, expressions } from './random-expressions.ts'

/** Whole numbers of JSON are longs (R11.27), as bigints are to builders. */
const A = equal('a', 1n)
const B = equal('b', 'x')
const A_JSON = { type: 'eq', term: 'a', value: 1 }
const B_JSON = { type: 'eq', term: 'b', value: 'x' }

/** Written and read alike. */
const BOTH_WAYS: readonly [json: JsonValue, expression: Expression][] = [
  [true, ALWAYS_TRUE],
  [false, ALWAYS_FALSE],
  [{ type: 'and', left: A_JSON, right: B_JSON }, and(A, B)],
  [{ type: 'or', left: A_JSON, right: B_JSON }, or(A, B)],
  [{ type: 'not', child: A_JSON }, not(A)],
  [{ type: 'is-null', term: 'a' }, isNull('a')],
  [{ type: 'not-null', term: 'a' }, notNull('a')],
  [{ type: 'is-nan', term: 'a' }, isNan('a')],
  [{ type: 'not-nan', term: 'a' }, notNan('a')],
  [{ type: 'lt', term: 'a', value: 1.5 }, lessThan('a', 1.5)],
  [{ type: 'lt-eq', term: 'a', value: true }, lessThanOrEqual('a', true)],
  [{ type: 'gt', term: 'a', value: 9_007_199_254_740_993n }, greaterThan('a', 9_007_199_254_740_993n)],
  [{ type: 'not-eq', term: 'a.b', value: 'x' }, notEqual('a.b', 'x')],
  [{ type: 'starts-with', term: 'a', value: 'x' }, startsWith('a', 'x')],
  [{ type: 'not-starts-with', term: 'a', value: 'x' }, notStartsWith('a', 'x')],
  [{ type: 'in', term: 'a', values: [1, 2] }, isIn('a', [1n, 2n])],
  [{ type: 'not-in', term: 'a', values: [] }, notIn('a', [])],
  [
    { type: 'eq', term: { type: 'transform', transform: 'bucket[16]', term: 'a' }, value: 3 },
    equal(bucket(16, 'a'), 3n),
  ],
  [
    { type: 'is-null', term: { type: 'transform', transform: 'truncate[4]', term: 'a' } },
    isNull(truncate(4, 'a')),
  ],
  [
    { type: 'in', term: { type: 'transform', transform: 'day', term: 'a' }, values: ['2026-10-28'] },
    isIn(day('a'), ['2026-10-28']),
  ],
]

const REFERENCE = { type: 'reference', name: 'a' }
const CATALOG = { catalog: 'iceberg_functions', identifier: ['bucket'] }

const READ: readonly [what: string, json: unknown, expression: Expression][] = [
  ['a literal for a constant (R11.25)', { type: 'literal', value: true }, ALWAYS_TRUE],
  ['a wrapped value (R11.26)', { type: 'eq', term: 'a', value: { type: 'literal', value: 1 } }, A],
  ['a reference (R11.26)', { type: 'eq', term: { type: 'reference', term: 'a' }, value: 1 }, A],
  [
    'a transform of a reference (R11.26)',
    {
      type: 'eq',
      term: { type: 'transform', transform: 'Bucket[16]', term: { type: 'reference', term: 'a' } },
      value: 1,
    },
    equal(bucket(16, 'a'), 1n),
  ],
  [
    'identity, which is the column (R11.18)',
    { type: 'eq', term: { type: 'transform', transform: 'identity', term: 'a' }, value: 1 },
    A,
  ],
  ['types in any case', { type: 'AND', left: { ...A_JSON, type: 'Eq' }, right: B_JSON }, and(A, B)],
  ['types with underscores', { type: 'LT_EQ', term: 'a', value: 1 }, lessThanOrEqual('a', 1n)],
  ['keys in any order', { value: 1, term: 'a', type: 'eq' }, A],
  ['keys that nobody knows', { ...A_JSON, comment: 'x' }, A],
  ['a number without fraction as a long', { type: 'eq', term: 'a', value: 1.0 }, A],
  ['a double beyond 64 bits', { type: 'lt', term: 'a', value: 10n ** 20n }, lessThan('a', 1e20)],
  [
    'an integer beyond 64 bits that no double is',
    { type: 'lt', term: 'a', value: 2n ** 64n },
    lessThan('a', { kind: 'decimal', value: 2n ** 64n, scale: 0 }),
  ],
  ['constants simplified (R11.21)', { type: 'and', left: true, right: A_JSON }, A],
  ['a double negation simplified (R11.21)', { type: 'not', child: { type: 'not', child: A_JSON } }, A],

  ['new form: a unary predicate', { type: 'is-null', child: REFERENCE }, isNull('a')],
  ['new form: a comparison', { type: 'lt', left: REFERENCE, right: 1 }, lessThan('a', 1n)],
  ['new form: the value on the left', { type: 'lt', left: 1, right: REFERENCE }, greaterThan('a', 1n)],
  ['new form: a text on the left', { type: 'eq', left: 'x', right: { ...REFERENCE, name: 'b' } }, B],
  [
    'new form: a value with its type',
    { type: 'lt', left: REFERENCE, right: { type: 'literal', value: '2026-10-28', 'data-type': 'date' } },
    lessThan('a', '2026-10-28'),
  ],
  [
    'new form: a list',
    { type: 'in', child: REFERENCE, values: [1, { type: 'literal', value: 2 }] },
    isIn('a', [1n, 2n]),
  ],
  [
    'new form: a list with its type',
    { type: 'not-in', child: REFERENCE, values: { type: 'literals', values: [1, 2], 'data-type': 'int' } },
    notIn('a', [1n, 2n]),
  ],
  ...['bucket', ['bucket'], { identifier: ['bucket'] }, CATALOG].map(
    (name): [string, unknown, Expression] => [
      `new form: the function ${JSON.stringify(name)}`,
      { type: 'eq', left: { type: 'apply', function: name, arguments: [16, REFERENCE] }, right: 1 },
      equal(bucket(16, 'a'), 1n),
    ],
  ),
  [
    'new form: a function without parameter, of a literal argument',
    {
      type: 'is-null',
      child: { type: 'apply', function: 'truncate', arguments: [{ type: 'literal', value: 4 }, REFERENCE] },
    },
    isNull(truncate(4, 'a')),
  ],
  [
    'new form: a function of the column alone',
    { type: 'is-null', child: { type: 'apply', function: 'day', arguments: [REFERENCE] } },
    isNull(day('a')),
  ],
]

const REFUSED: readonly [json: unknown, why: string][] = [
  [null, 'null is no expression'],
  [undefined, 'missing is no expression'],
  ['a', '"a" is no expression'],
  [[A_JSON], 'an array is no expression'],
  [{}, 'missing is no type of an expression'],
  [{ type: 'count' }, '"count" is no type of an expression'],
  [{ type: 'literal', value: 1 }, 'the literal 1 is no condition'],
  [{ type: 'and', left: A_JSON }, 'missing is no expression'],
  [{ type: 'not' }, 'missing is no expression'],
  [{ type: 'is-null', term: 'a', value: 1 }, '"is-null" takes no "value"'],
  [{ type: 'is-nan', term: 'a', values: [] }, '"is-nan" takes no "values"'],
  [{ type: 'eq', term: 'a', values: [1] }, '"eq" takes no "values"'],
  [{ type: 'in', term: 'a', value: 1 }, '"in" takes no "value"'],
  [{ type: 'eq', term: 'a' }, '"eq" needs a "value"'],
  [{ type: 'in', term: 'a' }, '"in" needs "values", which is missing'],
  [{ type: 'in', term: 'a', values: 5 }, '"in" needs "values", which is 5'],
  [{ type: 'eq', value: 5 }, '"eq" needs a "term" and a "value", or a "left" and a "right"'],
  [{ type: 'is-null' }, '"is-null" needs either a "term" or a "child"'],
  [{ type: 'is-null', term: 'a', child: REFERENCE }, '"is-null" needs either a "term" or a "child"'],
  [{ type: 'eq', term: 'a', value: null }, 'null is no value to compare with'],
  [{ type: 'eq', term: 'a', value: [1] }, 'an array is no value to compare with'],
  [{ type: 'in', term: 'a', values: [1, null] }, 'null is no value to compare with'],
  [
    { type: 'eq', left: REFERENCE, right: { type: 'literal', value: null } },
    'null is no value to compare with',
  ],
  [
    { type: 'eq', left: REFERENCE, right: REFERENCE },
    '"eq" compares two columns, and only values can be compared with',
  ],
  [{ type: 'eq', left: 1, right: 'a' }, '"a" is neither a reference nor a function of one'],
  [{ type: 'is-null', child: 'a' }, '"a" is neither a reference nor a function of one'],
  [{ type: 'starts-with', left: 'x', right: REFERENCE }, '"starts-with" needs a column on the left'],
  [{ type: 'is-null', term: 5 }, '5 is no term'],
  [{ type: 'is-null', term: { type: 'x' } }, '"x" is no type of a term'],
  [
    { type: 'is-null', term: { type: 'reference', id: 5 } },
    'a reference by id (5) is not understood, write its name',
  ],
  [{ type: 'is-null', term: { type: 'reference' } }, 'a reference needs the name of a column, not missing'],
  [{ type: 'is-null', term: { type: 'transform', transform: 'x[1]', term: 'a' } }, '"x[1]" is no transform'],
  [
    { type: 'is-null', term: { type: 'transform', transform: 'bucket[0]', term: 'a' } },
    '"bucket[0]" is no transform',
  ],
  [{ type: 'is-null', term: { type: 'transform', transform: 'day' } }, 'missing is no column'],
  [
    {
      type: 'is-null',
      term: { type: 'transform', transform: 'day', term: { type: 'transform', transform: 'day', term: 'a' } },
    },
    'a transform takes a column, and nothing that is made of one',
  ],
  [
    { type: 'is-null', child: { type: 'apply', function: 'if_else', arguments: [REFERENCE] } },
    '"if_else" is no transform',
  ],
  [
    {
      type: 'is-null',
      child: {
        type: 'apply',
        function: { catalog: 'sql_functions', identifier: ['day'] },
        arguments: [REFERENCE],
      },
    },
    'a function needs a "function" of Iceberg and its "arguments"',
  ],
]

describe('expression JSON', () => {
  for (const [json, expression] of BOTH_WAYS) {
    const text = formatJson(json)
    it(`written: ${text}`, () => {
      assert.equal(formatJson(expressionToJson(expression)), text)
    })
    it(`read: ${text}`, () => {
      assert.deepEqual(expressionFromJson(parseJson(text)), expression)
    })
  }

  for (const [what, json, expression] of READ)
    it(`read: ${what}`, () => {
      assert.deepEqual(expressionFromJson(json), expression)
    })

  for (const [json, why] of REFUSED)
    it(`refuses ${formatJson(json)}`, () => {
      assert.equal(refusalOf(json), `Cannot read expression JSON: ${why}`)
    })

  const LITERALS: readonly [expected: JsonValue, value: Parameters<typeof equal>[1]][] = [
    ['2026-10-28', { kind: 'date', value: 20_754 }],
    ['12:30:00.000000', { kind: 'time', value: 45_000_000_000n }],
    ['1970-01-01T00:00:00.000001', { kind: 'timestamp', value: 1n }],
    ['1970-01-01T00:00:00.000000+00:00', new Date(0)],
    ['1970-01-01T00:00:00.000000001', { kind: 'timestamp_ns', value: 1n }],
    ['12.50', { kind: 'decimal', value: 1250n, scale: 2 }],
    ['5E+2', { kind: 'decimal', value: 5n, scale: -2 }],
    ['5E-1000000', { kind: 'decimal', value: 5n, scale: 1e6 }],
    ['00FF', Uint8Array.of(0, 255)],
    ['f79c3e09-677c-4bbd-a479-3f349cb785e7', { kind: 'uuid', value: 'f79c3e09-677c-4bbd-a479-3f349cb785e7' }],
    [0.1, { kind: 'float', value: Math.fround(0.1) }],
    [5, 5],
  ]
  for (const [expected, value] of LITERALS)
    it(`writes ${formatJson(expected)} as a single value (R11.27)`, () => {
      assert.deepEqual(expressionToJson(equal('a', value)), { type: 'eq', term: 'a', value: expected })
    })

  it(`the JSON of a random tree is read as the same tree ${WITH_SEED}`, () => {
    fc.assert(
      fc.property(expressions('plain'), (expression) => {
        const text = formatJson(expressionToJson(expression))
        assert.deepEqual(expressionFromJson(parseJson(text)), canonical(withoutDoubleNots(expression)))
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  it('reads and writes chains of 20,000 terms that lean to one side', () => {
    const text = '{"type":"or","right":{"type":"eq","term":"a","value":1},"left":'
    const json = parseJson(`${text.repeat(19_999)}${formatJson(A_JSON)}${'}'.repeat(19_999)}`)
    const chain = or(...Array.from({ length: 20_000 }, () => A))
    assert.equal(formatExpression(expressionFromJson(json)), formatExpression(chain))
    let leaning: Expression = A
    for (let i = 1; i < 20_000; i++) leaning = { op: 'or', left: leaning, right: A }
    assert.equal(formatJson(expressionToJson(leaning)), formatJson(expressionToJson(chain)))
  })

  it('refuses AND and OR that take turns more than 500 times', () => {
    const turn = (inner: unknown, i: number): unknown => ({
      type: i % 2 === 0 ? 'and' : 'or',
      left: A_JSON,
      right: { type: 'not', child: inner },
    })
    let json: unknown = A_JSON
    for (let i = 0; i < 501; i++) json = turn(json, i)
    expressionFromJson(json)
    const why = 'Cannot read expression JSON: AND and OR are nested in each other more than 500 times'
    assert.equal(refusalOf(turn(json, 501)), why)
  })

  it('writes of any number of NOTs one or none, and no AND and OR that take turns more than 500 times', () => {
    const negated = (nots: number): Expression => {
      let tree: Expression = A
      for (let i = 0; i < nots; i++) tree = { op: 'not', child: tree }
      return tree
    }
    assert.deepEqual(expressionToJson(negated(200_000)), A_JSON)
    assert.deepEqual(expressionToJson(negated(200_001)), { type: 'not', child: A_JSON })
    const alternating = (turns: number): Expression => {
      let tree: Expression = A
      for (let i = 0; i < turns; i++) tree = { op: i % 2 === 0 ? 'and' : 'or', left: A, right: tree }
      return tree
    }
    expressionToJson(alternating(501))
    let chain: Expression = A
    for (let i = 0; i < 20_000; i++)
      chain = { op: 'and', left: A, right: { op: 'not', child: { op: 'not', child: chain } } }
    assert.deepEqual(
      expressionFromJson(expressionToJson(chain)),
      and(A, ...Array<Expression>(20_000).fill(A)),
    )
    for (const turns of [502, 20_000]) {
      const error = thrown(() => expressionToJson(alternating(turns)))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
      assert.equal(
        error.message,
        'Cannot write expression JSON: AND and OR are nested in each other more than 500 times',
      )
    }
  })

  it('refuses terms in terms, and takes any number of NOTs', () => {
    let term: unknown = 'a'
    let negated: unknown = A_JSON
    for (let i = 0; i < 100_000; i++) {
      term = { type: 'transform', transform: 'identity', term }
      negated = { type: 'not', child: negated }
    }
    refusalOf({ type: 'is-null', term })
    assert.deepEqual(expressionFromJson(negated), A)
  })
})

/** JSON is written so, and the chains on both sides of two NOTs are one. */
function withoutDoubleNots(expression: Expression): Expression {
  switch (expression.op) {
    case 'and':
    case 'or': {
      const { op, left, right } = expression
      return { op, left: withoutDoubleNots(left), right: withoutDoubleNots(right) }
    }
    case 'not': {
      const child = withoutDoubleNots(expression.child)
      return child.op === 'not' ? child.child : { op: 'not', child }
    }
    default:
      return expression
  }
}

function refusalOf(json: unknown): string {
  try {
    expressionFromJson(json)
  } catch (error) {
    if (isIcebergError(error, 'ERR_INVALID_ARGUMENT')) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}
