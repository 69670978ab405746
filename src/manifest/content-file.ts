/**
 * `DataFile` and `DeleteFile`: views of a row of an entry batch (spec: Data File Fields, ids 100-145).
 *
 * A view holds its whole batch, and the manifest list behind it, in memory; {@link ContentFile.detach} gives one that
 * does not. Fields that the plan did not read are `undefined`, as are those that the file lacks.
 */
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import { valueToJson } from '../types/single-value.ts'
import type { JsonValue } from '../types/value.ts'
import type { EntryBatch } from './entry-batch.ts'
import { FileContent } from './entry-batch.ts'
import type { FileFormat } from './entry-fields.ts'
import { base64 } from './manifest-file.ts'
import type { PartitionTuple } from './partition-key.ts'

/** What data files and delete files have in common. */
export abstract class ContentFile {
  /** The batch and the row behind this view. */
  readonly batch: EntryBatch
  readonly row: number

  constructor(batch: EntryBatch, row: number) {
    this.batch = batch
    this.row = row
  }

  get content(): FileContent {
    return this.batch.content(this.row)
  }
  get isData(): boolean {
    return this.content === FileContent.DATA
  }
  /** True for position delete files and for deletion vectors. */
  get isPositionDelete(): boolean {
    return this.content === FileContent.POSITION_DELETES
  }
  get isEqualityDelete(): boolean {
    return this.content === FileContent.EQUALITY_DELETES
  }
  /** A position delete kept as a blob of a Puffin file (R7.7). */
  get isDeletionVector(): boolean {
    return this.isPositionDelete && this.fileFormat === 'puffin'
  }
  /** As stored: position deletes name files by this very string. */
  get filePath(): string {
    return this.batch.text(this.row, 'filePath')
  }
  /** Lower case. */
  get fileFormat(): FileFormat {
    return this.batch.fileFormat(this.row)
  }
  get specId(): number {
    return this.batch.segmentOf(this.row).partitionType.specId
  }
  get spec(): PartitionSpec {
    return this.batch.segmentOf(this.row).partitionType.spec
  }
  /** Values in the order of the spec's fields; all may be null. */
  get partition(): PartitionTuple {
    return this.batch.partition(this.row)
  }
  /** Rows; for a deletion vector, the number of deleted rows. Negative where an importer did not know. */
  get recordCount(): number {
    return this.batch.recordCount(this.row)
  }
  /** Of a deletion vector: of the whole Puffin file. */
  get fileSizeInBytes(): number {
    return this.batch.fileSizeInBytes(this.row)
  }
  /** The data sequence number, inherited where it was null; it decides which deletes apply. */
  get dataSequenceNumber(): bigint | undefined {
    return this.batch.int64(this.row, 'sequenceNumber')
  }
  get fileSequenceNumber(): bigint | undefined {
    return this.batch.int64(this.row, 'fileSequenceNumber')
  }
  /** Bytes by column id; of the columns whose statistics were asked for. */
  get columnSizes(): Map<number, number> | undefined {
    return this.batch.countMap(this.row, 'columnSizes')
  }
  get valueCounts(): Map<number, number> | undefined {
    return this.batch.countMap(this.row, 'valueCounts')
  }
  get nullValueCounts(): Map<number, number> | undefined {
    return this.batch.countMap(this.row, 'nullValueCounts')
  }
  get nanValueCounts(): Map<number, number> | undefined {
    return this.batch.countMap(this.row, 'nanValueCounts')
  }
  /** Single-value bytes by column id. */
  get lowerBounds(): Map<number, Uint8Array> | undefined {
    return this.batch.boundMap(this.row, 'lowerBounds')
  }
  get upperBounds(): Map<number, Uint8Array> | undefined {
    return this.batch.boundMap(this.row, 'upperBounds')
  }
  get keyMetadata(): Uint8Array | undefined {
    return this.batch.isNull(this.row, 'keyMetadata')
      ? undefined
      : this.batch.bytes(this.row, 'keyMetadata').slice()
  }
  /** Byte offsets at which the file may be split; as stored. */
  get splitOffsets(): number[] | undefined {
    return this.batch.numbers(this.row, 'splitOffsets')
  }
  get equalityIds(): number[] | undefined {
    return this.batch.ids(this.row, 'equalityIds')
  }
  get sortOrderId(): number | undefined {
    return this.batch.sortOrderId(this.row)
  }
  /** Row id of the file's first row (v3), assigned as R4.8 says. */
  get firstRowId(): bigint | undefined {
    return this.batch.int64(this.row, 'firstRowId')
  }
  get referencedDataFile(): string | undefined {
    return this.batch.isNull(this.row, 'referencedDataFile')
      ? undefined
      : this.batch.text(this.row, 'referencedDataFile')
  }
  /** Where a deletion vector's blob starts in its Puffin file. */
  get contentOffset(): number | undefined {
    return this.batch.optionalNumber(this.row, 'contentOffset')
  }
  get contentSizeInBytes(): number | undefined {
    return this.batch.optionalNumber(this.row, 'contentSizeInBytes')
  }

