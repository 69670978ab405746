/**
 * Runs a cursor plan over the bytes of a block, filling columns: the hot loop of planning.
 *
 * Bounds contract: reading a typed array past its end gives `undefined`, which counts as 0 and ends every varint,
 * so the loop can never run away; each length and count is compared with the bytes left before it is used, and each
 * record must end inside the block. A violation throws a {@link CursorFault} with record and byte.
 *
 * Shape, measured: the position is a local that helpers take and give back; the one-byte case of each varint is
 * inline; map loops are functions of their own; fixed-width columns have room for the whole block beforehand.
 */
import type { CodecName } from './codecs.ts'
import { decompressBlock, emptyBlock } from './codecs.ts'
import type { ColumnStore } from './column-store.ts'
import { CELL_IN_HEAP } from './column-store.ts'
import type { AvroContainer } from './container.ts'
import type { CursorPlan } from './cursor-plan.ts'
import { keyPosition, OP, pairOf } from './cursor-plan.ts'
import type { AvroSchema } from './schema.ts'
import { CorruptFileError } from '../errors.ts'
import { CursorFault, longLength, OVERLONG } from './cursor-fault.ts'
import { branch, skipNode } from './schema-walk.ts'
import { readVarint, VARINT } from './varint.ts'
import { slotOf, type WantedKeys } from './wanted-keys.ts'

const block = emptyBlock()
/** Room is made for so many rows at a time. */
const CHUNK_ROWS = 8192

/**
 * Decodes the blocks of a container into rows `firstRow` and following, one block a step, so that the caller can do
 * something else in between. Other containers may be decoded into other stores between two steps.
 *
 * @param store has a layout that the plan's columns fit; rows are reserved here
 * @yields after each block but the last
 * @returns the number of rows decoded, which equals the container's count
 * @throws CorruptFileError with location, entry and byte of the decompressed block
 */
export function* decodeBlocks(
  container: AvroContainer,
  codec: CodecName,
  plan: CursorPlan,
  store: ColumnStore,
  firstRow: number,
  wanted: WantedKeys,
): Generator<undefined, number> {
  const { bytes, blocks, location } = container
  let row = firstRow
  const before = { heapLength: store.heapLength, cellLength: store.cellLength }
  // The count is the file's claim: room is made for it only as far as its bytes can bear it out.
  store.reserveRows(firstRow + Math.min(container.count, bytes.length >> 3))
  for (let i = 0; i < blocks.length; i += 3) {
    if (i > 0) yield
    const count = blocks[i]
    decompressBlock(codec, bytes, blocks[i + 1], blocks[i + 2], location, block)
    const { start, end } = block
    if (count > end - start) {
      throw new CorruptFileError(
        `Cannot read ${location}: the block at byte ${blocks[i + 1]} claims ${count} objects in ${end - start} bytes`,
        { location, entry: row - firstRow, byte: blocks[i + 1] },
      )
    }
    try {
      forgetPlaces(store)
      let at = start
      // Rows are made room for as they come, for the count is a claim too.
      for (let left = count; left > 0; left -= CHUNK_ROWS) {
        const rows = Math.min(left, CHUNK_ROWS)
        store.reserveRows(row + rows)
        at = runCursor(plan, block.bytes, block.view, at, end, rows, store, row, wanted)
        row += rows
      }
      if (at !== end) throw new CursorFault(`${end - at} bytes are left over`, at, row)
    } catch (fault) {
      throw locatedFault(fault, location, firstRow, start, blocks[i + 1])
    }
    if (i === 0) reserveLikeFirstBlock(store, before, count, container.count - count)
  }
  return row - firstRow
}

/** A fault in the words of the file's reader: which entry, which byte of which block. */
function locatedFault(
  fault: unknown,
  location: string,
  firstRow: number,
  blockStart: number,
  blockByte: number,
): unknown {
  if (fault instanceof CursorFault) {
    const entry = fault.row - firstRow
    const byte = fault.at - blockStart
    return new CorruptFileError(
      `Cannot read ${location}: entry ${entry} (byte ${byte} of the block at byte ${blockByte}): ${fault.message}`,
      { location, entry, byte },
    )
  }
  // An array that cannot be allocated: more entries than any table has, in a few bytes.
  if (fault instanceof RangeError) {
    return new CorruptFileError(
      `Cannot read ${location}: the block at byte ${blockByte} needs more memory than there is (${fault.message})`,
      { location, byte: blockByte, cause: fault },
    )
  }
  return fault
}

