/**
 * Plans of the tables that Iceberg for Java wrote, against Java's own plans of them: every snapshot, by every selection
 * that leads to it. See fixtures/README.md.
 *
 * Compared are the files with spec, partition, rows, size, sequence numbers and first row id, the deletes of each in
 * Java's order with their fields, and the counters of the scan report by name.
 */
import { assert } from 'chai'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rebase } from '../../src/io/rebase.ts'
import { CONTENT_NAMES, type DeleteFile } from '../../src/manifest/content-file.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import type { Table } from '../../src/planner/table.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { planTable } from '../support/corpus-table.ts'
import { projectRoot } from '../support/root.ts'

interface JavaDelete {
  readonly content: string
  readonly path: string
  readonly specId: number
  readonly dataSequenceNumber: string
  readonly equalityIds?: readonly number[]
  readonly referencedDataFile?: string
  readonly contentOffset?: number
  readonly contentSizeInBytes?: number
}

interface JavaTask {
  readonly filePath: string
  readonly specId: number
  readonly partition: Readonly<Record<string, unknown>>
  readonly recordCount: number
  readonly fileSize: number
  readonly dataSequenceNumber: string
  readonly fileSequenceNumber: string
  readonly firstRowId?: string
  readonly deletes: readonly JavaDelete[]
}

interface JavaSelection {
  readonly current?: true
  readonly ref?: string
  readonly snapshotId?: string
  readonly asOf?: number
}

interface JavaScan {
  readonly snapshotId: string
  readonly selections: readonly JavaSelection[]
  readonly scanMetrics: Readonly<Record<string, number>>
  /** Sorted by file path. */
  readonly tasks: readonly JavaTask[]
}

interface JavaPlans {
  readonly location: string
  readonly scans: readonly JavaScan[]
}

/** Java's counters and ours. */
const METRICS: Record<string, keyof ScanReport> = {
  'result-data-files': 'resultDataFiles',
  'result-delete-files': 'resultDeleteFiles',
  'total-data-manifests': 'totalDataManifests',
  'total-delete-manifests': 'totalDeleteManifests',
  'scanned-data-manifests': 'scannedDataManifests',
  'scanned-delete-manifests': 'scannedDeleteManifests',
  'skipped-data-manifests': 'skippedDataManifests',
  'skipped-delete-manifests': 'skippedDeleteManifests',
  'skipped-data-files': 'skippedDataFiles',
  'skipped-delete-files': 'skippedDeleteFiles',
  'total-file-size-in-bytes': 'totalFileSizeInBytes',
  'total-delete-file-size-in-bytes': 'totalDeleteFileSizeInBytes',
  'indexed-delete-files': 'indexedDeleteFiles',
  'equality-delete-files': 'equalityDeleteFiles',
  'positional-delete-files': 'positionalDeleteFiles',
  dvs: 'dvs',
}

for (const name of ['orders', 'codecs', 'upgraded']) {
  const plans = JSON.parse(readFileSync(fixture(`${name}.expected.json`), 'utf8')) as JavaPlans

  describe(`Java's plans of ${name}`, () => {
    let table: Table

    before(async () => {
      table = await loadTable(plans.location, { rebase: [rebase(plans.location, fixture(name))] })
    })

    it('cover every snapshot', () => {
      assert.sameMembers(
        plans.scans.map(({ snapshotId }) => snapshotId),
        table.metadata.snapshots.map(({ snapshotId }) => String(snapshotId)),
      )
      const refs = plans.scans.flatMap(({ selections }) => selections.flatMap(({ ref }) => ref ?? []))
      assert.sameMembers(refs, [...table.metadata.refs.keys()])
    })

    for (const scan of plans.scans) {
      for (const selection of scan.selections)
        it(`of snapshot ${scan.snapshotId} by ${JSON.stringify(selection)} come out`, async () => {
          const { tasks, report } = await planTable(table, scanOptions(selection))
          const sorted = tasks.toSorted((a, b) => compareText(a.dataFile.filePath, b.dataFile.filePath))
          assert.deepEqual(
            sorted.map((task) => ({ ...asJava(task), deletes: task.deletes.map(deleteAsJava) })),
            scan.tasks,
          )
          assert.equal(String(report.snapshotId), scan.snapshotId)
          const ours = Object.entries(METRICS).map(([java, ours]) => [java, report[ours]])
          assert.deepEqual(Object.fromEntries(ours), scan.scanMetrics)
        })
    }
  })
}

function scanOptions({ ref, snapshotId, asOf }: JavaSelection): ScanOptions {
  return { ref, asOf, snapshotId: snapshotId === undefined ? undefined : BigInt(snapshotId) }
}

/** In the shape of Java's answers, where unknown values are absent. */
function asJava(task: FileScanTask): Omit<JavaTask, 'deletes'> {
  const { dataFile: file } = task
  assert.deepEqual(file.spec, task.spec)
  return known({
    filePath: file.filePath,
    specId: file.specId,
    partition: task.partition,
    recordCount: file.recordCount,
    fileSize: file.fileSizeInBytes,
    dataSequenceNumber: String(file.dataSequenceNumber),
    fileSequenceNumber: String(file.fileSequenceNumber),
    firstRowId: file.firstRowId?.toString(),
  })
}

function deleteAsJava(file: DeleteFile): JavaDelete {
  return known({
    content: CONTENT_NAMES[file.content],
    path: file.filePath,
    specId: file.specId,
    dataSequenceNumber: String(file.dataSequenceNumber),
    equalityIds: file.equalityIds,
    referencedDataFile: file.referencedDataFile,
    contentOffset: file.contentOffset,
    contentSizeInBytes: file.contentSizeInBytes,
  })
}

type Known<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Without the fields that are undefined. */
function known<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<T>
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function fixture(path: string): string {
  return fileURLToPath(new URL(`fixtures/${path}`, projectRoot()))
}
