/**
 * What the driver and a peer say to each other. A peer is a process `COMMAND METADATA_JSON FILTER`; it prints `ready`
 * once the table's metadata is parsed, and then, for each line `plan` on stdin, plans the whole table and prints one
 * line of JSON, an {@link Answer}. It ends with stdin. README.md tells authors of peers the same.
 */

/** One plan, as the peer saw it. */
export interface Answer {
  /** From asking for the plan, manifest list included, until the last task was touched. */
  ms: number
  /** Until the first task; null if there was none. */
  firstTaskMs: number | null
  tasks: number
  /** Delete files, summed over the tasks. */
  deletes: number
  /** Record counts of the data files, summed over the tasks. */
  records: number
  /** Resident memory of the process after the plan; null: not known. */
  rssMiB: number | null
}

/** `none`, `ts >= from AND ts < until` with instants as ISO text, or `id < below`. */
export type PeerFilter =
  { kind: 'none' } | { kind: 'days'; from: string; until: string } | { kind: 'ids'; below: number }

/** The filter as it stands on a peer's command line. */
export function formatFilter(filter: PeerFilter): string {
  switch (filter.kind) {
    case 'none':
      return 'none'
    case 'days':
      return `days:${filter.from}..${filter.until}`
    case 'ids':
      return `ids:${filter.below}`
  }
}

/** @throws Error if `text` is none of {@link formatFilter}'s */
export function parseFilterArgument(text: string): PeerFilter {
  if (text === 'none') return { kind: 'none' }
  const days = /^days:(?<from>.+)\.\.(?<until>.+)$/.exec(text)?.groups
  if (days !== undefined) return { kind: 'days', from: days.from, until: days.until }
  const ids = /^ids:(?<below>\d+)$/.exec(text)?.groups
  if (ids !== undefined) return { kind: 'ids', below: Number(ids.below) }
  throw new Error(`Cannot understand the filter ${text}: it is none, days:FROM..UNTIL or ids:N`)
}

const NUMBERS = ['ms', 'tasks', 'deletes', 'records'] as const
const NUMBERS_OR_NULL = ['firstTaskMs', 'rssMiB'] as const

/** @throws Error if the line is no answer */
export function parseAnswer(line: string): Answer {
  const answer = JSON.parse(line) as Record<keyof Answer, unknown>
  const missing = [
    ...NUMBERS.filter((name) => typeof answer[name] !== 'number'),
    ...NUMBERS_OR_NULL.filter((name) => answer[name] !== null && typeof answer[name] !== 'number'),
  ]
  if (missing.length > 0)
    throw new Error(`Cannot read the answer ${line}: ${missing.join(', ')} is no number`)
  return answer as Answer
}