/** Blocks of a file resemble each other: the first one tells how much the others need, before growth copies twice. */
function reserveLikeFirstBlock(
  store: ColumnStore,
  before: { readonly heapLength: number; readonly cellLength: number },
  rows: number,
  rowsLeft: number,
): void {
  if (rowsLeft <= 0 || rows === 0) return
  // As with rows, a claimed count is believed only as far as there is room for it already.
  const scale = (1.1 * Math.min(rowsLeft, store.capacity)) / rows
  store.reserveHeap(Math.ceil((store.heapLength - before.heapLength) * scale))
  store.reserveCells(Math.ceil((store.cellLength - before.cellLength) * scale))
}

/** Symbols are numbered in a byte. */
const MAX_SYMBOLS = 255

function runCursor(
  plan: CursorPlan,
  b: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  count: number,
  store: ColumnStore,
  firstRow: number,
  wanted: WantedKeys,
): number {
  const code = plan.code
  const nulls = store.nulls
  const uint8 = store.uint8
  const int32 = store.int32
  const float64 = store.float64
  const int64 = store.int64
  const bytesOffset = store.bytesOffset
  const bytesLength = store.bytesLength
  const cellStart = store.cellStart
  const cellCount = store.cellCount
  const tuple = store.tuple
  const absent = plan.absent
  let p = start
  let tupleStart = 0
  let x: number
  let n: number
  let r = firstRow
  const last = firstRow + count
  try {
    for (; r < last; r++) {
      nulls[r] = absent
      let q = 0
      for (;;) {
        const op = code[q]
        if (op === OP.END) break
        switch (op) {
          case OP.SKIP_VARINT:
            while (b[p++] > 127);
            q += 1
            break
          case OP.SKIP_FIXED:
            p += code[q + 1]
            q += 2
            break
          case OP.OPTIONAL:
            x = b[p++]!
            if (x === code[q + 1]) {
              nulls[r] = nulls[r] | code[q + 4]
              q = code[q + 3]!
            } else if (x === code[q + 2]) q += 5
            else throw unknownBranch(x, p - 1, end, r)
            break
          case OP.PRESENT:
            x = b[p++]!
            if (x !== code[q + 1]) throw notPresent(plan, q, x, p - 1, end, r)
            q += 3
            break
          case OP.UINT8:
            x = b[p++]!
            if (x > 127 || (x & 1) !== 0)
              throw new CursorFault('a small number is out of range (0 to 63 are possible)', p - 1, r)
            uint8[code[q + 1]][r] = x >>> 1
            q += 2
            break
          case OP.BOOLEAN:
            x = b[p++]!
            if (x > 1) throw new CursorFault(`a boolean is ${x}`, p - 1, r)
            uint8[code[q + 1]][r] = x
            q += 2
            break
          case OP.INT32:
            x = b[p]!
            if (x < 128) {
              int32[code[q + 1]][r] = (x >>> 1) ^ -(x & 1)
              p++
            } else p = readInt32(b, p, end, int32[code[q + 1]], r)
            q += 2
            break
          case OP.FLOAT64:
            x = b[p]!
            if (x < 128) {
              float64[code[q + 1]][r] = (x >>> 1) ^ -(x & 1)
              p++
            } else p = readFloat64(b, p, float64[code[q + 1]], r)
            q += 2
            break
          case OP.INT64:
            p = readInt64(b, p, int64[code[q + 1]], 2 * r)
            q += 2
            break
          case OP.SKIP_BYTES:
          case OP.BYTES:
            x = b[p++]!
            if (x > 127 || (x & 1) !== 0) {
              // Lengths up to 8191 take two bytes.
              n = ((x & 127) | (b[p] << 7)) >>> 1
              if (b[p] < 128 && (x & 1) === 0 && n < end - p) {
                x = n
                p++
              } else {
                x = longLength(b, p - 1, end, r)
                p = VARINT.next | 0
              }
            } else x = x >>> 1
            if (op === OP.SKIP_BYTES) {
              p += x
              q += 1
              break
            }
            if (p + x > end) throw new CursorFault(`a value of ${x} bytes runs past the block`, p, r)
            bytesOffset[code[q + 1]][r] = copyToHeap(b, view, p, x, store)
            bytesLength[code[q + 1]][r] = x
            p += x
            q += 2
            break
          case OP.FIXED:
            x = code[q + 2]!
            if (p + x > end) throw new CursorFault(`a value of ${x} bytes runs past the block`, p, r)
            bytesOffset[code[q + 1]][r] = copyToHeap(b, view, p, x, store)
            bytesLength[code[q + 1]][r] = x
            p += x
            q += 3
            break
          case OP.SYMBOL:
            x = b[p++]!
            if (x > 127 || (x & 1) !== 0) throw new CursorFault('a name is too long', p - 1, r)
            x = x >>> 1
            uint8[code[q + 1]][r] = findSymbol(b, p, x, end, plan.symbols[code[q + 2]], store)
            p += x
            q += 3
            break
          case OP.TUPLE_BEGIN:
            tupleStart = p
            q += 1
            break
          case OP.TUPLE_END:
            if (p > end) throw new CursorFault('the record runs past the block', p, r)
            tuple[r] = store.tuples.intern(b, tupleStart, p)
            q += 1
            break
          case OP.ROWS:
            x = code[q + 1]
            cellStart[x][r] = store.childLength
            p = readRows(plan, b, view, p, end, store, wanted)
            cellCount[x][r] = store.childLength - cellStart[x][r]
            q += 2
            break
          case OP.SKIP_NODE:
            p = skipNode(plan.nodes[code[q + 1]], b, p, end, 0)
            q += 2
            break
          case OP.SKIP_VARINTS:
          case OP.SKIP_NUMBER_MAP:
            // Nearly all are one block of less than 64 items.
            n = b[p]!
            if (n > 1 && n < 128 && (n & 1) === 0) {
              n = n >>> 1
              if (n > end - p - 1)
                throw new CursorFault(`${n} items are claimed in ${end - p - 1} bytes`, p + 1, r)
              p = skipVarints(b, view, p + 1, end, op === OP.SKIP_VARINTS ? n : 2 * n)
            }
            if (b[p] === 0) p++
            else p = readBlocks(plan, q, b, view, p, end, store, r, wanted)
            q += 1
            break
          case OP.KEYED_BYTES:
            n = b[p]!
            if (n > 1 && n < 128 && (n & 1) === 0) {
              n = n >>> 1
              if (n > end - p - 1)
                throw new CursorFault(`${n} items are claimed in ${end - p - 1} bytes`, p + 1, r)
              x = code[q + 1]
              p = readBytesMap(b, view, p + 1, end, n, store, wanted, bytesPlaces[x], x, r)
            }
            if (b[p] === 0) p++
            else p = readBlocks(plan, q, b, view, p, end, store, r, wanted)
            q += 2
            break
          default:
            p = readBlocks(plan, q, b, view, p, end, store, r, wanted)
            q +=
              op === OP.SKIP_BYTES_MAP
                ? 1
                : op >= OP.ODD_KEYED_NUMBERS || op === OP.ODD_NUMBER_MAP || op === OP.ODD_BYTES_MAP
                  ? 3
                  : 2
        }
      }
      if (p > end) throw new CursorFault('the record runs past the block', p, r)
    }
  } catch (fault) {
    if (fault instanceof CursorFault && fault.row < 0) fault.row = r
    throw fault
  }
  return p
}

