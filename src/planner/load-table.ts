/**
 * From a location to a table: find the metadata file, read it, parse it. A table that was found in a folder is
 * refreshed by looking into the folder again.
 */
import { defaultFileIO, type StorageOptions } from '../io/default-file-io.ts'
import type { FileIO } from '../io/file-io.ts'
import { checkRequestLimit, limitRequests } from '../io/limit-file-io.ts'
import type { Rebase } from '../io/rebase.ts'
import { LocationMap } from '../io/rebase.ts'
import { parseTableMetadata, type TableMetadata } from '../metadata/table-metadata.ts'
import { findMetadataLocation, rootFolder } from './find-metadata.ts'
import { Table, type ReloadedTable } from './table.ts'

export interface LoadTableOptions {
  /** Where files are opened; default by scheme: local files, HTTP(S) and S3. */
  io?: FileIO
  /** Regions, endpoints and credentials for the default; has no effect with `io`. */
  storage?: StorageOptions
  /** Prefixes that have moved since the metadata was written. */
  rebase?: readonly Rebase[]
  /** Requests in flight, for everything that is read of this table. Default 64. */
  requestLimit?: number
  /** Reads the draft format version 4 too. Default false. */
  allowV4?: boolean
  /**
   * The table's root folder, to which relative locations of format version 4 belong, for metadata that does not say
   * it. Default: the place that the table is loaded from.
   */
  tableLocation?: string
  signal?: AbortSignal
}

/**
 * Loads a table: one request for a metadata file, one listing and one read for a folder.
 *
 * @param location a metadata JSON file (gzip and zstd too), a table folder, or its `metadata` folder
 * @throws InvalidArgumentError, NotFoundError, InvalidMetadataError, UnsupportedFeatureError, StorageError; the
 *   signal's reason
 */
export async function loadTable(location: string, options: LoadTableOptions = {}): Promise<Table> {
  const { requestLimit, tableLocation, allowV4 = false } = options
  checkRequestLimit(requestLimit, `Cannot load ${location}`)
  const io = limitRequests(options.io ?? defaultFileIO(options.storage), requestLimit)
  const locations = new LocationMap(options.rebase ?? [])
  const place = locations.apply(location)
  /** The current metadata; undefined if that is still `known`. */
  const load = async (
    signal: AbortSignal | undefined,
    known?: TableMetadata,
  ): Promise<ReloadedTable | undefined> => {
    const read = signal === undefined ? {} : { signal }
    const found = await findMetadataLocation(place, io, read, known)
    if (found.isKnown) return undefined
    const bytes = found.bytes ?? (await io.open(found.location).read(undefined, read))
    return { metadata: parseTableMetadata(bytes, found.location, { allowV4 }), warnings: found.warnings }
  }
  const { metadata, warnings = [] } = (await load(options.signal))!
  return new Table(metadata, io, locations, {
    warnings,
    // As given, not as found: a rebase moves what is resolved against it.
    location: tableLocation ?? rootFolder(location),
    ...(metadata.metadataLocation === place ? {} : { reload: load }),
  })
}
