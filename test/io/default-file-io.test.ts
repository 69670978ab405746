import { assert } from 'chai'
import { defaultFileIO, schemeOf, type StorageOptions } from '../../src/io/default-file-io.ts'
import { rejection, thrown } from '../support/rejection.ts'
import { startS3Server } from '../support/s3-server.ts'

describe('the default FileIO', () => {
  describe('schemes (B180)', () => {
    const rows: [location: string, scheme: string | undefined, why: string][] = [
      ['/data/t', undefined, 'a path'],
      ['C:/t', undefined, 'a drive letter'],
      ['c:\\t', undefined, 'a drive letter'],
      ['/a:b/c', undefined, 'a colon inside a path'],
      ['ts=12:00/x', undefined, 'an equals sign is not part of a scheme'],
      ['file:/x', 'file', 'one slash'],
      ['FILE:///x', 'file', 'no case'],
      ['s3a://b/k', 's3a', 'digits'],
      ['git+ssh://h/x', 'git+ssh', 'RFC 3986 allows it'],
    ]
    for (const [location, scheme, why] of rows)
      it(`${location}: ${scheme ?? 'none'}, ${why}`, () => {
        assert.equal(schemeOf(location), scheme)
      })
  })

  const refused = ['gs', 'gcs', 'abfs', 'abfss', 'wasb', 'wasbs', 'oss', 'hdfs', 'viewfs', 'gopher']
  for (const scheme of refused)
    it(`says which scheme it has no store for: ${scheme}`, async () => {
      const io = defaultFileIO()
      const location = `${scheme}://fs@host/k`
      const error = thrown(() => io.open(location))
      assert.equal(error.code, 'ERR_UNSUPPORTED')
      assert.include(error.message, location)
      assert.include(error.message, `scheme, ${scheme}:`)
      assert.equal((await rejection(io.list!(location))).code, 'ERR_UNSUPPORTED')
    })

  it('reads and lists local files, with and without a scheme', async () => {
    const io = defaultFileIO()
    const here = new URL('.', import.meta.url).pathname
    assert.include(await io.list!(here), 'default-file-io.test.js')
    assert.isAbove((await io.open(`file:${here}default-file-io.test.js`).read()).length, 0)
    assert.property(io.open(`${here}x`), 'readSync')
  })

  it('opens HTTP, which cannot be listed', async () => {
    const io = defaultFileIO()
    assert.equal(io.open('HTTPS://example.org/a').location, 'HTTPS://example.org/a')
    const error = await rejection(io.list!('https://example.org/a'))
    assert.equal(error.code, 'ERR_UNSUPPORTED')
    assert.include(error.message, 'https://example.org')
  })

  it('opens S3 under all its names, by options that win over properties', async () => {
    const server = await startS3Server()
    const [credentials] = server.credentials
    server.put('bucket', 'k', new Uint8Array([1, 2]))
    try {
      const properties = { 's3.endpoint': server.endpoint, 's3.anonymous': 'true' }
      const io = defaultFileIO({ properties, s3: { credentials } })
      for (const scheme of ['s3', 's3a', 'S3N'])
        assert.deepEqual([...(await io.open(`${scheme}://bucket/k`).read())], [1, 2])
      assert.deepEqual(await io.list!('s3://bucket/'), ['k'])
      assert.isTrue(server.requests.every(({ accessKeyId }) => accessKeyId === credentials.accessKeyId))
    } finally {
      await server.close()
    }
  })

  it('two endpoints or two credentials are two identities', () => {
    const keys = (id: string) => ({ 's3.access-key-id': id, 's3.secret-access-key': 'hush' })
    const identities = [
      defaultFileIO(),
      defaultFileIO({ properties: { 's3.endpoint': 'http://h' } }),
      defaultFileIO({ properties: keys('a') }),
      defaultFileIO({ properties: keys('b') }),
      defaultFileIO({ properties: keys('b'), s3: { anonymous: true } }),
    ].map(({ identity }) => identity)
    assert.lengthOf([...new Set(identities)], identities.length)
    assert.equal(defaultFileIO({ properties: keys('a') }).identity, identities[2])
    assert.notMatch(identities.join(), /hush/)
  })

  describe('settings for S3 that cannot be used', () => {
    const rows: [title: string, options: StorageOptions, env: Record<string, string>, code: string][] = [
      ['a property', { properties: { 's3.remote-signing-enabled': 'true' } }, {}, 'ERR_UNSUPPORTED'],
      ['an option', { s3: { attempts: NaN } }, {}, 'ERR_INVALID_ARGUMENT'],
      ['the environment', {}, { AWS_ENDPOINT_URL: 'localhost:9000' }, 'ERR_INVALID_ARGUMENT'],
    ]
    for (const [title, options, env, code] of rows)
      it(`${title}: an error for what is in S3, and for nothing else`, async () => {
        const before = process.env['AWS_ENDPOINT_URL']
        Object.assign(process.env, env)
        try {
          const io = defaultFileIO(options)
          assert.isString(io.identity)
          assert.isAbove((await io.open(new URL(import.meta.url).pathname).read()).length, 0)
          assert.equal(io.open('http://h/x').location, 'http://h/x')
          assert.equal(thrown(() => io.open('s3://bucket/k')).code, code)
          assert.equal((await rejection(io.list!('s3://bucket/k'))).code, code)
        } finally {
          if (before === undefined) Reflect.deleteProperty(process.env, 'AWS_ENDPOINT_URL')
          else process.env['AWS_ENDPOINT_URL'] = before
        }
      })
  })

  describe('credentials of the call replace all that the properties say of them', () => {
    const properties: Record<string, string>[] = [
      { 'client.credentials-provider': 'com.example.Provider' },
      { 's3.access-key-id': 'half' },
      { 's3.anonymous': 'true' },
      { 'client.assume-role.arn': 'arn:aws:iam::1:role/r' },
    ]
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    const wanted = defaultFileIO({ s3: { credentials } }).identity
    for (const given of properties)
      it(JSON.stringify(given), () => {
        const io = defaultFileIO({ properties: given, s3: { credentials } })
        assert.equal(io.identity, wanted)
        assert.equal(io.open('s3://bucket/k').location, 's3://bucket/k')
      })
  })

  it('files over HTTP are kept on disk only under an identity that lasts', () => {
    const credentials = () => Promise.resolve({ accessKeyId: 'a', secretAccessKey: 'b' })
    const rows: [StorageOptions, boolean][] = [
      [{}, true],
      [{ s3: { credentials, credentialScope: 'me' } }, true],
      [{ s3: { credentials } }, false],
    ]
    for (const [options, isRemote] of rows)
      assert.equal(defaultFileIO(options).open('http://h/x.avro').isRemote, isRemote)
  })

  it('tables that are loaded one after the other share connections and credentials', async () => {
    const server = await startS3Server()
    const [keys] = server.credentials
    server.put('bucket', 'k', new Uint8Array([1]))
    const { endpoint } = server
    try {
      const read = async (s3: StorageOptions['s3'], path = 's3://bucket/k'): Promise<unknown> =>
        await defaultFileIO({ s3: { endpoint, ...s3 } })
          .open(path)
          .read()
      let calls = 0
      const credentials = () => {
        calls++
        return Promise.resolve(keys)
      }
      for (let i = 0; i < 5; i++) {
        await read({ credentials: keys })
        await read({ credentials, credentialScope: 'x' })
      }
      assert.lengthOf([...new Set(server.requests.map(({ connection }) => connection))], 1)
      assert.equal(calls, 1)
      server.credentials = []
      assert.match((await rejection(read({ credentials: keys }))).message, /InvalidAccessKeyId/)
    } finally {
      await server.close()
    }
  })

  it('a signature in a location of another scheme is not repeated', () => {
    const error = thrown(() => defaultFileIO().open('abfss://fs@account/f?sig=hush'))
    assert.notInclude(error.message, 'hush')
    assert.include(error.message, 'abfss://fs@account/f?sig=***')
  })
})
