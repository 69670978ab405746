/** Random expressions, for round trips through text and JSON. */
import fc from 'fast-check'
import { and, not, or } from '../../src/expressions/builders.ts'
import type { Expression, Term } from '../../src/expressions/expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import type { Transform } from '../../src/types/transforms/transform.ts'

const names = fc.oneof(
  fc.constantFrom(
    'id',
    'region',
    'x.y',
    'größe',
    'Date',
    'in',
    'a.in',
    'two words',
    'x."y',
    '',
    '.a',
    'a..b',
    'a`b',
  ),
  fc.string({ unit: 'binary' }),
)

const transforms = fc.oneof(
  fc.constantFrom<Transform>({ kind: 'year' }, { kind: 'month' }, { kind: 'day' }, { kind: 'hour' }),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }).map((numBuckets): Transform => ({ kind: 'bucket', numBuckets })),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }).map((width): Transform => ({ kind: 'truncate', width })),
)

const terms: fc.Arbitrary<Term> = fc.oneof(
  { weight: 3, arbitrary: names.map((name) => ({ name })) },
  fc.record({ name: names, transform: transforms }),
)

const longs = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const doubles = fc.double({ noNaN: true })
const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom("it's", '5%', 'a_b', '\\', "''", '\n'))

/** Those whose JSON is of the same kind. */
const plainLiterals: fc.Arbitrary<Literal>[] = [
  fc.boolean().map((value) => ({ kind: 'boolean', value })),
  longs.map((value) => ({ kind: 'long', value })),
  doubles
    .filter((value) => Number.isFinite(value) && !Number.isInteger(value))
    .map((value) => ({ kind: 'double', value })),
  texts.map((value) => ({ kind: 'string', value })),
]

const allLiterals: fc.Arbitrary<Literal>[] = [
  ...plainLiterals,
  doubles.map((value) => ({ kind: 'double', value })),
  fc.integer().map((value) => ({ kind: 'int', value })),
  doubles.map((value) => ({ kind: 'float', value: Math.fround(value) })),
  fc.record({
    kind: fc.constant('decimal'),
    value: fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
    scale: fc.integer({ min: -50, max: 50 }),
  }),
  fc.integer().map((value) => ({ kind: 'date', value })),
  fc.bigInt({ min: 0n, max: 86_400_000_000n - 1n }).map((value) => ({ kind: 'time', value })),
  fc.record({
    kind: fc.constantFrom('timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns'),
    value: longs,
  }),
  fc.uuid().map((value) => ({ kind: 'uuid', value })),
  fc.record({ kind: fc.constantFrom('fixed', 'binary'), value: fc.uint8Array() }),
]

/** Trees of any shape without constants, and with every kind of literal, or only those that JSON keeps. */
export function expressions(literals: 'all' | 'plain' = 'all'): fc.Arbitrary<Expression> {
  const literal = fc.oneof(...(literals === 'all' ? allLiterals : plainLiterals))
  const predicates: fc.Arbitrary<Expression> = fc.oneof(
    fc.record({ op: fc.constantFrom('is-null', 'not-null', 'is-nan', 'not-nan'), term: terms }),
    fc.record({
      op: fc.constantFrom('lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq'),
      term: terms,
      literal,
    }),
    fc.record({
      op: fc.constantFrom('starts-with', 'not-starts-with'),
      term: terms,
      literal: texts.map((value): Literal => ({ kind: 'string', value })),
    }),
    fc.record({ op: fc.constantFrom('in', 'not-in'), term: terms, literals: fc.array(literal) }),
  )
  return fc.letrec<{ tree: Expression }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium' },
      predicates,
      fc.record({ op: fc.constantFrom('and', 'or'), left: tie('tree'), right: tie('tree') }),
      fc.record({ op: fc.constant('not'), child: tie('tree') }),
    ),
  })).tree
}

/** What reading gives: chains balanced, double negation gone (R11.21), and the kinds of literals that text has. */
export function canonical(expression: Expression): Expression {
  switch (expression.op) {
    case 'and':
      return and(...operandsOf(expression, 'and').map(canonical))
    case 'or':
      return or(...operandsOf(expression, 'or').map(canonical))
    case 'not':
      return not(canonical(expression.child))
    case 'in':
    case 'not-in':
      return { ...expression, literals: expression.literals.map(canonicalLiteral) }
    default:
      return 'literal' in expression
        ? { ...expression, literal: canonicalLiteral(expression.literal) }
        : expression
  }
}

function operandsOf(expression: Expression, op: 'and' | 'or'): Expression[] {
  return expression.op === op
    ? [...operandsOf(expression.left, op), ...operandsOf(expression.right, op)]
    : [expression]
}

function canonicalLiteral(literal: Literal): Literal {
  switch (literal.kind) {
    case 'int':
      return { kind: 'long', value: BigInt(literal.value) }
    case 'float':
      return { kind: 'double', value: literal.value }
    case 'fixed':
      return { kind: 'binary', value: literal.value }
    default:
      return literal
  }
}
