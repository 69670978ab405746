/** Streams one plan in a process of its own: `node one-scale.js METADATA WORKERS [FILTER]` prints what it took as JSON. */
import { streamPlan } from './product.ts'

const [metadataLocation, workers] = process.argv.slice(2)
const filter = process.argv.at(4)
console.log(JSON.stringify(await streamPlan(metadataLocation, { workers: Number(workers), filter })))
