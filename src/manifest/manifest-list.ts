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
import type { ManifestFileSource, PartitionFieldSummaries, PartitionFieldSummary } from './manifest-file.ts'
import { ManifestContent, ManifestFile } from './manifest-file.ts'

const NO_KEYS = wantedKeys([])
/** Memory of a row's objects and of its path, once it was looked at: measured. */
const VIEW_BYTES = 300
/** Rows made in one step: a millisecond or so. */
const ROWS_PER_STEP = 4096

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
  return drained(manifestListSteps(bytes, options)).files
}

export interface ManifestListRows {
  readonly files: ManifestFile[]
  /** Memory of their columns and of themselves, about. */
  readonly bytes: number
}

/** As {@link readManifestListBytes}, in steps. The cache is asked in the first one. */
export function* manifestListSteps(
  bytes: Uint8Array,
  { cache = ManifestCache.disabled(), location = 'manifest list' }: ReadManifestListOptions,
): Generator<undefined, ManifestListRows> {
  const container = openContainer(bytes, location)
  const { codec, plan } = listShape(container, cache)
  yield
  const store = new ColumnStore(LIST_LAYOUT)
  const count = yield* decodeBlocks(container, codec, plan, store, 0, NO_KEYS)
  checkContents(store, count, location)
  const list = new ListColumns(store)
  const files: ManifestFile[] = []
  while (files.length < count) {
    yield
    const end = Math.min(count, files.length + ROWS_PER_STEP)
    while (files.length < end) files.push(new ManifestFile(new ListRow(list, files.length)))
  }
  return { files, bytes: store.byteLength + (store.child?.byteLength ?? 0) + VIEW_BYTES * count }
}

/** @throws CorruptFileError for a row that is neither of data nor of deletes */
function checkContents(store: ColumnStore, count: number, location: string): void {
  const contents = store.uint8[LIST_COLUMN.uint8.content]
  for (let row = 0; row < count; row++) {
    const content = contents[row]
    if (content === ManifestContent.DATA || content === ManifestContent.DELETES) continue
    if (((store.nulls[row] >>> LIST_NULL_BIT.content) & 1) === 1) continue
    throw new CorruptFileError(
      `Cannot read ${location}: row ${row} has the content ${content}, which is neither data (0) nor deletes (1)`,
      { location, entry: row },
    )
  }
}

/** A row of a list: of what is asked for again only the path is remembered. */
class ListRow implements ManifestFileSource {
  readonly #list: ListColumns
  readonly #row: number
  #path: string | undefined

  constructor(list: ListColumns, row: number) {
    this.#list = list
    this.#row = row
  }

  get manifestPath(): string {
    return (this.#path ??= this.#list.text(this.#row, LIST_COLUMN.bytes.manifestPath))
  }
  get manifestLength(): number {
    return this.#list.store.float64[LIST_COLUMN.float64.manifestLength][this.#row]
  }
  get partitionSpecId(): number {
    return this.#list.store.int32[LIST_COLUMN.int32.partitionSpecId][this.#row]
  }
  get content(): ManifestContent {
    const isNull = this.#list.isNull(this.#row, LIST_NULL_BIT.content)
    const content = this.#list.store.uint8[LIST_COLUMN.uint8.content][this.#row]
    return isNull ? ManifestContent.DATA : (content as ManifestContent)
  }
  get sequenceNumber(): bigint {
    return this.#list.long(this.#row, 'sequenceNumber') ?? 0n
  }
  get minSequenceNumber(): bigint {
    return this.#list.long(this.#row, 'minSequenceNumber') ?? 0n
  }
  get addedSnapshotId(): bigint | undefined {
    return this.#list.long(this.#row, 'addedSnapshotId')
  }
  get addedFilesCount(): number | undefined {
    return this.#list.count(this.#row, 'addedFilesCount')
  }
  get existingFilesCount(): number | undefined {
    return this.#list.count(this.#row, 'existingFilesCount')
  }
  get deletedFilesCount(): number | undefined {
    return this.#list.count(this.#row, 'deletedFilesCount')
  }
  get addedRowsCount(): number | undefined {
    return this.#list.count(this.#row, 'addedRowsCount')
  }
  get existingRowsCount(): number | undefined {
    return this.#list.count(this.#row, 'existingRowsCount')
  }
  get deletedRowsCount(): number | undefined {
    return this.#list.count(this.#row, 'deletedRowsCount')
  }
  get partitions(): readonly PartitionFieldSummary[] | undefined {
    return this.summaries?.all()
  }
  get summaries(): RowSummaries | undefined {
    return this.#list.summaries(this.#row)
  }
  get keyMetadata(): Uint8Array | undefined {
    return this.#list.keyMetadata(this.#row)
  }
  get firstRowId(): bigint | undefined {
    return this.#list.long(this.#row, 'firstRowId')
  }
}

class ListColumns {
  readonly store: ColumnStore
  readonly #longs: BigInt64Array[]
  /** The heap, to take texts from. */
  readonly #text: Buffer

