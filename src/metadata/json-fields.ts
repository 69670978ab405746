/**
 * Checked reading of one field of a JSON object. `null` counts as absent everywhere (B174). Every function throws an
 * `InvalidMetadataError` that names `place`, the thing the object describes, and the key; the file is added by whoever
 * knows it.
 */
import { InvalidMetadataError } from '../errors.ts'
import { describeJson, isJsonObject, type JsonObject } from '../types/json-object.ts'

const MIN_INT = -(2 ** 31)
const MAX_INT = 2 ** 31 - 1
const MIN_LONG = -(2n ** 63n)
/** Unsigned: some writers draw snapshot ids from all 64 bits. An id is only ever compared with ids. */
const MAX_LONG = 2n ** 64n - 1n

/** `json` itself, when it is an object. */
export function asObject(json: unknown, place: string): JsonObject {
  if (isJsonObject(json)) return json
  throw new InvalidMetadataError(`Cannot read ${place}: it is ${describeJson(json)}, not an object`)
}

export function optionalString(json: JsonObject, key: string, place: string): string | undefined {
  const value = json[key] ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw wrong(value, key, place, 'a string')
}

export function requiredString(json: JsonObject, key: string, place: string): string {
  return optionalString(json, key, place) ?? missing(key, place)
}

/** A 32-bit integer. */
export function optionalInt(json: JsonObject, key: string, place: string): number | undefined {
  const value = json[key] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= MIN_INT && value <= MAX_INT)
    return value
  throw wrong(value, key, place, 'a 32-bit integer')
}

export function requiredInt(json: JsonObject, key: string, place: string): number {
  return optionalInt(json, key, place) ?? missing(key, place)
}

/** A 64-bit integer that identifies something, signed or unsigned. */
export function optionalLong(json: JsonObject, key: string, place: string): bigint | undefined {
  const value = json[key] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'bigint' && value >= MIN_LONG && value <= MAX_LONG) return value
  throw wrong(value, key, place, 'a 64-bit integer')
}

export function requiredLong(json: JsonObject, key: string, place: string): bigint {
  return optionalLong(json, key, place) ?? missing(key, place)
}

/** An integer that counts or measures something, at most 2^53. */
export function optionalCount(json: JsonObject, key: string, place: string): number | undefined {
  const value = json[key] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw wrong(value, key, place, 'an integer of at most 2^53')
}

export function requiredCount(json: JsonObject, key: string, place: string): number {
  return optionalCount(json, key, place) ?? missing(key, place)
}

export function optionalArray(json: JsonObject, key: string, place: string): readonly unknown[] | undefined {
  const value = json[key] ?? undefined
  if (value === undefined || Array.isArray(value)) return value
  throw wrong(value, key, place, 'an array')
}

export function optionalObject(json: JsonObject, key: string, place: string): JsonObject | undefined {
  const value = json[key] ?? undefined
  if (value === undefined || isJsonObject(value)) return value
  throw wrong(value, key, place, 'an object')
}

/** A map of strings, empty when absent. Numbers and booleans, which some writers leave bare, are taken as their text. */
export function stringMap(json: JsonObject, key: string, place: string): ReadonlyMap<string, string> {
  const object = optionalObject(json, key, place)
  if (object === undefined) return EMPTY_MAP
  const map = new Map<string, string>()
  for (const name of Object.keys(object)) {
    const value = object[name]
    if (typeof value === 'string') map.set(name, value)
    else if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
      map.set(name, String(value))
    else if (value !== null) throw wrong(value, `${key}.${name}`, place, 'a string')
  }
  return map
}

const EMPTY_MAP: ReadonlyMap<string, string> = new Map()

function missing(key: string, place: string): never {
  throw new InvalidMetadataError(`Cannot read ${place}: "${key}" is missing`)
}

function wrong(value: unknown, key: string, place: string, expected: string): InvalidMetadataError {
  return new InvalidMetadataError(`Cannot read ${place}: "${key}" is ${describeJson(value)}, not ${expected}`)
}
