import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { parseType, type Type } from '../../src/types/type.ts'
import { compareStrings, compareValues, valuesEqual } from '../../src/types/value-order.ts'
import type { Value } from '../../src/types/value.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'
import { seededRandom } from '../support/record-shape.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('compareValues (R5.19, R5.20)', () => {
  const LONGS = [-(2n ** 63n), -(2n ** 53n) - 1n, -(2n ** 53n), -1n, 0n, 1n, 2n ** 53n, 2n ** 53n + 1n]
  const rows: [type: string, ascending: readonly Value[], reason: string][] = [
    ['boolean', [false, true], 'R5.19'],
    ['int', [-2_147_483_648, -1, 0, 1, 2_147_483_647], 'signed, and no difference overflows'],
    ['long', LONGS, 'exact beyond 2^53'],
    ['date', [-719_162, -1, 0, 17_501], 'numeric'],
    ['time', [0n, 1n, 86_399_999_999n], 'numeric'],
    ['timestamp', LONGS, 'integers of their unit'],
    ['timestamptz', LONGS, 'integers of their unit'],
    ['timestamp_ns', LONGS, 'integers of their unit'],
    ['timestamptz_ns', LONGS, 'integers of their unit'],
    ['decimal(38,2)', [-(10n ** 38n) + 1n, -128n, -1n, 0n, 255n, 256n, 10n ** 38n - 1n], 'numeric'],
    ['float', [-Infinity, -1.5, 0, 1.401298464324817e-45, Infinity, NaN], 'NaN stands last'],
    ['double', [-Infinity, -1.5, -5e-324, 0, 5e-324, Infinity, NaN], 'NaN stands last'],
    ['string', ['', 'A', 'AB', 'B', 'a', '\u00e9', '\u65e5', '\u{1f600}'], 'shorter prefix first'],
    [
      'string',
      ['\ud7ff', '\ue000', '\uff5e', '\uffff', '\u{10000}', '\u{10ffff}'],
      'code points, not UTF-16',
    ],
    ['string', ['x\uffffa', 'x\u{10000}', 'x\u{10000}a', 'x\u{10001}'], 'in the middle, low surrogates'],
    [
      'uuid',
      [
        '00000000-0000-0000-0000-000000000000',
        '10000000-0000-0000-0000-000000000000',
        '7fffffff-ffff-ffff-ffff-ffffffffffff',
        '80000000-0000-0000-0000-000000000000',
        'a0000000-0000-0000-0000-000000000000',
        'ffffffff-ffff-ffff-ffff-ffffffffffff',
      ],
      'unsigned bytes, unlike Java',
    ],
    ['fixed[2]', [bytes('0000'), bytes('00ff'), bytes('7fff'), bytes('8000'), bytes('ff00')], 'unsigned'],
    [
      'binary',
      [bytes(''), bytes('00'), bytes('0000'), bytes('7f'), bytes('80'), bytes('ff')],
      'unsigned, shorter first',
    ],
  ]
  for (const [type, ascending, reason] of rows)
    it(`${type}: ${reason}`, () => {
      const parsed = parseType(type)
      ascending.forEach((a, i) => {
        ascending.forEach((b, j) => {
          assert.equal(Math.sign(compareValues(parsed, a, b)), Math.sign(i - j), `${String(a)}, ${String(b)}`)
          assert.equal(valuesEqual(parsed, a, b), i === j)
        })
      })
    })

  for (const type of ['float', 'double'])
    it(`${type}: -0 equals 0, and NaN itself (R11.22a)`, () => {
      assert.isTrue(valuesEqual(parseType(type), -0, 0))
      assert.isTrue(valuesEqual(parseType(type), NaN, NaN))
      assert.isAbove(compareValues(parseType(type), NaN, Infinity), 0)
      assert.isBelow(compareValues(parseType(type), -Infinity, NaN), 0)
    })

  it('bytes are compared by content, whatever holds them', () => {
    assert.isTrue(valuesEqual({ kind: 'binary' }, new Uint8Array([1, 2]), bytes('00010203').subarray(1, 3)))
  })

  const STRUCT: Type = { kind: 'struct', fields: [] }
  for (const type of [parseType('unknown'), parseType('variant'), parseType('geometry'), STRUCT])
    it(`refuses ${type.kind}`, () => {
      try {
        compareValues(type, 1, 2)
        assert.fail('they were compared')
      } catch (error) {
        assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'))
      }
    })
})

describe('compareStrings', () => {
  it(`is the order of the UTF-8 bytes ${WITH_SEED}`, () => {
    const random = seededRandom(SEED)
    const points = [
      0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xff5e, 0xffff, 0x10000, 0x1f600, 0x10ffff,
    ]
    const text = (): string =>
      String.fromCodePoint(
        ...Array.from(
          { length: Math.floor(random() * 4) },
          () => points[Math.floor(random() * points.length)],
        ),
      )
    for (let i = 0; i < 20_000; i++) {
      const [a, b] = [text(), text()]
      assert.equal(
        Math.sign(compareStrings(a, b)),
        Buffer.compare(Buffer.from(a), Buffer.from(b)),
        `${JSON.stringify(a)}, ${JSON.stringify(b)}`,
      )
    }
  })
})
