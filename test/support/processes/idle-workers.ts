/** A program that uses a pool and does not close it. */
import { fileURLToPath } from 'node:url'
import { WorkerPool } from '../../../src/pool/worker-pool.ts'
import type { Act } from '../../workers/acting.worker.ts'

const filename = fileURLToPath(new URL('../../workers/acting.worker.js', import.meta.url))
const pool = new WorkerPool<Act, unknown>({ filename, workers: 2 })
const answers = await Promise.all([1, 2, 3].map((value) => pool.run({ do: 'echo', value })))
console.log(JSON.stringify(answers))
