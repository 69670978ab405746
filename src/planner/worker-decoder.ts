/**
 * Decoding in worker threads: bytes go in shared memory, batches come back in buffers that are moved.
 */
import { WorkerError } from '../errors.ts'
import { unpackBatch } from '../manifest/batch-buffer.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import { packRows } from '../manifest/manifest-rows.ts'
import type { Pool } from '../pool/pool.ts'
import type { DecodeContext, JobManifest, WorkerAnswer, WorkerJob } from './decode-job.ts'
import type { DecodedBatch, Decoder, StopSignal } from './decoder.ts'

export class WorkerDecoder implements Decoder {
  readonly workers: number
  readonly #pool: Pool<WorkerJob, WorkerAnswer>
  readonly #cache: ManifestCache
  /** Jobs that carried each context; dropped with it. */
  readonly #sent = new WeakMap<DecodeContext, number>()

  /** @param cache of file bytes: bytes that go to workers are put into shared memory there, once */
  constructor(pool: Pool<WorkerJob, WorkerAnswer>, cache: ManifestCache) {
    this.workers = pool.workers
    this.#pool = pool
    this.#cache = cache
  }

  async decode(
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop: StopSignal,
    urgency: number,
  ): Promise<DecodedBatch> {
    stop.signal.throwIfAborted()
    const rows = manifests.map(({ manifest }) => manifest)
    const job: WorkerJob = {
      contextId: context.id,
      context: this.#isKnown(context) ? undefined : context,
      manifests: {
        rows: packRows(rows),
        bytes: manifests.map(({ bytes }) => this.#cache.share(bytes)),
        locations: manifests.map(({ location }) => location),
      },
      stop: stop.flag,
      cache: this.#cache.enabled,
    }
    let answer = await this.#pool.run(job, urgency)
    // A worker that was replaced, or has seen many plans since, does not know the context any more.
    if (answer.kind === 'context missing') answer = await this.#pool.run({ ...job, context }, urgency)
    stop.signal.throwIfAborted()
    if (answer.kind !== 'batch') throw new WorkerError(`A worker answered a decode job with "${answer.kind}"`)
    this.#cache.countElsewhere(answer.hits, answer.misses)
    const types = new Map(context.partitionTypes.map((type) => [type.specId, type]))
    return { batch: unpackBatch(answer.batch, rows, types), hits: answer.hits, misses: answer.misses }
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
