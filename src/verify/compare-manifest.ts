/**
 * Field by field, what this library's reader and avsc make of a manifest list and of a manifest.
 *
 * avsc's side is brought to the in-memory forms of `ManifestFile` and `ManifestEntry` here, and inheritance (R4.1 to
 * R4.8) and defaults (R4.14) are applied here a second time, from the rules and not from the reader's code.
 */
import type { ManifestFileFields, PartitionFieldSummary } from '../manifest/manifest-file.ts'
import type { AvscFile } from './avsc-decoder.ts'
import {
  withoutNull,
  type AvscRecord,
  type AvscShape,
  type AvscValue,
  type RecordShape,
} from './avsc-shape.ts'
import type { Comparison } from './comparison.ts'

/** What is compared of a decoded manifest. */
export interface ComparedManifest {
  /** Field ids of the partition tuples, in their order. */
  readonly partitionFieldIds: readonly number[]
  readonly entries: Iterable<ComparedEntry>
}

export interface ComparedEntry {
  readonly status: number
  readonly snapshotId: bigint | undefined
  readonly sequenceNumber: bigint | undefined
  readonly fileSequenceNumber: bigint | undefined
  readonly dataFile: ComparedDataFile
}

export interface ComparedDataFile {
  readonly content: number
  readonly filePath: string
  readonly fileFormat: string
  /** In the order of the partition spec's fields. */
  readonly partition: readonly unknown[]
  readonly recordCount: number
  readonly fileSizeInBytes: number
  readonly columnSizes: ReadonlyMap<number, number> | undefined
  readonly valueCounts: ReadonlyMap<number, number> | undefined
  readonly nullValueCounts: ReadonlyMap<number, number> | undefined
  readonly nanValueCounts: ReadonlyMap<number, number> | undefined
  readonly lowerBounds: ReadonlyMap<number, Uint8Array> | undefined
  readonly upperBounds: ReadonlyMap<number, Uint8Array> | undefined
  readonly keyMetadata: Uint8Array | undefined
  readonly splitOffsets: readonly number[] | undefined
  readonly equalityIds: readonly number[] | undefined
  readonly sortOrderId: number | undefined
  readonly firstRowId: bigint | undefined
  readonly referencedDataFile: string | undefined
  readonly contentOffset: number | undefined
  readonly contentSizeInBytes: number | undefined
}

type Absent = AvscValue | undefined
type Convert = (value: Absent) => unknown

/** Id of a field, its name on our side, and how avsc's value reads there. */
type FieldRow<T> = readonly [id: number, name: keyof T & string, convert: Convert]

const ROW_FIELDS: readonly FieldRow<ManifestFileFields>[] = [
  [500, 'manifestPath', plain],
  [501, 'manifestLength', count],
  [502, 'partitionSpecId', count],
  [517, 'content', orElse(0, count)],
  [515, 'sequenceNumber', orElse(0n, id)],
  [516, 'minSequenceNumber', orElse(0n, id)],
  [503, 'addedSnapshotId', id],
  [504, 'addedFilesCount', knownCount],
  [505, 'existingFilesCount', knownCount],
  [506, 'deletedFilesCount', knownCount],
  [512, 'addedRowsCount', knownCount],
  [513, 'existingRowsCount', knownCount],
  [514, 'deletedRowsCount', knownCount],
  [519, 'keyMetadata', plain],
  [520, 'firstRowId', id],
]

const SUMMARY_FIELDS: readonly FieldRow<PartitionFieldSummary>[] = [
  [509, 'containsNull', plain],
  [518, 'containsNan', plain],
  [510, 'lowerBound', plain],
  [511, 'upperBound', plain],
]

/** Without `partition` (102) and `firstRowId` (142), which take more than the stored value. */
const DATA_FILE_FIELDS: readonly FieldRow<ComparedDataFile>[] = [
  [134, 'content', orElse(0, count)],
  [100, 'filePath', plain],
  [101, 'fileFormat', (value) => (typeof value === 'string' ? value.toLowerCase() : plain(value))],
  [103, 'recordCount', count],
  [104, 'fileSizeInBytes', count],
  [108, 'columnSizes', counts],
  [109, 'valueCounts', counts],
  [110, 'nullValueCounts', counts],
  [137, 'nanValueCounts', counts],
  [125, 'lowerBounds', plain],
  [128, 'upperBounds', plain],
  [131, 'keyMetadata', plain],
  [132, 'splitOffsets', counts],
  [135, 'equalityIds', counts],
  [140, 'sortOrderId', count],
  [143, 'referencedDataFile', plain],
  [144, 'contentOffset', count],
  [145, 'contentSizeInBytes', count],
]

