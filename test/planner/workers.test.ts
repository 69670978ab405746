/**
 * Plans by worker threads are plans by one thread: the same tasks, byte for byte, or the same error, whatever finishes
 * first; and what goes wrong in a thread stays with the plan it belongs to.
 */
import { fileURLToPath, pathToFileURL } from 'node:url'
import { assert } from 'chai'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rebase } from '../../src/io/rebase.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { DecodeContext, JobManifest } from '../../src/planner/decode-job.ts'
import type { DecodedBatch, Decoder, StopSignal } from '../../src/planner/decoder.ts'
import { InlineDecoder } from '../../src/planner/inline-decoder.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { PlanOptions } from '../../src/planner/scan-plan.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import { corpusEntries, describeCorpus } from '../support/corpus.ts'
import { digestOf, loadCorpusTable, nameOf, planTable } from '../support/corpus-table.ts'
import { seededRandom } from '../support/record-shape.ts'
import { rejection } from '../support/rejection.ts'
import { projectRoot } from '../support/root.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { type BuiltTable, type ManifestInput, writeManifest } from '../support/table-writer.ts'
import { generatedTable } from './generated-table.ts'
import {
  allOf,
  dataManifests,
  GatedFileIO,
  loadBuilt,
  LOCATION,
  pathsOf,
  planBuilt,
  settle,
  tableOf,
} from './planning.ts'

const compiledWorker = (name: string) =>
  fileURLToPath(new URL(`../workers/${name}.worker.js`, import.meta.url))

const WAYS = [0, 1, 2, 4].flatMap((workers) =>
  (['on', 'bytes only', 'off'] as const).map((cache) => ({
    workers,
    cache,
    name: `${workers} workers, cache ${cache}`,
  })),
)

/** Digest of a plan's tasks, or how it fails. */
async function outcomeOf(table: Table, planner?: ScanPlanner, snapshotId?: bigint): Promise<string> {
  try {
    return digestOf((await planTable(table, { snapshotId }, planner)).tasks)
  } catch (error) {
    const { name, message, location, entry, byte } = error as Error & Record<string, unknown>
    return JSON.stringify({ name, message, location, entry, byte })
  }
}