/** Arrays and maps: blocks of items until a count of zero. `q` is where the operation is. */
function readBlocks(
  plan: CursorPlan,
  q: number,
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  store: ColumnStore,
  r: number,
  wanted: WantedKeys,
): number {
  const { code } = plan
  const op = code[q]
  let p = at
  let n: number
  let x: number
  const bound = op !== OP.SKIP_VARINTS && op !== OP.SKIP_NUMBER_MAP && op !== OP.SKIP_BYTES_MAP
  const first = store.cellLength
  // Which map of its kind has keyed columns, or -1 for one that goes to cells.
  const keyed = op >= OP.KEYED_NUMBERS ? code[q + 1] : -1
  for (;;) {
    n = b[p++]!
    if (n > 127) {
      x = b[p]!
      if (x < 128) {
        n = (n & 127) | (x << 7)
        n = (n >>> 1) ^ -(n & 1)
        p++
      } else {
        if (!readVarint(b, p - 1, end)) throw new CursorFault(OVERLONG, p - 1, r)
        n = VARINT.value
        p = VARINT.next | 0
      }
    } else n = (n >>> 1) ^ -(n & 1)
    if (n === 0) break
    if (n < 0) {
      // A negative count is followed by the size of the block in bytes.
      n = -n
      if (!readVarint(b, p, end)) throw new CursorFault(OVERLONG, p, r)
      x = VARINT.value
      p = VARINT.next | 0
      if (x < 0 || x > end - p) throw new CursorFault(`a block of ${x} bytes runs past its end`, p, r)
      if (!bound) {
        p += x
        continue
      }
    }
    if (n > end - p) throw new CursorFault(`${n} items are claimed in ${end - p} bytes`, p, r)
    switch (op) {
      case OP.SKIP_VARINTS:
        p = skipVarints(b, view, p, end, n)
        break
      case OP.SKIP_NUMBER_MAP:
        p = skipVarints(b, view, p, end, 2 * n)
        break
      case OP.SKIP_BYTES_MAP:
        p = skipBytesMap(b, p, end, n)
        break
      case OP.KEYS:
        p = readKeys(b, p, end, n, store)
        break
      case OP.NUMBERS:
        p = readNumbers(b, p, n, store)
        break
      case OP.NUMBER_MAP:
      case OP.KEYED_NUMBERS:
        p = readNumberMap(b, view, p, end, n, store, wanted, numberPlaces[code[q + 1]], keyed, r)
        break
      case OP.BYTES_MAP:
      case OP.KEYED_BYTES:
        p = readBytesMap(b, view, p, end, n, store, wanted, bytesPlaces[code[q + 1]], keyed, r)
        break
      case OP.ODD_NUMBER_MAP:
      case OP.ODD_BYTES_MAP:
      case OP.ODD_KEYED_NUMBERS:
      case OP.ODD_KEYED_BYTES:
        p = readOddMap(plan.nodes[code[q + 2]], b, view, p, end, n, store, wanted, keyed, r)
        break
      default:
        throw new Error(`Cursor plan holds the unknown operation ${op}`)
    }
    if (p > end) throw new CursorFault('an array runs past the block', p, r)
  }
  if (bound && keyed < 0) {
    const column = code[q + 1]
    store.cellStart[column][r] = first
    store.cellCount[column][r] = store.cellLength - first
  }
  return p
}

