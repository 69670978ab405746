/**
 * The immutable description of a scan: which snapshot, which columns. Making one reads nothing; planning it does.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import type { Schema } from '../metadata/schema.ts'
import type { SelectedSnapshot } from '../metadata/snapshot.ts'
import { selectSnapshot } from '../metadata/snapshot.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'

export interface ScanOptions {
  /** At most one of the three; without any, the current snapshot (R1.1-R1.8). */
  readonly snapshotId?: bigint | undefined
  /** A branch or a tag. */
  readonly ref?: string | undefined
  /** Epoch milliseconds, inclusive: what was current then, by the snapshot log. */
  readonly asOf?: number | undefined
  /** Names of the columns that the query reads, dotted where nested. All columns without it. */
  readonly select?: readonly string[] | undefined
  /** False: names are compared without case. Default true. */
  readonly caseSensitive?: boolean | undefined
  /** Plans data files whose sequence number is missing although a delete depends on it, taking 0 (R4.2). */
  readonly lenient?: boolean | undefined
}

/** What planning needs of a table: a `Table` is one. */
export interface ScannedTable {
  readonly metadata: TableMetadata
  readonly io: FileIO
  readonly warnings: readonly string[]
  /** Where to open a file that the metadata names. */
  resolve(location: string): string
}

export class TableScan {
  readonly table: ScannedTable
  readonly options: ScanOptions
  /** The snapshot, with the one schema and the specs that the plan is bound to; no snapshot in an empty table. */
  readonly selected: SelectedSnapshot

  /** @throws InvalidArgumentError for an unknown snapshot, ref, time or column */
  constructor(table: ScannedTable, options: ScanOptions) {
    this.table = table
    this.options = options
    this.selected = selectSnapshot(table.metadata, options)
    checkColumns(options, this.selected.schema, table)
  }

  /** Another scan of the same table, with some options changed. */
  with(options: ScanOptions): TableScan {
    return new TableScan(this.table, { ...this.options, ...options })
  }
}

function checkColumns({ select, caseSensitive }: ScanOptions, schema: Schema, table: ScannedTable): void {
  for (const name of select ?? []) {
    if (schema.findFieldByName(name, caseSensitive ?? true) !== undefined) continue
    const names = schema.fields.map((field) => field.name).join(', ')
    throw new InvalidArgumentError(
      `Cannot select column "${name}" of ${table.metadata.metadataLocation}: schema ${schema.schemaId} has ${names}`,
      { location: table.metadata.metadataLocation },
    )
  }
}
