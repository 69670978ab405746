import avro from 'avsc'
import { assert } from 'chai'
import { Readable } from 'node:stream'
import { crc32, inflateRawSync } from 'node:zlib'
import * as fzstd from 'fzstd'
import { snappyUncompressor } from 'hysnappy'
import type { AvroSchemaObject } from './avro-encoder.ts'
import {
  type EntryInput,
  type ManifestFileInput,
  type ManifestOptions,
  buildTable,
  extraFieldsOfEveryType,
  singleValueBytes,
  writeManifest,
  writeManifestList,
} from './table-writer.ts'

const ENTRIES: EntryInput[] = [
  {},
  {
    status: 0,
    snapshotId: 3051729675574597004n,
    sequenceNumber: 7,
    fileSequenceNumber: 2n ** 53n + 1n,
    dataFile: {
      filePath: 's3://warehouse/å/\u{1f600}.parquet',
      partition: [20_000, 'eu', null],
      recordCount: 2 ** 52 + 1,
      columnSizes: new Map([
        [3, 100],
        [1, 2 ** 40],
      ]),
      valueCounts: { 1: 10, 2: 10, 300: 10 },
      nullValueCounts: { 1: 0 },
      nanValueCounts: {},
      lowerBounds: { 1: singleValueBytes('long', -5n), 2: singleValueBytes('string', 'a') },
      upperBounds: { 1: singleValueBytes('long', 5n) },
      keyMetadata: Uint8Array.of(1, 2, 3),
      splitOffsets: [4, 2 ** 31, 2 ** 33],
      equalityIds: [1, 2],
      sortOrderId: 1,
      firstRowId: 12,
      referencedDataFile: 's3://warehouse/x',
      contentOffset: 4,
      contentSizeInBytes: 40,
    },
  },
  { status: 2, dataFile: { partition: [null, '', Uint8Array.of(0, 1)] } },
]

const PARTITION = [
  { fieldId: 1000, name: 'day', avroType: { type: 'int', logicalType: 'date' } },
  { fieldId: 1001, name: 'region', avroType: 'string' },
  { fieldId: 1002, name: 'fixed', avroType: { type: 'fixed', name: 'fixed_2', size: 2 } },
]

