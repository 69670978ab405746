/** A program whose worker runs out of memory, to be started with a small `--max-old-space-size`. */
import { fileURLToPath } from 'node:url'
import { WorkerPool } from '../../../src/pool/worker-pool.ts'
import type { Act } from '../../workers/acting.worker.ts'

const filename = fileURLToPath(new URL('../../workers/acting.worker.js', import.meta.url))
const pool = new WorkerPool<Act, unknown>({ filename, workers: 1 })
const outcomes = await Promise.allSettled([
  pool.run({ do: 'echo', value: 'before' }),
  pool.run({ do: 'allocate for ever' }),
  pool.run({ do: 'echo', value: 'after' }),
])
console.log(
  JSON.stringify(
    outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message,
    ),
  ),
)
