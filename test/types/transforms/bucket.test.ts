import { assert } from 'chai'
import { bucketHash, bucketOf } from '../../../src/types/transforms/bucket.ts'
import { applyTransform } from '../../../src/types/transforms/apply-transform.ts'
import { parseTransform } from '../../../src/types/transforms/transform.ts'
import { parseType } from '../../../src/types/type.ts'
import type { Value } from '../../../src/types/value.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('bucketHash (R14.5, vectors 1 to 47 of section 14.4)', () => {
  const rows: [vector: number, types: string, value: Value, hash: number, reason?: string][] = [
    [1, 'int', 34, 2_017_239_379, 'Appendix B'],
    [1, 'long', 34n, 2_017_239_379, 'Appendix B: as the int'],
    [2, 'int', 0, 1_669_671_676],
    [2, 'long', 0n, 1_669_671_676],
    [3, 'int', 1, 1_392_991_556],
    [3, 'long', 1n, 1_392_991_556],
    [3, 'boolean', true, 1_392_991_556, 'as the int 1'],
    [2, 'boolean', false, 1_669_671_676, 'as the int 0'],
    [4, 'int', -1, 1_651_860_712],
    [4, 'long', -1n, 1_651_860_712],
    [5, 'int', -2_147_483_648, -2_073_034_792],
    [5, 'long', -2_147_483_648n, -2_073_034_792],
    [6, 'int', 2_147_483_647, 1_819_228_606],
    [6, 'long', 2_147_483_647n, 1_819_228_606],
    [7, 'long', 4_294_967_296n, 987_256_456],
    [8, 'long', -9_223_372_036_854_775_808n, 1_366_273_829],
    [9, 'long', 9_223_372_036_854_775_807n, -2_106_506_049],
    [10, 'string', '', 0],
    [11, 'string', 'a', 1_009_084_850, 'a tail of one byte'],
    [12, 'string', 'ab', -1_681_926_305, 'of two'],
    [13, 'string', 'abc', -1_277_324_294, 'of three'],
    [14, 'string', 'abcd', 1_139_631_978, 'of none'],
    [15, 'string', 'abcde', -392_455_434],
    [16, 'string', 'iceberg', 1_210_000_089, 'Appendix B'],
    [17, 'string', '日本', -992_347_838, 'UTF-8 of three bytes each'],
    [18, 'string', '\u00e9', 269_551_495, 'bytes are unsigned'],
    [19, 'string', '💰', -1_486_360_756],
    [20, 'string', 'string with a surrogate pair: 💰', -1_601_900_220],
    [21, 'decimal(9,2)', 1420n, -500_754_589, 'Appendix B: 14.20'],
    [22, 'decimal(9,2)', 0n, 1_364_076_727, 'one byte 00'],
    [23, 'decimal(9,2)', -1n, -43_192_051, 'B050: one byte ff'],
    [24, 'decimal(9,2)', 127n, 1_435_096_473, 'B050: one byte'],
    [25, 'decimal(9,2)', 128n, 1_544_076_949, 'B050: two, or it would be negative'],
    [26, 'decimal(9,2)', -128n, 267_099_677, 'B050: one byte'],
    [27, 'decimal(9,2)', -129n, -435_537_839, 'ff7f'],
    [28, 'decimal(9,2)', 255n, -582_037_868, '00ff'],
    [29, 'decimal(9,2)', 256n, -1_783_153_782, '0100'],
    [30, 'decimal(38,2)', 9_999_999_999_999_999_999_999n, 1_071_856_878, 'more than 64 bits'],
    [31, 'uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 1_488_055_340, 'Appendix B'],
    [32, 'uuid', '00000000-0000-0000-0000-000000000000', -2_127_245_832],
    [33, 'uuid', 'ffffffff-ffff-ffff-ffff-ffffffffffff', -451_333_010],
    [34, 'binary', bytes(''), 0],
    [35, 'binary', bytes('00'), 1_364_076_727],
    [36, 'binary', bytes('0001'), 1_893_835_456],
    [37, 'binary', bytes('000102'), 1_372_901_591],
    [38, 'binary', bytes('00010203'), -188_683_207, 'Appendix B'],
    [38, 'fixed[4]', bytes('00010203'), -188_683_207, 'Appendix B'],
    [39, 'binary', bytes('ffffffffff'), 2_048_059_228, 'blocks and tail are unsigned'],
    [40, 'date', 17_486, -653_330_422, 'Appendix B: 2017-11-16'],
    [41, 'time', 81_068_000_000n, -662_762_989, 'Appendix B: 22:31:08'],
    [42, 'timestamp', 1_510_871_468_000_000n, -2_047_944_441, 'Appendix B: 2017-11-16T22:31:08'],
    [42, 'timestamptz', 1_510_871_468_000_000n, -2_047_944_441, 'Appendix B: the same in UTC'],
    [43, 'timestamp', 1_510_871_468_000_001n, -1_207_196_810, 'Appendix B'],
    [44, 'timestamp_ns', 1_510_871_468_000_001_001n, -1_207_196_810, 'B049: as its microseconds'],
    [44, 'timestamptz_ns', 1_510_871_468_000_001_001n, -1_207_196_810, 'B049'],
    [45, 'double', 1, -142_385_009],
    [45, 'float', 1, -142_385_009, 'as the double'],
    [46, 'double', 0, 1_669_671_676],
    [46, 'double', -0, 1_669_671_676, 'equal numbers, equal hashes'],
    [46, 'float', -0, 1_669_671_676],
    [47, 'double', NaN, 1_428_788_237, 'every NaN'],
  ]
  for (const [vector, type, value, hash, reason = ''] of rows)
    it(`${vector}: ${type} ${shown(value)} ${reason}`, () => {
      assert.equal(bucketHash(parseType(type), value), hash)
    })

  it('B050: bytes of decimals around powers of two are the fewest that hold them', () => {
    // The hash of a binary is that of its bytes, so that it tells which ones were hashed.
    const rows: [unscaled: bigint, hex: string][] = [
      [-1n, 'ff'],
      [-128n, '80'],
      [127n, '7f'],
      [128n, '0080'],
      [32_768n, '008000'],
      [-32_768n, '8000'],
    ]
    for (const [unscaled, hex] of rows)
      assert.equal(
        bucketHash(parseType('decimal(38,0)'), unscaled),
        bucketHash({ kind: 'binary' }, bytes(hex)),
        unscaled.toString(),
      )
  })

  it('takes any view of bytes, wherever it begins', () => {
    assert.equal(bucketHash({ kind: 'binary' }, bytes('ff00010203ff').subarray(1, 5)), -188_683_207)
  })

  for (const type of ['unknown', 'variant', 'geometry', 'list'])
    it(`refuses ${type}`, () => {
      const parsed =
        type === 'list'
          ? parseType({ type, 'element-id': 3, element: 'int', 'element-required': true })
          : parseType(type)
      assert.throws(() => bucketHash(parsed, 1), /^Cannot hash a value of type .*: it has no bucket$/)
    })
})

