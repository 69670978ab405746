import { assert } from 'chai'
import fc from 'fast-check'
import { ByteReferences } from '../../src/bytes/byte-references.ts'
import { collidingPair } from '../support/colliding-pair.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const intern = (strings: ByteReferences, bytes: Uint8Array) => strings.intern(bytes, 0, bytes.length)
const find = (strings: ByteReferences, bytes: Uint8Array) => strings.find(bytes, 0, bytes.length)

describe('ByteReferences', () => {
  it('numbers strings of several arrays in the order of their first appearance', () => {
    const strings = new ByteReferences(4)
    const [one, other] = [bytesOf('xxabcxxabcd'), bytesOf('abcab')]
    assert.equal(strings.intern(one, 2, 5), 0)
    assert.equal(strings.intern(other, 3, 5), 1)
    assert.equal(strings.intern(one, 7, 10), 0)
    assert.equal(strings.intern(other, 0, 3), 0)
    assert.equal(strings.intern(one, 7, 11), 2)
    assert.equal(strings.count, 3)
    assert.deepEqual(
      ['abc', 'ab', 'abcd', 'a', ''].map((text) => find(strings, bytesOf(text))),
      [0, 1, 2, -1, -1],
    )
  })

  it('without room nothing is found', () => {
    const strings = new ByteReferences(0)
    assert.equal(find(strings, bytesOf('a')), -1)
    assert.throws(() => intern(strings, bytesOf('a')), RangeError)
  })

  it('as many as there is room for, and no more', () => {
    const strings = new ByteReferences(3)
    for (const [i, text] of ['a', 'b', ''].entries()) assert.equal(intern(strings, bytesOf(text)), i)
    assert.equal(intern(strings, bytesOf('b')), 1)
    assert.throws(() => intern(strings, bytesOf('c')), RangeError, /3 strings/)
    assert.equal(find(strings, bytesOf('')), 2)
  })

  it('tells strings with the same hash apart by their bytes', () => {
    const [a, b] = collidingPair()
    const strings = new ByteReferences(2)
    assert.equal(intern(strings, a), 0)
    assert.equal(find(strings, b), -1)
    assert.equal(intern(strings, b), 1)
    assert.equal(intern(strings, a), 0)
    assert.deepEqual([find(strings, a), find(strings, b)], [0, 1])
  })

  it(`does what a Map does ${WITH_SEED}`, () => {
    const key = fc.uint8Array({ maxLength: 6, max: 3 })
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200, size: 'max' }), (keys) => {
        const strings = new ByteReferences(keys.length)
        const twin = new Map<string, number>()
        for (const key of keys) {
          const name = key.join()
          assert.equal(find(strings, key), twin.get(name) ?? -1)
          const number = twin.get(name) ?? twin.size
          twin.set(name, number)
          assert.equal(intern(strings, key), number)
          assert.equal(strings.count, twin.size)
        }
      }),
      { seed: SEED, numRuns: 300 },
    )
  })
})
