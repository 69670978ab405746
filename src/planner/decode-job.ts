/**
 * The unit of decoding: a run of consecutive manifests to one entry batch. The same job runs in this thread, in slices,
 * or in a worker, in one go; it opens no file: bytes and a context come with it.
 */
import type { EntryBatch } from '../manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../manifest/entry-batch.ts'
import type { PackedBatch } from '../manifest/batch-buffer.ts'
import { packBatch } from '../manifest/batch-buffer.ts'
import type { ManifestProjection } from '../manifest/entry-fields.ts'
import { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFileFields } from '../manifest/manifest-file.ts'
import { ManifestFile } from '../manifest/manifest-file.ts'
import { tablePartitionTypes } from '../manifest/manifest-reader.ts'
import type { PartitionType } from '../manifest/partition-key.ts'

/** What all jobs of one phase of a plan share: plain data, sent once per worker. */
export interface DecodeContext {
  /** Unique in the process. */
  readonly id: number
  readonly projection: ManifestProjection
  readonly partitionTypes: readonly PartitionType[]
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

/**
 * Decodes manifests into one batch, a block of a file a step.
 *
 * @param cache of the thread that does it
 */
export function* decodeManifests(
  manifests: readonly JobManifest[],
  context: DecodeContext,
  cache: ManifestCache,
): Generator<undefined, EntryBatch> {
  const types = new Map(context.partitionTypes.map((type) => [type.specId, type]))
  const builder = new EntryBatchBuilder(context.projection, cache, tablePartitionTypes(types))
  for (const { manifest, bytes, location } of manifests) {
    yield* builder.addInSteps(bytes, manifest, location)
    yield
  }
  return builder.finish()
}

/** A job as it crosses to a worker. */
export interface WorkerJob {
  readonly contextId: number
  /** Sent along until every worker can be expected to have it. */
  readonly context: DecodeContext | undefined
  readonly manifests: readonly WorkerManifest[]
  /** One int32 in shared memory: not 0 once the plan has been stopped. */
  readonly stop: Int32Array
  /** False: the worker remembers nothing between jobs. */
  readonly cache: boolean
}

export interface WorkerManifest {
  readonly row: ManifestFileFields
  readonly bytes: Uint8Array
  readonly location: string
}

export type WorkerAnswer =
  | {
      readonly kind: 'batch'
      readonly batch: PackedBatch
      /** Look-ups in the worker's cache that this job made. */
      readonly hits: number
      readonly misses: number
    }
  /** The worker has not seen the context: send the job again, with it. */
  | { readonly kind: 'context missing' }
  | { readonly kind: 'stopped' }

/** Contexts that a worker remembers: plans that run at the same time, two phases each. */
const MAX_CONTEXTS = 32

/** What a worker keeps between jobs. */
export class DecodeWorker {
  readonly #cache = new ManifestCache({ maxFileBytes: 0 })
  readonly #contexts = new Map<number, DecodeContext>()

  run(job: WorkerJob): WorkerAnswer {
    // The first copy counts, so that what hangs on its partition types is found again.
    const context = this.#contexts.get(job.contextId) ?? job.context
    if (context === undefined) return { kind: 'context missing' }
    this.#remember(context)
    const cache = job.cache ? this.#cache : ManifestCache.disabled()
    const { hits, misses } = cache
    const manifests = job.manifests.map(({ row, bytes, location }) => ({
      manifest: new ManifestFile(row),
      bytes,
      location,
    }))
    const steps = decodeManifests(manifests, context, cache)
    for (;;) {
      if (Atomics.load(job.stop, 0) !== 0) return { kind: 'stopped' }
      const step = steps.next()
      if (step.done === true) {
        return {
          kind: 'batch',
          batch: packBatch(step.value),
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
