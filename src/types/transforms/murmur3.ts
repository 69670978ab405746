/** Murmur3, the 32-bit x86 variant with seed 0 (spec: Appendix B; R14.5). */

const C1 = 0xcc9e2d51
const C2 = 0x1b873593

/** The hash as a signed 32-bit number. */
export function murmur3(bytes: Uint8Array): number {
  const length = bytes.byteLength
  const blocksEnd = length - (length % 4)
  let hash = 0
  for (let at = 0; at < blocksEnd; at += 4) {
    const block = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
    hash = rotateLeft(hash ^ scramble(block), 13)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let at = length - 1; at >= blocksEnd; at--) tail = (tail << 8) | bytes[at]
  return finish(hash ^ scramble(tail) ^ length)
}

function scramble(block: number): number {
  return Math.imul(rotateLeft(Math.imul(block, C1), 15), C2)
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

/** Every bit of the hash depends on every bit of the input. */
function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
