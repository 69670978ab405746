/**
 * Where a plan's manifests are decoded: in this thread or in workers, by the number of workers asked for or, with
 * `auto`, by the amount of work. Workers start with the first plan that needs them and stay for the next one.
 */
import fs from 'node:fs'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { InvalidArgumentError } from '../errors.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { WorkerPool } from '../pool/worker-pool.ts'
import type { WorkerAnswer, WorkerJob } from './decode-job.ts'
import type { Decoder } from './decoder.ts'
import { InlineDecoder } from './inline-decoder.ts'
import type { Warnings } from './warnings.ts'
import { WorkerDecoder } from './worker-decoder.ts'

/**
 * Bytes of manifests from which starting threads pays: each takes tens of milliseconds to start and then has to warm up
 * its own compiled code. In a process that plans once, on two cores, two threads took 1.15 times as long as this one at
 * 54 MB and 1.07 times at 95 MB (`npm run bench -- auto`).
 */
export const COLD_WORKER_BYTES = 96 * 1024 * 1024
/**
 * Bytes of earlier plans from which a planner is taken for one that goes on planning. It starts threads too, for once they
 * run, two decode a plan of 11 MB 1.3 times as fast as this thread does.
 */
export const REPEATED_WORKER_BYTES = 24 * 1024 * 1024
/**
 * Bytes of a plan below which it is not handed to threads, running or not. By running ones, two on two cores, 500 manifests
 * of 5 KB took 2.1 times as long as in this thread, 4 of 2.8 MB 0.83 times (`npm run bench -- auto`).
 */
export const WARM_WORKER_BYTES = 6 * 1024 * 1024
/** More threads than this have no measured use. */
const MAX_WORKERS = 64

export interface DecoderOptions {
  /** A whole number or `auto`. */
  readonly workers: number | 'auto'
  /** The worker's module; by default the one that is built beside this one. */
  readonly workerFile: string | URL | undefined
  /** Of the planner: headers for decoding here, file bytes for workers. */
  readonly cache: ManifestCache
}

export class DecoderChoice {
  readonly #workers: number | 'auto'
  readonly #cache: ManifestCache
  readonly #workerFile: string
  readonly #inline: InlineDecoder
  /** Bytes of manifests of all plans so far. */
  #bytesSeen = 0
  #threads: Promise<Threads> | undefined

  /** @throws InvalidArgumentError for a number of workers that is none */
  constructor({ workers, workerFile, cache }: DecoderOptions) {
    if (workers !== 'auto' && !(Number.isInteger(workers) && workers >= 0 && workers <= MAX_WORKERS)) {
      throw new InvalidArgumentError(
        `Cannot plan with ${workers} workers: a whole number from 0 to ${MAX_WORKERS} or "auto" is needed`,
      )
    }
    this.#workers = workers
    this.#cache = cache
    this.#workerFile =
      workerFile instanceof URL || workerFile?.startsWith('file:') === true
        ? fileURLToPath(workerFile)
        : (workerFile ?? besideThisModule())
    this.#inline = new InlineDecoder(cache)
  }

  /** The decoder for a plan of these manifests. */
  async choose(manifests: readonly ManifestFile[], warnings: Warnings): Promise<Decoder> {
    const workers = this.#workersFor(manifests)
    if (workers === 0 || manifests.length === 0) return this.#inline
    if (!fs.existsSync(this.#workerFile)) {
      warnings.add(
        'no worker file',
        `The worker file ${this.#workerFile} does not exist, so manifests are decoded in this thread (option workerFile).`,
      )
      return this.#inline
    }
    return (await this.#openThreads(workers)).decoder
  }

  async close(): Promise<void> {
    const threads = await this.#threads
    this.#threads = undefined
    await threads?.pool.close()
  }

  #workersFor(manifests: readonly ManifestFile[]): number {
    if (this.#workers !== 'auto') return this.#workers
    let bytes = 0
    for (const { manifestLength } of manifests) bytes += Math.max(0, manifestLength ?? 0)
    const isPoolWorthIt =
      this.#threads !== undefined || bytes >= COLD_WORKER_BYTES || this.#bytesSeen >= REPEATED_WORKER_BYTES
    this.#bytesSeen += bytes
    if (bytes < WARM_WORKER_BYTES || !isPoolWorthIt) return 0
    const cores = os.availableParallelism()
    return cores < 2 ? 0 : Math.min(cores, MAX_WORKERS)
  }

  async #openThreads(workers: number): Promise<Threads> {
    const threads = this.#threads
    // A dead pool is replaced once: another plan may have done so meanwhile.
    if (threads !== undefined && (await threads).pool.isDead && this.#threads === threads)
      this.#threads = undefined
    if (this.#threads === undefined) {
      const made = this.#startThreads(workers)
      this.#threads = made
      // A pool that could not be made is not kept: the next plan tries again.
      made.catch(() => {
        if (this.#threads === made) this.#threads = undefined
      })
    }
    return this.#threads
  }

  /** Piscina is loaded here, for it takes longer to load than a small plan to make. */
  async #startThreads(workers: number): Promise<Threads> {
    const { WorkerPool: Pool } = await import('../pool/worker-pool.ts')
    const pool = new Pool<WorkerJob, WorkerAnswer>({ filename: this.#workerFile, workers })
    return { pool, decoder: new WorkerDecoder(pool, this.#cache) }
  }
}

/** Of all plans of a planner. */
interface Threads {
  readonly pool: WorkerPool<WorkerJob, WorkerAnswer>
  readonly decoder: WorkerDecoder
}

/** `workers/` stands beside `src/` in the sources, in the test build and in the package. */
function besideThisModule(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`../../workers/plan-manifest.worker.${extension}`, import.meta.url))
}
