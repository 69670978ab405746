/** Counts what is asked of a store, for reports (`io-requests`, `io-bytes`) and for tests. */
import type { FileIO, InputFile, ReadOptions } from './file-io.ts'

export interface RequestCounts {
  /** Reads and listings begun, failed ones included; the retries inside a store are not seen. */
  requests: number
  /** Bytes of file content received. */
  bytes: number
}

/**
 * The same store, counted. Put it below a limit, `limitRequests(new CountingFileIO(store))`, for then it sees
 * a request when it begins and not when it queues.
 */
export class CountingFileIO implements FileIO, RequestCounts {
  readonly identity: string
  readonly requestLimit: number | undefined
  requests = 0
  bytes = 0
  /** The same counts by location; a listing counts for its folder. */
  readonly byLocation = new Map<string, RequestCounts>()
  /** `undefined` where the store cannot list. */
  readonly list?: (folder: string, options?: ReadOptions) => Promise<string[]>
  readonly #io: FileIO

  constructor(io: FileIO) {
    this.identity = io.identity
    this.requestLimit = io.requestLimit
    this.#io = io
    const list = io.list?.bind(io)
    if (list !== undefined)
      this.list = (folder, options) => {
        this.#begin(folder)
        return list(folder, options)
      }
  }

  open(location: string, length?: number): InputFile {
    const file = this.#io.open(location, length)
    const readSync = file.readSync?.bind(file)
    return {
      location: file.location,
      isRemote: file.isRemote,
      read: async (range, options) => {
        const counts = this.#begin(location)
        return this.#end(counts, await file.read(range, options))
      },
      ...(readSync === undefined ? {} : { readSync: () => this.#end(this.#begin(location), readSync()) }),
    }
  }

  /** Starts again from zero. */
  reset(): void {
    this.requests = 0
    this.bytes = 0
    this.byLocation.clear()
  }

  #begin(location: string): RequestCounts {
    let counts = this.byLocation.get(location)
    if (counts === undefined) this.byLocation.set(location, (counts = { requests: 0, bytes: 0 }))
    counts.requests++
    this.requests++
    return counts
  }

  #end(counts: RequestCounts, bytes: Uint8Array): Uint8Array {
    counts.bytes += bytes.length
    this.bytes += bytes.length
    return bytes
  }
}
