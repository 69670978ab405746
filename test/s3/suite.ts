/**
 * What must hold on every S3 server, defined once and run on several: ours, which is strict and always there, and
 * independent ones, which were written by others.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { LocalFileIO } from '../../src/io/local-file-io.ts'
import { S3FileIO } from '../../src/io/s3/s3-file-io.ts'
import type { S3Credentials, S3Options } from '../../src/io/s3/s3-options.ts'
import { rebase, type Rebase } from '../../src/io/rebase.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import type { Table } from '../../src/planner/table.ts'
import { corpusEntries, corpusFolder, describeCorpus, type CorpusEntry } from '../support/corpus.ts'
import { corpusMetadata, nameOf, planTable, taskToJson } from '../support/corpus-table.ts'
import { ODD_KEYS } from '../support/odd-keys.ts'
import { rejection } from '../support/rejection.ts'
import { projectRoot } from '../support/root.ts'

const WRONG_SECRET = 'not-the-one-of-the-server'

export interface SuiteServer {
  readonly endpoint: string
  readonly region: string
  readonly credentials: S3Credentials
  /** A bucket of this run, empty. */
  readonly bucket: string
  /** The most entries of a listing's page. */
  readonly pageSize: number
  /** Stores an object without our own client. */
  put(key: string, bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export interface SuiteOptions {
  /**
   * Keys that the server cannot keep, with the reason: it stores objects in a file system, say. Without them a key that
   * fails is an error.
   */
  readonly keysItLacks?: Readonly<Partial<Record<string, string>>>
  /** Called once, before anything. */
  readonly start: () => Promise<SuiteServer>
}

/** Defines the tests. */
export function s3Suite({ keysItLacks = {}, start }: SuiteOptions): void {
  let server: SuiteServer
  let io: S3FileIO
  const others: S3FileIO[] = []

  before(async function () {
    this.timeout(60_000)
    server = await start()
    io = fileIO()
  })
  // What `start` could not do leaves nothing to close.
  after(async () => {
    for (const other of others) other.close()
    await (server as SuiteServer | undefined)?.close()
  })

  function fileIO(options: S3Options = {}): S3FileIO {
    const { endpoint, region, credentials } = server
    const made = new S3FileIO({ endpoint, region, credentials, pathStyle: true, attempts: 1, ...options })
    others.push(made)
    return made
  }
  const at = (key: string) => `s3://${server.bucket}/${key}`

  /** Uploads what is below a folder. */
  async function upload(folder: string, prefix: string): Promise<void> {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    const uploads = files.map(({ parentPath, name }) => join(parentPath, name))
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let path = uploads.pop(); path !== undefined; path = uploads.pop())
          await server.put(prefix + relative(folder, path), readFileSync(path))
      }),
    )
  }

  describe('tables', () => {
    for (const name of ['orders', 'codecs', 'upgraded'])
      it(`fixtures/${name} from its folder, every snapshot as from disk`, async () => {
        const folder = fileURLToPath(new URL(`fixtures/${name}`, projectRoot()))
        await upload(folder, `db/${name}/`)
        const stored = `s3://warehouse/db/${name}`
        const here = await loadTable(folder, { rebase: [rebase(stored, folder)] })
        const there = await loadTable(at(`db/${name}`), { io, rebase: [rebase(stored, at(`db/${name}`))] })
        assert.isAbove(here.metadata.snapshots.length, 0)
        for (const { snapshotId } of here.metadata.snapshots)
          assert.equal(
            await outcomeOf(() => there, [at(`db/${name}`), folder], snapshotId),
            await outcomeOf(() => here, [folder, folder], snapshotId),
          )
      })

    describeCorpus('of the corpus, as from disk', (root) => {
      const entries = corpusEntries('table')

      it('are as many as were counted', () => {
        assert.lengthOf(entries, 167)
      })

      for (const entry of entries)
        it(nameOf(entry), async function () {
          this.timeout(60_000)
          const folder = corpusFolder(entry)
          const prefix = `corpus/${nameOf(entry)}/`
          await upload(folder, prefix)
          const here = () =>
            loadTable(corpusMetadata(entry), { io: disk, rebase: rebasesTo(entry, `${folder}/`) })
          const there = () =>
            loadTable(at(`corpus/${relative(root, corpusMetadata(entry))}`), {
              io,
              rebase: rebasesTo(entry, at(prefix)),
            })
          const want = await outcomeOf(here, [`${folder}/`, `${folder}/`])
          assert.equal(await outcomeOf(there, [at(prefix), `${folder}/`]), want)
          if (entry.complete === true) assert.match(want, /"complete":true/)
        })
    })
  })

  describe('keys', () => {
    for (const key of ODD_KEYS) {
      const lacks = keysItLacks[key]
      const title = `${JSON.stringify(key)} is opaque (B178, B179)`
      if (lacks !== undefined) it.skip(`${title}; not here: ${lacks}`)
      else
        it(title, async () => {
          const text = `of ${key}`
          await server.put(key, Buffer.from(text))
          const file = io.open(at(key))
          assert.equal(Buffer.from(await file.read()).toString(), text)
          const part = await file.read({ start: 3, end: text.length > 4 ? 5 : 4 })
          assert.equal(
            Buffer.from(part).toString(),
            Buffer.from(text)
              .subarray(3, 3 + part.length)
              .toString(),
          )
        })
    }

    for (const scheme of ['s3', 's3a', 's3n'])
      it(`are the same by ${scheme}: (B180)`, async () => {
        await server.put('schemes/a', Buffer.from(scheme))
        const bytes = await io.open(`${scheme}://${server.bucket}/schemes/a`).read()
        assert.equal(Buffer.from(bytes).toString(), scheme)
      })
  })

  describe('ranges', () => {
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
    before(async () => {
      await server.put('ranges/file', body)
      await server.put('ranges/empty', new Uint8Array(0))
    })

    for (const [start, end] of [
      [0, 1],
      [0, 100_000],
      [1, 99_999],
      [65_536, 70_000],
      [99_999, 100_000],
      [5, 5],
      [200_000, 200_000],
    ])
      it(`${start} to ${end}`, async () => {
        const bytes = await io.open(at('ranges/file')).read({ start, end })
        assert.isTrue(body.subarray(start, end).equals(bytes))
      })

    it('none: the whole file, an empty one too', async () => {
      assert.isTrue(body.equals(await io.open(at('ranges/file')).read()))
      assert.lengthOf(await io.open(at('ranges/empty')).read(), 0)
    })

    for (const [start, end] of [
      [99_999, 100_001],
      [100_000, 100_001],
      [0, 1_000_000],
    ])
      it(`${start} to ${end}, which ends after the file: an error`, async () => {
        const error = await rejection(io.open(at('ranges/file')).read({ start, end }))
        assert.isTrue(isIcebergError(error, 'ERR_STORAGE'), String(error))
        assert.include(error.message, at('ranges/file'))
        assert.isFalse((error as { retryable?: boolean }).retryable)
      })

    it('many at once', async () => {
      const file = io.open(at('ranges/file'))
      const parts = await Promise.all(
        Array.from({ length: 100 }, (_, i) => file.read({ start: i * 1000, end: (i + 1) * 1000 })),
      )
      assert.isTrue(body.equals(Buffer.concat(parts)))
    })
  })

  describe('listings', () => {
    const odd = ['a b', 'c+d', 'e%2Ff', 'ä', 'f&g<h>']

    it('are the names in a folder, of all pages', async function () {
      this.timeout(60_000)
      const names = [...odd, ...Array.from({ length: server.pageSize + 3 }, (_, i) => `n${i}`)]
      const uploads = [...names, 'sub/1', 'sub/2'].map((name) => `lists/a folder+/${name}`)
      uploads.push('lists/a folder', 'lists/a folder+2/x')
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let key = uploads.pop(); key !== undefined; key = uploads.pop())
            await server.put(key, Buffer.from('x'))
        }),
      )
      for (const folder of [at('lists/a folder+'), at('lists/a folder+/')])
        assert.sameMembers(
          (await io.list(folder)).filter((name) => !/^sub\/?$/.test(name)),
          names,
        )
    })

    it('of a folder that is not there: nothing', async () => {
      assert.deepEqual(await io.list(at('lists/none')), [])
    })

    it('of a bucket', async () => {
      await server.put('in the bucket', Buffer.from('x'))
      assert.include(await io.list(`s3://${server.bucket}`), 'in the bucket')
    })
  })

  describe('refusals', () => {
    const location = () => at('refusals/file')
    before(() => server.put('refusals/file', Buffer.from('text')))

    /** Code and message of the error of a read, and of a listing. */
    async function refusals(refused: S3FileIO, of = location()): Promise<string[]> {
      const errors = [
        await rejection(refused.open(of).read()),
        await rejection(refused.list(of.replace(/\/[^/]*$/, ''))),
      ]
      for (const error of errors) {
        assert.isTrue(isIcebergError(error), String(error))
        assert.include(error.message, of.replace(/\/[^/]*$/, ''))
        assert.notInclude(error.message, server.credentials.secretAccessKey)
        assert.notInclude(error.message, WRONG_SECRET)
        assert.notMatch(error.message, /Signature[= ][0-9a-f]{64}/)
      }
      return errors.map((error) => `${error.code} ${error.message}`)
    }

    it('a wrong secret', async () => {
      const { accessKeyId } = server.credentials
      const credentials = { accessKeyId, secretAccessKey: WRONG_SECRET }
      for (const message of await refusals(fileIO({ credentials })))
        assert.match(message, /^ERR_STORAGE .*SignatureDoesNotMatch/)
    })

    it('no credentials', async () => {
      const { endpoint, region } = server
      const anonymous = new S3FileIO({ endpoint, region, anonymous: true, pathStyle: true, attempts: 1 })
      others.push(anonymous)
      for (const message of await refusals(anonymous)) assert.match(message, /^ERR_STORAGE .*AccessDenied/)
    })

    it('another region: the error says which one is right', async () => {
      for (const message of await refusals(fileIO({ region: 'sa-east-1' }))) {
        assert.match(message, /^ERR_STORAGE /)
        assert.include(message, server.region)
      }
    })

    it('a missing key', async () => {
      const error = await rejection(io.open(at('refusals/none')).read())
      assert.equal(error.code, 'ERR_NOT_FOUND')
      assert.include(error.message, at('refusals/none'))
      assert.equal(error.location, at('refusals/none'))
    })

    it('a missing bucket', async () => {
      for (const message of await refusals(io, 's3://iceplan-no-such-bucket/folder/file'))
        assert.match(message, /^ERR_NOT_FOUND .*bucket/)
    })
  })
}

