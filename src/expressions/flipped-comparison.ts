/** `5 < x` is `x > 5`: comparisons with their sides exchanged. */
import type { ComparisonOperation } from './expression.ts'

/** The comparisons that text writes as a symbol, and that have a meaning from both sides. */
export type SymbolOperation = Exclude<ComparisonOperation, 'starts-with' | 'not-starts-with'>

export const FLIPPED: Readonly<Record<SymbolOperation, SymbolOperation>> = {
  eq: 'eq',
  'not-eq': 'not-eq',
  lt: 'gt',
  'lt-eq': 'gt-eq',
  gt: 'lt',
  'gt-eq': 'lt-eq',
}
