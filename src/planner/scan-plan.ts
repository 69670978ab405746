/**
 * A plan that is being carried out: delete manifests first, then data manifests in list order, as batches or as tasks.
 *
 * Nothing beyond the manifest list is read before the first `next()` of `tasks` or `batches`. In process the work is
 * done in slices of a few milliseconds between which the event loop turns.
 */
import { InvalidArgumentError } from '../errors.ts'
import { ALWAYS_TRUE } from '../expressions/expression.ts'
import { CountingFileIO } from '../io/counting-file-io.ts'
import type { EntryBatch, PartitionTypeLookup } from '../manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../manifest/entry-batch.ts'
import type { ManifestProjection } from '../manifest/entry-fields.ts'
import { DELETE_FILE_PATH_ID } from '../manifest/entry-fields.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { tablePartitionTypes } from '../manifest/manifest-reader.ts'
import { partitionType } from '../manifest/partition-key.ts'
import { DeleteFileIndex } from './delete-file-index.ts'
import type { FileScanTask } from './file-scan-task.ts'
import { ManifestBytes } from './manifest-bytes.ts'
import type { ManifestGroup } from './manifest-group.ts'
import { PlannedBatch } from './planned-batch.ts'
import type { ScanReport } from './scan-report.ts'
import { TaskStream } from './task-stream.ts'
import type { TableScan } from './table-scan.ts'
import { TimeSlice } from './time-slice.ts'
import type { Warnings } from './warnings.ts'

export interface PlanProgress {
  /** Manifests decoded, of both kinds. */
  readonly manifestsDone: number
  readonly manifestsTotal: number
  /** Tasks found so far. */
  readonly dataFiles: number
}

export interface PlanOptions {
  /** Aborting rejects what is pending with the signal's reason and stops all requests. */
  signal?: AbortSignal | undefined
  /** The same after so many milliseconds, with a `TimeoutError`. */
  timeoutMs?: number | undefined
  /** Called after each batch; must not throw. */
  onProgress?: ((progress: PlanProgress) => void) | undefined
}

/** What readers of data files need, besides what is always read. */
const DATA_PROJECTION: ManifestProjection = { groups: ['layout'], columnStats: 'none' }
/** Path bounds tell whether a position delete file is about one data file only (R7.8). */
const DELETE_PROJECTION: ManifestProjection = {
  groups: ['layout', 'deletes', 'bounds'],
  columnStats: [DELETE_FILE_PATH_ID],
}
/** A batch is handed on when it has so many entries: small manifests travel together, tasks still come early. */
const BATCH_ROWS = 4096

/** Everything a plan works with; made by `ScanPlanner.plan`. */
export interface PlanSetup {
  readonly scan: TableScan
  readonly manifests: ManifestGroup
  readonly io: CountingFileIO
  readonly cache: ManifestCache
  readonly warnings: Warnings
  readonly startedAt: number
  /** Cache counters when the plan began. */
  readonly cacheBefore: { readonly hits: number; readonly misses: number; readonly fileHits: number }
  readonly options: PlanOptions
  /** Aborts the plan's requests. */
  readonly controller: AbortController
}

export class ScanPlan {
  readonly #setup: PlanSetup
  readonly #signal: AbortSignal
  readonly #lookup: PartitionTypeLookup
  readonly #slice = new TimeSlice()
  #consumed = false
  #finishedAt: number | undefined
  #complete = false
  #index: DeleteFileIndex | undefined
  #scannedData = 0
  #scannedDeletes = 0
  #resultDataFiles = 0
  #resultDeleteFiles = 0
  #totalFileSize = 0
  #totalDeleteFileSize = 0

