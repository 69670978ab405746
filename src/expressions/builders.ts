/**
 * Filters built by functions, for programs; people at a keyboard write text instead.
 *
 *     and(equal('region', 'eu'), greaterThan('amount', 500), notNull('customer.id'))
 *
 * Columns are dotted names or terms; values are JavaScript values, see {@link literalOf}. A filter keeps rows where it
 * is true, and null makes `notEqual`, `notIn` and `notStartsWith` true, unlike in SQL (R11.22a).
 */
import { InvalidArgumentError } from '../errors.ts'
import type { Transform } from '../types/transforms/transform.ts'
import { combineBalanced } from './combine-balanced.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type AlwaysFalse,
  type AlwaysTrue,
  type ComparisonOperation,
  type ComparisonPredicate,
  type Expression,
  type SetOperation,
  type SetPredicate,
  type Term,
  type UnaryOperation,
  type UnaryPredicate,
} from './expression.ts'
import { literalOf, type LiteralValue } from './literal-of.ts'
import { conjunction, disjunction } from './simplify.ts'

const MAX_INT = 2 ** 31 - 1

/** All of them; true if there is none. Constants are simplified away (R11.21), long lists become balanced trees. */
export function and(...operands: readonly Expression[]): Expression {
  return operands.length === 0 ? ALWAYS_TRUE : combineBalanced<Expression>(operands, conjunction)
}

/** At least one of them; false if there is none. */
export function or(...operands: readonly Expression[]): Expression {
  return operands.length === 0 ? ALWAYS_FALSE : combineBalanced<Expression>(operands, disjunction)
}

/** The opposite. It is pushed down before anything is evaluated, so `not(lessThan(x, 5))` is false for null (R11.22a). */
export function not(operand: Expression): Expression {
  switch (operand.op) {
    case 'true':
      return ALWAYS_FALSE
    case 'false':
      return ALWAYS_TRUE
    case 'not':
      return operand.child
    default:
      return { op: 'not', child: operand }
  }
}

export function alwaysTrue(): AlwaysTrue {
  return ALWAYS_TRUE
}

export function alwaysFalse(): AlwaysFalse {
  return ALWAYS_FALSE
}

export function isNull(column: string | Term): UnaryPredicate {
  return unary('is-null', column)
}

export function notNull(column: string | Term): UnaryPredicate {
  return unary('not-null', column)
}

/** For float and double columns only (R11.15). */
export function isNan(column: string | Term): UnaryPredicate {
  return unary('is-nan', column)
}

export function notNan(column: string | Term): UnaryPredicate {
  return unary('not-nan', column)
}

/** This and the other comparisons throw InvalidArgumentError for a value that {@link literalOf} refuses. */
export function equal(column: string | Term, value: LiteralValue): ComparisonPredicate {
  return comparison('eq', column, value)
}

export function notEqual(column: string | Term, value: LiteralValue): ComparisonPredicate {
  return comparison('not-eq', column, value)
}

export function lessThan(column: string | Term, value: LiteralValue): ComparisonPredicate {
  return comparison('lt', column, value)
}

export function lessThanOrEqual(column: string | Term, value: LiteralValue): ComparisonPredicate {
  return comparison('lt-eq', column, value)
}

export function greaterThan(column: string | Term, value: LiteralValue): ComparisonPredicate {
  return comparison('gt', column, value)
}

export function greaterThanOrEqual(column: string | Term, value: LiteralValue): ComparisonPredicate {
  return comparison('gt-eq', column, value)
}

/** For string columns only (R11.16). */
export function startsWith(column: string | Term, prefix: string): ComparisonPredicate {
  return comparison('starts-with', column, prefix)
}

export function notStartsWith(column: string | Term, prefix: string): ComparisonPredicate {
  return comparison('not-starts-with', column, prefix)
}

/** False for no values. */
export function isIn(column: string | Term, values: Iterable<LiteralValue>): SetPredicate {
  return membership('in', column, values)
}

/** True for no values. */
export function notIn(column: string | Term, values: Iterable<LiteralValue>): SetPredicate {
  return membership('not-in', column, values)
}

/** The column itself, as its name alone. */
export function ref(name: string): Term {
  return { name }
}

/**
 * The bucket of a column's value, an int from 0.
 *
 * @throws InvalidArgumentError unless `numBuckets` is 1 to 2^31 - 1.
 */
export function bucket(numBuckets: number, name: string): Term {
  checkParameter('bucket', numBuckets)
  return termOf(name, { kind: 'bucket', numBuckets })
}

/**
 * The column's value cut to `width`: code points of a string, bytes of a binary, a multiple of it for numbers.
 *
 * @throws InvalidArgumentError unless `width` is 1 to 2^31 - 1.
 */
export function truncate(width: number, name: string): Term {
  checkParameter('truncate', width)
  return termOf(name, { kind: 'truncate', width })
}

/** Years since 1970, not the calendar year: `equal(year('ts'), 47)` is 2017 (R11.18). */
export function year(name: string): Term {
  return termOf(name, { kind: 'year' })
}

/** Months since 1970-01. */
export function month(name: string): Term {
  return termOf(name, { kind: 'month' })
}

/** A date, in UTC: compare it with `'2026-10-28'` or with days since 1970. */
export function day(name: string): Term {
  return termOf(name, { kind: 'day' })
}

/** Hours since 1970-01-01T00:00 UTC. */
export function hour(name: string): Term {
  return termOf(name, { kind: 'hour' })
}

function termOf(name: string, transform: Transform): Term {
  return { name, transform }
}

function checkParameter(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_INT) return
  throw new InvalidArgumentError(`Cannot build ${name}[${value}]: its parameter must be 1 to ${MAX_INT}`)
}

function unary(op: UnaryOperation, column: string | Term): UnaryPredicate {
  return { op, term: asTerm(column) }
}

function comparison(
  op: ComparisonOperation,
  column: string | Term,
  value: LiteralValue,
): ComparisonPredicate {
  return { op, term: asTerm(column), literal: literalOf(value) }
}

function membership(op: SetOperation, column: string | Term, values: Iterable<LiteralValue>): SetPredicate {
  return { op, term: asTerm(column), literals: Array.from(values, literalOf) }
}

function asTerm(column: string | Term): Term {
  return typeof column === 'string' ? { name: column } : column
}
