/**
 * What decoding needs to know of manifests, as columns, on its way to a worker: a plain object per manifest would cost
 * ten times more to clone than the manifest's bytes cost to share.
 */
import { ManifestFile, type ManifestContent } from './manifest-file.ts'

/** One item per manifest in each. */
export interface ManifestRows {
  /** As the metadata names them. */
  readonly paths: readonly string[]
  /** `undefined` of inline manifests: their spec is that of the header. */
  readonly lengths: readonly (number | undefined)[]
  readonly specIds: readonly number[]
  readonly contents: readonly ManifestContent[]
  readonly sequenceNumbers: readonly bigint[]
  readonly addedSnapshotIds: readonly (bigint | undefined)[]
  readonly firstRowIds: readonly (bigint | undefined)[]
  readonly keyMetadata: readonly (Uint8Array | undefined)[]
}

export function packRows(manifests: readonly ManifestFile[]): ManifestRows {
  return {
    paths: manifests.map(({ manifestPath }) => manifestPath),
    lengths: manifests.map(({ manifestLength }) => manifestLength),
    specIds: manifests.map(({ partitionSpecId }) => partitionSpecId),
    contents: manifests.map(({ content }) => content),
    sequenceNumbers: manifests.map(({ sequenceNumber }) => sequenceNumber),
    addedSnapshotIds: manifests.map(({ addedSnapshotId }) => addedSnapshotId),
    firstRowIds: manifests.map(({ firstRowId }) => firstRowId),
    keyMetadata: manifests.map(({ keyMetadata }) => keyMetadata),
  }
}

/** The manifests again; of what was not packed nothing is known. */
export function unpackRows(rows: ManifestRows): ManifestFile[] {
  return rows.paths.map(
    (manifestPath, i) =>
      new ManifestFile({
        manifestPath,
        manifestLength: rows.lengths[i],
        partitionSpecId: rows.specIds[i],
        content: rows.contents[i],
        sequenceNumber: rows.sequenceNumbers[i],
        minSequenceNumber: rows.sequenceNumbers[i],
        addedSnapshotId: rows.addedSnapshotIds[i],
        addedFilesCount: undefined,
        existingFilesCount: undefined,
        deletedFilesCount: undefined,
        addedRowsCount: undefined,
        existingRowsCount: undefined,
        deletedRowsCount: undefined,
        partitions: undefined,
        keyMetadata: rows.keyMetadata[i],
        firstRowId: rows.firstRowIds[i],
      }),
  )
}
