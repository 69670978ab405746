/**
 * Whether an object is an expression: trees come from callers that no compiler has checked, and from other processes.
 */
import { InvalidArgumentError } from '../errors.ts'
import { describeJson, isJsonObject, type JsonObject } from '../types/json-object.ts'
import type { Expression } from './expression.ts'
import { checkLiteral } from './literal-of.ts'
import type { Literal } from './literal.ts'

const UNARY = new Set(['is-null', 'not-null', 'is-nan', 'not-nan'])
const COMPARISON = new Set(['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq', 'starts-with', 'not-starts-with'])
const SET = new Set(['in', 'not-in'])
const PLAIN_TRANSFORM = new Set(['identity', 'year', 'month', 'day', 'hour', 'void'])

/** A node counts once for each path to it, so that small objects with shared parts cannot stand for endless trees. */
const MAX_NODES = 1_000_000
/** In all lists of values, counted in the same way. */
const MAX_VALUES = 10_000_000
const MAX_INT = 2 ** 31 - 1

/**
 * The very object, if builders could have made it: its nodes have the parts that their operations need, its literals
 * values of their kind (a float is one of 32 bits), its transforms parameters from 1 to 2^31 - 1. Whether they suit the
 * columns is found out when they are bound.
 *
 * @throws InvalidArgumentError that says what is wrong with which node, or that there are more than 1,000,000 nodes or
 * 10,000,000 values in lists, as there are in a tree that contains itself
 */
export function checkExpression(given: JsonObject): Expression {
  // A stack of its own, for a tree may be as deep as its maker likes.
  const rest: unknown[] = [given]
  let nodes = 0
  let values = 0
  while (rest.length > 0) {
    const node = rest.pop()
    if (++nodes > MAX_NODES) throw refuse(`it has more than ${MAX_NODES} nodes, or contains itself`)
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
        if (Array.isArray(node.literals)) values += node.literals.length
        if (values > MAX_VALUES) throw refuse(`its lists have more than ${MAX_VALUES} values`)
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
  if (term.transform !== undefined) checkTransform(term.transform, term.name)
  if (COMPARISON.has(op)) checkValue(literal, `"${op}" has no literal`)
  if (!SET.has(op)) return
  const missing = `"${op}" has no list of literals`
  if (!Array.isArray(literals)) throw refuse(missing)
  // Not by a method of arrays, for those pass over holes.
  for (const element of literals) checkValue(element, missing)
}

function checkTransform(transform: unknown, name: string): void {
  const { kind, numBuckets, width, text } = isJsonObject(transform) ? transform : {}
  const whose = `the transform of ${describeJson(name)}`
  if (typeof kind !== 'string') throw refuse(`${whose} is ${describeJson(transform)}`)
  if (PLAIN_TRANSFORM.has(kind) || (kind === 'unknown' && typeof text === 'string')) return
  if (kind !== 'bucket' && kind !== 'truncate') throw refuse(`${whose} is of no kind ${describeJson(kind)}`)
  const parameter = kind === 'bucket' ? numBuckets : width
  if (!Number.isInteger(parameter) || (parameter as number) < 1 || (parameter as number) > MAX_INT)
    throw refuse(
      `${whose} is ${kind} by ${describeJson(parameter)}, and its parameter must be a number from 1 to ${MAX_INT}`,
    )
}

function checkValue(literal: unknown, missing: string): void {
  if (!isJsonObject(literal) || typeof literal.kind !== 'string' || literal.value === undefined)
    throw refuse(missing)
  const { kind, value } = checkLiteral(literal as unknown as Literal)
  // What a builder would round may not pass here, where nothing is rebuilt.
  if (kind === 'float' && value !== literal.value)
    throw refuse(`${describeJson(literal.value)} is no float of 32 bits; the nearest is ${value}`)
}

function refuse(why: string): InvalidArgumentError {
  return new InvalidArgumentError(`Cannot use filter: ${why}`)
}
