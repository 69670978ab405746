/**
 * One row of a manifest list (spec: Manifest Lists, ids 500-520): what is known about a manifest before it is read.
 */

/** What the entries of a manifest are (id 517). */
export const ManifestContent = { DATA: 0, DELETES: 1 } as const
export type ManifestContent = (typeof ManifestContent)[keyof typeof ManifestContent]

/** The values of one partition field over all entries of a manifest (id 508), in the order of the spec's fields. */
export interface PartitionFieldSummary {
  readonly containsNull: boolean
  /** `undefined`: not known. */
  readonly containsNan: boolean | undefined
  /** Single-value bytes of the smallest value that is neither null nor NaN; `undefined` when there is none. */
  readonly lowerBound: Uint8Array | undefined
  readonly upperBound: Uint8Array | undefined
}

/** Summaries by position, made when they are asked for. */
export interface PartitionFieldSummaries {
  readonly length: number
  at(position: number): PartitionFieldSummary | undefined
}

/** Everything but the methods; `undefined` is "not known" or "not there". */
export interface ManifestFileFields {
  readonly manifestPath: string
  /** Bytes, as the list claims: a hint. `undefined` for the inline manifests of a v1 snapshot. */
  readonly manifestLength: number | undefined
  readonly partitionSpecId: number
  readonly content: ManifestContent
  readonly sequenceNumber: bigint
  readonly minSequenceNumber: bigint
  readonly addedSnapshotId: bigint | undefined
  readonly addedFilesCount: number | undefined
  readonly existingFilesCount: number | undefined
  readonly deletedFilesCount: number | undefined
  readonly addedRowsCount: number | undefined
  readonly existingRowsCount: number | undefined
  readonly deletedRowsCount: number | undefined
  /** `undefined`: nothing is known, never prune. */
  readonly partitions: readonly PartitionFieldSummary[] | undefined
  readonly keyMetadata: Uint8Array | undefined
  readonly firstRowId: bigint | undefined
}

/** What a view looks at. */
export interface ManifestFileSource extends ManifestFileFields {
  /** The same as `partitions`, for who looks at few of them. */
  readonly summaries?: PartitionFieldSummaries | undefined
}

/**
 * A view of a row: what is not touched is not made. One that comes from a manifest list holds the columns of the whole
 * list in memory; {@link ManifestFile.detach} gives one that does not.
 */
export class ManifestFile implements ManifestFileFields {
  readonly #fields: ManifestFileSource

  constructor(fields: ManifestFileSource) {
    this.#fields = fields
  }

  get manifestPath(): ManifestFileFields['manifestPath'] {
    return this.#fields.manifestPath
  }
  get manifestLength(): ManifestFileFields['manifestLength'] {
    return this.#fields.manifestLength
  }
  get partitionSpecId(): ManifestFileFields['partitionSpecId'] {
    return this.#fields.partitionSpecId
  }
  get content(): ManifestFileFields['content'] {
    return this.#fields.content
  }
  get sequenceNumber(): ManifestFileFields['sequenceNumber'] {
    return this.#fields.sequenceNumber
  }
  get minSequenceNumber(): ManifestFileFields['minSequenceNumber'] {
    return this.#fields.minSequenceNumber
  }
  get addedSnapshotId(): ManifestFileFields['addedSnapshotId'] {
    return this.#fields.addedSnapshotId
  }
  get addedFilesCount(): ManifestFileFields['addedFilesCount'] {
    return this.#fields.addedFilesCount
  }
  get existingFilesCount(): ManifestFileFields['existingFilesCount'] {
    return this.#fields.existingFilesCount
  }
  get deletedFilesCount(): ManifestFileFields['deletedFilesCount'] {
    return this.#fields.deletedFilesCount
  }
  get addedRowsCount(): ManifestFileFields['addedRowsCount'] {
    return this.#fields.addedRowsCount
  }
  get existingRowsCount(): ManifestFileFields['existingRowsCount'] {
    return this.#fields.existingRowsCount
  }
  get deletedRowsCount(): ManifestFileFields['deletedRowsCount'] {
    return this.#fields.deletedRowsCount
  }
  get partitions(): ManifestFileFields['partitions'] {
    return this.#fields.partitions
  }
  /** The same, made one by one when they are asked for. */
  get summaries(): PartitionFieldSummaries | undefined {
    return this.#fields.summaries ?? this.#fields.partitions
  }
  get keyMetadata(): ManifestFileFields['keyMetadata'] {
    return this.#fields.keyMetadata
  }
  get firstRowId(): ManifestFileFields['firstRowId'] {
    return this.#fields.firstRowId
  }

