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

type CellColumn = keyof typeof COLUMN.cells & NullableColumn

export class BatchMetrics implements ColumnMetrics {
  /** The row that the answers are about; to be set before anything is asked. */
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
