/**
 * What plans ask of S3, by the server's own count: each file in one GET and nothing else, and never the bytes of
 * another endpoint or of somebody else.
 */
import { fileURLToPath } from 'node:url'
import { readdirSync, readFileSync } from 'node:fs'
import { assert } from 'chai'
import { rebase } from '../../src/io/rebase.ts'
import { S3FileIO } from '../../src/io/s3/s3-file-io.ts'
import type { S3Options } from '../../src/io/s3/s3-options.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import { dataManifests, allOf, LOCATION, pathsOf, SCHEMA, tableOf } from '../planner/planning.ts'
import { rejection } from '../support/rejection.ts'
import { projectRoot } from '../support/root.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { type BuiltTable, buildTable, type ManifestInput } from '../support/table-writer.ts'

const KEYS = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
const OTHER_KEYS = { accessKeyId: 'other-key', secretAccessKey: 'other-secret' }

const deletes: ManifestInput = {
  content: 'deletes',
  entries: [{ dataFile: { content: 1, filePath: 'p' } }],
}

describe('requests to S3', () => {
  let server: S3Server
  const opened: S3FileIO[] = []
  const planners: ScanPlanner[] = []

  before(async () => {
    server = await startS3Server({ credentials: [KEYS, OTHER_KEYS] })
  })
  after(async () => {
    for (const io of opened) io.close()
    for (const planner of planners) await planner.close()
    await server.close()
  })
  beforeEach(() => {
    server.reset()
  })

  function fileIO(options: S3Options = {}): S3FileIO {
    const { endpoint, region } = server
    const io = new S3FileIO({ endpoint, region, credentials: KEYS, pathStyle: true, attempts: 1, ...options })
    opened.push(io)
    return io
  }

  function plannerOf(workers: number, cache: ManifestCache | 'off'): ScanPlanner {
    const planner = new ScanPlanner({ workers, cache })
    planners.push(planner)
    return planner
  }

  function store(built: BuiltTable, on = server): void {
    for (const [location, bytes] of built.files) {
      const [, bucket, key] = /^s3:\/\/([^/]+)\/(.*)$/.exec(location)!
      on.put(bucket, key, bytes)
    }
  }

  /** The paths of the requests since the last time, all of them whole GETs that were answered. */
  function taken(of = server): string[] {
    for (const { method, range, status, query } of of.requests)
      assert.deepEqual([method, range, status, query.size], ['GET', undefined, 200, 0])
    const paths = of.requests.map(({ bucket, key }) => `s3://${bucket}/${key}`)
    of.reset()
    return paths
  }

  describe('of plans', () => {
    const [a, b, c] = dataManifests(1, 2, 1)
    const built = buildTable({
      schema: SCHEMA,
      snapshots: [{ manifests: [a, b, deletes] }, { manifests: [c, a, b, deletes] }],
    })
    const [first, second] = built.snapshots.map(({ snapshotId }) => snapshotId)
    const largest = Math.max(...[...built.files.values()].map(({ length }) => length))
    before(() => {
      store(built)
    })

    /** A row of the table: plans of one group run at the same time, the groups one after another. */
    interface Row {
      readonly title: string
      readonly cache: () => ManifestCache | 'off'
      readonly groups: readonly (readonly bigint[])[]
      readonly requests: readonly number[]
      /** Whether a file may be asked for again: never in one plan, here by a later or another one. */
      readonly isAskedAgain: boolean
    }
    const cacheOf = (options?: ConstructorParameters<typeof ManifestCache>[0]) => () =>
      new ManifestCache(options)
    const rows: readonly Row[] = [
      {
        title: 'cold: the list and each manifest',
        cache: cacheOf(),
        groups: [[first]],
        requests: [4],
        isAskedAgain: false,
      },
      {
        title: 'warm: none',
        cache: cacheOf(),
        groups: [[first], [first], [first]],
        requests: [4, 0, 0],
        isAskedAgain: false,
      },
      {
        title: 'a new snapshot: its list, and the manifests that were not seen',
        cache: cacheOf(),
        groups: [[first], [second], [first], [second]],
        requests: [4, 2, 0, 0],
        isAskedAgain: false,
      },
      {
        title: 'two plans at once: each file once',
        cache: cacheOf(),
        groups: [
          [first, first],
          [second, first, second],
        ],
        requests: [4, 2],
        isAskedAgain: false,
      },
      {
        title: 'bytes alone: the same',
        cache: cacheOf({ maxEntryBytes: 0 }),
        groups: [[first], [second], [first]],
        requests: [4, 2, 0],
        isAskedAgain: false,
      },
      {
        title: 'over budget: what does not fit is read again',
        cache: cacheOf({ maxFileBytes: largest, maxEntryBytes: 0 }),
        groups: [[first], [first]],
        requests: [4, 4],
        isAskedAgain: true,
      },
      {
        title: 'cache off: all, every time',
        cache: () => 'off',
        groups: [[first], [first], [second], [first, first]],
        requests: [4, 4, 5, 8],
        isAskedAgain: true,
      },
    ]

    for (const workers of [0, 1, 2])
      for (const { title, cache, groups, requests, isAskedAgain } of rows)
        it(`${title}; ${workers} workers`, async () => {
          const table = await loadTable(built.metadataLocation, { io: fileIO() })
          assert.deepEqual(taken(), [built.metadataLocation])
          const planner = plannerOf(workers, cache())
          const all: string[] = []
          for (const [i, group] of groups.entries()) {
            await Promise.all(group.map((snapshotId) => checkedPlan(planner, table, snapshotId)))
            const paths = taken()
            assert.lengthOf(paths, requests[i], `group ${i}: ${paths.join(', ')}`)
            if (group.length === 1) assert.lengthOf(new Set(paths), paths.length)
            all.push(...paths)
          }
          if (!isAskedAgain) assert.lengthOf(new Set(all), all.length)
        })

    async function checkedPlan(planner: ScanPlanner, table: Table, snapshotId: bigint): Promise<void> {
      const plan = await planner.plan(table.newScan({ snapshotId }))
      const want = ['data/0-0', 'data/1-0', 'data/1-1']
      // The manifest of the second snapshot is listed first.
      assert.deepEqual(pathsOf(await allOf(plan.tasks)), snapshotId === second ? ['data/2-0', ...want] : want)
    }

    it('connections are kept from plan to plan', async () => {
      const io = fileIO()
      const planner = plannerOf(0, 'off')
      for (let i = 0; i < 5; i++)
        await checkedPlan(planner, await loadTable(built.metadataLocation, { io }), first)
      assert.lengthOf(server.requests, 25)
      const connections = new Set(server.requests.map(({ connection }) => connection))
      assert.isAtMost(connections.size, 3)
    })

    it('never more at once than the table may have', async () => {
      const wide = tableOf(dataManifests(...Array.from({ length: 60 }, () => 1)), {
        location: 's3://wide/table',
      })
      store(wide)
      server.latencyMs = 5
      try {
        for (const requestLimit of [1, 7, 32]) {
          const table = await loadTable(wide.metadataLocation, { io: fileIO(), requestLimit })
          server.reset()
          const { tasks } = await plannerOf(0, 'off').plan(table.newScan())
          assert.lengthOf(await allOf(tasks), 60)
          assert.isAtMost(server.mostInFlight, requestLimit)
          assert.isAtLeast(server.mostInFlight, Math.min(requestLimit, 3))
          assert.lengthOf(new Set(taken()), 61)
        }
      } finally {
        server.latencyMs = 0
      }
    })
  })

  describe('of loading', () => {
    const folder = fileURLToPath(new URL('fixtures/orders', projectRoot()))
    let versions: string[]
    before(() => {
      versions = []
      for (const entry of readdirSync(`${folder}/metadata`)) {
        server.put('warehouse', `db/orders/metadata/${entry}`, readFileSync(`${folder}/metadata/${entry}`))
        if (entry.endsWith('.metadata.json')) versions.push(entry)
      }
    })
    const made = () => server.requests.map(({ method, key }) => `${method} ${key}`)

    for (const location of ['s3://warehouse/db/orders', 's3a://warehouse/db/orders/metadata'])
      it(`${location}: a listing and a GET`, async () => {
        const table = await loadTable(location, { io: fileIO() })
        assert.isAbove(table.metadata.snapshots.length, 0)
        assert.lengthOf(made(), 2)
        assert.equal(made()[0], 'GET ')
        assert.equal(server.requests[0].query.get('prefix'), 'db/orders/metadata/')
        assert.match(made()[1], /^GET db\/orders\/metadata\/.*\.metadata\.json$/)
      })

    it('a metadata file: one GET', async () => {
      const location = `s3://warehouse/db/orders/metadata/${versions[0]}`
      await loadTable(location, { io: fileIO() })
      assert.deepEqual(taken(), [location])
    })
  })

  describe('two stores with the same path, one cache', () => {
    const stated = (records: bigint) =>
      tableOf([{ entries: [{ dataFile: { filePath: 'data/x', recordCount: records } }] }], {
        write: { codec: 'null' },
      })
    // The same names and lengths, so that nothing but the store tells the files apart.
    const mine = stated(1n)
    const theirs = stated(2n)
    let far: S3Server

    before(async () => {
      assert.deepEqual([...mine.files.keys()], [...theirs.files.keys()])
      assert.deepEqual(
        [...mine.files.values()].map(({ length }) => length),
        [...theirs.files.values()].map(({ length }) => length),
      )
      far = await startS3Server({ credentials: [KEYS] })
      store(theirs, far)
    })
    after(() => far.close())
    beforeEach(() => {
      store(mine)
      far.reset()
    })

    async function recordsOf(planner: ScanPlanner, io: S3FileIO): Promise<number> {
      const table = await loadTable(mine.metadataLocation, { io })
      const [task] = await allOf((await planner.plan(table.newScan())).tasks)
      return task.dataFile.recordCount
    }

    for (const workers of [0, 2]) {
      it(`two endpoints share nothing; ${workers} workers`, async () => {
        const planner = plannerOf(workers, new ManifestCache())
        for (const requests of [3, 1]) {
          assert.equal(await recordsOf(planner, fileIO()), 1)
          assert.equal(await recordsOf(planner, fileIO({ endpoint: far.endpoint })), 2)
          assert.lengthOf(taken(), requests)
          assert.lengthOf(taken(far), requests)
        }
      })

      it(`two at once, neither; ${workers} workers`, async () => {
        const planner = plannerOf(workers, new ManifestCache())
        const stores = [fileIO(), fileIO({ endpoint: far.endpoint })]
        assert.deepEqual(await Promise.all(stores.map((io) => recordsOf(planner, io))), [1, 2])
        assert.deepEqual([taken().length, taken(far).length], [3, 3])
      })

      it(`two who may see it at one endpoint each ask for themselves; ${workers} workers`, async () => {
        const planner = plannerOf(workers, new ManifestCache())
        for (const requests of [3, 1])
          for (const credentials of [KEYS, OTHER_KEYS]) {
            server.reset()
            assert.equal(await recordsOf(planner, fileIO({ credentials })), 1)
            assert.deepEqual(
              server.requests.map(({ accessKeyId }) => accessKeyId),
              Array.from({ length: requests }, () => credentials.accessKeyId),
            )
          }
      })

      it(`who may not see it gets nothing out of the cache; ${workers} workers`, async () => {
        const planner = plannerOf(workers, new ManifestCache())
        const table = await loadTable(mine.metadataLocation, { io: fileIO({ credentials: OTHER_KEYS }) })
        assert.equal(await recordsOf(planner, fileIO()), 1)
        server.credentials[1] = { ...OTHER_KEYS, buckets: [] }
        try {
          const error = await rejection(planner.plan(table.newScan()).then(({ tasks }) => allOf(tasks)))
          assert.equal(error.code, 'ERR_STORAGE')
          assert.match(error.message, /AccessDenied/)
        } finally {
          server.credentials[1] = OTHER_KEYS
        }
      })
    }

    it('the same store opened twice, or with new keys of the same scope, shares', async () => {
      const planner = plannerOf(0, new ManifestCache())
      await recordsOf(planner, fileIO())
      await recordsOf(planner, fileIO())
      assert.lengthOf(taken(), 4)
      const scoped = (credentials: typeof KEYS) => fileIO({ credentials, credentialScope: 'team' })
      await recordsOf(planner, scoped(KEYS))
      await recordsOf(planner, scoped(OTHER_KEYS))
      assert.lengthOf(taken(), 4)
    })

    it('a rebase to another bucket does not find what lay in the first', async () => {
      const planner = plannerOf(0, new ManifestCache())
      assert.equal(await recordsOf(planner, fileIO()), 1)
      for (const [location, bytes] of theirs.files)
        server.put('moved', location.slice(`${LOCATION}/`.length), bytes)
      const table = await loadTable(mine.metadataLocation, {
        io: fileIO(),
        rebase: [rebase(LOCATION, 's3://moved')],
      })
      const [task] = await allOf((await planner.plan(table.newScan())).tasks)
      assert.equal(task.dataFile.recordCount, 2)
    })
  })
})
