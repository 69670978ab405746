/**
 * Writes Iceberg manifests and manifest lists for tests and benches.
 *
 * Names are those of the library; everything has a default, so that a test states only what it is about. The bytes
 * are the same on every run.
 */
import type { AvroSchema } from './avro-encoder.ts'
import { type ContainerOptions, type HeaderMetadata, writeContainer } from './avro-container.ts'
import { type FieldShape, type SchemaVariations, finishSchema, renderRecord } from './record-shape.ts'

export type FormatVersion = 1 | 2 | 3
type Long = number | bigint

/** Column id to value: a Map (written as it is, in its order) or an object. */
export type ByColumn<V> = Map<number, V> | Readonly<Record<number, V>>

export interface DataFileInput {
  /** Default 0, data. */
  content?: number
  /** Default: a path made from the entry's position. */
  filePath?: string
  /** Default `PARQUET`. */
  fileFormat?: string
  /** Raw Avro values in the order of the partition fields; missing ones are null. */
  partition?: readonly unknown[]
  /** Default 1. */
  recordCount?: Long
  /** Default 1000. */
  fileSizeInBytes?: Long
  columnSizes?: ByColumn<Long>
  valueCounts?: ByColumn<Long>
  nullValueCounts?: ByColumn<Long>
  nanValueCounts?: ByColumn<Long>
  lowerBounds?: ByColumn<Uint8Array>
  upperBounds?: ByColumn<Uint8Array>
  keyMetadata?: Uint8Array
  splitOffsets?: readonly Long[]
  equalityIds?: readonly number[]
  sortOrderId?: number
  firstRowId?: Long
  referencedDataFile?: string
  contentOffset?: Long
  contentSizeInBytes?: Long
}

export interface EntryInput {
  /** 0 EXISTING, 1 ADDED, 2 DELETED; default 1. */
  status?: number
  snapshotId?: Long
  /** Data sequence number. */
  sequenceNumber?: Long
  fileSequenceNumber?: Long
  dataFile?: DataFileInput
}

export interface PartitionFieldInput {
  fieldId: number
  name: string
  /** Without the null. */
  avroType: AvroSchema
  /** For the `partition-spec` header only. */
  sourceId?: number
  transform?: string
}

export interface ManifestOptions extends ContainerOptions, SchemaVariations {
  entries: Iterable<EntryInput>
  /** Default 2. */
  formatVersion?: FormatVersion
  /** Default `data`. */
  content?: 'data' | 'deletes'
  /** Default: unpartitioned. */
  partition?: readonly PartitionFieldInput[]
  /** Default 0. */
  partitionSpecId?: number
  /** Table schema for the header. */
  schema?: unknown
  /** Overrides of the header's keys; null: absent. */
  metadata?: HeaderMetadata
}

/** The bytes of a manifest. */
export function writeManifest(options: ManifestOptions): Uint8Array {
  const { formatVersion = 2, partition = [], content = 'data' } = options
  const partitionRecord = renderRecord('partition', 'r102', partitionFields(partition), options)
  const dataFile = renderRecord('dataFile', 'r2', dataFileFields(formatVersion, partitionRecord), options)
  const entry = renderRecord('entry', 'manifest_entry', entryFields(formatVersion, dataFile), options)
  const metadata: HeaderMetadata = {
    schema: JSON.stringify(options.schema ?? { type: 'struct', 'schema-id': 0, fields: [] }),
    'partition-spec': JSON.stringify(partition.map(partitionFieldJson)),
    'partition-spec-id': String(options.partitionSpecId ?? 0),
    'format-version': String(formatVersion),
    content: formatVersion === 1 ? null : content,
    ...options.metadata,
  }
  return writeContainer(
    finishSchema(entry.schema, options),
    mapped(options.entries, entry.toRecord),
    metadata,
    options,
  )
}

function partitionFieldJson({ fieldId, name, sourceId = 1, transform = 'identity' }: PartitionFieldInput) {
  return { name, transform, 'source-id': sourceId, 'field-id': fieldId }
}

interface NumberedEntry {
  entry: EntryInput
  position: number
}

interface NumberedFile {
  file: DataFileInput
  position: number
}

function* mapped(
  entries: Iterable<EntryInput>,
  toRecord: (entry: NumberedEntry) => unknown,
): Iterable<unknown> {
  let position = 0
  for (const entry of entries) yield toRecord({ entry, position: position++ })
}

function entryFields(version: FormatVersion, dataFile: Nested<NumberedFile>): FieldShape<NumberedEntry>[] {
  const sequenceNumbers: FieldShape<NumberedEntry>[] = [
    {
      id: 3,
      name: 'sequence_number',
      type: 'long',
      optional: true,
      value: ({ entry }) => entry.sequenceNumber,
    },
    {
      id: 4,
      name: 'file_sequence_number',
      type: 'long',
      optional: true,
      value: ({ entry }) => entry.fileSequenceNumber,
    },
  ]
  return [
    { id: 0, name: 'status', type: 'int', value: ({ entry }) => entry.status ?? 1 },
    {
      id: 1,
      name: 'snapshot_id',
      type: 'long',
      optional: version > 1,
      value: ({ entry }) => entry.snapshotId ?? (version > 1 ? undefined : 0),
    },
    ...(version > 1 ? sequenceNumbers : []),
    {
      id: 2,
      name: 'data_file',
      type: dataFile.schema,
      value: ({ entry, position }) => dataFile.toRecord({ file: entry.dataFile ?? {}, position }),
    },
  ]
}

