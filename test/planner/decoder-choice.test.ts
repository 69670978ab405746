/** `auto`: where a plan is decoded, by the amount of work. */
import os from 'node:os'
import { assert } from 'chai'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import {
  COLD_WORKER_BYTES,
  DecoderChoice,
  REPEATED_WORKER_BYTES,
  WARM_WORKER_BYTES,
} from '../../src/planner/decoder-choice.ts'
import { Warnings } from '../../src/planner/warnings.ts'
import { manifestFile } from '../manifest/manifest-reading.ts'

/** Threads that a plan with so much work gets where there are cores for them. */
const CORES = os.availableParallelism() < 2 ? 0 : os.availableParallelism()

async function workersFor(plans: readonly number[]): Promise<number[]> {
  const choice = new DecoderChoice({
    workers: 'auto',
    workerFile: undefined,
    cache: new ManifestCache(),
  })
  const workers: number[] = []
  for (const manifestLength of plans) {
    const decoder = await choice.choose([manifestFile({ manifestLength })], new Warnings())
    workers.push(decoder.workers)
  }
  await choice.close()
  return workers
}

describe('where a plan is decoded', () => {
  const small = REPEATED_WORKER_BYTES / 2
  const rows: [plans: number[], workers: number[], why: string][] = [
    [[0], [0], 'there is nothing to decode'],
    [[COLD_WORKER_BYTES - 1], [0], 'threads would cost more than they save'],
    [[COLD_WORKER_BYTES], [CORES], 'there is enough to do'],
    [[small, small, small], [0, 0, CORES], 'a planner that goes on planning has use for threads'],
    [[small, small - 1, small], [0, 0, 0], 'it has to go on for a while'],
    [[COLD_WORKER_BYTES, WARM_WORKER_BYTES - 1], [CORES, 0], 'a small plan is over before it is handed over'],
    [[COLD_WORKER_BYTES, WARM_WORKER_BYTES], [CORES, CORES], 'threads that run already cost little'],
  ]
  for (const [plans, workers, why] of rows)
    it(`${plans.join(', ')} bytes: ${workers.join(', ')} workers, because ${why}`, async () => {
      assert.deepEqual(await workersFor(plans), workers)
    })
})
