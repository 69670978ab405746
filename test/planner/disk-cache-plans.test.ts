/** Plans with a disk cache: the exact number of requests of one process after another, and the same tasks. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { assert } from 'chai'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { limitRequests } from '../../src/io/limit-file-io.ts'
import { LocalFileIO } from '../../src/io/local-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { ScanPlan } from '../../src/planner/scan-plan.ts'
import { ScanPlanner, type ScanPlannerOptions } from '../../src/planner/scan-planner.ts'
import { sharedPlanner } from '../../src/planner/shared-planner.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { thrown } from '../support/rejection.ts'
import { type BuiltTable, buildTable, type ManifestInput } from '../support/table-writer.ts'
import { generatedTable } from './generated-table.ts'
import { allOf, dataManifests, loadBuilt, namesOf, SCHEMA } from './planning.ts'

const deletes: ManifestInput = {
  content: 'deletes',
  entries: [{ dataFile: { content: 1, filePath: 'p' } }],
}
const [a, b, c] = dataManifests(1, 2, 1)
const built = buildTable({
  schema: SCHEMA,
  snapshots: [{ manifests: [a, b, deletes] }, { manifests: [c, a, b, deletes] }],
})
const [first, second] = built.snapshots.map(({ snapshotId }) => snapshotId)

/** A store that is the same for every process: files of a table, as if they were far away. */
function remote(files: ReadonlyMap<string, Uint8Array>, identity = 'store:a'): FileIO {
  const io = new MemoryFileIO(files)
  return {
    identity,
    open: (location) => {
      const file = io.open(location)
      return { location, isRemote: true, read: (range, options) => file.read(range, options) }
    },
    list: (folder) => io.list(folder),
  }
}

