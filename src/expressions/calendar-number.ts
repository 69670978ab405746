/**
 * Numbers that say something else to people than to `year`, `month`, `day` and `hour`, which count from 1970 (R11.18):
 * `year(ts) = 2026` would be a filter for the year 3996, and drop every file without a word.
 */

/** What a number of the calendar or the clock would be, ends included. */
const CALENDAR = {
  year: { from: 1000n, to: 9999n, since: 'years since 1970 (2026 is 56)' },
  month: { from: 1n, to: 12n, since: 'months since January 1970 (January 2026 is 672)' },
  day: { from: 1n, to: 31n, since: 'days since 1970-01-01' },
  hour: { from: 0n, to: 23n, since: 'hours since 1970-01-01T00:00' },
} as const

export type CalendarKind = keyof typeof CALENDAR

export function isCalendarKind(kind: string): kind is CalendarKind {
  return kind in CALENDAR
}

/** Whether somebody who writes this number most likely means the calendar's. */
export function looksLikeCalendar(kind: CalendarKind, value: bigint): boolean {
  const { from, to } = CALENDAR[kind]
  return value >= from && value <= to
}

/** What the transform counts. */
export function countedBy(kind: CalendarKind): string {
  return CALENDAR[kind].since
}
