/** Filters that keep about a hundredth of the data files of a generated table. */
import { BUCKETS, DAYS_PER_MANIFEST, FIRST_DAY, type GeneratedTable, IDS_PER_FILE } from './fixtures.ts'

export const FILTER_NAMES = ['none', 'partition', 'bounds'] as const
export type FilterName = (typeof FILTER_NAMES)[number]

const MS_PER_DAY = 86_400_000

/** The filter's text; undefined for none. */
export function filterText(name: FilterName, table: GeneratedTable): string | undefined {
  switch (name) {
    case 'none':
      return undefined
    case 'partition':
      return partitionFilter(table)
    case 'bounds':
      // Ids ascend from file to file.
      return `id < ${Math.ceil(table.entries / 100) * IDS_PER_FILE}`
  }
}

/**
 * Days from the middle of the table's time until they have a hundredth of its files; where one day has more, some
 * buckets of it. A tenth of the smallest table, which has four files on that day.
 */
function partitionFilter({ manifestPaths: { length: manifests }, entries }: GeneratedTable): string {
  const perManifest = entries / manifests
  const firstDay = Math.floor(manifests / 2)
  let files = filesOnDay(firstDay, manifests, perManifest)
  const buckets = Math.round((BUCKETS * entries) / 100 / files)
  let days = 1
  while (files < entries / 100) files += filesOnDay(firstDay + days++, manifests, perManifest)
  const [from, until] = [firstDay, firstDay + days].map((day) =>
    new Date((FIRST_DAY + day) * MS_PER_DAY).toISOString(),
  )
  const time = `ts >= '${from}' AND ts < '${until}'`
  if (buckets >= BUCKETS || files < BUCKETS) return time
  const some = Array.from({ length: Math.max(1, buckets) }, (_, bucket) => bucket)
  return `${time} AND bucket(${BUCKETS}, id) IN (${some.join(', ')})`
}

/** @param day counted from the table's first */
function filesOnDay(day: number, manifests: number, perManifest: number): number {
  let files = 0
  for (let m = Math.max(0, day - DAYS_PER_MANIFEST + 1); m <= Math.min(day, manifests - 1); m++) {
    const first = Math.ceil(((day - m) * perManifest) / DAYS_PER_MANIFEST)
    files += Math.ceil(((day - m + 1) * perManifest) / DAYS_PER_MANIFEST) - first
  }
  return files
}
