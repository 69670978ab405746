/** Reading a manifest: what kinds, formats, codecs and schemas are read, and what is refused. */
import { assert } from 'chai'
import { isIcebergError, type IcebergErrorCode } from '../../src/errors.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { FileContent } from '../../src/manifest/entry-batch.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { inlineManifest, ManifestContent } from '../../src/manifest/manifest-file.ts'
import {
  readManifest,
  readManifestBytes,
  readManifestList,
  tablePartitionTypes,
} from '../../src/manifest/manifest-reader.ts'
import { createPartitionSpec } from '../../src/metadata/partition-spec.ts'
import {
  type DataFileInput,
  type EntryInput,
  type ManifestOptions,
  writeManifest,
  writeManifestList,
} from '../support/manifest-writer.ts'
import { rejection, thrown } from '../support/rejection.ts'
import { extraFieldsOfEveryType, UnionBranch } from '../support/table-writer.ts'
import {
  entriesOf,
  entryOf,
  MANIFEST_PATH,
  manifestFile,
  plainEntries,
  roundTrip,
  shapeWith,
} from './manifest-reading.ts'

describe('content of an entry and kind of its manifest (R4.14, R4.17)', () => {
  const { DATA, DELETES } = ManifestContent
  interface Row {
    why: string
    kind: ManifestContent
    entry: EntryInput
    write?: Partial<ManifestOptions>
    /** Undefined: refused. */
    is?: FileContent
  }
  const rows: Row[] = [
    { why: 'data in a data manifest', kind: DATA, entry: { dataFile: { content: 0 } }, is: 0 },
    { why: 'v1: no content at all is data', kind: DATA, entry: {}, write: { formatVersion: 1 }, is: 0 },
    { why: 'v2 without the column is data', kind: DATA, entry: {}, write: { omit: [134] }, is: 0 },
    {
      why: 'a null content is data',
      kind: DATA,
      entry: { dataFile: { content: new UnionBranch(1, null) as unknown as number } },
      write: { types: { 134: ['int', 'null'] } },
      is: 0,
    },
    {
      why: 'position deletes in a delete manifest',
      kind: DELETES,
      entry: { dataFile: { content: 1 } },
      is: 1,
    },
    {
      why: 'equality deletes in a delete manifest',
      kind: DELETES,
      entry: { dataFile: { content: 2 } },
      is: 2,
    },
    {
      why: 'a position delete in a data manifest would return deleted rows',
      kind: DATA,
      entry: { dataFile: { content: 1 } },
    },
    { why: 'an equality delete in a data manifest', kind: DATA, entry: { dataFile: { content: 2 } } },
    { why: 'existing ones too', kind: DATA, entry: { status: 0, dataFile: { content: 2 } } },
    { why: 'data in a delete manifest', kind: DELETES, entry: { dataFile: { content: 0 } } },
    { why: 'a delete manifest without the column', kind: DELETES, entry: {}, write: { omit: [134] } },
    { why: 'a delete manifest of v1 does not exist', kind: DELETES, entry: {}, write: { formatVersion: 1 } },
    { why: 'a content that nobody knows', kind: DATA, entry: { dataFile: { content: 3 } } },
    { why: 'a content that nobody knows, of a delete', kind: DELETES, entry: { dataFile: { content: 3 } } },
    {
      why: 'a removed delete in a data manifest matters to nobody',
      kind: DATA,
      entry: { status: 2, dataFile: { content: 1 } },
      is: 1,
    },
    {
      why: 'removed data in a delete manifest matters to nobody',
      kind: DELETES,
      entry: { status: 2 },
      is: 0,
    },
  ]
  for (const { why, kind, entry, write, is } of rows)
    it(`${is === undefined ? 'refused' : 'read'}: ${why}`, () => {
      const read = () => roundTrip({ entries: [entry], ...write }, { content: kind })
      if (is !== undefined) {
        const file = entryOf(read()).dataFile
        assert.equal(file.content, is)
        assert.equal(file.isData, is === FileContent.DATA)
        assert.equal(file.isPositionDelete, is === FileContent.POSITION_DELETES)
        assert.equal(file.isEqualityDelete, is === FileContent.EQUALITY_DELETES)
        return
      }
      const error = thrown(read)
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
      assert.equal(error.entry, 0)
      assert.match(error.message, /has the content \d, which a (data|delete) manifest cannot hold/)
      assert.include(error.message, MANIFEST_PATH)
    })

  it('the entry that is wrong is named, not the first one', () => {
    const entries = [{}, { status: 2, dataFile: { content: 1 } }, { dataFile: { content: 1 } }]
    assert.equal(thrown(() => roundTrip({ entries })).entry, 2)
  })

  it('R7.7: a deletion vector is a position delete in a Puffin file', () => {
    const files: DataFileInput[] = [
      { content: 1, fileFormat: 'puffin' },
      { content: 1, fileFormat: 'parquet' },
      { content: 2, fileFormat: 'puffin', equalityIds: [1] },
    ]
    const manifest = roundTrip({ entries: files.map((dataFile) => ({ dataFile })), content: 'deletes' })
    assert.deepEqual(
      Array.from(manifest.entries, ({ dataFile }) => dataFile.isDeletionVector),
      [true, false, false],
    )
    assert.isFalse(
      entryOf(roundTrip({ entries: [{ dataFile: { fileFormat: 'PUFFIN' } }] })).dataFile.isDeletionVector,
    )
  })
})

