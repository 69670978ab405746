/**
 * The planner behind `table.planFiles()`: one per process, made on first use, so that programs that just want
 * tasks share its cache. For each folder of a disk cache there is one more, with the same cache in memory.
 */
import { resolve } from 'node:path'
import { ScanPlanner } from './scan-planner.ts'

let planner: ScanPlanner | undefined
const byCacheDir = new Map<string, ScanPlanner>()

/** @throws InvalidArgumentError for a folder that ScanPlanner refuses */
export function sharedPlanner(cacheDir?: string): ScanPlanner {
  planner ??= new ScanPlanner()
  if (cacheDir === undefined) return planner
  // No name is no folder, and not the working directory.
  const folder = cacheDir === '' ? '' : resolve(cacheDir)
  let other = byCacheDir.get(folder)
  if (other === undefined) {
    other = new ScanPlanner({ cache: planner.cache, cacheDir: folder })
    byCacheDir.set(folder, other)
  }
  return other
}
