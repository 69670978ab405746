/**
 * The metrics of single columns, by row: views of the keyed columns of a store. What a filter looks at, and what is added
 * to a batch when another filter looks at more.
 */
import type { ColumnStore } from '../avro/column-store.ts'
import type { BoundVector, MetricVector, MetricVectors } from '../expressions/column-metrics.ts'
import { COLUMN, KEYED_MAP, type ReadFields } from './entry-fields.ts'

/** A column's metrics with the bytes behind its bounds. */
export interface MetricColumn extends MetricVector {
  readonly lower: BoundColumn
  readonly upper: BoundColumn
}

export interface BoundColumn extends BoundVector {
  /** The lanes as bytes: bounds of up to eight. */
  readonly laneBytes: Uint8Array
  /** Where the others are. */
  readonly heap: Uint8Array
}

/** The metrics of all rows of a batch. */
export interface EntryVectors extends MetricVectors {
  readonly columns: ReadonlyMap<number, MetricColumn>
}

/** `undefined` for a store whose metrics are in maps. */
export function vectorsOf(
  store: ColumnStore,
  { metricColumns }: ReadFields,
  rowCount: number,
): EntryVectors | undefined {
  if (metricColumns === undefined) return undefined
  const { slots } = store.layout.keyed
  const numbers = (map: number, slot: number): Uint32Array => store.keyedNumbers[map * slots + slot]
  const bounds = (map: number, slot: number): BoundColumn => {
    const lanes = store.keyedLanes[map * slots + slot]
    return {
      tags: store.keyedTags[map * slots + slot],
      lanes,
      laneBytes: new Uint8Array(lanes.buffer, lanes.byteOffset, lanes.byteLength),
      heap: store.heap,
    }
  }
  const columns = new Map(
    metricColumns.map((id, slot): [number, MetricColumn] => [
      id,
      {
        valueCounts: numbers(KEYED_MAP.numbers.valueCounts, slot),
        nullValueCounts: numbers(KEYED_MAP.numbers.nullValueCounts, slot),
        nanValueCounts: numbers(KEYED_MAP.numbers.nanValueCounts, slot),
        lower: bounds(KEYED_MAP.bytes.lowerBounds, slot),
        upper: bounds(KEYED_MAP.bytes.upperBounds, slot),
      },
    ]),
  )
  return { length: rowCount, recordCounts: store.float64[COLUMN.float64.recordCount], columns }
}
