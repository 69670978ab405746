import { gzipSync } from 'node:zlib'
import { assert } from 'chai'
import { type IcebergError, NotFoundError, StorageError, UnsupportedFeatureError } from '../../src/errors.ts'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import type { Snapshot } from '../../src/metadata/snapshot.ts'
import {
  findMetadataLocation,
  rootFolder,
  versionOf,
  type FoundMetadata,
  type KnownMetadata,
} from '../../src/planner/find-metadata.ts'
import { rejection } from '../support/rejection.ts'

const TABLE = 's3://b/t'
const HINT = 'version-hint.text'
const UUID = '5c6ddc20-6aa8-4864-9d15-546dd5a6bae4'

/**
 * Names in the metadata folder, or from the bucket on if they begin with a slash; metadata unless it says
 * what.
 */
type Files = Record<string, string | Uint8Array>

function store(files: Files): MemoryFileIO {
  const encode = (content: string | Uint8Array): Uint8Array =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content
  return new MemoryFileIO(
    Object.entries(files).map(([name, content]) => [
      name.startsWith('/') ? `s3://b${name}` : `${TABLE}/metadata/${name}`,
      encode(content),
    ]),
  )
}

const json = (lastUpdatedMs: number): string => JSON.stringify({ 'last-updated-ms': lastUpdatedMs })

/** The same store without a way to list. */
function unlistable(io: FileIO): FileIO {
  return { identity: io.identity, open: (location) => io.open(location) }
}

/** The same store, but some locations fail. */
function failing(io: MemoryFileIO, errors: Partial<Record<string, Error>>): FileIO {
  return {
    identity: io.identity,
    open: (location) => {
      const error = errors[location]
      return error === undefined ? io.open(location) : { location, read: () => Promise.reject(error) }
    },
    list: (folder) => (errors[folder] === undefined ? io.list(folder) : Promise.reject(errors[folder])),
  }
}

async function find(
  io: FileIO,
  location = TABLE,
  known?: KnownMetadata,
): Promise<FoundMetadata & { name: string; requests: number }> {
  const counting = new CountingFileIO(io)
  const found = await findMetadataLocation(location, counting, {}, known)
  return {
    ...found,
    name: found.location.slice(found.location.lastIndexOf('/') + 1),
    requests: counting.requests,
  }
}

