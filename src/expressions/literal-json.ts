/** Literals as JSON single values: the type that a kind of literal stands for. */
import { valueToJson } from '../types/single-value.ts'
import type { Type } from '../types/type.ts'
import type { JsonValue } from '../types/value.ts'
import type { Literal } from './literal.ts'

/** More digits than this after the point are written as an exponent; no type of a column has more. */
const MAX_PLAIN_SCALE = 38

/** As Java's `ExpressionParser` writes the literals of unbound predicates: 64-bit integers past 2^53 are `bigint`. */
export function literalToJson(literal: Literal): JsonValue {
  if (literal.kind === 'decimal' && literal.scale > MAX_PLAIN_SCALE)
    return `${literal.value}E-${literal.scale}`
  return valueToJson(typeOf(literal), literal.value)
}

function typeOf(literal: Literal): Type {
  switch (literal.kind) {
    case 'decimal':
      return { kind: 'decimal', precision: 38, scale: literal.scale }
    case 'fixed':
      return { kind: 'fixed', length: literal.value.length }
    default:
      return { kind: literal.kind }
  }
}
