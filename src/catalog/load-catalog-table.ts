/**
 * One way to load a table, wherever it is said to be: at a location, or in a catalog under a name.
 */
import { loadTable as loadFromLocation } from '../planner/load-table.ts'
import type { Table } from '../planner/table.ts'
import type { Catalog, CatalogLoadOptions } from './catalog.ts'

/** A table by its name. */
export interface TableInCatalog {
  catalog: Catalog
  /** `'db.orders'`, or an array if a part of the name has dots in it. */
  identifier: string | readonly string[]
}

/**
 * Loads a table: one request for a metadata file, one listing and one read for a folder, one request for a table of a
 * catalog (after the catalog's configuration and token, once each).
 *
 * @param source a metadata JSON file (gzip and zstd too), a table folder, or its `metadata` folder; or a catalog and a
 *   name
 * @throws InvalidArgumentError, NotFoundError, InvalidMetadataError, UnsupportedFeatureError, StorageError; the
 *   signal's reason
 */
export async function loadTable(
  source: string | TableInCatalog,
  options: CatalogLoadOptions = {},
): Promise<Table> {
  return typeof source === 'string'
    ? await loadFromLocation(source, options)
    : await source.catalog.loadTable(source.identifier, options)
}
