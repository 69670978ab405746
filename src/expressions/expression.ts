/**
 * Row predicates as plain data: unbound, that is, with column names and with literals as they were written.
 *
 * A filter means what is left of it when every NOT is pushed down to the predicates, under two-valued logic: null makes
 * comparisons false, and `not-eq`, `not-in` and `not-starts-with` true (R11.22a). A union on `op`, so that a `switch`
 * is checked for completeness and a tree can be posted to a worker.
 */
import type { Transform } from '../types/transforms/transform.ts'
import type { Literal } from './literal.ts'

export interface AlwaysTrue {
  readonly op: 'true'
}
export interface AlwaysFalse {
  readonly op: 'false'
}
export interface And {
  readonly op: 'and'
  readonly left: Expression
  readonly right: Expression
}
export interface Or {
  readonly op: 'or'
  readonly left: Expression
  readonly right: Expression
}
export interface Not {
  readonly op: 'not'
  readonly child: Expression
}

/** What a predicate tests: a column, or a transform of one. */
export interface Term {
  /** Dotted name of the column (R11.1). */
  readonly name: string
  /** Absent for the column itself. */
  readonly transform?: Transform
}

export type UnaryOperation = 'is-null' | 'not-null' | 'is-nan' | 'not-nan'
export type ComparisonOperation =
  'lt' | 'lt-eq' | 'gt' | 'gt-eq' | 'eq' | 'not-eq' | 'starts-with' | 'not-starts-with'
export type SetOperation = 'in' | 'not-in'

export interface UnaryPredicate {
  readonly op: UnaryOperation
  readonly term: Term
}
export interface ComparisonPredicate {
  readonly op: ComparisonOperation
  readonly term: Term
  readonly literal: Literal
}
export interface SetPredicate {
  readonly op: SetOperation
  readonly term: Term
  readonly literals: readonly Literal[]
}

export type Predicate = UnaryPredicate | ComparisonPredicate | SetPredicate
export type Expression = AlwaysTrue | AlwaysFalse | And | Or | Not | Predicate

export const ALWAYS_TRUE: AlwaysTrue = Object.freeze({ op: 'true' })
export const ALWAYS_FALSE: AlwaysFalse = Object.freeze({ op: 'false' })
