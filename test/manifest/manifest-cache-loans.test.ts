/** `ManifestCache`: bytes that are lent stay and count until they are back; sharing them copies them once. */
import { assert } from 'chai'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'

const file = (size: number, byte = 1) => new Uint8Array(size).fill(byte)

function kept(cache: ManifestCache, names: string): string {
  return Array.from(names)
    .filter((name) => cache.hasFile(name))
    .join('')
}

describe('ManifestCache: loans', () => {
  it('a lent file is not dropped, and counts, until it is back', () => {
    const cache = new ManifestCache({ maxFileBytes: 30 })
    cache.keepFile('a', file(20))
    const lent = cache.lend('a')!
    cache.keepFile('b', file(10))
    cache.keepFile('c', file(10))
    // Over budget with what is lent: the others go, the oldest first.
    assert.equal(kept(cache, 'abc'), 'ac')
    assert.equal(cache.fileBytes, 30)
    const other = cache.lend('c')!
    cache.keepFile('d', file(30))
    assert.isFalse(cache.hasFile('d'))
    assert.equal(cache.fileBytes, 30)
    cache.giveBack(lent)
    cache.giveBack(other)
    cache.keepFile('d', file(30))
    assert.equal(kept(cache, 'abcd'), 'd')
  })

  it('what is over budget because it was lent goes when it comes back', () => {
    const cache = new ManifestCache({ maxFileBytes: 30 })
    for (const name of ['a', 'b', 'c']) {
      const bytes = file(20)
      cache.keepFile(name, bytes)
      cache.hold(bytes)
      // As a plan does that has requested more than the budget: each is held in the turn in which it came.
    }
    assert.equal(kept(cache, 'abc'), 'a')
    assert.equal(cache.fileBytes, 20)
  })

  it('as often as it was lent', () => {
    const cache = new ManifestCache({ maxFileBytes: 10 })
    cache.keepFile('a', file(10))
    const bytes = cache.lend('a')!
    cache.hold(bytes)
    cache.lend('a')
    for (let i = 0; i < 3; i++) {
      cache.keepFile('b', file(10))
      assert.equal(kept(cache, 'ab'), 'a', `after ${i}`)
      cache.giveBack(bytes)
    }
    cache.keepFile('b', file(10))
    assert.equal(kept(cache, 'ab'), 'b')
  })

  it('giving back what is not kept, or more often than it was lent, is nothing', () => {
    const cache = new ManifestCache({ maxFileBytes: 10 })
    cache.giveBack(file(3))
    const bytes = file(10)
    cache.keepFile('a', bytes)
    cache.giveBack(bytes)
    cache.giveBack(bytes)
    cache.lend('a')
    cache.keepFile('b', file(10))
    assert.equal(kept(cache, 'ab'), 'a')
    cache.giveBack(bytes)
    cache.keepFile('b', file(10))
    cache.giveBack(bytes)
    cache.hold(bytes)
    assert.equal(kept(cache, 'ab'), 'b')
    assert.equal(cache.fileBytes, 10)
  })

  it('a hit is counted by lend and not by hold', () => {
    const cache = new ManifestCache()
    cache.keepFile('a', file(1))
    cache.hold(cache.lend('a')!)
    assert.equal(cache.fileHits, 1)
    assert.isUndefined(cache.lend('b'))
    assert.equal(cache.fileHits, 1)
  })

  it('by store and claimed length: a file of another length is another file, or a part of one', () => {
    const cache = new ManifestCache()
    cache.keepFile('a', file(5), 'store')
    assert.isDefined(cache.lend('a', 'store', 5))
    assert.isDefined(cache.lend('a', 'store'))
    assert.isUndefined(cache.lend('a', 'store', 6))
    assert.isUndefined(cache.lend('a', 'other', 5))
  })

  it('disabled: nothing is lent', () => {
    const cache = ManifestCache.disabled()
    const bytes = file(1)
    cache.keepFile('a', bytes)
    cache.hold(bytes)
    cache.giveBack(bytes)
    assert.isUndefined(cache.lend('a'))
    assert.equal(cache.fileBytes, 0)
  })
})

describe('ManifestCache: look-ups elsewhere', () => {
  it('are added to its own', () => {
    const cache = new ManifestCache()
    cache.countElsewhere(5, 2)
    cache.countElsewhere(1, 0)
    cache.findShape(Uint8Array.of(1))
    assert.deepEqual([cache.hits, cache.misses], [6, 3])
  })
})
