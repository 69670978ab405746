/**
 * Values as members of sets, as filters have them: bytes by content, and -0 and 0 as one value. A set may have 100,000
 * members and be asked about in many places (every partition spec, every evaluator), so all of them share one index.
 */
import type { Value } from './value.ts'

/** Equal, in a `Map` or a `Set`, for values of one type that are equal in a filter; all NaN are one. */
export function valueKey(value: Value): Exclude<Value, Uint8Array> {
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')
    : value
}

const INDEXES = new WeakMap<readonly Value[], ReadonlySet<Value>>()

/** Whether `value` is among `values`, all of one type; `values`, indexed when first asked about, must not change. */
export function isAmong(value: Value, values: readonly Value[]): boolean {
  let index = INDEXES.get(values)
  if (index === undefined) {
    index = new Set(values.map(valueKey))
    INDEXES.set(values, index)
  }
  return index.has(valueKey(value))
}
