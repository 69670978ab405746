/**
 * Dates and times as filters write them (R11.11). Strict ISO 8601, with what people type by hand: a space for the `T`.
 *
 *     2026-10-28               a date; years beyond four digits and negative ones carry a sign
 *     12:30  12:30:00.123456   a time of day; seconds and up to nine digits of fraction may be left out
 *     2026-10-28T12:30:00      a timestamp without zone
 *     2026-10-28T12:30:00Z     with one: `Z` or `+05:30`, and Java's `[Region]` after it, which adds nothing
 *
 * Everything is exact: fractions are nanoseconds, padded on the right (B124), and nothing is rounded here.
 */

const DATE = /^(\d{4}|\+\d{5,9}|-\d{4,9})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?$/
const OFFSET = /^(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d))?)(?:\[[^\]]+\])?$/i
const TIMESTAMP = /^([+-]?\d{4,9}-\d\d-\d\d)[Tt ]([\d:.]+)(.*)$/

const NANOS_PER_SECOND = 1_000_000_000n
const SECONDS_PER_DAY = 86_400n
const MAX_OFFSET_SECONDS = 18 * 3600
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export interface ParsedTimestamp {
  /** Since 1970-01-01T00:00: in UTC if zoned, else on the clock that was written. */
  readonly nanos: bigint
  readonly isZoned: boolean
}

/** Days since 1970-01-01, not limited to 32 bits; `undefined` when the text is no date of the calendar. */
export function parseDate(text: string): number | undefined {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const year = Number(match[1])
  const month = Number(match[2])
  const day = Number(match[3])
  if (Object.is(year, -0) || month < 1 || month > 12) return undefined
  if (day < 1 || day > daysInMonth(year, month)) return undefined
  return daysSinceEpoch(year, month, day)
}

/** Nanoseconds since midnight; `undefined` when the text is no time of day. */
export function parseTime(text: string): bigint | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [hour, minute, second] = [match[1], match[2], match.at(3) ?? '0'].map(Number)
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const fraction = BigInt((match.at(4) ?? '').padEnd(9, '0'))
  return BigInt(hour * 3600 + minute * 60 + second) * NANOS_PER_SECOND + fraction
}

/** `undefined` when the text is no timestamp; a date alone is none. */
export function parseTimestamp(text: string): ParsedTimestamp | undefined {
  const match = TIMESTAMP.exec(text)
  if (match === null) return undefined
  const days = parseDate(match[1])
  const time = parseTime(match[2])
  const offset = match[3] === '' ? 0 : parseOffset(match[3])
  if (days === undefined || time === undefined || offset === undefined) return undefined
  const midnight = BigInt(days) * SECONDS_PER_DAY - BigInt(offset)
  return { nanos: midnight * NANOS_PER_SECOND + time, isZoned: match[3] !== '' }
}

/** Seconds east of Greenwich. */
function parseOffset(text: string): number | undefined {
  const match = OFFSET.exec(text)
  if (match === null) return undefined
  const [hours, minutes, seconds] = [2, 3, 4].map((group) => Number(match.at(group) ?? '0'))
  const total = hours * 3600 + minutes * 60 + seconds
  if (minutes > 59 || seconds > 59 || total > MAX_OFFSET_SECONDS) return undefined
  return match[1] === '-' ? -total : total
}

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeap ? 29 : DAYS_IN_MONTH[month - 1]
}

/** Proleptic Gregorian calendar, counted from 0000-03-01 so that the leap day ends a year; an era is 400 years. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year
  const era = Math.floor(shiftedYear / 400)
  const yearOfEra = shiftedYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
