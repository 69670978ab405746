/** The comparison of cache on and off as a table for people. */
import type { CacheComparison } from '../src/index.ts'
import { formatTable } from './text-table.ts'

const COLUMNS: readonly [heading: string, cell: (row: CacheComparison, off: CacheComparison) => string][] = [
  ['workers', ({ workers }) => String(workers)],
  ['plan', ({ temperature }) => temperature],
  ['cache', ({ cache }) => cache],
  ['ms', ({ durationMs }) => durationMs.toFixed(1)],
  ['against off', ({ durationMs }, off) => `${(durationMs / off.durationMs).toFixed(2)} x`],
  ['first task ms', ({ firstTaskMs }) => firstTaskMs?.toFixed(1) ?? '-'],
  ['peak MiB', ({ peakRssBytes }) => (peakRssBytes / 2 ** 20).toFixed(0)],
  ['hits', ({ planCacheHits }) => planCacheHits.toLocaleString('en')],
  ['misses', ({ planCacheMisses }) => planCacheMisses.toLocaleString('en')],
  ['file hits', ({ cacheFileHits }) => cacheFileHits.toLocaleString('en')],
  ['entry hits', ({ cacheEntryHits }) => cacheEntryHits.toLocaleString('en')],
  ['requests', ({ ioRequests }) => ioRequests.toLocaleString('en')],
  ['bytes', ({ ioBytes }) => ioBytes.toLocaleString('en')],
]

/** A line for the headings, then one per row; numbers stand to the right. */
export function formatComparison(rows: readonly CacheComparison[]): string {
  const lines = rows.map((row) => {
    const off = rows.find(
      ({ cache, workers, temperature }) =>
        cache === 'off' && workers === row.workers && temperature === row.temperature,
    )
    return COLUMNS.map(([, cell]) => cell(row, off ?? row))
  })
  return formatTable([COLUMNS.map(([heading]) => heading), ...lines])
}
