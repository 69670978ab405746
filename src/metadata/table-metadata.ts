/**
 * Table metadata: the JSON of format versions 1, 2 and 3 (and the draft 4, when asked for) to one shape
 * (format-reference 1.1). Metadata is rewritten on every commit, so it matches its own version and is read strictly:
 *
 * | field missing (null counts as missing, B174) | v1                                        | v2 and later |
 * | -------------------------------------------- | ----------------------------------------- | ------------ |
 * | `last-sequence-number`                       | 0                                         | error        |
 * | `table-uuid`                                 | unknown                                   | error        |
 * | `schemas`, `current-schema-id`               | `schema` is current                       | error        |
 * | `partition-specs`                            | `partition-spec` is spec 0                | error        |
 * | `default-spec-id`                            | the greatest spec id                      | error        |
 * | `last-partition-id`                          | the greatest field id, 999 without fields | error        |
 * | `sort-orders`                                | unsorted                                  | error        |
 * | `refs`                                       | `main` at the current snapshot            | likewise     |
 *
 * What the metadata refers to by id must exist: current schema, default spec, current snapshot, refs (R1.3, R1.4).
 * What planning never looks at (past schemas, sort orders, statistics, keys) is parsed when first asked for, so that
 * a long history costs little and a defect there stops nobody.
 */
import { IcebergError, InvalidMetadataError, UnsupportedFeatureError } from '../errors.ts'
import { describeJson, type JsonObject } from '../types/json-object.ts'
import {
  asObject,
  optionalArray,
  optionalCount,
  optionalInt,
  optionalLong,
  optionalObject,
  optionalString,
  requiredCount,
  requiredInt,
  requiredLong,
  requiredString,
  stringMap,
} from './json-fields.ts'
import { parseJson } from './lossless-json.ts'
import { decodeMetadataBytes } from './metadata-bytes.ts'
import { parsePartitionSpec, type PartitionSpec } from './partition-spec.ts'
import { parseSchema, type Schema } from './schema.ts'
import {
  MAIN_BRANCH,
  parseSnapshot,
  parseSnapshotLogEntry,
  parseSnapshotRef,
  type Snapshot,
  type SnapshotHistory,
  type SnapshotLogEntry,
  type SnapshotRef,
} from './snapshot.ts'
import { parseSortOrder, UNSORTED, type SortOrder } from './sort-order.ts'
import {
  parseEncryptionKey,
  parsePartitionStatisticsFile,
  parseStatisticsFile,
  type EncryptionKey,
  type PartitionStatisticsFile,
  type StatisticsFile,
} from './statistics-file.ts'

/** The newest format version that is final. */
export const MAX_FORMAT_VERSION = 3
/** Version 4 is a draft, read only when asked for. */
export const DRAFT_FORMAT_VERSION = 4

const MAX_UNASSIGNED_PARTITION_ID = 999
const TABLE = 'table metadata'

const LISTS_PARSED_ON_DEMAND = [
  'sort-orders',
  'statistics',
  'partition-statistics',
  'encryption-keys',
] as const

export interface MetadataLogEntry {
  readonly timestampMs: number
  readonly metadataFile: string
}

export interface ParseTableMetadataOptions {
  /** Read the draft format version 4 too. Off unless asked for. */
  readonly allowV4?: boolean
}

/**
 * Parses a metadata file.
 *
 * @param input the file's bytes, gzip and zstandard included, its text, or what `parseJson` made of that
 * @param location where the file came from; every error names it
 * @throws UnsupportedFeatureError for a format version beyond 3, or beyond 4 with `allowV4`.
 * @throws InvalidMetadataError for anything else that is wrong with it.
 */
export function parseTableMetadata(
  input: Uint8Array | string | JsonObject,
  location: string,
  options: ParseTableMetadataOptions = {},
): TableMetadata {
  return withLocation(location, () => {
    const json =
      typeof input === 'string' || input instanceof Uint8Array
        ? asObject(parseMetadataJson(textOf(input)), TABLE)
        : input
    checkVersion(json, location, options)
    return new TableMetadata(json, location)
  })
}

function textOf(input: Uint8Array | string): string {
  return typeof input === 'string' ? input.replace(/^\uFEFF/, '') : decodeMetadataBytes(input)
}

function parseMetadataJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new InvalidMetadataError(`it is not valid JSON: ${(cause as SyntaxError).message}`, { cause })
  }
}

