/**
 * A table: its metadata as it was last loaded, where its files are, and how to find out what has changed.
 */
import { InvalidArgumentError, InvalidMetadataError, UnsupportedFeatureError } from '../errors.ts'
import type { Filter } from '../expressions/to-expression.ts'
import type { FileIO } from '../io/file-io.ts'
import type { LocationMap } from '../io/rebase.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'
import { isJsonObject } from '../types/json-object.ts'
import type { FileScanTask } from './file-scan-task.ts'
import type { PlanOptions } from './scan-plan.ts'
import { SharedRun } from '../io/shared-run.ts'
import { sharedPlanner } from './shared-planner.ts'
import type { ScannedTable, ScanOptions } from './table-scan.ts'
import { TableScan } from './table-scan.ts'
import { TableVersion } from './table-version.ts'

/** What a table's source has found that is newer, or at least not known to be the same. */
export interface ReloadedTable {
  readonly metadata: TableMetadata
  /** What was odd on the way, a sentence each. */
  readonly warnings?: readonly string[]
  /** Where files are opened from now on, if that changes too: with new credentials, say. */
  readonly io?: FileIO
}

export interface TableOptions {
  /** What was odd while the table was found and loaded, a sentence each. */
  readonly warnings?: readonly string[]
  /**
   * Finds the table's current metadata; `undefined` if that is still `known`, what the table has. Without it the table
   * cannot be refreshed.
   */
  readonly reload?: (signal: AbortSignal, known: TableMetadata) => Promise<ReloadedTable | undefined>
  /**
   * The table's root folder, for metadata that does not say it (v4 only): the place the table was loaded from.
   * Rebases apply to what is resolved against it.
   */
  readonly location?: string
}

export class Table implements ScannedTable {
  readonly #locations: LocationMap
  readonly #options: TableOptions
  readonly #refreshing = new SharedRun((signal) => this.#reload(signal))
  #version: TableVersion

  /** Made by `loadTable` or a catalog, or from metadata that is at hand. */
  constructor(metadata: TableMetadata, io: FileIO, locations: LocationMap, options: TableOptions = {}) {
    this.#locations = locations
    this.#options = options
    this.#version = this.#versionOf(metadata, io, options.warnings)
  }

  /** As of the load or the last {@link refresh}. */
  get metadata(): TableMetadata {
    return this.#version.metadata
  }

  get io(): FileIO {
    return this.#version.io
  }

  /** What was odd while the metadata was found and loaded, a sentence each. */
  get warnings(): readonly string[] {
    return this.#version.warnings
  }

  /** Where to open a file that the metadata names: relative ones resolved (v4 only), then moved by the rebases. */
  resolve(location: string): string {
    return this.#version.resolve(location)
  }

  /**
   * Finds out whether the table has changed, and takes the new metadata if so: this table changes in place. Scans made
   * before, and plans of them, keep the metadata that they were made with. Calls that overlap share one look-up, so
   * a commit made after the first of them may be missed by all.
   *
   * Rejects with InvalidMetadataError if another table is there now (its uuid differs), UnsupportedFeatureError for a
   * table that was loaded from one metadata file, the errors of loading, the signal's reason. The table is then what
   * it was.
   */
  async refresh({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<this> {
    signal?.throwIfAborted()
    await this.#refreshing.join(signal)
    return this
  }

  /**
   * A scan of the table as it is now; a later {@link refresh} does not change it.
   *
   * @throws InvalidArgumentError for an unknown snapshot, ref, time or column, and for a filter that cannot be parsed
   */
  newScan(options: ScanOptions = {}): TableScan {
    return new TableScan(this.#version, options)
  }

  /**
   * Plans a scan with the planner that the process shares. Nothing is read before the first `next()`; leaving the
   * loop stops the work.
   *
   * @param filter which rows are wanted: SQL-like text (`"region = 'emea' AND amount > 500"`), an expression of the
   *   builder functions, or Iceberg expression JSON; all rows without it
   * @param options.cacheDir a folder for copies of the files that plans read over a network, see `ScanPlanner`
   * @throws InvalidArgumentError for a filter that cannot be parsed or bound to the snapshot's schema, and for a folder
   *   that cannot be used
   */
  async *planFiles(
    filter?: Filter,
    options: Omit<ScanOptions, 'filter'> & PlanOptions & { cacheDir?: string | undefined } = {},
  ): AsyncGenerator<FileScanTask> {
    const given: unknown = filter
    if (isJsonObject(given) && !('op' in given) && !('type' in given))
      throw new InvalidArgumentError(
        'Cannot plan files: the first argument is the filter, options come second',
      )
    if ('filter' in options)
      throw new InvalidArgumentError('Cannot plan files: the filter is the first argument, not an option')
    const plan = await sharedPlanner(options.cacheDir).plan(this.newScan({ ...options, filter }), options)
    yield* plan.tasks
  }

  async #reload(signal: AbortSignal): Promise<void> {
    const { reload } = this.#options
    const { metadata: old, io } = this.#version
    if (reload === undefined)
      throw new UnsupportedFeatureError(
        `Cannot refresh ${old.metadataLocation}: the table was loaded from this one metadata file, which never changes; load it by its folder or through a catalog`,
        { location: old.metadataLocation },
      )
    const reloaded = await reload(signal, old)
    signal.throwIfAborted()
    if (reloaded === undefined) return
    const { metadata, warnings = [] } = reloaded
    // A v1 table may have none, and gets one when it is upgraded.
    if (old.tableUuid !== undefined && metadata.tableUuid !== undefined && !isSameUuid(old, metadata))
      throw new InvalidMetadataError(
        `Cannot refresh ${old.metadataLocation}: its table has the uuid ${old.tableUuid}, and ${metadata.metadataLocation} is of another table, ${metadata.tableUuid}`,
        { location: metadata.metadataLocation },
      )
    this.#version = this.#versionOf(metadata, reloaded.io ?? io, [...warnings, ...stepsBack(old, metadata)])
  }

  #versionOf(metadata: TableMetadata, io: FileIO, warnings: readonly string[] = []): TableVersion {
    return new TableVersion(metadata, io, this.#locations, warnings, this.#options.location)
  }
}

function isSameUuid(a: TableMetadata, b: TableMetadata): boolean {
  return a.tableUuid?.toLowerCase() === b.tableUuid?.toLowerCase()
}

/** A table that was rolled back by hand, or a source that lags, is still a table: a sentence and no error. */
function stepsBack(old: TableMetadata, current: TableMetadata): string[] {
  const by = (what: string, now: bigint | number, before: bigint | number): string[] =>
    now < before
      ? [
          `The table went back: ${current.metadataLocation} has the ${what} ${now}, below the ${before} of ${old.metadataLocation}, which was loaded before.`,
        ]
      : []
  const sequence = by('last sequence number', current.lastSequenceNumber, old.lastSequenceNumber)
  return sequence.length > 0 ? sequence : by('last-updated-ms', current.lastUpdatedMs, old.lastUpdatedMs)
}