describe('table writer: what it writes, avsc decodes', () => {
  const variations: [name: string, options: Partial<ManifestOptions>][] = [
    ['version 1', { formatVersion: 1, entries: ENTRIES.map((entry) => ({ snapshotId: 1, ...entry })) }],
    ['version 2', { formatVersion: 2 }],
    ['version 3', { formatVersion: 3 }],
    ['no compression', { codec: 'null' }],
    ['no avro.codec in the header', { codec: 'null', codecName: null }],
    ['snappy', { codec: 'snappy' }],
    ['zstandard', { codec: 'zstandard' }],
    ['zstandard without the content size', { codec: 'zstandard', zstandardWithoutSize: true }],
    ['one entry per block, as PyIceberg', { entriesPerBlock: 1 }],
    ['three stray bytes after each deflate stream, as PyIceberg', { entriesPerBlock: 1, deflateTrailing: 3 }],
    ['unions with null last', { unionOrder: 'value-first' }],
    ['shuffled fields', { shuffleSeed: 1 }],
    ['missing fields', { omit: [1, 3, 4, 134, 108, 137, 1001, 140] }],
    ['without ids', { fieldIds: 'none' }],
    ['some ids', { fieldIds: 'some' }],
    ['ids as strings', { fieldIds: 'strings' }],
    ['maps without the logical type', { mapLogicalType: false }],
    ['negative counts', { layout: { negativeCounts: true } }],
    ['maps in several blocks', { layout: { itemsPerBlock: 1 } }],
    ['negative counts in several blocks', { layout: { negativeCounts: true, itemsPerBlock: 2 } }],
    ['negative count in the header', { headerLayout: { negativeCounts: true, itemsPerBlock: 2 } }],
    ['extra fields first in the entry', { extraFields: extraFieldsOfEveryType('entry', 0) }],
    ['extra fields last in the data file', { extraFields: extraFieldsOfEveryType('dataFile', 99) }],
    [
      'extra fields in every record',
      {
        extraFields: (['entry', 'dataFile', 'partition'] as const).flatMap((r) =>
          extraFieldsOfEveryType(r, 1),
        ),
      },
    ],
    ['extra fields inside the partition', { extraFields: extraFieldsOfEveryType('partition', 1) }],
    [
      'extra fields with negative counts, shuffled neighbours',
      {
        extraFields: extraFieldsOfEveryType('dataFile', 3),
        shuffleSeed: 5,
        layout: { negativeCounts: true },
      },
    ],
    [
      'required fields made optional, optional ones required',
      { optional: { 103: true, 140: true, 3: true } },
    ],
    ['empty', { entries: [] }],
  ]
  for (const [name, options] of variations) {
    it(`manifest: ${name}`, async () => {
      const all: ManifestOptions = { entries: ENTRIES, partition: PARTITION, ...options }
      const { records, schema } = await decode(writeManifest(all))
      assert.deepEqual(
        records.map((record) => pick(record, all)),
        [...all.entries].map((entry, i) => pick(expectedRecord(entry, i), all)),
      )
      if (all.fieldIds === undefined) assert.include(JSON.stringify(schema), '"field-id":100')
    })
  }

  it('manifest: extra fields carry their values', async () => {
    const extraFields = extraFieldsOfEveryType('entry', 1)
    const { records } = await decode(writeManifest({ entries: [{}], extraFields }))
    assert.equal(records[0].x_long, -(2n ** 62n))
    assert.equal(records[0].x_string, 'å→\u{1f600}')
    assert.deepEqual(plain(records[0].x_record), {
      a: 1,
      b: { c: 'deep', d: { a: 2, b: { c: 'deeper', d: null } } },
    })
    assert.deepEqual(plain((records[0].x_records as unknown[])[1]), { p: 400, q: 500, r: -600 })
    assert.equal(records[0].x_union, 'text')
    assert.equal(records[0].x_union_third, 2 ** 40)
    assert.equal(records[0].x_enum, 'C')
  })

  it('manifest list: all fields of all versions, old names, empty', async () => {
    const row: ManifestFileInput = {
      manifestPath: 's3://warehouse/m0.avro',
      manifestLength: 1234,
      partitionSpecId: 3,
      content: 1,
      sequenceNumber: 2n ** 60n,
      minSequenceNumber: 4,
      addedSnapshotId: 3051729675574597004n,
      addedFilesCount: 1,
      existingFilesCount: 2,
      deletedFilesCount: undefined,
      addedRowsCount: 2 ** 40,
      existingRowsCount: 5,
      deletedRowsCount: 6,
      partitions: [{ containsNull: false, lowerBound: Uint8Array.of(1), upperBound: Uint8Array.of(2) }],
      firstRowId: 77,
    }
    const { records } = await decode(writeManifestList({ rows: [row], formatVersion: 3 }))
    assert.deepEqual(plain(records[0]), {
      manifest_path: 's3://warehouse/m0.avro',
      manifest_length: 1234,
      partition_spec_id: 3,
      content: 1,
      sequence_number: 2n ** 60n,
      min_sequence_number: 4,
      added_snapshot_id: 3051729675574597004n,
      added_files_count: 1,
      existing_files_count: 2,
      deleted_files_count: null,
      added_rows_count: 2 ** 40,
      existing_rows_count: 5,
      deleted_rows_count: 6,
      partitions: [
        {
          contains_null: false,
          contains_nan: null,
          lower_bound: Uint8Array.of(1),
          upper_bound: Uint8Array.of(2),
        },
      ],
      key_metadata: null,
      first_row_id: 77,
    })
    const old = await decode(
      writeManifestList({ rows: [row], formatVersion: 1, oldNames: true, metadata: {} }),
    )
    assert.equal(old.records[0].added_data_files_count, 1)
    assert.notProperty(old.records[0], 'sequence_number')
    assert.deepEqual((await decode(writeManifestList({ rows: [] }))).records, [])
  })

  it('header keys can be replaced and left out (B001)', async () => {
    const bytes = writeManifestList({ rows: [], metadata: { 'format-version': null, 'snapshot-id': '5' } })
    const { metadata } = await decode(bytes)
    assert.sameMembers(Object.keys(metadata), ['avro.schema', 'avro.codec', 'snapshot-id'])
  })

  it('the same bytes every time', () => {
    const options = { entries: ENTRIES, partition: PARTITION, shuffleSeed: 3 }
    assert.deepEqual(writeManifest(options), writeManifest(options))
  })

  it('blocks of about 64,000 bytes by default', () => {
    const entries = Array.from({ length: 2000 }, () => ({ dataFile: { filePath: 'x'.repeat(100) } }))
    const bytes = Buffer.from(writeManifest({ entries, codec: 'null' }))
    const sync = bytes.subarray(-16)
    let blocks = -1
    for (let at = bytes.indexOf(sync); at >= 0; at = bytes.indexOf(sync, at + 16)) blocks++
    // 132 bytes an entry: four full blocks and the rest.
    assert.equal(blocks, 5)
  })
})

