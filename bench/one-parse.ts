/** Parses a metadata file in a process of its own: `node one-parse.js METADATA` prints time and peak memory as JSON. */
import { parseMetadata } from './product.ts'

const before = process.memoryUsage.rss()
const start = performance.now()
const checksum = parseMetadata(process.argv[2])
const milliseconds = performance.now() - start
// Of the whole process, without what it took before.
const peakBytes = process.resourceUsage().maxRSS * 1024 - before
console.log(JSON.stringify({ checksum, milliseconds, peakBytes }))
