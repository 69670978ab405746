/** How a table finds out what has changed, and what that costs. */
import { assert } from 'chai'
import { NotFoundError, StorageError } from '../../src/errors.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { LocationMap } from '../../src/io/rebase.ts'
import { parseTableMetadata, type TableMetadata } from '../../src/metadata/table-metadata.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { Table, type ReloadedTable } from '../../src/planner/table.ts'
import { rejection } from '../support/rejection.ts'
import { buildTable, type BuiltTable, type TableInput } from '../support/table-writer.ts'
import { allOf, freshPlanner, GatedFileIO, LOCATION, pathsOf, SCHEMA, settle } from './planning.ts'

const OTHER_UUID = '00000000-0000-4000-8000-000000000000'
const HINT = `${LOCATION}/metadata/version-hint.text`

/** The table after so many commits, each of one data file. */
function version(commits: number, metadata: TableInput['metadata'] = {}): BuiltTable {
  const snapshots = Array.from({ length: commits }, (_, i) => ({
    manifests: [{ entries: [{ dataFile: { filePath: `data/${i}` } }] }],
  }))
  // The numbers of manifests go on, so that no commit writes over the files of the one before.
  for (const [i, { manifests }] of snapshots.entries())
    manifests.splice(0, 0, ...snapshots.slice(0, i).flatMap((earlier) => earlier.manifests.slice(-1)))
  return buildTable({ schema: SCHEMA, snapshots, metadata: { properties: {}, ...metadata } })
}

/** As a file-system table: `v<N>.metadata.json`. */
function hadoop(built: BuiltTable, name: string): BuiltTable {
  const files = new Map(built.files)
  const metadataLocation = `${LOCATION}/metadata/${name}.metadata.json`
  files.set(metadataLocation, files.get(built.metadataLocation)!)
  files.delete(built.metadataLocation)
  return { ...built, files, metadataLocation }
}

function commit(io: MemoryFileIO, { files }: BuiltTable): void {
  for (const [location, bytes] of files) io.files.set(location, bytes)
}

/** The same store without a way to list. */
function unlistable(io: FileIO): FileIO {
  return { identity: io.identity, open: (location) => io.open(location) }
}

/** The same store, which refuses to list. */
function refusing(io: FileIO): FileIO {
  return { ...unlistable(io), list: () => Promise.reject(new StorageError('refused', { denied: true })) }
}

async function pathsNow(table: Table): Promise<string[]> {
  return pathsOf(await allOf((await freshPlanner().plan(table.newScan())).tasks))
}

