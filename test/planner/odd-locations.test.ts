/**
 * Percent signs, spaces, `#`, `?`, `//` and letters beyond ASCII in the names of folders and files, in every store
 * and from one store to another (B178, B179): a table is planned, its deletes match, and what is to be opened is there.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { assert } from 'chai'
import { defaultFileIO } from '../../src/io/default-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rebase } from '../../src/io/rebase.ts'
import { S3FileIO } from '../../src/io/s3/s3-file-io.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { buildTable } from '../support/table-writer.ts'
import { allOf, freshPlanner, SCHEMA } from './planning.ts'

const FOLDER = 'wh %2F+#?é/日本//k=a%2Fb c&d=100%'
const MANIFEST = 'metadata/m %23#1?x=%20+ü.avro'
const DATA = 'data/p=a%2Fb%20c/x#1?y z%//é.parquet'
const DELETE = 'data/delete %#?.parquet'
const BYTES = Buffer.from('the data file')

/** A name as it is in the text of a URL: only what would mean something else there is encoded. */
const inUrl = (name: string): string => name.replaceAll('%', '%25').replaceAll('?', '%3F')

/** The files of a table that was written at a location, by what follows the location; a data file among them. */
function filesOf(location: string, name = (text: string) => text): Map<string, Uint8Array> {
  const dataFile = `${location}/${name(DATA)}`
  const deletes = { content: 1, filePath: `${location}/${name(DELETE)}`, referencedDataFile: dataFile }
  const { files } = buildTable({
    location,
    schema: SCHEMA,
    snapshots: [
      {
        manifests: [
          {
            path: `${location}/${name(MANIFEST)}`,
            entries: [{ dataFile: { filePath: dataFile, fileSizeInBytes: BYTES.length } }],
          },
          { content: 'deletes', entries: [{ dataFile: deletes }] },
        ],
      },
    ],
  })
  const own = new Map<string, Uint8Array>([[DATA, BYTES]])
  for (const [stored, bytes] of files) {
    const rest = stored.slice(location.length + 1)
    own.set(rest === name(MANIFEST) ? MANIFEST : rest, bytes)
  }
  const metadata = [...own.keys()].find((file) => file.endsWith('.metadata.json'))!
  own.set('metadata/version-hint.text', Buffer.from(metadata.replace(/^metadata\//, '')))
  return own
}

describe('odd characters in locations (B178, B179)', () => {
  let root: string
  let server: Server
  let origin: string
  let s3: S3Server
  let s3IO: S3FileIO
  /** What the server has, by decoded path; and what was asked of it in vain. */
  const served = new Map<string, Uint8Array>()
  const missing: string[] = []

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'iceplan-odd-'))
    server = createServer((request, response) => {
      const [path] = request.url!.split('?')
      const bytes = served.get(decodeURIComponent(path))
      if (bytes === undefined) {
        missing.push(path)
        response.writeHead(404).end()
      } else response.end(bytes)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    s3 = await startS3Server()
    const { endpoint, region, credentials } = s3
    s3IO = new S3FileIO({ endpoint, region, credentials: credentials[0], pathStyle: true })
  })

  after(async () => {
    s3IO.close()
    await s3.close()
    server.closeAllConnections()
    server.close()
    rmSync(root, { recursive: true })
  })

  beforeEach(() => {
    served.clear()
    missing.length = 0
  })

  /** Where tables live: how a location is written, and how files get there. */
  interface Place {
    readonly location: () => string
    readonly name?: (text: string) => string
    readonly put: (files: Map<string, Uint8Array>) => FileIO
  }
  const onDisk = (files: Map<string, Uint8Array>): FileIO => {
    for (const [name, bytes] of files) {
      const path = `${root}/${FOLDER}/${name}`
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    }
    return defaultFileIO()
  }
  const inMemory = (files: Map<string, Uint8Array>): FileIO =>
    new MemoryFileIO(Array.from(files, ([name, bytes]) => [`s3://bucket/${FOLDER}/${name}`, bytes]))
  const onServer = (files: Map<string, Uint8Array>): FileIO => {
    for (const [name, bytes] of files) served.set(`/${FOLDER}/${name}`, bytes)
    return defaultFileIO()
  }
  const inS3 = (files: Map<string, Uint8Array>): FileIO => {
    for (const [name, bytes] of files) s3.put('bucket', `${FOLDER}/${name}`, bytes)
    return s3IO
  }
  const places = {
    'a plain path': { location: () => `${root}/${FOLDER}`, put: onDisk },
    'file:///': { location: () => `file://${root}/${FOLDER}`, put: onDisk },
    'file:/': { location: () => `file:${root}/${FOLDER}`, put: onDisk },
    'an object store': { location: () => `s3://bucket/${FOLDER}`, put: inMemory },
    S3: { location: () => `s3://bucket/${FOLDER}`, put: inS3 },
    HTTP: { location: () => `${origin}/${inUrl(FOLDER)}`, name: inUrl, put: onServer },
  } satisfies Record<string, Place>
  type Name = keyof typeof places

  async function check(written: Place, lives: Place, isMoved: boolean): Promise<void> {
    const [was, is] = [written.location(), lives.location()]
    const io = lives.put(filesOf(was, written.name))
    const table = await loadTable(is, { io, ...(isMoved ? { rebase: [rebase(was, is)] } : {}) })
    const [task, ...rest] = await allOf((await freshPlanner().plan(table.newScan())).tasks)
    assert.isEmpty(rest)
    const name = written.name ?? String
    assert.equal(task.dataFile.filePath, `${was}/${name(DATA)}`, 'as stored')
    assert.deepEqual(
      task.deletes.map(({ filePath, referencedDataFile }) => [filePath, referencedDataFile]),
      [[`${was}/${name(DELETE)}`, task.dataFile.filePath]],
    )
    if (!isMoved) assert.equal(task.location, task.dataFile.filePath)
    assert.isTrue(task.location.startsWith(is))
    assert.deepEqual(Buffer.from(await io.open(task.location).read()), BYTES, 'what to open is there')
    assert.deepEqual(missing, [])
  }

  for (const [name, place] of Object.entries<Place>(places))
    it(`in ${name}`, () => check(place, place, false))

  const moves: [from: Name, to: Name][] = [
    ['an object store', 'a plain path'],
    ['an object store', 'file:///'],
    ['an object store', 'HTTP'],
    ['a plain path', 'S3'],
    ['a plain path', 'HTTP'],
    ['file:/', 'HTTP'],
    ['file:///', 'a plain path'],
    ['file:///', 'S3'],
  ]
  for (const [from, to] of moves)
    it(`written in ${from}, moved to ${to}`, () => check(places[from], places[to], true))
})
