/** Partition values from column values: which transform takes which type, and what it makes of a value (section 14). */
import { InvalidArgumentError } from '../../errors.ts'
import { formatType, isPrimitive, type Type } from '../type.ts'
import type { Value } from '../value.ts'
import { bucketOf } from './bucket.ts'
import { calendarUnits, isCalendarType, isTimestamp } from './calendar.ts'
import { formatTransform, type Transform } from './transform.ts'
import { truncateBinary, truncateDecimal, truncateInt, truncateLong, truncateString } from './truncate.ts'

/** Whether the transform takes values of the type (R14.3). An unknown transform takes none. */
export function canTransform(transform: Transform, sourceType: Type): boolean {
  const { kind } = sourceType
  switch (transform.kind) {
    case 'identity':
      return isPrimitive(sourceType) && kind !== 'geometry' && kind !== 'geography'
    case 'bucket':
      return isBucketable(sourceType)
    case 'truncate':
      return kind === 'int' || kind === 'long' || kind === 'decimal' || kind === 'string' || kind === 'binary'
    case 'year':
    case 'month':
    case 'day':
      return isCalendarType(sourceType)
    case 'hour':
      return isTimestamp(sourceType)
    case 'void':
      return true
    case 'unknown':
      return false
  }
}

function isBucketable(type: Type): boolean {
  switch (type.kind) {
    case 'int':
    case 'long':
    case 'decimal':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'string':
    case 'uuid':
    case 'fixed':
    case 'binary':
      return true
    default:
      return false
  }
}

/**
 * The partition value of a column value, of the type that `transformResultType` says; null for null (R14.1). Binaries
 * may share their memory with `value`.
 *
 * @throws InvalidArgumentError for a value that {@link canTransform} does not take.
 */
export function applyTransform(transform: Transform, sourceType: Type, value: Value | null): Value | null {
  if (value === null) return null
  if (!canTransform(transform, sourceType))
    throw new InvalidArgumentError(
      `Cannot compute ${formatTransform(transform)} of a value of type ${formatType(sourceType)}: it takes none`,
    )
  switch (transform.kind) {
    case 'identity':
      return value
    case 'bucket':
      return bucketOf(transform.numBuckets, sourceType, value)
    case 'truncate':
      return truncate(transform.width, sourceType, value)
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return calendarUnits(transform.kind, sourceType, value as number | bigint)
    case 'void':
    case 'unknown':
      return null
  }
}

function truncate(width: number, type: Type, value: Value): Value {
  if (typeof value === 'number') return truncateInt(width, value)
  if (typeof value === 'string') return truncateString(width, value)
  if (value instanceof Uint8Array) return truncateBinary(width, value)
  return type.kind === 'decimal'
    ? truncateDecimal(width, value as bigint)
    : truncateLong(width, value as bigint)
}
