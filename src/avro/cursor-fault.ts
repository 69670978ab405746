/** Why a block cannot be decoded, inside of this folder: `decodeBlocks` says it in the words of the file's reader. */
import { readVarint, VARINT } from './varint.ts'

export const OVERLONG = 'a number runs past the block or is longer than ten bytes'

/** What is wrong, in which record of the block and at which byte of it. */
export class CursorFault extends Error {
  readonly at: number
  /** Helpers that do not know their row leave -1; the loop fills it in. */
  row: number
  constructor(message: string, at: number, row = -1) {
    super(message)
    this.at = at
    this.row = row
  }
}

/**
 * A length that is negative or of more than one byte: gives it, and leaves the position behind it in VARINT. In the
 * loops, an odd first byte of a length (zig-zag: a negative one) comes here to be refused.
 */
export function longLength(b: Uint8Array, at: number, end: number, row: number): number {
  if (!readVarint(b, at, end)) throw new CursorFault(OVERLONG, at, row)
  const length = VARINT.value
  if (length < 0 || length > end - VARINT.next)
    throw new CursorFault(`a value of ${length} bytes runs past the block`, at, row)
  return length | 0
}
