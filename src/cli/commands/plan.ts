/**
 * `iceplan plan`: which files a scan reads, as a table, as JSON or as JSON lines; what planning took, on stderr.
 */
import type { FileScanTask, ScanOptions, ScanPlan, TableScan } from '../../index.ts'
import { formatJson, ManifestCache, ScanPlanner } from '../../index.ts'
import type { ExitCode } from '../failure.ts'
import { EXIT } from '../failure.ts'
import { formatReport, formatWarnings } from '../print-report.ts'
import { TaskTable } from '../print-tasks.ts'
import type { Progress } from '../progress.ts'
import { startProgress } from '../progress.ts'
import { parseFilterOption } from '../filter-option.ts'
import { openTable } from '../open-table.ts'
import { reportToJson } from '../report-json.ts'
import type { Run } from '../run.ts'
import { taskToJson } from '../task-json.ts'
import type { TableOptions } from '../table-options.ts'
import { colorsFor, plural } from '../text.ts'

export interface PlanCommandOptions extends TableOptions {
  filter?: string
  snapshotId?: bigint
  ref?: string
  /** Epoch milliseconds. */
  asOf?: number
  select?: string[]
  format: 'table' | 'json' | 'jsonl'
  workers: number | 'auto'
  cache: 'on' | 'off'
  cacheDir?: string
  caseInsensitive?: boolean
  lenient?: boolean
}

/** Rejects as `loadTable` and plans do; nothing is written then, or no end of it. */
export async function runPlan(name: string, options: PlanCommandOptions, run: Run): Promise<ExitCode> {
  const { signal, stdout, stderr } = run
  const filter = options.filter === undefined ? undefined : parseFilterOption(options.filter)
  // Lines that go to the terminal would run into the bar.
  const progress = startProgress(stderr, options.format === 'table' || stdout.isTTY !== true)
  try {
    const table = await openTable(name, options, signal)
    const scan = table.newScan({ ...scanOptions(options), filter })
    await using planner = new ScanPlanner({
      workers: options.workers,
      // There is no later plan that decoded entries could be kept for.
      cache: options.cache === 'off' ? 'off' : new ManifestCache({ maxEntryBytes: 0 }),
      cacheDir: options.cacheDir,
    })
    const plan = await planner.plan(scan, {
      signal,
      onProgress: ({ manifestsDone, manifestsTotal, dataFiles }) => {
        progress.update(manifestsDone, manifestsTotal, plural(dataFiles, 'data file'))
      },
    })
    await write(plan, writerFor(options.format, scan, run), run, progress)
    const { report } = plan
    const colors = colorsFor(stderr)
    stderr.write(formatWarnings(report.warnings, colors))
    if (options.format !== 'json') stderr.write(`\n${formatReport(report, colors)}`)
    return EXIT.DONE
  } finally {
    progress.stop()
  }
}

function scanOptions({
  snapshotId,
  ref,
  asOf,
  select,
  caseInsensitive,
  lenient,
}: PlanCommandOptions): ScanOptions {
  return { snapshotId, ref, asOf, select, caseSensitive: caseInsensitive !== true, lenient }
}

/** A form of output: a text per task, and one for the end of a plan that is complete. */
interface TaskWriter {
  task(task: FileScanTask): string
  end(plan: ScanPlan): string
}

function writerFor(format: PlanCommandOptions['format'], scan: TableScan, { stdout }: Run): TaskWriter {
  switch (format) {
    case 'table': {
      const columns = stdout.isTTY === true ? stdout.columns : undefined
      const table = new TaskTable({ scan, columns, colors: colorsFor(stdout) })
      return { task: (task) => table.add(task), end: (plan) => table.end(plan.report) }
    }
    case 'jsonl':
      return { task: (task) => `${formatJson(taskToJson(task))}\n`, end: () => '' }
    case 'json': {
      let before = '{"tasks":[\n'
      return {
        task: (task) => {
          const text = before + formatJson(taskToJson(task))
          before = ',\n'
          return text
        },
        end: (plan) => {
          const close = before === ',\n' ? '\n]' : '{"tasks":[]'
          return `${close},"report":${formatJson(reportToJson(plan.report))}}\n`
        },
      }
    }
  }
}

/** Writes batch by batch: a batch is what planning gives in one go, so nobody waits for a chunk to fill. */
async function write(plan: ScanPlan, writer: TaskWriter, { out }: Run, progress: Progress): Promise<void> {
  for await (const batch of plan.batches) {
    for (let i = 0; i < batch.length; i++) if (out.add(writer.task(batch.task(i)))) await out.flush()
    await out.flush()
  }
  progress.stop()
  out.add(writer.end(plan))
  await out.flush()
}
