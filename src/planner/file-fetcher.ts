/**
 * Bytes of manifests and manifest lists for all plans of a planner: from the cache, or from storage once, however many
 * plans ask at the same time.
 *
 * A request belongs to nobody and to everybody who waits for it: a plan that is stopped leaves, and the last one to
 * leave aborts it. Only a whole body is ever kept.
 */
import type { FileIO } from '../io/file-io.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'

export interface FetchedFile {
  readonly location: string
  /** As the metadata claims it: a hint, and a part of the cache's key. */
  readonly length: number | undefined
}

interface Flight {
  readonly bytes: Promise<Uint8Array>
  readonly controller: AbortController
  waiting: number
}

export class FileFetcher {
  readonly cache: ManifestCache
  readonly #flights = new Map<string, Flight>()

  constructor(cache: ManifestCache) {
    this.cache = cache
  }

  /** The kept bytes, lent: give them back. */
  lend({ location, length }: FetchedFile, io: FileIO): Uint8Array | undefined {
    return this.cache.lend(location, io.identity, length)
  }

  has({ location, length }: FetchedFile, io: FileIO): boolean {
    return this.cache.hasFile(location, io.identity, length)
  }

  /** Done with bytes that this fetcher gave. */
  giveBack(bytes: Uint8Array): void {
    this.cache.giveBack(bytes)
  }

  /** Reads a file in this very turn, as small local ones are. The bytes are lent. */
  readSync(file: FetchedFile, io: FileIO, readSync: () => Uint8Array): Uint8Array {
    return this.#arrived(file, io, readSync())
  }

  /** Reads a file, or joins a read that is under way. The bytes are lent. */
  async fetch(file: FetchedFile, io: FileIO, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted()
    const kept = this.lend(file, io)
    if (kept !== undefined) return kept
    const flight = this.#join(file, io)
    flight.waiting++
    try {
      const bytes = await unlessAborted(flight.bytes, signal)
      this.cache.hold(bytes)
      return bytes
    } finally {
      if (--flight.waiting === 0) flight.controller.abort()
    }
  }

  #join(file: FetchedFile, io: FileIO): Flight {
    const key = `${io.identity}\n${file.location}\n${file.length ?? ''}`
    const known = this.cache.enabled ? this.#flights.get(key) : undefined
    if (known !== undefined && !known.controller.signal.aborted) return known
    const controller = new AbortController()
    const { signal } = controller
    const bytes = io
      .open(file.location, file.length)
      .read(undefined, { signal })
      .then((whole) => {
        this.cache.keepFile(file.location, whole, io.identity, file.length)
        return whole
      })
      .finally(() => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
      })
    // Those who left do not hear of its end.
    bytes.catch(() => undefined)
    const flight: Flight = { bytes, controller, waiting: 0 }
    if (this.cache.enabled) this.#flights.set(key, flight)
    return flight
  }

  #arrived({ location, length }: FetchedFile, io: FileIO, bytes: Uint8Array): Uint8Array {
    this.cache.keepFile(location, bytes, io.identity, length)
    this.cache.hold(bytes)
    return bytes
  }
}

/** The value of a promise, or the signal's reason if that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      // The reason is the caller's own, error or not.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort)
    })
    if (signal.aborted) abort()
  })
}
