import { assert } from 'chai'
import { boundOrders, encodeBound, type BoundBytes } from '../../src/expressions/bound-order.ts'
import { parseType } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import { hex } from './stated-metrics.ts'

/** In the middle of other bytes. */
function bound(text: string): BoundBytes {
  const value = hex(text)
  const bytes = new Uint8Array(value.length + 11).fill(0x5a)
  bytes.set(value, 5)
  return { bytes, offset: 5, length: value.length }
}

describe('order of bounds', () => {
  // Each line is in ascending order; equal ones are joined by "=".
  const lines: [type: string, ascending: string[], why: string][] = [
    ['boolean', ['00', '01 = 7f'], 'R5.19, R13.1: any byte but 0 is true'],
    ['int', ['00000080', 'ffffffff', '00000000', '22000000', 'ffffff7f'], 'R5.19'],
    ['date', ['ffffffff', 'e8030000'], 'R5.19'],
    [
      'long',
      [
        '0000000000000080',
        '00000080 = 00000080ffffffff',
        'f6ffffff = f6ffffffffffffff',
        '00000000 = 0000000000000000',
        '0a000000',
        'ffffffff00000000',
        '0000000001000000',
        'ffffffffffffff7f',
      ],
      'B086: an int among longs is sign-extended; low words are unsigned',
    ],
    ['time', ['0100000000000000', '0000000001000000'], 'R5.19'],
    [
      'timestamp',
      [
        'ffffffff = 00a028e2ebffffff',
        'ffffffffffffffff',
        '00000000 = 0000000000000000',
        '51440000 = 0060a5a64a5e0500',
        '0160a5a64a5e0500',
      ],
      'R5.22: four bytes are days',
    ],
    [
      'timestamp_ns',
      ['ffffffff = 0000b16e6bb1ffff', '00000000 = 0000000000000000', '01000000 = 00004f91944e0000'],
      'R5.22',
    ],
    ['timestamptz', ['ffffffffffffffff', '0000000000000000'], 'R5.19'],
    ['float', ['000080ff', '000090c0', '00000080 = 00000000', '01000000', '0000807f'], 'R5.20: -0.0 is 0.0'],
    [
      'double',
      [
        '000000000000f0ff',
        '000090c0',
        '0000000000000080 = 00000080 = 00000000',
        '0000000000001840',
        '000000000000f07f',
      ],
      'B086: floats among doubles',
    ],
    [
      'decimal(38, 2)',
      [
        '80000000000000000000000000000000',
        '7fff'.padStart(8, 'f'),
        '8000',
        'ff7f',
        '80',
        'ff = ffff = ffffffff',
        '00 = 0000',
        '01',
        '7f = 007f',
        '0080',
        '00ff',
        '0100',
        '4b3b4ca85a86c47a098a223fffffffff',
      ],
      'R13.2, B100: any length',
    ],
    ['string', ['', '00', '61', '6162', '62', 'efbfbf', 'f0908080'], 'R5.20, B095: U+FFFF is before U+10000'],
    ['binary', ['', '00', '7f', '7fff', '80'], 'R5.19'],
    ['fixed[2]', ['0001', '0100', 'ff00'], 'R5.19'],
  ]
  for (const [type, ascending, why] of lines)
    it(`${type}: ${why}`, () => {
      const [order] = boundOrders(parseType(type))
      const ranked = ascending.flatMap((step, rank) =>
        step.split(' = ').map((text) => ({ text, rank, bytes: bound(text) })),
      )
      for (const a of ranked) {
        assert.isTrue(order.isUsable(a.bytes), a.text)
        for (const b of ranked)
          assert.equal(
            Math.sign(order.compare(a.bytes, b.bytes)),
            Math.sign(a.rank - b.rank),
            `${a.text} against ${b.text}`,
          )
      }
    })

  it('float: the total order puts -0.0 before 0.0, and changes nothing else', () => {
    const [{ compareTotal }] = boundOrders(parseType('float'))
    const ascending = ['000080ff', '00000080', '00000000', '0000807f'].map(bound)
    for (const [i, a] of ascending.entries())
      for (const [j, b] of ascending.entries()) assert.equal(Math.sign(compareTotal(a, b)), Math.sign(i - j))
  })

  it('uuid: by bytes, and by signed halves as Java has it (R5.20)', () => {
    const [unsigned, signed] = boundOrders(parseType('uuid'))
    const half = '0000000000000000'
    const cases: [a: string, b: string, byBytes: number, byHalves: number][] = [
      [`10${half.slice(2)}${half}`, `f0${half.slice(2)}${half}`, -1, 1],
      [`80${half.slice(2)}${half}`, `7f${half.slice(2)}${half}`, 1, -1],
      [`${half}10${half.slice(2)}`, `${half}f0${half.slice(2)}`, -1, 1],
      [`${half}0010${half.slice(4)}`, `${half}00f0${half.slice(4)}`, -1, -1],
      [`90${half.slice(2)}${half}`, `f0${half.slice(2)}${half}`, -1, -1],
      [`${half}${half}`, `${half}${half}`, 0, 0],
    ]
    for (const [a, b, byBytes, byHalves] of cases) {
      assert.equal(Math.sign(unsigned.compare(bound(a), bound(b))), byBytes, `${a} ${b}`)
      assert.equal(Math.sign(signed.compare(bound(a), bound(b))), byHalves, `${a} ${b}`)
    }
  })

  describe('what cannot be compared', () => {
    const unusable: [type: string, bytes: string, why: string][] = [
      ['boolean', '', 'no byte'],
      ['boolean', '0000', 'two bytes'],
      ['int', '220000', 'three bytes'],
      ['int', '2200000000000000', 'B224: eight bytes are not cut'],
      ['long', '220000000000000000', 'B224: nine bytes are not cut'],
      ['long', '2200000000', 'five bytes'],
      ['date', '2200000000000000', 'eight bytes'],
      ['time', '22000000', 'R5.22: nothing becomes a time'],
      ['timestamptz', '51440000', 'R5.22: no date becomes one'],
      ['timestamp', '5144', 'two bytes'],
      ['timestamp', 'ffffff7f', 'R5.22: a day beyond 64 bits of microseconds'],
      ['timestamp_ns', '00a10100', 'R5.22: the first day beyond 64 bits of nanoseconds'],
      ['timestamp_ns', '00000080', 'R5.22: a day beyond 64 bits of nanoseconds'],
      ['float', '0000c07f', 'B087: NaN'],
      ['float', '0000000000001840', 'eight bytes'],
      ['double', '000000000000f8ff', 'B087: NaN, negative'],
      ['double', '0000c07f', 'B087: NaN, written as float'],
      ['decimal(9,2)', '', 'no byte'],
      ['decimal(9,2)', '0080000000000000000000000000000000', '17 bytes that count'],
      ['uuid', 'f79c3e09677c4bbda4793f349cb785', 'fifteen bytes'],
    ]
    for (const [type, bytes, why] of unusable)
      it(`${type} ${bytes}: ${why}`, () => {
        for (const order of boundOrders(parseType(type))) assert.isFalse(order.isUsable(bound(bytes)))
      })

    it('padding does not make a decimal too long', () => {
      const [order] = boundOrders(parseType('decimal(9,2)'))
      assert.isTrue(order.isUsable(bound('ff'.repeat(40))))
    })

    it('the last day of timestamp_ns can', () => {
      const [order] = boundOrders(parseType('timestamp_ns'))
      assert.isTrue(order.isUsable(bound('ffa00100')), '106751 days are 2262-04-11')
    })

    it('types without order (R13.5)', () => {
      for (const type of ['unknown', 'variant', 'geometry', 'geography'])
        assert.isEmpty(boundOrders(parseType(type)))
    })
  })

  describe('literals as bytes (R13.1)', () => {
    const rows: [type: string, value: Value, bytes: string | undefined, why: string][] = [
      ['boolean', true, '01', 'R13.1'],
      ['int', 34, '22000000', 'R13.1'],
      ['int', 2 ** 31, undefined, 'beyond an int'],
      ['long', 34n, '2200000000000000', 'R13.1'],
      ['long', 2n ** 63n, undefined, 'beyond a long'],
      ['long', 34, undefined, 'no long in memory'],
      ['float', -4.5, '000090c0', 'R13.1'],
      ['double', 6, '0000000000001840', 'R13.1'],
      ['date', 1000, 'e8030000', 'R13.1'],
      ['time', 10_000_000_000n, '00e40b5402000000', 'R13.1'],
      ['timestamp', 400_000n, '801a060000000000', 'R13.1'],
      ['timestamptz_ns', 400_000_000n, '0084d71700000000', 'R13.1'],
      ['string', 'ABC', '414243', 'R13.1'],
      ['string', 'A\uD83D', undefined, 'half a character has no UTF-8'],
      ['uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'f79c3e09677c4bbda4793f349cb785e7', 'R13.1'],
      ['uuid', 'f79c3e09', undefined, 'no uuid'],
      ['binary', hex('0102'), '0102', 'R13.1'],
      ['decimal(9,2)', 345n, '0159', 'R13.1'],
      ['decimal(9,2)', 1234567n, '12d687', 'R13.1'],
      ['decimal(9,2)', 0n, '00', 'R13.1'],
      ['decimal(9,2)', 128n, '0080', 'R13.2'],
      ['decimal(9,2)', -128n, '80', 'R13.2'],
      ['decimal(9,2)', 255n, '00ff', 'R13.2'],
      ['decimal(9,2)', -1n, 'ff', 'R13.1'],
      ['decimal(38,0)', 10n ** 38n - 1n, '4b3b4ca85a86c47a098a223fffffffff', 'R13.1'],
      ['variant', 'x', undefined, 'not a comparable type'],
    ]
    for (const [type, value, bytes, why] of rows)
      it(`${type} ${String(value)}: ${why}`, () => {
        const encoded = encodeBound(parseType(type), value)
        const found =
          encoded && Buffer.from(encoded.bytes).subarray(encoded.offset, encoded.offset + encoded.length)
        assert.equal(found?.toString('hex'), bytes)
      })
  })
})