describe('refreshing a table', () => {
  it('takes the new metadata in place; scans made before keep theirs', async () => {
    const io = new MemoryFileIO(version(1).files)
    const table = await loadTable(LOCATION, { io })
    const before = table.newScan()
    commit(io, version(2))
    assert.deepEqual(await pathsNow(table), ['data/0'], 'not before it is asked to')
    assert.equal(await table.refresh(), table)
    assert.equal(table.metadata.metadataLocation, version(2).metadataLocation)
    assert.deepEqual(await pathsNow(table), ['data/0', 'data/1'])
    assert.deepEqual(pathsOf(await allOf((await freshPlanner().plan(before)).tasks)), ['data/0'])
    assert.equal(before.with({}).table.metadata.metadataLocation, version(1).metadataLocation)
  })

  it('does not disturb a plan that is under way', async () => {
    const io = new MemoryFileIO(version(2).files)
    const table = await loadTable(LOCATION, { io })
    const { tasks } = await freshPlanner().plan(table.newScan())
    const first = await tasks.next()
    commit(io, version(3))
    await table.refresh()
    assert.deepEqual(pathsOf([first.value!, ...(await allOf(tasks))]), ['data/0', 'data/1'])
  })

  describe('requests', () => {
    const catalogName = version
    const versionName = (commits: number): BuiltTable => hadoop(version(commits), `v${commits}`)
    const rows: [
      what: string,
      build: (commits: number) => BuiltTable,
      store: (io: MemoryFileIO) => FileIO,
      load: number,
      unchanged: number,
      changed: number,
    ][] = [
      ['a folder of a catalog', catalogName, (io) => io, 2, 1, 2],
      ['a folder of a file-system table', versionName, (io) => io, 2, 1, 2],
      ['the hint, where there is no listing (HTTP)', versionName, unlistable, 2, 1, 2],
      ['the hint, where listing is denied', versionName, refusing, 3, 2, 3],
    ]
    for (const [what, build, store, load, unchanged, changed] of rows)
      it(`${what}: load ${load}, refresh ${unchanged}, with something new ${changed}`, async () => {
        const memory = new MemoryFileIO(build(2).files)
        memory.files.set(HINT, Buffer.from('2'))
        const io = new CountingFileIO(store(memory))
        const table = await loadTable(LOCATION, { io })
        assert.equal(io.requests, load)
        const { metadata } = table

        io.reset()
        await table.refresh()
        assert.equal(io.requests, unchanged)
        assert.equal(table.metadata, metadata, 'the very same')

        commit(memory, build(3))
        memory.files.set(HINT, Buffer.from('3'))
        io.reset()
        await table.refresh()
        assert.equal(io.requests, changed)
        assert.equal(table.metadata.snapshots.length, 3)
      })

    it('a metadata file: load 1', async () => {
      const { files, metadataLocation } = version(1)
      const io = new CountingFileIO(new MemoryFileIO(files))
      await loadTable(metadataLocation, { io })
      assert.equal(io.requests, 1)
    })

    it('a table that was dropped and made again with the same version is seen, by one read more (B184)', async () => {
      const memory = new MemoryFileIO(hadoop(version(1), 'v1').files)
      const io = new CountingFileIO(memory)
      const table = await loadTable(LOCATION, { io })
      memory.files.clear()
      const again = buildTable({
        schema: SCHEMA,
        snapshots: [{ snapshotId: 7n, manifests: [] }],
        metadata: { 'table-uuid': OTHER_UUID },
      })
      commit(memory, hadoop(again, 'v1'))
      io.reset()
      assert.equal((await rejection(table.refresh())).code, 'ERR_INVALID_METADATA')
      assert.equal(io.requests, 2)
    })
  })

  describe('what goes wrong leaves the table as it was', () => {
    it('another uuid: InvalidMetadataError names both, each time', async () => {
      const io = new MemoryFileIO(version(1).files)
      const table = await loadTable(LOCATION, { io })
      const { metadata } = table
      commit(io, version(2, { 'table-uuid': OTHER_UUID }))
      for (let i = 0; i < 2; i++) {
        const error = await rejection(table.refresh())
        assert.equal(error.code, 'ERR_INVALID_METADATA')
        assert.include(error.message, metadata.tableUuid!)
        assert.include(error.message, OTHER_UUID)
        assert.equal(error.location, version(2).metadataLocation)
        assert.equal(table.metadata, metadata)
      }
    })

    it('nothing there any more, broken metadata, a store that fails', async () => {
      const files = new Map(version(1).files)
      const memory = new MemoryFileIO(files)
      let failure: Error | undefined
      const io: FileIO = {
        identity: memory.identity,
        open: (location) => memory.open(location),
        list: (folder) => (failure === undefined ? memory.list(folder) : Promise.reject(failure)),
      }
      const table = await loadTable(LOCATION, { io })
      const { metadata } = table

      memory.files.clear()
      assert.equal((await rejection(table.refresh())).code, 'ERR_NOT_FOUND')
      memory.files.set(`${LOCATION}/metadata/00009-x.metadata.json`, Buffer.from('{'))
      assert.equal((await rejection(table.refresh())).code, 'ERR_INVALID_METADATA')
      failure = new StorageError('busy', { retryable: true })
      assert.equal(await rejection(table.refresh()), failure)
      assert.equal(table.metadata, metadata)

      failure = undefined
      memory.files.clear()
      commit(memory, version(2))
      await table.refresh()
      assert.equal(table.metadata.snapshots.length, 2)
    })

    it('a table of one metadata file cannot be refreshed, and the error says what can be', async () => {
      const { files, metadataLocation } = version(1)
      const io = new CountingFileIO(new MemoryFileIO(files))
      const table = await loadTable(metadataLocation, { io })
      io.reset()
      const error = await rejection(table.refresh())
      assert.equal(error.code, 'ERR_UNSUPPORTED')
      assert.match(error.message, /one metadata file.*folder.*catalog/)
      assert.include(error.message, metadataLocation)
      assert.equal(io.requests, 0)
    })
  })

  describe('what is odd and no error', () => {
    const metadataOf = (metadata: TableInput['metadata'], formatVersion: 1 | 2 = 2): TableMetadata => {
      const built = buildTable({ schema: SCHEMA, formatVersion, metadata: metadata! })
      return parseTableMetadata(built.files.get(built.metadataLocation)!, built.metadataLocation)
    }
    const refreshed = async (old: TableMetadata, reloaded: ReloadedTable): Promise<Table> =>
      await new Table(old, new MemoryFileIO(), new LocationMap(), {
        warnings: ['old'],
        reload: () => Promise.resolve(reloaded),
      }).refresh()
    const at = (sequence: number, updated: number): TableMetadata =>
      metadataOf({ 'last-sequence-number': sequence, 'last-updated-ms': updated })

    it('metadata that went back is taken with a warning', async () => {
      const bySequence = await refreshed(at(5, 1000), { metadata: at(4, 2000), warnings: ['new'] })
      assert.equal(bySequence.metadata.lastSequenceNumber, 4n)
      assert.lengthOf(bySequence.warnings, 2)
      assert.equal(bySequence.warnings[0], 'new')
      assert.match(bySequence.warnings[1], /went back.*sequence number 4, below the 5/)
      const byTime = await refreshed(at(5, 1000), { metadata: at(5, 999) })
      assert.match(byTime.warnings.join(), /^The table went back.*last-updated-ms 999, below the 1000/)
    })

    it('metadata that went on has its own warnings only', async () => {
      assert.deepEqual((await refreshed(at(5, 1000), { metadata: at(6, 1000) })).warnings, [])
    })

    it('a table of version 1 without a uuid gets one when it is upgraded', async () => {
      const old = metadataOf({ 'table-uuid': undefined }, 1)
      const table = await refreshed(old, { metadata: at(1, 2_000_000_000_000) })
      assert.isDefined(table.metadata.tableUuid)
    })

    it('uuids are compared without case', async () => {
      const upper = metadataOf({ 'table-uuid': at(1, 1).tableUuid!.toUpperCase() })
      assert.equal((await refreshed(at(0, 1), { metadata: upper })).metadata, upper)
    })

    it('the source may change where files are opened', async () => {
      const io = new MemoryFileIO()
      const old = at(1, 1)
      assert.equal((await refreshed(old, { metadata: old, io })).io, io)
    })
  })

  describe('several at once', () => {
    /** A table whose look-ups wait to be let through. */
    async function gated(): Promise<{ table: Table; io: GatedFileIO; memory: MemoryFileIO }> {
      const memory = new MemoryFileIO(hadoop(version(1), 'v1').files)
      memory.files.set(HINT, Buffer.from('1'))
      const io = new GatedFileIO(memory, () => false)
      const table = await loadTable(LOCATION, { io })
      io.isHeld = () => true
      io.begun.length = 0
      return { table, io, memory }
    }
    const commitSecond = (memory: MemoryFileIO): void => {
      commit(memory, hadoop(version(2), 'v2'))
      memory.files.set(HINT, Buffer.from('2'))
    }

    it('are one look-up', async () => {
      const { table, io, memory } = await gated()
      commitSecond(memory)
      const all = Promise.all([table.refresh(), table.refresh(), table.refresh()])
      await settle()
      io.isHeld = () => false
      io.release()
      assert.deepEqual(await all, [table, table, table])
      assert.deepEqual(io.begun, [HINT, `${LOCATION}/metadata/v2.metadata.json`])
      await table.refresh()
      assert.lengthOf(io.begun, 3, 'the next one looks again')
    })

    it('one that is aborted leaves at once, the others go on', async () => {
      const { table, io, memory } = await gated()
      commitSecond(memory)
      const leaving = new AbortController()
      const reason = new Error('enough')
      const left = rejection(table.refresh({ signal: leaving.signal }))
      const staying = table.refresh()
      await settle()
      leaving.abort(reason)
      assert.equal(await left, reason)
      assert.deepEqual(io.aborted, [])
      io.isHeld = () => false
      io.release()
      await staying
      assert.equal(table.metadata.snapshots.length, 2)
    })

    it('the last one to leave aborts the request; who comes then begins anew', async () => {
      const { table, io, memory } = await gated()
      const controllers = [new AbortController(), new AbortController()]
      const left = controllers.map(({ signal }) => rejection(table.refresh({ signal })))
      await settle()
      const { metadata } = table
      for (const controller of controllers) controller.abort()
      await Promise.all(left)
      assert.deepEqual(io.aborted, [HINT])
      assert.equal(table.metadata, metadata)
      commitSecond(memory)
      io.isHeld = () => false
      await table.refresh()
      assert.equal(table.metadata.snapshots.length, 2)
    })

    it('a signal that is aborted before asks nothing', async () => {
      const { table, io } = await gated()
      const reason = new NotFoundError('own')
      assert.equal(await rejection(table.refresh({ signal: AbortSignal.abort(reason) })), reason)
      assert.deepEqual(io.begun, [])
    })
  })
})
