/**
 * Manifests and manifest lists that no writer has written yet: random schema layouts, codecs and values, read by this
 * library and by avsc. What the layouts have in common is that Avro and the specification allow them.
 */
import { assert } from 'chai'
import { ManifestFile } from '../../src/manifest/manifest-file.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { readManifestBytes } from '../../src/manifest/manifest-reader.ts'
import { decodeWithAvsc } from '../../src/verify/avsc-decoder.ts'
import { compareManifest, compareManifestList } from '../../src/verify/compare-manifest.ts'
import { Comparison } from '../../src/verify/comparison.ts'
import { comparedManifest } from '../../src/verify/verify-table.ts'
import type { ContainerOptions } from '../support/avro-container.ts'
import type { AvroSchema, AvroSchemaObject } from '../support/avro-encoder.ts'
import {
  writeManifest,
  writeManifestList,
  type DataFileInput,
  type EntryInput,
  type FormatVersion,
  type PartitionFieldInput,
} from '../support/manifest-writer.ts'
import {
  extraFieldsOfEveryType,
  seededRandom,
  type RecordName,
  type SchemaVariations,
} from '../support/record-shape.ts'

const SEEDS = 150

/** Column type in the table schema, Avro type in the manifest, a value. */
type PartitionKind = [type: string, avroType: AvroSchema, value: (random: Random) => unknown]

const PARTITION_KINDS: PartitionKind[] = [
  ['boolean', 'boolean', ({ chance }) => chance(0.5)],
  ['int', 'int', ({ int }) => int(-1000, 1000)],
  ['long', 'int', ({ int }) => int(-1000, 1000)],
  ['long', 'long', ({ long }) => long()],
  ['float', 'float', ({ pick }) => pick([1.5, -0, NaN, -Infinity])],
  ['double', 'float', ({ pick }) => pick([1.5, -0])],
  ['double', 'double', ({ pick }) => pick([0.1, -0, NaN, Infinity])],
  ['date', { type: 'int', logicalType: 'date' }, ({ int }) => int(-20_000, 20_000)],
  ['date', 'int', ({ int }) => int(-20_000, 20_000)],
  ['time', { type: 'long', logicalType: 'time-micros' }, ({ long }) => long()],
  [
    'timestamptz',
    { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': true },
    ({ long }) => long(),
  ],
  ['timestamp', { type: 'long', logicalType: 'timestamp-millis' }, ({ int }) => BigInt(int(-1e12, 1e12))],
  ['timestamp_ns', { type: 'long', logicalType: 'timestamp-nanos' }, ({ long }) => long()],
  ['string', 'string', ({ text }) => text()],
  ['uuid', { type: 'fixed', name: 'uuid_fixed', size: 16, logicalType: 'uuid' }, ({ bytes }) => bytes(16)],
  ['fixed[5]', { type: 'fixed', name: 'fixed_5', size: 5 }, ({ bytes }) => bytes(5)],
  ['binary', 'bytes', ({ bytes, int }) => bytes(int(0, 20))],
  [
    'decimal(9,2)',
    { type: 'fixed', name: 'decimal_9_2', size: 4, logicalType: 'decimal', precision: 9, scale: 2 },
    ({ bytes }) => bytes(4),
  ],
  [
    'decimal(38,10)',
    { type: 'bytes', logicalType: 'decimal', precision: 38, scale: 10 },
    ({ bytes, int }) => bytes(int(1, 16)),
  ],
]

/** Fields that a writer may leave out; the rest is required in version 1. */
const OPTIONAL_IDS = [3, 4, 134, 105, 108, 109, 110, 137, 125, 128, 131, 132, 135, 140, 142, 143, 144, 145]
const OPTIONAL_LIST_IDS = [517, 515, 516, 504, 505, 506, 507, 512, 513, 514, 518, 510, 511, 519, 520]

describe('generated files: our reader and avsc agree', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`on manifest ${seed}`, () => {
      checkManifest(new Random(seed))
    })
    it(`on manifest list ${seed}`, () => {
      checkManifestList(new Random(seed + 1000))
    })
  }
})

