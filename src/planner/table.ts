/**
 * A table at one version of its metadata, and where its files are.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { Filter } from '../expressions/to-expression.ts'
import type { FileIO } from '../io/file-io.ts'
import type { LocationMap } from '../io/rebase.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'
import { isJsonObject } from '../types/json-object.ts'
import type { FileScanTask } from './file-scan-task.ts'
import type { PlanOptions } from './scan-plan.ts'
import { sharedPlanner } from './shared-planner.ts'
import type { ScannedTable, ScanOptions } from './table-scan.ts'
import { TableScan } from './table-scan.ts'

export class Table implements ScannedTable {
  readonly metadata: TableMetadata
  readonly io: FileIO
  /** What was odd while the table was found and loaded, a sentence each. */
  readonly warnings: readonly string[]
  readonly #locations: LocationMap

  /** Made by `loadTable`, or from metadata that a catalog has handed out. */
  constructor(metadata: TableMetadata, io: FileIO, locations: LocationMap, warnings: readonly string[] = []) {
    this.metadata = metadata
    this.io = io
    this.#locations = locations
    this.warnings = warnings
  }

  /** Where to open a file that the metadata names: moved by the table's rebases. */
  resolve(location: string): string {
    return this.#locations.apply(location)
  }

  /** @throws InvalidArgumentError for an unknown snapshot, ref, time or column, and for a filter that cannot be parsed */
  newScan(options: ScanOptions = {}): TableScan {
    return new TableScan(this, options)
  }

  /**
   * Plans a scan with the planner that the process shares. Nothing is read before the first `next()`; leaving the
   * loop stops the work.
   *
   * @param filter which rows are wanted: SQL-like text (`"region = 'emea' AND amount > 500"`), an expression of the
   *   builder functions, or Iceberg expression JSON; all rows without it
   * @throws InvalidArgumentError for a filter that cannot be parsed or bound to the snapshot's schema
   */
  async *planFiles(
    filter?: Filter,
    options: Omit<ScanOptions, 'filter'> & PlanOptions = {},
  ): AsyncGenerator<FileScanTask> {
    const given: unknown = filter
    if (isJsonObject(given) && !('op' in given) && !('type' in given))
      throw new InvalidArgumentError(
        'Cannot plan files: the first argument is the filter, options come second',
      )
    if ('filter' in options)
      throw new InvalidArgumentError('Cannot plan files: the filter is the first argument, not an option')
    const plan = await sharedPlanner().plan(this.newScan({ ...options, filter }), options)
    yield* plan.tasks
  }
}
