/**
 * An expression as text that is the same for the same meaning without a schema: NOT pushed down (R11.22), chains of AND
 * and of OR flat, sets in order and without repetition (R11.14), numbers by their value whatever their kind.
 */
import type { Expression } from '../../src/expressions/expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import { literalsOf, OPPOSITES } from './meaning.ts'

export function shapeOf(expression: Expression, isNegated = false): string {
  switch (expression.op) {
    case 'true':
    case 'false':
      return String((expression.op === 'true') !== isNegated)
    case 'not':
      return shapeOf(expression.child, !isNegated)
    case 'and':
    case 'or': {
      const op = (expression.op === 'and') === isNegated ? 'or' : 'and'
      return `(${chain(expression, expression.op, isNegated).join(` ${op} `)})`
    }
    default: {
      const op = isNegated ? OPPOSITES[expression.op] : expression.op
      const { name, transform } = expression.term
      const term = transform === undefined ? name : `${formatTransform(transform)}(${name})`
      const values = [...new Set(literalsOf(expression).map(literalText))].sort()
      const isSingle = values.length === 1 && (op === 'in' || op === 'not-in')
      return [term, isSingle ? (op === 'in' ? 'eq' : 'not-eq') : op, ...values].join(' ')
    }
  }
}

function chain(expression: Expression, op: 'and' | 'or', isNegated: boolean): string[] {
  if (expression.op !== op) return [shapeOf(expression, isNegated)]
  return [...chain(expression.left, op, isNegated), ...chain(expression.right, op, isNegated)]
}

function literalText(literal: Literal): string {
  switch (literal.kind) {
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      return String(literal.value)
    case 'decimal':
      return literal.scale === 0
        ? String(literal.value)
        : String(Number(`${literal.value}e${-literal.scale}`))
    case 'string':
      return JSON.stringify(literal.value)
    default:
      return `${literal.kind} ${String(literal.value)}`
  }
}
