/**
 * Cache on against cache off, side by side: for benchmark harnesses that want the comparison on a table of their own.
 * Nothing is printed.
 */
import { InvalidArgumentError } from '../errors.ts'
import { ManifestCache } from '../manifest/manifest-cache.ts'
import { ScanPlanner } from './scan-planner.ts'
import type { ScanReport } from './scan-report.ts'
import type { Table } from './table.ts'
import type { ScanOptions, TableScan } from './table-scan.ts'

export interface CompareCachesOptions {
  /** Numbers of worker threads to compare; default 0, 1 and 2. */
  readonly workers?: readonly number[]
  /** Measured rounds, at least 1; default 5. One more comes first and is not counted. */
  readonly rounds?: number
  /** What is planned; default all of the current snapshot. */
  readonly scan?: ScanOptions
  /** The worker's module, as for a planner. */
  readonly workerFile?: string | URL
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** One way to plan: its median times, its peak of memory, and the counters of its last round. */
export interface CacheComparison {
  readonly cache: 'on' | 'off'
  /** `cold`: by a new planner, which starts its threads too. `warm`: by one that has planned the scan before. */
  readonly temperature: 'cold' | 'warm'
  readonly workers: number
  readonly rounds: number
  /** Median over the rounds, from `plan()` until the last batch; loading the table is not included. */
  readonly durationMs: number
  /** Median, from `plan()` until the first task is at hand; undefined if nothing was to be planned. */
  readonly firstTaskMs: number | undefined
  /**
   * The most memory that the process had resident while it planned so, in any round: looked at every few milliseconds
   * and after each batch. It is of all the process holds, with threads and with what other rows left behind: the caches
   * of the warm planners, and garbage. For a figure of the plan alone, compare one number of workers in a process of its
   * own, with `--expose-gc`: then garbage is collected before each plan, outside of its time.
   */
  readonly peakRssBytes: number
  readonly tasks: number
  /** Look-ups of headers and compiled plans. */
  readonly planCacheHits: number
  readonly planCacheMisses: number
  /** Files of which the bytes were in the cache. */
  readonly cacheFileHits: number
  /** Manifests of which the decoded entries were in the cache. */
  readonly cacheEntryHits: number
  readonly ioRequests: number
  readonly ioBytes: number
}

const SWITCHES = ['on', 'off'] as const

/** A way to plan while it is measured. */
interface Candidate {
  readonly cache: 'on' | 'off'
  readonly temperature: 'cold' | 'warm'
  readonly workers: number
  readonly plan: () => Promise<PlanFacts>
  readonly rounds: PlanFacts[]
}

/** What one plan gave. */
interface PlanFacts {
  readonly report: ScanReport
  readonly firstTaskMs: number | undefined
  readonly peakRssBytes: number
}

const SAMPLE_MS = 4

/**
 * Plans a scan in every combination of cache (on, off), temperature (cold, warm) and workers. Rounds are interleaved:
 * each runs every combination once, so that a noisy moment hurts all alike.
 *
 * @returns a row per combination, by workers, then temperature, cache on before off
 * @throws InvalidArgumentError for a number of rounds or workers that is none; errors of planning
 */
export async function compareCaches(
  table: Table,
  options: CompareCachesOptions = {},
): Promise<CacheComparison[]> {
  const { workers = [0, 1, 2], rounds = 5, signal } = options
  if (!(Number.isInteger(rounds) && rounds >= 1))
    throw new InvalidArgumentError(
      `Cannot compare caches in ${rounds} rounds: a whole number from 1 is needed`,
    )
  const scan = table.newScan(options.scan)
  const planners: ScanPlanner[] = []
  try {
    const candidates = workers.flatMap((count) => {
      const warm = SWITCHES.map((cache) => newPlanner(cache, count, options))
      planners.push(...warm)
      return [
        ...SWITCHES.map((cache) =>
          candidate(cache, 'cold', count, () => planCold(cache, count, scan, options)),
        ),
        ...SWITCHES.map((cache, i) => candidate(cache, 'warm', count, () => planOnce(warm[i], scan, signal))),
      ]
    })
    for (let round = -1; round < rounds; round++) {
      for (const candidate of candidates) {
        const facts = await candidate.plan()
        if (round >= 0) candidate.rounds.push(facts)
      }
    }
    return candidates.map(summarize)
  } finally {
    await Promise.all(planners.map((planner) => planner.close()))
  }
}

function candidate(
  cache: 'on' | 'off',
  temperature: 'cold' | 'warm',
  workers: number,
  plan: () => Promise<PlanFacts>,
): Candidate {
  return { cache, temperature, workers, plan, rounds: [] }
}

function newPlanner(cache: 'on' | 'off', workers: number, { workerFile }: CompareCachesOptions): ScanPlanner {
  return new ScanPlanner({
    workers,
    cache: cache === 'off' ? 'off' : new ManifestCache(),
    ...(workerFile === undefined ? {} : { workerFile }),
  })
}

async function planCold(
  cache: 'on' | 'off',
  workers: number,
  scan: TableScan,
  options: CompareCachesOptions,
): Promise<PlanFacts> {
  const planner = newPlanner(cache, workers, options)
  try {
    return await planOnce(planner, scan, options.signal)
  } finally {
    await planner.close()
  }
}

async function planOnce(
  planner: ScanPlanner,
  scan: TableScan,
  signal: AbortSignal | undefined,
): Promise<PlanFacts> {
  globalThis.gc?.()
  let peakRssBytes = 0
  const look = (): void => {
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss())
  }
  look()
  const timer = setInterval(look, SAMPLE_MS)
  try {
    const start = performance.now()
    let firstTaskMs: number | undefined
    const plan = await planner.plan(scan, { signal })
    for await (const batch of plan.batches) {
      if (firstTaskMs === undefined) {
        batch.task(0)
        firstTaskMs = performance.now() - start
      }
      look()
    }
    return { report: plan.report, firstTaskMs, peakRssBytes }
  } finally {
    clearInterval(timer)
  }
}

function summarize({ cache, temperature, workers, rounds }: Candidate): CacheComparison {
  const last = rounds[rounds.length - 1].report
  const firsts = rounds.flatMap(({ firstTaskMs }) => firstTaskMs ?? [])
  return {
    cache,
    temperature,
    workers,
    rounds: rounds.length,
    durationMs: median(rounds.map(({ report }) => report.totalPlanningDurationMs)),
    firstTaskMs: firsts.length === 0 ? undefined : median(firsts),
    peakRssBytes: Math.max(...rounds.map(({ peakRssBytes }) => peakRssBytes)),
    tasks: last.resultDataFiles,
    planCacheHits: last.planCacheHits,
    planCacheMisses: last.planCacheMisses,
    cacheFileHits: last.cacheFileHits,
    cacheEntryHits: last.cacheEntryHits,
    ioRequests: last.ioRequests,
    ioBytes: last.ioBytes,
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
