/**
 * Bytes of manifests and manifest lists for all plans of a planner: from the cache, from the disk cache, or from storage
 * once, however many plans ask at the same time.
 *
 * A request belongs to nobody and to everybody who waits for it: a plan that is stopped leaves, and the last one to
 * leave aborts it. Only a whole body is ever kept.
 */
import type { DiskCache, DiskCacheKey } from '../io/disk-cache.ts'
import type { FileIO } from '../io/file-io.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import { TimeShare, TimeSlice } from './time-slice.ts'
import type { Warnings } from './warnings.ts'

export interface FetchedFile {
  readonly location: string
  /** As the metadata claims it: a hint, and a part of the cache's key. */
  readonly length: number | undefined
}

/** What a plan wants to know of the disk cache. */
export interface FetchNotes {
  /** The count of files that this plan had read from the disk cache. */
  readonly counts: { diskHits: number }
  readonly warnings: Warnings
}

export interface FetcherOptions {
  readonly disk?: DiskCache | undefined
  /** Of the planner: the event loop turns while there is much to read from the disk cache. */
  readonly share?: TimeShare | undefined
}

interface Flight {
  readonly bytes: Promise<Uint8Array>
  readonly controller: AbortController
  waiting: number
}

export class FileFetcher {
  readonly cache: ManifestCache
  readonly #flights = new Map<string, Flight>()
  readonly #disk: DiskCache | undefined
  readonly #slice: TimeSlice

  constructor(cache: ManifestCache, { disk, share = new TimeShare() }: FetcherOptions = {}) {
    this.cache = cache
    this.#disk = disk
    this.#slice = new TimeSlice(share)
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
  async fetch(file: FetchedFile, io: FileIO, signal: AbortSignal, notes?: FetchNotes): Promise<Uint8Array> {
    signal.throwIfAborted()
    const kept = this.lend(file, io)
    if (kept !== undefined) return kept
    const flight = this.#join(file, io, notes)
    flight.waiting++
    try {
      const bytes = await unlessAborted(flight.bytes, signal)
      this.cache.hold(bytes)
      return bytes
    } finally {
      if (--flight.waiting === 0) flight.controller.abort()
    }
  }

  #join(file: FetchedFile, io: FileIO, notes: FetchNotes | undefined): Flight {
    const key = `${io.identity}\n${file.location}\n${file.length ?? ''}`
    const known = this.cache.enabled ? this.#flights.get(key) : undefined
    if (known !== undefined && !known.controller.signal.aborted) return known
    const controller = new AbortController()
    const bytes = this.#read(file, io, controller.signal, notes).finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    // Those who left do not hear of its end.
    bytes.catch(() => undefined)
    const flight: Flight = { bytes, controller, waiting: 0 }
    if (this.cache.enabled) this.#flights.set(key, flight)
    return flight
  }

  /** The whole file, which is kept. Whoever waits for it waits for the disk too: what is written need not queue up. */
  async #read(
    file: FetchedFile,
    io: FileIO,
    signal: AbortSignal,
    notes: FetchNotes | undefined,
  ): Promise<Uint8Array> {
    const input = io.open(file.location, file.length)
    const disk = input.isRemote === true ? this.#disk : undefined
    const key = { identity: io.identity, location: file.location, length: file.length }
    const kept = disk === undefined ? undefined : await this.#readKept(disk, key, signal)
    const bytes = kept ?? (await input.read(undefined, { signal }))
    this.cache.keepFile(file.location, bytes, io.identity, file.length)
    if (disk === undefined) return bytes
    if (kept === undefined) await disk.write(key, bytes)
    else if (notes !== undefined) notes.counts.diskHits++
    for (const trouble of disk.takeTroubles()) notes?.warnings.add('of the disk cache', trouble)
    return bytes
  }

  async #readKept(disk: DiskCache, key: DiskCacheKey, signal: AbortSignal): Promise<Uint8Array | undefined> {
    // Small files are read synchronously, and a plan may want thousands at once.
    while (this.#slice.isOver) await this.#slice.turn()
    signal.throwIfAborted()
    return disk.read(key)
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
