/**
 * Avro schemas as data, from the writer's raw JSON, with the attributes that format libraries drop: the id of a
 * field (`field-id`), of a list element and of map keys and values, and the name before it was made legal
 * (`iceberg-field-name`). Named types may be defined once and referred to later; a bare name resolves in the
 * enclosing namespace, a dotted name is already full.
 *
 * The text comes from a file, so nothing in it is trusted: depth and number of nodes are bounded.
 */
import { CorruptFileError } from '../errors.ts'

export type AvroPrimitiveName = 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string'

export interface AvroPrimitive {
  readonly type: AvroPrimitiveName
  readonly logicalType: string | undefined
  /** For `bytes` with logical type `decimal`. */
  readonly scale: number
}
export interface AvroFixed {
  readonly type: 'fixed'
  readonly size: number
  readonly logicalType: string | undefined
  readonly scale: number
}
export interface AvroEnum {
  readonly type: 'enum'
  readonly symbols: readonly string[]
}
export interface AvroArray {
  readonly type: 'array'
  readonly items: AvroSchema
  readonly elementId: number | undefined
}
export interface AvroMap {
  readonly type: 'map'
  readonly values: AvroSchema
}
export interface AvroUnion {
  readonly type: 'union'
  readonly branches: readonly AvroSchema[]
}
export interface AvroRecord {
  readonly type: 'record'
  readonly name: string
  readonly fields: readonly AvroField[]
}
export type AvroSchema = AvroPrimitive | AvroFixed | AvroEnum | AvroArray | AvroMap | AvroUnion | AvroRecord

export interface AvroField {
  readonly name: string
  /** The name before it was made a legal Avro name. */
  readonly originalName: string
  readonly id: number | undefined
  readonly type: AvroSchema
}

/** How much of its record fields carry ids: `some` of them is a file no reader can trust. */
export type FieldIdCoverage = 'all' | 'some' | 'none'

const MAX_DEPTH = 64
/**
 * A manifest of a table partitioned by hundreds of fields has a few thousand nodes. Counted as if every name were
 * replaced by its definition, because that is what walks over the schema see: names that double each other would
 * otherwise make 2^64 nodes out of a few lines.
 */
const MAX_NODES = 200_000
const PRIMITIVES = new Set<string>(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])

/**
 * Parses the text of `avro.schema`.
 *
 * @param bytes UTF-8 JSON, as it stands in the header
 * @param location the file, for the message
 * @throws CorruptFileError when the text is not JSON or not a schema
 */
export function parseAvroSchema(bytes: Uint8Array, location: string): AvroSchema {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  } catch (cause) {
    throw new CorruptFileError(`Cannot read ${location}: its Avro schema is not JSON`, { location, cause })
  }
  return new SchemaParser(location).parse(json, '', 0)
}

class SchemaParser {
  readonly #location: string
  readonly #named = new Map<string, AvroSchema>()
  /** Nodes below each record whose definition is complete. */
  readonly #sizes = new Map<AvroSchema, number>()
  #nodes = 0

  constructor(location: string) {
    this.#location = location
  }

  parse(json: unknown, namespace: string, depth: number): AvroSchema {
    if (depth > MAX_DEPTH) throw this.#bad(`it nests deeper than ${MAX_DEPTH} levels`)
    this.#count(1)
    if (typeof json === 'string') return this.#byName(json, namespace)
    if (Array.isArray(json)) {
      if (json.length === 0) throw this.#bad('a union has no branches')
      return { type: 'union', branches: json.map((branch) => this.parse(branch, namespace, depth + 1)) }
    }
    if (!isObject(json)) throw this.#bad(`${shown(json)} is not a schema`)
    const { type } = json
    if (typeof type !== 'string') return this.parse(type, namespace, depth + 1)
    switch (type) {
      case 'record':
      case 'error':
        return this.#record(json, namespace, depth)
      case 'enum': {
        const { symbols } = json
        if (!isStrings(symbols)) throw this.#bad('an enum has no symbols')
        const schema: AvroEnum = { type: 'enum', symbols }
        this.#define(json, namespace, schema)
        return schema
      }
      case 'fixed': {
        const size = json.size
        if (typeof size !== 'number' || !Number.isInteger(size) || size < 0 || size > 2 ** 31 - 1)
          throw this.#bad(`a fixed type has the size ${shown(size)}`)
        const schema: AvroFixed = { type: 'fixed', size, ...attributes(json) }
        this.#define(json, namespace, schema)
        return schema
      }
      case 'array':
        return {
          type: 'array',
          items: this.parse(json.items, namespace, depth + 1),
          elementId: this.#id(json['element-id'], 'element-id'),
        }
      case 'map':
        return { type: 'map', values: this.parse(json.values, namespace, depth + 1) }
      default:
        if (PRIMITIVES.has(type)) return { type: type as AvroPrimitiveName, ...attributes(json) }
        return this.#byName(type, namespace)
    }
  }

