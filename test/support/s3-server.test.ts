/** The test server is tested with the SDK, which knows S3 from elsewhere, and with requests that no SDK makes. */
import { request as httpRequest } from 'node:http'
import { fileURLToPath } from 'node:url'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { assert } from 'chai'
import { rejection } from './rejection.ts'
import { ODD_KEYS } from './odd-keys.ts'
import { projectRoot } from './root.ts'
import { startS3ServerProcess } from './s3-server-process.ts'
import { startS3Server, type S3Fault, type S3Server } from './s3-server.ts'

const BODY = Buffer.from('0123456789abcdefghij')

interface SdkError extends Error {
  $metadata?: { httpStatusCode?: number }
  Region?: string
}

describe('the S3 server of the tests', () => {
  let server: S3Server
  const clients: S3Client[] = []

  before(async () => {
    server = await startS3Server({ region: 'eu-north-1' })
    server.put('b', 'file', BODY)
    server.put('virtual', 'file', BODY)
  })
  after(() => server.close())
  beforeEach(() => {
    server.reset()
    server.wrongRegion = 'malformed'
    server.anonymous = false
    server.clockSkewMs = 0
    server.pageSize = 1000
    server.credentials = [{ accessKeyId: 'test-key', secretAccessKey: 'test-secret' }]
  })
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy()
  })

  function clientOf(config: S3ClientConfig = {}): S3Client {
    const client = new S3Client({
      region: 'eu-north-1',
      endpoint: server.endpoint,
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: 'test-key', secretAccessKey: 'test-secret' },
      ...config,
    })
    clients.push(client)
    return client
  }

  async function get(key: string, Range?: string, client = clientOf(), Bucket = 'b') {
    const answer = await client.send(
      new GetObjectCommand({ Bucket, Key: key, ...(Range === undefined ? {} : { Range }) }),
    )
    return { ...answer, text: await answer.Body!.transformToString() }
  }

  async function refusalOf(config: S3ClientConfig = {}, key = 'file', bucket = 'b'): Promise<string> {
    const error = (await rejection(get(key, undefined, clientOf(config), bucket))) as SdkError
    return `${error.$metadata?.httpStatusCode ?? '?'} ${error.name}`
  }

  describe('objects', () => {
    for (const key of ODD_KEYS)
      it(`${JSON.stringify(key)} is put, got and headed`, async () => {
        const client = clientOf()
        const text = `of ${key}`
        await client.send(new PutObjectCommand({ Bucket: 'odd', Key: key, Body: text }))
        assert.equal((await get(key, undefined, client, 'odd')).text, text)
        const head = await client.send(new HeadObjectCommand({ Bucket: 'odd', Key: key }))
        assert.equal(head.ContentLength, Buffer.byteLength(text))
        assert.deepEqual(
          server.requests.map((made) => [made.method, made.key, made.status]),
          ['PUT', 'GET', 'HEAD'].map((method) => [method, key, 200]),
        )
      })

    before(async () => {
      await clientOf().send(new CreateBucketCommand({ Bucket: 'odd' }))
    })

    it('an upload is checked against its checksums', async () => {
      const put = (headers: Record<string, string>) => {
        const client = clientOf()
        client.middlewareStack.add(
          (next) => (args) => {
            Object.assign((args.request as { headers: object }).headers, headers)
            return next(args)
          },
          { step: 'build', priority: 'low' },
        )
        return client.send(new PutObjectCommand({ Bucket: 'b', Key: 'new', Body: 'text' }))
      }
      assert.equal((await rejection(put({ 'x-amz-checksum-crc32': 'AAAAAA==' }))).name, 'BadDigest')
      const wrong = { 'x-amz-content-sha256': '0'.repeat(64) }
      assert.equal((await rejection(put(wrong))).name, 'XAmzContentSHA256Mismatch')
    })

    it('a virtual host names the bucket', async () => {
      const path = `/${ODD_KEYS.map(encodeURIComponent)[0].replaceAll('%2F', '/')}`
      server.put('virtual', ODD_KEYS[0], BODY)
      server.anonymous = true
      const { status, body } = await plainGet(path, { host: `virtual.localhost:${server.port}` })
      assert.deepEqual([status, body], [200, BODY.toString()])
      assert.isTrue(server.requests[0].isVirtualHosted)
    })

    it('a virtual host is part of what is signed', async () => {
      const client = clientOf({ endpoint: `http://localhost:${server.port}`, forcePathStyle: false })
      // Names below localhost are not known everywhere, so the connection is made by address.
      client.middlewareStack.add(
        (next) => (args) => {
          ;(args.request as { hostname: string }).hostname = '127.0.0.1'
          return next(args)
        },
        { step: 'finalizeRequest', priority: 'low' },
      )
      assert.equal((await get('file', undefined, client, 'virtual')).text, BODY.toString())
      assert.isTrue(server.requests[0].isVirtualHosted)
    })
  })

  describe('ranges', () => {
    const rows: [range: string, status: number, text: string, contentRange?: string][] = [
      ['bytes=0-0', 206, '0', 'bytes 0-0/20'],
      ['bytes=3-6', 206, '3456', 'bytes 3-6/20'],
      ['bytes=15-', 206, 'fghij', 'bytes 15-19/20'],
      ['bytes=-3', 206, 'hij', 'bytes 17-19/20'],
      ['bytes=-99', 206, BODY.toString(), 'bytes 0-19/20'],
      ['bytes=18-99', 206, 'ij', 'bytes 18-19/20'],
      ['bytes=5-3', 200, BODY.toString()],
      ['bytes=0-1,4-5', 200, BODY.toString()],
      ['lines=0-1', 200, BODY.toString()],
    ]
    for (const [range, status, text, contentRange] of rows)
      it(`${range} is ${status}`, async () => {
        const answer = await get('file', range)
        assert.deepEqual(
          [answer.$metadata.httpStatusCode, answer.text, answer.ContentRange],
          [status, text, contentRange],
        )
        assert.equal(server.requests[0].range, range)
        assert.equal(server.requests[0].bytes, text.length)
      })

    for (const range of ['bytes=20-', 'bytes=20-25', 'bytes=-0'])
      it(`${range} is 416`, async () => {
        const error = (await rejection(get('file', range))) as SdkError
        assert.deepEqual([error.name, error.$metadata?.httpStatusCode], ['InvalidRange', 416])
      })
  })

  describe('refuses', () => {
    const secret = 'test-secret'
    const rows: [title: string, config: S3ClientConfig, want: string][] = [
      [
        'a wrong secret',
        { credentials: { accessKeyId: 'test-key', secretAccessKey: 'other' } },
        '403 SignatureDoesNotMatch',
      ],
      [
        'an unknown key',
        { credentials: { accessKeyId: 'other', secretAccessKey: secret } },
        '403 InvalidAccessKeyId',
      ],
      [
        'a token that it did not give',
        { credentials: { accessKeyId: 'test-key', secretAccessKey: secret, sessionToken: 't' } },
        '400 InvalidToken',
      ],
      ['no signature', { signer: { sign: (request) => Promise.resolve(request) } }, '403 AccessDenied'],
    ]
    for (const [title, config, want] of rows)
      it(title, async () => {
        assert.equal(await refusalOf(config), want)
        assert.deepEqual(server.requests[0].code, want.slice(4))
        assert.isUndefined(server.requests[0].accessKeyId)
      })

    it('another region, in two ways', async () => {
      const far = clientOf({ region: 'us-west-2' })
      const malformed = (await rejection(get('file', undefined, far))) as SdkError
      assert.equal(malformed.name, 'AuthorizationHeaderMalformed')
      assert.equal(malformed.Region, 'eu-north-1')
      server.wrongRegion = 'redirect'
      assert.equal(await refusalOf({ region: 'us-west-2' }), '301 PermanentRedirect')
    })

    it('a session without its token, or when it has expired', async () => {
      const [credential] = server.credentials
      const credentials = { accessKeyId: 'test-key', secretAccessKey: secret, sessionToken: 'token' }
      credential.sessionToken = 'token'
      assert.equal(await refusalOf(), '400 InvalidToken')
      assert.equal((await get('file', undefined, clientOf({ credentials }))).text, BODY.toString())
      credential.expiration = new Date(Date.now() - 1)
      assert.equal(await refusalOf({ credentials }), '400 ExpiredToken')
    })

    it('a clock that is a quarter of an hour off', async () => {
      server.clockSkewMs = 16 * 60_000
      assert.equal(await refusalOf(), '403 RequestTimeTooSkewed')
      server.clockSkewMs = -14 * 60_000
      await get('file')
    })

    it('what is not there', async () => {
      assert.equal(await refusalOf({}, 'none'), '404 NoSuchKey')
      assert.equal(await refusalOf({}, 'file', 'none'), '404 NoSuchBucket')
    })

    it('buckets and listings that the credential may not see', async () => {
      server.credentials[0].buckets = ['other']
      assert.equal(await refusalOf(), '403 AccessDenied')
      delete server.credentials[0].buckets
      server.credentials[0].mayList = false
      assert.equal(await refusalOf({}, 'none'), '403 AccessDenied')
      const list = clientOf().send(new ListObjectsV2Command({ Bucket: 'b' }))
      assert.equal((await rejection(list)).name, 'AccessDenied')
      await get('file')
    })

    it('headers of S3 that are not signed, and a path that is no UTF-8', async () => {
      const client = clientOf()
      client.middlewareStack.add(
        (next) => (args) => {
          Object.assign((args.request as { headers: object }).headers, { 'x-amz-request-payer': 'requester' })
          return next(args)
        },
        { step: 'finalizeRequest', priority: 'low' },
      )
      const error = await rejection(get('file', undefined, client))
      assert.match(`${error.name} ${error.message}`, /AccessDenied.* not signed/)
      assert.equal((await plainGet('/b/%ff')).status, 400)
    })

    it('nothing of the kind in a public bucket without a signature; but a wrong one', async () => {
      server.anonymous = true
      const signer = { sign: (request: never) => Promise.resolve(request) }
      assert.equal((await get('file', undefined, clientOf({ signer }))).text, BODY.toString())
      const credentials = { accessKeyId: 'test-key', secretAccessKey: 'other' }
      assert.equal(await refusalOf({ credentials }), '403 SignatureDoesNotMatch')
    })
  })

  describe('listings', () => {
    const keys = ['t/a', 't/b c', 't/d/1', 't/d/2', 't/e%2F', 't/f+&<', 't/ä', 't/\ufb01', 't/\u{1f9ca}', 'u']
    before(() => {
      for (const key of [...keys].reverse()) server.put('list', key, Buffer.from(key))
    })

    async function list(parameters: object) {
      const input = { Bucket: 'list', ...parameters }
      const names: string[] = []
      const folders: string[] = []
      let pages = 0
      let ContinuationToken: string | undefined
      do {
        const page = await clientOf().send(
          new ListObjectsV2Command(ContinuationToken === undefined ? input : { ...input, ContinuationToken }),
        )
        names.push(...(page.Contents ?? []).map(({ Key }) => Key!))
        folders.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!))
        ContinuationToken = page.NextContinuationToken
        assert.equal(page.IsTruncated, ContinuationToken !== undefined)
        pages++
      } while (ContinuationToken !== undefined)
      return { names, folders, pages }
    }

    it('all, in the order of UTF-8', async () => {
      assert.deepEqual(await list({}), { names: keys, folders: [], pages: 1 })
    })

    it('of a prefix, with a delimiter', async () => {
      const names = keys.filter((key) => key.startsWith('t/') && !key.startsWith('t/d'))
      assert.deepEqual(await list({ Prefix: 't/', Delimiter: '/' }), { names, folders: ['t/d/'], pages: 1 })
      assert.deepEqual(await list({ Delimiter: '/' }), { names: ['u'], folders: ['t/'], pages: 1 })
      assert.deepEqual(await list({ Prefix: 'none/' }), { names: [], folders: [], pages: 1 })
    })

    for (const size of [1, 2, 3, 4])
      it(`in pages of ${size}, whoever wants them small`, async () => {
        const whole = await list({ Prefix: 't/', Delimiter: '/' })
        assert.deepEqual(await list({ Prefix: 't/', Delimiter: '/', MaxKeys: size }), {
          ...whole,
          pages: Math.ceil(8 / size),
        })
        server.pageSize = size
        assert.deepEqual((await list({})).names, keys)
      })

    it('with names encoded as in a form', async () => {
      const { names } = await list({ Prefix: 't/', EncodingType: 'url' })
      assert.include(names, 't/b+c')
      assert.include(names, 't/e%252F')
      assert.include(names, 't/f%2B%26%3C')
      assert.include(names, 't/%C3%A4')
    })

    it('after a key', async () => {
      assert.deepEqual((await list({ StartAfter: 't/ä' })).names, keys.slice(-3))
    })
  })

  describe('faults', () => {
    const name = async (fault: S3Fault, range?: string): Promise<string> => {
      server.faults.push(fault)
      const error = (await rejection(get('file', range))) as SdkError & { code?: string }
      return error.code ?? error.name
    }

    it('come once, or so often, and only where they are meant', async () => {
      const fault: S3Fault = { kind: 'status', status: 503, times: 2, when: ({ key }) => key === 'file' }
      server.put('b', 'other', BODY)
      assert.equal(await name(fault), 'SlowDown')
      await get('other')
      assert.equal(await refusalOf(), '503 SlowDown')
      assert.lengthOf(server.faults, 0)
      await get('file')
      assert.deepEqual(
        server.requests.map(({ status }) => status),
        [503, 200, 503, 200],
      )
    })

    it('an answer of S3, of another code, of no S3', async () => {
      assert.equal(await name({ kind: 'status', status: 500 }), 'InternalError')
      assert.equal(await name({ kind: 'status', status: 403 }), 'AccessDenied')
      assert.equal(
        await name({ kind: 'status', status: 503, code: 'ServiceUnavailable' }),
        'ServiceUnavailable',
      )
      server.faults.push({ kind: 'status', status: 502, body: '<html>no</html>' })
      assert.match(await refusalOf(), /^502 /)
      server.faults.push({ kind: 'wrong-region', way: 'redirect', region: 'us-west-2' })
      assert.match(await refusalOf(), /^301 /)
    })

    it('resets and ends before the end', async () => {
      assert.equal(await name({ kind: 'reset' }), 'ECONNRESET')
      assert.equal(await name({ kind: 'reset-mid-body' }), 'ECONNRESET')
      assert.equal(await name({ kind: 'short-body' }), 'ECONNRESET')
    })

    it('half a range, all of it, a wrong byte', async () => {
      server.faults.push({ kind: 'short-range' })
      assert.equal((await get('file')).text, BODY.toString())
      const short = await get('file', 'bytes=2-5')
      assert.deepEqual([short.text, short.ContentRange], ['23', 'bytes 2-3/20'])
      server.faults.push({ kind: 'ignored-range' })
      assert.equal((await get('file', 'bytes=2-5')).text, BODY.toString())
      server.faults.push({ kind: 'wrong-byte' })
      assert.equal((await get('file')).text, '0123456789`bcdefghij')
    })

    it('slow, but whole', async () => {
      server.faults.push({ kind: 'slow-body', pieces: 5, pauseMs: 1 })
      assert.equal((await get('file')).text, BODY.toString())
    })

    for (const kind of ['stalled-body', 'stalled-headers'] as const)
      it(`${kind}: for ever`, async () => {
        server.faults.push({ kind })
        const { body } = await plainGet('/b/file', {}, 30)
        assert.equal(body, 'gave up')
      })
  })

  /** A request that is signed by nobody, in a public bucket; `gave up` if it takes so many milliseconds. */
  async function plainGet(
    path: string,
    headers: Record<string, string> = {},
    patienceMs = 5000,
  ): Promise<{ status: number; body: string }> {
    server.anonymous = true
    return new Promise((resolve, reject) => {
      const { port } = server
      const request = httpRequest({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', () => undefined)
        response.on('end', () => {
          clearTimeout(timer)
          resolve({ status: response.statusCode!, body: Buffer.concat(pieces).toString() })
        })
      })
      const timer = setTimeout(() => {
        request.on('error', () => undefined)
        request.destroy()
        resolve({ status: 0, body: 'gave up' })
      }, patienceMs)
      request.on('error', reject)
      request.end()
    })
  }
})

