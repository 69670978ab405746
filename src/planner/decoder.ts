/**
 * Who decodes: this thread or a pool of workers. The plan is the same to the byte.
 */
import type { DecodeContext, DecodedEntries, JobManifest } from './decode-job.ts'
import type { TimeSlice } from '../io/time-slice.ts'

/** A batch, and the look-ups of headers and plans that it took. */
export interface DecodedBatch extends DecodedEntries {
  readonly hits: number
  readonly misses: number
}

/** How a plan is told to stop, and to let others go on. */
export interface StopSignal {
  readonly signal: AbortSignal
  /** The same for workers: one int32 in shared memory that is set to 1. */
  readonly flag: Int32Array
  /** Of the plan. */
  readonly slice: TimeSlice
}

export interface Decoder {
  /** Threads; 0 when the work is done in this one. */
  readonly workers: number
  /**
   * Decodes a run of manifests.
   *
   * @param urgency of runs that wait for a worker, the highest goes first
   */
  decode(
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop: StopSignal,
    urgency: number,
  ): Promise<DecodedBatch>
}
