/**
 * What a table of tasks is about: the table, the snapshot, how it is partitioned.
 */
import type { TableScan } from '../index.ts'
import { formatExpression } from '../index.ts'
import type { Colors } from './text.ts'
import { formatCount, labelled, printable } from './text.ts'

export interface HeadingFacts {
  /** Names of partition fields by spec id. */
  readonly specs: ReadonlyMap<number, string>
  /** `undefined` while more may come. */
  readonly tasks: number | undefined
}

/** The table's name and a line per fact. */
export function formatHeading(scan: TableScan, { specs, tasks }: HeadingFacts, colors: Colors): string {
  const { metadata } = scan.table
  const { location, metadataLocation } = metadata
  const name = (location ?? metadataLocation).split('/').findLast((part) => part !== '') ?? 'table'
  const lines: [label: string, text: string][] = []
  if (location !== undefined) lines.push(['location', location])
  lines.push(['metadata', `${metadataLocation}, format version ${metadata.formatVersion}`])
  snapshotTexts(scan).forEach((text, i) => lines.push([i === 0 ? 'snapshot' : '', text]))
  if (scan.filter.op !== 'true') lines.push(['filter', formatExpression(scan.filter)])
  Array.from(specs).forEach(([specId, fields], i) =>
    lines.push([i === 0 ? 'partition' : '', specs.size > 1 ? `${fields} (spec ${specId})` : fields]),
  )
  if (tasks !== undefined) lines.push(['tasks', formatCount(tasks)])
  const printed = lines.map(([label, text]) => [label, printable(text)] as const)
  return `${colors.bold(printable(name))}\n${labelled(printed, colors)}`
}

function snapshotTexts({ table, selected: { snapshot } }: TableScan): string[] {
  if (snapshot === undefined) return ['none: the table is empty']
  const { snapshotId, operation, sequenceNumber, timestampMs } = snapshot
  const refs = [...table.metadata.refs].filter(([, ref]) => ref.snapshotId === snapshotId).map(([ref]) => ref)
  return [
    refs.length === 0 ? snapshotId.toString() : `${snapshotId} (${refs.join(', ')})`,
    `${operation === undefined ? '' : `${operation}, `}sequence number ${sequenceNumber}, ${formatTime(timestampMs)}`,
  ]
}

function formatTime(epochMs: number): string {
  const date = new Date(epochMs)
  return Number.isNaN(date.getTime()) ? `${epochMs} ms` : date.toISOString()
}
