/**
 * What a naive planner drops that knows each file's partition tuple, and the true minimum and maximum of the columns
 * that the file's metrics tell about: the measure of how much of that ours drops.
 */
import { holds, isColumn, type Leaf, type Node } from './evaluate.ts'
import type { Facts } from './metrics.ts'
import type { Column, SpecField } from './rows.ts'
import type { TwinFile } from './tables.ts'
import {
  applyTransform,
  keepsOrder,
  TIME_UNITS,
  type TwinTransform,
  wrappedTruncation,
} from './transforms.ts'
import { type Cell, codePoints, compare, type Value } from './values.ts'

/** @param hasOldTimes time partitions are those of old writers, of which the naive planner knows nothing */
export function cannotMatch(node: Node, file: TwinFile, hasOldTimes: boolean): boolean {
  if (typeof node === 'boolean') return !node
  if ('nodes' in node)
    return node.op === 'and'
      ? node.nodes.some((each) => cannotMatch(each, file, hasOldTimes))
      : node.nodes.every((each) => cannotMatch(each, file, hasOldTimes))
  const { subject } = node
  if (!isColumn(subject)) return false
  const facts = file.facts[subject.index]
  if (facts.isTold && excludedByRange(node, subject, facts)) return true
  return file.spec.fields.some(
    (field, i) =>
      field.column === subject &&
      !(hasOldTimes && TIME_UNITS.includes(field.transform.kind)) &&
      excludedByTuple(node, field, file.tuple[i]),
  )
}

function excludedByRange(leaf: Leaf, column: Column, facts: Facts): boolean {
  const { type } = column
  const { op, transform, values } = leaf
  const { hasNull, hasNaN, least, greatest } = facts
  const isEmpty = least === undefined || greatest === undefined
  switch (op) {
    case 'is-null':
      return !hasNull
    case 'not-null':
      return isEmpty && !hasNaN
    case 'is-nan':
      return !hasNaN
    case 'not-nan':
      return isEmpty && !hasNull
  }
  if (isEmpty) return !op.startsWith('not-')
  if (!keepsOrder(transform, type)) return false
  const low = applyTransform(transform, type, least)!
  const high = applyTransform(transform, type, greatest)!
  // What wraps around is no longer between the truncated ends.
  if (isWrapped(transform, column, low)) return false
  switch (op) {
    case 'lt':
      return compare(low, values[0]) >= 0
    case 'lt-eq':
      return compare(low, values[0]) > 0
    case 'gt':
      return compare(high, values[0]) <= 0
    case 'gt-eq':
      return compare(high, values[0]) < 0
    case 'eq':
    case 'in':
      return !values.some((value) => compare(low, value) <= 0 && compare(value, high) <= 0)
    case 'not-eq':
    case 'not-in':
      return !hasNull && !hasNaN && compare(low, high) === 0 && !holds(leaf, low)
    case 'starts-with': {
      const prefix = values[0] as string
      return compare(headOf(low, prefix), prefix) > 0 || compare(headOf(high, prefix), prefix) < 0
    }
    case 'not-starts-with':
      return !hasNull && !holds(leaf, low) && !holds(leaf, high)
  }
}

function headOf(text: Value, prefix: string): string {
  return codePoints(text as string)
    .slice(0, codePoints(prefix).length)
    .join('')
}

function excludedByTuple(leaf: Leaf, { column, transform }: SpecField, part: Cell): boolean {
  const { type } = column
  if (transform.kind === 'void' || transform.kind === 'zorder') return false
  if (transform.text === leaf.transform.text) return !holds(leaf, part)
  if (transform.kind === 'identity') return !holds(leaf, applyTransform(leaf.transform, type, part))
  if (leaf.transform.kind !== 'identity') return false
  if (part === null) return !holds(leaf, null)
  const images = leaf.values.map((value) => applyTransform(transform, type, value)!)
  const compared = images.map((image) => compare(part, image))
  const isOrdered =
    keepsOrder(transform, type) && ![part, ...images].some((each) => isWrapped(transform, column, each))
  switch (leaf.op) {
    case 'is-null':
      return true
    case 'eq':
    case 'in':
      return compared.every((order) => order !== 0)
    case 'lt':
    case 'lt-eq':
      return isOrdered && compared[0] > 0
    case 'gt':
    case 'gt-eq':
      return isOrdered && compared[0] < 0
    case 'starts-with':
      return transform.kind === 'truncate' && !(part as string).startsWith(images[0] as string)
    default:
      return false
  }
}

/** Whether a truncated value stands for the least ones of its type, which it does not show. */
function isWrapped(transform: TwinTransform, { type }: Column, part: Value): boolean {
  const wrapped = wrappedTruncation(transform, type)
  return wrapped !== undefined && compare(part, wrapped) === 0
}
