/**
 * Whether a partition tuple satisfies a projected filter (R4.21, R6.8), in three values: the third is "not decided".
 *
 * | value of the field            | comparisons, `=`, in, starts with | `!=`, not in, not starts with | is null | not nan |
 * | ----------------------------- | --------------------------------- | ----------------------------- | ------- | ------- |
 * | null                          | false                             | true                          | true    | true    |
 * | NaN                           | not decided (R6.10)               | not decided                   | false   | false   |
 * | not known                     | not decided                       | not decided                   | likewise | likewise |
 * | any other                     | as the value is; -0.0 equals 0.0  |                               | false   | true    |
 *
 * Who prunes drops a file where the answer is `false`, and keeps it where nothing is decided. Who computes residuals
 * takes nothing but `true` and `false` for an answer.
 *
 * Uuids have two orders (`bound-order.ts`): where they disagree on a value, nothing is decided. Neither is it by a prefix
 * that ends within a surrogate pair, which no encoding of UTF-8 has.
 */
import { applyTransform, canTransform } from '../types/transforms/apply-transform.ts'
import { compareValues } from '../types/value-order.ts'
import type { Type } from '../types/type.ts'
import { isAmong } from '../types/value-set.ts'
import type { Value } from '../types/value.ts'
import type { Comparison } from './bound-test.ts'
import { operandsOfBranch } from './boolean-chain.ts'
import { boundOrders, encodeBound } from './bound-order.ts'
import type { PartitionExpression, PartitionPredicate, PartitionTerm } from './partition-expression.ts'

/** `undefined`: not decided. */
export type PartitionOutcome = boolean | undefined

/**
 * @param tuple values in the order of the spec's fields; positions beyond it are not known
 * @param isKnown whether the value at a position is: null in a tuple from a manifest that lacks the field is not (B074)
 */
export type PartitionFilter = (
  tuple: readonly (Value | null)[],
  isKnown?: (position: number) => boolean,
) => PartitionOutcome

/** Compiles a projected filter, to be asked for many tuples. */
export function compilePartitionFilter(expression: PartitionExpression): PartitionFilter {
  switch (expression.op) {
    case 'true':
      return () => true
    case 'false':
      return () => false
    case 'and':
      return allOf(operandsOfBranch<PartitionExpression>(expression).map(compilePartitionFilter), false)
    case 'or':
      return allOf(operandsOfBranch<PartitionExpression>(expression).map(compilePartitionFilter), true)
    default:
      return compileLeaf(expression)
  }
}

/** AND, where false decides, or OR, where true does. */
function allOf(filters: readonly PartitionFilter[], decisive: boolean): PartitionFilter {
  return (tuple, isKnown) => {
    let outcome: PartitionOutcome = !decisive
    for (const filter of filters) {
      const answer = filter(tuple, isKnown)
      if (answer === decisive) return decisive
      if (answer === undefined) outcome = undefined
    }
    return outcome
  }
}

/** Answers for a value that is neither null nor NaN. */
type ValueTest = (value: Value) => PartitionOutcome

function compileLeaf(predicate: PartitionPredicate): PartitionFilter {
  const { position, fieldType, transform } = predicate.term
  if (transform !== undefined && (transform.kind === 'void' || !canTransform(transform, fieldType)))
    return () => undefined
  const { onNull, onNan, onValue } = compileOutcomes(predicate)
  return (tuple, isKnown) => {
    if (position >= tuple.length || isKnown?.(position) === false) return undefined
    const stored = tuple[position]
    if (stored === null) return onNull
    if (transform !== undefined && !isOfType(fieldType, stored)) return undefined
    const value = transform === undefined ? stored : applyTransform(transform, fieldType, stored)
    if (value === null) return onNull
    return Number.isNaN(value) ? onNan : onValue(value)
  }
}

interface Outcomes {
  readonly onNull: boolean
  readonly onNan: PartitionOutcome
  readonly onValue: ValueTest
}

function compileOutcomes(predicate: PartitionPredicate): Outcomes {
  switch (predicate.op) {
    case 'is-null':
      return { onNull: true, onNan: false, onValue: () => false }
    case 'not-null':
      return { onNull: false, onNan: true, onValue: () => true }
    case 'is-nan':
      return { onNull: false, onNan: true, onValue: () => false }
    case 'not-nan':
      return { onNull: true, onNan: false, onValue: () => true }
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'in':
    case 'starts-with':
      return { onNull: false, onNan: undefined, onValue: compileComparison(predicate.term, predicate) }
    case 'not-eq':
    case 'not-in':
    case 'not-starts-with':
      return { onNull: true, onNan: undefined, onValue: compileComparison(predicate.term, predicate) }
  }
}

function compileComparison({ type }: PartitionTerm, comparison: Comparison): ValueTest {
  const test = compileTest(type, comparison)
  return (value) => (isOfType(type, value) ? test(value) : undefined)
}

function compileTest(type: Type, comparison: Comparison): ValueTest {
  switch (comparison.op) {
    case 'lt':
      return ordered(type, comparison.value, (order) => order < 0)
    case 'lt-eq':
      return ordered(type, comparison.value, (order) => order <= 0)
    case 'gt':
      return ordered(type, comparison.value, (order) => order > 0)
    case 'gt-eq':
      return ordered(type, comparison.value, (order) => order >= 0)
    case 'eq':
      return (value) => compareValues(type, value, comparison.value) === 0
    case 'not-eq':
      return (value) => compareValues(type, value, comparison.value) !== 0
    case 'in':
      return (value) => isAmong(value, comparison.values)
    case 'not-in':
      return (value) => !isAmong(value, comparison.values)
    case 'starts-with':
      return startsWith(type, comparison.value, true)
    case 'not-starts-with':
      return startsWith(type, comparison.value, false)
  }
}

/** Of a prefix that no string has, such as half a character, nobody knows what another engine makes. */
function startsWith(type: Type, prefix: Value, expected: boolean): ValueTest {
  if (encodeBound(type, prefix) === undefined) return () => undefined
  return (value) => (value as string).startsWith(prefix as string) === expected
}

function ordered(type: Type, literal: Value, holds: (order: number) => boolean): ValueTest {
  if (type.kind !== 'uuid') return (value) => holds(compareValues(type, value, literal))
  const right = encodeBound(type, literal)
  return (value) => {
    const left = encodeBound(type, value)
    if (left === undefined || right === undefined) return undefined
    const [first, second] = boundOrders(type).map(({ compare }) => holds(compare(left, right)))
    return first === second ? first : undefined
  }
}

/**
 * Whether the value is one of the type. A file may have stored another, text where the column is an int: of that nothing
 * is decided. Promoted values, a date in a column that is now a timestamp, are converted before (`partition-key.ts`).
 */
function isOfType(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean'
    case 'int':
    case 'date':
    case 'float':
    case 'double':
      return typeof value === 'number'
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'decimal':
      return typeof value === 'bigint'
    case 'string':
    case 'uuid':
      return typeof value === 'string'
    case 'fixed':
    case 'binary':
      return value instanceof Uint8Array
    default:
      return false
  }
}