/** The fault of a branch byte that is neither of an optional type's two. */
function unknownBranch(byte: number, at: number, end: number, row: number): CursorFault {
  if (at >= end) return new CursorFault('the record runs past the block', at, row)
  return new CursorFault(`a union has no branch ${(byte >>> 1) ^ -(byte & 1)}`, at, row)
}

/** The fault of a `PRESENT` at `q` that read `byte`. */
function notPresent(
  plan: CursorPlan,
  q: number,
  byte: number,
  at: number,
  end: number,
  row: number,
): CursorFault {
  // Branches 0 and 1 are the bytes 0 and 2.
  const nullByte = 2 - plan.code[q + 1]
  if (byte !== nullByte || at >= end) return unknownBranch(byte, at, end, row)
  return new CursorFault(`the required field ${plan.fields[plan.code[q + 2]]} is null`, at, row)
}

function readInt32(b: Uint8Array, at: number, end: number, out: Int32Array, row: number): number {
  if (!readVarint(b, at, end)) throw new CursorFault(OVERLONG, at, row)
  const { value, next } = VARINT
  if (value < -2147483648 || value > 2147483647)
    throw new CursorFault(`the int ${value} does not fit 32 bits`, at, row)
  out[row] = value
  return next
}

/** A long as float64: exact, or a fault. */
function readFloat64(b: Uint8Array, at: number, out: Float64Array, index: number): number {
  let p = at
  let x = b[p++]
  let low = x & 127
  if (x > 127) {
    x = b[p++]!
    low |= (x & 127) << 7
    if (x > 127) {
      x = b[p++]!
      low |= (x & 127) << 14
      if (x > 127) {
        x = b[p++]!
        low |= (x & 127) << 21
        if (x > 127) {
          let high = 0
          let scale = 1
          for (let i = 4; ; i++) {
            if (i === 10) throw new CursorFault(OVERLONG, at)
            x = b[p++]!
            high += (x & 127) * scale
            if (!(x > 127)) break
            scale *= 128
          }
          // Compared in two parts, because their sum is rounded from 2^53 on.
          if (high > 2 ** 26 || (high === 2 ** 26 && low > 0))
            throw new CursorFault('a count or size is beyond 2^53', at)
          const half = (low >>> 1) + high * 134217728
          out[index] = (low & 1) === 1 ? -half - 1 : half
          return p
        }
      }
    }
  }
  out[index] = (low >>> 1) ^ -(low & 1)
  return p
}

