/**
 * A 32-bit hash of a byte range, for look-ups that compare the bytes afterwards: it is a filter, never a proof.
 *
 * Four bytes at a time (multiply and rotate, the steps of murmur3), because paths of 150 bytes are hashed once per
 * data file.
 *
 * @param start first byte
 * @param end one past the last byte
 * @returns an unsigned 32-bit number
 */
export function hashRange(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start
  let at = start
  for (const last = end - 4; at <= last; at += 4) {
    let word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
    word = Math.imul(word, 0xcc9e2d51)
    word = (word << 15) | (word >>> 17)
    hash ^= Math.imul(word, 0x1b873593)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** True when `a[aStart ..)` and `b[bStart ..)` agree over `length` bytes. */
export function sameBytes(
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  length: number,
): boolean {
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false
  return true
}
