import { assert } from 'chai'
import fc from 'fast-check'
import { hashRange, sameBytes } from '../../src/bytes/hash.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

describe('hashRange', () => {
  it(`depends on the bytes of the range and on nothing else ${WITH_SEED}`, () => {
    const bytes = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(bytes, bytes, bytes, (before, range, after) => {
        const inside = Uint8Array.of(...before, ...range, ...after)
        const end = before.length + range.length
        const hash = hashRange(range, 0, range.length)
        assert.equal(hashRange(inside, before.length, end), hash)
        assert.isTrue(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32, `${hash} is unsigned`)
        assert.isTrue(sameBytes(inside, before.length, range, 0, range.length))
      }),
      { seed: SEED, numRuns: 300 },
    )
  })

  it('every byte of a range of up to 33 counts', () => {
    for (let length = 1; length <= 33; length++) {
      const bytes = new Uint8Array(length)
      const plain = hashRange(bytes, 0, length)
      for (let i = 0; i < length; i++) {
        bytes[i] = 1
        assert.notEqual(hashRange(bytes, 0, length), plain, `byte ${i} of ${length}`)
        assert.isFalse(sameBytes(bytes, 0, new Uint8Array(length), 0, length))
        bytes[i] = 0
      }
    }
  })
})