describe('workers', () => {
  const planners: ScanPlanner[] = []
  function planner(options: ConstructorParameters<typeof ScanPlanner>[0]): ScanPlanner {
    const made = new ScanPlanner(options)
    planners.push(made)
    return made
  }

  after(async () => {
    for (const made of planners) await made.close()
  })

  describe('give the same tasks in the same order', () => {
    let byWay: { name: string; planner: ScanPlanner; rounds: number }[]
    before(() => {
      byWay = WAYS.map(({ workers, cache, name }) => ({
        name,
        planner: planner({
          workers,
          cache: cache === 'off' ? 'off' : new ManifestCache(cache === 'on' ? {} : { maxEntryBytes: 0 }),
        }),
        // With a cache the second plan finds everything there: entries, or the bytes of files.
        rounds: cache === 'off' ? 1 : 2,
      }))
    })

    async function assertSame(load: () => Promise<Table>, snapshotId?: bigint): Promise<void> {
      const want = await outcomeOf(await load(), undefined, snapshotId)
      for (const { name, planner, rounds } of byWay) {
        const table = await load()
        for (let round = 0; round < rounds; round++)
          assert.equal(await outcomeOf(table, planner, snapshotId), want, name)
      }
    }

    for (const name of ['orders', 'codecs', 'upgraded'])
      it(`fixtures/${name}`, async () => {
        const folder = fileURLToPath(new URL(`fixtures/${name}`, projectRoot()))
        const rebases = [rebase(`s3://warehouse/db/${name}`, folder)]
        const load = () => loadTable(folder, { rebase: rebases })
        const { snapshots } = (await load()).metadata
        // The last one, and some before it.
        for (const [i, { snapshotId }] of snapshots.entries())
          if ((snapshots.length - 1 - i) % 5 === 0) await assertSame(load, snapshotId)
      })

    for (const formatVersion of [2, 3] as const)
      it(`a generated table of version ${formatVersion} ${WITH_SEED}`, async () => {
        const built = generatedTable({ seed: SEED + formatVersion, formatVersion, manifests: 120 })
        assert.match(await outcomeOf(await loadBuilt(built)), /^[0-9a-f]{64}$/)
        await assertSame(() => loadBuilt(built))
      })

    it('R1.12: inline manifests of v1', async () => {
      const specs = [
        { fields: [] },
        { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] },
      ] as const
      const manifests: ManifestInput[] = [
        { specId: 1, entries: [{ dataFile: { filePath: 'a', partition: ['eu'] } }] },
        { specId: 0, entries: [{ dataFile: { filePath: 'b' } }] },
      ]
      const built = tableOf([], {
        formatVersion: 1,
        specs,
        snapshots: [{ inlineManifests: true, manifests }],
      })
      await assertSame(() => loadBuilt(built))
    })

    it('a header that names another spec than the list', async () => {
      const specs = [
        { fields: [] },
        { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] },
      ] as const
      const entries = [{ dataFile: { filePath: 'a', partition: ['eu'] } }]
      const built = tableOf([{ specId: 1, entries, write: { partitionSpecId: 0 } }], { specs })
      await assertSame(() => loadBuilt(built))
    })

    it('and the same error: the first in order', async () => {
      const built = generatedTable({ seed: SEED, formatVersion: 2, manifests: 100 })
      const files = new Map(built.files)
      const [{ rows }] = built.snapshots
      for (const at of [80, 30, 60]) {
        const { manifestPath } = rows[at]
        files.set(manifestPath, files.get(manifestPath)!.slice(0, -3))
      }
      assert.match(await outcomeOf(await loadBuilt({ ...built, files })), /"CorruptFileError"/)
      await assertSame(() => loadBuilt({ ...built, files }))
    })

    describeCorpus('of the corpus', () => {
      it('tables with several manifests', async function () {
        this.timeout(60_000)
        const entries = corpusEntries('table').filter(({ manifests }) => {
          const total = manifests?.total ?? 0
          return total > 1 && total < 1000
        })
        assert.isAbove(entries.length, 30)
        for (const entry of entries) {
          try {
            await assertSame(() => loadCorpusTable(entry))
          } catch (error) {
            ;(error as Error).message += ` (${nameOf(entry)})`
            throw error
          }
        }
      })
    })
  })

  describe('order', () => {
    it(`whatever is decoded first, tasks come in order ${WITH_SEED}`, async () => {
      let shuffled = 0
      for (let i = 0; i < 4; i++) {
        // A first run of 32, then 256 and the rest.
        const built = generatedTable({ seed: SEED + i, formatVersion: 2, manifests: 300 })
        const want = await outcomeOf(await loadBuilt(built))
        const decoder = new ShuffledDecoder(SEED + i)
        const planner = new ScanPlanner({ decoder, cache: 'off' })
        assert.equal(await outcomeOf(await loadBuilt(built), planner), want, `table ${i}`)
        assert.isAtMost(decoder.most, 2 * decoder.workers, 'jobs of one plan at a time')
        shuffled += decoder.hasShuffled ? 1 : 0
      }
      assert.isAbove(shuffled, 0)
    })

    it('the first jobs of a plan are more urgent than the later ones of another', async () => {
      const urgencies: number[] = []
      const decoder: Decoder = {
        workers: 2,
        decode: (_manifests, _context, _stop, urgency) => {
          urgencies.push(urgency)
          return new Promise(() => undefined)
        },
      }
      const planner = new ScanPlanner({ decoder })
      const table = await loadBuilt(tableOf(dataManifests(...Array.from({ length: 9 }, () => 5000))))
      const streams = []
      const firsts: number[][] = []
      for (let i = 0; i < 2; i++) {
        const { tasks } = await planner.plan(table.newScan())
        streams.push(tasks)
        void tasks.next()
        await settle()
        firsts.push(urgencies.splice(0))
      }
      const [big, small] = firsts
      assert.lengthOf(big, 4)
      assert.equal(Math.max(...small), Math.max(...big))
      assert.isAbove(Math.max(...small), Math.min(...big))
      for (const tasks of streams) await tasks.return!()
    })

    it('a plan that begins during a big one ends long before it', async () => {
      const shared = planner({ workers: 1 })
      const bigTable = await loadBuilt(manyCopies(200, 3000))
      const big = await shared.plan(bigTable.newScan())
      const { tasks } = big
      await tasks.next()
      const all = allOf(tasks)
      assert.lengthOf((await planTable(await loadBuilt(tableOf(dataManifests(3))), {}, shared)).tasks, 3)
      assert.isBelow(big.report.scannedDataManifests, 150)
      assert.lengthOf(await all, 200 * 3000 - 1)
      assert.isTrue(big.report.complete)
    })
  })

  describe('reports', () => {
    it('workers, and look-ups of all threads', async () => {
      const built = tableOf(dataManifests(...Array.from({ length: 100 }, () => 2)))
      const cache = new ManifestCache()
      const two = planner({ workers: 2, cache })
      const { plan } = await planBuilt(built, { planner: two })
      const { planCacheHits, planCacheMisses, workers } = plan.report
      assert.equal(workers, 2)
      // A shape and a plan for each manifest, and the list; new to each thread once.
      assert.equal(planCacheHits + planCacheMisses, 201)
      assert.isAtMost(planCacheMisses, 5)
      assert.deepEqual([cache.hits, cache.misses], [planCacheHits, planCacheMisses])
    })

    it('auto decodes a small table in this thread', async () => {
      const { plan } = await planBuilt(tableOf(dataManifests(2, 3)), {
        planner: planner({ workers: 'auto' }),
      })
      assert.equal(plan.report.workers, 0)
    })

    it('a plan without manifests needs no thread', async () => {
      const { plan } = await planBuilt(tableOf([]), { planner: planner({ workers: 2 }) })
      assert.equal(plan.report.workers, 0)
    })
  })

  describe('stopping', () => {
    const built = manyCopies(100, 20_000)
    let shared: ScanPlanner
    before(() => {
      shared = planner({ workers: 2 })
    })
    /** Of a plan that has been stopped: the next one works, and is right. */
    afterEach(async () => {
      const { tasks, plan } = await planBuilt(tableOf(dataManifests(2, 5000, 1)), { planner: shared })
      assert.lengthOf(tasks, 5003)
      assert.equal(plan.report.workers, 2)
    })

    async function begun(options: PlanOptions = {}) {
      const plan = await shared.plan((await loadBuilt(built)).newScan(), options)
      const { tasks } = plan
      await tasks.next()
      return { plan, tasks }
    }

    /** Milliseconds until a promise settles. */
    async function timeOf(promise: Promise<unknown>): Promise<number> {
      const start = performance.now()
      await promise.catch(() => undefined)
      return performance.now() - start
    }

    it('a signal: the plan rejects soon, with its reason', async () => {
      const controller = new AbortController()
      const { plan, tasks } = await begun({ signal: controller.signal })
      const rest = rejection(allOf(tasks))
      controller.abort('enough')
      assert.isBelow(await timeOf(rest), 1000)
      assert.equal(await rest, 'enough' as never)
      assert.isFalse(plan.report.complete)
    })

    it('timeoutMs: a TimeoutError, soon after', async () => {
      const plan = await shared.plan((await loadBuilt(built)).newScan(), { timeoutMs: 200 })
      const rest = rejection(allOf(plan.tasks))
      assert.isBelow(await timeOf(rest), 1200)
      assert.equal((await rest).name, 'TimeoutError')
      assert.isFalse(plan.report.complete)
    })

    it('leaving the loop', async () => {
      const { plan, tasks } = await begun()
      assert.isBelow(await timeOf(tasks.return!()), 1000)
      assert.isFalse(plan.report.complete)
    })

    it('leaving while next() waits', async () => {
      const plan = await shared.plan((await loadBuilt(built)).newScan())
      const { tasks } = plan
      const next = tasks.next()
      await settle()
      assert.isBelow(await timeOf(tasks.return!()), 1000)
      assert.isTrue((await next).done)
    })

    it('before anything is decoded', async () => {
      const controller = new AbortController()
      const plan = await shared.plan((await loadBuilt(built)).newScan(), { signal: controller.signal })
      controller.abort('never')
      assert.equal(await rejection(allOf(plan.tasks)), 'never' as never)
    })
  })

  describe('a worker that', () => {
    const good = manyCopies(40, 3000)
    const deadly = tableOf([
      ...dataManifests(3000, 3000),
      { ...dataManifests(1)[0], path: `${LOCATION}/metadata/deadly.avro` },
      ...dataManifests(3000),
    ])

    for (const workers of [1, 2])
      it(`dies fails its plan, not those beside it or after it: ${workers} workers`, async () => {
        const fragile = planner({ workers, workerFile: compiledWorker('fragile') })
        const beside = planBuilt(good, { planner: fragile })
        for (let i = 0; i < 2; i++) {
          const error = await rejection(planBuilt(deadly, { planner: fragile }))
          assert.equal(error.code, 'ERR_WORKER')
          assert.match(error.message, /A worker thread failed: .*exited.* 9/)
        }
        assert.lengthOf((await beside).tasks, 40 * 3000)
        const { tasks, plan } = await planBuilt(good, { planner: fragile })
        assert.lengthOf(tasks, 40 * 3000)
        assert.equal(plan.report.workers, workers)
      })

    it('does not load fails every plan', async () => {
      const broken = planner({ workers: 2, workerFile: compiledWorker('throws-while-loading') })
      for (let i = 0; i < 2; i++) {
        const error = await rejection(planBuilt(good, { planner: broken }))
        assert.equal(error.code, 'ERR_WORKER')
        assert.match(error.message, /A worker thread failed: nothing works today/)
      }
    })

    it('does not exist is done without, with a warning', async () => {
      const workerFile = compiledWorker('missing')
      for (const file of [workerFile, pathToFileURL(workerFile), pathToFileURL(workerFile).href]) {
        const { tasks, plan } = await planBuilt(tableOf(dataManifests(2)), {
          planner: planner({ workers: 2, workerFile: file }),
        })
        assert.lengthOf(tasks, 2)
        assert.equal(plan.report.workers, 0)
        assert.deepEqual(plan.report.warnings, [
          `The worker file ${workerFile} does not exist, so manifests are decoded in this thread (option workerFile).`,
        ])
      }
    })

    it('has forgotten a plan over many others is told again', async () => {
      const built = tableOf(dataManifests(3000, 3000, 3000, 3000, 3000, 3000))
      const want = pathsOf((await planBuilt(built)).tasks)
      const [{ rows }] = built.snapshots
      const io = new GatedFileIO(new MemoryFileIO(built.files), (location) =>
        rows.slice(3).some(({ manifestPath }) => manifestPath === location),
      )
      const shared = planner({ workers: 1 })
      const plan = await shared.plan((await loadBuilt(built, { io })).newScan())
      const all = allOf(plan.tasks)
      await settle()
      for (let i = 0; i < 40; i++)
        assert.lengthOf((await planBuilt(tableOf(dataManifests(1)), { planner: shared })).tasks, 1)
      io.isHeld = () => false
      io.release()
      assert.deepEqual(pathsOf(await all), want)
    })
  })

  describe('closing the planner', () => {
    it('fails plans that run, clearly; a plan that is begun meanwhile too', async () => {
      const closing = new ScanPlanner({ workers: 1 })
      const table = await loadBuilt(manyCopies(100, 3000))
      const plan = await closing.plan(table.newScan())
      const { tasks } = plan
      await tasks.next()
      const late = rejection(closing.plan(table.newScan()))
      const rest = rejection(allOf(tasks))
      await closing.close()
      const error = await rest
      assert.equal(error.code, 'ERR_WORKER')
      assert.match(error.message, /closed/)
      assert.match((await late).message, /closed/)
    })
  })
})

