/** `DataFile`, `DeleteFile` and `ManifestEntry`: every field, what a projection leaves out, and keeping a view. */
import { assert } from 'chai'
import { DataFile, DeleteFile } from '../../src/manifest/content-file.ts'
import {
  DELETE_FILE_PATH_ID,
  FIELD_GROUPS,
  type ManifestProjection,
} from '../../src/manifest/entry-fields.ts'
import type { Manifest } from '../../src/manifest/manifest-reader.ts'
import { formatJson, parseJson } from '../../src/metadata/lossless-json.ts'
import type { DataFileInput, EntryInput, ManifestOptions } from '../support/manifest-writer.ts'
import { thrown } from '../support/rejection.ts'
import { entriesOf, entryOf, roundTrip } from './manifest-reading.ts'

const SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  fields: [{ id: 1, name: 'region', required: false, type: 'string' }],
}
const PARTITION = [{ fieldId: 1000, name: 'region', avroType: 'string' }]
const bytes = (...values: number[]) => Uint8Array.of(...values)
const LONG_BOUND = Uint8Array.from({ length: 300 }, (_, i) => i & 255)

const FILE: DataFileInput = {
  filePath: 's3://warehouse/a b/é?#%20/f.parquet',
  fileFormat: 'ORC',
  partition: ['eu'],
  recordCount: 2 ** 40,
  fileSizeInBytes: 2 ** 53 - 1,
  columnSizes: { 1: 100, 2: 2 ** 45 },
  valueCounts: { 1: 5, 2: 6 },
  nullValueCounts: { 1: 0, 2: 6 },
  nanValueCounts: { 1: 1 },
  lowerBounds: { 1: bytes(1, 2, 3, 4), 2: LONG_BOUND, [DELETE_FILE_PATH_ID]: Buffer.from('s3://a') },
  upperBounds: {
    1: bytes(),
    2: bytes(9, 8, 7, 6, 5, 4, 3, 2),
    [DELETE_FILE_PATH_ID]: Buffer.from('s3://warehouse'),
  },
  keyMetadata: bytes(1, 0),
  splitOffsets: [4, 2 ** 33],
  equalityIds: [1, 70_000],
  sortOrderId: -3,
  firstRowId: 7,
  referencedDataFile: 's3://warehouse/ref.parquet',
  contentOffset: 4,
  contentSizeInBytes: 0,
}
const ENTRIES: EntryInput[] = [
  { dataFile: { filePath: 'first' } },
  { status: 0, snapshotId: 11, sequenceNumber: 2n ** 60n, fileSequenceNumber: 3, dataFile: FILE },
  {
    status: 2,
    snapshotId: 12,
    sequenceNumber: 4,
    fileSequenceNumber: 4,
    dataFile: { filePath: 'last', partition: ['us'] },
  },
]

function readFile(projection?: ManifestProjection, write: Partial<ManifestOptions> = {}): Manifest {
  return roundTrip(
    { entries: ENTRIES, formatVersion: 3, schema: SCHEMA, partition: PARTITION, ...write },
    { firstRowId: 100n, sequenceNumber: 9n, partitionSpecId: 2 },
    projection === undefined ? {} : { projection },
  )
}

const ALWAYS = {
  content: 'data',
  filePath: 's3://warehouse/a b/é?#%20/f.parquet',
  fileFormat: 'orc',
  specId: 2,
  partition: { region: 'eu' },
  recordCount: 2 ** 40,
  fileSizeInBytes: 2 ** 53 - 1,
  dataSequenceNumber: 2n ** 60n,
  fileSequenceNumber: 3n,
  firstRowId: 7n,
}
const base64 = (value: Uint8Array | string) => Buffer.from(value as string).toString('base64')
const BY_GROUP = {
  layout: { keyMetadata: 'AQA=', splitOffsets: [4, 2 ** 33], sortOrderId: -3 },
  deletes: {
    equalityIds: [1, 70_000],
    referencedDataFile: 's3://warehouse/ref.parquet',
    contentOffset: 4,
    contentSizeInBytes: 0,
  },
  sizes: { columnSizes: { 1: 100, 2: 2 ** 45 } },
  counts: { valueCounts: { 1: 5, 2: 6 }, nullValueCounts: { 1: 0, 2: 6 } },
  nans: { nanValueCounts: { 1: 1 } },
  bounds: {
    lowerBounds: { 1: 'AQIDBA==', 2: base64(LONG_BOUND), [DELETE_FILE_PATH_ID]: base64('s3://a') },
    upperBounds: {
      1: '',
      2: base64(bytes(9, 8, 7, 6, 5, 4, 3, 2)),
      [DELETE_FILE_PATH_ID]: base64('s3://warehouse'),
    },
  },
}

