/** `BatchMetrics`: what an evaluator is told of a row is what the row's maps say. */
import { assert } from 'chai'
import { emptySlot } from '../../src/expressions/metrics-evaluator.ts'
import { packBatch, unpackBatch } from '../../src/manifest/batch-buffer.ts'
import { batchMetrics, type RowMetrics } from '../../src/manifest/batch-metrics.ts'
import type { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../../src/manifest/entry-batch-builder.ts'
import { FULL_PROJECTION, type ManifestProjection } from '../../src/manifest/entry-fields.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { PartitionType } from '../../src/manifest/partition-key.ts'
import { createPartitionSpec } from '../../src/metadata/partition-spec.ts'
import {
  type ByColumn,
  type DataFileInput,
  type EntryInput,
  writeManifest,
} from '../support/manifest-writer.ts'
import { seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { manifestFile } from './manifest-reading.ts'

const TYPE: PartitionType = { spec: createPartitionSpec(0, []), specId: 0, fields: [] }

function batchOf(
  entries: readonly EntryInput[],
  projection: ManifestProjection = FULL_PROJECTION,
): EntryBatch {
  const builder = new EntryBatchBuilder(projection, new ManifestCache(), () => TYPE)
  builder.add(writeManifest({ entries }), manifestFile(), 'm')
  return builder.finish()
}

const fileOf = (dataFile: DataFileInput): EntryInput => ({ dataFile })

/** A map with a key more than once, which a Map could not hold. */
const items = <V>(...all: [number, V][]): ByColumn<V> =>
  ({
    size: all.length,
    [Symbol.iterator]: () => all[Symbol.iterator](),
    __proto__: Map.prototype,
  }) as unknown as Map<number, V>

const bytes = (length: number, fill = length): Uint8Array => new Uint8Array(length).fill(fill)

type Bounds = 'lowerBound' | 'upperBound'
type Counts = 'valueCount' | 'nullValueCount' | 'nanValueCount'

/** A copy of what the slot is pointed at. */
function boundOf(metrics: RowMetrics, which: Bounds, id: number): Uint8Array | undefined {
  const slot = emptySlot()
  const untouched = { ...slot }
  if (metrics[which](id, slot)) return slot.bytes.slice(slot.offset, slot.offset + slot.length)
  assert.deepEqual({ ...slot }, untouched, 'a slot without bound is left alone')
  return undefined
}

/** Everything that is said of each row, and what its maps say. */
function assertAgrees(batch: EntryBatch, ids: readonly number[]): void {
  const metrics = batchMetrics(batch)
  const counts = [
    ['valueCount', 'valueCounts'],
    ['nullValueCount', 'nullValueCounts'],
    ['nanValueCount', 'nanValueCounts'],
  ] as const
  const bounds = [
    ['lowerBound', 'lowerBounds'],
    ['upperBound', 'upperBounds'],
  ] as const
  for (let row = 0; row < batch.rowCount; row++) {
    metrics.row = row
    assert.equal(metrics.recordCount, batch.recordCount(row))
    for (const id of ids) {
      for (const [ask, map] of counts) {
        const stated = batch.countMap(row, map)?.get(id) ?? -1
        assert.equal(metrics[ask](id), stated < 0 ? -1 : stated, `${ask}(${id}) of row ${row}`)
      }
      for (const [ask, map] of bounds)
        assert.deepEqual(
          boundOf(metrics, ask, id),
          batch.boundMap(row, map)?.get(id),
          `${ask}(${id}) of row ${row}`,
        )
    }
  }
}

describe('batch metrics', () => {
  const counts: [why: string, dataFile: DataFileInput, id: number, expected: number][] = [
    ['R5.2: no map', {}, 1, -1],
    ['R5.2: an empty map', { valueCounts: {} }, 1, -1],
    ['R5.2: no such key', { valueCounts: { 2: 5 } }, 1, -1],
    ['a count', { valueCounts: { 1: 7, 2: 5 } }, 1, 7],
    ['zero is a count', { valueCounts: { 1: 0 } }, 1, 0],
    ['the largest', { valueCounts: { 1: 2n ** 53n } }, 1, 2 ** 53],
    ['a negative count says nothing', { valueCounts: { 1: -1 } }, 1, -1],
    ['however negative', { valueCounts: { 1: -(2 ** 40) } }, 1, -1],
    ['R4.12: of a repeated key the last counts', { valueCounts: items([1, 5], [2, 6], [1, 7]) }, 1, 7],
    ['and if that is negative, nothing is known', { valueCounts: items([1, 5], [1, -3]) }, 1, -1],
    ['a reserved id', { valueCounts: { 2147483546: 3 } }, 2147483546, 3],
  ]
  const ASKS: [ask: Counts, map: 'valueCounts' | 'nullValueCounts' | 'nanValueCounts'][] = [
    ['valueCount', 'valueCounts'],
    ['nullValueCount', 'nullValueCounts'],
    ['nanValueCount', 'nanValueCounts'],
  ]
  for (const [why, { valueCounts }, id, expected] of counts)
    it(`counts: ${why}`, () => {
      for (const [ask, map] of ASKS) {
        const batch = batchOf([fileOf({}), fileOf(valueCounts === undefined ? {} : { [map]: valueCounts })])
        const metrics = batchMetrics(batch)
        metrics.row = 1
        for (const [other] of ASKS) assert.equal(metrics[other](id), other === ask ? expected : -1, other)
        metrics.row = 0
        assert.equal(metrics[ask](id), -1, 'the row before has none')
      }
    })

  const bounds: [why: string, map: ByColumn<Uint8Array> | undefined, expected: Uint8Array | undefined][] = [
    ['R5.2: no map', undefined, undefined],
    ['an empty map', {}, undefined],
    ['no such key', { 2: bytes(4) }, undefined],
    ['no bytes at all are a bound', { 1: bytes(0) }, bytes(0)],
    ...[1, 4, 7, 8].map((n): [string, ByColumn<Uint8Array>, Uint8Array] => [
      `${n} bytes, in the cell`,
      { 2: bytes(8, 255), 1: bytes(n), 3: bytes(8, 255) },
      bytes(n),
    ]),
    ...[9, 16, 300].map((n): [string, ByColumn<Uint8Array>, Uint8Array] => [
      `${n} bytes, in the heap`,
      { 2: bytes(20, 255), 1: bytes(n), 3: bytes(20, 255) },
      bytes(n),
    ]),
    [
      'R4.12: the last of a repeated key, long before short',
      items([1, bytes(12)], [2, bytes(3)], [1, bytes(2)]),
      bytes(2),
    ],
    ['R4.12: the last of a repeated key, short before long', items([1, bytes(2)], [1, bytes(12)]), bytes(12)],
  ]
  for (const [why, map, expected] of bounds)
    it(`bounds: ${why}`, () => {
      for (const [ask, name] of [
        ['lowerBound', 'lowerBounds'],
        ['upperBound', 'upperBounds'],
      ] as const) {
        const batch = batchOf([fileOf({}), fileOf(map === undefined ? {} : { [name]: map })])
        const metrics = batchMetrics(batch)
        metrics.row = 1
        assert.deepEqual(boundOf(metrics, ask, 1), expected)
        assert.isUndefined(boundOf(metrics, ask === 'lowerBound' ? 'upperBound' : 'lowerBound', 1))
        metrics.row = 0
        assert.isUndefined(boundOf(metrics, ask, 1))
      }
    })

  it('two slots at a time: the second does not move the first', () => {
    const metrics = batchMetrics(
      batchOf([fileOf({ lowerBounds: { 1: bytes(4) }, upperBounds: { 1: bytes(12) } })]),
    )
    const lower = emptySlot()
    const upper = emptySlot()
    assert.isTrue(metrics.lowerBound(1, lower))
    assert.isTrue(metrics.upperBound(1, upper))
    assert.deepEqual(lower.bytes.slice(lower.offset, lower.offset + lower.length), bytes(4))
    assert.deepEqual(upper.bytes.slice(upper.offset, upper.offset + upper.length), bytes(12))
  })

  it('R5.1: record counts as they are, negative ones too', () => {
    const metrics = batchMetrics(batchOf([0, -1, 2n ** 40n].map((recordCount) => fileOf({ recordCount }))))
    const said = [0, 1, 2].map((row) => {
      metrics.row = row
      return metrics.recordCount
    })
    assert.deepEqual(said, [0, -1, 2 ** 40])
  })

  it('of columns that the projection leaves out nothing is known', () => {
    const dataFile = { valueCounts: { 1: 5, 2: 6 }, lowerBounds: { 1: bytes(4), 2: bytes(12) } }
    const some = batchMetrics(batchOf([fileOf(dataFile)], { groups: ['counts', 'bounds'], columnStats: [2] }))
    assert.deepEqual([some.valueCount(1), some.valueCount(2)], [-1, 6])
    assert.deepEqual([boundOf(some, 'lowerBound', 1), boundOf(some, 'lowerBound', 2)], [undefined, bytes(12)])
    const counts = batchMetrics(batchOf([fileOf(dataFile)], { groups: ['counts'], columnStats: 'all' }))
    assert.equal(counts.valueCount(1), 5)
    assert.isUndefined(boundOf(counts, 'lowerBound', 1))
  })

  it('metrics that tasks do not show are there all the same', () => {
    const batch = batchOf([fileOf({ valueCounts: { 1: 5 }, lowerBounds: { 1: bytes(4) } })]).showing([])
    assert.isUndefined(batch.countMap(0, 'valueCounts'))
    const metrics = batchMetrics(batch)
    assert.equal(metrics.valueCount(1), 5)
    assert.deepEqual(boundOf(metrics, 'lowerBound', 1), bytes(4))
  })

  it(`agree with the maps: random files, as decoded, without some rows, and from a worker${WITH_SEED}`, () => {
    const random = seededRandom(SEED)
    const int = (below: number) => Math.floor(random() * below)
    const columnMap = <V>(value: () => V): ByColumn<V> =>
      items(...Array.from({ length: int(6) }, (): [number, V] => [1 + int(4), value()]))
    const some = <V>(value: () => V): V | undefined => (random() < 0.2 ? undefined : value())
    const count = () => int(10) - 2
    const bound = () => bytes(int(4) === 0 ? 9 + int(30) : int(9), int(256))
    const entries = Array.from({ length: 300 }, (): EntryInput => {
      const maps = {
        valueCounts: some(() => columnMap(count)),
        nullValueCounts: some(() => columnMap(count)),
        nanValueCounts: some(() => columnMap(count)),
        lowerBounds: some(() => columnMap(bound)),
        upperBounds: some(() => columnMap(bound)),
      }
      const known = Object.entries(maps).filter(([, map]) => map !== undefined)
      return { status: int(3), dataFile: { recordCount: int(100), ...Object.fromEntries(known) } }
    })
    const ids = [1, 2, 3, 4, 5]
    const batch = batchOf(entries)
    assertAgrees(batch, ids)
    const kept = batch.withRows(batch.liveRows.filter((_, i) => i % 3 === 1))
    assertAgrees(kept.onlyLive(), ids)
    const sent = structuredClone(packBatch(kept))
    const received = unpackBatch(sent, [manifestFile()], new Map([[0, TYPE]]))
    assert.equal(received.rowCount, kept.liveRows.length)
    assertAgrees(received, ids)
    const [first, ...rows] = kept.liveRows
    const detached = batch.detachRow(first)
    assertAgrees(detached, ids)
    assert.isAbove(rows.length, 10)
    for (const [i, row] of kept.liveRows.entries())
      for (const id of ids) {
        const metrics = [batchMetrics(batch), batchMetrics(received)]
        metrics[0].row = row
        metrics[1].row = i
        const [there, here] = metrics.map((each) => [
          each.recordCount,
          each.valueCount(id),
          each.nullValueCount(id),
          each.nanValueCount(id),
          boundOf(each, 'lowerBound', id),
          boundOf(each, 'upperBound', id),
        ])
        assert.deepEqual(here, there)
      }
  })
})
