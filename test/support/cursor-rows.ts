/**
 * Files through the cursor and back to plain values, for tests: field bindings in short form, a layout made from
 * them, and every row as an object by field name.
 *
 * | sink                  | value                                                    |
 * | --------------------- | -------------------------------------------------------- |
 * | uint8, int32, float64 | number                                                   |
 * | int64                 | bigint                                                   |
 * | bytes                 | hex digits                                               |
 * | symbol                | the symbol, or the other name in lower case              |
 * | keys, numbers         | array of number                                          |
 * | number-map            | array of [key, number]                                   |
 * | bytes-map             | array of [key, hex digits]                               |
 * | keyed                 | by slot: number or hex digits, null where there is none  |
 * | tuple                 | number of the raw encoding                               |
 * | record, rows          | object, array of objects                                 |
 */
import { readHeader, openContainer } from '../../src/avro/container.ts'
import { parseCodec } from '../../src/avro/codecs.ts'
import { CELL_IN_HEAP, ColumnStore, NOT_KEYED, type ColumnLayout } from '../../src/avro/column-store.ts'
import { decodeBlocks } from '../../src/avro/cursor.ts'
import {
  compileCursorPlan,
  type CursorPlan,
  type FieldBinding,
  type Sink,
} from '../../src/avro/cursor-plan.ts'
import { fieldIdCoverage, parseAvroSchema } from '../../src/avro/schema.ts'
import { drained } from '../../src/avro/steps.ts'
import { wantedKeys } from '../../src/avro/wanted-keys.ts'

export type Row = Record<string, unknown>

/** A binding whose only name is `name`; `nullBit` -1 is required. */
export function bind(id: number, name: string, sink: Sink, nullBit = -1): FieldBinding {
  return { id, names: [name], sink, nullBit }
}

export interface DecodeOptions {
  /** Default all. */
  wanted?: 'all' | readonly number[]
  /** Rows that the store holds already; default 0. */
  firstRow?: number
  /** Default a fresh one. */
  store?: ColumnStore
  location?: string
}

export interface DecodedFile {
  readonly count: number
  readonly store: ColumnStore
  readonly plan: CursorPlan
  readonly rows: Row[]
}

/** Decodes a whole file; fields are found by name if its schema has no ids. */
export function decodeFile(
  file: Uint8Array,
  bindings: readonly FieldBinding[],
  options: DecodeOptions = {},
): DecodedFile {
  const { firstRow = 0, location = 'test.avro' } = options
  const container = openContainer(file, location)
  const header = readHeader(container)
  const schema = parseAvroSchema(header.get('avro.schema') ?? new Uint8Array(0), location)
  const plan = compileCursorPlan(schema, bindings, fieldIdCoverage(schema) === 'none', location)
  const wanted = wantedKeys(options.wanted ?? 'all')
  const store = options.store ?? new ColumnStore(layoutOf(bindings, Math.max(0, wanted.count)))
  const codec = parseCodec(header.get('avro.codec'), location)
  const count = drained(decodeBlocks(container, codec, plan, store, firstRow, wanted))
  const rows: Row[] = []
  for (let row = firstRow; row < firstRow + count; row++) rows.push(readRow(store, bindings, row))
  return { count, store, plan, rows }
}

const KINDS = ['uint8', 'int32', 'float64', 'int64', 'bytes', 'cells'] as const

/** A layout with exactly the columns that the bindings name. */
export function layoutOf(bindings: readonly FieldBinding[], slots = 0): ColumnLayout {
  const columns = { uint8: [], int32: [], float64: [], int64: [], bytes: [], cells: [] } as Record<
    (typeof KINDS)[number],
    boolean[]
  >
  const keyed = { numbers: [] as boolean[], bytes: [] as boolean[] }
  let tuple = false
  let child: ColumnLayout | undefined
  const visit = ({ sink }: FieldBinding): void => {
    switch (sink.kind) {
      case 'tuple':
        tuple = true
        return
      case 'record':
        sink.fields.forEach(visit)
        return
      case 'rows':
        columns.cells[sink.column] = true
        child = layoutOf(sink.fields)
        return
      case 'symbol':
        columns.uint8[sink.column] = true
        return
      case 'keyed':
        keyed[sink.of === 'number-map' ? 'numbers' : 'bytes'][sink.column] = true
        return
      default:
        columns[sink.kind][sink.column] = true
    }
  }
  bindings.forEach(visit)
  for (const kind of KINDS)
    columns[kind] = Array.from(columns[kind], (filled: boolean | undefined) => filled === true)
  return { ...columns, cellKeys: true, tuple, child, keyed: slots === 0 ? NOT_KEYED : { slots, ...keyed } }
}

