/** Column metrics of a file as a test states them. */
import type { ByteSlot, ColumnMetrics } from '../../src/expressions/column-metrics.ts'

/** What is left out is not known. */
export interface StatedColumn {
  values?: number
  nulls?: number
  nans?: number
  lower?: Uint8Array
  upper?: Uint8Array
}

/** Bounds lie in the middle of other bytes, as in a batch, so that a wrong offset does not go unnoticed. */
export function statedMetrics(
  recordCount: number,
  columns: Readonly<Partial<Record<number, StatedColumn>>> = {},
): ColumnMetrics {
  const point = (bound: Uint8Array | undefined, slot: ByteSlot): boolean => {
    if (bound === undefined) return false
    const bytes = new Uint8Array(bound.length + 14).fill(0xa5)
    bytes.set(bound, 7)
    Object.assign(slot, { bytes, offset: 7, length: bound.length })
    return true
  }
  return {
    recordCount,
    valueCount: (id) => columns[id]?.values ?? -1,
    nullValueCount: (id) => columns[id]?.nulls ?? -1,
    nanValueCount: (id) => columns[id]?.nans ?? -1,
    lowerBound: (id, slot) => point(columns[id]?.lower, slot),
    upperBound: (id, slot) => point(columns[id]?.upper, slot),
  }
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
}
