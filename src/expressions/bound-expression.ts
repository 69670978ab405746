/**
 * A filter bound to a schema: names are column ids, literals are values of the term's type. It has no NOT (R11.22), and
 * predicates that binding decides are constants (R11.10, R11.13).
 */
import type { Transform } from '../types/transforms/transform.ts'
import type { Type } from '../types/type.ts'
import type { Value } from '../types/value.ts'
import type {
  AlwaysFalse,
  AlwaysTrue,
  ComparisonOperation,
  Predicate,
  SetOperation,
  UnaryOperation,
} from './expression.ts'

export interface BoundTerm {
  /** Id of the column, which is in no list and no map. */
  readonly fieldId: number
  /** Its dotted name. */
  readonly name: string
  readonly sourceType: Type
  /** `identity` for the column itself. */
  readonly transform: Transform
  /** Of the term's values: `sourceType`, or what the transform yields. */
  readonly type: Type
  /** Whether a row may lack a value: the column, or one around it, is optional. */
  readonly isOptional: boolean
}

interface BoundUnaryPredicate {
  readonly op: UnaryOperation
  readonly term: BoundTerm
  /** The predicate that was bound: what a residual keeps (R6.4). */
  readonly unbound: Predicate
}
export interface BoundComparisonPredicate {
  readonly op: ComparisonOperation
  readonly term: BoundTerm
  /** Of the term's type; never NaN. */
  readonly value: Value
  readonly unbound: Predicate
}
export interface BoundSetPredicate {
  readonly op: SetOperation
  readonly term: BoundTerm
  /** At least two, distinct (R11.14). */
  readonly values: readonly Value[]
  readonly unbound: Predicate
}

export type BoundPredicate = BoundUnaryPredicate | BoundComparisonPredicate | BoundSetPredicate

interface BoundAnd {
  readonly op: 'and'
  readonly left: BoundExpression
  readonly right: BoundExpression
}
interface BoundOr {
  readonly op: 'or'
  readonly left: BoundExpression
  readonly right: BoundExpression
}
export type BoundExpression = AlwaysTrue | AlwaysFalse | BoundAnd | BoundOr | BoundPredicate
