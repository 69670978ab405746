/**
 * JSON whose integers stay exact. `JSON.parse` reads every number as a double, so a snapshot id such as
 * 3051729675574597004 would become another id (R13.12, B123).
 *
 * Parsing still leaves the work to `JSON.parse`: a first pass rewrites each integer beyond 2^53 as a string that begins
 * with U+0000, and a last pass over the result turns these strings into `bigint`. Strings of the input may begin with
 * U+0000 too, so they are marked as well:
 *
 *     3051729675574597004  →  "\u0000n3051729675574597004"  →  3051729675574597004n
 *     "\u0000n17"          →  "\u0000s\u0000n17"            →  "\u0000n17", the string it was
 *
 * A text without a run of 16 digits, the fewest that exceed 2^53, goes to `JSON.parse` at once.
 */

/**
 * Parses like `JSON.parse`, except that integers beyond ±(2^53 - 1) are `bigint` (up to 1000 digits). Numbers with a point or an exponent
 * are doubles as ever.
 *
 * @throws SyntaxError with the offset, line and column of the first character that cannot be JSON.
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return parsePlain(text, text)
  const marked = markBigIntegers(text)
  const parsed = parsePlain(marked, text)
  return marked === text ? parsed : unmark(parsed)
}

function parsePlain(text: string, original: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw explainSyntaxError(original, error)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
/** Digits of 2^53; shorter integers are exact as doubles. */
const MIN_BIG_DIGITS = 16
/** Far beyond 64 bits. A longer integer stays the double it is to `JSON.parse`: making it a bigint costs too much. */
const MAX_BIG_DIGITS = 1000
const NUL_ESCAPE = '\\u0000'

/**
 * The text with its big integers and its strings that begin with U+0000 marked; valid exactly when `text` is. Whatever
 * is not plainly a number or string value is left for `JSON.parse` to refuse.
 */
function markBigIntegers(text: string): string {
  const parts: string[] = []
  const length = text.length
  let copied = 0
  let at = 0
  while (at < length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      const end = endOfString(text, at)
      if (end < 0) return text
      if (
        text.charCodeAt(at + 1) === BACKSLASH &&
        text.startsWith(NUL_ESCAPE, at + 1) &&
        isValue(text, end)
      ) {
        parts.push(text.slice(copied, at + 1), NUL_ESCAPE, 's')
        copied = at + 1
      }
      at = end
    } else if (char === MINUS || (char >= ZERO && char <= NINE)) {
      const end = endOfNumber(text, at)
      if (end - at >= MIN_BIG_DIGITS && end - at <= MAX_BIG_DIGITS) {
        const token = text.slice(at, end)
        if (/^-?[1-9]\d*$/.test(token) && !Number.isSafeInteger(Number(token)) && isValue(text, end)) {
          parts.push(text.slice(copied, at), `"${NUL_ESCAPE}n`, token, '"')
          copied = end
        }
      }
      at = end
    } else at++
  }
  if (copied === 0) return text
  parts.push(text.slice(copied))
  return parts.join('')
}

/**
 * The offset after the closing quote of the string that opens at `start`; -1 if it never closes. A plain loop: strings
 * of metadata are short, and calling `indexOf` for each took twice as long.
 */
function endOfString(text: string, start: number): number {
  const length = text.length
  let at = start + 1
  while (at < length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at + 1
    at += char === BACKSLASH ? 2 : 1
  }
  return -1
}

/** The offset after the longest run of characters that numbers are made of: digits, signs, point, exponent. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const char = text.charCodeAt(at)
    const isDigit = char >= ZERO && char <= NINE
    // + - . E e
    if (!isDigit && char !== 0x2b && char !== MINUS && char !== 0x2e && char !== 0x45 && char !== 0x65)
      return at
    at++
  }
}

/**
 * Whether the token that ends at `end` stands where a value stands: before a comma, a closing bracket or the end. Keys
 * are not marked, and a number in the place of a key must stay the error that it is.
 */
function isValue(text: string, end: number): boolean {
  for (let at = end; at < text.length; at++) {
    const char = text[at]
    if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t')
      return char === ',' || char === '}' || char === ']'
  }
  return true
}

/** Replaces marked strings in place, with a stack of its own: `JSON.parse` allows any depth. */
function unmark(root: unknown): unknown {
  if (typeof root === 'string') return unmarkString(root)
  const open: object[] = []
  if (typeof root === 'object' && root !== null) open.push(root)
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) {
      const items: unknown[] = node
      for (let i = 0; i < items.length; i++) {
        const value = items[i]
        if (typeof value === 'string') {
          if (value.charCodeAt(0) === 0) items[i] = unmarkString(value)
        } else if (typeof value === 'object' && value !== null) open.push(value)
      }
    } else {
      const object = node as Record<string, unknown>
      for (const key of Object.keys(object)) {
        const value = object[key]
        if (typeof value === 'string') {
          if (value.charCodeAt(0) === 0) object[key] = unmarkString(value)
        } else if (typeof value === 'object' && value !== null) open.push(value)
      }
    }
  }
  return root
}