/** Without the keys that are undefined. */
function known(json: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined))
}

const fileOf = (manifest: Manifest) => entryOf(manifest, 1).dataFile

describe('a content file', () => {
  it('every field', () => {
    assert.deepEqual(known(fileOf(readFile()).toJSON()), {
      ...ALWAYS,
      ...Object.assign({}, ...Object.values(BY_GROUP)),
    })
  })

  it('fields in their own types', () => {
    const file = fileOf(readFile())
    assert.deepEqual(file.partition, ['eu'])
    assert.deepEqual(file.keyMetadata, bytes(1, 0))
    assert.deepEqual(
      file.columnSizes,
      new Map([
        [1, 100],
        [2, 2 ** 45],
      ]),
    )
    assert.deepEqual(file.lowerBounds?.get(2), LONG_BOUND)
    assert.deepEqual(file.upperBounds?.get(1), bytes())
    assert.equal(file.spec.fields[0].name, 'region')
  })

  it('fields that are null', () => {
    const file = entryOf(readFile()).dataFile
    assert.deepEqual(known(file.toJSON()), {
      content: 'data',
      filePath: 'first',
      fileFormat: 'parquet',
      specId: 2,
      partition: { region: null },
      recordCount: 1,
      fileSizeInBytes: 1000,
      dataSequenceNumber: 9n,
      fileSequenceNumber: 9n,
      firstRowId: 100n,
    })
  })

  it('fields that the schema lacks: slot -1', () => {
    const optional = [108, 109, 110, 137, 125, 128, 131, 132, 135, 140, 143, 144, 145]
    assert.deepEqual(known(fileOf(readFile(undefined, { omit: optional })).toJSON()), ALWAYS)
  })

  it('toString names kind and path, of the entry also the status', () => {
    assert.equal(fileOf(readFile()).toString(), 'data s3://warehouse/a b/é?#%20/f.parquet')
    assert.deepEqual(Array.from(readFile().entries, String), [
      'added data first',
      'existing data s3://warehouse/a b/é?#%20/f.parquet',
      'deleted data last',
    ])
    const deletes = roundTrip({
      content: 'deletes',
      entries: [1, 2].map((content) => ({ dataFile: { content, filePath: 'd', equalityIds: [1] } })),
    })
    assert.deepEqual(Array.from(deletes.entries, String), [
      'added position-deletes d',
      'added equality-deletes d',
    ])
  })

  it('toJSON of an entry keeps 64-bit ids through lossless JSON', () => {
    const json = entryOf(readFile(), 1).toJSON()
    const back = parseJson(formatJson(json)) as Record<string, unknown>
    assert.deepInclude(back, { status: 0, snapshotId: 11, sequenceNumber: 2n ** 60n, fileSequenceNumber: 3 })
    assert.deepInclude(back.dataFile as object, { dataSequenceNumber: 2n ** 60n, firstRowId: 7 })
  })

  it('is a DataFile or a DeleteFile', () => {
    assert.instanceOf(fileOf(readFile()), DataFile)
    const manifest = roundTrip({ entries: [{ dataFile: { content: 1 } }], content: 'deletes' })
    assert.instanceOf(entryOf(manifest).dataFile, DeleteFile)
  })
})

