/** The window: what is requested and decoded ahead of a consumer that takes its time. */
import { assert } from 'chai'
import type { FileIO } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { DecodeContext, JobManifest } from '../../src/planner/decode-job.ts'
import { WINDOW_BYTES } from '../../src/planner/decode-pipeline.ts'
import type { DecodedBatch, Decoder, StopSignal } from '../../src/planner/decoder.ts'
import { InlineDecoder } from '../../src/planner/inline-decoder.ts'
import type { ScanPlan } from '../../src/planner/scan-plan.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { BuiltTable, ManifestFileInput } from '../support/table-writer.ts'
import { allOf, dataManifests, loadBuilt, LOCATION, planBuilt, settle, tableOf } from './planning.ts'

const MIB = 1024 * 1024

/** Decodes in this thread and keeps the books. */
class Books implements Decoder {
  readonly workers: number
  readonly #inline = new InlineDecoder(ManifestCache.disabled())
  /** Claimed bytes of manifests that were asked for and have not arrived, now and at most. */
  asked = 0
  mostAsked = 0
  turnsToAnswer = 0
  /** Bytes of manifests that arrived, and of those of them that were decoded. */
  arrived = 0
  decoded = 0
  batchBytes = 0
  batches = 0
  largestBatch = 0

  constructor(workers: number) {
    this.workers = workers
  }

  async decode(
    manifests: readonly JobManifest[],
    context: DecodeContext,
    stop: StopSignal,
  ): Promise<DecodedBatch> {
    const decoded = await this.#inline.decode(manifests, context, stop)
    const { byteLength } = decoded.batch
    for (const { bytes } of manifests) this.decoded += bytes.length
    this.batchBytes += byteLength
    this.batches++
    this.largestBatch = Math.max(this.largestBatch, byteLength)
    return decoded
  }

  /** A store that notes which manifests are asked for. */
  noting(io: FileIO): FileIO {
    return {
      identity: io.identity,
      open: (location, length = 0) => {
        const file = io.open(location)
        return {
          location,
          read: async (range, options) => {
            if (!location.includes('copy-')) return file.read(range, options)
            this.asked += length
            this.mostAsked = Math.max(this.mostAsked, this.asked)
            // Requests begin a few a turn of the event loop, so what is asked for adds up only while answers take turns.
            for (let turn = 0; turn < this.turnsToAnswer; turn++) await settle()
            const bytes = await file.read(range, options)
            this.asked -= length
            this.arrived += bytes.length
            return bytes
          },
        }
      },
    }
  }
}

/** Manifests with the same bytes, of which the list claims these lengths. */
function copies(
  count: number,
  file: Uint8Array,
  claimed: (i: number) => number = () => file.length,
): BuiltTable {
  const rows = Array.from({ length: count }, (_, i): ManifestFileInput => ({
    manifestPath: `${LOCATION}/metadata/copy-${i}.avro`,
    manifestLength: claimed(i),
    partitionSpecId: 0,
    content: 0,
    sequenceNumber: 1,
    minSequenceNumber: 1,
    addedSnapshotId: 1n,
  }))
  const built = tableOf([], { snapshots: [{ manifests: [], rows }] })
  for (const { manifestPath } of rows) built.files.set(manifestPath, file)
  return built
}

function manifestBytes(entries: number, codec: 'null' | 'deflate'): Uint8Array {
  const [manifest] = dataManifests(entries)
  const built = tableOf([{ ...manifest, write: { codec } }])
  return built.files.get(built.snapshots[0].rows[0].manifestPath)!
}

async function planned(built: BuiltTable, books: Books): Promise<ScanPlan> {
  const table = await loadBuilt(built, { io: books.noting(new MemoryFileIO(built.files)) })
  return new ScanPlanner({ decoder: books, cache: 'off' }).plan(table.newScan())
}

/** Until nothing moves any more. */
async function standstill(books: Books): Promise<void> {
  for (let before = -1; before !== books.arrived + books.batches;) {
    before = books.arrived + books.batches
    for (let i = 0; i < 20; i++) await settle()
  }
}

describe('the window', () => {
  const small = manifestBytes(2, 'deflate')
  const large = manifestBytes(10_000, 'null')
  const dense = manifestBytes(10_000, 'deflate')

  for (const workers of [0, 1, 3])
    describe(`of ${workers} workers`, () => {
      it('holds what is requested, by the lengths of the list', async () => {
        const claimed = 3 * MIB
        const books = new Books(workers)
        books.turnsToAnswer = 20
        const { tasks } = await planned(
          copies(60, small, () => claimed),
          books,
        )
        assert.lengthOf(await allOf(tasks), 120)
        assert.isAbove(books.mostAsked, WINDOW_BYTES - claimed)
        assert.isAtMost(books.mostAsked, WINDOW_BYTES + claimed)
      })

      it('holds what is requested or decoded while the consumer waits', async () => {
        const books = new Books(workers)
        const { tasks } = await planned(copies(120, large), books)
        assert.isAbove(120 * large.length, 2 * WINDOW_BYTES)
        await tasks.next()
        await standstill(books)
        const taken = books.largestBatch
        const ahead = books.asked + books.arrived - books.decoded + books.batchBytes - taken
        // Of those that were admitted the batches may be a little larger than the files.
        const growth = books.batches * Math.max(0, books.largestBatch - large.length)
        assert.isAbove(ahead, WINDOW_BYTES / 2)
        assert.isAtMost(ahead, WINDOW_BYTES + large.length + growth)
        await tasks.return!()
      })

      it('holds batches that are many times larger than their files', async () => {
        const books = new Books(workers)
        const { tasks } = await planned(copies(300, dense), books)
        await tasks.next()
        await standstill(books)
        assert.isAbove(books.largestBatch, 5 * dense.length)
        // What was under way when it filled up comes on top.
        assert.isAtMost(books.batchBytes, WINDOW_BYTES + (2 * workers + 1) * books.largestBatch)
        await tasks.return!()
      })

      it('admits the next manifest whatever its size', async () => {
        const sizes = [10, 1024 * MIB, 20, WINDOW_BYTES + 1, 1024 * MIB, 2 ** 40, 5]
        const built = copies(sizes.length, small, (i) => sizes[i])
        const plan = await planned(built, new Books(workers))
        assert.lengthOf(await allOf(plan.tasks), 2 * sizes.length)
        assert.isTrue(plan.report.complete)
      })

      it('goes on when the consumer does', async () => {
        const books = new Books(workers)
        const { tasks } = await planned(copies(80, dense), books)
        await tasks.next()
        await standstill(books)
        assert.lengthOf(await allOf(tasks), 80 * 10_000 - 1)
        assert.deepEqual([books.asked, books.decoded], [0, books.arrived])
      })
    })

  it('a list that lies about lengths: nothing, less than nothing, too much', async () => {
    const lengths = [0, -5, 2 ** 50, 1]
    const built = copies(100, small, (i) => lengths[i % 4])
    for (const decoder of [new Books(0), new Books(2)]) {
      const { tasks } = await planBuilt(built, { planner: new ScanPlanner({ decoder }) })
      assert.lengthOf(tasks, 200)
    }
  })
})
