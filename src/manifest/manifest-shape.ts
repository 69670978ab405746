/**
 * The header of a manifest, parsed once per distinct header: writer schema, codec, and the copies of table schema
 * and partition spec that a writer leaves there (spec: Manifests, file metadata).
 */
import type { CodecName } from '../avro/codecs.ts'
import { parseCodec } from '../avro/codecs.ts'
import type { AvroSchema, FieldIdCoverage } from '../avro/schema.ts'
import { fieldIdCoverage, parseAvroSchema } from '../avro/schema.ts'
import { CorruptFileError } from '../errors.ts'
import { parseJson } from '../metadata/lossless-json.ts'
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import { parsePartitionSpec } from '../metadata/partition-spec.ts'
import type { Schema } from '../metadata/schema.ts'
import { parseSchema } from '../metadata/schema.ts'
import type { PartitionType } from './partition-key.ts'
import { PartitionKeyEncoder } from './partition-key.ts'

export class ManifestShape {
  readonly writerSchema: AvroSchema
  /** The raw text of the writer schema: the key of compiled plans. */
  readonly writerSchemaBytes: Uint8Array
  readonly codec: CodecName
  /** True when no field carries an id, so that fields are found by name. */
  readonly byName: boolean
  /** The header's `format-version`; 1 when absent or unreadable. */
  readonly formatVersion: number
  /** The header's `content`; absent in v1. */
  readonly content: 'data' | 'deletes' | undefined
  /** The header's `partition-spec-id`; `undefined` when absent. */
  readonly partitionSpecId: number | undefined
  readonly #location: string
  readonly #header: ReadonlyMap<string, Uint8Array>
  readonly #encoders = new WeakMap<PartitionType, PartitionKeyEncoder>()
  #schema: { value: Schema | undefined } | undefined
  #spec: { value: PartitionSpec | undefined } | undefined

  constructor(header: ReadonlyMap<string, Uint8Array>, location: string) {
    const schemaBytes = header.get('avro.schema')
    if (schemaBytes === undefined)
      throw new CorruptFileError(`Cannot read ${location}: its header has no avro.schema`, { location })
    this.codec = parseCodec(header.get('avro.codec'), location)
    this.writerSchema = parseAvroSchema(schemaBytes, location)
    this.writerSchemaBytes = schemaBytes
    this.byName = checkCoverage(fieldIdCoverage(this.writerSchema), location)
    this.formatVersion = integer(header.get('format-version')) ?? 1
    const content = text(header.get('content'))
    this.content = content === 'data' || content === 'deletes' ? content : undefined
    this.partitionSpecId = integer(header.get('partition-spec-id'))
    this.#location = location
    this.#header = header
  }

  /** The table schema when the manifest was written; `undefined` when the header has none. A hint (B020). */
  get schema(): Schema | undefined {
    this.#schema ??= { value: this.#json('schema', parseSchema) }
    return this.#schema.value
  }

  /** The partition spec of the manifest's entries, from the header's array of fields. A hint (B020). */
  get partitionSpec(): PartitionSpec | undefined {
    this.#spec ??= {
      // Some writers put null where an unpartitioned spec is [].
      value: this.#json('partition-spec', (json) =>
        parsePartitionSpec(json ?? [], this.partitionSpecId ?? 0),
      ),
    }
    return this.#spec.value
  }

  /** The encoder of this header's partition tuples under a partition type; one per type. */
  keyEncoder(type: PartitionType, tupleSchema: AvroSchema | undefined): PartitionKeyEncoder {
    const known = this.#encoders.get(type)
    if (known !== undefined) return known
    const encoder = new PartitionKeyEncoder(type, tupleSchema, this.byName)
    this.#encoders.set(type, encoder)
    return encoder
  }

  #json<T>(key: string, parse: (json: unknown) => T): T | undefined {
    const bytes = this.#header.get(key)
    if (bytes === undefined) return undefined
    try {
      return parse(parseJson(text(bytes) ?? ''))
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new CorruptFileError(`Cannot read ${this.#location}: its header's ${key} is broken: ${why}`, {
        location: this.#location,
        cause,
      })
    }
  }
}

/**
 * True when fields are to be found by name. A file in which only some fields carry ids is refused: taking the others
 * for missing would lose data without a sound.
 */
export function checkCoverage(coverage: FieldIdCoverage, location: string): boolean {
  if (coverage === 'some') {
    throw new CorruptFileError(
      `Cannot read ${location}: only some fields of its Avro schema carry a field-id, so none can be trusted`,
      { location },
    )
  }
  return coverage === 'none'
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')
}

function integer(bytes: Uint8Array | undefined): number | undefined {
  const digits = text(bytes)?.trim()
  return digits !== undefined && /^-?\d{1,9}$/.test(digits) ? Number(digits) : undefined
}
