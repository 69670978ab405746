/**
 * Field ids for values that avsc decoded.
 *
 * avsc drops the attributes it does not know, `field-id` and `logicalType` among them, so the raw schema JSON is
 * walked beside avsc's resolved type, once per file, into a tree of shapes. With it a decoded value becomes a tree
 * that no longer depends on names, on the order of fields or on the order of union branches:
 *
 * | Avro                                    | {@link AvscValue}                                               |
 * | --------------------------------------- | --------------------------------------------------------------- |
 * | record                                  | `Map` from field id to value, in writer order, nulls included   |
 * | array of key-value records (R4.12)      | `Map` from key to value, the last of equal keys wins            |
 * | map                                     | `Map` from string to value                                      |
 * | union                                   | the value of its branch, or `null`                              |
 * | long                                    | `bigint`, always                                                |
 * | int, float, double                      | `number`                                                        |
 * | bytes, fixed                            | `Uint8Array`, logical types not applied                         |
 * | enum                                    | its symbol                                                      |
 *
 * A schema without any field id gets the ids by name (format-reference 3.4), and the partition's fields from the
 * header's `partition-spec`; fields with unknown names then have no id and are left out.
 */
import { CorruptFileError } from '../errors.ts'

export type AvscValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | AvscValue[]
  | Map<AvscValue, AvscValue>
  | AvscRecord

export type AvscRecord = Map<number, AvscValue>

/** One node of the writer schema; `raw` is its JSON, with whatever attributes it has. */
export type AvscShape = RecordShape | ArrayShape | KeyedShape | MapShape | UnionShape | PlainShape

export interface RecordShape {
  kind: 'record'
  raw: Raw
  /** Filled after the shape is registered, for a record may contain itself. */
  fields: FieldShape[]
}

export interface FieldShape {
  /** `undefined` only in a schema without ids, for a name that is not in the tables. */
  id: number | undefined
  name: string
  /** The same in avsc's objects, where the schema had to be renamed. */
  avscName: string
  shape: AvscShape
}

interface ArrayShape {
  kind: 'array'
  raw: Raw
  items: AvscShape
}

/** An array of two-field records that stands for a map; BigQuery makes the records optional. */
interface KeyedShape {
  kind: 'keyed'
  raw: Raw
  items: AvscShape
  /** Position of the key among the two fields. */
  keyAt: 0 | 1
}

interface MapShape {
  kind: 'map'
  raw: Raw
  values: AvscShape
}

interface UnionShape {
  kind: 'union'
  /** By avsc's name of the branch, which is the one key of a union value other than null. */
  branches: Map<string, AvscShape>
}

interface PlainShape {
  kind: 'plain'
  raw: Raw
  type: string
}

/** What is used of avsc's types; its bundled declarations are looser. */
export interface AvscType {
  name: string | undefined
  branchName: string
  fields: { name: string; type: AvscType }[]
  itemsType: AvscType
  valuesType: AvscType
  types: AvscType[]
  decode(buffer: Buffer, at: number): { value: unknown; offset: number }
}

type Raw = Record<string, unknown> | string

/** Root of both name tables; any other key is the id of the field that holds the record. */
const MANIFEST_LIST = -1
const MANIFEST = -2
const PARTITION = 102

/** Names by the record they are in, current and old (format-reference 3.3, 3.4, 3.6, 3.7). */
const IDS_BY_NAME: Record<number, Record<string, number>> = {
  [MANIFEST_LIST]: {
    manifest_path: 500,
    manifest_length: 501,
    partition_spec_id: 502,
    content: 517,
    sequence_number: 515,
    min_sequence_number: 516,
    added_snapshot_id: 503,
    added_files_count: 504,
    existing_files_count: 505,
    deleted_files_count: 506,
    added_data_files_count: 504,
    existing_data_files_count: 505,
    deleted_data_files_count: 506,
    added_rows_count: 512,
    existing_rows_count: 513,
    deleted_rows_count: 514,
    partitions: 507,
    key_metadata: 519,
    first_row_id: 520,
  },
  507: { contains_null: 509, contains_nan: 518, lower_bound: 510, upper_bound: 511 },
  [MANIFEST]: { status: 0, snapshot_id: 1, sequence_number: 3, file_sequence_number: 4, data_file: 2 },
  2: {
    content: 134,
    file_path: 100,
    file_format: 101,
    partition: PARTITION,
    record_count: 103,
    file_size_in_bytes: 104,
    block_size_in_bytes: 105,
    file_ordinal: 106,
    sort_columns: 107,
    column_sizes: 108,
    value_counts: 109,
    null_value_counts: 110,
    nan_value_counts: 137,
    distinct_counts: 111,
    lower_bounds: 125,
    upper_bounds: 128,
    key_metadata: 131,
    split_offsets: 132,
    equality_ids: 135,
    sort_order_id: 140,
    first_row_id: 142,
    referenced_data_file: 143,
    content_offset: 144,
    content_size_in_bytes: 145,
  },
}