describe('file format (R4.14)', () => {
  it('in any case; unknown ones are kept in lower case', () => {
    const formats = [
      'PARQUET',
      'parquet',
      'Parquet',
      'AVRO',
      'orc',
      'Puffin',
      'METADATA',
      'lance',
      'Lance',
      '',
      'Ünï',
    ]
    const manifest = roundTrip({ entries: formats.map((fileFormat) => ({ dataFile: { fileFormat } })) })
    assert.deepEqual(
      Array.from(manifest.entries, ({ dataFile }) => dataFile.fileFormat),
      ['parquet', 'parquet', 'parquet', 'avro', 'orc', 'puffin', 'metadata', 'lance', 'lance', '', 'ünï'],
    )
  })

  it('a name that begins like a known one is another', () => {
    const manifest = roundTrip({
      entries: [{ dataFile: { fileFormat: 'PARQUET2' } }, { dataFile: { fileFormat: 'PARQ' } }],
    })
    assert.deepEqual(
      Array.from(manifest.entries, ({ dataFile }) => dataFile.fileFormat),
      ['parquet2', 'parq'],
    )
  })
})

describe('manifests that are not read', () => {
  const good = writeManifest({ entries: [{}] })
  const starting = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), good.subarray(4)])
  const rows: [why: string, bytes: Uint8Array, code: IcebergErrorCode, message: RegExp][] = [
    ['R4.18: a Parquet manifest', starting('PAR1'), 'ERR_UNSUPPORTED', /Parquet/],
    ['R4.18: a Parquet manifest with an encrypted footer', starting('PARE'), 'ERR_UNSUPPORTED', /encrypted/],
    ['R4.18: anything else', starting('ORC\0'), 'ERR_CORRUPT_FILE', /not an Avro file/],
    ['another version of the container', starting('Obj\x02'), 'ERR_CORRUPT_FILE', /not an Avro file/],
    ['an empty file', new Uint8Array(0), 'ERR_CORRUPT_FILE', /empty/],
    ['three bytes', good.subarray(0, 3), 'ERR_CORRUPT_FILE', /not an Avro file/],
    ['a file that ends inside its header', good.subarray(0, 100), 'ERR_CORRUPT_FILE', /header/],
    ['a file that ends inside a block', good.subarray(0, good.length - 20), 'ERR_CORRUPT_FILE', /block/],
    [
      'R4.19: a codec that nobody wrote yet',
      writeManifest({ entries: [{}], codec: 'null', codecName: 'brotli' }),
      'ERR_UNSUPPORTED',
      /"brotli"/,
    ],
    [
      'only some fields have ids',
      writeManifest({ entries: [{}], fieldIds: 'some' }),
      'ERR_CORRUPT_FILE',
      /only some fields/,
    ],
    ['no status', writeManifest({ entries: [{}], omit: [0] }), 'ERR_CORRUPT_FILE', /status/],
    ['no data file', writeManifest({ entries: [{}], omit: [2] }), 'ERR_CORRUPT_FILE', /data_file/],
    ['R4.14: no path', writeManifest({ entries: [{}], omit: [100] }), 'ERR_CORRUPT_FILE', /file_path/],
    [
      'R4.14: no record count',
      writeManifest({ entries: [{}], omit: [103] }),
      'ERR_CORRUPT_FILE',
      /record_count/,
    ],
    [
      'R4.14: no file size',
      writeManifest({ entries: [{}], omit: [104] }),
      'ERR_CORRUPT_FILE',
      /file_size_in_bytes/,
    ],
    [
      'no schema in the header',
      writeManifest({ entries: [{}], metadata: { 'avro.schema': null } }),
      'ERR_CORRUPT_FILE',
      /no avro.schema/,
    ],
  ]
  for (const [why, bytes, code, message] of rows)
    it(why, () => {
      const error = thrown(() =>
        readManifestBytes(bytes, manifestFile(), { location: 'file:/moved/m0.avro' }),
      )
      assert.isTrue(isIcebergError(error, code), error.stack)
      assert.match(error.message, message)
      assert.include(error.message, 'file:/moved/m0.avro')
      assert.equal(error.location, 'file:/moved/m0.avro')
    })

  it('R2.18: an encrypted manifest is named before a byte is looked at', async () => {
    const row = manifestFile({ keyMetadata: Uint8Array.of(1) })
    const io = new CountingFileIO(new MemoryFileIO())
    for (const error of [
      thrown(() => readManifestBytes(good, row)),
      await rejection(readManifest(row, { io })),
    ]) {
      assert.isTrue(isIcebergError(error, 'ERR_UNSUPPORTED'))
      assert.include(error.message, MANIFEST_PATH)
      assert.match(error.message, /key_metadata/)
    }
    assert.equal(io.requests, 0)
  })

  it('key metadata of a data file passes through', () => {
    const manifest = roundTrip({ entries: [{ dataFile: { keyMetadata: Uint8Array.of(0, 255) } }, {}] })
    assert.deepEqual(entryOf(manifest).dataFile.keyMetadata, Uint8Array.of(0, 255))
    assert.isUndefined(entryOf(manifest, 1).dataFile.keyMetadata)
  })
})

