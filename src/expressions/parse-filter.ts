/**
 * Filters as SQL-like text: what stands after WHERE, and what PyIceberg takes for a `row_filter`.
 *
 *     filter     = condition, joined by AND and OR; NOT binds most, then AND, then OR; parentheses
 *     condition  = term = value (== != <> < <= > >=), or value = term
 *                | term IS [NOT] NULL | term IS [NOT] NAN
 *                | term [NOT] IN (value, ...)
 *                | term [NOT] BETWEEN value AND value
 *                | term [NOT] LIKE 'prefix%' | term [NOT] STARTS WITH 'prefix'
 *                | TRUE | FALSE
 *     term       = column | bucket(16, column) | truncate(10, column) | year|month|day|hour(column)
 *     column     = dotted name; parts that are no plain words in "double quotes" or `backticks`
 *     value      = 5 | 1.5 | 'text' | TRUE | FALSE | X'00ff' | DATE '2026-10-28' | TIME '12:30:00'
 *                | TIMESTAMP '2026-10-28 12:30:00' | TIMESTAMPTZ '2026-10-28T12:30:00Z'
 *                | TIMESTAMP_NS '...' | TIMESTAMPTZ_NS '...' | DECIMAL '12.50' | UUID '...' | DOUBLE 'Infinity'
 *                | LONG '2026'
 *
 * `year(ts) = 2026` is refused, for `year` counts from 1970 and nobody means the year 3996; who does writes
 * `year(ts) = LONG '2026'`. So are the months, days and hours of a calendar and a clock.
 *
 * Keywords may be in any case. Whole numbers are longs, numbers with a point or an exponent doubles (R11.27). The
 * grammar decides by the next token or two and never goes back, so the time is in proportion to the text.
 */
import {
  ab,
  abc,
  eitherOr,
  end,
  first,
  left,
  many,
  map,
  middle,
  option,
  peek,
  right,
  satisfy,
  sepBy,
  type Data,
  type Parser,
  type Result,
} from 'peberminta'
import type { Transform } from '../types/transforms/transform.ts'
import { countedBy, looksLikeCalendar, type CalendarKind } from './calendar-number.ts'
import { combineBalanced } from './combine-balanced.ts'
import { not } from './builders.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE, type Expression, type Predicate, type Term } from './expression.ts'
import { parseFilterLiteral, isTypeName } from './filter-literal.ts'
import { describeToken, refuseFilter, tokenize, type Token } from './filter-tokens.ts'
import { isReserved } from './filter-words.ts'
import { FLIPPED, type SymbolOperation } from './flipped-comparison.ts'
import { parseLikePattern } from './like-pattern.ts'
import type { Literal } from './literal.ts'
import { conjunction, disjunction } from './simplify.ts'

/** Parentheses in parentheses. */
const MAX_DEPTH = 500
const MAX_INT = 2 ** 31 - 1

interface State {
  readonly text: string
  /** The furthest token that did not fit, and what would have. */
  furthest: number
  readonly expected: Set<string>
}
type FilterParser<T> = Parser<Token, State, T>
type MakePredicate = (term: Term) => Expression

/**
 * The filter that a text means. AND and OR are simplified (R11.21) and their chains balanced.
 *
 * @throws InvalidArgumentError that names the column of the text, what was expected there and what was found.
 */
export function parseFilter(text: string): Expression {
  const tokens = tokenize(text)
  const state: State = { text, furthest: -1, expected: new Set() }
  const data = { tokens, options: state }
  const result = FILTER(data, 0)
  if (result.matched) return result.value
  const expected = [...state.expected]
  const last = expected.pop() ?? ''
  const others = expected.length === 0 ? '' : `${expected.join(', ')} or `
  throw refuse(data, state.furthest, `expected ${others}${last}, found ${describe(data, state.furthest)}`)
}

function describe({ tokens, options }: Data<Token, State>, i: number): string {
  return describeToken(options.text, tokens[i], tokens[i + 1])
}

function refuse({ tokens, options }: Data<Token, State>, i: number, why: string): Error {
  return refuseFilter(options.text, tokens[i]?.offset ?? options.text.length, why)
}

/** What `parser` takes, remembered under the name `expected` where it does not fit. */
function expecting<T>(expected: string, parser: FilterParser<T>): FilterParser<T> {
  return peek(parser, (result, { options }, i) => {
    if (result.matched || i < options.furthest) return
    if (i > options.furthest) options.expected.clear()
    options.furthest = i
    options.expected.add(expected)
  })
}

