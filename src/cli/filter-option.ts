/** The value of `--filter`. */
import { isIcebergError, toExpression, type Expression } from '../index.ts'
import { UsageError } from './failure.ts'
import { displayWidth, printable } from './text.ts'

/** @throws UsageError for text that is no filter; whether the table has its columns only the table knows */
export function parseFilterOption(text: string): Expression {
  try {
    return toExpression(text)
  } catch (error) {
    if (isIcebergError(error)) throw new UsageError(error.message, excerpt(text, error.message))
    throw error
  }
}

/** How messages about SQL-like text give the place; those about JSON give none that begins like this. */
const PLACE = /^Cannot parse filter at (?:line (\d+), )?column (\d+):/

/** Characters of the line that are shown before the place, and from it on. */
const SHOWN_BEFORE = 40
const SHOWN_AFTER = 30

/** The line that a message is about, with a caret below the place; `undefined` if the message names none. */
function excerpt(text: string, message: string): string | undefined {
  const place = PLACE.exec(message)
  if (place === null) return undefined
  const [, lineNumber = '1', column] = place
  const line = text.split('\n')[Number(lineNumber) - 1]
  const at = Number(column) - 1
  const from = Math.max(0, at - SHOWN_BEFORE)
  const to = at + SHOWN_AFTER
  const before = (from > 0 ? '…' : '') + printable(line.slice(from, at))
  const after = printable(line.slice(at, to)) + (to < line.length ? '…' : '')
  return `  ${before}${after}\n  ${' '.repeat(displayWidth(before))}^\n`
}
