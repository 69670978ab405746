/**
 * Partition specs: which transforms of which columns make the partition tuple (spec: Partition Specs; R1.10, R1.11).
 *
 * A spec is bound to no schema. What its fields produce depends on the schema of the plan, which time travel changes,
 * so {@link partitionFields} is asked with that schema (R1.9, B161).
 */
import { InvalidMetadataError } from '../errors.ts'
import { describeJson, type JsonObject } from '../types/json-object.ts'
import { isPrimitive, type Type } from '../types/type.ts'
import { parseTransform, transformResultType, type Transform } from '../types/transforms/transform.ts'
import { asObject, optionalArray, optionalInt, requiredString } from './json-fields.ts'
import type { Schema } from './schema.ts'

export interface PartitionField {
  /** Id of the source column; the first one of a transform of several, whose kind is then `unknown`. */
  readonly sourceId: number
  /** Id of the value in the partition struct. */
  readonly fieldId: number
  readonly name: string
  readonly transform: Transform
}

export interface PartitionSpec {
  readonly specId: number
  /** In the order of the partition struct. */
  readonly fields: readonly PartitionField[]
  /** No fields, or void ones only: deletes of such a spec reach every partition (format-reference 6.2). */
  readonly isUnpartitioned: boolean
}

const FIRST_PARTITION_FIELD_ID = 1000

export function createPartitionSpec(specId: number, fields: readonly PartitionField[]): PartitionSpec {
  return { specId, fields, isUnpartitioned: fields.every((field) => field.transform.kind === 'void') }
}

/**
 * A spec from its JSON: the object of `partition-specs`, or the bare array of fields of v1 metadata and of manifest
 * headers, where `specId` says which it is. `null` in place of the array is the empty spec (B020).
 *
 * Fields without `field-id` get 1000, 1001, … in order (R1.11, B082). Unknown transforms stay (B059), and so do
 * transforms of several columns (`source-ids`), as unknown ones.
 *
 * @throws InvalidMetadataError if only some fields have an id, if two share one, or if a known transform is malformed.
 */
export function parsePartitionSpec(json: unknown, specId?: number): PartitionSpec {
  if (json === null) return createPartitionSpec(specId ?? 0, [])
  if (Array.isArray(json)) return createPartitionSpec(specId ?? 0, parsePartitionFields(json, specId ?? 0))
  const object = asObject(json, 'partition spec')
  const id = optionalInt(object, 'spec-id', 'partition spec') ?? specId
  if (id === undefined) throw new InvalidMetadataError('Cannot read partition spec: "spec-id" is missing')
  return createPartitionSpec(
    id,
    parsePartitionFields(optionalArray(object, 'fields', `partition spec ${id}`), id),
  )
}

function parsePartitionFields(json: readonly unknown[] | undefined, specId: number): PartitionField[] {
  const spec = `partition spec ${specId}`
  if (json === undefined) throw new InvalidMetadataError(`Cannot read ${spec}: "fields" is missing`)
  const objects = json.map((field) => asObject(field, `a field of ${spec}`))
  const ids = objects.map((field) => optionalInt(field, 'field-id', `a field of ${spec}`))
  const withId = ids.filter((id) => id !== undefined)
  if (withId.length !== 0 && withId.length !== ids.length)
    throw new InvalidMetadataError(
      `Cannot read ${spec}: ${withId.length} of its ${ids.length} fields have a "field-id", all or none must`,
    )
  if (new Set(withId).size !== withId.length)
    throw new InvalidMetadataError(
      `Cannot read ${spec}: two of its fields share a "field-id" (${withId.join(', ')})`,
    )

  return objects.map((field, position) => {
    const name = requiredString(field, 'name', `a field of ${spec}`)
    const place = `field "${name}" of ${spec}`
    const text = requiredString(field, 'transform', place)
    const sourceIds = parseSourceIds(field, place)
    return {
      sourceId: sourceIds[0],
      fieldId: ids[position] ?? FIRST_PARTITION_FIELD_ID + position,
      name,
      transform: sourceIds.length === 1 ? parseTransform(text) : { kind: 'unknown', text },
    }
  })
}

function parseSourceIds(field: JsonObject, place: string): readonly number[] {
  const single = optionalInt(field, 'source-id', place)
  if (single !== undefined) return [single]
  const several = optionalArray(field, 'source-ids', place) ?? []
  const ids = several.filter((id): id is number => typeof id === 'number' && Number.isInteger(id))
  if (ids.length === 0 || ids.length !== several.length)
    throw new InvalidMetadataError(`Cannot read ${place}: "source-id" is ${describeJson(field['source-id'])}`)
  return ids
}

/**
 * The spec's fields with the types of their values under `schema`, in order (R1.10). A source column that the schema
 * lacks, or that is no primitive, has type `unknown`: values of `identity`, `truncate` and `void` of it are unknown
 * then, those of the other transforms keep their fixed types. All values may be null.
 */
export function partitionFields(
  spec: PartitionSpec,
  schema: Schema,
): { field: PartitionField; type: Type }[] {
  return spec.fields.map((field) => {
    const source = schema.findField(field.sourceId)?.type
    const sourceType: Type = source !== undefined && isPrimitive(source) ? source : { kind: 'unknown' }
    return { field, type: transformResultType(field.transform, sourceType) }
  })
}

/**
 * A name as writers of Avro files spell it: characters other than ASCII letters, digits and `_` become `_x` and their
 * UTF-16 code in upper-case hex, a leading digit is put after a `_` (R4.11). Only for files without field ids.
 */
export function sanitizeName(name: string): string {
  const escaped = name.replace(
    /[^A-Za-z0-9_]/g,
    (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return /^\d/.test(escaped) ? `_${escaped}` : escaped
}
