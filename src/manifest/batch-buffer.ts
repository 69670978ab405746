/**
 * Entry batches across threads: all columns in one ArrayBuffer that is moved, not copied, and a small plain header.
 *
 *     int32 x 8     magic, version, rows, heap bytes, cells, partition keys, bytes of partition keys, sum of these
 *     columns       null mask, then the columns of the layout, in the order of the store's arrays
 *     heap, cells (keys, lanes, tags), partition keys (offsets, bytes)
 *
 * Each part starts at a multiple of eight bytes, so that it can be looked at in place. Both sides derive the parts from
 * the counts and the layout; the buffer's size is the check that they agree.
 */
import type { ColumnLayout } from '../avro/column-store.ts'
import { ColumnStore } from '../avro/column-store.ts'
import { PackedStrings } from '../bytes/byte-dictionary.ts'
import { WorkerError } from '../errors.ts'
import type { BatchSegment } from './entry-batch.ts'
import { EntryBatch } from './entry-batch.ts'
import type { ReadFields } from './entry-fields.ts'
import type { ManifestFile } from './manifest-file.ts'
import type { PartitionType } from './partition-key.ts'

/** A packed batch. */
export interface PackedBatch {
  readonly buffer: ArrayBuffer
  readonly read: ReadFields
  readonly layout: ColumnLayout
  readonly otherSymbols: readonly string[]
  readonly segments: PackedSegments
}

/** The segments as columns, one for each manifest of the job, in order: they may be many and their rows few. */
export interface PackedSegments {
  readonly specIds: readonly number[]
  readonly rowCounts: readonly number[]
  /** By segment, where there are any. */
  readonly missingPartitionFields: ReadonlyMap<number, readonly string[]>
  readonly extraPartitionFields: ReadonlyMap<number, readonly string[]>
}

/** "IPB1" */
const MAGIC = 0x31425049
const VERSION = 1
/** Counts are int32. */
const MAX_BYTES = 2 ** 31 - 8
const HEADER_INTS = 8
const HEADER_BYTES = HEADER_INTS * 4

/**
 * Packs the live entries of a batch.
 *
 * @param allRows all entries, whatever is live
 */
export function packBatch(batch: EntryBatch, allRows = false): PackedBatch {
  const packed = allRows ? batch : batch.onlyLive()
  const { store, read, segments, partitionKeys: keys, rowCount, usedLayout: layout } = packed
  const counts: Counts = {
    rows: rowCount,
    heapBytes: store.heapLength,
    cells: store.cellLength,
    keys: keys.count,
    keyBytes: keys.count === 0 ? 0 : keys.offsets[keys.count],
  }
  const total = packedBytes(layout, counts)
  if (total > MAX_BYTES)
    throw new WorkerError(`Cannot send an entry batch of ${total} bytes: ${MAX_BYTES} are possible`)
  const buffer = new ArrayBuffer(total)
  const { rows, heapBytes, cells, keyBytes } = counts
  const header = [MAGIC, VERSION, rows, heapBytes, cells, counts.keys, keyBytes]
  new Int32Array(buffer, 0, HEADER_INTS).set([...header, sum(header)])
  const to = new Sections(layout, counts, buffer)
  to.nulls.set(store.nulls.subarray(0, rowCount))
  copyAll(store.uint8, to.uint8)
  copyAll(store.int32, to.int32)
  copyAll(store.float64, to.float64)
  copyAll(store.int64, to.int64)
  copyAll(store.bytesOffset, to.bytesOffset)
  copyAll(store.bytesLength, to.bytesLength)
  copyAll(store.cellStart, to.cellStart)
  copyAll(store.cellCount, to.cellCount)
  to.tuple.set(store.tuple.subarray(0, to.tuple.length))
  copyAll(store.keyedNumbers, to.keyedNumbers)
  copyAll(store.keyedTags, to.keyedTags)
  copyAll(store.keyedLanes, to.keyedLanes)
  to.heap.set(store.heap.subarray(0, counts.heapBytes))
  to.cellKey.set(store.cellKey.subarray(0, to.cellKey.length))
  to.cellLanes.set(store.cellLanes.subarray(0, 2 * counts.cells))
  to.cellTag.set(store.cellTag.subarray(0, to.cellTag.length))
  to.keyOffsets.set(keys.offsets.subarray(0, counts.keys + 1))
  to.keyHeap.set(keys.heap.subarray(0, counts.keyBytes))
  return {
    buffer,
    read,
    layout,
    otherSymbols: store.otherSymbols,
    segments: {
      specIds: segments.map(({ partitionType }) => partitionType.specId),
      rowCounts: segments.map(({ rowCount }) => rowCount),
      missingPartitionFields: namesBySegment(segments.map((segment) => segment.missingPartitionFields)),
      extraPartitionFields: namesBySegment(segments.map((segment) => segment.extraPartitionFields)),
    },
  }
}

