/** Which manifests a filter leaves to be read (section 2 of the planning rules), by requests and by the report. */
import { assert } from 'chai'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { alwaysFalse } from '../../src/expressions/builders.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import {
  type BuiltTable,
  buildTable,
  type EntryInput,
  type FieldSummaryInput,
  type ManifestInput,
  singleValueBytes,
  type SpecInput,
  type TableInput,
} from '../support/table-writer.ts'
import { allOf, freshPlanner, loadBuilt, pathsOf, SCHEMA } from './planning.ts'

const SPEC = { REGION: 0, START: 1, NONE: 2, VOID: 3, TWO: 4 }
const SPECS: readonly SpecInput[] = [
  { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] },
  { fields: [{ sourceId: 2, fieldId: 1001, name: 'start', transform: 'truncate[1]' }] },
  { fields: [] },
  { fields: [{ sourceId: 2, name: 'region', transform: 'void' }] },
  {
    fields: [
      { sourceId: 3, fieldId: 1002, name: 'amount', transform: 'identity' },
      { sourceId: 2, name: 'region', transform: 'identity' },
    ],
  },
]

interface Listed extends ManifestInput {
  readonly path: string
}

/** A manifest with a file for each partition, `<path>/<position>`. */
function manifest(
  path: string,
  specId: number,
  partitions: readonly (readonly unknown[])[],
  more: Partial<ManifestInput> = {},
): Listed {
  const entries = partitions.map((partition, i): EntryInput => ({
    dataFile: { filePath: `${path}/${i}`, partition },
  }))
  return { path, specId, entries, ...more }
}

/** Equality deletes of a partition. */
function deletes(path: string, specId: number, partitions: readonly (readonly unknown[])[]): Listed {
  const entries = partitions.map((partition, i): EntryInput => ({
    dataFile: { filePath: `${path}/${i}`, content: 2, equalityIds: [1], partition },
  }))
  return { path, specId, entries, content: 'deletes' }
}

function tableOf(manifests: readonly ManifestInput[], input: Partial<TableInput> = {}): BuiltTable {
  return buildTable({ schema: SCHEMA, specs: SPECS, snapshots: [{ manifests }], ...input })
}

interface Outcome {
  /** Manifests that were read, in list order. */
  read: string[]
  tasks: string[]
  report: ScanReport
}

async function planned(built: BuiltTable, filter: Filter, options: ScanOptions = {}): Promise<Outcome> {
  const io = new CountingFileIO(new MemoryFileIO(built.files))
  const table = await loadBuilt(built, { io })
  io.reset()
  const plan = await freshPlanner().plan(table.newScan({ ...options, filter }))
  const tasks = pathsOf(await allOf(plan.tasks))
  const { manifestList, rows } = built.snapshots[0]
  const { report } = plan
  const paths = [...new Set(rows.map((row) => row.manifestPath))]
  const read = paths.filter((path) => io.byLocation.has(path))
  for (const path of read) assert.equal(io.byLocation.get(path)!.requests, 1, `reads of ${path}`)
  assert.equal(io.byLocation.get(manifestList!)!.requests, 1)
  assert.equal(io.requests, 1 + read.length, 'nothing but the list and these is read')
  assert.equal(report.ioRequests, io.requests)
  assert.equal(report.scannedDataManifests + report.scannedDeleteManifests, read.length)
  assert.equal(report.scannedDataManifests + report.skippedDataManifests, report.totalDataManifests)
  assert.equal(report.scannedDeleteManifests + report.skippedDeleteManifests, report.totalDeleteManifests)
  return { read, tasks, report }
}

const summary = (
  lower?: string,
  upper?: string,
  more: Partial<FieldSummaryInput> = {},
): FieldSummaryInput => ({
  containsNull: false,
  containsNan: false,
  ...(lower === undefined ? {} : { lowerBound: singleValueBytes('string', lower) }),
  ...(upper === undefined ? {} : { upperBound: singleValueBytes('string', upper) }),
  ...more,
})

