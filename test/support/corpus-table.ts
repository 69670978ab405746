/** Loading and planning the tables of the corpus: where their files are, and what a plan of one amounts to. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { FileIO } from '../../src/io/file-io.ts'
import { rebase, type Rebase } from '../../src/io/rebase.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { corpusFolder, corpusRoot, type CorpusEntry } from './corpus.ts'

export function nameOf(entry: Pick<CorpusEntry, 'source' | 'name'>): string {
  return `${entry.source}/${entry.name}`
}

/** Prefix + path below the table's folder = path in the metadata; so a prefix moves to the folder with a slash. */
export function corpusRebases(entry: CorpusEntry): Rebase[] {
  return (entry.path_prefixes ?? []).map(({ prefix }) => rebase(prefix, `${corpusFolder(entry)}/`))
}

/** The metadata file that index.json names. */
export function corpusMetadata(entry: CorpusEntry): string {
  return join(corpusRoot()!, entry.metadata!)
}

export interface CorpusTableOptions {
  /** Path of the metadata file; default the one that index.json names. */
  metadata?: string
  io?: FileIO
}

export async function loadCorpusTable(entry: CorpusEntry, options: CorpusTableOptions = {}): Promise<Table> {
  const { metadata, ...io } = options
  return loadTable(metadata ?? corpusMetadata(entry), { rebase: corpusRebases(entry), ...io })
}

/** A plan, taken to its end. */
export interface FinishedPlan {
  readonly tasks: readonly FileScanTask[]
  readonly report: ScanReport
}

/** @param planner default one that shares nothing */
export async function planTable(
  table: Table,
  options: ScanOptions = {},
  planner: ScanPlanner = new ScanPlanner({ cache: 'off' }),
): Promise<FinishedPlan> {
  const plan = await planner.plan(table.newScan(options))
  const tasks: FileScanTask[] = []
  for await (const task of plan.tasks) tasks.push(task)
  return { tasks, report: plan.report }
}

/** All that a task says, as plain data. */
export function taskToJson(task: FileScanTask): Record<string, unknown> {
  return {
    dataFile: task.dataFile.toJSON(),
    deletes: task.deletes.map((file) => file.toJSON()),
    start: task.start,
    length: task.length,
    partition: task.partition,
    location: task.location,
    residual: task.residual,
  }
}

/** SHA-256 of the tasks as JSON, in their order. */
export function digestOf(tasks: Iterable<FileScanTask>): string {
  const hash = createHash('sha256')
  for (const task of tasks)
    hash.update(
      JSON.stringify(taskToJson(task), (_, value: unknown) =>
        typeof value === 'bigint' ? `${value}n` : value,
      ),
    )
  return hash.digest('hex')
}