describe('plans with a disk cache', () => {
  let parent: string
  let cacheDir: string
  beforeEach(() => {
    parent = fs.mkdtempSync(path.join(os.tmpdir(), 'iceplan-disk-plans-'))
    cacheDir = path.join(parent, 'cache')
  })
  afterEach(() => {
    fs.rmSync(parent, { recursive: true, force: true })
  })

  interface Outcome {
    names: string[][]
    requests: number
    bytes: number
    diskHits: number
    report: ScanPlan['report']
  }

  /** A plan with a planner of its own, as a process of its own would have it. */
  async function planOnce(
    scan: ScanOptions = {},
    {
      io = remote(built.files),
      table = built,
      ...options
    }: ScanPlannerOptions & { io?: FileIO; table?: BuiltTable } = {},
  ): Promise<Outcome> {
    const loaded = await loadBuilt(table, { io })
    await using planner = new ScanPlanner({ workers: 0, cacheDir, ...options })
    const plan = await planner.plan(loaded.newScan(scan))
    const names = (await allOf(plan.tasks)).map(namesOf)
    const { report } = plan
    const { ioRequests: requests, ioBytes: bytes, cacheDiskHits: diskHits } = report
    return { names, requests, bytes, diskHits, report }
  }
  const filesKept = () => fs.readdirSync(cacheDir).filter((name) => name !== 'written.iceplan').length

  for (const workers of [0, 2])
    it(`a second process asks for no list and no manifest: ${workers} workers`, async () => {
      const cold = await planOnce({}, { workers })
      assert.deepEqual([cold.requests, cold.diskHits], [5, 0])
      const warm = await planOnce({}, { workers })
      assert.deepEqual([warm.requests, warm.bytes, warm.diskHits], [0, 0, 5])
      assert.deepEqual(warm.names, cold.names)
      assert.equal(warm.report.cacheFileHits, 0)
      assert.isEmpty(warm.report.warnings)
    })

  it('of a new snapshot only what is new is read', async () => {
    await planOnce({ snapshotId: first })
    const next = await planOnce({ snapshotId: second })
    assert.deepEqual([next.requests, next.diskHits], [2, 3])
  })

  it('answers that were cut off where a block ends are kept nowhere: when the store is well, so are plans', async () => {
    const { manifestPath } = built.snapshots[0].rows[0]
    const whole = built.files.get(manifestPath)!
    // All there is before the first block, whose end is told by the last 16 bytes.
    const header = Buffer.from(whole).indexOf(whole.subarray(-16)) + 16
    const cutOff = new Map([...built.files, [manifestPath, whole.subarray(0, header)]])
    const right = await planOnce({}, { cacheDir: path.join(parent, 'other') })
    const cache = new ManifestCache()
    const wrong = await planOnce({}, { io: remote(cutOff), cache })
    assert.isBelow(wrong.names.length, right.names.length)
    assert.equal(wrong.requests, right.requests + 1)
    assert.match(wrong.report.warnings.join(), / bytes, but the manifest list says /)
    for (const options of [{ cache }, {}]) {
      const next = await planOnce({}, options)
      assert.deepEqual(next.names, right.names)
      assert.isEmpty(next.report.warnings)
    }
    assert.equal((await planOnce({}, {})).requests, 0)
  })

  it('memory comes first', async () => {
    const table = await loadBuilt(built, { io: remote(built.files) })
    await planOnce()
    await using planner = new ScanPlanner({ cacheDir, cache: new ManifestCache({ maxEntryBytes: 0 }) })
    const reports = []
    for (let i = 0; i < 2; i++) {
      const plan = await planner.plan(table.newScan())
      await allOf(plan.tasks)
      reports.push(plan.report)
    }
    assert.deepEqual(
      reports.map(({ cacheDiskHits, cacheFileHits }) => [cacheDiskHits, cacheFileHits]),
      [
        [5, 0],
        [0, 5],
      ],
    )
  })

  it('two plans at once read each file once', async () => {
    await planOnce()
    const table = await loadBuilt(built, { io: remote(built.files) })
    await using planner = new ScanPlanner({ cacheDir, workers: 0 })
    const plans = await Promise.all([1, 2].map(() => planner.plan(table.newScan())))
    await Promise.all(plans.map((plan) => allOf(plan.tasks)))
    const hits = plans.map(({ report }) => report.cacheDiskHits)
    assert.equal(hits[0] + hits[1], 5)
    assert.isTrue(plans.every(({ report }) => report.ioRequests === 0))
  })

  it('another identity never gets the bytes', async () => {
    await planOnce()
    const other = await planOnce({}, { io: remote(built.files, 'store:b') })
    assert.deepEqual([other.requests, other.diskHits], [5, 0])
    assert.equal(filesKept(), 10)
  })

  it('metadata and version hints are not kept', async () => {
    const io = new CountingFileIO(remote(built.files))
    await planOnce({}, { io })
    assert.isAbove(io.requests, 5)
    assert.equal(filesKept(), 5)
    io.reset()
    await planOnce({}, { io })
    assert.deepEqual([...io.byLocation.keys()], [built.metadataLocation])
  })

  it('wrappers pass on that a store is far away', async () => {
    await planOnce({}, { io: limitRequests(new CountingFileIO(remote(built.files))) })
    assert.equal(filesKept(), 5)
  })

  it('with the cache off nothing is kept, and the folder is not made', async () => {
    const cold = await planOnce({}, { cache: 'off' })
    assert.equal(cold.requests, 5)
    assert.isFalse(fs.existsSync(cacheDir))
    await planOnce()
    assert.equal((await planOnce({}, { cache: 'off' })).requests, 5)
  })

  it('without a budget in memory the disk is used all the same', async () => {
    const cache = () => new ManifestCache({ maxFileBytes: 0, maxEntryBytes: 0 })
    await planOnce({}, { cache: cache() })
    assert.equal((await planOnce({}, { cache: cache() })).requests, 0)
  })

  it('files of this machine, and files in memory, are not copied', async () => {
    await planOnce({}, { io: new MemoryFileIO(built.files) })
    const files = new Map<string, Uint8Array>()
    for (const [location, bytes] of built.files) {
      const name = path.join(parent, location.replaceAll(/[^\w.]/g, '_'))
      fs.writeFileSync(name, bytes)
      files.set(location, bytes)
    }
    const local = new LocalFileIO()
    const io: FileIO = {
      identity: local.identity,
      open: (location) => local.open(path.join(parent, location.replaceAll(/[^\w.]/g, '_'))),
    }
    await planOnce({}, { io })
    assert.equal(filesKept(), 0)
  })

  it('damaged copies are read again from the store', async () => {
    const cold = await planOnce()
    for (const name of fs.readdirSync(cacheDir)) {
      const file = path.join(cacheDir, name)
      const bytes = fs.readFileSync(file)
      bytes[bytes.length - 1] ^= 1
      fs.writeFileSync(file, bytes)
    }
    const next = await planOnce()
    assert.deepEqual([next.requests, next.diskHits], [5, 0])
    assert.deepEqual(next.names, cold.names)
    assert.equal((await planOnce()).requests, 0)
  })

  it('a read that failed is not kept', async () => {
    const location = built.snapshots[1].manifestList!
    const files = new Map([...built.files].filter(([name]) => name !== location))
    let error: unknown
    await planOnce({}, { io: remote(files) }).catch((reason: unknown) => (error = reason))
    assert.isDefined(error)
    assert.equal(filesKept(), 0)
    assert.equal((await planOnce()).requests, 5)
  })

  it('a folder that does not work is told once, and the plan is what it is without', async () => {
    const want = await planOnce({}, { cache: 'off' })
    fs.mkdirSync(cacheDir, { mode: 0o700 })
    // A link in the place of the journal: nothing can be written.
    fs.symlinkSync('nowhere', path.join(cacheDir, 'written.iceplan'))
    const table = await loadBuilt(built, { io: remote(built.files) })
    await using planner = new ScanPlanner({ cacheDir, workers: 0 })
    const warnings: string[] = []
    for (const snapshotId of [first, second]) {
      const plan = await planner.plan(table.newScan({ snapshotId }))
      const names = (await allOf(plan.tasks)).map(namesOf)
      if (snapshotId === second) assert.deepEqual(names, want.names)
      warnings.push(...plan.report.warnings)
    }
    assert.lengthOf(warnings, 1)
    assert.match(warnings[0], /^Nothing more is kept in the disk cache .*cache: ELOOP/)
  })

  it('a folder that others may write to is refused at once', () => {
    fs.mkdirSync(cacheDir)
    fs.chmodSync(cacheDir, 0o777)
    const error = thrown(() => new ScanPlanner({ cacheDir }))
    assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
    assert.include(error.message, cacheDir)
  })

  it('the planner of the process has one for each folder, with one cache in memory', () => {
    const planner = sharedPlanner(cacheDir)
    for (const same of [
      cacheDir,
      `${cacheDir}/`,
      path.relative('.', cacheDir),
      `./${path.relative('.', cacheDir)}`,
    ])
      assert.strictEqual(sharedPlanner(same), planner, same)
    assert.throws(() => sharedPlanner(''), 'it names no folder')
    assert.notStrictEqual(sharedPlanner(), planner)
    assert.strictEqual(sharedPlanner().cache, planner.cache)
  })

  for (const seed of [1, 2, 3])
    it(`plans are the same with and without, cold and warm: generated table ${seed}`, async () => {
      const table = generatedTable({ seed, formatVersion: seed === 3 ? 3 : 2, manifests: 120 })
      const io = remote(table.files)
      const scan = { filter: "region = 'eu'" }
      const want = await planOnce(scan, { table, io, cache: 'off' })
      for (const requests of [want.requests, 0]) {
        const plan = await planOnce(scan, { table, io })
        assert.deepEqual(plan.names, want.names)
        assert.equal(plan.requests, requests)
      }
    })
})
