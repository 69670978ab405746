/** One plan in a process of its own: `node one-plan.js METADATA on|off WORKERS|auto` prints the plan's checksum. */
import { type CacheSwitch, openPlanner } from './product.ts'

const [metadataLocation, cache, workers = '0'] = process.argv.slice(2)
const planner = await openPlanner(metadataLocation, {
  cache: cache as CacheSwitch,
  workers: workers === 'auto' ? workers : Number(workers),
})
console.log(await planner.plan())
await planner[Symbol.asyncDispose]()
