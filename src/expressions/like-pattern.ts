/**
 * LIKE, as far as Iceberg can say it: a text, or a text and whatever follows. `\%` and `\_` stand for the characters
 * themselves. Everything else that dialects read in different ways is refused, for a filter must not drop a file on a
 * misunderstanding: a bare `_`, any character in SQL and itself in PyIceberg, and other backslashes.
 */
import { refuseFilter, type Token } from './filter-tokens.ts'

interface LikePattern {
  readonly isPrefix: boolean
  readonly text: string
}

/** @throws InvalidArgumentError for patterns that are neither a text nor a prefix. */
export function parseLikePattern(filter: string, { value: pattern, offset }: Token): LikePattern {
  const unescaped = pattern.replaceAll(/\\[%_]/g, '..')
  if (unescaped.includes('\\'))
    throw refuseFilter(filter, offset, 'LIKE takes a backslash only before % or _; try = or STARTS WITH')
  if (unescaped.includes('_'))
    throw refuseFilter(filter, offset, 'LIKE takes no _ for any character; for itself it is \\_')
  const percent = unescaped.indexOf('%')
  if (percent >= 0 && percent < unescaped.length - 1)
    throw refuseFilter(filter, offset, 'LIKE takes % only at the end of a pattern; for itself it is \\%')
  const isPrefix = percent >= 0
  const escaped = isPrefix ? pattern.slice(0, -1) : pattern
  return { isPrefix, text: escaped.replaceAll(/\\([%_])/g, '$1') }
}
