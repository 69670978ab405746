/**
 * iceplan as a peer: `node ours.js [--workers N] [--cache on|off] METADATA_JSON FILTER`. All tasks come one by one as
 * objects of the public interface, and of each the path, the record count and the deletes are asked for.
 */
import readline from 'node:readline'
import { parseArgs } from 'node:util'
import {
  type Expression,
  ManifestCache,
  ScanPlanner,
  type Table,
  and,
  greaterThanOrEqual,
  lessThan,
  loadTable,
} from '../../src/index.ts'
import { type Answer, type PeerFilter, parseFilterArgument } from './protocol.ts'

function expressionOf(filter: PeerFilter): Expression | undefined {
  switch (filter.kind) {
    case 'none':
      return undefined
    case 'days':
      return and(greaterThanOrEqual('ts', filter.from), lessThan('ts', filter.until))
    case 'ids':
      return lessThan('id', filter.below)
  }
}

async function planOnce(planner: ScanPlanner, table: Table, filter: Expression | undefined): Promise<Answer> {
  const start = performance.now()
  let firstTaskMs: number | null = null
  let [tasks, deletes, records, pathLengths] = [0, 0, 0, 0]
  const plan = await planner.plan(table.newScan({ filter }))
  for await (const task of plan.tasks) {
    if (tasks++ === 0) firstTaskMs = performance.now() - start
    const { dataFile } = task
    pathLengths += dataFile.filePath.length
    records += dataFile.recordCount
    deletes += task.deletes.length
  }
  const ms = performance.now() - start
  if (tasks > 0 && pathLengths === 0) throw new Error('Cannot believe a plan whose files have no paths')
  const rssMiB = Math.round(process.memoryUsage.rss() / 2 ** 20)
  return { ms, firstTaskMs, tasks, deletes, records, rssMiB }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workers: { type: 'string', default: '0' },
    cache: { type: 'string', default: 'off' },
  },
})
const [metadataLocation, filterArgument] = positionals
const filter = expressionOf(parseFilterArgument(filterArgument))
const table = await loadTable(metadataLocation)
await using planner = new ScanPlanner({
  workers: values.workers === 'auto' ? 'auto' : Number(values.workers),
  cache: values.cache === 'off' ? 'off' : new ManifestCache(),
})
console.log('ready')
for await (const line of readline.createInterface({ input: process.stdin })) {
  if (line !== 'plan') throw new Error(`Cannot follow the order ${line}`)
  console.log(JSON.stringify(await planOnce(planner, table, filter)))
}
