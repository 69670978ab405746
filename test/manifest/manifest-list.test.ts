/** Manifest lists: R1.14, and what a list that lacks a field means. */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { ManifestContent, type ManifestFile } from '../../src/manifest/manifest-file.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import {
  type ManifestFileInput,
  type ManifestListOptions,
  writeManifestList,
} from '../support/manifest-writer.ts'
import { thrown } from '../support/rejection.ts'
import { extraFieldsOfEveryType, UnionBranch } from '../support/table-writer.ts'
import { MANIFEST_PATH } from './manifest-reading.ts'

const ROW: ManifestFileInput = {
  manifestPath: MANIFEST_PATH,
  manifestLength: 2 ** 40,
  partitionSpecId: 3,
  content: 1,
  sequenceNumber: 2n ** 62n + 1n,
  minSequenceNumber: 4,
  addedSnapshotId: 3051729675574597004n,
  addedFilesCount: 1,
  existingFilesCount: 2,
  deletedFilesCount: 3,
  addedRowsCount: 2 ** 45,
  existingRowsCount: 5,
  deletedRowsCount: 6,
  partitions: [
    { containsNull: true, containsNan: false, lowerBound: Uint8Array.of(), upperBound: Uint8Array.of(1, 2) },
    { containsNull: false },
  ],
  keyMetadata: Uint8Array.of(7, 8),
  firstRowId: 2n ** 53n + 1n,
}

const IS = {
  manifestPath: MANIFEST_PATH,
  manifestLength: 2 ** 40,
  partitionSpecId: 3,
  content: ManifestContent.DELETES,
  sequenceNumber: 2n ** 62n + 1n,
  minSequenceNumber: 4n,
  addedSnapshotId: 3051729675574597004n,
  addedFilesCount: 1,
  existingFilesCount: 2,
  deletedFilesCount: 3,
  addedRowsCount: 2 ** 45,
  existingRowsCount: 5,
  deletedRowsCount: 6,
  partitions: [
    { containsNull: true, containsNan: false, lowerBound: Uint8Array.of(), upperBound: Uint8Array.of(1, 2) },
    { containsNull: false, containsNan: undefined, lowerBound: undefined, upperBound: undefined },
  ],
  keyMetadata: Uint8Array.of(7, 8),
  firstRowId: 2n ** 53n + 1n,
}

const LOCATION = 's3://warehouse/db/table/metadata/snap-1.avro'

function read(options: ManifestListOptions): ManifestFile[] {
  return readManifestListBytes(writeManifestList(options), { location: LOCATION })
}

/** The fields of a row, without the class around them. */
function fieldsOf(file: ManifestFile): Record<string, unknown> {
  return { ...file.toObject() }
}

const readOne = (options: Partial<ManifestListOptions> = {}) =>
  fieldsOf(read({ rows: [ROW], formatVersion: 3, ...options })[0])

describe('manifest list: every field', () => {
  const variations: [why: string, options: Partial<ManifestListOptions>][] = [
    ['as Java writes it', {}],
    ['B001: a header without format-version', { metadata: { 'format-version': null } }],
    ['B001: a header that lies about the version', { metadata: { 'format-version': '1' } }],
    ['B010: unions with null last', { unionOrder: 'value-first' }],
    ['fields in another order', { shuffleSeed: 3 }],
    ['B005: the old names of the counts, found by id', { oldNames: true }],
    ['B005: the old names of the counts, no ids', { oldNames: true, fieldIds: 'none' }],
    ['no ids: by name', { fieldIds: 'none' }],
    ['ids as text', { fieldIds: 'strings' }],
    ['other names', { names: { 500: 'p', 507: 'q', 509: 'r', 515: 's' } }],
    ['not compressed', { codec: 'null' }],
    ['snappy', { codec: 'snappy' }],
    ['zstandard', { codec: 'zstandard' }],
    ['negative counts', { layout: { negativeCounts: true, itemsPerBlock: 1 } }],
    ['fields that nobody knows', { extraFields: extraFieldsOfEveryType('manifestFile', 0) }],
    ['fields that nobody knows, last', { extraFields: extraFieldsOfEveryType('manifestFile', 99) }],
    ['fields that nobody knows, in the summaries', { extraFields: extraFieldsOfEveryType('summary', 1) }],
    [
      'all of it at once',
      {
        extraFields: (['manifestFile', 'summary'] as const).flatMap((record) =>
          extraFieldsOfEveryType(record, 2),
        ),
        shuffleSeed: 8,
        layout: { negativeCounts: true },
        unionOrder: 'value-first',
      },
    ],
    [
      'everything optional',
      { optional: Object.fromEntries([500, 501, 502, 503, 509, 515, 517].map((id) => [id, true])) },
    ],
    [
      'counts of 64 bits, specs of 64 bits',
      { types: { 504: 'long', 505: 'long', 506: 'long', 502: 'long' } },
    ],
  ]
  for (const [why, options] of variations)
    it(why, () => {
      assert.deepEqual(readOne(options), IS)
    })
})

