/**
 * Distinct byte strings, numbered in the order of their first appearance.
 *
 * Open addressing over one byte heap: no string, no object per entry. Hashes only choose where to look; equality is
 * always decided by the bytes.
 */
import { hashRange, sameBytes } from './hash.ts'

const FIRST_SLOTS = 16

/** Numbered byte strings that can be read. */
export interface ByteStrings {
  readonly count: number
  /** All strings, one after another. */
  readonly heap: Uint8Array
  /** `offsets[i]` to `offsets[i + 1]` is string i in the heap. */
  readonly offsets: Uint32Array
  /** The bytes of string `index`: a view. */
  at(index: number): Uint8Array
}

/** Byte strings in memory that came from elsewhere. */
export class PackedStrings implements ByteStrings {
  readonly count: number
  readonly heap: Uint8Array
  readonly offsets: Uint32Array

  /** @param offsets one more than there are strings */
  constructor(heap: Uint8Array, offsets: Uint32Array) {
    this.count = offsets.length - 1
    this.heap = heap
    this.offsets = offsets
  }

  at(index: number): Uint8Array {
    return this.heap.subarray(this.offsets[index], this.offsets[index + 1])
  }
}

export class ByteDictionary implements ByteStrings {
  /** All strings, one after another; valid up to the end of the last one. */
  heap: Uint8Array = new Uint8Array(64)
  /** `offsets[i]` to `offsets[i + 1]` is string i in the heap. */
  offsets: Uint32Array = new Uint32Array(FIRST_SLOTS + 1)
  #count = 0
  #hashes = new Uint32Array(FIRST_SLOTS)
  /** Index + 1 of the string in each slot; 0 is free. The size is a power of two, at least twice the count. */
  #slots = new Int32Array(FIRST_SLOTS * 2)
  #last = -1

  /** How many distinct strings there are. */
  get count(): number {
    return this.#count
  }

  /** Forgets all strings but keeps the memory. */
  clear(): void {
    if (this.#count === 0) return
    this.#count = 0
    this.#last = -1
    this.#slots.fill(0)
  }

  /** The bytes of string `index`: a view, valid until the next insertion. */
  at(index: number): Uint8Array {
    return this.heap.subarray(this.offsets[index], this.offsets[index + 1])
  }

  /** The number of a string, added if it is new. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    // Neighbours in a manifest usually share a partition.
    const last = this.#last
    if (last >= 0) {
      const offset = this.offsets[last]
      const length = this.offsets[last + 1] - offset
      if (length === end - start && sameBytes(this.heap, offset, bytes, start, length)) return last
    }
    const hash = hashRange(bytes, start, end)
    let index = this.#find(bytes, start, end, hash)
    if (index < 0) index = this.#add(bytes, start, end, hash)
    this.#last = index
    return index
  }

  /** The number of a string, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (this.#count === 0) return -1
    return this.#find(bytes, start, end, hashRange(bytes, start, end))
  }

  #find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot] - 1
      if (index < 0) return -1
      if (this.#hashes[index] !== hash) continue
      const offset = this.offsets[index]
      const length = this.offsets[index + 1] - offset
      if (length === end - start && sameBytes(this.heap, offset, bytes, start, length)) return index
    }
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const index = this.#count
    if (index === this.#hashes.length) this.#grow()
    const offset = index === 0 ? 0 : this.offsets[index]
    const needed = offset + end - start
    if (needed > this.heap.length) {
      const heap = new Uint8Array(Math.max(needed, this.heap.length * 2))
      heap.set(this.heap.subarray(0, offset))
      this.heap = heap
    }
    for (let i = start, to = offset; i < end; i++) this.heap[to++] = bytes[i]!
    this.offsets[index] = offset
    this.offsets[index + 1] = needed
    this.#hashes[index] = hash
    this.#count = index + 1
    this.#place(index, hash)
    return index
  }

  #place(index: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = index + 1
  }

  #grow(): void {
    const size = this.#hashes.length * 2
    const offsets = new Uint32Array(size + 1)
    offsets.set(this.offsets)
    this.offsets = offsets
    const hashes = new Uint32Array(size)
    hashes.set(this.#hashes)
    this.#hashes = hashes
    this.#slots = new Int32Array(size * 2)
    for (let i = 0; i < this.#count; i++) this.#place(i, hashes[i])
  }
}
