import { assert } from 'chai'
import pLimit from 'p-limit'
import { exitCode, iceplan, ORDERS, startIceplan, type Finished } from './command-line.ts'

/** Run at once: most of a run is starting Node.js. */
const PROCESSES = 4

/** Its files are where there is no store for: nothing of the network takes part. */
const UNMOVED = ['fixtures/orders', '--rebase', 's3://warehouse=gs://warehouse']

describe('command line: what fails', () => {
  const failures: [why: string, code: 1 | 2, args: string[], stderr: RegExp][] = [
    ['no such table', 1, ['plan', 'nowhere'], /^iceplan: Cannot find the metadata of nowhere: /],
    [
      'no such snapshot',
      1,
      ['plan', ...ORDERS, '--snapshot-id', '3051729675574597004'],
      /snapshot 3051729675574597004 /,
    ],
    ['no such ref', 1, ['plan', ...ORDERS, '--ref', 'nope'], /Cannot find ref "nope" .* audit/],
    ['a time before the first snapshot', 1, ['plan', ...ORDERS, '--as-of', '0'], /snapshot log begins at/],
    ['no such column', 1, ['plan', ...ORDERS, '--select', 'amount,nope'], /Cannot select column "nope"/],
    ['case counts', 1, ['plan', ...ORDERS, '--select', 'AMOUNT'], /Cannot select column "AMOUNT"/],
    [
      'a filter on a column that is not there',
      1,
      ['plan', ...ORDERS, '--filter', 'amuont > 5'],
      /Cannot filter on column "amuont": .* the closest of its columns are "amount", /,
    ],
    [
      'case counts in filters',
      1,
      ['plan', ...ORDERS, '--filter', 'AMOUNT > 5'],
      /Cannot filter on column "AMO/,
    ],
    [
      'a filter that compares with another type',
      1,
      ['plan', ...ORDERS, '--filter', 'region = 5'],
      /Cannot compare column "region" \(string\) with the long 5: write a string/,
    ],
    [
      'a filter without a zone on a column with one',
      1,
      ['plan', ...ORDERS, '--filter', "ordered_at > '2026-10-29T00:00:00'"],
      /write it with an offset, as in "2026-10-29T00:00:00Z"/,
    ],
    [
      'a filter on the elements of a list',
      1,
      ['plan', ...ORDERS, '--filter', "tags.element = 'gift'"],
      /Cannot filter on column "tags.element" \(string\): it is in a list or map/,
    ],
    ['files that are elsewhere', 1, ['plan', ...UNMOVED], /Cannot open gs:\/\/warehouse/],
    ['the same as JSON', 1, ['plan', ...UNMOVED, '--format', 'json'], /Cannot open gs:\/\/warehouse/],
    ['no such table to verify', 1, ['verify', 'nowhere'], /Cannot find the metadata of nowhere/],
    [
      'no such snapshot to verify',
      1,
      ['verify', ...ORDERS, '--snapshot-id', '4'],
      /Cannot find snapshot 4 in /,
    ],
    ['no command', 2, [], /^Usage: iceplan /],
    ['unknown command', 2, ['plna'], /unknown command 'plna' \(Did you mean plan\?\)/],
    ['no table', 2, ['plan'], /missing required argument 'table'/],
    ['two tables', 2, ['plan', 'a', 'b'], /too many arguments/],
    [
      'unknown option',
      2,
      ['plan', 'x', '--fitler', 'a > 1'],
      /unknown option '--fitler' \(Did you mean --filter\?\)/,
    ],
    [
      'a filter that ends too early',
      2,
      ['plan', 'x', '--filter', 'a = 1 AND b >'],
      /Cannot parse filter at column 14: expected a value, found the end/,
    ],
    ['an empty filter', 2, ['plan', 'x', '--filter', ''], /at column 1: expected a condition, found the end/],
    [
      'a filter that is no JSON',
      2,
      ['plan', 'x', '--filter', '{"type": "eq", '],
      /Cannot parse filter as JSON: Unexpected end/,
    ],
    [
      'JSON that is no filter',
      2,
      ['plan', 'x', '--filter', '{"type": "equal", "term": "a", "value": 1}'],
      /"equal" is no type of an expression/,
    ],
    ['an id that is no number', 2, ['plan', 'x', '--snapshot-id', '12a'], /Cannot use --snapshot-id 12a: /],
    ['a time without a zone', 2, ['plan', 'x', '--as-of', '2026-10-28T12:00:00'], /it has no time zone/],
    ['id and ref', 2, ['plan', 'x', '--snapshot-id', '1', '--ref', 'a'], /cannot be used with option/],
    ['id and time', 2, ['plan', 'x', '--as-of', '1', '--snapshot-id', '1'], /cannot be used with option/],
    ['ref and time', 2, ['plan', 'x', '--ref', 'a', '--as-of', '1'], /cannot be used with option/],
    ['unknown format', 2, ['plan', 'x', '--format', 'xml'], /Allowed choices are table, json, jsonl/],
    [
      'no JSON lines of a verification',
      2,
      ['verify', 'x', '--format', 'jsonl'],
      /Allowed choices are table, json/,
    ],
    ['workers that are no number', 2, ['plan', 'x', '--workers', 'four'], /Cannot use --workers four: /],
    ['a rebase without =', 2, ['plan', 'x', '--rebase', 'a'], /Cannot rebase by 'a': want OLD=NEW/],
    ['contradictory rebases', 2, ['plan', 'x', '--rebase', 'a=b', '--rebase', 'a=c'], /both 'b' and 'c'/],
  ]
  const runs = new Map<string, Finished>()

  before(async function () {
    this.timeout(60_000)
    const limit = pLimit(PROCESSES)
    await limit.map(failures, async ([why, , args]) => runs.set(why, await iceplan(...args)))
  })

  for (const [why, code, args, stderr] of failures)
    it(`${code}: ${why}`, () => {
      const run = runs.get(why)!
      assert.match(run.stderr, stderr)
      assert.equal(run.code, code)
      assert.equal(run.stdout, '')
      if (args.length > 0) assert.match(run.stderr, /^iceplan: [^\n]+\n$/, 'one sentence')
    })

  it('gives the stack for --debug only', async () => {
    const run = await iceplan('plan', 'nowhere', '--debug')
    assert.equal(run.code, 1)
    assert.match(run.stderr, /^iceplan: Cannot find .*\nNotFoundError: .*\n +at /)
  })
})

