/** The driver of the peers, with those that need no installation, on small tables. */
import { assert } from 'chai'
import { tableOnDisk } from '../bench/fixtures.ts'
import { type Standing, contest } from '../bench/peers/contest.ts'
import { PeerProcess } from '../bench/peers/peer-process.ts'
import { PEERS, type Peer, isBuilt } from '../bench/peers/peer-table.ts'
import { type PeerFilter, formatFilter, parseAnswer, parseFilterArgument } from '../bench/peers/protocol.ts'
import { formatContest } from '../bench/peers/report.ts'
import { type FilterName, filterFor } from '../bench/peers/table-filters.ts'
import { rejection } from './support/rejection.ts'

const script = (text: string): readonly string[] => [process.execPath, '-e', text]
const BROKEN: Peer = { name: 'broken', command: script('throw new Error("out of order")'), warmUps: 1 }

describe('bench/peers: a contest on a small table', () => {
  const named = (...names: string[]) => names.map((name) => PEERS.find((peer) => peer.name === name)!)
  const run = async (filterName: FilterName, peers: readonly Peer[]): Promise<Standing[]> => {
    const table = tableOnDisk('planning', 'smoke')
    const filter = formatFilter(filterFor(filterName, table))
    const { metadataLocation } = table
    return contest(peers, { metadataLocation, filter, rounds: 1, warmUps: 0, budgetMs: 60_000 })
  }

  it('ours and the plain decoder plan the same', async () => {
    const standings = await run('none', named('ours-0-off', 'ours-2-on', 'plain-avsc'))
    for (const { peer, failure, difference, tasks, deletes, rounds, medianMs } of standings) {
      assert.deepEqual({ failure, difference }, { failure: undefined, difference: undefined }, peer)
      assert.deepEqual({ tasks, deletes, rounds }, { tasks: 120, deletes: 600, rounds: 1 }, peer)
      assert.isAbove(medianMs, 0, peer)
    }
  })

  it('a peer that plans more, and one that fails, are named and not compared', async () => {
    const standings = await run('ids', [...named('ours-0-off', 'plain-avsc'), BROKEN])
    const [ours, plain, broken] = standings
    assert.deepEqual([ours.tasks, ours.deletes], [2, 10])
    assert.equal(plain.difference, '120 tasks instead of 2, 600 deletes instead of 10')
    assert.match(broken.failure!, /out of order/)
    const printed = formatContest({
      shape: 'planning',
      filter: 'ids:200000',
      entries: 120,
      rounds: 1,
      standings,
    })
    assert.match(printed, /^planning, ids:200000: 2 tasks of 120 files, 10 deletes, 1 rounds$/m)
    assert.match(printed, /plain-avsc .* differs$/m)
    assert.match(printed, /# broken failed: .*out of order/)
  })

  it('nothing can be compared with a reference that fails', async () => {
    const error = await rejection(run('none', [BROKEN, ...named('plain-avsc')]))
    assert.match(error.message, /^Cannot compare with broken: .*out of order/)
  })

  it('what needs nothing is built', () => {
    assert.isTrue(named('ours-0-off', 'ours-2-off', 'ours-0-on', 'ours-2-on', 'plain-avsc').every(isBuilt))
  })
})

describe('bench/peers: a peer that does not answer', () => {
  const SILENT = 'process.stdin.on("end", () => process.exit()).resume(); console.log("ready")'
  const cases: [why: string, command: readonly string[], expected: RegExp][] = [
    ['the program is missing', ['no-such-program'], /ENOENT/],
    ['it ends at once', script(''), /it ended: without a word/],
    ['it says something else', script('console.log("hello")'), /it said hello instead of ready/],
    ['it is silent', script('setInterval(() => {}, 1000)'), /no answer within 0.5 s/],
  ]
  for (const [why, command, expected] of cases) {
    it(`at the start: ${why}`, async () => {
      assert.match(
        (await rejection(PeerProcess.start(command, why === 'it is silent' ? 500 : 10_000))).message,
        expected,
      )
    })
  }

  it('to an order', async () => {
    await using peer = await PeerProcess.start(script(SILENT), 10_000)
    assert.match((await rejection(peer.plan(100))).message, /no answer within 0.1 s/)
  })
})

describe('bench/peers: the protocol', () => {
  const filters: PeerFilter[] = [
    { kind: 'none' },
    { kind: 'days', from: '2026-01-03T00:00:00+00:00', until: '2026-01-10T00:00:00+00:00' },
    { kind: 'ids', below: 15_000 * 100_000 },
  ]
  for (const filter of filters) {
    it(`the filter ${formatFilter(filter)} is read as it is written`, () => {
      assert.deepEqual(parseFilterArgument(formatFilter(filter)), filter)
    })
  }

  it('other filters and answers are refused', () => {
    assert.throws(() => parseFilterArgument('ids:few'), /ids:few/)
    assert.throws(() => parseAnswer('{"ms": 1, "tasks": 2}'), /deletes, records, firstTaskMs, rssMiB/)
  })
})
