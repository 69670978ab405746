/**
 * Expressions as SQL-like text: what residuals look like to people, and what `parseFilter` reads back.
 *
 *     region = 'eu' AND (amount > 500 OR event_date IN (DATE '2026-10-28', DATE '2026-10-29'))
 *
 * The text means what the tree means and gives the same tree, up to what makes no difference: a chain of one operator
 * comes back balanced and without constants, and a literal comes back as the kind that its text has: an int as a
 * long, a float as a double, a fixed as a binary. Each of these converts to every type that the other does, alike
 * (R11.8; only an int for a time or timestamp is refused by binding, and a long is not).
 */
import { formatTransform } from '../types/transforms/transform.ts'
import { isCalendarKind, looksLikeCalendar } from './calendar-number.ts'
import type { ComparisonOperation, Expression, Predicate, Term } from './expression.ts'
import type { Literal } from './literal.ts'
import { literalToJson } from './literal-json.ts'
import { isPlainName } from './filter-words.ts'

/** SQL-like text, with parentheses and quotes only where they are needed; `true` and `false` for the constants. */
export function formatExpression(expression: Expression): string {
  const parts: string[] = []
  // What is left to write, last first. A stack of its own, for a tree may be as deep as its maker likes.
  const rest: (Expression | string)[] = [expression]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') parts.push(next)
    else if (next.op === 'and')
      rest.push(...inParentheses(next.right, 'or'), ' AND ', ...inParentheses(next.left, 'or'))
    else if (next.op === 'or') rest.push(next.right, ' OR ', next.left)
    else if (next.op === 'not') rest.push(...inParentheses(next.child, 'or', 'and'), 'NOT ')
    else parts.push(next.op === 'true' || next.op === 'false' ? next.op : formatPredicate(next))
  }
  return parts.join('')
}

/** The parts of an operand, last first: in parentheses if its operator is one of those that bind less. */
function inParentheses(operand: Expression, ...binding: Expression['op'][]): (Expression | string)[] {
  return binding.includes(operand.op) ? [')', operand, '('] : [operand]
}

function formatPredicate(predicate: Predicate): string {
  const term = formatTerm(predicate.term)
  switch (predicate.op) {
    case 'is-null':
      return `${term} IS NULL`
    case 'not-null':
      return `${term} IS NOT NULL`
    case 'is-nan':
      return `${term} IS NAN`
    case 'not-nan':
      return `${term} IS NOT NAN`
    case 'in':
    case 'not-in':
      return `${term} ${predicate.op === 'in' ? 'IN' : 'NOT IN'} (${predicate.literals.map((literal) => formatValue(predicate.term, literal)).join(', ')})`
    case 'starts-with':
      return `${term} ${formatPrefix(predicate.literal)}`
    case 'not-starts-with':
      return `${term} NOT ${formatPrefix(predicate.literal)}`
    default:
      return `${term} ${SYMBOLS[predicate.op]} ${formatValue(predicate.term, predicate.literal)}`
  }
}

const SYMBOLS: Readonly<Record<Exclude<ComparisonOperation, 'starts-with' | 'not-starts-with'>, string>> = {
  lt: '<',
  'lt-eq': '<=',
  gt: '>',
  'gt-eq': '>=',
  eq: '=',
  'not-eq': '!=',
}

/** LIKE, which every dialect knows, unless the prefix has characters that dialects escape in different ways. */
function formatPrefix(literal: Literal): string {
  return literal.kind === 'string' && !/[%_\\]/.test(literal.value)
    ? `LIKE ${quoteText(`${literal.value}%`)}`
    : `STARTS WITH ${formatLiteral(literal)}`
}

function formatTerm({ name, transform }: Term): string {
  const column = formatName(name)
  if (transform === undefined || transform.kind === 'identity') return column
  switch (transform.kind) {
    case 'bucket':
      return `bucket(${transform.numBuckets}, ${column})`
    case 'truncate':
      return `truncate(${transform.width}, ${column})`
    default:
      return `${formatTransform(transform)}(${column})`
  }
}

/** A dotted name, its parts in double quotes where they are no plain words. */
function formatName(name: string): string {
  const parts = name.split('.')
  return parts.includes('')
    ? quoteName(name)
    : parts.map((part) => (isPlainName(part) ? part : quoteName(part))).join('.')
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** With its type where the text would be refused without. */
function formatValue({ transform }: Term, literal: Literal): string {
  const isNumber = literal.kind === 'int' || literal.kind === 'long'
  if (
    isNumber &&
    transform !== undefined &&
    isCalendarKind(transform.kind) &&
    looksLikeCalendar(transform.kind, BigInt(literal.value))
  )
    return `LONG '${literal.value}'`
  return formatLiteral(literal)
}

function formatLiteral(literal: Literal): string {
  switch (literal.kind) {
    case 'boolean':
    case 'int':
    case 'long':
      return literal.value.toString()
    case 'float':
    case 'double':
      return formatDouble(literal.value)
    case 'string':
      return quoteText(literal.value)
    case 'fixed':
    case 'binary':
      return `X'${textOf(literal)}'`
    case 'decimal':
    case 'date':
    case 'uuid':
      return `${literal.kind.toUpperCase()} '${textOf(literal)}'`
    default:
      return `${literal.kind.toUpperCase()} '${trimFraction(textOf(literal))}'`
  }
}

/** Of a kind whose JSON is a string. */
function textOf(literal: Literal): string {
  return literalToJson(literal) as string
}

/** The shortest text that is the same double, with a point or an exponent so that it is no integer. */
function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return `DOUBLE '${value}'`
  const text = Object.is(value, -0) ? '-0' : value.toString()
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** Without the zeros that end a fraction of a second. */
function trimFraction(text: string): string {
  return text.replace(/\.(\d*?)0+(?!\d)/, (_, digits: string) => (digits === '' ? '' : `.${digits}`))
}
