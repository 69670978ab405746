/** Every file once: single flight, loans, and the exact number of requests of plans. */
import { assert } from 'chai'
import { type IcebergError, StorageError } from '../../src/errors.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { FileFetcher } from '../../src/planner/file-fetcher.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import { rejection } from '../support/rejection.ts'
import { buildTable, type ManifestInput } from '../support/table-writer.ts'
import { allOf, dataManifests, GatedFileIO, loadBuilt, pathsOf, SCHEMA, settle, tableOf } from './planning.ts'

const FILE = { location: 's3://w/a', length: 3 }
const BYTES = Uint8Array.of(1, 2, 3)

function setUp(cache = new ManifestCache()) {
  const io = new GatedFileIO(new MemoryFileIO([[FILE.location, BYTES]]))
  const fetcher = new FileFetcher(cache)
  const controllers = [new AbortController(), new AbortController()]
  const begin = (n: number) => fetcher.fetch(FILE, io, controllers[n].signal)
  return { io, fetcher, cache, controllers, begin }
}

describe('file fetcher', () => {
  describe('two who want one file', () => {
    it('share a request', async () => {
      const { io, begin, cache } = setUp()
      const both = [begin(0), begin(1)]
      await settle()
      assert.deepEqual(io.begun, [FILE.location])
      io.release()
      const [one, other] = await Promise.all(both)
      assert.deepEqual(one, BYTES)
      assert.strictEqual(other, one)
      assert.deepEqual(await begin(0), BYTES)
      assert.lengthOf(io.begun, 1)
      assert.equal(cache.fileHits, 1)
    })

    for (const leaver of [0, 1])
      it(`one leaves: it rejects at once, the other gets the bytes, nothing is asked twice (${leaver})`, async () => {
        const { io, begin, controllers, cache } = setUp()
        const both = [begin(0), begin(1)]
        await settle()
        controllers[leaver].abort('left')
        assert.equal(await rejection(both[leaver]), 'left' as never)
        assert.isEmpty(io.aborted)
        io.release()
        assert.deepEqual(await both[1 - leaver], BYTES)
        assert.lengthOf(io.begun, 1)
        assert.isTrue(cache.hasFile(FILE.location))
      })

    it('both leave: the request is aborted, and nothing is kept', async () => {
      const { io, begin, controllers, cache } = setUp()
      const both = [begin(0), begin(1)]
      await settle()
      controllers[0].abort('left')
      assert.isEmpty(io.aborted)
      controllers[1].abort('left too')
      assert.equal(await rejection(both[0]), 'left' as never)
      assert.equal(await rejection(both[1]), 'left too' as never)
      await settle()
      assert.deepEqual(io.aborted, [FILE.location])
      assert.isFalse(cache.hasFile(FILE.location))
      assert.equal(cache.fileBytes, 0)
    })

    for (const when of ['in the same turn', 'later'])
      it(`the last one leaves and another comes ${when}: it gets the bytes`, async () => {
        const { io, begin, controllers } = setUp()
        const first = rejection(begin(0))
        await settle()
        controllers[0].abort('left')
        if (when === 'later') await first
        const next = begin(1)
        await first
        await settle()
        // What was aborted cannot be joined; what was not yet need not be asked again.
        assert.lengthOf(io.begun, when === 'later' ? 2 : 1)
        io.release()
        assert.deepEqual(await next, BYTES)
      })

    it('a failure is the failure of both; the next one tries again', async () => {
      const { io, begin, cache } = setUp()
      const store = io as FileIO
      const open = io.open.bind(io)
      store.open = (location) => ({
        location,
        read: async () => {
          await settle()
          throw new StorageError('Cannot read it: busy', { location, retryable: true })
        },
      })
      for (const error of await Promise.all([begin(0), begin(1)].map(rejection)))
        assert.equal(error.code, 'ERR_STORAGE')
      assert.isFalse(cache.hasFile(FILE.location))
      store.open = open
      io.isHeld = () => false
      assert.deepEqual(await begin(0), BYTES)
    })

    it('of two stores, or of two lengths, share nothing', async () => {
      const { fetcher, io, begin, controllers } = setUp()
      const [{ signal }] = controllers
      const otherBytes = Uint8Array.of(9, 9, 9)
      const other = new GatedFileIO(new MemoryFileIO([[FILE.location, otherBytes]]))
      const all = [
        begin(0),
        fetcher.fetch(FILE, other, signal),
        fetcher.fetch({ ...FILE, length: 2 }, io, signal),
      ]
      await settle()
      assert.deepEqual([io.begun.length, other.begun.length], [2, 1])
      io.release()
      other.release()
      assert.deepEqual(await Promise.all(all), [BYTES, otherBytes, BYTES])
    })

    it('with the cache off, each asks', async () => {
      const { io, begin, controllers } = setUp(ManifestCache.disabled())
      const both = [begin(0), begin(1)]
      await settle()
      assert.lengthOf(io.begun, 2)
      controllers[0].abort('left')
      await rejection(both[0])
      assert.lengthOf(io.aborted, 1)
      io.release()
      assert.deepEqual(await both[1], BYTES)
    })
  })

  it('a read that ends after everybody has left keeps the whole body or none', async () => {
    const { fetcher, cache } = setUp()
    let answer: (bytes: Uint8Array) => void = () => undefined
    // A store that does not hear of the abort.
    const io: FileIO = {
      identity: 'deaf',
      open: (location) => ({ location, read: () => new Promise((resolve) => (answer = resolve)) }),
    }
    const controller = new AbortController()
    const left = rejection(fetcher.fetch(FILE, io, controller.signal))
    controller.abort('left')
    assert.equal(await left, 'left' as never)
    answer(BYTES)
    await settle()
    assert.deepEqual(cache.file(FILE.location, 'deaf'), BYTES)
  })

  describe('a file of another length than claimed', () => {
    const rows: [
      claimed: number | undefined,
      answers: number[],
      outcome: number | 'ERR_STORAGE',
      requests: number,
      isKept: boolean,
      why: string,
    ][] = [
      [3, [3], 3, 1, true, 'it has the length'],
      [undefined, [2], 2, 1, true, 'nothing is claimed'],
      [3, [2, 3], 3, 2, true, 'an answer was cut off: the next is whole'],
      [3, [0, 3], 3, 2, true, 'so was one of no bytes'],
      [3, [2, 2], 2, 2, false, 'the claim is wrong, or all answers are cut off: used, and not kept'],
      [3, [1, 2], 'ERR_STORAGE', 2, false, 'files do not change, so at least one was cut off'],
      [3, [1, 5], 'ERR_STORAGE', 2, false, 'the claim is wrong, and still one was cut off'],
      [3, [5], 5, 1, false, 'longer is not cut off by the claim, but it might be by something else'],
    ]
    for (const enabled of [true, false])
      for (const [claimed, answers, outcome, requests, isKept, why] of rows)
        it(`${claimed ?? 'unknown'}, ${answers.join(' and ')} came, cache ${enabled ? 'on' : 'off'}: ${why}`, async () => {
          let reads = 0
          const io: FileIO = {
            identity: 'cutting',
            open: (location) => ({
              location,
              read: () => Promise.resolve(new Uint8Array(answers[Math.min(reads++, answers.length - 1)])),
            }),
          }
          const cache = enabled ? new ManifestCache() : ManifestCache.disabled()
          const file = { ...FILE, length: claimed }
          const fetched = new FileFetcher(cache).fetch(file, io, new AbortController().signal)
          if (outcome === 'ERR_STORAGE') {
            const error: IcebergError & { retryable?: boolean; denied?: boolean } = await rejection(fetched)
            assert.deepEqual([error.code, error.retryable], [outcome, true])
            assert.match(
              error.message,
              /^Cannot read s3:\/\/w\/a: \d bytes came, then \d, and it should have 3$/,
            )
          } else assert.lengthOf(await fetched, outcome)
          assert.equal(reads, requests)
          assert.equal(cache.hasFile(FILE.location), isKept && enabled)
        })

    it('in this very turn: used, and not kept', () => {
      const { fetcher, io, cache } = setUp()
      assert.deepEqual(
        fetcher.readSync({ ...FILE, length: 4 }, io, () => BYTES),
        BYTES,
      )
      assert.isFalse(cache.hasFile(FILE.location))
    })

    it('does not take the place of one that is kept', async () => {
      const { fetcher, io, controllers, cache } = setUp()
      io.isHeld = () => false
      const [{ signal }] = controllers
      await fetcher.fetch(FILE, io, signal)
      await fetcher.fetch({ ...FILE, length: 2 }, io, signal)
      assert.isTrue(cache.hasFile(FILE.location, io.identity, 3))
    })
  })

  it('a read that has ended is not aborted', async () => {
    const { fetcher, controllers } = setUp()
    let reading: AbortSignal | undefined
    const io: FileIO = {
      identity: 'listening',
      open: (location) => ({
        location,
        read: (_, options) => {
          reading = options?.signal
          return Promise.resolve(BYTES)
        },
      }),
    }
    await fetcher.fetch(FILE, io, controllers[0].signal)
    assert.isFalse(reading?.aborted)
  })

  it('an aborted signal reads nothing', async () => {
    const { io, fetcher } = setUp()
    assert.equal(await rejection(fetcher.fetch(FILE, io, AbortSignal.abort('no'))), 'no' as never)
    assert.isEmpty(io.begun)
  })
})

