/**
 * Avro binary encoder for tests, driven by the raw schema JSON. Unlike a library it can choose how arrays and maps
 * are split into blocks and whether a block carries its size, and it writes wrong bytes when asked to
 * ({@link Preencoded}).
 *
 * | Avro              | value                                                                                |
 * | ----------------- | ------------------------------------------------------------------------------------ |
 * | null              | null or undefined                                                                    |
 * | boolean           | boolean                                                                              |
 * | int, long         | number or bigint                                                                     |
 * | float, double     | number                                                                               |
 * | bytes, fixed      | Uint8Array                                                                           |
 * | string, enum      | string (an enum's symbol)                                                            |
 * | array             | array; if the items are records of two fields, also a Map (first field to second)    |
 * | map               | Map or plain object                                                                  |
 * | record            | plain object by field name                                                           |
 * | union             | null or undefined: the null branch; {@link UnionBranch}: that one; else the first that is not null |
 */
import { ByteWriter } from './byte-writer.ts'

export type AvroSchema = string | readonly AvroSchema[] | AvroSchemaObject

export interface AvroSchemaObject {
  type: AvroSchema
  name?: string
  namespace?: string
  fields?: readonly AvroField[]
  items?: AvroSchema
  values?: AvroSchema
  size?: number
  symbols?: readonly string[]
  [attribute: string]: unknown
}

export interface AvroField {
  name: string
  type: AvroSchema
  [attribute: string]: unknown
}

/** How arrays and maps are cut into blocks. */
export interface BlockLayout {
  /** Write negative counts followed by the block's size in bytes, as block-buffering encoders do. */
  negativeCounts?: boolean
  /** Items per block; default: all in one. */
  itemsPerBlock?: number
}

/** Stands for any value: these bytes are written in its place, unframed. */
export class Preencoded {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** A value for a named branch of a union. */
export class UnionBranch {
  readonly index: number
  readonly value: unknown

