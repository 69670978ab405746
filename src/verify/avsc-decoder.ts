/**
 * The independent Avro decoder: what avsc 5.7.9 makes of a manifest or manifest list, keyed by field id.
 *
 * It shares no decoding code with `src/avro`, so that two readers that agree are two witnesses. Division of labour:
 *
 * | what                      | done by                                                                     |
 * | ------------------------- | --------------------------------------------------------------------------- |
 * | header and block framing  | avsc, with two record types that describe the container                     |
 * | values                    | avsc, compiled from the file's own `avro.schema`, longs as bigint           |
 * | field ids, logical types  | `avsc-shape.ts`, from the raw schema JSON, for avsc drops unknown attributes |
 * | codecs                    | `avsc-codecs.ts`: node:zlib, hysnappy, fzstd                                |
 *
 * avsc is strict about names where Avro files in the wild are not. Its refusal is kept with its words: either the
 * file decodes with a copy of the schema in which only names differ (names leave no trace in Avro data) and the
 * result says so in `refusal`, or {@link AvscRefusal} is thrown.
 */
import avro from 'avsc'
import { CorruptFileError } from '../errors.ts'
import { decompressBlock } from './avsc-codecs.ts'
import { renameSchema } from './avsc-rename.ts'
import { buildShape, toAvscValue, type AvscRecord, type AvscType, type RecordShape } from './avsc-shape.ts'

/** A container file as avsc reads it. */
export interface AvscFile {
  /** All header entries but the two of Avro itself are Iceberg's: `schema`, `partition-spec`, `format-version`, ... */
  metadata: Map<string, Uint8Array>
  /** `avro.codec`, `null` where the header has none. */
  codec: string
  /** `avro.schema` as parsed JSON, untouched. */
  schema: unknown
  /** Fields with ids and logical types, in writer order. */
  shape: RecordShape
  /** Number of blocks; 0 is legal. */
  blocks: number
  records: AvscRecord[]
  /** Why the schema as it stands was not decoded, avsc's own words; a copy with other names was. */
  refusal: string | undefined
}

/** avsc does not compile the schema of a file; `message` is avsc's own. */
export class AvscRefusal extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'AvscRefusal'
  }
}

const MAGIC = Buffer.from([0x4f, 0x62, 0x6a, 1])

/** -2^63 ... 2^63 - 1 as bigint, always: whoever compares has one representation per Avro type. */
const BIGINT_LONG = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: (value: number) => BigInt(value),
  toJSON: (value: bigint) => Number(value),
  // Refusing everything else keeps defaults of optional longs unambiguous.
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
})

/** The header's map is read as the list of pairs that it is in bytes: as an object, `__proto__` would be lost. */
const HEADER = compile({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    {
      name: 'metadata',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'Pair',
          fields: [
            { name: 'key', type: 'string' },
            { name: 'value', type: 'bytes' },
          ],
        },
      },
    },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: 16 } },
  ],
})

const BLOCK = compile({
  type: 'record',
  name: 'Block',
  fields: [
    { name: 'count', type: 'long' },
    { name: 'data', type: 'bytes' },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: 16 } },
  ],
})

interface Header {
  magic: Buffer
  metadata: { key: string; value: Buffer }[]
  sync: Buffer
}

interface Block {
  count: bigint
  data: Buffer
  sync: Buffer
}

/** A value and the byte after it. */
interface At<T> {
  value: T
  offset: number
}

/**
 * Decodes a whole Avro container. Nothing is projected away.
 *
 * Counts inside blocks are avsc's business, and it believes them: run the bounded reader of the product on untrusted
 * bytes first.
 *
 * @throws {AvscRefusal} when avsc does not compile the schema
 * @throws {CorruptFileError} when the bytes are not what the container says
 * @throws {UnsupportedFeatureError} for a codec other than null, deflate, snappy and zstandard
 */
