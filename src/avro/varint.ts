/**
 * Reading one Avro varint outside the hot cursor: headers, block counts, partition tuples.
 *
 * The result and the next position come back in {@link VARINT}, one shared object, so that nothing is allocated;
 * read both before the next call.
 */
export const VARINT: { value: number; next: number } = { value: 0, next: 0 }

/** Longest encoding of a 64-bit varint. */
export const MAX_VARINT_BYTES = 10

/**
 * Reads a zig-zag varint at `at`.
 *
 * @returns false when it runs past `end` or over ten bytes. Values past 2^52 come back rounded, and negative ones
 * may lose their sign: callers compare with a length or a count far below that, and a rounded value fails such a
 * test as surely as the exact one.
 */
export function readVarint(bytes: Uint8Array, at: number, end: number): boolean {
  let position = at
  let value = 0
  let scale = 1
  for (let i = 0; i < MAX_VARINT_BYTES && position < end; i++) {
    const byte = bytes[position++]
    value += (byte & 127) * scale
    if (byte < 128) {
      VARINT.value = value % 2 === 0 ? value / 2 : -(value + 1) / 2
      VARINT.next = position
      return true
    }
    scale *= 128
  }
  return false
}
