/**
 * Manifest entries as columns: one batch holds the entries of one manifest, or of a run of small ones, after
 * inheritance. No object exists per entry; `DataFile`, `DeleteFile` and `ManifestEntry` are views of a row.
 *
 * Partition tuples are kept once per distinct tuple, as canonical keys (`partition-key.ts`), with a number
 * per row: what depends on the partition alone is worked out once per tuple.
 */
import { CELL_IN_HEAP, type ColumnLayout, type ColumnStore, compactRows } from '../avro/column-store.ts'
import { ByteDictionary, type ByteStrings } from '../bytes/byte-dictionary.ts'
import type { FileFormat, ReadFields } from './entry-fields.ts'
import { COLUMN, DELETE_FILE_PATH_ID, FILE_FORMATS, NULL_BIT, withoutNullColumns } from './entry-fields.ts'
import { EntryStatus } from './inheritable-metadata.ts'
import type { ManifestFile } from './manifest-file.ts'
import { vectorsOf, type EntryVectors, type MetricColumn } from './metric-column.ts'
import type { PartitionTuple, PartitionType } from './partition-key.ts'
import { decodePartitionKey } from './partition-key.ts'
import { RowTexts } from './row-texts.ts'

/** What the `content` of a file may be (id 134). */
export const FileContent = { DATA: 0, POSITION_DELETES: 1, EQUALITY_DELETES: 2 } as const
export type FileContent = (typeof FileContent)[keyof typeof FileContent]

/** The rows that one manifest contributed. */
export interface BatchSegment {
  readonly manifest: ManifestFile
  readonly partitionType: PartitionType
  /** Spec fields that the manifest's tuples lack: null there is "not known". Void fields are not among them. */
  readonly missingPartitionFields: readonly string[]
  /** Fields of the manifest's tuples that the spec lacks: tuples that differ only there look equal. */
  readonly extraPartitionFields: readonly string[]
  readonly firstRow: number
  readonly rowCount: number
}

export type NullableColumn = keyof typeof NULL_BIT

/**
 * Column ids, or all; `keys`: of an equality delete file its key columns, of another delete file the path of the data
 * file (R10.7).
 */
export type ShownColumns = 'all' | 'keys' | readonly number[]

export class EntryBatch {
  readonly store: ColumnStore
  readonly read: ReadFields
  readonly segments: readonly BatchSegment[]
  readonly rowCount: number
  /** Distinct partition tuples; `partitionIndex[row]` numbers them. */
  readonly partitionKeys: ByteStrings
  readonly partitionIndex: Uint32Array
  /** Rows of live entries, ascending; after a filter, of those that may match. */
  readonly liveRows: Uint32Array
  /** Ids of the columns whose metrics the maps show: more may have been read. */
  readonly shownColumns: ShownColumns
  /** Metrics that are kept to be tested; `undefined` where they are in maps, to be shown. */
  readonly vectors: EntryVectors | undefined
  #facts: LiveFacts | undefined
  /** By number of the column, made when first asked for: a view keeps the memory of a column that the store lets go. */
  readonly #texts: (RowTexts | undefined)[] = []
  readonly #longs: (BigInt64Array | undefined)[] = []
  readonly #tuples: (PartitionTuple | undefined)[] = []

  /** Made by `EntryBatchBuilder`. */
  constructor(
    store: ColumnStore,
    read: ReadFields,
    segments: readonly BatchSegment[],
    partitionKeys: ByteStrings,
    {
      selected,
      shownColumns = 'all',
      vectors,
    }: {
      selected?: Uint32Array
      shownColumns?: ShownColumns
      /** Of a batch with the same rows. */
      vectors?: EntryVectors | undefined
    } = {},
  ) {
    this.shownColumns = shownColumns
    this.store = store
    this.read = read
    this.segments = segments
    const last = segments.at(-1)
    this.rowCount = last === undefined ? 0 : last.firstRow + last.rowCount
    this.vectors = vectors ?? vectorsOf(store, read, this.rowCount)
    this.partitionKeys = partitionKeys
    this.partitionIndex = store.tuple
    this.liveRows = selected ?? liveRows(store, this.rowCount)
  }

  /** A batch of one row that shares nothing with this one: what a kept view is moved to. */
  detachRow(row: number): EntryBatch {
    const store = compactRows(this.store, Uint32Array.of(row))
    const keys = new ByteDictionary()
    const key = this.partitionKeys.at(this.partitionIndex[row])
    store.tuple[0] = keys.intern(key, 0, key.length)
    const segment = this.segmentOf(row)
    const own = { ...segment, manifest: segment.manifest.detach(), firstRow: 0, rowCount: 1 }
    return new EntryBatch(store, this.read, [own], keys, { shownColumns: this.shownColumns })
  }