describe('manifest list: defaults, one by one (R1.14, B001)', () => {
  const rows: [id: number, is: Partial<Record<keyof typeof IS, unknown>>][] = [
    [517, { content: ManifestContent.DATA }],
    [515, { sequenceNumber: 0n }],
    [516, { minSequenceNumber: 0n }],
    [503, { addedSnapshotId: undefined }],
    [504, { addedFilesCount: undefined }],
    [505, { existingFilesCount: undefined }],
    [506, { deletedFilesCount: undefined }],
    [512, { addedRowsCount: undefined }],
    [513, { existingRowsCount: undefined }],
    [514, { deletedRowsCount: undefined }],
    [507, { partitions: undefined }],
    [519, { keyMetadata: undefined }],
    [520, { firstRowId: undefined }],
    [518, { partitions: [{ ...IS.partitions[0], containsNan: undefined }, IS.partitions[1]] }],
    [510, { partitions: [{ ...IS.partitions[0], lowerBound: undefined }, IS.partitions[1]] }],
    [511, { partitions: [{ ...IS.partitions[0], upperBound: undefined }, IS.partitions[1]] }],
  ]
  for (const [id, is] of rows)
    for (const fieldIds of ['all', 'none'] as const)
      it(`without field ${id}: ${Object.keys(is).join()}${fieldIds === 'none' ? ', in a file without ids' : ''}`, () => {
        assert.deepEqual(readOne({ omit: [id], fieldIds }), { ...IS, ...is })
      })

  it('null where the schema allows it says the same', () => {
    const nothing = new UnionBranch(0, null) as unknown as number
    const row: ManifestFileInput = {
      manifestPath: MANIFEST_PATH,
      manifestLength: 1,
      content: nothing,
      sequenceNumber: nothing,
      minSequenceNumber: nothing,
      addedSnapshotId: nothing,
    }
    const [file] = read({
      rows: [row],
      formatVersion: 3,
      optional: { 517: true, 515: true, 516: true, 503: true },
    })
    assert.deepEqual(fieldsOf(file), {
      manifestPath: MANIFEST_PATH,
      manifestLength: 1,
      partitionSpecId: 0,
      content: ManifestContent.DATA,
      sequenceNumber: 0n,
      minSequenceNumber: 0n,
      addedSnapshotId: undefined,
      addedFilesCount: undefined,
      existingFilesCount: undefined,
      deletedFilesCount: undefined,
      addedRowsCount: undefined,
      existingRowsCount: undefined,
      deletedRowsCount: undefined,
      partitions: undefined,
      keyMetadata: undefined,
      firstRowId: undefined,
    })
  })

  it('a list of v1', () => {
    const [file] = read({ rows: [{ ...ROW, content: 0 }], formatVersion: 1 })
    assert.deepInclude(file, {
      content: ManifestContent.DATA,
      sequenceNumber: 0n,
      minSequenceNumber: 0n,
      firstRowId: undefined,
      addedFilesCount: 1,
    })
  })

  it('B004: rows of v1 and v2 manifests in one list', () => {
    const files = read({
      rows: [
        { manifestPath: 'v1.avro', manifestLength: 1 },
        { manifestPath: 'v2.avro', manifestLength: 1, sequenceNumber: 5, minSequenceNumber: 5, content: 1 },
      ],
    })
    assert.deepEqual(
      files.map(({ manifestPath, sequenceNumber, isDeleteManifest }) => [
        manifestPath,
        sequenceNumber,
        isDeleteManifest,
      ]),
      [
        ['v1.avro', 0n, false],
        ['v2.avro', 5n, true],
      ],
    )
  })

  for (const id of [500, 501, 502, 509])
    it(`without field ${id}: an error that names the list and the field`, () => {
      const error = thrown(() => readOne({ omit: [id] }))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
      assert.include(error.message, LOCATION)
      assert.include(error.message, `id ${id}`)
    })
})

