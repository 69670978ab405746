/**
 * Row predicates. Only the constant `true` exists so far: what is left of a plan without a filter.
 */
export interface AlwaysTrue {
  readonly op: 'true'
}
export type Expression = AlwaysTrue

export const ALWAYS_TRUE: AlwaysTrue = Object.freeze({ op: 'true' })

/** The text of an expression, as a filter would be written. */
export function formatExpression(expression: Expression): string {
  return expression.op
}