/** Key ids of the metric maps, each followed by its value id, for writers that omit `logicalType`. */
const MAP_KEY_IDS = new Set([117, 119, 121, 123, 126, 129, 138])

/**
 * Joins the raw schema of a file with avsc's type for it. Both name their record fields in the same order; names in
 * the type may differ from the raw ones, so only positions and references are relied on.
 *
 * @param partitionSpec the header's `partition-spec`, used only when the schema has no ids
 * @throws {CorruptFileError} when the root is no record, or when a field that Iceberg knows has no id and others do
 */
export function buildShape(schema: unknown, type: AvscType, partitionSpec: string | undefined): RecordShape {
  const fields = (schema as { fields?: unknown } | null)?.fields
  if (!Array.isArray(fields))
    throw new CorruptFileError('Cannot match fields by id: the root schema is not a record')
  const isList = (fields as { name?: unknown }[]).some(({ name }) => name === 'manifest_path')
  const root = isList ? MANIFEST_LIST : MANIFEST
  const withIds = new Builder(true, () => new Map())
  const shape = withIds.shape(schema as Raw, type, root) as RecordShape
  if (withIds.missing.length === 0) return shape
  if (withIds.found > 0) {
    throw new CorruptFileError(
      `Cannot match fields by id: the field "${withIds.missing[0]}" has none, others do`,
    )
  }
  const byName = new Builder(false, () => partitionIds(partitionSpec))
  return byName.shape(schema as Raw, type, root) as RecordShape
}

class Builder {
  /** Number of fields with an id, and names of the fields that should have one and have not. */
  found = 0
  readonly missing: string[] = []
  readonly #useIds: boolean
  readonly #partitionIds: () => Map<string, number>
  readonly #named = new Map<string, AvscShape>()

  constructor(useIds: boolean, partitionIds: () => Map<string, number>) {
    this.#useIds = useIds
    this.#partitionIds = partitionIds
  }

  /** `parent`: id of the nearest enclosing field, or the root table; what names are looked up by. */
  shape(raw: Raw, type: AvscType, parent: number | undefined): AvscShape {
    if (Array.isArray(raw)) {
      const branches = new Map<string, AvscShape>()
      for (const [i, branch] of raw.entries()) {
        branches.set(type.types[i].branchName, this.shape(branch as Raw, type.types[i], parent))
      }
      return { kind: 'union', branches }
    }
    if (typeof raw === 'string') return this.#named.get(type.name ?? '') ?? { kind: 'plain', raw, type: raw }
    switch (raw['type']) {
      case 'record':
      case 'error':
        return this.#record(raw, type, parent)
      case 'array':
        return this.#array(raw, type, parent)
      case 'map':
        return { kind: 'map', raw, values: this.shape(raw['values'] as Raw, type.valuesType, parent) }
      default:
        return this.#other(raw, type, parent)
    }
  }

