/**
 * How the cost of a plan grows: 10,000 to 20,000,000 entries, in manifests of 10,000, planned without a filter and with
 * one that keeps a hundredth of every manifest's files and so reads all of them. Tasks are streamed: path and record count
 * of each are looked at, nothing is kept. A process for each plan, so that peaks of memory do not mix; the cache is that
 * of a planner by default.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Group } from './corpus.ts'
import { linkedTableOnDisk, type Size } from './fixtures.ts'
import type { Outcome, Subject } from './measure.ts'
import type { StreamedPlan } from './product.ts'
import { formatTable } from './text-table.ts'

/** Numbers of manifests. */
const MANIFESTS: Record<Size, readonly number[]> = { real: [1, 10, 100, 1000, 2000], smoke: [1, 3] }
/** The upper bound of column 3 is anywhere from 1,000,000 to 1,001,000,000. */
const FILTERS = { none: undefined, bounds: 'quantity > 991000000' } as const
const WORKERS = [0, 2]
/** Of the smaller tables; those of ten million entries and more take half a minute and are planned once. */
const ROUNDS = 3
const MOST_MANIFESTS_FOR_ROUNDS = 100

export function scaleGroup(): Group {
  const plans = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).flatMap((filter) =>
    WORKERS.map((workers) => ({ name: `scale/${filter}/workers-${workers}`, filter, workers })),
  )
  const figures = ({ name }: { name: string }) => FIGURES.map((figure) => `${name}/${figure}`)
  return {
    name: 'scale',
    cases: plans.flatMap(figures),
    maxRounds: 1,
    warmUps: 0,
    prepare: (size) => {
      const tables = MANIFESTS[size].map((manifests) => ({
        location: linkedTableOnDisk('plain', size, manifests),
        rounds: size === 'smoke' || manifests > MOST_MANIFESTS_FOR_ROUNDS ? 1 : ROUNDS,
      }))
      return Promise.resolve({
        subjects: plans.flatMap((plan): Subject[] => {
          const [time, memory] = figures(plan)
          let last: Promise<SizeResult[]> | undefined
          const run = () => (last ??= measureSizes(tables, plan.workers, FILTERS[plan.filter]))
          return [
            { name: time, agreesWith: plan.filter, unit: 'ns', run: async () => timeOutcome(await run()) },
            {
              name: memory,
              agreesWith: plan.filter,
              unit: 'MB',
              run: async () => memoryOutcome(await run()),
            },
          ]
        }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    },
  }
}

/** Of the largest table. */
const FIGURES = ['time-per-entry', 'peak-memory'] as const

interface SizedTable {
  location: string
  rounds: number
}

/** Medians of the rounds; the peak is the highest of all. */
interface SizeResult extends StreamedPlan {
  rounds: number
}

async function measureSizes(
  tables: readonly SizedTable[],
  workers: number,
  filter: string | undefined,
): Promise<SizeResult[]> {
  const runs = tables.map((): StreamedPlan[] => [])
  // Interleaved, as everything else.
  for (let round = 0; tables.some(({ rounds }) => round < rounds); round++)
    for (const [i, { location, rounds }] of tables.entries())
      if (round < rounds) runs[i].push(await runPlan(location, workers, filter))
  return runs.map((plans) => {
    const median = (of: (plan: StreamedPlan) => number) =>
      plans.map(of).sort((a, b) => a - b)[plans.length >> 1]
    return {
      ...plans[0],
      rounds: plans.length,
      milliseconds: median((plan) => plan.milliseconds),
      ...(plans[0].firstTaskMs === undefined ? {} : { firstTaskMs: median((plan) => plan.firstTaskMs ?? 0) }),
      peakBytes: Math.max(...plans.map((plan) => plan.peakBytes)),
    }
  })
}

function timeOutcome(results: readonly SizeResult[]): Outcome {
  const largest = results[results.length - 1]
  const rows = results.map((result) => [
    result.entries.toLocaleString('en'),
    result.tasks.toLocaleString('en'),
    String(result.rounds),
    result.milliseconds.toFixed(1),
    nanoseconds(result).toFixed(0),
    result.firstTaskMs?.toFixed(1) ?? '-',
    (result.peakBytes / 1e6).toFixed(0),
  ])
  return {
    checksum: largest.checksum,
    value: nanoseconds(largest),
    note: formatTable([
      ['entries', 'tasks', 'rounds', 'ms', 'ns per entry', 'first task ms', 'peak MB'],
      ...rows,
    ]),
  }
}

function nanoseconds({ milliseconds, entries }: SizeResult): number {
  return (milliseconds * 1e6) / entries
}

function memoryOutcome(results: readonly SizeResult[]): Outcome {
  const { checksum, peakBytes } = results[results.length - 1]
  return { checksum, value: peakBytes / 1e6 }
}

const execute = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('./one-scale.js', import.meta.url))

async function runPlan(
  metadataLocation: string,
  workers: number,
  filter: string | undefined,
): Promise<StreamedPlan> {
  const args = [SCRIPT, metadataLocation, String(workers)]
  const { stdout } = await execute(process.execPath, filter === undefined ? args : [...args, filter])
  return JSON.parse(stdout) as StreamedPlan
}
