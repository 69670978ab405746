/**
 * Predicates on dates and timestamps through year, month, day and hour (R3.12 to R3.18). T counts whole units since
 * 1970, rounded down; u is the unit of the column's values, a day, a microsecond or a nanosecond:
 *
 * | predicate | inclusive      | strict       | predicate | inclusive | strict      |
 * | --------- | -------------- | ------------ | --------- | --------- | ----------- |
 * | `< v`     | `<= T(v - u)`  | `< T(v)`     | `= v`     | `= T(v)`  | none        |
 * | `<= v`    | `<= T(v)`      | `< T(v + u)` | `!= v`    | none      | `!= T(v)`   |
 * | `> v`     | `>= T(v + u)`  | `> T(v)`     | `in S`    | in T(S)   | none        |
 * | `>= v`    | `>= T(v)`      | `> T(v - u)` | `not in`  | none      | not in T(S) |
 *
 * Writers have stored values from before 1970 in two wrong partitions, and nothing tells which writer it was:
 *
 * - **One too large**, by rounding towards zero (Java up to 0.10; R3.14). A projected p below 0 may be p + 1, for strict
 *   `>` also a p of 0. Days of dates were always right (R3.15).
 * - **One too small**, for the last instant of the first second of a unit (Java to this day; R14.10, R3.18): 00:00:00.999999
 *   lies in the day before. Such an instant, if it is what T is applied to, has both partitions.
 *
 * Inclusive projections admit the wrong partitions, strict ones conclude nothing from them.
 */
import {
  calendarUnits,
  isTimestamp,
  unitsPerSecond,
  type CalendarUnit,
} from '../types/transforms/calendar.ts'
import { floorRemainder } from '../types/transforms/floor-divide.ts'
import type { Type } from '../types/type.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from './expression.ts'
import type { PartitionExpression, PartitionTerm } from './partition-expression.ts'
import {
  comparePartition,
  literalsOf,
  partitionIn,
  partitionNotIn,
  type ValuePredicate,
} from './partition-predicate.ts'

const MIN_INT = -(2 ** 31)
const MAX_INT = 2 ** 31 - 1
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

/** A date's days, or a timestamp. */
type Instant = number | bigint

export function projectCalendarInclusive(
  predicate: ValuePredicate,
  unit: CalendarUnit,
  term: PartitionTerm,
): PartitionExpression {
  const column = new CalendarColumn(unit, predicate.term.sourceType)
  if (!instantsOf(predicate).every((value) => column.isCounted(value))) return ALWAYS_TRUE
  switch (predicate.op) {
    case 'lt':
      return comparePartition('lt-eq', term, column.greatest(before(predicate.value as Instant)))
    case 'lt-eq':
      return comparePartition('lt-eq', term, column.greatest(predicate.value as Instant))
    case 'gt':
      return comparePartition('gt-eq', term, column.least(after(predicate.value as Instant)))
    case 'gt-eq':
      return comparePartition('gt-eq', term, column.least(predicate.value as Instant))
    case 'eq':
    case 'in':
      return partitionIn(
        term,
        instantsOf(predicate).flatMap((value) => column.partitions(value)),
      )
    case 'not-eq':
    case 'not-in':
    case 'starts-with':
    case 'not-starts-with':
      return ALWAYS_TRUE
  }
}

export function projectCalendarStrict(
  predicate: ValuePredicate,
  unit: CalendarUnit,
  term: PartitionTerm,
): PartitionExpression {
  const column = new CalendarColumn(unit, predicate.term.sourceType)
  if (!instantsOf(predicate).every((value) => column.isCounted(value))) return ALWAYS_FALSE
  switch (predicate.op) {
    case 'lt':
      return comparePartition('lt', term, column.least(predicate.value as Instant))
    case 'lt-eq':
      return comparePartition('lt', term, column.least(after(predicate.value as Instant)))
    case 'gt':
      return comparePartition('gt', term, column.lastDoubtful(predicate.value as Instant))
    case 'gt-eq':
      return comparePartition('gt', term, column.lastDoubtful(before(predicate.value as Instant)))
    case 'not-eq':
    case 'not-in':
      return partitionNotIn(
        term,
        instantsOf(predicate).flatMap((value) => column.partitions(value)),
      )
    case 'eq':
    case 'in':
    case 'starts-with':
    case 'not-starts-with':
      return ALWAYS_FALSE
  }
}

function instantsOf(predicate: ValuePredicate): readonly Instant[] {
  return literalsOf(predicate) as readonly Instant[]
}

/** One unit earlier; the earliest stays. */
function before(instant: Instant): Instant {
  if (typeof instant === 'number') return Math.max(instant - 1, MIN_INT)
  return instant === MIN_LONG ? instant : instant - 1n
}

/** One unit later; the latest stays. */
function after(instant: Instant): Instant {
  if (typeof instant === 'number') return Math.min(instant + 1, MAX_INT)
  return instant === MAX_LONG ? instant : instant + 1n
}

/** Which partitions an instant can be stored in. */
class CalendarColumn {
  readonly #unit: CalendarUnit
  readonly #type: Type
  /** Whether writers rounded towards zero. */
  readonly #isFixed: boolean

  constructor(unit: CalendarUnit, type: Type) {
    this.#unit = unit
    this.#type = type
    this.#isFixed = isTimestamp(type) || unit !== 'day'
  }

  /** Whether the partition is an int: hours of the outermost timestamps are not, and how they are stored is not known. */
  isCounted(instant: Instant): boolean {
    const partition = this.#right(instant)
    return partition >= MIN_INT && partition <= MAX_INT
  }

  /** From the least to the greatest. */
  partitions(instant: Instant): number[] {
    const partitions: number[] = []
    for (let partition = this.least(instant); partition <= this.greatest(instant); partition++)
      partitions.push(partition)
    return partitions
  }

  least(instant: Instant): number {
    return this.#isStoredTooLow(instant) ? this.#right(instant) - 1 : this.#right(instant)
  }

  greatest(instant: Instant): number {
    const right = this.#right(instant)
    return this.#isFixed && right < 0 ? right + 1 : right
  }

  /** The last partition that may hold a value up to the instant. */
  lastDoubtful(instant: Instant): number {
    const right = this.#right(instant)
    // Partition 1 is left out with 0, as Java does; it could be kept.
    return this.#isFixed && right <= 0 ? right + 1 : right
  }

  #right(instant: Instant): number {
    return calendarUnits(this.#unit, this.#type, instant)
  }

  #isStoredTooLow(instant: Instant): boolean {
    if (typeof instant === 'number' || instant >= 0n) return false
    const second = unitsPerSecond(this.#type)
    return (
      floorRemainder(instant, second) === second - 1n && this.#right(instant - second) < this.#right(instant)
    )
  }
}