describe('command line: what succeeds', () => {
  for (const args of [['--help'], ['plan', '--help'], ['verify', '--help'], ['help', 'plan']])
    it(`${args.join(' ')} teaches by example`, async () => {
      const run = await iceplan(...args)
      assert.equal(run.code, 0)
      assert.equal(run.stderr, '')
      assert.match(run.stdout, /^Usage: iceplan/)
      assert.match(
        run.stdout,
        /\$ iceplan \w+ fixtures\/orders --rebase s3:\/\/warehouse\/db\/orders=fixtures\/orders/,
      )
    })

  it('--version', async () => {
    const run = await iceplan('--version')
    assert.equal(run.code, 0)
    assert.match(run.stdout, /^\d+\.\d+\.\d+\n$/)
  })

  it('finds columns whatever their case when asked to', async () => {
    const names = ['--select', 'AMOUNT', '--filter', "Region = 'emea'", '--case-insensitive']
    const run = await iceplan('plan', ...ORDERS, ...names, '--cache', 'off')
    assert.equal(run.code, 0)
    assert.match(run.stdout, /\n12 tasks: /)
  })

  it('verifies the bundled table', async () => {
    const run = await iceplan('verify', ...ORDERS)
    assert.equal(run.code, 0)
    assert.match(run.stdout, /manifest lists +11\n/)
    assert.match(run.stdout, /differences +0\n/)
    assert.match(run.stdout, /\nboth readers agree\n$/)
  })

  it('verifies one snapshot, as JSON', async () => {
    const run = await iceplan('verify', ...ORDERS, '--snapshot-id', '2388319753623360330', '--format', 'json')
    assert.equal(run.code, 0)
    const { fields, ...summary } = JSON.parse(run.stdout) as Record<string, unknown>
    assert.isAbove(fields as number, 0)
    assert.deepInclude(summary, {
      'manifest-lists': 1,
      manifests: 6,
      'difference-count': 0,
      differences: [],
      refused: [],
      unreadable: [],
    })
  })

  it('reports unreadable files of a verification, and fails', async () => {
    const run = await iceplan('verify', ...UNMOVED)
    assert.equal(run.code, 1)
    assert.match(run.stdout, /unreadable files +11\n/)
    assert.match(run.stdout, /by storage: Cannot open gs:/)
    assert.equal(run.stderr, '')
  })
})

describe('command line: a closed pipe', () => {
  const commands: [name: string, args: string[]][] = [
    ['plan as JSON lines', ['plan', ...ORDERS, '--format', 'jsonl']],
    ['plan as a table', ['plan', ...ORDERS]],
    ['--help', ['--help']],
  ]
  for (const [name, args] of commands)
    it(`ends ${name} quietly`, async () => {
      const child = startIceplan(args)
      child.stdout.destroy()
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      assert.equal(await exitCode(child), 0)
      assert.equal(stderr, '')
    })
})
