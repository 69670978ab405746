/**
 * A report as JSON: its fields by their kebab-case names, which are those of Java's scan metrics.
 */
import type { ScanReport } from '../index.ts'
import type { JsonRecord } from './task-json.ts'

/** Every field of the report; durations in milliseconds with three decimals. `snapshot-id` is null for an empty table. */
export function reportToJson(report: ScanReport): JsonRecord {
  return kebabKeys({
    ...report,
    totalPlanningDurationMs: Math.round(report.totalPlanningDurationMs * 1000) / 1000,
    snapshotId: report.snapshotId ?? null,
  })
}

/** `resultDataFiles` becomes `result-data-files`; values stay. */
export function kebabKeys(object: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      value,
    ]),
  )
}
