/**
 * Seeded tables for benches: the shapes in which real tables differ for a planner.
 *
 * | shape        | manifests x entries | columns | why                                                          |
 * | ------------ | ------------------- | ------- | ------------------------------------------------------------ |
 * | tiny         | 10 x 4              | 10      | a young table                                                 |
 * | narrow-small | 500 x 4             | 10      | many commits, never compacted: headers dominate               |
 * | narrow-some  | 4 x 10,000          | 10      | a compacted table of which a filter left a part               |
 * | narrow-half  | 10 x 10,000         | 10      | more of it                                                    |
 * | narrow-big   | 20 x 10,000         | 10      | a compacted table                                             |
 * | narrow-py    | 2 x 10,000          | 10      | one entry per block, as PyIceberg writes                      |
 * | wide-small   | 500 x 4             | 100     | as narrow-small, with long schemas and statistics             |
 * | wide-big     | 4 x 10,000          | 100     | statistics dominate                                           |
 * | plain        | 100 x 10,000        | 4       | a million data files                                          |
 * | deletes      | 100 x 10,000        | 4       | and 100,000 position delete files, each for one data file     |
 * | planning     | 30 x 50,000         | 10      | a partition per manifest, 50 position deletes per partition   |
 * | many         | 10,000 x 6          | 10      | years of small commits                                        |
 * | one          | 1 x 200,000         | 10      | all of it in one manifest                                     |
 * | equality     | 100 x 10,000        | 4       | and 4,000 equality deletes, of partitions                     |
 * | vectors      | 100 x 10,000        | 4       | and a deletion vector for each data file; version 3           |
 * | vectors-big  | 250 x 10,000        | 4       | more of it                                                    |
 *
 * All but the last two are version 2, with field ids, blocks of about 64,000 bytes and deflate, as Java writes. Statistics are random
 * (bounds hardly compress in real tables either). Column 1 (long, ascending over files) and column 4 (string) have
 * bounds, and all others too; the table is partitioned by day (field 1000) and bucket (field 1001). `planning` has the
 * counts of the planning benchmark of Iceberg for Java, its delete files belong to a partition as a whole, and it is
 * deflated less (level 6), for it has a gigabyte of entries. Of the equality deletes, on column 1, every second one has
 * bounds that cover a thousandth of all ids, as of rows that were changed soon, the others bounds that cover all. A
 * hundred deletion vectors lie in one file. Same seed, same bytes. Tables on disk are kept in the system's temporary
 * folder and used again until {@link GENERATOR_VERSION} changes.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  type DataFileInput,
  type EntryInput,
  type ManifestFileInput,
  type PartitionFieldInput,
  buildTable,
  singleValueBytes,
  writeManifest,
} from '../test/support/table-writer.ts'
import { seededRandom } from '../test/support/record-shape.ts'

/** Part of the cache's name: change it whenever the bytes change. */
const GENERATOR_VERSION = 1

export type ShapeName =
  | 'tiny'
  | 'narrow-small'
  | 'narrow-some'
  | 'narrow-half'
  | 'narrow-big'
  | 'narrow-py'
  | 'wide-small'
  | 'wide-big'
  | 'plain'
  | 'deletes'
  | 'planning'
  | 'many'
  | 'one'
  | 'equality'
  | 'vectors'
  | 'vectors-big'

/** `smoke` is small enough for the test suite. */
export type Size = 'real' | 'smoke'

export interface GeneratedTable {
  metadataLocation: string
  /** Paths of the data manifests, in list order. */
  manifestPaths: string[]
  /** Paths of the delete manifests. */
  deleteManifestPaths: string[]
  /** Entries in data manifests. */
  entries: number
  /** Entries in delete manifests. */
  deleteEntries: number
  /** Bytes of all manifests. */
  bytes: number
}