function checkManifest(random: Random): void {
  const { chance, int } = random
  const formatVersion = random.pick<FormatVersion>([1, 2, 3])
  const deletes = formatVersion > 1 && chance(0.3)
  const kinds = Array.from({ length: int(0, 4) }, () => random.pick(PARTITION_KINDS))
  // A delete file must say which kind it is (R4.14).
  const optionalIds = OPTIONAL_IDS.filter((id) => !(deletes && id === 134))
  const variations = layout(random, ['entry', 'dataFile'], optionalIds)
  const seen = new Set<string>()
  const partition = kinds.map(([, avroType], i): PartitionFieldInput => {
    const shuffled = variations.shuffleSeed !== undefined
    const type = shuffled ? renamed(avroType, i) : definedOnce(avroType, seen)
    return { fieldId: 1000 + i, name: `p${i}`, avroType: type, sourceId: i + 1 }
  })
  const bytes = writeManifest({
    ...variations,
    formatVersion,
    content: deletes ? 'deletes' : 'data',
    partition,
    schema: {
      type: 'struct',
      'schema-id': 0,
      fields: kinds.map(([type], i) => ({ id: i + 1, name: `c${i}`, required: false, type })),
    },
    entries: Array.from({ length: int(0, 30) }, () => entry(random, formatVersion, deletes, kinds)),
  })
  const row = new ManifestFile({
    ...rowFields(random),
    content: deletes ? 1 : 0,
    firstRowId: deletes ? undefined : random.maybe(() => random.long(2n ** 54n)),
  })
  const comparison = new Comparison()
  const ours = comparedManifest(readManifestBytes(bytes, row))
  compareManifest('m', decodeWithAvsc(bytes), row, ours, comparison)
  assert.deepEqual(comparison.differences, [])
}

function checkManifestList(random: Random): void {
  const { int, maybe } = random
  const rows = Array.from({ length: int(0, 12) }, () => ({
    ...rowFields(random),
    content: int(0, 1),
    keyMetadata: maybe(() => random.bytes(3)),
    partitions: maybe(() =>
      Array.from({ length: int(0, 3) }, () => ({
        containsNull: random.chance(0.5),
        containsNan: maybe(() => random.chance(0.5)),
        lowerBound: maybe(() => random.bytes(int(0, 9))),
        upperBound: maybe(() => random.bytes(int(0, 9))),
      })),
    ),
  }))
  const formatVersion = random.pick<FormatVersion>([1, 2, 3])
  const variations = layout(random, ['manifestFile', 'summary'], OPTIONAL_LIST_IDS)
  const bytes = writeManifestList({ ...variations, formatVersion, rows })
  const comparison = new Comparison()
  compareManifestList('l', decodeWithAvsc(bytes), readManifestListBytes(bytes), comparison)
  assert.deepEqual(comparison.differences, [])
}

function layout(
  random: Random,
  records: readonly RecordName[],
  optionalIds: readonly number[],
): ContainerOptions & SchemaVariations {
  const { chance, int, pick } = random
  const fieldIds = pick(['all', 'strings', 'none'] as const)
  const record = pick(records)
  return {
    codec: pick(['null', 'deflate', 'snappy', 'zstandard'] as const),
    deflateTrailing: pick([0, 3]),
    zstandardWithoutSize: chance(0.5),
    layout: { negativeCounts: chance(0.5), itemsPerBlock: int(1, 3) },
    headerLayout: { negativeCounts: chance(0.5), itemsPerBlock: int(1, 9) },
    unionOrder: pick(['null-first', 'value-first'] as const),
    omit: optionalIds.filter(() => chance(0.1)),
    fieldIds,
    oldNames: chance(0.3),
    mapLogicalType: chance(0.7),
    extraFields: fieldIds === 'none' && chance(0.5) ? extraFieldsOfEveryType(record, int(0, 5)) : [],
    ...(chance(0.5) ? { entriesPerBlock: int(1, 5) } : {}),
    ...(chance(0.5) ? { shuffleSeed: int(1, 1000) } : {}),
  }
}

