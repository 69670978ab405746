import { assert } from 'chai'
import { applyTransform } from '../../../src/types/transforms/apply-transform.ts'
import { codePointCount, truncateString } from '../../../src/types/transforms/truncate.ts'
import { parseTransform } from '../../../src/types/transforms/transform.ts'
import { parseType } from '../../../src/types/type.ts'
import type { Value } from '../../../src/types/value.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('truncate (R14.6 to R14.8, vectors 66 to 87 of section 14.4)', () => {
  const rows: [vector: string, width: number, type: string, value: Value, result: Value, reason?: string][] =
    [
      ['66', 10, 'int', 0, 0],
      ['66', 10, 'int', 1, 0],
      ['66', 10, 'int', 5, 0],
      ['66', 10, 'int', 9, 0],
      ['67', 10, 'int', 10, 10],
      ['67', 10, 'int', 11, 10],
      ['68', 10, 'int', -1, -10, 'B054: down, not towards zero'],
      ['68', 10, 'int', -10, -10],
      ['69', 10, 'int', -11, -20, 'B054'],
      ['70', 10, 'int', -2_147_483_648, 2_147_483_646, 'wraps'],
      ['71', 10, 'int', 2_147_483_647, 2_147_483_640],
      ['72', 3, 'int', -4, -6],
      ['73', 1, 'int', -7, -7],
      ['74', 2_147_483_647, 'int', 2_147_483_646, -2_147_483_647, 'the sum in the middle wraps'],
      ['75', 2_147_483_647, 'int', -1, -2_147_483_647],
      ['76', 10, 'long', -9_223_372_036_854_775_808n, 9_223_372_036_854_775_806n, 'wraps'],
      ['66 as long', 10, 'long', 9n, 0n],
      ['69 as long', 10, 'long', -11n, -20n],
      ['70 as long', 10, 'long', -2_147_483_648n, -2_147_483_650n, 'no int: nothing wraps'],
      ['74 as long', 2_147_483_647, 'long', 2_147_483_646n, 0n, 'no int: nothing wraps'],
      ['77', 10, 'decimal(9,2)', 1234n, 1230n, '12.34 to 12.30'],
      ['78', 50, 'decimal(9,2)', 1065n, 1050n, '10.65 to 10.50'],
      ['79', 10, 'decimal(9,2)', 5n, 0n, '0.05 to 0.00'],
      ['80', 10, 'decimal(9,2)', -5n, -10n, '-0.05 to -0.10'],
      ['81', 10, 'decimal(9,0)', -1n, -10n],
      [
        'R14.7',
        10,
        'decimal(38,0)',
        -(10n ** 38n - 1n),
        -(10n ** 38n),
        'a digit more than the type, no wrap',
      ],
      ['82', 3, 'string', 'iceberg', 'ice'],
      ['83', 5, 'string', 'abc', 'abc'],
      ['84', 2, 'string', '💰💰💰', '💰💰'],
      ['85', 1, 'string', 'e\u0301x', 'e', 'a grapheme may be split'],
      ['86', 3, 'string', '日本語テキスト', '日本語'],
      ['B055', 2, 'string', 'é😀x', 'é😀', 'code points, not bytes and not UTF-16'],
      ['B055', 2, 'string', '', ''],
      ['R14.8', 3, 'string', '💰💰', '💰💰', 'fewer code points than the width, more units'],
      ['87', 3, 'binary', bytes('0102030405'), bytes('010203')],
      ['R14.8', 3, 'binary', bytes('0102'), bytes('0102')],
      ['R14.8', 1, 'binary', bytes('c3a9'), bytes('c3'), 'bytes, whatever they say'],
    ]
  for (const [vector, width, type, value, result, reason = ''] of rows)
    it(`${vector}: truncate[${width}] of ${type} ${shown(value)} is ${shown(result)} ${reason}`, () => {
      const actual = applyTransform(parseTransform(`truncate[${width}]`), parseType(type), value)
      assert.equal(typeof actual, typeof result)
      assert.equal(shown(actual!), shown(result))
    })

  it('a huge width leaves long texts alone', () => {
    assert.equal(truncateString(2_147_483_647, '💰x'.repeat(1000)), '💰x'.repeat(1000))
  })
})

describe('codePointCount (R3.11)', () => {
  const rows: [text: string, count: number][] = [
    ['', 0],
    ['abc', 3],
    ['💰', 1],
    ['💰a', 2],
    ['é', 1],
    ['e\u0301', 2],
    ['\ud83d', 1],
  ]
  for (const [text, count] of rows)
    it(`${JSON.stringify(text)} is ${count}`, () => {
      assert.equal(codePointCount(text), count)
    })
})

function shown(value: Value): string {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
