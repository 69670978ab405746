/**
 * AND and OR that do away with constants, and with nothing else (R11.21):
 *
 * | left  | right | and   | or    |
 * | ----- | ----- | ----- | ----- |
 * | false | x     | false | x     |
 * | true  | x     | x     | true  |
 *
 * and the same with the sides exchanged. One pair of functions for unbound, bound and partition expressions.
 */
import { ALWAYS_FALSE, ALWAYS_TRUE, type AlwaysFalse, type AlwaysTrue } from './expression.ts'

interface Node {
  readonly op: string
}

export function conjunction<T extends Node>(
  left: T,
  right: T,
): T | AlwaysFalse | { readonly op: 'and'; readonly left: T; readonly right: T } {
  if (left.op === 'false' || right.op === 'false') return ALWAYS_FALSE
  if (left.op === 'true') return right
  if (right.op === 'true') return left
  return { op: 'and', left, right }
}

export function disjunction<T extends Node>(
  left: T,
  right: T,
): T | AlwaysTrue | { readonly op: 'or'; readonly left: T; readonly right: T } {
  if (left.op === 'true' || right.op === 'true') return ALWAYS_TRUE
  if (left.op === 'false') return right
  if (right.op === 'false') return left
  return { op: 'or', left, right }
}
