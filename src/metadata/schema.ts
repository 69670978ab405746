/**
 * A table schema: its columns, and finding them by id or by dotted name (R11.1, R11.2).
 *
 * Names of nested columns are joined with dots, list and map children are `element`, `key` and `value`. A struct in a
 * list or map may also be reached without that word:
 *
 *     st.x        a field of a struct          l.element      the elements of a list
 *     m.key       the keys of a map            l.element.y    or l.y, a field of a list of structs
 *     a.b         a column whose own name has a dot: names are looked up whole, never split
 *
 * Indexes are built when first asked for, because most schemas of a long history are never asked.
 */
import { InvalidArgumentError, InvalidMetadataError } from '../errors.ts'
import { childFields, parseFields, type NestedField } from '../types/type.ts'
import { asObject, optionalArray, optionalInt } from './json-fields.ts'

/** A column with its place in the schema. */
export interface SchemaField {
  readonly field: NestedField
  /** Dotted name from the top of the schema. */
  readonly fullName: string
  /** Ids of the columns around it, outermost first; empty at the top. */
  readonly parentIds: readonly number[]
  /** Whether its value can be missing from a row: it, or a column around it, is optional (B093). */
  readonly isOptional: boolean
  /** Whether it lies in a list or map, so that a row holds any number of values: no filter can name it (R11.4). */
  readonly isRepeated: boolean
}

export class Schema {
  readonly schemaId: number
  readonly fields: readonly NestedField[]
  readonly identifierFieldIds: readonly number[]
  #byId: ReadonlyMap<number, SchemaField> | undefined
  #byName: ReadonlyMap<string, SchemaField> | undefined
  #byLowerCaseName: ReadonlyMap<string, SchemaField> | undefined

  constructor(fields: readonly NestedField[], schemaId = 0, identifierFieldIds: readonly number[] = []) {
    this.schemaId = schemaId
    this.fields = fields
    this.identifierFieldIds = identifierFieldIds
  }

  /**
   * The column with this id, at any depth.
   *
   * @throws InvalidMetadataError if two columns of the schema share an id; so do all methods here.
   */
  findField(id: number): NestedField | undefined {
    return this.locate(id)?.field
  }

  /** The column with this id and its place. */
  locate(id: number): SchemaField | undefined {
    return this.#fieldsById().get(id)
  }

  /**
   * The column with this dotted name, full or short.
   *
   * @throws InvalidMetadataError if two columns have one full name, as `a.b` and the field `b` of `a` do (R11.1).
   * @throws InvalidArgumentError with `caseSensitive` false if two names differ in case only, asked for or not (R10.5).
   */
  findFieldByName(name: string, caseSensitive = true): NestedField | undefined {
    return this.locateByName(name, caseSensitive)?.field
  }

  /** Like {@link findFieldByName}, with the place of the column. */
  locateByName(name: string, caseSensitive = true): SchemaField | undefined {
    this.#byName ??= indexByName(this.#fieldsById())
    if (caseSensitive) return this.#byName.get(name)
    this.#byLowerCaseName ??= indexByLowerCaseName(this.#byName)
    return this.#byLowerCaseName.get(name.toLowerCase())
  }

  /** The dotted name of the column with this id. */
  fullName(id: number): string | undefined {
    return this.locate(id)?.fullName
  }

  /** Every column at every depth, each before its children, in schema order. */
  allFields(): Iterable<SchemaField> {
    return this.#fieldsById().values()
  }

  #fieldsById(): ReadonlyMap<number, SchemaField> {
    return (this.#byId ??= indexById(this.fields))
  }
}

/**
 * A schema from its JSON: in table metadata, or under the key `schema` of a manifest. `schema-id` defaults to 0.
 *
 * @throws InvalidMetadataError, or UnsupportedFeatureError for a type this version does not know.
 */
export function parseSchema(json: unknown): Schema {
  const object = asObject(json, 'schema')
  const identifierIds = optionalArray(object, 'identifier-field-ids', 'schema') ?? []
  return new Schema(
    parseFields(object.fields),
    optionalInt(object, 'schema-id', 'schema') ?? 0,
    identifierIds.filter((id) => typeof id === 'number'),
  )
}

function indexById(fields: readonly NestedField[]): Map<number, SchemaField> {
  const index = new Map<number, SchemaField>()
  const add = (field: NestedField, parent: SchemaField | undefined): void => {
    const entry: SchemaField = {
      field,
      fullName: parent === undefined ? field.name : `${parent.fullName}.${field.name}`,
      parentIds: parent === undefined ? [] : [...parent.parentIds, parent.field.id],
      isOptional: !field.required || (parent?.isOptional ?? false),
      isRepeated: parent !== undefined && (parent.isRepeated || parent.field.type.kind !== 'struct'),
    }
    const other = index.get(field.id)
    if (other !== undefined)
      throw new InvalidMetadataError(
        `Cannot use schema: the columns "${other.fullName}" and "${entry.fullName}" share the id ${field.id}`,
      )
    index.set(field.id, entry)
    for (const child of childFields(field.type)) add(child, entry)
  }
  for (const field of fields) add(field, undefined)
  return index
}

/** Full names, and short names where they are not the full name of another column. */
function indexByName(byId: ReadonlyMap<number, SchemaField>): Map<string, SchemaField> {
  const index = new Map<string, SchemaField>()
  const shortNames = new Map<number, string>()
  for (const entry of byId.values()) {
    const other = index.get(entry.fullName)
    if (other !== undefined)
      throw new InvalidMetadataError(
        `Cannot use schema: the name "${entry.fullName}" is that of columns ${other.field.id} and ${entry.field.id}`,
      )
    index.set(entry.fullName, entry)

    const parent = byId.get(entry.parentIds.at(-1) ?? -1)
    const prefix = parent === undefined ? '' : shortNames.get(parent.field.id)!
    const joined = prefix === '' ? entry.field.name : `${prefix}.${entry.field.name}`
    shortNames.set(entry.field.id, isStructInside(parent, entry) ? prefix : joined)
  }
  for (const entry of byId.values()) {
    const shortName = shortNames.get(entry.field.id)!
    if (!index.has(shortName)) index.set(shortName, entry)
  }
  return index
}

/** Whether `entry` is the element or value struct of the list or map `parent`, a level that short names omit. */
function isStructInside(parent: SchemaField | undefined, entry: SchemaField): boolean {
  if (parent === undefined || entry.field.type.kind !== 'struct') return false
  const { type } = parent.field
  return type.kind === 'list' || (type.kind === 'map' && entry.field.id === type.valueId)
}

function indexByLowerCaseName(byName: ReadonlyMap<string, SchemaField>): Map<string, SchemaField> {
  const index = new Map<string, SchemaField>()
  for (const [name, entry] of byName) {
    const lower = name.toLowerCase()
    const other = index.get(lower)
    if (other !== undefined && other.field.id !== entry.field.id)
      throw new InvalidArgumentError(
        `Cannot match column names without case: "${other.fullName}" and "${entry.fullName}" differ in case only`,
      )
    index.set(lower, entry)
  }
  return index
}