const deletes: ManifestInput = {
  content: 'deletes',
  entries: [{ dataFile: { content: 1, filePath: 'p' } }],
}

describe('requests of plans', () => {
  const [a, b, c] = dataManifests(1, 2, 1)
  const built = buildTable({
    schema: SCHEMA,
    snapshots: [{ manifests: [a, b, deletes] }, { manifests: [c, a, b, deletes] }],
  })
  const [first, second] = built.snapshots.map(({ snapshotId }) => snapshotId)
  const largest = Math.max(...[...built.files.values()].map(({ length }) => length))

  const open: ScanPlanner[] = []
  after(async () => {
    for (const planner of open) await planner.close()
  })

  /** Requests of groups of plans that run at the same time, one group after another. */
  async function requestsOf(
    workers: number,
    cache: ManifestCache | 'off',
    groups: readonly (readonly bigint[])[],
  ): Promise<number[]> {
    const io = new CountingFileIO(new MemoryFileIO(built.files))
    const table = await loadBuilt(built, { io })
    const planner = new ScanPlanner({ workers, cache })
    open.push(planner)
    const counts: number[] = []
    for (const group of groups) {
      io.reset()
      const plans = await Promise.all(
        group.map(async (snapshotId) => {
          const plan = await planner.plan(table.newScan({ snapshotId }))
          const tasks = await allOf(plan.tasks)
          const want = ['data/0-0', 'data/1-0', 'data/1-1']
          // The manifest of the second snapshot is listed first.
          assert.deepEqual(pathsOf(tasks), snapshotId === second ? ['data/2-0', ...want] : want)
          return plan
        }),
      )
      if (plans.length === 1) {
        assert.equal(plans[0].report.ioRequests, io.requests)
        assert.equal(plans[0].report.ioBytes, io.bytes)
      }
      counts.push(io.requests)
    }
    return counts
  }

  for (const workers of [0, 1, 2, 4]) {
    describe(`${workers} workers`, () => {
      it('cold: the list and each manifest', async () => {
        assert.deepEqual(await requestsOf(workers, new ManifestCache(), [[first]]), [4])
      })

      it('warm: none', async () => {
        assert.deepEqual(
          await requestsOf(workers, new ManifestCache(), [[first], [first], [first]]),
          [4, 0, 0],
        )
      })

      it('another snapshot: its list, and the manifests that were not seen', async () => {
        assert.deepEqual(
          await requestsOf(workers, new ManifestCache(), [[first], [second], [first], [second]]),
          [4, 2, 0, 0],
        )
      })

      it('two plans at once: each file once', async () => {
        assert.deepEqual(
          await requestsOf(workers, new ManifestCache(), [
            [first, first],
            [second, first, second],
          ]),
          [4, 2],
        )
      })

      it('over budget: what does not fit is read again', async () => {
        const cache = new ManifestCache({ maxFileBytes: largest, maxEntryBytes: 0 })
        assert.deepEqual(await requestsOf(workers, cache, [[first], [first]]), [4, 4])
        assert.isAtMost(cache.fileBytes, largest)
      })

      it('without a budget: all, every time', async () => {
        const cache = new ManifestCache({ maxFileBytes: 0, maxEntryBytes: 0 })
        assert.deepEqual(await requestsOf(workers, cache, [[first], [first], [second]]), [4, 4, 5])
      })

      it('cache off: all, every time', async () => {
        assert.deepEqual(
          await requestsOf(workers, 'off', [[first], [first], [second], [first, first]]),
          [4, 4, 5, 8],
        )
      })
    })
  }
})

