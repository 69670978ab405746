/** How iceplan plans a pair, and the tables that pairs are about. */
import { isIcebergError, type IcebergError } from '../../src/errors.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import { rebase } from '../../src/io/rebase.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import type { TableScan } from '../../src/planner/table-scan.ts'
import { allOf } from '../planner/planning.ts'
import { type AnsweredTable, oracleFolder, type Pair } from './answers.ts'

export interface OurPlan {
  readonly scan: TableScan
  readonly tasks: readonly FileScanTask[]
  readonly report: ScanReport
}

/** One for all pairs: a table's manifests are read once. */
const PLANNER = new ScanPlanner({ workers: 0 })

export function loadAnswered({ folder, location, metadata }: AnsweredTable): Promise<Table> {
  const root = oracleFolder(folder)
  const start = metadata === undefined ? root : `${root}/metadata/${metadata}`
  return loadTable(start, { rebase: [rebase(location, root)] })
}

/**
 * @param filter default the pair's own
 * @returns the plan, or what iceplan refuses the pair with; other errors are thrown
 */
export async function planPair(
  table: Table,
  { filter: answered, caseSensitive = true, snapshotId }: Pair,
  filter: Filter = answered as Filter,
): Promise<OurPlan | IcebergError> {
  try {
    const scan = table.newScan({
      filter,
      caseSensitive,
      ...(snapshotId === undefined ? {} : { snapshotId: BigInt(snapshotId) }),
    })
    const plan = await PLANNER.plan(scan)
    const tasks = await allOf(plan.tasks)
    return { scan, tasks, report: plan.report }
  } catch (error) {
    if (isIcebergError(error)) return error
    throw error
  }
}
