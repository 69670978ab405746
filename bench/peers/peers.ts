/**
 * Plans generated tables with other planners beside ours; see README.md.
 *
 *     node build/bench/peers/peers.js [--peers NAME,...] [--shapes NAME,...] [--filters NAME,...] [--rounds N]
 *                                     [--budget SECONDS] [--smoke] [--list] [--save]
 */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { SHAPE_NAMES, type ShapeName, tableOnDisk } from '../fixtures.ts'
import { contest } from './contest.ts'
import { PEERS, type Peer, isBuilt } from './peer-table.ts'
import { formatFilter } from './protocol.ts'
import { type ContestReport, formatContest, saveReports } from './report.ts'
import { FILTER_NAMES, type FilterName, filterFor } from './table-filters.ts'

const SHAPES: readonly ShapeName[] = ['narrow-small', 'narrow-big', 'wide-big', 'planning']

interface Options {
  peers: Peer[]
  shapes: ShapeName[]
  filters: FilterName[]
  rounds: number
  budgetMs: number
  smoke: boolean
  list: boolean
  save: boolean
}

/** @throws Error with a sentence for the user */
function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      peers: { type: 'string' },
      shapes: { type: 'string', default: SHAPES.join(',') },
      filters: { type: 'string', default: FILTER_NAMES.join(',') },
      rounds: { type: 'string', default: '9' },
      budget: { type: 'string', default: '120' },
      smoke: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`Cannot run ${values.rounds} rounds`)
  const budgetMs = Number(values.budget) * 1000
  if (!(budgetMs > 0)) throw new Error(`Cannot give a peer ${values.budget} seconds`)
  const { smoke, list, save } = values
  return {
    peers: parsePeers(values.peers),
    shapes: parseNames('shape', values.shapes, SHAPE_NAMES),
    filters: parseNames('filter', values.filters, FILTER_NAMES),
    rounds,
    budgetMs,
    smoke,
    list,
    save,
  }
}

/** The named peers behind the reference, which always takes part; undefined: all. */
function parsePeers(text: string | undefined): Peer[] {
  if (text === undefined) return [...PEERS]
  const names = parseNames(
    'peer',
    text,
    PEERS.map(({ name }) => name),
  )
  return PEERS.filter(({ name }, i) => i === 0 || names.includes(name))
}

function parseNames<Name extends string>(what: string, text: string, known: readonly Name[]): Name[] {
  return text.split(',').map((word) => {
    const name = known.find((one) => one === word)
    if (name === undefined) throw new Error(`Cannot find the ${what} ${word}; there are ${known.join(', ')}`)
    return name
  })
}

async function main(): Promise<number> {
  let options: Options
  try {
    options = parseOptions(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 2
  }
  const { shapes, filters, rounds, budgetMs, smoke } = options
  if (options.list) {
    for (const peer of options.peers) console.log(`${peer.name}${isBuilt(peer) ? '' : ' (not installed)'}`)
    return 0
  }
  const missing = options.peers.filter((peer) => !isBuilt(peer)).map(({ name }) => name)
  if (missing.length > 0)
    console.log(`# not installed: ${missing.join(', ')}; bench/peers/README.md says how`)
  const peers = options.peers.filter(isBuilt)
  const reports: ContestReport[] = []
  for (const shape of shapes) {
    const table = tableOnDisk(shape, smoke ? 'smoke' : 'real')
    const { metadataLocation, entries } = table
    for (const name of filters) {
      const filter = formatFilter(filterFor(name, table))
      const warmUps = smoke ? 1 : undefined
      const standings = await contest(peers, { metadataLocation, filter, rounds, warmUps, budgetMs })
      const report = { shape, filter, entries, rounds, standings }
      console.log(`${formatContest(report)}\n`)
      reports.push(report)
    }
  }
  if (options.save) console.log(`saved: ${saveReports(path.resolve('bench/results'), reports)}`)
  return 0
}

process.exitCode = await main()
