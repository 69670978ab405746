/** `DecodeWorker`, in this thread: what a worker remembers between jobs must not show in what it answers. */
import { assert } from 'chai'
import { drained } from '../../src/avro/steps.ts'
import { entryLayout } from '../../src/manifest/entry-fields.ts'
import { type PackedBatch, unpackBatch } from '../../src/manifest/batch-buffer.ts'
import { FULL_PROJECTION, type ManifestProjection } from '../../src/manifest/entry-fields.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import {
  type DecodeContext,
  decodeManifests,
  DecodeWorker,
  type JobManifest,
  newContextId,
  type WorkerAnswer,
  type WorkerJob,
} from '../../src/planner/decode-job.ts'
import type { StopSignal } from '../../src/planner/decoder.ts'
import { TimeSlice } from '../../src/io/time-slice.ts'
import { WorkerDecoder } from '../../src/planner/worker-decoder.ts'
import {
  bytesOf,
  manifestOf,
  type Part,
  PARTITION_TYPES,
  randomPart,
  saidBy,
} from '../manifest/manifest-parts.ts'
import { manifestFile } from '../manifest/manifest-reading.ts'
import type { Codec } from '../support/avro-container.ts'
import { seededRandom } from '../support/record-shape.ts'
import { rejection, thrown } from '../support/rejection.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

function newContext(projection: ManifestProjection = FULL_PROJECTION): DecodeContext {
  return {
    id: newContextId(),
    projection,
    partitionTypes: [...PARTITION_TYPES.values()],
    filter: undefined,
    allRows: false,
    shownColumns: 'all',
  }
}

function stopSignal(signal: AbortSignal): StopSignal {
  return { signal, flag: new Int32Array(new SharedArrayBuffer(4)), slice: new TimeSlice() }
}

function manifestsOf(parts: readonly Part[], codec: Codec = 'deflate'): JobManifest[] {
  return parts.map((part, i) => ({
    manifest: manifestOf(part, i),
    bytes: bytesOf(part, { codec }),
    location: `moved/m${i}`,
  }))
}

/** All that decoding says, without a worker. */
function want(manifests: readonly JobManifest[], context: DecodeContext): unknown[] {
  return saidBy(drained(decodeManifests(manifests, context, ManifestCache.disabled())).batch.onlyLive())
}

/** A decoder over one `DecodeWorker`: jobs and answers are cloned, as between threads. */
function workerDecoder(worker: Pick<DecodeWorker, 'run'>, cache = new ManifestCache()) {
  const jobs: WorkerJob[] = []
  const answers: WorkerAnswer['kind'][] = []
  const decoder = new WorkerDecoder(
    {
      workers: 1,
      async run(job: WorkerJob) {
        await Promise.resolve()
        jobs.push(job)
        const answer = worker.run(structuredClone(job))
        answers.push(answer.kind)
        return structuredClone(answer)
      },
      close: () => Promise.resolve(),
    },
    cache,
  )
  const decode = async (
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop = stopSignal(new AbortController().signal),
  ) => decoder.decode(manifests, context, stop, 0)
  return { decode, jobs, answers }
}

