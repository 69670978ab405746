/** Manifests to entry batches: decoding, inheritance, and the numbering of partition tuples. */
import { ColumnStore } from '../avro/column-store.ts'
import { decodeBlocks } from '../avro/cursor.ts'
import { isAvroContainer, openContainer } from '../avro/container.ts'
import { drained } from '../avro/steps.ts'
import { wantedKeys } from '../avro/wanted-keys.ts'
import { ByteDictionary } from '../bytes/byte-dictionary.ts'
import { CorruptFileError, UnsupportedFeatureError } from '../errors.ts'
import { manifestPlan, manifestShape } from './cached-shapes.ts'
import { type BatchSegment, EntryBatch, FileContent } from './entry-batch.ts'
import type { ManifestProjection, ReadFields } from './entry-fields.ts'
import { COLUMN, entryLayout, NULL_BIT, readFields } from './entry-fields.ts'
import { EntryStatus, inheritMetadata } from './inheritable-metadata.ts'
import type { ManifestCache } from './manifest-cache.ts'
import type { ManifestFile } from './manifest-file.ts'
import type { ManifestShape } from './manifest-shape.ts'
import type { PartitionKeyEncoder, PartitionType } from './partition-key.ts'

/** Rows that room is made for by what a manifest list says. */
const MAX_EXPECTED_ROWS = 4096

/** Finds the partition type for a manifest: from the table's specs, or from the manifest's own header. */
export type PartitionTypeLookup = (manifest: ManifestFile, shape: ManifestShape) => PartitionType

/** Decodes manifests one after another into one batch. */
export class EntryBatchBuilder {
  readonly #cache: ManifestCache
  readonly #read: ReadFields
  readonly #wanted: ReturnType<typeof wantedKeys>
  readonly #store: ColumnStore
  readonly #segments: BatchSegment[] = []
  readonly #partitionKeys = new ByteDictionary()
  readonly #partitionTypeOf: PartitionTypeLookup
  #encoder: PartitionKeyEncoder | undefined
  /** Number of the canonical key of each raw tuple. */
  readonly #keyOfRaw: number[] = []
  #rows = 0

  /** @param store to fill instead of a new one: of a batch made before with the same groups, which it ends */
  constructor(
    projection: ManifestProjection,
    cache: ManifestCache,
    partitionTypeOf: PartitionTypeLookup,
    store?: ColumnStore,
  ) {
    this.#cache = cache
    this.#read = readFields(projection)
    this.#wanted = wantedKeys(projection.columnStats === 'none' ? [] : projection.columnStats)
    this.#store = store ?? new ColumnStore(entryLayout(this.#read))
    this.#store.clear()
    this.#partitionTypeOf = partitionTypeOf
  }

  /**
   * Makes room for the entries of all manifests to come.
   *
   * @param rows as their list claims, so only a few thousand are believed: small manifests have no more together
   */
  expect(rows: number): void {
    this.#store.reserveRows(Math.min(rows, MAX_EXPECTED_ROWS))
  }

  /** Entries added so far. */
  get rowCount(): number {
    return this.#rows
  }

  /**
   * Decodes all entries of one manifest, applies what they inherit and numbers their partition tuples.
   *
   * @param bytes the whole file
   * @param location what the file is called in messages
   * @returns what its header says
   * @throws CorruptFileError, UnsupportedFeatureError, InvalidMetadataError; the builder is spoilt then
   */
  add(bytes: Uint8Array, manifest: ManifestFile, location: string): ManifestShape {
    return drained(this.addInSteps(bytes, manifest, location))
  }