interface Shape {
  columns: number
  manifests: number
  entriesPerManifest: number
  deleteManifests: number
  deletesPerManifest: number
  entriesPerBlock?: number
  deflateLevel: number
  /**
   * Each manifest holds one partition, and so does each delete manifest, whose files apply to all data files of it.
   * Default: a manifest covers a week, and a delete file applies to one data file.
   */
  partitionPerManifest?: boolean
  /** Default: position deletes. */
  deleteKind?: 'equality' | 'vectors'
}

const PLAIN = { deleteManifests: 0, deletesPerManifest: 0, deflateLevel: 9 }

const SHAPES: Record<ShapeName, Record<Size, Shape>> = {
  tiny: {
    real: { ...PLAIN, columns: 10, manifests: 10, entriesPerManifest: 4 },
    smoke: { ...PLAIN, columns: 10, manifests: 2, entriesPerManifest: 2 },
  },
  'narrow-some': {
    real: { ...PLAIN, columns: 10, manifests: 4, entriesPerManifest: 10_000 },
    smoke: { ...PLAIN, columns: 10, manifests: 2, entriesPerManifest: 40 },
  },
  'narrow-half': {
    real: { ...PLAIN, columns: 10, manifests: 10, entriesPerManifest: 10_000 },
    smoke: { ...PLAIN, columns: 10, manifests: 2, entriesPerManifest: 100 },
  },
  'narrow-small': {
    real: { ...PLAIN, columns: 10, manifests: 500, entriesPerManifest: 4 },
    smoke: { ...PLAIN, columns: 10, manifests: 5, entriesPerManifest: 4 },
  },
  'narrow-big': {
    real: { ...PLAIN, columns: 10, manifests: 20, entriesPerManifest: 10_000 },
    smoke: { ...PLAIN, columns: 10, manifests: 2, entriesPerManifest: 200 },
  },
  'narrow-py': {
    real: { ...PLAIN, columns: 10, manifests: 2, entriesPerManifest: 10_000, entriesPerBlock: 1 },
    smoke: { ...PLAIN, columns: 10, manifests: 2, entriesPerManifest: 10, entriesPerBlock: 1 },
  },
  'wide-small': {
    real: { ...PLAIN, columns: 100, manifests: 500, entriesPerManifest: 4 },
    smoke: { ...PLAIN, columns: 100, manifests: 3, entriesPerManifest: 4 },
  },
  'wide-big': {
    real: { ...PLAIN, columns: 100, manifests: 4, entriesPerManifest: 10_000 },
    smoke: { ...PLAIN, columns: 100, manifests: 2, entriesPerManifest: 50 },
  },
  plain: {
    real: { ...PLAIN, columns: 4, manifests: 100, entriesPerManifest: 10_000, deflateLevel: 1 },
    smoke: { ...PLAIN, columns: 4, manifests: 4, entriesPerManifest: 50, deflateLevel: 1 },
  },
  deletes: {
    real: {
      columns: 4,
      manifests: 100,
      entriesPerManifest: 10_000,
      deleteManifests: 10,
      deletesPerManifest: 10_000,
      deflateLevel: 1,
    },
    smoke: {
      columns: 4,
      manifests: 4,
      entriesPerManifest: 50,
      deleteManifests: 2,
      deletesPerManifest: 10,
      deflateLevel: 1,
    },
  },
  planning: {
    real: {
      columns: 10,
      manifests: 30,
      entriesPerManifest: 50_000,
      deleteManifests: 30,
      deletesPerManifest: 50,
      deflateLevel: 6,
      partitionPerManifest: true,
    },
    smoke: {
      columns: 10,
      manifests: 3,
      entriesPerManifest: 40,
      deleteManifests: 3,
      deletesPerManifest: 5,
      deflateLevel: 6,
      partitionPerManifest: true,
    },
  },
  many: {
    real: { ...PLAIN, columns: 10, manifests: 10_000, entriesPerManifest: 6 },
    smoke: { ...PLAIN, columns: 10, manifests: 8, entriesPerManifest: 6 },
  },
  one: {
    real: { ...PLAIN, columns: 10, manifests: 1, entriesPerManifest: 200_000 },
    smoke: { ...PLAIN, columns: 10, manifests: 1, entriesPerManifest: 200 },
  },
  equality: {
    real: {
      columns: 4,
      manifests: 100,
      entriesPerManifest: 10_000,
      deleteManifests: 4,
      deletesPerManifest: 1000,
      deflateLevel: 1,
      deleteKind: 'equality',
    },
    smoke: {
      columns: 4,
      manifests: 4,
      entriesPerManifest: 50,
      deleteManifests: 2,
      deletesPerManifest: 10,
      deflateLevel: 1,
      deleteKind: 'equality',
    },
  },
  vectors: { real: vectorsShape(100, 10_000), smoke: vectorsShape(4, 50) },
  'vectors-big': { real: vectorsShape(250, 10_000), smoke: vectorsShape(5, 50) },
}

