/** The columns a filter names: the only ones whose bounds and counts its evaluation needs. */
import type { BoundExpression } from './bound-expression.ts'

/** Their ids, each once, in the order in which the filter first names them. */
export function boundColumns(expression: BoundExpression): number[] {
  const ids = new Set<number>()
  const visit = (node: BoundExpression): void => {
    switch (node.op) {
      case 'true':
      case 'false':
        return
      case 'and':
      case 'or':
        visit(node.left)
        visit(node.right)
        return
      default:
        ids.add(node.term.fieldId)
    }
  }
  visit(expression)
  return [...ids]
}