  get isDeleteManifest(): boolean {
    return this.content === ManifestContent.DELETES
  }

  /** Added plus existing files; `undefined` if either is not known. */
  liveFiles(): number | undefined {
    const added = this.addedFilesCount
    const existing = this.existingFilesCount
    return added === undefined || existing === undefined ? undefined : added + existing
  }

  /** Entries, deleted ones included as far as they are counted; `undefined` if the others are not. */
  entries(): number | undefined {
    const live = this.liveFiles()
    return live === undefined ? undefined : live + (this.deletedFilesCount ?? 0)
  }

  toString(): string {
    const kind = this.isDeleteManifest ? 'delete manifest' : 'data manifest'
    const live = this.liveFiles()
    const files = live === undefined ? 'unknown number of files' : `${live} live files`
    return `${kind} ${this.manifestPath} (spec ${this.partitionSpecId}, ${files})`
  }

  /** The same row, owning its memory. */
  detach(): ManifestFile {
    return new ManifestFile(this.toObject())
  }

  /** Plain data, which owns its memory. */
  toObject(): ManifestFileFields {
    return {
      manifestPath: this.manifestPath,
      manifestLength: this.manifestLength,
      partitionSpecId: this.partitionSpecId,
      content: this.content,
      sequenceNumber: this.sequenceNumber,
      minSequenceNumber: this.minSequenceNumber,
      addedSnapshotId: this.addedSnapshotId,
      addedFilesCount: this.addedFilesCount,
      existingFilesCount: this.existingFilesCount,
      deletedFilesCount: this.deletedFilesCount,
      addedRowsCount: this.addedRowsCount,
      existingRowsCount: this.existingRowsCount,
      deletedRowsCount: this.deletedRowsCount,
      firstRowId: this.firstRowId,
      partitions: this.partitions === undefined ? undefined : ownSummaries(this.partitions),
      keyMetadata: this.keyMetadata?.slice(),
    }
  }

  /** For people: without it a console shows nothing of a view. */
  [Symbol.for('nodejs.util.inspect.custom')](): ManifestFileFields {
    return this.toObject()
  }

  /** Plain data for JSON: bigints as they are, bytes as base64. */
  toJSON(): Record<string, unknown> {
    const partitions = this.partitions?.map((summary) => ({
      ...summary,
      lowerBound: base64(summary.lowerBound),
      upperBound: base64(summary.upperBound),
    }))
    return { ...this.toObject(), partitions, keyMetadata: base64(this.keyMetadata) }
  }
}

/** Copies, whose bounds have one buffer together: one each would take more memory than all the rest. */
function ownSummaries(summaries: readonly PartitionFieldSummary[]): PartitionFieldSummary[] {
  const lengthOf = (bound: Uint8Array | undefined): number => bound?.length ?? 0
  const bounds = new Uint8Array(
    summaries.reduce(
      (sum, { lowerBound, upperBound }) => sum + lengthOf(lowerBound) + lengthOf(upperBound),
      0,
    ),
  )
  let end = 0
  const own = (bound: Uint8Array | undefined): Uint8Array | undefined => {
    if (bound === undefined) return undefined
    bounds.set(bound, end)
    end += bound.length
    return bounds.subarray(end - bound.length, end)
  }
  return summaries.map((summary) => ({
    ...summary,
    lowerBound: own(summary.lowerBound),
    upperBound: own(summary.upperBound),
  }))
}

/** A row without counts and summaries: never skipped, never pruned (R2.2, R2.14). */
export const NOTHING_COUNTED = {
  addedFilesCount: undefined,
  existingFilesCount: undefined,
  deletedFilesCount: undefined,
  addedRowsCount: undefined,
  existingRowsCount: undefined,
  deletedRowsCount: undefined,
  partitions: undefined,
} as const satisfies Partial<ManifestFileFields>

/**
 * The row that stands for an inline manifest of a v1 snapshot (R1.12): nothing is known but the snapshot, and the
 * spec is 0 unless the manifest says otherwise itself.
 */
export function inlineManifest(manifestPath: string, snapshotId: bigint): ManifestFile {
  return new ManifestFile({
    manifestPath,
    manifestLength: undefined,
    partitionSpecId: 0,
    content: ManifestContent.DATA,
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: snapshotId,
    ...NOTHING_COUNTED,
    keyMetadata: undefined,
    firstRowId: undefined,
  })
}

/** Bytes for JSON. */
export function base64(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('base64')
}
