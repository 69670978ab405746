/**
 * Filters as text against PyIceberg's `row_filter`: the same meaning or a refusal, but for what is listed here. What one
 * accepts and the other refuses can surprise nobody with another plan; no text means one thing here and another there.
 */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { expressionFromJson } from '../../src/expressions/expression-json.ts'
import { parseFilter } from '../../src/expressions/parse-filter.ts'
import type { JsonValue } from '../../src/types/value.ts'
import { readOracleFile } from './answers.ts'
import { shapeOf } from './expression-shape.ts'

interface AnsweredText {
  readonly text: string
  readonly filter?: JsonValue
  readonly error?: string
}

const TEXTS = (readOracleFile('pyiceberg.row-filters.json') as unknown as { texts: readonly AnsweredText[] })
  .texts

/** What we take and PyIceberg does not, and what it is here. */
const ONLY_OURS: Readonly<Record<string, readonly [shape: string, why: string]>> = {
  'a = 1e5': ['a eq 100000', 'numbers have exponents'],
  'a = 1.5e5': ['a eq 150000', 'numbers have exponents'],
  "a = 'two\nlines'": ['a eq "two\\nlines"', 'a value may hold any character'],
  "a = date '2026-11-30'": ['a eq date 20787', 'typed literals of SQL'],
  'a in (1, 2.5)': ['a in 1 2.5', 'the column decides what its literals become'],
  'a in (1.5, 2)': ['a in 1.5 2', 'the column decides what its literals become'],
  "a in (1, 'x')": ['a in "x" 1', 'the column decides, and refuses one of them'],
  'a in ()': ['a in', 'an empty set is false (R11.14)'],
  'a not between 1 and 2': ['(a lt 1 or a gt 2)', 'SQL has it'],
  "a starts with 'x'": ['a starts-with "x"', 'a prefix that holds % needs no escape'],
  'not true': ['false', 'constants are conditions'],
  'true and a = 1': ['a eq 1', 'constants are conditions, and simplified (R11.21)'],
  'a = 1 or true': ['true', 'constants are conditions, and simplified (R11.21)'],
  '"a.b" = 1': ['a.b eq 1', 'names are looked up whole, and may hold a dot (R11.1)'],
  '"a""b" = 1': ['a"b eq 1', 'a quote in a name is doubled, as in SQL'],
  '`a` = 1': ['a eq 1', 'names in backticks, as Spark has them'],
  'é = 1': ['é eq 1', 'letters of all alphabets'],
  "day(a) = '2026-11-30'": ['day(a) eq "2026-11-30"', 'transforms are terms (R11.18)'],
}

/** What PyIceberg takes and we do not. */
const ONLY_THEIRS: Readonly<Record<string, string>> = {
  "a = 'it\\'s'":
    'a backslash is a character like another, so the text ends at the quote; SQL doubles quotes',
  "a like 'x_'":
    '_ stands for any character in SQL, and means itself only as \\_; PyIceberg takes it for itself',
  'and = 1': 'keywords as names are quoted',
  'null = 1': 'keywords as names are quoted',
  'in = 1': 'keywords as names are quoted',
}

describe("PyIceberg's row_filter texts", () => {
  for (const { text, filter } of TEXTS) {
    const ours = Object.hasOwn(ONLY_OURS, text) ? ONLY_OURS[text] : undefined
    const refusal = Object.hasOwn(ONLY_THEIRS, text) ? ONLY_THEIRS[text] : undefined
    const why = ours === undefined ? refusal : ours[1]
    it(`${JSON.stringify(text)}${why === undefined ? '' : `: ${why}`}`, () => {
      const shape = shapeOrRefusal(text)
      if (ours !== undefined) assert.isUndefined(filter)
      if (refusal !== undefined) assert.isDefined(filter)
      const same = filter === undefined ? undefined : shapeOf(expressionFromJson(filter))
      assert.equal(shape, ours === undefined ? (refusal === undefined ? same : undefined) : ours[0])
    })
  }

  it('hold every text that is listed here', () => {
    const texts = TEXTS.map(({ text }) => text)
    assert.includeMembers(texts, [...Object.keys(ONLY_OURS), ...Object.keys(ONLY_THEIRS)])
  })
})

function shapeOrRefusal(text: string): string | undefined {
  try {
    return shapeOf(parseFilter(text))
  } catch (error) {
    if (isIcebergError(error) && error.code === 'ERR_INVALID_ARGUMENT') return undefined
    throw error
  }
}
