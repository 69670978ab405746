import { assert } from 'chai'
import type { TaskTableOptions } from '../../src/cli/print-tasks.ts'
import { TaskTable, TERMINAL_ROWS } from '../../src/cli/print-tasks.ts'
import { colorsFor, displayWidth } from '../../src/cli/text.ts'
import type { FileScanTask, ScanOptions } from '../../src/index.ts'
import { ScanPlanner } from '../../src/index.ts'
import { loadOrders } from './command-line.ts'

const colors = colorsFor({})
/** Below this a table does not become narrower, and one with residuals. */
const LEAST_COLUMNS = 64
const LEAST_COLUMNS_WITH_RESIDUAL = 74

/** Leaves three residuals of different lengths: of the days 3, 4 and 5 November, and of nothing in between. */
const FILTER = "ordered_at >= '2026-11-03T12:00:00Z' AND region = 'emea' AND amount > 500"

/** The table of the bundled table's tasks, given so many times over, as it is for a terminal or for a pipe. */
async function print(
  columns: TaskTableOptions['columns'],
  times = 1,
  options: ScanOptions = {},
): Promise<string> {
  const scan = (await loadOrders()).newScan(options)
  const plan = await new ScanPlanner().plan(scan)
  const tasks: FileScanTask[] = []
  for await (const task of plan.tasks) tasks.push(task)
  const table = new TaskTable({ scan, columns, colors })
  let text = ''
  for (let i = 0; i < times; i++) for (const task of tasks) text += table.add(task)
  return text + table.end(plan.report)
}

function rowsOf(text: string): string[] {
  return text.split('\n').filter((line) => line.includes('.parquet'))
}

describe('command line: tasks as a table', () => {
  it('names table, snapshot, format version, partition fields and number of tasks', async () => {
    const text = await print(80)
    assert.match(text, /^orders\n/)
    assert.match(text, /location +s3:\/\/warehouse\/db\/orders\n/)
    assert.match(text, /v24\.metadata\.json, format version 3\n/)
    assert.match(
      text,
      /snapshot +3454878495228773427 \(main\)\n +overwrite, sequence number 15, 2026-11-29T[\d:.]+Z\n/,
    )
    assert.match(text, /partition +.*region.* \(spec 1\)\n +.*region \(spec 0\)\n/)
    assert.match(text, /tasks +26\n/)
    assert.match(text, /\n26 tasks: 879 records in 114\.8 KiB, \d+ deletes to apply/)
    assert.match(text, /\npos: position delete file, eq: equality delete file, dv: deletion vector\n$/)
  })

  for (const columns of [40, 80, 100, 140, 200])
    it(`fits a terminal of ${columns} columns, unless the columns need more at least`, async () => {
      const lines = (await print(columns)).split('\n')
      const rows = lines.slice(
        lines.findIndex((line) => line.startsWith('FILE')),
        -4,
      )
      assert.equal(rows.length, 27)
      assert.isAtMost(Math.max(...rows.map(displayWidth)), Math.max(columns, LEAST_COLUMNS))
    })

  it('shows a terminal the first rows and counts the rest', async () => {
    const text = await print(140, 3)
    assert.equal(rowsOf(text).length, TERMINAL_ROWS)
    assert.include(text, `… and ${3 * 26 - TERMINAL_ROWS} more tasks; --format jsonl prints all\n`)
    assert.match(text, /tasks +78\n/)
  })

  it('gives a pipe every row with its whole path, without holding them', async () => {
    const text = await print(undefined, 50)
    const rows = rowsOf(text)
    assert.equal(rows.length, 50 * 26)
    for (const row of rows)
      assert.match(row, /^s3:\/\/warehouse\/db\/orders\/data\/\S+\.parquet +ordered_at_day=/)
    assert.notInclude(text, '…')
    assert.match(text, /\n1,300 tasks: /)
  })

  it('has a column of residuals, and the filter in its heading, only with a filter', async () => {
    for (const columns of [undefined, 140]) {
      const filtered = await print(columns, 1, { filter: FILTER })
      assert.match(filtered, /\n {2}filter +ordered_at >= '2026-11-03T12:00:00Z' AND .* AND amount > 500\n/)
      assert.match(filtered, / DELETES +RESIDUAL\n/)
      for (const options of [{}, { filter: 'true' }]) {
        const unfiltered = await print(columns, 1, options)
        assert.notInclude(unfiltered, 'RESIDUAL')
        assert.notMatch(unfiltered, /\n {2}filter /)
      }
    }
  })

  it('says what is left of the filter in each file', async () => {
    const rows = rowsOf(await print(undefined, 1, { filter: FILTER }))
    assert.deepEqual(
      rows.map((row) => /day=([\d-]+).* {2}(?:dv|-) +(\S.*)$/.exec(row)?.slice(1)),
      [
        ['2026-11-03', "ordered_at >= '2026-11-03T12:00:00Z' AND amount > 500"],
        ['2026-11-05', 'amount > 500'],
      ],
    )
  })

  for (const columns of [40, 80, 100, 140, 200])
    it(`with residuals, fits a terminal of ${columns} columns too`, async () => {
      const lines = (await print(columns, 1, { filter: FILTER })).split('\n')
      const rows = lines.filter((line) => line.startsWith('FILE') || line.includes('.parquet'))
      assert.equal(rows.length, 3)
      assert.isAtMost(Math.max(...rows.map(displayWidth)), Math.max(columns, LEAST_COLUMNS_WITH_RESIDUAL))
    })

  it('with no task, has a heading and a summary', async () => {
    const text = await print(140, 1, { filter: 'false' })
    assert.match(
      text,
      /\n {2}filter +false\n {2}tasks +0\n\n0 tasks: 0 records in 0 B, no deletes to apply\n$/,
    )
  })
})
