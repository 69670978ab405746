/** One figure of the group `memory`: `node one-memory.js METADATA KIND` prints it as JSON. */
import { type MemoryKind, measureMemory } from './product.ts'

const [metadataLocation, kind] = process.argv.slice(2)
console.log(JSON.stringify(await measureMemory(metadataLocation, kind as MemoryKind)))
