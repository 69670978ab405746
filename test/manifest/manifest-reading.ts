/** Short ways for the tests of manifests: a row of a list with defaults, and reading what the writer wrote. */
import { ManifestContent, ManifestFile, type ManifestFileFields } from '../../src/manifest/manifest-file.ts'
import {
  type Manifest,
  readManifestBytes,
  type ReadManifestBytesOptions,
} from '../../src/manifest/manifest-reader.ts'
import { ManifestShape } from '../../src/manifest/manifest-shape.ts'
import { type EntryInput, type ManifestOptions, writeManifest } from '../support/manifest-writer.ts'

export const MANIFEST_PATH = 's3://warehouse/db/table/metadata/m0.avro'
/** Of the list's row; not exact as a number. */
export const ADDED_SNAPSHOT_ID = 3051729675574597004n

/** A row of a manifest list: data, spec 0, sequence number 0, no first row id, nothing counted. */
export function manifestFile(fields: Partial<ManifestFileFields> = {}): ManifestFile {
  return new ManifestFile({
    manifestPath: MANIFEST_PATH,
    manifestLength: 1,
    partitionSpecId: 0,
    content: ManifestContent.DATA,
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: ADDED_SNAPSHOT_ID,
    addedFilesCount: undefined,
    existingFilesCount: undefined,
    deletedFilesCount: undefined,
    addedRowsCount: undefined,
    existingRowsCount: undefined,
    deletedRowsCount: undefined,
    partitions: undefined,
    keyMetadata: undefined,
    firstRowId: undefined,
    ...fields,
  })
}

/** Writes a manifest and reads it back; its row is of the kind that is written unless `row` says otherwise. */
export function roundTrip(
  write: ManifestOptions,
  row: Partial<ManifestFileFields> = {},
  read: ReadManifestBytesOptions = {},
): Manifest {
  const content = write.content === 'deletes' ? ManifestContent.DELETES : ManifestContent.DATA
  return readManifestBytes(writeManifest(write), manifestFile({ content, ...row }), read)
}

/** The parsed form of a header with these keys, besides a schema without fields. */
export function shapeWith(keys: Record<string, string | undefined> = {}): ManifestShape {
  const header = new Map([['avro.schema', Buffer.from('{"type": "record", "name": "r", "fields": []}')]])
  for (const [key, value] of Object.entries(keys))
    if (value !== undefined) header.set(key, Buffer.from(value))
  return new ManifestShape(header, MANIFEST_PATH)
}

/** Every entry as plain data. */
export function entriesOf(manifest: Manifest): Record<string, unknown>[] {
  return Array.from(manifest.entries, (entry) => entry.toJSON())
}

/** Entry `n` of a manifest. */
export function entryOf(manifest: Manifest, n = 0) {
  return Array.from(manifest.entries)[n]
}

/** Entries that differ in nothing but their position. */
export function plainEntries(count: number): EntryInput[] {
  return Array.from({ length: count }, () => ({}))
}
