/**
 * The planner behind `table.planFiles()`: one per process, made on first use, so that programs that just want
 * tasks share its cache.
 */
import { ScanPlanner } from './scan-planner.ts'

let planner: ScanPlanner | undefined

export function sharedPlanner(): ScanPlanner {
  planner ??= new ScanPlanner()
  return planner
}
