/**
 * The facts about a file that its metadata holds, as the evaluators ask for them. Who supplies them is not their
 * business: columns of a batch, a test, or another format.
 */

/** Where a bound's bytes are: set by {@link ColumnMetrics}, read at once by who asked. No copy is made. */
export interface ByteSlot {
  bytes: Uint8Array
  /** First byte of the value in `bytes`. */
  offset: number
  length: number
}

export interface ColumnMetrics {
  /** Rows of the file; negative when not known (R5.1). */
  readonly recordCount: number
  /** Values of a column in the file, nulls and NaNs included; -1 when not known. So are the other two. */
  valueCount(fieldId: number): number
  nullValueCount(fieldId: number): number
  nanValueCount(fieldId: number): number
  /** Points `slot` at the single-value bytes of the bound; false, and `slot` as it was, when there is none. */
  lowerBound(fieldId: number, slot: ByteSlot): boolean
  upperBound(fieldId: number, slot: ByteSlot): boolean
}

// The same of many files at once, where they come by the thousand: a file is a position in all vectors.

/** Of one column. A vector that was not read has no items. */
export interface MetricVector {
  /** Counts plus one; 0 where a count is not known, or is of billions. */
  readonly valueCounts: Uint32Array
  readonly nullValueCounts: Uint32Array
  readonly nanValueCounts: Uint32Array
  readonly lower: BoundVector
  readonly upper: BoundVector
}

/** One of the two bounds of a column: single-value bytes. */
export interface BoundVector {
  /** Length plus one; 0 where there is no bound, 255 for one of more than eight bytes. */
  readonly tags: Uint8Array
  /** Two a file: the bytes, little end first and padded with zeros; of a long bound, offset and length elsewhere. */
  readonly lanes: Int32Array
}

/** Never to be changed: what was found out about them is remembered by these very objects. */
export interface MetricVectors {
  /** Number of files. */
  readonly length: number
  /** Rows of each file; negative when not known. */
  readonly recordCounts: Float64Array
  /** By column id; without columns of which nothing was read. */
  readonly columns: ReadonlyMap<number, MetricVector>
}
