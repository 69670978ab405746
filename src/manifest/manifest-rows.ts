/**
 * What decoding needs to know of manifests, as columns, on its way to a worker: a plain object per manifest would cost
 * ten times more to clone than the manifest's bytes cost to copy.
 */
import { ManifestFile, type ManifestContent, NOTHING_COUNTED } from './manifest-file.ts'

/** One item per manifest in each; what is not known is NaN in `numbers`, and said by `KNOWN` of `longs`. */
export interface ManifestRows {
  /** As the metadata names them. */
  readonly paths: readonly string[]
  /** Length, spec id (unknown of inline manifests: that of the header), content, and which longs are known. */
  readonly numbers: Float64Array
  /** Sequence number, id of the snapshot that added it, first row id. */
  readonly longs: BigInt64Array
  /** By position, of those that have some. */
  readonly keyMetadata: ReadonlyMap<number, Uint8Array>
}

const NUMBERS = 4
const LONGS = 3
const KNOWN = { ADDED_SNAPSHOT_ID: 1, FIRST_ROW_ID: 2 } as const

export function packRows(manifests: readonly ManifestFile[]): ManifestRows {
  const paths: string[] = []
  const numbers = new Float64Array(NUMBERS * manifests.length)
  const longs = new BigInt64Array(LONGS * manifests.length)
  const keyMetadata = new Map<number, Uint8Array>()
  for (const [i, manifest] of manifests.entries()) {
    // Pushed: what `map` makes counts as sparse for V8, and is cloned item by item with its index.
    paths.push(manifest.manifestPath)
    const { addedSnapshotId, firstRowId } = manifest
    numbers[NUMBERS * i] = manifest.manifestLength ?? NaN
    numbers[NUMBERS * i + 1] = manifest.partitionSpecId
    numbers[NUMBERS * i + 2] = manifest.content
    numbers[NUMBERS * i + 3] =
      (addedSnapshotId === undefined ? 0 : KNOWN.ADDED_SNAPSHOT_ID) |
      (firstRowId === undefined ? 0 : KNOWN.FIRST_ROW_ID)
    longs[LONGS * i] = manifest.sequenceNumber
    longs[LONGS * i + 1] = addedSnapshotId ?? 0n
    longs[LONGS * i + 2] = firstRowId ?? 0n
    if (manifest.keyMetadata !== undefined) keyMetadata.set(i, manifest.keyMetadata)
  }
  return { paths, numbers, longs, keyMetadata }
}

/** The manifests again; of what was not packed nothing is known. */
export function unpackRows({ paths, numbers, longs, keyMetadata }: ManifestRows): ManifestFile[] {
  return paths.map((manifestPath, i) => {
    const [manifestLength, partitionSpecId, content, known] = numbers.subarray(NUMBERS * i)
    const sequenceNumber = longs[LONGS * i]
    return new ManifestFile({
      manifestPath,
      manifestLength: Number.isNaN(manifestLength) ? undefined : manifestLength,
      partitionSpecId,
      content: content as ManifestContent,
      sequenceNumber,
      minSequenceNumber: sequenceNumber,
      addedSnapshotId: (known & KNOWN.ADDED_SNAPSHOT_ID) === 0 ? undefined : longs[LONGS * i + 1],
      ...NOTHING_COUNTED,
      keyMetadata: keyMetadata.get(i),
      firstRowId: (known & KNOWN.FIRST_ROW_ID) === 0 ? undefined : longs[LONGS * i + 2],
    })
  })
}
