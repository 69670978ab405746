/**
 * What two bounds say about a comparison: the part that manifests (R2.5) and files (R5.7) have in common.
 *
 * Bounds prove that no value between them satisfies:
 *
 * | predicate         | proof, `lo` and `hi` where known                                 |
 * | ----------------- | ---------------------------------------------------------------- |
 * | `< v`, `<= v`     | lo >= v, lo > v                                                  |
 * | `> v`, `>= v`     | hi <= v, hi < v                                                  |
 * | `= v`             | lo > v, or hi < v                                                |
 * | in S              | at most 200 values, and none of them within                      |
 * | `!= v`, not in S  | lo = hi, which then is the only value, and it is v, or one of S  |
 * | starts with p     | lo, cut to p's length, > p; or hi, cut to it, < p                |
 * | not starts with p | lo and hi both start with p                                      |
 *
 * Nothing is proven by bounds that are upside down in one of the type's orders (R5.24, B099), by a NaN lower bound, whose
 * writer did not know NaN (R5.9), by one bound of a uuid alone, and by bounds that do not decode. Nulls and NaNs are the
 * caller's business: bounds do not speak of them.
 */
import { decodeSingleValue } from '../types/single-value.ts'
import { applyTransform } from '../types/transforms/apply-transform.ts'
import type { Transform } from '../types/transforms/transform.ts'
import type { Type } from '../types/type.ts'
import { isAmong } from '../types/value-set.ts'
import type { Value } from '../types/value.ts'
import { boundOrders, comparePrefixes, encodeBound, type BoundBytes, type BoundOrder } from './bound-order.ts'
import type { ComparisonOperation, SetOperation } from './expression.ts'

/** Whether a value within the bounds might satisfy a predicate; a bound that is not known is `undefined`. */
type BoundTest = (lower: BoundBytes | undefined, upper: BoundBytes | undefined) => boolean

/** The predicate's operation with its literals. */
export type Comparison =
  | { readonly op: ComparisonOperation; readonly value: Value }
  | { readonly op: SetOperation; readonly values: readonly Value[] }

/** Sets with more values are not compared with bounds, as in Java (R5.7, R2.5). */
const MAX_COMPARED_VALUES = 200

const MIGHT_MATCH: BoundTest = () => true

/** A test for a predicate on a column, or on a transform of it, against the bounds of the column. */
export function compileBoundTest(
  sourceType: Type,
  transform: Transform,
  type: Type,
  comparison: Comparison,
): BoundTest {
  if (transform.kind === 'identity') return compileComparison(type, comparison)
  // Cutting a bound and cutting a value agree, but R5.10 does not ask for it.
  if (!keepsOrder(transform) || comparison.op === 'starts-with') return MIGHT_MATCH
  return compileTransformed(sourceType, transform, type, compileComparison(type, comparison))
}

/** Whether the transform maps a range of values to the range between the ends' images (R5.10). */
export function keepsOrder({ kind }: Transform): boolean {
  switch (kind) {
    case 'identity':
    case 'truncate':
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return true
    case 'bucket':
    case 'void':
    case 'unknown':
      return false
  }
}

/** Whether values of the type can be NaN. */
export function isFloating({ kind }: Type): boolean {
  return kind === 'float' || kind === 'double'
}

function compileComparison(type: Type, comparison: Comparison): BoundTest {
  const orders = boundOrders(type)
  const testUnder = orders.length === 0 ? undefined : compileProof(type, comparison)
  if (testUnder === undefined) return MIGHT_MATCH
  const tests = orders.map(testUnder)
  const { isUsable } = orders[0]
  const floating = isFloating(type)
  return (lower, upper) => {
    const usableLower = lower !== undefined && isUsable(lower) ? lower : undefined
    const usableUpper = upper !== undefined && isUsable(upper) ? upper : undefined
    if (floating && lower !== usableLower) return true
    // Engines have two orders as well. Only between two bounds of one sign do they see the same values.
    if (orders.length > 1 && (usableLower === undefined || usableUpper === undefined)) return true
    for (let i = 0; i < tests.length; i++) {
      const areUpsideDown =
        usableLower !== undefined &&
        usableUpper !== undefined &&
        orders[i].compare(usableLower, usableUpper) > 0
      if (areUpsideDown || tests[i](usableLower, usableUpper)) return true
    }
    return false
  }
}

/** What makes the test under an order of the type; `undefined` if the literals cannot be compared with bounds. */
function compileProof(type: Type, comparison: Comparison): ((order: BoundOrder) => BoundTest) | undefined {
  switch (comparison.op) {
    case 'in': {
      const { values } = comparison
      if (values.length > MAX_COMPARED_VALUES) return undefined
      const literals = values.map((value) => encodeBound(type, value)).filter((bytes) => bytes !== undefined)
      return literals.length < values.length ? undefined : (order) => inTest(order, literals)
    }
    case 'not-in': {
      const { values } = comparison
      return (order) => notInTest(order, type, values)
    }
    default: {
      const { op, value } = comparison
      const literal = encodeBound(type, value)
      return literal && ((order) => compareTest(order, op, literal))
    }
  }
}

