/** Which names need no quotes in filter texts. */
import { toKeyword } from './filter-tokens.ts'

/** They are no names unless quoted. Other keywords (NAN, STARTS, DATE ...) are names wherever they cannot be keywords. */
const RESERVED: ReadonlySet<string> = new Set([
  'AND',
  'BETWEEN',
  'FALSE',
  'IN',
  'IS',
  'LIKE',
  'NOT',
  'NULL',
  'OR',
  'TRUE',
])

export function isReserved(keyword: string): boolean {
  return RESERVED.has(keyword)
}

/** Whether a part of a name reads as itself without quotes. */
export function isPlainName(part: string): boolean {
  return /^[\p{L}_][\p{L}\p{M}\p{N}_$]*$/u.test(part) && !isReserved(toKeyword(part))
}
