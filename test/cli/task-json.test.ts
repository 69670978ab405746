import { assert } from 'chai'
import { reportToJson } from '../../src/cli/report-json.ts'
import { taskToJson } from '../../src/cli/task-json.ts'
import type { JsonValue, ScanOptions, ScanReport } from '../../src/index.ts'
import { expressionToJson, formatJson, parseFilter, parseJson, ScanPlanner } from '../../src/index.ts'
import { javaScans, loadOrders, type JavaDelete, type JavaScan } from './command-line.ts'

const REQUIRED_KEYS = [
  'file-path',
  'file-format',
  'record-count',
  'file-size-in-bytes',
  'spec-id',
  'partition',
  'data-sequence-number',
  'start',
  'length',
  'residual',
  'residual-filter',
  'deletes',
]
const OPTIONAL_KEYS = ['location', 'first-row-id', 'split-offsets', 'sort-order-id', 'key-metadata']
const REQUIRED_DELETE_KEYS = [
  'content',
  'file-path',
  'file-format',
  'record-count',
  'file-size-in-bytes',
  'spec-id',
  'data-sequence-number',
]
const OPTIONAL_DELETE_KEYS = [
  'location',
  'content-offset',
  'content-size-in-bytes',
  'referenced-data-file',
  'equality-ids',
  'key-metadata',
]
const REPORT_KEYS = [
  'total-planning-duration-ms',
  'snapshot-id',
  'schema-id',
  'result-data-files',
  'result-delete-files',
  'total-data-manifests',
  'total-delete-manifests',
  'scanned-data-manifests',
  'scanned-delete-manifests',
  'skipped-data-manifests',
  'skipped-delete-manifests',
  'skipped-data-files',
  'skipped-delete-files',
  'total-file-size-in-bytes',
  'total-delete-file-size-in-bytes',
  'indexed-delete-files',
  'equality-delete-files',
  'positional-delete-files',
  'dvs',
  'io-requests',
  'io-bytes',
  'cache-file-hits',
  'cache-disk-hits',
  'cache-entry-hits',
  'plan-cache-hits',
  'plan-cache-misses',
  'workers',
  'complete',
  'warnings',
]

type Json = Record<string, JsonValue>

/** Tasks as a reader of `--format jsonl` sees them, and the report of the same plan. */
async function plan(options: ScanOptions): Promise<{ tasks: Json[]; report: ScanReport }> {
  const table = await loadOrders()
  const plan = await new ScanPlanner().plan(table.newScan(options))
  const tasks: Json[] = []
  for await (const task of plan.tasks) tasks.push(parseJson(formatJson(taskToJson(task))) as Json)
  return { tasks, report: plan.report }
}

function scanOptions(selection: JavaScan['selections'][number]): ScanOptions {
  if ('snapshotId' in selection) return { snapshotId: BigInt(selection.snapshotId) }
  return 'current' in selection ? {} : selection
}

function deletesOf(task: Json): Json[] {
  return task.deletes as Json[]
}

function asJava(deleteFile: Json): JavaDelete {
  const optional: [keyof JavaDelete, JsonValue | undefined][] = [
    ['equalityIds', deleteFile['equality-ids']],
    ['contentOffset', deleteFile['content-offset']],
    ['contentSizeInBytes', deleteFile['content-size-in-bytes']],
    ['referencedDataFile', deleteFile['referenced-data-file']],
  ]
  return {
    content: deleteFile.content as JavaDelete['content'],
    path: deleteFile['file-path'] as string,
    specId: deleteFile['spec-id'] as number,
    dataSequenceNumber: formatJson(deleteFile['data-sequence-number']),
    ...Object.fromEntries(optional.filter(([, value]) => value !== undefined)),
  }
}

