/**
 * From a location to a table: find the metadata file, read it, parse it.
 */
import { defaultFileIO } from '../io/default-file-io.ts'
import type { FileIO } from '../io/file-io.ts'
import { limitRequests } from '../io/limit-file-io.ts'
import type { Rebase } from '../io/rebase.ts'
import { LocationMap } from '../io/rebase.ts'
import { parseTableMetadata } from '../metadata/table-metadata.ts'
import { findMetadataLocation } from './find-metadata.ts'
import { Table } from './table.ts'

export interface LoadTableOptions {
  /** Where files are opened; default by scheme: local files and HTTP(S). */
  io?: FileIO
  /** Prefixes that have moved since the metadata was written. */
  rebase?: readonly Rebase[]
  signal?: AbortSignal
}

/**
 * Loads a table.
 *
 * @param location a metadata JSON file (gzip and zstd too), a table folder, or its `metadata` folder
 * @throws NotFoundError, InvalidMetadataError, UnsupportedFeatureError, StorageError; the signal's reason
 */
export async function loadTable(location: string, options: LoadTableOptions = {}): Promise<Table> {
  const io = limitRequests(options.io ?? defaultFileIO())
  const locations = new LocationMap(options.rebase ?? [])
  const read = options.signal === undefined ? {} : { signal: options.signal }
  const found = await findMetadataLocation(locations.apply(location), io, read)
  const bytes = found.bytes ?? (await io.open(found.location).read(undefined, read))
  return new Table(parseTableMetadata(bytes, found.location), io, locations, found.warnings)
}
