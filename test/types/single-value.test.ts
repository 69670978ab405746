import { assert } from 'chai'
import fc from 'fast-check'
import { decodeSingleValue, decodeUnscaled, valueToJson } from '../../src/types/single-value.ts'
import { parseType } from '../../src/types/type.ts'
import type { JsonValue, Value } from '../../src/types/value.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('decodeSingleValue', () => {
  // Bytes of R13.1 and R13.2, as Java writes them.
  const rows: [type: string, hex: string, value: Value | undefined, reason: string][] = [
    ['boolean', '01', true, 'R13.1'],
    ['boolean', '00', false, 'R13.1'],
    ['boolean', '7f', true, 'R13.1: any byte but 0 is true'],
    ['boolean', '', undefined, 'no byte'],
    ['boolean', '0100', undefined, 'B224: two bytes'],
    ['int', '22000000', 34, 'R13.1'],
    ['int', 'ffffffff', -1, 'R13.1'],
    ['int', '2200000000', undefined, 'B224: five bytes are not cut to four'],
    ['int', '2200000000000000', undefined, 'a long under an int: R5.22 reads exact lengths only'],
    ['int', '220000', undefined, 'three bytes'],
    ['long', '2200000000000000', 34n, 'R13.1'],
    ['long', 'ffffffffffffff7f', 2n ** 63n - 1n, 'the greatest'],
    ['long', '0a000000', 10n, 'R5.22, B086: an int before the promotion'],
    ['long', 'f6ffffff', -10n, 'R5.22, B086: an int is sign-extended'],
    ['long', '220000000000000000', undefined, 'B224: nine bytes'],
    ['long', '2200000000', undefined, 'five bytes'],
    ['float', '000090c0', -4.5, 'R13.1'],
    ['float', '0000000000001840', undefined, 'a double under a float'],
    ['double', '0000000000001840', 6, 'R13.1'],
    ['double', '000090c0', -4.5, 'R5.22, B086: a float before the promotion'],
    ['double', '0000000000f87f', undefined, 'seven bytes'],
    ['double', '000000000000f87f', NaN, 'NaN is decoded; evaluators take it as unknown'],
    ['date', 'e8030000', 1000, 'R13.1'],
    ['time', '00e40b5402000000', 10_000_000_000n, 'R13.1'],
    ['time', '00e40b54', undefined, 'R5.22: nothing was promoted to a time'],
    ['timestamp', '801a060000000000', 400_000n, 'R13.1'],
    ['timestamptz', '801a060000000000', 400_000n, 'R13.1'],
    ['timestamp', '51440000', 1_511_049_600_000_000n, 'R5.22, B086: a date before the promotion is days'],
    ['timestamptz', '51440000', undefined, 'R5.22: dates are not promoted to a zoned timestamp'],
    ['timestamp_ns', '0084d71700000000', 400_000_000n, 'R13.1'],
    ['timestamp_ns', '51440000', 1_511_049_600_000_000_000n, 'R5.22, B086: days to nanoseconds'],
    ['timestamp_ns', 'ffffff7f', undefined, 'R5.22: a day beyond 64 bits of nanoseconds'],
    ['timestamptz_ns', '51440000', undefined, 'R5.22'],
    ['string', '414243', 'ABC', 'R13.1'],
    ['string', '', '', 'B101: zero bytes are the empty string'],
    ['string', 'efbbbf41', '\uFEFFA', 'a byte order mark is part of the value'],
    ['string', 'f09f92', undefined, 'R5.22: cut in the middle of a character'],
    ['uuid', 'f79c3e09677c4bbda4793f349cb785e7', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'R13.1: big-endian'],
    ['uuid', 'f79c3e09677c4bbda4793f349cb785', undefined, 'fifteen bytes'],
    ['fixed[4]', '00010203', bytes('00010203'), 'R13.1'],
    ['binary', '', bytes(''), 'B101: zero bytes are the empty binary'],
    ['decimal(9,2)', '0159', 345n, 'R13.1: 3.45'],
    ['decimal(9,4)', '12d687', 1_234_567n, 'R13.1: 123.4567'],
    ['decimal(9,2)', '00', 0n, 'R13.1: 0'],
    ['decimal(9,2)', '0080', 128n, 'R13.2: 1.28'],
    ['decimal(9,2)', '80', -128n, 'R13.2: -1.28'],
    ['decimal(9,2)', 'ff', -1n, 'R13.1: -0.01'],
    ['decimal(10,0)', '00ff', 255n, 'B100'],
    ['decimal(10,0)', 'ff7fff', -32_769n, 'B100'],
    ['decimal(38,0)', '4b3b4ca85a86c47a098a223fffffffff', 10n ** 38n - 1n, 'R13.1: the greatest'],
    ['decimal(9,2)', '000000000000000000000000000000000159', 345n, 'R13.2, B100: padded beyond 16 bytes'],
    ['decimal(9,2)', 'ffffffffffffffffffffffffffffffffffff80', -128n, 'R13.2, B100: padded, negative'],
    ['decimal(9,2)', '0100000000000000000000000000000000', undefined, 'more digits than any decimal has'],
    ['decimal(9,2)', '', undefined, 'R5.22: no byte'],
    ['unknown', '00', undefined, 'R5.22: unknown has no bounds'],
    ['variant', '00', undefined, 'R13.6: not comparable'],
    ['geometry', '00000000000000000000000000000000', undefined, 'R13.5: never compared as bytes'],
  ]
  for (const [type, hex, value, reason] of rows)
    it(`${type} of "${hex}": ${reason}`, () => {
      assert.deepEqual(normal(decodeSingleValue(parseType(type), bytes(hex))), normal(value))
    })

  it('the result shares no memory with the bytes', () => {
    const source = bytes('0102')
    const value = decodeSingleValue({ kind: 'binary' }, source)
    source[0] = 9
    assert.deepEqual(normal(value), normal(bytes('0102')))
  })

  it('reads from the middle of a buffer', () => {
    const middle = new Uint8Array([9, 0x22, 0, 0, 0, 9]).subarray(1, 5)
    assert.equal(decodeSingleValue({ kind: 'int' }, middle), 34)
  })

  it('B100: every decimal comes back from minimal and from padded bytes', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 38n) + 1n, 10n ** 38n - 1n), fc.nat(8), (value, padding) => {
        let size = 1
        while (BigInt.asIntN(size * 8, value) !== value) size++
        const length = size + padding
        const hex = BigInt.asUintN(length * 8, value)
          .toString(16)
          .padStart(length * 2, '0')
        assert.equal(decodeUnscaled(bytes(hex)), value)
      }),
    )
  })
})

