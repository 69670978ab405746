/**
 * The column metrics of an entry batch, one row at a time: one object serves all rows, for there may be millions.
 *
 * Of a repeated key, which no map should have, the last value that was read counts, as in the maps of
 * {@link EntryBatch}; where few columns are wanted, that need not be the last one in the file.
 */
import type { ByteSlot, ColumnMetrics } from '../expressions/column-metrics.ts'
import { CELL_IN_HEAP } from '../avro/column-store.ts'
import type { EntryBatch, NullableColumn } from './entry-batch.ts'
import { COLUMN } from './entry-fields.ts'
import type { BoundColumn, MetricColumn } from './metric-column.ts'

/** Metrics of the row that `row` names; to be set before anything is asked. */
export interface RowMetrics extends ColumnMetrics {
  row: number
}

/** The metrics of a batch, however it keeps them. */
export function batchMetrics(batch: EntryBatch): RowMetrics {
  const { vectors } = batch
  return vectors === undefined ? new MapMetrics(batch) : new ColumnarMetrics(batch, vectors.columns)
}

/** Out of columns, one per field id. */
class ColumnarMetrics implements RowMetrics {
  row = 0
  readonly #batch: EntryBatch
  readonly #columns: ReadonlyMap<number, MetricColumn>

  constructor(batch: EntryBatch, columns: ReadonlyMap<number, MetricColumn>) {
    this.#batch = batch
    this.#columns = columns
  }

  get recordCount(): number {
    return this.#batch.recordCount(this.row)
  }

  valueCount(fieldId: number): number {
    return this.#count(this.#columns.get(fieldId)?.valueCounts)
  }

  nullValueCount(fieldId: number): number {
    return this.#count(this.#columns.get(fieldId)?.nullValueCounts)
  }

  nanValueCount(fieldId: number): number {
    return this.#count(this.#columns.get(fieldId)?.nanValueCounts)
  }

  lowerBound(fieldId: number, slot: ByteSlot): boolean {
    return this.#bound(this.#columns.get(fieldId)?.lower, slot)
  }

  upperBound(fieldId: number, slot: ByteSlot): boolean {
    return this.#bound(this.#columns.get(fieldId)?.upper, slot)
  }

  #count(counts: Uint32Array | undefined): number {
    return counts === undefined || this.row >= counts.length ? -1 : counts[this.row] - 1
  }

  #bound(bounds: BoundColumn | undefined, slot: ByteSlot): boolean {
    if (bounds === undefined || this.row >= bounds.tags.length) return false
    const tag = bounds.tags[this.row]
    if (tag === 0) return false
    if (tag === CELL_IN_HEAP) {
      slot.bytes = bounds.heap
      slot.offset = bounds.lanes[2 * this.row] >>> 0
      slot.length = bounds.lanes[2 * this.row + 1] >>> 0
    } else {
      slot.bytes = bounds.laneBytes
      slot.offset = 8 * this.row
      slot.length = tag - 1
    }
    return true
  }
}

type CellColumn = keyof typeof COLUMN.cells & NullableColumn

/** Out of the maps of the rows. */
class MapMetrics implements RowMetrics {
  row = 0
  readonly #batch: EntryBatch
  readonly #lanes: Uint8Array

  constructor(batch: EntryBatch) {
    this.#batch = batch
    const { cellLanes } = batch.store
    this.#lanes = new Uint8Array(cellLanes.buffer, cellLanes.byteOffset, cellLanes.byteLength)
  }

  get recordCount(): number {
    return this.#batch.recordCount(this.row)
  }

  valueCount(fieldId: number): number {
    return this.#count('valueCounts', fieldId)
  }

  nullValueCount(fieldId: number): number {
    return this.#count('nullValueCounts', fieldId)
  }

  nanValueCount(fieldId: number): number {
    return this.#count('nanValueCounts', fieldId)
  }

  lowerBound(fieldId: number, slot: ByteSlot): boolean {
    return this.#bound('lowerBounds', fieldId, slot)
  }

  upperBound(fieldId: number, slot: ByteSlot): boolean {
    return this.#bound('upperBounds', fieldId, slot)
  }

  /** A negative count says nothing. */
  #count(column: CellColumn, fieldId: number): number {
    const cell = this.#find(column, fieldId)
    return cell < 0 ? -1 : Math.max(-1, this.#batch.store.cellFloat[cell])
  }

  #bound(column: CellColumn, fieldId: number, slot: ByteSlot): boolean {
    const cell = this.#find(column, fieldId)
    if (cell < 0) return false
    const { cellTag, cellLanes, heap } = this.#batch.store
    const tag = cellTag[cell]
    if (tag === CELL_IN_HEAP) {
      slot.bytes = heap
      slot.offset = cellLanes[2 * cell] >>> 0
      slot.length = cellLanes[2 * cell + 1] >>> 0
    } else {
      slot.bytes = this.#lanes
      slot.offset = 8 * cell
      slot.length = tag
    }
    return true
  }

  /** The cell of a column's value in this row, or -1. */
  #find(column: CellColumn, fieldId: number): number {
    if (this.#batch.isNull(this.row, column)) return -1
    const { cellStart, cellCount, cellKey } = this.#batch.store
    const first = cellStart[COLUMN.cells[column]][this.row]
    for (let cell = first + cellCount[COLUMN.cells[column]][this.row] - 1; cell >= first; cell--)
      if (cellKey[cell] === fieldId) return cell
    return -1
  }
}