describe('table writer: whole tables', () => {
  const schema = {
    fields: [
      { id: 1, name: 'id', required: true, type: 'long' },
      { id: 2, name: 'at', required: false, type: 'timestamptz' },
      { id: 3, name: 'amount', required: false, type: 'decimal(9, 2)' },
    ],
  }
  const specs = [
    {
      fields: [
        { sourceId: 2, name: 'at_day', transform: 'day' },
        { sourceId: 3, name: 'amount', transform: 'identity' },
      ],
    },
  ]
  const entries: EntryInput[] = [
    { dataFile: { partition: [10, Uint8Array.of(255, 255, 255, 254)], recordCount: 5 } },
    { dataFile: { partition: [-3, Uint8Array.of(0, 0, 1, 0)], recordCount: 7 } },
    { status: 0, sequenceNumber: 1n, dataFile: { partition: [null, null], recordCount: 1 } },
  ]

  it('counts, summaries, ids and numbers agree', () => {
    const shared = { entries: [{}], specId: 0 }
    const table = buildTable({
      formatVersion: 3,
      schema,
      specs,
      snapshots: [{ manifests: [shared] }, { manifests: [shared, { entries }] }],
    })
    assert.equal(table.files.size, 1 + 2 + 2)
    const [first, second] = table.snapshots
    assert.strictEqual(second.rows[0], first.rows[0])
    assert.deepInclude(second.rows[1], {
      addedFilesCount: 2,
      existingFilesCount: 1,
      deletedFilesCount: 0,
      addedRowsCount: 12n,
      existingRowsCount: 1n,
      sequenceNumber: 2,
      minSequenceNumber: 1n,
      firstRowId: 1n,
      addedSnapshotId: second.snapshotId,
      partitions: [
        {
          containsNull: true,
          containsNan: false,
          lowerBound: singleValueBytes('date', -3),
          upperBound: singleValueBytes('date', 10),
        },
        {
          containsNull: true,
          containsNan: false,
          lowerBound: Uint8Array.of(254),
          upperBound: Uint8Array.of(1, 0),
        },
      ],
    })
    assert.equal(second.rows[1].manifestLength, table.files.get(second.rows[1].manifestPath)!.length)
  })

  it('the metadata names ids beyond 2^53 as bare integers', () => {
    const table = buildTable({ schema, specs, snapshots: [{ manifests: [] }] })
    const text = Buffer.from(table.files.get(table.metadataLocation)!).toString()
    assert.match(text, /"current-snapshot-id": 3051729675574597001,/)
    assert.notMatch(text, /@bigint/)
  })

  it('without snapshots there is only metadata', () => {
    const table = buildTable({ schema, formatVersion: 1 })
    assert.deepEqual([...table.files.keys()], [table.metadataLocation])
  })
})

const SMALL = BigInt(Number.MAX_SAFE_INTEGER)

/** Numbers where they are exact, bigints elsewhere. */
const LONG = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => narrow(buffer.readBigInt64LE()),
  toBuffer: () => Buffer.alloc(8),
  fromJSON: Number,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'number' || typeof value === 'bigint',
  compare: () => 0,
})

function narrow(value: bigint): number | bigint {
  return value <= SMALL && value >= -SMALL ? Number(value) : value
}

interface Decoded {
  records: Record<string, unknown>[]
  schema: AvroSchemaObject
  metadata: Record<string, Buffer>
}

