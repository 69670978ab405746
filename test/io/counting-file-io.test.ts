import { assert } from 'chai'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rejection } from '../support/rejection.ts'

describe('counting', () => {
  it('adds up requests and bytes, by location and in all', async () => {
    const io = new CountingFileIO(new MemoryFileIO([['f/a', new Uint8Array(10)]]))
    await io.open('f/a').read()
    await io.open('f/a').read({ start: 2, end: 5 })
    await rejection(io.open('f/b').read())
    await io.list!('f')
    assert.equal(io.requests, 4)
    assert.equal(io.bytes, 13)
    assert.deepEqual(Object.fromEntries(io.byLocation), {
      'f/a': { requests: 2, bytes: 13 },
      'f/b': { requests: 1, bytes: 0 },
      f: { requests: 1, bytes: 0 },
    })
    io.reset()
    assert.deepEqual([io.requests, io.bytes, io.byLocation.size], [0, 0, 0])
  })

  it('counts synchronous reads, and keeps what the store has and lacks', () => {
    const store: FileIO = {
      identity: 'sync',
      open: (location) => ({
        location,
        read: () => Promise.reject(new Error('unused')),
        readSync: () => Uint8Array.of(7),
      }),
    }
    const io = new CountingFileIO(store)
    assert.equal(io.identity, 'sync')
    assert.isUndefined(io.list)
    assert.deepEqual(io.open('a').readSync!(), Uint8Array.of(7))
    assert.deepEqual([io.requests, io.bytes], [1, 1])
    assert.notProperty(new CountingFileIO(new MemoryFileIO()).open('a'), 'readSync')
  })
})
