import { assert } from 'chai'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rejection } from '../support/rejection.ts'

const bytes = Uint8Array.of(1, 2, 3, 4)

describe('files in memory', () => {
  it('are read whole and in ranges, in copies', async () => {
    const io = new MemoryFileIO([['mem://a', bytes]])
    const whole = await io.open('mem://a').read()
    assert.deepEqual(whole, bytes)
    whole.fill(0)
    assert.deepEqual(await io.open('mem://a').read({ start: 1, end: 3 }), Uint8Array.of(2, 3))
    assert.deepEqual(await io.open('mem://a').read({ start: 9, end: 9 }), new Uint8Array(0))
  })

  it('have no synchronous read, like those of an object store', () => {
    assert.notProperty(new MemoryFileIO().open('mem://a'), 'readSync')
  })

  it('fail like those of a store', async () => {
    const io = new MemoryFileIO([['mem://a', bytes]])
    const read = async (location: string, start: number, end: number): Promise<string> =>
      (await rejection(io.open(location).read({ start, end }))).code
    assert.equal(await read('mem://b', 0, 1), 'ERR_NOT_FOUND')
    assert.equal(await read('mem://a', 2, 5), 'ERR_STORAGE')
    assert.equal(await read('mem://a', 3, 2), 'ERR_INVALID_ARGUMENT')
    const reason = new Error('enough')
    assert.equal(
      await rejection(io.open('mem://a').read(undefined, { signal: AbortSignal.abort(reason) })),
      reason,
    )
    assert.equal(await rejection(io.list('mem:/', { signal: AbortSignal.abort(reason) })), reason)
  })

  it('are listed by prefix, without those deeper down', async () => {
    const keys = ['s3://b/t/1', 's3://b/t/2 #?%2F', 's3://b/t/sub/3', 's3://b/t2/4', 's3://b/t/']
    const io = new MemoryFileIO(keys.map((key) => [key, bytes]))
    assert.sameMembers(await io.list('s3://b/t'), ['1', '2 #?%2F'])
    assert.sameMembers(await io.list('s3://b/t/'), ['1', '2 #?%2F'])
    assert.deepEqual(await io.list('s3://b/none'), [])
  })

  it('of two instances are not the same files', () => {
    assert.notEqual(new MemoryFileIO().identity, new MemoryFileIO().identity)
  })
})
