import { assert } from 'chai'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { prefixFileIO } from '../../src/io/prefix-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { rejection } from '../support/rejection.ts'

describe('a store for each prefix', () => {
  /** Every location has the store's name in it. */
  const named = (identity: string): FileIO => ({
    identity,
    open: (location) => ({ location, read: () => Promise.resolve(Buffer.from(identity)) }),
    list: () => Promise.resolve([identity]),
  })
  const io = prefixFileIO(named('rest'), [
    { prefix: 's3://b/', io: named('b') },
    { prefix: 's3://b/t/deep', io: named('deep') },
    { prefix: 's3://b/t', io: named('t') },
  ])

  const rows: [location: string, store: string][] = [
    ['s3://b/x', 'b'],
    ['s3://b/t/x', 't'],
    ['s3://b/t2/x', 't'],
    ['s3://b/t/deep/x', 'deep'],
    ['s3://b', 'rest'],
    ['S3://b/x', 'rest'],
    ['', 'rest'],
  ]
  for (const [location, store] of rows)
    it(`'${location}' is of ${store}: the longest prefix wins`, async () => {
      assert.equal(Buffer.from(await io.open(location).read()).toString(), store)
    })

  it('a folder is listed by the store of what is in it', async () => {
    assert.deepEqual(await io.list!('s3://b'), ['b'])
    assert.deepEqual(await io.list!('s3://b/t/deep/'), ['deep'])
    const plain = { identity: 'no list', open: (location: string) => new MemoryFileIO([]).open(location) }
    const error = await rejection(prefixFileIO(plain, []).list!('x'))
    assert.equal(error.code, 'ERR_UNSUPPORTED')
  })

  it('is another store if a prefix or any of the stores is another', () => {
    const identities = [
      io,
      prefixFileIO(named('rest'), []),
      prefixFileIO(named('b'), [{ prefix: 's3://b/', io: named('b') }]),
      prefixFileIO(named('b'), [{ prefix: 's3://c/', io: named('b') }]),
      prefixFileIO(named('b'), [{ prefix: 's3://b/', io: named('c') }]),
    ].map(({ identity }) => identity)
    assert.lengthOf(new Set(identities), identities.length)
  })
})
