/**
 * Entries of manifests as they were decoded, for later plans: runs of consecutive manifests, all rows, with the metrics of
 * the columns that filters looked at so far. Iceberg never rewrites a manifest, so its entries are valid for ever; what
 * they inherit from their row in the list, and how their partitions were read, is compared.
 *
 * Least recently used within a budget. A plan does not drop what it has used itself: of a table larger than the budget a
 * part stays, where dropping the oldest would always drop what the next plan begins with.
 */
import type { EntryBatch } from './entry-batch.ts'
import type { ManifestFile } from './manifest-file.ts'
import type { MetricColumn } from './metric-column.ts'

/** A run in the cache. */
export interface KeptRun {
  /** Not to be changed; replaced by one with more columns. */
  batch: EntryBatch
  readonly identity: string
  readonly locations: readonly string[]
  /** Bytes of the files. */
  readonly lengths: readonly number[]
  readonly under: string
  bytes: number
  /** Manifests that are found here, and not in a run that was kept later. */
  found: number
  /** A token of the plan that used it last. */
  user: object
}

/** Where the entries of a manifest are. */
export interface EntryPlace {
  readonly run: KeptRun
  /** Position among the run's segments. */
  readonly segment: number
}

/** Memory of a segment beside its rows, and of a summary in its manifest's row beside its bounds, about. */
const SEGMENT_BYTES = 420
const SUMMARY_BYTES = 260

export class EntryCache {
  readonly maxBytes: number
  #bytes = 0
  #hits = 0
  /** The run used longest ago first. */
  readonly #runs = new Set<KeptRun>()
  /** By store, then by location. */
  readonly #places = new Map<string, Map<string, EntryPlace>>()

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Memory of the runs kept, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** Manifests whose entries were found and used. */
  get hits(): number {
    return this.#hits
  }

  /** Whether entries of the file are kept, with the metrics of these columns: whatever else they depend on. */
  has(location: string, identity: string, columns: readonly number[]): boolean {
    const place = this.#places.get(identity)?.get(location)
    if (place === undefined) return false
    const { vectors } = place.run.batch
    return columns.every((id) => vectors?.columns.has(id) !== false)
  }

  /**
   * @param identity of the FileIO the location belongs to
   * @param under what else the entries depend on: they are found under the same only
   */
  find(manifest: ManifestFile, location: string, identity: string, under: string): EntryPlace | undefined {
    const place = this.#places.get(identity)?.get(location)
    if (place?.run.under !== under) return undefined
    return isSameRow(place.run.batch.segments[place.segment].manifest, manifest) ? place : undefined
  }

  /** Notes that a plan works with so many manifests of a run. */
  use(run: KeptRun, user: object, manifests: number): void {
    this.#hits += manifests
    run.user = user
    // A Set iterates in order of insertion: to move a run to the young end, insert it again.
    if (this.#runs.delete(run)) this.#runs.add(run)
  }

  /** Whether so many bytes can be kept for a plan. */
  hasRoom(bytes: number, user: object): boolean {
    if (bytes > this.maxBytes) return false
    if (this.#bytes + bytes <= this.maxBytes) return true
    for (const oldest of this.#runs) return oldest.user !== user
    return false
  }

  /**
   * Keeps a run, if there is room for it and another plan was not faster.
   *
   * @param locations of the batch's segments, in order; `lengths` likewise
   * @returns false if it is not kept
   */
  keep(
    batch: EntryBatch,
    {
      locations,
      lengths,
      identity,
      under,
      user,
    }: Pick<KeptRun, 'locations' | 'lengths' | 'identity' | 'under' | 'user'>,
  ): boolean {
    // Of a manifest that is not as long as its list claims a part may be missing.
    const isWhole = batch.segments.every(
      ({ manifest: { manifestLength } }, i) => manifestLength === undefined || manifestLength === lengths[i],
    )
    const isThere = batch.segments.every(
      ({ manifest }, i) => this.find(manifest, locations[i], identity, under) !== undefined,
    )
    const bytes = batch.segments.reduce((sum, { manifest }) => sum + rowBytes(manifest), batch.byteLength)
    if (!isWhole || isThere || !this.#makeRoom(bytes, user)) return false
    // The list goes when the bytes of its file do.
    const run: KeptRun = {
      batch: batch.withOwnManifests(),
      identity,
      locations,
      lengths,
      under,
      bytes,
      found: 0,
      user,
    }
    this.#runs.add(run)
    this.#bytes += bytes
    for (const [segment, location] of locations.entries()) this.#place(location, { run, segment })
    return true
  }

  /** A manifest is found in one place: a run that loses the last of its manifests goes. */
  #place(location: string, place: EntryPlace): void {
    const { identity } = place.run
    let places = this.#places.get(identity)
    if (places === undefined) this.#places.set(identity, (places = new Map<string, EntryPlace>()))
    const before = places.get(location)?.run
    places.set(location, place)
    place.run.found++
    if (before !== undefined && --before.found === 0) this.#drop(before)
  }

  /** Adds metrics of more columns to the rows of a run. */
  addColumns(run: KeptRun, columns: ReadonlyMap<number, MetricColumn>, bytes: number, user: object): void {
    // Two plans at once may have read the same.
    if ([...columns.keys()].every((id) => run.batch.vectors?.columns.has(id) === true)) return
    run.batch = run.batch.withMetrics(columns)
    // A run that was dropped meanwhile goes on for the plans that have it.
    if (!this.#runs.has(run)) return
    run.user = user
    run.bytes += bytes
    this.#bytes += bytes
    this.#makeRoom(0, user)
    if (this.#bytes > this.maxBytes) this.#drop(run)
  }

  /** Drops what was used longest ago, but nothing that this plan has used. */
  #makeRoom(bytes: number, user: object): boolean {
    if (bytes > this.maxBytes) return false
    for (const oldest of this.#runs) {
      if (this.#bytes + bytes <= this.maxBytes || oldest.user === user) break
      this.#drop(oldest)
    }
    return this.#bytes + bytes <= this.maxBytes
  }

  #drop(run: KeptRun): void {
    this.#runs.delete(run)
    this.#bytes -= run.bytes
    const places = this.#places.get(run.identity)
    for (const location of run.locations) if (places?.get(location)?.run === run) places.delete(location)
    if (places?.size === 0) this.#places.delete(run.identity)
  }
}

/** Memory of a manifest's own row, and of the objects around it: measured. */
function rowBytes({ manifestPath, partitions = [] }: ManifestFile): number {
  const bytes = SEGMENT_BYTES + manifestPath.length
  return partitions.reduce((sum, { lowerBound, upperBound }) => {
    return sum + SUMMARY_BYTES + (lowerBound?.length ?? 0) + (upperBound?.length ?? 0)
  }, bytes)
}

/** What a manifest's entries take from its row in the list. Two lists may hold one manifest. */
function isSameRow(a: ManifestFile, b: ManifestFile): boolean {
  if (a === b) return true
  return (
    a.manifestLength === b.manifestLength &&
    a.partitionSpecId === b.partitionSpecId &&
    a.content === b.content &&
    a.sequenceNumber === b.sequenceNumber &&
    a.addedSnapshotId === b.addedSnapshotId &&
    a.firstRowId === b.firstRowId &&
    a.keyMetadata === undefined &&
    b.keyMetadata === undefined
  )
}