function unmarkString(text: string): string | bigint {
  if (text.charCodeAt(0) !== 0) return text
  return text[1] === 'n' ? BigInt(text.slice(2)) : text.slice(2)
}

function explainSyntaxError(text: string, cause: unknown): SyntaxError {
  const offset = findSyntaxError(text)
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - before.lastIndexOf('\n')
  const what = offset < text.length ? `Unexpected ${JSON.stringify(text[offset])}` : 'Unexpected end'
  return new SyntaxError(`${what} at offset ${offset} (line ${line}, column ${column})`, { cause })
}

/**
 * The offset of the first character that cannot continue a JSON text, or its length when it ends too early. Messages of
 * `JSON.parse` name no place in long texts, so this walks a text that it refused once more.
 */
function findSyntaxError(text: string): number {
  const SPACE = /[ \t\n\r]*/y
  const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
  const closers: string[] = []
  let expected = 'value' as 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end'
  let at = 0
  for (;;) {
    SPACE.lastIndex = at
    SPACE.test(text)
    at = SPACE.lastIndex
    if (at >= text.length) return text.length
    const char = text[at]
    const closer = closers.at(-1)
    if (expected === 'comma or end' && closer === undefined) return at
    if (char === closer && expected.endsWith('or end')) {
      closers.pop()
      expected = 'comma or end'
      at++
    } else if (expected === 'comma or end') {
      if (char !== ',') return at
      expected = closer === '}' ? 'key' : 'value'
      at++
    } else if (expected === 'colon') {
      if (char !== ':') return at
      expected = 'value'
      at++
    } else if (char === '"') {
      const end = scanString(text, at)
      if (end.bad) return end.at
      expected = expected === 'key' || expected === 'key or end' ? 'colon' : 'comma or end'
      at = end.at
    } else if (expected === 'key' || expected === 'key or end') {
      return at
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']')
      expected = char === '{' ? 'key or end' : 'value or end'
      at++
    } else {
      SCALAR.lastIndex = at
      if (!SCALAR.test(text)) return at
      expected = 'comma or end'
      at = SCALAR.lastIndex
    }
  }
}

/** From the opening quote to after the closing one; `bad` when `at` is a character that no string may hold there. */
function scanString(text: string, start: number): { at: number; bad: boolean } {
  const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
  let at = start + 1
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return { at: at + 1, bad: false }
    if (char < 0x20) return { at, bad: true }
    if (char === BACKSLASH) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) return { at, bad: true }
      at = ESCAPE.lastIndex
    } else at++
  }
  return { at, bad: true }
}

/**
 * Formats like `JSON.stringify`, except that `bigint` becomes a bare integer and -0 stays `-0`. `indent` is the number
 * of spaces of one level; 0 writes one line.
 */
export function formatJson(value: unknown, indent = 0): string {
  return format(value, '', indent > 0 ? '\n' : '', ' '.repeat(indent)) ?? 'null'
}

/** `undefined` for what JSON leaves out of objects and writes as null in arrays. */
function format(value: unknown, key: string, lineBreak: string, step: string): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? String(value) : 'null'
    case 'bigint':
    case 'boolean':
      return value.toString()
    case 'object':
      break
    default:
      return undefined
  }
  if (value === null) return 'null'
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') {
    const plain: unknown = toJSON.call(value, key)
    return plain === value ? formatMembers(value, lineBreak, step) : format(plain, key, lineBreak, step)
  }
  return formatMembers(value, lineBreak, step)
}

function formatMembers(value: object, lineBreak: string, step: string): string {
  const inner = lineBreak + step
  if (Array.isArray(value)) {
    const items: unknown[] = value
    const texts: string[] = []
    for (let i = 0; i < items.length; i++) texts.push(format(items[i], String(i), inner, step) ?? 'null')
    return texts.length === 0 ? '[]' : `[${inner}${texts.join(`,${inner}`)}${lineBreak}]`
  }
  const colon = lineBreak === '' ? ':' : ': '
  const object = value as Record<string, unknown>
  let text = ''
  for (const key of Object.keys(object)) {
    const member = format(object[key], key, inner, step)
    if (member !== undefined) text += `${text === '' ? inner : `,${inner}`}${quoted(key)}${colon}${member}`
  }
  return text === '' ? '{}' : `{${text}${lineBreak}}`
}

/** Keys in quotes: there are few, many times. */
const QUOTED = new Map<string, string>()
const MAX_QUOTED = 1000
const MAX_QUOTED_LENGTH = 64

function quoted(key: string): string {
  if (key.length > MAX_QUOTED_LENGTH) return JSON.stringify(key)
  let text = QUOTED.get(key)
  if (text === undefined) {
    if (QUOTED.size === MAX_QUOTED) QUOTED.clear()
    QUOTED.set(key, (text = JSON.stringify(key)))
  }
  return text
}