const PARTITIONS = 507
const DATA_FILE = 2
const PARTITION = 102
const RECORD_COUNT = 103
const FIRST_ROW_ID = 142

/** Compares the rows of a manifest list in file order. */
export function compareManifestList(
  location: string,
  avsc: AvscFile,
  ours: readonly ManifestFileFields[],
  comparison: Comparison,
): void {
  comparison.manifestLists++
  comparison.check(location, undefined, 'rows', ours.length, avsc.records.length)
  for (const [i, row] of ours.slice(0, avsc.records.length).entries()) {
    const record = avsc.records[i]
    comparison.entries++
    for (const [fieldId, name, convert] of ROW_FIELDS) {
      comparison.check(location, i, name, row[name], convert(record.get(fieldId)))
    }
    compareSummaries(location, i, record.get(PARTITIONS), row.partitions, comparison)
  }
}

function compareSummaries(
  location: string,
  row: number,
  avsc: Absent,
  ours: readonly PartitionFieldSummary[] | undefined,
  comparison: Comparison,
): void {
  const records = Array.isArray(avsc) ? (avsc.filter((record) => record !== null) as AvscRecord[]) : undefined
  comparison.check(location, row, 'partitions.length', ours?.length, records?.length)
  if (records === undefined || ours === undefined) return
  for (const [i, summary] of ours.slice(0, records.length).entries()) {
    for (const [fieldId, name, convert] of SUMMARY_FIELDS) {
      const expected = convert(records[i].get(fieldId))
      comparison.check(location, row, `partitions[${i}].${name}`, summary[name], expected)
    }
  }
}

/**
 * Compares all entries of a manifest in file order, ours as they are after inheritance.
 *
 * @param row the manifest's row in the list, from which both sides inherit
 */
export function compareManifest(
  location: string,
  avsc: AvscFile,
  row: ManifestFileFields,
  ours: ComparedManifest,
  comparison: Comparison,
): void {
  comparison.manifests++
  const inherit = new Inheritance(row)
  const partitionShape = partitionShapeOf(avsc.shape)
  const { partitionFieldIds } = ours
  for (const field of partitionShape?.fields ?? []) {
    // A stored field that no spec field asks for would otherwise go unseen.
    if (field.id === undefined) continue
    comparison.check(
      location,
      undefined,
      `partitionFieldIds[${field.id}]`,
      partitionFieldIds.includes(field.id),
      true,
    )
  }

  let i = 0
  for (const entry of ours.entries) {
    const record = avsc.records[i] as AvscRecord | undefined
    if (record !== undefined) compareEntry(i, entry, record)
    i++
  }
  comparison.check(location, undefined, 'entries', i, avsc.records.length)

  function compareEntry(i: number, entry: ComparedEntry, record: AvscRecord): void {
    const check = (field: string, mine: unknown, theirs: unknown) => {
      comparison.check(location, i, field, mine, theirs)
    }
    comparison.entries++
    const file = record.get(DATA_FILE) as AvscRecord
    const status = count(record.get(0))
    check('status', entry.status, status)
    check('snapshotId', entry.snapshotId, inherit.snapshotId(record.get(1)))
    check('sequenceNumber', entry.sequenceNumber, inherit.sequenceNumber(record.get(3), status))
    check('fileSequenceNumber', entry.fileSequenceNumber, inherit.sequenceNumber(record.get(4), status))
    const rowId = inherit.firstRowId(file.get(FIRST_ROW_ID), status, file.get(RECORD_COUNT))
    check('dataFile.firstRowId', entry.dataFile.firstRowId, rowId)
    for (const [fieldId, name, convert] of DATA_FILE_FIELDS) {
      check(`dataFile.${name}`, entry.dataFile[name], convert(file.get(fieldId)))
    }
    const tuple = entry.dataFile.partition
    check('dataFile.partition.length', tuple.length, partitionFieldIds.length)
    const stored = file.get(PARTITION) as AvscRecord | null | undefined
    for (const [at, fieldId] of partitionFieldIds.entries()) {
      const shape = partitionShape?.fields.find((field) => field.id === fieldId)?.shape
      const expected = partitionValue(stored?.get(fieldId), shape, tuple[at])
      check(`dataFile.partition[${fieldId}]`, tuple[at], expected)
    }
  }
}

