import { assert } from 'chai'
import { isAmong, valueKey } from '../../src/types/value-set.ts'
import type { Value } from '../../src/types/value.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('values in sets', () => {
  const rows: [expected: boolean, value: Value, values: readonly Value[], reason: string][] = [
    [true, 5n, [4n, 5n], 'a member'],
    [false, 6n, [4n, 5n], 'no member'],
    [true, 2n ** 62n, [1n, 2n ** 62n], 'exact beyond 2^53'],
    [false, 2n ** 62n + 1n, [1n, 2n ** 62n], 'exact beyond 2^53'],
    [true, -0, [0, 1], '-0 equals 0'],
    [true, bytes('00ff'), [bytes('00'), bytes('00ff')], 'bytes by content'],
    [true, bytes('a100ff').subarray(1), [bytes('00ff'), bytes('')], 'bytes by content, wherever they lie'],
    [false, bytes('00fe'), [bytes('00'), bytes('00ff')], 'bytes by content'],
    [false, 'a', [], 'nothing is'],
  ]
  for (const [expected, value, values, reason] of rows)
    it(`${String(value)} ${expected ? 'is' : 'is not'} among ${values.map(String).join(', ')}: ${reason}`, () => {
      assert.equal(isAmong(value, values), expected)
      assert.equal(isAmong(value, values), expected, 'asked again')
      assert.equal(new Set(values.map(valueKey)).has(valueKey(value)), expected)
    })
})