  /** The same columns with fewer live rows. */
  withRows(selected: Uint32Array): EntryBatch {
    const { store, read, segments, partitionKeys, shownColumns, vectors } = this
    return new EntryBatch(store, read, segments, partitionKeys, { selected, shownColumns, vectors })
  }

  /** The same columns; the rows of the manifests do not hold the manifest list that they come from. */
  withOwnManifests(): EntryBatch {
    const { store, read, partitionKeys, shownColumns, vectors, liveRows: selected } = this
    const segments = this.segments.map((segment) => ({ ...segment, manifest: segment.manifest.detach() }))
    return new EntryBatch(store, read, segments, partitionKeys, { selected, shownColumns, vectors })
  }

  /** The layout of what is there: without columns that are null in every row. */
  get usedLayout(): ColumnLayout {
    const { nulls, layout } = this.store
    let common = this.rowCount === 0 ? 0 : -1
    for (let row = 0; row < this.rowCount; row++) common &= nulls[row]
    return common === 0 ? layout : withoutNullColumns(layout, common)
  }

  /** The same rows with the metrics of more columns, to be tested. */
  withMetrics(more: ReadonlyMap<number, MetricColumn>): EntryBatch {
    const { store, read, segments, partitionKeys, liveRows: selected, shownColumns, vectors } = this
    return new EntryBatch(store, read, segments, partitionKeys, {
      selected,
      shownColumns,
      vectors: vectors && { ...vectors, columns: new Map([...vectors.columns, ...more]) },
    })
  }

  /**
   * The same columns with the rows of some segments.
   *
   * @param positions ascending; all of them give this very batch
   */
  ofSegments(positions: readonly number[]): EntryBatch {
    if (positions.length === this.segments.length) return this
    const { store, read, partitionKeys, shownColumns, vectors, liveRows } = this
    const segments = positions.map((position) => this.segments[position])
    const selected = new Uint32Array(liveRows.length)
    let count = 0
    let at = 0
    for (const { firstRow, rowCount } of segments) {
      at = lowerBound(liveRows, firstRow, at)
      for (; at < liveRows.length && liveRows[at] < firstRow + rowCount; at++)
        selected[count++] = liveRows[at]
    }
    return new EntryBatch(store, read, segments, partitionKeys, {
      selected: selected.subarray(0, count),
      shownColumns,
      vectors,
    })
  }

  /** The same columns, of which the metric maps show no others. */
  showing(shownColumns: ShownColumns): EntryBatch {
    const { store, read, segments, partitionKeys, liveRows: selected, vectors } = this
    return new EntryBatch(store, read, segments, partitionKeys, { selected, shownColumns, vectors })
  }

  /** The same without the rows that are not live; this very batch if it has none. */
  onlyLive(): EntryBatch {
    const { liveRows } = this
    if (liveRows.length === this.rowCount) return this
    const segments: BatchSegment[] = []
    let at = 0
    for (const segment of this.segments) {
      const firstRow = at
      while (at < liveRows.length && liveRows[at] < segment.firstRow + segment.rowCount) at++
      segments.push({ ...segment, firstRow, rowCount: at - firstRow })
    }
    return new EntryBatch(compactRows(this.store, liveRows), this.read, segments, this.partitionKeys, {
      shownColumns: this.shownColumns,
    })
  }

