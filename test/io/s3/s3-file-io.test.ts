import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { MAX_READ_BYTES } from '../../../src/io/byte-range.ts'
import { S3FileIO } from '../../../src/io/s3/s3-file-io.ts'
import type { S3Credentials, S3Options } from '../../../src/io/s3/s3-options.ts'
import { rejection, thrown } from '../../support/rejection.ts'
import { startS3Server, type S3FaultKind, type S3Server } from '../../support/s3-server.ts'

const BYTES = Uint8Array.from({ length: 4000 }, (_, i) => i * 7)
const LOCATION = 's3://bucket/db/t/metadata/f.avro'
const KEYS = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }

/** The fault in words, without what would make the line long. */
function titleOf(fault: S3FaultKind): string {
  return [
    fault.kind,
    ...('status' in fault ? [fault.status, fault.code ?? ''] : []),
    ...('way' in fault ? [fault.way] : []),
  ]
    .join(' ')
    .trim()
}

describe('files in S3', () => {
  let server: S3Server
  const opened: S3FileIO[] = []

  before(async () => {
    server = await startS3Server()
  })
  after(async () => {
    await server.close()
  })
  beforeEach(() => {
    server.put('bucket', 'db/t/metadata/f.avro', BYTES)
  })
  afterEach(() => {
    server.reset()
    server.credentials = [KEYS]
    server.anonymous = false
    server.region = 'us-east-1'
    server.clockSkewMs = 0
    server.pageSize = 1000
    for (const io of opened.splice(0)) io.close()
  })

  const open = (options: S3Options = {}): S3FileIO => {
    const io = new S3FileIO({
      endpoint: server.endpoint,
      credentials: KEYS,
      firstPauseMs: 1,
      requestTimeoutMs: 2000,
      ...options,
    })
    opened.push(io)
    return io
  }
  const read = (options: S3Options = {}, range?: { start: number; end: number }): Promise<Uint8Array> =>
    open(options).open(LOCATION).read(range)

  describe('keys reach the store as they are (B178, B179)', () => {
    const keys = [
      'a b',
      'k=a%2Fb/x',
      'a#b?c',
      '/lead//double//',
      'a+b',
      "!$&'()*,;:@~[]",
      '日本/ü\u0301',
      'a/../b/./c',
      '%',
      'a\\b|c"<>^`{}',
      'tab\there',
    ]
    for (const key of keys)
      it(JSON.stringify(key), async () => {
        server.put('keys', key, new TextEncoder().encode(key))
        const io = open()
        for (const scheme of ['s3', 's3a', 's3n'])
          assert.equal(new TextDecoder().decode(await io.open(`${scheme}://keys/${key}`).read()), key)
        assert.lengthOf(server.requests, 3)
        assert.isTrue(server.requests.every((request) => request.method === 'GET' && request.key === key))
      })
  })

  describe('ranges', () => {
    const rows: [start: number, end: number, requests: number][] = [
      [0, 1, 1],
      [10, 20, 1],
      [3990, 4000, 1],
      [0, 4000, 1],
      [5, 5, 0],
    ]
    for (const [start, end, requests] of rows)
      it(`${start} to ${end}: ${requests} request`, async () => {
        assert.deepEqual(await read({}, { start, end }), BYTES.slice(start, end))
        assert.lengthOf(server.requests, requests)
      })

    it('the whole file asks for no range, and its buffer is the caller’s', async () => {
      const bytes = await read()
      assert.deepEqual(bytes, BYTES)
      assert.equal(bytes.buffer.byteLength, bytes.length)
      assert.isUndefined(server.requests[0].range)
    })

    it('an empty object', async () => {
      server.put('bucket', 'empty', new Uint8Array(0))
      assert.lengthOf(await open().open('s3://bucket/empty').read(), 0)
    })

    it('a range over the end: StorageError that says where the file ends', async () => {
      for (const range of [
        { start: 3990, end: 4010 },
        { start: 5000, end: 5010 },
      ]) {
        const error = await rejection(read({}, range))
        assert.equal(error.code, 'ERR_STORAGE')
        assert.match(error.message, /the file ends at 4000/)
      }
      assert.lengthOf(server.requests, 2)
    })

    it('more than any read may have is refused before a request', async () => {
      assert.match(
        (await rejection(read({}, { start: 0, end: MAX_READ_BYTES + 1 }))).message,
        /more than the limit/,
      )
      assert.lengthOf(server.requests, 0)
    })
  })

  describe('troubles that another try gets over', () => {
    const rows: [fault: S3FaultKind, options: S3Options, why: string][] = [
      [{ kind: 'status', status: 500 }, {}, 'the store has a problem'],
      [{ kind: 'status', status: 502, body: '<html>Bad Gateway</html>' }, {}, 'a proxy has a problem'],
      [{ kind: 'status', status: 503 }, {}, 'SlowDown'],
      [{ kind: 'status', status: 429 }, {}, 'TooManyRequests'],
      [{ kind: 'status', status: 400, code: 'RequestTimeout' }, {}, 'says 400 and means later'],
      [{ kind: 'reset' }, {}, 'no answer'],
      [{ kind: 'reset-mid-body' }, {}, 'half a body'],
      [{ kind: 'short-body' }, {}, 'half a body and a friendly end'],
      [{ kind: 'stalled-body' }, { requestTimeoutMs: 200 }, 'the body stops'],
      [{ kind: 'stalled-headers' }, { requestTimeoutMs: 200 }, 'no answer comes'],
    ]
    for (const [fault, options, why] of rows) {
      const title = titleOf(fault)
      it(`${title}: ${why}`, async () => {
        server.faults.push({ ...fault, times: 2 })
        assert.deepEqual(await read(options), BYTES)
        assert.lengthOf(server.requests, 3)
      })
      it(`${title}, for ever: a retryable StorageError after the last attempt`, async () => {
        server.faults.push({ ...fault, times: 100 })
        const error = await rejection(read({ ...options, attempts: 2 }))
        assert.equal(error.code, 'ERR_STORAGE')
        assert.isTrue((error as { retryable?: boolean }).retryable)
        assert.include(error.message, `Cannot read ${LOCATION}: `)
        assert.lengthOf(server.requests, 2)
      })
    }

    it('a range that is answered short, though the file is longer', async () => {
      server.faults.push({ kind: 'short-range' })
      assert.deepEqual(await read({}, { start: 100, end: 200 }), BYTES.slice(100, 200))
      assert.lengthOf(server.requests, 2)
    })

    it('a range that is ignored is cut out of the whole, in one request', async () => {
      server.faults.push({ kind: 'ignored-range' })
      assert.deepEqual(await read({}, { start: 100, end: 200 }), BYTES.slice(100, 200))
      assert.lengthOf(server.requests, 1)
    })

    it('a slow body needs no other try', async () => {
      server.faults.push({ kind: 'slow-body', pieces: 10, pauseMs: 5 })
      assert.deepEqual(await read(), BYTES)
      assert.lengthOf(server.requests, 1)
    })
  })

  describe('refusals', () => {
    const rows: [
      title: string,
      run: () => Promise<unknown>,
      code: string,
      message: RegExp,
      requests: number,
    ][] = [
      [
        'no such key',
        () => open().open('s3://bucket/nothing').read(),
        'ERR_NOT_FOUND',
        /S3 answered 404 NoSuchKey, The specified key does not exist\. \(request [0-9A-F]+\)$/,
        1,
      ],
      [
        'no such bucket',
        () => open().open('s3://nowhere/k').read(),
        'ERR_NOT_FOUND',
        /the bucket nowhere does not exist; S3 answered 404 NoSuchBucket/,
        1,
      ],
      [
        'a wrong secret',
        () => read({ credentials: { ...KEYS, secretAccessKey: 'wrong-secret' } }),
        'ERR_STORAGE',
        /403 SignatureDoesNotMatch.*the secret access key is not the one/,
        1,
      ],
      [
        'a wrong key id',
        () => read({ credentials: { ...KEYS, accessKeyId: 'nobody' } }),
        'ERR_STORAGE',
        /403 InvalidAccessKeyId.*not known there/,
        1,
      ],
      ['no signature', () => read({ anonymous: true }), 'ERR_STORAGE', /403 AccessDenied/, 1],
      [
        'another region',
        () => read({ region: 'eu-west-1' }),
        'ERR_STORAGE',
        /the bucket bucket is in the region us-east-1, not eu-west-1; set s3\.region/,
        1,
      ],
    ]
    for (const [title, run, code, message, requests] of rows)
      it(title, async () => {
        const error = await rejection(run())
        assert.equal(error.code, code)
        assert.match(error.message, message)
        assert.notMatch(error.message, /secret'|wrong-secret|test-secret|Signature=|AWS4/)
        assert.isNotTrue((error as { retryable?: boolean }).retryable)
        assert.lengthOf(server.requests, requests)
      })

    const faults: [fault: S3FaultKind, code: string, message: RegExp][] = [
      [{ kind: 'status', status: 403 }, 'ERR_STORAGE', /403 AccessDenied.*may not do that/],
      [{ kind: 'status', status: 400 }, 'ERR_STORAGE', /400 InvalidRequest/],
      [{ kind: 'status', status: 403, code: 'constructor' }, 'ERR_STORAGE', /403 constructor, [^;]*$/],
      [{ kind: 'status', status: 501, code: 'NotImplemented' }, 'ERR_STORAGE', /501 NotImplemented/],
      [{ kind: 'status', status: 405, body: 'x'.repeat(200_000) }, 'ERR_STORAGE', /S3 answered 405/],
      [{ kind: 'status', status: 403, code: 'InvalidObjectState' }, 'ERR_STORAGE', /archived/],
      [
        { kind: 'wrong-region', way: 'redirect', region: 'ap-south-1' },
        'ERR_STORAGE',
        /is in the region ap-south-1, not us-east-1/,
      ],
      [
        { kind: 'wrong-region', way: 'malformed', region: 'ap-south-1' },
        'ERR_STORAGE',
        /is in the region ap-south-1, not us-east-1/,
      ],
    ]
    for (const [fault, code, message] of faults)
      it(titleOf(fault), async () => {
        server.faults.push(fault)
        const error = await rejection(read())
        assert.equal(error.code, code)
        assert.match(error.message, message)
        assert.lengthOf(server.requests, 1)
      })

    it('a bucket of another region is followed where that is allowed, once for all reads', async () => {
      server.region = 'eu-west-1'
      const io = open({ region: 'us-east-1', crossRegion: true })
      assert.deepEqual(await io.open(LOCATION).read(), BYTES)
      assert.deepEqual(await io.open(LOCATION).read(), BYTES)
      assert.lengthOf(server.requests, 3)
    })

    it('a clock that differs is allowed for, once for all reads', async () => {
      server.clockSkewMs = 3_600_000
      const io = open()
      assert.deepEqual(await io.open(LOCATION).read(), BYTES)
      assert.deepEqual(await io.open(LOCATION).read(), BYTES)
      assert.lengthOf(server.requests, 3)
    })

    it('an endpoint where nobody answers', async () => {
      const gone = await startS3Server()
      const { endpoint } = gone
      await gone.close()
      const error = await rejection(read({ endpoint, attempts: 2 }))
      assert.equal(error.code, 'ERR_STORAGE')
      assert.isTrue((error as { retryable?: boolean }).retryable)
      assert.include(error.message, 'ECONNREFUSED')
    })
  })

  describe('credentials', () => {
    it('with a session token', async () => {
      const credentials = { ...KEYS, sessionToken: 'token/+=' }
      server.credentials = [credentials]
      assert.deepEqual(await read({ credentials }), BYTES)
      assert.match((await rejection(read())).message, /400 InvalidToken/)
    })

    it('none, for a public bucket', async () => {
      server.anonymous = true
      const io = open({ anonymous: true })
      assert.deepEqual(await io.open(LOCATION).read(), BYTES)
      assert.deepEqual(await io.list('s3://bucket/db/t/metadata'), ['f.avro'])
      assert.isTrue(server.requests.every(({ headers }) => headers.authorization === undefined))
    })

    it('from a function, which is called once for many reads', async () => {
      let calls = 0
      const io = open({
        credentials: () => {
          calls++
          return Promise.resolve({ ...KEYS, expiration: new Date(Date.now() + 3_600_000) })
        },
      })
      await Promise.all(Array.from({ length: 20 }, () => io.open(LOCATION).read()))
      assert.equal(calls, 1)
      assert.lengthOf(server.requests, 20)
    })

    it('that have ended are renewed once; if that is no help, the error says so', async () => {
      const ended: S3Credentials = { accessKeyId: 'old', secretAccessKey: 's', sessionToken: 't' }
      server.credentials = [KEYS, { ...ended, sessionToken: 't', expiration: new Date(0) }]
      let calls = 0
      const io = open({ credentials: () => Promise.resolve(calls++ === 0 ? ended : KEYS) })
      assert.deepEqual(await io.open(LOCATION).read(), BYTES)
      assert.equal(calls, 2)
      assert.lengthOf(server.requests, 2)
      const error = await rejection(read({ credentials: ended }))
      assert.equal(error.code, 'ERR_STORAGE')
      assert.match(error.message, /400 ExpiredToken.*the session token has expired/)
      assert.lengthOf(server.requests, 3)
    })

    for (const code of ['ExpiredToken', 'InvalidToken', 'InvalidTokenId', 'InvalidAccessKeyId'])
      it(`that are refused with ${code}: others are asked for, once`, async () => {
        const old = { accessKeyId: 'old-key', secretAccessKey: 'old-secret' }
        server.credentials = [KEYS, old]
        let calls = 0
        const credentials = (): Promise<S3Credentials> => Promise.resolve(calls++ === 0 ? old : KEYS)
        server.faults.push({ kind: 'status', status: 403, code })
        assert.deepEqual(await read({ credentials }), BYTES)
        assert.equal(calls, 2)
        server.faults.push({ kind: 'status', status: 403, code, times: 9 })
        assert.include((await rejection(read())).message, code)
        assert.lengthOf(server.requests, 3)
      })

    const odd: [title: string, given: unknown, message: RegExp | undefined][] = [
      ['nothing', undefined, /gave no accessKeyId and secretAccessKey/],
      ['half of it', { accessKeyId: 'a' }, /gave no accessKeyId and secretAccessKey/],
      ['an end that is no date', { ...KEYS, expiration: new Date(NaN) }, /an expiration that is no date/],
      ['an end as a text', { ...KEYS, expiration: '2999-01-01T00:00:00Z' }, undefined],
    ]
    for (const [title, given, message] of odd)
      it(`whose function gives ${title}`, async () => {
        const reading = read({ credentials: () => Promise.resolve(given as S3Credentials) })
        if (message === undefined) assert.deepEqual(await reading, BYTES)
        else assert.match((await rejection(reading)).message, message)
      })

    it('whose function fails: an error that names the location', async () => {
      const error = await rejection(read({ credentials: () => Promise.reject(new Error('no more')) }))
      assert.equal(error.code, 'ERR_STORAGE')
      assert.include(error.message, `Cannot read ${LOCATION}: `)
      assert.include(error.message, 'no more')
    })
  })

  describe('listing', () => {
    it('names of the files of a folder, over several pages, decoded once', async () => {
      const names = ['a', 'b c', 'd%20e', 'f+g', 'h&<i>', 'ü', 'z#?']
      for (const name of names) server.put('list', `db//t%2F/${name}`, BYTES)
      server.put('list', 'db//t%2F/sub/x', BYTES)
      server.put('list', 'db//t%2F/', BYTES)
      server.put('list', 'db//t%2Fother', BYTES)
      server.pageSize = 3
      for (const folder of ['s3://list/db//t%2F', 's3a://list/db//t%2F/'])
        assert.sameMembers(await open().list(folder), names)
      assert.isAbove(server.requests.length, 4)
    })

    it('a folder that is not there has no files; a bucket that is not there is an error', async () => {
      assert.deepEqual(await open().list('s3://bucket/nowhere'), [])
      assert.equal((await rejection(open().list('s3://nowhere/x'))).code, 'ERR_NOT_FOUND')
    })

    it('the root of a bucket', async () => {
      server.put('root', 'a', BYTES)
      server.put('root', 'b/c', BYTES)
      assert.deepEqual(await open().list('s3://root'), ['a'])
    })

    it('gets over troubles, and says when the answer is no listing', async () => {
      server.faults.push({ kind: 'status', status: 503 }, { kind: 'short-body' })
      assert.deepEqual(await open().list('s3://bucket/db/t/metadata'), ['f.avro'])
      server.faults.push({ kind: 'status', status: 200, body: '<html>' })
      assert.match(
        (await rejection(open().list('s3://bucket/x'))).message,
        /Cannot list s3:\/\/bucket\/x: .*listing/,
      )
    })
  })

  describe('a listing by a server that means no good', () => {
    const pages: [title: string, bodies: string[], want: RegExp | string[]][] = [
      [
        'a page that names itself as the next',
        Array<string>(9).fill(
          '<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>',
        ),
        /a page names one before it as the next/,
      ],
      [
        'pages in a circle',
        ['a', 'b', 'c', 'a'].map(
          (token) => `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`,
        ),
        /a page names one before it as the next/,
      ],
      [
        'files that are not in the folder',
        [
          '<Contents><Key>other/x</Key></Contents><Contents><Key>t/y</Key></Contents><Contents><Key>t/sub/z</Key></Contents>',
        ],
        ['y'],
      ],
      ['a page without end', ['x'.repeat(17 * 1024 * 1024)], /more than the limit of 16777216/],
    ]
    for (const [title, bodies, want] of pages)
      it(title, async () => {
        for (const body of bodies)
          server.faults.push({
            kind: 'status',
            status: 200,
            body: `<ListBucketResult>${body}</ListBucketResult>`,
          })
        const listing = open().list('s3://bucket/t')
        if (Array.isArray(want)) assert.deepEqual(await listing, want)
        else assert.match((await rejection(listing)).message, want)
      })
  })

  describe('an abort rejects with its reason', () => {
    const reason = new Error('enough')
    const aborted = async (
      start: (signal: AbortSignal) => Promise<unknown>,
      delayMs: number,
    ): Promise<unknown> => {
      const controller = new AbortController()
      const promise = rejection(start(controller.signal))
      setTimeout(() => {
        controller.abort(reason)
      }, delayMs)
      return await promise
    }

    const faults: S3FaultKind[] = [{ kind: 'stalled-headers' }, { kind: 'stalled-body' }]
    for (const fault of faults)
      it(`while ${fault.kind}, and closes the connection`, async () => {
        const io = open()
        await io.open(LOCATION).read()
        server.faults.push(fault)
        assert.equal(await aborted((signal) => io.open(LOCATION).read(undefined, { signal }), 20), reason)
        assert.deepEqual(await io.open(LOCATION).read(), BYTES)
        const [, broken, after] = server.requests
        assert.notEqual(after.connection, broken.connection)
      })

    it('before it began: no request', async () => {
      const signal = AbortSignal.abort(reason)
      assert.equal(await rejection(open().open(LOCATION).read(undefined, { signal })), reason)
      assert.equal(await rejection(open().list('s3://bucket/', { signal })), reason)
      assert.lengthOf(server.requests, 0)
    })

    it('in the pause between two attempts', async () => {
      const io = open({ firstPauseMs: 1e9 })
      server.faults.push({ kind: 'status', status: 503, headers: { 'retry-after': '3600' } })
      assert.equal(await aborted((signal) => io.open(LOCATION).read(undefined, { signal }), 50), reason)
    })

    it('while credentials are waited for', async () => {
      const io = open({ credentials: () => new Promise(() => undefined) })
      assert.equal(await aborted((signal) => io.open(LOCATION).read(undefined, { signal }), 20), reason)
    })

    it('of a hundred reads on one signal, without a warning about listeners', async () => {
      const warnings: Error[] = []
      const warn = (warning: Error): void => void warnings.push(warning)
      process.on('warning', warn)
      server.faults.push({ kind: 'stalled-body', times: 100 })
      const io = open()
      await aborted(
        (signal) =>
          Promise.all(Array.from({ length: 100 }, () => io.open(LOCATION).read(undefined, { signal }))),
        100,
      )
      await new Promise((resolve) => setImmediate(resolve))
      process.off('warning', warn)
      assert.deepEqual(
        warnings.filter(({ name }) => name === 'MaxListenersExceededWarning'),
        [],
      )
    })
  })

  it('connections are kept', async () => {
    const io = open()
    for (let i = 0; i < 20; i++) await io.open(LOCATION).read()
    assert.lengthOf([...new Set(server.requests.map(({ connection }) => connection))], 1)
  })

  it('more reads than connections wait for a free one, however long', async () => {
    const io = open({ maxSockets: 2, connectTimeoutMs: 1000 })
    server.faults.push({ kind: 'slow-body', pieces: 4, pauseMs: 5, times: 40 })
    await Promise.all(Array.from({ length: 40 }, () => io.open(LOCATION).read()))
    assert.lengthOf(server.requests, 40)
    assert.lengthOf([...new Set(server.requests.map(({ connection }) => connection))], 2)
  })

  describe('identity', () => {
    const base: S3Options = { endpoint: 'http://h', credentials: KEYS }
    const others: [title: string, options: S3Options][] = [
      ['another endpoint', { ...base, endpoint: 'http://h:9000' }],
      ['AWS', { credentials: KEYS }],
      ['AWS in China', { credentials: KEYS, region: 'cn-north-1' }],
      ['another key', { ...base, credentials: { ...KEYS, accessKeyId: 'other' } }],
      ['anonymous', { endpoint: 'http://h', anonymous: true }],
      ['a scope', { ...base, credentialScope: 'x' }],
      ['another scope', { ...base, credentialScope: 'y' }],
      ['the chain', { endpoint: 'http://h' }],
      ['the chain of a profile', { endpoint: 'http://h', profile: 'p' }],
      ['a function', { ...base, credentials: () => Promise.resolve(KEYS) }],
      ['another function', { ...base, credentials: () => Promise.resolve(KEYS) }],
    ]
    it('differs wherever other bytes might be read, and holds no secret', () => {
      const all = [base, ...others.map(([, options]) => options)].map(
        (options) => new S3FileIO(options).identity,
      )
      assert.lengthOf([...new Set(all)], all.length)
      for (const identity of all) assert.notMatch(identity, /test-key|test-secret/)
    })

    it('is the same for the same, with a slash at the end of the endpoint or another secret', () => {
      const { identity } = new S3FileIO(base)
      assert.equal(new S3FileIO({ ...base, endpoint: 'HTTP://H/' }).identity, identity)
      assert.equal(
        new S3FileIO({ ...base, credentials: { ...KEYS, secretAccessKey: 'new' } }).identity,
        identity,
      )
    })

    it('means the same in every process unless nothing is known of the credentials', () => {
      assert.isTrue(new S3FileIO(base).open(LOCATION).isRemote)
      const credentials = (): Promise<S3Credentials> => Promise.resolve(KEYS)
      assert.isFalse(new S3FileIO({ credentials }).open(LOCATION).isRemote)
      assert.isTrue(new S3FileIO({ credentials, credentialScope: 's' }).open(LOCATION).isRemote)
    })
  })

  describe('endpoints that are no endpoint', () => {
    const rows: [endpoint: string, message: RegExp][] = [
      ['localhost:9000', /must begin with http/],
      ['ftp://h', /must begin with http/],
      ['http://', /not a URL/],
      ['http://user:hush@h', /a user or password/],
      ['http://user:hush@h:99999', /\*\*\*@h:99999: not a URL/],
      ['user:hush@h', /\*\*\*@h: it must begin/],
      ['http://h/?sig=hush', /a query or a fragment/],
      ['http://h/?x=1', /a query or a fragment/],
    ]
    for (const [endpoint, message] of rows)
      it(endpoint, () => {
        const error = thrown(() => new S3FileIO({ endpoint }))
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
        assert.match(error.message, message)
        assert.notInclude(error.message, 'hush')
      })
  })

  it('a key is needed to open, not to list', () => {
    assert.equal(thrown(() => open().open('s3://bucket/')).code, 'ERR_INVALID_ARGUMENT')
  })

  describe('the environment', () => {
    /** Runs a module in a process of its own with this environment and no other of AWS. */
    const run = async (code: string, env: Record<string, string> = {}): Promise<string> => {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
        env: { PATH: process.env.PATH, HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true', ...env },
      })
      return stdout
    }
    const module = new URL('../../../src/io/s3/s3-file-io.js', import.meta.url).href
    const reading = (options: S3Options): string =>
      `import { S3FileIO } from '${module}'
       try { await new S3FileIO(${JSON.stringify(options)}).open('s3://bucket/k').read(); console.log('read') }
       catch (error) { console.log(error.code, error.message) }`

    it('without a region: a sentence that says how to give one', async () => {
      assert.match(
        await run(reading({ credentials: KEYS })),
        /^ERR_STORAGE Cannot read s3:\/\/bucket\/k: no region is known; set s3\.region, AWS_REGION/,
      )
    })

    it('without credentials: a sentence that says how to give them', async () => {
      assert.match(
        await run(reading({ region: 'us-east-1' })),
        /^ERR_STORAGE Cannot read s3:\/\/bucket\/k: no credentials were found .*s3\.anonymous=true/,
      )
    })

    it('no SDK and no HTTP is loaded before the first request to S3', async () => {
      const defaultIo = new URL('../../../src/io/default-file-io.js', import.meta.url)
      const loaded = `
         const { createRequire } = await import('node:module')
         const packages = Object.keys(createRequire('${defaultIo.pathname}').cache)
         console.log(packages.some((name) => name.includes('@aws-sdk')), process.moduleLoadList.includes('NativeModule http'))`
      const opening = `
         import { defaultFileIO } from '${defaultIo.href}'
         const io = defaultFileIO({ properties: { 's3.endpoint': 'http://127.0.0.1:1', 's3.retry.num-retries': '0' } })
         const file = io.open('s3://bucket/k')
         await io.open('${defaultIo.pathname}').read()`
      assert.equal(await run(opening + loaded), 'false false\n')
      const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
      assert.equal(await run(`${opening}\n await file.read().catch(() => 0)${loaded}`, keys), 'true true\n')
    })

    it('a process ends though connections are kept', async () => {
      const options = { endpoint: server.endpoint, credentials: KEYS }
      assert.equal(await run(reading(options).replace('s3://bucket/k', LOCATION)), 'read\n')
      assert.lengthOf(server.requests, 1)
    })
  })
})