describe('valueToJson', () => {
  const rows: [type: string, value: Value | null, json: JsonValue, reason: string][] = [
    ['long', null, null, 'null'],
    ['boolean', true, true, 'a JSON boolean'],
    ['int', -5, -5, 'a number'],
    ['long', 5n, 5, 'a small long is a number'],
    ['long', 2n ** 53n, 2n ** 53n, 'B123: a long beyond 2^53 - 1 stays exact'],
    ['double', 0.5, 0.5, 'a number'],
    ['double', NaN, 'NaN', 'JSON has no NaN'],
    ['double', -Infinity, '-Infinity', 'nor infinities'],
    ['float', Math.fround(0.1), 0.1, 'the fewest digits that are this float'],
    ['float', Math.fround(16777215), 16777215, 'a float with eight digits'],
    ['decimal(9,2)', 1420n, '14.20', 'as many digits as the scale'],
    ['decimal(9,2)', -5n, '-0.05', 'zeros are filled in'],
    ['decimal(9,0)', -5n, '-5', 'scale 0 has no point'],
    ['decimal(9,-20)', 2n, '2E+20', 'a negative scale is an exponent'],
    ['date', 17_486, '2017-11-16', 'days'],
    ['date', -1, '1969-12-31', 'before 1970'],
    ['date', 11_016, '2000-02-29', 'a leap day'],
    ['date', 2 ** 31 - 1, '+5881580-07-11', 'the last int, beyond the range of Date'],
    ['date', -(2 ** 31), '-5877641-06-23', 'the first int'],
    ['date', -719_529, '-0001-12-31', 'before year 0'],
    ['time', 81_068_123_456n, '22:31:08.123456', 'micros'],
    ['time', 0n, '00:00:00.000000', 'midnight'],
    ['timestamp', 1_510_871_468_123_456n, '2017-11-16T22:31:08.123456', 'micros'],
    ['timestamp', -1n, '1969-12-31T23:59:59.999999', 'one micro before 1970'],
    ['timestamptz', 0n, '1970-01-01T00:00:00.000000+00:00', 'always UTC'],
    ['timestamp_ns', 1_510_871_468_123_456_789n, '2017-11-16T22:31:08.123456789', 'nine digits'],
    ['timestamptz_ns', -1n, '1969-12-31T23:59:59.999999999+00:00', 'one nano before 1970'],
    ['string', 'ä"', 'ä"', 'as it is'],
    ['uuid', 'F79C3E09-677C-4BBD-A479-3F349CB785E7', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'lower case'],
    ['fixed[3]', bytes('00abff'), '00ABFF', 'upper-case hex, as Java writes it'],
    ['binary', bytes(''), '', 'no bytes'],
    ['unknown', 2n ** 60n, 2n ** 60n, 'a value under an unknown transform is shown as it is'],
    ['unknown', NaN, 'NaN', 'also when it is no JSON number'],
  ]
  for (const [type, value, json, reason] of rows)
    it(`${type}: ${reason}`, () => {
      assert.strictEqual(valueToJson(parseType(type), value), json)
    })

  it('dates agree with Date where it reaches', () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_000_000 }), (days) => {
        assert.equal(
          valueToJson({ kind: 'date' }, days),
          new Date(days * 86_400_000).toISOString().slice(0, 10),
        )
      }),
    )
  })

  it('every float comes back from its JSON', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        assert.equal(Math.fround(Number(valueToJson({ kind: 'float' }, value))), value)
      }),
    )
  })
})

/** A Buffer and a Uint8Array with equal bytes are equal here. */
function normal(value: Value | undefined): unknown {
  return value instanceof Uint8Array ? Array.from(value) : value
}
