/**
 * Bounds how many requests a store has to answer at once, and how many begin in one turn of the event loop; the rest wait
 * in the order they were made.
 */
import pLimit, { type LimitFunction } from 'p-limit'
import { InvalidArgumentError } from '../errors.ts'
import { unlessAborted } from './abort-listeners.ts'
import type { FileIO, InputFile } from './file-io.ts'
import { TimeShare, TimeSlice } from './time-slice.ts'

/**
 * Requests in flight unless the caller says otherwise. Of 10,000 manifests of 5 KB, a plan with 64 took the least time at
 * a latency of 1 ms, 1.1 times the least (128) at 20 ms, and 2.7 times the least (256) at 100 ms (`npm run bench -- s3`).
 * More at once would make the main thread's turns longer, and the answers of each slower on a link that all share.
 */
export const DEFAULT_REQUEST_LIMIT = 64

/**
 * @param purpose how the message begins: "Cannot load s3://b/t"
 * @throws InvalidArgumentError for a limit that is not a whole number above zero; undefined is the default.
 */
export function checkRequestLimit(limit: number | undefined, purpose: string): void {
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw new InvalidArgumentError(`${purpose}: the request limit is ${limit}, not a whole number above zero`)
}

/**
 * The same store, with at most `limit` reads and listings running. A read whose signal is aborted while it
 * waits rejects at once and never reaches the store. `readSync` takes no turn: it is over before it could be
 * counted.
 */
export function limitRequests(io: FileIO, limit: number = DEFAULT_REQUEST_LIMIT): FileIO {
  const turns = new Turns(limit)
  const open = (location: string, length?: number): InputFile => {
    const file = io.open(location, length)
    const readSync = file.readSync?.bind(file)
    return {
      location: file.location,
      isRemote: file.isRemote,
      read: (range, options) => turns.take(options?.signal, () => file.read(range, options)),
      ...(readSync === undefined ? {} : { readSync }),
    }
  }
  const list = io.list?.bind(io)
  return {
    identity: io.identity,
    requestLimit: limit,
    open,
    ...(list === undefined
      ? {}
      : { list: (folder, options) => turns.take(options?.signal, () => list(folder, options)) }),
  }
}

/** Of all stores of the process. */
const SHARE = new TimeShare()

/** A queue that those who wait can leave, which p-limit's own cannot do. */
class Turns {
  readonly #limit: LimitFunction
  /** To sign and send takes a tenth of a millisecond and more, and many answers may come in one turn of the event loop. */
  readonly #slice = new TimeSlice(SHARE)

  constructor(limit: number) {
    this.#limit = pLimit(limit)
  }

  take<T>(signal: AbortSignal | undefined, request: () => Promise<T>): Promise<T> {
    const turn = this.#limit(async () => {
      // In the same step as the request, or all who wait would go on at once.
      while (this.#slice.isOver) await this.#slice.turn()
      // One that has left is still in the queue, and gives its turn away.
      signal?.throwIfAborted()
      return await request()
    })
    return unlessAborted(this.#unhurried(turn), signal)
  }

  /** The answer, in a turn of the event loop that has time for what is done with it. */
  async #unhurried<T>(answer: Promise<T>): Promise<T> {
    const value = await answer
    while (this.#slice.isOver) await this.#slice.turn()
    return value
  }
}
