/**
 * Values of filter texts as literals. A value is taken exactly or refused: what a number or a timestamp loses by
 * rounding decides which files are read.
 */
import { describeJson } from '../types/json-object.ts'
import type { Type } from '../types/type.ts'
import { literalOf } from './literal-of.ts'
import { convertLiteral } from './convert-literal.ts'
import { parseTimestamp } from './date-time-text.ts'
import { parseDecimal, rescale } from './decimal-scale.ts'
import { refuseFilter, type Token } from './filter-tokens.ts'
import type { Literal } from './literal.ts'

/** Longer numbers are refused unread: no type has so many digits. */
const MAX_NUMBER_LENGTH = 400

const TYPES: ReadonlyMap<string, Type> = new Map([
  ['DATE', { kind: 'date' }],
  ['TIME', { kind: 'time' }],
  ['TIMESTAMP', { kind: 'timestamp' }],
  ['TIMESTAMPTZ', { kind: 'timestamptz' }],
  ['TIMESTAMP_NS', { kind: 'timestamp_ns' }],
  ['TIMESTAMPTZ_NS', { kind: 'timestamptz_ns' }],
  ['UUID', { kind: 'uuid' }],
  ['DECIMAL', { kind: 'unknown' }],
  ['DOUBLE', { kind: 'double' }],
  ['LONG', { kind: 'long' }],
])

/** Whether it says, before a text in quotes, of what type the text is. */
export function isTypeName(keyword: string): boolean {
  return TYPES.has(keyword)
}

/**
 * The literal of a token, which `typeName` may stand before. `filter` is the whole text, for the error.
 *
 * @throws InvalidArgumentError if the token is no value of the type.
 */
export function parseFilterLiteral(filter: string, token: Token, typeName?: string): Literal {
  const { kind, value, keyword, offset } = token
  if (typeName !== undefined) return parseTyped(filter, token, typeName)
  switch (kind) {
    case 'number':
      if (value.length > MAX_NUMBER_LENGTH)
        throw refuseFilter(filter, offset, `a number of ${value.length} characters is too long`)
      return /^[+-]?\d+$/.test(value) ? literalOf(BigInt(value)) : parseDouble(filter, token)
    case 'bytes':
      if (/^(?:[0-9a-f]{2})*$/i.test(value)) return { kind: 'binary', value: bytesOf(value) }
      throw refuseFilter(filter, offset, 'X takes an even number of hexadecimal digits')
    case 'word':
      return { kind: 'boolean', value: keyword === 'TRUE' }
    default:
      return { kind: 'string', value }
  }
}

/** Of a buffer of its own. */
function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'))
}

/**
 * A number with a point or an exponent. One that no double is, such as 12345678901234567.89, might be meant for a
 * decimal column, where its neighbour would be another value: the writer has to choose.
 */
function parseDouble(filter: string, { value: text, offset }: Token): Literal {
  const value = Number(text)
  if (!Number.isFinite(value)) throw refuseFilter(filter, offset, beyondDoubles(text))
  const written = parseDecimal(text)
  const shortest = parseDecimal(String(value))
  if (written !== undefined && shortest !== undefined) {
    const rescaled = rescale(written, shortest.scale)
    if (rescaled.kind === 'exact' && rescaled.unscaled === shortest.unscaled) return { kind: 'double', value }
  }
  throw refuseFilter(
    filter,
    offset,
    `${text.slice(0, 40)} is no double exactly: write DECIMAL '...' or DOUBLE '...', as the type of the column is`,
  )
}

function beyondDoubles(text: string): string {
  return `${text.slice(0, 40)} is beyond the doubles, which end at ${Number.MAX_VALUE}: infinity is DOUBLE '${text.startsWith('-') ? '-' : ''}Infinity'`
}

function parseTyped(filter: string, { value: text, offset }: Token, typeName: string): Literal {
  const type = TYPES.get(typeName)!
  const refuse = (why: string): Error =>
    refuseFilter(filter, offset, `${describeJson(text)} is no ${typeName}: ${why}`)
  if (text.length > MAX_NUMBER_LENGTH) throw refuse(`${text.length} characters are too many`)
  if (type.kind === 'unknown') {
    const decimal = parseDecimal(text)
    if (decimal === undefined) throw refuse('write a number, as in 12.50')
    return { kind: 'decimal', value: decimal.unscaled, scale: decimal.scale }
  }
  if (type.kind === 'long') {
    if (!/^[+-]?\d+$/.test(text)) throw refuse('write a whole number')
    return literalOf(BigInt(text))
  }
  if (type.kind === 'double') {
    const value = Number(text)
    if (/^[+-]?Infinity$/.test(text)) return { kind: 'double', value }
    if (parseDecimal(text) === undefined) throw refuse('write a number or Infinity')
    if (!Number.isFinite(value)) throw refuseFilter(filter, offset, beyondDoubles(text))
    return { kind: 'double', value }
  }
  const isUnzoned = type.kind === 'timestamp' || type.kind === 'timestamp_ns'
  if (isUnzoned && parseTimestamp(text)?.isZoned === true) {
    const zoned = typeName.replace('TIMESTAMP', 'TIMESTAMPTZ')
    throw refuseFilter(filter, offset, `${typeName} has no zone: write ${zoned} '${text}'`)
  }
  const converted = convertLiteral({ kind: 'string', value: text }, type)
  if (converted.kind === 'value') return { kind: type.kind, value: converted.value } as Literal
  if (converted.kind === 'not-convertible') throw refuse(converted.reason)
  throw refuse(
    type.kind === 'time' ? 'a time has six digits after the point' : `write ${typeName}_NS for nine digits`,
  )
}
