/** What `--help` shows works: its commands and its filters. */
import { assert } from 'chai'
import pLimit from 'p-limit'
import { ScanPlanner } from '../../src/index.ts'
import { argumentsOf, iceplan, loadOrders } from './command-line.ts'

const PROCESSES = 4

describe('command line: examples of --help', function () {
  this.timeout(60_000)

  for (const command of ['plan', 'verify'])
    it(`commands of ${command} run`, async () => {
      const { stdout } = await iceplan(command, '--help')
      const examples = Array.from(
        stdout.matchAll(/^ *\$ iceplan ((?:.*\\\n)*.*)$/gm),
        ([, example]) => example,
      )
      assert.isAbove(examples.length, 1)
      await pLimit(PROCESSES).map(examples, async (example) => {
        const run = await iceplan(...argumentsOf(example))
        assert.equal(run.code, 0, `${example}: ${run.stderr}`)
      })
    })

  it('filters can be planned', async () => {
    const { stdout } = await iceplan('plan', '--help')
    const [, block] = /^A filter is .*:\n((?: {2}.*\n)+)/m.exec(stdout)!
    const filters = block.trim().split(/\n */)
    assert.equal(filters.length, 6)
    const table = await loadOrders()
    for (const filter of filters) {
      const plan = await new ScanPlanner({ workers: 0 }).plan(table.newScan({ filter }))
      let tasks = 0
      for await (const batch of plan.batches) tasks += batch.length
      assert.isAtMost(tasks, 26)
    }
  })
})