function compareTest(
  { compare, compareTotal }: BoundOrder,
  op: ComparisonOperation,
  literal: BoundBytes,
): BoundTest {
  switch (op) {
    case 'lt':
      return (lower) => lower === undefined || compareTotal(lower, literal) < 0
    case 'lt-eq':
      return (lower) => lower === undefined || compare(lower, literal) <= 0
    case 'gt':
      return (_, upper) => upper === undefined || compareTotal(upper, literal) > 0
    case 'gt-eq':
      return (_, upper) => upper === undefined || compare(upper, literal) >= 0
    case 'eq':
      return (lower, upper) =>
        (lower === undefined || compare(lower, literal) <= 0) &&
        (upper === undefined || compare(upper, literal) >= 0)
    case 'not-eq':
      return (lower, upper) =>
        lower === undefined ||
        upper === undefined ||
        compareTotal(lower, upper) !== 0 ||
        compareTotal(lower, literal) !== 0
    case 'starts-with':
      return (lower, upper) =>
        (lower === undefined || comparePrefix(lower, literal) <= 0) &&
        (upper === undefined || comparePrefix(upper, literal) >= 0)
    case 'not-starts-with':
      return (lower, upper) =>
        lower === undefined ||
        upper === undefined ||
        !startsWith(lower, literal) ||
        !startsWith(upper, literal)
  }
}

/** Whether one of the literals may lie within the bounds. */
function inTest({ compare, compareTotal }: BoundOrder, literals: readonly BoundBytes[]): BoundTest {
  const sorted = literals.toSorted(compareTotal)
  return (lower, upper) => {
    const first = lower === undefined ? 0 : firstNotBelow(sorted, lower, compare)
    if (first === sorted.length) return false
    return upper === undefined || compare(sorted[first], upper) <= 0
  }
}

/** Whether there may be a value besides those of the set: nothing is done with them until two bounds are equal. */
function notInTest({ compareTotal }: BoundOrder, type: Type, values: readonly Value[]): BoundTest {
  return (lower, upper) => {
    if (lower === undefined || upper === undefined || compareTotal(lower, upper) !== 0) return true
    const only = decodeBound(type, lower)
    if (only === undefined) return true
    // Sets take the zeros as one, engines may not.
    return only === 0 ? !values.some((value) => Object.is(value, only)) : !isAmong(only, values)
  }
}

function decodeBound(type: Type, { bytes, offset, length }: BoundBytes): Value | undefined {
  return decodeSingleValue(type, bytes.subarray(offset, offset + length))
}

/** Position of the first of the sorted literals that is not below the bound; their number if all are. */
function firstNotBelow(
  sorted: readonly BoundBytes[],
  bound: BoundBytes,
  compare: BoundOrder['compare'],
): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(sorted[middle], bound) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The bound, cut to the prefix's length, against the prefix (R2.9, R5.11); bytes, so that a cut bound is no matter. A
 * bound that ends within the prefix is below it, and so is every value up to it.
 */
function comparePrefix(bound: BoundBytes, prefix: BoundBytes): number {
  const order = comparePrefixes(bound, prefix, Math.min(bound.length, prefix.length))
  return order === 0 && bound.length < prefix.length ? -1 : order
}

function startsWith(bound: BoundBytes, prefix: BoundBytes): boolean {
  return bound.length >= prefix.length && comparePrefix(bound, prefix) === 0
}

/** Transforms the bounds before they are tested (R5.10): the one test that allocates. */
function compileTransformed(sourceType: Type, transform: Transform, type: Type, test: BoundTest): BoundTest {
  const orders = boundOrders(sourceType)
  if (orders.length === 0) return MIGHT_MATCH
  const [{ isUsable, compare }] = orders
  const image = (bound: BoundBytes | undefined): BoundBytes | undefined => {
    if (bound === undefined) return undefined
    const value = decodeBound(sourceType, bound)
    if (value === undefined) return undefined
    const transformed = applyTransform(transform, sourceType, value)
    return transformed === null ? undefined : encodeBound(type, transformed)
  }
  const mayWrap =
    transform.kind === 'truncate' && (sourceType.kind === 'int' || sourceType.kind === 'long')
      ? wrapTest(sourceType.kind, transform.width, compare)
      : () => false
  return (lower, upper) => {
    const usableLower = lower !== undefined && isUsable(lower) ? lower : undefined
    const usableUpper = upper !== undefined && isUsable(upper) ? upper : undefined
    if (usableLower !== undefined && usableUpper !== undefined)
      if (compare(usableLower, usableUpper) > 0) return true
    const lowerImage = image(usableLower)
    const upperImage = image(usableUpper)
    // Of a value beyond the transform's range, such as an hour that is no int, nobody knows what it becomes.
    if (isLost(usableLower, lowerImage) || isLost(usableUpper, upperImage)) return true
    if (mayWrap(usableLower, lowerImage)) return true
    return test(lowerImage, upperImage)
  }
}

function isLost(bound: BoundBytes | undefined, image: BoundBytes | undefined): boolean {
  return bound !== undefined && image === undefined
}

/** Above it the remainder plus the width overflows an int (R14.6). */
const MAX_INT_WIDTH = 2 ** 30

/**
 * Whether truncating wraps around for some value not below `lower`: the least integers become the greatest, so neither
 * bound holds then. If the least value does not wrap, none does.
 */
function wrapTest(
  kind: 'int' | 'long',
  width: number,
  compare: BoundOrder['compare'],
): (lower: BoundBytes | undefined, image: BoundBytes | undefined) => boolean {
  if (kind === 'int' && width > MAX_INT_WIDTH) return () => true
  return (lower, image) => lower === undefined || image === undefined || compare(image, lower) > 0
}
