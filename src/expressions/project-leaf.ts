/**
 * One predicate seen through one partition field: whether the field says anything about it, and by which rule.
 *
 * | term of the predicate    | field               | projection, inclusive and strict                        |
 * | ------------------------ | ------------------- | ------------------------------------------------------- |
 * | the column               | identity            | the predicate itself (R3.8)                             |
 * | the column, null or NaN? | any but void        | the predicate itself: null is kept by all (R3.7)        |
 * | the column               | bucket, truncate, …  | a file for each: project-bucket.ts, …                   |
 * | a transform              | the same transform  | the predicate itself (R3.6)                             |
 * | a transform              | identity            | the predicate, of the transform of the partition value  |
 * | anything                 | void, unknown       | none (R3.19, R3.20)                                     |
 *
 * There is none either if the column is gone from the schema, has no values (type unknown), lies in a list or map, or
 * has a type that the transform does not take. A promoted column needs no care but for truncated longs: a type may only
 * be promoted where every partition value stays the same (spec: Schema Evolution). So a timestamp with a bucket never was
 * a date, whose days have other buckets.
 */
import type { PartitionField } from '../metadata/partition-spec.ts'
import type { Schema } from '../metadata/schema.ts'
import { canTransform } from '../types/transforms/apply-transform.ts'
import type { CalendarUnit } from '../types/transforms/calendar.ts'
import { formatTransform, transformResultType } from '../types/transforms/transform.ts'
import { formatType } from '../types/type.ts'
import type { BoundPredicate, BoundTerm } from './bound-expression.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from './expression.ts'
import type { PartitionExpression, PartitionPredicate, PartitionTerm } from './partition-expression.ts'
import type { ValuePredicate } from './partition-predicate.ts'
import { projectBucketInclusive, projectBucketStrict } from './project-bucket.ts'
import { projectCalendarInclusive, projectCalendarStrict } from './project-calendar.ts'
import { projectTruncatedNumberInclusive, projectTruncatedNumberStrict } from './project-truncated-number.ts'
import { projectTruncatedTextInclusive, projectTruncatedTextStrict } from './project-truncated-text.ts'

/**
 * What holds for the partition value of `field`, at `position` in its spec, wherever a row satisfies `predicate`; `true`
 * when nothing is known to hold. `schema` is the one that the predicate was bound to.
 */
export function projectLeafInclusive(
  predicate: BoundPredicate,
  field: PartitionField,
  position: number,
  schema: Schema,
): PartitionExpression {
  return projectLeaf('inclusive', predicate, field, position, schema) ?? ALWAYS_TRUE
}

/** What proves, for the partition value of `field`, that all rows satisfy `predicate`; `false` when nothing does. */
export function projectLeafStrict(
  predicate: BoundPredicate,
  field: PartitionField,
  position: number,
  schema: Schema,
): PartitionExpression {
  return projectLeaf('strict', predicate, field, position, schema) ?? ALWAYS_FALSE
}

type Direction = 'inclusive' | 'strict'

type Family<Parameter> = Readonly<
  Record<
    Direction,
    (predicate: ValuePredicate, parameter: Parameter, term: PartitionTerm) => PartitionExpression
  >
>

const BUCKET: Family<number> = { inclusive: projectBucketInclusive, strict: projectBucketStrict }
const TRUNCATED_TEXT: Family<number> = {
  inclusive: projectTruncatedTextInclusive,
  strict: projectTruncatedTextStrict,
}
const TRUNCATED_NUMBER: Family<number> = {
  inclusive: projectTruncatedNumberInclusive,
  strict: projectTruncatedNumberStrict,
}
const CALENDAR: Family<CalendarUnit> = { inclusive: projectCalendarInclusive, strict: projectCalendarStrict }

/** `undefined`: the field says nothing. */
function projectLeaf(
  direction: Direction,
  predicate: BoundPredicate,
  field: PartitionField,
  position: number,
  schema: Schema,
): PartitionExpression | undefined {
  if (!isUsable(predicate.term, field, schema)) return undefined
  const copy = copiedPredicate(predicate, field, position)
  if (copy !== undefined) return copy
  if (!hasValues(predicate) || !isColumn(predicate.term)) return undefined

  const term = partitionTerm(predicate.term, field, position)
  const { transform } = field
  switch (transform.kind) {
    case 'bucket':
      return BUCKET[direction](predicate, transform.numBuckets, term)
    case 'truncate': {
      const family = isText(predicate.term) ? TRUNCATED_TEXT : TRUNCATED_NUMBER
      return family[direction](predicate, transform.width, term)
    }
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return CALENDAR[direction](predicate, transform.kind, term)
    default:
      return undefined
  }
}

/** Whether the field's values are known to be made of the term's column, in a way that we know. */
function isUsable(term: BoundTerm, field: PartitionField, schema: Schema): boolean {
  if (field.sourceId !== term.fieldId || field.transform.kind === 'void') return false
  const source = schema.locate(field.sourceId)
  if (source === undefined || source.isRepeated) return false
  const { type } = source.field
  return (
    type.kind !== 'unknown' &&
    canTransform(field.transform, type) &&
    // Literals of another type could not be compared with the tuples.
    (type === term.sourceType || formatType(type) === formatType(term.sourceType))
  )
}

/** The predicate moved to the partition value as it is, where that is exact; `undefined` where it is not. */
function copiedPredicate(
  predicate: BoundPredicate,
  field: PartitionField,
  position: number,
): PartitionPredicate | undefined {
  const { term } = predicate
  const moved = partitionTerm(term, field, position)
  if (isColumn(term))
    return field.transform.kind === 'identity' || !hasValues(predicate)
      ? movedPredicate(predicate, moved)
      : undefined
  if (formatTransform(term.transform) === formatTransform(field.transform))
    return movedPredicate(predicate, moved)
  // The partition value is the column's value, so its transform can be computed here. Comparing it untransformed, as
  // Java does, would drop the partition 34 for `bucket[16](i) = 3` (R3.6).
  if (field.transform.kind === 'identity' && canTransform(term.transform, term.sourceType))
    return movedPredicate(predicate, { ...moved, transform: term.transform, type: term.type })
  return undefined
}

function movedPredicate(predicate: BoundPredicate, term: PartitionTerm): PartitionPredicate {
  if ('value' in predicate) return { op: predicate.op, term, value: predicate.value }
  if ('values' in predicate) return { op: predicate.op, term, values: predicate.values }
  return { op: predicate.op, term }
}

function partitionTerm(term: BoundTerm, field: PartitionField, position: number): PartitionTerm {
  const type = transformResultType(field.transform, term.sourceType)
  return { position, fieldType: type, type }
}

function hasValues(predicate: BoundPredicate): predicate is ValuePredicate {
  return 'value' in predicate || 'values' in predicate
}

/** Whether the term is the column itself. */
function isColumn(term: BoundTerm): boolean {
  return term.transform.kind === 'identity'
}

/** Whether truncation cuts the column's values; it rounds the others. */
function isText({ sourceType }: BoundTerm): boolean {
  return sourceType.kind === 'string' || sourceType.kind === 'binary'
}