  /** The same, one block of the file a step; nothing else may be added before it is done. */
  *addInSteps(
    bytes: Uint8Array,
    manifest: ManifestFile,
    location: string,
  ): Generator<undefined, ManifestShape> {
    refuseUnreadable(bytes, manifest, location)
    const container = openContainer(bytes, location)
    const shape = manifestShape(container, this.#cache)
    const plan = manifestPlan(shape, this.#read, location, this.#cache)
    const partitionType = this.#partitionTypeOf(manifest, shape)
    const store = this.#store
    const firstRow = this.#rows
    // Before the rows are decoded, for their raw tuples are numbered as those of the same header before them.
    const encoder = this.#read.isMetricsOnly
      ? undefined
      : this.#encoderFor(shape.keyEncoder(partitionType, plan.tupleSchema))
    const rowCount = yield* decodeBlocks(container, shape.codec, plan, store, firstRow, this.#wanted)
    if (encoder !== undefined) {
      inheritMetadata(store, manifest, location, firstRow, rowCount)
      checkContent(store, manifest, location, firstRow, rowCount)
      this.#internTuples(encoder, plan.tupleSchema !== undefined, location, firstRow, rowCount)
    }
    this.#segments.push({
      manifest,
      partitionType,
      missingPartitionFields: encoder?.missing ?? [],
      extraPartitionFields: encoder?.extra ?? [],
      firstRow,
      rowCount,
    })
    this.#rows += rowCount
    return shape
  }

  /** The batch; the builder is not to be used afterwards. */
  finish(): EntryBatch {
    return new EntryBatch(this.#store, this.#read, this.#segments, this.#partitionKeys)
  }

  /** Raw tuples of manifests with one header have one meaning: their numbers go on as long as the encoder stays. */
  #encoderFor(encoder: PartitionKeyEncoder): PartitionKeyEncoder {
    if (encoder === this.#encoder) return encoder
    this.#encoder = encoder
    this.#store.tuples.clear()
    this.#keyOfRaw.length = 0
    return encoder
  }

  /** Replaces the number of each raw tuple by that of its canonical key. */
  #internTuples(
    encoder: PartitionKeyEncoder,
    hasTuples: boolean,
    location: string,
    firstRow: number,
    rowCount: number,
  ): void {
    const { tuple, tuples } = this.#store
    const keys = this.#partitionKeys
    if (!hasTuples) {
      // No partition field at all: an unpartitioned table of v4, or a tuple of which nothing is known.
      const key = encoder.encode(new Uint8Array(0), 0, 0, location)
      tuple.fill(keys.intern(key, 0, key.length), firstRow, firstRow + rowCount)
      return
    }
    const keyOfRaw = this.#keyOfRaw
    for (let raw = keyOfRaw.length; raw < tuples.count; raw++) {
      const key = encoder.encode(tuples.heap, tuples.offsets[raw], tuples.offsets[raw + 1], location)
      keyOfRaw.push(keys.intern(key, 0, key.length))
    }
    for (let row = firstRow; row < firstRow + rowCount; row++) tuple[row] = keyOfRaw[tuple[row]]
  }
}

function refuseUnreadable(bytes: Uint8Array, manifest: ManifestFile, location: string): void {
  if (manifest.keyMetadata !== undefined) {
    throw new UnsupportedFeatureError(
      `Cannot read ${location}: the manifest is encrypted (its row in the manifest list has key_metadata)`,
      { location },
    )
  }
  if (isAvroContainer(bytes) || bytes.length < 4) return
  const magic = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  if (magic === 'PAR1') {
    throw new UnsupportedFeatureError(
      `Cannot read ${location}: it is a Parquet manifest of the draft of format version 4, which this version does not read`,
      { location },
    )
  }
  if (magic === 'PARE')
    throw new UnsupportedFeatureError(`Cannot read ${location}: it is an encrypted Parquet file`, {
      location,
    })
}

/** A live entry must be of its manifest's kind (R4.14, R4.17): a delete file taken for data would return deleted rows. */
function checkContent(
  store: ColumnStore,
  manifest: ManifestFile,
  location: string,
  firstRow: number,
  rowCount: number,
): void {
  const status = store.uint8[COLUMN.uint8.status]
  const content = store.uint8[COLUMN.uint8.content]
  const bit = 1 << NULL_BIT.content
  for (let row = firstRow; row < firstRow + rowCount; row++) {
    if (status[row] === EntryStatus.DELETED) continue
    const value = (store.nulls[row] & bit) === 0 ? content[row] : FileContent.DATA
    const fits = manifest.isDeleteManifest
      ? value === FileContent.POSITION_DELETES || value === FileContent.EQUALITY_DELETES
      : value === FileContent.DATA
    if (fits) continue
    throw new CorruptFileError(
      `Cannot read ${location}: entry ${row - firstRow} has the content ${value}, which a ${manifest.isDeleteManifest ? 'delete' : 'data'} manifest cannot hold`,
      { location, entry: row - firstRow },
    )
  }
}
