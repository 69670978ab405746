/** Manifests of a table with several specs, made at random, and all that a batch says of them. */
import type { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { NULL_BIT } from '../../src/manifest/entry-fields.ts'
import { ManifestEntry } from '../../src/manifest/manifest-entry.ts'
import type { ManifestFile } from '../../src/manifest/manifest-file.ts'
import type { PartitionType } from '../../src/manifest/partition-key.ts'
import { createPartitionSpec } from '../../src/metadata/partition-spec.ts'
import type { PrimitiveType } from '../../src/types/type.ts'
import {
  type DataFileInput,
  type EntryInput,
  type ManifestOptions,
  writeManifest,
} from '../support/manifest-writer.ts'
import { manifestFile } from './manifest-reading.ts'

const specOf = (specId: number, fields: readonly [name: string, type: PrimitiveType][]): PartitionType => ({
  spec: createPartitionSpec(
    specId,
    fields.map(([name], i) => ({
      sourceId: i + 1,
      fieldId: 1000 + i,
      name,
      transform: { kind: 'identity' },
    })),
  ),
  specId,
  fields: fields.map(([name, type], i) => ({ fieldId: 1000 + i, name, type })),
})

/** Of a table with three specs, by spec id. */
export const PARTITION_TYPES: ReadonlyMap<number, PartitionType> = new Map(
  [
    specOf(0, []),
    specOf(1, [
      ['region', { kind: 'string' }],
      ['n', { kind: 'int' }],
    ]),
    specOf(7, [['n', { kind: 'int' }]]),
  ].map((type) => [type.specId, type]),
)

const AVRO_TYPES: Partial<Record<number, readonly string[]>> = { 0: [], 1: ['string', 'int'], 7: ['int'] }

/** What a manifest is made from. */
export interface Part {
  specId: number
  isDeletes?: boolean
  entries: readonly EntryInput[]
}

/** Its row in the list. */
export function manifestOf({ specId, isDeletes = false }: Part, i: number): ManifestFile {
  return manifestFile({
    manifestPath: `m${i}`,
    partitionSpecId: specId,
    content: isDeletes ? 1 : 0,
    sequenceNumber: 2n ** 62n,
    firstRowId: isDeletes ? undefined : 1000n,
  })
}

/** The file. */
export function bytesOf(part: Part, write: Partial<ManifestOptions> = {}): Uint8Array {
  const { fields } = PARTITION_TYPES.get(part.specId)!.spec
  return writeManifest({
    formatVersion: 3,
    entries: part.entries,
    content: part.isDeletes === true ? 'deletes' : 'data',
    partition: fields.map(({ fieldId, name }, i) => ({
      fieldId,
      name,
      avroType: AVRO_TYPES[part.specId]![i],
    })),
    partitionSpecId: part.specId,
    entriesPerBlock: 3,
    ...write,
  })
}

/** All that the live entries of a batch say, by every way of asking. */
export function saidBy(batch: EntryBatch): unknown[] {
  return Array.from(batch.liveRows, (row) => {
    const segment = batch.segmentOf(row)
    const { dataFile } = new ManifestEntry(batch, row)
    return {
      entry: new ManifestEntry(batch, row).toJSON(),
      detached: dataFile.detach().toJSON(),
      partition: batch.partition(row),
      manifest: segment.manifest.toJSON(),
      specId: segment.partitionType.specId,
      missing: segment.missingPartitionFields,
      extra: segment.extraPartitionFields,
      nulls: Object.keys(NULL_BIT).filter((name) => batch.isNull(row, name as keyof typeof NULL_BIT)),
      bounds: ([1, 2, 99] as const).map((id) =>
        (['lowerBounds', 'upperBounds'] as const).map((column) => copyOf(batch.bound(row, column, id))),
      ),
      // As the delete index reads them.
      sequenceNumber: batch.isNull(row, 'sequenceNumber') ? undefined : batch.sequenceNumbers[row],
      path: Array.from(batch.bytes(row, 'filePath')),
    }
  })
}

function copyOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : Uint8Array.from(bytes)
}

/** Entries of any kind, with every field there and not there. */
export function randomPart(random: () => number, withDeleted: boolean): Part {
  const int = (below: number) => Math.floor(random() * below)
  const maybe = <T>(make: () => T): T | undefined => (random() < 0.5 ? make() : undefined)
  const pick = <T>(items: readonly T[]): T => items[int(items.length)]
  const long = () => BigInt.asUintN(63, BigInt(int(2 ** 32)) * 2n ** 32n + BigInt(int(2 ** 32)))
  const bytes = () => Uint8Array.from({ length: int(20) }, () => int(256))
  const byColumn = <V>(value: () => V) =>
    maybe(() => new Map(Array.from({ length: int(4) }, (_, i) => [i + 1, value()])))
  const specId = pick([...PARTITION_TYPES.keys()])
  const isDeletes = random() < 0.3
  const fields: Partial<Record<number, () => readonly unknown[]>> = {
    0: () => [],
    1: () => [maybe(() => pick(['eu', 'us', ''])), maybe(() => int(3))],
    7: () => [maybe(() => int(3))],
  }
  const file = (): DataFileInput => {
    const given = {
      columnSizes: byColumn(() => int(2 ** 31)),
      valueCounts: byColumn(() => int(2 ** 31)),
      nullValueCounts: byColumn(() => int(9)),
      nanValueCounts: byColumn(() => int(9)),
      lowerBounds: byColumn(bytes),
      upperBounds: byColumn(bytes),
      keyMetadata: maybe(bytes),
      splitOffsets: maybe(() => Array.from({ length: int(4) }, () => int(2 ** 40))),
      equalityIds: maybe(() => Array.from({ length: int(3) }, () => int(100))),
      sortOrderId: maybe(() => int(5)),
      firstRowId: maybe(long),
      referencedDataFile: maybe(() => `data/${'ü'.repeat(int(9))}`),
      contentOffset: maybe(() => int(2 ** 40)),
      contentSizeInBytes: maybe(() => int(2 ** 40)),
    }
    return {
      content: isDeletes ? 1 + int(2) : 0,
      filePath: `s3://warehouse/${'x'.repeat(int(60))}${int(1000)}`,
      fileFormat: pick(['PARQUET', 'orc', 'Avro', 'puffin', 'Lance', 'vortex']),
      partition: fields[specId]!(),
      recordCount: int(2 ** 40),
      fileSizeInBytes: int(2 ** 40),
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    }
  }
  const entry = (): EntryInput => {
    const given = { snapshotId: maybe(long), fileSequenceNumber: maybe(long) }
    return {
      status: pick(withDeleted ? [0, 1, 2] : [0, 1]),
      sequenceNumber: long(),
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      dataFile: file(),
    }
  }
  return { specId, isDeletes, entries: Array.from({ length: int(9) }, entry) }
}