  constructor(store: ColumnStore) {
    this.store = store
    this.#text = Buffer.from(store.heap.buffer)
    this.#longs = store.int64.map((lanes) => new BigInt64Array(lanes.buffer))
  }

  isNull(row: number, bit: number): boolean {
    return ((this.store.nulls[row] >>> bit) & 1) === 1
  }

  long(row: number, name: keyof typeof LIST_COLUMN.int64): bigint | undefined {
    return this.isNull(row, LIST_NULL_BIT[name]) ? undefined : this.#longs[LIST_COLUMN.int64[name]][row]
  }

  /** A negative count makes no sense, so it says nothing (R2.14). */
  count(
    row: number,
    name: keyof typeof LIST_COLUMN.float64 & keyof typeof LIST_NULL_BIT,
  ): number | undefined {
    if (this.isNull(row, LIST_NULL_BIT[name])) return undefined
    const value = this.store.float64[LIST_COLUMN.float64[name]][row]
    return value < 0 ? undefined : value
  }

  summaries(row: number): RowSummaries | undefined {
    const { child, cellStart, cellCount } = this.store
    if (this.isNull(row, LIST_NULL_BIT.partitions) || child === undefined) return undefined
    const { partitions } = LIST_COLUMN.cells
    return new RowSummaries(child, cellStart[partitions][row], cellCount[partitions][row])
  }

  text(row: number, column: number): string {
    const offset = this.store.bytesOffset[column][row]
    return this.#text.toString('utf8', offset, offset + this.store.bytesLength[column][row])
  }

  keyMetadata(row: number): Uint8Array | undefined {
    if (this.isNull(row, LIST_NULL_BIT.keyMetadata)) return undefined
    return this.#bytes(row, LIST_COLUMN.bytes.keyMetadata).slice()
  }

  #bytes(row: number, column: number): Uint8Array {
    const { heap, bytesOffset, bytesLength } = this.store
    const offset = bytesOffset[column][row]
    return heap.subarray(offset, offset + bytesLength[column][row])
  }
}

/** The summaries of one row. */
class RowSummaries implements PartitionFieldSummaries {
  readonly length: number
  readonly #store: ColumnStore
  readonly #first: number

  constructor(store: ColumnStore, first: number, length: number) {
    this.#store = store
    this.#first = first
    this.length = length
  }

  at(position: number): PartitionFieldSummary | undefined {
    if (position >= this.length) return undefined
    const { uint8, nulls } = this.#store
    const i = this.#first + position
    const isNull = (bit: number): boolean => ((nulls[i] >>> bit) & 1) === 1
    return {
      containsNull: uint8[SUMMARY_COLUMN.uint8.containsNull][i] === 1,
      containsNan: isNull(SUMMARY_NULL_BIT.containsNan)
        ? undefined
        : uint8[SUMMARY_COLUMN.uint8.containsNan][i] === 1,
      lowerBound: isNull(SUMMARY_NULL_BIT.lowerBound)
        ? undefined
        : this.#bound(i, SUMMARY_COLUMN.bytes.lowerBound),
      upperBound: isNull(SUMMARY_NULL_BIT.upperBound)
        ? undefined
        : this.#bound(i, SUMMARY_COLUMN.bytes.upperBound),
    }
  }

  all(): PartitionFieldSummary[] {
    return Array.from({ length: this.length }, (_, position) => this.at(position)!)
  }

  #bound(i: number, column: number): Uint8Array {
    const { heap, bytesOffset, bytesLength } = this.#store
    const offset = bytesOffset[column][i]
    return heap.subarray(offset, offset + bytesLength[column][i])
  }
}
