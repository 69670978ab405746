/**
 * How long a thread takes until our worker's module is loaded, beside one that loads an empty module.
 */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Group } from './corpus.ts'
import type { Outcome } from './measure.ts'

const OURS = new URL('../workers/plan-manifest.worker.js', import.meta.url).href
const EMPTY = 'data:text/javascript,export default 0'

export function workerStartGroup(): Group {
  const [ours, empty] = ['ours', 'empty'].map((kind) => `worker-start/${kind}`)
  return {
    name: 'worker-start',
    cases: [ours, empty],
    warmUps: 3,
    prepare: () =>
      Promise.resolve({
        subjects: [
          { name: ours, run: () => start(OURS) },
          { name: empty, run: () => start(EMPTY) },
        ],
        ratios: [{ of: ours, to: empty }],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  }
}

/** Ends when the module is loaded; ending the thread is not timed. */
async function start(module: string): Promise<Outcome> {
  const began = performance.now()
  const worker = new Worker(fileURLToPath(new URL('./loading-worker.js', import.meta.url)), {
    workerData: module,
  })
  await once(worker, 'message')
  const value = performance.now() - began
  await worker.terminate()
  return { checksum: 0, value }
}
