/** Bound predicates without names, and projections as text: `p0 <= 5 or p0 = 2147483646`. */
import type { BoundPredicate, BoundTerm } from '../../src/expressions/bound-expression.ts'
import type {
  ComparisonOperation,
  Predicate,
  SetOperation,
  UnaryOperation,
} from '../../src/expressions/expression.ts'
import type { PartitionExpression } from '../../src/expressions/partition-expression.ts'
import { formatTransform, parseTransform, transformResultType } from '../../src/types/transforms/transform.ts'
import type { Type } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'

export type Operation = UnaryOperation | ComparisonOperation | SetOperation

const SYMBOLS: Readonly<Record<Operation, string>> = {
  'is-null': 'is null',
  'not-null': 'is not null',
  'is-nan': 'is nan',
  'not-nan': 'is not nan',
  lt: '<',
  'lt-eq': '<=',
  gt: '>',
  'gt-eq': '>=',
  eq: '=',
  'not-eq': '!=',
  'starts-with': 'starts with',
  'not-starts-with': 'does not start with',
  in: 'in',
  'not-in': 'not in',
}

/** A predicate on column `fieldId` of type `sourceType`, or on a transform of it; `operand` as the operation needs it. */
export function boundPredicate(
  op: Operation,
  sourceType: Type,
  operand: Value | readonly Value[] | undefined,
  { fieldId = 1, transform = 'identity' }: { fieldId?: number; transform?: string } = {},
): BoundPredicate {
  const parsed = parseTransform(transform)
  const term: BoundTerm = {
    fieldId,
    name: 'x',
    sourceType,
    transform: parsed,
    type: transformResultType(parsed, sourceType),
    isOptional: true,
  }
  // Projections never look at what was bound.
  const unbound: Predicate = { op: 'not-null', term: { name: 'x' } }
  switch (op) {
    case 'is-null':
    case 'not-null':
    case 'is-nan':
    case 'not-nan':
      return { op, term, unbound }
    case 'in':
    case 'not-in':
      return { op, term, values: operand as readonly Value[], unbound }
    default:
      return { op, term, value: operand as Value, unbound }
  }
}

/** Longs with an `n`, bytes in hex, `p` and the position for the field, brackets where `and` meets `or`. */
export function partitionText(expression: PartitionExpression): string {
  switch (expression.op) {
    case 'true':
    case 'false':
      return expression.op
    case 'and':
    case 'or': {
      const side = (child: PartitionExpression): string =>
        (child.op === 'and' || child.op === 'or') && child.op !== expression.op
          ? `(${partitionText(child)})`
          : partitionText(child)
      return `${side(expression.left)} ${expression.op} ${side(expression.right)}`
    }
    default: {
      const { transform, position } = expression.term
      const field = transform === undefined ? `p${position}` : `${formatTransform(transform)}(p${position})`
      const start = `${field} ${SYMBOLS[expression.op]}`
      if ('value' in expression) return `${start} ${valueText(expression.value)}`
      if ('values' in expression) return `${start} (${expression.values.map(valueText).join(', ')})`
      return start
    }
  }
}

export function predicateText(predicate: BoundPredicate): string {
  const { transform } = predicate.term
  const column = transform.kind === 'identity' ? 'x' : `${formatTransform(transform)}(x)`
  const start = `${column} ${SYMBOLS[predicate.op]}`
  if ('value' in predicate) return `${start} ${valueText(predicate.value)}`
  if ('values' in predicate) return `${start} (${predicate.values.map(valueText).join(', ')})`
  return start
}

export function valueText(value: Value): string {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  return Object.is(value, -0) ? '-0' : String(value)
}
