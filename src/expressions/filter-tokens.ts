/**
 * The words of a filter text. One pass, and each character is looked at a fixed number of times, whatever the text.
 *
 * | kind     | examples                | `value`                                       |
 * | -------- | ----------------------- | --------------------------------------------- |
 * | `word`   | `region` `AND` `größe`  | as written; `keyword` is the upper case       |
 * | `quoted` | `"two words"` `` `a` `` | the name, doubled quotes undone               |
 * | `string` | `'it''s'`               | the text, doubled quotes undone               |
 * | `bytes`  | `X'00ff'`               | the digits                                    |
 * | `number` | `5` `-1.5e3` `.5`       | as written                                    |
 * | `symbol` | `<=` `(` `,`            | as written                                    |
 */
import { InvalidArgumentError } from '../errors.ts'

export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'bytes' | 'number' | 'symbol'
  readonly value: string
  /** Upper case of a word of ASCII letters; else empty. */
  readonly keyword: string
  /** Of its first character in the text. */
  readonly offset: number
}

const SPACE = /\s*/y
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const SYMBOL = /[<>=!]=|<>|[<>=(),.]/y
/** What a number must not run into: `16abc` is a slip, and so is `1.2.3`. */
const MORE_OF_NUMBER = /[\p{L}\p{N}_$.]+/uy

/** @throws InvalidArgumentError for a character that begins nothing, and for quotes that never close. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = skip(SPACE, text, 0); at < text.length; at = skip(SPACE, text, at)) {
    const char = text[at]
    const offset = at
    if (char === "'" || char === '"' || char === '`') {
      at = endOfQuotes(text, at, offset)
      const kind = char === "'" ? 'string' : 'quoted'
      tokens.push({ kind, value: unquote(text, offset, at), keyword: '', offset })
    } else if ((char === 'X' || char === 'x') && text[at + 1] === "'") {
      at = endOfQuotes(text, at + 1, offset)
      tokens.push({ kind: 'bytes', value: unquote(text, offset + 1, at), keyword: '', offset })
    } else if ((at = skip(WORD, text, offset)) > offset) {
      const value = text.slice(offset, at)
      tokens.push({ kind: 'word', value, keyword: toKeyword(value), offset })
    } else if ((at = skip(NUMBER, text, offset)) > offset) {
      const end = skip(MORE_OF_NUMBER, text, at)
      if (end > at) throw refuseFilter(text, offset, `${shorten(text.slice(offset, end))} is no number`)
      tokens.push({ kind: 'number', value: text.slice(offset, at), keyword: '', offset })
    } else if ((at = skip(SYMBOL, text, offset)) > offset) {
      tokens.push({ kind: 'symbol', value: text.slice(offset, at), keyword: '', offset })
    } else {
      const unexpected = String.fromCodePoint(text.codePointAt(offset)!)
      throw refuseFilter(text, offset, `${JSON.stringify(unexpected)} means nothing here`)
    }
  }
  return tokens
}

/** A keyword in upper case, from a word in any; '' for words that are no keyword in any language. */
export function toKeyword(word: string): string {
  return word.length <= 16 && /^[a-z_]+$/i.test(word) ? word.toUpperCase() : ''
}

/** The offset after what `pattern`, which is sticky, matches at `at`; `at` itself where it does not match. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The offset after the quote that closes the one at `start`; a doubled quote stands for itself. */
function endOfQuotes(text: string, start: number, offset: number): number {
  const quote = text[start]
  for (let at = text.indexOf(quote, start + 1); at >= 0; at = text.indexOf(quote, at + 2))
    if (text[at + 1] !== quote) return at + 1
  throw refuseFilter(text, offset, `the ${quote} that opens here never closes`)
}

function unquote(text: string, start: number, end: number): string {
  const quote = text[start]
  return text.slice(start + 1, end - 1).replaceAll(quote + quote, quote)
}

/** The token as it stands in the text, for messages. */
export function describeToken(text: string, token: Token | undefined, next: Token | undefined): string {
  return token === undefined
    ? 'the end'
    : shorten(text.slice(token.offset, next?.offset ?? text.length).trimEnd())
}

const MAX_CHARS_SHOWN = 40

function shorten(text: string): string {
  return text.length > MAX_CHARS_SHOWN ? `${text.slice(0, MAX_CHARS_SHOWN)}...` : text
}

/** The error for a text that cannot be understood at `offset`; columns count from 1, in UTF-16 units. */
export function refuseFilter(text: string, offset: number, why: string): InvalidArgumentError {
  const before = text.slice(0, offset)
  const column = offset - before.lastIndexOf('\n')
  const line = before.split('\n').length
  const place = text.includes('\n') ? `line ${line}, column ${column}` : `column ${column}`
  return new InvalidArgumentError(`Cannot parse filter at ${place}: ${why}`)
}
