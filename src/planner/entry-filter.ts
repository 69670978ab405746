/**
 * The filter at work on entries, in whichever thread decodes: first the partition tuple, once per distinct tuple, then
 * the column metrics (R4.20 to R4.23). What is dropped is proved not to match; all else stays.
 */
import type { BoundExpression } from '../expressions/bound-expression.ts'
import type { ByteSlot, ColumnMetrics } from '../expressions/column-metrics.ts'
import { compileMetricsFilter, type MetricsFilter } from '../expressions/metrics-evaluator.ts'
import { compileVectorFilter, VERDICT as OF_FILE, type VectorFilter } from '../expressions/vector-filter.ts'
import { compilePartitionFilter, type PartitionFilter } from '../expressions/partition-evaluator.ts'
import type { PartitionExpression } from '../expressions/partition-expression.ts'
import { batchMetrics, type RowMetrics } from '../manifest/batch-metrics.ts'
import type { BatchSegment, EntryBatch } from '../manifest/entry-batch.ts'
import { FileContent } from '../manifest/entry-batch.ts'
import { COLUMN } from '../manifest/entry-fields.ts'
import { decodePartitionKey } from '../manifest/partition-key.ts'

/** A filter as plain data. */
export interface EntryFilterSource {
  readonly bound: BoundExpression
  /** What it says of partitions, by spec id; of specs that are not there, nothing. */
  readonly partitions: ReadonlyMap<number, PartitionExpression>
  /** `deletes`: of an equality delete file only the metrics of its key columns are believed (R7.4). */
  readonly of: 'data' | 'deletes'
}

export class EntryFilter {
  readonly #metrics: MetricsFilter
  readonly #vectors: VectorFilter
  readonly #partitions: ReadonlyMap<number, PartitionFilter>
  readonly #ofDeletes: boolean

  constructor({ bound, partitions, of }: EntryFilterSource) {
    this.#metrics = compileMetricsFilter(bound)
    this.#vectors = compileVectorFilter(bound)
    this.#ofDeletes = of === 'deletes'
    const undecided = [...partitions].filter(([, expression]) => expression.op !== 'true')
    this.#partitions = new Map(
      undecided.map(([specId, expression]) => [specId, compilePartitionFilter(expression)]),
    )
  }

  /** The live rows that may match, ascending. */
  select(batch: EntryBatch): Uint32Array {
    const { liveRows } = batch
    const selected = new Uint32Array(liveRows.length)
    const rowMetrics = batchMetrics(batch)
    const metrics = this.#ofDeletes ? new KeyMetrics(batch, rowMetrics) : rowMetrics
    const files = this.#verdicts(batch)
    let count = 0
    let at = 0
    let verdicts = new Verdicts(batch.partitionKeys.count)
    for (const segment of batch.segments) {
      const partition = this.#partitions.get(segment.partitionType.specId)
      const end = segment.firstRow + segment.rowCount
      // Under a spec of which the file lacks a field, an equal tuple says less.
      if (segment.missingPartitionFields.length > 0) verdicts = new Verdicts(batch.partitionKeys.count)
      for (; at < liveRows.length && liveRows[at] < end; at++) {
        const row = liveRows[at]
        if (files[row] === OF_FILE.DROP) continue
        if (partition !== undefined && !verdicts.admits(batch, segment, row, partition)) continue
        if (files[row] === OF_FILE.ASK) {
          rowMetrics.row = row
          if (!this.#metrics(metrics)) continue
        }
        selected[count++] = row
      }
      if (segment.missingPartitionFields.length > 0) verdicts = new Verdicts(batch.partitionKeys.count)
    }
    return selected.subarray(0, count)
  }

  /** By row, what the vectors of metrics say; where there are none, and of deletes, each file is asked about. */
  #verdicts({ rowCount, store, metricColumns }: EntryBatch): Uint8Array {
    const verdicts = new Uint8Array(rowCount)
    if (metricColumns === undefined || this.#ofDeletes) return verdicts.fill(OF_FILE.ASK)
    const recordCounts = store.float64[COLUMN.float64.recordCount]
    this.#vectors({ length: rowCount, recordCounts, column: (id) => metricColumns.get(id) }, verdicts)
    return verdicts
  }
}

const VERDICT = { NONE: 0, KEEP: 1, DROP: 2 } as const

/** What the filter said of each tuple; a tuple's key names its spec. */
class Verdicts {
  readonly #byTuple: Uint8Array

  constructor(tuples: number) {
    this.#byTuple = new Uint8Array(tuples)
  }

  admits(batch: EntryBatch, segment: BatchSegment, row: number, filter: PartitionFilter): boolean {
    const tuple = batch.partitionIndex[row]
    if (this.#byTuple[tuple] === VERDICT.NONE) {
      const { partitionType, missingPartitionFields: missing } = segment
      const values = decodePartitionKey(batch.partitionKeys.at(tuple), partitionType)
      const isKnown = (position: number): boolean => !missing.includes(partitionType.fields[position].name)
      this.#byTuple[tuple] = filter(values, isKnown) === false ? VERDICT.DROP : VERDICT.KEEP
    }
    return this.#byTuple[tuple] === VERDICT.KEEP
  }
}

/** The metrics of a delete file that tell which rows it deletes: those of the columns it is equal in. */
class KeyMetrics implements ColumnMetrics {
  readonly #batch: EntryBatch
  readonly #metrics: RowMetrics

  constructor(batch: EntryBatch, metrics: RowMetrics) {
    this.#batch = batch
    this.#metrics = metrics
  }

  /** A deletion vector of no rows still takes the place of older position deletes, so it is never without a match. */
  get recordCount(): number {
    const { row, recordCount } = this.#metrics
    const isVector = this.#batch.fileFormat(row) === 'puffin'
    return isVector ? Math.max(1, recordCount) : recordCount
  }
  valueCount(fieldId: number): number {
    return this.#isKey(fieldId) ? this.#metrics.valueCount(fieldId) : -1
  }
  nullValueCount(fieldId: number): number {
    return this.#isKey(fieldId) ? this.#metrics.nullValueCount(fieldId) : -1
  }
  nanValueCount(fieldId: number): number {
    return this.#isKey(fieldId) ? this.#metrics.nanValueCount(fieldId) : -1
  }
  lowerBound(fieldId: number, slot: ByteSlot): boolean {
    return this.#isKey(fieldId) && this.#metrics.lowerBound(fieldId, slot)
  }
  upperBound(fieldId: number, slot: ByteSlot): boolean {
    return this.#isKey(fieldId) && this.#metrics.upperBound(fieldId, slot)
  }

  #isKey(fieldId: number): boolean {
    const { row } = this.#metrics
    return (
      this.#batch.content(row) === FileContent.EQUALITY_DELETES &&
      this.#batch.hasId(row, 'equalityIds', fieldId)
    )
  }
}