function checkVersion(
  json: JsonObject,
  location: string,
  { allowV4 = false }: ParseTableMetadataOptions,
): void {
  const version = json['format-version']
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw new InvalidMetadataError(`"format-version" is ${describeJson(version)}, not a version number`)
  if (version === DRAFT_FORMAT_VERSION && !allowV4)
    throw new UnsupportedFeatureError(
      `Cannot read unsupported version ${version} of ${location}: version ${version} is a draft and must be turned on with allowV4`,
      { location },
    )
  if (version > DRAFT_FORMAT_VERSION)
    throw new UnsupportedFeatureError(
      `Cannot read unsupported version ${version} of ${location}: the newest one known is ${MAX_FORMAT_VERSION}`,
      { location },
    )
}

/** Runs `parse`; what it throws names the metadata file, as field and in the message, and keeps its class. */
function withLocation<T>(location: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof IcebergError) || cause.location !== undefined) throw cause
    const reason = cause.message.replace(`Cannot read ${TABLE}: `, '').replace(/^Cannot /, 'cannot ')
    const message = `Cannot read ${TABLE} ${location}: ${reason}`
    const place = { location, cause }
    throw cause instanceof UnsupportedFeatureError
      ? new UnsupportedFeatureError(message, place)
      : new InvalidMetadataError(message, place)
  }
}

/** One version of a table. Immutable; made by {@link parseTableMetadata}. */
export class TableMetadata implements SnapshotHistory {
  /** The metadata file this was read from. */
  readonly metadataLocation: string
  readonly formatVersion: number
  /** `undefined` in v1 only. */
  readonly tableUuid: string | undefined
  /** The table's root folder; `undefined` in v4 only. */
  readonly location: string | undefined
  readonly lastSequenceNumber: bigint
  readonly lastUpdatedMs: number
  readonly lastColumnId: number
  readonly lastPartitionId: number
  readonly currentSchemaId: number
  /** The current schema. */
  readonly schema: Schema
  /** By spec id. */
  readonly specs: ReadonlyMap<number, PartitionSpec>
  readonly defaultSpecId: number
  readonly defaultSortOrderId: number
  readonly properties: ReadonlyMap<string, string>
  /** `undefined` when the table has no snapshot: missing, null or negative in the file (R1.2, B163). */
  readonly currentSnapshotId: bigint | undefined
  /** As stored; usually oldest first. */
  readonly snapshots: readonly Snapshot[]
  /** As stored; not assumed sorted. */
  readonly snapshotLog: readonly SnapshotLogEntry[]
  readonly metadataLog: readonly MetadataLogEntry[]
  /** By name, `main` included whenever there is a current snapshot. */
  readonly refs: ReadonlyMap<string, SnapshotRef>
  /** v3: the row id that the next new row gets. */
  readonly nextRowId: bigint

  /** The lists that are parsed on demand; the rest of the JSON is let go. */
  readonly #unparsed: JsonObject
  readonly #snapshotById: ReadonlyMap<bigint, Snapshot>
  readonly #schemaById: Map<number, LazySchema>

  /** @internal `json` must have a readable `format-version`. */
  constructor(json: JsonObject, metadataLocation: string) {
    const version = json['format-version'] as number
    const isV1 = version === 1
    this.#unparsed = Object.fromEntries(LISTS_PARSED_ON_DEMAND.map((key) => [key, json[key]]))
    this.metadataLocation = metadataLocation
    this.formatVersion = version
    this.tableUuid = isV1
      ? optionalString(json, 'table-uuid', TABLE)
      : requiredString(json, 'table-uuid', TABLE)
    this.location =
      version >= DRAFT_FORMAT_VERSION
        ? optionalString(json, 'location', TABLE)
        : requiredString(json, 'location', TABLE)
    this.lastSequenceNumber = isV1
      ? (optionalLong(json, 'last-sequence-number', TABLE) ?? 0n)
      : requiredLong(json, 'last-sequence-number', TABLE)
    this.lastUpdatedMs = requiredCount(json, 'last-updated-ms', TABLE)
    this.lastColumnId = requiredInt(json, 'last-column-id', TABLE)
    this.properties = stringMap(json, 'properties', TABLE)
    this.nextRowId = optionalLong(json, 'next-row-id', TABLE) ?? 0n

    const schemas = parseSchemas(json, version)
    this.#schemaById = schemas.byId
    this.schema = schemas.current
    this.currentSchemaId = this.schema.schemaId

    this.specs = parseSpecs(json, version)
    this.defaultSpecId = parseDefaultSpecId(json, version, this.specs)
    checkDefaultSpec(this.specs, this.defaultSpecId, this.schema)
    this.lastPartitionId = parseLastPartitionId(json, version, this.specs)
    requireFromV2(json, 'sort-orders', version)
    this.defaultSortOrderId = optionalInt(json, 'default-sort-order-id', TABLE) ?? UNSORTED.orderId

    this.snapshots = (optionalArray(json, 'snapshots', TABLE) ?? []).map(parseSnapshot)
    this.#snapshotById = new Map(this.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]))
    const current = optionalLong(json, 'current-snapshot-id', TABLE)
    this.currentSnapshotId = current === undefined || current < 0n ? undefined : current
    this.snapshotLog = (optionalArray(json, 'snapshot-log', TABLE) ?? []).map(parseSnapshotLogEntry)
    this.metadataLog = (optionalArray(json, 'metadata-log', TABLE) ?? []).map(parseMetadataLogEntry)
    this.refs = parseRefs(json, this.currentSnapshotId)
    this.#checkSnapshots()
  }

