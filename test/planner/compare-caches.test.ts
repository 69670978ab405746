import os from 'node:os'
import { assert } from 'chai'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { compareCaches } from '../../src/planner/compare-caches.ts'
import { rejection } from '../support/rejection.ts'
import { singleValueBytes } from '../support/table-writer.ts'
import { dataManifests, loadBuilt, tableOf } from './planning.ts'

describe('compareCaches', () => {
  const built = tableOf(dataManifests(3, 1, 2))
  /** Three manifests and their list. */
  const FILES = 4

  it('a row per combination: by workers, cold before warm, on before off', async () => {
    const rows = await compareCaches(await loadBuilt(built), { workers: [0, 2], rounds: 2 })
    assert.deepEqual(
      rows.map(({ workers, temperature, cache }) => `${workers} ${temperature} ${cache}`),
      [0, 2].flatMap((workers) =>
        ['cold on', 'cold off', 'warm on', 'warm off'].map((how) => `${workers} ${how}`),
      ),
    )
    for (const { tasks, rounds, durationMs, firstTaskMs, peakRssBytes } of rows) {
      assert.equal(tasks, 6)
      assert.equal(rounds, 2)
      assert.isTrue(durationMs > 0)
      assert.isTrue(firstTaskMs! > 0)
      // More than a Node.js process that does nothing, and less than there is.
      assert.isAbove(peakRssBytes, 10e6)
      assert.isBelow(peakRssBytes, os.totalmem())
    }
  })

  it('only what is warm and cached makes no request', async () => {
    const io = new CountingFileIO(new MemoryFileIO(built.files))
    const table = await loadBuilt(built, { io })
    io.reset()
    const rows = await compareCaches(table, { rounds: 1 })
    const bytes = [...io.byLocation.values()].reduce((sum, counts) => sum + counts.bytes / counts.requests, 0)
    for (const { workers, temperature, cache, ...row } of rows) {
      const how = `${workers} workers, ${temperature}, cache ${cache}`
      const isKept = temperature === 'warm' && cache === 'on'
      assert.equal(row.ioRequests, isKept ? 0 : FILES, how)
      assert.equal(row.ioBytes, isKept ? 0 : bytes, how)
      // The list is a file, the manifests are decoded.
      assert.equal(row.cacheFileHits, isKept ? 1 : 0, how)
      assert.equal(row.cacheEntryHits, isKept ? FILES - 1 : 0, how)
      if (cache === 'off') assert.equal(row.planCacheHits, 0, how)
    }
    // In one thread: each manifest asks for a header and a plan, and the list for its header; unless they are remembered.
    const counts = rows
      .filter(({ workers }) => workers === 0)
      .map((row) => [row.planCacheHits, row.planCacheMisses])
    assert.deepEqual(counts, [
      [4, 3],
      [0, 7],
      [0, 0],
      [0, 7],
    ])
    // Two rounds of everything, and once the warm ones that keep their files.
    assert.equal(io.requests, FILES * (2 * 9 + 3))
  })

  it('plans what it is told to', async () => {
    const table = await loadBuilt(built)
    const snapshotId = table.metadata.currentSnapshotId
    const rows = await compareCaches(table, { workers: [0], rounds: 1, scan: { snapshotId } })
    assert.deepEqual(
      rows.map(({ tasks }) => tasks),
      [6, 6, 6, 6],
    )
    const error = await rejection(compareCaches(table, { scan: { snapshotId: 1n } }))
    assert.match(error.message, /snapshot 1/)
  })

  const halves = tableOf(
    [0, 100].map((first) => ({
      entries: [0, 1, 2].map((i) => ({
        dataFile: {
          filePath: `data/${first + i}`,
          lowerBounds: { 1: singleValueBytes('long', first + i) },
          upperBounds: { 1: singleValueBytes('long', first + i) },
        },
      })),
    })),
  )

  for (const { filter, tasks } of [
    { filter: 'id >= 100', tasks: 3 },
    { filter: 'id = 2', tasks: 1 },
    { filter: 'id < 0', tasks: 0 },
  ])
    it(`with the filter ${filter}, as without: what is warm and cached makes no request`, async () => {
      const rows = await compareCaches(await loadBuilt(halves), {
        workers: [0, 1],
        rounds: 1,
        scan: { filter },
      })
      assert.lengthOf(rows, 8)
      for (const row of rows) {
        const isKept = row.temperature === 'warm' && row.cache === 'on'
        assert.equal(row.tasks, tasks)
        assert.equal(row.ioRequests, isKept ? 0 : 3)
        assert.equal(row.cacheEntryHits, isKept ? 2 : 0)
        // Without tasks there is no first one.
        assert.equal(row.firstTaskMs === undefined, tasks === 0)
        if (row.firstTaskMs !== undefined) assert.isAtMost(row.firstTaskMs, row.durationMs)
      }
    })

  it('stops when told to', async () => {
    const reason = new Error('enough')
    const table = await loadBuilt(built)
    assert.equal(await rejection(compareCaches(table, { signal: AbortSignal.abort(reason) })), reason)
  })

  for (const rounds of [0, 1.5, NaN])
    it(`refuses ${rounds} rounds`, async () => {
      const error = await rejection(compareCaches(await loadBuilt(built), { rounds }))
      assert.match(error.message, /Cannot compare caches in .* rounds/)
    })
})