describe('manifest list: partition summaries (B009)', () => {
  const partitionsOf = (partitions: ManifestFileInput['partitions']) =>
    read({ rows: [{ ...ROW, partitions }] })[0].partitions

  it('null is not known, [] is an unpartitioned spec', () => {
    assert.isUndefined(partitionsOf(undefined))
    assert.deepEqual(partitionsOf([]), [])
  })

  it('of several rows do not mix', () => {
    const bound = (byte: number) => ({ containsNull: false, lowerBound: Uint8Array.of(byte) })
    const files = read({
      rows: [[bound(1), bound(2)], undefined, [], [bound(3)]].map((partitions) => ({ ...ROW, partitions })),
    })
    assert.deepEqual(
      files.map(({ partitions }) => partitions?.map(({ lowerBound }) => lowerBound?.[0])),
      [[1, 2], undefined, [], [3]],
    )
  })

  it('the bytes of the file may go', () => {
    const bytes = writeManifestList({ rows: [ROW], codec: 'null', formatVersion: 3 })
    const [file] = readManifestListBytes(bytes)
    bytes.fill(0)
    assert.deepEqual(fieldsOf(file), IS)
  })

  it('a detached row is the same, and free of the list: it shares no memory with other rows', () => {
    const [file, other] = read({ rows: [ROW, ROW], formatVersion: 3 })
    const detached = file.detach()
    assert.deepEqual(fieldsOf(detached), IS)
    const [shared, own] = [file, detached].map(({ partitions }) => partitions![0].upperBound!.buffer)
    assert.equal(shared, other.partitions![0].upperBound!.buffer)
    assert.equal(own.byteLength, 2)
    assert.equal(detached.keyMetadata?.buffer.byteLength, 2)
  })

  it('long bounds, many summaries', () => {
    const partitions = Array.from({ length: 300 }, (_, i) => ({
      containsNull: i % 2 === 0,
      containsNan: i % 3 === 0,
      lowerBound: new Uint8Array(i * 10).fill(i),
    }))
    assert.deepEqual(
      partitionsOf(partitions)?.map(({ containsNull, containsNan, lowerBound }) => ({
        containsNull,
        containsNan: containsNan!,
        lowerBound: lowerBound!,
      })),
      partitions,
    )
  })
})

describe('manifest list: odd rows', () => {
  it('R2.14: negative counts say nothing', () => {
    const negative = {
      addedFilesCount: -1,
      existingFilesCount: -1,
      deletedFilesCount: -1,
      addedRowsCount: -1,
      existingRowsCount: -1,
      deletedRowsCount: -1,
    }
    const file = read({ rows: [{ ...ROW, ...negative }] })[0]
    for (const key of Object.keys(negative) as (keyof typeof negative)[]) assert.isUndefined(file[key], key)
    assert.isUndefined(file.liveFiles())
  })

  it('trap 5: 0 is known', () => {
    const [file] = read({ rows: [{ ...ROW, addedFilesCount: 0, existingFilesCount: 0 }] })
    assert.equal(file.liveFiles(), 0)
  })

  for (const content of [2, 3, -1, 100])
    it(`content ${content} is an error`, () => {
      const error = thrown(() => read({ rows: [ROW, { ...ROW, content }] }))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
      assert.equal(error.entry, 1)
      assert.include(error.message, LOCATION)
    })

  it('only some fields have ids: an error that names the list', () => {
    const error = thrown(() => readOne({ fieldIds: 'some' }))
    assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
    assert.match(error.message, /only some fields/)
    assert.include(error.message, LOCATION)
  })

  it('a length past 2^53 is an error', () => {
    const error = thrown(() => read({ rows: [{ ...ROW, manifestLength: 2n ** 60n }] }))
    assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'))
    assert.match(error.message, /2\^53/)
  })

  it('no rows: no blocks, or a block of none', () => {
    assert.deepEqual(read({ rows: [] }), [])
  })

  it('rows keep the order of the file over its blocks', () => {
    const rows = Array.from({ length: 50 }, (_, i) => ({ ...ROW, manifestPath: `m${i}.avro` }))
    assert.deepEqual(
      read({ rows, entriesPerBlock: 7 }).map(({ manifestPath }) => manifestPath),
      rows.map(({ manifestPath }) => manifestPath),
    )
  })

  it('a list without a location is called "manifest list" in messages', () => {
    assert.match(thrown(() => readManifestListBytes(new Uint8Array(0))).message, /manifest list/)
  })

  it('a codec that is not known is named, with a cached schema too', () => {
    const error = thrown(() => readOne({ codec: 'null', codecName: 'lz4' }))
    assert.isTrue(isIcebergError(error, 'ERR_UNSUPPORTED'))
    assert.match(error.message, /"lz4"/)
  })
})
