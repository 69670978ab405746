/**
 * What a residual means, row by row, without the library's binding, evaluators or order of values (R11.22a): every NOT
 * is pushed down, and null and NaN make comparisons false and their opposites true.
 */
import type { Expression, Predicate } from '../../src/expressions/expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import {
  applyTransform,
  IDENTITY,
  resultType,
  type TwinTransform,
  twinTransform,
} from '../naive-twin/transforms.ts'
import type { Cell, TwinType, Value } from '../naive-twin/values.ts'
import { compareWith, isBeyond, operandOf, type Operand } from './literal-values.ts'

/** Column by lower-case name; a struct is there as `true`, or null. */
export type Row = ReadonlyMap<string, Cell>

/** Types of columns by lower-case name. */
export type Columns = ReadonlyMap<string, TwinType>

export const OPPOSITES: Readonly<Record<Predicate['op'], Predicate['op']>> = {
  'is-null': 'not-null',
  'not-null': 'is-null',
  'is-nan': 'not-nan',
  'not-nan': 'is-nan',
  lt: 'gt-eq',
  'gt-eq': 'lt',
  gt: 'lt-eq',
  'lt-eq': 'gt',
  eq: 'not-eq',
  'not-eq': 'eq',
  in: 'not-in',
  'not-in': 'in',
  'starts-with': 'not-starts-with',
  'not-starts-with': 'starts-with',
}

export type Test = (row: Row) => boolean

/** @param isNegated whether the whole is under a NOT */
export function meaningOf(expression: Expression, columns: Columns, isNegated = false): Test {
  switch (expression.op) {
    case 'true':
      return () => !isNegated
    case 'false':
      return () => isNegated
    case 'not':
      return meaningOf(expression.child, columns, !isNegated)
    case 'and':
    case 'or': {
      const left = meaningOf(expression.left, columns, isNegated)
      const right = meaningOf(expression.right, columns, isNegated)
      return (expression.op === 'and') === isNegated
        ? (row) => left(row) || right(row)
        : (row) => left(row) && right(row)
    }
    default:
      return leaf(expression, columns, isNegated)
  }
}

export function literalsOf(predicate: Predicate): readonly Literal[] {
  return 'literals' in predicate ? predicate.literals : 'literal' in predicate ? [predicate.literal] : []
}

export function transformOf({ term }: Predicate): TwinTransform {
  return term.transform === undefined ? IDENTITY : twinTransform(formatTransform(term.transform))
}

function leaf(predicate: Predicate, columns: Columns, isNegated: boolean): Test {
  const op = isNegated ? OPPOSITES[predicate.op] : predicate.op
  const name = predicate.term.name.toLowerCase()
  const source = columns.get(name)!
  const transform = transformOf(predicate)
  const type = resultType(transform, source)
  const operands = literalsOf(predicate).map((literal) => operandOf(literal, type))
  const constant = constantOf(op, operands)
  if (constant !== undefined) return () => constant
  return (row) => holds(op, applyTransform(transform, source, row.get(name)!), operands)
}

/** R11.10: what a literal beyond the range makes of a comparison, for null rows too. */
function constantOf(op: Predicate['op'], operands: readonly Operand[]): boolean | undefined {
  if (op === 'in' || op === 'not-in') return undefined
  const operand = operands.at(0)
  if (operand === undefined || !isBeyond(operand)) return undefined
  if (op === 'not-eq') return true
  return operand.beyond === 'above' ? op === 'lt' || op === 'lt-eq' : op === 'gt' || op === 'gt-eq'
}

function holds(op: Predicate['op'], cell: Cell, operands: readonly Operand[]): boolean {
  const isNaN = Number.isNaN(cell)
  switch (op) {
    case 'is-null':
      return cell === null
    case 'not-null':
      return cell !== null
    case 'is-nan':
      return isNaN
    case 'not-nan':
      return !isNaN
    default: {
      const isOpposite = op.startsWith('not-')
      if (cell === null || isNaN) return isOpposite
      return operands.some((operand) => passes(op, cell, operand)) !== isOpposite
    }
  }
}

/** Without the `not-` of an operator. */
function passes(op: Predicate['op'], cell: Value, operand: Operand): boolean {
  if (op.endsWith('starts-with')) return (cell as string).startsWith(operand as string)
  if (isBeyond(operand)) return false
  const order = compareWith(cell, operand)
  switch (op) {
    case 'lt':
      return order < 0
    case 'lt-eq':
      return order <= 0
    case 'gt':
      return order > 0
    case 'gt-eq':
      return order >= 0
    default:
      return order === 0
  }
}