  /** Sums over the live rows, worked out once. */
  get facts(): LiveFacts {
    return (this.#facts ??= liveFacts(this.store, this.liveRows))
  }

  /** Bytes of memory behind the columns, about: what a window counts. */
  get byteLength(): number {
    return this.store.byteLength
  }

  /** The segment that a row belongs to. */
  segmentOf(row: number): BatchSegment {
    let low = 0
    let high = this.segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.segments[middle].firstRow <= row) low = middle
      else high = middle - 1
    }
    return this.segments[low]
  }

  isNull(row: number, column: NullableColumn): boolean {
    return ((this.store.nulls[row] >>> NULL_BIT[column]) & 1) === 1
  }

  status(row: number): EntryStatus {
    return this.store.uint8[COLUMN.uint8.status][row] as EntryStatus
  }

  content(row: number): FileContent {
    if (this.isNull(row, 'content')) return FileContent.DATA
    return this.store.uint8[COLUMN.uint8.content][row] as FileContent
  }

  fileFormat(row: number): FileFormat {
    const number = this.store.uint8[COLUMN.uint8.fileFormat][row]
    return number < FILE_FORMATS.length
      ? FILE_FORMATS[number]
      : this.store.otherSymbols[number - FILE_FORMATS.length]
  }

  int64(row: number, column: keyof typeof COLUMN.int64): bigint | undefined {
    return this.isNull(row, column) ? undefined : this.#longsOf(COLUMN.int64[column])[row]
  }

  /** Data sequence numbers by row; only where `isNull(row, 'sequenceNumber')` is false. */
  get sequenceNumbers(): BigInt64Array {
    return this.#longsOf(COLUMN.int64.sequenceNumber)
  }

  #longsOf(column: number): BigInt64Array {
    const known = this.#longs[column]
    if (known !== undefined) return known
    const lanes = this.store.int64[column]
    return (this.#longs[column] = new BigInt64Array(lanes.buffer, lanes.byteOffset, lanes.length / 2))
  }

  recordCount(row: number): number {
    return this.store.float64[COLUMN.float64.recordCount][row]
  }

  fileSizeInBytes(row: number): number {
    return this.store.float64[COLUMN.float64.fileSizeInBytes][row]
  }

  optionalNumber(row: number, column: 'contentOffset' | 'contentSizeInBytes'): number | undefined {
    return this.isNull(row, column) ? undefined : this.store.float64[COLUMN.float64[column]][row]
  }

  sortOrderId(row: number): number | undefined {
    return this.isNull(row, 'sortOrderId') ? undefined : this.store.int32[COLUMN.int32.sortOrderId][row]
  }

  /** A byte column's value: a view into the batch's heap. Check {@link isNull} first where the column may be null. */
  bytes(row: number, column: keyof typeof COLUMN.bytes): Uint8Array {
    const offset = this.bytesOffset(row, column)
    return this.store.heap.subarray(offset, offset + this.bytesLength(row, column))
  }

  bytesOffset(row: number, column: keyof typeof COLUMN.bytes): number {
    return this.store.bytesOffset[COLUMN.bytes[column]][row]
  }

  bytesLength(row: number, column: keyof typeof COLUMN.bytes): number {
    return this.store.bytesLength[COLUMN.bytes[column]][row]
  }

  text(row: number, column: keyof typeof COLUMN.bytes): string {
    const number = COLUMN.bytes[column]
    return (this.#texts[number] ?? this.#textsOf(number)).at(row)
  }

  #textsOf(column: number): RowTexts {
    const { heap, bytesOffset, bytesLength } = this.store
    // One buffer for all rows: to make one costs as much as to decode a path.
    const bytes = Buffer.from(heap.buffer, heap.byteOffset, heap.byteLength)
    return (this.#texts[column] = new RowTexts(bytes, bytesOffset[column], bytesLength[column]))
  }

  /** The partition tuple of a row, decoded once per distinct tuple. */
  partition(row: number): PartitionTuple {
    const index = this.partitionIndex[row]
    return (this.#tuples[index] ??= decodePartitionKey(
      this.partitionKeys.at(index),
      this.segmentOf(row).partitionType,
    ))
  }

  /** Array items that are numbers: split offsets. */
  numbers(row: number, column: 'splitOffsets'): number[] | undefined {
    if (this.isNull(row, column)) return undefined
    const first = this.store.cellStart[COLUMN.cells[column]][row]
    const count = this.store.cellCount[COLUMN.cells[column]][row]
    return Array.from(this.store.cellFloat.subarray(first, first + count))
  }

  /** Array items that are ids: equality ids. */
  ids(row: number, column: 'equalityIds'): number[] | undefined {
    if (this.isNull(row, column)) return undefined
    const first = this.store.cellStart[COLUMN.cells[column]][row]
    const count = this.store.cellCount[COLUMN.cells[column]][row]
    return Array.from(this.store.cellKey.subarray(first, first + count))
  }

  /** Whether an id is among the items. */
  hasId(row: number, column: 'equalityIds', id: number): boolean {
    if (this.isNull(row, column)) return false
    const first = this.store.cellStart[COLUMN.cells[column]][row]
    const end = first + this.store.cellCount[COLUMN.cells[column]][row]
    for (let cell = first; cell < end; cell++) if (this.store.cellKey[cell] === id) return true
    return false
  }

  /** A map of counts by column id; of the columns that the projection kept. Of a repeated key the last value counts. */
  countMap(
    row: number,
    column: 'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts',
  ): Map<number, number> | undefined {
    if (this.isNull(row, column) || this.#showsNone) return undefined
    const first = this.store.cellStart[COLUMN.cells[column]][row]
    const count = this.store.cellCount[COLUMN.cells[column]][row]
    const map = new Map<number, number>()
    for (let cell = first; cell < first + count; cell++)
      if (this.#shows(row, this.store.cellKey[cell]))
        map.set(this.store.cellKey[cell], this.store.cellFloat[cell])
    return map
  }

  /** A map of bounds by column id: copies of the single-value bytes. */
  boundMap(row: number, column: 'lowerBounds' | 'upperBounds'): Map<number, Uint8Array> | undefined {
    if (this.isNull(row, column) || this.#showsNone) return undefined
    const first = this.store.cellStart[COLUMN.cells[column]][row]
    const count = this.store.cellCount[COLUMN.cells[column]][row]
    const map = new Map<number, Uint8Array>()
    for (let cell = first; cell < first + count; cell++)
      if (this.#shows(row, this.store.cellKey[cell]))
        map.set(this.store.cellKey[cell], this.cellBytes(cell).slice())
    return map
  }

  get #showsNone(): boolean {
    return this.shownColumns.length === 0
  }

  #shows(row: number, columnId: number): boolean {
    if (this.shownColumns === 'all') return true
    if (this.shownColumns !== 'keys') return this.shownColumns.includes(columnId)
    return this.content(row) === FileContent.EQUALITY_DELETES
      ? this.hasId(row, 'equalityIds', columnId)
      : columnId === DELETE_FILE_PATH_ID
  }

  /** One bound, shown or not; `undefined` when the row has none for the column. A view, valid as long as the batch. */
  bound(row: number, column: 'lowerBounds' | 'upperBounds', fieldId: number): Uint8Array | undefined {
    if (this.isNull(row, column)) return undefined
    const first = this.store.cellStart[COLUMN.cells[column]][row]
    const count = this.store.cellCount[COLUMN.cells[column]][row]
    for (let cell = first + count - 1; cell >= first; cell--)
      if (this.store.cellKey[cell] === fieldId) return this.cellBytes(cell)
    return undefined
  }

  /** The bytes of a cell that holds a byte value. */
  cellBytes(cell: number): Uint8Array {
    const { cellTag, cellLanes, heap } = this.store
    const tag = cellTag[cell]
    if (tag === CELL_IN_HEAP) {
      const offset = cellLanes[2 * cell] >>> 0
      return heap.subarray(offset, offset + (cellLanes[2 * cell + 1] >>> 0))
    }
    return new Uint8Array(cellLanes.buffer, cellLanes.byteOffset + 8 * cell, tag)
  }
}

/** First position from `from` on whose row is not below `row`. */
function lowerBound(rows: Uint32Array, row: number, from: number): number {
  let low = from
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows[middle] < row) low = middle + 1
    else high = middle
  }
  return low
}

