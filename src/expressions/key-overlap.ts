/**
 * Whether an equality delete file may delete rows of a data file, by the metrics of both on the key columns (R7.16).
 * A row is deleted when it agrees with a row of the delete file in every key column, null with null and NaN with NaN,
 * so one column that cannot agree is proof that the delete does not apply:
 *
 * | the data file's column | the delete file's column | they                                  |
 * | ---------------------- | ------------------------ | ------------------------------------- |
 * | may hold null          | may hold null            | may agree                             |
 * | only nulls             | no null                  | cannot agree; and the other way round |
 * | may hold NaN           | may hold NaN             | may agree                             |
 * | bounds                 | bounds                   | cannot agree if they do not overlap   |
 *
 * A delete that is left out brings deleted rows back, so bounds are held to more than in a filter: a uuid is compared
 * by its first half only, and only where no sign is crossed, because the two files may have been written in different
 * orders (`bound-order.ts`).
 */
import type { SchemaField } from '../metadata/schema.ts'
import { isPrimitive, type Type } from '../types/type.ts'
import { boundOrders, comparePrefixes, type BoundBytes, type CompareBounds } from './bound-order.ts'
import { isFloating } from './bound-test.ts'
import type { ByteSlot, ColumnMetrics } from './column-metrics.ts'
import { emptySlot, hasOnlyNulls, mayHaveNull } from './metrics-evaluator.ts'

/** True: the delete may apply, and has to be read. False: it deletes no row of the data file. */
export type KeyOverlap = (data: ColumnMetrics, deletes: ColumnMetrics) => boolean

/**
 * Compiles the test for one set of key columns, to be asked for many pairs of files.
 *
 * @param keys the columns of the delete's equality ids, from the newest schema that has them (R7.18)
 */
export function compileKeyOverlap(keys: readonly SchemaField[]): KeyOverlap {
  // A row has any number of values in a list or map: their counts and bounds say nothing about rows.
  const columns = keys
    .filter(({ field, isRepeated }) => isPrimitive(field.type) && !isRepeated)
    .map(compileColumn)
  return (data, deletes) => {
    for (const mayAgree of columns) if (!mayAgree(data, deletes)) return false
    return true
  }
}

function compileColumn({ field, isOptional }: SchemaField): KeyOverlap {
  const { id, type } = field
  const floating = isFloating(type)
  const areDisjoint = disjointTest(type)
  return (data, deletes) => {
    if (isOptional) {
      const dataNulls = mayHoldNull(data, id)
      const deleteNulls = mayHoldNull(deletes, id)
      if (dataNulls && deleteNulls) return true
      if (!deleteNulls && hasOnlyNulls(data, id)) return false
      if (!dataNulls && hasOnlyNulls(deletes, id)) return false
    }
    if (floating && data.nanValueCount(id) !== 0 && deletes.nanValueCount(id) !== 0) return true
    if (!data.lowerBound(id, DATA_LOWER) || !data.upperBound(id, DATA_UPPER)) return true
    if (!deletes.lowerBound(id, DELETE_LOWER) || !deletes.upperBound(id, DELETE_UPPER)) return true
    return !areDisjoint(DATA_LOWER, DATA_UPPER, DELETE_LOWER, DELETE_UPPER)
  }
}

/** With the number of rows not known, values may be missing that nobody counted (R5.3). */
function mayHoldNull(metrics: ColumnMetrics, fieldId: number): boolean {
  return metrics.recordCount < 0 || mayHaveNull(metrics, fieldId)
}

const DATA_LOWER: ByteSlot = emptySlot()
const DATA_UPPER: ByteSlot = emptySlot()
const DELETE_LOWER: ByteSlot = emptySlot()
const DELETE_UPPER: ByteSlot = emptySlot()

/** Whether no value lies in both ranges, ends included; a bound that does not decode proves nothing. */
type DisjointTest = (
  lower: BoundBytes,
  upper: BoundBytes,
  otherLower: BoundBytes,
  otherUpper: BoundBytes,
) => boolean

function disjointTest(type: Type): DisjointTest {
  const orders = boundOrders(type)
  if (orders.length === 0) return () => false
  const [{ isUsable, compare }] = orders
  const areApart: DisjointTest = type.kind === 'uuid' ? areUuidsApart : rangesApart(compare)
  return (lower, upper, otherLower, otherUpper) =>
    isUsable(lower) &&
    isUsable(upper) &&
    isUsable(otherLower) &&
    isUsable(otherUpper) &&
    areApart(lower, upper, otherLower, otherUpper)
}

/** Ranges that are upside down are not believed (R5.24). */
function rangesApart(compare: CompareBounds): DisjointTest {
  return (lower, upper, otherLower, otherUpper) =>
    compare(lower, upper) <= 0 &&
    compare(otherLower, otherUpper) <= 0 &&
    (compare(lower, otherUpper) > 0 || compare(otherLower, upper) > 0)
}

/**
 * First halves with one sign at both ends are the same range in both orders. Second halves would not be, where first
 * halves are equal, so they are left out of it.
 */
const areUuidsApart: DisjointTest = (lower, upper, otherLower, otherUpper) =>
  hasOneSign(lower, upper) &&
  hasOneSign(otherLower, otherUpper) &&
  rangesApart((a, b) => comparePrefixes(a, b, UUID_HALF))(lower, upper, otherLower, otherUpper)

const UUID_HALF = 8

function hasOneSign(lower: BoundBytes, upper: BoundBytes): boolean {
  return lower.bytes[lower.offset] >> 7 === upper.bytes[upper.offset] >> 7
}
