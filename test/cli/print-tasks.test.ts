import { assert } from 'chai'
import type { TaskTableOptions } from '../../src/cli/print-tasks.ts'
import { TaskTable, TERMINAL_ROWS } from '../../src/cli/print-tasks.ts'
import { colorsFor, displayWidth } from '../../src/cli/text.ts'
import type { FileScanTask } from '../../src/index.ts'
import { ScanPlanner } from '../../src/index.ts'
import { loadOrders } from './command-line.ts'

const colors = colorsFor({})
/** Below this a table does not become narrower. */
const LEAST_COLUMNS = 64

/** The table of the bundled table's tasks, given so many times over, as it is for a terminal or for a pipe. */
async function print(columns: TaskTableOptions['columns'], times = 1): Promise<string> {
  const scan = (await loadOrders()).newScan()
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
})
