/**
 * A report for people.
 */
import type { ScanReport } from '../index.ts'
import type { Colors } from './text.ts'
import { formatBytes, formatCount, labelled, plural, printable } from './text.ts'

/** A line per subject, below a title. */
export function formatReport(report: ScanReport, colors: Colors): string {
  const title = `${colors.bold('report')} of planning in ${report.totalPlanningDurationMs.toFixed(1)} ms\n`
  return (
    title +
    labelled(
      [
        [
          'data manifests',
          manifests(report.totalDataManifests, report.scannedDataManifests, report.skippedDataManifests),
        ],
        [
          'delete manifests',
          manifests(
            report.totalDeleteManifests,
            report.scannedDeleteManifests,
            report.skippedDeleteManifests,
          ),
        ],
        [
          'data files',
          `${formatCount(report.resultDataFiles)} planned (${formatBytes(report.totalFileSizeInBytes)}), ` +
            `${formatCount(report.skippedDataFiles)} skipped`,
        ],
        [
          'delete files',
          `${formatCount(report.indexedDeleteFiles)} indexed (${formatCount(report.positionalDeleteFiles)} pos, ` +
            `${formatCount(report.equalityDeleteFiles)} eq, ${formatCount(report.dvs)} dv), ` +
            `${formatCount(report.skippedDeleteFiles)} skipped`,
        ],
        [
          'deletes in tasks',
          `${formatCount(report.resultDeleteFiles)} (${formatBytes(report.totalDeleteFileSizeInBytes)}), each counted once per task`,
        ],
        [
          'storage',
          `${plural(report.ioRequests, 'request')}, ${formatBytes(report.ioBytes)}; ` +
            `${plural(report.cacheFileHits, 'file')} and entries of ${plural(report.cacheEntryHits, 'manifest')} from the cache` +
            (report.cacheDiskHits === 0
              ? ''
              : `, ${plural(report.cacheDiskHits, 'file')} from the cache on disk`),
        ],
        [
          'plan cache',
          `${plural(report.planCacheHits, 'hit')}, ${formatCount(report.planCacheMisses)} misses`,
        ],
        ['workers', report.workers === 0 ? '0, in process' : formatCount(report.workers)],
      ],
      colors,
    )
  )
}

function manifests(total: number, scanned: number, skipped: number): string {
  return `${formatCount(total)} in the snapshot, ${formatCount(scanned)} scanned, ${formatCount(skipped)} skipped`
}

/** A line per warning, as errors are printed. */
export function formatWarnings(warnings: readonly string[], colors: Colors): string {
  return warnings.map((warning) => `iceplan: ${colors.yellow('warning')}: ${printable(warning)}\n`).join('')
}
