/**
 * Distinct byte strings that stay where they are, numbered in the order of their first appearance: for a million paths,
 * which are in memory already, a dictionary of copies would hold them twice.
 */
import { hashRange, sameBytes } from './hash.ts'

export class ByteReferences {
  #count = 0
  /** The arrays that strings lie in, each once in a row of strings. */
  readonly #heaps: Uint8Array[] = []
  readonly #heapOf: Uint32Array
  readonly #starts: Uint32Array
  readonly #lengths: Uint32Array
  readonly #hashes: Uint32Array
  /** Number + 1 of the string in each slot; 0 is free. The size is a power of two, at least twice the most strings. */
  readonly #slots: Int32Array

  /** @param most strings there can be */
  constructor(most: number) {
    this.#heapOf = new Uint32Array(most)
    this.#starts = new Uint32Array(most)
    this.#lengths = new Uint32Array(most)
    this.#hashes = new Uint32Array(most)
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most + 1)))
  }

  /** How many distinct strings there are. */
  get count(): number {
    return this.#count
  }

  /**
   * The number of a string, added if it is new: then `heap` is kept, and must not change.
   *
   * @throws RangeError for a string too many
   */
  intern(heap: Uint8Array, start: number, end: number): number {
    const hash = hashRange(heap, start, end)
    const slot = this.#slotOf(heap, start, end, hash)
    const known = this.#slots[slot] - 1
    if (known >= 0) return known
    const number = this.#count
    if (number === this.#hashes.length) throw new RangeError(`There is room for ${number} strings`)
    if (this.#heaps.at(-1) !== heap) this.#heaps.push(heap)
    this.#heapOf[number] = this.#heaps.length - 1
    this.#starts[number] = start
    this.#lengths[number] = end - start
    this.#hashes[number] = hash
    this.#slots[slot] = ++this.#count
    return number
  }

  /** The number of a string, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (this.#count === 0) return -1
    return this.#slots[this.#slotOf(bytes, start, end, hashRange(bytes, start, end))] - 1
  }

  /** The slot that holds the string, or the free one where it would go. */
  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] - 1
      if (number < 0) return slot
      if (this.#hashes[number] !== hash || this.#lengths[number] !== end - start) continue
      if (sameBytes(this.#heaps[this.#heapOf[number]], this.#starts[number], bytes, start, end - start))
        return slot
    }
  }
}
