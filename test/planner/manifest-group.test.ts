import { assert } from 'chai'
import { drained } from '../../src/avro/steps.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import type { ManifestFileFields } from '../../src/manifest/manifest-file.ts'
import { ManifestContent } from '../../src/manifest/manifest-file.ts'
import { relativeTo } from '../../src/metadata/relative-location.ts'
import { type ManifestGroup, selectManifests } from '../../src/planner/manifest-group.ts'
import { Warnings } from '../../src/planner/warnings.ts'
import { manifestFile } from '../manifest/manifest-reading.ts'
import type { ManifestFileInput, ManifestInput } from '../support/table-writer.ts'
import { dataManifests, pathsOf, planBuilt, tableOf } from './planning.ts'

type Counts = Pick<ManifestFileFields, 'addedFilesCount' | 'existingFilesCount' | 'deletedFilesCount'>
const counts = (added?: number, existing?: number, deleted?: number): Counts => ({
  addedFilesCount: added,
  existingFilesCount: existing,
  deletedFilesCount: deleted,
})

function select(rows: readonly Partial<ManifestFileFields>[]): ManifestGroup & { warnings: string[] } {
  const warnings = new Warnings()
  return { ...drained(selectManifests(rows.map(manifestFile), warnings)), warnings: warnings.list() }
}

const pathsIn = (selection: ManifestGroup['data']): string[] =>
  selection.selected.map((manifest) => manifest.manifestPath)

