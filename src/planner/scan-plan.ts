/**
 * A plan that is being carried out: delete manifests first, then data manifests in list order, as batches or as tasks.
 *
 * Nothing beyond the manifest list is read before the first `next()` of `tasks` or `batches`.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { CountingFileIO } from '../io/counting-file-io.ts'
import type { EntryBatch } from '../manifest/entry-batch.ts'
import { COLUMN, FILE_FORMATS } from '../manifest/entry-fields.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { PartitionType } from '../manifest/partition-key.ts'
import { partitionType } from '../manifest/partition-key.ts'
import { BatchResiduals } from './batch-residuals.ts'
import { dataPhase, deletePhase, findKeyColumn, type DecodePhase } from './decode-contexts.ts'
import { DecodePipeline } from './decode-pipeline.ts'
import type { Decoder, StopSignal } from './decoder.ts'
import { DeleteFileIndex } from './delete-file-index.ts'
import type { FileFetcher } from './file-fetcher.ts'
import type { FileScanTask } from './file-scan-task.ts'
import type { ManifestGroup } from './manifest-group.ts'
import type { PlanStop, StopOptions } from './plan-stop.ts'
import { PlannedBatch } from './planned-batch.ts'
import type { ScanFilter } from './scan-filter.ts'
import type { ScanReport } from './scan-report.ts'
import { TaskStream } from './task-stream.ts'
import type { TableScan } from './table-scan.ts'
import { TimeSlice, type TimeShare } from '../io/time-slice.ts'
import type { Warnings } from './warnings.ts'

export interface PlanProgress {
  /** Manifests decoded, of both kinds. */
  readonly manifestsDone: number
  readonly manifestsTotal: number
  /** Tasks found so far. */
  readonly dataFiles: number
}

export interface PlanOptions extends StopOptions {
  /** Called after each batch; must not throw. */
  onProgress?: ((progress: PlanProgress) => void) | undefined
}

const PUFFIN = FILE_FORMATS.indexOf('puffin')
/** Everything a plan works with; made by `ScanPlanner.plan`. */
export interface PlanSetup {
  readonly scan: TableScan
  readonly filter: ScanFilter
  readonly manifests: ManifestGroup
  readonly io: CountingFileIO
  readonly fetcher: FileFetcher
  readonly decoder: Decoder
  /** Of the planner: no plan holds up the event loop or another plan, nor do all together. */
  readonly share: TimeShare
  readonly warnings: Warnings
  readonly startedAt: number
  /** Look-ups that reading the manifest list took. */
  readonly listCounts: CacheCounts
  readonly options: PlanOptions
  readonly stop: PlanStop
}

/** Look-ups of headers and plans; files, and manifests' entries, found in the cache; files found in the disk cache. */
export interface CacheCounts {
  readonly hits: number
  readonly misses: number
  readonly fileHits: number
  readonly diskHits: number
  readonly entryHits: number
}

export class ScanPlan {
  readonly #setup: PlanSetup
  readonly #stop: StopSignal
  /** Stands for this plan in the entry cache, which must not keep the plan itself. */
  readonly #cacheUser = {}
  readonly #partitionTypes: readonly PartitionType[]
  readonly #data: DecodePipeline
  #dataPhase: DecodePhase
  readonly #deletes: DecodePipeline
  readonly #unknownFormats = new Set<string>()
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
    const { signal } = setup.stop
    const flag = new Int32Array(new SharedArrayBuffer(4))
    signal.addEventListener(
      'abort',
      () => {
        Atomics.store(flag, 0, 1)
        // A plan that is left before it began ends here.
        this.#finishedAt ??= performance.now()
      },
      { once: true },
    )
    this.#stop = { signal, flag, slice: new TimeSlice(setup.share) }
    const { schema, specs } = setup.scan.selected
    this.#partitionTypes = [...specs.values()].map((spec) => partitionType(spec, schema))
    this.#dataPhase = this.#phaseOfData([])
    this.#data = this.#pipeline(setup.manifests.data.selected, () => this.#dataPhase)
    const deletes = deletePhase(setup.scan, setup.filter, this.#deleteManifests, this.#partitionTypes)
    this.#deletes = this.#pipeline(this.#deleteManifests, () => deletes)
  }