/** Where the missing part of a table lay, if not below the location of the table. */
const RECORDED_AT: Readonly<Partial<Record<string, string>>> = {
  'dremio/dac_metastore_table': 's3://tmp.dremio.com/yzhu/yihai/dml_dcs_testing/s3table/',
}

/** Rebases of an entry's table to where its files have been put; what is missing of it, is missing there. */
function rebasesTo(entry: CorpusEntry, place: string): Rebase[] {
  const prefixes = (entry.path_prefixes ?? []).map(({ prefix }) => prefix)
  if (entry.complete !== true) prefixes.push(RECORDED_AT[nameOf(entry)] ?? `${entry.location!}/`)
  return prefixes.map((prefix) => rebase(prefix, place))
}

/**
 * Files of this machine, never read in one turn: as over a network, a manifest that is shorter than its list says is asked
 * for once more, so that requests and bytes can be compared.
 */
const disk: FileIO = {
  identity: 'disk',
  open: (location) => {
    const file = new LocalFileIO().open(location)
    return { location, read: (range, options) => file.read(range, options) }
  },
}

/** Tasks and counts of a plan as text, or the code of its error. What lies at `from` is said to lie at `to`. */
async function outcomeOf(
  load: () => Table | Promise<Table>,
  [from, to]: readonly [from: string, to: string],
  snapshotId?: bigint,
): Promise<string> {
  try {
    const { tasks, report } = await planTable(await load(), { snapshotId })
    const counts = { ...report, totalPlanningDurationMs: undefined }
    return toText({ counts, tasks: tasks.map(taskToJson) }).replaceAll(from, to)
  } catch (error) {
    if (!isIcebergError(error)) throw error
    return error.code
  }
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner))
}
