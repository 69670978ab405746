import { assert } from 'chai'
import { defaultFileIO, schemeOf } from '../../src/io/default-file-io.ts'
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

  it('refuses properties that it would have to ignore', () => {
    const error = thrown(() => defaultFileIO({ properties: { 's3.remote-signing-enabled': 'true' } }))
    assert.equal(error.code, 'ERR_UNSUPPORTED')
  })
})