/** Reads a container with avsc's own reader, which shares no code with the writer. */
async function decode(bytes: Uint8Array): Promise<Decoded> {
  type Done = (error: Error | null, bytes?: Buffer) => void
  const uncompressSnappy = snappyUncompressor()
  const decoder = new avro.streams.BlockDecoder({
    parseHook: (schema) => avro.Type.forSchema(schema, { registry: { long: LONG }, wrapUnions: 'auto' }),
    codecs: {
      null: (buffer: Buffer, done: Done) => {
        done(null, buffer)
      },
      deflate: (buffer: Buffer, done: Done) => {
        done(null, inflateRawSync(buffer))
      },
      snappy: (buffer: Buffer, done: Done) => {
        const bytes = Buffer.from(uncompressSnappy(buffer.subarray(0, -4), snappyLength(buffer)))
        assert.equal(buffer.readUInt32BE(buffer.length - 4), crc32(bytes))
        done(null, bytes)
      },
      zstandard: (buffer: Buffer, done: Done) => {
        done(null, Buffer.from(fzstd.decompress(buffer)))
      },
    },
  })
  let schema: unknown
  let metadata: unknown
  decoder.on('metadata', (_type: unknown, _codec: unknown, header: { meta: Record<string, Buffer> }) => {
    metadata = header.meta
    schema = JSON.parse(header.meta['avro.schema'].toString())
  })
  const records: unknown[] = []
  for await (const record of Readable.from([Buffer.from(bytes)]).pipe(decoder)) records.push(record)
  return { records, schema, metadata } as Decoded
}

/** The uncompressed length that opens a snappy block, unsigned base-128. */
function snappyLength(buffer: Uint8Array): number {
  let length = 0
  for (let i = 0; ; i++) {
    length += (buffer[i] & 127) * 2 ** (7 * i)
    if (buffer[i] < 128) return length
  }
}

/** Records and buffers of avsc as plain values. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map((item: unknown) => plain(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

/** The parts of a record that both sides have: known fields that were not omitted, in no order. */
function pick(record: Record<string, unknown>, { omit = [], formatVersion = 2 }: ManifestOptions): unknown {
  const { data_file: file, ...entry } = plain(record) as Record<string, Record<string, unknown>>
  const since = (version: number, names: string[]) => (formatVersion < version ? names : [])
  const absent = [
    ...since(2, [
      'sequence_number',
      'file_sequence_number',
      'content',
      'equality_ids',
      'referenced_data_file',
    ]),
    ...since(3, ['first_row_id', 'content_offset', 'content_size_in_bytes']),
    ...NAMES.filter(([id]) => omit.includes(id)).map(([, name]) => name),
    'block_size_in_bytes',
  ]
  const keep = (object: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(object).filter(([key]) => !absent.includes(key) && !key.startsWith('x_')),
    )
  return {
    ...keep(entry),
    file: { ...keep(file), partition: keep(file.partition as Record<string, unknown>) },
  }
}

const NAMES: [id: number, name: string][] = [
  [1, 'snapshot_id'],
  [3, 'sequence_number'],
  [4, 'file_sequence_number'],
  [134, 'content'],
  [108, 'column_sizes'],
  [137, 'nan_value_counts'],
  [140, 'sort_order_id'],
  [1001, 'region'],
]

function expectedRecord(entry: EntryInput, position: number): Record<string, unknown> {
  const { dataFile = {} } = entry
  const pairs = (values: object | undefined) => {
    if (values === undefined) return null
    const entries: [unknown, unknown][] =
      values instanceof Map
        ? [...(values as Map<unknown, unknown>)]
        : Object.entries(values).map(([id, value]) => [Number(id), value])
    return entries.map(([key, value]) => ({ key, value }))
  }
  const [day = null, region = null, fixed = null] = dataFile.partition ?? []
  return {
    status: entry.status ?? 1,
    snapshot_id: entry.snapshotId ?? null,
    sequence_number: entry.sequenceNumber ?? null,
    file_sequence_number: entry.fileSequenceNumber ?? null,
    data_file: {
      content: 0,
      file_path: dataFile.filePath ?? `s3://warehouse/db/table/data/file-${position}.parquet`,
      file_format: 'PARQUET',
      partition: { day, region, fixed },
      record_count: dataFile.recordCount ?? 1,
      file_size_in_bytes: 1000,
      column_sizes: pairs(dataFile.columnSizes),
      value_counts: pairs(dataFile.valueCounts),
      null_value_counts: pairs(dataFile.nullValueCounts),
      nan_value_counts: pairs(dataFile.nanValueCounts),
      lower_bounds: pairs(dataFile.lowerBounds),
      upper_bounds: pairs(dataFile.upperBounds),
      key_metadata: dataFile.keyMetadata ?? null,
      split_offsets: dataFile.splitOffsets ?? null,
      equality_ids: dataFile.equalityIds ?? null,
      sort_order_id: dataFile.sortOrderId ?? null,
      first_row_id: dataFile.firstRowId ?? null,
      referenced_data_file: dataFile.referencedDataFile ?? null,
      content_offset: dataFile.contentOffset ?? null,
      content_size_in_bytes: dataFile.contentSizeInBytes ?? null,
    },
  }
}