function entry(
  random: Random,
  version: FormatVersion,
  deletes: boolean,
  kinds: readonly PartitionKind[],
): EntryInput {
  const { chance, int, maybe } = random
  const status = int(0, 2)
  return defined({
    status,
    snapshotId: version === 1 ? random.long() : maybe(() => random.long()),
    sequenceNumber: maybe(() => random.long()),
    fileSequenceNumber: maybe(() => random.long()),
    dataFile: defined<DataFileInput>({
      content: deletes ? int(1, 2) : 0,
      filePath: random.text(),
      fileFormat: random.pick(['PARQUET', 'orc', 'Avro']),
      partition: kinds.map(([, , value]) => (chance(0.2) ? null : value(random))),
      recordCount: int(0, 2 ** 40),
      fileSizeInBytes: int(0, 2 ** 50),
      columnSizes: maybe(() => random.byColumn(() => int(0, 2 ** 45))),
      valueCounts: maybe(() => random.byColumn(() => int(0, 100))),
      nullValueCounts: maybe(() => random.byColumn(() => int(0, 100))),
      nanValueCounts: maybe(() => random.byColumn(() => int(0, 100))),
      lowerBounds: maybe(() => random.byColumn(() => random.bytes(int(0, 17)))),
      upperBounds: maybe(() => random.byColumn(() => random.bytes(int(0, 17)))),
      keyMetadata: maybe(() => random.bytes(int(0, 5))),
      splitOffsets: maybe(() => Array.from({ length: int(0, 4) }, () => int(0, 2 ** 45))),
      equalityIds: deletes ? Array.from({ length: int(1, 4) }, () => int(1, 2 ** 30)) : undefined,
      sortOrderId: maybe(() => int(0, 5)),
      firstRowId: deletes ? undefined : maybe(() => random.long(2n ** 60n)),
      referencedDataFile: deletes ? maybe(() => random.text()) : undefined,
      contentOffset: deletes ? maybe(() => int(0, 2 ** 45)) : undefined,
      contentSizeInBytes: deletes ? maybe(() => int(0, 2 ** 45)) : undefined,
    }),
  })
}

function rowFields(random: Random) {
  const { int, maybe } = random
  return {
    manifestPath: random.text(),
    manifestLength: int(0, 2 ** 40),
    partitionSpecId: int(0, 3),
    content: 0 as const,
    sequenceNumber: random.chance(0.3) ? 0n : random.long(),
    minSequenceNumber: random.long(),
    addedSnapshotId: random.long(),
    addedFilesCount: maybe(() => int(0, 1000)),
    existingFilesCount: maybe(() => int(0, 1000)),
    deletedFilesCount: maybe(() => int(0, 1000)),
    addedRowsCount: maybe(() => int(0, 2 ** 45)),
    existingRowsCount: maybe(() => int(0, 2 ** 45)),
    deletedRowsCount: maybe(() => int(0, 2 ** 45)),
    partitions: undefined,
    keyMetadata: undefined,
    firstRowId: maybe(() => random.long(2n ** 62n)),
  }
}

/** Without the keys whose value is `undefined`, which the writer does not take. */
function defined<T extends object>(object: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
}

/** A named type where it comes first, then its name, as Java writes. */
function definedOnce(type: AvroSchema, seen: Set<string>): AvroSchema {
  const name = nameOf(type)
  if (name === undefined) return type
  if (seen.has(name)) return name
  seen.add(name)
  return type
}

/** Shuffled fields may put a name before its definition, so here each has its own. */
function renamed(type: AvroSchema, position: number): AvroSchema {
  const name = nameOf(type)
  return name === undefined ? type : { ...(type as AvroSchemaObject), name: `${name}_${position}` }
}

function nameOf(type: AvroSchema): string | undefined {
  return typeof type === 'object' && 'name' in type ? type.name : undefined
}

class Random {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seededRandom(seed)
  }

  readonly chance = (probability: number): boolean => this.#next() < probability
  /** Both ends included. */
  readonly int = (low: number, high: number): number => low + Math.floor(this.#next() * (high - low + 1))
  readonly pick = <T>(items: readonly T[]): T => items[this.int(0, items.length - 1)]
  readonly maybe = <T>(value: () => T): T | undefined => (this.chance(0.3) ? undefined : value())
  /** From 0 up to `end`, small ones as likely as large ones. */
  readonly long = (end = 2n ** 63n): bigint => {
    const bits = BigInt(this.int(0, 63))
    return (((BigInt(this.int(0, 2 ** 32)) << 31n) | BigInt(this.int(0, 2 ** 31 - 1))) % (1n << bits)) % end
  }
  readonly bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => this.int(0, 255))
  readonly text = (): string =>
    this.pick(['', 's3://b/t/', 'größe/', '日\u{1f600}']) + String(this.int(0, 1e6))
  readonly byColumn = <V>(value: () => V): Map<number, V> =>
    new Map(Array.from({ length: this.int(0, 6) }, () => [this.int(1, 2 ** 31 - 1), value()]))
}
