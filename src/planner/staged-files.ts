/**
 * The files of a job on their way to a worker: side by side in one piece of shared memory, which is used again for the
 * next job when the worker has answered. To copy a file into fresh memory takes nearly twice as long (0.7 ms a megabyte
 * against 0.4, on two cores that are busy), and shared memory that is dropped does not count for V8's collector: it piles up.
 */

/** Sizes begin here and double: a job is rarely smaller. */
const LEAST_BYTES = 256 * 1024
/** A larger piece is not kept; all that are kept have twice as much at most. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024

export interface StagedFiles {
  /** At least as long as the files. */
  readonly memory: SharedArrayBuffer
  /** Where each file ends; it begins where the one before it ends. */
  readonly ends: Float64Array
}

/** Pieces of shared memory: as many as there are jobs at once. */
export class StagingMemory {
  readonly #most: number
  /** The smallest first. */
  readonly #free: SharedArrayBuffer[] = []
  #freeBytes = 0

  /** @param most pieces kept while they are not in use */
  constructor(most: number) {
    this.#most = most
  }

  /** Bytes of the pieces that are kept and not in use. */
  get freeBytes(): number {
    return this.#freeBytes
  }

  /** Copies files into a piece; give it back when nobody reads it any more. */
  stage(files: readonly Uint8Array[]): StagedFiles {
    const memory = this.#take(files.reduce((sum, { length }) => sum + length, 0))
    const bytes = new Uint8Array(memory)
    const ends = new Float64Array(files.length)
    let end = 0
    for (const [i, file] of files.entries()) {
      bytes.set(file, end)
      ends[i] = end += file.length
    }
    return { memory, ends }
  }

  giveBack({ memory }: StagedFiles): void {
    if (memory.byteLength > MOST_KEPT_BYTES) return
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= memory.byteLength)
    this.#free.splice(at === -1 ? this.#free.length : at, 0, memory)
    this.#freeBytes += memory.byteLength
    // What is needed now is more often large.
    if (this.#free.length > this.#most) this.#drop(0)
    while (this.#freeBytes > 2 * MOST_KEPT_BYTES) this.#drop(this.#free.length - 1)
  }

  #take(bytes: number): SharedArrayBuffer {
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes)
    if (at !== -1) return this.#drop(at)
    let size = LEAST_BYTES
    while (size < bytes) size *= 2
    return new SharedArrayBuffer(size)
  }

  #drop(at: number): SharedArrayBuffer {
    const [memory] = this.#free.splice(at, 1)
    this.#freeBytes -= memory.byteLength
    return memory
  }
}

/** Views, one per file. */
export function stagedFiles({ memory, ends }: StagedFiles): Uint8Array[] {
  return Array.from(ends, (end, i) => {
    const start = i === 0 ? 0 : ends[i - 1]
    return new Uint8Array(memory, start, end - start)
  })
}
