import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { assert } from 'chai'
import { RestCatalog } from '../../src/catalog/rest-catalog.ts'
import type { RestCatalogOptions } from '../../src/catalog/rest-options.ts'
import { s3CredentialsIn, VendedCredentials } from '../../src/catalog/vended-credentials.ts'
import type { Table } from '../../src/planner/table.ts'
import { allOf, dataManifests, freshPlanner, tableOf } from '../planner/planning.ts'
import { rejection, thrown } from '../support/rejection.ts'
import {
  send,
  startRestCatalog,
  type RestCatalogServer,
  type Vending,
} from '../support/rest-catalog-server.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import type { BuiltTable } from '../support/table-writer.ts'

const SECRET = 'c0rrect-horse'

describe('credentials handed out by a REST catalog', () => {
  describe('kept and exchanged', () => {
    const set = (n: number, lifeMs?: number): Record<string, string> => ({
      's3.access-key-id': `key-${n}`,
      's3.secret-access-key': `secret-${n}`,
      's3.session-token': `token-${n}`,
      ...(lifeMs === undefined ? {} : { 's3.session-token-expires-at-ms': String(Date.now() + lifeMs) }),
    })
    const keyOf = async (vended: VendedCredentials, prefix: string): Promise<string> =>
      (await vended.take(prefix)).accessKeyId

    it('each set is given once; those who ask at once share one request; one request is for all prefixes', async () => {
      let asked = 0
      const vended = new VendedCredentials('t', async () => {
        await delay(5)
        const config = set(++asked, 3_600_000)
        return [
          { prefix: 'a', config },
          { prefix: 'b', config: set(10 + asked) },
        ]
      })
      vended.keep([
        { prefix: 'a', config: set(0, 3_600_000) },
        { prefix: 'b', config: set(10) },
      ])
      assert.equal(await keyOf(vended, 'a'), 'key-0')
      assert.deepEqual(await Promise.all([keyOf(vended, 'a'), keyOf(vended, 'a')]), ['key-1', 'key-1'])
      assert.equal(await keyOf(vended, 'b'), 'key-11')
      assert.equal(asked, 1)
    })

    it('a failure is passed on and the next call asks again', async () => {
      let asked = 0
      const vended = new VendedCredentials('t', () => {
        if (++asked === 1) throw new Error('busy')
        return Promise.resolve([{ prefix: 'a', config: set(asked) }])
      })
      vended.keep([{ prefix: 'a', config: set(0) }])
      await vended.take('a')
      assert.equal((await rejection(vended.take('a'))).message, 'busy')
      assert.equal(await keyOf(vended, 'a'), 'key-2')
    })

    it('those that have waited until they were too old are not given', async () => {
      const vended = new VendedCredentials('t', () => Promise.resolve([{ prefix: 'a', config: set(1) }]))
      const config = set(0, 5)
      const { now } = Date
      try {
        const received = now()
        Date.now = () => received
        vended.keep([{ prefix: 'a', config }])
        Date.now = () => received + 3_600_000
        assert.equal(await keyOf(vended, 'a'), 'key-1')
      } finally {
        Date.now = now
      }
    })

    const rows: [why: string, received: string[], want: number | undefined][] = [
      ['the same prefix', ['s3://b/t', 's3://b'], 0],
      ['the longest that covers it', ['s3://b', 's3://b/t/x', 's3://'], 0],
      ['the only ones', ['s3://elsewhere'], 0],
      ['none of several', ['s3://c', 's3://d'], undefined],
      ['none at all', [], undefined],
    ]
    for (const [why, received, want] of rows)
      it(`a prefix that was s3://b/t takes ${why}: ${received.join(', ')}`, async () => {
        const vended = new VendedCredentials('db.orders', () =>
          Promise.resolve(received.map((prefix, i) => ({ prefix, config: set(i) }))),
        )
        vended.keep([{ prefix: 's3://b/t', config: set(9) }])
        await vended.take('s3://b/t')
        if (want !== undefined) assert.equal(await keyOf(vended, 's3://b/t'), `key-${want}`)
        else {
          const error = await rejection(vended.take('s3://b/t'))
          assert.match(error.message, /db\.orders: the catalog answered none for 's3:\/\/b\/t'/)
        }
      })

    it('a prefix that is gone leaves the others what they need, and fails only if it is asked for', async () => {
      const vended = new VendedCredentials('t', () =>
        Promise.resolve([
          { prefix: 's3://meta', config: set(1) },
          { prefix: 's3://new', config: set(2) },
        ]),
      )
      vended.keep(['s3://meta', 's3://gone'].map((prefix) => ({ prefix, config: set(0) })))
      await vended.take('s3://meta')
      assert.equal(await keyOf(vended, 's3://meta'), 'key-1')
      assert.equal(await keyOf(vended, 's3://gone'), 'key-0', 'what it has is not lost')
      assert.match((await rejection(vended.take('s3://gone'))).message, /answered none for 's3:\/\/gone'/)
    })

    it('another load takes the place of all; a scan of before may still ask for its prefix', async () => {
      let asked = 0
      const vended = new VendedCredentials('t', () =>
        Promise.resolve([
          { prefix: 's3://old', config: set(++asked) },
          { prefix: 's3://new', config: set(10) },
        ]),
      )
      vended.keep([{ prefix: 's3://old/t', config: set(0) }])
      vended.keep([{ prefix: 's3://new/t', config: set(9) }])
      assert.deepEqual([vended.has('s3://old/t'), vended.has('s3://new/t')], [false, true])
      assert.equal(await keyOf(vended, 's3://old/t'), 'key-1')
      assert.equal(await keyOf(vended, 's3://old/t'), 'key-2')
      assert.equal(await keyOf(vended, 's3://new/t'), 'key-10')
      assert.equal(asked, 2)
    })

    it('an empty value is none, and space around one is not a part of it', () => {
      const keys = { 's3.access-key-id': ' a', 's3.secret-access-key': 'b\n' }
      const want = { accessKeyId: 'a', secretAccessKey: 'b' }
      const nothing = { 's3.session-token': '', 's3.session-token-expires-at-ms': ' ' }
      assert.deepEqual(s3CredentialsIn({ ...keys, ...nothing }), want)
      assert.isUndefined(s3CredentialsIn({ ...keys, 's3.secret-access-key': '' }))
      assert.deepEqual(
        s3CredentialsIn({ 's3.access-key-id': '', 'client.access-key-id': 'a', 's3.secret-access-key': 'b' }),
        want,
      )
    })

    it('half a key is none', () => {
      assert.isUndefined(s3CredentialsIn({ 's3.access-key-id': 'a' }))
      assert.isUndefined(s3CredentialsIn({ 's3.secret-access-key': 'a' }))
      assert.deepEqual(s3CredentialsIn({ 'client.access-key-id': 'a', 'client.secret-access-key': 'b' }), {
        accessKeyId: 'a',
        secretAccessKey: 'b',
      })
    })
  })

  describe('with an S3 server that wants them', () => {
    const manifests = 12
    const built = tableOf(dataManifests(...Array.from({ length: manifests }, () => 1)))
    let s3: S3Server
    let server: RestCatalogServer

    const put = (table: BuiltTable): void => {
      for (const [location, bytes] of table.files) {
        const [, bucket, key] = /^s3:\/\/([^/]+)\/(.*)$/s.exec(location)!
        s3.put(bucket, key, bytes)
      }
    }
    const start = async (vending: Omit<Vending, 's3'> = {}, endpoints?: readonly string[]): Promise<void> => {
      // Nobody may come but with what the catalog hands out.
      s3 = await startS3Server({ credentials: [] })
      put(built)
      server = await startRestCatalog({
        auth: { kind: 'oauth2', clientId: 'me', clientSecret: SECRET },
        vending: { s3, ...vending },
        ...(endpoints === undefined ? {} : { endpoints }),
      })
      server.addTable(['db'], 'orders', built)
    }
    afterEach(async () => {
      await Promise.all([server.close(), s3.close()])
    })
    const catalog = (options: Partial<RestCatalogOptions> = {}): RestCatalog =>
      new RestCatalog({ uri: server.uri, credential: `me:${SECRET}`, ...options })
    const plan = async (table: Table): Promise<number> =>
      (await allOf((await freshPlanner().plan(table.newScan())).tasks)).length
    const keysUsed = (): Set<string | undefined> => new Set(s3.requests.map(({ accessKeyId }) => accessKeyId))

    const LOAD = 'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}'
    const TABLE = 'GET /v1/namespaces/db/tables/orders'

    for (const place of ['storage-credentials', 'config'] as const) {
      it(`in ${place}: one request for the table, one for each file, none refused`, async () => {
        await start({ place })
        const table = await catalog().loadTable('db.orders')
        assert.equal(await plan(table), manifests)
        assert.lengthOf(server.requests, 3)
        assert.lengthOf(s3.requests, manifests + 1)
        assert.isTrue(s3.requests.every(({ status }) => status === 200))
      })

      const renewals: [how: string, endpoints: string[] | undefined, line: string][] = [
        ['by the end point for them', [LOAD, `${LOAD}/credentials`], `${TABLE}/credentials`],
        ['by loading the table again', undefined, TABLE],
      ]
      for (const [how, endpoints, line] of renewals)
        it(`in ${place}, that end in the middle of a plan: renewed ${how}`, async () => {
          // Each read takes so long that the plan outlives the credentials, several times.
          await start({ place, lifeMs: 250 }, endpoints)
          const table = await catalog().loadTable('db.orders', { requestLimit: 1 })
          server.reset()
          s3.latencyMs = 60
          assert.equal(await plan(table), manifests)
          assert.lengthOf(
            s3.requests.filter(({ status }) => status === 200),
            manifests + 1,
          )
          assert.isTrue(s3.requests.every(({ status, code }) => status === 200 || code === 'ExpiredToken'))
          assert.isAbove(keysUsed().size, 1)
          assert.deepEqual(new Set(server.lines()), new Set([line]))
          assert.isBelow(server.requests.length, manifests, 'not for each request')
        })
    }

    it('that the storage refuses before their end: others are asked for', async () => {
      await start({ lifeMs: 3_600_000 })
      const table = await catalog().loadTable('db.orders')
      server.expireVended()
      assert.equal(await plan(table), manifests)
      assert.equal(server.vended.length, 2)
    })

    it('named in the config: the end point for them is used at the catalog’s server only', async () => {
      for (const [named, line] of [
        ['v1/namespaces/db/tables/orders/credentials', `${TABLE}/credentials`],
        ['https://elsewhere.example/credentials', TABLE],
      ]) {
        await start({ lifeMs: 3_600_000 })
        server.table(['db'], 'orders').config = { 'client.refresh-credentials-endpoint': named }
        const table = await catalog().loadTable('db.orders')
        server.expireVended()
        server.reset()
        await plan(table)
        assert.deepEqual(server.lines(), [line])
        await Promise.all([server.close(), s3.close()])
      }
      await start()
    })

    it('a renewal that is refused is the error, without a secret', async () => {
      await start({ lifeMs: 3_600_000 })
      const table = await catalog({ attempts: 1 }).loadTable('db.orders')
      server.expireVended()
      server.faults.push({ times: 99, answer: (_, response) => void response.writeHead(403).end() })
      const error = await rejection(plan(table))
      assert.equal(error.code, 'ERR_STORAGE')
      assert.notMatch(inspect(error, { depth: 9 }), /vended-secret|vended-session|c0rrect/)
    })

    it('a refresh goes on with the store it has, and with the new credentials', async () => {
      await start({ lifeMs: 3_600_000 })
      const table = await catalog().loadTable('db.orders')
      const { io } = table
      await plan(table)
      const next = tableOf(dataManifests(1), { metadata: { 'last-sequence-number': 9 } })
      const metadataLocation = `${built.location}/metadata/00009-next.metadata.json`
      next.files.set(metadataLocation, next.files.get(next.metadataLocation)!)
      put(next)
      server.addTable(['db'], 'orders', { ...next, metadataLocation })
      await table.refresh()
      assert.equal(await plan(table), 1)
      assert.strictEqual(table.io, io)
      server.options.vending!.place = 'config'
      server.table(['db'], 'orders').config = { 's3.region': 'us-east-1' }
      server.table(['db'], 'orders').metadata += ' '
      await table.refresh()
      assert.notStrictEqual(table.io, io, 'another place for credentials is another store')
      assert.equal(await plan(table), 1)
    })

    describe('who they are for', () => {
      it('two loads by one user share what is cached, two users or catalogs do not', async () => {
        await start()
        const identity = async (options: Partial<RestCatalogOptions> = {}): Promise<string> =>
          (await catalog(options).loadTable('db.orders')).io.identity
        const mine = await identity()
        assert.equal(await identity(), mine)
        server.auth = { kind: 'oauth2', clientId: 'other', clientSecret: SECRET }
        assert.notEqual(await identity({ credential: `other:${SECRET}` }), mine)
        server.auth = { kind: 'token', token: 'abcdef' }
        assert.notEqual(await identity({ token: 'abcdef', credential: '' }), mine)
        assert.notInclude(mine, 'VENDED')
        assert.notInclude(mine, SECRET)
      })
    })

    describe('whose word is last', () => {
      it('the endpoint that the call says wins over the catalog’s', async () => {
        await start()
        server.table(['db'], 'orders').storageCredentials = undefined!
        const other = await startS3Server({ credentials: [] })
        const { endpoint } = s3
        Object.assign(server.options.vending!, {
          s3: { ...s3, endpoint: other.endpoint, credentials: s3.credentials },
        })
        const storage = { properties: { 's3.endpoint': endpoint } }
        const table = await catalog().loadTable('db.orders', { storage })
        assert.equal(await plan(table), manifests)
        assert.isEmpty(other.requests)
        await other.close()
      })

      it('keys that the call gives win over those of the catalog', async () => {
        await start()
        s3.credentials.push({ accessKeyId: 'own', secretAccessKey: 'own-secret' })
        const properties = { 's3.access-key-id': 'own', 's3.secret-access-key': 'own-secret' }
        const table = await catalog().loadTable('db.orders', { storage: { properties } })
        await plan(table)
        assert.deepEqual([...keysUsed()], ['own'])
      })

      it('so does the word that there are to be none', async () => {
        await start()
        server.table(['db'], 'orders').config = { 's3.access-key-id': 'x', 's3.secret-access-key': 'y' }
        const storage = { properties: { 's3.anonymous': 'true' } }
        const table = await catalog().loadTable('db.orders', { storage })
        assert.match((await rejection(plan(table))).message, /403 AccessDenied/)
        assert.deepEqual([...keysUsed()], [undefined])
      })

      it('they are not asked for if they are not wanted; the user’s own are used', async () => {
        await start()
        s3.credentials.push({ accessKeyId: 'own', secretAccessKey: 'own-secret' })
        const properties = {
          's3.access-key-id': 'own',
          's3.secret-access-key': 'own-secret',
          's3.endpoint': s3.endpoint,
          's3.region': s3.region,
        }
        const table = await catalog({ vendedCredentials: false, properties }).loadTable('db.orders')
        await plan(table)
        assert.deepEqual([...keysUsed()], ['own'])
        assert.isEmpty(server.vended)
        assert.isUndefined(server.requests.at(-1)?.headers['x-iceberg-access-delegation'])
      })

      const unwanted: [why: string, options: Partial<RestCatalogOptions>][] = [
        ['the property', { properties: { 'iceplan.vended-credentials-enabled': 'false' } }],
        ['an empty header', { headers: { 'X-Iceberg-Access-Delegation': '' } }],
        ['an empty header, as a property', { properties: { 'header.x-iceberg-access-delegation': '' } }],
      ]
      for (const [why, options] of unwanted)
        it(`${why} turns them off, also if the catalog hands them out unasked`, async () => {
          await start()
          s3.credentials.push({ accessKeyId: 'own', secretAccessKey: 'own-secret' })
          const vended = { 's3.access-key-id': 'x', 's3.secret-access-key': 'y' }
          server.faults.push({
            when: (line) => line === TABLE,
            answer: (_, response) => {
              const { metadata, metadataLocation } = server.table(['db'], 'orders')
              const credentials = JSON.stringify([{ prefix: 's3://', config: vended }])
              send(
                response,
                200,
                `{"metadata-location":"${metadataLocation!}","metadata":${metadata},"storage-credentials":${credentials}}`,
              )
            },
          })
          const properties = {
            ...options.properties,
            's3.access-key-id': 'own',
            's3.secret-access-key': 'own-secret',
            's3.endpoint': s3.endpoint,
            's3.region': s3.region,
          }
          await plan(await catalog({ ...options, properties }).loadTable('db.orders'))
          assert.deepEqual([...keysUsed()], ['own'])
          assert.isUndefined(server.requests.at(-1)?.headers['x-iceberg-access-delegation'])
        })

      it('a property that is neither true nor false is refused', () => {
        const properties = { 'iceplan.vended-credentials-enabled': 'off' }
        const error = thrown(() => new RestCatalog({ uri: 'http://host', properties }))
        assert.match(error.message, /'iceplan\.vended-credentials-enabled': 'off' is neither true nor false/)
      })

      it('a header of the user’s own says how to delegate', async () => {
        await start()
        const headers = { 'X-Iceberg-Access-Delegation': 'remote-signing' }
        await catalog({ headers }).loadTable('db.orders')
        assert.equal(server.requests.at(-1)?.headers['x-iceberg-access-delegation'], 'remote-signing')
      })

      it('remote signing is refused when something in S3 is to be read', async () => {
        await start()
        server.table(['db'], 'orders').config = { 's3.remote-signing-enabled': 'true' }
        const table = await catalog().loadTable('db.orders')
        assert.equal((await rejection(plan(table))).code, 'ERR_UNSUPPORTED')
      })
    })

    describe('odd answers', () => {
      const keys = { 's3.access-key-id': 'key', 's3.secret-access-key': 'secret' }
      const own = { 's3.access-key-id': 'own', 's3.secret-access-key': 'own-secret' }
      const everything = [{ prefix: 's3://warehouse/', config: keys }]
      const rows: [
        why: string,
        config: Record<string, string>,
        credentials: typeof everything | undefined,
        key: string,
      ][] = [
        ['an empty session token in the config', { ...keys, 's3.session-token': '' }, undefined, 'key'],
        [
          'an empty session token with a prefix',
          {},
          [{ prefix: 's3://warehouse/', config: { ...keys, 's3.session-token': '' } as typeof keys }],
          'key',
        ],
        ['a key with a line break', { ...keys, 's3.secret-access-key': 'secret\n' }, undefined, 'key'],
        [
          'empty keys hide none of the user’s own',
          { 's3.access-key-id': '', 's3.secret-access-key': '' },
          undefined,
          'own',
        ],
        [
          'what is not supported, where nothing is read without a prefix',
          { 'client.credentials-provider': 'com.acme.Provider' },
          everything,
          'key',
        ],
      ]
      for (const [why, config, credentials, key] of rows)
        it(why, async () => {
          await start()
          s3.credentials.push({ accessKeyId: 'key', secretAccessKey: 'secret' })
          s3.credentials.push({ accessKeyId: 'own', secretAccessKey: 'own-secret' })
          server.options.vending = undefined!
          const served = server.table(['db'], 'orders')
          served.config = config
          if (credentials !== undefined) served.storageCredentials = credentials
          const place = { 's3.endpoint': s3.endpoint, 's3.region': s3.region }
          const properties = key === 'own' || credentials === undefined ? { ...own, ...place } : place
          const table = await catalog({ properties }).loadTable('db.orders')
          assert.equal(await plan(table), manifests)
          assert.deepEqual([...keysUsed()], [key])
        })
    })

    it('each prefix has its own; s3, s3a and s3n are one', async () => {
      await start()
      const config = (n: number): Record<string, string> => ({
        's3.access-key-id': `key-${n}`,
        's3.secret-access-key': 'secret',
        's3.endpoint': s3.endpoint,
        's3.region': s3.region,
      })
      for (const n of [1, 2]) s3.credentials.push({ accessKeyId: `key-${n}`, secretAccessKey: 'secret' })
      server.table(['db'], 'orders').storageCredentials = [
        { prefix: 's3a://warehouse/db', config: config(1) },
        { prefix: 's3a://warehouse/db/table/metadata/', config: config(2) },
      ]
      const table = await catalog().loadTable('db.orders')
      await plan(table)
      const of2 = s3.requests.filter(({ accessKeyId }) => accessKeyId === 'key-2')
      assert.isNotEmpty(of2)
      assert.isTrue(of2.every(({ key }) => key.startsWith('db/table/metadata/')))
      assert.isTrue(
        s3.requests
          .filter(({ accessKeyId }) => accessKeyId === 'key-1')
          .every(({ key }) => !key.startsWith('db/table/metadata/')),
      )
    })
  })
})
