/**
 * Iceberg types (spec: Schemas and Data Types) as plain data: a union on `kind`, so that a `switch` over it is checked
 * for completeness and a type can be posted to a worker.
 *
 * In JSON a primitive is a string (`"decimal(9,2)"`), a nested type an object (`{"type":"list", ...}`).
 */
import { InvalidMetadataError, UnsupportedFeatureError } from '../errors.ts'
import { describeJson, isJsonObject, type JsonObject } from './json-object.ts'

/** Kinds that need no parameter. */
export type PlainKind =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'string'
  | 'uuid'
  | 'binary'
  | 'unknown'
  | 'variant'

export interface PlainType {
  readonly kind: PlainKind
}

/** `length` in bytes, at least 0. */
export interface FixedType {
  readonly kind: 'fixed'
  readonly length: number
}

/** `precision` in decimal digits, 1 to 38; `scale` in digits after the point. */
export interface DecimalType {
  readonly kind: 'decimal'
  readonly precision: number
  readonly scale: number
}

/** `crs` is kept as written; `OGC:CRS84` where the type names none. */
export interface GeometryType {
  readonly kind: 'geometry'
  readonly crs: string
}

export interface GeographyType {
  readonly kind: 'geography'
  readonly crs: string
  readonly algorithm: EdgeAlgorithm
}

export type EdgeAlgorithm = 'spherical' | 'vincenty' | 'thomas' | 'andoyer' | 'karney'

export interface StructType {
  readonly kind: 'struct'
  readonly fields: readonly NestedField[]
}

export interface ListType {
  readonly kind: 'list'
  readonly elementId: number
  readonly elementRequired: boolean
  readonly element: Type
}

export interface MapType {
  readonly kind: 'map'
  readonly keyId: number
  readonly key: Type
  readonly valueId: number
  readonly valueRequired: boolean
  readonly value: Type
}

export type Type =
  PlainType | FixedType | DecimalType | GeometryType | GeographyType | StructType | ListType | MapType

/** Everything that is neither nested nor a variant. */
export type PrimitiveType =
  { readonly kind: Exclude<PlainKind, 'variant'> } | FixedType | DecimalType | GeometryType | GeographyType

/**
 * A column: of a table, of a struct, or the element, key or value of a list or map. The defaults are the JSON single
 * values of the metadata (format-reference 2.7), not decoded: planning never looks at them.
 */
export interface NestedField {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly type: Type
  readonly doc?: string
  readonly initialDefault?: unknown
  readonly writeDefault?: unknown
}

/** Levels of nesting that {@link parseType} accepts; the deepest real schemas have about twenty. */
export const MAX_TYPE_DEPTH = 200

const DEFAULT_CRS = 'OGC:CRS84'
const DEFAULT_ALGORITHM = 'spherical'
const MAX_DECIMAL_PRECISION = 38
const MAX_INT = 2 ** 31 - 1

const PLAIN_TYPES: ReadonlyMap<string, PlainType> = new Map(
  (
    [
      'boolean',
      'int',
      'long',
      'float',
      'double',
      'date',
      'time',
      'timestamp',
      'timestamptz',
      'timestamp_ns',
      'timestamptz_ns',
      'string',
      'uuid',
      'binary',
      'unknown',
      'variant',
    ] satisfies PlainKind[]
  ).map((kind) => [kind, Object.freeze<PlainType>({ kind })]),
)

const EDGE_ALGORITHMS: readonly EdgeAlgorithm[] = ['spherical', 'vincenty', 'thomas', 'andoyer', 'karney']

/**
 * The type that parsed JSON describes. Upper case and white space are forgiven, as Java does.
 *
 * @throws InvalidMetadataError for a malformed type, or more than {@link MAX_TYPE_DEPTH} levels (B221).
 * @throws UnsupportedFeatureError for a well-formed name this version does not know: a later format may have it.
 */
export function parseType(json: unknown): Type {
  return parseTypeAt(json, 0)
}