describe('projections (R4.13)', () => {
  it('nothing asked for: what every plan needs', () => {
    const manifest = readFile({ groups: [], columnStats: 'none' })
    assert.deepEqual(known(fileOf(manifest).toJSON()), ALWAYS)
    assert.deepEqual(
      Array.from(manifest.entries, ({ dataFile }) => dataFile.firstRowId),
      [100n, 7n, undefined],
    )
  })

  for (const group of FIELD_GROUPS)
    it(`only ${group}`, () => {
      const file = fileOf(readFile({ groups: [group], columnStats: 'all' }))
      assert.deepEqual(known(file.toJSON()), { ...ALWAYS, ...BY_GROUP[group] })
    })

  it('all groups but one', () => {
    for (const left of FIELD_GROUPS) {
      const groups = FIELD_GROUPS.filter((group) => group !== left)
      const file = fileOf(readFile({ groups, columnStats: 'all' }))
      const parts: object[] = groups.map((group) => BY_GROUP[group])
      assert.deepEqual(known(file.toJSON()), { ...ALWAYS, ...(Object.assign({}, ...parts) as object) })
    }
  })

  const columns: [why: string, columnStats: ManifestProjection['columnStats'], ids: number[]][] = [
    ['one column', [2], [2]],
    ['two, in any order', [2, 1], [1, 2]],
    ['the reserved id of a path, far above all others', [DELETE_FILE_PATH_ID], [DELETE_FILE_PATH_ID]],
    ['both kinds', [1, DELETE_FILE_PATH_ID], [1, DELETE_FILE_PATH_ID]],
    ['a column that the file knows nothing of', [3], []],
    ['all', 'all', [1, 2, DELETE_FILE_PATH_ID]],
  ]
  for (const [why, columnStats, ids] of columns)
    it(`column statistics: ${why}`, () => {
      assert.equal(DELETE_FILE_PATH_ID, 2147483546)
      const file = fileOf(readFile({ groups: FIELD_GROUPS, columnStats }))
      assert.deepEqual([...file.lowerBounds!.keys()], ids)
      assert.deepEqual([...file.upperBounds!.keys()], ids)
      assert.deepEqual(
        [...file.valueCounts!.keys()],
        ids.filter((id) => id < 3),
      )
      assert.deepEqual(
        [...file.columnSizes!.keys()],
        ids.filter((id) => id < 3),
      )
      if (ids.includes(2)) assert.deepEqual(file.lowerBounds!.get(2), LONG_BOUND)
      // The others are not touched by it.
      assert.deepEqual(file.splitOffsets, [4, 2 ** 33])
      assert.deepEqual(file.equalityIds, [1, 70_000])
    })

  for (const columnStats of ['none', []] as const)
    it(`column statistics: ${columnStats === 'none' ? 'none' : 'an empty list'} reads no map`, () => {
      const file = fileOf(readFile({ groups: FIELD_GROUPS, columnStats }))
      assert.deepEqual(known(file.toJSON()), { ...ALWAYS, ...BY_GROUP.layout, ...BY_GROUP.deletes })
    })

  it('the same in a file with maps of an unusual form: value first, optional, with more fields', () => {
    const fields = [
      { name: 'value', type: ['null', 'long'], 'field-id': 118 },
      { name: 'key', type: 'int', 'field-id': 117 },
      { name: 'more', type: 'string', 'field-id': 9999 },
    ]
    const odd = [
      { key: 1, value: 100, more: 'x' },
      { key: 2, value: null, more: '' },
      { key: 2, value: 2 ** 45, more: 'y' },
    ]
    const type = { type: 'array', items: { type: 'record', name: 'odd', fields } }
    const field = { name: 'column_sizes', type: ['null', type], 'field-id': 108 }
    const write: Partial<ManifestOptions> = {
      omit: [108],
      extraFields: [{ in: 'dataFile', at: 0, field, value: odd }],
    }
    const sizes = (projection?: ManifestProjection) => fileOf(readFile(projection, write)).columnSizes
    assert.deepEqual(
      sizes(),
      new Map([
        [1, 100],
        [2, 2 ** 45],
      ]),
    )
    assert.deepEqual(sizes({ groups: ['sizes'], columnStats: [2] }), new Map([[2, 2 ** 45]]))
  })
})

