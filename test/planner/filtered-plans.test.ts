/**
 * Plans with filters: the same to the byte whoever decodes and whatever is remembered, and never mixed up, for all plans
 * of a planner share its threads and its cache.
 */
import { assert } from 'chai'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { taskToJson } from '../support/corpus-table.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { rejection } from '../support/rejection.ts'
import { buildTable, type ManifestInput, singleValueBytes } from '../support/table-writer.ts'
import { generatedTable } from './generated-table.ts'
import { allOf, loadBuilt, namesOf, SCHEMA } from './planning.ts'

/** Every operation, every column, and how much is left: all, some, nothing. */
const SCANS: readonly ScanOptions[] = [
  {},
  { filter: 'true' },
  { filter: "region = 'eu'" },
  { filter: "region = 'us'" },
  { filter: "region = 'eu'", includeColumnStats: true },
  { filter: "region = 'eu'", includeColumnStats: ['id'] },
  { filter: "NOT (region = 'eu' OR id < 5)" },
  { filter: 'region IS NULL AND id IN (3, 4, 5, 9223372036854775807)' },
  { filter: "(region LIKE 'a%' AND id > 0) OR amount > 1.5" },
  { filter: "region NOT IN ('eu', 'asia') OR amount IS NULL" },
  { filter: 'id < 0' },
  { filter: 'id >= 0', includeColumnStats: ['region', 'amount'] },
  { filter: "region = 'nowhere'" },
  { filter: 'false' },
]
const nameOf = ({ filter, includeColumnStats }: ScanOptions): string =>
  JSON.stringify(filter ?? 'no filter') + (includeColumnStats === undefined ? '' : ` with statistics`)

const textOf = (task: FileScanTask): string =>
  JSON.stringify(taskToJson(task), (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))

/** What does not depend on how a plan was made. */
const COUNTERS = [
  'resultDataFiles',
  'resultDeleteFiles',
  'totalDataManifests',
  'totalDeleteManifests',
  'scannedDataManifests',
  'scannedDeleteManifests',
  'skippedDataManifests',
  'skippedDeleteManifests',
  'skippedDataFiles',
  'skippedDeleteFiles',
  'totalFileSizeInBytes',
  'totalDeleteFileSizeInBytes',
  'indexedDeleteFiles',
  'equalityDeleteFiles',
  'positionalDeleteFiles',
  'dvs',
  'warnings',
  'complete',
] as const satisfies (keyof ScanReport)[]

interface Result {
  tasks: string[]
  counters: unknown[]
}

async function resultOf(planner: ScanPlanner, table: Table, scan: ScanOptions): Promise<Result> {
  const plan = await planner.plan(table.newScan(scan))
  const tasks = await allOf(plan.tasks)
  const { report } = plan
  return { tasks: tasks.map(textOf), counters: COUNTERS.map((name) => [name, report[name]]) }
}

