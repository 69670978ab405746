/**
 * Decoded entries in the cache: a plan that finds them is the plan that decodes, whatever was asked before; and what is
 * read and decoded again is no more than what is not there.
 */
import { assert } from 'chai'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { randomFilter } from '../naive-twin/filters.ts'
import { Random } from '../naive-twin/random.ts'
import { randomTable } from '../naive-twin/tables.ts'
import { digestOf } from '../support/corpus-table.ts'
import { rejection } from '../support/rejection.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { type BuiltTable, buildTable, type ManifestInput } from '../support/table-writer.ts'
import { allOf, loadBuilt, LOCATION, pathsOf, SCHEMA, tableOf } from './planning.ts'

const longBytes = (value: number): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value), true)
  return bytes
}

/** Manifest m has the files `data/m-0` and so on, of ids 100 m + 10 e to 9 more, and regions beginning with a letter. */
function manifestsOf(...sizes: readonly number[]): ManifestInput[] {
  return sizes.map((size, m) => ({
    entries: Array.from({ length: size }, (_, e) => ({
      status: e === 1 ? 2 : 1,
      dataFile: {
        filePath: `data/${m}-${e}`,
        recordCount: 10,
        valueCounts: { 1: 10, 2: 10 },
        nullValueCounts: { 1: 0, 2: 0 },
        lowerBounds: { 1: longBytes(100 * m + 10 * e), 2: Buffer.from('abcdefgh'[e]) },
        upperBounds: { 1: longBytes(100 * m + 10 * e + 9), 2: Buffer.from(`${'abcdefgh'[e]}z`) },
      },
    })),
  }))
}

/** Plans with one planner, one after another: what is planned, requests, and manifests whose entries were there. */
async function planAll(
  built: BuiltTable,
  cache: ManifestCache,
  scans: readonly ScanOptions[],
  workers = 0,
): Promise<{ paths: string[]; requests: number; hits: number; report: ScanReport }[]> {
  const io = new CountingFileIO(new MemoryFileIO(built.files))
  await using planner = new ScanPlanner({ workers, cache })
  const plans = []
  for (const scan of scans) {
    const table = await loadBuilt(built, { io })
    io.reset()
    const plan = await planner.plan(table.newScan(scan))
    const paths = pathsOf(await allOf(plan.tasks))
    plans.push({ paths, requests: io.requests, hits: plan.report.cacheEntryHits, report: plan.report })
  }
  return plans
}

