/**
 * Cache on against cache off, by `compareCaches` of the library: every shape of table, without a filter and with filters
 * that keep a hundredth, cold (a new planner) and warm, with 0, 1 and 2 workers. A process for each number of workers,
 * so that the peak of memory is that of one table; in it, `compareCaches` interleaves its own rounds.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { CacheComparison } from '../src/index.ts'
import { formatComparison } from './cache-table.ts'
import type { Group } from './corpus.ts'
import { type GeneratedTable, type ShapeName, tableOnDisk } from './fixtures.ts'
import type { Outcome } from './measure.ts'
import { FILTER_NAMES, filterText } from './one-percent.ts'

const SHAPES: readonly ShapeName[] = [
  'tiny',
  'narrow-small',
  'narrow-big',
  'narrow-py',
  'wide-small',
  'wide-big',
  'many',
  'one',
  'deletes',
  'equality',
  'vectors',
]
const WORKERS = [0, 1, 2]
/** Processes take long for a test: threads are compared on one table only. */
const smokeWorkers = (shape: ShapeName) => (shape === 'tiny' ? [0, 2] : [0])
/** Measured rounds for tables with up to so many entries, data and deletes together. */
const ROUNDS = [
  [50_000, 9],
  [500_000, 3],
  [Infinity, 1],
] as const

export function cacheGroups(): Group[] {
  return SHAPES.map(cacheGroup)
}

/** The figure of a case is how many times faster a warm plan is with the cache, in this thread; the table tells the rest. */
function cacheGroup(shape: ShapeName): Group {
  const name = `cache/${shape}`
  const cases = FILTER_NAMES.map((filter) => `${name}/${filter}`)
  return {
    name,
    cases,
    maxRounds: 1,
    warmUps: 0,
    prepare: (size) => {
      const table = tableOnDisk(shape, size)
      const rounds = size === 'smoke' ? 1 : roundsFor(table)
      const workers = size === 'smoke' ? smokeWorkers(shape) : WORKERS
      return Promise.resolve({
        subjects: FILTER_NAMES.map((filter, i) => ({
          name: cases[i],
          agreesWith: filter,
          unit: 'x',
          run: () => compare(table, workers, rounds, filterText(filter, table)),
        })),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    },
  }
}

function roundsFor({ entries, deleteEntries }: GeneratedTable): number {
  return ROUNDS.find(([most]) => entries + deleteEntries <= most)![1]
}

async function compare(
  table: GeneratedTable,
  workerCounts: readonly number[],
  rounds: number,
  filter: string | undefined,
): Promise<Outcome> {
  const rows: CacheComparison[] = []
  for (const workers of workerCounts) rows.push(...(await runComparison(table, workers, rounds, filter)))
  const { tasks } = rows[0]
  const other = rows.find((row) => row.tasks !== tasks)
  if (other !== undefined)
    throw new Error(`Cannot compare plans of ${tasks} and ${other.tasks} tasks (${other.workers} workers)`)
  const [on, off] = rows.filter(({ workers, temperature }) => workers === 0 && temperature === 'warm')
  const files = table.entries.toLocaleString('en')
  const heading = `${filter ?? 'no filter'}: ${tasks.toLocaleString('en')} of ${files} data files; rounds measured: ${rounds}`
  return {
    checksum: tasks,
    value: off.durationMs / on.durationMs,
    note: `${heading}\n${formatComparison(rows)}`,
  }
}

const execute = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('./one-comparison.js', import.meta.url))

async function runComparison(
  { metadataLocation }: GeneratedTable,
  workers: number,
  rounds: number,
  filter: string | undefined,
): Promise<CacheComparison[]> {
  const args = ['--expose-gc', SCRIPT, metadataLocation, String(workers), String(rounds)]
  const { stdout } = await execute(process.execPath, filter === undefined ? args : [...args, filter])
  return JSON.parse(stdout) as CacheComparison[]
}