  constructor(index: number, value: unknown) {
    this.index = index
    this.value = value
  }
}

export type Encode = (out: ByteWriter, value: unknown) => void

/** Compiles a schema; throws a TypeError for a reference to a name that is not defined before it. */
export function compileEncoder(schema: AvroSchema, layout: BlockLayout = {}): Encode {
  return compile(schema, { layout, names: new Map(), namespace: '' })
}

interface Context {
  layout: BlockLayout
  names: Map<string, Encode>
  namespace: string
}

const PRIMITIVES: Record<string, Encode | undefined> = {
  null: () => undefined,
  boolean: (out, value) => {
    out.boolean(value as boolean)
  },
  int: (out, value) => {
    out.long(value as number | bigint)
  },
  long: (out, value) => {
    out.long(value as number | bigint)
  },
  float: (out, value) => {
    out.float(value as number)
  },
  double: (out, value) => {
    out.double(value as number)
  },
  bytes: (out, value) => {
    out.bytes(value as Uint8Array)
  },
  string: (out, value) => {
    out.string(value as string)
  },
}

function compile(schema: AvroSchema, context: Context): Encode {
  const encode = compileExact(schema, context)
  return (out, value) => {
    if (value instanceof Preencoded) out.raw(value.bytes)
    else encode(out, value)
  }
}

function compileExact(schema: AvroSchema, context: Context): Encode {
  if (typeof schema === 'string') return named(schema, context)
  if (isUnion(schema)) return union(schema, context)
  switch (schema.type) {
    case 'record':
      return record(schema, context)
    case 'array':
      return array(schema, context)
    case 'map':
      return map(schema, context)
    case 'fixed':
      return define(schema, context, fixed(schema))
    case 'enum':
      return define(schema, context, (out, value) => {
        out.long(schema.symbols!.indexOf(value as string))
      })
    default:
      return compileExact(schema.type, context)
  }
}

function isUnion(schema: AvroSchema): schema is readonly AvroSchema[] {
  return Array.isArray(schema)
}

function named(name: string, { names, namespace }: Context): Encode {
  const encode = PRIMITIVES[name] ?? names.get(fullName(name, namespace))
  if (encode === undefined) throw new TypeError(`Cannot encode Avro type ${name}: not defined`)
  return encode
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
}

function define(schema: AvroSchemaObject, context: Context, encode: Encode): Encode {
  context.names.set(fullName(schema.name!, schema.namespace ?? context.namespace), encode)
  return encode
}

function fixed(schema: AvroSchemaObject): Encode {
  return (out, value) => {
    const bytes = value as Uint8Array
    if (bytes.length !== schema.size) {
      throw new RangeError(
        `Cannot encode ${schema.name}: ${bytes.length} bytes, the schema says ${schema.size}`,
      )
    }
    out.raw(bytes)
  }
}

function union(branches: readonly AvroSchema[], context: Context): Encode {
  const encoders = branches.map((branch) => compile(branch, context))
  const nullIndex = branches.indexOf('null')
  const valueIndex = branches.findIndex((branch) => branch !== 'null')
  return (out, value) => {
    let index = value == null ? nullIndex : valueIndex
    if (value instanceof UnionBranch) ({ index, value } = value)
    if (index < 0)
      throw new TypeError(`Cannot encode ${String(value)}: no branch for it in ${JSON.stringify(branches)}`)
    out.long(index)
    encoders[index](out, value)
  }
}

function record(schema: AvroSchemaObject, context: Context): Encode {
  const names: string[] = []
  const encoders: Encode[] = []
  const encode: Encode = (out, value) => {
    const source = value as Record<string, unknown>
    for (let i = 0; i < names.length; i++) encodeField(out, source[names[i]], encoders[i], names[i])
  }
  // Defined before its fields, so that a field may refer back to it.
  define(schema, context, encode)
  const inner = { ...context, namespace: schema.namespace ?? context.namespace }
  for (const field of schema.fields!) {
    names.push(field.name)
    encoders.push(compile(field.type, inner))
  }
  return encode
}

function encodeField(out: ByteWriter, value: unknown, encode: Encode, name: string): void {
  try {
    encode(out, value)
  } catch (cause) {
    throw new TypeError(`Cannot encode field ${name}: ${String(value)} is not a value of its type`, { cause })
  }
}

function array(schema: AvroSchemaObject, context: Context): Encode {
  const encodeItem = compile(schema.items!, context)
  const fields = pairFields(schema.items!)
  const encodePair =
    fields === undefined
      ? undefined
      : pair(
          fields.map(({ type }) => compile(type, context)),
          encodeItem,
        )
  return (out, value) => {
    if (value instanceof Map && encodePair !== undefined)
      blocks(out, value.size, value, encodePair, context.layout)
    else blocks(out, (value as unknown[]).length, value as unknown[], encodeItem, context.layout)
  }
}

function pairFields(items: AvroSchema): readonly AvroField[] | undefined {
  if (typeof items === 'string' || isUnion(items) || items.type !== 'record') return undefined
  return items.fields!.length === 2 ? items.fields : undefined
}

/** Items of a Map arrive as [key, value]; a Preencoded one stands for the whole item. */
function pair([encodeKey, encodeValue]: Encode[], encodeItem: Encode): Encode {
  return (out, item) => {
    if (!Array.isArray(item)) {
      encodeItem(out, item)
      return
    }
    encodeKey(out, item[0])
    encodeValue(out, item[1])
  }
}

function map(schema: AvroSchemaObject, context: Context): Encode {
  const encodeValue = compile(schema.values!, context)
  const encodeEntry: Encode = (out, entry) => {
    const [key, value] = entry as [string, unknown]
    out.string(key)
    encodeValue(out, value)
  }
  return (out, value) => {
    const entries = value instanceof Map ? [...value] : Object.entries(value as object)
    blocks(out, entries.length, entries, encodeEntry, context.layout)
  }
}

function blocks(
  out: ByteWriter,
  count: number,
  items: Iterable<unknown>,
  encodeItem: Encode,
  layout: BlockLayout,
): void {
  if (count > 0 && layout.negativeCounts !== true && layout.itemsPerBlock === undefined) {
    out.long(count)
    for (const item of items) encodeItem(out, item)
  } else if (count > 0) {
    const list = [...items]
    const size = layout.itemsPerBlock ?? count
    for (let i = 0; i < count; i += size) block(out, list.slice(i, i + size), encodeItem, layout)
  }
  out.long(0)
}

function block(out: ByteWriter, items: unknown[], encodeItem: Encode, layout: BlockLayout): void {
  const body = new ByteWriter()
  for (const item of items) encodeItem(body, item)
  if (layout.negativeCounts === true) {
    out.long(-items.length)
    out.long(body.length)
  } else {
    out.long(items.length)
  }
  out.raw(body.view())
}
