/**
 * Compares caches in a process of its own, so that its memory is that of one table, one filter and one number of workers:
 * `node --expose-gc one-comparison.js METADATA WORKERS ROUNDS [FILTER]` prints the rows as JSON.
 */
import { comparePlans } from './product.ts'

const [metadataLocation, workers, rounds] = process.argv.slice(2)
const filter = process.argv.at(5)
const rows = await comparePlans(metadataLocation, {
  workers: [Number(workers)],
  rounds: Number(rounds),
  scan: filter === undefined ? {} : { filter },
})
console.log(JSON.stringify(rows))
