/**
 * Text for people: widths as a terminal shows them, numbers with units, and nothing that a file name could do to the
 * terminal.
 */
import picocolors from 'picocolors'
import type { StandardStream } from './run.ts'

export type Colors = ReturnType<typeof picocolors.createColors>

/** Colours for a terminal, and none for pipes and files, or where NO_COLOR is set (no-color.org). */
export function colorsFor(stream: Pick<StandardStream, 'isTTY'>, environment = process.env): Colors {
  const isOff = (environment.NO_COLOR ?? '') !== '' || environment.TERM === 'dumb'
  return picocolors.createColors(stream.isTTY === true && !isOff)
}

/** Control characters, escape sequences' ESC among them, and those that turn the direction of writing around. */
// eslint-disable-next-line no-control-regex -- they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The text with `\u001b` written out: what metadata says cannot move the cursor or end a line. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const ASCII = /^[\u0020-\u007e]*$/
const NO_WIDTH = /^[\p{Mark}\u200b-\u200d\ufeff]$/u
/** East Asian wide and full-width forms (Unicode TR 11), and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u

function charWidth(char: string): number {
  if (WIDE.test(char)) return 2
  return NO_WIDTH.test(char) ? 0 : 1
}

/** Columns that a text without control characters takes on a terminal. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** Fills up with spaces; a text that is too long stays as it is. */
export function pad(text: string, width: number, align: 'left' | 'right'): string {
  const missing = width - displayWidth(text)
  if (missing <= 0) return text
  return align === 'left' ? text + ' '.repeat(missing) : ' '.repeat(missing) + text
}

/** The text in at most `width` columns, with `…` for what is left out of its middle; two thirds go to the end. */
export function shortenMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  const chars = Array.from(text)
  const head = takeWidth(chars, Math.floor((width - 1) / 3))
  const tail = takeWidth(chars.reverse(), width - 1 - displayWidth(head.join('')))
  return `${head.join('')}…${tail.reverse().join('')}`
}

/**
 * A path in at most `width` columns. Folders go first, for what tells files apart is their names: in the names that
 * writers give, the beginning (partition and task) and the end (a counter) more than the UUID between.
 */
export function shortenPath(path: string, width: number): string {
  if (displayWidth(path) <= width) return path
  const at = path.lastIndexOf('/')
  const name = path.slice(at + 1)
  const room = width - displayWidth(name) - displayWidth('…/')
  if (at < 0 || room < 0) return shortenMiddle(name, width)
  return `${takeWidth(Array.from(path.slice(0, at)), room).join('')}…/${name}`
}

/** The first chars that fit. */
function takeWidth(chars: readonly string[], width: number): string[] {
  let used = 0
  const end = chars.findIndex((char) => (used += charWidth(char)) > width)
  return chars.slice(0, end < 0 ? chars.length : end)
}

/** `1,234,567`, for whole numbers. By hand: what `Intl` loads takes as long as a small plan. */
export function formatCount(count: number): string {
  if (count < 0) return `-${formatCount(-count)}`
  const digits = String(count)
  let end = digits.length
  let groups = ''
  for (; end > 3; end -= 3) groups = `,${digits.slice(end - 3, end)}${groups}`
  return digits.slice(0, end) + groups
}

/** `1 task`, `2 tasks` */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']

/** `512 B`, `4.6 KiB`: three digits or so, powers of 1024. */
export function formatBytes(bytes: number): string {
  if (Math.abs(bytes) < 1024) return `${bytes} B`
  let value = bytes / 1024
  let unit = 0
  // What would be rounded to 1024.0 belongs to the next unit.
  while (Math.abs(value) >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`
}

/** Lines of a label and a text, the texts below each other. */
export function labelled(lines: readonly (readonly [label: string, text: string])[], colors: Colors): string {
  const width = Math.max(...lines.map(([label]) => label.length))
  return lines.map(([label, text]) => `  ${colors.dim(label.padEnd(width))}  ${text}\n`).join('')
}