interface Nested<T> {
  schema: AvroSchema
  toRecord: (source: T) => unknown
}

function dataFileFields(
  version: FormatVersion,
  partition: Nested<readonly unknown[]>,
): FieldShape<NumberedFile>[] {
  const file = <K extends keyof DataFileInput>(
    id: number,
    name: string,
    key: K,
    type: AvroSchema,
    convert: (value: NonNullable<DataFileInput[K]>) => unknown = (value) => value,
  ): FieldShape<NumberedFile> => ({
    id,
    name,
    type,
    optional: true,
    value: (source) => {
      const value = source.file[key]
      return value == null ? undefined : convert(value)
    },
  })
  const content: FieldShape<NumberedFile> = {
    id: 134,
    name: 'content',
    type: 'int',
    value: ({ file }) => file.content ?? 0,
  }
  const blockSize: FieldShape<NumberedFile> = {
    id: 105,
    name: 'block_size_in_bytes',
    type: 'long',
    value: () => 64 * 1024 * 1024,
  }
  return [
    ...(version > 1 ? [content] : []),
    {
      id: 100,
      name: 'file_path',
      type: 'string',
      value: ({ file, position }) => file.filePath ?? `s3://warehouse/db/table/data/file-${position}.parquet`,
    },
    { id: 101, name: 'file_format', type: 'string', value: ({ file }) => file.fileFormat ?? 'PARQUET' },
    {
      id: 102,
      name: 'partition',
      type: partition.schema,
      value: ({ file }) => partition.toRecord(file.partition ?? []),
    },
    { id: 103, name: 'record_count', type: 'long', value: ({ file }) => file.recordCount ?? 1 },
    { id: 104, name: 'file_size_in_bytes', type: 'long', value: ({ file }) => file.fileSizeInBytes ?? 1000 },
    ...(version === 1 ? [blockSize] : []),
    file(108, 'column_sizes', 'columnSizes', columnMap(117, 118, 'long'), toMap),
    file(109, 'value_counts', 'valueCounts', columnMap(119, 120, 'long'), toMap),
    file(110, 'null_value_counts', 'nullValueCounts', columnMap(121, 122, 'long'), toMap),
    file(137, 'nan_value_counts', 'nanValueCounts', columnMap(138, 139, 'long'), toMap),
    file(125, 'lower_bounds', 'lowerBounds', columnMap(126, 127, 'bytes'), toMap),
    file(128, 'upper_bounds', 'upperBounds', columnMap(129, 130, 'bytes'), toMap),
    file(131, 'key_metadata', 'keyMetadata', 'bytes'),
    file(132, 'split_offsets', 'splitOffsets', { type: 'array', items: 'long', 'element-id': 133 }),
    ...(version > 1
      ? [file(135, 'equality_ids', 'equalityIds', { type: 'array', items: 'int', 'element-id': 136 })]
      : []),
    file(140, 'sort_order_id', 'sortOrderId', 'int'),
    ...(version > 2 ? [file(142, 'first_row_id', 'firstRowId', 'long')] : []),
    ...(version > 1 ? [file(143, 'referenced_data_file', 'referencedDataFile', 'string')] : []),
    ...(version > 2 ? [file(144, 'content_offset', 'contentOffset', 'long')] : []),
    ...(version > 2 ? [file(145, 'content_size_in_bytes', 'contentSizeInBytes', 'long')] : []),
  ]
}

/** Iceberg's form of a map whose keys are not strings: an array of key and value. */
function columnMap(keyId: number, valueId: number, valueType: string): AvroSchema {
  const fields = [
    { name: 'key', type: 'int', 'field-id': keyId },
    { name: 'value', type: valueType, 'field-id': valueId },
  ]
  return {
    type: 'array',
    items: { type: 'record', name: `k${keyId}_v${valueId}`, fields },
    logicalType: 'map',
  }
}

function toMap<V>(values: ByColumn<V>): Map<number, V> {
  if (values instanceof Map) return values
  return new Map(Object.entries<V>(values).map(([id, value]) => [Number(id), value]))
}

function partitionFields(partition: readonly PartitionFieldInput[]): FieldShape<readonly unknown[]>[] {
  const defined = new Set<string>()
  return partition.map(({ fieldId, name, avroType }, i) => ({
    id: fieldId,
    name,
    // A named type may be defined once in a file; afterwards it is referred to.
    type: definedOnce(avroType, defined),
    optional: true,
    value: (tuple) => tuple[i],
  }))
}

function definedOnce(type: AvroSchema, defined: Set<string>): AvroSchema {
  if (typeof type !== 'object' || !('name' in type)) return type
  const { name } = type
  if (defined.has(name)) return name
  defined.add(name)
  return type
}