describe('manifests that are read, however they are written', () => {
  const entries: EntryInput[] = [
    { status: 1 },
    {
      status: 0,
      snapshotId: 2n ** 62n + 3n,
      sequenceNumber: 5,
      fileSequenceNumber: 6,
      dataFile: {
        filePath: 's3://warehouse/a b/é#?%20.parquet',
        partition: [17, null],
        recordCount: 2 ** 40,
        fileSizeInBytes: 2 ** 50 + 1,
        columnSizes: { 1: 10, 2: 2 ** 40 },
        valueCounts: { 1: 3 },
        nullValueCounts: { 1: 0, 2: 1 },
        nanValueCounts: {},
        lowerBounds: { 1: Uint8Array.of(1, 0, 0, 0), 2: Uint8Array.of() },
        upperBounds: { 1: Buffer.from('a longer bound'), 2147483546: Buffer.from('s3://path') },
        splitOffsets: [4, 2 ** 33],
        sortOrderId: 1,
      },
    },
    {
      status: 2,
      snapshotId: 9,
      sequenceNumber: 1,
      fileSequenceNumber: 1,
      dataFile: { partition: [-1, 'eu'] },
    },
  ]
  const partition = [
    { fieldId: 1000, name: 'day', avroType: { type: 'int', logicalType: 'date' } },
    { fieldId: 1001, name: 'region', avroType: 'string' },
  ]
  const plain = entriesOf(roundTrip({ entries, partition }, { sequenceNumber: 7n }))

  const variations: [why: string, write: Partial<ManifestOptions>][] = [
    ['R4.19: uncompressed', { codec: 'null' }],
    ['R4.19: no avro.codec in the header', { codec: 'null', codecName: null }],
    ['R4.19: snappy', { codec: 'snappy' }],
    ['R4.19: zstandard', { codec: 'zstandard' }],
    ['R4.19: zstandard without the content size', { codec: 'zstandard', zstandardWithoutSize: true }],
    ['deflate, not compressed', { deflateLevel: 0 }],
    ['one entry per block, stray bytes of a checksum', { entriesPerBlock: 1, deflateTrailing: 3 }],
    ['B010: unions with null last', { unionOrder: 'value-first' }],
    ['R4.11: fields in another order', { shuffleSeed: 4 }],
    ['R4.11: fields under other names', { names: { 0: 'zustand', 100: 'pfad', 108: 'x', 1000: 'y' } }],
    ['no ids: by name', { fieldIds: 'none' }],
    ['ids as text', { fieldIds: 'strings' }],
    ['R4.12: maps without their logical type', { mapLogicalType: false }],
    ['B024: negative counts', { layout: { negativeCounts: true } }],
    ['B024: maps in several blocks', { layout: { itemsPerBlock: 1, negativeCounts: true } }],
    ['a header in several blocks', { headerLayout: { itemsPerBlock: 2, negativeCounts: true } }],
    [
      'a header without Iceberg keys',
      { metadata: { schema: null, 'partition-spec': null, 'format-version': null } },
    ],
    ['optional fields that are never null are required', { optional: { 100: true, 103: true, 2: true } }],
    ['v3', { formatVersion: 3 }],
    [
      'R4.16: fields that nobody knows, in every record',
      {
        extraFields: (['entry', 'dataFile'] as const).flatMap((record) => extraFieldsOfEveryType(record, 2)),
      },
    ],
    [
      'R4.16: and last, out of order, with negative counts',
      {
        extraFields: extraFieldsOfEveryType('dataFile', 99),
        layout: { negativeCounts: true },
        shuffleSeed: 9,
      },
    ],
  ]
  for (const [why, write] of variations)
    it(why, () => {
      const manifest = roundTrip({ entries, partition, ...write }, { sequenceNumber: 7n })
      // Without a spec in the header the tuple's values are shown as the file types them.
      const values = (all: Record<string, unknown>[]) =>
        all.map(({ dataFile, ...entry }) => ({ ...entry, ...(dataFile as object), partition: undefined }))
      assert.deepEqual(values(entriesOf(manifest)), values(plain))
      assert.deepEqual(
        Array.from(manifest.entries, ({ dataFile }) =>
          dataFile.partition.map((value) => (value === null ? null : String(value))),
        ),
        [
          [null, null],
          ['17', null],
          ['-1', 'eu'],
        ],
      )
    })

  it('a file with no block at all', () => {
    const manifest = roundTrip({ entries: [] })
    assert.lengthOf(manifest.entries, 0)
    assert.deepEqual(Array.from(manifest.liveEntries()), [])
    assert.equal(manifest.batch.rowCount, 0)
  })

  it('R4.16: an unknown id 141 in the data file is not the spec', () => {
    const extra = {
      in: 'dataFile' as const,
      at: 0,
      field: { name: 'spec_id', type: 'int', 'field-id': 141 },
      value: 99,
    }
    assert.equal(
      entryOf(roundTrip({ entries: [{}], extraFields: [extra] }, { partitionSpecId: 2 })).dataFile.specId,
      2,
    )
  })
})