describe('filtered manifests', () => {
  describe('R2.1, R3.22 (B071): every manifest is judged by its own spec', () => {
    const built = tableOf([
      manifest('eu', SPEC.REGION, [['eu']]),
      manifest('us', SPEC.REGION, [['us'], ['us']]),
      manifest('null', SPEC.REGION, [[null]]),
      manifest('asia-us', SPEC.REGION, [['asia'], ['us']]),
      manifest('e', SPEC.START, [['e']]),
      manifest('u', SPEC.START, [['u']]),
      manifest('none', SPEC.NONE, [[]]),
      manifest('void', SPEC.VOID, [[null]]),
      manifest('two', SPEC.TWO, [[1.5, 'eu']]),
    ])
    const ALL = ['eu', 'us', 'null', 'asia-us', 'e', 'u', 'none', 'void', 'two']
    const without = (...paths: string[]) => ALL.filter((path) => !paths.includes(path))
    const rows: [filter: string, read: string[], skippedFiles: number, why: string][] = [
      ["region = 'eu'", without('us', 'null', 'u'), 2, 'bounds [asia, us] admit eu; its two files do not'],
      ["region = 'zz'", ['none', 'void'], 0, 'only those that say nothing of regions'],
      ["region > 'f'", without('eu', 'null', 'e', 'two'), 1, 'f and what begins with it are not below f'],
      [
        "region IN ('b', 'zz')",
        without('eu', 'us', 'null', 'e', 'u', 'two'),
        2,
        'R2.12: b is between asia and us',
      ],
      ['region IS NULL', ['null', 'none', 'void'], 0, 'trap 17: void says nothing of nulls'],
      ['region IS NOT NULL', without('null'), 0, 'a manifest of nulls only'],
      ["region <> 'eu'", without('eu', 'two'), 0, 'R2.11: one value, and that is it; null is not eu'],
      ["NOT region = 'eu'", without('eu', 'two'), 0, 'R11.22: the same'],
      ["region LIKE 'e%'", without('us', 'null', 'u'), 2, 'R2.9'],
      ['id = 5', ALL, 0, 'no partition field of id'],
      ["region = 'eu' AND id = 5", without('us', 'null', 'u'), 2, 'AND: one side is enough'],
      ["region = 'eu' OR id = 5", ALL, 0, 'OR: the other side may match anywhere'],
      ["region = 'eu' OR amount > 5", ALL, 0, 'amount is a partition field of one spec only'],
      ["region = 'us' AND amount > 1", without('eu', 'null', 'e', 'two'), 1, 'the region of the spec of two'],
      [
        "region = 'eu' AND amount > 1.5",
        without('us', 'null', 'u', 'two'),
        2,
        'the amount of the spec of two',
      ],
      ['true', ALL, 0, 'no filter'],
    ]
    for (const [filter, read, skippedFiles, why] of rows)
      it(`${filter}: ${why}`, async () => {
        const outcome = await planned(built, filter)
        assert.deepEqual(outcome.read, read)
        assert.equal(outcome.report.totalDataManifests, 9)
        assert.equal(outcome.report.skippedDataManifests, 9 - read.length)
        assert.equal(outcome.report.skippedDataFiles, skippedFiles)
        const files = built.snapshots[0].rows
          .filter(({ manifestPath }) => read.includes(manifestPath))
          .reduce((sum, { addedFilesCount }) => sum + addedFilesCount!, 0)
        assert.lengthOf(outcome.tasks, files - skippedFiles)
        assert.equal(outcome.report.resultDataFiles, outcome.tasks.length)
        assert.isEmpty(outcome.report.warnings)
      })
  })

  describe('summaries that prove nothing', () => {
    const inEu = (row: ManifestInput['row']): BuiltTable =>
      tableOf([
        manifest('m', SPEC.REGION, [['eu'], ['us']], { row: row! }),
        manifest('other', SPEC.REGION, [['us']]),
      ])
    const CONTRADICTION =
      'Manifest m has files, but by its summary partition field 1 has no value, not even null; it proves nothing.'
    const rows: [why: string, row: ManifestInput['row'], filter: string, warnings: string[]][] = [
      ['R2.2: no summaries', { partitions: undefined }, "region = 'eu'", []],
      ['R2.3: fewer summaries than fields', { partitions: [] }, "region = 'eu'", []],
      ['R2.7b: no value of any kind', { partitions: [summary()] }, "region = 'eu'", [CONTRADICTION]],
      [
        'R2.7b: no value, NaN not known',
        { partitions: [summary(undefined, undefined, { containsNan: undefined })] },
        "region = 'eu'",
        [CONTRADICTION],
      ],
      ['R2.7b: for any predicate', { partitions: [summary()] }, 'region IS NULL', [CONTRADICTION]],
      [
        'R2.7b: said once, whatever is asked',
        { partitions: [summary()] },
        "region >= 'eu' AND region < 'f' AND region IS NOT NULL",
        [CONTRADICTION],
      ],
      [
        'R2.7b: counts not known',
        { partitions: [summary()], addedFilesCount: undefined, existingFilesCount: undefined },
        "region = 'eu'",
        [CONTRADICTION],
      ],
      ['R2.7b: not said where nothing is asked', { partitions: [summary()] }, 'id = 5', []],
      ['R2.8: an upper bound alone', { partitions: [summary(undefined, 'a')] }, "region = 'eu'", []],
    ]
    for (const [why, row, filter, warnings] of rows)
      it(`${why} (${filter})`, async () => {
        const { read, report } = await planned(inEu(row), filter)
        assert.include(read, 'm')
        assert.deepEqual(report.warnings, warnings)
      })

    it('R2.7b: with no live file there is nothing to contradict, or to read', async () => {
      const row = { partitions: [summary()], addedFilesCount: 0, existingFilesCount: 0 }
      const { read, report } = await planned(inEu(row), "region = 'us'")
      assert.deepEqual(read, ['other'])
      assert.isEmpty(report.warnings)
    })

    it('R4.21: the files of a manifest that is kept for want of a summary are judged one by one', async () => {
      const { tasks, report } = await planned(inEu({ partitions: undefined }), "region = 'eu'")
      assert.deepEqual(tasks, ['m/0'])
      assert.equal(report.skippedDataFiles, 1)
      assert.equal(report.skippedDataManifests, 1)
    })

    it('a manifest that is listed twice is kept if one of the rows may match, and read by the first', async () => {
      const first = manifest('m', SPEC.REGION, [['eu']], { row: { partitions: [summary('us', 'us')] } })
      const once = tableOf([first])
      const again = { ...once.snapshots[0].rows[0], partitions: [summary('eu', 'eu')], sequenceNumber: 77 }
      const built = tableOf([], { snapshots: [{ manifests: [first], rows: [again] }] })
      const table = await loadBuilt(built)
      const plan = await freshPlanner().plan(table.newScan({ filter: "region = 'eu'" }))
      const tasks = await allOf(plan.tasks)
      assert.deepEqual(pathsOf(tasks), ['m/0'])
      assert.equal(tasks[0].dataFile.dataSequenceNumber, 1n)
      const none = await planned(built, "region = 'asia'")
      assert.isEmpty(none.read)
    })
  })

  describe('R2.16: delete manifests, by the same proof', () => {
    const built = tableOf(
      [
        manifest('eu', SPEC.REGION, [['eu']], { sequenceNumber: 1 }),
        manifest('us', SPEC.REGION, [['us']], { sequenceNumber: 1 }),
        deletes('d-eu', SPEC.REGION, [['eu']]),
        deletes('d-us', SPEC.REGION, [['us'], ['us']]),
        deletes('d-both', SPEC.REGION, [['eu'], ['us']]),
        deletes('d-start', SPEC.START, [['e']]),
        deletes('d-none', SPEC.NONE, [[]]),
        deletes('d-void', SPEC.VOID, [[null]]),
      ].map((each) => ({ ...each, sequenceNumber: each.content === 'deletes' ? 2 : 1 })),
    )
    const rows: [filter: string, read: string[], skippedFiles: number][] = [
      ["region = 'eu'", ['eu', 'd-eu', 'd-both', 'd-start', 'd-none', 'd-void'], 1],
      ["region = 'us'", ['us', 'd-us', 'd-both', 'd-none', 'd-void'], 1],
      ['id = 5', ['eu', 'us', 'd-eu', 'd-us', 'd-both', 'd-start', 'd-none', 'd-void'], 0],
    ]
    for (const [filter, read, skippedFiles] of rows)
      it(filter, async () => {
        const { read: got, report } = await planned(built, filter)
        assert.deepEqual(got, read)
        assert.equal(report.totalDeleteManifests, 6)
        assert.equal(report.skippedDeleteManifests, 6 - read.filter((path) => path.startsWith('d-')).length)
        assert.equal(report.skippedDeleteFiles, skippedFiles)
      })

    it('tasks have the same deletes as without a filter', async () => {
      const table = await loadBuilt(built)
      const deletesOf = async (filter?: Filter) => {
        const plan = await freshPlanner().plan(table.newScan({ filter }))
        const tasks = await allOf(plan.tasks)
        return new Map(
          tasks.map((task) => [task.dataFile.filePath, task.deletes.map((file) => file.filePath)]),
        )
      }
      const all = await deletesOf()
      assert.deepEqual(all.get('eu/0'), ['d-none/0', 'd-void/0', 'd-eu/0', 'd-both/0'])
      for (const region of ['eu', 'us'])
        assert.deepEqual(
          [...(await deletesOf(`region = '${region}'`))],
          [[`${region}/0`, all.get(`${region}/0`)]],
        )
    })

    it('R2.19: without a data manifest no delete manifest is read', async () => {
      const { read, tasks, report } = await planned(built, "region = 'zz'")
      assert.isEmpty(read)
      assert.isEmpty(tasks)
      assert.equal(report.skippedDataManifests, 2)
      assert.equal(report.skippedDeleteManifests, 6)
      assert.equal(report.indexedDeleteFiles, 0)
      assert.isTrue(report.complete)
    })
  })

  describe('a filter that nothing satisfies: only the list is read', () => {
    const built = tableOf([
      manifest('eu', SPEC.REGION, [['eu']]),
      manifest('none', SPEC.NONE, [[]]),
      manifest('unknown', SPEC.REGION, [['eu']], { row: { partitions: undefined } }),
      deletes('d-none', SPEC.NONE, [[]]),
    ])
    const rows: [why: string, filter: Filter][] = [
      ['the builder', alwaysFalse()],
      ['text', 'false'],
      ['JSON', false],
      ['R11.10: a number beyond the type', 'id = 9223372036854775808'],
      ['R11.13: a required column is null', 'id IS NULL'],
      ['AND with one', "region = 'eu' AND id IS NULL"],
      ['NOT of what all satisfy', 'NOT id IS NOT NULL'],
    ]
    for (const [why, filter] of rows)
      it(why, async () => {
        const { read, tasks, report } = await planned(built, filter)
        assert.isEmpty(read)
        assert.isEmpty(tasks)
        assert.equal(report.skippedDataManifests, 3)
        assert.equal(report.skippedDeleteManifests, 1)
        assert.equal(report.skippedDataFiles, 0)
        assert.isTrue(report.complete)
      })
  })

  it('R1.12: inline manifests of v1 have no summary; their files are judged by the spec in their header', async () => {
    const built = buildTable({
      formatVersion: 1,
      schema: SCHEMA,
      specs: SPECS,
      snapshots: [
        {
          inlineManifests: true,
          manifests: [
            manifest('eu', SPEC.REGION, [['eu'], ['us']]),
            manifest('e', SPEC.START, [['e'], ['u']]),
            manifest('none', SPEC.NONE, [[]]),
          ],
        },
      ],
    })
    const table = await loadBuilt(built)
    const plan = await freshPlanner().plan(table.newScan({ filter: "region = 'eu'" }))
    assert.deepEqual(pathsOf(await allOf(plan.tasks)), ['eu/0', 'e/0', 'none/0'])
    assert.equal(plan.report.skippedDataManifests, 0)
    assert.equal(plan.report.skippedDataFiles, 2)
  })

  it('entries that are kept, and detached tasks, hold rows of their manifests but not the list', async () => {
    const table = await loadBuilt(
      tableOf([manifest('eu', SPEC.REGION, [['eu']]), manifest('us', SPEC.REGION, [['us']])]),
    )
    const planner = new ScanPlanner({ workers: 0 })
    const plan = () => planner.plan(table.newScan())
    const detached = (await allOf((await plan()).tasks)).map((task) => task.detach().dataFile)
    const kept = (await allOf((await plan()).tasks)).map((task) => task.dataFile)
    for (const { batch, row, filePath } of [...detached, ...kept])
      // Two bounds of two bytes have a buffer of their own.
      assert.equal(batch.segmentOf(row).manifest.partitions![0].lowerBound!.buffer.byteLength, 4, filePath)
    assert.lengthOf(kept, 2)
  })
})
