/** The filters of the contests, as fits a generated table. */
import { FIRST_DAY, type GeneratedTable, IDS_PER_FILE } from '../fixtures.ts'
import type { PeerFilter } from './protocol.ts'

export const FILTER_NAMES = ['none', 'days', 'ids'] as const
export type FilterName = (typeof FILTER_NAMES)[number]

const DAYS = 7
const MS_PER_DAY = 86_400_000

/**
 * `days`: a week from the middle of the table's time, which partition values decide; `ids`: the first hundredth of the
 * files by their column `id`, which only bounds decide, so that every manifest has to be read.
 */
export function filterFor(name: FilterName, { manifestPaths, entries }: GeneratedTable): PeerFilter {
  switch (name) {
    case 'none':
      return { kind: 'none' }
    case 'days': {
      // A manifest begins a day after the one before it.
      const from = FIRST_DAY + Math.floor(manifestPaths.length / 2)
      return { kind: 'days', from: isoInstant(from), until: isoInstant(from + DAYS) }
    }
    case 'ids':
      return { kind: 'ids', below: Math.ceil(entries / 100) * IDS_PER_FILE }
  }
}

/** Midnight, with an offset in numbers: not every peer takes a Z. */
function isoInstant(day: number): string {
  return new Date(day * MS_PER_DAY).toISOString().replace('.000Z', '+00:00')
}