  /** The same file, owning its memory. */
  abstract detach(): ContentFile

  toString(): string {
    return `${CONTENT_NAMES[this.content]} ${this.filePath}`
  }

  /** Plain data: bigints as they are, bytes as base64, the partition by field name as JSON single values. */
  toJSON(): Record<string, unknown> {
    return {
      content: CONTENT_NAMES[this.content],
      filePath: this.filePath,
      fileFormat: this.fileFormat,
      specId: this.specId,
      partition: partitionToJson(this),
      recordCount: this.recordCount,
      fileSizeInBytes: this.fileSizeInBytes,
      dataSequenceNumber: this.dataSequenceNumber,
      fileSequenceNumber: this.fileSequenceNumber,
      columnSizes: plain(this.columnSizes),
      valueCounts: plain(this.valueCounts),
      nullValueCounts: plain(this.nullValueCounts),
      nanValueCounts: plain(this.nanValueCounts),
      lowerBounds: plainBytes(this.lowerBounds),
      upperBounds: plainBytes(this.upperBounds),
      keyMetadata: base64(this.keyMetadata),
      splitOffsets: this.splitOffsets,
      equalityIds: this.equalityIds,
      sortOrderId: this.sortOrderId,
      firstRowId: this.firstRowId,
      referencedDataFile: this.referencedDataFile,
      contentOffset: this.contentOffset,
      contentSizeInBytes: this.contentSizeInBytes,
    }
  }
}

/** A file with rows of the table. */
export class DataFile extends ContentFile {
  override detach(): DataFile {
    return new DataFile(this.batch.detachRow(this.row), 0)
  }
}

/** A position delete file, a deletion vector or an equality delete file. */
export class DeleteFile extends ContentFile {
  override detach(): DeleteFile {
    return new DeleteFile(this.batch.detachRow(this.row), 0)
  }
}

/** What the kinds of content are called in output. */
export const CONTENT_NAMES: Readonly<Record<FileContent, string>> = {
  [FileContent.DATA]: 'data',
  [FileContent.POSITION_DELETES]: 'position-deletes',
  [FileContent.EQUALITY_DELETES]: 'equality-deletes',
}

/** The partition of a file: partition field name to JSON single value. */
export function partitionToJson(file: ContentFile): Record<string, JsonValue> {
  const { fields } = file.batch.segmentOf(file.row).partitionType
  return Object.fromEntries(fields.map(({ name, type }, i) => [name, valueToJson(type, file.partition[i])]))
}

function plain(map: Map<number, number> | undefined): Record<string, number> | undefined {
  return map === undefined ? undefined : Object.fromEntries(map)
}

function plainBytes(
  map: Map<number, Uint8Array> | undefined,
): Record<string, string | undefined> | undefined {
  return map === undefined
    ? undefined
    : Object.fromEntries([...map].map(([id, bytes]) => [String(id), base64(bytes)]))
}