describe('finding the metadata file', () => {
  describe('a metadata file is taken as it is, without a request', () => {
    for (const location of [
      `${TABLE}/metadata/v3.metadata.json`,
      `${TABLE}/metadata/00003-${UUID}.gz.metadata.json`,
      'v3.metadata.json.gz',
      '/t/v3.zst.metadata.json',
      '/t/v3.metadata.json.zst',
      '/t/metadata_local.json',
      '/t/vfinal.metadata.json',
      '/t/V3.METADATA.JSON',
      'https://h/t/v3.metadata.json?sig=a/b',
    ])
      it(location, async () => {
        const found = await find(new MemoryFileIO(), location)
        assert.equal(found.location, location)
        assert.deepEqual(found.warnings, [])
        assert.equal(found.requests, 0)
      })
  })

  describe('versions in names (B172)', () => {
    const rows: [name: string, version: bigint | undefined, why: string][] = [
      ['v1.metadata.json', 1n, 'file-system layout'],
      ['v12.gz.metadata.json', 12n, 'the preferred name of a compressed one'],
      ['v12.metadata.json.gz', 12n, 'the older name'],
      ['v12.zst.metadata.json', 12n, 'zstd'],
      [`00012-${UUID}.metadata.json`, 12n, 'catalog layout'],
      [`100000-${UUID}.metadata.json`, 100000n, 'more than five digits'],
      [`00012-${UUID}.gz.metadata.json`, 12n, 'compressed'],
      ['00002-legacy-bare-dv.metadata.json', 2n, 'what follows need not be a uuid'],
      ['5.metadata.json', 5n, 'only a number'],
      ['v1749025517.metadata.json', 1749025517n, 'a time as a version'],
      ['v99999999999999999999999.metadata.json', 99999999999999999999999n, 'more than 64 bits'],
      ['vfinal.metadata.json', undefined, 'no number'],
      ['v3.1.metadata.json', undefined, 'junk after the number'],
      ['v1.gc_disabled.metadata.json', undefined, 'junk after the number'],
      ['v3-copy.metadata.json', undefined, 'junk after the number'],
      ['3abc.metadata.json', undefined, 'junk after the number'],
      ['av3.metadata.json', undefined, 'junk before the number'],
      ['v.metadata.json', undefined, 'no digits'],
      ['V3.metadata.json', undefined, 'case counts'],
      ['v3.metadata.json.crc', undefined, 'a checksum file'],
      ['.v3.metadata.json.crc', undefined, 'a checksum file'],
      ['v3.json', undefined, 'no metadata name'],
      ['-3.metadata.json', undefined, 'no sign'],
    ]
    for (const [name, version, why] of rows)
      it(`${name}: ${String(version)}, ${why}`, () => {
        assert.equal(versionOf(name), version)
      })
  })

  /** Names without a suffix are given the usual one. */
  const named = (names: readonly string[]): Files =>
    Object.fromEntries(
      names.map((name) => [/\.metadata|\.avro/.test(name) ? name : `${name}.metadata.json`, json(1)]),
    )

  describe('where nothing can be listed the version hint decides', () => {
    const rows: [hint: string | Uint8Array, files: string[], want: string, requests: number, why: string][] =
      [
        ['2', ['v1', 'v2'], 'v2.metadata.json', 2, 'a number'],
        [
          '2',
          ['v1', 'v2', 'v3'],
          'v2.metadata.json',
          2,
          'what it names is there: nothing newer is looked for',
        ],
        [' 2 \r\n3\n', ['v2', 'v3'], 'v2.metadata.json', 2, 'the first line, trimmed'],
        ['\uFEFF2', ['v2'], 'v2.metadata.json', 2, 'a byte order mark'],
        ['2', ['v2.gz'], 'v2.gz.metadata.json', 3, 'compressed, preferred name'],
        ['2', ['v2.metadata.json.gz'], 'v2.metadata.json.gz', 4, 'compressed, older name'],
        ['2', ['v2.zst'], 'v2.zst.metadata.json', 5, 'zstd'],
        ['2', ['v2.metadata.json.zst'], 'v2.metadata.json.zst', 6, 'zstd, the other name'],
        ['5', ['5', 'v6'], '5.metadata.json', 7, 'a number without the v'],
        ['5', ['5.gz', 'v6'], '5.gz.metadata.json', 8, 'the same, compressed'],
        [
          `00002-${UUID}`,
          [`00002-${UUID}`, 'v9'],
          `00002-${UUID}.metadata.json`,
          2,
          'a name without the suffix',
        ],
        [`00002-${UUID}.metadata.json`, [`00002-${UUID}`], `00002-${UUID}.metadata.json`, 2, 'a whole name'],
        ['v2', ['v2'], 'v2.metadata.json', 2, 'a name without the suffix'],
        [
          'vfinal.metadata.json',
          ['vfinal', 'v1'],
          'vfinal.metadata.json',
          2,
          'any name, for it is not guessed',
        ],
        ['s3://old/t/metadata/v2.metadata.json', ['v2'], 'v2.metadata.json', 2, 'a location: its last part'],
        ['../../secret/v2.metadata.json', ['v2'], 'v2.metadata.json', 2, 'never outside the folder (B225)'],
      ]
    for (const [hint, files, want, requests, why] of rows)
      it(`${JSON.stringify(hint)}: ${why}`, async () => {
        const found = await find(unlistable(store({ [HINT]: hint, ...named(files) })))
        assert.equal(found.name, want)
        assert.equal(found.requests, requests)
        assert.deepEqual(found.warnings, [])
        // What was read to see whether it is there need not be read again.
        assert.isDefined(found.bytes)
      })

    it('a listing that is denied costs one request more', async () => {
      const io = failing(store({ [HINT]: '2', 'v2.metadata.json': '' }), {
        [`${TABLE}/metadata/`]: new StorageError('not permitted', { denied: true }),
      })
      const found = await find(io)
      assert.equal(found.name, 'v2.metadata.json')
      assert.equal(found.requests, 3)
    })

    const useless: [hint: string, warning: string][] = [
      ['', 'its first line is empty'],
      ['\n3', 'its first line is empty'],
      ['x'.repeat(300), 'its first line is not a name'],
      ['a\0b', 'its first line is not a name'],
      ['v4.metadata.json', "it says 'v4.metadata.json' and there is no such metadata file"],
      ['4', "it says '4' and there is no such metadata file"],
    ]
    for (const [hint, warning] of useless)
      it(`a hint that cannot be used, ${JSON.stringify(hint.slice(0, 20))}: ${warning}`, async () => {
        // In the second folder there is something to find, so that the warnings are seen.
        const files: Files = { [HINT]: hint, ...named(['v3', 'v10']), [`/t/${HINT}`]: '1' }
        const found = await find(unlistable(store({ ...files, '/t/v1.metadata.json': '' })))
        assert.equal(found.location, `${TABLE}/v1.metadata.json`)
        assert.deepEqual(found.warnings, [`Ignored the version hint ${TABLE}/metadata/${HINT}: ${warning}`])
      })

    it('a failure that may pass is passed on: ignoring the hint might give an older table', async () => {
      const error = new StorageError('busy', { retryable: true })
      const io = failing(store({ [HINT]: '3', ...named(['v3']) }), { [`${TABLE}/metadata/${HINT}`]: error })
      assert.equal(await rejection(find(unlistable(io))), error)
    })

    it('a hinted file that is denied is an error and not an absence, unless it has another form', async () => {
      const error = new StorageError('not permitted', { denied: true })
      const files: Files = { [HINT]: '3', ...named(['v3', 'v4']) }
      const errors = { [`${TABLE}/metadata/v3.metadata.json`]: error }
      assert.equal(await rejection(find(unlistable(failing(store(files), errors)))), error)
      // Stores that must not tell what exists refuse what does not.
      const found = await find(unlistable(failing(store({ ...files, ...named(['v3.gz']) }), errors)))
      assert.equal(found.name, 'v3.gz.metadata.json')
    })
  })

  describe('where the store can list the hint is not read', () => {
    const rows: [hint: string, files: string[], want: string, why: string][] = [
      ['2', ['v1', 'v2'], 'v2.metadata.json', 'it would say the same'],
      ['2', ['v1', 'v2', 'v3'], 'v3.metadata.json', 'a stale one does not hide newer commits'],
      ['2', ['v2', 'v4'], 'v4.metadata.json', 'nor does a gap, where old metadata was deleted'],
      ['3', ['v1', 'v2'], 'v2.metadata.json', 'nor does one that points to nothing cost anything'],
      ['', ['v1', 'v2'], 'v2.metadata.json', 'nor an empty one'],
      ['2', ['v2.gz', 'v1'], 'v2.gz.metadata.json', 'compressed, preferred name'],
      ['2', ['v2.metadata.json.gz', 'v1'], 'v2.metadata.json.gz', 'compressed, older name'],
      [
        `00002-${UUID}`,
        [`00001-${UUID}`, `00002-${UUID}`, '00003-x'],
        '00003-x.metadata.json',
        'catalog layout: what nobody renews is no better word, and hides all later commits',
      ],
    ]
    for (const [hint, files, want, why] of rows)
      it(`${JSON.stringify(hint)} with ${files.join(' ')}: ${why}`, async () => {
        const found = await find(store({ [HINT]: hint, ...named(files) }))
        assert.equal(found.name, want)
        assert.equal(found.requests, 1, 'the listing')
        assert.deepEqual(found.warnings, [])
        assert.isUndefined(found.bytes)
      })
  })

  describe('a choice that the listing leaves is settled by the hint', () => {
    const rows: [hint: string, files: string[], want: string, warnings: RegExp, why: string][] = [
      ['00002-b', ['00002-a', '00002-b'], '00002-b.metadata.json', /^$/, 'two files of the highest version'],
      ['2', ['00002-a', 'v2'], 'v2.metadata.json', /^$/, 'the same, by the number'],
      ['2', ['v2.gz', 'v2'], 'v2.metadata.json', /^$/, 'the likelier form of the number'],
      ['vfinal', ['vfinal', 'v2.1'], 'vfinal.metadata.json', /^$/, 'only names without a version'],
      ['vfinal.metadata.json', ['vfinal', 'v1'], 'vfinal.metadata.json', /^$/, 'one beside numbered files'],
      ['2', ['v2', 'v2.1'], 'v2.metadata.json', /^$/, 'for the numbered file'],
      ['1', ['v1', 'v2', 'v2.1'], 'v2.metadata.json', /v2\.1\.metadata/, 'a stale one settles nothing'],
      ['', ['v1', 'v2', 'v2.1'], 'v2.metadata.json', /version hint.*empty.*v2\.1/s, 'nor an empty one'],
    ]
    for (const [hint, files, want, warnings, why] of rows)
      it(`${JSON.stringify(hint)} with ${files.join(' ')}: ${why}`, async () => {
        const found = await find(store({ [HINT]: hint, ...named(files) }))
        assert.equal(found.name, want)
        assert.equal(found.requests, 2, 'the listing and the hint')
        assert.match(found.warnings.join('\n'), warnings)
      })

    it('no hint in the listing: none is asked for', async () => {
      assert.equal((await find(store(named(['v2', 'v2.1'])))).requests, 1)
    })

    it('a hint that is denied settles nothing', async () => {
      const io = failing(store({ [HINT]: 'v2.1', ...named(['v2', 'v2.1']) }), {
        [`${TABLE}/metadata/${HINT}`]: new StorageError('not permitted', { denied: true }),
      })
      const found = await find(io)
      assert.equal(found.name, 'v2.metadata.json')
      assert.match(found.warnings.join(), /Ignored the version hint .*: not permitted/)
    })

    it('one that may be read later is waited for', async () => {
      const error = new StorageError('busy', { retryable: true })
      const io = failing(store({ [HINT]: 'v2.1', ...named(['v2', 'v2.1']) }), {
        [`${TABLE}/metadata/${HINT}`]: error,
      })
      assert.equal(await rejection(find(io)), error)
    })
  })

  describe('one listing decides', () => {
    const rows: [names: string[], want: string, why: string][] = [
      [['v9', 'v10', 'v1'], 'v10.metadata.json', 'numbers, not text'],
      [['99999-a', '100000-b'], '100000-b.metadata.json', 'any number of digits (B172)'],
      [
        ['v18446744073709551615', 'v18446744073709551616'],
        'v18446744073709551616.metadata.json',
        'exact beyond 64 bits',
      ],
      [['v2', `00003-${UUID}`], `00003-${UUID}.metadata.json`, 'both layouts in one folder'],
      [['v2', 'v3.gz'], 'v3.gz.metadata.json', 'compressed ones count'],
      [['v0'], 'v0.metadata.json', 'zero is a version'],
    ]
    for (const [names, want, why] of rows)
      it(`${names.join(' ')}: ${why}`, async () => {
        const files = names.map((name) => [`${name}.metadata.json`, json(1)])
        const found = await find(
          store({ ...(Object.fromEntries(files) as Files), 'snap-1.avro': '', 'x.json': '' }),
        )
        assert.equal(found.name, want)
        assert.equal(found.requests, 1, 'the listing')
        assert.deepEqual(found.warnings, [])
      })

    it('mentions names without a version and does not guess at them (B172)', async () => {
      const found = await find(
        store({ 'v1.metadata.json': '', 'v3.copy.metadata.json': '', 'vfinal.metadata.json': '' }),
      )
      assert.equal(found.name, 'v1.metadata.json')
      assert.lengthOf(found.warnings, 1)
      assert.include(found.warnings[0], 'v3.copy.metadata.json')
      assert.include(found.warnings[0], 'vfinal.metadata.json')
    })

    it('only names without a version: an error that lists them (B172)', async () => {
      const error = await rejection(
        find(store({ 'vfinal.metadata.json': json(1), 'v2.1.metadata.json': json(1) })),
      )
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.include(error.message, `${TABLE}/metadata/vfinal.metadata.json`)
      assert.include(error.message, `${TABLE}/metadata/v2.1.metadata.json`)
    })
  })

  describe('files of the same version', () => {
    it('the greatest last-updated-ms wins; only these files are read', async () => {
      const files = {
        '00001-z.metadata.json': json(9000),
        '00002-a.metadata.json': json(1000),
        '00002-b.metadata.json': json(3000),
        '00002-c.metadata.json': json(2000),
      }
      const found = await find(store(files))
      assert.equal(found.name, '00002-b.metadata.json')
      assert.equal(found.requests, 4)
      assert.equal(Buffer.from(found.bytes!).toString(), json(3000))
    })

    it('are compared whatever their compression and their kind of name', async () => {
      // {"last-updated-ms":9}, by the zstd tool.
      const zstd = Buffer.from('KLUv/QRYqQAAeyJsYXN0LXVwZGF0ZWQtbXMiOjl9ZLaDwg==', 'base64')
      const files = {
        'v2.metadata.json': json(1),
        'v2.gz.metadata.json': gzipSync(json(5)),
        '00002-a.metadata.json': json(4),
      }
      assert.equal((await find(store(files))).name, 'v2.gz.metadata.json')
      assert.equal(
        (await find(store({ ...files, 'v2.zst.metadata.json': zstd }))).name,
        'v2.zst.metadata.json',
      )
    })

    it('equal there too: an error that lists them', async () => {
      const files = {
        '00002-a.metadata.json': json(7),
        '00002-b.metadata.json': json(7),
        '00002-c.metadata.json': json(6),
      }
      const error = await rejection(find(store(files)))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.include(error.message, '2 files have the same version and last-updated-ms 7')
      for (const name of Object.keys(files)) assert.include(error.message, name)
    })

    it('too many to read: an error', async () => {
      const files = Array.from({ length: 17 }, (_, i) => [`2-${i}.metadata.json`, json(i)])
      const error = await rejection(find(store(Object.fromEntries(files) as Files)))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.match(error.message, /17 files have the same version.* and 9 more$/)
    })

    const broken: [title: string, content: string | Uint8Array][] = [
      ['no JSON', '{'],
      ['no object', 'null'],
      ['no last-updated-ms', '{}'],
      ['a last-updated-ms that is no number', '{"last-updated-ms":"1"}'],
      ['damaged gzip', Uint8Array.of(0x1f, 0x8b, 8, 0)],
      ['damaged zstd', Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd)],
    ]
    for (const [title, content] of broken)
      it(`${title} in one of them: an error that names it`, async () => {
        const error = await rejection(
          find(store({ '2-a.metadata.json': json(1), '2-b.metadata.json': content })),
        )
        assert.equal(error.code, 'ERR_INVALID_METADATA')
        assert.equal(error.location, `${TABLE}/metadata/2-b.metadata.json`)
      })
  })

  describe('which folder', () => {
    const rows: [location: string, files: Files, want: string, requests: number, why: string][] = [
      [TABLE, { 'v1.metadata.json': '' }, '/t/metadata/v1.metadata.json', 1, 'a table folder'],
      [`${TABLE}/`, { 'v1.metadata.json': '' }, '/t/metadata/v1.metadata.json', 1, 'a slash at the end'],
      [
        `${TABLE}/metadata`,
        { 'v1.metadata.json': '' },
        '/t/metadata/v1.metadata.json',
        1,
        'its metadata folder',
      ],
      [
        `${TABLE}/metadata/`,
        { [HINT]: '1', 'v1.metadata.json': '' },
        '/t/metadata/v1.metadata.json',
        1,
        'the same',
      ],
      [
        's3://b/metadata',
        { '/metadata/metadata/v1.metadata.json': '' },
        '/metadata/metadata/v1.metadata.json',
        2,
        'a table called metadata',
      ],
      [TABLE, { '/t/v1.metadata.json': '' }, '/t/v1.metadata.json', 2, 'files directly in the folder'],
      [
        TABLE,
        { '/t/v2.metadata.json': '', 'v1.metadata.json': '' },
        '/t/metadata/v1.metadata.json',
        1,
        'metadata/ goes first',
      ],
      [
        's3://b/a%2F#?é',
        { '/a%2F#?é/metadata/v1.metadata.json': '' },
        '/a%2F#?é/metadata/v1.metadata.json',
        1,
        'odd names (B178, B179)',
      ],
      [
        's3://b//t/',
        { '//t/metadata/v1.metadata.json': '' },
        '//t/metadata/v1.metadata.json',
        1,
        'double slashes',
      ],
    ]
    for (const [location, files, want, requests, why] of rows)
      it(`${location}: ${why}`, async () => {
        const found = await find(store(files), location)
        assert.equal(found.location, `s3://b${want}`)
        assert.equal(found.requests, requests)
      })

    for (const [title, content] of [
      ['JSON', '{"format-version":2}'],
      ['JSON after white space', '\n    {"format-version":2}'],
      ['gzip', gzipSync('{}')],
    ] as const)
      it(`a metadata file with an unusual name: ${title}`, async () => {
        const found = await find(store({ '/odd': content }), 's3://b/odd')
        assert.equal(found.location, 's3://b/odd')
      })

    for (const [title, files] of [
      ['nothing there', {}],
      ['an empty file', { '/t': '' }],
      ['a data file', { '/t': 'PAR1....' }],
      ['a folder of other things', { 'snap-1.avro': '', '/t/data/x.parquet': '' }],
    ] as [string, Files][])
      it(`${title}: NotFoundError with the location`, async () => {
        const error = await rejection(find(store(files)))
        assert.equal(error.code, 'ERR_NOT_FOUND')
        assert.match(
          error.message,
          /^Cannot find the metadata of s3:\/\/b\/t: neither a table folder nor a metadata file/,
        )
      })
  })

  describe('where nothing can be listed', () => {
    it('a hint that points to nothing: the versions after it are tried until one is missing', async () => {
      const files = { [HINT]: '2', 'v3.metadata.json': '', 'v4.gz.metadata.json': '', 'v6.metadata.json': '' }
      const found = await find(unlistable(store(files)))
      assert.equal(found.name, 'v4.gz.metadata.json')
      assert.lengthOf(found.warnings, 1)
    })

    it('no hint: an error that asks for one', async () => {
      const error = await rejection(find(unlistable(store({ 'v2.metadata.json': '' }))))
      assert.equal(error.code, 'ERR_NOT_FOUND')
      assert.include(error.message, `cannot be listed here, so a readable metadata/${HINT}`)
    })

    const unlistables: [error: Error, code: string][] = [
      [new StorageError('no list permission', { denied: true }), 'ERR_STORAGE'],
      [new UnsupportedFeatureError('this one of several stores cannot list'), 'ERR_NOT_FOUND'],
    ]
    for (const [error, code] of unlistables)
      it(`${error.message}: the same, as ${code}`, async () => {
        const errors = { [`${TABLE}/metadata/`]: error, [`${TABLE}/`]: error }
        const failure = await rejection(find(failing(store({ 'v2.metadata.json': '' }), errors)))
        assert.equal(failure.code, code)
        assert.include(failure.message, 'cannot be listed here')
        if (code === 'ERR_STORAGE') assert.match(failure.message, / \(no list permission\)$/)
        const found = await find(failing(store({ [HINT]: '1', 'v2.metadata.json': '' }), errors))
        assert.equal(found.name, 'v2.metadata.json')
      })

    it('of several denials the first is told, and after that of the hint nothing more is asked', async () => {
      const denied = (what: string): Error => new StorageError(what, { denied: true })
      const errors = {
        [`${TABLE}/metadata/`]: denied('no list permission'),
        [`${TABLE}/metadata/${HINT}`]: denied('no read permission'),
      }
      const counting = new CountingFileIO(failing(store({}), errors))
      const failure: IcebergError & { retryable?: boolean; denied?: boolean } = await rejection(
        findMetadataLocation(TABLE, counting),
      )
      assert.deepEqual([failure.code, failure.denied, counting.requests], ['ERR_STORAGE', true, 2])
      assert.match(failure.message, /^Cannot find the metadata of s3:\/\/b\/t: .* \(no list permission\)$/)
      assert.strictEqual(failure.cause, errors[`${TABLE}/metadata/`])
    })

    it('a denied hint of a store without listings leaves the location itself, as a link that was signed', async () => {
      const denied = new StorageError('no such permission', { denied: true })
      const errors = { [`s3://b/odd/metadata/${HINT}`]: denied, [`s3://b/odd/${HINT}`]: denied }
      const found = await find(unlistable(failing(store({ '/odd': '{"a": 1}' }), errors)), 's3://b/odd')
      assert.equal(found.location, 's3://b/odd')
    })

    for (const error of [
      new StorageError('the secret is wrong'),
      new StorageError('busy', { retryable: true }),
      new NotFoundError('the bucket does not exist', { storeMissing: true }),
    ])
      it(`no denial, and no absence: ${error.message}, which is passed on at once`, async () => {
        for (const place of [`${TABLE}/metadata/`, `${TABLE}/metadata/${HINT}`]) {
          const io = failing(store({ '/t/v1.metadata.json': '' }), { [place]: error })
          const counting = new CountingFileIO(place.endsWith('/') ? io : unlistable(io))
          assert.equal(await rejection(findMetadataLocation(TABLE, counting)), error)
          assert.equal(counting.requests, 1)
        }
      })

    it('a listing that may succeed later is passed on', async () => {
      const error = new StorageError('busy', { retryable: true })
      assert.equal(await rejection(find(failing(store({}), { [`${TABLE}/metadata/`]: error }))), error)
    })

    it('a folder that does not exist is not a refusal', async () => {
      const missing = new NotFoundError('no such folder')
      const found = await find(
        failing(store({ '/t/v1.metadata.json': '' }), { [`${TABLE}/metadata/`]: missing }),
      )
      assert.equal(found.name, 'v1.metadata.json')
    })
  })

  describe('a table that was loaded before', () => {
    /** Loaded from a file of the metadata folder, with a current snapshot unless its list is not given. */
    const loaded = (name: string, list?: string): KnownMetadata => ({
      metadataLocation: name.startsWith('/') ? `s3://b${name}` : `${TABLE}/metadata/${name}`,
      currentSnapshotId: list === undefined ? undefined : 1n,
      snapshotById: () => ({ manifestList: list }) as Snapshot,
    })
    const CATALOG = `00002-${UUID}.metadata.json`
    const LIST = `snap-1-1-${UUID}.avro`
    const rows: [known: KnownMetadata, files: string[], want: string, isKnown: boolean, why: string][] = [
      [loaded(CATALOG), [CATALOG], CATALOG, true, 'a name with a uuid is never used again'],
      [loaded(CATALOG), [CATALOG, '00003-x'], '00003-x.metadata.json', false, 'a new version'],
      [loaded(CATALOG), ['00001-x'], '00001-x.metadata.json', false, 'gone'],
      [
        loaded('v2.metadata.json', `s3://old/t/metadata/${LIST}`),
        ['v2', LIST],
        'v2.metadata.json',
        true,
        'its manifest list is still there, wherever the table was when it was written',
      ],
      [
        loaded('v2.metadata.json', `${TABLE}/metadata/${LIST}`),
        ['v2', 'snap-2-1-x.avro'],
        'v2.metadata.json',
        false,
        'dropped and made again: its manifest list is gone (B184)',
      ],
      [loaded('v1.metadata.json'), ['v1'], 'v1.metadata.json', false, 'no snapshot to tell it by (B184)'],
    ]
    for (const [known, files, want, isKnown, why] of rows)
      it(`${known.metadataLocation} with ${files.join(' ')}: ${isKnown ? 'known' : 'new'}, ${why}`, async () => {
        const found = await find(store(named(files)), TABLE, known)
        assert.equal(found.name, want)
        assert.equal(found.isKnown, isKnown)
        assert.equal(found.requests, 1)
      })

    it('is looked for first where it was', async () => {
      const found = await find(store({ [`/t/${CATALOG}`]: '' }), TABLE, loaded(`/t/${CATALOG}`))
      assert.isTrue(found.isKnown)
      assert.equal(found.requests, 1)
    })

    for (const [hint, name] of [
      ['2', 'v2.gz.metadata.json'],
      [`00002-${UUID}`, CATALOG],
      [CATALOG, CATALOG],
    ] as const)
      it(`where nothing can be listed the hint is read and no more: ${hint}`, async () => {
        const found = await find(unlistable(store({ [HINT]: hint, [name]: '' })), TABLE, loaded(name))
        assert.isTrue(found.isKnown)
        assert.equal(found.requests, 1)
      })

    it('a hint of a newer version: that is read', async () => {
      const found = await find(
        unlistable(store({ [HINT]: '3', 'v3.metadata.json': '' })),
        TABLE,
        loaded('v2.metadata.json'),
      )
      assert.equal(found.name, 'v3.metadata.json')
      assert.isFalse(found.isKnown)
      assert.equal(found.requests, 2)
    })
  })

  describe('the root folder of a table, by the location that it is loaded from', () => {
    const rows: [location: string, root: string][] = [
      ['s3://b/t', 's3://b/t'],
      ['s3://b/t/', 's3://b/t'],
      ['s3://b/t//', 's3://b/t/'],
      ['s3://b/t/metadata', 's3://b/t'],
      ['s3://b/t/metadata/', 's3://b/t'],
      ['s3://b/t/metadata/v1.metadata.json', 's3://b/t'],
      ['s3://b/t/v1.metadata.json.gz', 's3://b/t'],
      ['https://h/t/metadata/v1.metadata.json?sig=a/b', 'https://h/t'],
      ['s3://b/a#b?c/metadata/v1.metadata.json', 's3://b/a#b?c'],
      ['/t', '/t'],
      ['/metadata/v1.metadata.json', ''],
      ['metadata/v1.metadata.json', '.'],
      ['v1.metadata.json', '.'],
      ['t', 't'],
    ]
    for (const [location, root] of rows)
      it(`${location}: ${root}`, () => {
        assert.equal(rootFolder(location), root)
      })
  })

  it('rejects with the reason of the signal', async () => {
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    assert.equal(await rejection(findMetadataLocation(TABLE, store({}), { signal })), reason)
  })
})