  /** The tasks, in manifest order and entry order. To be consumed once, instead of `batches`. */
  get tasks(): AsyncIterableIterator<FileScanTask, undefined> {
    return new TaskStream(this.batches, this.#setup.stop, this.#stop.slice)
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
    const { scan, manifests, io, decoder, listCounts, startedAt } = this.#setup
    const sum = (name: keyof CacheCounts): number =>
      listCounts[name] + this.#data.counts[name] + this.#deletes.counts[name]
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
      skippedDataFiles: this.#data.skipped,
      skippedDeleteFiles: this.#deletes.skipped,
      totalFileSizeInBytes: this.#totalFileSize,
      totalDeleteFileSizeInBytes: this.#totalDeleteFileSize,
      indexedDeleteFiles: counts?.indexed ?? 0,
      equalityDeleteFiles: counts?.equality ?? 0,
      positionalDeleteFiles: counts?.positional ?? 0,
      dvs: counts?.dvs ?? 0,
      ioRequests: io.requests,
      ioBytes: io.bytes,
      cacheFileHits: sum('fileHits'),
      cacheDiskHits: sum('diskHits'),
      cacheEntryHits: sum('entryHits'),
      planCacheHits: sum('hits'),
      planCacheMisses: sum('misses'),
      workers: decoder.workers,
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
    const { scan, filter, options, warnings } = this.#setup
    const { signal, slice } = this.#stop
    this.#setup.stop.listen()
    try {
      signal.throwIfAborted()
      const deleteBatches: EntryBatch[] = []
      // The first data manifests are on their way while the delete manifests are decoded.
      this.#data.prefetch()
      for await (const batch of this.#deletes.batches()) {
        deleteBatches.push(batch)
        this.#scannedDeletes += batch.segments.length
        this.#progress()
      }
      this.#index = await DeleteFileIndex.build(deleteBatches, {
        lenient: scan.options.lenient ?? false,
        keyColumn: (id) => findKeyColumn(id, scan),
        absolute: scan.table.absolute,
        warnings,
        slice,
        signal,
      })
      // Where there are equality deletes, more of the data files has to be read.
      const { keyColumns } = this.#index
      if (keyColumns.length > 0) this.#dataPhase = this.#phaseOfData(keyColumns)
      for await (const batch of this.#data.batches()) {
        if (slice.isOver) await slice.turn()
        const deletes = await this.#index.assign(batch)
        const residuals = new BatchResiduals(batch, (specId) => filter.residualsOf(specId))
        const planned = new PlannedBatch(batch, deletes, residuals, (location) =>
          scan.table.resolve(location),
        )
        this.#warnOfOddities(batch)
        this.#count(planned)
        if (options.onProgress !== undefined) this.#progress()
        if (planned.length > 0) yield planned
        signal.throwIfAborted()
      }
      this.#complete = true
    } catch (error) {
      // An aborted request may fail in its own words; the plan rejects with the signal's reason.
      signal.throwIfAborted()
      throw error
    } finally {
      this.#finishedAt = performance.now()
      this.#setup.stop.end()
    }
  }

  #phaseOfData(keyColumns: readonly number[]): DecodePhase {
    const { scan, filter, manifests } = this.#setup
    return dataPhase(scan, filter, manifests.data.selected, this.#partitionTypes, keyColumns)
  }

  #pipeline(manifests: readonly ManifestFile[], phase: () => DecodePhase): DecodePipeline {
    const { io, fetcher, decoder, warnings, scan } = this.#setup
    return new DecodePipeline({
      manifests,
      phase,
      user: this.#cacheUser,
      decoder,
      fetcher,
      io,
      resolve: (location) => scan.table.resolve(location),
      stop: this.#stop,
      warnings,
    })
  }

  #warnOfOddities(batch: EntryBatch): void {
    for (const { manifest, missingPartitionFields, extraPartitionFields, partitionType } of batch.segments) {
      for (const name of missingPartitionFields) {
        this.#setup.warnings.add(
          'a manifest lacks a partition field',
          `Manifest ${manifest.manifestPath} lacks the partition field "${name}" of spec ${partitionType.specId}; its values are not known.`,
        )
      }
      for (const name of extraPartitionFields) {
        this.#setup.warnings.add(
          'a manifest has a partition field beyond its spec',
          `Manifest ${manifest.manifestPath} has the partition field "${name}", which spec ${partitionType.specId} does not have.`,
        )
      }
    }
    const format = batch.store.uint8[COLUMN.uint8.fileFormat]
    const puffins = batch.facts.hasFormat.has(PUFFIN) ? batch.liveRows : []
    for (const row of puffins) {
      if (format[row] === PUFFIN)
        this.#setup.warnings.add(
          'a Puffin file is listed as a data file',
          `The Puffin file ${batch.text(row, 'filePath')} is listed as a data file; it is planned as one.`,
        )
    }
    for (const format of batch.store.otherSymbols) {
      if (this.#unknownFormats.has(format)) continue
      this.#unknownFormats.add(format)
      this.#setup.warnings.add(
        'a file format is unknown',
        `There are data files of the unknown format "${format}".`,
      )
    }
  }

  #count(planned: PlannedBatch): void {
    const { batch, deletes, length } = planned
    this.#scannedData += batch.segments.length
    this.#resultDataFiles += length
    this.#totalFileSize += batch.facts.fileSizeInBytes
    this.#resultDeleteFiles += deletes.count
    this.#totalDeleteFileSize += deletes.sizeInBytes
  }

  #progress(): void {
    this.#setup.options.onProgress?.({
      manifestsDone: this.#scannedData + this.#scannedDeletes,
      manifestsTotal: this.#setup.manifests.data.selected.length + this.#deleteManifests.length,
      dataFiles: this.#resultDataFiles,
    })
  }
}
