/** What the driver prints and saves of a contest. */
import { saveResults } from '../save-results.ts'
import type { Standing } from './contest.ts'

export interface ContestReport {
  shape: string
  filter: string
  /** Entries of data manifests, whatever the filter leaves. */
  entries: number
  /** Asked for. */
  rounds: number
  standings: Standing[]
}

/** Peers that the others are divided by, each in a column of its own, where they took part. */
const DIVISORS = ['ours-0-off', 'ours-2-off']

/** A heading and an aligned table; times are divided only where the peers planned the same. */
export function formatContest({ shape, filter, entries, rounds, standings }: ContestReport): string {
  const [reference] = standings
  const divisors = standings.filter(({ peer, failure }) => DIVISORS.includes(peer) && failure === undefined)
  const rows = [
    [
      'peer',
      'median ms',
      'middle half',
      '1st task',
      'cpu ms',
      'MiB',
      ...divisors.map(({ peer }) => `/ ${peer}`),
      'keeps',
    ],
    ...standings.filter(({ failure }) => failure === undefined).map((standing) => row(standing, divisors)),
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)))
  const lines = rows.map((cells) =>
    cells
      .map((cell, i) =>
        i === 0 || i === cells.length - 1 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]),
      )
      .join('  ')
      .trimEnd(),
  )
  const { tasks, deletes } = reference
  return [
    `${shape}, ${filter}: ${count(tasks)} tasks of ${count(entries)} files, ${count(deletes)} deletes, ${rounds} rounds`,
    ...lines.map((line) => `  ${line}`),
    ...standings.flatMap((standing) => remarks(standing, rounds)).map((text) => `  # ${text}`),
  ].join('\n')
}

function row(standing: Standing, divisors: readonly Standing[]): string[] {
  const { peer, medianMs, quartilesMs, firstTaskMs, cpuMs, rssMiB, difference, keeps } = standing
  const whole = (value: number | undefined) => (value === undefined ? '-' : count(Math.round(value)))
  const ratio = (divisor: Standing) =>
    difference === undefined ? (medianMs / divisor.medianMs).toFixed(2) : 'differs'
  return [
    peer,
    milliseconds(medianMs),
    quartilesMs.map(milliseconds).join(' .. '),
    firstTaskMs === undefined ? '-' : milliseconds(firstTaskMs),
    whole(cpuMs),
    whole(rssMiB),
    ...divisors.map(ratio),
    keeps ?? '',
  ]
}

function remarks({ peer, failure, difference, rounds }: Standing, wanted: number): string[] {
  if (failure !== undefined) return [`${peer} failed: ${failure}`]
  return [
    ...(difference === undefined ? [] : [`${peer} is not compared: ${difference}`]),
    ...(rounds === wanted
      ? []
      : [`${peer} took so long that it ran ${rounds} ${rounds === 1 ? 'round' : 'rounds'} only`]),
  ]
}

const count = (value: number) => value.toLocaleString('en-US')

/** Three digits or more. */
const milliseconds = (value: number) => (value < 100 ? value.toFixed(1) : count(Math.round(value)))

/** Writes `peers-<date>.json` into the folder; the answer is its path. */
export function saveReports(folder: string, reports: readonly ContestReport[]): string {
  return saveResults(folder, 'peers', 'build/bench/peers/peers.js', { contests: reports })
}
