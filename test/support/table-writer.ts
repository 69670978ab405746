/**
 * Whole Iceberg tables in memory: metadata JSON, manifest lists and manifests, all consistent with each other
 * unless a test says otherwise. Ids are beyond 2^53, as real ones are.
 *
 * | left out                                | becomes                                                              |
 * | --------------------------------------- | -------------------------------------------------------------------- |
 * | snapshot id                             | 3051729675574597001, ...002, ... in order                            |
 * | sequence number of a snapshot           | 1, 2, ... in order (0 in version 1)                                   |
 * | id and number in a list's row           | those of the first snapshot that lists the manifest                   |
 * | counts, minimum sequence number         | computed from the entries                                             |
 * | partition summaries                     | computed from the entries' partition tuples                           |
 * | first row id (version 3, data)          | assigned in list order from the snapshot's                            |
 */
import type { ContainerOptions } from './avro-container.ts'
import {
  avroTypeOf,
  compareRawValues,
  findField,
  singleValueBytes,
  transformResultType,
} from './iceberg-values.ts'
import type { SchemaVariations } from './record-shape.ts'
import {
  type EntryInput,
  type FieldSummaryInput,
  type FormatVersion,
  type ManifestFileInput,
  type ManifestListOptions,
  type ManifestOptions,
  type PartitionFieldInput,
  writeManifest,
  writeManifestList,
} from './manifest-writer.ts'

export * from './manifest-writer.ts'
export { Preencoded, UnionBranch } from './avro-encoder.ts'
export { singleValueBytes } from './iceberg-values.ts'
export { extraFieldsOfEveryType } from './record-shape.ts'

/** The JSON form of the specification; `schema-id` defaults to the position in the list. */
export interface SchemaInput {
  'schema-id'?: number
  fields: readonly { id: number; name: string; required: boolean; type: unknown; [key: string]: unknown }[]
  [key: string]: unknown
}

export interface SpecFieldInput {
  sourceId: number
  /** Default: 1000 and up, by position. */
  fieldId?: number
  name: string
  transform: string
}

export interface SpecInput {
  /** Default: the position in the list. */
  specId?: number
  fields: readonly SpecFieldInput[]
}

export interface ManifestInput {
  entries: readonly EntryInput[]
  /** Default `data`. */
  content?: 'data' | 'deletes'
  /** Default 0. */
  specId?: number
  /** Of the list's row; default: the snapshot's. */
  sequenceNumber?: number | bigint
  /** Of the list's row; default: the snapshot's. */
  addedSnapshotId?: bigint
  /** Default: from the table's location and the order of writing. */
  path?: string
  /** Overrides of the list's row; a key set to undefined makes it null. */
  row?: Partial<ManifestFileInput>
  /** Overrides of how the manifest is written. */
  write?: Partial<ManifestOptions>
}

export interface SnapshotInput {
  snapshotId?: bigint
  /** Default: the snapshot before it in the list; null: none. */
  parentSnapshotId?: bigint | null
  sequenceNumber?: number | bigint
  timestampMs?: number
  /** Default `append`. */
  operation?: string
  /** Further entries of the summary. */
  summary?: Readonly<Record<string, string>>
  /** Default: the current schema. */
  schemaId?: number
  firstRowId?: number | bigint
  /** An object that occurs in several snapshots is one manifest, written once. */
  manifests: readonly ManifestInput[]
  /** Rows of manifests that were written elsewhere; they come after `manifests`. */
  rows?: readonly ManifestFileInput[]
  /** Version 1 without a manifest list: the locations stand in the metadata. */
  inlineManifests?: boolean
  /** Overrides of how the manifest list is written. */
  list?: Partial<ManifestListOptions>
}

export interface TableInput {
  /** Default 2. */
  formatVersion?: FormatVersion
  /** Default `s3://warehouse/db/table`. */
  location?: string
  /** One schema, or several; the last one is current. */
  schema: SchemaInput | readonly SchemaInput[]
  /** Default: one unpartitioned spec. The last one is the default spec. */
  specs?: readonly SpecInput[]
  snapshots?: readonly SnapshotInput[]
  /** Default: the last snapshot; null: none. */
  currentSnapshotId?: bigint | null
  /** Besides `main`; as in the JSON. */
  refs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  properties?: Readonly<Record<string, string>>
  /** Options for every manifest and manifest list. */
  write?: ContainerOptions & SchemaVariations
  /** Top-level keys of the metadata JSON to replace; undefined removes one. */
  metadata?: Readonly<Record<string, unknown>>
}

export interface BuiltSnapshot {
  snapshotId: bigint
  /** Undefined with inline manifests. */
  manifestList: string | undefined
  rows: ManifestFileInput[]
}

export interface BuiltTable {
  /** Location to bytes: metadata, manifest lists and manifests. */
  files: Map<string, Uint8Array>
  location: string
  metadataLocation: string
  snapshots: BuiltSnapshot[]
}

const FIRST_SNAPSHOT_ID = 3051729675574597001n
const FIRST_TIMESTAMP_MS = 1_790_000_000_000
const TABLE_UUID = '9c12d441-03fe-4693-9a96-a0705ddf69c1'

