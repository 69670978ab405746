/** The folder of the disk cache: what is in it, who may use it, and what happens to what is not as it should be. */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { DiskCache, type DiskCacheKey, type DiskCacheOptions } from '../../src/io/disk-cache.ts'
import { thrown } from '../support/rejection.ts'

const KEY: DiskCacheKey = { identity: 's3:eu', location: 's3://w/a.avro', length: 5 }
const BODY = Uint8Array.of(1, 2, 3, 4, 5)
const LARGE = new Uint8Array(20 * 1024 * 1024 + 7).map((_, i) => (i * 7) >> 3)
const HOUR_MS = 60 * 60 * 1000
const IS_POSIX = process.platform !== 'win32'

describe('disk cache', () => {
  let parent: string
  let folder: string
  beforeEach(() => {
    parent = fs.mkdtempSync(path.join(os.tmpdir(), 'iceplan-disk-cache-'))
    folder = path.join(parent, 'cache')
  })
  afterEach(() => {
    fs.rmSync(parent, { recursive: true, force: true })
  })

  const open = (options?: DiskCacheOptions) => new DiskCache(folder, options)
  /** Files of the cache, its journal left out. */
  const names = () =>
    fs
      .readdirSync(folder)
      .filter((name) => name !== 'written.iceplan')
      .sort()
  const onlyFile = () => {
    assert.lengthOf(names(), 1)
    return path.join(folder, names()[0])
  }
  const modeOf = (name: string) => fs.statSync(name).mode & 0o777
  /** Changes a file's time of use. */
  const age = (name: string, ms: number) => {
    const time = new Date(Date.now() - ms)
    fs.utimesSync(name, time, time)
  }

  describe('keeps', () => {
    const bodies: [what: string, body: Uint8Array][] = [
      ['a small file', BODY],
      ['an empty file', new Uint8Array(0)],
      ['a file of several steps', LARGE],
      ['a part of a larger array', LARGE.subarray(3, 1_000_003)],
    ]
    for (const [what, body] of bodies)
      it(`${what} for other processes`, async () => {
        await open().write(KEY, body)
        const kept = await open().read(KEY)
        assert.isTrue(kept !== undefined && Buffer.compare(kept, body) === 0)
        assert.equal(kept!.byteLength, kept!.buffer.byteLength, 'the array is all of its buffer')
      })

    const others: [what: string, key: DiskCacheKey][] = [
      ['another identity', { ...KEY, identity: 's3:us' }],
      ['another location', { ...KEY, location: 's3://w/b.avro' }],
      ['another length', { ...KEY, length: 6 }],
      ['no length', { ...KEY, length: undefined }],
      ['parts that run together', { ...KEY, identity: 's3:eu","s3://w', location: 'a.avro' }],
    ]
    for (const [what, key] of others)
      it(`nothing for ${what}`, async () => {
        const cache = open()
        await cache.write(KEY, BODY)
        assert.isUndefined(await cache.read(key))
        await cache.write(key, Uint8Array.of(9))
        assert.deepEqual(await cache.read(KEY), BODY)
        assert.deepEqual(await cache.read(key), Uint8Array.of(9))
      })

    it('what was written last', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      await cache.write(KEY, LARGE)
      assert.equal((await cache.read(KEY))?.length, LARGE.length)
      assert.lengthOf(names(), 1)
    })

    it('nothing larger than its budget', async () => {
      const cache = open({ maxBytes: 1024 * 1024 })
      await cache.write(KEY, LARGE)
      assert.isEmpty(names())
      assert.isEmpty(cache.takeTroubles())
    })

    it('nothing without a budget', async () => {
      await open({ maxBytes: 0 }).write(KEY, BODY)
      assert.isEmpty(names())
    })
  })

  describe('a file that is not as it was written is removed, and never read', () => {
    const damages: [what: string, damage: (name: string, bytes: Buffer) => void][] = [
      [
        'a byte of the body changed',
        (name, bytes) => {
          change(name, bytes, bytes.length - 2)
        },
      ],
      [
        'a byte of the magic changed',
        (name, bytes) => {
          change(name, bytes, 0)
        },
      ],
      [
        'of another version',
        (name, bytes) => {
          change(name, bytes, 7)
        },
      ],
      [
        'a byte of the checksum changed',
        (name, bytes) => {
          change(name, bytes, 9)
        },
      ],
      [
        'a byte of the body length changed',
        (name, bytes) => {
          change(name, bytes, 16)
        },
      ],
      [
        'a byte of the key changed',
        (name, bytes) => {
          change(name, bytes, 30)
        },
      ],
      [
        'cut short',
        (name, bytes) => {
          fs.truncateSync(name, bytes.length - 1)
        },
      ],
      [
        'cut in the header',
        (name) => {
          fs.truncateSync(name, 20)
        },
      ],
      [
        'empty',
        (name) => {
          fs.truncateSync(name, 0)
        },
      ],
      [
        'longer',
        (name) => {
          fs.appendFileSync(name, 'x')
        },
      ],
      [
        'full of zeros, as after a crash',
        (name, bytes) => {
          fs.writeFileSync(name, Buffer.alloc(bytes.length))
        },
      ],
    ]
    const change = (name: string, bytes: Buffer, at: number) => {
      bytes[at] ^= 1
      fs.writeFileSync(name, bytes)
    }
    for (const [what, damage] of damages)
      for (const body of [BODY, LARGE])
        it(`${what}, ${body.length} bytes`, async () => {
          const cache = open()
          await cache.write(KEY, body)
          damage(onlyFile(), fs.readFileSync(onlyFile()))
          assert.isUndefined(await cache.read(KEY))
          assert.isEmpty(names())
          assert.isEmpty(cache.takeTroubles())
          await cache.write(KEY, BODY)
          assert.deepEqual(await cache.read(KEY), BODY)
        })

    it('of another key, as if hashes collided', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      const name = onlyFile()
      const other = { ...KEY, location: 's3://w/b.avro' }
      await cache.write(other, BODY)
      const otherName = fs
        .readdirSync(folder)
        .find((n) => /^[0-9a-f]{64}\.iceplan$/.test(n) && !name.endsWith(n))!
      fs.renameSync(name, path.join(folder, otherName))
      assert.isUndefined(await cache.read(other))
      assert.isEmpty(names())
    })
  })

  describe('stays within its budget', () => {
    const maxBytes = 2 * 1024 * 1024
    const keyOf = (n: number) => ({ ...KEY, location: `s3://w/${n}` })
    const diskBytes = () =>
      names().reduce(
        (sum, name) => sum + Math.ceil(fs.statSync(path.join(folder, name)).size / 4096) * 4096,
        0,
      )

    it('whoever writes: many short processes', async () => {
      for (let n = 0; n < 200; n++) {
        const cache = open({ maxBytes })
        await cache.write(keyOf(n), new Uint8Array(30_000))
        await cache.settled()
        assert.isAtMost(diskBytes(), maxBytes)
      }
      assert.isAbove(diskBytes(), maxBytes / 2)
    })

    it('dropping what was used longest ago', async () => {
      const cache = open({ maxBytes })
      for (let n = 0; n < 10; n++) await cache.write(keyOf(n), new Uint8Array(100_000))
      await cache.settled()
      for (const name of names()) age(path.join(folder, name), 2 * HOUR_MS)
      assert.isDefined(await cache.read(keyOf(3)))
      for (let n = 10; n < 25; n++) await cache.write(keyOf(n), new Uint8Array(100_000))
      await cache.settled()
      const kept: number[] = []
      for (let n = 0; n < 25; n++) if ((await cache.read(keyOf(n))) !== undefined) kept.push(n)
      assert.includeMembers(kept, [3, ...Array.from({ length: 15 }, (_, i) => 10 + i)])
      assert.isBelow(kept.length, 21)
    })

    it('a read notes the time only now and then', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      age(onlyFile(), 30_000)
      const before = fs.statSync(onlyFile()).mtimeMs
      await cache.read(KEY)
      assert.equal(fs.statSync(onlyFile()).mtimeMs, before)
      age(onlyFile(), 120_000)
      await cache.read(KEY)
      assert.isAbove(fs.statSync(onlyFile()).mtimeMs, before)
    })

    it('removes what dead processes were writing an hour ago, and nothing that is not its own', async () => {
      const cache = open({ maxBytes })
      const hash = 'a'.repeat(64)
      const [old, recent] = [`${hash}.iceplan.1-1.tmp`, `${hash}.iceplan.1-2.tmp`]
      // Other stores of files name them by their hashes too.
      const foreign = ['notes.txt', hash, `${hash}.1-1.tmp`, 'written']
      for (const name of [old, recent]) fs.writeFileSync(path.join(folder, name), 'x')
      for (const name of foreign) fs.writeFileSync(path.join(folder, name), new Uint8Array(maxBytes))
      for (const name of [old, ...foreign]) age(path.join(folder, name), 2 * HOUR_MS)
      for (let n = 0; n < 10; n++) await cache.write(keyOf(n), new Uint8Array(100_000))
      await cache.settled()
      assert.notInclude(names(), old)
      assert.includeMembers(names(), [recent, ...foreign])
      // They do not count either: there is room for all of ours.
      assert.lengthOf(names(), 10 + 1 + foreign.length)
      for (const name of foreign) assert.equal(fs.statSync(path.join(folder, name)).size, maxBytes)
    })
  })

  it('several processes read, write and prune at once: never a wrong byte', async function () {
    this.timeout(60_000)
    const script = fileURLToPath(new URL('../support/processes/disk-cache-user.js', import.meta.url))
    const maxBytes = 1_500_000
    const runs = await Promise.all(
      [1, 2, 3].map(async (seed) => {
        const { stdout } = await promisify(execFile)(process.execPath, [
          script,
          folder,
          String(maxBytes),
          '150',
          String(seed),
        ])
        return JSON.parse(stdout) as { hits: number; wrong: number; troubles: string[] }
      }),
    )
    for (const { hits, wrong, troubles } of runs) {
      assert.isAbove(hits, 0)
      assert.equal(wrong, 0)
      assert.deepEqual(troubles, [])
    }
    assert.isEmpty(names().filter((name) => name.endsWith('.tmp')))
  })

  describe('is never in the way', () => {
    /** Runs with functions of the file system replaced. */
    async function withFailing(
      failing: Partial<
        Record<'openSync' | 'writeSync' | 'lstatSync' | 'mkdirSync', (...args: never[]) => void>
      >,
      run: () => Promise<void>,
    ): Promise<void> {
      const originals = { ...fs }
      for (const [name, before] of Object.entries(failing)) {
        const original = originals[name as 'openSync'] as (...args: unknown[]) => unknown
        Object.assign(fs, {
          [name]: (...args: never[]) => {
            before(...args)
            return original(...args)
          },
        })
      }
      syncBuiltinESMExports()
      try {
        await run()
      } finally {
        for (const name of Object.keys(failing)) Object.assign(fs, { [name]: originals[name as 'openSync'] })
        syncBuiltinESMExports()
      }
    }
    const fail = (code: string) => () => {
      throw Object.assign(new Error(`${code}: simulated`), { code })
    }

    it('a full disk: one warning, nothing half written, what is there is still read', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      await withFailing({ writeSync: fail('ENOSPC') }, async () => {
        for (const location of ['b', 'c']) await cache.write({ ...KEY, location }, BODY)
      })
      assert.deepEqual(cache.takeTroubles(), [
        `Nothing more is kept in the disk cache ${fs.realpathSync(folder)}: ENOSPC: simulated.`,
      ])
      assert.lengthOf(names(), 1)
      assert.deepEqual(await cache.read(KEY), BODY)
      await cache.write({ ...KEY, location: 'd' }, BODY)
      assert.lengthOf(names(), 1)
      assert.isEmpty(cache.takeTroubles())
    })

    it('a read-only file system: one warning, what is there is still read', async () => {
      await open().write(KEY, BODY)
      const cache = open()
      const readOnly = (_: string, flags: number) => {
        if ((flags & fs.constants.O_CREAT) !== 0) fail('EROFS')()
      }
      await withFailing({ openSync: readOnly }, async () => {
        for (const location of ['b', 'c']) await cache.write({ ...KEY, location }, BODY)
        assert.deepEqual(await cache.read(KEY), BODY)
      })
      assert.lengthOf(cache.takeTroubles(), 1)
    })

    it('a folder that cannot be made: one warning', async () => {
      await withFailing({ mkdirSync: fail('EACCES') }, async () => {
        const cache = open()
        await cache.write(KEY, BODY)
        assert.isUndefined(await cache.read(KEY))
        assert.deepEqual(cache.takeTroubles(), [`The disk cache ${folder} is not used: EACCES: simulated.`])
      })
    })

    it('a folder that cannot be looked into: one warning', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      await withFailing({ lstatSync: fail('EACCES') }, async () => {
        for (let i = 0; i < 2; i++) assert.isUndefined(await cache.read(KEY))
      })
      assert.lengthOf(cache.takeTroubles(), 1)
    })

    it('too many open files: a miss, and nothing is removed', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      await withFailing({ openSync: fail('EMFILE') }, async () => {
        assert.isUndefined(await cache.read(KEY))
        await cache.write({ ...KEY, location: 'b' }, BODY)
      })
      assert.isEmpty(cache.takeTroubles())
      assert.deepEqual(await cache.read(KEY), BODY)
    })

    it('a folder that was removed meanwhile is made again', async () => {
      const cache = open()
      await cache.write(KEY, BODY)
      fs.rmSync(folder, { recursive: true })
      assert.isUndefined(await cache.read(KEY))
      await cache.write(KEY, BODY)
      assert.deepEqual(await cache.read(KEY), BODY)
      assert.isEmpty(cache.takeTroubles())
    })
  })

  describe('refuses', () => {
    const refusals: [what: string, make: () => void, why: RegExp][] = [
      [
        'a file',
        () => {
          fs.writeFileSync(folder, '')
        },
        /it is not a folder/,
      ],
    ]
    if (IS_POSIX) {
      refusals.push(
        [
          'a folder that its group may write to',
          () => {
            makeFolder(0o770)
          },
          /others may write to it \(its mode is 0770\)/,
        ],
        [
          'a folder that all may write to',
          () => {
            makeFolder(0o777)
          },
          /others may write to it/,
        ],
      )
      if (process.getuid?.() === 0) {
        refusals.push(
          [
            'a folder of another user',
            () => {
              makeFolder(0o700)
              fs.chownSync(folder, 12345, 0)
            },
            /it belongs to user 12345, and this process is user 0/,
          ],
          [
            'a link of another user',
            () => {
              fs.mkdirSync(path.join(parent, 'real'), { mode: 0o700 })
              fs.symlinkSync('real', folder)
              fs.lchownSync(folder, 12345, 0)
            },
            /it is a symbolic link of user 12345/,
          ],
        )
      }
    }
    const makeFolder = (mode: number) => {
      fs.mkdirSync(folder)
      fs.chmodSync(folder, mode)
    }
    for (const [what, make, why] of refusals)
      it(what, () => {
        make()
        const error = thrown(open)
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
        assert.match(error.message, why)
        assert.include(error.message, folder)
      })

    it('no name, and a budget that is none', () => {
      assert.equal(thrown(() => new DiskCache('')).code, 'ERR_INVALID_ARGUMENT')
      for (const maxBytes of [-1, NaN])
        assert.equal(thrown(() => open({ maxBytes })).code, 'ERR_INVALID_ARGUMENT')
    })
  })

  if (IS_POSIX) {
    it('makes folders with mode 0700 and files with mode 0600', async () => {
      folder = path.join(parent, 'deep', 'cache')
      await open().write(KEY, BODY)
      assert.deepEqual([modeOf(path.join(parent, 'deep')), modeOf(folder)], [0o700, 0o700])
      for (const name of fs.readdirSync(folder)) assert.equal(modeOf(path.join(folder, name)), 0o600, name)
    })

    describe('never follows a symbolic link', () => {
      const target = () => path.join(parent, 'target')

      it('in the place of a file: it is removed, and its target left alone', async () => {
        const cache = open()
        await cache.write(KEY, BODY)
        const name = onlyFile()
        fs.renameSync(name, target())
        fs.symlinkSync(target(), name)
        const before = fs.readFileSync(target())
        assert.isUndefined(await cache.read(KEY))
        assert.isEmpty(names())
        fs.symlinkSync(target(), name)
        await cache.write(KEY, Uint8Array.of(9))
        assert.deepEqual(await cache.read(KEY), Uint8Array.of(9))
        assert.isTrue(fs.lstatSync(name).isFile())
        assert.deepEqual(fs.readFileSync(target()), before)
      })

      it('in the place of the journal: nothing more is written', async () => {
        const cache = open()
        fs.writeFileSync(target(), '')
        fs.symlinkSync(target(), path.join(folder, 'written.iceplan'))
        await cache.write(KEY, BODY)
        assert.match(cache.takeTroubles().join(), /ELOOP/)
        assert.equal(fs.statSync(target()).size, 0)
      })

      it('a folder in the place of a file is left alone', async () => {
        const cache = open()
        await cache.write(KEY, BODY)
        const name = onlyFile()
        fs.rmSync(name)
        fs.mkdirSync(name)
        assert.isUndefined(await cache.read(KEY))
        await cache.write(KEY, BODY)
        assert.lengthOf(cache.takeTroubles(), 1)
        assert.deepEqual(names(), [path.basename(name)])
      })
    })
  }
})
