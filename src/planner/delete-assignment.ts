/**
 * Which deletes apply to the rows of one batch. Files that follow each other often have the same deletes, so rows hold
 * the number of an answer, which is kept once for such a series; an answer is a range of each kind's delete ids.
 */
import type { DeleteFile } from '../manifest/content-file.ts'
import type { SequencedLists } from './sequenced-lists.ts'

/** What applies to the live rows of one batch. */
export interface DeleteAssignment {
  /** Number of deletes, of all rows together: one that applies to two rows counts twice. */
  readonly count: number
  /** Their sizes in bytes; of a deletion vector its blob's. */
  readonly sizeInBytes: number
  /** Number of deletes of the i-th live row. */
  countAt(i: number): number
  /** Their sizes in bytes. */
  sizeAt(i: number): number
  /** They, in the order of R7.11: views, which rows with the same deletes may share. */
  filesAt(i: number): readonly DeleteFile[]
}

const NO_FILES: readonly DeleteFile[] = Object.freeze([])
/** No row has a delete. */
export const NOTHING_ASSIGNED: DeleteAssignment = {
  count: 0,
  sizeInBytes: 0,
  countAt: () => 0,
  sizeAt: () => 0,
  filesAt: () => NO_FILES,
}

/** Kinds of lists, in the order in which the deletes of a row are given (R7.11). */
export const KIND = {
  GLOBAL_EQUALITY: 0,
  PARTITION_EQUALITY: 1,
  PARTITION_POSITION: 2,
  PATH_POSITION: 3,
} as const
export const KINDS = 4
/** An answer's numbers: from and to of each kind. */
const RANGE_CELLS = 2 * KINDS
const EQUALITY_KINDS = [KIND.GLOBAL_EQUALITY, KIND.PARTITION_EQUALITY] as const

/** What the answers speak of. */
export interface AssignedDeletes {
  /** By kind. */
  readonly lists: readonly SequencedLists[]
  /** By delete id, in bytes. */
  readonly sizes: Float64Array
  file(id: number): DeleteFile
}

/**
 * Is filled row by row: {@link begin}, what applies, {@link end}; or {@link repeat}. A row that is left out has no deletes.
 */
export class RangeAssignment implements DeleteAssignment {
  count = 0
  sizeInBytes = 0
  comparisons = 0
  readonly #deletes: AssignedDeletes
  /** Number of the answer by row; 0 is "nothing". */
  readonly #answerOf: Uint32Array
  /** By answer: from and to of each kind. */
  #ranges = new Uint32Array(64 * RANGE_CELLS)
  /** By answer; -1 where there is none. */
  #dvs = new Int32Array(64).fill(-1)
  #counts = new Uint32Array(64)
  #sizes = new Float64Array(64)
  #answers = 1
  readonly #range: [from: number, to: number] = [0, 0]
  /** Equality deletes by answer, where metrics rule out some of the ranges: they take the place of both ranges then. */
  readonly #kept = new Map<number, readonly number[]>()
  /** The files of the answer that was looked at last. */
  #last: { readonly answer: number; readonly files: readonly DeleteFile[] } | undefined

  constructor(rows: number, deletes: AssignedDeletes) {
    this.#answerOf = new Uint32Array(rows)
    this.#deletes = deletes
  }

  /** Begins an answer, where there may be what is left of one that was not needed. */
  begin(): void {
    const answer = this.#answers
    if (answer === this.#counts.length) {
      const capacity = 2 * answer
      this.#ranges = grown(this.#ranges, capacity * RANGE_CELLS)
      this.#dvs = grown(this.#dvs, capacity)
      this.#counts = grown(this.#counts, capacity)
      this.#sizes = grown(this.#sizes, capacity)
    }
    this.#ranges.fill(0, answer * RANGE_CELLS, (answer + 1) * RANGE_CELLS)
    this.#dvs[answer] = -1
    this.#kept.delete(answer)
  }

  /** Finds the suffix of one list, for the answer; gives it, in an array that the next call reuses. */
  set(kind: number, list: number, sequence: bigint): readonly [from: number, to: number] {
    const range = this.#range
    this.comparisons += this.#deletes.lists[kind].suffix(list, sequence, range)
    const at = this.#answers * RANGE_CELLS + 2 * kind
    this.#ranges[at] = range[0]
    this.#ranges[at + 1] = range[1]
    return range
  }

