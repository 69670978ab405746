/**
 * `iceplan verify`: decodes every manifest list and manifest of a table twice, with this library's reader and with
 * avsc, and compares them field by field.
 *
 * Our reader goes first, for its counts and sizes are bounded and avsc's are not; what it does not read is reported
 * and not shown to avsc.
 */
import { UnsupportedFeatureError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import { ManifestCache } from '../manifest/manifest-cache.ts'
import { inlineManifest, type ManifestFile } from '../manifest/manifest-file.ts'
import { readManifestListBytes } from '../manifest/manifest-list.ts'
import { readManifestBytes, type Manifest } from '../manifest/manifest-reader.ts'
import { partitionType, type PartitionType } from '../manifest/partition-key.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'
import { AvscRefusal, decodeWithAvsc, type AvscFile } from './avsc-decoder.ts'
import { compareManifest, compareManifestList, type ComparedManifest } from './compare-manifest.ts'
import { Comparison, type Difference } from './comparison.ts'

/** What is needed of a table. */
export interface VerifiedTable {
  readonly metadata: Pick<TableMetadata, 'snapshots' | 'specs' | 'schema'>
  readonly io: FileIO
  /** Where to open a location of the metadata, after rebase. */
  resolve(location: string): string
}

/** The reader under test. */
export interface ManifestReaders {
  readManifestList(bytes: Uint8Array, location: string): readonly ManifestFile[]
  readManifest(bytes: Uint8Array, row: ManifestFile): ComparedManifest
}

export interface VerifyOptions {
  /** Only this snapshot; default: all snapshots of the metadata. */
  snapshotId?: bigint
  /** Differences kept in full; default 100. All are counted. */
  maxDifferences?: number
  /** After every file; `filesTotal` grows once, when the manifest lists are read. */
  onProgress?: (progress: VerifyProgress) => void
  signal?: AbortSignal
  /** Default: this library's. Tests put in readers that err. */
  readers?: ManifestReaders
}

export interface VerifyProgress {
  filesDone: number
  filesTotal: number
}

export interface VerifySummary {
  /** Files that both readers read. */
  manifestLists: number
  manifests: number
  /** Manifest entries and manifest-list rows compared. */
  entries: number
  /** Pairs of values compared. */
  fields: number
  /** The first of them; `differenceCount` counts all. */
  differences: Difference[]
  differenceCount: number
  /** Files whose schema avsc does not take, in avsc's words. */
  refused: RefusedFile[]
  /** Files that were not compared because one side could not read them. */
  unreadable: UnreadableFile[]
}

export interface RefusedFile {
  location: string
  message: string
  /** True where a copy of the schema with other names could be used, so that the file was compared all the same. */
  compared: boolean
}

export interface UnreadableFile {
  location: string
  /** Who gave up: the storage, our reader, or avsc on bytes that our reader took. */
  by: 'storage' | 'iceplan' | 'avsc'
  message: string
}

/**
 * Verifies each manifest list once and each manifest once, however many snapshots name it.
 *
 * Damaged and missing files end up in the summary. Rejects with the signal's reason when aborted, and never for what
 * a file holds.
 */
export async function verifyTable(table: VerifiedTable, options: VerifyOptions = {}): Promise<VerifySummary> {
  const { snapshotId, onProgress, signal, readers = productReaders(table.metadata) } = options
  const comparison = new Comparison(options.maxDifferences)
  const refused: RefusedFile[] = []
  const unreadable: UnreadableFile[] = []

  const snapshots = table.metadata.snapshots.filter(
    (snapshot) => snapshotId === undefined || snapshot.snapshotId === snapshotId,
  )
  const lists = new Set<string>()
  for (const { manifestList } of snapshots) if (manifestList !== undefined) lists.add(manifestList)
  const rows = new Map<string, ManifestFile>()
  let filesDone = 0
  let filesTotal = lists.size

  for (const location of lists) {
    const both = await decodeTwice(location, (bytes) => readers.readManifestList(bytes, location))
    if (both !== undefined) {
      if (both.avsc !== undefined) compareManifestList(location, both.avsc, both.ours, comparison)
      both.ours.forEach(addRow)
    }
    fileDone()
  }
  for (const { snapshotId, manifestList, manifests = [] } of snapshots) {
    if (manifestList !== undefined) continue
    for (const location of manifests) addRow(inlineManifest(location, snapshotId))
  }
  filesTotal += rows.size
  for (const [location, row] of rows) {
    const both = await decodeTwice(location, (bytes) => {
      if (row.keyMetadata === undefined) return readers.readManifest(bytes, row)
      throw new UnsupportedFeatureError(`Cannot read ${location}: the manifest is encrypted`, { location })
    })
    if (both?.avsc !== undefined) compareManifest(location, both.avsc, row, both.ours, comparison)
    fileDone()
  }
  const { manifestLists, manifests, entries, fields, differences, differenceCount } = comparison
  return { manifestLists, manifests, entries, fields, differences, differenceCount, refused, unreadable }

  function addRow(row: ManifestFile): void {
    if (!rows.has(row.manifestPath)) rows.set(row.manifestPath, row)
  }

  function fileDone(): void {
    filesDone++
    onProgress?.({ filesDone, filesTotal })
  }

  /** `undefined` where our side cannot be had, `avsc` undefined where only that one cannot. */
  async function decodeTwice<T>(
    location: string,
    read: (bytes: Uint8Array) => T,
  ): Promise<{ ours: T; avsc: AvscFile | undefined } | undefined> {
    signal?.throwIfAborted()
    let by: UnreadableFile['by'] = 'storage'
    let ours: T | undefined
    try {
      const bytes = await table.io.open(table.resolve(location)).read(undefined, signal && { signal })
      by = 'iceplan'
      ours = read(bytes)
      by = 'avsc'
      const avsc = decodeWithAvsc(bytes)
      if (avsc.refusal !== undefined) refused.push({ location, message: avsc.refusal, compared: true })
      return { ours, avsc }
    } catch (error) {
      signal?.throwIfAborted()
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof AvscRefusal) refused.push({ location, message, compared: false })
      else unreadable.push({ location, by, message })
      return ours === undefined ? undefined : { ours, avsc: undefined }
    }
  }
}

/** This library's reader, with the partition types of the table's specs where the row names one of them. */
export function productReaders(metadata: Pick<TableMetadata, 'specs' | 'schema'>): ManifestReaders {
  const cache = new ManifestCache()
  const types = new Map<number, PartitionType>()
  for (const [specId, spec] of metadata.specs) types.set(specId, partitionType(spec, metadata.schema))
  return {
    readManifestList: (bytes, location) => readManifestListBytes(bytes, { cache, location }),
    readManifest(bytes, row) {
      // A row made up for an inline manifest does not know its spec (R1.12); the header may.
      const type = row.manifestLength === undefined ? undefined : types.get(row.partitionSpecId)
      return comparedManifest(
        readManifestBytes(bytes, row, type === undefined ? { cache } : { cache, partitionType: type }),
      )
    },
  }
}

/** A decoded manifest as {@link compareManifest} takes it. */
export function comparedManifest({ batch, entries }: Manifest): ComparedManifest {
  const { fields } = batch.segments[0].partitionType
  return { partitionFieldIds: fields.map(({ fieldId }) => fieldId), entries }
}