export interface FieldSummaryInput {
  containsNull: boolean
  containsNan?: boolean | undefined
  lowerBound?: Uint8Array | undefined
  upperBound?: Uint8Array | undefined
}

/** A row of a manifest list. */
export interface ManifestFileInput {
  manifestPath: string
  manifestLength: Long
  /** Default 0. */
  partitionSpecId?: number
  /** 0 data, 1 deletes; default 0. */
  content?: number
  /** Default 0. */
  sequenceNumber?: Long
  /** Default 0. */
  minSequenceNumber?: Long
  /** Default 0. */
  addedSnapshotId?: Long
  addedFilesCount?: number | undefined
  existingFilesCount?: number | undefined
  deletedFilesCount?: number | undefined
  addedRowsCount?: Long | undefined
  existingRowsCount?: Long | undefined
  deletedRowsCount?: Long | undefined
  partitions?: readonly FieldSummaryInput[] | undefined
  keyMetadata?: Uint8Array | undefined
  firstRowId?: Long | undefined
}

export interface ManifestListOptions extends ContainerOptions, SchemaVariations {
  rows: Iterable<ManifestFileInput>
  /** Default 2. */
  formatVersion?: FormatVersion
  /** Overrides of the header's keys; null: absent. Default: `format-version` only. */
  metadata?: HeaderMetadata
}

/** The bytes of a manifest list. From version 2 on a count is required, unless a row lacks it: then it is nullable. */
export function writeManifestList(options: ManifestListOptions): Uint8Array {
  const { formatVersion = 2 } = options
  const rows = [...options.rows]
  const summary = renderRecord('summary', 'r508', summaryFields(), options)
  const row = renderRecord(
    'manifestFile',
    'manifest_file',
    manifestFileFields(formatVersion, summary, rows),
    options,
  )
  const metadata = { 'format-version': String(formatVersion), ...options.metadata }
  return writeContainer(finishSchema(row.schema, options), rows.map(row.toRecord), metadata, options)
}

function summaryFields(): FieldShape<FieldSummaryInput>[] {
  return [
    { id: 509, name: 'contains_null', type: 'boolean', value: (summary) => summary.containsNull },
    {
      id: 518,
      name: 'contains_nan',
      type: 'boolean',
      optional: true,
      value: (summary) => summary.containsNan,
    },
    { id: 510, name: 'lower_bound', type: 'bytes', optional: true, value: (summary) => summary.lowerBound },
    { id: 511, name: 'upper_bound', type: 'bytes', optional: true, value: (summary) => summary.upperBound },
  ]
}

function manifestFileFields(
  version: FormatVersion,
  summary: Nested<FieldSummaryInput>,
  allRows: readonly ManifestFileInput[],
): FieldShape<ManifestFileInput>[] {
  type Row = FieldShape<ManifestFileInput>
  const count = (id: number, name: string, type: string, key: keyof ManifestFileInput): Row => {
    const oldName = name.replace('_files', '_data_files')
    const optional = version === 1 || allRows.some((row) => row[key] == null)
    return { id, name, oldName, type, optional, value: (row) => row[key] }
  }
  const files: Row[] = [
    count(504, 'added_files_count', 'int', 'addedFilesCount'),
    count(505, 'existing_files_count', 'int', 'existingFilesCount'),
    count(506, 'deleted_files_count', 'int', 'deletedFilesCount'),
  ]
  const rows: Row[] = [
    count(512, 'added_rows_count', 'long', 'addedRowsCount'),
    count(513, 'existing_rows_count', 'long', 'existingRowsCount'),
    count(514, 'deleted_rows_count', 'long', 'deletedRowsCount'),
  ]
  const sequenced: Row[] = [
    { id: 517, name: 'content', type: 'int', value: (row) => row.content ?? 0 },
    { id: 515, name: 'sequence_number', type: 'long', value: (row) => row.sequenceNumber ?? 0 },
    { id: 516, name: 'min_sequence_number', type: 'long', value: (row) => row.minSequenceNumber ?? 0 },
  ]
  const partitions: Row = {
    id: 507,
    name: 'partitions',
    type: { type: 'array', items: summary.schema, 'element-id': 508 },
    optional: true,
    value: (row) => row.partitions?.map(summary.toRecord),
  }
  return [
    { id: 500, name: 'manifest_path', type: 'string', value: (row) => row.manifestPath },
    { id: 501, name: 'manifest_length', type: 'long', value: (row) => row.manifestLength },
    { id: 502, name: 'partition_spec_id', type: 'int', value: (row) => row.partitionSpecId ?? 0 },
    ...(version === 1 ? [] : sequenced),
    { id: 503, name: 'added_snapshot_id', type: 'long', value: (row) => row.addedSnapshotId ?? 0 },
    ...files,
    ...(version === 1 ? [partitions, ...rows] : [...rows, partitions]),
    { id: 519, name: 'key_metadata', type: 'bytes', optional: true, value: (row) => row.keyMetadata },
    ...(version === 3
      ? [
          {
            id: 520,
            name: 'first_row_id',
            type: 'long',
            optional: true,
            value: (row) => row.firstRowId,
          } satisfies Row,
        ]
      : []),
  ]
}