  constructor(setup: PlanSetup) {
    this.#setup = setup
    this.#signal = setup.controller.signal
    const { schema, specs } = setup.scan.selected
    this.#lookup = tablePartitionTypes(
      new Map([...specs].map(([specId, spec]) => [specId, partitionType(spec, schema)])),
    )
  }

  /** The tasks, in manifest order and entry order. To be consumed once, instead of `batches`. */
  get tasks(): AsyncIterableIterator<FileScanTask> {
    return new TaskStream(this.batches, () => {
      this.#setup.controller.abort()
    })
  }

  /** The columns behind the tasks, batch by batch. To be consumed once, instead of `tasks`. */
  get batches(): AsyncGenerator<PlannedBatch> {
    if (this.#consumed)
      throw new InvalidArgumentError('Cannot consume a plan twice: plan the scan again for another pass')
    this.#consumed = true
    return this.#run()
  }

  /** What has been done so far; final once the tasks have ended. */
  get report(): ScanReport {
    const { scan, manifests, io, cache, cacheBefore, startedAt } = this.#setup
    const counts = this.#index?.counts
    return {
      totalPlanningDurationMs: (this.#finishedAt ?? performance.now()) - startedAt,
      snapshotId: scan.selected.snapshot?.snapshotId,
      schemaId: scan.selected.schema.schemaId,
      resultDataFiles: this.#resultDataFiles,
      resultDeleteFiles: this.#resultDeleteFiles,
      totalDataManifests: manifests.data.total,
      totalDeleteManifests: manifests.deletes.total,
      scannedDataManifests: this.#scannedData,
      scannedDeleteManifests: this.#scannedDeletes,
      skippedDataManifests: manifests.data.total - manifests.data.selected.length,
      skippedDeleteManifests: manifests.deletes.total - this.#deleteManifests.length,
      skippedDataFiles: 0,
      skippedDeleteFiles: 0,
      totalFileSizeInBytes: this.#totalFileSize,
      totalDeleteFileSizeInBytes: this.#totalDeleteFileSize,
      indexedDeleteFiles: counts?.indexed ?? 0,
      equalityDeleteFiles: counts?.equality ?? 0,
      positionalDeleteFiles: counts?.positional ?? 0,
      dvs: counts?.dvs ?? 0,
      ioRequests: io.requests,
      ioBytes: io.bytes,
      cacheFileHits: cache.fileHits - cacheBefore.fileHits,
      planCacheHits: cache.hits - cacheBefore.hits,
      planCacheMisses: cache.misses - cacheBefore.misses,
      workers: 0,
      complete: this.#complete,
      warnings: this.#setup.warnings.list(),
    }
  }

  /** Delete manifests to read: none when there is no data left that they could apply to (R2.19). */
  get #deleteManifests(): readonly ManifestFile[] {
    const { data, deletes } = this.#setup.manifests
    return data.selected.length === 0 ? [] : deletes.selected
  }

  async *#run(): AsyncGenerator<PlannedBatch> {
    const { scan, manifests, options } = this.#setup
    try {
      const data = this.#bytesOf(manifests.data.selected)
      const deleteBatches: EntryBatch[] = []
      // The first data manifests are on their way while the delete manifests are decoded.
      data.prefetch()
      const deletes = this.#bytesOf(this.#deleteManifests)
      for await (const batch of this.#decode(this.#deleteManifests, deletes, DELETE_PROJECTION)) {
        deleteBatches.push(batch)
        this.#scannedDeletes += batch.segments.length
        this.#progress()
      }
      this.#index = new DeleteFileIndex(deleteBatches, {
        lenient: scan.options.lenient ?? false,
        warnings: this.#setup.warnings,
      })
      for await (const batch of this.#decode(manifests.data.selected, data, DATA_PROJECTION)) {
        const planned = new PlannedBatch(batch, this.#index.assign(batch), ALWAYS_TRUE, (location) =>
          scan.table.resolve(location),
        )
        this.#count(planned)
        if (options.onProgress !== undefined) this.#progress()
        if (planned.length > 0) yield planned
        this.#signal.throwIfAborted()
      }
      this.#complete = true
    } catch (error) {
      // An aborted request may fail in its own words; the plan rejects with the signal's reason.
      this.#signal.throwIfAborted()
      throw error
    } finally {
      this.#finishedAt = performance.now()
      this.#setup.controller.abort()
    }
  }

  #bytesOf(manifests: readonly ManifestFile[]): ManifestBytes {
    const { io, cache, warnings, scan } = this.#setup
    return new ManifestBytes(manifests, {
      io,
      cache,
      warnings,
      signal: this.#signal,
      resolve: (location) => scan.table.resolve(location),
    })
  }

  /** Decodes manifests in order, several small ones to a batch. */
  async *#decode(
    manifests: readonly ManifestFile[],
    source: ManifestBytes,
    projection: ManifestProjection,
  ): AsyncGenerator<EntryBatch> {
    let builder: EntryBatchBuilder | undefined
    for (let index = 0; index < manifests.length; index++) {
      const taken = source.take(index)
      const bytes = taken instanceof Uint8Array ? taken : await taken
      builder ??= new EntryBatchBuilder(projection, this.#setup.cache, this.#lookup)
      const location = this.#setup.scan.table.resolve(manifests[index].manifestPath)
      const steps = builder.addInSteps(bytes, manifests[index], location)
      while (steps.next().done !== true) {
        if (this.#slice.isOver) await this.#slice.turn(this.#signal)
      }
      if (this.#slice.isOver) await this.#slice.turn(this.#signal)
      if (builder.rowCount >= BATCH_ROWS || index === manifests.length - 1) {
        yield builder.finish()
        builder = undefined
      }
    }
  }

  #count(planned: PlannedBatch): void {
    const { batch, deletes, length } = planned
    this.#scannedData += batch.segments.length
    this.#resultDataFiles += length
    for (let i = 0; i < length; i++) {
      this.#totalFileSize += batch.fileSizeInBytes(batch.liveRows[i])
      this.#resultDeleteFiles += deletes.countAt(i)
      this.#totalDeleteFileSize += deletes.sizeAt(i)
    }
  }

  #progress(): void {
    this.#setup.options.onProgress?.({
      manifestsDone: this.#scannedData + this.#scannedDeletes,
      manifestsTotal: this.#setup.manifests.data.selected.length + this.#deleteManifests.length,
      dataFiles: this.#resultDataFiles,
    })
  }
}
