/**
 * The planner: what several plans share, above all the cache and the worker threads. Make one per process or service.
 */
import { InvalidArgumentError, UnsupportedFeatureError } from '../errors.ts'
import { CountingFileIO } from '../io/counting-file-io.ts'
import { DiskCache } from '../io/disk-cache.ts'
import { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { inlineManifest } from '../manifest/manifest-file.ts'
import { manifestListSteps } from '../manifest/manifest-list.ts'
import { DecoderChoice } from './decoder-choice.ts'
import type { Decoder } from './decoder.ts'
import { FileFetcher } from './file-fetcher.ts'
import { selectManifests } from './manifest-group.ts'
import { ScanFilter } from './scan-filter.ts'
import { PlanStop } from './plan-stop.ts'
import type { CacheCounts, PlanOptions } from './scan-plan.ts'
import { ScanPlan } from './scan-plan.ts'
import type { TableScan } from './table-scan.ts'
import { inSlices, TimeShare, TimeSlice } from '../io/time-slice.ts'
import { Warnings } from './warnings.ts'

export interface ScanPlannerOptions {
  /**
   * Worker threads that decode manifests; 0 decodes in this thread. `auto`, the default, decides by the amount of work:
   * in this thread where starting threads would cost more than they save, else one per core.
   */
  workers?: number | 'auto'
  /** A cache to share with others, or `off`: nothing is remembered and every file is read again. */
  cache?: ManifestCache | 'off'
  /**
   * A folder for copies of manifests and manifest lists that were read over a network: later plans read them from there,
   * in whatever process. Made with mode 0700 if it is not there. Not used where `cache` is `off`.
   */
  cacheDir?: string | undefined
  /** Budget for the folder's files; default 1 GiB. */
  maxCacheDirBytes?: number | undefined
  /** The worker's module, where it is not beside this one: in a bundle. A path or a `file:` URL. */
  workerFile?: string | URL
  /** @internal Test seam: who decodes, whatever `workers` says. */
  decoder?: Decoder
}

export class ScanPlanner implements AsyncDisposable {
  /** Headers, compiled plans and file bytes; a disabled one when the cache is off. */
  readonly cache: ManifestCache
  readonly #fetcher: FileFetcher
  readonly #decoders: DecoderChoice
  readonly #decoder: Decoder | undefined
  readonly #disk: DiskCache | undefined
  readonly #share = new TimeShare()
  #closed = false

  /**
   * @throws InvalidArgumentError for a number of workers that is none, and for a `cacheDir` that belongs to, or may be
   *   written by, other users
   */
  constructor(options: ScanPlannerOptions = {}) {
    this.cache = options.cache === 'off' ? ManifestCache.disabled() : (options.cache ?? new ManifestCache())
    const { cacheDir, maxCacheDirBytes: maxBytes } = options
    if (cacheDir !== undefined && this.cache.enabled) this.#disk = new DiskCache(cacheDir, { maxBytes })
    this.#fetcher = new FileFetcher(this.cache, { disk: this.#disk, share: this.#share })
    this.#decoders = new DecoderChoice({
      workers: options.workers ?? 'auto',
      workerFile: options.workerFile,
      cache: this.cache,
    })
    this.#decoder = options.decoder
  }

  /**
   * Begins a plan: reads the manifest list and sorts its manifests out. Manifests are read when tasks are taken.
   *
   * @throws InvalidArgumentError after {@link close}, and for a filter that cannot be bound to the snapshot's schema; errors of storage and of the list; the signal's reason
   */
  async plan(scan: TableScan, options: PlanOptions = {}): Promise<ScanPlan> {
    this.#refuseIfClosed()
    const startedAt = performance.now()
    const io = new CountingFileIO(scan.table.io)
    const warnings = new Warnings()
    for (const sentence of scan.table.warnings) warnings.add('of the table', sentence)
    const stop = new PlanStop(options)
    stop.listen()
    try {
      const filter = new ScanFilter(scan.filter, scan.selected, scan.options)
      const slice = new TimeSlice(this.#share)
      const listed = await this.#manifests(scan, io, stop.signal, slice, warnings)
      // Closed meanwhile: threads that start now would never be ended.
      this.#refuseIfClosed()
      const selecting = selectManifests(
        listed.files,
        warnings,
        (manifest) => filter.mightMatch(manifest, warnings),
        scan.table.absolute,
      )
      const manifests = await inSlices(selecting, slice, stop.signal)
      const { entries } = this.cache
      // Tasks that show metrics are decoded in a form of their own.
      const mayUseEntries = entries.bytes > 0 && scan.shownColumns.length === 0
      const isDecoded = ({ manifestPath }: ManifestFile): boolean =>
        mayUseEntries && entries.has(scan.table.resolve(manifestPath), io.identity, filter.columns)
      const selected = [...manifests.deletes.selected, ...manifests.data.selected]
      const decoder =
        this.#decoder ??
        (await this.#decoders.choose(
          selected.filter((manifest) => !isDecoded(manifest)),
          warnings,
        ))
      return new ScanPlan({
        scan,
        filter,
        manifests,
        io,
        fetcher: this.#fetcher,
        decoder,
        share: this.#share,
        warnings,
        startedAt,
        listCounts: listed.counts,
        options,
        stop,
      })
    } catch (error) {
      // An aborted request may fail in its own words; the plan rejects with the signal's reason.
      stop.signal.throwIfAborted()
      throw error
    } finally {
      // From here on there is nothing to stop before the plan is consumed.
      stop.unlisten()
    }
  }

  /** Ends the worker threads when their jobs are done. Plans that need them still fail; others run to their end. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#decoders.close()
    await this.#disk?.settled()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new InvalidArgumentError('Cannot plan: the planner is closed')
  }

  /** The rows of the snapshot's manifest list; of a v1 snapshot without one, made from its paths (R1.12). */
  async #manifests(
    scan: TableScan,
    io: CountingFileIO,
    signal: AbortSignal,
    slice: TimeSlice,
    warnings: Warnings,
  ): Promise<{ files: readonly ManifestFile[]; counts: CacheCounts }> {
    const counts = { hits: 0, misses: 0, fileHits: 0, diskHits: 0, entryHits: 0 }
    const { snapshot } = scan.selected
    signal.throwIfAborted()
    if (snapshot === undefined) return { files: [], counts }
    const { manifestList } = snapshot
    if (manifestList === undefined) {
      const paths = snapshot.manifests ?? []
      return { files: paths.map((path) => inlineManifest(path, snapshot.snapshotId)), counts }
    }
    const location = scan.table.resolve(manifestList)
    if (snapshot.keyId !== undefined) {
      throw new UnsupportedFeatureError(
        `Cannot read ${location}: the manifest list is encrypted (snapshot ${snapshot.snapshotId} has key-id ${snapshot.keyId})`,
        { location },
      )
    }
    const file = { location, length: undefined }
    if (this.#fetcher.has(file, io)) counts.fileHits++
    const bytes = await this.#fetcher.fetch(file, io, signal, { counts, warnings })
    try {
      const kept = this.cache.rowsOf(bytes)
      if (kept !== undefined) return { files: kept, counts }
      const steps = manifestListSteps(bytes, { cache: this.cache, location })
      // Other plans may use the cache between two steps, but not during the first, which looks the header up.
      const { hits, misses } = this.cache
      steps.next()
      counts.hits = this.cache.hits - hits
      counts.misses = this.cache.misses - misses
      const rows = await inSlices(steps, slice, signal)
      const { files } = rows
      this.cache.keepRows(bytes, files, rows.bytes)
      return { files, counts }
    } finally {
      this.#fetcher.giveBack(bytes)
    }
  }
}