describe('loans of plans', () => {
  const built = tableOf([...dataManifests(...Array.from({ length: 60 }, () => 20)), deletes])
  const [{ rows, manifestList }] = built.snapshots
  const budget = 2 * Math.max(...[...built.files.values()].map(({ length }) => length))
  const open: ScanPlanner[] = []
  after(async () => {
    for (const planner of open) await planner.close()
  })

  for (const workers of [0, 2]) {
    /** After the plan nothing may be lent: then the cache is within its budget, and can drop all it has. */
    const returnsAll = (
      how: string,
      run: (plan: () => ReturnType<ScanPlanner['plan']>, io: GatedFileIO) => Promise<void>,
      files = built.files,
    ) => {
      it(`are over when a plan ${how}: ${workers} workers`, async () => {
        const cache = new ManifestCache({ maxFileBytes: budget })
        const planner = new ScanPlanner({ workers, cache })
        open.push(planner)
        const io = new GatedFileIO(new MemoryFileIO(files), () => false)
        const table = await loadBuilt({ ...built, files }, { io })
        for (let i = 0; i < 3; i++) await run(() => planner.plan(table.newScan()), io)
        // Jobs that were under way give their bytes back when they are done.
        const filler = new Uint8Array(budget)
        await until(() => {
          cache.keepFile('filler', filler)
          return cache.hasFile('filler')
        })
        assert.equal(cache.fileBytes, budget)
      })
    }

    returnsAll('ends', async (plan) => {
      assert.lengthOf(await allOf((await plan()).tasks), 1200)
    })
    returnsAll('is left early', async (plan) => {
      for await (const task of (await plan()).tasks) {
        assert.isDefined(task)
        break
      }
    })
    returnsAll('is left while requests are under way', async (plan, io) => {
      const last = rows[40].manifestPath
      io.isHeld = (location) => location === last
      const { tasks } = await plan()
      const all = allOf(tasks)
      await settle()
      await tasks.return!()
      await all
      io.release()
    })
    returnsAll(
      'fails',
      async (plan) => {
        const error = await rejection(plan().then(({ tasks }) => allOf(tasks)))
        assert.equal(error.code, 'ERR_CORRUPT_FILE')
      },
      new Map([...built.files, [rows[7].manifestPath, Uint8Array.of(1, 2, 3, 4, 5)]]),
    )
    returnsAll(
      'fails over its deletes',
      async (plan) => {
        await rejection(plan().then(({ tasks }) => allOf(tasks)))
      },
      new Map([...built.files, [rows[60].manifestPath, Uint8Array.of(1, 2, 3, 4, 5)]]),
    )
    returnsAll(
      'cannot read its list',
      async (plan) => {
        await rejection(plan())
      },
      new Map([...built.files, [manifestList!, Uint8Array.of(1, 2, 3, 4, 5)]]),
    )
  }
})

/** Waits for what other threads do: a thread that starts takes its time. */
async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
}