/** A long as two 32-bit lanes, low first. */
function readInt64(b: Uint8Array, at: number, out: Int32Array, index: number): number {
  let p = at
  let x = b[p++]
  let low = x & 127
  let high = 0
  if (x > 127) {
    x = b[p++]!
    low |= (x & 127) << 7
    if (x > 127) {
      x = b[p++]!
      low |= (x & 127) << 14
      if (x > 127) {
        x = b[p++]!
        low |= (x & 127) << 21
        if (x > 127) {
          x = b[p++]!
          low |= (x & 127) << 28
          high = (x & 127) >>> 4
          if (x > 127) {
            x = b[p++]!
            high |= (x & 127) << 3
            if (x > 127) {
              x = b[p++]!
              high |= (x & 127) << 10
              if (x > 127) {
                x = b[p++]!
                high |= (x & 127) << 17
                if (x > 127) {
                  x = b[p++]!
                  high |= (x & 127) << 24
                  if (x > 127) {
                    x = b[p++]!
                    if (x > 1) throw new CursorFault('a number does not fit 64 bits', at)
                    high |= x << 31
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  // Undo the zig-zag over both lanes.
  const sign = -(low & 1)
  out[index] = ((low >>> 1) | (high << 31)) ^ sign
  out[index + 1] = (high >>> 1) ^ sign
  return p
}

/** Copies to the heap, four bytes at a time; gives the offset. The bytes have been checked to be in the block. */
function copyToHeap(b: Uint8Array, view: DataView, at: number, length: number, store: ColumnStore): number {
  const offset = store.heapLength
  if (offset + length > store.heap.length) store.reserveHeap(length)
  if (length >= 4) {
    const heap = store.heapView
    const shift = offset - at
    const last = at + length - 4
    for (let p = at; p < last; p += 4) heap.setInt32(p + shift, view.getInt32(p, true), true)
    // The last four overlap those before.
    heap.setInt32(last + shift, view.getInt32(last, true), true)
  } else {
    const { heap } = store
    for (let i = 0; i < length; i++) heap[offset + i] = b[at + i]
  }
  store.heapLength = offset + length
  return offset
}

function findSymbol(
  b: Uint8Array,
  at: number,
  length: number,
  end: number,
  symbols: readonly Uint8Array[],
  store: ColumnStore,
): number {
  for (let s = 0; s < symbols.length; s++) {
    const symbol = symbols[s]
    if (symbol.length !== length) continue
    let i = 0
    while (i < length && (b[at + i] | 0x20) === symbol[i]) i++
    if (i === length) return s
  }
  if (at + length > end) throw new CursorFault(`a name of ${length} bytes runs past the block`, at)
  const name = Buffer.from(b.subarray(at, at + length))
    .toString('utf8')
    .toLowerCase()
  const known = store.otherSymbols.indexOf(name)
  const other = symbols.length + (known >= 0 ? known : store.otherSymbols.push(name) - 1)
  if (other > MAX_SYMBOLS) throw new CursorFault(`there are more than ${MAX_SYMBOLS} different names`, at)
  return other
}

/** Skips n varints, four bytes at a time: each byte without its high bit ends one. */
function skipVarints(b: Uint8Array, view: DataView, at: number, end: number, count: number): number {
  let p = at
  let n = count
  const last = end - 4
  while (n >= 4 && p <= last) {
    const ends = (~view.getInt32(p, true) >>> 7) & 0x01010101
    n -= Math.imul(ends, 0x01010101) >>> 24
    p += 4
  }
  while (n > 0) {
    if (p >= end) throw new CursorFault('an array runs past the block', p)
    n -= (b[p++] >>> 7) ^ 1
  }
  return p
}

function skipBytesMap(b: Uint8Array, at: number, end: number, count: number): number {
  let p = at
  for (let n = count; n > 0; n--) {
    while (b[p++] > 127);
    let x = b[p++]
    if (x > 127 || (x & 1) !== 0) {
      x = longLength(b, p - 1, end, -1)
      p = VARINT.next | 0
    } else x = x >>> 1
    p += x
    if (p > end) throw new CursorFault('a map runs past the block', p)
  }
  return p
}

function readKeys(b: Uint8Array, at: number, end: number, count: number, store: ColumnStore): number {
  store.reserveCells(count)
  let p = at
  for (let n = count; n > 0; n--) p = readInt32(b, p, end, store.cellKey, store.cellLength++)
  return p
}

function readNumbers(b: Uint8Array, at: number, count: number, store: ColumnStore): number {
  store.reserveCells(count)
  let p = at
  for (let n = count; n > 0; n--) p = readFloat64(b, p, store.cellFloat, store.cellLength++)
  return p
}

/** The slot of a key, or -1 if it is not wanted; where all are, they have none. */
/** A map key of more than one byte: gives it, and leaves the position behind it in VARINT. */
function longKey(b: Uint8Array, at: number, end: number): number {
  if (!readVarint(b, at, end)) throw new CursorFault(OVERLONG, at)
  const key = VARINT.value
  if (key !== (key | 0)) throw new CursorFault(`the key ${key} does not fit 32 bits`, at)
  return key
}

/** More wanted keys than this are looked for one by one in each map. */
const MAX_PLACES = 8

/** Where the wanted keys were among the pairs of a column's last map, if it had them all: the next one is alike. */
interface KeyPlaces {
  /** Pairs of that map; -1 when nothing is known. */
  pairs: number
  found: number
  readonly places: Int32Array
  readonly keys: Int32Array
}

/**
 * By column, of cells or of keyed maps of the kind: a plan has either. They last for one block, so that what is read of a
 * file depends on nothing but the file.
 */
const numberPlaces: KeyPlaces[] = []
const bytesPlaces: KeyPlaces[] = []

function forgetPlaces({ layout: { cells, keyed } }: ColumnStore): void {
  const columns = Math.max(cells.length, keyed.numbers.length, keyed.bytes.length)
  for (const places of [numberPlaces, bytesPlaces]) {
    for (const known of places) known.pairs = -1
    while (places.length < columns) {
      const [at, keys] = [new Int32Array(MAX_PLACES), new Int32Array(MAX_PLACES)]
      places.push({ pairs: -1, found: 0, places: at, keys })
    }
  }
}

/** Where not all wanted keys were found, the next map may have more of them. */
function rememberPlaces(known: KeyPlaces, found: number, pairs: number, wanted: WantedKeys): void {
  known.found = found
  known.pairs = found === wanted.count && found <= MAX_PLACES ? pairs : -1
}

function readNumberMap(
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  count: number,
  store: ColumnStore,
  wanted: WantedKeys,
  known: KeyPlaces,
  keyed: number,
  row: number,
): number {
  if (known.pairs === count) {
    const p = readNumbersAtPlaces(b, view, at, end, count, store, wanted, known, keyed, row)
    if (p >= 0) return p
  }
  const { mayBegin } = wanted
  let found = 0
  let p = at
  for (let n = count; n > 0; n--) {
    if (mayBegin[b[p]] === 0) {
      while (b[p++] > 127);
      while (b[p++] > 127);
      if (p > end) throw new CursorFault('a map runs past the block', p)
      continue
    }
    let key = b[p++]
    if (key > 127) {
      // Columns 64 to 8191 take two bytes.
      const second = b[p]
      if (second < 128) {
        p++
        key = (key & 127) | (second << 7)
        key = (key >>> 1) ^ -(key & 1)
      } else {
        key = longKey(b, p - 1, end)
        p = VARINT.next | 0
      }
    } else key = (key >>> 1) ^ -(key & 1)
    const slot = slotOf(key, wanted)
    if (slot < 0) {
      while (b[p++] > 127);
    } else {
      p = keyed < 0 ? putNumber(b, p, key, store) : putKeyedNumber(b, p, keyed, slot, store, row)
      if (found < MAX_PLACES) {
        known.places[found] = count - n
        known.keys[found] = key
      }
      found++
    }
    if (p > end) throw new CursorFault('a map runs past the block', p)
  }
  rememberPlaces(known, found, count, wanted)
  return p
}

/**
 * Reads the pairs of a map at the places where the last one had the wanted keys, and passes over the others without
 * a look. Of a repeated key, which no map should have, another than the last value may be found.
 *
 * @returns where the map goes on, or -1 when another key is in one of the places; then nothing was read
 */
function readNumbersAtPlaces(
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  count: number,
  store: ColumnStore,
  wanted: WantedKeys,
  { found, places, keys }: KeyPlaces,
  keyed: number,
  row: number,
): number {
  const { cellLength } = store
  let p = at
  let pair = 0
  for (let i = 0; i < found; i++) {
    p = passKey(b, skipVarints(b, view, p, end, 2 * (places[i] - pair)), end, keys[i])
    if (p < 0) {
      // What went into keyed columns already is read again: those keys are in this map.
      store.cellLength = cellLength
      return -1
    }
    p =
      keyed < 0
        ? putNumber(b, p, keys[i], store)
        : putKeyedNumber(b, p, keyed, slotOf(keys[i], wanted), store, row)
    pair = places[i] + 1
  }
  return skipVarints(b, view, p, end, 2 * (count - pair))
}

/** The position behind a key, or -1 if another one is there. Keys may be written in more bytes than they need. */
function passKey(b: Uint8Array, at: number, end: number, key: number): number {
  const zigzag = ((key << 1) ^ (key >> 31)) >>> 0
  if (zigzag < 128 && b[at] === zigzag) return at + 1
  return readVarint(b, at, end) && VARINT.value === key ? VARINT.next : -1
}

/** As {@link readNumbersAtPlaces}. */
function readBytesAtPlaces(
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  count: number,
  store: ColumnStore,
  wanted: WantedKeys,
  { found, places, keys }: KeyPlaces,
  keyed: number,
  row: number,
): number {
  const { cellLength, heapLength } = store
  let p = at
  let pair = 0
  for (let i = 0; i < found; i++) {
    p = passKey(b, skipBytesMap(b, p, end, places[i] - pair), end, keys[i])
    if (p < 0) {
      store.cellLength = cellLength
      store.heapLength = heapLength
      return -1
    }
    let length = b[p++]
    if (length > 127 || (length & 1) !== 0) {
      length = longLength(b, p - 1, end, -1)
      p = VARINT.next | 0
    } else length = length >>> 1
    if (!(p + length <= end)) throw new CursorFault(`a value of ${length} bytes runs past the block`, p)
    if (keyed < 0) putBytes(b, view, p, length, keys[i], store)
    else putKeyedBytes(b, view, p, length, keyed, slotOf(keys[i], wanted), store, row)
    p += length
    pair = places[i] + 1
  }
  return skipBytesMap(b, p, end, count - pair)
}

function readBytesMap(
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  count: number,
  store: ColumnStore,
  wanted: WantedKeys,
  known: KeyPlaces,
  keyed: number,
  row: number,
): number {
  if (known.pairs === count) {
    const p = readBytesAtPlaces(b, view, at, end, count, store, wanted, known, keyed, row)
    if (p >= 0) return p
  }
  const { mayBegin } = wanted
  let found = 0
  let p = at
  for (let n = count; n > 0; n--) {
    const isSkipped = mayBegin[b[p]] === 0
    let key = b[p++]
    if (isSkipped) {
      if (key > 127) while (b[p++] > 127);
    } else if (key > 127) {
      // Columns 64 to 8191 take two bytes.
      const second = b[p]
      if (second < 128) {
        p++
        key = (key & 127) | (second << 7)
        key = (key >>> 1) ^ -(key & 1)
      } else {
        key = longKey(b, p - 1, end)
        p = VARINT.next | 0
      }
    } else key = (key >>> 1) ^ -(key & 1)
    let x = b[p++]
    if (x > 127 || (x & 1) !== 0) {
      x = longLength(b, p - 1, end, -1)
      p = VARINT.next | 0
    } else x = x >>> 1
    if (p + x > end) throw new CursorFault(`a value of ${x} bytes runs past the block`, p)
    const slot = isSkipped ? -1 : slotOf(key, wanted)
    if (slot >= 0) {
      if (keyed < 0) putBytes(b, view, p, x, key, store)
      else putKeyedBytes(b, view, p, x, keyed, slot, store, row)
      if (found < MAX_PLACES) {
        known.places[found] = count - n
        known.keys[found] = key
      }
      found++
    }
    p += x
  }
  rememberPlaces(known, found, count, wanted)
  return p
}

/** Appends one cell with a number; gives the position behind it. */
function putNumber(b: Uint8Array, at: number, key: number, store: ColumnStore): number {
  store.reserveCells(1)
  const cell = store.cellLength++
  store.cellKey[cell] = key
  return readFloat64(b, at, store.cellFloat, cell)
}

const NUMBER = new Float64Array(1)
const MAX_KEYED_NUMBER = 2 ** 32 - 1

function putKeyedNumber(
  b: Uint8Array,
  at: number,
  map: number,
  slot: number,
  store: ColumnStore,
  row: number,
): number {
  const next = readFloat64(b, at, NUMBER, 0)
  const value = NUMBER[0]
  const isKept = value >= 0 && value < MAX_KEYED_NUMBER
  store.keyedNumbers[map * store.layout.keyed.slots + slot][row] = isKept ? value + 1 : 0
  return next
}

/** Appends one cell with a byte value: in the cell itself up to eight bytes, else in the heap. */
function putBytes(
  b: Uint8Array,
  view: DataView,
  at: number,
  length: number,
  key: number,
  store: ColumnStore,
): void {
  store.reserveCells(1)
  const cell = store.cellLength++
  store.cellKey[cell] = key
  store.cellTag[cell] = length > 8 ? CELL_IN_HEAP : length
  putLanes(b, view, at, length, store.cellLanes, cell, store)
}

function putKeyedBytes(
  b: Uint8Array,
  view: DataView,
  at: number,
  length: number,
  map: number,
  slot: number,
  store: ColumnStore,
  row: number,
): void {
  const column = map * store.layout.keyed.slots + slot
  store.keyedTags[column][row] = length > 8 ? CELL_IN_HEAP : length + 1
  putLanes(b, view, at, length, store.keyedLanes[column], row, store)
}

/** A byte value in two lanes: itself, little end first, or where it is in the heap. */
function putLanes(
  b: Uint8Array,
  view: DataView,
  at: number,
  length: number,
  lanes: Int32Array,
  index: number,
  store: ColumnStore,
): void {
  if (length > 8) {
    lanes[2 * index] = copyToHeap(b, view, at, length, store)
    lanes[2 * index + 1] = length
    return
  }
  if (length === 8) {
    lanes[2 * index] = view.getInt32(at, true)
    lanes[2 * index + 1] = view.getInt32(at + 4, true)
    return
  }
  let low = 0
  let high = 0
  for (let i = 0; i < length; i++) {
    if (i < 4) low |= b[at + i] << (8 * i)
    else high |= b[at + i] << (8 * (i - 4))
  }
  lanes[2 * index] = low
  lanes[2 * index + 1] = high
}

/**
 * Key-value records with the value first, with optional parts or more fields, or that may be null themselves: by a
 * walk over their schema.
 */
function readOddMap(
  items: AvroSchema,
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  count: number,
  store: ColumnStore,
  wanted: WantedKeys,
  keyed: number,
  row: number,
): number {
  const pair = pairOf(items)
  if (pair === undefined) throw new Error('Cursor plan holds a map without key and value')
  const keyAt = keyPosition(pair)
  let p = at
  for (let n = count; n > 0; n--) {
    const item = branch(items, b, p, end)
    p = item.at
    if (item.type.type === 'null') continue
    let key = 0
    let valueAt = -1
    let valueType: AvroSchema | undefined
    for (let f = 0; f < pair.fields.length; f++) {
      const type = pair.fields[f].type
      const from = branch(type, b, p, end)
      if (f === keyAt) {
        if (from.type.type === 'null') throw new CursorFault('a map has an item without a key', p)
        key = longKey(b, from.at, end)
      } else if (f === 1 - keyAt && from.type.type !== 'null') {
        valueAt = from.at
        valueType = from.type
      }
      p = skipNode(type, b, p, end, 0)
    }
    if (p > end) throw new CursorFault('a map runs past the block', p)
    const slot = slotOf(key, wanted)
    if (valueType === undefined || slot < 0) continue
    if (valueType.type === 'int' || valueType.type === 'long') {
      if (keyed < 0) putNumber(b, valueAt, key, store)
      else putKeyedNumber(b, valueAt, keyed, slot, store, row)
      continue
    }
    let length: number
    if (valueType.type === 'fixed') length = valueType.size
    else {
      length = longLength(b, valueAt, end, -1)
      valueAt = VARINT.next
    }
    if (keyed < 0) putBytes(b, view, valueAt, length, key, store)
    else putKeyedBytes(b, view, valueAt, length, keyed, slot, store, row)
  }
  return p
}

/** The items of an array of records, as rows of the child store. */
function readRows(
  plan: CursorPlan,
  b: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  parent: ColumnStore,
  wanted: WantedKeys,
): number {
  const { child } = parent
  if (child === undefined || plan.child === undefined)
    throw new Error('Cursor plan has child rows, its store has none')
  let p = at
  for (;;) {
    if (!readVarint(b, p, end)) throw new CursorFault(OVERLONG, p)
    let n = VARINT.value
    p = VARINT.next | 0
    if (n === 0) return p
    if (n < 0) {
      n = -n
      if (!readVarint(b, p, end)) throw new CursorFault(OVERLONG, p)
      p = VARINT.next | 0
    }
    if (n > end - p) throw new CursorFault(`${n} items are claimed in ${end - p} bytes`, p)
    child.reserveRows(parent.childLength + n)
    try {
      p = runCursor(plan.child, b, view, p, end, n, child, parent.childLength, wanted)
    } catch (fault) {
      // Messages count the records of the file, not those inside of one.
      if (fault instanceof CursorFault) fault.row = -1
      throw fault
    }
    parent.childLength += n
  }
}
