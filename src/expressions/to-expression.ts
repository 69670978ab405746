/** Every form in which a filter may be given, as an expression. */
import { InvalidArgumentError } from '../errors.ts'
import { parseJson } from '../metadata/lossless-json.ts'
import { describeJson, isJsonObject } from '../types/json-object.ts'
import { checkExpression } from './check-expression.ts'
import { expressionFromJson } from './expression-json.ts'
import type { Expression } from './expression.ts'
import { parseFilter } from './parse-filter.ts'

/**
 * An expression that builders made; SQL-like text, or the text of expression JSON, which begins with `{`; or expression
 * JSON itself, of which only trees and constants have another type than these.
 */
export type Filter = Expression | string | boolean | { readonly type: string }

/** @throws InvalidArgumentError for what is no filter. */
export function toExpression(filter: Filter): Expression {
  const given: unknown = filter
  if (typeof given === 'string')
    return /^\s*\{/.test(given) ? expressionFromJson(parseFilterJson(given)) : parseFilter(given)
  if (typeof given === 'boolean') return expressionFromJson(given)
  if (isJsonObject(given)) {
    if (typeof given.op === 'string') return checkExpression(given)
    if ('type' in given) return expressionFromJson(given)
  }
  throw new InvalidArgumentError(`Cannot use filter: ${describeJson(given)} is no expression`)
}

function parseFilterJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new InvalidArgumentError(`Cannot parse filter as JSON: ${cause.message}`, { cause })
  }
}