/** What an entry takes from its manifest's row; asked once per entry, in file order (R4.8). */
class Inheritance {
  readonly #row: ManifestFileFields
  /** The row id of the next live data file that has none; `undefined` where the manifest assigns none. */
  #nextRowId: bigint | undefined

  constructor(row: ManifestFileFields) {
    this.#row = row
    this.#nextRowId = row.content === 0 ? row.firstRowId : undefined
  }

  /** R4.1: for any status. */
  snapshotId(stored: Absent): unknown {
    return id(stored) ?? this.#row.addedSnapshotId
  }

  /** R4.2 and R4.3: by ADDED entries, and by all where the manifest's own number is 0 (R4.5). */
  sequenceNumber(stored: Absent, status: unknown): unknown {
    const inherits = status === 1 || this.#row.sequenceNumber === 0n
    return id(stored) ?? (inherits ? this.#row.sequenceNumber : undefined)
  }

  /** R4.8: DELETED entries and stored ids advance nothing, and a manifest without an id clears stored ones. */
  firstRowId(stored: Absent, status: unknown, recordCount: Absent): unknown {
    if (this.#nextRowId === undefined) return undefined
    if (status === 2 || (stored !== null && stored !== undefined)) return id(stored)
    const assigned = this.#nextRowId
    this.#nextRowId += BigInt(recordCount as bigint | number)
    return assigned
  }
}

/** The record behind fields 2 and 102; `undefined` where a v4 writer left it out (R4.15). */
function partitionShapeOf(entry: RecordShape): RecordShape | undefined {
  const file = fieldShape(entry, DATA_FILE)
  const partition = file?.kind === 'record' ? fieldShape(file, PARTITION) : undefined
  return partition?.kind === 'record' ? partition : undefined
}

function fieldShape(record: RecordShape, fieldId: number): AvscShape | undefined {
  const field = record.fields.find(({ id }) => id === fieldId)
  return field === undefined ? undefined : withoutNull(field.shape)
}

/**
 * A partition value as R13.8 reads the writer's type. Where one Avro type serves several Iceberg types, the
 * representation, not the value, follows our side: int or long (R4.11), bytes or decimal or uuid.
 */
function partitionValue(stored: Absent, shape: AvscShape | undefined, ours: unknown): unknown {
  if (stored === null || stored === undefined) return null
  const raw = shape === undefined ? undefined : withoutNull(shape)
  const logicalType =
    raw?.kind === 'plain' && typeof raw.raw === 'object'
      ? (raw.raw['logicalType'] as string | undefined)
      : undefined
  if (stored instanceof Uint8Array) {
    if (logicalType === 'decimal' || typeof ours === 'bigint') return bigEndian(stored)
    if (logicalType === 'uuid' || typeof ours === 'string') return uuidText(stored)
    return stored
  }
  if (typeof stored === 'string') return logicalType === 'uuid' ? stored.toLowerCase() : stored
  if (typeof stored === 'number' || typeof stored === 'bigint') {
    const millis = logicalType === 'timestamp-millis' || logicalType === 'time-millis'
    if (millis) return BigInt(stored) * 1000n
    if (typeof ours === 'bigint' && Number.isInteger(stored)) return BigInt(stored)
    return typeof ours === 'number' ? count(stored) : stored
  }
  return stored
}

/** Two's complement of any length. */
function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return BigInt.asIntN(bytes.length * 8, value)
}

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Text, bytes, booleans and maps of bytes are the same on both sides; a null is an absence on ours. */
function plain(value: Absent): unknown {
  return value === null ? undefined : value
}

/** Counts, sizes and offsets are numbers on our side, exactly or not at all. */
function count(value: Absent): unknown {
  if (typeof value !== 'bigint') return plain(value)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** A negative count of a manifest says nothing (R2.14). */
function knownCount(value: Absent): unknown {
  const known = count(value)
  return typeof known === 'number' && known < 0 ? undefined : known
}

function id(value: Absent): unknown {
  return typeof value === 'number' ? BigInt(value) : plain(value)
}

/** A list or map of counts. */
function counts(value: Absent): unknown {
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, count(item)]))
  return Array.isArray(value) ? value.map(count) : plain(value)
}

function orElse(fallback: unknown, convert: Convert): Convert {
  return (value) => convert(value) ?? fallback
}
