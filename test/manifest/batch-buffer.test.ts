/**
 * Batches that were packed, handed over and unpacked say what they said before, whatever was read of them; a buffer that
 * is not what its header says is refused.
 */
import { assert } from 'chai'
import { packBatch, type PackedBatch, unpackBatch } from '../../src/manifest/batch-buffer.ts'
import type { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../../src/manifest/entry-batch-builder.ts'
import {
  entryLayout,
  FIELD_GROUPS,
  FULL_PROJECTION,
  type ManifestProjection,
} from '../../src/manifest/entry-fields.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { tablePartitionTypes } from '../../src/manifest/manifest-reader.ts'
import type { EntryInput } from '../support/manifest-writer.ts'
import { seededRandom } from '../support/record-shape.ts'
import { thrown } from '../support/rejection.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { bytesOf, manifestOf, type Part, PARTITION_TYPES, randomPart, saidBy } from './manifest-parts.ts'

/** The batch of a job of these manifests. */
function batchOf(parts: readonly Part[], projection: ManifestProjection = FULL_PROJECTION): EntryBatch {
  const builder = new EntryBatchBuilder(projection, new ManifestCache(), tablePartitionTypes(PARTITION_TYPES))
  for (const [i, part] of parts.entries()) builder.add(bytesOf(part), manifestOf(part, i), `m${i}`)
  return builder.finish()
}

/** As a buffer that another thread gets: its own memory, the rest cloned. */
function handOver(packed: PackedBatch): PackedBatch {
  return structuredClone(packed, { transfer: [packed.buffer] })
}

function unpack(packed: PackedBatch, parts: readonly Part[]): EntryBatch {
  return unpackBatch(packed, parts.map(manifestOf), PARTITION_TYPES)
}

function assertRoundTrip(parts: readonly Part[], projection?: ManifestProjection): EntryBatch {
  const before = batchOf(parts, projection)
  const said = saidBy(before)
  const after = unpack(handOver(packBatch(before)), parts)
  assert.deepEqual(saidBy(after), said)
  assert.deepEqual(after.read, before.read)
  assert.equal(after.rowCount, before.liveRows.length)
  assert.lengthOf(after.segments, parts.length)
  // Packing leaves the batch as it was, and what was unpacked can be packed again.
  assert.deepEqual(saidBy(before), said)
  assert.deepEqual(saidBy(unpack(handOver(packBatch(after)), parts)), said)
  return after
}

const PROJECTIONS: [name: string, projection: ManifestProjection][] = [
  ['no groups', { groups: [], columnStats: 'none' }],
  ...FIELD_GROUPS.map((group): [string, ManifestProjection] => [
    `group ${group}`,
    { groups: [group], columnStats: 'all' },
  ]),
  ['statistics of some columns', { groups: FIELD_GROUPS, columnStats: [1, 3] }],
  ['everything', FULL_PROJECTION],
]

describe('packed batches', () => {
  for (const [name, projection] of PROJECTIONS)
    it(`say what the batch said: ${name} ${WITH_SEED}`, () => {
      const random = seededRandom(SEED)
      for (let i = 0; i < 25; i++) {
        const parts = Array.from({ length: i % 5 }, () => randomPart(random, i % 3 > 0))
        assertRoundTrip(parts, projection)
      }
    })

  it('of no manifest, and of manifests without entries', () => {
    assert.equal(assertRoundTrip([]).rowCount, 0)
    assert.equal(assertRoundTrip([{ specId: 1, entries: [] }]).rowCount, 0)
    assert.equal(assertRoundTrip([{ specId: 1, entries: [{ status: 2 }] }]).rowCount, 0)
  })

  it('hold live entries only, and only their bytes', () => {
    const long = 'x'.repeat(10_000)
    const entries = [0, 2, 1, 2, 2].map((status, i): EntryInput => ({
      status,
      sequenceNumber: i,
      dataFile: { filePath: status === 2 ? long : `kept ${i}` },
    }))
    const parts: Part[] = [
      { specId: 0, entries: [{ status: 2, dataFile: { filePath: long } }] },
      { specId: 0, entries },
      { specId: 0, entries: [{ dataFile: { filePath: 'last' } }] },
    ]
    const packed = packBatch(batchOf(parts))
    assert.isBelow(packed.buffer.byteLength, 2000)
    const after = unpack(packed, parts)
    assert.deepEqual(
      Array.from(after.liveRows, (row) => [
        after.text(row, 'filePath'),
        after.segments.indexOf(after.segmentOf(row)),
      ]),
      [
        ['kept 0', 1],
        ['kept 2', 1],
        ['last', 2],
      ],
    )
    assert.deepEqual(
      after.segments.map(({ firstRow, rowCount }) => [firstRow, rowCount]),
      [
        [0, 0],
        [0, 2],
        [2, 1],
      ],
    )
  })

  it('64-bit columns are aligned whatever stands before them', () => {
    for (let rows = 0; rows < 18; rows++) {
      const entries = Array.from({ length: rows }, (_, i): EntryInput => ({
        snapshotId: -(2n ** 63n) + BigInt(i),
        sequenceNumber: 2n ** 63n - 1n - BigInt(i),
        dataFile: { filePath: 'p'.repeat(i % 7), lowerBounds: { 1: new Uint8Array(i % 11).fill(i) } },
      }))
      assertRoundTrip([{ specId: 0, entries }])
    }
  })

  it('bounds in cells and in the heap', () => {
    const lengths = [0, 1, 7, 8, 9, 255, 256, 1000]
    const entries = lengths.map((length): EntryInput => ({
      dataFile: { lowerBounds: { 1: new Uint8Array(length).fill(length), 2: Uint8Array.of(5) } },
    }))
    const after = assertRoundTrip([{ specId: 0, entries }])
    assert.deepEqual(
      lengths.map((_, row) => after.bound(row, 'lowerBounds', 1)!.length),
      lengths,
    )
  })

  it('formats that are on no list', () => {
    const formats = ['Lance', 'vortex', 'parquet', 'LANCE', 'nimble']
    const after = assertRoundTrip([
      { specId: 0, entries: formats.map((fileFormat) => ({ dataFile: { fileFormat } })) },
    ])
    assert.deepEqual(
      formats.map((_, row) => after.fileFormat(row)),
      ['lance', 'vortex', 'parquet', 'lance', 'nimble'],
    )
  })

  it('are looked at in place', () => {
    const parts: Part[] = [{ specId: 0, entries: [{}, {}] }]
    const packed = packBatch(batchOf(parts))
    const { store, partitionKeys, sequenceNumbers } = unpack(packed, parts)
    for (const { buffer } of [store.nulls, store.heap, store.uint8[0], partitionKeys.heap, sequenceNumbers])
      assert.strictEqual(buffer, packed.buffer)
  })

  describe('that are not what they say', () => {
    const parts: Part[] = [
      {
        specId: 1,
        entries: [{ dataFile: { partition: ['eu', 1], lowerBounds: { 1: new Uint8Array(20) } } }],
      },
      { specId: 7, entries: [{ dataFile: { partition: [2] } }, {}] },
    ]
    const refused = (packed: PackedBatch, of = parts) => {
      const error = thrown(() => unpack(packed, of))
      assert.equal(error.code, 'ERR_WORKER', error.message)
      return error.message
    }
    const fresh = () => packBatch(batchOf(parts))
    const changed = (field: number, change: (value: number) => number): PackedBatch => {
      const packed = fresh()
      const header = new Int32Array(packed.buffer, 0, 8)
      header[field] = change(header[field])
      return packed
    }
    const FIELDS = ['magic', 'version', 'rows', 'heap bytes', 'cells', 'keys', 'bytes of keys', 'sum']
    const CHANGES: readonly (readonly [how: string, change: (value: number) => number])[] = [
      ['one more', (value) => value + 1],
      ['one less', (value) => value - 1],
      ['negative', (value) => -value - 1],
      ['huge', () => 2 ** 31 - 1],
      ['one bit', (value) => value ^ 64],
    ]

    it('an untouched one is accepted', () => {
      unpack(fresh(), parts)
    })

    for (const [field, name] of FIELDS.entries())
      it(`header: ${name}`, () => {
        for (const [how, change] of CHANGES) assert.isString(refused(changed(field, change)), how)
      })

    it('the messages name what is wrong', () => {
      assert.match(refused(changed(0, () => 5)), /begins with 5/)
      assert.match(refused(changed(1, () => 9)), /of version 9: this is version 1/)
      assert.match(refused(changed(2, () => 77)), /77 rows/)
    })

    it('a buffer that is shorter or longer', () => {
      const packed = fresh()
      for (const length of [0, 1, 31, 32, packed.buffer.byteLength - 1, packed.buffer.byteLength + 8]) {
        const buffer = new ArrayBuffer(length)
        new Uint8Array(buffer).set(new Uint8Array(packed.buffer).subarray(0, length))
        assert.match(refused({ ...packed, buffer }), /^Cannot read an entry batch/)
      }
    })

    it('other columns than were packed', () => {
      const layout = entryLayout({ groups: ['layout'], metricColumns: undefined, isMetricsOnly: false })
      assert.match(refused({ ...fresh(), layout }), /do not make \d+ bytes/)
    })

    it('another number of segments than of manifests, or other rows', () => {
      const packed = fresh()
      assert.match(refused(packed, parts.slice(1)), /2 segments for 1 manifests/)
      const { segments } = packed
      for (const rowCounts of [[], [1], [1, 3], [0, 2], [NaN, NaN]])
        assert.match(refused({ ...packed, segments: { ...segments, rowCounts } }), /rows, not 3/)
    })

    it('a spec that the table lacks', () => {
      const packed = fresh()
      const segments = { ...packed.segments, specIds: [1, 5] }
      assert.match(refused({ ...packed, segments }), /partition spec 5/)
    })
  })
})
