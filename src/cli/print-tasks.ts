/**
 * Tasks as a table for people, in memory that does not grow with their number.
 *
 * The first rows are held back to find the widths of the columns. A terminal then gets these rows and a count of the
 * rest, with paths shortened to its width; a pipe or file gets every row, paths in full, and a later cell that is too
 * wide for its column pushes its line to the right.
 */
import type { FileScanTask, JsonValue, ScanReport, TableScan } from '../index.ts'
import { formatExpression, formatJson } from '../index.ts'
import { formatHeading } from './print-heading.ts'
import type { Colors } from './text.ts'
import {
  displayWidth,
  formatBytes,
  formatCount,
  pad,
  plural,
  printable,
  shortenMiddle,
  shortenPath,
} from './text.ts'

/** Rows that a terminal gets: about one screen. */
export const TERMINAL_ROWS = 50
/** Rows from which the widths of a pipe's columns are taken. */
const PIPE_SAMPLE_ROWS = 1000
/** With this much room for the path, the partition is written with its names. */
const COMFORTABLE_PATH_WIDTH = 40
/** A path is not shortened below this, whatever the terminal. */
const MIN_PATH_WIDTH = 12
const GAP = '  '

/** On a terminal, the residual has a fifth of a line, and at most this much: the heading has the whole filter. */
const MAX_RESIDUAL_WIDTH = 32

/** The residual is there when there is a filter. */
const TITLES = ['file', 'partition', 'records', 'size', 'seq', 'deletes', 'residual'] as const
const RESIDUAL = TITLES.indexOf('residual')
const ALIGNMENTS = ['left', 'left', 'right', 'right', 'right', 'left', 'left'] as const

interface Row {
  /** In the order of the titles; the partition is `day=2026-10-26/region=emea`. */
  readonly cells: readonly string[]
  /** The partition without its names, for a terminal. */
  readonly partitionValues: string
}

export interface TaskTableOptions {
  readonly scan: TableScan
  /** Of the terminal; `undefined` for a pipe or file. */
  readonly columns: number | undefined
  readonly colors: Colors
}

export class TaskTable {
  readonly #scan: TableScan
  readonly #columns: number | undefined
  readonly #colors: Colors
  readonly #location: string
  readonly #maxHeld: number
  readonly #titles: readonly string[]
  #held: Row[] = []
  #widths: readonly number[] | undefined
  #usesNames = true
  #tasks = 0
  #records = 0
  /** Field names by spec id, of the rows held. */
  readonly #specs = new Map<number, string>()
  readonly #kinds = new Set<'pos' | 'eq' | 'dv'>()

  constructor({ scan, columns, colors }: TaskTableOptions) {
    this.#scan = scan
    this.#columns = columns
    this.#colors = colors
    const hasFilter = scan.filter.op !== 'true'
    this.#titles = hasFilter ? TITLES : TITLES.slice(0, -1)
    this.#location = `${(scan.table.metadata.location ?? '').replace(/\/+$/, '')}/`
    this.#maxHeld = columns === undefined ? PIPE_SAMPLE_ROWS : TERMINAL_ROWS
  }