  #record(raw: Record<string, unknown>, type: AvscType, parent: number | undefined): RecordShape {
    const shape: RecordShape = { kind: 'record', raw, fields: [] }
    if (type.name !== undefined) this.#named.set(type.name, shape)
    for (const [i, rawField] of (raw['fields'] as Record<string, unknown>[]).entries()) {
      const name = String(rawField['name'])
      const id = this.#useIds ? this.#idOf(rawField, name, parent) : this.#idByName(name, parent)
      const { name: avscName, type: fieldType } = type.fields[i]
      shape.fields.push({ id, name, avscName, shape: this.shape(rawField['type'] as Raw, fieldType, id) })
    }
    return shape
  }

  #array(raw: Record<string, unknown>, type: AvscType, parent: number | undefined): AvscShape {
    const items = this.shape(raw['items'] as Raw, type.itemsType, parent)
    const pair = withoutNull(items)
    if (pair.kind !== 'record' || pair.fields.length !== 2) return { kind: 'array', raw, items }
    const [first, second] = pair.fields
    const isMap =
      raw['logicalType'] === 'map' ||
      (first.name === 'key' && second.name === 'value') ||
      (first.id !== undefined && MAP_KEY_IDS.has(first.id) && second.id === first.id + 1)
    if (!isMap) return { kind: 'array', raw, items }
    return { kind: 'keyed', raw, items, keyAt: second.name === 'key' ? 1 : 0 }
  }

  #other(raw: Record<string, unknown>, type: AvscType, parent: number | undefined): AvscShape {
    const inner = raw['type']
    // { "type": { "type": "array", ... } } and { "type": ["null", ...] } are the inner schema.
    if (typeof inner !== 'string') return this.shape(inner as Raw, type, parent)
    const reference = raw['name'] === undefined ? this.#named.get(type.name ?? '') : undefined
    if (reference !== undefined) return reference
    const shape: PlainShape = { kind: 'plain', raw, type: inner }
    if (type.name !== undefined) this.#named.set(type.name, shape)
    return shape
  }

  /**
   * A field that Iceberg knows must have an id if others do. BigQuery leaves out those of keys and values, where it is
   * clear which is which; a field nobody knows needs none.
   */
  #idOf(rawField: Record<string, unknown>, name: string, parent: number | undefined): number | undefined {
    const id = rawField['field-id']
    const number = typeof id === 'string' && /^-?\d+$/.test(id) ? Number(id) : id
    if (typeof number === 'number' && Number.isSafeInteger(number)) {
      this.found++
      return number
    }
    if (parent === PARTITION || this.#idByName(name, parent) !== undefined) this.missing.push(name)
    return undefined
  }

  #idByName(name: string, parent: number | undefined): number | undefined {
    if (parent === undefined) return undefined
    if (parent === PARTITION) return this.#partitionIds().get(name)
    const table = IDS_BY_NAME[parent] as Record<string, number> | undefined
    return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
  }
}

/** Field ids of the partition tuple by name, from the header; specs of v1 number them from 1000 by position. */
function partitionIds(partitionSpec: string | undefined): Map<string, number> {
  const ids = new Map<string, number>()
  if (partitionSpec === undefined) return ids
  const parsed = JSON.parse(partitionSpec) as { fields?: unknown } | null
  const fields = (Array.isArray(parsed) ? parsed : (parsed?.fields ?? [])) as {
    name: string
    'field-id'?: number
  }[]
  for (const [i, field] of fields.entries()) ids.set(field.name, field['field-id'] ?? 1000 + i)
  return ids
}

/** The decoded value without names, as the table at the head of this file says. */
export function toAvscValue(shape: AvscShape, value: unknown): AvscValue {
  switch (shape.kind) {
    case 'record': {
      const record: AvscRecord = new Map()
      for (const field of shape.fields) {
        if (field.id !== undefined) record.set(field.id, fieldValue(field, value))
      }
      return record
    }
    case 'array':
      return (value as unknown[]).map((item) => toAvscValue(shape.items, item))
    case 'keyed': {
      const { fields } = withoutNull(shape.items) as RecordShape
      const key = fields[shape.keyAt]
      const other = fields[1 - shape.keyAt]
      const optional = shape.items.kind === 'union'
      const map = new Map<AvscValue, AvscValue>()
      for (const item of value as unknown[]) {
        const pair = optional ? unwrapped(item)?.value : item
        if (pair !== undefined) map.set(fieldValue(key, pair), fieldValue(other, pair))
      }
      return map
    }
    case 'map': {
      const map = new Map<AvscValue, AvscValue>()
      for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
        map.set(key, toAvscValue(shape.values, item))
      }
      return map
    }
    case 'union': {
      const inner = unwrapped(value)
      return inner === undefined ? null : toAvscValue(shape.branches.get(inner.branch)!, inner.value)
    }
    case 'plain':
      return value as AvscValue
  }
}

function fieldValue(field: FieldShape, record: unknown): AvscValue {
  return toAvscValue(field.shape, (record as Record<string, unknown>)[field.avscName])
}

/** A wrapped union value has one key, the name of its branch; `undefined` for null. */
function unwrapped(value: unknown): { branch: string; value: unknown } | undefined {
  for (const branch in value as Record<string, unknown> | null) {
    return { branch, value: (value as Record<string, unknown>)[branch] }
  }
  return undefined
}

/** The other branch of a two-branch union with null, and any other shape as it is. */
export function withoutNull(shape: AvscShape): AvscShape {
  if (shape.kind !== 'union' || shape.branches.size > 2) return shape
  const others = [...shape.branches].filter(([name]) => name !== 'null')
  return others.length === 1 ? others[0][1] : shape
}