describe('the S3 server of the tests in its own process', () => {
  it('does as it is told, and ends', async () => {
    const server = await startS3ServerProcess({ region: 'eu-north-1' })
    const client = new S3Client({
      region: 'eu-north-1',
      endpoint: server.endpoint,
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: 'test-key', secretAccessKey: 'test-secret' },
    })
    const get = async (Key: string) => {
      const answer = await client.send(new GetObjectCommand({ Bucket: 'b', Key }))
      return answer.Body!.transformToString()
    }
    try {
      await server.call('put', 'b', 'one', BODY)
      assert.equal(await get('one'), BODY.toString())
      const module = new URL('./numbered-objects.js', import.meta.url).href
      const folder = fileURLToPath(new URL('fixtures/orders', projectRoot()))
      assert.isAbove(await server.call('putFolder', 'b', 'db/orders/', folder), 3)
      assert.match(await get('db/orders/metadata/version-hint.text'), /^\d+/)
      assert.equal(
        await server.call('putFrom', 'b', module, 'numberedObjects', { prefix: 'n/', count: 3, bytes: 10 }),
        3,
      )
      assert.equal(await get('n/2'), 'object 2 o')
      await server.call('fault', { kind: 'status', status: 503 })
      assert.equal((await rejection(get('one'))).name, 'SlowDown')
      const { requests, refused } = await server.call('counts')
      assert.deepEqual([requests, refused], [4, 1])
      assert.match((await rejection(server.call('putFolder', 'b', '', '/nowhere'))).message, /ENOENT/)
    } finally {
      client.destroy()
      await server.close()
    }
    assert.match((await rejection(server.call('counts'))).message, /closed/i)
  })
})