function token(expected: string, test: (token: Token) => boolean): FilterParser<Token> {
  return expecting(expected, satisfy(test))
}

function word(keyword: string, expected = keyword): FilterParser<Token> {
  return token(expected, (token) => token.keyword === keyword)
}

function symbol(value: string, expected = `"${value}"`): FilterParser<Token> {
  return token(expected, (token) => isSymbol(token, value))
}

function isSymbol(token: Token | undefined, value: string): boolean {
  return token?.kind === 'symbol' && token.value === value
}

function isName(token: Token): boolean {
  return token.kind === 'quoted' || (token.kind === 'word' && !isReserved(token.keyword))
}

/** A parser that refuses the whole text where `test` holds, and else leaves the word to others. */
function refusing(
  test: (token: Token, data: Data<Token, State>, i: number) => boolean,
  why: (token: Token) => string,
): FilterParser<never> {
  return map(satisfy(test), (token, data, i) => {
    throw refuse(data, i, why(token))
  })
}

const CONDITION = 'a condition'
const OPERATOR = 'an operator (such as =, <, IN, BETWEEN, LIKE or IS NULL)'

const literalToken: FilterParser<Literal> = map(
  satisfy(
    (token) =>
      token.kind === 'number' ||
      token.kind === 'string' ||
      token.kind === 'bytes' ||
      token.keyword === 'TRUE' ||
      token.keyword === 'FALSE',
  ),
  (token, { options }) => parseFilterLiteral(options.text, token),
)

const typedLiteral: FilterParser<Literal> = ab(
  satisfy((token, { tokens }, i) => isTypeName(token.keyword) && tokens.at(i + 1)?.kind === 'string'),
  satisfy(() => true),
  (type, token, { options }) => parseFilterLiteral(options.text, token, type.keyword),
)

const literal = eitherOr(literalToken, typedLiteral)

const value: FilterParser<Literal> = expecting(
  'a value',
  first<Token, State, Literal>(
    literal,
    refusing(
      ({ keyword }) => keyword === 'NULL',
      () => 'nothing equals null: test for it with IS NULL or IS NOT NULL',
    ),
    refusing(
      ({ keyword }) => keyword === 'NAN',
      () => 'nothing equals NaN: test for it with IS NAN or IS NOT NAN',
    ),
    refusing(
      ({ keyword }) => keyword === 'INFINITY' || keyword === 'INF',
      () => "infinity is written DOUBLE 'Infinity'",
    ),
    refusing(
      isName,
      ({ value }) => `expected a value, found the name ${value.slice(0, 40)}: a text stands in single quotes`,
    ),
  ),
)

const COLUMN = 'a column'

/** After a point every word is a name: `a.in`. */
function isPart({ kind }: Token): boolean {
  return kind === 'quoted' || kind === 'word'
}

function columnParser(expected: string): FilterParser<string> {
  const point = satisfy<Token, State>((token) => isSymbol(token, '.'))
  return ab(token(expected, isName), many(right(point, token('a name', isPart))), (part, parts) =>
    [part, ...parts].map(({ value }) => value).join('.'),
  )
}

const column = columnParser(COLUMN)

const PARAMETERIZED: readonly string[] = ['BUCKET', 'TRUNCATE']
const CALENDAR: readonly string[] = ['YEAR', 'MONTH', 'DAY', 'HOUR']

function functionName(names: readonly string[]): FilterParser<Token> {
  return satisfy((token, { tokens }, i) => names.includes(token.keyword) && isSymbol(tokens.at(i + 1), '('))
}

const parameter: FilterParser<number> = map(
  token('a whole number', ({ kind, value }) => kind === 'number' && /^\d+$/.test(value)),
  ({ value }, data, i) => {
    const parameter = Number(value)
    if (parameter >= 1 && parameter <= MAX_INT) return parameter
    throw refuse(data, i, `the parameter of a transform must be 1 to ${MAX_INT}`)
  },
)

function termParser(expected: string): FilterParser<Term> {
  return eitherOr(
    transformed,
    map(columnParser(expected), (name) => ({ name })),
  )
}

