/**
 * The truncate transform (spec: Truncate Transform Details; R14.6 to R14.8): numbers are rounded down to a multiple of
 * the width, strings and binaries are cut to it.
 *
 * 32 and 64 bits wrap around, because that is what stands in the tuples of files: the multiple of 10 below the least int
 * is no int, so that the least int lies in the partition 2147483646.
 */

/** `width` is 1 to 2^31 - 1; above 2^30 the sum in the middle wraps too, for positive values as well (R14.6). */
export function truncateInt(width: number, value: number): number {
  const remainder = (((value % width) + width) | 0) % width
  return (value - remainder) | 0
}

export function truncateLong(width: number, value: bigint): bigint {
  return BigInt.asIntN(64, truncateDecimal(width, value))
}

/** Of the unscaled value, whatever the scale (R14.7). Nothing wraps: it may have a digit more than the type allows. */
export function truncateDecimal(width: number, unscaled: bigint): bigint {
  const wide = BigInt(width)
  return unscaled - (((unscaled % wide) + wide) % wide)
}

/** The first `width` code points: no surrogate pair is split, and no grapheme kept together (R14.8, B055). */
export function truncateString(width: number, text: string): string {
  if (text.length <= width) return text
  let end = 0
  for (let taken = 0; taken < width && end < text.length; taken++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1
  return text.slice(0, end)
}

/** The first `width` bytes, in the same memory. */
export function truncateBinary(width: number, bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, width)
}

/** The length that a width is compared with. */
export function codePointCount(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return count
}
