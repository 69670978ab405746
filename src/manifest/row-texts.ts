/**
 * Texts of a byte column, a few rows at a time: to make one string costs as much as to make a string of sixteen rows and
 * to cut it. What is cut off holds the string of its neighbours, four kilobytes at most.
 */
const ROWS_AT_ONCE = 16
const MAX_BYTES = 4096
/** Times that rows prove not to be ASCII before they are made one by one. */
const MAX_FAILURES = 4

export class RowTexts {
  readonly #bytes: Buffer
  readonly #offsets: Uint32Array
  readonly #lengths: Uint32Array
  /** The row that was asked for last: who asks for the next one asks for more. */
  #last = -2
  /** Rows before it are made one by one. */
  #single = 0
  #failures = 0
  /** The text of these bytes. */
  #from = 0
  #to = 0
  #text = ''

  /** @param heap where the texts are, by row from an offset, so many bytes long */
  constructor(heap: Buffer, offsets: Uint32Array, lengths: Uint32Array) {
    this.#bytes = heap
    this.#offsets = offsets
    this.#lengths = lengths
  }

  at(row: number): string {
    const from = this.#offsets[row]
    const to = from + this.#lengths[row]
    const isNext = row === this.#last + 1
    this.#last = row
    if (
      isNext &&
      (from < this.#from || to > this.#to) &&
      row >= this.#single &&
      this.#failures < MAX_FAILURES
    )
      this.#read(row)
    if (from >= this.#from && to <= this.#to) return this.#text.slice(from - this.#from, to - this.#from)
    return this.#bytes.toString('utf8', from, to)
  }

  /** Reads the texts of some rows and what is between them, if it is all ASCII. */
  #read(row: number): void {
    const from = this.#offsets[row]
    let to = from
    let end = row
    for (; end < Math.min(row + ROWS_AT_ONCE, this.#offsets.length); end++) {
      const next = this.#offsets[end] + this.#lengths[end]
      if (this.#offsets[end] < to || next - from > MAX_BYTES) break
      to = next
    }
    const text = this.#bytes.toString('utf8', from, to)
    // A character of several bytes makes it shorter, and nothing makes it longer.
    const isAscii = text.length === to - from
    if (!isAscii) {
      this.#failures++
      this.#single = end
    }
    this.#from = isAscii ? from : 0
    this.#to = isAscii ? to : 0
    this.#text = isAscii ? text : ''
  }
}
