/** The twin's own transforms against the test vectors of the specification and of the Java implementation (R14). */
import { assert } from 'chai'
import { applyOldTimeTransform, applyTransform, murmur3, twinTransform } from './transforms.ts'
import { type Cell, twinType, type Value } from './values.ts'

const HASHES: readonly [type: string, value: Value, hash: number][] = [
  ['int', 34, 2017239379],
  ['long', -1n, 1651860712],
  ['int', -(2 ** 31), -2073034792],
  ['long', 2n ** 63n - 1n, -2106506049],
  ['string', '', 0],
  ['string', 'abcde', -392455434],
  ['string', 'é', 269551495],
  ['string', '💰', -1486360756],
  ['decimal(9,2)', 1420n, -500754589],
  ['decimal(9,2)', -1n, -43192051],
  ['decimal(9,2)', 128n, 1544076949],
  ['decimal(9,2)', -129n, -435537839],
  ['decimal(38,2)', 9999999999999999999999n, 1071856878],
  ['uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 1488055340],
  ['binary', Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff), 2048059228],
  ['date', 17486, -653330422],
  ['time', 81068000000n, -662762989],
  ['timestamp', 1510871468000001n, -1207196810],
  ['timestamp_ns', 1510871468000001001n, -1207196810],
]

const RESULTS: readonly [transform: string, type: string, value: Value, result: Cell][] = [
  ['bucket[16]', 'int', -1, 8],
  ['bucket[100]', 'int', -(2 ** 31), 56],
  ['bucket[16]', 'timestamp_ns', -1n, 8],
  ['truncate[10]', 'int', -11, -20],
  ['truncate[10]', 'int', -(2 ** 31), 2147483646],
  ['truncate[2147483647]', 'int', 2147483646, -2147483647],
  ['truncate[2147483647]', 'int', -1, -2147483647],
  ['truncate[10]', 'long', -(2n ** 63n), 9223372036854775806n],
  ['truncate[50]', 'decimal(9,2)', 1065n, 1050n],
  ['truncate[10]', 'decimal(9,2)', -5n, -10n],
  ['truncate[2]', 'string', '💰💰💰', '💰💰'],
  ['year', 'timestamp', 1512123175038194n, 47],
  ['month', 'timestamp', 1512123175038194n, 575],
  ['day', 'timestamp', 1512123175038194n, 17501],
  ['hour', 'timestamp', 1512123175038194n, 420034],
  ['year', 'timestamp', -1n, -1],
  ['month', 'timestamp_ns', -1n, -1],
  ['month', 'date', -31, -1],
  ['month', 'date', -32, -2],
  ['year', 'date', -366, -2],
  ['month', 'date', -719162, -23628],
  ['void', 'int', 5, null],
]

describe('transforms of the naive twin', () => {
  for (const [type, value, hash] of HASHES) {
    it(`hashes ${type} ${String(value)} to ${hash} (R14.5)`, () => {
      // The greatest modulus but one shows all bits that a bucket number can have.
      const bucket = applyTransform(twinTransform('bucket[2147483647]'), twinType(type), value)
      assert.equal(bucket, (hash & 0x7fffffff) % 2147483647)
    })
  }
  it('keeps the sign of a hash', () => {
    assert.equal(murmur3(Buffer.from('abc')), -1277324294)
  })
  for (const [transform, type, value, result] of RESULTS) {
    it(`${transform} of ${type} ${String(value)} is ${String(result)} (R14.6-R14.9)`, () => {
      assert.equal(applyTransform(twinTransform(transform), twinType(type), value), result)
    })
  }
  it('old writers cut towards 1970, but whole days of dates and whole units stay (R3.14)', () => {
    const old = (transform: string, type: string, value: Value) =>
      applyOldTimeTransform(twinTransform(transform), twinType(type), value)
    assert.equal(old('day', 'timestamp', -1n), 0)
    assert.equal(old('day', 'timestamp', -86_400_000_000n), -1)
    assert.equal(old('day', 'timestamp', -86_400_000_001n), -1)
    assert.equal(old('day', 'date', -1), -1)
    assert.equal(old('month', 'date', -32), -1)
    assert.equal(old('month', 'date', 58), 1)
  })
})
