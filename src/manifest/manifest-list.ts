/**
 * Manifest lists: bytes to {@link ManifestFile} rows, in the order of the file.
 */
import { decodeBlocks } from '../avro/cursor.ts'
import { ColumnStore } from '../avro/column-store.ts'
import { openContainer } from '../avro/container.ts'
import { drained } from '../avro/steps.ts'
import { wantedKeys } from '../avro/wanted-keys.ts'
import { CorruptFileError } from '../errors.ts'
import { LIST_COLUMN, LIST_LAYOUT, LIST_NULL_BIT, SUMMARY_COLUMN, SUMMARY_NULL_BIT } from './list-shape.ts'
import { ManifestCache } from './manifest-cache.ts'
import { listShape } from './cached-shapes.ts'
import type { PartitionFieldSummary } from './manifest-file.ts'
import { ManifestContent, ManifestFile } from './manifest-file.ts'

const NO_KEYS = wantedKeys([])
/** Rows made in one step: a fraction of a millisecond. */
const ROWS_PER_STEP = 128

export interface ReadManifestListOptions {
  /** Where parsed schemas are kept; a fresh one otherwise. */
  cache?: ManifestCache
  /** The file's name, for messages. */
  location?: string
}

/**
 * Decodes a manifest list (R1.14). Fields that its schema lacks take the defaults of v1, one by one.
 *
 * @param bytes the whole file
 * @throws CorruptFileError for bytes that are no manifest list, UnsupportedFeatureError for an unknown codec
 */
export function readManifestListBytes(
  bytes: Uint8Array,
  options: ReadManifestListOptions = {},
): ManifestFile[] {
  return drained(manifestListSteps(bytes, options))
}

/** As {@link readManifestListBytes}, in steps. The cache is asked in the first one. */
export function* manifestListSteps(
  bytes: Uint8Array,
  { cache = ManifestCache.disabled(), location = 'manifest list' }: ReadManifestListOptions,
): Generator<undefined, ManifestFile[]> {
  const container = openContainer(bytes, location)
  const { codec, plan } = listShape(container, cache)
  yield
  const store = new ColumnStore(LIST_LAYOUT)
  const count = yield* decodeBlocks(container, codec, plan, store, 0, NO_KEYS)
  const rows = new ListRows(store, location)
  const files: ManifestFile[] = []
  while (files.length < count) {
    yield
    const end = Math.min(count, files.length + ROWS_PER_STEP)
    while (files.length < end) files.push(rows.file(files.length))
  }
  return files
}

class ListRows {
  readonly #store: ColumnStore
  readonly #location: string
  readonly #longs: BigInt64Array[]
  /** Of all rows, together: a buffer for each would cost more than the rest of a row. */
  readonly #bounds: Uint8Array

  constructor(store: ColumnStore, location: string) {
    this.#store = store
    this.#location = location
    this.#longs = store.int64.map((lanes) => new BigInt64Array(lanes.buffer))
    this.#bounds = store.child?.heap.slice(0, store.child.heapLength) ?? new Uint8Array(0)
  }

  file(row: number): ManifestFile {
    const { int32, uint8 } = this.#store
    const content = this.#isNull(row, LIST_NULL_BIT.content) ? 0 : uint8[LIST_COLUMN.uint8.content][row]
    if (content !== ManifestContent.DATA && content !== ManifestContent.DELETES) {
      throw new CorruptFileError(
        `Cannot read ${this.#location}: row ${row} has the content ${content}, which is neither data (0) nor deletes (1)`,
        { location: this.#location, entry: row },
      )
    }
    return new ManifestFile({
      manifestPath: this.#text(row, LIST_COLUMN.bytes.manifestPath),
      manifestLength: this.#store.float64[LIST_COLUMN.float64.manifestLength][row],
      partitionSpecId: int32[LIST_COLUMN.int32.partitionSpecId][row],
      content,
      sequenceNumber: this.#long(row, 'sequenceNumber') ?? 0n,
      minSequenceNumber: this.#long(row, 'minSequenceNumber') ?? 0n,
      addedSnapshotId: this.#long(row, 'addedSnapshotId'),
      addedFilesCount: this.#count(row, 'addedFilesCount'),
      existingFilesCount: this.#count(row, 'existingFilesCount'),
      deletedFilesCount: this.#count(row, 'deletedFilesCount'),
      addedRowsCount: this.#count(row, 'addedRowsCount'),
      existingRowsCount: this.#count(row, 'existingRowsCount'),
      deletedRowsCount: this.#count(row, 'deletedRowsCount'),
      partitions: this.#summaries(row),
      keyMetadata: this.#isNull(row, LIST_NULL_BIT.keyMetadata)
        ? undefined
        : this.#bytes(row, LIST_COLUMN.bytes.keyMetadata).slice(),
      firstRowId: this.#long(row, 'firstRowId'),
    })
  }

  #isNull(row: number, bit: number): boolean {
    return ((this.#store.nulls[row] >>> bit) & 1) === 1
  }

  #long(row: number, name: keyof typeof LIST_COLUMN.int64): bigint | undefined {
    return this.#isNull(row, LIST_NULL_BIT[name]) ? undefined : this.#longs[LIST_COLUMN.int64[name]][row]
  }

  /** A negative count makes no sense, so it says nothing (R2.14). */
  #count(
    row: number,
    name: keyof typeof LIST_COLUMN.float64 & keyof typeof LIST_NULL_BIT,
  ): number | undefined {
    if (this.#isNull(row, LIST_NULL_BIT[name])) return undefined
    const value = this.#store.float64[LIST_COLUMN.float64[name]][row]
    return value < 0 ? undefined : value
  }

  #summaries(row: number): PartitionFieldSummary[] | undefined {
    if (this.#isNull(row, LIST_NULL_BIT.partitions)) return undefined
    const child = this.#store.child
    if (child === undefined) return undefined
    const first = this.#store.cellStart[LIST_COLUMN.cells.partitions][row]
    const count = this.#store.cellCount[LIST_COLUMN.cells.partitions][row]
    const summaries: PartitionFieldSummary[] = []
    for (let i = first; i < first + count; i++) {
      const isNull = (bit: number): boolean => ((child.nulls[i] >>> bit) & 1) === 1
      const { uint8, bytes } = SUMMARY_COLUMN
      summaries.push({
        containsNull: child.uint8[uint8.containsNull][i] === 1,
        containsNan: isNull(SUMMARY_NULL_BIT.containsNan)
          ? undefined
          : child.uint8[uint8.containsNan][i] === 1,
        lowerBound: isNull(SUMMARY_NULL_BIT.lowerBound) ? undefined : this.#bound(child, i, bytes.lowerBound),
        upperBound: isNull(SUMMARY_NULL_BIT.upperBound) ? undefined : this.#bound(child, i, bytes.upperBound),
      })
    }
    return summaries
  }

  #text(row: number, column: number): string {
    const bytes = this.#bytes(row, column)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  }

  #bytes(row: number, column: number): Uint8Array {
    const { heap, bytesOffset, bytesLength } = this.#store
    const offset = bytesOffset[column][row]
    return heap.subarray(offset, offset + bytesLength[column][row])
  }

  #bound({ bytesOffset, bytesLength }: ColumnStore, i: number, column: number): Uint8Array {
    const offset = bytesOffset[column][i]
    return this.#bounds.subarray(offset, offset + bytesLength[column][i])
  }
}