describe(`filtered plans${WITH_SEED}`, () => {
  const planners: ScanPlanner[] = []
  const planner = (workers: number, cache: 'on' | 'off'): ScanPlanner => {
    const made = new ScanPlanner({ workers, cache: cache === 'on' ? new ManifestCache() : 'off' })
    planners.push(made)
    return made
  }
  after(async () => {
    for (const made of planners) await made.close()
  })

  describe('of a random table', () => {
    let table: Table
    let want: Result[]

    before(async () => {
      table = await loadBuilt(generatedTable({ seed: SEED, formatVersion: 3, manifests: 40 }))
      want = []
      for (const scan of SCANS) want.push(await resultOf(planner(0, 'off'), table, scan))
    })

    it('filters leave out more and less', () => {
      const counts = want.map(({ tasks }) => tasks.length)
      assert.equal(counts[0], counts[1])
      assert.isAbove(new Set(counts).size, 5)
      assert.equal(counts.at(-1), 0)
      assert.isTrue(want.slice(2, 8).every(({ tasks }) => tasks.length > 0 && tasks.length < counts[0]))
    })

    it('what is left is in the order of the plan without filter, each file with the same deletes or fewer', async () => {
      const namesBy = async (scan: ScanOptions) => {
        const plan = await planner(0, 'off').plan(table.newScan(scan))
        return (await allOf(plan.tasks)).map(namesOf)
      }
      const all = await namesBy({})
      const positions = new Map(all.map(([path], i) => [path, i]))
      for (const scan of SCANS) {
        let last = -1
        for (const [path, ...deletes] of await namesBy(scan)) {
          const position = positions.get(path)!
          assert.isAbove(position, last, nameOf(scan))
          last = position
          // No delete file of this table has metrics, so only those of other partitions may be missing.
          assert.deepEqual([path, ...deletes], all[position], nameOf(scan))
        }
      }
    })

    for (const workers of [0, 1, 2])
      for (const cache of ['on', 'off'] as const)
        it(`in turn: ${workers} workers, cache ${cache}${cache === 'on' ? ', cold and warm' : ''}`, async () => {
          const one = planner(workers, cache)
          for (let round = 0; round < (cache === 'on' ? 2 : 1); round++)
            for (const [i, scan] of SCANS.entries())
              assert.deepEqual(await resultOf(one, table, scan), want[i], `${nameOf(scan)}, round ${round}`)
        })

    for (const workers of [0, 2])
      it(`all at once: ${workers} workers`, async () => {
        const one = planner(workers, 'on')
        // More contexts than a worker remembers: two for each plan.
        const scans = [...SCANS, ...SCANS.toReversed()]
        const results = await Promise.all(scans.map((scan) => resultOf(one, table, scan)))
        for (const [i, scan] of scans.entries())
          assert.deepEqual(results[i], want[SCANS.indexOf(scan)], nameOf(scan))
      })

    it('tasks that were detached while the plan went on say the same', async () => {
      for (const workers of [0, 2]) {
        const plan = await planner(workers, 'on').plan(table.newScan(SCANS[8]))
        const detached: FileScanTask[] = []
        for await (const task of plan.tasks) detached.push(task.detach())
        assert.deepEqual(detached.map(textOf), want[8].tasks)
      }
    })
  })

  describe('equality deletes with metrics', () => {
    const bounds = (from: number, to: number) => ({
      lowerBounds: { 1: singleValueBytes('long', from), 2: Buffer.from('x') },
      upperBounds: { 1: singleValueBytes('long', to), 2: Buffer.from('x') },
    })
    // Small files make runs of many manifests, of which a filter leaves a few rows, many, or all.
    const isDeleted = (m: number, e: number) => (m + e) % 7 === 0
    const data = Array.from({ length: 40 }, (_, m): ManifestInput => ({
      sequenceNumber: 1,
      entries: Array.from({ length: 5 }, (_, e) => ({
        status: isDeleted(m, e) ? 2 : 1,
        dataFile: { filePath: `d${m}-${e}`, ...bounds(m * 10, m * 10 + e) },
      })),
    }))
    const deletes: ManifestInput = {
      content: 'deletes',
      entries: Array.from({ length: 20 }, (_, e) => ({
        dataFile: { filePath: `e${e}`, content: 2, equalityIds: [1], ...bounds(e * 20, e * 20 + 2) },
      })),
    }
    const built = buildTable({
      schema: SCHEMA,
      snapshots: [{ sequenceNumber: 2, manifests: [...data, deletes] }],
    })
    type Matches = (from: number, to: number) => boolean
    const rows: [scan: ScanOptions, matches: Matches][] = [
      [{}, () => true],
      [{ filter: 'id = 42' }, (from, to) => from <= 42 && to >= 42],
      [{ filter: 'id < 100' }, (from) => from < 100],
      [{ filter: 'id > 100', includeColumnStats: ['region'] }, (_, to) => to > 100],
      [{ filter: "region = 'x'" }, () => true],
      [{ filter: "region = 'y'" }, () => false],
    ]
    const scans = rows.map(([scan]) => scan)

    it('the same by workers and by this thread, in turn and at once', async () => {
      const table = await loadBuilt(built)
      const want: Result[] = []
      for (const scan of scans) want.push(await resultOf(planner(0, 'off'), table, scan))
      const counts = rows.map(([, matches]) =>
        data.reduce(
          (sum, { entries }, m) =>
            sum + entries.filter((_, e) => !isDeleted(m, e) && matches(m * 10, m * 10 + e)).length,
          0,
        ),
      )
      assert.deepEqual(
        want.map(({ tasks }) => tasks.length),
        counts,
      )
      for (const workers of [0, 1, 2]) {
        const one = planner(workers, 'on')
        for (const [i, scan] of scans.entries())
          assert.deepEqual(await resultOf(one, table, scan), want[i], `${workers} workers, ${nameOf(scan)}`)
        const atOnce = await Promise.all(scans.map((scan) => resultOf(one, table, scan)))
        assert.deepEqual(atOnce, want, `${workers} workers, at once`)
      }
    })
  })

  describe('B074: a manifest that lacks a partition field, beside deletes', () => {
    /** Two files without deletes for them, one of which is ruled out although its partition is not known. */
    const table = (lackingIds: number) => {
      const lacking: ManifestInput = {
        specId: 1,
        entries: [
          {
            sequenceNumber: 1,
            dataFile: {
              filePath: 'lacking',
              partition: ['eu'],
              lowerBounds: { 1: singleValueBytes('long', lackingIds) },
              upperBounds: { 1: singleValueBytes('long', lackingIds) },
            },
          },
        ],
        write: { omit: [1000] },
      }
      const others: ManifestInput = {
        specId: 1,
        entries: Array.from({ length: 6 }, (_, e) => ({
          sequenceNumber: 1,
          dataFile: { filePath: `d${e}`, partition: ['us'] },
        })),
      }
      const deletes: ManifestInput = {
        specId: 1,
        content: 'deletes',
        entries: [{ dataFile: { filePath: 'p', content: 1, partition: ['us'] } }],
      }
      const manifests = [{ ...others }, lacking, { ...others, path: 'again' }, deletes]
      return buildTable({
        schema: SCHEMA,
        specs: [{ fields: [] }, { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] }],
        snapshots: [{ sequenceNumber: 2, manifests }],
      })
    }

    for (const workers of [0, 2])
      it(`planned if its files are ruled out, refused if not: ${workers} workers`, async () => {
        const one = planner(workers, 'on')
        const ruledOut = await loadBuilt(table(3))
        const plan = await one.plan(ruledOut.newScan({ filter: 'id = 5' }))
        const tasks = await allOf(plan.tasks)
        assert.deepEqual(
          tasks.map(namesOf),
          [0, 1].flatMap(() => [0, 1, 2, 3, 4, 5].map((e) => [`d${e}`, 'p'])),
        )
        assert.equal(plan.report.skippedDataFiles, 1)
        const kept = await one.plan((await loadBuilt(table(5))).newScan({ filter: 'id = 5' }))
        assert.match((await rejection(allOf(kept.tasks))).message, /lacks the field "region"/)
      })
  })
})