export function decodeWithAvsc(bytes: Uint8Array): AvscFile {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length < MAGIC.length || !buffer.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new CorruptFileError('Cannot decode a file as Avro: it does not start with "Obj" and 1', {
      byte: 0,
    })
  }
  const { value: header, offset: start } = decodeAt(HEADER, buffer, 0, 'the header') as At<Header>
  const metadata = new Map<string, Uint8Array>()
  for (const { key, value } of header.metadata) metadata.set(key, value)
  const codec = text(metadata.get('avro.codec')) ?? 'null'
  const schemaText = text(metadata.get('avro.schema'))
  if (schemaText === undefined)
    throw new CorruptFileError('Cannot decode a file as Avro: its header has no avro.schema')
  const schema = parseSchema(schemaText)
  const { type, refusal } = compileOrRename(schema, schemaText)
  const shape = buildShape(schema, type, text(metadata.get('partition-spec')))

  const records: AvscRecord[] = []
  let blocks = 0
  for (let at = start; at < buffer.length; blocks++) {
    const place = `block ${blocks}`
    const { value: block, offset } = decodeAt(BLOCK, buffer, at, place) as At<Block>
    if (!block.sync.equals(header.sync)) {
      throw new CorruptFileError(
        `Cannot decode ${place}: it does not end with the sync marker of the header`,
        {
          byte: offset - 16,
        },
      )
    }
    const data = Buffer.from(decompressBlock(codec, block.data, place))
    let pos = 0
    for (let i = 0n; i < block.count; i++) {
      const { value, offset: next } = decodeAt(type, data, pos, `record ${i} of ${place}`)
      // No Iceberg record is empty, and empty ones would let a count of 2^62 run for ever.
      if (next === pos) throw new CorruptFileError(`Cannot decode record ${i} of ${place}: it has no bytes`)
      pos = next
      records.push(toAvscValue(shape, value) as AvscRecord)
    }
    if (pos !== data.length) {
      throw new CorruptFileError(
        `Cannot decode ${place}: its ${block.count} records end at byte ${pos} of ${data.length}`,
        { byte: pos },
      )
    }
    at = offset
  }
  return { metadata, codec, schema, shape, blocks, records, refusal }
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')
}

function parseSchema(schemaText: string): unknown {
  try {
    return JSON.parse(schemaText)
  } catch (cause) {
    throw new CorruptFileError('Cannot decode a file as Avro: its avro.schema is not JSON', { cause })
  }
}

/**
 * Compiles with every union wrapped, so that a value tells its branch, and with a registry of its own, since avsc adds
 * the file's names to it. The registry answers for `"long"`, the hook for `{"type": "long", ...}`.
 */
function compile(schema: unknown): AvscType {
  return avro.Type.forSchema(schema as avro.Schema, {
    registry: { long: BIGINT_LONG },
    typeHook: (node) => ((node as { type?: unknown }).type === 'long' ? BIGINT_LONG : undefined),
    wrapUnions: 'always',
  }) as unknown as AvscType
}

function compileOrRename(
  schema: unknown,
  schemaText: string,
): { type: AvscType; refusal: string | undefined } {
  try {
    // avsc takes this name, and then sets the prototype of its records to the field's value.
    if (schemaText.includes('__proto__')) throw new Error('unsafe name: __proto__')
    return { type: compile(schema), refusal: undefined }
  } catch (error) {
    const message = messageOf(error)
    const renamed = renameSchema(schema)
    if (renamed === undefined) throw new AvscRefusal(message, error)
    try {
      return { type: compile(renamed), refusal: message }
    } catch {
      throw new AvscRefusal(message, error)
    }
  }
}

/** avsc answers offset -1 when a value runs over the end, and throws plain errors for impossible values. */
function decodeAt(type: AvscType, buffer: Buffer, at: number, what: string): At<unknown> {
  let result: At<unknown>
  try {
    result = type.decode(buffer, at)
  } catch (cause) {
    throw new CorruptFileError(`Cannot decode ${what}: ${messageOf(cause)}`, { byte: at, cause })
  }
  if (result.offset < 0)
    throw new CorruptFileError(`Cannot decode ${what}: it runs over the end`, { byte: at })
  return result
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
