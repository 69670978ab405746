/**
 * A record of an Iceberg file as a list of fields with ids, and its rendering as an Avro schema with the oddities
 * that real writers show: other names, other orders, missing fields, missing ids, fields nobody knows.
 */
import { type AvroField, type AvroSchema, UnionBranch } from './avro-encoder.ts'

export interface FieldShape<T> {
  id: number
  name: string
  /** Name that older writers use for the same id. */
  oldName?: string
  type: AvroSchema
  /** Rendered as a union with null. */
  optional?: boolean
  value: (source: T) => unknown
}

const RECORD_NAMES = ['entry', 'dataFile', 'partition', 'manifestFile', 'summary'] as const
export type RecordName = (typeof RECORD_NAMES)[number]

/** A field that no version of the specification knows. */
export interface ExtraField {
  in: RecordName
  /** Position among the fields of its record, 0 is first; beyond the end is last. */
  at: number
  field: AvroField
  /** The value in every record. */
  value: unknown
}

export interface SchemaVariations {
  /** Default `null-first`, with `default: null`; `value-first` unions have no default. */
  unionOrder?: 'null-first' | 'value-first'
  /** Seed of a shuffle of the fields of every record; default: the order of the Java writer. */
  shuffleSeed?: number
  /** Ids of fields to leave out of the schema. */
  omit?: readonly number[]
  /** Default `all`; `some` drops every second one, `strings` writes them as JSON strings. */
  fieldIds?: 'all' | 'none' | 'some' | 'strings'
  /** Use `added_data_files_count` and its like. */
  oldNames?: boolean
  /** Names by field id. */
  names?: Readonly<Record<number, string>>
  /** Types by field id, without the null of an optional field. */
  types?: Readonly<Record<number, AvroSchema>>
  /** Whether a field is a union with null, by field id. */
  optional?: Readonly<Record<number, boolean>>
  extraFields?: readonly ExtraField[]
  /** Default true: mark arrays that are maps with `logicalType: "map"`. */
  mapLogicalType?: boolean
}

export interface RenderedRecord<T> {
  schema: AvroSchema
  toRecord: (source: T) => Record<string, unknown>
}

export function renderRecord<T>(
  kind: RecordName,
  avroName: string,
  fields: readonly FieldShape<T>[],
  variations: SchemaVariations,
): RenderedRecord<T> {
  const kept = fields.filter(({ id }) => variations.omit?.includes(id) !== true)
  const rendered = kept.map((field) => ({ field: renderField(field, variations), value: field.value }))
  if (variations.shuffleSeed !== undefined) shuffle(rendered, variations.shuffleSeed + avroName.length)
  for (const extra of variations.extraFields ?? []) {
    if (extra.in === kind) rendered.splice(extra.at, 0, { field: extra.field, value: () => extra.value })
  }
  return {
    schema: { type: 'record', name: avroName, fields: rendered.map(({ field }) => field) },
    toRecord: (source) => {
      const record: Record<string, unknown> = {}
      for (const { field, value } of rendered) record[field.name] = value(source)
      return record
    },
  }
}

function renderField<T>(shape: FieldShape<T>, variations: SchemaVariations): AvroField {
  const { id, oldName } = shape
  const name = variations.names?.[id] ?? (variations.oldNames === true ? (oldName ?? shape.name) : shape.name)
  const type = variations.types?.[id] ?? shape.type
  if (!(variations.optional?.[id] ?? shape.optional ?? false)) return { name, type, 'field-id': id }
  return variations.unionOrder === 'value-first'
    ? { name, type: [type, 'null'], 'field-id': id }
    : { name, type: ['null', type], default: null, 'field-id': id }
}

const ID_ATTRIBUTES = new Set(['field-id', 'element-id', 'key-id', 'value-id'])

/** Applies `fieldIds` and `mapLogicalType` to a whole schema; the input is not changed. */
export function finishSchema(schema: AvroSchema, variations: SchemaVariations): AvroSchema {
  let seen = 0
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'logicalType' && value === 'map' && variations.mapLogicalType === false) return undefined
    if (!ID_ATTRIBUTES.has(key)) return value
    if (variations.fieldIds === 'none') return undefined
    if (variations.fieldIds === 'some' && seen++ % 2 === 1) return undefined
    return variations.fieldIds === 'strings' ? String(value) : value
  })
  return JSON.parse(text) as AvroSchema
}

/** Deterministic generator of 32-bit numbers (mulberry32), as floats in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffle(items: unknown[], seed: number): void {
  const random = seededRandom(seed)
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[items[i], items[j]] = [items[j], items[i]]
  }
}

/**
 * One field of every Avro type at position `at` of a record, so that skipping is tried on each. They carry ids that
 * nobody knows, from 9000 on; different records of one file may each have theirs.
 */
export function extraFieldsOfEveryType(record: RecordName, at: number): ExtraField[] {
  let id = 9000 + 100 * RECORD_NAMES.indexOf(record)
  const field = (name: string, type: AvroSchema): AvroField => ({ name, type, 'field-id': id++ })
  // Names of types are unique in a file.
  const named = (type: string, name: string, rest: object): AvroSchema => ({
    type,
    name: `x_${record}_${name}`,
    ...rest,
  })
  const arrayOf = (items: AvroSchema): AvroSchema => ({ type: 'array', items, 'element-id': id++ })
  const inner = named('record', 'inner', {
    fields: [field('c', 'string'), field('d', ['null', `x_${record}_outer`])],
  })
  const outer = named('record', 'outer', { fields: [field('a', 'long'), field('b', inner)] })
  const item = named('record', 'item', { fields: ['p', 'q', 'r'].map((name) => field(name, 'int')) })
  const types: [name: string, type: AvroSchema, value: unknown][] = [
    ['x_boolean', 'boolean', true],
    ['x_int', 'int', -7],
    ['x_long', 'long', -(2n ** 62n)],
    ['x_float', 'float', 1.5],
    ['x_double', 'double', -2.25],
    ['x_bytes', 'bytes', Uint8Array.of(0, 255, 128)],
    ['x_string', 'string', 'å→\u{1f600}'],
    ['x_null', 'null', null],
    ['x_fixed', named('fixed', 'fixed', { size: 3 }), Uint8Array.of(1, 2, 3)],
    ['x_fixed_again', `x_${record}_fixed`, Uint8Array.of(4, 5, 6)],
    ['x_enum', named('enum', 'enum', { symbols: ['A', 'B', 'C'] }), 'C'],
    ['x_array', arrayOf('string'), ['a', '', 'ccc']],
    ['x_map', { type: 'map', values: 'double', 'key-id': id++, 'value-id': id++ }, { one: 1, two: 2 }],
    ['x_union', ['string', 'null', 'long'], 'text'],
    ['x_union_third', ['null', 'string', 'long'], new UnionBranch(2, 2n ** 40n)],
    ['x_optional', ['long', 'null'], null],
    ['x_record', outer, { a: 1, b: { c: 'deep', d: { a: 2, b: { c: 'deeper', d: null } } } }],
    [
      'x_records',
      arrayOf(item),
      [
        { p: 1, q: 2, r: 3 },
        { p: 400, q: 500, r: -600 },
      ],
    ],
  ]
  return types.map(([name, type, value], i) => ({ in: record, at: at + i, field: field(name, type), value }))
}