/** Writes a table; see the head of this file for what is filled in. */
export function buildTable(input: TableInput): BuiltTable {
  const builder = new TableBuilder(input)
  const snapshots = (input.snapshots ?? []).map((snapshot, i) => builder.addSnapshot(snapshot, i))
  const metadataLocation = `${builder.location}/metadata/${String(snapshots.length).padStart(5, '0')}-${TABLE_UUID}.metadata.json`
  builder.files.set(metadataLocation, Buffer.from(stringifyWithLongs(builder.metadata())))
  return { files: builder.files, location: builder.location, metadataLocation, snapshots }
}

/** JSON in which every bigint is a bare integer, whatever its size. */
export function stringifyWithLongs(value: unknown): string {
  const text = JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? `@bigint:${v}@` : v), 2)
  return text.replace(/"@bigint:(-?\d+)@"/g, '$1')
}

interface Spec {
  id: number
  json: Record<string, unknown>
  fields: PartitionFieldInput[]
  types: string[]
}

class TableBuilder {
  readonly files = new Map<string, Uint8Array>()
  readonly location: string
  private readonly input: TableInput
  private readonly version: FormatVersion
  private readonly schemas: Record<string, unknown>[]
  private readonly specs: Spec[]
  private readonly rows = new Map<ManifestInput, ManifestFileInput>()
  private readonly snapshots: Record<string, unknown>[] = []
  private nextRowId = 0n

  constructor(input: TableInput) {
    this.input = input
    this.version = input.formatVersion ?? 2
    this.location = input.location ?? 's3://warehouse/db/table'
    const schemas = 'fields' in input.schema ? [input.schema] : input.schema
    this.schemas = schemas.map((schema, i) => ({ type: 'struct', 'schema-id': i, ...schema }))
    this.specs = (input.specs ?? [{ fields: [] }]).map((spec, i) => this.resolveSpec(spec, i))
  }

  addSnapshot(input: SnapshotInput, index: number): BuiltSnapshot {
    const snapshotId = input.snapshotId ?? FIRST_SNAPSHOT_ID + BigInt(index)
    const sequenceNumber = input.sequenceNumber ?? (this.version === 1 ? 0 : index + 1)
    if (input.firstRowId !== undefined) this.nextRowId = BigInt(input.firstRowId)
    const firstRowId = this.nextRowId
    const written = input.manifests.map(
      (manifest) => this.rows.get(manifest) ?? this.addManifest(manifest, snapshotId, sequenceNumber),
    )
    const rows = [...written, ...(input.rows ?? [])]
    const manifestList =
      input.inlineManifests === true
        ? undefined
        : `${this.location}/metadata/snap-${snapshotId}-1-${TABLE_UUID}.avro`
    if (manifestList !== undefined) {
      const metadata = { 'snapshot-id': String(snapshotId), 'sequence-number': String(sequenceNumber) }
      const options = { rows, formatVersion: this.version, metadata, ...this.input.write, ...input.list }
      this.files.set(manifestList, writeManifestList(options))
    }
    const parent =
      input.parentSnapshotId === undefined ? this.snapshots.at(-1)?.['snapshot-id'] : input.parentSnapshotId
    this.snapshots.push({
      'snapshot-id': snapshotId,
      'parent-snapshot-id': parent ?? undefined,
      'sequence-number': this.version === 1 ? undefined : sequenceNumber,
      'timestamp-ms': input.timestampMs ?? FIRST_TIMESTAMP_MS + index * 1000,
      summary: { operation: input.operation ?? 'append', ...input.summary },
      'manifest-list': manifestList,
      manifests: manifestList === undefined ? rows.map((row) => row.manifestPath) : undefined,
      'schema-id': input.schemaId ?? this.schemas.at(-1)!['schema-id'],
      'first-row-id': this.version === 3 ? firstRowId : undefined,
      'added-rows': this.version === 3 ? this.nextRowId - firstRowId : undefined,
    })
    return { snapshotId, manifestList, rows }
  }

  metadata(): Record<string, unknown> {
    const { input, version, schemas, specs, snapshots } = this
    const current =
      input.currentSnapshotId === undefined ? snapshots.at(-1)?.['snapshot-id'] : input.currentSnapshotId
    const main = current == null ? {} : { main: { 'snapshot-id': current, type: 'branch' } }
    const numbers = snapshots.map((snapshot) => BigInt((snapshot['sequence-number'] ?? 0) as number | bigint))
    return {
      'format-version': version,
      'table-uuid': TABLE_UUID,
      location: this.location,
      'last-sequence-number': version === 1 ? undefined : numbers.reduce((a, b) => (a > b ? a : b), 0n),
      'last-updated-ms': snapshots.at(-1)?.['timestamp-ms'] ?? FIRST_TIMESTAMP_MS,
      'last-column-id': 999,
      schema: version === 1 ? schemas.at(-1) : undefined,
      'current-schema-id': schemas.at(-1)!['schema-id'],
      schemas,
      'partition-spec': version === 1 ? specs.at(-1)!.json.fields : undefined,
      'default-spec-id': specs.at(-1)!.id,
      'partition-specs': specs.map(({ json }) => json),
      'last-partition-id': Math.max(
        999,
        ...specs.flatMap(({ fields }) => fields.map(({ fieldId }) => fieldId)),
      ),
      'default-sort-order-id': 0,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      properties: input.properties ?? {},
      'current-snapshot-id': current ?? (version === 3 ? null : -1),
      refs: { ...main, ...input.refs },
      'next-row-id': version === 3 ? this.nextRowId : undefined,
      snapshots,
      'snapshot-log': snapshots.map((snapshot) => ({
        'timestamp-ms': snapshot['timestamp-ms'],
        'snapshot-id': snapshot['snapshot-id'],
      })),
      'metadata-log': [],
      ...input.metadata,
    }
  }

