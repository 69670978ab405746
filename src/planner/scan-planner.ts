/**
 * The planner: what several plans share, above all the cache. Make one per process or per service.
 */
import { setMaxListeners } from 'node:events'
import { InvalidArgumentError, UnsupportedFeatureError } from '../errors.ts'
import { CountingFileIO } from '../io/counting-file-io.ts'
import { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { inlineManifest } from '../manifest/manifest-file.ts'
import { readCached } from '../manifest/manifest-reader.ts'
import { readManifestListBytes } from '../manifest/manifest-list.ts'
import { selectManifests } from './manifest-group.ts'
import type { PlanOptions } from './scan-plan.ts'
import { ScanPlan } from './scan-plan.ts'
import type { TableScan } from './table-scan.ts'
import { Warnings } from './warnings.ts'

export interface ScanPlannerOptions {
  /** Worker threads. Only 0, in process, exists so far; `auto` means the same. */
  workers?: number | 'auto'
  /** A cache to share with others, or `off`: nothing is remembered and every file is read again. */
  cache?: ManifestCache | 'off'
}

export class ScanPlanner implements AsyncDisposable {
  /** Headers, compiled plans and file bytes; a disabled one when the cache is off. */
  readonly cache: ManifestCache
  #closed = false

  /** @throws InvalidArgumentError for a number of workers that is not supported */
  constructor(options: ScanPlannerOptions = {}) {
    const workers = options.workers ?? 'auto'
    if (workers !== 'auto' && workers !== 0)
      throw new InvalidArgumentError(
        `Cannot plan with ${workers} workers: only 0 and auto are supported so far`,
      )
    this.cache = options.cache === 'off' ? ManifestCache.disabled() : (options.cache ?? new ManifestCache())
  }

  /**
   * Begins a plan: reads the manifest list and sorts its manifests out. Manifests are read when tasks are taken.
   *
   * @throws InvalidArgumentError after {@link close}; errors of storage and of the list; the signal's reason
   */
  async plan(scan: TableScan, options: PlanOptions = {}): Promise<ScanPlan> {
    if (this.#closed) throw new InvalidArgumentError('Cannot plan: the planner is closed')
    const startedAt = performance.now()
    const { cache } = this
    const cacheBefore = { hits: cache.hits, misses: cache.misses, fileHits: cache.fileHits }
    const io = new CountingFileIO(scan.table.io)
    const warnings = new Warnings()
    for (const sentence of scan.table.warnings) warnings.add('of the table', sentence)
    const controller = stoppedBy(options)
    try {
      const manifests = selectManifests(await this.#manifests(scan, io, controller.signal), warnings)
      return new ScanPlan({
        scan,
        manifests,
        io,
        cache,
        warnings,
        startedAt,
        cacheBefore,
        options,
        controller,
      })
    } catch (error) {
      // An aborted request may fail in its own words; the plan rejects with the signal's reason.
      controller.signal.throwIfAborted()
      // Nobody will stop this plan: leave the caller's signal alone.
      controller.abort()
      throw error
    }
  }

  /** Frees what the planner holds; plans that run go on. */
  close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The rows of the snapshot's manifest list; of a v1 snapshot without one, made from its paths (R1.12). */
  async #manifests(scan: TableScan, io: CountingFileIO, signal: AbortSignal): Promise<ManifestFile[]> {
    const { snapshot } = scan.selected
    signal.throwIfAborted()
    if (snapshot === undefined) return []
    const { manifestList } = snapshot
    if (manifestList === undefined)
      return (snapshot.manifests ?? []).map((path) => inlineManifest(path, snapshot.snapshotId))
    const location = scan.table.resolve(manifestList)
    if (snapshot.keyId !== undefined) {
      throw new UnsupportedFeatureError(
        `Cannot read ${location}: the manifest list is encrypted (snapshot ${snapshot.snapshotId} has key-id ${snapshot.keyId})`,
        { location },
      )
    }
    const bytes = await readCached(location, { io, cache: this.cache, signal })
    return readManifestListBytes(bytes, { cache: this.cache, location })
  }
}

/** A controller that the caller's signal and timeout abort too. */
function stoppedBy({ signal, timeoutMs }: PlanOptions): AbortController {
  const controller = new AbortController()
  // Every request may listen, and many run at once: that is no leak to warn of.
  setMaxListeners(0, controller.signal)
  const stop = (by: AbortSignal): void => {
    const abort = (): void => {
      controller.abort(by.reason)
    }
    if (by.aborted) abort()
    else by.addEventListener('abort', abort, { once: true, signal: controller.signal })
  }
  if (signal !== undefined) stop(signal)
  if (timeoutMs !== undefined) stop(AbortSignal.timeout(timeoutMs))
  return controller
}
