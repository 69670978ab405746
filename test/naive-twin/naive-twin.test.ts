/**
 * Random tables with their rows in hand, planned with random filters, and held against a twin that knows the rows.
 *
 * ICEPLAN_SEED repeats or varies a run, ICEPLAN_TWIN_PAIRS says how many (table, filter) pairs to try, and
 * ICEPLAN_TWIN_TABLE plans one table only: the number that a failure names.
 */
import { assert } from 'chai'
import type { Expression } from '../../src/expressions/expression.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import { allOf, deleteName } from '../planner/planning.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { Coverage } from './coverage.ts'
import { matches, type Node, understand } from './evaluate.ts'
import { randomFilter } from './filters.ts'
import { cannotMatch } from './prune.ts'
import { Random } from './random.ts'
import { type Row, type TableShape } from './rows.ts'
import { randomTable, type TwinFile, type TwinTable } from './tables.ts'

const PAIRS = Number(process.env.ICEPLAN_TWIN_PAIRS ?? 20_000)
const FILTERS_PER_TABLE = 100
const ONLY_TABLE = process.env.ICEPLAN_TWIN_TABLE
const MAX_FAILURES = 5

describe(`the naive twin ${WITH_SEED}`, function () {
  this.timeout(600_000)

  it(`${PAIRS} pairs of a table and a filter: no row is lost, no residual is wrong, few files are kept in vain`, async () => {
    const run = new Run()
    await using planner = new ScanPlanner({ workers: 0 })
    const tables = Math.ceil(PAIRS / FILTERS_PER_TABLE)
    for (let i = 0; i < tables; i++) {
      if (ONLY_TABLE !== undefined && i !== Number(ONLY_TABLE)) continue
      await run.tryTable(planner, i)
      if (run.failures.length >= MAX_FAILURES) break
    }
    console.log(run.summary())
    assert.deepEqual(run.failures, [], run.failures.join('\n\n'))
    if (ONLY_TABLE !== undefined) return
    assert.isAtLeast(run.pruned / run.prunable, 0.9, 'of what the twin drops, planned in vain')
    if (PAIRS >= 20_000) assert.deepEqual(run.coverage.missing(), [], 'not tried')
  })
})

class Run {
  readonly failures: string[] = []
  readonly coverage = new Coverage()
  pairs = 0
  /** (filter, file) pairs that the twin drops, and those of them that the planner drops. */
  prunable = 0
  pruned = 0
  #files = 0
  #planned = 0
  #matching = 0
  #deletes = 0
  readonly #residuals = { true: 0, false: 0, same: 0, other: 0 }

  async tryTable(planner: ScanPlanner, number: number): Promise<void> {
    const random = new Random(SEED + number * 7919)
    const table = randomTable(random, number)
    this.coverage.addTable(table.shape)
    const loaded = await loadTable(table.built.metadataLocation, { io: new MemoryFileIO(table.built.files) })
    for (let i = 0; i < FILTERS_PER_TABLE; i++) {
      const caseSensitive = random.chance(0.9)
      const filter = randomFilter(table.shape, random, { ignoresCase: !caseSensitive })
      const before = this.failures.length
      // One failure of a filter says it all.
      const fail = (what: string) => {
        if (this.failures.length > before) return
        this.failures.push(
          `table ${number} (format ${table.shape.version}), filter ${i}: ${show(filter)}\n  ${what}`,
        )
      }
      try {
        const plan = await planner.plan(loaded.newScan({ filter, caseSensitive }), {})
        this.#check(table, filter, await allOf(plan.tasks), fail)
      } catch (error) {
        fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
      }
      this.pairs++
      if (this.failures.length >= MAX_FAILURES) return
    }
  }