describe('bucketOf (R14.5, vectors 48 to 65)', () => {
  const rows: [vector: number, transform: string, type: string, value: Value, bucket: number][] = [
    [48, 'bucket[16]', 'int', 34, 3],
    [49, 'bucket[16]', 'long', 34n, 3],
    [50, 'bucket[16]', 'int', -1, 8],
    [51, 'bucket[16]', 'int', 5, 7],
    [52, 'bucket[7]', 'int', 5, 1],
    [53, 'bucket[5]', 'int', 5, 3],
    [54, 'bucket[100]', 'int', 0, 76],
    [55, 'bucket[100]', 'int', -2_147_483_648, 56],
    [56, 'bucket[10]', 'string', 'iceberg', 9],
    [57, 'bucket[16]', 'string', '', 0],
    [58, 'bucket[128]', 'string', 'abcdefg', 6],
    [59, 'bucket[2147483647]', 'string', 'iceberg', 1_210_000_089],
    [60, 'bucket[16]', 'date', 17_486, 10],
    [61, 'bucket[4]', 'uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 0],
    [62, 'bucket[16]', 'decimal(9,2)', 1420n, 3],
    [63, 'bucket[16]', 'timestamp', 1_510_871_468_000_000n, 7],
    [64, 'bucket[16]', 'timestamp_ns', 1_510_871_468_000_000_000n, 7],
    [65, 'bucket[16]', 'timestamp', -1n, 8],
    // B049: one nanosecond before 1970 is in the microsecond before 1970.
    [65, 'bucket[16]', 'timestamp_ns', -1n, 8],
  ]
  for (const [vector, text, type, value, bucket] of rows)
    it(`${vector}: ${text} of ${type} ${shown(value)} is ${bucket}`, () => {
      const transform = parseTransform(text)
      assert.equal(applyTransform(transform, parseType(type), value), bucket)
      assert.isTrue(transform.kind === 'bucket')
      if (transform.kind === 'bucket')
        assert.equal(bucketOf(transform.numBuckets, parseType(type), value), bucket)
    })
})

function shown(value: Value): string {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return Object.is(value, -0) ? '-0' : String(value)
}
