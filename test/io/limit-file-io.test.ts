import { assert } from 'chai'
import type { FileIO } from '../../src/io/file-io.ts'
import { limitRequests } from '../../src/io/limit-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rejection } from '../support/rejection.ts'

/** A store whose reads end when the test says so. */
class ManualFileIO implements FileIO {
  readonly identity = 'manual'
  readonly started: string[] = []
  readonly #ends = new Map<string, (bytes: Uint8Array) => void>()

  open(location: string): ReturnType<FileIO['open']> {
    return {
      location,
      read: () => {
        this.started.push(location)
        return new Promise((resolve) => this.#ends.set(location, resolve))
      },
    }
  }

  end(location: string): void {
    this.#ends.get(location)!(new Uint8Array(0))
  }
}

/** Long enough for everything that waits for nothing but its turn. */
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a limit of requests', () => {
  it('keeps the others waiting, in order', async () => {
    const store = new ManualFileIO()
    const io = limitRequests(store, 2)
    const reads = ['a', 'b', 'c', 'd'].map((name) => io.open(name).read())
    await turns()
    assert.deepEqual(store.started, ['a', 'b'])
    store.end('b')
    await reads[1]
    await turns()
    assert.deepEqual(store.started, ['a', 'b', 'c'])
    for (const name of ['a', 'c']) store.end(name)
    await turns()
    store.end('d')
    await Promise.all(reads)
  })

  it('lets the event loop turn while many reads begin that take time to begin', async () => {
    let turns = 0
    let ended = false
    const count = (): void => {
      turns++
      if (!ended) setImmediate(count)
    }
    const io = limitRequests(
      {
        identity: 'slow to begin',
        open: (location) => ({
          location,
          read: () => {
            const start = performance.now()
            while (performance.now() - start < 2);
            return Promise.resolve(new Uint8Array(0))
          },
        }),
      },
      64,
    )
    setImmediate(count)
    await Promise.all(Array.from({ length: 64 }, (_, i) => io.open(String(i)).read()))
    ended = true
    // 128 ms of work in turns of 8 ms, each of which ends at most one read later.
    assert.isAtLeast(turns, 12)
  })

  it('lets the event loop turn while many answers come that take time', async () => {
    const store = new ManualFileIO()
    const io = limitRequests(store, 64)
    const names = Array.from({ length: 64 }, (_, i) => String(i))
    const reads = names.map(async (name) => {
      await io.open(name).read()
      const start = performance.now()
      while (performance.now() - start < 2);
    })
    while (store.started.length < names.length) await turns()
    let count = 0
    let ended = false
    const turn = (): void => {
      count++
      if (!ended) setImmediate(turn)
    }
    setImmediate(turn)
    // One after another in one turn, as sockets give them.
    for (const name of names)
      setTimeout(() => {
        store.end(name)
      }, 1)
    await Promise.all(reads)
    ended = true
    assert.isAtLeast(count, 12)
  })

  it('rejects a waiting read at once when it is aborted, and never starts it', async () => {
    const store = new ManualFileIO()
    const io = limitRequests(store, 1)
    const { signal } = new AbortController()
    const controller = new AbortController()
    const first = io.open('a').read(undefined, { signal })
    const second = io.open('b').read(undefined, { signal: controller.signal })
    const third = io.open('c').read(undefined, { signal })
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await rejection(second), reason)
    store.end('a')
    await first
    await turns()
    assert.deepEqual(store.started, ['a', 'c'])
    store.end('c')
    await third
  })

  it('starts nothing for a signal that is aborted already', async () => {
    const store = new ManualFileIO()
    const reason = new Error('enough')
    const file = limitRequests(store, 1).open('a')
    assert.equal(await rejection(file.read(undefined, { signal: AbortSignal.abort(reason) })), reason)
    await turns()
    assert.deepEqual(store.started, [])
  })

  it('lets a thousand reads wait on one signal without a warning', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    const controller = new AbortController()
    const io = limitRequests(new ManualFileIO(), 1)
    const reads = Array.from({ length: 1000 }, (_, i) =>
      rejection(io.open(String(i)).read(undefined, { signal: controller.signal })),
    )
    await turns()
    controller.abort(new Error('enough'))
    // The first has started: it is up to its store to stop it.
    await Promise.all(reads.slice(1))
    await turns()
    process.off('warning', note)
    assert.deepEqual(warnings, [])
  })

  it('goes on after failures', async () => {
    const io = limitRequests(new MemoryFileIO([['b', Uint8Array.of(1)]]), 1)
    const { signal } = new AbortController()
    assert.equal((await rejection(io.open('a').read())).code, 'ERR_NOT_FOUND')
    assert.equal((await rejection(io.open('a').read(undefined, { signal }))).code, 'ERR_NOT_FOUND')
    assert.deepEqual(await io.open('b').read(undefined, { signal }), Uint8Array.of(1))
  })

  it('bounds listings too', async () => {
    const store = new ManualFileIO()
    const io = limitRequests(
      { identity: 'lists', open: (location) => store.open(location), list: () => Promise.resolve(['a']) },
      1,
    )
    const read = io.open('x').read()
    let listed = false
    const listing = io.list!('f').then(() => (listed = true))
    await turns()
    assert.isFalse(listed)
    store.end('x')
    await Promise.all([read, listing])
  })

  it('keeps what the store has and lacks', () => {
    const store = new ManualFileIO()
    assert.equal(limitRequests(store).identity, 'manual')
    assert.notProperty(limitRequests(store), 'list')
    assert.notProperty(limitRequests(store).open('a'), 'readSync')
    const sync: FileIO = {
      identity: 'sync',
      open: (location) => ({
        location,
        read: () => Promise.reject(new Error('unused')),
        readSync: () => Uint8Array.of(7),
      }),
    }
    assert.deepEqual(limitRequests(sync).open('a').readSync!(), Uint8Array.of(7))
  })
})
