import { assert } from 'chai'
import fc from 'fast-check'
import { ByteDictionary, PackedStrings } from '../../src/bytes/byte-dictionary.ts'
import { hashRange } from '../../src/bytes/hash.ts'
import { collidingPair } from '../support/colliding-pair.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const intern = (dictionary: ByteDictionary, bytes: Uint8Array) => dictionary.intern(bytes, 0, bytes.length)
const find = (dictionary: ByteDictionary, bytes: Uint8Array) => dictionary.find(bytes, 0, bytes.length)

describe('ByteDictionary', () => {
  it('numbers strings in the order of their first appearance', () => {
    const dictionary = new ByteDictionary()
    const numbers = ['b', 'a', 'b', 'c', 'a', 'a', 'b'].map((text) => intern(dictionary, bytesOf(text)))
    assert.deepEqual(numbers, [0, 1, 0, 2, 1, 1, 0])
    assert.equal(dictionary.count, 3)
    assert.deepEqual(
      [0, 1, 2].map((i) => Buffer.from(dictionary.at(i)).toString()),
      ['b', 'a', 'c'],
    )
  })

  it('takes a range out of a larger array', () => {
    const dictionary = new ByteDictionary()
    const text = bytesOf('xxabcxxabc')
    assert.equal(dictionary.intern(text, 2, 5), 0)
    assert.equal(dictionary.intern(text, 7, 10), 0)
    assert.equal(dictionary.find(text, 2, 4), -1)
    assert.equal(find(dictionary, bytesOf('abc')), 0)
  })

  it('keeps what it was given when the source changes', () => {
    const dictionary = new ByteDictionary()
    const bytes = bytesOf('abc')
    intern(dictionary, bytes)
    bytes.fill(0)
    assert.equal(find(dictionary, bytesOf('abc')), 0)
    assert.equal(intern(dictionary, bytes), 1)
  })

  it('the empty string is a string', () => {
    const dictionary = new ByteDictionary()
    assert.equal(find(dictionary, new Uint8Array(0)), -1)
    assert.equal(intern(dictionary, bytesOf('a')), 0)
    assert.equal(intern(dictionary, new Uint8Array(0)), 1)
    assert.equal(intern(dictionary, new Uint8Array(0)), 1)
    assert.equal(intern(dictionary, bytesOf('b')), 2)
    assert.equal(find(dictionary, new Uint8Array(0)), 1)
    assert.equal(dictionary.at(1).length, 0)
  })

  it('a string and the same with a zero after it are two', () => {
    const dictionary = new ByteDictionary()
    assert.equal(intern(dictionary, Uint8Array.of(7)), 0)
    assert.equal(intern(dictionary, Uint8Array.of(7, 0)), 1)
    assert.equal(intern(dictionary, Uint8Array.of(0, 7)), 2)
  })

  it('tells strings with the same hash apart by their bytes', () => {
    const [a, b] = collidingPair()
    assert.equal(hashRange(a, 0, 8), hashRange(b, 0, 8))
    const dictionary = new ByteDictionary()
    assert.equal(intern(dictionary, a), 0)
    assert.equal(find(dictionary, b), -1)
    assert.equal(intern(dictionary, b), 1)
    assert.equal(intern(dictionary, a), 0)
    assert.equal(find(dictionary, a), 0)
    assert.equal(find(dictionary, b), 1)
  })

  it('grows past 2^16 strings and finds each of them', () => {
    const dictionary = new ByteDictionary()
    const count = 70_000
    const key = new Uint8Array(5)
    const view = new DataView(key.buffer)
    for (let i = 0; i < count; i++) {
      view.setUint32(1, i)
      assert.equal(dictionary.intern(key, 0, 5), i)
    }
    assert.equal(dictionary.count, count)
    for (let i = count - 1; i >= 0; i--) {
      view.setUint32(1, i)
      if (dictionary.find(key, 0, 5) !== i || dictionary.intern(key, 0, 5) !== i)
        assert.fail(`lost string ${i}`)
    }
    view.setUint32(1, count)
    assert.equal(dictionary.find(key, 0, 5), -1)
  })

  it('takes a string longer than all its memory', () => {
    const dictionary = new ByteDictionary()
    intern(dictionary, bytesOf('small'))
    const long = new Uint8Array(1_000_000).fill(9)
    assert.equal(intern(dictionary, long), 1)
    assert.equal(Buffer.compare(dictionary.at(1), long), 0)
    assert.equal(Buffer.from(dictionary.at(0)).toString(), 'small')
  })

  it('clear forgets all strings, and numbers begin again', () => {
    const dictionary = new ByteDictionary()
    dictionary.clear()
    for (let i = 0; i < 100; i++) intern(dictionary, bytesOf(`key ${i}`))
    dictionary.clear()
    assert.equal(dictionary.count, 0)
    assert.equal(find(dictionary, bytesOf('key 99')), -1)
    assert.equal(intern(dictionary, bytesOf('key 99')), 0)
    assert.equal(intern(dictionary, bytesOf('key 0')), 1)
    assert.equal(Buffer.from(dictionary.at(0)).toString(), 'key 99')
    assert.equal(find(dictionary, bytesOf('key 1')), -1)
  })

  it(`does what a Map does ${WITH_SEED}`, () => {
    const key = fc.uint8Array({ maxLength: 6, max: 3 })
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.record({ what: fc.constant('intern'), key }) },
      { weight: 10, arbitrary: fc.record({ what: fc.constant('find'), key }) },
      { weight: 1, arbitrary: fc.record({ what: fc.constant('clear'), key }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const dictionary = new ByteDictionary()
        const twin = new Map<string, number>()
        for (const { what, key } of steps) {
          const name = key.join()
          if (what === 'clear') {
            dictionary.clear()
            twin.clear()
          } else if (what === 'find') {
            assert.equal(find(dictionary, key), twin.get(name) ?? -1)
          } else {
            const number = twin.get(name) ?? twin.size
            twin.set(name, number)
            assert.equal(intern(dictionary, key), number)
          }
          assert.equal(dictionary.count, twin.size)
        }
        for (const [name, number] of twin) assert.equal(dictionary.at(number).join(), name)
      }),
      { seed: SEED, numRuns: 300 },
    )
  })
})

describe('PackedStrings', () => {
  it('reads what a dictionary holds', () => {
    const dictionary = new ByteDictionary()
    for (const text of ['b', '', 'abc']) intern(dictionary, bytesOf(text))
    const packed = new PackedStrings(dictionary.heap, dictionary.offsets.slice(0, dictionary.count + 1))
    assert.equal(packed.count, 3)
    assert.deepEqual(
      [0, 1, 2].map((i) => Buffer.from(packed.at(i)).toString()),
      ['b', '', 'abc'],
    )
  })
})
