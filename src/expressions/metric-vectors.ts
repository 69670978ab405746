/**
 * The metrics of many files as vectors: what a filter is asked with where files come by the thousand. A file is a
 * position in all of them.
 */

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
