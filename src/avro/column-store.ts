/**
 * Where a cursor puts what it decodes: typed-array columns, one row per record, no object and no BigInt per row.
 *
 * | kind    | array                                   | holds                                            |
 * | ------- | --------------------------------------- | ------------------------------------------------ |
 * | uint8   | `Uint8Array`, 1 a row                   | a small int, a boolean, or a symbol's number      |
 * | int32   | `Int32Array`, 1 a row                   | an Avro int                                       |
 * | float64 | `Float64Array`, 1 a row                 | an int or long, exact: past 2^53 is an error      |
 * | int64   | `Int32Array`, 2 a row, low word first   | a long; read through a `BigInt64Array` view       |
 * | bytes   | two `Uint32Array`, offset and length    | string, bytes or fixed, copied to `heap`          |
 * | cells   | two `Uint32Array`, first cell and count | an array, or a map written as key-value records   |
 *
 * A null sets the column's bit in `nulls`; what the other arrays hold then means nothing. A column that the
 * writer's schema lacks is null in every row.
 *
 * A **cell** is one item of an array or map: a key (`Int32Array`), eight bytes of value and a tag. Numbers are
 * float64. Byte values of up to eight bytes stand in the cell itself, little end first and zero-padded, with their
 * length as tag, so that fixed-width bounds can be compared without being copied or typed; longer ones have the tag
 * {@link CELL_IN_HEAP} and hold offset and length, as two uint32, of bytes in the heap.
 *
 * **Keyed columns** hold the items that a few keys have in maps: each key has a *slot*, and each map a column per slot.
 * A number is kept plus one, as uint32, and 0 where the map has no such key or a number that does not fit; a byte value as in a
 * cell, with its length plus one as tag, or {@link CELL_IN_HEAP}, and 0 where there is none.
 */
import { ByteDictionary } from '../bytes/byte-dictionary.ts'

/** The columns of each kind that a table has; `false` keeps the number of a column that is not filled and takes no memory. */
export interface ColumnLayout {
  readonly uint8: readonly boolean[]
  readonly int32: readonly boolean[]
  readonly float64: readonly boolean[]
  readonly int64: readonly boolean[]
  readonly bytes: readonly boolean[]
  readonly cells: readonly boolean[]
  /** Whether cells have keys and tags: numbers alone have none. */
  readonly cellKeys: boolean
  /** One record column whose distinct raw encodings are numbered. */
  readonly tuple: boolean
  /** Rows of one array-of-records column. */
  readonly child: ColumnLayout | undefined
  readonly keyed: KeyedLayout
}

/** Maps whose wanted keys have columns of their own. */
export interface KeyedLayout {
  /** Wanted keys. */
  readonly slots: number
  /** Maps of numbers, and of byte values. */
  readonly numbers: readonly boolean[]
  readonly bytes: readonly boolean[]
}

/** No map has any. */
export const NOT_KEYED: KeyedLayout = { slots: 0, numbers: [], bytes: [] }

/** Offsets into the heap are 32 bits wide; no batch of a real table comes near. */
const MAX_HEAP_BYTES = 2 ** 31 - 1

/** Tag of a cell whose bytes are in the heap. */
export const CELL_IN_HEAP = 255

