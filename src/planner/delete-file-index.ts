/**
 * Which delete files apply to which data file (section 7 of the planning rules; spec: Scan Planning).
 *
 * A delete belongs to one of four groups of lists, each list sorted by the sequence number up to which it applies:
 *
 *     global equality deletes           one list                                   unpartitioned spec
 *     equality deletes of a partition   a list per (spec id, tuple)
 *     position deletes of a partition   a list per (spec id, tuple)
 *     position deletes of a data file   a list per path                            referenced_data_file, or equal path bounds
 *
 * plus at most one deletion vector per path. What applies to a data file with sequence number q is a suffix of each
 * list: apply-sequence (sequence - 1 for equality deletes, sequence for position deletes) >= q, found by binary
 * search. A deletion vector takes the place of all position deletes (R7.14).
 *
 * No object exists per delete or per data file: paths (where they are, in the batches of deletes) and tuples are numbered,
 * lists are ranges of one id array, and an answer is a few numbers (`delete-assignment.ts`).
 */
import { ByteDictionary } from '../bytes/byte-dictionary.ts'
import { ByteReferences } from '../bytes/byte-references.ts'
import { InvalidMetadataError } from '../errors.ts'
import type { ColumnMetrics } from '../expressions/column-metrics.ts'
import { compileKeyOverlap, type KeyOverlap } from '../expressions/key-overlap.ts'
import { batchMetrics, type RowMetrics } from '../manifest/batch-metrics.ts'
import { DeleteFile } from '../manifest/content-file.ts'
import type { BatchSegment, EntryBatch } from '../manifest/entry-batch.ts'
import { FileContent } from '../manifest/entry-batch.ts'
import { COLUMN, DELETE_FILE_PATH_ID } from '../manifest/entry-fields.ts'
import type { SchemaField } from '../metadata/schema.ts'
import { type DeleteAssignment, KIND, KINDS, NOTHING_ASSIGNED, RangeAssignment } from './delete-assignment.ts'
import { SequencedLists } from './sequenced-lists.ts'
import { TimeSlice } from '../io/time-slice.ts'
import type { Warnings } from './warnings.ts'

interface DeleteIndexOptions {
  /** The column of an equality id (R7.18); of one that nobody knows nothing is proved. */
  keyColumn?: (id: number) => SchemaField | undefined
  /**
   * What a stored path stands for, where different texts may name one file: relative ones of format version 4. Without
   * it paths are compared as they are stored.
   */
  absolute?: ((path: string) => string) | undefined
  /** Takes 0 for a data file's missing sequence number instead of failing (R4.2). */
  lenient?: boolean
  warnings: Warnings
  /** The event loop turns whenever it is over, for there may be a hundred thousand deletes. */
  slice?: TimeSlice
  /** Looked at when the event loop has turned. */
  signal?: AbortSignal
}

/** Rows between two looks at the clock: a fraction of a millisecond. */
const ROWS_PER_LOOK = 256
/** Tests of a data file's metrics against an equality delete's between two looks. */
const TESTS_PER_LOOK = 8192

export class DeleteFileIndex {
  /** Deletes kept, by kind (R7.22). */
  readonly counts = { indexed: 0, equality: 0, positional: 0, dvs: 0 }
  /** Data files looked up, and comparisons made for them: of sequence numbers, and of paths found. */
  readonly work = { lookups: 0, comparisons: 0 }

  readonly #options: DeleteIndexOptions
  readonly #slice: TimeSlice
  readonly #batches: EntryBatch[] = []
  /** By delete id: where its entry is, its size in bytes, its partition. */
  readonly #batchOf: Uint32Array
  readonly #rowOf: Uint32Array
  readonly #sizes: Float64Array
  readonly #scopeOf: Int32Array
  readonly #paths: ByteReferences
  /** Partition keys, which begin with the spec id. */
  readonly #scopes = new ByteDictionary()
  /** Deletion vector by path number; -1 where there is none. */
  readonly #dvByPath: Int32Array
  readonly #lists: readonly SequencedLists[]
  /** Metrics of each batch of deletes; to be set to a row. */
  readonly #metrics: RowMetrics[] = []
  /** By delete id, of equality deletes. */
  readonly #overlaps: (KeyOverlap | undefined)[] = []
  readonly #overlapByKeys = new Map<string, KeyOverlap>()
  readonly #keyColumns = new Set<number>()