function parseTypeAt(json: unknown, depth: number): Type {
  if (typeof json === 'string') return parseTypeString(json)
  if (depth >= MAX_TYPE_DEPTH)
    throw new InvalidMetadataError(`Cannot parse type: it is nested deeper than ${MAX_TYPE_DEPTH} levels`)
  if (!isJsonObject(json))
    throw new InvalidMetadataError(`Cannot parse type: ${describeJson(json)} is no type`)
  const name = typeof json.type === 'string' ? json.type.trim().toLowerCase() : json.type
  switch (name) {
    case 'struct':
      return { kind: 'struct', fields: parseFieldsAt(json.fields, depth + 1) }
    case 'list':
      return {
        kind: 'list',
        elementId: idOf(json, 'element-id', 'list'),
        elementRequired: flagOf(json, 'element-required', 'list'),
        element: parseTypeAt(json.element, depth + 1),
      }
    case 'map':
      return {
        kind: 'map',
        keyId: idOf(json, 'key-id', 'map'),
        key: parseTypeAt(json.key, depth + 1),
        valueId: idOf(json, 'value-id', 'map'),
        valueRequired: flagOf(json, 'value-required', 'map'),
        value: parseTypeAt(json.value, depth + 1),
      }
    default:
      // Some writers wrap a primitive: {"type": "long"}.
      if (typeof name === 'string') return parseTypeString(name)
      throw new InvalidMetadataError(`Cannot parse type: "type" is ${describeJson(name)}`)
  }
}

/** The fields of a struct or schema in their JSON form; same errors as {@link parseType}. */
export function parseFields(json: unknown): NestedField[] {
  return parseFieldsAt(json, 1)
}

function parseFieldsAt(json: unknown, depth: number): NestedField[] {
  if (!Array.isArray(json))
    throw new InvalidMetadataError(`Cannot parse struct: "fields" is ${describeJson(json)}, not an array`)
  return json.map((entry: unknown): NestedField => {
    if (!isJsonObject(entry))
      throw new InvalidMetadataError(`Cannot parse struct: the field ${describeJson(entry)} is no object`)
    const name = entry.name
    if (typeof name !== 'string')
      throw new InvalidMetadataError(
        `Cannot parse field ${describeJson(entry.id)}: "name" is ${describeJson(name)}, not a string`,
      )
    const place = `field ${JSON.stringify(name)}`
    const field: Mutable<NestedField> = {
      id: idOf(entry, 'id', place),
      name,
      required: flagOf(entry, 'required', place),
      type: parseTypeAt(entry.type, depth),
    }
    if (typeof entry.doc === 'string') field.doc = entry.doc
    if (entry['initial-default'] != null) field.initialDefault = entry['initial-default']
    if (entry['write-default'] != null) field.writeDefault = entry['write-default']
    return field
  })
}

