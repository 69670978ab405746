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
 * Writers have stored values in other partitions than that, and nothing tells which writer it was:
 *
 * - **One too large**, before 1970, by rounding towards zero (Java up to 0.10; R3.14). A projected p below 0 may be p + 1,
 *   for strict `>` also a p of 0. Days of dates were always right (R3.15).
 * - **One too small**, before 1970, for the last instant of the first second of a unit (Java to this day; R14.10, R3.18):
 *   00:00:00.999999 lies in the day before. For `=` and `in` that instant has both partitions. For ranges the whole second
 *   up to it has, as a range that starts or ends there parts that instant from the day before: T is one less in `>= T` and
 *   strict `< T` of an instant in such a second.
 * - **Wrapped**, for hours of microseconds that are no int: hour 2562047788, the last, is stored as -1732919508. Up to
 *   there a partition may hold the latest rows, which every `>` takes and no `<`; from T(earliest), 1732919507, on it may
 *   hold the earliest. A literal in such an hour projects to nothing.
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
import { conjunction, disjunction } from './simplify.ts'

const MIN_INT = -(2 ** 31)
const MAX_INT = 2 ** 31 - 1
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

/** A date's days, or a timestamp. */
type Instant = number | bigint

/** What the hours of the last and the first microsecond, 2562047788 and -2562047789, are as ints. */
const LATEST_WRAPPED_HOUR = -1_732_919_508
const EARLIEST_WRAPPED_HOUR = 1_732_919_507

export function projectCalendarInclusive(
  predicate: ValuePredicate,
  unit: CalendarUnit,
  term: PartitionTerm,
): PartitionExpression {
  const column = new CalendarColumn(unit, predicate.term.sourceType)
  if (!instantsOf(predicate).every((value) => column.isCounted(value))) return ALWAYS_TRUE
  switch (predicate.op) {
    case 'lt':
      return mayHoldUpTo(before(predicate.value as Instant), column, term)
    case 'lt-eq':
      return mayHoldUpTo(predicate.value as Instant, column, term)
    case 'gt':
      return mayHoldFrom(after(predicate.value as Instant), column, term)
    case 'gt-eq':
      return mayHoldFrom(predicate.value as Instant, column, term)
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
      return endsBefore(predicate.value as Instant, column, term)
    case 'lt-eq':
      return endsBefore(after(predicate.value as Instant), column, term)
    case 'gt':
      return startsAfter(predicate.value as Instant, column, term)
    case 'gt-eq':
      return startsAfter(before(predicate.value as Instant), column, term)
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

/** Partitions that may hold an instant up to this one, included. */
function mayHoldUpTo(instant: Instant, column: CalendarColumn, term: PartitionTerm): PartitionExpression {
  const ordered = comparePartition('lt-eq', term, toInt(column.greatest(instant)))
  if (!column.isWrapped) return ordered
  return disjunction<PartitionExpression>(ordered, comparePartition('gt-eq', term, EARLIEST_WRAPPED_HOUR))
}

/** Partitions that may hold an instant from this one on. */
function mayHoldFrom(instant: Instant, column: CalendarColumn, term: PartitionTerm): PartitionExpression {
  const ordered = comparePartition('gt-eq', term, toInt(column.leastFrom(instant)))
  if (!column.isWrapped) return ordered
  return disjunction<PartitionExpression>(ordered, comparePartition('lt-eq', term, LATEST_WRAPPED_HOUR))
}

/** Partitions that hold nothing but earlier instants. */
function endsBefore(instant: Instant, column: CalendarColumn, term: PartitionTerm): PartitionExpression {
  const ordered = comparePartition('lt', term, toInt(column.leastFrom(instant)))
  if (!column.isWrapped) return ordered
  return conjunction<PartitionExpression>(ordered, comparePartition('gt', term, LATEST_WRAPPED_HOUR))
}

/** Partitions that hold nothing but later instants. */
function startsAfter(instant: Instant, column: CalendarColumn, term: PartitionTerm): PartitionExpression {
  const ordered = comparePartition('gt', term, toInt(column.lastDoubtful(instant)))
  if (!column.isWrapped) return ordered
  return conjunction<PartitionExpression>(ordered, comparePartition('lt', term, EARLIEST_WRAPPED_HOUR))
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

/** The nearest int: no partition is beyond, so that comparing with it is the same or says less. */
function toInt(partition: number): number {
  return Math.min(Math.max(partition, MIN_INT), MAX_INT)
}

/** Which partitions an instant can be stored in. */
class CalendarColumn {
  readonly #unit: CalendarUnit
  readonly #type: Type
  /** Whether writers rounded towards zero. */
  readonly #isFixed: boolean
  /** Whether there are instants whose partition is no int. */
  readonly isWrapped: boolean

  constructor(unit: CalendarUnit, type: Type) {
    this.#unit = unit
    this.#type = type
    this.#isFixed = isTimestamp(type) || unit !== 'day'
    this.isWrapped = unit === 'hour' && (type.kind === 'timestamp' || type.kind === 'timestamptz')
  }

  /** Whether the partition is an int. */
  isCounted(instant: Instant): boolean {
    const partition = this.#right(instant)
    return partition >= MIN_INT && partition <= MAX_INT
  }

  /** All of an instant, from the least to the greatest, as they are stored. */
  partitions(instant: Instant): number[] {
    const partitions: number[] = []
    const least = this.#isStoredTooLow(instant) ? this.#right(instant) - 1 : this.#right(instant)
    // The first int has one below it, and that is stored as the last.
    for (let partition = least; partition <= this.greatest(instant); partition++)
      partitions.push(partition | 0)
    return partitions
  }

  /** The least of the instant and all that follow. */
  leastFrom(instant: Instant): number {
    return this.#isInDoubtfulSecond(instant) ? this.#right(instant) - 1 : this.#right(instant)
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

  /** Whether it is in the first second of a unit before 1970, whose last instant is stored too low. */
  #isInDoubtfulSecond(instant: Instant): instant is bigint {
    if (typeof instant === 'number' || instant >= 0n) return false
    return this.#right(instant - unitsPerSecond(this.#type)) < this.#right(instant)
  }

  #isStoredTooLow(instant: Instant): boolean {
    if (!this.#isInDoubtfulSecond(instant)) return false
    const second = unitsPerSecond(this.#type)
    return floorRemainder(instant, second) === second - 1n
  }
}
