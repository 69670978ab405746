/**
 * Bytes of manifests and manifest lists for all plans of a planner: from the cache, from the disk cache, or from storage
 * once, however many plans ask at the same time.
 *
 * A request belongs to nobody and to everybody who waits for it: a plan that is stopped leaves, and the last one to
 * leave aborts it. Only a whole body is ever kept: one that is not as long as the metadata claims is used, and read again
 * by the next plan.
 */
import { StorageError } from '../errors.ts'
import { unlessAborted } from '../io/abort-listeners.ts'
import type { DiskCache, DiskCacheKey } from '../io/disk-cache.ts'
import type { FileIO, InputFile } from '../io/file-io.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import { SharedRun } from '../io/shared-run.ts'
import { TimeShare, TimeSlice } from '../io/time-slice.ts'
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

export class FileFetcher {
  readonly cache: ManifestCache
  /** Reads under way. */
  readonly #reading = new Map<string, SharedRun<Uint8Array>>()
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
  readSync({ location, length }: FetchedFile, io: FileIO, readSync: () => Uint8Array): Uint8Array {
    const bytes = readSync()
    if (isAsLongAs(length, bytes)) this.cache.keepFile(location, bytes, io.identity)
    this.cache.hold(bytes)
    return bytes
  }

  /**
   * Reads a file, or joins a read that is under way. The bytes are lent.
   *
   * Rejects with what the store rejects with, StorageError for a file that is shorter than claimed and then has another
   * length, and the signal's reason.
   */
  async fetch(file: FetchedFile, io: FileIO, signal: AbortSignal, notes?: FetchNotes): Promise<Uint8Array> {
    signal.throwIfAborted()
    const kept = this.lend(file, io)
    if (kept !== undefined) return kept
    const bytes = this.cache.enabled
      ? await this.#readShared(file, io, signal, notes)
      : await unlessAborted(this.#read(file, io, signal, notes), signal)
    this.cache.hold(bytes)
    return bytes
  }

  async #readShared(
    file: FetchedFile,
    io: FileIO,
    signal: AbortSignal,
    notes: FetchNotes | undefined,
  ): Promise<Uint8Array> {
    const key = `${io.identity}\n${file.location}\n${file.length ?? ''}`
    let reading = this.#reading.get(key)
    if (reading === undefined) {
      reading = new SharedRun((signal) => this.#read(file, io, signal, notes))
      this.#reading.set(key, reading)
    }
    try {
      return await reading.join(signal)
    } finally {
      if (!reading.isUnderWay && this.#reading.get(key) === reading) this.#reading.delete(key)
    }
  }

  /** The whole file, which is kept. Whoever waits for it waits for the disk too: what is written need not queue up. */
  async #read(
    file: FetchedFile,
    io: FileIO,
    signal: AbortSignal,
    notes: FetchNotes | undefined,
  ): Promise<Uint8Array> {
    const { location, length } = file
    const input = io.open(location, length)
    const disk = input.isRemote === true ? this.#disk : undefined
    const key = { identity: io.identity, location, length }
    const kept = disk === undefined ? undefined : await this.#readKept(disk, key, signal)
    const bytes = kept ?? (await readWhole(input, length, signal))
    const isWhole = isAsLongAs(length, bytes)
    if (isWhole) this.cache.keepFile(location, bytes, io.identity)
    if (disk === undefined) return bytes
    if (kept !== undefined) {
      if (notes !== undefined) notes.counts.diskHits++
    } else if (isWhole) await disk.write(key, bytes)
    for (const trouble of disk.takeTroubles()) notes?.warnings.add('of the disk cache', trouble)
    return bytes
  }

  async #readKept(disk: DiskCache, key: DiskCacheKey, signal: AbortSignal): Promise<Uint8Array | undefined> {
    // Small files are read synchronously, and a plan may want thousands at once.
    while (this.#slice.isOver) await this.#slice.turn()
    signal.throwIfAborted()
    return disk.read(key)
  }
}

/**
 * A file that is shorter than claimed is read once more: the claim may be wrong, but so may be an answer that did not
 * announce its length and was cut off, which nothing else tells.
 */
async function readWhole(
  input: InputFile,
  length: number | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const first = await input.read(undefined, { signal })
  if (length === undefined || first.length >= length) return first
  const second = await input.read(undefined, { signal })
  // Files never change, so different lengths mean that the store gives parts of them.
  if (second.length !== length && second.length !== first.length)
    throw new StorageError(
      `Cannot read ${input.location}: ${first.length} bytes came, then ${second.length}, and it should have ${length}`,
      { location: input.location, retryable: true },
    )
  return second
}

/** Whether bytes may be kept: if not, either the claim is wrong or they are a part of the file. */
function isAsLongAs(length: number | undefined, bytes: Uint8Array): boolean {
  return length === undefined || bytes.length === length
}
