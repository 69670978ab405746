/**
 * The values of options: text to value, or a UsageError that says what was wanted. Ids are exact, times have a zone.
 */
import { UsageError } from './failure.ts'

/** The greatest id in 64 bits, unsigned: a table with an id beyond the signed ones is known. */
const MAX_ID = 2n ** 64n - 1n
/** As many as a planner takes. */
const MAX_WORKERS = 64

/** @throws UsageError unless it is a decimal integer of 64 bits */
export function parseSnapshotId(text: string): bigint {
  const id = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined
  if (id === undefined || id > MAX_ID)
    throw new UsageError(`Cannot use --snapshot-id ${text}: a snapshot id is an integer from 0 to ${MAX_ID}`)
  return id
}

const EPOCH_MS = /^-?\d{1,16}$/
const ISO_8601 =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:(Z)|([+-])(\d\d):?(\d\d))$/i
const ISO_8601_WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?$/i
/** What a JavaScript `Date` can hold: 100 million days on both sides of 1970. */
const MAX_EPOCH_MS = 8.64e15

/**
 * Epoch milliseconds. Digits beyond the millisecond are cut off: snapshots have whole milliseconds, and one is as of a
 * time if it is not later.
 *
 * @param text ISO 8601 with a zone, or epoch milliseconds
 * @throws UsageError for anything else; a time without a zone means another instant on another machine
 */
export function parseAsOf(text: string): number {
  const time = EPOCH_MS.test(text) ? Number(text) : parseIsoTime(text)
  if (time !== undefined && Math.abs(time) <= MAX_EPOCH_MS) return time
  // A zone is what is missing only if there is such a date.
  const inUtc = `${completed(text)}Z`
  if (ISO_8601_WITHOUT_ZONE.test(text) && parseIsoTime(inUtc) !== undefined)
    throw new UsageError(
      `Cannot use --as-of ${text}: it has no time zone; write ${inUtc} for UTC, or an offset such as +02:00`,
    )
  throw new UsageError(
    `Cannot use --as-of ${text}: want ISO 8601 with a zone, such as 2026-10-28T12:00:00Z, or epoch milliseconds`,
  )
}

function completed(text: string): string {
  return text.length === 10 ? `${text}T00:00:00` : text.replace(' ', 'T')
}

function parseIsoTime(text: string): number | undefined {
  const parts = ISO_8601.exec(text)
  if (parts === null) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part || 0))
  const [fraction = '', , sign, offsetHours = '0', offsetMinutes = '0'] = parts.slice(7)
  if (hour > 23 || minute > 59 || second > 59 || Number(offsetHours) > 23 || Number(offsetMinutes) > 59)
    return undefined
  const date = new Date(0)
  // Unlike Date.UTC, this does not take the year 26 for 1926.
  date.setUTCFullYear(year, month - 1, day)
  // 30 February would have become 2 March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  return date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + ms
}

/** @throws UsageError for anything but `auto` and whole numbers; how many are possible the planner knows */
export function parseWorkers(text: string): number | 'auto' {
  if (text === 'auto') return text
  if (!/^\d{1,4}$/.test(text))
    throw new UsageError(`Cannot use --workers ${text}: want a number of worker threads, or auto`)
  if (Number(text) > MAX_WORKERS)
    throw new UsageError(`Cannot use --workers ${text}: want at most ${MAX_WORKERS} worker threads`)
  return Number(text)
}

/**
 * Names between commas, added to those of an earlier `--select`.
 *
 * @throws UsageError for an empty name
 */
export function parseSelect(text: string, earlier: readonly string[] | undefined): string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes(''))
    throw new UsageError(`Cannot use --select '${text}': want names of columns, separated by commas`)
  return [...(earlier ?? []), ...names]
}

/**
 * `NAME=VALUE`; the first `=` splits.
 *
 * @throws UsageError without a name or without an `=`; it does not repeat the value, which may be secret
 */
export function parseProperty(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new UsageError('Cannot use --property: want NAME=VALUE, such as s3.region=eu-west-1')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** @throws UsageError for anything but a whole number above zero */
export function parseRequests(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new UsageError(`Cannot use --requests ${text}: want a whole number from 1 to 9999`)
  return Number(text)
}
