/**
 * Reading one manifest, or one manifest list, on its own: for programs that look into a table, for tests and for
 * `verify`. A plan decodes manifests through the same {@link EntryBatchBuilder}.
 */
import type { AvroSchema } from '../avro/schema.ts'
import { InvalidMetadataError, UnsupportedFeatureError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import { createPartitionSpec } from '../metadata/partition-spec.ts'
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import type { Schema } from '../metadata/schema.ts'
import type { BatchSegment, EntryBatch } from './entry-batch.ts'
import type { PartitionTypeLookup } from './entry-batch-builder.ts'
import { EntryBatchBuilder } from './entry-batch-builder.ts'
import type { ManifestProjection } from './entry-fields.ts'
import { FULL_PROJECTION } from './entry-fields.ts'
import { ManifestCache } from './manifest-cache.ts'
import type { ManifestFile } from './manifest-file.ts'
import { ManifestContent } from './manifest-file.ts'
import type { ManifestShape } from './manifest-shape.ts'
import { ManifestEntry } from './manifest-entry.ts'
import { readManifestListBytes } from './manifest-list.ts'
import type { PartitionType } from './partition-key.ts'
import { partitionType } from './partition-key.ts'

/** A decoded manifest. */
export class Manifest {
  readonly #batch: EntryBatch
  readonly #segment: BatchSegment
  readonly #shape: ManifestShape

  /** @param shape what the manifest's header says */
  constructor(batch: EntryBatch, shape: ManifestShape) {
    this.#batch = batch
    this.#segment = batch.segments[0]
    this.#shape = shape
  }

  /** The columns behind the entries. */
  get batch(): EntryBatch {
    return this.#batch
  }
  /** All entries, deleted ones too, in file order; views made as they are taken. */
  get entries(): Iterable<ManifestEntry> & { readonly length: number } {
    const batch = this.#batch
    return {
      length: batch.rowCount,
      *[Symbol.iterator]() {
        for (let row = 0; row < batch.rowCount; row++) yield new ManifestEntry(batch, row)
      },
    }
  }
  /** The entries that are not deleted. */
  *liveEntries(): Generator<ManifestEntry> {
    for (const row of this.#batch.liveRows) yield new ManifestEntry(this.#batch, row)
  }
  get partitionSpec(): PartitionSpec {
    return this.#segment.partitionType.spec
  }
  get partitionSpecId(): number {
    return this.#segment.partitionType.specId
  }
  /** The table schema when the manifest was written; `undefined` where its header has none. */
  get schema(): Schema | undefined {
    return this.#shape.schema
  }
  get formatVersion(): number {
    return this.#shape.formatVersion
  }
  get content(): ManifestContent {
    return this.#segment.manifest.content
  }
}

export interface ReadManifestBytesOptions {
  /** Where parsed headers and compiled plans are kept; nothing is kept otherwise. */
  cache?: ManifestCache
  /** Default {@link FULL_PROJECTION}: everything. */
  projection?: ManifestProjection
  /** What the file is called in messages; default the manifest's path. */
  location?: string
  /** The spec and types of the partition tuples; default those of the manifest's own header. */
  partitionType?: PartitionType
}

/**
 * Decodes a manifest.
 *
 * @param bytes the whole file
 * @param manifestFile its row in the manifest list: what entries inherit comes from here
 * @throws CorruptFileError, UnsupportedFeatureError or InvalidMetadataError, naming the file, the entry and the byte
 */
export function readManifestBytes(
  bytes: Uint8Array,
  manifestFile: ManifestFile,
  options: ReadManifestBytesOptions = {},
): Manifest {
  const { partitionType: given } = options
  const lookup: PartitionTypeLookup = given === undefined ? ownPartitionType : () => given
  const cache = options.cache ?? ManifestCache.disabled()
  const builder = new EntryBatchBuilder(options.projection ?? FULL_PROJECTION, cache, lookup)
  const shape = builder.add(bytes, manifestFile, options.location ?? manifestFile.manifestPath)
  return new Manifest(builder.finish(), shape)
}

/** The spec that a manifest's header states, under the schema that it states; else what its entries look like. */
const ownPartitionType: PartitionTypeLookup = (manifest, shape) => {
  const { partitionSpec: spec, schema } = shape
  if (spec !== undefined && schema !== undefined) {
    return partitionType({ ...spec, specId: manifest.partitionSpecId }, schema)
  }
  const fields = partitionRecordFields(shape.writerSchema)
  return {
    spec: createPartitionSpec(manifest.partitionSpecId, []),
    specId: manifest.partitionSpecId,
    fields: fields.map((field, i) => ({
      fieldId: field.id ?? 1000 + i,
      name: field.originalName,
      type: { kind: 'unknown' },
    })),
  }
}

function partitionRecordFields(
  entry: AvroSchema,
): readonly { id: number | undefined; originalName: string }[] {
  const child = (schema: AvroSchema | undefined, id: number, name: string): AvroSchema | undefined => {
    if (schema?.type !== 'record') return undefined
    const type = schema.fields.find((field) => field.id === id || field.name === name)?.type
    return type?.type === 'union' ? type.branches.find((branch) => branch.type === 'record') : type
  }
  const partition = child(child(entry, 2, 'data_file'), 102, 'partition')
  return partition?.type === 'record' ? partition.fields : []
}

export interface ReadOptions {
  io: FileIO
  /** Also keeps the bytes of what is read, within its budget. */
  cache?: ManifestCache
  signal?: AbortSignal
}

/**
 * Reads a file through a cache of file bytes and decodes it. Only for files that never change: manifests and manifest
 * lists.
 */
async function readCached<T>(
  location: string,
  options: ReadOptions,
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  const { io, cache } = options
  const kept = cache?.lend(location, io.identity)
  if (kept !== undefined) {
    try {
      return decode(kept)
    } finally {
      cache?.giveBack(kept)
    }
  }
  const bytes = await io
    .open(location)
    .read(undefined, options.signal === undefined ? {} : { signal: options.signal })
  cache?.keepFile(location, bytes, io.identity)
  return decode(bytes)
}

/** Reads and decodes a manifest list. */
export async function readManifestList(location: string, options: ReadOptions): Promise<ManifestFile[]> {
  return readCached(location, options, (bytes) =>
    readManifestListBytes(bytes, {
      location,
      ...(options.cache === undefined ? {} : { cache: options.cache }),
    }),
  )
}

/**
 * Reads and decodes a manifest.
 *
 * @param options.location where to open it, if not at its path (after a rebase)
 */
export async function readManifest(
  manifestFile: ManifestFile,
  options: ReadOptions & ReadManifestBytesOptions,
): Promise<Manifest> {
  if (manifestFile.keyMetadata !== undefined) {
    throw new UnsupportedFeatureError(
      `Cannot read ${manifestFile.manifestPath}: the manifest is encrypted (its row in the manifest list has key_metadata)`,
      { location: manifestFile.manifestPath },
    )
  }
  const location = options.location ?? manifestFile.manifestPath
  return readCached(location, options, (bytes) =>
    readManifestBytes(bytes, manifestFile, { ...options, location }),
  )
}

/** A lookup in a table's specs: by the manifest list's spec id, or by the header's for inline manifests (R1.12). */
export function tablePartitionTypes(types: ReadonlyMap<number, PartitionType>): PartitionTypeLookup {
  return (manifest, shape) => {
    const inline = manifest.manifestLength === undefined
    const own = inline && shape.partitionSpecId !== undefined ? types.get(shape.partitionSpecId) : undefined
    const type = own ?? types.get(manifest.partitionSpecId)
    if (type === undefined) {
      throw new InvalidMetadataError(
        `Cannot read ${manifest.manifestPath}: the table has no partition spec ${manifest.partitionSpecId} (it has ${[...types.keys()].join(', ')})`,
        { location: manifest.manifestPath },
      )
    }
    return type
  }
}