/** A deletion vector for each data file. */
function vectorsShape(manifests: number, entriesPerManifest: number): Shape {
  return {
    columns: 4,
    manifests,
    entriesPerManifest,
    deleteManifests: manifests,
    deletesPerManifest: entriesPerManifest,
    deflateLevel: 1,
    deleteKind: 'vectors',
  }
}

export const SHAPE_NAMES = Object.keys(SHAPES) as ShapeName[]

const CACHE_DIRECTORY = path.join(os.tmpdir(), `iceplan-bench-${GENERATOR_VERSION}`)

/** The table on disk, made if it is not there yet; its locations are absolute paths. */
export function tableOnDisk(name: ShapeName, size: Size): GeneratedTable {
  const directory = path.join(CACHE_DIRECTORY, `${name}-${size}`)
  const index = path.join(directory, 'index.json')
  if (!fs.existsSync(index)) makeOnDisk(directory, (put) => generate(SHAPES[name][size], directory, put))
  return JSON.parse(fs.readFileSync(index, 'utf8')) as GeneratedTable
}

/**
 * Made under another name and renamed, so that a table is either whole or not there.
 *
 * @param make its answer is kept in `index.json`; `locate` tells where a file of the directory is meanwhile
 */
function makeOnDisk(
  directory: string,
  make: (put: Put, locate: (location: string) => string) => unknown,
): void {
  const unfinished = `${directory}.${process.pid}`
  fs.rmSync(unfinished, { recursive: true, force: true })
  fs.mkdirSync(path.join(unfinished, 'metadata'), { recursive: true })
  const locate = (location: string): string => path.join(unfinished, path.relative(directory, location))
  const made = make((location, bytes) => {
    fs.writeFileSync(locate(location), bytes)
  }, locate)
  fs.writeFileSync(path.join(unfinished, 'index.json'), JSON.stringify(made))
  try {
    fs.renameSync(unfinished, directory)
  } catch (error) {
    // Another process was faster; its table has the same bytes.
    fs.rmSync(unfinished, { recursive: true, force: true })
    if (!fs.existsSync(path.join(directory, 'index.json'))) throw error
  }
}

/**
 * A table of many more manifests than there are files: those of the table `name`, each under many names (hard links), so
 * that twenty million entries need not be written. The list has its own row for each name.
 *
 * @param manifests how many; names go round the files
 */
