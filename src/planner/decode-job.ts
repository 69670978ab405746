/**
 * The unit of decoding: a run of consecutive manifests to one entry batch. The same job runs in this thread, in slices,
 * or in a worker, in one go; it opens no file: bytes and a context come with it.
 */
import type { ColumnStore } from '../avro/column-store.ts'
import type { EntryBatch, ShownColumns } from '../manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../manifest/entry-batch-builder.ts'
import type { PackedBatch } from '../manifest/batch-buffer.ts'
import { packBatch } from '../manifest/batch-buffer.ts'
import type { ManifestProjection } from '../manifest/entry-fields.ts'
import { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { tablePartitionTypes } from '../manifest/manifest-reader.ts'
import type { ManifestRows } from '../manifest/manifest-rows.ts'
import { unpackRows } from '../manifest/manifest-rows.ts'
import type { PartitionType } from '../manifest/partition-key.ts'
import { EntryFilter, type EntryFilterSource } from './entry-filter.ts'
import { stagedFiles, type StagedFiles } from './staged-files.ts'

/** What all jobs of one phase of a plan share: plain data, sent once per worker. */
export interface DecodeContext {
  /** Unique in the process. */
  readonly id: number
  readonly projection: ManifestProjection
  readonly partitionTypes: readonly PartitionType[]
  /** Absent: every live entry is kept. */
  readonly filter: EntryFilterSource | undefined
  /** True: deleted entries are kept too, so that rows stay where they are in the file. */
  readonly allRows: boolean
  /** Columns whose metrics the tasks show, of those that the projection reads. */
  readonly shownColumns: ShownColumns
}

let lastContextId = 0

export function newContextId(): number {
  return ++lastContextId
}

/** A manifest of a job. */
export interface JobManifest {
  readonly manifest: ManifestFile
  /** The whole file. */
  readonly bytes: Uint8Array
  /** Where it was opened: its name in messages. */
  readonly location: string
}

/** Live entries that may match, and how many others there were. */
export interface DecodedEntries {
  readonly batch: EntryBatch
  /** Live entries that the filter ruled out. */
  readonly skipped: number
}

/** By context, for compiling a filter takes longer than asking it a thousand times. */
const FILTERS = new WeakMap<DecodeContext, EntryFilter>()

/**
 * Decodes manifests into one batch, a block of a file a step.
 *
 * @param cache of the thread that does it
 * @param store memory of a batch made before in the same context, which this ends
 */
export function* decodeManifests(
  manifests: readonly JobManifest[],
  context: DecodeContext,
  cache: ManifestCache,
  store?: ColumnStore,
): Generator<undefined, DecodedEntries> {
  const types = new Map(context.partitionTypes.map((type) => [type.specId, type]))
  const builder = new EntryBatchBuilder(context.projection, cache, tablePartitionTypes(types), store)
  builder.expect(manifests.reduce((sum, { manifest }) => sum + (manifest.entries() ?? 0), 0))
  for (const { manifest, bytes, location } of manifests) {
    yield* builder.addInSteps(bytes, manifest, location)
    yield
  }
  const batch = builder.finish().showing(context.shownColumns)
  const filter = filterOf(context)
  if (filter === undefined) return { batch, skipped: 0 }
  const selected = filter.select(batch)
  const skipped = batch.liveRows.length - selected.length
  return { batch: skipped === 0 ? batch : batch.withRows(selected), skipped }
}

/** Where a filter leaves few rows, the memory of the others is let go. */
export function compacted(batch: EntryBatch): EntryBatch {
  return batch.liveRows.length < batch.rowCount / 2 ? batch.onlyLive() : batch
}

/** The filter of a context, compiled when it is first asked for. */
export function filterOf(context: DecodeContext): EntryFilter | undefined {
  if (context.filter === undefined) return undefined
  let filter = FILTERS.get(context)
  if (filter === undefined) {
    filter = new EntryFilter(context.filter)
    FILTERS.set(context, filter)
  }
  return filter
}

/** A job as it crosses to a worker. */
export interface WorkerJob {
  readonly contextId: number
  /** Sent along until every worker can be expected to have it. */
  readonly context: DecodeContext | undefined
  readonly manifests: WorkerManifests
  /** One int32 in shared memory: not 0 once the plan has been stopped. */
  readonly stop: Int32Array
  /** False: the worker remembers nothing between jobs. */
  readonly cache: boolean
}

/** The manifests of a job, an item each. */
export interface WorkerManifests {
  readonly rows: ManifestRows
  readonly files: StagedFiles
  /** Absent where all are the paths of the rows: of tables that nobody moved. */
  readonly locations: readonly string[] | undefined
}

export type WorkerAnswer =
  | {
      readonly kind: 'batch'
      readonly batch: PackedBatch
      readonly skipped: number
      /** Look-ups in the worker's cache that this job made. */
      readonly hits: number
      readonly misses: number
    }
  /** The worker has not seen the context: send the job again, with it. */
  | { readonly kind: 'context missing' }
  | { readonly kind: 'stopped' }

/** Contexts that a worker remembers: plans that run at the same time, two phases each. */
const MAX_CONTEXTS = 32

/** Columns of an unusually large job are let go. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** What a worker keeps between jobs. */
export class DecodeWorker {
  readonly #cache = new ManifestCache({ maxFileBytes: 0, maxEntryBytes: 0 })
  readonly #contexts = new Map<number, DecodeContext>()
  /** Columns of the last job: fresh memory costs as much again as copying them out. */
  #last: { readonly contextId: number; readonly store: ColumnStore } | undefined

  run(job: WorkerJob): WorkerAnswer {
    // The first copy counts, so that what hangs on its partition types is found again.
    const context = this.#contexts.get(job.contextId) ?? job.context
    if (context === undefined) return { kind: 'context missing' }
    this.#remember(context)
    const cache = job.cache ? this.#cache : ManifestCache.disabled()
    const { hits, misses } = cache
    const { rows, files, locations } = job.manifests
    const bytes = stagedFiles(files)
    const manifests = unpackRows(rows).map((manifest, i): JobManifest => ({
      manifest,
      bytes: bytes[i],
      location: locations === undefined ? manifest.manifestPath : locations[i],
    }))
    const store = this.#last?.contextId === context.id ? this.#last.store : undefined
    const steps = decodeManifests(manifests, context, cache, store)
    for (;;) {
      if (Atomics.load(job.stop, 0) !== 0) return { kind: 'stopped' }
      const step = steps.next()
      if (step.done === true) {
        const { skipped } = step.value
        const batch = packBatch(step.value.batch, context.allRows)
        const used = step.value.batch.store
        this.#last = used.byteLength > MAX_KEPT_BYTES ? undefined : { contextId: context.id, store: used }
        return {
          kind: 'batch',
          batch,
          skipped,
          hits: cache.hits - hits,
          misses: cache.misses - misses,
        }
      }
    }
  }

  #remember(context: DecodeContext): void {
    if (this.#contexts.has(context.id)) return
    this.#contexts.set(context.id, context)
    if (this.#contexts.size <= MAX_CONTEXTS) return
    for (const oldest of this.#contexts.keys()) {
      this.#contexts.delete(oldest)
      break
    }
  }
}
