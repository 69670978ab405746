/**
 * What decoding needs to know of manifests, as columns, on its way to a worker: a plain object per manifest would cost
 * ten times more to clone than the manifest's bytes cost to share.
 */
import { ManifestFile, type ManifestContent, NOTHING_COUNTED } from './manifest-file.ts'

/** One item per manifest in each. */
export interface ManifestRows {
  /** As the metadata names them. */
  readonly paths: string[]
  /** `undefined` of inline manifests: their spec is that of the header. */
  readonly lengths: (number | undefined)[]
  readonly specIds: number[]
  readonly contents: ManifestContent[]
  readonly sequenceNumbers: bigint[]
  readonly addedSnapshotIds: (bigint | undefined)[]
  readonly firstRowIds: (bigint | undefined)[]
  readonly keyMetadata: (Uint8Array | undefined)[]
}

export function packRows(manifests: readonly ManifestFile[]): ManifestRows {
  const rows: ManifestRows = {
    paths: [],
    lengths: [],
    specIds: [],
    contents: [],
    sequenceNumbers: [],
    addedSnapshotIds: [],
    firstRowIds: [],
    keyMetadata: [],
  }
  // Pushed: what `map` makes counts as sparse for V8, and is cloned item by item with its index.
  for (const manifest of manifests) {
    rows.paths.push(manifest.manifestPath)
    rows.lengths.push(manifest.manifestLength)
    rows.specIds.push(manifest.partitionSpecId)
    rows.contents.push(manifest.content)
    rows.sequenceNumbers.push(manifest.sequenceNumber)
    rows.addedSnapshotIds.push(manifest.addedSnapshotId)
    rows.firstRowIds.push(manifest.firstRowId)
    rows.keyMetadata.push(manifest.keyMetadata)
  }
  return rows
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
        ...NOTHING_COUNTED,
        keyMetadata: rows.keyMetadata[i],
        firstRowId: rows.firstRowIds[i],
      }),
  )
}
