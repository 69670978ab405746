/** Sort orders (spec: Sorting): how a writer sorted a file. Planning only passes their ids on. */
import { InvalidMetadataError } from '../errors.ts'
import { describeJson } from '../types/json-object.ts'
import { parseTransform, type Transform } from '../types/transforms/transform.ts'
import {
  asObject,
  optionalArray,
  optionalInt,
  optionalString,
  requiredInt,
  requiredString,
} from './json-fields.ts'

export interface SortField {
  /** The source columns, in the order of the transform's arguments. */
  readonly sourceIds: readonly number[]
  readonly transform: Transform
  readonly direction: 'asc' | 'desc'
  readonly nullOrder: 'nulls-first' | 'nulls-last'
}

export interface SortOrder {
  /** 0 is the unsorted order. */
  readonly orderId: number
  readonly fields: readonly SortField[]
}

export const UNSORTED: SortOrder = { orderId: 0, fields: [] }

/** @throws InvalidMetadataError if a field is missing or unknown. Nulls come first where a field does not say (asc). */
export function parseSortOrder(json: unknown): SortOrder {
  const object = asObject(json, 'sort order')
  const orderId = requiredInt(object, 'order-id', 'sort order')
  const place = `sort order ${orderId}`
  return {
    orderId,
    fields: (optionalArray(object, 'fields', place) ?? []).map((entry) => {
      const field = asObject(entry, `a field of ${place}`)
      const sourceId = optionalInt(field, 'source-id', place)
      const sourceIds = optionalArray(field, 'source-ids', place) ?? []
      const direction = (optionalString(field, 'direction', place) ?? 'asc').toLowerCase()
      if (direction !== 'asc' && direction !== 'desc')
        throw new InvalidMetadataError(`Cannot read ${place}: "direction" is ${describeJson(direction)}`)
      const byDefault = direction === 'asc' ? 'nulls-first' : 'nulls-last'
      const nullOrder = (optionalString(field, 'null-order', place) ?? byDefault).toLowerCase()
      if (nullOrder !== 'nulls-first' && nullOrder !== 'nulls-last')
        throw new InvalidMetadataError(`Cannot read ${place}: "null-order" is ${describeJson(nullOrder)}`)
      return {
        sourceIds: sourceId === undefined ? sourceIds.filter((id) => typeof id === 'number') : [sourceId],
        transform: parseTransform(requiredString(field, 'transform', place)),
        direction,
        nullOrder,
      }
    }),
  }
}
