/**
 * The transforms year, month, day and hour: whole units since 1970-01-01T00:00 UTC, rounded down (R14.9, B062).
 * 1969-12-31T23:59 is year -1, month -1, day -1 and hour -1. The calendar is the Gregorian one for all years, and no
 * local time comes into it (B064).
 */
import type { Type } from '../type.ts'
import { floorDivide } from './floor-divide.ts'

export type CalendarUnit = 'year' | 'month' | 'day' | 'hour'

export interface CalendarDate {
  /** Astronomical: 0 is 1 BC. */
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

const MICROS_PER_SECOND = 1_000_000n
const NANOS_PER_SECOND = 1_000_000_000n
const SECONDS_PER_HOUR = 3600n
const SECONDS_PER_DAY = 86_400n

/** Whether a value of the type is a moment or a day, so that it has a year, a month and a day. */
export function isCalendarType(type: Type): boolean {
  return type.kind === 'date' || isTimestamp(type)
}

/** Zoned or not, in microseconds or nanoseconds. */
export function isTimestamp(type: Type): boolean {
  switch (type.kind) {
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return true
    default:
      return false
  }
}

/** How many units of a timestamp's values make a second. */
export function unitsPerSecond(type: Type): bigint {
  return type.kind === 'timestamp_ns' || type.kind === 'timestamptz_ns' ? NANOS_PER_SECOND : MICROS_PER_SECOND
}

/**
 * Whole units from 1970 to a date (its days) or a timestamp; a date has no hours. Exact for all 64 bits, whose hours
 * are more than an int can count: 2562047788 at the end of the microseconds.
 */
export function calendarUnits(unit: CalendarUnit, type: Type, value: number | bigint): number {
  if (typeof value === 'number') return unitsOfDays(unit, value)
  const perSecond = unitsPerSecond(type)
  if (unit === 'hour') return Number(floorDivide(value, perSecond * SECONDS_PER_HOUR))
  return unitsOfDays(unit, Number(floorDivide(value, perSecond * SECONDS_PER_DAY)))
}

function unitsOfDays(unit: CalendarUnit, days: number): number {
  if (unit === 'day') return days
  const { year, month } = calendarDate(days)
  return unit === 'year' ? year - 1970 : (year - 1970) * 12 + month - 1
}

/** The date that is `days` after 1970-01-01. Exact for every int, unlike `Date`. */
export function calendarDate(days: number): CalendarDate {
  // Counted from 0000-03-01, so that the leap day ends a year; an era is 400 years.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}
