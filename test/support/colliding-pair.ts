import { hashRange } from '../../src/bytes/hash.ts'

/** Two strings of eight bytes with the same hash: of 200,000 some must meet, by the birthday paradox. */
export function collidingPair(): [Uint8Array, Uint8Array] {
  const seen = new Map<number, Uint8Array>()
  for (let i = 0; i < 400_000; i++) {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setFloat64(0, Math.sqrt(i + 2))
    const hash = hashRange(bytes, 0, 8)
    const earlier = seen.get(hash)
    if (earlier !== undefined) return [earlier, bytes]
    seen.set(hash, bytes)
  }
  throw new Error('no two strings have the same hash')
}
