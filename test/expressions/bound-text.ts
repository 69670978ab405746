/** Bound filters as short text, so that a table of cases can be read. */
import type { BoundExpression, BoundTerm } from '../../src/expressions/bound-expression.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import type { Value } from '../../src/types/value.ts'

/** `id lt 5`, `(id in 1, 2 and s is-null)`; bytes in hex, -0 as `-0`. */
export function boundText(node: BoundExpression): string {
  switch (node.op) {
    case 'true':
    case 'false':
      return node.op
    case 'and':
    case 'or':
      return `(${boundText(node.left)} ${node.op} ${boundText(node.right)})`
  }
  const term = termText(node.term)
  if ('values' in node) return `${term} ${node.op} ${node.values.map(valueText).join(', ')}`
  return 'value' in node ? `${term} ${node.op} ${valueText(node.value)}` : `${term} ${node.op}`
}

function termText({ name, transform }: BoundTerm): string {
  return transform.kind === 'identity' ? name : `${formatTransform(transform)}(${name})`
}

function valueText(value: Value): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return Object.is(value, -0) ? '-0' : value.toString()
}
