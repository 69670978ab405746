/**
 * Decoding in this thread, in slices between which the event loop turns.
 */
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import type { DecodeContext, JobManifest } from './decode-job.ts'
import { compacted, decodeManifests } from './decode-job.ts'
import type { DecodedBatch, Decoder, StopSignal } from './decoder.ts'

export class InlineDecoder implements Decoder {
  readonly workers = 0
  readonly #cache: ManifestCache

  /** @param cache headers and plans are kept in it */
  constructor(cache: ManifestCache) {
    this.#cache = cache
  }

  async decode(
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop: StopSignal,
  ): Promise<DecodedBatch> {
    const cache = this.#cache
    const steps = decodeManifests(manifests, context, cache)
    let hits = 0
    let misses = 0
    for (;;) {
      if (stop.slice.isOver) await stop.slice.turn()
      stop.signal.throwIfAborted()
      // Other plans may use the cache between two steps, but not during one.
      const before = { hits: cache.hits, misses: cache.misses }
      const step = steps.next()
      hits += cache.hits - before.hits
      misses += cache.misses - before.misses
      if (step.done === true) {
        const { batch: all, skipped } = step.value
        const batch = skipped === 0 ? all : compacted(all)
        batch.store.shrinkTo(batch.usedLayout)
        return { batch, skipped, hits, misses }
      }
    }
  }
}