describe('command line: tasks as JSON', () => {
  it('have the promised keys, and optional ones only when there is something to say', async () => {
    const { tasks } = await plan({})
    for (const task of tasks) {
      assert.includeMembers(Object.keys(task), REQUIRED_KEYS)
      assert.includeMembers([...REQUIRED_KEYS, ...OPTIONAL_KEYS], Object.keys(task))
      assert.notInclude(Object.values(task), null)
      for (const deleteFile of deletesOf(task)) {
        assert.includeMembers(Object.keys(deleteFile), REQUIRED_DELETE_KEYS)
        assert.includeMembers([...REQUIRED_DELETE_KEYS, ...OPTIONAL_DELETE_KEYS], Object.keys(deleteFile))
      }
    }
  })

  it('say where to open a file only when that is not where it was written', async () => {
    const table = await loadOrders()
    const path = (await plan({})).tasks[0]['file-path'] as string
    let deletes = 0
    for await (const task of table.planFiles()) {
      const json = taskToJson(task) as Json
      assert.equal(json.location, task.location)
      assert.notEqual(json.location, json['file-path'])
      for (const [i, deleteFile] of deletesOf(json).entries()) {
        assert.equal(deleteFile.location, task.locationOf(task.deletes[i]))
        assert.notEqual(deleteFile.location, deleteFile['file-path'])
        deletes++
      }
    }
    assert.isAbove(deletes, 0)
    assert.match(path, /^s3:\/\/warehouse\/db\/orders\/data\//)
  })

  it('say what is left of the filter, as text and as expression JSON', async () => {
    const filter = "region = 'emea' AND ordered_at >= '2026-11-03T12:00:00Z' AND amount > 500"
    const { tasks } = await plan({ filter })
    const amount = { type: 'gt', term: 'amount', value: 500 }
    const orderedAt = { type: 'gt-eq', term: 'ordered_at', value: '2026-11-03T12:00:00Z' }
    assert.deepEqual(
      tasks.map((task) => [task.residual, task['residual-filter']]),
      [
        [
          "ordered_at >= '2026-11-03T12:00:00Z' AND amount > 500",
          { type: 'and', left: orderedAt, right: amount },
        ],
        ['amount > 500', amount],
      ],
    )
    for (const { residual, 'residual-filter': json } of tasks)
      assert.deepEqual(expressionToJson(parseFilter(residual as string)), json)
  })

  it('keep 64-bit ids as bare integers', () => {
    assert.equal(formatJson({ 'first-row-id': 2n ** 63n - 1n }), '{"first-row-id":9223372036854775807}')
  })

  for (const { snapshotId, selections, tasks: expected } of javaScans())
    for (const selection of selections)
      it(`agree with Java: ${JSON.stringify(selection)}, snapshot ${snapshotId}`, async () => {
        const { tasks } = await plan(scanOptions(selection))
        const byPath = new Map(tasks.map((task) => [task['file-path'] as string, task]))
        assert.sameMembers(
          tasks.map((task) => task['file-path']),
          expected.map((task) => task.filePath),
        )
        for (const java of expected) {
          const task = byPath.get(java.filePath)!
          assert.equal(task['file-format'], 'parquet')
          assert.equal(task['spec-id'], java.specId)
          assert.deepEqual(task.partition, java.partition)
          assert.equal(task['record-count'], java.recordCount)
          assert.equal(task['file-size-in-bytes'], java.fileSize)
          assert.equal(task.start, 0)
          assert.equal(task.length, java.fileSize)
          assert.equal(formatJson(task['data-sequence-number']), java.dataSequenceNumber)
          assert.equal(
            task['first-row-id'],
            java.firstRowId === undefined ? undefined : Number(java.firstRowId),
          )
          assert.equal(task.residual, 'true')
          assert.equal(task['residual-filter'], true)
          assert.deepEqual(deletesOf(task).map(asJava), java.deletes)
        }
      })
})

describe('command line: the report as JSON', () => {
  it('has the names of Java and ours, in kebab case', async () => {
    const { report } = await plan({})
    assert.deepEqual(Object.keys(reportToJson(report)), REPORT_KEYS)
  })

  it('counts as Java does', async () => {
    for (const { snapshotId, scanMetrics } of javaScans()) {
      const { report } = await plan({ snapshotId: BigInt(snapshotId) })
      const json = reportToJson(report)
      assert.deepInclude(json, scanMetrics)
      assert.equal(json['snapshot-id'], BigInt(snapshotId))
      assert.equal(json.complete, true)
    }
  })
})
