/** A peer's side of the protocol in ../README.md, for peers that run in Node.js. */
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import readline from 'node:readline'

/**
 * Says `ready`, and plans for each order. `plan` calls its argument with the path, record count and number of deletes
 * of each task.
 */
export async function servePlans(plan) {
  process.stdout.write('ready\n')
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line !== 'plan') throw new Error(`Cannot follow the order ${line}`)
    process.stdout.write(`${JSON.stringify(await planOnce(plan))}\n`)
  }
}

async function planOnce(plan) {
  let firstTaskMs = null
  let [tasks, deletes, records, pathLengths] = [0, 0, 0, 0]
  const start = performance.now()
  await plan((filePath, recordCount, deleteCount) => {
    if (tasks++ === 0) firstTaskMs = performance.now() - start
    pathLengths += filePath.length
    records += recordCount
    deletes += deleteCount
  })
  const ms = performance.now() - start
  if (tasks > 0 && pathLengths === 0) throw new Error('Cannot believe a plan whose files have no paths')
  const rssMiB = Math.round(process.memoryUsage.rss() / 2 ** 20)
  return { ms, firstTaskMs, tasks, deletes, records, rssMiB }
}