  private addManifest(
    input: ManifestInput,
    snapshotId: bigint,
    sequenceNumber: number | bigint,
  ): ManifestFileInput {
    const { content = 'data', specId = 0, entries } = input
    const spec = this.specs.find(({ id }) => id === specId)
    if (spec === undefined)
      throw new RangeError(`Cannot write a manifest of spec ${specId}: the table has none`)
    const manifestPath = input.path ?? `${this.location}/metadata/${TABLE_UUID}-m${this.rows.size}.avro`
    const addedSnapshotId = input.addedSnapshotId ?? snapshotId
    const bytes = writeManifest({
      // Version 1 cannot leave the id to be inherited.
      entries:
        this.version === 1 ? entries.map((entry) => ({ snapshotId: addedSnapshotId, ...entry })) : entries,
      formatVersion: this.version,
      content,
      partition: spec.fields,
      partitionSpecId: specId,
      schema: this.schemas.at(-1),
      ...this.input.write,
      ...input.write,
    })
    this.files.set(manifestPath, bytes)
    const ownNumber = input.sequenceNumber ?? sequenceNumber
    const counts = countEntries(entries)
    const row: ManifestFileInput = {
      manifestPath,
      manifestLength: bytes.length,
      partitionSpecId: specId,
      content: content === 'data' ? 0 : 1,
      sequenceNumber: ownNumber,
      minSequenceNumber: minimumSequenceNumber(entries, ownNumber),
      addedSnapshotId,
      ...counts,
      partitions: summarize(entries, spec),
      firstRowId: this.version === 3 && content === 'data' ? this.nextRowId : undefined,
      ...input.row,
    }
    if (row.firstRowId !== undefined) this.nextRowId += counts.addedRowsCount + counts.existingRowsCount
    this.rows.set(input, row)
    return row
  }

  private resolveSpec(input: SpecInput, index: number): Spec {
    const fields: PartitionFieldInput[] = []
    const types: string[] = []
    for (const [i, { sourceId, fieldId = 1000 + i, name, transform }] of input.fields.entries()) {
      const type = transformResultType(transform, this.sourceType(sourceId))
      types.push(type)
      fields.push({ fieldId, name, avroType: avroTypeOf(type), sourceId, transform })
    }
    const id = input.specId ?? index
    const json = fields.map(({ fieldId, name, sourceId, transform }) => ({
      name,
      transform,
      'source-id': sourceId,
      'field-id': fieldId,
    }))
    return { id, json: { 'spec-id': id, fields: json }, fields, types }
  }

  /** Also finds dropped columns, which old specs may still name. */
  private sourceType(id: number): string {
    for (const schema of [...this.schemas].reverse()) {
      const type = findField(schema, id)?.type
      if (typeof type === 'string') return type
    }
    return 'int'
  }
}

function countEntries(entries: readonly EntryInput[]) {
  const files = [0, 0, 0]
  const rows = [0n, 0n, 0n]
  for (const { status = 1, dataFile } of entries) {
    files[status]++
    rows[status] += BigInt(dataFile?.recordCount ?? 1)
  }
  return {
    addedFilesCount: files[1],
    existingFilesCount: files[0],
    deletedFilesCount: files[2],
    addedRowsCount: rows[1],
    existingRowsCount: rows[0],
    deletedRowsCount: rows[2],
  }
}

function minimumSequenceNumber(entries: readonly EntryInput[], ownNumber: number | bigint): number | bigint {
  let minimum = ownNumber
  for (const { status, sequenceNumber } of entries) {
    if (status !== 2 && sequenceNumber !== undefined && sequenceNumber < minimum) minimum = sequenceNumber
  }
  return minimum
}

function summarize(entries: readonly EntryInput[], spec: Spec): FieldSummaryInput[] {
  return spec.types.map((type, i) => {
    const all = entries.map(({ dataFile }) => dataFile?.partition?.[i])
    const values = all.filter((value) => value != null && !Number.isNaN(value))
    const sorted = values.sort((a, b) => compareRawValues(type, a, b))
    const bound = (value: unknown) => (value === undefined ? undefined : singleValueBytes(type, value))
    return {
      containsNull: all.some((value) => value == null),
      containsNan: all.some((value) => Number.isNaN(value)),
      lowerBound: bound(sorted[0]),
      upperBound: bound(sorted.at(-1)),
    }
  })
}