export class ColumnStore {
  layout: ColumnLayout
  /** Rows there is room for. */
  capacity = 0
  nulls: Uint32Array = new Uint32Array(0)
  uint8: Uint8Array[]
  int32: Int32Array[]
  float64: Float64Array[]
  int64: Int32Array[]
  bytesOffset: Uint32Array[]
  bytesLength: Uint32Array[]
  cellStart: Uint32Array[]
  cellCount: Uint32Array[]
  /** Strings of symbol columns that are on no list, lower case; numbered after the list. */
  otherSymbols: string[] = []
  /** Per row: number of the tuple's raw encoding in `tuples`. */
  tuple: Uint32Array = new Uint32Array(0)
  /** Distinct raw encodings of the tuple column, of one file: clear it between files. */
  readonly tuples = new ByteDictionary()
  heap: Uint8Array = new Uint8Array(0)
  /** Of all of `heap`. */
  heapView = new DataView(this.heap.buffer)
  heapLength = 0
  cellKey: Int32Array = new Int32Array(0)
  cellTag: Uint8Array = new Uint8Array(0)
  /** Two lanes a cell. */
  cellLanes: Int32Array = new Int32Array(0)
  cellFloat: Float64Array = new Float64Array(0)
  cellLength = 0
  readonly child: ColumnStore | undefined
  childLength = 0
  /** Keyed columns: that of map `m` and slot `s` is at `m * slots + s`. Lanes are two a row. */
  keyedNumbers: Uint32Array[]
  keyedTags: Uint8Array[]
  keyedLanes: Int32Array[]
  readonly #keyedNumbers: readonly boolean[]
  readonly #keyedBytes: readonly boolean[]

  constructor(layout: ColumnLayout) {
    this.layout = layout
    const { slots, numbers, bytes } = layout.keyed
    this.#keyedNumbers = numbers.flatMap((filled) => Array<boolean>(slots).fill(filled))
    this.#keyedBytes = bytes.flatMap((filled) => Array<boolean>(slots).fill(filled))
    this.keyedNumbers = this.#keyedNumbers.map(() => new Uint32Array(0))
    this.keyedTags = this.#keyedBytes.map(() => new Uint8Array(0))
    this.keyedLanes = this.#keyedBytes.map(() => new Int32Array(0))
    this.uint8 = layout.uint8.map(() => new Uint8Array(0))
    this.int32 = layout.int32.map(() => new Int32Array(0))
    this.float64 = layout.float64.map(() => new Float64Array(0))
    this.int64 = layout.int64.map(() => new Int32Array(0))
    this.bytesOffset = layout.bytes.map(() => new Uint32Array(0))
    this.bytesLength = layout.bytes.map(() => new Uint32Array(0))
    this.cellStart = layout.cells.map(() => new Uint32Array(0))
    this.cellCount = layout.cells.map(() => new Uint32Array(0))
    this.child = layout.child === undefined ? undefined : new ColumnStore(layout.child)
  }

  /** Forgets all rows but keeps the memory. */
  clear(): void {
    this.heapLength = 0
    this.cellLength = 0
    this.childLength = 0
    this.otherSymbols = []
    this.tuples.clear()
    // Nulls leave lengths as they are, and numbers their cell's tag; copying rows goes by them, so they are as if new.
    for (const column of [...this.bytesLength, ...this.cellCount]) column.fill(0)
    this.cellTag.fill(0)
    // A map that lacks a key leaves its column as it is.
    for (const column of [...this.keyedNumbers, ...this.keyedTags]) column.fill(0)
  }

  /** Bytes of all arrays, child rows left out, and of heap and cells what is used: the rest was never touched. */
  get byteLength(): number {
    let bytes = this.nulls.byteLength + this.tuple.byteLength + this.heapLength
    bytes += this.cellLength * (this.layout.cellKeys ? 13 : 8)
    bytes += bytesOf(this.uint8) + bytesOf(this.int32) + bytesOf(this.float64) + bytesOf(this.int64)
    bytes += bytesOf(this.bytesOffset) + bytesOf(this.bytesLength)
    bytes += bytesOf(this.cellStart) + bytesOf(this.cellCount)
    bytes += bytesOf(this.keyedNumbers) + bytesOf(this.keyedTags) + bytesOf(this.keyedLanes)
    return bytes
  }

