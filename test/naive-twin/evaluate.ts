/**
 * What a filter means, row by row: two-valued logic with every NOT pushed down to the predicates (R11.22a).
 *
 * A null or NaN makes `<`, `<=`, `>`, `>=`, `=`, `in` and `starts-with` false, and their opposites `!=`, `not in` and
 * `not-starts-with` true. `not (x < 5)` is `x >= 5`: false, too, where x is null.
 */
import type { Expression, Predicate } from '../../src/expressions/expression.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import { valueOf } from './literals.ts'
import { type Column, isInside, type Row, type Struct, structName, type TableShape } from './rows.ts'
import { applyTransform, IDENTITY, resultType, type TwinTransform, twinTransform } from './transforms.ts'
import { type Cell, compare, type TwinType, type Value } from './values.ts'

export interface Leaf {
  readonly op: Predicate['op']
  /** What is tested; a whole struct is either there or null. */
  readonly subject: Column | Struct
  readonly transform: TwinTransform
  readonly type: TwinType
  readonly values: readonly Value[]
}

/** A filter without NOT, its names and literals understood. */
export type Node = boolean | { readonly op: 'and' | 'or'; readonly nodes: readonly Node[] } | Leaf

const OPPOSITES: Readonly<Record<Predicate['op'], Predicate['op']>> = {
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

/** @param isNegated whether the whole is under a NOT */
export function understand(expression: Expression, shape: TableShape, isNegated = false): Node {
  switch (expression.op) {
    case 'true':
      return !isNegated
    case 'false':
      return isNegated
    case 'not':
      return understand(expression.child, shape, !isNegated)
    case 'and':
    case 'or': {
      const op = (expression.op === 'and') === isNegated ? 'or' : 'and'
      const nodes = [expression.left, expression.right].map((side) => understand(side, shape, isNegated))
      return { op, nodes }
    }
    default:
      return leafOf(expression, shape, isNegated)
  }
}

function leafOf(predicate: Predicate, shape: TableShape, isNegated: boolean): Leaf {
  const { name, transform: asked } = predicate.term
  const op = isNegated ? OPPOSITES[predicate.op] : predicate.op
  const transform = asked === undefined ? IDENTITY : twinTransform(formatTransform(asked))
  const lower = name.toLowerCase()
  const column = shape.columns.find((each) => !each.isDropped && each.name.toLowerCase() === lower)
  if (column === undefined) {
    const struct = shape.structs.find((each) => structName(each).toLowerCase() === lower)
    if (struct === undefined) throw new RangeError(`Cannot evaluate the column "${name}": the table has none`)
    return { op, subject: struct, transform, type: shape.columns[0].type, values: [] }
  }
  const type = resultType(transform, column.type)
  const literals =
    'literals' in predicate ? predicate.literals : 'literal' in predicate ? [predicate.literal] : []
  return { op, subject: column, transform, type, values: literals.map((literal) => valueOf(literal, type)) }
}

export function isColumn(subject: Column | Struct): subject is Column {
  return 'index' in subject
}

export function matches(node: Node, row: Row): boolean {
  if (typeof node === 'boolean') return node
  if ('nodes' in node)
    return node.op === 'and'
      ? node.nodes.every((each) => matches(each, row))
      : node.nodes.some((each) => matches(each, row))
  const { subject } = node
  if (!isColumn(subject)) return isInside(subject, row.absent) === (node.op === 'is-null')
  return holds(node, applyTransform(node.transform, subject.type, row.cells[subject.index]))
}

/** Whether a value of the term passes the predicate. */
export function holds({ op, values }: Leaf, cell: Cell): boolean {
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
      return values.some((value) => compares(op, cell, value)) !== isOpposite
    }
  }
}

/** Without the `not-` of an operator. */
function compares(op: Predicate['op'], cell: Value, value: Value): boolean {
  switch (op) {
    case 'lt':
      return compare(cell, value) < 0
    case 'lt-eq':
      return compare(cell, value) <= 0
    case 'gt':
      return compare(cell, value) > 0
    case 'gt-eq':
      return compare(cell, value) >= 0
    case 'starts-with':
    case 'not-starts-with':
      return (cell as string).startsWith(value as string)
    default:
      return compare(cell, value) === 0
  }
}
