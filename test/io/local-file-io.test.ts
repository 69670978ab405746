import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from 'chai'
import { MAX_READ_BYTES } from '../../src/io/byte-range.ts'
import { LocalFileIO, localPath } from '../../src/io/local-file-io.ts'
import { rejection, thrown } from '../support/rejection.ts'

const io = new LocalFileIO()
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

describe('local files', () => {
  let dir: string
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'iceplan-io-'))
  })
  after(() => {
    rmSync(dir, { recursive: true })
  })
  const put = (name: string, content = '0123456789'): string => {
    const path = `${dir}/${name}`
    mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
    writeFileSync(path, content)
    return path
  }

  describe('locations to paths (B180)', () => {
    const rows: [location: string, path: string, why: string][] = [
      ['/data/t', '/data/t', 'no scheme is a path'],
      ['data/t', 'data/t', 'relative paths stay relative'],
      ['C:/t', 'C:/t', 'a drive letter is not a scheme'],
      ['file:/data/t', '/data/t', 'one slash, as Java writes'],
      ['file:///data/t', '/data/t', 'three slashes'],
      ['FILE:///data/t', '/data/t', 'schemes have no case'],
      ['file://localhost/data/t', '/data/t', 'this machine by name'],
      ['file:data/t', 'data/t', 'a relative file URI'],
      ['file:////data/t', '//data/t', 'what follows the authority is kept'],
      ['/a//b/./c/../d', '/a//b/./c/../d', 'nothing is normalised'],
      ['file:/k=a%2Fb/x#1?y z', '/k=a%2Fb/x#1?y z', 'opaque after the scheme (B178, B179)'],
    ]
    for (const [location, path, why] of rows)
      it(`${location}: ${why}`, () => {
        assert.equal(localPath(location), path)
      })

    it('refuses a file of another host', () => {
      const error = thrown(() => io.open('file://other/data/t'))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.include(error.message, 'other')
    })
  })

  describe('odd names come through unharmed (B178, B179)', () => {
    const names = [
      'k=a%2Fb/x.avro',
      'a b/c d.avro',
      'a#b?c.avro',
      'é/日本.avro',
      '100%.avro',
      'a+b&c=d;e.avro',
      'q\'"\\.avro',
    ]
    for (const name of names)
      for (const scheme of ['', 'file:', 'file://', 'file://localhost'])
        it(`${scheme}/…/${name}`, async () => {
          const file = io.open(scheme + put(name, name))
          assert.equal(text(await file.read()), name)
          assert.equal(text(file.readSync!()), name)
        })

    it('takes the name as it stands before the decoded one', async () => {
      const raw = put('both%20ways', 'raw')
      put('both ways', 'decoded')
      assert.equal(text(await io.open(`file:${raw}`).read()), 'raw')
      assert.equal(text(io.open(`file:${raw}`).readSync!()), 'raw')
    })

    it('decodes a file URI whose name as it stands does not exist', async () => {
      put('only decoded/é', 'decoded')
      const file = io.open(`file://${dir}/only%20decoded/%C3%A9`)
      assert.equal(text(await file.read()), 'decoded')
      assert.equal(text(file.readSync!()), 'decoded')
      assert.deepEqual(await io.list(`file://${dir}/only%20decoded`), ['é'])
    })

    it('never decodes a plain path', async () => {
      put('plain path', 'x')
      assert.equal((await rejection(io.open(`${dir}/plain%20path`).read())).code, 'ERR_NOT_FOUND')
    })
  })

  describe('ranges', () => {
    const rows: [start: number, end: number, want: string, why: string][] = [
      [0, 10, '0123456789', 'all of it'],
      [3, 6, '345', 'the end is exclusive'],
      [9, 10, '9', 'the last byte'],
      [4, 4, '', 'nothing'],
      [40, 40, '', 'nothing, beyond the end'],
    ]
    for (const [start, end, want, why] of rows)
      it(`${start} to ${end}: ${why}`, async () => {
        assert.equal(text(await io.open(put('digits')).read({ start, end })), want)
      })

    it('an end behind the end of the file is an error, not a short answer', async () => {
      const error = await rejection(io.open(put('digits')).read({ start: 5, end: 11 }))
      assert.equal(error.code, 'ERR_STORAGE')
      assert.match(error.message, /bytes 5 to 11 of .*digits: the file ends at 10/)
    })

    for (const [start, end] of [
      [-1, 3],
      [5, 4],
      [0, 1.5],
      [0, NaN],
      [0, 2 ** 60],
    ] as const)
      it(`${start} to ${end} is not a range`, async () => {
        assert.equal(
          (await rejection(io.open(put('digits')).read({ start, end }))).code,
          'ERR_INVALID_ARGUMENT',
        )
      })
  })

  describe('what cannot be read', () => {
    const both = async (
      location: string,
    ): Promise<{ code: string; message: string; location: string | undefined }> => {
      const error = await rejection(io.open(location).read())
      const sync = thrown(() => io.open(location).readSync!())
      assert.equal(sync.message, error.message, 'both ways of reading fail alike')
      assert.equal(sync.code, error.code)
      return error
    }

    it('a missing file: NotFoundError with the location', async () => {
      const error = await both(`file:${dir}/missing`)
      assert.equal(error.code, 'ERR_NOT_FOUND')
      assert.equal(error.message, `Cannot read file:${dir}/missing: it does not exist`)
      assert.equal(error.location, `file:${dir}/missing`)
    })

    it('a file where a folder should be: NotFoundError', async () => {
      assert.equal((await both(`${put('digits')}/inside`)).code, 'ERR_NOT_FOUND')
    })

    it('a zero byte in the name: NotFoundError', async () => {
      assert.equal((await both(`${dir}/a\0b`)).code, 'ERR_NOT_FOUND')
      assert.equal((await both(`file:${dir}/a%00b`)).code, 'ERR_NOT_FOUND')
    })

    it('a file without permission: StorageError', async function () {
      const path = put('secret')
      chmodSync(path, 0)
      if (process.getuid?.() === 0) {
        console.log('      skipped: root may read everything')
        this.skip()
      }
      const error = await both(path)
      assert.equal(error.code, 'ERR_STORAGE')
      assert.include(error.message, 'permission denied')
    })

    it('a folder (B225)', async () => {
      const error = await both(dir)
      assert.equal(error.code, 'ERR_STORAGE')
      assert.include(error.message, 'a folder, not a regular file')
    })

    it('a device (B225)', async function () {
      if (process.platform === 'win32') this.skip()
      assert.include((await both('/dev/zero')).message, 'a device, not a regular file')
    })

    it('a FIFO, without waiting for a writer (B225)', async function () {
      const path = `${dir}/fifo`
      try {
        execFileSync('mkfifo', [path])
      } catch {
        console.log('      skipped: no mkfifo here')
        this.skip()
      }
      const error = await both(path)
      assert.equal(error.code, 'ERR_STORAGE')
      assert.include(error.message, 'a FIFO, not a regular file')
    })

    it('a file above the limit, before memory is taken for it (B222)', async () => {
      const path = put('huge')
      // A sparse file: no bytes are written.
      truncateSync(path, MAX_READ_BYTES + 1)
      const error = await both(path)
      assert.equal(error.code, 'ERR_STORAGE')
      assert.include(error.message, `${MAX_READ_BYTES + 1} bytes`)
      assert.deepEqual(
        await io.open(path).read({ start: 1, end: 3 }),
        Uint8Array.of(49, 50),
        'parts of it are fine',
      )
    })
  })

  it('rejects with the reason of the signal', async () => {
    const reason = new Error('enough')
    const file = io.open(put('digits'))
    assert.equal(await rejection(file.read(undefined, { signal: AbortSignal.abort(reason) })), reason)
    const controller = new AbortController()
    const reading = rejection(file.read(undefined, { signal: controller.signal }))
    controller.abort(reason)
    assert.equal(await reading, reason)
    assert.equal(await rejection(io.list(dir, { signal: AbortSignal.abort(reason) })), reason)
  })

  it('lists the names in a folder', async () => {
    put('folder/a')
    put('folder/b c%20')
    assert.sameMembers(await io.list(`file:${dir}/folder`), ['a', 'b c%20'])
    assert.equal((await rejection(io.list(`${dir}/none`))).code, 'ERR_NOT_FOUND')
    assert.equal((await rejection(io.list(`${dir}/folder/a`))).code, 'ERR_NOT_FOUND')
  })

  it('reads files that are empty', async () => {
    const file = io.open(put('empty', ''))
    assert.equal((await file.read()).length, 0)
    assert.equal(file.readSync!().length, 0)
  })

  it('closes what it opens', async function () {
    // More than a process may hold open at once by default, if descriptors leaked.
    const good = io.open(put('digits'))
    for (let i = 0; i < 1500; i++) {
      good.readSync!()
      thrown(() => io.open(dir).readSync!())
      if (i % 2 === 0) await rejection(good.read({ start: 0, end: 99 }))
    }
  })
})
