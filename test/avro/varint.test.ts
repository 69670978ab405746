import { assert } from 'chai'
import { readVarint, VARINT } from '../../src/avro/varint.ts'
import { ByteWriter } from '../support/byte-writer.ts'

const encode = (value: number | bigint) => {
  const out = new ByteWriter()
  out.long(value)
  return out.toBytes()
}

describe('readVarint', () => {
  it('gives every power of two and its neighbours below 2^52, both signs', () => {
    for (let power = 0; power < 52; power++)
      for (const near of [-1, 0, 1])
        for (const sign of [1, -1]) {
          const value = sign * (2 ** power + near)
          const bytes = encode(value)
          assert.isTrue(readVarint(bytes, 0, bytes.length))
          assert.equal(VARINT.value + 0, value + 0)
          assert.equal(VARINT.next, bytes.length)
        }
  })

  it('values past 2^52 stay past 2^52, so that no test of a length lets them through', () => {
    for (const value of [
      2n ** 52n,
      2n ** 53n + 1n,
      2n ** 62n,
      2n ** 63n - 1n,
      -(2n ** 52n) - 1n,
      -(2n ** 63n),
    ]) {
      const bytes = encode(value)
      assert.isTrue(readVarint(bytes, 0, bytes.length))
      assert.isAtLeast(Math.abs(VARINT.value), 2 ** 52)
    }
  })

  it('begins anywhere and tells where it stopped', () => {
    const bytes = Uint8Array.of(0xff, 0xac, 0x02, 0xff)
    assert.isTrue(readVarint(bytes, 1, 4))
    assert.deepEqual(VARINT, { value: 150, next: 3 })
  })

  const refused: [bytes: number[], end: number, why: string][] = [
    [[], 0, 'nothing'],
    [[0x80], 1, 'a byte that announces another'],
    [[0x80, 0x01], 1, 'the rest is past the end'],
    [[...Array<number>(10).fill(0x80), 0], 11, 'eleven bytes'],
  ]
  for (const [bytes, end, why] of refused)
    it(`refuses ${why}`, () => {
      assert.isFalse(readVarint(Uint8Array.from(bytes), 0, end))
    })
})
