/**
 * Manifests to entry batches, in list order, whoever decodes and whatever finishes first.
 *
 *     runs of consecutive manifests -> bytes requested ahead -> decoded -> handed out in order
 *                  '---------------- counted by the window ----------------'
 *
 * The window counts bytes that were requested and batches that were decoded but not taken; the next run in order is
 * always admitted, whatever its size. A slow consumer therefore slows the decoding down, and the decoding the requests:
 * batches may be many times larger than their files, so those that wait must fit the window by themselves too.
 *
 * Small local files are read synchronously when their run is decoded: an asynchronous read of 5 KB costs ten times more.
 */
import { NotFoundError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import { SMALL_FILE_BYTES } from '../io/local-file-io.ts'
import type { EntryBatch } from '../manifest/entry-batch.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { DecodeContext, JobManifest } from './decode-job.ts'
import type { Decoder, StopSignal } from './decoder.ts'
import type { FetchedFile, FileFetcher } from './file-fetcher.ts'
import { unlessAborted } from './file-fetcher.ts'
import type { Warnings } from './warnings.ts'

/** Bytes requested or decoded, and not yet taken. */
export const WINDOW_BYTES = 32 * 1024 * 1024
/** Manifests requested and not yet decoded: several times what the request limit lets run at once. */
const MAX_REQUESTED = 96
/** How manifests are packed into runs. */
interface Packing {
  /** A run ends at so many bytes: a few milliseconds of decoding. */
  readonly bytes: number
  /** Most manifests of the first run; each later one may have so many times more, so that tasks come early. */
  readonly first: number
  readonly growth: number
  readonly most: number
}
const IN_PROCESS: Packing = { bytes: 512 * 1024, first: 1, growth: 4, most: 96 }
/**
 * Handing a run to a worker takes about as long as decoding ten small manifests, and where there are no more cores than
 * workers this thread may be slow to hand out the next.
 */
const IN_WORKERS: Packing = { bytes: 1024 * 1024, first: 32, growth: 8, most: 256 }
/** What a manifest of unknown length is counted as. */
const ASSUMED_BYTES = 8 * 1024 * 1024

export interface PipelineSetup {
  readonly manifests: readonly ManifestFile[]
  /** Asked for when the decoding begins: what is read of data files may depend on the delete files. */
  readonly context: () => DecodeContext
  readonly decoder: Decoder
  readonly fetcher: FileFetcher
  readonly io: FileIO
  readonly resolve: (location: string) => string
  readonly stop: StopSignal
  readonly warnings: Warnings
}

/** A run of consecutive manifests on its way. */
interface Run {
  manifests: readonly ManifestFile[]
  /** Bytes by position; absent for what is read when the run is decoded. Let go when the decoding begins. */
  requested: readonly (Promise<Uint8Array> | undefined)[]
  /** What the run takes of the window now. */
  charge: number
  batch: Promise<EntryBatch> | undefined
}

export class DecodePipeline {
  /** Look-ups of headers and plans, and files found in the cache, so far. */
  readonly counts = { hits: 0, misses: 0, fileHits: 0 }
  /** Live entries that the filter ruled out, so far. */
  skipped = 0
  readonly #setup: PipelineSetup
  /** Runs in order, from the next to be taken to the last that was admitted. */
  readonly #queue: Run[] = []
  #nextManifest = 0
  readonly #packing: Packing
  /** Most manifests of the next run. */
  #runManifests: number
  #charged = 0
  #requested = 0
  #decoding = 0
  /** Bytes of batches that wait to be taken. */
  #ready = 0
  #isOpen = false

  constructor(setup: PipelineSetup) {
    this.#setup = setup
    this.#packing = setup.decoder.workers === 0 ? IN_PROCESS : IN_WORKERS
    this.#runManifests = this.#packing.first
    // A plan stops its signal at its end too, so what was requested ahead and is not decoded is always given back.
    const leave = (): void => {
      for (const run of this.#queue) if (run.batch === undefined) this.#giveBack(run.requested)
    }
    setup.stop.signal.addEventListener('abort', leave, { once: true })
  }

  /** Requests what the window admits, without decoding: while something else comes first. */
  prefetch(): void {
    while (this.#nextManifest < this.#setup.manifests.length && this.#hasRoom()) this.#admit()
  }

  /** The batches, in order. To be consumed once; the stop signal ends it. */
  async *batches(): AsyncGenerator<EntryBatch> {
    const { stop } = this.#setup
    this.#isOpen = true
    try {
      for (;;) {
        stop.signal.throwIfAborted()
        this.#pump()
        const run = this.#queue.at(0)
        if (run === undefined) return
        run.batch ??= this.#decode(run)
        const batch = await unlessAborted(run.batch, stop.signal)
        this.#queue.shift()
        this.#ready -= batch.byteLength
        yield batch
        this.#charged -= run.charge
      }
    } finally {
      this.#isOpen = false
    }
  }

  /** Admits runs, and keeps workers busy: at most two jobs each, so that no plan starves another. */
  #pump(): void {
    if (!this.#isOpen || this.#setup.stop.signal.aborted) return
    this.prefetch()
    // In this thread a run is decoded when it is asked for, not ahead.
    const most = 2 * this.#setup.decoder.workers
    for (const run of this.#queue) {
      if (this.#decoding >= most || this.#ready >= WINDOW_BYTES) return
      run.batch ??= this.#decode(run)
    }
  }

  #hasRoom(): boolean {
    if (this.#queue.length === 0) return true
    return this.#charged < WINDOW_BYTES && this.#requested < MAX_REQUESTED
  }

  /** Takes the next run of manifests into the queue and requests its bytes. */
  #admit(): void {
    const { manifests } = this.#setup
    const { bytes: mostBytes, growth, most } = this.#packing
    const first = this.#nextManifest
    const last = Math.min(manifests.length, first + this.#runManifests)
    this.#runManifests = Math.min(most, this.#runManifests * growth)
    const requested: (Promise<Uint8Array> | undefined)[] = []
    let end = first
    let bytes = 0
    do {
      bytes += lengthOf(manifests[end])
      requested.push(this.#request(manifests[end]))
      end++
    } while (end < last && this.#requested < MAX_REQUESTED && bytes + lengthOf(manifests[end]) <= mostBytes)
    this.#nextManifest = end
    this.#charged += bytes
    this.#queue.push({ manifests: manifests.slice(first, end), requested, charge: bytes, batch: undefined })
  }

  /** Begins to read a manifest, unless it is in the cache or small and local. */
  #request(manifest: ManifestFile): Promise<Uint8Array> | undefined {
    const { fetcher, io } = this.#setup
    const file = this.#fileOf(manifest)
    if (fetcher.has(file, io) || (isSmall(manifest) && canReadNow(io, file))) return undefined
    this.#requested++
    const bytes = this.#fetch(manifest)
      .then((got) => {
        this.#correct(manifest, got)
        return got
      })
      .finally(() => {
        this.#requested--
        this.#pump()
      })
    // A rejection is seen when the run's turn comes; until then it is nobody's.
    bytes.catch(() => undefined)
    return bytes
  }

  #decode(run: Run): Promise<EntryBatch> {
    // The more of a plan is under way, the longer its next run can wait for those of other plans.
    const batch = this.#decodeRun(run, -this.#decoding++).finally(() => {
      this.#decoding--
      this.#pump()
    })
    batch.catch(() => undefined)
    return batch
  }

  async #decodeRun(run: Run, urgency: number): Promise<EntryBatch> {
    const { context, decoder, fetcher, stop } = this.#setup
    const lent: Uint8Array[] = []
    let { requested } = run
    run.requested = []
    try {
      const jobs: JobManifest[] = []
      let total = 0
      for (const [i, manifest] of run.manifests.entries()) {
        if (total > WINDOW_BYTES) {
          this.#split(run, requested, i)
          requested = requested.slice(0, i)
          break
        }
        const got = requested[i] ?? this.#readNow(manifest)
        const bytes = got instanceof Uint8Array ? got : await got
        lent.push(bytes)
        total += bytes.length
        if (requested[i] === undefined) this.#correct(manifest, bytes)
        const { location } = this.#fileOf(manifest)
        this.#checkLength(manifest, location, bytes)
        jobs.push({ manifest, bytes, location })
      }
      const { batch, skipped, hits, misses } = await decoder.decode(jobs, context(), stop, urgency)
      this.counts.hits += hits
      this.counts.misses += misses
      this.skipped += skipped
      this.#recharge(run, batch.byteLength - run.charge)
      this.#ready += batch.byteLength
      return batch
    } finally {
      for (const bytes of lent) fetcher.giveBack(bytes)
      this.#giveBack(requested.slice(lent.length))
    }
  }

  #recharge(run: Run, more: number): void {
    run.charge += more
    this.#charged += more
  }

  /** What arrived is larger or smaller than the list says: counted where the manifest is now, unless it was taken. */
  #correct(manifest: ManifestFile, bytes: Uint8Array): void {
    const more = bytes.length - lengthOf(manifest)
    const run = more === 0 ? undefined : this.#queue.find(({ manifests }) => manifests.includes(manifest))
    if (run !== undefined) this.#recharge(run, more)
  }

  /** Files that are far larger than their list says do not make one huge batch: the rest becomes a run of its own. */
  #split(run: Run, requested: readonly (Promise<Uint8Array> | undefined)[], at: number): void {
    const manifests = run.manifests.slice(at)
    const charge = manifests.reduce((sum, manifest) => sum + lengthOf(manifest), 0)
    run.manifests = run.manifests.slice(0, at)
    run.charge -= charge
    const rest: Run = { manifests, requested: requested.slice(at), charge, batch: undefined }
    this.#queue.splice(this.#queue.indexOf(run) + 1, 0, rest)
  }

  /** Ends the loans of bytes that were requested and are not decoded, as they come. */
  #giveBack(requested: readonly (Promise<Uint8Array> | undefined)[]): void {
    const { fetcher } = this.#setup
    for (const bytes of requested) {
      bytes?.then(
        (got) => {
          fetcher.giveBack(got)
        },
        () => undefined,
      )
    }
  }

  /** From the cache, or at once from a small local file; as a promise from anywhere else. */
  #readNow(manifest: ManifestFile): Uint8Array | Promise<Uint8Array> {
    const { fetcher, io } = this.#setup
    const file = this.#fileOf(manifest)
    const kept = fetcher.lend(file, io)
    if (kept !== undefined) {
      this.counts.fileHits++
      return kept
    }
    const input = io.open(file.location, file.length)
    if (!isSmall(manifest) || input.readSync === undefined) return this.#fetch(manifest)
    try {
      return fetcher.readSync(file, io, () => input.readSync?.() ?? new Uint8Array(0))
    } catch (error) {
      throw namedManifest(error, manifest, file.location)
    }
  }

  async #fetch(manifest: ManifestFile): Promise<Uint8Array> {
    const { fetcher, io, stop } = this.#setup
    const file = this.#fileOf(manifest)
    try {
      return await fetcher.fetch(file, io, stop.signal)
    } catch (error) {
      throw namedManifest(error, manifest, file.location)
    }
  }

  #fileOf(manifest: ManifestFile): FetchedFile {
    return { location: this.#setup.resolve(manifest.manifestPath), length: manifest.manifestLength }
  }

  #checkLength(manifest: ManifestFile, location: string, bytes: Uint8Array): void {
    const claimed = manifest.manifestLength
    if (claimed === undefined || claimed === bytes.length) return
    this.#setup.warnings.add(
      'a manifest has another length than its list says',
      `Manifest ${location} has ${bytes.length} bytes, but the manifest list says ${claimed}.`,
    )
  }
}

/** A length that is not known, or makes no sense, is not small. */
function isSmall({ manifestLength }: ManifestFile): boolean {
  return manifestLength !== undefined && manifestLength >= 0 && manifestLength <= SMALL_FILE_BYTES
}

/** False too where a file cannot be opened at all: its turn to fail comes when it is read. */
function canReadNow(io: FileIO, { location, length }: FetchedFile): boolean {
  try {
    return io.open(location, length).readSync !== undefined
  } catch {
    return false
  }
}

/** The list's length, as far as it can be believed. */
function lengthOf({ manifestLength }: ManifestFile): number {
  if (manifestLength === undefined || manifestLength < 0) return ASSUMED_BYTES
  return Math.min(manifestLength, WINDOW_BYTES)
}

/** A missing manifest is named as the metadata names it too, where a rebase moved it. */
function namedManifest(error: unknown, manifest: ManifestFile, location: string): unknown {
  if (!(error instanceof NotFoundError) || location === manifest.manifestPath) return error
  return new NotFoundError(`${error.message} (manifest ${manifest.manifestPath}, moved by a rebase)`, {
    location,
    cause: error,
  })
}