describe('metrics of columns', () => {
  const withMaps = (dataFile: DataFileInput) =>
    roundTrip({ entries: [{ dataFile: { filePath: 'x' } }, { dataFile }] })

  it('bounds of every length: in the cell up to eight bytes, else in the heap', () => {
    const bounds = new Map(Array.from({ length: 20 }, (_, i) => [i + 1, LONG_BOUND.subarray(200, 200 + i)]))
    const manifest = withMaps({ lowerBounds: bounds, upperBounds: bounds })
    const file = fileOf(manifest)
    assert.deepEqual(file.lowerBounds, new Map([...bounds].map(([id, value]) => [id, value.slice()])))
    for (const [id, value] of bounds) {
      assert.deepEqual(Uint8Array.from(manifest.batch.bound(1, 'lowerBounds', id)!), value.slice())
      assert.deepEqual(Uint8Array.from(manifest.batch.bound(1, 'upperBounds', id)!), value.slice())
    }
  })

  it('B101: zero bytes are a bound, and no bound is undefined', () => {
    const { batch } = withMaps({ lowerBounds: { 1: bytes() }, upperBounds: {} })
    assert.deepEqual(batch.bound(1, 'lowerBounds', 1), bytes())
    assert.isUndefined(batch.bound(1, 'lowerBounds', 2))
    assert.isUndefined(batch.bound(1, 'upperBounds', 1))
    assert.isUndefined(batch.bound(0, 'lowerBounds', 1))
    assert.isTrue(batch.isNull(0, 'upperBounds'))
    assert.isFalse(batch.isNull(1, 'upperBounds'))
  })

  it('an empty map is known to be empty', () => {
    const file = fileOf(withMaps({ valueCounts: {} }))
    assert.deepEqual(file.valueCounts, new Map())
    assert.isUndefined(file.nullValueCounts)
  })

  it('R4.12: of a key that comes twice the last value counts', () => {
    // Three items; a Map could not hold them.
    const twice = <V>(...items: [number, V][]) =>
      ({
        size: items.length,
        [Symbol.iterator]: () => items[Symbol.iterator](),
        __proto__: Map.prototype,
      }) as unknown as Map<number, V>
    const manifest = withMaps({
      valueCounts: twice([1, 5], [2, 6], [1, 7]),
      lowerBounds: twice([1, bytes(1)], [2, LONG_BOUND], [1, bytes(2, 2)], [2, bytes(3)]),
    })
    assert.deepEqual(
      fileOf(manifest).valueCounts,
      new Map([
        [1, 7],
        [2, 6],
      ]),
    )
    assert.deepEqual(
      fileOf(manifest).lowerBounds,
      new Map([
        [1, bytes(2, 2)],
        [2, bytes(3)],
      ]),
    )
    assert.deepEqual(manifest.batch.bound(1, 'lowerBounds', 1), bytes(2, 2))
    assert.deepEqual(manifest.batch.bound(1, 'lowerBounds', 2), bytes(3))
  })

  it('counts: 0, negative, up to 2^53; beyond is an error', () => {
    const counts = { 1: 0, 2: -1, 3: 2n ** 53n, 4: 127, 5: 128, 6: 2 ** 31, 7: -(2 ** 40) }
    assert.deepEqual(
      fileOf(withMaps({ nullValueCounts: counts })).nullValueCounts,
      new Map(Object.entries(counts).map(([id, count]) => [Number(id), Number(count)])),
    )
    const error = thrown(() => withMaps({ nullValueCounts: { 1: 2n ** 53n + 1n } }))
    assert.equal(error.entry, 1)
    assert.match(error.message, /2\^53/)
  })
})

