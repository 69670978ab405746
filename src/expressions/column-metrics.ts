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