/** One row as an object; null where the column's bit is set. */
export function readRow(store: ColumnStore, bindings: readonly FieldBinding[], row: number): Row {
  const object: Row = {}
  for (const binding of bindings) object[binding.names[0]] = readValue(store, binding, row)
  return object
}

function readValue(store: ColumnStore, { sink, nullBit }: FieldBinding, row: number): unknown {
  if (nullBit >= 0 && ((store.nulls[row] >>> nullBit) & 1) === 1) return null
  switch (sink.kind) {
    case 'uint8':
      return store.uint8[sink.column][row]
    case 'int32':
      return store.int32[sink.column][row]
    case 'float64':
      return store.float64[sink.column][row]
    case 'int64':
      return new BigInt64Array(store.int64[sink.column].buffer)[row]
    case 'bytes':
      return hex(store.heap, store.bytesOffset[sink.column][row], store.bytesLength[sink.column][row])
    case 'symbol': {
      const number = store.uint8[sink.column][row]
      return sink.symbols[number] ?? store.otherSymbols[number - sink.symbols.length]
    }
    case 'cells':
      return readCells(store, sink.of, store.cellStart[sink.column][row], store.cellCount[sink.column][row])
    case 'keyed':
      return Array.from({ length: store.layout.keyed.slots }, (_, slot) =>
        readKeyed(store, sink.of, sink.column * store.layout.keyed.slots + slot, row),
      )
    case 'tuple':
      return store.tuple[row]
    case 'record':
      return readRow(store, sink.fields, row)
    case 'rows': {
      const first = store.cellStart[sink.column][row]
      return Array.from({ length: store.cellCount[sink.column][row] }, (_, i) =>
        readRow(store.child!, sink.fields, first + i),
      )
    }
  }
}

type CellsOf = Extract<Sink, { kind: 'cells' }>['of']

function readCells(store: ColumnStore, of: CellsOf, first: number, count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => {
    const cell = first + i
    switch (of) {
      case 'keys':
        return store.cellKey[cell]
      case 'numbers':
        return store.cellFloat[cell]
      case 'number-map':
        return [store.cellKey[cell], store.cellFloat[cell]]
      case 'bytes-map':
        return [store.cellKey[cell], cellHex(store, cell)]
    }
  })
}

function readKeyed(store: ColumnStore, of: 'number-map' | 'bytes-map', column: number, row: number): unknown {
  if (of === 'number-map') {
    const value = store.keyedNumbers[column][row]
    return value === 0 ? null : value - 1
  }
  const tag = store.keyedTags[column][row]
  const lanes = store.keyedLanes[column]
  if (tag === 0) return null
  if (tag === CELL_IN_HEAP) return hex(store.heap, lanes[2 * row] >>> 0, lanes[2 * row + 1] >>> 0)
  return hex(new Uint8Array(lanes.buffer, lanes.byteOffset), 8 * row, tag - 1)
}

function cellHex(store: ColumnStore, cell: number): string {
  const tag = store.cellTag[cell]
  if (tag === CELL_IN_HEAP)
    return hex(store.heap, store.cellLanes[2 * cell] >>> 0, store.cellLanes[2 * cell + 1] >>> 0)
  const lanes = new Uint8Array(store.cellLanes.buffer)
  const padding = lanes.subarray(8 * cell + tag, 8 * cell + 8)
  if (padding.some((byte) => byte !== 0)) throw new Error(`cell ${cell} is not padded with zeros`)
  return hex(lanes, 8 * cell, tag)
}

function hex(bytes: Uint8Array, offset: number, length: number): string {
  return Buffer.from(bytes.subarray(offset, offset + length)).toString('hex')
}