function parseTypeString(text: string): Type {
  const trimmed = text.trim()
  const plain = PLAIN_TYPES.get(trimmed) ?? PLAIN_TYPES.get(trimmed.toLowerCase())
  if (plain !== undefined) return plain

  // Name, bracket, arguments: split by hand, since a pattern with several `\s*` is quadratic on hostile text.
  const open = trimmed.search(/[([]/)
  const name = (open < 0 ? trimmed : trimmed.slice(0, open)).trim().toLowerCase()
  const close = open < 0 ? '' : trimmed[open] === '(' ? ')' : ']'
  if (open >= 0 && !trimmed.endsWith(close)) throw malformed(text, `the closing "${close}" is missing`)
  const inner = open < 0 ? '' : trimmed.slice(open + 1, -1).trim()
  const args = inner === '' ? [] : inner.split(',').map((arg) => arg.trim())

  switch (name) {
    case 'fixed': {
      const length = wholeNumber(args[0])
      if (args.length !== 1 || length === undefined || length < 0)
        throw malformed(text, 'it must be fixed[length]')
      return { kind: 'fixed', length }
    }
    case 'decimal': {
      const precision = wholeNumber(args[0])
      const scale = wholeNumber(args[1])
      if (args.length !== 2 || precision === undefined || scale === undefined)
        throw malformed(text, 'it must be decimal(precision, scale)')
      if (precision < 1 || precision > MAX_DECIMAL_PRECISION)
        throw malformed(text, `the precision must be 1 to ${MAX_DECIMAL_PRECISION}`)
      return { kind: 'decimal', precision, scale }
    }
    case 'geometry':
      // The CRS is free text, commas included.
      return { kind: 'geometry', crs: inner === '' ? DEFAULT_CRS : inner }
    case 'geography': {
      const asked = (args[1] ?? DEFAULT_ALGORITHM).toLowerCase()
      const algorithm = EDGE_ALGORITHMS.find((known) => known === asked)
      if (algorithm === undefined || args.length > 2)
        throw malformed(text, `the algorithm must be one of ${EDGE_ALGORITHMS.join(', ')}`)
      const crs = args.at(0) ?? ''
      return { kind: 'geography', crs: crs === '' ? DEFAULT_CRS : crs, algorithm }
    }
    default:
      if (/^[a-z_][a-z0-9_]*$/.test(name))
        throw new UnsupportedFeatureError(
          `Cannot read type ${describeJson(text)}: this version does not know it`,
        )
      throw malformed(text, 'it is no type name')
  }
}

/**
 * A type as the metadata writes it; nested types in the short form of Java's messages
 * (`struct<1: id: required long>`, `list<string>`, `map<string, double>`).
 */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'fixed':
      return `fixed[${type.length}]`
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`
    case 'geometry':
      return type.crs === DEFAULT_CRS ? 'geometry' : `geometry(${type.crs})`
    case 'geography':
      if (type.algorithm !== DEFAULT_ALGORITHM) return `geography(${type.crs}, ${type.algorithm})`
      return type.crs === DEFAULT_CRS ? 'geography' : `geography(${type.crs})`
    case 'struct': {
      const fields = type.fields.map(
        (f) => `${f.id}: ${f.name}: ${f.required ? 'required' : 'optional'} ${formatType(f.type)}`,
      )
      return `struct<${fields.join(', ')}>`
    }
    case 'list':
      return `list<${formatType(type.element)}>`
    case 'map':
      return `map<${formatType(type.key)}, ${formatType(type.value)}>`
    default:
      return type.kind
  }
}

/** Whether a column of this type holds one value a row: neither struct, list nor map, and no variant. */
export function isPrimitive(type: Type): type is PrimitiveType {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map' && type.kind !== 'variant'
}

/** The fields directly below a nested type, list and map children under their spec names; none for other types. */
export function childFields(type: Type): readonly NestedField[] {
  switch (type.kind) {
    case 'struct':
      return type.fields
    case 'list':
      return [{ id: type.elementId, name: 'element', required: type.elementRequired, type: type.element }]
    case 'map':
      return [
        { id: type.keyId, name: 'key', required: true, type: type.key },
        { id: type.valueId, name: 'value', required: type.valueRequired, type: type.value },
      ]
    default:
      return []
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function idOf(json: JsonObject, key: string, place: string): number {
  const id = json[key]
  if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= MAX_INT) return id
  throw new InvalidMetadataError(`Cannot parse ${place}: "${key}" is ${describeJson(id)}, not a field id`)
}

function flagOf(json: JsonObject, key: string, place: string): boolean {
  const flag = json[key]
  if (typeof flag === 'boolean') return flag
  throw new InvalidMetadataError(
    `Cannot parse ${place}: "${key}" is ${describeJson(flag)}, not true or false`,
  )
}

function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return Math.abs(value) <= MAX_INT ? value : undefined
}

function malformed(text: string, why: string): InvalidMetadataError {
  return new InvalidMetadataError(`Cannot parse type ${describeJson(text)}: ${why}`)
}
