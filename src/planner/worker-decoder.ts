/**
 * Decoding in worker threads: bytes go in shared memory, batches come back in buffers that are moved.
 */
import { WorkerError } from '../errors.ts'
import { unpackBatch } from '../manifest/batch-buffer.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { packRows } from '../manifest/manifest-rows.ts'
import type { Pool } from '../pool/pool.ts'
import type { DecodeContext, JobManifest, WorkerAnswer, WorkerJob, WorkerManifests } from './decode-job.ts'
import type { DecodedBatch, Decoder, StopSignal } from './decoder.ts'
import { type StagedFiles, StagingMemory } from './staged-files.ts'

export class WorkerDecoder implements Decoder {
  readonly workers: number
  readonly #pool: Pool<WorkerJob, WorkerAnswer>
  readonly #cache: ManifestCache
  readonly #staging: StagingMemory
  /** Jobs that carried each context; dropped with it. */
  readonly #sent = new WeakMap<DecodeContext, number>()

  /** @param cache told of look-ups in workers */
  constructor(pool: Pool<WorkerJob, WorkerAnswer>, cache: ManifestCache) {
    this.workers = pool.workers
    this.#pool = pool
    this.#cache = cache
    this.#staging = new StagingMemory(2 * pool.workers)
  }

  async decode(
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop: StopSignal,
    urgency: number,
  ): Promise<DecodedBatch> {
    stop.signal.throwIfAborted()
    const rows = manifests.map(({ manifest }) => manifest)
    const files = this.#staging.stage(manifests.map(({ bytes }) => bytes))
    let answer: WorkerAnswer
    try {
      answer = await this.#run(packed(manifests, rows, files), context, stop, urgency)
    } finally {
      // The worker has answered, or is no more.
      this.#staging.giveBack(files)
    }
    stop.signal.throwIfAborted()
    if (answer.kind !== 'batch') throw new WorkerError(`A worker answered a decode job with "${answer.kind}"`)
    this.#cache.countElsewhere(answer.hits, answer.misses)
    const types = new Map(context.partitionTypes.map((type) => [type.specId, type]))
    const batch = unpackBatch(answer.batch, rows, types).showing(context.shownColumns)
    return { batch, skipped: answer.skipped, hits: answer.hits, misses: answer.misses }
  }

  async #run(
    manifests: WorkerManifests,
    context: DecodeContext,
    stop: StopSignal,
    urgency: number,
  ): Promise<WorkerAnswer> {
    const run = (sent: DecodeContext | undefined): Promise<WorkerAnswer> =>
      this.#pool.run(
        { contextId: context.id, context: sent, manifests, stop: stop.flag, cache: this.#cache.enabled },
        { urgency },
      )
    const answer = await run(this.#isKnown(context) ? undefined : context)
    // A worker that was replaced, or has seen many plans since, does not know the context any more.
    return answer.kind === 'context missing' ? run(context) : answer
  }

  /**
   * False for the first jobs of a context: they carry it, two for each worker, and most workers have it then. One that
   * has not says so.
   */
  #isKnown(context: DecodeContext): boolean {
    const sent = this.#sent.get(context) ?? 0
    if (sent >= 2 * this.workers) return true
    this.#sent.set(context, sent + 1)
    return false
  }
}

function packed(
  manifests: readonly JobManifest[],
  rows: readonly ManifestFile[],
  files: StagedFiles,
): WorkerManifests {
  const isMoved = manifests.some(({ manifest, location }) => location !== manifest.manifestPath)
  return {
    rows: packRows(rows),
    files,
    locations: isMoved ? manifests.map(({ location }) => location) : undefined,
  }
}