describe('decode worker', () => {
  it(`answers job after job what decoding here says ${WITH_SEED}`, async () => {
    const random = seededRandom(SEED)
    const { decode } = workerDecoder(new DecodeWorker())
    const contexts = [
      newContext(),
      newContext({ groups: ['layout'], columnStats: 'none' }),
      newContext({ groups: ['deletes', 'bounds'], columnStats: [1] }),
    ]
    for (let i = 0; i < 60; i++) {
      // Runs of jobs of one plan, which may share memory, and changes between plans, which may not.
      const context = contexts[Math.floor(i / 4) % 3]
      const codec = (['null', 'deflate', 'snappy', 'zstandard'] as const)[i % 4]
      const parts = Array.from({ length: Math.floor(random() * 5) }, () => randomPart(random, i % 3 > 0))
      const manifests = manifestsOf(parts, codec)
      const { batch } = await decode(manifests, context)
      assert.deepEqual(saidBy(batch), want(manifests, context), `job ${i}`)
    }
  })

  it('a job that failed leaves no trace in the next one', async () => {
    const { decode } = workerDecoder(new DecodeWorker())
    const context = newContext()
    const random = seededRandom(1)
    const good = manifestsOf(Array.from({ length: 3 }, () => randomPart(random, false)))
    const before = saidBy((await decode(good, context)).batch)
    const [first] = manifestsOf([{ specId: 0, entries: Array.from({ length: 50 }, () => ({})) }])
    const damaged = [...good, { ...first, bytes: first.bytes.slice(0, -9) }]
    const error = await rejection(decode(damaged, context))
    assert.equal(error.code, 'ERR_CORRUPT_FILE')
    assert.equal(error.location, 'moved/m0')
    assert.deepEqual(saidBy((await decode(good, context)).batch), before)
  })

  it('files go in the same memory job after job, one that fails included', async () => {
    const { decode, jobs } = workerDecoder(new DecodeWorker())
    const good = manifestsOf([{ specId: 0, entries: [{}] }])
    await decode(good, newContext())
    await rejection(decode([{ ...good[0], bytes: Uint8Array.of(1) }], newContext()))
    await decode(good, newContext())
    assert.lengthOf(jobs, 3)
    assert.lengthOf(new Set(jobs.map(({ manifests }) => manifests.files.memory)), 1)
  })

  it('R2.1, R1.12: the spec is that of the list, of the header for inline manifests only', async () => {
    const { decode } = workerDecoder(new DecodeWorker())
    const context = newContext()
    const bytes = bytesOf({ specId: 7, entries: [{ dataFile: { partition: [5] } }] })
    const specs = async (manifestLength: number | undefined) => {
      const manifest = manifestFile({ manifestLength, partitionSpecId: 1 })
      const manifests = [{ manifest, bytes, location: 'm' }]
      const { batch } = await decode(manifests, context)
      assert.deepEqual(saidBy(batch), want(manifests, context))
      return batch.segments[0].partitionType.specId
    }
    assert.equal(await specs(bytes.length), 1)
    assert.equal(await specs(undefined), 7)
  })

  it('an encrypted manifest is named', async () => {
    const { decode } = workerDecoder(new DecodeWorker())
    const manifest = manifestFile({ keyMetadata: Uint8Array.of(1) })
    const bytes = bytesOf({ specId: 0, entries: [] })
    const error = await rejection(decode([{ manifest, bytes, location: 'moved' }], newContext()))
    assert.equal(error.code, 'ERR_UNSUPPORTED')
    assert.equal(error.location, 'moved')
  })

  it('counts look-ups of the job; without a cache it remembers nothing', async () => {
    const manifests = manifestsOf([
      { specId: 0, entries: [{}] },
      { specId: 0, entries: [{}] },
    ])
    const context = newContext()
    const counts = async ({ decode }: ReturnType<typeof workerDecoder>) => {
      const { hits, misses } = await decode(manifests, context)
      return [hits, misses]
    }
    const on = workerDecoder(new DecodeWorker())
    assert.deepEqual(
      [await counts(on), await counts(on)],
      [
        [2, 2],
        [4, 0],
      ],
    )
    const off = workerDecoder(new DecodeWorker(), ManifestCache.disabled())
    assert.deepEqual(
      [await counts(off), await counts(off)],
      [
        [0, 4],
        [0, 4],
      ],
    )
  })

  describe('contexts', () => {
    const manifests = manifestsOf([{ specId: 7, entries: [{ dataFile: { partition: [3] } }] }])

    it('go with the first two jobs of each worker', async () => {
      const { decode, jobs, answers } = workerDecoder(new DecodeWorker())
      const context = newContext()
      for (let i = 0; i < 4; i++) await decode(manifests, context)
      assert.deepEqual(
        jobs.map((job) => job.context !== undefined),
        [true, true, false, false],
      )
      assert.notInclude(answers, 'context missing')
    })

    it('are sent again to a worker that was replaced', async () => {
      let worker = new DecodeWorker()
      const { decode, answers } = workerDecoder({ run: (job) => worker.run(job) })
      const context = newContext()
      for (let i = 0; i < 3; i++) await decode(manifests, context)
      worker = new DecodeWorker()
      const { batch } = await decode(manifests, context)
      assert.deepEqual(saidBy(batch), want(manifests, context))
      assert.deepEqual(answers, ['batch', 'batch', 'batch', 'context missing', 'batch'])
    })

    it('are sent again to a worker that has seen many plans since', async () => {
      const { decode, answers } = workerDecoder(new DecodeWorker())
      const context = newContext()
      await decode(manifests, context)
      await decode(manifests, context)
      for (let i = 0; i < 40; i++) await decode(manifests, newContext())
      assert.notInclude(answers, 'context missing')
      const { batch } = await decode(manifests, context)
      assert.deepEqual(saidBy(batch), want(manifests, context))
      assert.deepEqual(answers.slice(-2), ['context missing', 'batch'])
    })
  })

  describe('stopping', () => {
    /** One entry a block. */
    const bytes = bytesOf(
      { specId: 0, entries: Array.from({ length: 5 }, () => ({})) },
      { entriesPerBlock: 1 },
    )
    const manifests = [{ manifest: manifestFile(), bytes, location: 'm' }]

    it('decoding pauses between blocks', () => {
      const steps = decodeManifests(manifests, newContext(), ManifestCache.disabled())
      let pauses = 0
      while (steps.next().done !== true) pauses++
      assert.isAtLeast(pauses, 4)
    })

    it('a worker looks at the flag before each block', async () => {
      const stop = new Int32Array(new SharedArrayBuffer(4))
      const worker = new DecodeWorker()
      const { decode, answers } = workerDecoder({
        run: (job) => worker.run({ ...job, stop }),
      })
      const { load } = Atomics
      let looks = 0
      // Another thread sets the flag at any time; here, between the second block and the third.
      Atomics.load = ((...args: Parameters<typeof load>) => {
        if (++looks === 3) Atomics.store(stop, 0, 1)
        return load(...args)
      }) as typeof load
      try {
        await rejection(decode(manifests, newContext()))
      } finally {
        Atomics.load = load
      }
      assert.deepEqual([answers, looks], [['stopped'], 3])
    })

    it('a plan that is aborted rejects with its reason, before and after the job', async () => {
      const { decode, jobs } = workerDecoder(new DecodeWorker())
      const controller = new AbortController()
      const stop = stopSignal(controller.signal)
      const decoding = decode(manifests, newContext(), stop)
      controller.abort('enough')
      assert.equal(await rejection(decoding), 'enough' as never)
      assert.equal(await rejection(decode(manifests, newContext(), stop)), 'enough' as never)
      assert.lengthOf(jobs, 1)
    })
  })

  it('refuses a batch that is not its own', () => {
    const packed: PackedBatch = {
      buffer: new ArrayBuffer(0),
      read: { groups: [], metricColumns: undefined, isMetricsOnly: false },
      layout: entryLayout({ groups: [], metricColumns: undefined, isMetricsOnly: false }),
      otherSymbols: [],
      segments: {
        specIds: [],
        rowCounts: [],
        missingPartitionFields: new Map(),
        extraPartitionFields: new Map(),
      },
    }
    assert.equal(thrown(() => unpackBatch(packed, [], PARTITION_TYPES)).code, 'ERR_WORKER')
  })
})