  #record(json: JsonObject, namespace: string, depth: number): AvroRecord {
    if (!Array.isArray(json.fields)) throw this.#bad('a record has no fields')
    const fields: AvroField[] = []
    const schema: AvroRecord = {
      type: 'record',
      name: typeof json.name === 'string' ? json.name : '',
      fields,
    }
    const before = this.#nodes
    const inner = this.#define(json, namespace, schema)
    for (const field of json.fields as unknown[]) {
      if (!isObject(field) || typeof field.name !== 'string')
        throw this.#bad(`record ${schema.name} has a field without a name`)
      const original = field['iceberg-field-name']
      fields.push({
        name: field.name,
        originalName: typeof original === 'string' ? original : field.name,
        id: this.#id(field['field-id'], 'field-id'),
        type: this.parse(field.type, inner, depth + 1),
      })
    }
    this.#sizes.set(schema, this.#nodes - before)
    return schema
  }

  #count(nodes: number): void {
    this.#nodes += nodes
    if (this.#nodes > MAX_NODES) throw this.#bad(`it has more than ${MAX_NODES} nodes`)
  }

  /** Registers a named type before its parts are parsed, so that they may refer to it; gives the inner namespace. */
  #define(json: JsonObject, namespace: string, schema: AvroSchema): string {
    const { name } = json
    if (typeof name !== 'string') return namespace
    const dot = name.lastIndexOf('.')
    const own =
      dot >= 0 ? name.slice(0, dot) : typeof json.namespace === 'string' ? json.namespace : namespace
    const short = name.slice(dot + 1)
    this.#named.set(own === '' ? short : `${own}.${short}`, schema)
    return own
  }

  #byName(name: string, namespace: string): AvroSchema {
    if (PRIMITIVES.has(name)) return { type: name as AvroPrimitiveName, logicalType: undefined, scale: 0 }
    const full = name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
    const known = this.#named.get(full) ?? this.#named.get(name)
    if (known === undefined) throw this.#bad(`type ${shown(name)} is not defined`)
    this.#count(this.#sizes.get(known) ?? 0)
    return known
  }

  #id(json: unknown, attribute: string): number | undefined {
    if (json === undefined || json === null) return undefined
    // Some writers put the number in quotes (format-reference 3.2).
    const id = typeof json === 'string' && /^\d+$/.test(json) ? Number(json) : json
    if (typeof id !== 'number' || !Number.isInteger(id) || id < -(2 ** 31) || id >= 2 ** 31)
      throw this.#bad(`${attribute} is ${shown(json)}`)
    return id
  }

  #bad(why: string): CorruptFileError {
    return new CorruptFileError(`Cannot read ${this.#location}: in its Avro schema ${why}`, {
      location: this.#location,
    })
  }
}

type JsonObject = Record<string, unknown>

function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

function isStrings(json: unknown): json is string[] {
  return Array.isArray(json) && json.every((item) => typeof item === 'string')
}

/** A JSON value for a message; what may be large or deep is only described. */
function shown(json: unknown): string {
  if (Array.isArray(json)) return 'an array'
  if (isObject(json)) return 'an object'
  const text = json === undefined ? 'nothing' : JSON.stringify(json)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

function attributes(json: JsonObject): { logicalType: string | undefined; scale: number } {
  return {
    logicalType: typeof json.logicalType === 'string' ? json.logicalType : undefined,
    scale: typeof json.scale === 'number' ? json.scale : 0,
  }
}

/** The one branch that is not null, and where it stands; `undefined` for a union of several real types. */
export function unwrapOptional(schema: AvroSchema): { schema: AvroSchema; nullBranch: number } | undefined {
  if (schema.type !== 'union') return { schema, nullBranch: -1 }
  const { branches } = schema
  if (branches.length === 1) return undefined
  if (branches.length !== 2) return undefined
  const nullBranch = branches.findIndex((branch) => branch.type === 'null')
  if (nullBranch < 0) return undefined
  return { schema: branches[1 - nullBranch], nullBranch }
}

/**
 * How many of the record fields reachable from a schema carry an id. The fields of a key-value record do not count:
 * BigQuery gives ids to all fields but those, and which is which is told by their names. A record that contains
 * itself is visited once.
 */
export function fieldIdCoverage(schema: AvroSchema): FieldIdCoverage {
  let withId = 0
  let without = 0
  const seen = new Set<AvroSchema>()
  const visit = (node: AvroSchema): void => {
    if (seen.has(node)) return
    seen.add(node)
    switch (node.type) {
      case 'record':
        for (const field of node.fields) {
          if (field.id !== undefined) withId++
          else if (!isKeyValue(node)) without++
          visit(field.type)
        }
        return
      case 'array':
        visit(node.items)
        return
      case 'map':
        visit(node.values)
        return
      case 'union':
        node.branches.forEach(visit)
        return
      default:
        return
    }
  }
  visit(schema)
  if (without === 0) return 'all'
  return withId === 0 ? 'none' : 'some'
}

function isKeyValue({ fields }: AvroRecord): boolean {
  return (
    fields.length === 2 &&
    fields.some(({ name }) => name === 'key') &&
    fields.some(({ name }) => name === 'value')
  )
}