  /** In constant time, however long the history. */
  snapshotById(snapshotId: bigint): Snapshot | undefined {
    return this.#snapshotById.get(snapshotId)
  }

  /**
   * Parsed when first asked for.
   *
   * @throws InvalidMetadataError or UnsupportedFeatureError if that schema cannot be read.
   */
  schemaById(schemaId: number): Schema | undefined {
    const lazy = this.#schemaById.get(schemaId)
    return lazy === undefined ? undefined : this.#schemaOf(lazy)
  }

  /** All schemas, as stored; parsed when asked for, with the errors of {@link schemaById}. */
  get schemas(): readonly Schema[] {
    return [...this.#schemaById.values()].map((lazy) => this.#schemaOf(lazy))
  }

  /** All sort orders; parsed on each call, like the other lists that planning does not use. */
  get sortOrders(): readonly SortOrder[] {
    const orders = this.#list('sort-orders', parseSortOrder)
    return orders.length === 0 ? [UNSORTED] : orders
  }

  get statistics(): readonly StatisticsFile[] {
    return this.#list('statistics', parseStatisticsFile)
  }

  get partitionStatistics(): readonly PartitionStatisticsFile[] {
    return this.#list('partition-statistics', parsePartitionStatisticsFile)
  }

  get encryptionKeys(): readonly EncryptionKey[] {
    return this.#list('encryption-keys', parseEncryptionKey)
  }

  #list<T>(key: (typeof LISTS_PARSED_ON_DEMAND)[number], parse: (json: unknown) => T): readonly T[] {
    return withLocation(this.metadataLocation, () =>
      (optionalArray(this.#unparsed, key, TABLE) ?? []).map(parse),
    )
  }

  #schemaOf(lazy: LazySchema): Schema {
    return withLocation(this.metadataLocation, () => (lazy.schema ??= parseSchema(lazy.json)))
  }

  /** R1.3 and R1.4. */
  #checkSnapshots(): void {
    const current = this.currentSnapshotId
    if (current !== undefined && !this.#snapshotById.has(current))
      throw new InvalidMetadataError(
        `the current snapshot ${current} is not among its ${this.snapshots.length} snapshots`,
      )
    for (const [name, ref] of this.refs)
      if (!this.#snapshotById.has(ref.snapshotId))
        throw new InvalidMetadataError(
          `ref "${name}" names snapshot ${ref.snapshotId}, which is not among its snapshots`,
        )
    const main = this.refs.get(MAIN_BRANCH)
    if (main !== undefined && main.snapshotId !== current)
      throw new InvalidMetadataError(
        `branch main is at snapshot ${main.snapshotId}, but the current snapshot is ${current ?? 'not set'}`,
      )
    if (this.formatVersion === 1) return
    for (const snapshot of this.snapshots)
      if (snapshot.sequenceNumber > this.lastSequenceNumber)
        throw new InvalidMetadataError(
          `snapshot ${snapshot.snapshotId} has sequence number ${snapshot.sequenceNumber}, beyond the last one, ${this.lastSequenceNumber}`,
        )
  }
}

interface LazySchema {
  readonly json: unknown
  schema: Schema | undefined
}

function parseSchemas(json: JsonObject, version: number): { byId: Map<number, LazySchema>; current: Schema } {
  const list = requireFromV2(json, 'schemas', version)
  const byId = new Map<number, LazySchema>()
  for (const entry of list ?? [])
    byId.set(optionalInt(asObject(entry, 'schema'), 'schema-id', 'schema') ?? 0, {
      json: entry,
      schema: undefined,
    })

  const currentId =
    version === 1
      ? optionalInt(json, 'current-schema-id', TABLE)
      : requiredInt(json, 'current-schema-id', TABLE)
  if (list === undefined || currentId === undefined) {
    const current = parseSchema(optionalObject(json, 'schema', TABLE))
    byId.set(current.schemaId, { json: json.schema, schema: current })
    return { byId, current }
  }
  const lazy = byId.get(currentId)
  if (lazy === undefined)
    throw new InvalidMetadataError(`the current schema ${currentId} is not among its ${byId.size} schemas`)
  return { byId, current: (lazy.schema ??= parseSchema(lazy.json)) }
}

function parseSpecs(json: JsonObject, version: number): ReadonlyMap<number, PartitionSpec> {
  const list = requireFromV2(json, 'partition-specs', version)
  const specs =
    list === undefined
      ? [parsePartitionSpec(optionalArray(json, 'partition-spec', TABLE), 0)]
      : list.map((entry) => parsePartitionSpec(entry))
  return new Map(specs.map((spec) => [spec.specId, spec]))
}

function parseDefaultSpecId(
  json: JsonObject,
  version: number,
  specs: ReadonlyMap<number, PartitionSpec>,
): number {
  if (version > 1) return requiredInt(json, 'default-spec-id', TABLE)
  return optionalInt(json, 'default-spec-id', TABLE) ?? [...specs.keys()].reduce((a, b) => Math.max(a, b), 0)
}

/**
 * New files are written with the default spec, so its columns must exist in the current schema; those of past specs
 * may be gone (R1.10). A void or unknown transform needs no column.
 */
function checkDefaultSpec(specs: ReadonlyMap<number, PartitionSpec>, specId: number, schema: Schema): void {
  const spec = specs.get(specId)
  if (spec === undefined)
    throw new InvalidMetadataError(
      `the default partition spec ${specId} is not among its ${specs.size} specs`,
    )
  for (const { name, sourceId, transform } of spec.fields)
    if (transform.kind !== 'void' && transform.kind !== 'unknown' && schema.findField(sourceId) === undefined)
      throw new InvalidMetadataError(
        `the source column ${sourceId} of field "${name}" of the default partition spec ${specId} is not in the current schema ${schema.schemaId}`,
      )
}

function parseLastPartitionId(
  json: JsonObject,
  version: number,
  specs: ReadonlyMap<number, PartitionSpec>,
): number {
  const last = optionalInt(json, 'last-partition-id', TABLE)
  if (last !== undefined) return last
  if (version > 1) throw mustExist('last-partition-id', version)
  return [...specs.values()]
    .flatMap((spec) => spec.fields)
    .reduce((greatest, field) => Math.max(greatest, field.fieldId), MAX_UNASSIGNED_PARTITION_ID)
}

function parseRefs(json: JsonObject, current: bigint | undefined): ReadonlyMap<string, SnapshotRef> {
  const object = optionalObject(json, 'refs', TABLE)
  if (object !== undefined)
    return new Map(Object.keys(object).map((name) => [name, parseSnapshotRef(name, object[name])]))
  if (current === undefined) return new Map()
  return new Map([[MAIN_BRANCH, parseSnapshotRef(MAIN_BRANCH, { type: 'branch', 'snapshot-id': current })]])
}

function parseMetadataLogEntry(json: unknown): MetadataLogEntry {
  const object = asObject(json, 'metadata-log entry')
  return {
    timestampMs: optionalCount(object, 'timestamp-ms', 'metadata-log entry') ?? 0,
    metadataFile: requiredString(object, 'metadata-file', 'metadata-log entry'),
  }
}

/** A list that v1 may lack. */
function requireFromV2(json: JsonObject, key: string, version: number): readonly unknown[] | undefined {
  const list = optionalArray(json, key, TABLE)
  if (list === undefined && version > 1) throw mustExist(key, version)
  return list
}

function mustExist(key: string, version: number): InvalidMetadataError {
  return new InvalidMetadataError(`${key} must exist in format v${version}`)
}
