/** The bytes of a decimal, its scale aside, as they are hashed (Appendix B) and compared. */

/** The fewest bytes of big-endian two's complement that hold the value, at least one (R13.2, B050). */
export function unscaledBytes(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  do {
    bytes.push(Number(rest & 0xffn))
    rest >>= 8n
  } while (rest !== (bytes.at(-1)! >= 0x80 ? -1n : 0n))
  return Uint8Array.from(bytes.reverse())
}
