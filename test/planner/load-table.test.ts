import { gzipSync } from 'node:zlib'
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rebase } from '../../src/io/rebase.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { startS3Server } from '../support/s3-server.ts'
import { rejection } from '../support/rejection.ts'
import { type BuiltTable, buildTable } from '../support/table-writer.ts'
import {
  dataManifests,
  freshPlanner,
  allOf,
  GatedFileIO,
  pathsOf,
  SCHEMA,
  settle,
  tableOf,
} from './planning.ts'

async function planned(table: Awaited<ReturnType<typeof loadTable>>) {
  const plan = await freshPlanner().plan(table.newScan())
  return allOf(plan.tasks)
}

/** The same files under another prefix. */
function moved({ files }: BuiltTable, from: string, to: string): MemoryFileIO {
  return new MemoryFileIO(Array.from(files, ([location, bytes]) => [location.replace(from, to), bytes]))
}

describe('loading a table', () => {
  const built = tableOf(dataManifests(2, 1))
  const PATHS = ['data/0-0', 'data/0-1', 'data/1-0']

  describe('by location', () => {
    const rows: [what: string, location: string][] = [
      ['a metadata file', built.metadataLocation],
      ['the table folder', built.location],
      ['with a slash', `${built.location}/`],
      ['the metadata folder', `${built.location}/metadata`],
      ['with a slash', `${built.location}/metadata/`],
    ]
    for (const [what, location] of rows)
      it(`${what}: ${location}`, async () => {
        const table = await loadTable(location, { io: new MemoryFileIO(built.files) })
        assert.equal(table.metadata.metadataLocation, built.metadataLocation)
        assert.isEmpty(table.warnings)
        assert.deepEqual(pathsOf(await planned(table)), PATHS)
      })

    for (const name of ['v7.gz.metadata.json', 'v7.metadata.json.gz', 'v7.metadata.json'])
      it(`gzip: ${name}`, async () => {
        const files = new Map(built.files)
        const json = files.get(built.metadataLocation)!
        files.delete(built.metadataLocation)
        files.set(`${built.location}/metadata/${name}`, gzipSync(json))
        const table = await loadTable(built.location, { io: new MemoryFileIO(files) })
        assert.deepEqual(pathsOf(await planned(table)), PATHS)
      })

    it('what was odd is a warning of the table and of every plan', async () => {
      const files = new Map(built.files)
      files.set(`${built.location}/metadata/v3.copy.metadata.json`, Buffer.from('{}'))
      const table = await loadTable(built.location, { io: new MemoryFileIO(files) })
      assert.lengthOf(table.warnings, 1)
      assert.match(table.warnings[0], /Ignored metadata files whose names do not begin with a version/)
      const plan = await freshPlanner().plan(table.newScan())
      assert.deepEqual(plan.report.warnings, table.warnings)
    })
  })

  describe('rebase', () => {
    const rows: [why: string, stored: string, actual: string][] = [
      ['another bucket', 's3://old/db/t', 's3://new/db/t'],
      ['another scheme', 's3a://b/t', 'memory:/t'],
      ['B178: percent signs are what they are', 's3://b/k=a%2Fb/100%/t', 's3://c/k=x%20y/%zz/t'],
      ['spaces and plus signs', 's3://b/a b+c/t', 's3://c/ d+e/t'],
      ['B179: # and ? are parts of a key', 's3://b/a#b?c/t', 's3://c/x?y=1#z/t'],
      ['not normalised', 's3://b//a/../b/./t', 's3://c/..//t'],
      ['letters beyond ASCII', 's3://b/日本/é/t', 's3://c/e\u0301/\u{1f600}/t'],
    ]
    for (const [why, stored, actual] of rows)
      it(`${why}: ${stored} at ${actual}`, async () => {
        const files = [{ dataFile: { filePath: `${stored}/data/x#1?y%20.parquet` } }]
        const table = await loadTable(actual, {
          io: moved(
            buildTable({
              location: stored,
              schema: SCHEMA,
              snapshots: [{ manifests: [{ entries: files }] }],
            }),
            stored,
            actual,
          ),
          rebase: [rebase(stored, actual)],
        })
        assert.isTrue(table.metadata.metadataLocation.startsWith(actual))
        const [task] = await planned(table)
        assert.equal(task.dataFile.filePath, `${stored}/data/x#1?y%20.parquet`, 'as stored')
        assert.equal(task.location, `${actual}/data/x#1?y%20.parquet`, 'where to open it')
      })

    it('the location given is rebased too', async () => {
      const table = await loadTable(built.metadataLocation, {
        io: moved(built, 's3://warehouse', 's3://other'),
        rebase: [rebase('s3://warehouse', 's3://other')],
      })
      assert.deepEqual(pathsOf(await planned(table)), PATHS)
    })

    it('without it odd keys are opened as they are stored (B178, B179)', async () => {
      const location = 's3://b/k=a%2Fb/x y/#1?v=2/t'
      const odd = tableOf(dataManifests(1), { location })
      const table = await loadTable(location, { io: new MemoryFileIO(odd.files) })
      assert.deepEqual(pathsOf(await planned(table)), ['data/0-0'])
    })

    it('two rebases of one prefix are refused', async () => {
      const both = [rebase('s3://a', 's3://b'), rebase('s3://a', 's3://c')]
      const error = await rejection(loadTable('s3://a/t', { io: new MemoryFileIO(), rebase: both }))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
    })
  })

  describe('errors name the location', () => {
    const file = `${built.location}/metadata/v1.metadata.json`
    const rows: [what: string, files: [string, Uint8Array | string][], location: string, code: string][] = [
      ['no such file', [], file, 'ERR_NOT_FOUND'],
      ['no such folder', [], built.location, 'ERR_NOT_FOUND'],
      ['an empty file', [[file, '']], file, 'ERR_INVALID_METADATA'],
      ['not JSON', [[file, 'PAR1']], file, 'ERR_INVALID_METADATA'],
      ['JSON that is no table', [[file, '[]']], file, 'ERR_INVALID_METADATA'],
      ['gzip that breaks off', [[file, gzipSync('{}').subarray(0, 12)]], file, 'ERR_INVALID_METADATA'],
      ['an unknown format version', [[file, '{"format-version":9}']], file, 'ERR_UNSUPPORTED'],
    ]
    for (const [what, files, location, code] of rows)
      it(`${what}: ${code}`, async () => {
        const bytes = files.map(([name, content]) => [name, Buffer.from(content)] as const)
        const error = await rejection(loadTable(location, { io: new MemoryFileIO(bytes) }))
        assert.isTrue(isIcebergError(error), String(error))
        assert.equal(error.code, code)
        assert.isTrue(error.location?.startsWith(built.location), error.location)
        assert.include(error.message, error.location)
      })

    it('a location without a store', async () => {
      assert.equal((await rejection(loadTable('hdfs://host/t'))).code, 'ERR_UNSUPPORTED')
    })
  })

  it('at most so many requests at once as it is told', async () => {
    const table = tableOf(dataManifests(...Array.from({ length: 20 }, () => 1)))
    const io = new GatedFileIO(new MemoryFileIO(table.files), (location) => /-m\d+\.avro$/.test(location))
    const loaded = await loadTable(table.metadataLocation, { io, requestLimit: 3 })
    const tasks = planned(loaded)
    await settle()
    assert.lengthOf(io.waiting, 3)
    io.isHeld = () => false
    io.release()
    assert.lengthOf(await tasks, 20)
    for (const requestLimit of [0, -1, 1.5, NaN]) {
      const error = await rejection(loadTable(table.metadataLocation, { io, requestLimit }))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
    }
  })

  it('storage options are for the stores that it makes itself', async () => {
    const server = await startS3Server()
    try {
      const { endpoint, region } = server
      const [credentials] = server.credentials
      for (const [location, bytes] of built.files)
        server.put('warehouse', location.replace('s3://warehouse/', ''), bytes)
      const storage = {
        properties: { 's3.endpoint': endpoint },
        s3: { region, credentials, pathStyle: true },
      }
      const table = await loadTable(built.location, { storage })
      assert.deepEqual(pathsOf(await planned(table)), PATHS)
      const metadata = server.requests.slice(0, 2).map(({ key }) => key)
      assert.deepEqual(metadata, ['', built.metadataLocation.replace('s3://warehouse/', '')], 'list, get')
    } finally {
      await server.close()
    }
  })

  it('an abort rejects with its own reason', async () => {
    const reason = { own: 'reason' }
    for (const location of [built.metadataLocation, built.location]) {
      const loading = loadTable(location, {
        io: new MemoryFileIO(built.files),
        signal: AbortSignal.abort(reason),
      })
      assert.equal(await rejection(loading), reason as never)
    }
  })

  describe('planFiles', () => {
    it('plans with the shared planner; nothing is read before the first next()', async () => {
      const io = new MemoryFileIO(built.files)
      const table = await loadTable(built.metadataLocation, { io })
      const tasks = table.planFiles()
      io.files.delete(built.snapshots[0].manifestList!)
      assert.equal((await rejection(allOf(tasks))).code, 'ERR_NOT_FOUND')
      const again = await loadTable(built.metadataLocation, { io: new MemoryFileIO(built.files) })
      assert.deepEqual(pathsOf(await allOf(again.planFiles('true'))), PATHS)
    })

    it('unknown snapshots, refs and columns fail', async () => {
      const table = await loadTable(built.metadataLocation, { io: new MemoryFileIO(built.files) })
      for (const options of [{ snapshotId: 1n }, { ref: 'none' }, { asOf: 0 }, { select: ['none'] }])
        assert.equal(
          (await rejection(allOf(table.planFiles(undefined, options)))).code,
          'ERR_INVALID_ARGUMENT',
          Object.keys(options).join(),
        )
    })
  })
})
