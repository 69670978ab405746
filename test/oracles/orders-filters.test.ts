/** Java's filtered scans of the table `orders`, whose data files were really written (fixtures/README.md). */
import { assert } from 'chai'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isIcebergError } from '../../src/errors.ts'
import { expressionFromJson } from '../../src/expressions/expression-json.ts'
import { rebase } from '../../src/io/rebase.ts'
import { formatJson, parseJson } from '../../src/metadata/lossless-json.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { Table } from '../../src/planner/table.ts'
import type { JsonValue } from '../../src/types/value.ts'
import { projectRoot } from '../support/root.ts'
import { hasSameMeaning } from './difference.ts'
import { planPair } from './our-plan.ts'

interface FilteredScan {
  readonly filter: JsonValue
  readonly tasks: readonly {
    readonly filePath: string
    readonly residual: JsonValue
    readonly deletes: number
  }[]
}

interface Orders {
  readonly location: string
  readonly filteredScans: readonly FilteredScan[]
}

describe("Java's filtered plans of orders", () => {
  const orders = parseJson(readFileSync(fixture('orders.expected.json'), 'utf8')) as Orders
  let table: Table

  before(async () => {
    table = await loadTable(orders.location, { rebase: [rebase(orders.location, fixture('orders'))] })
  })

  for (const { filter, tasks: answered } of orders.filteredScans)
    it(formatJson(filter), async () => {
      const plan = await planPair(table, { id: '', filter, rules: [], reason: '' })
      if (isIcebergError(plan)) throw plan
      const ours = new Map(plan.tasks.map((task) => [task.dataFile.filePath, task]))
      assert.sameMembers(
        [...ours.keys()],
        answered.map(({ filePath }) => filePath),
      )
      for (const { filePath, residual, deletes } of answered) {
        const task = ours.get(filePath)!
        assert.isTrue(hasSameMeaning(plan, task, task.residual, expressionFromJson(residual)), filePath)
        assert.equal(task.deletes.length, deletes, filePath)
      }
    })
})

function fixture(path: string): string {
  return fileURLToPath(new URL(`fixtures/${path}`, projectRoot()))
}
