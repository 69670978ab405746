import { assert } from 'chai'
import { murmur3 } from '../../../src/types/transforms/murmur3.ts'

describe('murmur3 (R14.5, Appendix B)', () => {
  // Vectors 10 to 16 and 34 to 39 of section 14.4: strings and binaries are hashed as they are.
  const rows: [hex: string, hash: number, reason: string][] = [
    ['', 0, 'nothing: the seed, mixed'],
    ['61', 1_009_084_850, 'a tail of one byte'],
    ['6162', -1_681_926_305, 'a tail of two'],
    ['616263', -1_277_324_294, 'a tail of three'],
    ['61626364', 1_139_631_978, 'a block'],
    ['6162636465', -392_455_434, 'a block and a tail'],
    ['69636562657267', 1_210_000_089, 'a block and a tail of three'],
    ['00', 1_364_076_727, 'the length counts'],
    ['0001', 1_893_835_456, 'the length counts'],
    ['000102', 1_372_901_591, 'order of the bytes'],
    ['00010203', -188_683_207, 'order of the bytes'],
    ['ffffffffff', 2_048_059_228, 'bytes are unsigned'],
    ['c3a9', 269_551_495, 'bytes of the tail are unsigned'],
  ]
  for (const [hex, hash, reason] of rows)
    it(`"${hex}": ${reason}`, () => {
      assert.equal(murmur3(Buffer.from(hex, 'hex')), hash)
    })
})
