/**
 * The immutable description of a scan: which snapshot, which columns. Making one reads nothing; planning it does.
 */
import { InvalidArgumentError } from '../errors.ts'
import { ALWAYS_TRUE, type Expression } from '../expressions/expression.ts'
import { toExpression, type Filter } from '../expressions/to-expression.ts'
import type { FileIO } from '../io/file-io.ts'
import type { Schema } from '../metadata/schema.ts'
import type { SelectedSnapshot } from '../metadata/snapshot.ts'
import { selectSnapshot } from '../metadata/snapshot.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'
import type { NestedField } from '../types/type.ts'

export interface ScanOptions {
  /** At most one of the three; without any, the current snapshot (R1.1-R1.8). */
  readonly snapshotId?: bigint | undefined
  /** A branch or a tag. */
  readonly ref?: string | undefined
  /** Epoch milliseconds, inclusive: what was current then, by the snapshot log. */
  readonly asOf?: number | undefined
  /** Which rows the query wants; all of them without it. Files that hold none, provably, are not planned. */
  readonly filter?: Filter | undefined
  /** Names of the columns that the query reads, dotted where nested. All columns without it. */
  readonly select?: readonly string[] | undefined
  /** Columns whose metrics the tasks show, a struct with all in it; `true` for all columns. Default none (R10.1). */
  readonly includeColumnStats?: boolean | readonly string[] | undefined
  /** False: names are compared without case. Default true. */
  readonly caseSensitive?: boolean | undefined
  /** Plans data files whose sequence number is missing although a delete depends on it, taking 0 (R4.2). */
  readonly lenient?: boolean | undefined
}

/** What planning needs of a table. */
export interface ScannedTable {
  readonly metadata: TableMetadata
  readonly io: FileIO
  readonly warnings: readonly string[]
  /**
   * What a stored location stands for, without rebase: two that give the same text name the same file. Absent up to
   * format version 3, where stored locations are compared as they are.
   */
  readonly absolute?: ((location: string) => string) | undefined
  /** Where to open a file that the metadata names. */
  resolve(location: string): string
}

export class TableScan {
  /** The table as it was when the scan was made. */
  readonly table: ScannedTable
  readonly options: ScanOptions
  /** The snapshot, with the one schema and the specs that the plan is bound to; no snapshot in an empty table. */
  readonly selected: SelectedSnapshot
  /** The filter as an expression, not bound yet. */
  readonly filter: Expression
  /** Ids of the columns whose metrics the tasks show. */
  readonly shownColumns: 'all' | readonly number[]

  /**
   * @param table - Must not change: a `Table` makes its scans of what it is at the moment.
   * @throws InvalidArgumentError for an unknown snapshot, ref, time or column, and for a filter that cannot be parsed
   */
  constructor(table: ScannedTable, options: ScanOptions) {
    this.table = table
    this.options = options
    this.selected = selectSnapshot(table.metadata, options)
    this.filter = options.filter === undefined ? ALWAYS_TRUE : toExpression(options.filter)
    checkColumns(options, this.selected.schema, table)
    this.shownColumns = shownColumns(options, this.selected.schema, table)
  }

  /** Another scan of the same table, with some options changed. */
  with(options: ScanOptions): TableScan {
    return new TableScan(this.table, { ...this.options, ...options })
  }
}

function checkColumns(options: ScanOptions, schema: Schema, table: ScannedTable): void {
  for (const name of options.select ?? []) findColumn('select', name, options, schema, table)
}

function shownColumns(options: ScanOptions, schema: Schema, table: ScannedTable): 'all' | readonly number[] {
  const { includeColumnStats = false } = options
  if (typeof includeColumnStats === 'boolean') return includeColumnStats ? 'all' : []
  const ids = new Set(
    includeColumnStats.map((name) => findColumn('include statistics of', name, options, schema, table).id),
  )
  for (const { field, parentIds } of schema.allFields())
    if (parentIds.some((id) => ids.has(id))) ids.add(field.id)
  return [...ids]
}

/** @param what is to be done with the column, for the message */
function findColumn(
  what: string,
  name: string,
  { caseSensitive = true }: ScanOptions,
  schema: Schema,
  table: ScannedTable,
): NestedField {
  const field = schema.findFieldByName(name, caseSensitive)
  if (field !== undefined) return field
  const names = schema.fields.map((column) => column.name).join(', ')
  throw new InvalidArgumentError(
    `Cannot ${what} column "${name}" of ${table.metadata.metadataLocation}: schema ${schema.schemaId} has ${names}`,
    { location: table.metadata.metadataLocation },
  )
}