describe('what a manifest says about itself', () => {
  const schema = {
    type: 'struct',
    'schema-id': 4,
    fields: [{ id: 1, name: 'at', required: false, type: 'timestamptz' }],
  }
  const day = {
    fieldId: 1000,
    name: 'at_day',
    avroType: { type: 'int', logicalType: 'date' },
    transform: 'day',
  }

  it('schema, spec, version', () => {
    const manifest = roundTrip(
      { entries: [{ dataFile: { partition: [17501] } }], partition: [day], schema, partitionSpecId: 3 },
      { partitionSpecId: 3 },
    )
    assert.equal(manifest.schema?.schemaId, 4)
    assert.equal(manifest.formatVersion, 2)
    assert.equal(manifest.content, ManifestContent.DATA)
    assert.equal(manifest.partitionSpecId, 3)
    assert.deepEqual(manifest.partitionSpec.fields, [
      { sourceId: 1, fieldId: 1000, name: 'at_day', transform: { kind: 'day' } },
    ])
    assert.deepEqual(entryOf(manifest).dataFile.partition, [17501])
    assert.deepInclude(entryOf(manifest).dataFile.toJSON(), { partition: { at_day: '2017-12-01' } })
    assert.strictEqual(entryOf(manifest).dataFile.spec, manifest.partitionSpec)
  })

  for (const formatVersion of [1, 2, 3] as const)
    it(`format version ${formatVersion}`, () => {
      assert.equal(roundTrip({ entries: [], formatVersion }).formatVersion, formatVersion)
    })

  it('nothing: version 1, the spec of its entries', () => {
    const metadata = {
      schema: null,
      'partition-spec': null,
      'format-version': null,
      'partition-spec-id': null,
    }
    const manifest = roundTrip({ entries: [{ dataFile: { partition: [5] } }], partition: [day], metadata })
    assert.equal(manifest.formatVersion, 1)
    assert.isUndefined(manifest.schema)
    assert.deepEqual(manifest.partitionSpec.fields, [])
    assert.deepEqual(entryOf(manifest).dataFile.partition.map(Number), [5])
  })

  it('B020: a partition-spec of null is the empty spec', () => {
    const manifest = roundTrip({ entries: [{}], metadata: { 'partition-spec': 'null' } })
    assert.isTrue(manifest.partitionSpec.isUnpartitioned)
    assert.deepEqual(entryOf(manifest).dataFile.partition, [])
  })

  it('B020: copies in the header are hints: with the spec of the table nobody reads them', () => {
    const type = { spec: createPartitionSpec(0, []), specId: 0, fields: [] }
    const metadata = { schema: '{"type": ', 'partition-spec': 'broken', 'format-version': 'two' }
    const manifest = roundTrip({ entries: [{}], metadata }, {}, { partitionType: type })
    assert.lengthOf(manifest.entries, 1)
    assert.equal(manifest.formatVersion, 1)
    const error = thrown(() => manifest.schema)
    assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
    assert.match(error.message, /header's schema is broken/)
  })
})

describe('the spec of a manifest in a table (R1.12, R2.1)', () => {
  const type = (specId: number) => ({ spec: createPartitionSpec(specId, []), specId, fields: [] })
  const types = new Map([0, 1].map((specId) => [specId, type(specId)]))
  const lookup = tablePartitionTypes(types)
  const shape = (specId?: string) => shapeWith({ 'partition-spec-id': specId })

  it("the list's spec id decides", () => {
    assert.equal(lookup(manifestFile({ partitionSpecId: 1 }), shape('0')).specId, 1)
  })
  it('of an inline manifest, its own; 0 without one', () => {
    const inline = inlineManifest(MANIFEST_PATH, 1n)
    assert.equal(lookup(inline, shape('1')).specId, 1)
    assert.equal(lookup(inline, shape()).specId, 0)
    assert.equal(lookup(inline, shape('77')).specId, 0)
    assert.equal(lookup(inline, shape('x')).specId, 0)
  })
  it('a spec that the table does not have is an error that names the manifest', () => {
    const error = thrown(() => lookup(manifestFile({ partitionSpecId: 7 }), shape()))
    assert.isTrue(isIcebergError(error, 'ERR_INVALID_METADATA'))
    assert.include(error.message, MANIFEST_PATH)
    assert.match(error.message, /no partition spec 7 \(it has 0, 1\)/)
  })
})

describe('reading from a store', () => {
  const listPath = 's3://warehouse/db/table/metadata/snap-1.avro'
  const bytes = writeManifest({ entries: plainEntries(3) })
  const list = writeManifestList({ rows: [{ manifestPath: MANIFEST_PATH, manifestLength: bytes.length }] })
  const open = () =>
    new CountingFileIO(
      new MemoryFileIO([
        [MANIFEST_PATH, bytes],
        [listPath, list],
        ['file:/moved/m0.avro', bytes],
      ]),
    )

  it('a list, then its manifests', async () => {
    const io = open()
    const [row] = await readManifestList(listPath, { io })
    const manifest = await readManifest(row, { io })
    assert.lengthOf(manifest.entries, 3)
    assert.equal(io.requests, 2)
  })

  it('with a cache the second time asks for nothing', async () => {
    const io = open()
    const cache = new ManifestCache()
    const first = await readManifest((await readManifestList(listPath, { io, cache }))[0], { io, cache })
    const second = await readManifest((await readManifestList(listPath, { io, cache }))[0], { io, cache })
    assert.equal(io.requests, 2)
    assert.equal(cache.fileHits, 2)
    assert.equal(cache.fileBytes, bytes.length + list.length)
    assert.isTrue(cache.hasFile(MANIFEST_PATH, io.identity))
    assert.deepEqual(entriesOf(second), entriesOf(first))
  })

  it('without a cache, or with one that is off, each time asks', async () => {
    for (const options of [{}, { cache: ManifestCache.disabled() }]) {
      const io = open()
      for (let i = 0; i < 2; i++) await readManifest(manifestFile(), { io, ...options })
      assert.equal(io.requests, 2)
    }
  })

  it('another store with the same location is asked again', async () => {
    const cache = new ManifestCache()
    const stores = [open(), open()]
    for (const io of stores) await readManifest(manifestFile(), { io, cache })
    assert.deepEqual(
      stores.map(({ requests }) => requests),
      [1, 1],
    )
  })

  it('from another location, which messages then name', async () => {
    const io = open()
    const manifest = await readManifest(manifestFile(), { io, location: 'file:/moved/m0.avro' })
    assert.lengthOf(manifest.entries, 3)
    assert.deepEqual([...io.byLocation.keys()], ['file:/moved/m0.avro'])
    const error = await rejection(readManifest(manifestFile(), { io, location: 'file:/nowhere' }))
    assert.isTrue(isIcebergError(error, 'ERR_NOT_FOUND'))
    assert.include(error.message, 'file:/nowhere')
  })

  it('a file that cannot be read leaves nothing behind', async () => {
    const cache = new ManifestCache()
    await rejection(readManifest(manifestFile({ manifestPath: 's3://none' }), { io: open(), cache }))
    assert.equal(cache.fileBytes, 0)
  })

  it('a wrong manifest_length costs nothing', async () => {
    const manifest = await readManifest(manifestFile({ manifestLength: 3 }), { io: open() })
    assert.lengthOf(manifest.entries, 3)
  })

  it('an aborted signal rejects with its own reason', async () => {
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    assert.strictEqual(await rejection(readManifest(manifestFile(), { io: open(), signal })), reason)
    assert.strictEqual(await rejection(readManifestList(listPath, { io: open(), signal })), reason)
  })
})
