/**
 * Whether a file might hold a row that satisfies a filter, by its column metrics (section 5.2 of the planning rules).
 *
 * A file without rows cannot match, one with a negative count, which is "not known", might (R5.1). Otherwise every
 * predicate looks for a proof that no row satisfies it:
 *
 * | predicate                        | cannot match when                                                          |
 * | -------------------------------- | -------------------------------------------------------------------------- |
 * | is null                          | the column has no nulls                                                    |
 * | not null                         | it has nothing else                                                        |
 * | is nan                           | it has only nulls, or no NaN                                               |
 * | not nan                          | every row is NaN                                                           |
 * | comparisons, `=`, in, starts with | it has only nulls, or only NaNs; or its bounds say so (`bound-test.ts`)    |
 * | `!=`, not in, not starts with    | it has no nulls and no NaN, and its bounds say so                          |
 *
 * A count that is missing proves nothing (R5.5). Nothing is allocated while a file is tested, except for transforms.
 */
import type { BoundExpression, BoundPredicate, BoundTerm } from './bound-expression.ts'
import { compileBoundTest, isFloating, keepsOrder, type Comparison } from './bound-test.ts'
import type { ByteSlot, ColumnMetrics } from './column-metrics.ts'
import { compileTree, type Test } from './compile-tree.ts'

/** True: a row might match. False: none can. */
export type MetricsFilter = Test<ColumnMetrics>

/** Compiles a filter, to be asked for many files. */
export function compileMetricsFilter(filter: BoundExpression): MetricsFilter {
  const test = compileTree<BoundExpression, ColumnMetrics>(filter, (leaf) =>
    compileLeaf(leaf as BoundPredicate),
  )
  return (metrics) => {
    const { recordCount } = metrics
    if (recordCount <= 0) return recordCount !== 0
    return test(metrics)
  }
}

const MIGHT_MATCH: MetricsFilter = () => true

function compileLeaf(predicate: BoundPredicate): MetricsFilter {
  const { term } = predicate
  const { fieldId } = term
  const isColumn = term.transform.kind === 'identity'
  switch (predicate.op) {
    case 'is-null':
      return keepsOrder(term.transform) ? (metrics) => mayHaveNull(metrics, fieldId) : MIGHT_MATCH
    case 'not-null':
      return (metrics) => !hasOnlyNulls(metrics, fieldId)
    case 'is-nan':
      return (metrics) =>
        !hasOnlyNulls(metrics, fieldId) && !(isColumn && metrics.nanValueCount(fieldId) === 0)
    case 'not-nan':
      return isColumn ? (metrics) => !isNanInEveryRow(metrics, fieldId) : MIGHT_MATCH
    case 'not-eq':
    case 'not-in':
    case 'not-starts-with':
      return compileNegative(term, predicate)
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'in':
    case 'starts-with':
      return compilePositive(term, predicate)
  }
}

/** Predicates that null and NaN do not satisfy. */
function compilePositive(term: BoundTerm, comparison: Comparison): MetricsFilter {
  const { fieldId } = term
  const floating = isFloating(term.sourceType)
  const test = compileBoundTest(term.sourceType, term.transform, term.type, comparison)
  return (metrics) =>
    !hasOnlyNulls(metrics, fieldId) &&
    !(floating && hasOnlyNans(metrics, fieldId)) &&
    test(lowerBound(metrics, fieldId), upperBound(metrics, fieldId))
}

/** Predicates that null and NaN satisfy (R11.22a). */
function compileNegative(term: BoundTerm, comparison: Comparison): MetricsFilter {
  const { fieldId } = term
  const floating = isFloating(term.sourceType)
  const test = compileBoundTest(term.sourceType, term.transform, term.type, comparison)
  return (metrics) =>
    mayHaveNull(metrics, fieldId) ||
    (floating && metrics.nanValueCount(fieldId) !== 0) ||
    test(lowerBound(metrics, fieldId), upperBound(metrics, fieldId))
}

/**
 * Nulls are counted, or they are missing from the count of values: some writers leave out rows whose struct around
 * the column is null (R5.3, B092).
 */
export function mayHaveNull(metrics: ColumnMetrics, fieldId: number): boolean {
  return metrics.nullValueCount(fieldId) !== 0 || lacksValues(metrics, fieldId)
}

function lacksValues(metrics: ColumnMetrics, fieldId: number): boolean {
  const values = metrics.valueCount(fieldId)
  return values >= 0 && values < metrics.recordCount
}

/** Also where neither null nor value was counted: all rows lack the column then. */
export function hasOnlyNulls(metrics: ColumnMetrics, fieldId: number): boolean {
  const nulls = metrics.nullValueCount(fieldId)
  return nulls >= 0 && nulls === valuesOf(metrics, fieldId)
}

/** Rows whose value was not counted are null. */
function hasOnlyNans(metrics: ColumnMetrics, fieldId: number): boolean {
  const nans = metrics.nanValueCount(fieldId)
  return nans >= 0 && nans === valuesOf(metrics, fieldId)
}

function isNanInEveryRow(metrics: ColumnMetrics, fieldId: number): boolean {
  return hasOnlyNans(metrics, fieldId) && !lacksValues(metrics, fieldId)
}

/** The column is in no list and no map, so a row has one value or null (R5.3). */
function valuesOf(metrics: ColumnMetrics, fieldId: number): number {
  const values = metrics.valueCount(fieldId)
  return values >= 0 ? values : metrics.recordCount
}

// Two for all filters: a bound is read at once, and tests do not wait.
const LOWER = emptySlot()
const UPPER = emptySlot()

/** A slot for {@link ColumnMetrics} to fill. */
export function emptySlot(): ByteSlot {
  const bytes = new Uint8Array(0)
  return { bytes, offset: 0, length: 0 }
}

function lowerBound(metrics: ColumnMetrics, fieldId: number): ByteSlot | undefined {
  return metrics.lowerBound(fieldId, LOWER) ? LOWER : undefined
}

function upperBound(metrics: ColumnMetrics, fieldId: number): ByteSlot | undefined {
  return metrics.upperBound(fieldId, UPPER) ? UPPER : undefined
}
