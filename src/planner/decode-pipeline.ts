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
import { CorruptFileError, NotFoundError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import { SMALL_FILE_BYTES } from '../io/local-file-io.ts'
import type { EntryBatch } from '../manifest/entry-batch.ts'
import type { EntryPlace, KeptRun } from '../manifest/entry-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { DecodePhase } from './decode-contexts.ts'
import { compacted, filterOf, type DecodeContext, type JobManifest } from './decode-job.ts'
import type { Decoder, StopSignal } from './decoder.ts'
import type { FetchedFile, FileFetcher } from './file-fetcher.ts'
import { unlessAborted } from '../io/abort-listeners.ts'
import type { Warnings } from './warnings.ts'

/** What an entry takes in memory, before it is known. */
const ASSUMED_ENTRY_BYTES = 256
/** Runs admitted and not yet taken: those of the cache take nothing of the window. */
const MAX_RUNS = 64
/** Bytes requested or decoded, and not yet taken. */
export const WINDOW_BYTES = 32 * 1024 * 1024
/** Manifests requested and not yet decoded, at least; twice what the store lets run at once if that is more. */
const MAX_REQUESTED = 96
/** Manifests requested before the event loop turns, about: each takes a fraction of a millisecond. */
const REQUESTED_AT_ONCE = 16
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
  readonly phase: () => DecodePhase
  /** The plan, for the cache. */
  readonly user: object
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
  /** Where the entries are, if they were decoded before: as long as they have what the plan needs. */
  readonly kept: KeptManifests | undefined
  /** What the run takes of the window now. */
  charge: number
  /** Memory of the batch that waits to be taken. */
  ready: number
  /** Bytes of the files, as they are read. */
  readonly lengths: number[]
  batch: Promise<EntryBatch> | undefined
}

/** Manifests of a run in the cache. */
interface KeptManifests {
  readonly run: KeptRun
  /** Ascending. */
  readonly segments: readonly number[]
}

export class DecodePipeline {
  /** What was found in caches, so far. */
  readonly counts = { hits: 0, misses: 0, fileHits: 0, diskHits: 0, entryHits: 0 }
  /** Live entries that the filter ruled out, so far. */
  skipped = 0
  readonly #setup: PipelineSetup
  /** Runs in order, from the next to be taken to the last that was admitted. */
  readonly #queue: Run[] = []
  #nextManifest = 0
  readonly #packing: Packing
  readonly #mostRequested: number
  /** Most manifests of the next run. */
  #runManifests: number
  #charged = 0
  #requested = 0
  #decoding = 0
  /** Bytes of batches that wait to be taken. */
  #ready = 0
  #isOpen = false
  #isToPump = false
  /** Requests are to be made although nobody takes batches yet. */
  #isAhead = false