function namesBySegment(names: readonly (readonly string[])[]): Map<number, readonly string[]> {
  return new Map([...names.entries()].filter(([, { length }]) => length > 0))
}

/**
 * A batch over a packed buffer: nothing is copied.
 *
 * @param manifests of the job, in order: one per segment
 * @throws WorkerError when the buffer is not what its header says
 */
export function unpackBatch(
  packed: PackedBatch,
  manifests: readonly ManifestFile[],
  partitionTypes: ReadonlyMap<number, PartitionType>,
): EntryBatch {
  const { buffer, read, layout } = packed
  if (buffer.byteLength < HEADER_BYTES)
    throw new WorkerError(`Cannot read an entry batch: ${buffer.byteLength} bytes are less than its header`)
  const header = new Int32Array(buffer, 0, HEADER_INTS)
  const [magic, version, rows, heapBytes, cells, keys, keyBytes, check] = header
  if (magic !== MAGIC)
    throw new WorkerError(`Cannot read an entry batch: it begins with ${magic}, not ${MAGIC}`)
  if (version !== VERSION)
    throw new WorkerError(`Cannot read an entry batch of version ${version}: this is version ${VERSION}`)
  const counts: Counts = { rows, heapBytes, cells, keys, keyBytes }
  if (check !== sum(header.subarray(0, -1)) || packedBytes(layout, counts) !== buffer.byteLength) {
    throw new WorkerError(
      `Cannot read an entry batch: ${rows} rows, ${heapBytes} heap bytes and ${cells} cells do not make ${buffer.byteLength} bytes`,
    )
  }
  const segments = unpackSegments(packed.segments, manifests, partitionTypes, rows)
  const from = new Sections(layout, counts, buffer)
  const store = new ColumnStore(layout)
  Object.assign(store, {
    capacity: rows,
    nulls: from.nulls,
    uint8: from.uint8,
    int32: from.int32,
    float64: from.float64,
    int64: from.int64,
    bytesOffset: from.bytesOffset,
    bytesLength: from.bytesLength,
    cellStart: from.cellStart,
    cellCount: from.cellCount,
    tuple: from.tuple,
    keyedNumbers: from.keyedNumbers,
    keyedTags: from.keyedTags,
    keyedLanes: from.keyedLanes,
    heap: from.heap,
    heapLength: heapBytes,
    cellKey: from.cellKey,
    cellLanes: from.cellLanes,
    cellTag: from.cellTag,
    cellFloat: new Float64Array(buffer, from.cellLanes.byteOffset, cells),
    cellLength: cells,
    otherSymbols: [...packed.otherSymbols],
  } satisfies Partial<ColumnStore>)
  return new EntryBatch(store, read, segments, new PackedStrings(from.keyHeap, from.keyOffsets))
}

const NO_NAMES: readonly string[] = Object.freeze([])

function unpackSegments(
  packed: PackedSegments,
  manifests: readonly ManifestFile[],
  partitionTypes: ReadonlyMap<number, PartitionType>,
  rows: number,
): BatchSegment[] {
  const { specIds, rowCounts, missingPartitionFields, extraPartitionFields } = packed
  if (specIds.length !== manifests.length)
    throw new WorkerError(
      `Cannot read an entry batch: ${specIds.length} segments for ${manifests.length} manifests`,
    )
  let firstRow = 0
  const segments = manifests.map((manifest, i): BatchSegment => {
    const partitionType = partitionTypes.get(specIds[i])
    if (partitionType === undefined)
      throw new WorkerError(`Cannot read an entry batch: it names the partition spec ${specIds[i]}`)
    const segment = {
      manifest,
      partitionType,
      missingPartitionFields: missingPartitionFields.get(i) ?? NO_NAMES,
      extraPartitionFields: extraPartitionFields.get(i) ?? NO_NAMES,
      firstRow,
      rowCount: rowCounts[i],
    }
    firstRow += rowCounts[i]
    return segment
  })
  if (firstRow !== rows)
    throw new WorkerError(`Cannot read an entry batch: its segments have ${firstRow} rows, not ${rows}`)
  return segments
}

/** As an int32, like its terms. */
function sum(header: Iterable<number>): number {
  let total = 0
  for (const int of header) total = (total + int) | 0
  return total
}

interface Counts {
  readonly rows: number
  readonly heapBytes: number
  readonly cells: number
  readonly keys: number
  readonly keyBytes: number
}