  get hasEquality(): boolean {
    return EQUALITY_KINDS.some((kind) => this.#from(this.#answers, kind) < this.#to(this.#answers, kind))
  }

  /**
   * Keeps those equality deletes of the answer that may apply.
   *
   * @returns how many were asked about
   */
  keepEquality(mayApply: (id: number) => boolean): number {
    const answer = this.#answers
    const kept: number[] = []
    let asked = 0
    for (const kind of EQUALITY_KINDS) {
      for (let at = this.#from(answer, kind); at < this.#to(answer, kind); at++) {
        const id = this.#deletes.lists[kind].ids[at]
        asked++
        if (mayApply(id)) kept.push(id)
      }
    }
    if (kept.length < asked) {
      this.#kept.set(answer, kept)
      for (const kind of EQUALITY_KINDS) {
        const at = answer * RANGE_CELLS + 2 * kind
        this.#ranges.fill(0, at, at + 2)
      }
    }
    return asked
  }

  setDeletionVector(id: number): void {
    this.#dvs[this.#answers] = id
  }

  /** The answer is complete, and the i-th row's. */
  end(i: number): void {
    const answer = this.#answers
    const { lists, sizes } = this.#deletes
    const dv = this.#dvs[answer]
    let count = dv >= 0 ? 1 : 0
    let size = dv >= 0 ? sizes[dv] : 0
    for (const id of this.#kept.get(answer) ?? []) {
      count++
      size += sizes[id]
    }
    for (let kind = 0; kind < KINDS; kind++) {
      const from = this.#from(answer, kind)
      const to = this.#to(answer, kind)
      count += to - from
      size += lists[kind].sizeOf(from, to)
    }
    if (count === 0) return
    if (this.#isLike(answer, answer - 1)) {
      this.#give(i, answer - 1)
      return
    }
    this.#counts[answer] = count
    this.#sizes[answer] = size
    this.#answers++
    this.#give(i, answer)
  }

  /** Files of one partition often have the same deletes, whatever their sequence numbers are. */
  #isLike(answer: number, other: number): boolean {
    if (this.#dvs[answer] !== this.#dvs[other] || this.#kept.has(answer) || this.#kept.has(other))
      return false
    const [at, to] = [answer * RANGE_CELLS, other * RANGE_CELLS]
    for (let cell = 0; cell < RANGE_CELLS; cell++)
      if (this.#ranges[at + cell] !== this.#ranges[to + cell]) return false
    return true
  }

  /** The i-th row has the answer of another one. */
  repeat(i: number, other: number): void {
    this.#give(i, this.#answerOf[other])
  }

  #give(i: number, answer: number): void {
    this.#answerOf[i] = answer
    this.count += this.#counts[answer]
    this.sizeInBytes += this.#sizes[answer]
  }

  countAt(i: number): number {
    return this.#counts[this.#answerOf[i]]
  }

  sizeAt(i: number): number {
    return this.#sizes[this.#answerOf[i]]
  }

  filesAt(i: number): readonly DeleteFile[] {
    const answer = this.#answerOf[i]
    if (answer === 0) return NO_FILES
    if (this.#last?.answer === answer) return this.#last.files
    const { lists } = this.#deletes
    const file = (id: number): DeleteFile => this.#deletes.file(id)
    const files = (this.#kept.get(answer) ?? []).map(file)
    for (let kind = 0; kind < KINDS; kind++) {
      if (kind === KIND.PARTITION_POSITION && this.#dvs[answer] >= 0) files.push(file(this.#dvs[answer]))
      for (let at = this.#from(answer, kind); at < this.#to(answer, kind); at++)
        files.push(file(lists[kind].ids[at]))
    }
    this.#last = { answer, files: Object.freeze(files) }
    return files
  }

  #from(answer: number, kind: number): number {
    return this.#ranges[answer * RANGE_CELLS + 2 * kind]
  }

  #to(answer: number, kind: number): number {
    return this.#ranges[answer * RANGE_CELLS + 2 * kind + 1]
  }
}

function grown<A extends Uint32Array | Int32Array | Float64Array>(array: A, length: number): A {
  const next = new (array.constructor as new (length: number) => A)(length)
  next.set(array)
  return next
}