describe('lists of a content file', () => {
  it('split offsets as stored: any order, 64 bits, empty', () => {
    for (const splitOffsets of [[], [4], [50, 4, 2 ** 40], [0, 2 ** 53 - 1]])
      assert.deepEqual(
        entryOf(roundTrip({ entries: [{ dataFile: { splitOffsets } }] })).dataFile.splitOffsets,
        splitOffsets,
      )
  })

  it('B022: equality ids written as long', () => {
    const write: ManifestOptions = {
      entries: [{ dataFile: { content: 2, equalityIds: [1, 300, 2147483546] } }],
      content: 'deletes',
    }
    const types = { 135: { type: 'array', items: 'long', 'element-id': 136 } }
    for (const options of [
      write,
      { ...write, types },
      { ...write, types, layout: { negativeCounts: true, itemsPerBlock: 1 } },
    ])
      assert.deepEqual(entryOf(roundTrip(options)).dataFile.equalityIds, [1, 300, 2147483546])
  })

  it('B022: an id that does not fit 32 bits is an error, not another column', () => {
    const error = thrown(() =>
      roundTrip({
        entries: [{ dataFile: { content: 2, equalityIds: [2 ** 32 + 1] } }],
        content: 'deletes',
        types: { 135: { type: 'array', items: 'long' } },
      }),
    )
    assert.match(error.message, /4294967297 does not fit/)
  })
})

describe('detach', () => {
  it('equals the original in everything', () => {
    const manifest = readFile()
    for (const { dataFile } of manifest.entries) {
      const kept = dataFile.detach()
      assert.deepEqual(kept.toJSON(), dataFile.toJSON())
      assert.deepEqual(kept.partition, dataFile.partition)
      assert.strictEqual(kept.spec, dataFile.spec)
      assert.equal(kept.constructor, dataFile.constructor)
    }
  })

  it('owns its memory, and little of it', () => {
    const many = Array.from({ length: 1000 }, () => ({ dataFile: { ...FILE, filePath: 'x'.repeat(100) } }))
    const manifest = readFile(undefined, { entries: [...ENTRIES, ...many] })
    const kept = fileOf(manifest).detach()
    const before = kept.toJSON()
    const { store } = manifest.batch
    store.heap.fill(0)
    store.nulls.fill(0)
    store.cellLanes.fill(0)
    store.cellKey.fill(0)
    manifest.batch.partitionKeys.heap.fill(0)
    for (const columns of [store.uint8, store.int32, store.int64, store.float64, store.cellCount])
      for (const column of columns) column.fill(0)
    assert.deepEqual(kept.toJSON(), before)
    assert.notStrictEqual(kept.batch, manifest.batch)
    assert.equal(kept.batch.rowCount, 1)
    assert.isBelow(kept.batch.store.heap.length, 4096)
  })

  it('of a projection, of a delete file, of a format that nobody knows', () => {
    const projected = fileOf(readFile({ groups: ['bounds'], columnStats: [2] }))
    assert.deepEqual(projected.detach().toJSON(), projected.toJSON())
    const manifest = roundTrip({
      entries: [
        { dataFile: { content: 1, fileFormat: 'first' } },
        { dataFile: { content: 1, fileFormat: 'Lance', referencedDataFile: 'r' } },
      ],
      content: 'deletes',
    })
    const kept = fileOf(manifest).detach()
    assert.instanceOf(kept, DeleteFile)
    assert.deepEqual(kept.toJSON(), fileOf(manifest).toJSON())
    assert.equal(kept.fileFormat, 'lance')
  })

  it('a detached file may be detached again', () => {
    const file = fileOf(readFile())
    assert.deepEqual(file.detach().detach().toJSON(), file.toJSON())
  })

  it('maps and bytes that a view gave are copies', () => {
    const manifest = readFile()
    fileOf(manifest).lowerBounds!.get(1)!.fill(0)
    fileOf(manifest).keyMetadata!.fill(0)
    assert.deepEqual(entriesOf(manifest), entriesOf(readFile()))
  })
})