  /** Makes room for `rows` rows; what is there stays. */
  reserveRows(rows: number): void {
    if (rows <= this.capacity) return
    // A batch of many small files grows in few steps, for each makes all arrays anew.
    const factor = this.capacity < 512 ? 8 : 2
    const capacity = this.capacity === 0 ? rows : Math.max(rows, this.capacity * factor)
    const { layout } = this
    this.nulls = grown(this.nulls, capacity)
    this.uint8 = grownAll(this.uint8, layout.uint8, capacity)
    this.int32 = grownAll(this.int32, layout.int32, capacity)
    this.float64 = grownAll(this.float64, layout.float64, capacity)
    this.int64 = grownAll(this.int64, layout.int64, 2 * capacity)
    this.bytesOffset = grownAll(this.bytesOffset, layout.bytes, capacity)
    this.bytesLength = grownAll(this.bytesLength, layout.bytes, capacity)
    this.cellStart = grownAll(this.cellStart, layout.cells, capacity)
    this.cellCount = grownAll(this.cellCount, layout.cells, capacity)
    if (layout.tuple) this.tuple = grown(this.tuple, capacity)
    this.keyedNumbers = grownAll(this.keyedNumbers, this.#keyedNumbers, capacity)
    this.keyedTags = grownAll(this.keyedTags, this.#keyedBytes, capacity)
    this.keyedLanes = grownAll(this.keyedLanes, this.#keyedBytes, 2 * capacity)
    this.capacity = capacity
  }

  /** Makes room for `more` heap bytes beyond `heapLength`; gives the heap, which may be another array than before. */
  reserveHeap(more: number): Uint8Array {
    const needed = this.heapLength + more
    if (needed > MAX_HEAP_BYTES)
      throw new RangeError(`strings and bytes of more than ${MAX_HEAP_BYTES} bytes`)
    if (needed > this.heap.length) {
      this.heap = grown(this.heap, Math.max(needed, this.heap.length * 2, 1024))
      this.heapView = new DataView(this.heap.buffer)
    }
    return this.heap
  }

  /** Makes room for `more` cells beyond `cellLength`. */
  reserveCells(more: number): void {
    const needed = this.cellLength + more
    const capacity = this.cellFloat.length
    if (needed <= capacity) return
    const size = Math.max(needed, capacity * 2, 64)
    if (this.layout.cellKeys) {
      this.cellKey = grown(this.cellKey, size)
      this.cellTag = grown(this.cellTag, size)
    }
    this.cellLanes = grown(this.cellLanes, 2 * size)
    this.cellFloat = new Float64Array(this.cellLanes.buffer)
  }

  /** Lets go of columns: of those that `layout` does not have any more, of the same number of each kind. */
  shrinkTo(layout: ColumnLayout): void {
    this.layout = layout
    this.int32 = keptOf(this.int32, layout.int32)
    this.float64 = keptOf(this.float64, layout.float64)
    this.int64 = keptOf(this.int64, layout.int64)
    this.bytesOffset = keptOf(this.bytesOffset, layout.bytes)
    this.bytesLength = keptOf(this.bytesLength, layout.bytes)
    this.cellStart = keptOf(this.cellStart, layout.cells)
    this.cellCount = keptOf(this.cellCount, layout.cells)
  }
}

/**
 * A store with only the given rows, in the given order, and only the heap bytes and cells that they use. Child rows
 * are not carried over.
 */
export function compactRows(store: ColumnStore, rows: Uint32Array): ColumnStore {
  const { layout } = store
  const to = new ColumnStore(layout)
  const count = rows.length
  to.reserveRows(count)
  to.nulls = gather(store.nulls, rows, 1)
  to.uint8 = gatherAll(store.uint8, layout.uint8, rows, 1)
  to.int32 = gatherAll(store.int32, layout.int32, rows, 1)
  to.float64 = gatherAll(store.float64, layout.float64, rows, 1)
  to.int64 = gatherAll(store.int64, layout.int64, rows, 2)
  to.otherSymbols = store.otherSymbols
  if (layout.tuple) to.tuple = gather(store.tuple, rows, 1)
  to.keyedNumbers = store.keyedNumbers.map((column) => gatherIfAny(column, rows, 1))
  to.keyedTags = store.keyedTags.map((column) => gatherIfAny(column, rows, 1))
  to.keyedLanes = store.keyedLanes.map((column, i) => {
    const lanes = gatherIfAny(column, rows, 2)
    const tags = to.keyedTags[i]
    for (let row = 0; row < tags.length; row++)
      if (tags[row] === CELL_IN_HEAP)
        lanes[2 * row] = copyHeap(store, lanes[2 * row] >>> 0, lanes[2 * row + 1], to)
    return lanes
  })
  layout.bytes.forEach((filled, column) => {
    if (!filled) return
    const offsets = store.bytesOffset[column]
    const lengths = store.bytesLength[column]
    for (let i = 0; i < count; i++) {
      const length = lengths[rows[i]]
      to.bytesOffset[column][i] = copyHeap(store, offsets[rows[i]], length, to)
      to.bytesLength[column][i] = length
    }
  })
  layout.cells.forEach((filled, column) => {
    if (!filled) return
    for (let i = 0; i < count; i++) {
      const first = store.cellStart[column][rows[i]]
      const length = store.cellCount[column][rows[i]]
      to.cellStart[column][i] = to.cellLength
      to.cellCount[column][i] = length
      to.reserveCells(length)
      for (let cell = first; cell < first + length; cell++) {
        const copy = to.cellLength++
        to.cellLanes[2 * copy] = store.cellLanes[2 * cell]
        to.cellLanes[2 * copy + 1] = store.cellLanes[2 * cell + 1]
        if (!layout.cellKeys) continue
        to.cellKey[copy] = store.cellKey[cell]
        to.cellTag[copy] = store.cellTag[cell]
        if (store.cellTag[cell] === CELL_IN_HEAP)
          to.cellLanes[2 * copy] = copyHeap(
            store,
            store.cellLanes[2 * cell] >>> 0,
            store.cellLanes[2 * cell + 1],
            to,
          )
      }
    }
  })
  return to
}

function copyHeap(from: ColumnStore, offset: number, length: number, to: ColumnStore): number {
  const heap = to.reserveHeap(length)
  const at = to.heapLength
  heap.set(from.heap.subarray(offset, offset + length), at)
  to.heapLength = at + length
  return at
}

function gather<A extends NumberArray>(array: A, rows: Uint32Array, width: 1 | 2): A {
  const to = new (array.constructor as new (length: number) => A)(rows.length * width)
  for (let i = 0; i < rows.length; i++) {
    to[width * i] = array[width * rows[i]]
    if (width === 2) to[2 * i + 1] = array[2 * rows[i] + 1]
  }
  return to
}

/** Of a column that is not filled, nothing. */
function gatherIfAny<A extends NumberArray>(column: A, rows: Uint32Array, width: 1 | 2): A {
  return column.length === 0 ? column : gather(column, rows, width)
}

function gatherAll<A extends NumberArray>(
  columns: A[],
  filled: readonly boolean[],
  rows: Uint32Array,
  width: 1 | 2,
): A[] {
  return columns.map((column, i) => (filled[i] ? gather(column, rows, width) : column))
}

type NumberArray = Uint8Array | Int32Array | Uint32Array | Float64Array

function bytesOf(columns: readonly NumberArray[]): number {
  let bytes = 0
  for (const column of columns) bytes += column.byteLength
  return bytes
}

function grown<A extends NumberArray>(array: A, length: number): A {
  const next = new (array.constructor as new (length: number) => A)(length)
  next.set(array)
  return next
}

function keptOf<A extends NumberArray>(columns: A[], filled: readonly boolean[]): A[] {
  return columns.map((column, i) =>
    filled[i] ? column : new (column.constructor as new (length: number) => A)(0),
  )
}

function grownAll<A extends NumberArray>(columns: A[], filled: readonly boolean[], length: number): A[] {
  return columns.map((column, i) => (filled[i] ? grown(column, length) : column))
}
