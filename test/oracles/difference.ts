/**
 * Where iceplan's plan of a pair is not the oracle's. Files are named by what is below the table's `data` folder, and
 * all lists are sorted but those of deletes, which keep their order (R7.11).
 */
import type { Expression } from '../../src/expressions/expression.ts'
import { expressionFromJson, expressionToJson } from '../../src/expressions/expression-json.ts'
import { formatJson } from '../../src/metadata/lossless-json.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import type { JsonValue } from '../../src/types/value.ts'
import { type AnsweredCounters, type AnsweredTable, fileName, type Pair } from './answers.ts'
import { meaningOf } from './meaning.ts'
import type { OurPlan } from './our-plan.ts'
import { columnsOf, rowsOf } from './partition-rows.ts'

export interface Difference {
  /** Code of our error, where the oracle has a plan. */
  readonly refused?: string
  /** Our whole plan, where the oracle fails. */
  readonly plans?: readonly string[]
  /** What we plan besides, and what we leave out. */
  readonly more?: readonly string[]
  readonly fewer?: readonly string[]
  /** What the filter's text plans besides its JSON. */
  readonly moreByText?: readonly string[]
  /** Our deletes of a file, where the oracle has others or fails. */
  readonly deletes?: Readonly<Record<string, readonly string[]>>
  /** Our residual of a file, where some row of its partition tells it from the oracle's, or the oracle has none. */
  readonly residuals?: Readonly<Record<string, JsonValue>>
  /** Our counters of the scan report, where they are not Java's although the plans are the same. */
  readonly counters?: Readonly<Partial<Record<keyof AnsweredCounters, number>>>
}

const COUNTERS: Readonly<Record<keyof AnsweredCounters, keyof ScanReport>> = {
  dataManifests: 'skippedDataManifests',
  deleteManifests: 'skippedDeleteManifests',
  dataFiles: 'skippedDataFiles',
  deleteFiles: 'skippedDeleteFiles',
  scannedDataManifests: 'scannedDataManifests',
  scannedDeleteManifests: 'scannedDeleteManifests',
  resultDataFiles: 'resultDataFiles',
  resultDeleteFiles: 'resultDeleteFiles',
  indexedDeleteFiles: 'indexedDeleteFiles',
  equalityDeleteFiles: 'equalityDeleteFiles',
  positionalDeleteFiles: 'positionalDeleteFiles',
  dvs: 'dvs',
}

/** @param deleteOrder whether the oracle's order of deletes counts */
export function differenceOf(
  table: AnsweredTable,
  pair: Pair,
  plan: OurPlan,
  deleteOrder: boolean,
): Difference {
  const tasks = new Map(plan.tasks.map((task) => [fileName(table, task.dataFile.filePath), task]))
  if (pair.files === undefined) return wholePlan(table, tasks)
  const answered = new Map(pair.files.map((file) => [fileName(table, file.path), file]))
  const difference = {
    more: [...tasks.keys()].filter((name) => !answered.has(name)).sort(),
    fewer: [...answered.keys()].filter((name) => !tasks.has(name)).sort(),
    deletes: {} as Record<string, readonly string[]>,
    residuals: {} as Record<string, JsonValue>,
    counters: {} as Partial<Record<keyof AnsweredCounters, number>>,
  }
  for (const [name, task] of tasks) {
    const file = answered.get(name)
    if (file === undefined) continue
    const ours = task.deletes.map(({ filePath }) => fileName(table, filePath))
    const theirs = file.deletes.map((path) => fileName(table, path))
    if (!deleteOrder) [ours, theirs].forEach((names) => names.sort())
    if (ours.join() !== theirs.join()) difference.deletes[name] = ours
    const isSame =
      file.residual !== undefined &&
      hasSameMeaning(plan, task, task.residual, expressionFromJson(file.residual), pair.caseSensitive)
    if (!isSame) difference.residuals[name] = expressionToJson(task.residual)
  }
  const isSamePlan = [difference.more, difference.fewer, difference.deletes].every(isEmpty)
  if (isSamePlan && pair.skipped !== undefined)
    for (const [java, ours] of Object.entries(COUNTERS) as [keyof AnsweredCounters, keyof ScanReport][])
      if (plan.report[ours] !== pair.skipped[java]) difference.counters[java] = plan.report[ours] as number
  return Object.fromEntries(Object.entries(difference).filter(([, part]) => !isEmpty(part)))
}

function wholePlan(table: AnsweredTable, tasks: ReadonlyMap<string, FileScanTask>): Difference {
  const deletes = [...tasks].flatMap(([name, task]) =>
    task.deletes.length === 0 ? [] : [[name, task.deletes.map(({ filePath }) => fileName(table, filePath))]],
  )
  return {
    plans: [...tasks.keys()].sort(),
    ...(deletes.length === 0 ? {} : { deletes: Object.fromEntries(deletes) as Record<string, string[]> }),
  }
}

export function isEmpty(part: object): boolean {
  return Object.keys(part).length === 0
}

/**
 * Whether no row of the file's partition tells two expressions apart. Without any row to try, it is not known to be so,
 * unless they are the same text.
 */
export function hasSameMeaning(
  { scan }: OurPlan,
  task: FileScanTask,
  one: Expression,
  other: Expression,
  caseSensitive = true,
): boolean {
  if (textOf(one) === textOf(other)) return true
  const both = [one, other]
  const { schema } = scan.selected
  const columns = columnsOf(both, schema, caseSensitive)
  const rows = rowsOf(task, both, columns, schema, caseSensitive)
  const [first, second] = both.map((expression) => meaningOf(expression, columns))
  return rows.length > 0 && rows.every((row) => first(row) === second(row))
}

function textOf(expression: Expression): string {
  return formatJson(expressionToJson(expression))
}