export function linkedTableOnDisk(name: ShapeName, size: Size, manifests: number): string {
  const source = tableOnDisk(name, size)
  const shape = SHAPES[name][size]
  const directory = path.join(CACHE_DIRECTORY, `${name}-${size}-linked-${manifests}`)
  const index = path.join(directory, 'index.json')
  if (!fs.existsSync(index)) {
    makeOnDisk(directory, (put, locate) => {
      const rows = range(manifests).map((i): ManifestFileInput => {
        const m = i % shape.manifests
        const manifestPath = `${directory}/metadata/data-m${m}-${i}.avro`
        fs.linkSync(source.manifestPaths[m], locate(manifestPath))
        const { size: bytes } = fs.statSync(source.manifestPaths[m])
        return manifestRow(manifestPath, bytes, 'data', rowFacts(m + 1, m, shape.entriesPerManifest, shape))
      })
      return putTable(directory, tableColumns(shape.columns), 2, rows, put)
    })
  }
  return JSON.parse(fs.readFileSync(index, 'utf8')) as string
}

/** The table in memory: location to bytes. */
export function tableInMemory(
  name: ShapeName,
  size: Size,
): GeneratedTable & { files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>()
  const table = generate(SHAPES[name][size], 's3://lake/bench', (location, bytes) =>
    files.set(location, bytes),
  )
  return { ...table, files }
}

type Put = (location: string, bytes: Uint8Array) => void

const FIRST_SNAPSHOT_ID = 3051729675574597001n
/** The first day of the column `ts`, in days since 1970: 2026-01-01. */
export const FIRST_DAY = 20_454
/** A manifest begins a day after the one before it, and covers so many, with as many entries on each. */
export const DAYS_PER_MANIFEST = 7
export const BUCKETS = 16
const MICROS_PER_DAY = 86_400_000_000
/** Values of the column `id` that each data file has, ascending from file to file. */
export const IDS_PER_FILE = 100_000
/** Records of a data file. */
const MIN_RECORDS = 50_000
const MAX_RECORDS = 150_000
/** Reserved id of `file_path` in position delete files. */
const DELETE_FILE_PATH_ID = 2147483546

const PARTITION: Required<PartitionFieldInput>[] = [
  {
    fieldId: 1000,
    name: 'ts_day',
    avroType: { type: 'int', logicalType: 'date' },
    sourceId: 2,
    transform: 'day',
  },
  { fieldId: 1001, name: 'id_bucket', avroType: 'int', sourceId: 1, transform: 'bucket[16]' },
]

const COLUMN_TYPES = ['long', 'timestamptz', 'int', 'string', 'double'] as const

interface Column {
  id: number
  name: string
  type: (typeof COLUMN_TYPES)[number]
}

/** Types repeat every five columns, so that column 1 is a long, 2 a timestamp and 4 a string. */
function tableColumns(count: number): Column[] {
  const named = ['id', 'ts', 'quantity', 'customer', 'amount']
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    name: i < named.length ? named[i] : `${named[i % named.length]}_${i + 1}`,
    type: COLUMN_TYPES[i % COLUMN_TYPES.length],
  }))
}