  #check(
    table: TwinTable,
    filter: Expression,
    tasks: readonly FileScanTask[],
    fail: (what: string) => void,
  ): void {
    const { shape } = table
    const node = understand(filter, shape)
    this.coverage.addFilter(node, shape)
    const byPath = new Map(tasks.map((task) => [task.dataFile.filePath, task]))
    if (byPath.size !== tasks.length) fail('a file is planned twice')
    for (const file of table.files) {
      const task = byPath.get(file.path)
      const wanted = file.rows.map((row) => matches(node, row))
      const isDropped = cannotMatch(node, file, shape.hasOldTimes)
      const hasMatch = wanted.includes(true)
      this.#files++
      if (hasMatch) this.#matching++
      if (hasMatch && isDropped) fail(`the twin itself drops a row: ${showFile(file, shape)}`)
      if (isDropped && file.input.recordCount !== -1) {
        this.prunable++
        if (task === undefined) this.pruned++
      }
      if (task === undefined) {
        if (hasMatch)
          fail(`a matching row is lost: ${showFile(file, shape, file.rows[wanted.indexOf(true)])}`)
        continue
      }
      this.#planned++
      this.#checkResidual(task, file, wanted, node, shape, fail)
      this.#checkDeletes(task, file, wanted, table, fail)
    }
    const paths = new Set(table.files.map((file) => file.path))
    for (const path of byPath.keys())
      if (!paths.has(path)) fail(`a file that is not live is planned: ${path}`)
  }

  #checkResidual(
    task: FileScanTask,
    file: TwinFile,
    wanted: readonly boolean[],
    filter: Node,
    shape: TableShape,
    fail: (what: string) => void,
  ): void {
    const { residual } = task
    if (show(residual).includes('not(')) fail(`the residual ${show(residual)} has a NOT`)
    const node = understand(residual, shape)
    const wrong = file.rows.findIndex((row, i) => matches(node, row) !== wanted[i])
    if (wrong !== -1)
      fail(
        `the residual ${show(residual)} is ${!wanted[wrong]}, the filter ${wanted[wrong]}: ` +
          showFile(file, shape, file.rows[wrong]),
      )
    const isSame = JSON.stringify(node, bare) === JSON.stringify(filter, bare)
    this.#residuals[typeof node === 'boolean' ? (node ? 'true' : 'false') : isSame ? 'same' : 'other']++
  }

  /** Deletes of rows that the filter refuses may be left out (R7.4); what is not in reach must not be there. */
  #checkDeletes(
    task: FileScanTask,
    file: TwinFile,
    wanted: readonly boolean[],
    { deletes, shape }: TwinTable,
    fail: (what: string) => void,
  ): void {
    const assigned = new Set(task.deletes.map(deleteName))
    const hasVector = deletes.some((each) => each.kind === 'vector' && each.reaches(file))
    for (const each of deletes) {
      const isSuperseded = hasVector && each.kind === 'position'
      const reaches = each.reaches(file) && !isSuperseded
      const takesRow = reaches && wanted.some((isWanted, i) => isWanted && each.deletes(file, i))
      if (takesRow) this.#deletes++
      if (takesRow && !assigned.has(each.name))
        fail(`the ${each.kind} delete ${each.name} is missing: ${showFile(file, shape)}`)
      if (!reaches && assigned.has(each.name))
        fail(`the ${each.kind} delete ${each.name} is out of reach: ${showFile(file, shape)}`)
    }
  }

  summary(): string {
    const { true: yes, false: no, same, other } = this.#residuals
    const share = ((100 * this.pruned) / Math.max(this.prunable, 1)).toFixed(2)
    return [
      `${this.pairs} pairs; of ${this.#files} files ${this.#matching} hold a matching row, ${this.#planned} are planned`,
      `the twin drops ${this.prunable} files, the planner ${this.pruned} of them (${share} %)`,
      `residuals: ${yes} true, ${no} false, ${same} the filter itself, ${other} part of it`,
      `deletes of matching rows: ${this.#deletes}`,
      this.coverage.summary(),
    ].join('\n')
  }
}

/** Bigints as text; columns and structs by their ids. */
function bare(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : value
}

function show(expression: Expression): string {
  switch (expression.op) {
    case 'true':
    case 'false':
      return expression.op
    case 'not':
      return `not(${show(expression.child)})`
    case 'and':
    case 'or':
      return `(${show(expression.left)} ${expression.op} ${show(expression.right)})`
  }
  const { name, transform } = expression.term
  const term = transform === undefined ? `"${name}"` : `${formatTransform(transform)}("${name}")`
  const literals =
    'literals' in expression ? expression.literals : 'literal' in expression ? [expression.literal] : []
  const texts = literals.slice(0, 10).map((literal) => JSON.stringify(literal, bare))
  return [term, expression.op, ...texts].join(' ')
}

function showFile(file: TwinFile, { columns }: TableShape, row?: Row): string {
  const fields = file.spec.fields.map(
    ({ column, transform }, i) =>
      `${transform.text}("${column.name}" ${column.type.text}) = ${text(file.tuple[i])}`,
  )
  const cells = (of: Row) =>
    columns.map((column) => `${column.name} ${column.type.text}: ${text(of.cells[column.index])}`)
  const rows = row === undefined ? file.rows : [row]
  return [
    `${file.path} [${fields.join(', ')}]${file.isOld ? ' of the old schema' : ''}`,
    ...rows.map((each) => `    ${cells(each).join(', ')}`),
    `    ${JSON.stringify(file.input, metricText)}`,
  ].join('\n')
}

function text(value: unknown): string {
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
  return Object.is(value, -0) ? '-0' : typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function metricText(_: string, value: unknown): unknown {
  if (value instanceof Map)
    return Object.fromEntries(
      [...value].map(([id, each]) => [String(id), typeof each === 'number' ? each : text(each)]),
    )
  return typeof value === 'bigint' ? String(value) : value
}
