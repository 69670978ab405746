import { inspect } from 'node:util'
import { assert } from 'chai'
import { RestCatalog } from '../../src/catalog/rest-catalog.ts'
import type { RestCatalogOptions } from '../../src/catalog/rest-options.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { dataManifests, tableOf } from '../planner/planning.ts'
import { rejection } from '../support/rejection.ts'
import {
  send,
  startRestCatalog,
  type RestAuth,
  type RestCatalogServer,
} from '../support/rest-catalog-server.ts'

const SECRET = 'pa:ss&word%'

describe('tokens of a REST catalog', () => {
  const built = tableOf(dataManifests(1))
  const io = new MemoryFileIO(built.files)
  let servers: RestCatalogServer[] = []
  const start = async (auth: RestAuth): Promise<RestCatalogServer> => {
    const server = await startRestCatalog({ auth })
    server.addTable(['db'], 'orders', built)
    servers.push(server)
    return server
  }
  const load = (server: RestCatalogServer, options: Partial<RestCatalogOptions>): Promise<unknown> =>
    new RestCatalog({ uri: server.uri, attempts: 2, firstPauseMs: 1, ...options }).loadTable('db.orders', {
      io,
    })
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()))
    servers = []
  })
  const tokenRequests = (server: RestCatalogServer): number =>
    server.lines().filter((line) => line.startsWith('POST')).length

  const rows: [why: string, auth: RestAuth, options: Partial<RestCatalogOptions>][] = [
    [
      'id and secret; a secret may have colons',
      { kind: 'oauth2', clientId: 'me', clientSecret: SECRET },
      { credential: `me:${SECRET}` },
    ],
    ['a secret alone', { kind: 'oauth2', clientSecret: 'secret' }, { credential: 'secret' }],
    [
      'a scope',
      { kind: 'oauth2', clientSecret: 'secret', scope: 'a b' },
      { credential: 'secret', scope: 'a b' },
    ],
    ['a fixed token', { kind: 'token', token: 'abcdef' }, { token: 'abcdef' }],
    [
      'a header of one’s own',
      { kind: 'token', token: 'abcdef' },
      { headers: { authorization: 'Bearer abcdef' } },
    ],
    [
      'a credential wins over a token',
      { kind: 'oauth2', clientSecret: 'secret' },
      { credential: 'secret', token: 'old' },
    ],
    ['nobody asks', { kind: 'none' }, {}],
  ]
  for (const [why, auth, options] of rows)
    it(why, async () => {
      await load(await start(auth), options)
    })

  it('audience and resource are passed on', async () => {
    const server = await start({ kind: 'oauth2', clientSecret: 'secret' })
    await load(server, { credential: 'secret', properties: { audience: 'a', resource: 'r&s' } })
    const form = new URLSearchParams(server.requests[0].body)
    assert.deepEqual([form.get('audience'), form.get('resource')], ['a', 'r&s'])
  })

  it('at another server: the credential goes there and the catalog’s headers do not', async () => {
    const auth: RestAuth = { kind: 'oauth2', clientId: 'me', clientSecret: SECRET }
    const [server, identity] = [await start(auth), await start(auth)]
    server.auth = { kind: 'none' }
    await load(server, {
      credential: `me:${SECRET}`,
      oauth2ServerUri: `${identity.uri}/v1/oauth/tokens`,
      headers: { 'x-key': 'k' },
    })
    assert.deepEqual(identity.lines(), ['POST /v1/oauth/tokens'])
    assert.isUndefined(identity.requests[0].headers['x-key'])
    assert.equal(tokenRequests(server), 0)
    assert.equal(server.requests[0].headers.authorization, `Bearer ${identity.tokens[0]}`)
  })

  it('the catalog cannot choose where the credential goes', async () => {
    const server = await start({ kind: 'oauth2', clientSecret: 'secret', expiresIn: 0.001 })
    const other = await start({ kind: 'none' })
    Object.assign(server.options, { overrides: { 'oauth2-server-uri': `${other.uri}/v1/oauth/tokens` } })
    await load(server, { credential: 'secret' })
    assert.isEmpty(other.requests)
  })

  it('a token that was revoked is fetched anew, once', async () => {
    const server = await start({ kind: 'oauth2', clientSecret: 'secret' })
    const rest = new RestCatalog({ uri: server.uri, credential: 'secret' })
    const table = await rest.loadTable('db.orders', { io })
    server.revokeTokens()
    await table.refresh()
    assert.equal(tokenRequests(server), 2)
    server.reset()
    server.faults.push({
      when: (line) => line.startsWith('GET'),
      times: 9,
      answer: (_, response) => {
        send(response, 401, '{}')
      },
    })
    const error = await rejection(table.refresh())
    assert.match(error.message, /401.*check the catalog's token, or its credential and scope/)
    assert.lengthOf(server.requests, 3, 'refused, a token, refused')
  })

  it('a token near its end is fetched anew before it is refused', async () => {
    const server = await start({ kind: 'oauth2', clientSecret: 'secret', expiresIn: 0.02 })
    const rest = new RestCatalog({ uri: server.uri, credential: 'secret' })
    const table = await rest.loadTable('db.orders', { io })
    const before = tokenRequests(server)
    await new Promise((resolve) => setTimeout(resolve, 25))
    await table.refresh()
    assert.isAbove(tokenRequests(server), before)
    assert.isFalse(server.requests.some(({ status }) => status === 401))
  })

  it('a table with a token of its own is asked about with that, and with the catalog’s if it is refused', async () => {
    const server = await start({ kind: 'token', token: 'abcdef' })
    const served = server.table(['db'], 'orders')
    served.token = 'of-the-table'
    const rest = new RestCatalog({ uri: server.uri, token: 'abcdef' })
    const table = await rest.loadTable('db.orders', { io })
    await table.refresh()
    assert.equal(server.requests.at(-1)?.headers.authorization, 'Bearer of-the-table')
    delete served.token
    server.reset()
    await table.refresh()
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ['Bearer of-the-table', 'Bearer abcdef'],
    )
  })

  describe('refused', () => {
    const answers: [why: string, status: number, body: string, message: RegExp][] = [
      [
        'a bad client',
        401,
        '{"error":"invalid_client","error_description":"no SECRET"}',
        /401 Unauthorized: invalid_client: no \*\*\*; check the catalog's credential and scope/,
      ],
      ['no such end point', 404, '{}', /404/],
      ['no token', 200, '{"token":"SECRET"}', /no "access_token"/],
      ['a token that cannot be sent', 200, '{"access_token":"a\\nb"}', /no "access_token"/],
      ['another kind of token', 200, '{"access_token":"abcdef","token_type":"mac"}', /not bearer but "mac"/],
      ['an answer without end', 200, 'x'.repeat(1024 * 1024 + 1), /longer than 1048576 bytes/],
      ['no JSON', 200, 'SECRET', /not valid JSON/],
    ]
    for (const [why, status, body, message] of answers)
      it(why, async () => {
        const server = await start({ kind: 'oauth2', clientSecret: SECRET })
        server.faults.push({
          answer: (_, response) => {
            send(response, status, body.replaceAll('SECRET', SECRET))
          },
        })
        const error = await rejection(load(server, { credential: `me:${SECRET}` }))
        assert.equal(error.code, 'ERR_STORAGE')
        assert.match(error.message, message)
        assert.match(error.message, /^Cannot get a token from http:.*\/catalog\/v1\/oauth\/tokens: /)
        assert.notInclude(inspect(error, { depth: 9 }), SECRET)
        assert.notInclude(inspect(error, { depth: 9 }), encodeURIComponent(SECRET))
      })

    it('a redirect, even within the server', async () => {
      const server = await start({ kind: 'oauth2', clientSecret: 'secret' })
      server.faults.push({ answer: (_, r) => void r.writeHead(307, { location: '/elsewhere' }).end() })
      const error = await rejection(load(server, { credential: 'secret' }))
      assert.match(error.message, /redirects a request that has a body/)
      assert.lengthOf(server.requests, 1)
    })

    it('what a careless server repeats is not in the message', async () => {
      const server = await start({ kind: 'token', token: 'right-token' })
      const error = await rejection(load(server, { token: 'wrong-token' }))
      assert.match(error.message, /401 NotAuthorizedException: Not authorized: Bearer \*\*\*/)
    })
  })
})