describe('decoded entries in the cache', () => {
  const built = tableOf(manifestsOf(3, 2, 4))
  const MANIFESTS = 3
  const ALL = ['data/0-0', 'data/0-2', 'data/1-0', 'data/2-0', 'data/2-2', 'data/2-3']

  for (const workers of [0, 2])
    describe(`${workers} workers`, () => {
      it('the same plan again decodes nothing and looks up no header', async () => {
        const [cold, warm] = await planAll(built, new ManifestCache(), [{}, {}], workers)
        assert.deepEqual(cold.paths, ALL)
        assert.deepEqual(warm.paths, ALL)
        assert.deepEqual([cold.hits, warm.hits], [0, MANIFESTS])
        assert.deepEqual([warm.report.planCacheHits, warm.report.planCacheMisses], [0, 0])
        assert.equal(warm.report.scannedDataManifests, MANIFESTS)
      })

      const filters: [filter: string, paths: string[]][] = [
        ['id < 10', ['data/0-0']],
        ['id >= 220', ['data/2-2', 'data/2-3']],
        ["region = 'c'", ['data/0-2', 'data/2-2']],
        ["region = 'c' OR id = 105", ['data/0-2', 'data/1-0', 'data/2-2']],
        ['amount IS NULL', ALL],
        ['id > 1000', []],
      ]
      it('other filters, in any order, on columns that were not read before', async () => {
        for (const order of [filters, filters.toReversed(), [...filters, ...filters]]) {
          // Without bytes to decode again, every look at the storage counts.
          const plans = await planAll(
            built,
            new ManifestCache(),
            order.map(([filter]) => ({ filter })),
            workers,
          )
          for (const [i, { paths, requests }] of plans.entries()) {
            assert.deepEqual(paths, order[i][1], order[i][0])
            assert.equal(requests, i === 0 ? 1 + MANIFESTS : 0, order[i][0])
          }
        }
      })

      it('a column that is new is read again, and nothing else', async () => {
        const scans = [{}, { filter: 'id < 10' }, { filter: 'id < 20' }, { filter: "region = 'c'" }, {}]
        const plans = await planAll(built, new ManifestCache({ maxFileBytes: 0 }), scans, workers)
        // The list is not kept either.
        assert.deepEqual(
          plans.map(({ requests }) => requests - 1),
          [MANIFESTS, MANIFESTS, 0, MANIFESTS, 0],
        )
      })
    })

  it('plans at once keep what they decode once', async () => {
    const table = await loadBuilt(built)
    const alone = new ManifestCache()
    await using one = new ScanPlanner({ workers: 0, cache: alone })
    await allOf((await one.plan(table.newScan())).tasks)
    const together = new ManifestCache()
    await using both = new ScanPlanner({ workers: 0, cache: together })
    await Promise.all([1, 2, 3].map(async () => allOf((await both.plan(table.newScan())).tasks)))
    assert.equal(together.entries.bytes, alone.entries.bytes)
  })

  it('plans at once that read one column more count it once', async () => {
    const bytesAfter = async (atOnce: number): Promise<number> => {
      const cache = new ManifestCache()
      const table = await loadBuilt(built)
      await using planner = new ScanPlanner({ workers: 2, cache })
      const plan = async (scan: ScanOptions): Promise<unknown> =>
        allOf((await planner.plan(table.newScan(scan))).tasks)
      await plan({})
      await Promise.all(Array.from({ length: atOnce }, () => plan({ filter: 'id < 10' })))
      return cache.entries.bytes
    }
    assert.equal(await bytesAfter(3), await bytesAfter(1))
  })

  it('threads are for plans that have to decode', async () => {
    const scans: [why: string, scan: ScanOptions, workers: number][] = [
      ['nothing is there', {}, 2],
      ['all is there', {}, 0],
      ['a column is not', { filter: 'id < 10' }, 2],
      ['now it is', { filter: 'id < 20' }, 0],
      ['tasks show metrics, which are decoded in another form', { includeColumnStats: ['id'] }, 2],
    ]
    const plans = await planAll(
      built,
      new ManifestCache(),
      scans.map(([, scan]) => scan),
      2,
    )
    assert.deepEqual(
      plans.map(({ report }, i) => [scans[i][0], report.workers]),
      scans.map(([why, , workers]) => [why, workers]),
    )
  })

  it('a plan that shows metrics reads them itself', async () => {
    const cache = new ManifestCache()
    const table = await loadBuilt(built)
    await using planner = new ScanPlanner({ workers: 0, cache })
    const stats = async (scan: ScanOptions): Promise<unknown[]> => {
      const plan = await planner.plan(table.newScan(scan))
      return (await allOf(plan.tasks)).map(({ dataFile }) => dataFile.valueCounts?.get(1))
    }
    assert.deepEqual(await stats({ filter: 'id < 10' }), [undefined])
    assert.deepEqual(await stats({ filter: 'id < 10', includeColumnStats: ['id'] }), [10])
    assert.deepEqual(await stats({ filter: 'id < 10' }), [undefined])
  })

  it('a part of what was decoded together', async () => {
    const spec = { fields: [{ sourceId: 1, name: 'ten', transform: 'truncate[100]' }] } as const
    const manifests = manifestsOf(1, 1, 1, 1).map((manifest, m) => ({
      specId: 0,
      entries: manifest.entries.map(({ dataFile }) => ({
        dataFile: { ...dataFile, partition: [100n * BigInt(m)] },
      })),
    }))
    const parts = tableOf(manifests, { specs: [spec] })
    const plans = await planAll(parts, new ManifestCache(), [
      {},
      { filter: 'id >= 100 AND id < 200' },
      { filter: 'id < 100 OR id >= 200' },
      { filter: 'id >= 300' },
    ])
    assert.deepEqual(
      plans.map(({ paths }) => paths),
      [
        ['data/0-0', 'data/1-0', 'data/2-0', 'data/3-0'],
        ['data/1-0'],
        ['data/0-0', 'data/2-0', 'data/3-0'],
        ['data/3-0'],
      ],
    )
    assert.deepEqual(
      plans.map(({ report }) => [report.scannedDataManifests, report.skippedDataManifests]),
      [
        [4, 0],
        [1, 3],
        [3, 1],
        [1, 3],
      ],
    )
  })

  describe('the budget', () => {
    const many = tableOf(manifestsOf(...Array<number>(40).fill(8)))

    it('is kept, and of a table beyond it a part stays for the next plan', async () => {
      const whole = new ManifestCache()
      await planAll(many, whole, [{}])
      const cache = new ManifestCache({ maxEntryBytes: whole.entries.bytes / 2 })
      const plans = await planAll(many, cache, [{}, {}, {}])
      const want = plans[0].paths
      for (const { paths } of plans) assert.deepEqual(paths, want)
      assert.isAtMost(cache.entries.bytes, cache.entries.maxBytes)
      assert.isAbove(plans[1].hits, 0)
      assert.isBelow(plans[1].hits, 40)
      assert.isAtLeast(plans[2].hits, plans[1].hits)
    })

    it('another table takes the place of what is not used any more', async () => {
      const whole = new ManifestCache()
      await planAll(many, whole, [{}])
      const cache = new ManifestCache({ maxEntryBytes: Math.ceil(whole.entries.bytes * 1.2) })
      await planAll(many, cache, [{}])
      const [cold, warm] = await planAll(many, cache, [{}, {}])
      // Another storage, for each call has its own.
      assert.deepEqual([cold.hits, warm.hits], [0, 40])
      assert.isAtMost(cache.entries.bytes, cache.entries.maxBytes)
    })

    for (const [why, cache] of [
      ['of nothing', () => new ManifestCache({ maxEntryBytes: 0 })],
      ['of a disabled cache', () => ManifestCache.disabled()],
    ] as const)
      it(`${why}: everything is decoded again`, async () => {
        const plans = await planAll(built, cache(), [{}, {}, { filter: 'id < 10' }])
        assert.deepEqual(
          plans.map(({ hits }) => hits),
          [0, 0, 0],
        )
      })
  })

  it('a manifest under another row of a list inherits anew', async () => {
    // Both snapshots list one manifest, whose entries take the sequence number of its row.
    const manifest = (sequenceNumber: number): ManifestInput => ({
      entries: [{ status: 1, dataFile: { filePath: 'a' } }],
      path: `${LOCATION}/metadata/shared.avro`,
      sequenceNumber,
      addedSnapshotId: 1n,
    })
    const shared = buildTable({
      schema: SCHEMA,
      snapshots: [{ manifests: [manifest(3)] }, { manifests: [manifest(8)] }],
    })
    const table = await loadBuilt(shared)
    const cache = new ManifestCache()
    await using planner = new ScanPlanner({ workers: 0, cache })
    const found: [bigint | undefined, number][] = []
    const sizes = new Set<number>()
    for (const i of [0, 1, 0, 0]) {
      const plan = await planner.plan(table.newScan({ snapshotId: table.metadata.snapshots[i].snapshotId }))
      const [task] = await allOf(plan.tasks)
      found.push([task.dataFile.dataSequenceNumber, plan.report.cacheEntryHits])
      sizes.add(cache.entries.bytes)
    }
    assert.lengthOf([...sizes], 1, 'one takes the place of the other')
    assert.deepEqual(found, [
      [3n, 0],
      [8n, 0],
      [3n, 0],
      [3n, 1],
    ])
  })

  it('a file that changed underneath is an error once it is read again', async () => {
    await using planner = new ScanPlanner({ workers: 0, cache: new ManifestCache({ maxFileBytes: 0 }) })
    const io = new MemoryFileIO(built.files)
    const table = await loadTable(built.metadataLocation, { io })
    await allOf((await planner.plan(table.newScan())).tasks)
    for (const [path, bytes] of tableOf(manifestsOf(5, 2, 4)).files)
      if (!path.includes('snap')) io.files.set(path, bytes)
    const plan = await planner.plan(table.newScan({ filter: 'id < 10' }))
    const error = await rejection(allOf(plan.tasks))
    assert.match(error.message, /it has other entries than before$/)
  })

  it(`random tables: each plan equals one without a cache ${WITH_SEED}`, async function () {
    this.timeout(240_000)
    await using off = new ScanPlanner({ workers: 0, cache: 'off' })
    const budgets = [undefined, 20_000, 200_000]
    for (let number = 0; number < 24; number++) {
      const random = new Random(SEED + number * 104_729)
      const twin = randomTable(random, number)
      const maxEntryBytes = budgets[number % budgets.length]
      const cache = new ManifestCache(maxEntryBytes === undefined ? {} : { maxEntryBytes })
      await using on = new ScanPlanner({ workers: number % 8 === 0 ? 2 : 0, cache })
      const table = await loadTable(twin.built.metadataLocation, { io: new MemoryFileIO(twin.built.files) })
      for (let i = 0; i < 15; i++) {
        const filter = random.chance(0.2)
          ? undefined
          : randomFilter(twin.shape, random, { ignoresCase: false })
        const outcome = async (planner: ScanPlanner): Promise<unknown> => {
          const plan = await planner.plan(table.newScan(filter === undefined ? {} : { filter }))
          const digest = digestOf(await allOf(plan.tasks))
          const { skippedDataFiles, skippedDeleteFiles, resultDataFiles, indexedDeleteFiles, warnings } =
            plan.report
          return {
            digest,
            skippedDataFiles,
            skippedDeleteFiles,
            resultDataFiles,
            indexedDeleteFiles,
            warnings,
          }
        }
        assert.deepEqual(await outcome(on), await outcome(off), `table ${number}, filter ${i}`)
      }
    }
  })
})
