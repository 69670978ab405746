/**
 * Whether an object is an expression: trees come from callers that no compiler has checked, and from other processes.
 */
import { InvalidArgumentError } from '../errors.ts'
import { describeJson, isJsonObject, type JsonObject } from '../types/json-object.ts'
import type { Expression } from './expression.ts'

const UNARY = new Set(['is-null', 'not-null', 'is-nan', 'not-nan'])
const COMPARISON = new Set(['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq', 'starts-with', 'not-starts-with'])
const SET = new Set(['in', 'not-in'])

/**
 * The object, if its nodes have the parts that their operations need. Values of literals are looked at when they are
 * bound.
 *
 * @throws InvalidArgumentError that says which node is none
 */
export function checkExpression(given: JsonObject): Expression {
  // A stack of its own, for a tree may be as deep as its maker likes.
  const rest: unknown[] = [given]
  while (rest.length > 0) {
    const node = rest.pop()
    if (!isJsonObject(node)) throw refuse(`${describeJson(node)} is no expression`)
    switch (node.op) {
      case 'true':
      case 'false':
        break
      case 'and':
      case 'or':
        rest.push(node.left, node.right)
        break
      case 'not':
        rest.push(node.child)
        break
      default:
        checkPredicate(node)
    }
  }
  return given as unknown as Expression
}

function checkPredicate(node: JsonObject): void {
  const { op, term, literal, literals } = node
  if (typeof op !== 'string' || !(UNARY.has(op) || COMPARISON.has(op) || SET.has(op)))
    throw refuse(`there is no operation ${describeJson(op)}`)
  if (!isJsonObject(term) || typeof term.name !== 'string') throw refuse(`"${op}" has no term with a name`)
  if (
    term.transform !== undefined &&
    !(isJsonObject(term.transform) && typeof term.transform.kind === 'string')
  )
    throw refuse(`the transform of "${term.name}" is ${describeJson(term.transform)}`)
  if (COMPARISON.has(op) && !isLiteral(literal)) throw refuse(`"${op}" has no literal`)
  if (SET.has(op) && !(Array.isArray(literals) && literals.every(isLiteral)))
    throw refuse(`"${op}" has no list of literals`)
}

function isLiteral(value: unknown): boolean {
  return isJsonObject(value) && typeof value.kind === 'string' && value.value !== undefined
}

function refuse(why: string): InvalidArgumentError {
  return new InvalidArgumentError(`Cannot use filter: ${why}`)
}