  /** @param most deletes there can be */
  private constructor(most: number, options: DeleteIndexOptions) {
    this.#batchOf = new Uint32Array(most)
    this.#rowOf = new Uint32Array(most)
    this.#sizes = new Float64Array(most)
    this.#scopeOf = new Int32Array(most)
    this.#dvByPath = new Int32Array(most).fill(-1)
    this.#paths = new ByteReferences(most)
    this.#options = options
    this.#slice = options.slice ?? new TimeSlice()
    this.#lists = Array.from({ length: KINDS }, () => new SequencedLists())
  }

  /**
   * Indexes the live entries of delete batches, in their order.
   *
   * @throws InvalidMetadataError for an entry that cannot be placed: without a sequence number (B041), an equality
   *   delete without ids (R7.19), an incomplete deletion vector (B220), or a second one for a data file (R7.7)
   */
  static async build(batches: readonly EntryBatch[], options: DeleteIndexOptions): Promise<DeleteFileIndex> {
    const most = batches.reduce((sum, { liveRows }) => sum + liveRows.length, 0)
    const index = new DeleteFileIndex(most, options)
    for (const batch of batches) await index.#addBatch(batch)
    for (const lists of index.#lists) {
      lists.seal(index.#sizes)
      await index.#pause()
    }
    return index
  }

  /** Ids of the columns that equality deletes compare: {@link assign} looks at their metrics in the data files. */
  get keyColumns(): readonly number[] {
    return [...this.#keyColumns]
  }

  get isEmpty(): boolean {
    return this.counts.indexed === 0
  }

  async #addBatch(batch: EntryBatch): Promise<void> {
    this.#checkTuples(batch)
    this.#batches.push(batch)
    this.#metrics.push(batchMetrics(batch))
    // Of each distinct tuple, made when a delete that counts has it.
    const scopes = new Int32Array(batch.partitionKeys.count).fill(-1)
    const rows = batch.liveRows
    for (let i = 0; i < rows.length; i++) {
      if (i % ROWS_PER_LOOK === 0) await this.#pause()
      this.#addRow(batch, rows[i], scopes)
    }
  }

  /** Lets the event loop turn when it is time. */
  async #pause(): Promise<void> {
    if (!this.#slice.isOver) return
    await this.#slice.turn()
    this.#options.signal?.throwIfAborted()
  }

  #addRow(batch: EntryBatch, row: number, scopes: Int32Array): void {
    if (batch.isNull(row, 'sequenceNumber'))
      throw this.#broken(batch, row, 'it has no sequence number, so where it applies is unknown')
    const sequence = batch.sequenceNumbers[row]
    if (sequence <= 0n) {
      // R7.2: only data of v1 has the number 0, and v1 has no deletes.
      this.#options.warnings.add(
        'a delete file has no positive sequence number',
        `Delete file ${batch.text(row, 'filePath')} has the sequence number ${sequence} and is ignored.`,
      )
      return
    }
    const tuple = batch.partitionIndex[row]
    let scope = scopes[tuple]
    if (scope < 0) {
      const key = batch.partitionKeys.at(tuple)
      scope = scopes[tuple] = this.#scopes.intern(key, 0, key.length)
    }
    const id = this.counts.indexed++
    this.#batchOf[id] = this.#batches.length - 1
    this.#rowOf[id] = row
    this.#scopeOf[id] = scope
    this.#sizes[id] = batch.fileSizeInBytes(row)
    if (batch.content(row) === FileContent.EQUALITY_DELETES) {
      this.counts.equality++
      const keys = batch.ids(row, 'equalityIds') ?? []
      if (keys.length === 0)
        throw this.#broken(batch, row, 'it is an equality delete file without equality ids')
      this.#overlaps[id] = this.#overlapOf(keys)
      const isGlobal = batch.segmentOf(row).partitionType.spec.isUnpartitioned
      const kind = isGlobal ? KIND.GLOBAL_EQUALITY : KIND.PARTITION_EQUALITY
      this.#lists[kind].add(isGlobal ? 0 : scope, id, sequence - 1n)
      return
    }
    if (batch.fileFormat(row) === 'puffin') {
      this.#addDeletionVector(batch, row, id)
      return
    }
    this.counts.positional++
    const path = this.#referencedPath(batch, row)
    if (path < 0) this.#lists[KIND.PARTITION_POSITION].add(scope, id, sequence)
    else this.#lists[KIND.PATH_POSITION].add(path, id, sequence)
  }

  /** Whether deletes of these key columns may apply to a data file, by the metrics of both (R7.16). */
  #overlapOf(keys: readonly number[]): KeyOverlap {
    const name = keys.join()
    let overlap = this.#overlapByKeys.get(name)
    if (overlap === undefined) {
      const columns = keys.map((id) => this.#options.keyColumn?.(id)).filter((column) => column !== undefined)
      for (const { field } of columns) this.#keyColumns.add(field.id)
      overlap = compileKeyOverlap(columns)
      this.#overlapByKeys.set(name, overlap)
    }
    return overlap
  }

  #addDeletionVector(batch: EntryBatch, row: number, id: number): void {
    this.counts.dvs++
    const offset = batch.optionalNumber(row, 'contentOffset')
    const size = batch.optionalNumber(row, 'contentSizeInBytes')
    if (batch.isNull(row, 'referencedDataFile') || offset === undefined || size === undefined) {
      throw this.#broken(
        batch,
        row,
        'it is a deletion vector without referenced_data_file, content_offset or content_size_in_bytes',
      )
    }
    const fileSize = batch.fileSizeInBytes(row)
    if (offset < 0 || size <= 0 || offset + size > fileSize) {
      throw this.#broken(
        batch,
        row,
        `its deletion vector is said to be ${size} bytes at byte ${offset} of a file of ${fileSize}`,
      )
    }
    this.#sizes[id] = size
    const path = this.#internReferenced(batch, row)
    const other = this.#dvByPath[path]
    if (other >= 0) {
      throw new InvalidMetadataError(
        `Cannot plan: data file ${batch.text(row, 'referencedDataFile')} has two deletion vectors, in ${this.#file(other).filePath} at byte ${this.#file(other).contentOffset ?? 0} and in ${batch.text(row, 'filePath')} at byte ${offset}`,
        { location: batch.text(row, 'filePath') },
      )
    }
    this.#dvByPath[path] = id
  }

  /** Number of the data file's path that a position delete file is about; -1 unless it is about one only (R7.8). */
  #referencedPath(batch: EntryBatch, row: number): number {
    if (!batch.isNull(row, 'referencedDataFile')) return this.#internReferenced(batch, row)
    const lower = batch.bound(row, 'lowerBounds', DELETE_FILE_PATH_ID)
    const upper = batch.bound(row, 'upperBounds', DELETE_FILE_PATH_ID)
    // Equal bounds are never truncated ones: a truncated upper bound is incremented.
    if (lower === undefined || upper === undefined || Buffer.compare(lower, upper) !== 0) return -1
    const { heap } = batch.store
    const start = lower.byteOffset - heap.byteOffset
    // Short bounds are elsewhere.
    return lower.buffer === heap.buffer
      ? this.#internPath(heap, start, start + lower.length)
      : this.#internPath(lower, 0, lower.length)
  }

  #internReferenced(batch: EntryBatch, row: number): number {
    const offset = batch.bytesOffset(row, 'referencedDataFile')
    return this.#internPath(batch.store.heap, offset, offset + batch.bytesLength(row, 'referencedDataFile'))
  }

  #internPath(bytes: Uint8Array, start: number, end: number): number {
    if (this.#options.absolute === undefined) return this.#paths.intern(bytes, start, end)
    const path = absoluteBytes(bytes.subarray(start, end), this.#options.absolute)
    return this.#paths.intern(path, 0, path.length)
  }

  /**
   * Finds the deletes of each live row of a data batch.
   *
   * @throws InvalidMetadataError where the metadata contradicts itself (R7.14, R7.15), or where a data file has no
   *   sequence number and a delete in its scope depends on it (R4.2)
   */
  async assign(batch: EntryBatch): Promise<DeleteAssignment> {
    if (this.isEmpty) {
      this.#warnOfMissingSequences(batch)
      return NOTHING_ASSIGNED
    }
    if (this.#needsTuples) this.#checkTuples(batch)
    const rows = batch.liveRows
    const scopes = this.#scopesOf(batch)
    const answer = new RangeAssignment(rows.length, {
      lists: this.#lists,
      sizes: this.#sizes,
      file: (id) => this.#file(id),
    })
    const sequences = batch.sequenceNumbers
    const lanes = batch.store.int64[COLUMN.int64.sequenceNumber]
    // The last row that was looked up by its partition and its sequence number alone: the next is likely to have both too.
    let like = -1
    this.work.lookups += rows.length
    const metrics = batchMetrics(batch)
    let tests = 0
    for (let i = 0; i < rows.length; i++) {
      if (i % ROWS_PER_LOOK === 0) await this.#pause()
      const row = rows[i]
      const scope = scopes[batch.partitionIndex[row]]
      const path = this.#paths.count === 0 ? -1 : this.#pathOf(batch, row)
      if (path >= 0) this.work.comparisons++
      const dv = path < 0 ? -1 : this.#dvByPath[path]
      const isNull = batch.isNull(row, 'sequenceNumber')
      if (like >= 0 && path < 0 && !isNull && isLike(batch, lanes, rows[like], row)) {
        answer.repeat(i, like)
        continue
      }
      let sequence = sequences[row]
      if (isNull) {
        if (!this.#isConcerned(scope, path)) {
          this.#warnOfMissingSequence(batch, row, 'no delete file depends on it')
          continue
        }
        sequence = this.#missingSequence(batch, row)
      }
      answer.begin()
      answer.set(KIND.GLOBAL_EQUALITY, 0, sequence)
      if (scope >= 0) answer.set(KIND.PARTITION_EQUALITY, scope, sequence)
      const { hasEquality } = answer
      if (hasEquality) {
        metrics.row = row
        tests += answer.keepEquality((id) => this.#mayDelete(id, metrics))
        if (tests >= TESTS_PER_LOOK) {
          tests = 0
          await this.#pause()
        }
      }
      // What an equality delete may delete differs from file to file.
      if (!hasEquality && path < 0 && !isNull) like = i
      if (dv >= 0) {
        this.#checkDeletionVector(batch, row, dv, scope, sequence)
        answer.setDeletionVector(dv)
      } else {
        if (scope >= 0) answer.set(KIND.PARTITION_POSITION, scope, sequence)
        if (path >= 0) this.#checkScopes(batch, row, answer.set(KIND.PATH_POSITION, path, sequence), scope)
      }
      answer.end(i)
    }
    this.work.comparisons += answer.comparisons
    return answer
  }

  /** Number of a data file's path, or -1 if no delete is of it alone. */
  #pathOf(batch: EntryBatch, row: number): number {
    const bytes = batch.store.heap
    const start = batch.bytesOffset(row, 'filePath')
    const end = start + batch.bytesLength(row, 'filePath')
    if (this.#options.absolute === undefined) return this.#paths.find(bytes, start, end)
    const path = absoluteBytes(bytes.subarray(start, end), this.#options.absolute)
    return this.#paths.find(path, 0, path.length)
  }

  #mayDelete(id: number, data: ColumnMetrics): boolean {
    const deletes = this.#metrics[this.#batchOf[id]]
    deletes.row = this.#rowOf[id]
    return this.#overlaps[id]?.(data, deletes) ?? true
  }

  /** Global equality deletes apply whatever the partition is; all others are of one. */
  get #needsTuples(): boolean {
    return this.counts.indexed > this.#lists[KIND.GLOBAL_EQUALITY].ids.length
  }

  /** Where deletes are placed by partition, a tuple that is not the spec's would place them wrongly. */
  #checkTuples(batch: EntryBatch): void {
    for (const segment of batch.segments) {
      const { manifest, partitionType, missingPartitionFields, extraPartitionFields } = segment
      const location = manifest.manifestPath
      const odd = [
        ...missingPartitionFields.map((name) => `lacks the field "${name}"`),
        ...extraPartitionFields.map((name) => `has the field "${name}" beyond it`),
      ]
      if (odd.length === 0 || !hasLiveRow(batch, segment)) continue
      throw new InvalidMetadataError(
        `Cannot match deletes with ${location}: its partition record ${odd.join(' and ')} of partition spec ${partitionType.specId}`,
        { location },
      )
    }
  }

  /** The scope number of each distinct tuple of a batch; -1 for tuples that no delete has. */
  #scopesOf(batch: EntryBatch): Int32Array {
    const scopes = new Int32Array(batch.partitionKeys.count)
    for (let tuple = 0; tuple < scopes.length; tuple++) {
      const key = batch.partitionKeys.at(tuple)
      scopes[tuple] = this.#scopes.find(key, 0, key.length)
    }
    return scopes
  }

  /** True when some delete could apply to a data file, depending on its sequence number. */
  #isConcerned(scope: number, path: number): boolean {
    const [global, equality, position, byPath] = this.#lists
    return (
      global.has(0) ||
      (scope >= 0 && (equality.has(scope) || position.has(scope))) ||
      (path >= 0 && (byPath.has(path) || this.#dvByPath[path] >= 0))
    )
  }

  #missingSequence(batch: EntryBatch, row: number): bigint {
    if (this.#options.lenient !== true) {
      throw this.#broken(
        batch,
        row,
        'it has no sequence number, and a delete file in its scope depends on it (lenient takes 0)',
      )
    }
    this.#warnOfMissingSequence(batch, row, '0 is taken')
    return 0n
  }

  #warnOfMissingSequences(batch: EntryBatch): void {
    if (!batch.facts.lacksSequenceNumbers) return
    for (const row of batch.liveRows) {
      if (batch.isNull(row, 'sequenceNumber'))
        this.#warnOfMissingSequence(batch, row, 'no delete file depends on it')
    }
  }

  #warnOfMissingSequence(batch: EntryBatch, row: number, why: string): void {
    this.#options.warnings.add(
      'a data file has no sequence number',
      `Data file ${batch.text(row, 'filePath')} has no sequence number; ${why}.`,
    )
  }

  #checkDeletionVector(batch: EntryBatch, row: number, dv: number, scope: number, sequence: bigint): void {
    const own = this.#batches[this.#batchOf[dv]].sequenceNumbers[this.#rowOf[dv]]
    if (own < sequence) {
      throw this.#broken(
        batch,
        row,
        `the deletion vector in ${this.#file(dv).filePath} has the sequence number ${own}, which is below the data file's ${sequence}`,
      )
    }
    this.#checkScope(batch, row, dv, scope)
  }

  /** A delete found by path must be of the data file's spec and partition (R7.14, R7.15). */
  #checkScope(batch: EntryBatch, row: number, id: number, scope: number): void {
    if (this.#scopeOf[id] === scope) return
    const other = this.#file(id)
    throw this.#broken(
      batch,
      row,
      `delete file ${other.filePath} names it but is of spec ${other.specId} and another partition, so the metadata is corrupt`,
    )
  }

  #checkScopes(batch: EntryBatch, row: number, [from, to]: readonly [number, number], scope: number): void {
    for (let at = from; at < to; at++)
      this.#checkScope(batch, row, this.#lists[KIND.PATH_POSITION].ids[at], scope)
  }

  #file(id: number): DeleteFile {
    return new DeleteFile(this.#batches[this.#batchOf[id]], this.#rowOf[id])
  }

  /** Rows are numbered without the deleted entries where a worker has decoded them: the path says which one it is. */
  #broken(batch: EntryBatch, row: number, why: string): InvalidMetadataError {
    const location = batch.segmentOf(row).manifest.manifestPath
    return new InvalidMetadataError(`Cannot plan ${batch.text(row, 'filePath')} (in ${location}): ${why}`, {
      location,
    })
  }
}

function absoluteBytes(stored: Uint8Array, absolute: (path: string) => string): Uint8Array {
  const text = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString('utf8')
  return Buffer.from(absolute(text), 'utf8')
}

/** Same partition, same sequence number. */
function isLike(batch: EntryBatch, sequences: Int32Array, a: number, b: number): boolean {
  return (
    batch.partitionIndex[a] === batch.partitionIndex[b] &&
    sequences[2 * a] === sequences[2 * b] &&
    sequences[2 * a + 1] === sequences[2 * b + 1]
  )
}

function hasLiveRow({ liveRows }: EntryBatch, { firstRow, rowCount }: BatchSegment): boolean {
  return liveRows.some((row) => row >= firstRow && row < firstRow + rowCount)
}