function generate(shape: Shape, location: string, put: Put): GeneratedTable {
  const columns = tableColumns(shape.columns)
  const schema = { fields: columns.map((column) => ({ ...column, required: false })) }
  const formatVersion = shape.deleteKind === 'vectors' ? 3 : 2
  const rows: ManifestFileInput[] = []
  let bytes = 0
  const write = (name: string, content: 'data' | 'deletes', entries: Iterable<EntryInput>, row: RowFacts) => {
    const written = writeManifest({
      entries,
      content,
      formatVersion,
      partition: PARTITION,
      schema: { type: 'struct', 'schema-id': 0, ...schema },
      deflateLevel: shape.deflateLevel,
      ...(shape.entriesPerBlock === undefined
        ? {}
        : { entriesPerBlock: shape.entriesPerBlock, deflateTrailing: 3 }),
    })
    const manifestPath = `${location}/metadata/${name}.avro`
    put(manifestPath, written)
    bytes += written.length
    const firstRowId = { firstRowId: rows.length * shape.entriesPerManifest * MAX_RECORDS }
    rows.push({
      ...manifestRow(manifestPath, written.length, content, row),
      ...(formatVersion === 3 && content === 'data' ? firstRowId : {}),
    })
    return manifestPath
  }

  const deletesOf = new DeleteTargets(shape)
  const manifestPaths = range(shape.manifests).map((m) => {
    const facts = rowFacts(m + 1, m, shape.entriesPerManifest, shape)
    return write(`data-m${m}`, 'data', dataEntries(m, shape, columns, facts, deletesOf), facts)
  })
  const deleteManifestPaths = range(shape.deleteManifests).map((m) => {
    const sequenceNumber = shape.manifests + m + 1
    const name = `delete-m${m}`
    if (shape.partitionPerManifest === true) {
      const facts = rowFacts(sequenceNumber, m, shape.deletesPerManifest, shape)
      return write(name, 'deletes', partitionDeleteEntries(m, shape, facts), facts)
    }
    const facts = rowFacts(sequenceNumber, 0, shape.deletesPerManifest, shape)
    const lastDay = FIRST_DAY + shape.manifests + DAYS_PER_MANIFEST
    return write(name, 'deletes', deleteEntries(m, shape, deletesOf, facts), { ...facts, lastDay })
  })
  return {
    metadataLocation: putTable(location, columns, formatVersion, rows, put),
    manifestPaths,
    deleteManifestPaths,
    entries: shape.manifests * shape.entriesPerManifest,
    deleteEntries: shape.deleteManifests * shape.deletesPerManifest,
    bytes,
  }
}

