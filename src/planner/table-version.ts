/**
 * A table as it was at one time: what scans and plans hold on to while the table itself is refreshed. Immutable.
 *
 * Up to format version 3 a location is opened as it is stored. From version 4 on one that does not begin with a URI
 * scheme is relative to the table's root folder (format-reference 1.7). Rebases come after that.
 */
import { InvalidMetadataError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import type { LocationMap } from '../io/rebase.ts'
import { isAbsolute, relativeTo } from '../metadata/relative-location.ts'
import { DRAFT_FORMAT_VERSION, type TableMetadata } from '../metadata/table-metadata.ts'
import type { ScannedTable } from './table-scan.ts'

export class TableVersion implements ScannedTable {
  readonly metadata: TableMetadata
  readonly io: FileIO
  readonly warnings: readonly string[]
  readonly absolute: ((location: string) => string) | undefined
  readonly #locations: LocationMap

  /** @param location - The table's root folder if the metadata does not say it. */
  constructor(
    metadata: TableMetadata,
    io: FileIO,
    locations: LocationMap,
    warnings: readonly string[],
    location: string | undefined,
  ) {
    this.metadata = metadata
    this.io = io
    this.warnings = warnings
    this.#locations = locations
    if (metadata.formatVersion >= DRAFT_FORMAT_VERSION)
      this.absolute = absoluteBy(metadata.location ?? location, metadata)
  }

  resolve(location: string): string {
    return this.#locations.apply(this.absolute === undefined ? location : this.absolute(location))
  }
}

function absoluteBy(root: string | undefined, metadata: TableMetadata): (location: string) => string {
  if (root !== undefined) return (location) => relativeTo(root, location)
  return (location) => {
    if (isAbsolute(location)) return location
    throw new InvalidMetadataError(
      `Cannot resolve ${location}: it is relative to the table's location, which ${metadata.metadataLocation} does not say`,
      { location },
    )
  }
}
