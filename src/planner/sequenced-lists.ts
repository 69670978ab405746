/**
 * Lists of delete ids, each sorted by the sequence number up to which a delete applies; equal numbers keep the order
 * in which they were added (R7.10). All lists are ranges of one id array; nothing is allocated per list.
 */
export class SequencedLists {
  /** Ids of all lists, one list after another; valid once sealed. */
  ids: Uint32Array = new Uint32Array(0)
  readonly #added: { lists: number[]; ids: number[]; sequences: bigint[] } = {
    lists: [],
    ids: [],
    sequences: [],
  }
  #sequences = new BigInt64Array(0)
  /** `starts[list]` to `starts[list + 1]` is a list's range. */
  #starts = new Uint32Array(1)
  /** `sizes[at]` is the sum of the sizes before position `at`. */
  #sizes = new Float64Array(1)

  /** @param applySequence the delete applies to data whose sequence number is at most this */
  add(list: number, id: number, applySequence: bigint): void {
    this.#added.lists.push(list)
    this.#added.ids.push(id)
    this.#added.sequences.push(applySequence)
  }

  /**
   * Sorts what was added; nothing may be added afterwards.
   *
   * @param sizeOf size in bytes by delete id
   */
  seal(sizeOf: ArrayLike<number>): void {
    const { lists, ids, sequences } = this.#added
    const count = ids.length
    let listCount = 0
    for (const list of lists) listCount = Math.max(listCount, list + 1)
    const starts = new Uint32Array(listCount + 1)
    for (const list of lists) starts[list + 1]++
    for (let list = 0; list < listCount; list++) starts[list + 1] += starts[list]
    // Place by list, in order of addition, then sort the few lists that are not in order already.
    const next = starts.slice()
    const order = new Uint32Array(count)
    for (let i = 0; i < count; i++) order[next[lists[i]]++] = i
    for (let list = 0; list < listCount; list++) sortRange(order, starts[list], starts[list + 1], sequences)
    this.ids = new Uint32Array(count)
    for (let at = 0; at < count; at++) this.ids[at] = ids[order[at]]
    this.#sequences = new BigInt64Array(count)
    this.#sizes = new Float64Array(count + 1)
    for (let at = 0; at < count; at++) {
      this.#sequences[at] = sequences[order[at]]
      this.#sizes[at + 1] = this.#sizes[at] + sizeOf[this.ids[at]]
    }
    this.#starts = starts
    this.#added.lists.length = this.#added.ids.length = this.#added.sequences.length = 0
  }

  has(list: number): boolean {
    return list + 1 < this.#starts.length && this.#starts[list] < this.#starts[list + 1]
  }

  /**
   * The range of `ids` that holds the deletes of a list that apply to a sequence number: a suffix of the list.
   *
   * @param range gets first position and one past the last
   * @returns comparisons of sequence numbers made, at most 1 + log2 of the list's length
   */
  suffix(list: number, sequence: bigint, range: [from: number, to: number]): number {
    if (list + 1 >= this.#starts.length) {
      range[0] = range[1] = 0
      return 0
    }
    const sequences = this.#sequences
    const end = this.#starts[list + 1]
    let low = this.#starts[list]
    let high = end
    let comparisons = 0
    while (low < high) {
      const middle = (low + high) >>> 1
      comparisons++
      if (sequences[middle] >= sequence) high = middle
      else low = middle + 1
    }
    range[0] = low
    range[1] = end
    return comparisons
  }

  /** Sum of the sizes of the ids at positions `[from, to)`. */
  sizeOf(from: number, to: number): number {
    return this.#sizes[to] - this.#sizes[from]
  }
}

/** Sorts the positions in `[from, to)` by their sequence number, then by themselves; if in order they stay untouched. */
function sortRange(order: Uint32Array, from: number, to: number, sequences: readonly bigint[]): void {
  for (let at = from + 1; at < to; at++) {
    if (sequences[order[at - 1]] <= sequences[order[at]]) continue
    order
      .subarray(from, to)
      .sort((a, b) => (sequences[a] < sequences[b] ? -1 : sequences[a] > sequences[b] ? 1 : a - b))
    return
  }
}
