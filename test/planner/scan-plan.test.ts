import { assert } from 'chai'
import { NotFoundError, StorageError } from '../../src/errors.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { DEFAULT_REQUEST_LIMIT } from '../../src/io/limit-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rebase } from '../../src/io/rebase.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import type { PlanProgress, ScanPlan } from '../../src/planner/scan-plan.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import { rejection, thrown } from '../support/rejection.ts'
import { type BuiltTable, buildTable, type ManifestInput } from '../support/table-writer.ts'
import {
  allOf,
  dataManifests,
  freshPlanner,
  GatedFileIO,
  loadBuilt,
  namesOf,
  pathsOf,
  planBuilt,
  SCHEMA,
  settle,
  tableOf,
} from './planning.ts'

/** Manifests that are surely not requested at once: the window holds fewer. */
const TOO_MANY = 4 * DEFAULT_REQUEST_LIMIT

const deletes = (...paths: string[]): ManifestInput => ({
  content: 'deletes',
  entries: paths.map((filePath) => ({ dataFile: { content: 1, filePath, fileSizeInBytes: 10 } })),
})

const listOf = (built: BuiltTable, snapshot = 0): string => built.snapshots[snapshot].manifestList!
const manifestsOf = (built: BuiltTable, snapshot = 0): string[] =>
  built.snapshots[snapshot].rows.map(({ manifestPath }) => manifestPath)

function pathOf(answer: IteratorResult<FileScanTask, unknown>): string | undefined {
  return answer.done === true ? undefined : answer.value.dataFile.filePath
}

/** A plan of a table whose manifests wait to be let through; list and metadata do not. */
async function gatedPlan(built: BuiltTable, options: Parameters<ScanPlanner['plan']>[1] = {}) {
  const io = new GatedFileIO(new MemoryFileIO(built.files), (location) =>
    manifestsOf(built).includes(location),
  )
  const table = await loadBuilt(built, { io })
  const plan = await freshPlanner().plan(table.newScan(), options)
  return { io, plan, begun: () => io.begun.filter((location) => io.isHeld(location)) }
}