/** What there is to say of the live rows of a batch as a whole. */
export interface LiveFacts {
  readonly fileSizeInBytes: number
  readonly lacksSequenceNumbers: boolean
  /** By number of the file format. */
  readonly hasFormat: ReadonlySet<number>
}

function liveFacts(store: ColumnStore, rows: Uint32Array): LiveFacts {
  const sizes = store.float64[COLUMN.float64.fileSizeInBytes]
  const formats = store.uint8[COLUMN.uint8.fileFormat]
  const { nulls } = store
  const seen = new Uint8Array(256)
  let fileSizeInBytes = 0
  let someNull = 0
  for (const row of rows) {
    fileSizeInBytes += sizes[row]
    someNull |= nulls[row]
    seen[formats[row]] = 1
  }
  return {
    fileSizeInBytes,
    lacksSequenceNumbers: ((someNull >>> NULL_BIT.sequenceNumber) & 1) === 1,
    hasFormat: new Set([...seen.keys()].filter((format) => seen[format] === 1)),
  }
}

function liveRows(store: ColumnStore, rowCount: number): Uint32Array {
  const status = store.uint8[COLUMN.uint8.status]
  const rows = new Uint32Array(rowCount)
  let live = 0
  for (let row = 0; row < rowCount; row++) {
    rows[live] = row
    live += status[row] === EntryStatus.DELETED ? 0 : 1
  }
  return rows.subarray(0, live)
}