/** A table of many manifests with the same bytes: large, and quickly made. */
function manyCopies(manifests: number, entries: number): BuiltTable {
  const one = dataManifests(entries)[0]
  const bytes = writeManifest({ entries: one.entries, ...one.write })
  const copies = Array.from({ length: manifests }, (_, i) => `${LOCATION}/metadata/copy-${i}.avro`)
  const row = { manifestLength: bytes.length, addedFilesCount: entries, existingFilesCount: 0 }
  const rows = copies.map((manifestPath) => ({
    ...row,
    manifestPath,
    partitionSpecId: 0,
    content: 0,
    sequenceNumber: 1,
    minSequenceNumber: 1,
    addedSnapshotId: 1n,
  }))
  const built = tableOf([], { snapshots: [{ manifests: [], rows }] })
  for (const copy of copies) built.files.set(copy, bytes)
  return built
}

/** Decodes in this thread and answers in an order of its own. */
class ShuffledDecoder implements Decoder {
  readonly workers = 3
  /** Jobs at a time, at most. */
  most = 0
  /** True once an answer has overtaken another. */
  hasShuffled = false
  readonly #inline = new InlineDecoder(ManifestCache.disabled())
  readonly #random: () => number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  async decode(
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop: StopSignal,
  ): Promise<DecodedBatch> {
    this.most = Math.max(this.most, ++this.#running)
    const decoded = await this.#inline.decode(manifests, context, stop)
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      // The others of the plan get here meanwhile.
      void settle().then(() => {
        const chosen = Math.floor(this.#random() * this.#waiting.length)
        this.hasShuffled ||= chosen > 0
        this.#waiting.splice(chosen, 1)[0]()
      })
    })
    this.#running--
    return decoded
  }
}
