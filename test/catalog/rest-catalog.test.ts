import { getEventListeners } from 'node:events'
import { assert } from 'chai'
import { loadTable } from '../../src/catalog/load-catalog-table.ts'
import { RestCatalog, restCatalogFrom } from '../../src/catalog/rest-catalog.ts'
import type { RestCatalogOptions } from '../../src/catalog/rest-options.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { allOf, dataManifests, freshPlanner, pathsOf, SCHEMA, tableOf } from '../planner/planning.ts'
import { rejection } from '../support/rejection.ts'
import {
  send,
  startRestCatalog,
  type RestCatalogServer,
  type RestCatalogServerOptions,
} from '../support/rest-catalog-server.ts'
import { buildTable, type BuiltTable } from '../support/table-writer.ts'

const SECRET = 'c0rrect-horse'
const QUICK = { attempts: 2, firstPauseMs: 1 }

describe('REST catalog', () => {
  const first = tableOf(dataManifests(2, 1))
  const second = buildTable({
    schema: SCHEMA,
    snapshots: [{ manifests: dataManifests(2, 1) }, { manifests: dataManifests(1) }],
  })
  const io = new MemoryFileIO([...first.files, ...second.files])
  let server: RestCatalogServer
  const open: RestCatalogServer[] = []

  const start = async (options: RestCatalogServerOptions = {}): Promise<RestCatalogServer> => {
    server = await startRestCatalog(options)
    open.push(server)
    server.addTable(['db'], 'orders', first)
    return server
  }
  const catalog = (options: Partial<RestCatalogOptions> = {}): RestCatalog =>
    new RestCatalog({ uri: server.uri, ...QUICK, ...options })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()))
  })

  describe('requests', () => {
    const LOAD = 'GET /v1/namespaces/db/tables/orders'

    it('the first load is token, configuration and table; the second is one; an unchanged refresh is one', async () => {
      await start({ auth: { kind: 'oauth2', clientId: 'me', clientSecret: SECRET }, warehouse: 'w' })
      const rest = catalog({ credential: `me:${SECRET}`, warehouse: 'w' })
      const table = await rest.loadTable('db.orders', { io })
      assert.deepEqual(server.lines(), ['POST /v1/oauth/tokens', 'GET /v1/config?warehouse=w', LOAD])

      server.reset()
      await rest.loadTable('db.orders', { io })
      assert.deepEqual(server.lines(), [LOAD])

      server.reset()
      const { metadata } = table
      await table.refresh()
      assert.strictEqual(table.metadata, metadata)
      assert.deepEqual(
        server.requests.map(({ line, status }) => [line, status]),
        [[LOAD, 304]],
      )

      server.reset()
      server.addTable(['db'], 'orders', second)
      const before = table.newScan()
      await table.refresh()
      assert.lengthOf(server.requests, 1)
      assert.equal(table.metadata.metadataLocation, second.metadataLocation)
      assert.lengthOf(await allOf((await freshPlanner().plan(table.newScan())).tasks), 1)
      assert.lengthOf(await allOf((await freshPlanner().plan(before)).tasks), 3)
      await table.refresh()
      assert.deepEqual(
        server.requests.map(({ status }) => status),
        [200, 304],
      )
    })

    it('those who begin at once share token and configuration', async () => {
      await start({ auth: { kind: 'oauth2', clientSecret: SECRET } })
      const rest = catalog({ credential: SECRET })
      await Promise.all([1, 2, 3].map(() => rest.loadTable('db.orders', { io })))
      assert.deepEqual(server.lines(), ['POST /v1/oauth/tokens', 'GET /v1/config', LOAD, LOAD, LOAD])
    })

    it('a configuration that failed is asked for again', async () => {
      await start()
      const rest = catalog()
      server.faults.push({ answer: (_, response) => void response.writeHead(400).end() })
      assert.equal((await rejection(rest.loadTable('db.orders', { io }))).code, 'ERR_STORAGE')
      await rest.loadTable('db.orders', { io })
      assert.deepEqual(server.lines(), ['GET /v1/config', 'GET /v1/config', LOAD])
    })

    it('one who gives up does not spoil it for the others', async () => {
      await start()
      const rest = catalog()
      const stop = new AbortController()
      const given = rejection(rest.loadTable('db.orders', { io, signal: stop.signal }))
      const other = rest.loadTable('db.orders', { io })
      const reason = new Error('enough')
      stop.abort(reason)
      assert.strictEqual(await given, reason)
      await other
    })

    it('many tables at once with one signal make one listener of it', async () => {
      await start()
      const names = Array.from({ length: 20 }, (_, i) => `t${i}`)
      for (const name of names) server.addTable(['db'], name, first)
      const rest = catalog()
      const { signal } = new AbortController()
      let listeners = 0
      server.faults.push({
        when(line) {
          if (line.includes('/tables/'))
            listeners = Math.max(listeners, getEventListeners(signal, 'abort').length)
          return false
        },
        answer: () => undefined,
      })
      await Promise.all(names.map((name) => rest.loadTable(['db', name], { io, signal })))
      assert.equal(listeners, 1)
      assert.isEmpty(getEventListeners(signal, 'abort'))
    })

    it('the table plans, from catalog and location alike', async () => {
      await start()
      const table = await loadTable({ catalog: catalog(), identifier: ['db', 'orders'] }, { io })
      const other = await loadTable(first.metadataLocation, { io })
      const [a, b] = await Promise.all(
        [table, other].map(async (t) => pathsOf(await allOf((await freshPlanner().plan(t.newScan())).tasks))),
      )
      assert.deepEqual(a, ['data/0-0', 'data/0-1', 'data/1-0'])
      assert.deepEqual(a, b)
      assert.equal(table.metadata.currentSnapshotId, 3051729675574597001n, 'all 19 digits')
      assert.equal(table.metadata.metadataLocation, first.metadataLocation)
    })

    it('a table without a metadata location has the address it was loaded from', async () => {
      await start()
      server.table(['db'], 'orders').metadataLocation = undefined
      const table = await catalog().loadTable('db.orders', { io })
      assert.equal(table.metadata.metadataLocation, `${server.uri}/v1/namespaces/db/tables/orders`)
      await table.refresh()
    })

    it('a table that another took the place of is refused, again and again', async () => {
      await start()
      const table = await catalog().loadTable('db.orders', { io })
      const served = server.table(['db'], 'orders')
      served.metadata = served.metadata.replace(/("table-uuid": ?")9c12/, '$10000')
      served.metadataLocation = 's3://warehouse/db/table/metadata/00009-new.metadata.json'
      for (let i = 0; i < 2; i++) {
        const error = await rejection(table.refresh())
        assert.equal(error.code, 'ERR_INVALID_METADATA')
        assert.equal(table.metadata.metadataLocation, first.metadataLocation)
      }
    })

    it('a draft version is read only if asked for, as from a file', async () => {
      await start()
      const served = server.table(['db'], 'orders')
      served.metadata = served.metadata.replace(/("format-version": ?)2/, '$14')
      assert.equal((await rejection(catalog().loadTable('db.orders', { io }))).code, 'ERR_UNSUPPORTED')
      await catalog().loadTable('db.orders', { io, allowV4: true })
    })
  })

  describe('names and paths', () => {
    const rows: [
      why: string,
      server: RestCatalogServerOptions,
      identifier: string | string[],
      namespace: string[],
      name: string,
      path: string,
    ][] = [
      ['plain', {}, 'db.t', ['db'], 't', '/v1/namespaces/db/tables/t'],
      ['nested', {}, 'a.b.t', ['a', 'b'], 't', '/v1/namespaces/a%1Fb/tables/t'],
      ['dots, in an array', {}, ['a.b', 't.1'], ['a.b'], 't.1', '/v1/namespaces/a.b/tables/t.1'],
      [
        'encoded once',
        {},
        ['a/b %2F', 'é?#+&'],
        ['a/b %2F'],
        'é?#+&',
        '/v1/namespaces/a%2Fb%20%252F/tables/%C3%A9%3F%23%2B%26',
      ],
      ['a prefix', { prefix: 'main' }, 'db.t', ['db'], 't', '/v1/main/namespaces/db/tables/t'],
      [
        'a prefix with slashes and an encoded part',
        { prefix: 'ws/a%7Cb' },
        'db.t',
        ['db'],
        't',
        '/v1/ws/a%7Cb/namespaces/db/tables/t',
      ],
      [
        'a separator, encoded as the specification has it',
        { separator: '/', overrides: { 'namespace-separator': '%2F' } },
        'a.b.t',
        ['a', 'b'],
        't',
        '/v1/namespaces/a%2Fb/tables/t',
      ],
      [
        'a separator that need not be encoded and is, as in Java',
        { separator: '.', overrides: { 'namespace-separator': '%2E' } },
        'a.b.t',
        ['a', 'b'],
        't',
        '/v1/namespaces/a%2Eb/tables/t',
      ],
      [
        'a separator in plain',
        { separator: '.', defaults: { 'namespace-separator': '.' } },
        'a.b.t',
        ['a', 'b'],
        't',
        '/v1/namespaces/a.b/tables/t',
      ],
      ['a uri without a path', { path: '' }, 'db.t', ['db'], 't', '/v1/namespaces/db/tables/t'],
    ]
    for (const [why, options, identifier, namespace, name, path] of rows)
      for (const slash of ['', '/'])
        it(`${why}${slash === '' ? '' : ', with a slash after the uri'}`, async () => {
          await start(options)
          server.addTable(namespace, name, first)
          await catalog({ uri: server.uri + slash }).loadTable(identifier, { io })
          assert.equal(server.requests.at(-1)?.path, path)
        })

    const refused: [why: string, identifier: string | string[]][] = [
      ['no namespace', 'orders'],
      ['nothing', ''],
      ['an empty part', 'db..orders'],
      ['an empty array', []],
      ['a step upwards', ['..', 'orders']],
      ['a step upwards as table', ['db', '..']],
      ['no string', ['db', 7] as unknown as string[]],
    ]
    for (const [why, identifier] of refused)
      it(`refused: ${why}`, async () => {
        await start()
        const error = await rejection(catalog().loadTable(identifier, { io }))
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
        assert.isFalse(server.lines().some((line) => line.includes('/tables/')))
      })
  })

  describe('configuration', () => {
    const DEFAULTS = { 'header.x-a': 'default', 'header.x-b': 'default', 'header.x-c': 'default' }
    const OWN = { 'header.X-B': 'mine', 'header.x-b': 'mine', 'header.x-c': 'mine' }

    it('defaults give way to the user, and the user to overrides', async () => {
      await start({ defaults: DEFAULTS, overrides: { 'header.x-c': 'override' } })
      await catalog({ properties: OWN }).loadTable('db.orders', { io })
      const { headers } = server.requests.at(-1)!
      assert.deepEqual([headers['x-a'], headers['x-b'], headers['x-c']], ['default', 'mine', 'override'])
      assert.equal(server.requests[0].headers['x-c'], 'mine', 'sent for the configuration too')
    })

    it('by properties alone, as they stand in other clients; options win over properties of their name', async () => {
      await start({ auth: { kind: 'token', token: 'abcdef' }, warehouse: 'w' })
      const properties = { uri: server.uri, type: 'rest', warehouse: 'w', token: 'abcdef', 'io-impl': 'x.Y' }
      await restCatalogFrom(properties).loadTable('db.orders', { io })
      await catalog({
        token: 'abcdef',
        warehouse: 'w',
        properties: { ...properties, token: 'wrong' },
      }).loadTable('db.orders', { io })
    })

    const uris: [why: string, uri: (origin: string) => string, ok: boolean][] = [
      ['another path of the same server', (origin) => `${origin}/catalog/`, true],
      ['another server', () => 'https://elsewhere.example/catalog', false],
      ['the same host by another port', () => 'http://127.0.0.1:1/catalog', false],
    ]
    for (const [why, uri, ok] of uris)
      it(`overrides uri: ${why} is ${ok ? 'followed' : 'refused, with its address'}`, async () => {
        await start({ path: '/catalog' })
        server.faults.push({
          when: (line) => line.startsWith('GET /v1/config') || line.startsWith('GET /start/v1/config'),
          answer: (_, response) => {
            send(response, 200, JSON.stringify({ defaults: {}, overrides: { uri: uri(server.origin) } }))
          },
        })
        const loading = catalog({ uri: `${server.origin}/start`, token: 'abcdef' }).loadTable('db.orders', {
          io,
        })
        if (ok) await loading
        else {
          const error = await rejection(loading)
          assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
          assert.include(error.message, uri(server.origin))
          assert.notInclude(error.message, 'abcdef')
          assert.match(error.message, /ignoreUriOverride \(property iceplan\.ignore-uri-override=true\)$/)
        }
      })

    const staying: [how: string, options: Partial<RestCatalogOptions>][] = [
      ['option', { ignoreUriOverride: true }],
      ['property', { properties: { 'iceplan.ignore-uri-override': 'True' } }],
    ]
    for (const [how, options] of staying)
      for (const uri of ['http://catalog.internal:8181/catalog', 'catalog', ''])
        it(`overrides uri: '${uri}' is not followed if the ${how} says to stay`, async () => {
          await start({ overrides: { uri } })
          await catalog(options).loadTable('db.orders', { io })
          assert.lengthOf(server.requests, 2)
        })

    it('the catalog itself cannot say to stay', async () => {
      const uri = 'http://catalog.internal:8181/catalog'
      await start({ overrides: { uri, 'iceplan.ignore-uri-override': 'true' } })
      assert.equal((await rejection(catalog().loadTable('db.orders', { io }))).code, 'ERR_INVALID_ARGUMENT')
    })

    it('an empty list of endpoints is that of a catalog that has none, as in Java', async () => {
      await start({ endpoints: [] })
      await catalog().loadTable('db.orders', { io })
    })

    it('endpoints are honoured: without loading tables there is nothing to ask', async () => {
      await start({ endpoints: ['GET /v1/{prefix}/namespaces'] })
      const error = await rejection(catalog().loadTable('db.orders', { io }))
      assert.equal(error.code, 'ERR_UNSUPPORTED')
      assert.match(
        error.message,
        /does not offer 'GET \/v1\/\{prefix\}\/namespaces\/\{namespace\}\/tables\/\{table\}'/,
      )
      assert.lengthOf(server.requests, 1)
    })

    const refused: [why: string, answer: unknown][] = [
      ['no object', []],
      ['defaults of the wrong kind', { defaults: 'abcdef' }],
      ['endpoints of the wrong kind', { endpoints: {} }],
    ]
    for (const [why, answer] of refused)
      it(`refused: ${why}`, async () => {
        await start()
        server.faults.push({
          answer: (_, response) => {
            send(response, 200, JSON.stringify(answer))
          },
        })
        const error = await rejection(catalog().loadTable('db.orders', { io }))
        assert.equal(error.code, 'ERR_STORAGE')
        assert.notInclude(error.message, 'abcdef')
      })
  })

  describe('scan-planning-mode', () => {
    const rows: [
      why: string,
      where: { own?: string; defaults?: string; overrides?: string; table?: string },
      code: string | undefined,
    ][] = [
      ['the table says client', { table: 'client' }, undefined],
      ['in capitals', { table: 'CLIENT' }, undefined],
      ['the table says server', { table: 'server' }, 'ERR_UNSUPPORTED'],
      ['in capitals', { table: 'SERVER' }, 'ERR_UNSUPPORTED'],
      ['the catalog overrides', { overrides: 'server' }, 'ERR_UNSUPPORTED'],
      ['the catalog has it as default', { defaults: 'server' }, 'ERR_UNSUPPORTED'],
      ['the user wins over a default', { defaults: 'server', own: 'client' }, undefined],
      ['the user does not win over an override', { overrides: 'server', own: 'client' }, 'ERR_UNSUPPORTED'],
      ['the user does not win over the table', { table: 'server', own: 'client' }, 'ERR_UNSUPPORTED'],
      ['the table wins over the catalog', { table: 'client', overrides: 'server' }, undefined],
      ['the user wants it', { own: 'server' }, 'ERR_UNSUPPORTED'],
      ['nobody knows the mode', { table: 'whenever' }, 'ERR_INVALID_METADATA'],
    ]
    const modeOf = (mode: string | undefined): Record<string, string> =>
      mode === undefined ? {} : { 'scan-planning-mode': mode }
    for (const [why, { own, defaults, overrides, table }, code] of rows)
      it(`${why} ${JSON.stringify({ own, defaults, overrides, table })}: ${code ?? 'planned here'}`, async () => {
        await start({ defaults: modeOf(defaults), overrides: modeOf(overrides) })
        server.table(['db'], 'orders').config = modeOf(table)
        const loading = catalog({ properties: modeOf(own) }).loadTable('db.orders', { io })
        if (code === undefined) {
          await loading
          return
        }
        const error = await rejection(loading)
        assert.equal(error.code, code)
        assert.match(error.message, /^Cannot load table db\.orders of the catalog http.*scan-planning-mode=/)
      })

    it('a table that begins to want it is not planned here after a refresh', async () => {
      await start()
      const table = await catalog().loadTable('db.orders', { io })
      server.addTable(['db'], 'orders', second).config = { 'scan-planning-mode': 'server' }
      server.table(['db'], 'orders').config = { 'scan-planning-mode': 'server' }
      const error = await rejection(table.refresh())
      assert.equal(error.code, 'ERR_UNSUPPORTED')
      assert.match(error.message, /^Cannot refresh table db\.orders of the catalog/)
    })
  })

  describe('listings', () => {
    const loadAll = async (built: BuiltTable): Promise<void> => {
      await start()
      for (const name of ['a', 'b', 'c', 'd.e']) server.addTable(['db', 'x'], name, built)
    }

    it('tables of a namespace, page by page', async () => {
      await loadAll(first)
      const names = async (rest: RestCatalog): Promise<string[]> =>
        (await rest.listTables('db.x')).map(({ name }) => name)
      assert.deepEqual(await names(catalog()), ['a', 'b', 'c', 'd.e'])
      assert.lengthOf(server.requests, 2)
      server.reset()
      assert.deepEqual(await names(catalog({ properties: { 'rest-page-size': '3' } })), [
        'a',
        'b',
        'c',
        'd.e',
      ])
      assert.deepEqual(server.lines().slice(1), [
        'GET /v1/namespaces/db%1Fx/tables?pageSize=3&pageToken=',
        'GET /v1/namespaces/db%1Fx/tables?pageSize=3&pageToken=3',
      ])
    })

    it('namespaces, the outermost and those in one', async () => {
      await loadAll(first)
      assert.deepEqual(await catalog().listNamespaces(), [['db']])
      assert.deepEqual(await catalog().listNamespaces('db'), [['db', 'x']])
    })

    it('pages that do not end are an error', async () => {
      await start()
      const answer = JSON.stringify({ identifiers: [], 'next-page-token': 'again' })
      server.faults.push({
        when: (line) => line.includes('/tables'),
        times: 100,
        answer: (_, response) => {
          send(response, 200, answer)
        },
      })
      assert.match((await rejection(catalog().listTables('db'))).message, /the pages do not end/)
    })

    const refused: [why: string, call: (rest: RestCatalog) => Promise<unknown>, code: string][] = [
      ['no namespace', (rest) => rest.listTables(''), 'ERR_INVALID_ARGUMENT'],
      ['an empty level', (rest) => rest.listTables('a..b'), 'ERR_INVALID_ARGUMENT'],
      ['a namespace that is not there', (rest) => rest.listTables('nope'), 'ERR_NOT_FOUND'],
    ]
    for (const [why, call, code] of refused)
      it(`refused: ${why}`, async () => {
        await start()
        assert.equal((await rejection(call(catalog()))).code, code)
      })
  })
})
