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

/** One way to plan: its median time, and the counters of its last round. */
export interface CacheComparison {
  readonly cache: 'on' | 'off'
  /** `cold`: by a new planner, which starts its threads too. `warm`: by one that has planned the scan before. */
  readonly temperature: 'cold' | 'warm'
  readonly workers: number
  readonly rounds: number
  /** Median over the rounds, from `plan()` until the last batch; loading the table is not included. */
  readonly durationMs: number
  readonly tasks: number
  /** Look-ups of headers and compiled plans. */
  readonly planCacheHits: number
  readonly planCacheMisses: number
  /** Files of which the bytes were in the cache. */
  readonly cacheFileHits: number
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
  readonly plan: () => Promise<ScanReport>
  readonly reports: ScanReport[]
}

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
      for (const { plan, reports } of candidates) {
        const report = await plan()
        if (round >= 0) reports.push(report)
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
  plan: () => Promise<ScanReport>,
): Candidate {
  return { cache, temperature, workers, plan, reports: [] }
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
): Promise<ScanReport> {
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
): Promise<ScanReport> {
  const plan = await planner.plan(scan, { signal })
  const batches = plan.batches
  while ((await batches.next()).done !== true);
  return plan.report
}

function summarize({ cache, temperature, workers, reports }: Candidate): CacheComparison {
  const last = reports[reports.length - 1]
  return {
    cache,
    temperature,
    workers,
    rounds: reports.length,
    durationMs: median(reports.map(({ totalPlanningDurationMs }) => totalPlanningDurationMs)),
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