describe('scan plan', () => {
  describe('order', () => {
    it('tasks come in manifest order and entry order, over batches', async () => {
      const sizes = [3, 1, 5000, 2, 0, 4]
      const built = tableOf(dataManifests(...sizes))
      const { tasks } = await planBuilt(built)
      assert.deepEqual(
        pathsOf(tasks),
        sizes.flatMap((size, m) => Array.from({ length: size }, (_, e) => `data/${m}-${e}`)),
      )
    })

    it('whatever the order in which the store answers', async () => {
      const built = tableOf(dataManifests(1, 1, 1, 1))
      const { io, plan } = await gatedPlan(built)
      const all = allOf(plan.tasks)
      await settle()
      assert.sameMembers(io.waiting, manifestsOf(built))
      io.isHeld = () => false
      // The last one first.
      for (let i = 0; i < 4; i++) {
        const waiting = io.waiting.length
        io.releaseLast()
        assert.equal(io.waiting.length, waiting - 1)
        await settle()
      }
      assert.deepEqual(pathsOf(await all), ['data/0-0', 'data/1-0', 'data/2-0', 'data/3-0'])
    })

    it('B043: DELETED entries are never planned, of neither kind', async () => {
      const manifests: ManifestInput[] = [
        {
          entries: [
            { status: 2, dataFile: { filePath: 'gone' } },
            { status: 1, dataFile: { filePath: 'added' } },
            { status: 0, sequenceNumber: 1, dataFile: { filePath: 'existing' } },
          ],
        },
        {
          content: 'deletes',
          entries: [
            { status: 2, dataFile: { content: 1, filePath: 'old delete' } },
            { status: 1, dataFile: { content: 1, filePath: 'delete' } },
          ],
        },
      ]
      const { tasks } = await planBuilt(tableOf(manifests))
      assert.deepEqual(tasks.map(namesOf), [
        ['added', 'delete'],
        ['existing', 'delete'],
      ])
    })

    it('R4.26: a path that is live twice gives two tasks', async () => {
      const { tasks } = await planBuilt(tableOf([dataManifests(1)[0], dataManifests(1)[0]]))
      assert.deepEqual(pathsOf(tasks), ['data/0-0', 'data/0-0'])
    })
  })

  describe('laziness', () => {
    it('nothing beyond the manifest list is read before the first next()', async () => {
      const built = tableOf([...dataManifests(1, 1), deletes('p')])
      const io = new CountingFileIO(new MemoryFileIO(built.files))
      const table = await loadBuilt(built, { io })
      const scan = table.newScan()
      assert.deepEqual([...io.byLocation.keys()], [built.metadataLocation])
      const plan = await freshPlanner().plan(scan)
      const { tasks } = plan
      await settle()
      assert.deepEqual([...io.byLocation.keys()], [built.metadataLocation, listOf(built)])
      assert.equal(plan.report.ioRequests, 1)
      await tasks.next()
      assert.equal(io.requests, 2 + 3)
    })

    it('while a batch lasts, next() is answered at once', async () => {
      const { tasks } = await freshPlanner().plan((await loadBuilt(tableOf(dataManifests(3)))).newScan())
      await tasks.next()
      for (let i = 0; i < 2; i++) {
        const answer = await Promise.race([tasks.next(), Promise.resolve('later')])
        assert.notEqual(answer, 'later')
      }
      assert.isTrue((await tasks.next()).done)
    })

    it('data manifests go on being requested while deletes are waited for, however long a request takes to begin', async () => {
      const built = tableOf([...dataManifests(...new Array<number>(12).fill(1)), deletes('x')])
      const { rows } = built.snapshots[0]
      const [{ manifestPath: first }] = rows.filter(({ content }) => content === 1)
      const held = new GatedFileIO(new MemoryFileIO(built.files), (location) => location === first)
      const io: FileIO = {
        identity: held.identity,
        open(location) {
          const file = held.open(location)
          return {
            location,
            read: (...args) => {
              const start = performance.now()
              while (performance.now() - start < 10);
              return file.read(...args)
            },
          }
        },
      }
      const table = await loadBuilt(built, { io })
      const plan = await freshPlanner().plan(table.newScan())
      const { tasks } = plan
      const next = tasks.next()
      for (let i = 0; i < 500 && held.begun.length < 2 + rows.length; i++) await settle()
      assert.deepEqual(held.waiting, [first])
      assert.includeMembers(
        held.begun,
        rows.map(({ manifestPath }) => manifestPath),
      )
      held.release()
      await next
      await tasks.return?.()
    })

    it('no more is requested ahead than the window holds', async () => {
      const built = tableOf(dataManifests(...Array.from({ length: TOO_MANY }, () => 1)))
      // As many as the limit of requests lets through at once; the others of the window wait behind it.
      const { io, plan, begun } = await gatedPlan(built)
      const { tasks } = plan
      const first = tasks.next()
      await settle()
      // The list, and manifests for twice as many as run at once.
      assert.isAtMost(plan.report.ioRequests, 1 + 2 * DEFAULT_REQUEST_LIMIT)
      assert.isAtMost(begun().length, DEFAULT_REQUEST_LIMIT)
      io.isHeld = () => false
      io.release()
      assert.equal(pathOf(await first), 'data/0-0')
      await tasks.return!()
    })
  })

  describe('stopping', () => {
    it('leaving the loop aborts what is under way and begins nothing more', async () => {
      const built = tableOf(dataManifests(5000, 1, 1, 1))
      const { io, plan, begun } = await gatedPlan(built)
      const first = manifestsOf(built)[0]
      io.isHeld = (location) => manifestsOf(built).includes(location) && location !== first
      for await (const task of plan.tasks) {
        assert.equal(task.dataFile.filePath, 'data/0-0')
        break
      }
      await settle()
      const before = begun().length
      assert.sameMembers(io.aborted, manifestsOf(built).slice(1))
      io.release()
      await settle()
      assert.equal(begun().length, before)
      assert.isFalse(plan.report.complete)
      assert.equal(plan.report.scannedDataManifests, 1)
    })

    it('return() while next() waits: both end, and so does the reading', async () => {
      const built = tableOf(dataManifests(1, 1))
      const { io, plan } = await gatedPlan(built)
      const { tasks } = plan
      const waiting = [tasks.next(), tasks.next()]
      await settle()
      assert.deepEqual(await tasks.return!(), { value: undefined, done: true })
      assert.sameMembers(io.aborted, manifestsOf(built))
      for (const answer of await Promise.all(waiting)) assert.isTrue(answer.done)
      assert.isTrue((await tasks.next()).done)
      assert.isFalse(plan.report.complete)
    })

    it('return() before the first next() reads nothing', async () => {
      const built = tableOf(dataManifests(1, 1))
      const { plan, begun } = await gatedPlan(built)
      const { tasks } = plan
      await tasks.return!()
      assert.isTrue((await tasks.next()).done)
      assert.isEmpty(begun())
      assert.isFalse(plan.report.complete)
    })

    it('leaving in the middle of a batch leaves the rest of it', async () => {
      const { plan } = await gatedPlan(tableOf([]))
      assert.isEmpty(await allOf(plan.tasks))
      const again = await freshPlanner().plan((await loadBuilt(tableOf(dataManifests(3)))).newScan())
      const { tasks } = again
      await tasks.next()
      await tasks.return!()
      assert.isTrue((await tasks.next()).done)
    })

    it('leaving a loop over batches', async () => {
      const built = tableOf(dataManifests(5000, 1))
      const { io, plan, begun } = await gatedPlan(built)
      io.isHeld = (location) => location === manifestsOf(built)[1]
      for await (const batch of plan.batches) {
        assert.equal(batch.length, 5000)
        break
      }
      assert.deepEqual(io.aborted, [manifestsOf(built)[1]])
      assert.lengthOf(begun(), 1)
      assert.isFalse(plan.report.complete)
    })
  })

  describe('aborting rejects with the reason of the signal', () => {
    const built = tableOf([...dataManifests(5000, 1), deletes('p')])
    const reason = { own: 'reason' }

    it('before', async () => {
      const table = await loadBuilt(built)
      const io = new CountingFileIO(table.io)
      const plan = freshPlanner().plan(table.newScan(), { signal: AbortSignal.abort(reason) })
      assert.equal(await rejection(plan), reason as never)
      assert.equal(io.requests, 0)
    })

    for (const [how, wrap] of [
      ['in a store that keeps to the contract', (error: unknown) => error],
      ['in a store that fails in its own words', () => new StorageError('connection closed')],
    ] as const)
      it(`while the list is read, ${how}`, async () => {
        const gated = new GatedFileIO(new MemoryFileIO(built.files), (location) => location === listOf(built))
        const table = await loadBuilt(built, { io: rewording(gated, wrap) })
        const controller = new AbortController()
        const plan = freshPlanner().plan(table.newScan(), { signal: controller.signal })
        await settle()
        assert.deepEqual(gated.waiting, [listOf(built)])
        controller.abort(reason)
        assert.equal(await rejection(plan), reason as never)
        assert.deepEqual(gated.aborted, [listOf(built)])
      })

    for (const [which, held] of [
      ['delete manifests', 2],
      ['data manifests', 0],
    ] as const)
      it(`while ${which} are read`, async () => {
        const controller = new AbortController()
        const { io, plan, begun } = await gatedPlan(built, { signal: controller.signal })
        io.isHeld = (location) => location === manifestsOf(built)[held]
        const { tasks } = plan
        const next = tasks.next()
        await settle()
        assert.deepEqual(io.waiting, [manifestsOf(built)[held]])
        const before = begun().length
        controller.abort(reason)
        assert.equal(await rejection(next), reason as never)
        assert.isTrue((await tasks.next()).done)
        assert.equal(begun().length, before)
        assert.isFalse(plan.report.complete)
      })

    it('between tasks: at the end of the batch at the latest', async () => {
      const controller = new AbortController()
      const plan = await freshPlanner().plan((await loadBuilt(built)).newScan(), {
        signal: controller.signal,
      })
      const taken: FileScanTask[] = []
      const taking = (async () => {
        for await (const task of plan.tasks) {
          taken.push(task)
          if (taken.length === 1) controller.abort(reason)
        }
      })()
      assert.equal(await rejection(taking), reason as never)
      assert.isAtMost(taken.length, 5000)
      assert.isFalse(plan.report.complete)
    })

    it('timeoutMs: a TimeoutError', async () => {
      const { plan } = await gatedPlan(built, { timeoutMs: 20 })
      const error = await rejection(allOf(plan.tasks))
      assert.equal(error.name, 'TimeoutError')
      assert.isFalse(plan.report.complete)
    })

    it('a signal that is not used leaves no trace, and is left alone afterwards', async () => {
      const { signal } = new AbortController()
      let listeners = 0
      const add = signal.addEventListener.bind(signal)
      signal.addEventListener = (type: string, listener: never, options: { signal?: AbortSignal }) => {
        listeners++
        options.signal!.addEventListener('abort', () => listeners--)
        add(type, listener, options)
      }
      assert.lengthOf((await planBuilt(built, { signal, timeoutMs: 600_000 })).tasks, 5001)
      assert.equal(listeners, 0)
      await rejection(planBuilt({ ...built, files: withoutFile(built, listOf(built)) }, { signal }))
      assert.equal(listeners, 0)
    })
  })

  describe('a manifest that fails', () => {
    const built = tableOf(dataManifests(...Array.from({ length: 100 }, () => 1)))
    const bad = manifestsOf(built)[57]

    it('of 100 fails the plan with that error; the report stays incomplete', async () => {
      const files = new Map(built.files)
      files.set(bad, files.get(bad)!.subarray(0, -5))
      const plan = await freshPlanner().plan((await loadBuilt({ ...built, files })).newScan())
      const { tasks } = plan
      const error = await rejection(allOf(tasks))
      assert.equal(error.code, 'ERR_CORRUPT_FILE')
      assert.equal(error.location, bad)
      assert.include(error.message, bad)
      assert.isFalse(plan.report.complete)
      assert.isTrue((await tasks.next()).done)
    })

    it('the first in order is reported when several fail, however soon the others do', async () => {
      const failing = [80, 57, 99].map((n) => manifestsOf(built)[n])
      const store = new MemoryFileIO(built.files)
      const io: FileIO = {
        identity: 'failing',
        open: (location) => {
          if (!failing.includes(location)) return store.open(location)
          const error = new StorageError(`Cannot read ${location}: refused`, { location })
          return {
            location,
            read: async () => {
              if (location === bad) await settle()
              throw error
            },
          }
        },
      }
      const error = await rejection(planBuilt(built, { io }))
      assert.equal(error.location, bad)
    })

    it('a missing one is named', async () => {
      const files = withoutFile(built, bad)
      const error = await rejection(planBuilt({ ...built, files }))
      assert.instanceOf(error, NotFoundError)
      assert.equal(error.location, bad)
    })

    it('a missing one of a moved table is named as it is and as it is stored', async () => {
      const to = (location: string) => location.replace('s3://warehouse', 's3://moved')
      const files = Array.from(withoutFile(built, bad), ([location, bytes]) => [to(location), bytes] as const)
      const table = await loadBuilt(
        { ...built, metadataLocation: to(built.metadataLocation) },
        { io: new MemoryFileIO(files), rebase: [rebase('s3://warehouse', 's3://moved')] },
      )
      const error = await rejection(allOf((await freshPlanner().plan(table.newScan())).tasks))
      assert.instanceOf(error, NotFoundError)
      assert.equal(error.location, to(bad))
      assert.include(error.message, to(bad))
      assert.include(error.message, bad)
    })

    it('a missing list', async () => {
      const error = await rejection(planBuilt({ ...built, files: withoutFile(built, listOf(built)) }))
      assert.instanceOf(error, NotFoundError)
      assert.equal(error.location, listOf(built))
    })

    it('a delete manifest that fails fails the plan, before any task (R7.6)', async () => {
      const withDeletes = tableOf([...dataManifests(1), deletes('p')])
      const missing = manifestsOf(withDeletes)[1]
      const plan = await freshPlanner().plan(
        (await loadBuilt({ ...withDeletes, files: withoutFile(withDeletes, missing) })).newScan(),
      )
      const error = await rejection(plan.tasks.next())
      assert.equal(error.location, missing)
      assert.equal(plan.report.resultDataFiles, 0)
    })
  })

  describe('one consumer', () => {
    const built = tableOf(dataManifests(2, 5000, 3))
    const newPlan = async (): Promise<ScanPlan> => freshPlanner().plan((await loadBuilt(built)).newScan())

    for (const [first, second] of [
      ['tasks', 'tasks'],
      ['tasks', 'batches'],
      ['batches', 'tasks'],
      ['batches', 'batches'],
    ] as const)
      it(`${first}, then ${second}: refused`, async () => {
        const plan = await newPlan()
        assert.property(plan[first], 'next')
        const error = thrown(() => plan[second])
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
        assert.match(error.message, /Cannot consume a plan twice/)
      })

    it('next() called many times without waiting: in order, and then the end, again and again', async () => {
      const { tasks } = await newPlan()
      const calls = Array.from({ length: 5010 }, () => tasks.next())
      const order: number[] = []
      calls.forEach((call, i) => void call.then(() => order.push(i)))
      const answers = await Promise.all(calls)
      assert.deepEqual(answers.slice(0, 5005).map(pathOf), pathsOf((await planBuilt(built)).tasks))
      assert.isTrue(answers.slice(5005).every(({ done }) => done === true))
      assert.deepEqual(
        order,
        calls.map((_, i) => i),
      )
      assert.isTrue((await tasks.next()).done)
    })

    it('calls that wait on a plan that fails: the first gets the error, the others the end', async () => {
      const files = withoutFile(built, manifestsOf(built)[0])
      const { tasks } = await freshPlanner().plan((await loadBuilt({ ...built, files })).newScan())
      const [first, ...others] = await Promise.allSettled([tasks.next(), tasks.next(), tasks.next()])
      assert.equal(first.status, 'rejected')
      for (const other of others)
        assert.deepEqual(other, { status: 'fulfilled', value: { value: undefined, done: true } })
    })

    it('batches hold the same tasks', async () => {
      const batches = await allOf((await newPlan()).batches)
      const tasks = batches.flatMap((batch) => Array.from({ length: batch.length }, (_, i) => batch.task(i)))
      assert.deepEqual(pathsOf(tasks), pathsOf((await planBuilt(built)).tasks))
      assert.isAbove(batches.length, 1)
      for (const batch of batches) {
        assert.isAbove(batch.length, 0)
        assert.equal(batch.length, batch.batch.liveRows.length)
      }
    })
  })

  describe('tasks', () => {
    const plain = (task: FileScanTask) => ({
      dataFile: task.dataFile.toJSON(),
      deletes: task.deletes.map((file) => file.toJSON()),
      start: task.start,
      length: task.length,
      residual: task.residual,
      partition: task.partition,
      specId: task.spec.specId,
      location: task.location,
      text: task.toString(),
    })

    it('detach(): an equal task that shares nothing', async () => {
      const inEu = { partition: ['eu'] }
      const built = buildTable({
        formatVersion: 3,
        schema: SCHEMA,
        specs: [{ fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] }],
        snapshots: [
          {
            manifests: [
              {
                entries: [
                  { dataFile: { partition: [null], filePath: 'other' } },
                  {
                    dataFile: {
                      ...inEu,
                      filePath: 'é'.repeat(50),
                      splitOffsets: [4, 500],
                      sortOrderId: 3,
                      keyMetadata: Uint8Array.of(1, 2),
                      recordCount: 17,
                      fileSizeInBytes: 12345,
                    },
                  },
                ],
              },
              {
                content: 'deletes',
                sequenceNumber: 2,
                entries: [
                  { dataFile: { ...inEu, content: 2, filePath: 'e', equalityIds: [1, 2] } },
                  {
                    dataFile: {
                      ...inEu,
                      content: 1,
                      filePath: 'v',
                      fileFormat: 'PUFFIN',
                      referencedDataFile: 'é'.repeat(50),
                      contentOffset: 4,
                      contentSizeInBytes: 44,
                    },
                  },
                ],
              },
            ],
          },
        ],
      })
      const { tasks } = await planBuilt(built)
      const task = tasks[1]
      assert.deepEqual(namesOf(task).slice(1), ['e', 'v@4'])
      const detached = task.detach()
      const before = plain(task)
      assert.deepEqual(plain(detached), before)
      assert.deepEqual(plain(detached.detach()), before)
      assert.equal(detached.dataFile.batch.rowCount, 1)
      for (const file of [task.dataFile, ...task.deletes]) {
        file.batch.store.heap.fill(0)
        file.batch.store.float64.forEach((column) => column.fill(0))
        file.batch.partitionKeys.heap.fill(255, 4)
      }
      assert.deepEqual(plain(detached), before, 'the batch behind the first task is another one')
    })

    it('say what to read and where', async () => {
      const [task] = (await planBuilt(tableOf(dataManifests(1)))).tasks
      assert.deepEqual(plain(task), {
        ...plain(task),
        start: 0,
        length: 1000,
        partition: {},
        specId: 0,
        location: 'data/0-0',
        text: 'data/0-0 with 0 deletes',
      })
    })
  })

  describe('the report', () => {
    const manifests = [
      ...dataManifests(2, 5000),
      deletes('p', 'q'),
      { entries: [{ status: 2 }] },
      deletes('r'),
    ]
    const built = tableOf(manifests)

    it('R12.8: numbers of a plan that was taken to its end', async () => {
      const { plan } = await planBuilt(built)
      const { totalPlanningDurationMs, planCacheHits, planCacheMisses, ioBytes, ...rest } = plan.report
      const want: Omit<
        ScanReport,
        'totalPlanningDurationMs' | 'planCacheHits' | 'planCacheMisses' | 'ioBytes'
      > = {
        snapshotId: built.snapshots[0].snapshotId,
        schemaId: 0,
        resultDataFiles: 5002,
        resultDeleteFiles: 3 * 5002,
        totalDataManifests: 3,
        totalDeleteManifests: 2,
        scannedDataManifests: 2,
        scannedDeleteManifests: 2,
        skippedDataManifests: 1,
        skippedDeleteManifests: 0,
        skippedDataFiles: 0,
        skippedDeleteFiles: 0,
        totalFileSizeInBytes: 5002 * 1000,
        totalDeleteFileSizeInBytes: 5002 * 30,
        indexedDeleteFiles: 3,
        equalityDeleteFiles: 0,
        positionalDeleteFiles: 3,
        dvs: 0,
        ioRequests: 1 + 4,
        cacheFileHits: 0,
        cacheDiskHits: 0,
        cacheEntryHits: 0,
        workers: 0,
        complete: true,
        warnings: [],
      }
      assert.deepEqual(rest, want)
      const read = [listOf(built), ...manifestsOf(built).filter((_, i) => i !== 3)]
      assert.equal(
        ioBytes,
        read.reduce((sum, location) => sum + built.files.get(location)!.length, 0),
      )
      assert.isAbove(totalPlanningDurationMs, 0)
      assert.equal(plan.report.totalPlanningDurationMs, totalPlanningDurationMs, 'is final')
      assert.isAbove(planCacheMisses, 0)
      assert.isAbove(planCacheHits, 0)
    })

    it('R12.8: the identities hold; numbers grow while tasks are taken', async () => {
      const plan = await freshPlanner().plan((await loadBuilt(built)).newScan())
      const { tasks } = plan
      assert.deepEqual([plan.report.scannedDataManifests, plan.report.complete], [0, false])
      await tasks.next()
      assert.isFalse(plan.report.complete)
      while ((await tasks.next()).done !== true);
      const { report } = plan
      assert.isTrue(report.complete)
      assert.equal(report.totalDataManifests, report.scannedDataManifests + report.skippedDataManifests)
      assert.equal(report.totalDeleteManifests, report.scannedDeleteManifests + report.skippedDeleteManifests)
      assert.equal(
        report.indexedDeleteFiles,
        report.equalityDeleteFiles + report.positionalDeleteFiles + report.dvs,
      )
    })

    it('onProgress is told after each batch, up to the whole', async () => {
      const told: PlanProgress[] = []
      await planBuilt(built, { onProgress: (progress) => told.push(progress) })
      assert.deepInclude(told, { manifestsDone: 2, manifestsTotal: 4, dataFiles: 0 }, 'after the deletes')
      assert.deepEqual(told.at(-1), { manifestsDone: 4, manifestsTotal: 4, dataFiles: 5002 })
      const done = told.map(({ manifestsDone }) => manifestsDone)
      assert.deepEqual(
        done,
        [...done].sort((a, b) => a - b),
      )
    })

    it('a wrong manifest_length costs a warning, in every plan', async () => {
      const wrong = tableOf([
        { ...dataManifests(1)[0], row: { manifestLength: 1_000_000 } },
        dataManifests(0, 1)[1],
      ])
      const planner = freshPlanner()
      const table = await loadBuilt(wrong)
      for (let i = 0; i < 2; i++) {
        const plan = await planner.plan(table.newScan())
        assert.deepEqual(pathsOf(await allOf(plan.tasks)), ['data/0-0', 'data/1-0'])
        assert.lengthOf(plan.report.warnings, 1)
        assert.match(
          plan.report.warnings[0],
          /-m0\.avro has \d+ bytes, but the manifest list says 1000000\.$/,
        )
      }
    })

    it('of one kind of warning ten are kept and the others counted', async () => {
      const many = dataManifests(...Array.from({ length: 25 }, () => 1))
      const wrong = many.map((manifest) => ({ ...manifest, row: { manifestLength: 7 } }))
      const { plan } = await planBuilt(tableOf([...wrong, ...wrong.slice(0, 12)]))
      const warnings = [...plan.report.warnings]
      assert.lengthOf(warnings, 22)
      assert.lengthOf(
        warnings.filter((warning) => warning.includes('the manifest list says 7')),
        10,
      )
      assert.lengthOf(
        warnings.filter((warning) => warning.includes('is listed 2 times')),
        10,
      )
      assert.includeMembers(warnings, [
        '15 more of the kind: a manifest has another length than its list says.',
        '2 more of the kind: a manifest is listed more than once.',
      ])
    })
  })

  describe('which manifests', () => {
    for (const formatVersion of [1, 2, 3] as const)
      it(`R1.2: a version ${formatVersion} table without a snapshot gives nothing and reads nothing`, async () => {
        const empty = buildTable({ formatVersion, schema: SCHEMA })
        const { tasks, plan } = await planBuilt(empty)
        assert.isEmpty(tasks)
        const { report } = plan
        assert.deepEqual([report.snapshotId, report.ioRequests, report.complete], [undefined, 0, true])
      })

    it('a snapshot without manifests gives nothing', async () => {
      const { tasks, plan } = await planBuilt(tableOf([]))
      assert.isEmpty(tasks)
      assert.deepEqual([plan.report.ioRequests, plan.report.complete], [1, true])
    })

    it('R1.12: inline manifests of v1; the spec id is that of the header', async () => {
      const inline = buildTable({
        formatVersion: 1,
        schema: SCHEMA,
        specs: [{ fields: [] }, { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] }],
        snapshots: [
          {
            inlineManifests: true,
            manifests: [
              { specId: 1, entries: [{ dataFile: { filePath: 'a', partition: ['eu'] } }] },
              { specId: 0, entries: [{ dataFile: { filePath: 'b' } }, { status: 2 }] },
            ],
          },
        ],
      })
      const { tasks, plan } = await planBuilt(inline)
      assert.deepEqual(
        tasks.map((task) => [task.dataFile.filePath, task.spec.specId, task.partition]),
        [
          ['a', 1, { region: 'eu' }],
          ['b', 0, {}],
        ],
      )
      assert.equal(tasks[0].dataFile.dataSequenceNumber, 0n)
      assert.deepEqual([plan.report.totalDataManifests, plan.report.ioRequests], [2, 2])
    })

    it('R2.1: a spec id that the table lacks', async () => {
      const unknown = tableOf([{ ...dataManifests(1)[0], row: { partitionSpecId: 9 } }])
      const error = await rejection(planBuilt(unknown))
      assert.equal(error.code, 'ERR_INVALID_METADATA')
      assert.equal(error.location, manifestsOf(unknown)[0])
      assert.match(error.message, /no partition spec 9 \(it has 0\)/)
    })

    it('an encrypted manifest list (key-id)', async () => {
      const plain = tableOf(dataManifests(1))
      const json = Buffer.from(plain.files.get(plain.metadataLocation)!).toString()
      const files = new Map(plain.files)
      files.set(
        plain.metadataLocation,
        Buffer.from(json.replace('"manifest-list":', '"key-id": "k7", "manifest-list":')),
      )
      const error = await rejection(planBuilt({ ...plain, files }))
      assert.equal(error.code, 'ERR_UNSUPPORTED')
      assert.equal(error.location, listOf(plain))
      assert.match(error.message, /encrypted .*key-id k7/)
    })

    it('an encrypted manifest (key_metadata)', async () => {
      const row = { keyMetadata: Uint8Array.of(1) }
      const encrypted = tableOf([dataManifests(1)[0], { ...dataManifests(0, 1)[1], row }])
      const error = await rejection(planBuilt(encrypted))
      assert.equal(error.code, 'ERR_UNSUPPORTED')
      assert.equal(error.location, manifestsOf(encrypted)[1])
      assert.match(error.message, /encrypted/)
    })
  })

  describe('a planner', () => {
    it('that is closed plans no more; plans that run go on', async () => {
      const table = await loadBuilt(tableOf(dataManifests(1)))
      const planner = freshPlanner()
      const plan = await planner.plan(table.newScan())
      await planner.close()
      await planner.close()
      const error = await rejection(planner.plan(table.newScan()))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.match(error.message, /the planner is closed/)
      assert.deepEqual(pathsOf(await allOf(plan.tasks)), ['data/0-0'])
    })

    it('is closed at the end of its block', async () => {
      let closed: ScanPlanner
      {
        await using planner = freshPlanner()
        closed = planner
      }
      const table = await loadBuilt(tableOf([]))
      assert.equal((await rejection(closed.plan(table.newScan()))).code, 'ERR_INVALID_ARGUMENT')
    })

    it('refuses workers that it does not have', () => {
      assert.equal(thrown(() => new ScanPlanner({ workers: -1 })).code, 'ERR_INVALID_ARGUMENT')
    })

    it('carries out several plans at once', async () => {
      const built = tableOf([...dataManifests(3, 5000, 2), deletes('p')])
      const want = (await planBuilt(built)).tasks.map(namesOf)
      const planner = freshPlanner()
      const table = await loadBuilt(built)
      const plans = await Promise.all([1, 2, 3].map(() => planner.plan(table.newScan())))
      const all = await Promise.all(plans.map(async (plan) => (await allOf(plan.tasks)).map(namesOf)))
      for (const tasks of all) assert.deepEqual(tasks, want)
    })

    it('one plan that is left does not disturb another', async () => {
      const built = tableOf(dataManifests(5000, 2))
      const planner = freshPlanner()
      const table = await loadBuilt(built)
      const [left, kept] = await Promise.all([1, 2].map(() => planner.plan(table.newScan())))
      const { tasks } = kept
      await tasks.next()
      const other = left.tasks
      await other.next()
      await other.return!()
      assert.lengthOf(await allOf(tasks), 5001)
    })
  })

  describe('the cache', () => {
    const [a, b, c] = dataManifests(1, 1, 1)
    const del = deletes('p')
    const built = buildTable({
      schema: SCHEMA,
      snapshots: [{ manifests: [a, b, del] }, { manifests: [c, a, b, del] }],
    })
    const [first, second] = built.snapshots

    /** Requests of one plan after another: by the store's count and by the reports'. */
    async function requests(cache: ManifestCache | 'off', snapshots: readonly (typeof first)[]) {
      const io = new CountingFileIO(new MemoryFileIO(built.files))
      const table = await loadBuilt(built, { io })
      const planner = new ScanPlanner({ cache })
      const counts: number[] = []
      for (const { snapshotId } of snapshots) {
        io.reset()
        const plan = await planner.plan(table.newScan({ snapshotId }))
        await allOf(plan.tasks)
        assert.equal(plan.report.ioRequests, io.requests)
        assert.equal(plan.report.ioBytes, io.bytes)
        counts.push(io.requests)
      }
      return counts
    }

    it('on: cold all, warm none, another snapshot its list and what is new', async () => {
      const cache = new ManifestCache()
      assert.deepEqual(await requests(cache, [first, first, second, second, first]), [4, 0, 2, 0, 0])
    })

    it('off: all, every time', async () => {
      assert.deepEqual(await requests('off', [first, first, second]), [4, 4, 5])
    })

    it('over budget: what does not fit is read again, and the plan is the same', async () => {
      const largest = Math.max(...[...built.files.values()].map(({ length }) => length))
      // Least recently used of a cycle that is larger than the cache: never there.
      for (const maxFileBytes of [largest, 1]) {
        const cache = new ManifestCache({ maxFileBytes, maxEntryBytes: 0 })
        assert.deepEqual(await requests(cache, [first, first]), [4, 4])
      }
    })

    it('warm reports say so', async () => {
      const table = await loadBuilt(built)
      const planner = freshPlanner()
      const reports: ScanReport[] = []
      for (let i = 0; i < 2; i++) {
        const plan = await planner.plan(table.newScan())
        await allOf(plan.tasks)
        reports.push(plan.report)
      }
      const [cold, warm] = reports
      assert.deepEqual([cold.cacheFileHits, cold.ioRequests], [0, 5])
      // The list is a file, the manifests are decoded.
      assert.deepEqual([warm.cacheFileHits, warm.cacheEntryHits], [1, 4])
      assert.deepEqual([warm.ioRequests, warm.ioBytes], [0, 0])
      assert.isAbove(cold.planCacheMisses, 0)
      assert.equal(warm.planCacheMisses, 0)
    })

    it('another store with the same locations shares nothing', async () => {
      const planner = freshPlanner()
      await planBuilt(built, { planner })
      const other = tableOf(dataManifests(3))
      assert.lengthOf((await planBuilt(other, { planner })).tasks, 3)
    })
  })
})

/** The same store, whose errors are reworded. */
function rewording(io: FileIO, reword: (error: unknown) => unknown): FileIO {
  return {
    identity: io.identity,
    open: (location) => {
      const file = io.open(location)
      return {
        location,
        read: async (...args) => {
          try {
            return await file.read(...args)
          } catch (error) {
            throw reword(error)
          }
        },
      }
    },
  }
}

function withoutFile({ files }: BuiltTable, location: string): Map<string, Uint8Array> {
  const rest = new Map(files)
  assert.isTrue(rest.delete(location))
  return rest
}