  constructor(setup: PipelineSetup) {
    this.#setup = setup
    this.#packing = setup.decoder.workers === 0 ? IN_PROCESS : IN_WORKERS
    this.#runManifests = this.#packing.first
    this.#mostRequested = Math.max(MAX_REQUESTED, 2 * (setup.io.requestLimit ?? 0))
    // A plan stops its signal at its end too, so what was requested ahead and is not decoded is always given back.
    const leave = (): void => {
      for (const run of this.#queue) if (run.batch === undefined) this.#giveBack(run.requested)
    }
    setup.stop.signal.addEventListener('abort', leave, { once: true })
  }

  /** Requests what the window admits, without decoding: while something else comes first. */
  prefetch(): void {
    this.#isAhead = true
    this.#pump()
  }

  #admitAhead(): void {
    const enough = this.#requested + REQUESTED_AT_ONCE
    while (this.#nextManifest < this.#setup.manifests.length && this.#hasRoom()) {
      if (this.#requested >= enough) {
        this.#pumpLater()
        return
      }
      this.#admit()
    }
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
        this.#ready -= run.ready
        yield batch
        this.#charged -= run.charge
      }
    } finally {
      this.#isOpen = false
    }
  }

  /** Admits runs, and keeps workers busy: at most two jobs each, so that no plan starves another. */
  #pump(): void {
    if (this.#setup.stop.signal.aborted || !(this.#isOpen || this.#isAhead)) return
    this.#admitAhead()
    if (!this.#isOpen) return
    // In this thread a run is decoded when it is asked for, not ahead.
    const most = 2 * this.#setup.decoder.workers
    for (const run of this.#queue) {
      if (this.#decoding >= most || this.#ready >= WINDOW_BYTES) return
      // What is in the cache need not be begun with.
      if (run.kept === undefined) run.batch ??= this.#decode(run)
    }
  }

  #pumpLater(): void {
    if (this.#isToPump) return
    this.#isToPump = true
    setImmediate(() => {
      this.#isToPump = false
      this.#pump()
    })
  }

  #hasRoom(): boolean {
    if (this.#queue.length === 0) return true
    if (this.#queue.length >= MAX_RUNS) return false
    return this.#charged < WINDOW_BYTES && this.#requested < this.#mostRequested
  }

  /** Takes the next run of manifests into the queue and requests its bytes. */
  #admit(): void {
    const { manifests } = this.#setup
    const { bytes: mostBytes, growth, most } = this.#packing
    const first = this.#nextManifest
    const kept = this.#findKept(first)
    if (kept !== undefined) {
      this.#nextManifest = first + kept.segments.length
      const run = { manifests: manifests.slice(first, this.#nextManifest), requested: [], kept }
      this.#queue.push({ ...run, charge: 0, ready: 0, lengths: [], batch: undefined })
      return
    }
    const last = Math.min(manifests.length, first + this.#runManifests)
    this.#runManifests = Math.min(most, this.#runManifests * growth)
    const requested: (Promise<Uint8Array> | undefined)[] = []
    let end = first
    let bytes = 0
    do {
      bytes += lengthOf(manifests[end])
      requested.push(this.#request(manifests[end]))
      end++
    } while (
      end < last &&
      this.#requested < this.#mostRequested &&
      bytes + lengthOf(manifests[end]) <= mostBytes &&
      this.#placeOf(manifests[end]) === undefined
    )
    this.#nextManifest = end
    this.#charged += bytes
    const run = { manifests: manifests.slice(first, end), requested, kept: undefined }
    this.#queue.push({ ...run, charge: bytes, ready: 0, lengths: [], batch: undefined })
  }

  #placeOf(manifest: ManifestFile): EntryPlace | undefined {
    const { fetcher, io, phase } = this.#setup
    const { entries } = fetcher.cache
    const { keeping } = phase()
    if (entries.bytes === 0 || keeping === undefined) return undefined
    return entries.find(manifest, this.#fileOf(manifest).location, io.identity, keeping.under)
  }

  /** Manifests from a position on whose entries one run of the cache has. */
  #findKept(first: number): KeptManifests | undefined {
    const { manifests } = this.#setup
    const place = this.#placeOf(manifests[first])
    if (place === undefined) return undefined
    const segments = [place.segment]
    for (let i = first + 1; i < manifests.length; i++) {
      const next = this.#placeOf(manifests[i])
      if (next === undefined || next.run !== place.run || next.segment <= segments[segments.length - 1]) break
      segments.push(next.segment)
    }
    return { run: place.run, segments }
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

  /** From the cache, or decoded now; what can be of use for later plans is kept. */
  async #decodeRun(run: Run, urgency: number): Promise<EntryBatch> {
    const { filtering, keeping } = this.#setup.phase()
    if (keeping === undefined) return this.#decodeNow(run, filtering, urgency)
    const { entries } = this.#setup.fetcher.cache
    const { user, io } = this.#setup
    const { kept } = run
    const missing = keeping.columns.filter((id) => kept?.run.batch.vectors?.columns.has(id) === false)
    const isWhole = kept?.segments.length === kept?.run.batch.segments.length
    if (kept !== undefined && (missing.length === 0 || isWhole)) {
      entries.use(kept.run, user, kept.segments.length)
      for (const [i, manifest] of run.manifests.entries())
        this.#checkLength(manifest, this.#fileOf(manifest).location, kept.run.lengths[kept.segments[i]])
      this.counts.entryHits += kept.segments.length
      if (missing.length > 0) {
        const more = await this.#decodeNow(run, keeping.moreColumns(missing), urgency)
        checkRows(kept.run.batch, more)
        entries.addColumns(kept.run, more.vectors?.columns ?? new Map(), more.byteLength, user)
      }
      return this.#select(kept.run.batch.ofSegments(kept.segments), filtering)
    }
    const expected = ASSUMED_ENTRY_BYTES * run.manifests.reduce((sum, row) => sum + entriesOf(row), 0)
    if (!entries.hasRoom(expected, user)) return this.#decodeNow(run, filtering, urgency)
    const batch = await this.#decodeNow(run, keeping.context, urgency)
    const locations = run.manifests.map((manifest) => this.#fileOf(manifest).location)
    const isKept = entries.keep(batch, {
      locations,
      lengths: run.lengths,
      identity: io.identity,
      under: keeping.under,
      user,
    })
    const selected = this.#select(batch, filtering)
    return isKept ? selected : compacted(selected)
  }

  /** What the filter leaves of all rows. */
  #select(batch: EntryBatch, filtering: DecodeContext): EntryBatch {
    const filter = filterOf(filtering)
    if (filter === undefined) return batch
    const rows = filter.select(batch)
    this.skipped += batch.liveRows.length - rows.length
    return batch.withRows(rows)
  }

  async #decodeNow(run: Run, context: DecodeContext, urgency: number): Promise<EntryBatch> {
    const { decoder, fetcher, stop } = this.#setup
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
        this.#checkLength(manifest, location, bytes.length)
        run.lengths.push(bytes.length)
        jobs.push({ manifest, bytes, location })
      }
      const { batch, skipped, hits, misses } = await decoder.decode(jobs, context, stop, urgency)
      this.counts.hits += hits
      this.counts.misses += misses
      this.skipped += skipped
      this.#recharge(run, batch.byteLength - run.charge)
      run.ready = batch.byteLength
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
    const rest: Run = {
      manifests,
      requested: requested.slice(at),
      kept: undefined,
      charge,
      ready: 0,
      lengths: [],
      batch: undefined,
    }
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
    const { fetcher, io, stop, warnings } = this.#setup
    const file = this.#fileOf(manifest)
    try {
      return await fetcher.fetch(file, io, stop.signal, { counts: this.counts, warnings })
    } catch (error) {
      throw namedManifest(error, manifest, file.location)
    }
  }

  #fileOf(manifest: ManifestFile): FetchedFile {
    return { location: this.#setup.resolve(manifest.manifestPath), length: manifest.manifestLength }
  }

  #checkLength(manifest: ManifestFile, location: string, length: number): void {
    const claimed = manifest.manifestLength
    if (claimed === undefined || claimed === length) return
    this.#setup.warnings.add(
      'a manifest has another length than its list says',
      `Manifest ${location} has ${length} bytes, but the manifest list says ${claimed}.`,
    )
  }
}

/** Metrics that were read later belong to the same rows. */
function checkRows(batch: EntryBatch, more: EntryBatch): void {
  const rows = ({ segments }: EntryBatch): string => segments.map(({ rowCount }) => rowCount).join()
  if (rows(batch) === rows(more)) return
  const { manifestPath } = batch.segments[0].manifest
  throw new CorruptFileError(`Cannot read ${manifestPath} again: it has other entries than before`, {
    location: manifestPath,
  })
}

/** As the list claims; where it does not, by the length. */
function entriesOf(manifest: ManifestFile): number {
  return manifest.entries() ?? lengthOf(manifest) / ASSUMED_ENTRY_BYTES
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