  /** Takes the next task; gives the text to write now, empty while rows are held back. */
  add(task: FileScanTask): string {
    this.#tasks++
    // Importers that do not know a count write a negative one.
    this.#records += Math.max(0, task.dataFile.recordCount)
    if (this.#held.length < this.#maxHeld && this.#widths === undefined) {
      this.#held.push(this.#row(task))
      return ''
    }
    if (this.#columns !== undefined) return ''
    return this.#begin(false) + this.#format(this.#row(task))
  }

  /** The rest of the text. To be called when all tasks were added: it says so. */
  end(report: ScanReport): string {
    const table = this.#begin(true)
    const { dim } = this.#colors
    const left = this.#tasks - this.#maxHeld
    const more =
      this.#columns !== undefined && left > 0
        ? dim(`… and ${plural(left, 'more task')}; --format jsonl prints all\n`)
        : ''
    const gap = this.#tasks > 0 ? '\n' : ''
    return table + more + gap + this.#summary(report) + this.#legend()
  }

  /** Heading and held rows, once. */
  #begin(isAll: boolean): string {
    if (this.#widths !== undefined) return ''
    const rows = this.#held
    this.#held = []
    this.#layOut(rows)
    const facts = { specs: this.#specs, tasks: isAll ? this.#tasks : undefined }
    const heading = formatHeading(this.#scan, facts, this.#colors)
    const titles = this.#line(this.#titles.map((title) => title.toUpperCase()))
    const body = rows.map((row) => this.#format(row)).join('')
    return `${heading}\n${rows.length === 0 ? '' : `${this.#colors.dim(titles)}${body}`}`
  }

  #summary(report: ScanReport): string {
    const deletes =
      report.resultDeleteFiles === 0
        ? 'no deletes to apply'
        : `${plural(report.resultDeleteFiles, 'delete')} to apply (${formatBytes(report.totalDeleteFileSizeInBytes)})`
    return (
      `${this.#colors.bold(plural(this.#tasks, 'task'))}: ${plural(this.#records, 'record')} in ` +
      `${formatBytes(report.totalFileSizeInBytes)}, ${deletes}\n`
    )
  }

  #legend(): string {
    const meanings = [
      ['pos', 'position delete file'],
      ['eq', 'equality delete file'],
      ['dv', 'deletion vector'],
    ] as const
    const used = meanings.filter(([kind]) => this.#kinds.has(kind))
    if (used.length === 0) return ''
    return this.#colors.dim(`${used.map(([kind, meaning]) => `${kind}: ${meaning}`).join(', ')}\n`)
  }

  #row(task: FileScanTask): Row {
    const file = task.dataFile
    const path = printable(file.filePath)
    const isTerminal = this.#columns !== undefined
    const tuple = task.partition
    const names = Object.keys(tuple)
    const partition = names.map((name) => `${name}=${scalarText(tuple[name])}`).join('/')
    const values = isTerminal ? names.map((name) => scalarText(tuple[name])).join('/') : ''
    if (this.#widths === undefined && !this.#specs.has(file.specId))
      this.#specs.set(file.specId, names.join('/') || 'unpartitioned')
    const cells = [
      isTerminal && path.startsWith(this.#location) ? path.slice(this.#location.length) : path,
      printable(partition) || '-',
      file.recordCount < 0 ? '?' : formatCount(file.recordCount),
      formatBytes(file.fileSizeInBytes),
      String(file.dataSequenceNumber ?? '?'),
      this.#deletes(task),
    ]
    if (this.#titles.length === TITLES.length) cells.push(printable(formatExpression(task.residual)))
    return { cells, partitionValues: printable(values) || '-' }
  }

  /** `1 pos, 2 eq, dv`; `-` for none. */
  #deletes(task: FileScanTask): string {
    const files = task.deletes
    if (files.length === 0) return '-'
    let pos = 0
    let eq = 0
    let dv = 0
    for (const file of files) {
      if (file.isEqualityDelete) eq++
      else if (file.isDeletionVector) dv++
      else pos++
    }
    const parts: string[] = []
    if (pos > 0) parts.push(`${pos} pos`)
    if (eq > 0) parts.push(`${eq} eq`)
    if (dv > 0) parts.push('dv')
    if (pos > 0) this.#kinds.add('pos')
    if (eq > 0) this.#kinds.add('eq')
    if (dv > 0) this.#kinds.add('dv')
    return parts.join(', ') || '-'
  }

  /** Decides the widths, and whether partitions are written with their names. */
  #layOut(rows: readonly Row[]): void {
    const widths = this.#titles.map((title, i) => widest(title, rows, ({ cells }) => cells[i]))
    const columns = this.#columns
    if (columns !== undefined) {
      if (widths.length === TITLES.length) {
        const room = Math.min(widths[RESIDUAL], MAX_RESIDUAL_WIDTH, Math.floor(columns / 5))
        widths[RESIDUAL] = Math.max(TITLES[RESIDUAL].length, room)
      }
      const gaps = GAP.length * (widths.length - 1)
      const room = columns - widths.slice(2).reduce((sum, width) => sum + width, gaps)
      const [path] = widths
      let [, partition] = widths
      if (room - partition < Math.min(path, COMFORTABLE_PATH_WIDTH)) {
        this.#usesNames = false
        partition = widest(TITLES[1], rows, ({ partitionValues }) => partitionValues)
      }
      widths[1] = Math.max(TITLES[1].length, Math.min(partition, room - MIN_PATH_WIDTH))
      widths[0] = Math.max(MIN_PATH_WIDTH, Math.min(path, room - widths[1]))
    }
    this.#widths = widths
  }

  #format({ cells, partitionValues }: Row): string {
    return this.#line(this.#usesNames ? cells : cells.with(1, partitionValues))
  }

  #line(cells: readonly string[]): string {
    const widths = this.#widths ?? []
    const last = cells.length - 1
    let line = ''
    for (let i = 0; i <= last; i++) {
      const cell = this.#columns === undefined ? cells[i] : shortened(i, cells[i], widths[i])
      // Nothing stands behind the last one.
      line += i === last ? cell : pad(cell, widths[i], ALIGNMENTS[i]) + GAP
    }
    return `${line}\n`
  }
}

/** The width of a column. */
function widest(title: string, rows: readonly Row[], cellOf: (row: Row) => string): number {
  return rows.reduce((width, row) => Math.max(width, displayWidth(cellOf(row))), title.length)
}

function shortened(column: number, cell: string, width: number): string {
  switch (TITLES[column]) {
    case 'file':
      return shortenPath(cell, width)
    case 'partition':
    case 'residual':
      return shortenMiddle(cell, width)
    default:
      return cell
  }
}

/** Partition values are scalars, in JSON already strings where numbers would not do. */
function scalarText(value: JsonValue): string {
  return typeof value === 'object' ? formatJson(value) : String(value)
}
