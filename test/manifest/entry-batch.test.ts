/** Entry batches: several manifests in one, the dictionary of partitions, and cutting rows out. */
import { assert } from 'chai'
import { compactRows } from '../../src/avro/column-store.ts'
import { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../../src/manifest/entry-batch-builder.ts'
import { FULL_PROJECTION, type ManifestProjection } from '../../src/manifest/entry-fields.ts'
import { EntryStatus } from '../../src/manifest/inheritable-metadata.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { ManifestEntry } from '../../src/manifest/manifest-entry.ts'
import type { ManifestFileFields } from '../../src/manifest/manifest-file.ts'
import type { PartitionType } from '../../src/manifest/partition-key.ts'
import { createPartitionSpec } from '../../src/metadata/partition-spec.ts'
import { type EntryInput, type ManifestOptions, writeManifest } from '../support/manifest-writer.ts'
import { thrown } from '../support/rejection.ts'
import { entriesOf, manifestFile, MANIFEST_PATH, plainEntries, roundTrip } from './manifest-reading.ts'

const TYPE: PartitionType = {
  spec: createPartitionSpec(0, [
    { sourceId: 1, fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
  ]),
  specId: 0,
  fields: [{ fieldId: 1000, name: 'region', type: { kind: 'string' } }],
}
const PARTITION = [{ fieldId: 1000, name: 'region', avroType: 'string' }]

interface Part {
  write: ManifestOptions
  row?: Partial<ManifestFileFields>
}

function batchOf(parts: readonly Part[], projection: ManifestProjection = FULL_PROJECTION): EntryBatch {
  const builder = new EntryBatchBuilder(projection, new ManifestCache(), () => TYPE)
  for (const { write, row } of parts)
    builder.add(
      writeManifest({ partition: PARTITION, ...write }),
      manifestFile(row),
      row?.manifestPath ?? MANIFEST_PATH,
    )
  return builder.finish()
}

function rowsOf(batch: EntryBatch): Record<string, unknown>[] {
  return Array.from({ length: batch.rowCount }, (_, row) => new ManifestEntry(batch, row).toJSON())
}

const inRegion = (region: string | null, more: EntryInput = {}): EntryInput => ({
  ...more,
  dataFile: { ...more.dataFile, partition: [region] },
})

/** Five entries that fill every kind of column. */
const RICH: EntryInput[] = Array.from({ length: 5 }, (_, i) =>
  inRegion(['eu', 'us', null][i % 3], {
    status: i === 3 ? 2 : i % 2,
    snapshotId: i,
    sequenceNumber: i,
    dataFile: {
      filePath: `s3://warehouse/${'x'.repeat(i * 40)}/${i}.parquet`,
      fileFormat: i === 4 ? 'lance' : 'parquet',
      recordCount: i,
      columnSizes: { 1: i },
      ...(i === 2 ? {} : { valueCounts: { 1: i, 2: 2 ** 40 + i } }),
      lowerBounds: { 1: Uint8Array.of(i), 2: new Uint8Array(20).fill(i) },
      upperBounds: { 3: new Uint8Array(8).fill(i) },
      splitOffsets: Array.from({ length: i }, (_, n) => n * 10),
      ...(i % 2 === 0 ? { keyMetadata: new Uint8Array(i).fill(i), sortOrderId: i } : {}),
    },
  }),
)

describe('partition dictionary', () => {
  it('distinct tuples are numbered once, in the order they come', () => {
    const regions = ['eu', 'us', 'eu', null, 'us', 'us', null, 'asia']
    const batch = batchOf([{ write: { entries: regions.map((region) => inRegion(region)) } }])
    assert.equal(batch.partitionKeys.count, 4)
    assert.deepEqual(Array.from(batch.partitionIndex.subarray(0, batch.rowCount)), [0, 1, 0, 2, 1, 1, 2, 3])
    assert.deepEqual(
      regions.map((_, row) => batch.partition(row)),
      regions.map((region) => [region]),
    )
    assert.strictEqual(batch.partition(0), batch.partition(2))
  })

  it('over manifests: one number for what two of them wrote differently', () => {
    const bytes: Part = {
      write: {
        entries: [{ dataFile: { partition: [Buffer.from('eu')] } }],
        partition: [{ ...PARTITION[0], avroType: 'bytes' }],
      },
    }
    const batch = batchOf([{ write: { entries: [inRegion('us'), inRegion('eu')] } }, bytes])
    assert.equal(batch.partitionKeys.count, 2)
    assert.equal(batch.partitionIndex[2], batch.partitionIndex[1])
  })

  it('many: 3,000 tuples, each twice', () => {
    const regions = Array.from({ length: 6000 }, (_, i) => `region-${i % 3000}`)
    const batch = batchOf([{ write: { entries: regions.map((region) => inRegion(region)), codec: 'null' } }])
    assert.equal(batch.partitionKeys.count, 3000)
    for (const row of [0, 1, 2999, 3000, 5999]) assert.deepEqual(batch.partition(row), [regions[row]])
  })
})

describe('several manifests in one batch', () => {
  const parts: Part[] = [
    { write: { entries: RICH }, row: { manifestPath: 'm0', sequenceNumber: 4n } },
    { write: { entries: [] }, row: { manifestPath: 'm1' } },
    {
      write: { entries: plainEntries(3), formatVersion: 1, codec: 'snappy' },
      row: { manifestPath: 'm2', addedSnapshotId: 77n },
    },
    {
      write: { entries: [inRegion('eu'), inRegion('us')], shuffleSeed: 5 },
      row: { manifestPath: 'm3', sequenceNumber: 9n, firstRowId: 50n },
    },
    {
      write: { entries: [{ dataFile: { content: 1 } }], content: 'deletes' },
      row: { manifestPath: 'm4', content: 1 },
    },
  ]

  it('every entry is what it is in a batch of its own', () => {
    const batch = batchOf(parts)
    assert.deepEqual(
      rowsOf(batch),
      parts.flatMap((part) => rowsOf(batchOf([part]))),
    )
  })

  it('segments say which rows are whose', () => {
    const batch = batchOf(parts)
    assert.deepEqual(
      batch.segments.map(({ manifest, firstRow, rowCount }) => [manifest.manifestPath, firstRow, rowCount]),
      [
        ['m0', 0, 5],
        ['m1', 5, 0],
        ['m2', 5, 3],
        ['m3', 8, 2],
        ['m4', 10, 1],
      ],
    )
    assert.equal(batch.rowCount, 11)
    assert.deepEqual(
      Array.from({ length: 11 }, (_, row) => batch.segmentOf(row).manifest.manifestPath),
      ['m0', 'm0', 'm0', 'm0', 'm0', 'm2', 'm2', 'm2', 'm3', 'm3', 'm4'],
    )
  })

  it('row ids start again in each manifest', () => {
    const entries = plainEntries(2)
    const batch = batchOf(
      [0n, 100n, undefined, 7n].map((firstRowId) => ({ write: { entries }, row: { firstRowId } })),
    )
    assert.deepEqual(
      Array.from({ length: 8 }, (_, row) => batch.int64(row, 'firstRowId')),
      [0n, 1n, 100n, 101n, undefined, undefined, 7n, 8n],
    )
  })

  it('liveRows leaves deleted entries out, over all manifests', () => {
    const entries = [EntryStatus.DELETED, EntryStatus.ADDED].map((status) => ({ status }))
    assert.deepEqual(Array.from(batchOf([{ write: { entries } }, { write: { entries } }]).liveRows), [1, 3])
  })

  it('an error names its own manifest and counts entries from its start', () => {
    const bad: Part = { write: { entries: [{}, { status: 3 }] }, row: { manifestPath: 'bad' } }
    const error = thrown(() => batchOf([...parts, bad]))
    assert.equal(error.entry, 1)
    assert.equal(error.location, 'bad')
    assert.include(error.message, 'Cannot read bad: entry 1 ')
  })

  it('no manifest at all', () => {
    const batch = batchOf([])
    assert.equal(batch.rowCount, 0)
    assert.lengthOf(batch.liveRows, 0)
  })

  it('a step for each block; until the last one the rows do not count', () => {
    const builder = new EntryBatchBuilder(FULL_PROJECTION, new ManifestCache(), () => TYPE)
    const bytes = writeManifest({ entries: plainEntries(5), partition: PARTITION, entriesPerBlock: 2 })
    for (const rowCount of [5, 10]) {
      const seen = Array.from(
        builder.addInSteps(bytes, manifestFile(), MANIFEST_PATH),
        () => builder.rowCount,
      )
      assert.deepEqual(seen, [rowCount - 5, rowCount - 5])
      assert.equal(builder.rowCount, rowCount)
    }
  })

  it('two builders may take their steps in turns', () => {
    const inTurns = (['deflate', 'snappy', 'null', 'zstandard'] as const).map((codec, i) => {
      const entries = Array.from({ length: 9 }, (_, n) =>
        inRegion(`r${n % (i + 2)}`, { dataFile: { filePath: `${codec}-${n}`, columnSizes: { [n + 1]: n } } }),
      )
      const write = { entries, partition: PARTITION, codec, entriesPerBlock: 2 }
      const builder = new EntryBatchBuilder(FULL_PROJECTION, new ManifestCache(), () => TYPE)
      return {
        builder,
        steps: builder.addInSteps(writeManifest(write), manifestFile(), MANIFEST_PATH),
        alone: batchOf([{ write }]),
      }
    })
    for (let left = inTurns; left.length > 0;) left = left.filter(({ steps }) => steps.next().done !== true)
    for (const { builder, alone } of inTurns) assert.deepEqual(rowsOf(builder.finish()), rowsOf(alone))
  })
})

describe('compactRows', () => {
  const selections: [why: string, rows: number[]][] = [
    ['all', [0, 1, 2, 3, 4]],
    ['none', []],
    ['one', [3]],
    ['some', [0, 2, 4]],
    ['in another order', [4, 0, 2]],
    ['one of them twice', [1, 1]],
  ]
  const projections: [why: string, projection: ManifestProjection][] = [
    ['everything', FULL_PROJECTION],
    ['no groups', { groups: [], columnStats: 'none' }],
    ['bounds of one column', { groups: ['bounds'], columnStats: [2] }],
  ]
  for (const [what, projection] of projections)
    for (const [why, rows] of selections)
      it(`${what}, ${why}: the rows are what they were`, () => {
        const batch = batchOf([{ write: { entries: RICH } }], projection)
        const store = compactRows(batch.store, Uint32Array.from(rows))
        const segment = { ...batch.segments[0], rowCount: rows.length }
        const cut = new EntryBatch(store, batch.read, [segment], batch.partitionKeys)
        const all = rowsOf(batch)
        assert.deepEqual(
          rowsOf(cut),
          rows.map((row) => all[row]),
        )
        assert.deepEqual(
          Array.from(cut.liveRows),
          rows.flatMap((row, i) => (row === 3 ? [] : [i])),
        )
        const paths = rows.reduce((sum, row) => sum + batch.bytesLength(row, 'filePath'), 0)
        if (projection.groups.length === 0) assert.equal(store.heapLength, paths)
      })

  it('takes only the heap and the cells that are used', () => {
    const { store } = batchOf([{ write: { entries: RICH } }])
    const cut = compactRows(store, Uint32Array.of(0))
    assert.isBelow(cut.heapLength, store.heapLength / 4)
    assert.isBelow(cut.cellLength, store.cellLength / 4)
    store.heap.fill(0)
    assert.include(Buffer.from(cut.heap).toString(), 's3://warehouse//0.parquet')
  })
})

describe('columns of a batch', () => {
  it('sequence numbers by row, as one view', () => {
    const batch = batchOf([{ write: { entries: RICH } }])
    assert.deepEqual(Array.from(batch.sequenceNumbers.subarray(0, 5)), [0n, 1n, 2n, 3n, 4n])
  })

  it('the same entries as a manifest gives', () => {
    const write = { entries: RICH, partition: PARTITION }
    assert.deepEqual(rowsOf(batchOf([{ write }])), entriesOf(roundTrip(write, {}, { partitionType: TYPE })))
  })

  it('10,000 entries over many blocks', () => {
    const entries = Array.from({ length: 10_000 }, (_, i) =>
      inRegion(`r${i % 7}`, { dataFile: { recordCount: i } }),
    )
    const batch = batchOf([{ write: { entries, deflateLevel: 1, blockBytes: 4000 } }])
    assert.equal(batch.rowCount, 10_000)
    for (const row of [0, 1, 4999, 9999]) {
      assert.equal(batch.recordCount(row), row)
      assert.match(batch.text(row, 'filePath'), new RegExp(`/file-${row}\\.parquet$`))
    }
    assert.equal(batch.partitionKeys.count, 7)
  })
})
