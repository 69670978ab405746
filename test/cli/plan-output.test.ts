import { assert } from 'chai'
import { parseJson } from '../../src/index.ts'
import { iceplan, javaScans, ORDERS } from './command-line.ts'

type Json = Record<string, unknown>

describe('command line: iceplan plan', () => {
  it('--format jsonl: a task a line, and the report on stderr', async () => {
    const run = await iceplan('plan', ...ORDERS, '--format', 'jsonl')
    assert.equal(run.code, 0)
    assert.isTrue(run.stdout.endsWith('}\n'))
    const tasks = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(line) as Json)
    assert.sameMembers(
      tasks.map((task) => task['file-path']),
      javaScans()[0].tasks.map((task) => task.filePath),
    )
    for (const { location, 'file-path': path } of tasks)
      assert.equal(location, (path as string).replace('s3://warehouse/db/orders', 'fixtures/orders'))
    assert.match(run.stderr, /^\nreport of planning in [\d.]+ ms\n/)
    assert.match(run.stderr, /data files +26 planned/)
  })

  it('--format json: one object with tasks and report', async () => {
    const { tasks: expected, snapshotId } = javaScans().find(({ selections }) =>
      selections.some((selection) => 'ref' in selection && selection.ref === 'audit'),
    )!
    const run = await iceplan('plan', ...ORDERS, '--format', 'json', '--ref', 'audit')
    assert.equal(run.code, 0)
    assert.equal(run.stderr, '')
    const { tasks, report, ...rest } = parseJson(run.stdout) as { tasks: Json[]; report: Json }
    assert.deepEqual(rest, {})
    assert.equal(tasks.length, expected.length)
    assert.equal(report['snapshot-id'], BigInt(snapshotId))
    assert.equal(report['result-data-files'], expected.length)
    assert.equal(report.complete, true)
  })

  it('--workers 2: the same tasks, from worker threads', async () => {
    const here = await iceplan('plan', ...ORDERS, '--format', 'jsonl', '--workers', '0')
    const there = await iceplan('plan', ...ORDERS, '--format', 'jsonl', '--workers', '2')
    assert.equal(there.code, 0)
    assert.equal(there.stdout, here.stdout)
    assert.match(there.stderr, /workers +2/)
  })

  it('--format table, the default: rows and summary on stdout, the report on stderr', async () => {
    const run = await iceplan('plan', ...ORDERS, '--workers', '0')
    assert.equal(run.code, 0)
    assert.match(run.stdout, /^orders\n/)
    assert.equal(run.stdout.split('\n').filter((line) => line.includes('.parquet')).length, 26)
    assert.notInclude(run.stdout, 'report')
    assert.notInclude(run.stdout + run.stderr, '\u001b')
    assert.match(run.stderr, /^\nreport of planning/)
  })

  it('--filter: only files that may hold matching rows, and the report counts what was skipped', async () => {
    const filter = "region = 'emea' AND ordered_at >= '2026-11-03T12:00:00Z' AND amount > 500"
    const run = await iceplan('plan', ...ORDERS, '--format', 'jsonl', '--filter', filter)
    assert.equal(run.code, 0)
    const tasks = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(line) as Json)
    assert.deepEqual(
      tasks.map(({ 'file-path': path }) => (path as string).split('/').slice(-4).join('/')),
      [
        'ordered_at_day=2026-11-03/region=emea/customer_id_bucket_4=0/00000-1-load-06-00001.parquet',
        'ordered_at_day=2026-11-05/region=emea/customer_id_bucket_4=0/00000-1-load-06-00004.parquet',
      ],
    )
    assert.equal(tasks[1].residual, 'amount > 500')
    assert.match(run.stderr, /data manifests +5 in the snapshot, 2 scanned, 3 skipped\n/)
    assert.match(run.stderr, /delete manifests +4 in the snapshot, 3 scanned, 1 skipped\n/)
    assert.match(run.stderr, /data files +2 planned \([\d.]+ KiB\), 3 skipped\n/)
    assert.match(run.stderr, /delete files +2 indexed \(0 pos, 1 eq, 1 dv\), 1 skipped\n/)
  })

  it('--filter as expression JSON: the same plan', async () => {
    const json = '{"type":"eq","term":"region","value":"emea"}'
    const [asJson, asText] = await Promise.all(
      [`\n ${json}\n`, "region = 'emea'"].map((filter) =>
        iceplan('plan', ...ORDERS, '--format', 'jsonl', '--filter', filter),
      ),
    )
    assert.equal(asJson.code, 0)
    assert.equal(asJson.stdout, asText.stdout)
  })

  it('--filter false: nothing is planned, and nothing but the manifest list is read', async () => {
    const run = await iceplan('plan', ...ORDERS, '--format', 'json', '--filter', 'false')
    assert.equal(run.code, 0)
    const { tasks, report } = parseJson(run.stdout) as { tasks: Json[]; report: Json }
    assert.deepEqual(tasks, [])
    assert.include(report, { 'io-requests': 1, 'skipped-data-manifests': 5, 'skipped-delete-manifests': 4 })
  })
})