const transformed: FilterParser<Term> = first<Token, State, Term>(
  abc(
    functionName(PARAMETERIZED),
    right(symbol('('), left(parameter, symbol(','))),
    left(column, symbol(')')),
    ({ keyword }, parameter, name) => ({
      name,
      transform:
        keyword === 'BUCKET'
          ? { kind: 'bucket', numBuckets: parameter }
          : { kind: 'truncate', width: parameter },
    }),
  ),
  ab(functionName(CALENDAR), middle(symbol('('), column, symbol(')')), ({ value }, name) => ({
    name,
    transform: { kind: value.toLowerCase() } as Transform,
  })),
  refusing(
    (token, { tokens }, i) =>
      isName(token) &&
      isSymbol(tokens.at(i + 1), '(') &&
      ![...PARAMETERIZED, ...CALENDAR].includes(token.keyword),
    ({ value }) =>
      `${value.slice(0, 40)} is no function of filters; they are bucket, truncate, year, month, day and hour`,
  ),
)

const COMPARISONS: ReadonlyMap<string, SymbolOperation> = new Map([
  ['=', 'eq'],
  ['==', 'eq'],
  ['!=', 'not-eq'],
  ['<>', 'not-eq'],
  ['<', 'lt'],
  ['<=', 'lt-eq'],
  ['>', 'gt'],
  ['>=', 'gt-eq'],
])
const comparison: FilterParser<SymbolOperation> = map(
  token(OPERATOR, ({ kind, value }) => kind === 'symbol' && COMPARISONS.has(value)),
  ({ value }) => COMPARISONS.get(value)!,
)

const comparisonTail: FilterParser<MakePredicate> = ab(comparison, value, (op, literal) => (term) => ({
  op,
  term,
  literal,
}))

function isNot(expected: string): FilterParser<boolean> {
  return option(
    map(word('NOT', expected), () => true),
    false,
  )
}

const isTail: FilterParser<MakePredicate> = right(
  word('IS', OPERATOR),
  ab(
    isNot('NOT'),
    first<Token, State, boolean>(
      map(word('NULL'), () => false),
      map(word('NAN'), () => true),
      refusing(
        ({ keyword }) => keyword === 'TRUE' || keyword === 'FALSE',
        ({ keyword }) => `IS tests for NULL and NAN only: compare, as in "active = ${keyword}"`,
      ),
    ),
    (negated, isNan) => (term) =>
      isNan ? { op: negated ? 'not-nan' : 'is-nan', term } : { op: negated ? 'not-null' : 'is-null', term },
  ),
)

const inTail: FilterParser<(negated: boolean) => MakePredicate> = right(
  word('IN', OPERATOR),
  middle(
    symbol('('),
    map(sepBy(value, symbol(',')), (literals) => (negated: boolean) => (term: Term) => ({
      op: negated ? 'not-in' : 'in',
      term,
      literals,
    })),
    symbol(')'),
  ),
)

const betweenTail: FilterParser<(negated: boolean) => MakePredicate> = right(
  word('BETWEEN', OPERATOR),
  ab(left(value, word('AND')), value, (low, high) => (negated: boolean) => (term: Term) => {
    const below: Predicate = { op: negated ? 'lt' : 'gt-eq', term, literal: low }
    const above: Predicate = { op: negated ? 'gt' : 'lt-eq', term, literal: high }
    return { op: negated ? 'or' : 'and', left: below, right: above }
  }),
)

const text = token('a text in single quotes', ({ kind }) => kind === 'string')

const likeTail: FilterParser<(negated: boolean) => MakePredicate> = map(
  right(word('LIKE', OPERATOR), text),
  (token, { options }) => {
    const { isPrefix, text } = parseLikePattern(options.text, token)
    const literal: Literal = { kind: 'string', value: text }
    return (negated) => (term) =>
      isPrefix
        ? { op: negated ? 'not-starts-with' : 'starts-with', term, literal }
        : { op: negated ? 'not-eq' : 'eq', term, literal }
  },
)

const startsWithTail: FilterParser<(negated: boolean) => MakePredicate> = map(
  right(right(word('STARTS', OPERATOR), word('WITH')), text),
  ({ value }) =>
    (negated: boolean) =>
    (term: Term) => ({
      op: negated ? 'not-starts-with' : 'starts-with',
      term,
      literal: { kind: 'string', value },
    }),
)

const tail: FilterParser<MakePredicate> = first(
  comparisonTail,
  isTail,
  ab(
    isNot(OPERATOR),
    first(inTail, betweenTail, likeTail, startsWithTail),
    (negated, make) => (term: Term) => make(negated)(term),
  ),
)

/** A column alone is how SQL tests a boolean; an error that says what to write instead. */
const loneColumn: FilterParser<never> = (data, i) => {
  const next = data.tokens.at(i)
  if (next !== undefined && !isSymbol(next, ')') && next.keyword !== 'AND' && next.keyword !== 'OR')
    return { matched: false }
  throw refuse(data, i, 'a column alone is no condition: compare it, as in "active = TRUE"')
}

