/** Literals in error messages: one line, however long or hostile the value is. */
import type { Literal } from './literal.ts'
import { describeJson } from '../types/json-object.ts'
import { valueToJson } from '../types/single-value.ts'

const MAX_CHARS_SHOWN = 80
/** More digits than this after the point are written as an exponent. */
const MAX_SCALE_SHOWN = 40

/** The value as a person would write it; strings in quotes. */
export function describeLiteral(literal: Literal): string {
  switch (literal.kind) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      return String(literal.value)
    case 'decimal':
      return shorten(formatDecimal(literal.value, literal.scale))
    case 'string':
      return describeJson(literal.value)
    case 'fixed':
    case 'binary':
      return `X'${shorten(Buffer.from(literal.value.subarray(0, MAX_CHARS_SHOWN)).toString('hex'))}'`
    default:
      return shorten(valueToJson({ kind: literal.kind }, literal.value) as string)
  }
}

function formatDecimal(unscaled: bigint, scale: number): string {
  if (scale < 0 || scale > MAX_SCALE_SHOWN) return `${unscaled.toString()}E${-scale}`
  return valueToJson({ kind: 'decimal', precision: 38, scale }, unscaled) as string
}

function shorten(text: string): string {
  return text.length > MAX_CHARS_SHOWN ? `${text.slice(0, MAX_CHARS_SHOWN)}...` : text
}
