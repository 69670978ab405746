/**
 * The filter at work on entries, in whichever thread decodes: first the partition tuple, once per distinct tuple, then
 * the column metrics (R4.20 to R4.23). What is dropped is proved not to match; all else stays.
 */
import type { BoundExpression } from '../expressions/bound-expression.ts'
import type { ByteSlot, ColumnMetrics } from '../expressions/column-metrics.ts'
import { compileMetricsFilter, type MetricsFilter } from '../expressions/metrics-evaluator.ts'
import { compileVectorFilter, MIXED, VERDICT, type VectorFilter } from '../expressions/vector-filter.ts'
import { compilePartitionFilter, type PartitionFilter } from '../expressions/partition-evaluator.ts'
import type { PartitionExpression } from '../expressions/partition-expression.ts'
import { batchMetrics, type RowMetrics } from '../manifest/batch-metrics.ts'
import type { BatchSegment, EntryBatch } from '../manifest/entry-batch.ts'
import { FileContent } from '../manifest/entry-batch.ts'
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
    const all = this.#judge(batch)
    if (all === VERDICT.DROP) return NO_ROWS
    if (all === VERDICT.KEEP && this.#partitions.size === 0) return liveRows
    const selected = scratch(SELECTED, liveRows.length)
    const rowMetrics = batchMetrics(batch)
    const metrics = this.#ofDeletes ? new KeyMetrics(batch, rowMetrics) : rowMetrics
    const files = VERDICTS.array
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
        const verdict = all === MIXED ? files[row] : all
        if (verdict === VERDICT.DROP) continue
        if (partition !== undefined && !verdicts.admits(batch, segment, row, partition)) continue
        if (verdict === VERDICT.ASK) {
          rowMetrics.row = row
          if (!this.#metrics(metrics)) continue
        }
        selected[count++] = row
      }
      if (segment.missingPartitionFields.length > 0) verdicts = new Verdicts(batch.partitionKeys.count)
    }
    return selected.slice(0, count)
  }

  /**
   * What the vectors of metrics say of all rows, or {@link MIXED} and of each row in {@link VERDICTS}; where there are
   * none, and of deletes, each file is to be asked about.
   */
  #judge({ vectors }: EntryBatch): number {
    if (vectors === undefined || this.#ofDeletes) return VERDICT.ASK
    return this.#vectors(vectors, scratch(VERDICTS, vectors.length))
  }
}

const NO_ROWS = new Uint32Array(0)

// One of each for all batches: nothing else is selected meanwhile.
const VERDICTS = { array: new Uint8Array(0) }
const SELECTED = { array: new Uint32Array(0) }

/** The array, made longer if it is too short; what was in it is lost then. */
function scratch<A extends Uint8Array | Uint32Array>(kept: { array: A }, length: number): A {
  if (kept.array.length < length)
    kept.array = new (kept.array.constructor as new (length: number) => A)(length)
  return kept.array
}

const NOT_ASKED = 0

/** What the filter said of each tuple, plus one; a tuple's key names its spec. */
class Verdicts {
  readonly #byTuple: Uint8Array

  constructor(tuples: number) {
    this.#byTuple = new Uint8Array(tuples)
  }

  admits(batch: EntryBatch, segment: BatchSegment, row: number, filter: PartitionFilter): boolean {
    const tuple = batch.partitionIndex[row]
    if (this.#byTuple[tuple] === NOT_ASKED) {
      const { partitionType, missingPartitionFields: missing } = segment
      const values = decodePartitionKey(batch.partitionKeys.at(tuple), partitionType)
      const isKnown = (position: number): boolean => !missing.includes(partitionType.fields[position].name)
      this.#byTuple[tuple] = 1 + (filter(values, isKnown) === false ? VERDICT.DROP : VERDICT.KEEP)
    }
    return this.#byTuple[tuple] === 1 + VERDICT.KEEP
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
