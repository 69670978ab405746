/** One plan in a process of its own: `node one-plan.js METADATA on|off` prints the plan's checksum. */
import { type CacheSwitch, openPlanner } from './product.ts'

const [metadataLocation, cache] = process.argv.slice(2)
const planner = await openPlanner(metadataLocation, cache as CacheSwitch)
console.log(await planner.plan())
await planner[Symbol.asyncDispose]()