const anyPredicate: FilterParser<Expression> = first<Token, State, Expression>(
  abc(literal, comparison, termParser(COLUMN), (literal, op, term) => ({ op: FLIPPED[op], term, literal })),
  map(
    satisfy(({ keyword }) => keyword === 'TRUE' || keyword === 'FALSE'),
    ({ keyword }) => (keyword === 'TRUE' ? ALWAYS_TRUE : ALWAYS_FALSE),
  ),
  ab(termParser(CONDITION), eitherOr(tail, loneColumn), (term, make) => make(term)),
)

const predicate: FilterParser<Expression> = (data, start) => {
  const result = anyPredicate(data, start)
  if (result.matched) refuseCalendarNumbers(data, start, result.position)
  return result
}

/** Looks at the numbers of one predicate, if it is about a calendar transform. */
function refuseCalendarNumbers(data: Data<Token, State>, start: number, end: number): void {
  const { tokens } = data
  let kind: CalendarKind | undefined
  for (let i = start; i < end; i++)
    if (CALENDAR.includes(tokens[i].keyword) && isSymbol(tokens.at(i + 1), '('))
      kind = tokens[i].keyword.toLowerCase() as CalendarKind
  if (kind === undefined) return
  for (let i = start; i < end; i++) {
    const { kind: tokenKind, value } = tokens[i]
    if (tokenKind !== 'number' || !/^[+-]?\d{1,4}$/.test(value) || !looksLikeCalendar(kind, BigInt(value)))
      continue
    throw refuse(
      data,
      i,
      `${kind} gives ${countedBy(kind)}: compare the column itself with a date or timestamp, or write LONG '${value}' to mean that`,
    )
  }
}

/** A pair of parentheses, or the whole filter: what has been read of it. */
interface Group {
  /** Whether NOT stands before it. */
  readonly isNegated: boolean
  /** Operands of OR, and of the AND that goes on. */
  readonly alternatives: Expression[]
  factors: Expression[]
}

const negations = many(word('NOT', CONDITION))
const open = symbol('(', CONDITION)
const close = symbol(')')
const joint = eitherOr(word('AND'), word('OR'))

/**
 * Conditions joined by AND, OR, NOT and parentheses. The open parentheses are a stack of its own: the calls of
 * combinators for 500 of them would not fit into the one of the thread.
 */
const conditions: FilterParser<Expression> = (data, start) => {
  const groups: Group[] = [{ isNegated: false, alternatives: [], factors: [] }]
  let at = start
  for (;;) {
    const nots = negations(data, at)
    const isNegated = nots.value.length % 2 === 1
    const opened = open(data, nots.position)
    if (opened.matched) {
      if (groups.length > MAX_DEPTH)
        throw refuse(data, nots.position, `more than ${MAX_DEPTH} parentheses are open here`)
      groups.push({ isNegated, alternatives: [], factors: [] })
      at = opened.position
      continue
    }
    const condition = predicate(data, nots.position)
    if (!condition.matched) return condition
    groups[groups.length - 1].factors.push(isNegated ? not(condition.value) : condition.value)
    const next = closeGroups(groups, data, condition.position)
    if (!next.matched || next.value !== undefined) return next as Result<Expression>
    at = next.position
  }
}

/** Past the parentheses that close at `at` and the AND or OR after them; the whole filter where there is none. */
function closeGroups(groups: Group[], data: Data<Token, State>, at: number): Result<Expression | undefined> {
  for (;;) {
    const group = groups[groups.length - 1]
    const joined = joint(data, at)
    if (joined.matched) {
      if (joined.value.keyword === 'OR') endFactors(group)
      return { matched: true, position: joined.position, value: undefined }
    }
    endFactors(group)
    const combined = combineBalanced<Expression>(group.alternatives, disjunction)
    if (groups.length === 1) return { matched: true, position: at, value: combined }
    const closed = close(data, at)
    if (!closed.matched) return closed
    groups.pop()
    groups[groups.length - 1].factors.push(group.isNegated ? not(combined) : combined)
    at = closed.position
  }
}

function endFactors(group: Group): void {
  group.alternatives.push(combineBalanced<Expression>(group.factors, conjunction))
  group.factors = []
}

const FILTER: FilterParser<Expression> = left(conditions, expecting('the end', end))
