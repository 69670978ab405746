/**
 * A program that shares a disk cache with others of its kind: `node disk-cache-user.js FOLDER MAX_BYTES ROUNDS SEED`.
 * Prints how many reads found something, how many of those were wrong, and what went wrong with the folder.
 */
import { DiskCache } from '../../../src/io/disk-cache.ts'
import { seededRandom } from '../record-shape.ts'

const [folder, maxBytes, rounds, seed] = process.argv.slice(2)
const cache = new DiskCache(folder, { maxBytes: Number(maxBytes) })
const random = seededRandom(Number(seed))

/** The same in every process; every fifth file is a large one. */
function bodyOf(file: number): Uint8Array {
  const body = new Uint8Array(file % 5 === 0 ? 300_000 + file : 1000 + file)
  return body.fill(file)
}

let hits = 0
let wrong = 0
for (let round = 0; round < Number(rounds); round++) {
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const file = Math.floor(random() * 20)
      const key = { identity: 'store', location: `s3://w/${file}`, length: undefined }
      const kept = await cache.read(key)
      if (kept === undefined) await cache.write(key, bodyOf(file))
      else {
        hits++
        if (Buffer.compare(kept, bodyOf(file)) !== 0) wrong++
      }
    }),
  )
}
await cache.settled()
console.log(JSON.stringify({ hits, wrong, troubles: cache.takeTroubles() }))