describe('manifest group', () => {
  describe('R2.14: a manifest is skipped only if added and existing are both known to be 0', () => {
    const rows: [why: string, counts: Counts, isRead: boolean][] = [
      ['nothing known', counts(), true],
      ['trap 5: added and existing unknown, some deleted', counts(undefined, undefined, 3), true],
      ['added unknown, existing 0', counts(undefined, 0, 0), true],
      ['added 0, existing unknown', counts(0, undefined, 0), true],
      ['added', counts(1, 0, 0), true],
      ['B045: only existing', counts(0, 1, 0), true],
      ['only deleted', counts(0, 0, 5), false],
      ['empty', counts(0, 0, 0), false],
      ['empty, deleted unknown', counts(0, 0), false],
    ]
    for (const content of [ManifestContent.DATA, ManifestContent.DELETES])
      for (const [why, fields, isRead] of rows)
        it(`${content === ManifestContent.DATA ? 'data' : 'deletes'}: ${why}`, () => {
          const { data, deletes } = select([{ content, ...fields }])
          const { total, selected } = content === ManifestContent.DATA ? data : deletes
          assert.equal(total, 1)
          assert.equal(selected.length === 1, isRead)
        })

    const stored: [why: string, row: Partial<ManifestFileInput>, tasks: number][] = [
      ['negative counts are unknown', { addedFilesCount: -1, existingFilesCount: -1 }, 2],
      ['one negative count is enough', { addedFilesCount: 0, existingFilesCount: -7 }, 2],
      ['null counts', { addedFilesCount: undefined, existingFilesCount: undefined }, 2],
      ['row counts do not matter', { addedRowsCount: 0, existingRowsCount: 0 }, 2],
      ['the list is believed', { addedFilesCount: 0, existingFilesCount: 0, deletedFilesCount: 2 }, 0],
    ]
    for (const [why, row, tasks] of stored)
      it(`in a table: ${why}`, async () => {
        const planned = await planBuilt(tableOf([{ ...dataManifests(2)[0], row }]))
        assert.lengthOf(planned.tasks, tasks)
        assert.equal(planned.plan.report.skippedDataManifests, tasks === 0 ? 1 : 0)
      })

    it('B045: a delete manifest with nothing but EXISTING entries is read', async () => {
      const deletes: ManifestInput = {
        content: 'deletes',
        entries: [{ status: 0, sequenceNumber: 1, dataFile: { content: 1, filePath: 'p' } }],
      }
      const { tasks, plan } = await planBuilt(tableOf([...dataManifests(1), deletes]))
      assert.deepEqual(
        tasks[0].deletes.map((file) => file.filePath),
        ['p'],
      )
      assert.equal(plan.report.scannedDeleteManifests, 1)
    })
  })

  describe('R2.15: list order, each path once', () => {
    it('keeps the order of the list for each kind', () => {
      const { data, deletes } = select([
        { manifestPath: 'c' },
        { manifestPath: 'x', content: ManifestContent.DELETES },
        { manifestPath: 'a' },
        { manifestPath: 'w', content: ManifestContent.DELETES },
        { manifestPath: 'b' },
      ])
      assert.deepEqual(pathsIn(data), ['c', 'a', 'b'])
      assert.deepEqual(pathsIn(deletes), ['x', 'w'])
    })

    it('R4.17: a path listed with two contents is an error, not one of the two', () => {
      const rows = [ManifestContent.DELETES, ManifestContent.DATA].map((content) => ({
        manifestPath: 'x',
        content,
        ...counts(1, 0, 0),
      }))
      assert.throws(() => select(rows), /manifest x is listed both as a data and as a delete manifest/)
    })

    it('one warning for each path that is listed more than once', () => {
      const { data, deletes, warnings } = select([
        { manifestPath: 'a' },
        { manifestPath: 'b' },
        { manifestPath: 'a' },
        { manifestPath: 'x', content: ManifestContent.DELETES },
        { manifestPath: 'a' },
        { manifestPath: 'x', content: ManifestContent.DELETES },
      ])
      assert.deepEqual([data.total, pathsIn(data)], [4, ['a', 'b']])
      assert.deepEqual([deletes.total, pathsIn(deletes)], [2, ['x']])
      assert.deepEqual(warnings, [
        'Manifest a is listed 3 times in the manifest list; it is read once.',
        'Manifest x is listed 2 times in the manifest list; it is read once.',
      ])
    })

    it('paths that stand for the same file are one path, where they may be relative', () => {
      const rows = [{ manifestPath: 'a' }, { manifestPath: 's3://b/t/a' }, { manifestPath: 'b' }]
      const absolute = (path: string): string => relativeTo('s3://b/t', path)
      const warnings = new Warnings()
      const { data } = drained(selectManifests(rows.map(manifestFile), warnings, undefined, absolute))
      assert.deepEqual(pathsIn(data), ['a', 'b'])
      assert.match(warnings.list().join(), /Manifest s3:\/\/b\/t\/a is listed 2 times/)
      assert.deepEqual(pathsIn(select(rows).data), ['a', 's3://b/t/a', 'b'])
    })

    it('a row without live files does not hide another row of the same path', () => {
      const { data } = select([
        { manifestPath: 'a', ...counts(0, 0, 1) },
        { manifestPath: 'b' },
        { manifestPath: 'a', ...counts(1, 0, 0) },
      ])
      assert.deepEqual([data.total, pathsIn(data)], [3, ['b', 'a']])
    })

    it('in steps, however often the same path is listed', () => {
      const rows = Array.from({ length: 5120 }, () => manifestFile({ manifestPath: 'a' }))
      const steps = [...selectManifests(rows, new Warnings(), () => false)]
      // Looked for, collected, asked, chosen: ten times each.
      assert.lengthOf(steps, 40)
    })

    it('in a table: read once, warned of once, the rest counted as skipped', async () => {
      const [manifest, other] = dataManifests(2, 1)
      const built = tableOf([manifest, other, manifest, manifest])
      const io = new CountingFileIO(new MemoryFileIO(built.files))
      const { tasks, plan } = await planBuilt(built, { io })
      assert.deepEqual(pathsOf(tasks), ['data/0-0', 'data/0-1', 'data/1-0'])
      const { report } = plan
      assert.equal(report.totalDataManifests, 4)
      assert.equal(report.scannedDataManifests, 2)
      assert.equal(report.skippedDataManifests, 2)
      assert.lengthOf(report.warnings, 1)
      assert.match(report.warnings[0], /-m0\.avro is listed 3 times/)
      for (const { manifestPath } of built.snapshots[0].rows)
        assert.equal(io.byLocation.get(manifestPath)?.requests, 1)
    })
  })

  describe('R2.19: without data there are no deletes to read', () => {
    const deletes: ManifestInput = {
      content: 'deletes',
      entries: [{ sequenceNumber: 1, dataFile: { content: 1 } }],
    }
    const gone: ManifestInput = { entries: [{ status: 2 }] }
    const rows: [why: string, manifests: ManifestInput[]][] = [
      ['no data manifest', [deletes]],
      ['all of them skipped', [gone, deletes, deletes]],
    ]
    for (const [why, manifests] of rows)
      it(why, async () => {
        const built = tableOf(manifests)
        const io = new CountingFileIO(new MemoryFileIO(built.files))
        const { tasks, plan } = await planBuilt(built, { io })
        assert.isEmpty(tasks)
        assert.deepEqual([...io.byLocation.keys()], [built.metadataLocation, built.snapshots[0].manifestList])
        const { report } = plan
        assert.isTrue(report.complete)
        assert.equal(report.scannedDeleteManifests, 0)
        assert.equal(report.skippedDeleteManifests, report.totalDeleteManifests)
      })

    it('one data manifest that turns out to be empty is enough to read them', async () => {
      const unknown: ManifestInput = { ...gone, row: { addedFilesCount: undefined } }
      const { tasks, plan } = await planBuilt(tableOf([unknown, deletes]))
      assert.isEmpty(tasks)
      assert.equal(plan.report.scannedDeleteManifests, 1)
    })
  })

  describe('R1.15: totals are what the list holds', () => {
    it('before anything is skipped', async () => {
      const deletes = (status: number): ManifestInput => ({
        content: 'deletes',
        entries: [{ status, sequenceNumber: 1, dataFile: { content: 1 } }],
      })
      const gone: ManifestInput = { entries: [{ status: 2 }] }
      const { plan } = await planBuilt(
        tableOf([...dataManifests(1, 1), gone, deletes(1), deletes(2), deletes(2)]),
      )
      const { report } = plan
      assert.deepEqual(
        [report.totalDataManifests, report.scannedDataManifests, report.skippedDataManifests],
        [3, 2, 1],
      )
      assert.deepEqual(
        [report.totalDeleteManifests, report.scannedDeleteManifests, report.skippedDeleteManifests],
        [3, 1, 2],
      )
    })
  })
})