/** Bytes of a batch when packed: of its header and all its parts. */
function packedBytes(layout: ColumnLayout, { rows, heapBytes, cells, keys, keyBytes }: Counts): number {
  const { uint8, int32, float64, int64, bytes, cells: lists, cellKeys } = layout
  const ofWidth = (width: number, columns: readonly boolean[]): number =>
    columns.filter(Boolean).length * aligned(width * rows)
  let total = HEADER_BYTES + (layout.tuple ? 2 : 1) * aligned(4 * rows)
  total += ofWidth(1, uint8) + ofWidth(4, int32) + ofWidth(8, float64) + ofWidth(8, int64)
  total += 2 * (ofWidth(4, bytes) + ofWidth(4, lists))
  const { slots, numbers, bytes: bounds } = layout.keyed
  total += slots * (ofWidth(4, numbers) + ofWidth(1, bounds) + ofWidth(8, bounds))
  total += aligned(heapBytes) + 8 * cells + (cellKeys ? aligned(4 * cells) + aligned(cells) : 0)
  return total + aligned(4 * (keys + 1)) + aligned(keyBytes)
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}

type ArrayType<A> = new (buffer: ArrayBuffer, offset: number, length: number) => A

/** The parts of a packed batch, in order: views of its buffer. */
class Sections {
  #offset = HEADER_BYTES
  readonly #buffer: ArrayBuffer
  readonly nulls: Uint32Array
  readonly uint8: Uint8Array[]
  readonly int32: Int32Array[]
  readonly float64: Float64Array[]
  readonly int64: Int32Array[]
  readonly bytesOffset: Uint32Array[]
  readonly bytesLength: Uint32Array[]
  readonly cellStart: Uint32Array[]
  readonly cellCount: Uint32Array[]
  readonly tuple: Uint32Array
  readonly keyedNumbers: Uint32Array[]
  readonly keyedTags: Uint8Array[]
  readonly keyedLanes: Int32Array[]
  readonly heap: Uint8Array
  readonly cellKey: Int32Array
  readonly cellLanes: Int32Array
  readonly cellTag: Uint8Array
  readonly keyOffsets: Uint32Array
  readonly keyHeap: Uint8Array

  constructor(layout: ColumnLayout, { rows, heapBytes, cells, keys, keyBytes }: Counts, buffer: ArrayBuffer) {
    this.#buffer = buffer
    this.nulls = this.#part(Uint32Array, 4, rows)
    this.uint8 = layout.uint8.map((filled) => this.#part(Uint8Array, 1, filled ? rows : 0))
    this.int32 = layout.int32.map((filled) => this.#part(Int32Array, 4, filled ? rows : 0))
    this.float64 = layout.float64.map((filled) => this.#part(Float64Array, 8, filled ? rows : 0))
    this.int64 = layout.int64.map((filled) => this.#part(Int32Array, 4, filled ? 2 * rows : 0))
    this.bytesOffset = layout.bytes.map((filled) => this.#part(Uint32Array, 4, filled ? rows : 0))
    this.bytesLength = layout.bytes.map((filled) => this.#part(Uint32Array, 4, filled ? rows : 0))
    this.cellStart = layout.cells.map((filled) => this.#part(Uint32Array, 4, filled ? rows : 0))
    this.cellCount = layout.cells.map((filled) => this.#part(Uint32Array, 4, filled ? rows : 0))
    this.tuple = this.#part(Uint32Array, 4, layout.tuple ? rows : 0)
    const keyed = (columns: readonly boolean[]): boolean[] =>
      columns.flatMap((filled) => Array<boolean>(layout.keyed.slots).fill(filled))
    const [numbers, bytes] = [keyed(layout.keyed.numbers), keyed(layout.keyed.bytes)]
    this.keyedNumbers = numbers.map((filled) => this.#part(Uint32Array, 4, filled ? rows : 0))
    this.keyedTags = bytes.map((filled) => this.#part(Uint8Array, 1, filled ? rows : 0))
    this.keyedLanes = bytes.map((filled) => this.#part(Int32Array, 4, filled ? 2 * rows : 0))
    this.heap = this.#part(Uint8Array, 1, heapBytes)
    this.cellKey = this.#part(Int32Array, 4, layout.cellKeys ? cells : 0)
    this.cellLanes = this.#part(Int32Array, 4, 2 * cells)
    this.cellTag = this.#part(Uint8Array, 1, layout.cellKeys ? cells : 0)
    this.keyOffsets = this.#part(Uint32Array, 4, keys + 1)
    this.keyHeap = this.#part(Uint8Array, 1, keyBytes)
  }

  #part<A>(type: ArrayType<A>, width: number, length: number): A {
    const offset = this.#offset
    this.#offset += aligned(width * length)
    return new type(this.#buffer, offset, length)
  }
}

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array

/** Copies the filled part of each column; those not filled have no room on either side. */
function copyAll(from: readonly Column[], to: readonly Column[]): void {
  to.forEach((column, i) => {
    column.set(from[i].subarray(0, column.length))
  })
}
