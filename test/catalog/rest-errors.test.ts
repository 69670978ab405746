import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { assert } from 'chai'
import { isIcebergError, toPlainError } from '../../src/errors.ts'
import { RestCatalog } from '../../src/catalog/rest-catalog.ts'
import type { RestCatalogOptions } from '../../src/catalog/rest-options.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { dataManifests, tableOf } from '../planner/planning.ts'
import { rejection, thrown } from '../support/rejection.ts'
import {
  send,
  startRestCatalog,
  type Handler,
  type RestCatalogServer,
} from '../support/rest-catalog-server.ts'

const TOKEN = 'very/secret+token=='
const TABLE = (line: string): boolean => line.endsWith('/tables/orders')

describe('what goes wrong with a REST catalog', () => {
  const built = tableOf(dataManifests(1))
  const io = new MemoryFileIO(built.files)
  let server: RestCatalogServer
  before(async () => {
    server = await startRestCatalog({ auth: { kind: 'token', token: TOKEN } })
    server.addTable(['db'], 'orders', built)
  })
  after(() => server.close())
  beforeEach(() => {
    server.reset()
  })
  const catalog = (options: Partial<RestCatalogOptions> = {}): RestCatalog =>
    new RestCatalog({ uri: server.uri, token: TOKEN, attempts: 3, firstPauseMs: 1, ...options })

  const json =
    (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
    (_, response) => {
      send(response, status, typeof body === 'string' ? body : JSON.stringify(body), headers)
    }
  const error = (status: number, type: string, message = 'because'): Handler =>
    json(status, { error: { message, type, code: status } })
  const page =
    (status: number): Handler =>
    (_, response) =>
      void response.writeHead(status, { 'content-type': 'text/html' }).end('<html>hello</html>')

  describe('answers', () => {
    const rows: [
      why: string,
      answer: Handler,
      code: string,
      retryable: boolean | undefined,
      message: RegExp,
      tries: number,
    ][] = [
      [
        'no such table',
        error(404, 'NoSuchTableException'),
        'ERR_NOT_FOUND',
        undefined,
        /404 NoSuchTableException: because$/,
        1,
      ],
      [
        'no such namespace',
        error(404, 'NoSuchNamespaceException'),
        'ERR_NOT_FOUND',
        undefined,
        /NoSuchNamespace/,
        1,
      ],
      ['404 of something else', page(404), 'ERR_NOT_FOUND', undefined, /a web page; is the uri that of/, 1],
      ['401', error(401, 'NotAuthorizedException'), 'ERR_STORAGE', false, /check the catalog's token/, 1],
      ['403', error(403, 'ForbiddenException'), 'ERR_STORAGE', false, /403 ForbiddenException.*check/, 1],
      ['419', error(419, 'AuthenticationTimeoutException'), 'ERR_STORAGE', false, /419.*check/, 1],
      ['400', error(400, 'BadRequestException'), 'ERR_STORAGE', false, /400 BadRequestException/, 1],
      ['406', error(406, 'UnsupportedOperationException'), 'ERR_UNSUPPORTED', undefined, /406/, 1],
      ['429', error(429, 'TooManyRequestsException'), 'ERR_STORAGE', true, /429/, 3],
      ['503', error(503, 'ServiceUnavailableException'), 'ERR_STORAGE', true, /503/, 3],
      [
        '500 without a body',
        (_, r) => void r.writeHead(500).end(),
        'ERR_STORAGE',
        true,
        /500 Internal Server Error$/,
        3,
      ],
      [
        'an OAuth2 error',
        json(400, { error: 'invalid_scope', error_description: 'no' }),
        'ERR_STORAGE',
        false,
        /invalid_scope: no/,
        1,
      ],
      ['an error that is no object', json(400, '17'), 'ERR_STORAGE', false, /400/, 1],
      [
        'a page instead of an answer',
        page(200),
        'ERR_STORAGE',
        false,
        /the answer is a web page; is the uri/,
        1,
      ],
      [
        'text',
        (_, r) => void r.writeHead(200).end('hello'),
        'ERR_STORAGE',
        false,
        /not valid JSON \(Unexpected "h" at offset 0/,
        1,
      ],
      ['cut JSON', json(200, '{"metadata":{'), 'ERR_STORAGE', false, /not valid JSON \(Unexpected end/, 1],
      ['nothing', json(200, ''), 'ERR_STORAGE', false, /not valid JSON/, 1],
      ['an array', json(200, '[]'), 'ERR_STORAGE', false, /not a JSON object/, 1],
      ['204', (_, r) => void r.writeHead(204).end(), 'ERR_STORAGE', false, /204/, 1],
      ['304 that was not asked for', (_, r) => void r.writeHead(304).end(), 'ERR_STORAGE', false, /304/, 1],
      [
        'bytes that are no text',
        (_, r) => void r.writeHead(200).end(Buffer.from([0x22, 0xff])),
        'ERR_STORAGE',
        false,
        /not UTF-8/,
        1,
      ],
      [
        'no metadata',
        json(200, { config: {} }),
        'ERR_INVALID_METADATA',
        undefined,
        /"metadata" is missing/,
        1,
      ],
      [
        'metadata that is none',
        json(200, { metadata: {} }),
        'ERR_INVALID_METADATA',
        undefined,
        /format-version/,
        1,
      ],
      [
        'credentials of the wrong kind',
        json(200, { metadata: {}, 'storage-credentials': TOKEN }),
        'ERR_INVALID_METADATA',
        undefined,
        /"storage-credentials" is not an array/,
        1,
      ],
      ['a reset', (request) => void request.socket.resetAndDestroy(), 'ERR_STORAGE', true, /fetch failed/, 3],
      [
        'a body that breaks off',
        (request, response) => {
          response.writeHead(200, { 'content-length': 100 }).write('{')
          setTimeout(() => request.socket.destroy(), 5)
        },
        'ERR_STORAGE',
        true,
        /Cannot load table/,
        3,
      ],
      [
        'a redirect to another server',
        (_, r) => void r.writeHead(307, { location: 'https://elsewhere.example/v1' }).end(),
        'ERR_STORAGE',
        false,
        /redirects to https:\/\/elsewhere\.example, which is another server/,
        1,
      ],
      [
        'redirects in a circle',
        (request, r) => void r.writeHead(302, { location: request.url! }).end(),
        'ERR_STORAGE',
        false,
        /redirects more than 5 times/,
        6,
      ],
    ]
    for (const [why, answer, code, retryable, message, tries] of rows)
      it(`${why}: ${code}`, async () => {
        server.faults.push({ when: TABLE, times: 99, answer })
        const failure = await rejection(catalog().loadTable('db.orders', { io }))
        assert.equal(failure.code, code, inspect(failure))
        assert.match(failure.message, message)
        assert.match(failure.message, /Cannot (?:load|read) table/)
        assert.equal((failure as { retryable?: boolean }).retryable, retryable)
        assert.lengthOf(server.lines().filter(TABLE), tries)
        assert.notInclude(inspect(failure, { depth: 9, showHidden: true }), TOKEN)
      })

    it('a status that is no promise of a better one is not tried again', async () => {
      server.faults.push({ when: TABLE, times: 99, answer: error(509, 'Gone') })
      const failure = await rejection(catalog().loadTable('db.orders', { io }))
      assert.isFalse((failure as { retryable?: boolean }).retryable)
      assert.lengthOf(server.lines().filter(TABLE), 1)
    })

    for (const after of ['0', 'Thu, 01 Jan 2026 00:00:00 GMT', 'soon'])
      it(`a busy moment is got over; Retry-After: ${after}`, async () => {
        server.faults.push({ when: TABLE, times: 2, answer: json(503, {}, { 'retry-after': after }) })
        await catalog().loadTable('db.orders', { io })
        assert.lengthOf(server.lines().filter(TABLE), 3)
      })

    it('a redirect within the server is followed, with the token', async () => {
      server.faults.push({
        when: TABLE,
        answer: (request, r) => void r.writeHead(307, { location: `${request.url!}?again=1` }).end(),
      })
      await catalog().loadTable('db.orders', { io })
    })

    it('no answer in time: retryable, and tried again', async () => {
      server.faults.push({ when: TABLE, times: 2, answer: () => undefined })
      const failure = await rejection(
        catalog({ requestTimeoutMs: 50, attempts: 2 }).loadTable('db.orders', { io }),
      )
      assert.match(failure.message, /no complete answer within 50 ms/)
      assert.isTrue((failure as { retryable?: boolean }).retryable)
    })

    it('a body that stalls: the same', async () => {
      const answer: Handler = (_, response) => void response.writeHead(200).write('{')
      server.faults.push({ when: TABLE, times: 2, answer })
      const failure = await rejection(
        catalog({ requestTimeoutMs: 50, attempts: 2 }).loadTable('db.orders', { io }),
      )
      assert.match(failure.message, /no complete answer/)
    })

    for (const token of ['hunter2\n-token', 'hunter2-\u20ac'])
      it(`a token of the table that no header can hold is refused unseen: ${JSON.stringify(token)}`, async () => {
        server.table(['db'], 'orders').config = { token }
        const failure = await rejection(catalog().loadTable('db.orders', { io }))
        server.table(['db'], 'orders').config = {}
        assert.equal(failure.code, 'ERR_INVALID_METADATA')
        assert.match(
          failure.message,
          /^Cannot load table db\.orders of .*: the token in the table's config has/,
        )
        assert.notInclude(inspect(failure, { depth: 9, showHidden: true }), 'hunter2')
      })

    it('a refresh that fails says so', async () => {
      const table = await catalog().loadTable('db.orders', { io })
      server.faults.push({ when: TABLE, times: 99, answer: error(404, 'NoSuchTableException') })
      const failure = await rejection(table.refresh())
      assert.equal(failure.code, 'ERR_NOT_FOUND')
      assert.match(failure.message, /^Cannot refresh table db\.orders of the catalog /)
    })

    it('an abort is heard while an answer is awaited', async () => {
      const stop = new AbortController()
      server.faults.push({
        when: TABLE,
        answer: () => {
          stop.abort(new Error('enough'))
        },
      })
      const failure = await rejection(catalog().loadTable('db.orders', { io, signal: stop.signal }))
      assert.equal(failure.message, 'enough')
    })

    it('an abort is heard in a pause', async () => {
      const stop = new AbortController()
      server.faults.push({
        when: TABLE,
        answer: (request, response) => {
          json(503, {}, { 'retry-after': '100' })(request, response)
          setTimeout(() => {
            stop.abort(new Error('enough'))
          }, 20)
        },
      })
      const failure = await rejection(catalog().loadTable('db.orders', { io, signal: stop.signal }))
      assert.equal(failure.message, 'enough')
    })
  })

  describe('connections', () => {
    it('nobody listens: retryable', async () => {
      const gone = await startRestCatalog()
      await gone.close()
      const failure = await rejection(catalog({ uri: gone.uri }).loadTable('db.orders', { io }))
      assert.include(failure.message, `of the catalog ${gone.uri}: fetch failed`)
      assert.isTrue(toPlainError(failure).retryable)
    })

    it('no such host: for good', async () => {
      const failure = await rejection(
        catalog({ uri: 'http://nowhere.invalid/catalog' }).loadTable('db.orders', { io }),
      )
      assert.isTrue(isIcebergError(failure, 'ERR_STORAGE'))
    })

    it('TLS that fails is said', async () => {
      const tls = createTlsServer(() => undefined)
      await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
      const { port } = tls.address() as AddressInfo
      const failure = await rejection(
        catalog({ uri: `https://127.0.0.1:${port}/c`, attempts: 1 }).loadTable('db.orders', { io }),
      )
      assert.isTrue(isIcebergError(failure, 'ERR_STORAGE'))
      assert.match(failure.message, /read the configuration of the catalog https:.*fetch failed/)
      tls.close()
    })
  })

  describe('options', () => {
    const rows: [why: string, options: Partial<RestCatalogOptions>, code: string, message: RegExp][] = [
      ['no uri', { uri: '' }, 'ERR_INVALID_ARGUMENT', /'uri' is missing/],
      ['no URL', { uri: 'catalog' }, 'ERR_INVALID_ARGUMENT', /not an HTTP URL/],
      ['another scheme', { uri: 's3://b/t' }, 'ERR_INVALID_ARGUMENT', /not an HTTP URL/],
      ['a password', { uri: `http://me:hunter2hunter@host` }, 'ERR_INVALID_ARGUMENT', /user and password/],
      [
        'a password in what is no URL',
        { uri: 'https://me:hunter2hunter@host:99999/x' },
        'ERR_INVALID_ARGUMENT',
        /at 'https:\/\/\*\*\*@host:99999\/x': not an HTTP URL/,
      ],
      [
        'a password with at signs, without a scheme',
        { uri: 'me:hunter2hunter@b@host/x?a=hunter2hunter' },
        'ERR_INVALID_ARGUMENT',
        /at '\*\*\*@host\/x': not an HTTP URL/,
      ],
      [
        'a switch that is none',
        { properties: { 'iceplan.ignore-uri-override': 'yes' } },
        'ERR_INVALID_ARGUMENT',
        /'yes' is neither true nor false/,
      ],
      ['a query', { uri: 'http://host/?a=hunter2hunter' }, 'ERR_INVALID_ARGUMENT', /a query or a fragment/],
      [
        'a token with a line break',
        { token: 'hunter2hunter\n1' },
        'ERR_INVALID_ARGUMENT',
        /'token': its value/,
      ],
      [
        'a header with a line break',
        { headers: { a: 'hunter2hunter\n1' } },
        'ERR_INVALID_ARGUMENT',
        /'header\.a'/,
      ],
      [
        'no name of a header',
        { headers: { 'a b': 'hunter2hunter' } },
        'ERR_INVALID_ARGUMENT',
        /not the name/,
      ],
      [
        'a property that is no text',
        { properties: { a: 1 as unknown as string } },
        'ERR_INVALID_ARGUMENT',
        /'a'/,
      ],
      ['no tries', { attempts: 0 }, 'ERR_INVALID_ARGUMENT', /attempts=0/],
      ['no time', { requestTimeoutMs: NaN }, 'ERR_INVALID_ARGUMENT', /requestTimeoutMs=NaN/],
      ['SigV4', { properties: { 'rest.sigv4-enabled': 'true' } }, 'ERR_UNSUPPORTED', /SigV4/],
      ['SigV4 by type', { properties: { 'rest.auth.type': 'sigv4' } }, 'ERR_UNSUPPORTED', /SigV4/],
      [
        'basic',
        { properties: { 'rest.auth.type': 'basic' } },
        'ERR_UNSUPPORTED',
        /'basic'.*header\.Authorization/,
      ],
    ]
    for (const [why, options, code, message] of rows)
      it(`refused: ${why}`, () => {
        const failure = thrown(() => catalog(options))
        assert.equal(failure.code, code)
        assert.match(failure.message, message)
        assert.notInclude(failure.message, 'hunter2hunter')
      })

    it('a catalog that is printed shows no secret', () => {
      const rest = catalog({ credential: `me:${TOKEN}`, headers: { 'x-key': TOKEN } })
      assert.notInclude(inspect(rest, { depth: 9, showHidden: true }) + JSON.stringify(rest), TOKEN)
    })
  })
})