/** Writes the list with these rows and the metadata of a table of one snapshot; the answer is the metadata's location. */
function putTable(
  location: string,
  columns: readonly Column[],
  formatVersion: 2 | 3,
  rows: readonly ManifestFileInput[],
  put: Put,
): string {
  const table = buildTable({
    formatVersion,
    location,
    schema: { fields: columns.map((column) => ({ ...column, required: false })) },
    specs: [{ fields: PARTITION }],
    snapshots: [
      {
        manifests: [],
        rows,
        snapshotId: FIRST_SNAPSHOT_ID,
        sequenceNumber: rows.length,
        operation: 'overwrite',
      },
    ],
  })
  for (const [file, content] of table.files) put(file, content)
  return table.metadataLocation
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

interface RowFacts {
  sequenceNumber: number
  snapshotId: bigint
  entries: number
  firstDay: number
  lastDay: number
  firstBucket: number
  lastBucket: number
}

/** Manifest `m` covers a week that begins at day `m`, as ingestion by time does, or one partition of that day. */
function rowFacts(sequenceNumber: number, m: number, entries: number, shape: Shape): RowFacts {
  const firstDay = FIRST_DAY + m
  const one = shape.partitionPerManifest === true
  return {
    sequenceNumber,
    snapshotId: FIRST_SNAPSHOT_ID - BigInt(sequenceNumber),
    entries,
    firstDay,
    lastDay: one ? firstDay : firstDay + DAYS_PER_MANIFEST - 1,
    firstBucket: one ? m % BUCKETS : 0,
    lastBucket: one ? m % BUCKETS : BUCKETS - 1,
  }
}

function manifestRow(
  manifestPath: string,
  manifestLength: number,
  content: 'data' | 'deletes',
  { sequenceNumber, snapshotId, entries, firstDay, lastDay, firstBucket, lastBucket }: RowFacts,
): ManifestFileInput {
  const summary = (lower: number, upper: number) => ({
    containsNull: false,
    containsNan: false,
    lowerBound: singleValueBytes('int', lower),
    upperBound: singleValueBytes('int', upper),
  })
  return {
    manifestPath,
    manifestLength,
    content: content === 'data' ? 0 : 1,
    sequenceNumber,
    minSequenceNumber: sequenceNumber,
    addedSnapshotId: snapshotId,
    addedFilesCount: entries,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    addedRowsCount: entries * 100_000,
    existingRowsCount: 0,
    deletedRowsCount: 0,
    partitions: [summary(firstDay, lastDay), summary(firstBucket, lastBucket)],
  }
}

/** Chooses evenly which data files get a delete file, and remembers their paths and partitions. */
class DeleteTargets {
  private readonly every: number
  private readonly targets: { filePath: string; partition: readonly number[] }[] = []

  constructor(shape: Shape) {
    const deletes = shape.deleteManifests * shape.deletesPerManifest
    const none = deletes === 0 || shape.partitionPerManifest === true
    this.every = none ? Infinity : Math.floor((shape.manifests * shape.entriesPerManifest) / deletes)
  }

  offer(ordinal: number, filePath: string, partition: readonly number[]): void {
    if (ordinal % this.every === 0) this.targets.push({ filePath, partition })
  }

  at(ordinal: number) {
    return this.targets[ordinal]
  }

  /** The number of the data file. */
  ordinalAt(ordinal: number): number {
    return ordinal * this.every
  }
}

/**
 * The entries of data manifest `m`. One entry object is used again and again, its maps and bounds written over, for
 * the encoder copies each entry before it asks for the next; a million new ones would cost more than the encoding.
 */
function* dataEntries(
  m: number,
  shape: Shape,
  columns: readonly Column[],
  facts: RowFacts,
  deletesOf: DeleteTargets,
): Generator<EntryInput> {
  const random = seededRandom(1000 + m)
  const columnSizes = new Map<number, number>()
  const valueCounts = new Map<number, number>()
  const nullValueCounts = new Map<number, number>()
  const nanValueCounts = new Map<number, number>()
  const lowerBounds = new Map<number, Uint8Array>()
  const upperBounds = new Map<number, Uint8Array>()
  const partition = [0, 0]
  const splitOffsets = [4, 0]
  const dataFile: DataFileInput = {
    partition,
    columnSizes,
    valueCounts,
    nullValueCounts,
    nanValueCounts,
    lowerBounds,
    upperBounds,
    splitOffsets,
    sortOrderId: 0,
  }
  const entry: EntryInput = { status: 1, snapshotId: facts.snapshotId, dataFile }
  for (let i = 0; i < shape.entriesPerManifest; i++) {
    const ordinal = m * shape.entriesPerManifest + i
    const rows = MIN_RECORDS + Math.floor(random() * (MAX_RECORDS - MIN_RECORDS))
    const days = facts.lastDay - facts.firstDay + 1
    const buckets = facts.lastBucket - facts.firstBucket + 1
    let size = 0
    partition[0] = facts.firstDay + Math.floor((i * days) / shape.entriesPerManifest)
    partition[1] = facts.firstBucket + Math.floor(random() * buckets)
    for (const { id, type } of columns) {
      const columnSize = 1000 + Math.floor(random() * rows * 8)
      size += columnSize
      columnSizes.set(id, columnSize)
      valueCounts.set(id, rows)
      nullValueCounts.set(id, random() < 0.7 ? 0 : Math.floor(random() * rows))
      if (type === 'double') nanValueCounts.set(id, 0)
      const longStart =
        id === 1 ? ordinal * IDS_PER_FILE : Math.floor((partition[0] + random()) * MICROS_PER_DAY)
      setBounds(id, type, longStart, random, lowerBounds, upperBounds)
    }
    splitOffsets[1] = Math.floor(size / 2)
    dataFile.filePath = dataPath(partition[0], partition[1], i, random)
    dataFile.recordCount = rows
    dataFile.fileSizeInBytes = size + 5000
    deletesOf.offer(ordinal, dataFile.filePath, [...partition])
    yield entry
  }
}

/** Writes over the bounds of a column; those of a long or timestamp begin near `longStart`, the others anywhere. */
function setBounds(
  id: number,
  type: Column['type'],
  longStart: number,
  random: () => number,
  lowerBounds: Map<number, Uint8Array>,
  upperBounds: Map<number, Uint8Array>,
): void {
  if (type === 'string') {
    lowerBounds.set(id, randomWord('a', random))
    upperBounds.set(id, randomWord('n', random))
    return
  }
  const bytes = type === 'int' ? 4 : 8
  const lower = (lowerBounds.get(id) ?? Buffer.allocUnsafeSlow(bytes)) as Buffer
  const upper = (upperBounds.get(id) ?? Buffer.allocUnsafeSlow(bytes)) as Buffer
  if (type === 'double') {
    lower.writeDoubleLE(Math.round(random() * 1e6) / 100)
    upper.writeDoubleLE(1e4 + Math.round(random() * 1e8) / 100)
  } else if (type === 'int') {
    lower.writeInt32LE(Math.floor(random() * 1e6))
    upper.writeInt32LE(Math.floor(1e6 + random() * 1e9))
  } else {
    writeLong(lower, longStart + Math.floor(random() * 1000))
    writeLong(upper, longStart + IDS_PER_FILE - 1 - Math.floor(random() * 1000))
  }
  lowerBounds.set(id, lower)
  upperBounds.set(id, upper)
}

function writeLong(bytes: Buffer, value: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, 0)
  bytes.writeInt32LE(Math.floor(value / 2 ** 32), 4)
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** A first letter from half of the alphabet, then ten letters: bounds of text are not sorted by anything. */
function randomWord(first: 'a' | 'n', random: () => number): Uint8Array {
  const bytes = Buffer.allocUnsafe(11)
  bytes[0] = first.charCodeAt(0) + Math.floor(random() * 13)
  for (let i = 1; i < bytes.length; i++) bytes[i] = LETTERS.charCodeAt(Math.floor(random() * LETTERS.length))
  return bytes
}

function dataPath(day: number, bucket: number, task: number, random: () => number): string {
  const folder = `s3://acme-analytics-eu/warehouse/sales/orders/data/ts_day=${isoDay(day)}/id_bucket=${bucket}`
  return `${folder}/${String(task % 1000).padStart(5, '0')}-17-${randomUuid(random)}-00001.parquet`
}

const isoDays = new Map<number, string>()

function isoDay(day: number): string {
  let text = isoDays.get(day)
  if (text === undefined) {
    text = new Date(day * 86_400_000).toISOString().slice(0, 10)
    isoDays.set(day, text)
  }
  return text
}

function randomUuid(random: () => number): string {
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  const [a, b, c, d] = [hex(), hex(), hex(), hex()]
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`
}

/** The entries of delete manifest `m`: those of data files that were chosen, in order. */
function deleteEntries(
  m: number,
  shape: Shape,
  targets: DeleteTargets,
  facts: RowFacts,
): Iterable<EntryInput> {
  switch (shape.deleteKind) {
    case 'equality':
      return equalityDeleteEntries(m, shape, targets, facts)
    case 'vectors':
      return vectorEntries(m, shape, targets, facts)
    default:
      return positionDeleteEntries(m, shape, targets, facts)
  }
}

/**
 * The entries of delete manifest `m`: each names one data file, every second one by `referenced_data_file`, the
 * others by equal bounds of the path column, as writers did before that field existed.
 */
function* positionDeleteEntries(
  m: number,
  shape: Shape,
  targets: DeleteTargets,
  facts: RowFacts,
): Generator<EntryInput> {
  const random = seededRandom(2_000_000 + m)
  for (let i = 0; i < shape.deletesPerManifest; i++) {
    const ordinal = m * shape.deletesPerManifest + i
    const { filePath, partition } = targets.at(ordinal)
    const bounds = new Map([[DELETE_FILE_PATH_ID, Buffer.from(filePath)]])
    const scope: DataFileInput =
      ordinal % 2 === 0 ? { referencedDataFile: filePath } : { lowerBounds: bounds, upperBounds: bounds }
    yield {
      status: 1,
      snapshotId: facts.snapshotId,
      dataFile: {
        content: 1,
        filePath: dataPath(partition[0], partition[1], i, random).replace('.parquet', '-deletes.parquet'),
        partition,
        recordCount: 1 + Math.floor(random() * 1000),
        fileSizeInBytes: 1000 + Math.floor(random() * 9000),
        ...scope,
      },
    }
  }
}

/** Each of the partition of one data file: the one half for ids near those of the file, the other for any. */
function* equalityDeleteEntries(
  m: number,
  shape: Shape,
  targets: DeleteTargets,
  facts: RowFacts,
): Generator<EntryInput> {
  const random = seededRandom(2_000_000 + m)
  const allIds = shape.manifests * shape.entriesPerManifest * IDS_PER_FILE
  for (let i = 0; i < shape.deletesPerManifest; i++) {
    const ordinal = m * shape.deletesPerManifest + i
    const { partition } = targets.at(ordinal)
    const first = ordinal % 2 === 0 ? targets.ordinalAt(ordinal) * IDS_PER_FILE : 0
    const ids = ordinal % 2 === 0 ? Math.ceil(allIds / 1000) : allIds
    const rows = 1 + Math.floor(random() * 1000)
    yield {
      status: 1,
      snapshotId: facts.snapshotId,
      dataFile: {
        content: 2,
        filePath: dataPath(partition[0], partition[1], i, random).replace('.parquet', '-eq-deletes.parquet'),
        partition,
        recordCount: rows,
        fileSizeInBytes: 1000 + Math.floor(random() * 9000),
        equalityIds: [1],
        valueCounts: { 1: rows },
        nullValueCounts: { 1: 0 },
        lowerBounds: { 1: singleValueBytes('long', first) },
        upperBounds: { 1: singleValueBytes('long', first + ids - 1) },
        sortOrderId: 0,
      },
    }
  }
}

const VECTORS_PER_FILE = 100

/** Each belongs to one data file. */
function* vectorEntries(
  m: number,
  shape: Shape,
  targets: DeleteTargets,
  facts: RowFacts,
): Generator<EntryInput> {
  const random = seededRandom(2_000_000 + m)
  let puffin = ''
  for (let i = 0; i < shape.deletesPerManifest; i++) {
    const { filePath, partition } = targets.at(m * shape.deletesPerManifest + i)
    const place = i % VECTORS_PER_FILE
    if (place === 0)
      puffin = dataPath(partition[0], partition[1], i, random).replace('.parquet', '-deletes.puffin')
    yield {
      status: 1,
      snapshotId: facts.snapshotId,
      dataFile: {
        content: 1,
        filePath: puffin,
        fileFormat: 'PUFFIN',
        partition,
        recordCount: 1 + Math.floor(random() * 1000),
        fileSizeInBytes: 4 + VECTORS_PER_FILE * VECTOR_BYTES + 1000,
        referencedDataFile: filePath,
        contentOffset: 4 + place * VECTOR_BYTES,
        contentSizeInBytes: VECTOR_BYTES - Math.floor(random() * 1000),
      },
    }
  }
}

/** Room for each vector in its file. */
const VECTOR_BYTES = 2048

/** The entries of delete manifest `m`: nothing in them names a data file, so they apply to all of the partition. */
function* partitionDeleteEntries(m: number, shape: Shape, facts: RowFacts): Generator<EntryInput> {
  const random = seededRandom(2_000_000 + m)
  const partition = [facts.firstDay, facts.firstBucket]
  for (let i = 0; i < shape.deletesPerManifest; i++) {
    yield {
      status: 1,
      snapshotId: facts.snapshotId,
      dataFile: {
        content: 1,
        filePath: dataPath(partition[0], partition[1], i, random).replace('.parquet', '-deletes.parquet'),
        partition,
        recordCount: 1 + Math.floor(random() * 1000),
        fileSizeInBytes: 1000 + Math.floor(random() * 9000),
      },
    }
  }
}
