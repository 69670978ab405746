import { testProjections } from './projection-rows.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('projection of strings and binaries through truncate (R3.11)', () => {
  describe('strings', () => {
    testProjections([
      ['string', 'truncate[2]', 'lt', 'abc', 'p0 <= "ab"', 'p0 < "ab"'],
      ['string', 'truncate[2]', 'lt-eq', 'abc', 'p0 <= "ab"', 'p0 < "ab"'],
      ['string', 'truncate[2]', 'gt', 'abc', 'p0 >= "ab"', 'p0 > "ab"'],
      ['string', 'truncate[2]', 'gt-eq', 'abc', 'p0 >= "ab"', 'p0 > "ab"'],
      ['string', 'truncate[2]', 'lt', 'ab', 'p0 <= "ab"', 'p0 < "ab"', 'there is no unit before a string'],
      ['string', 'truncate[2]', 'eq', 'abc', 'p0 = "ab"', 'false'],
      ['string', 'truncate[2]', 'eq', 'a', 'p0 = "a"', 'false'],
      ['string', 'truncate[2]', 'eq', '', 'p0 = ""', 'false'],
      ['string', 'truncate[2]', 'not-eq', 'abc', 'true', 'p0 != "ab"'],
      ['string', 'truncate[2]', 'in', ['abc', 'xyz'], 'p0 in ("ab", "xy")', 'false'],
      ['string', 'truncate[2]', 'in', ['abc', 'abd'], 'p0 = "ab"', 'false', 'R3.21'],
      ['string', 'truncate[2]', 'not-in', ['abc', 'xyz'], 'true', 'p0 not in ("ab", "xy")'],
      ['string', 'truncate[2]', 'not-in', ['abc', 'abd'], 'true', 'p0 != "ab"', 'R3.21'],
      ['string', 'truncate[2]', 'is-null', undefined, 'p0 is null', 'p0 is null', 'R3.7'],
      ['string', 'truncate[2]', 'not-null', undefined, 'p0 is not null', 'p0 is not null', 'R3.7'],
      ['string', 'truncate[1]', 'eq', 'e\u0301x', 'p0 = "e"', 'false', 'no graphemes, no normal forms'],
    ])
  })

  describe('prefixes', () => {
    testProjections([
      ['string', 'truncate[2]', 'starts-with', 'a', 'p0 starts with "a"', 'p0 starts with "a"', 'n < W'],
      ['string', 'truncate[2]', 'starts-with', '', 'p0 starts with ""', 'p0 starts with ""', 'n < W'],
      ['string', 'truncate[2]', 'starts-with', 'ab', 'p0 = "ab"', 'p0 = "ab"', 'n = W'],
      ['string', 'truncate[2]', 'starts-with', 'abc', 'p0 starts with "ab"', 'false', 'n > W'],
      [
        'string',
        'truncate[2]',
        'not-starts-with',
        'a',
        'p0 does not start with "a"',
        'p0 does not start with "a"',
        'n < W',
      ],
      ['string', 'truncate[2]', 'not-starts-with', 'ab', 'p0 != "ab"', 'p0 != "ab"', 'n = W'],
      ['string', 'truncate[2]', 'not-starts-with', 'abc', 'true', 'p0 does not start with "ab"', 'n > W'],
      [
        'string',
        'truncate[2]',
        'not-starts-with',
        'hello',
        'true',
        'p0 does not start with "he"',
        'B056: "heat" lies in "he"',
      ],
      [
        'string',
        'truncate[2]',
        'starts-with',
        '💰',
        'p0 starts with "💰"',
        'p0 starts with "💰"',
        'code points, not units: "💰a" is another partition',
      ],
      ['string', 'truncate[1]', 'starts-with', '💰', 'p0 = "💰"', 'p0 = "💰"', 'one code point'],
      ['string', 'truncate[1]', 'starts-with', '💰a', 'p0 starts with "💰"', 'false', 'no half of a pair'],
      ['string', 'truncate[2]', 'starts-with', 'é', 'p0 starts with "é"', 'p0 starts with "é"', 'not bytes'],
    ])
  })

  describe('binaries', () => {
    testProjections([
      ['binary', 'truncate[2]', 'lt', bytes('010203'), 'p0 <= 0x0102', 'p0 < 0x0102'],
      ['binary', 'truncate[2]', 'lt-eq', bytes('010203'), 'p0 <= 0x0102', 'p0 < 0x0102'],
      ['binary', 'truncate[2]', 'gt', bytes('010203'), 'p0 >= 0x0102', 'p0 > 0x0102'],
      ['binary', 'truncate[2]', 'gt-eq', bytes('010203'), 'p0 >= 0x0102', 'p0 > 0x0102'],
      ['binary', 'truncate[2]', 'eq', bytes('01'), 'p0 = 0x01', 'false'],
      ['binary', 'truncate[2]', 'not-eq', bytes('010203'), 'true', 'p0 != 0x0102'],
      ['binary', 'truncate[2]', 'in', [bytes('010203'), bytes('ff')], 'p0 in (0x0102, 0xff)', 'false'],
      ['binary', 'truncate[2]', 'in', [bytes('010203'), bytes('010204')], 'p0 = 0x0102', 'false', 'R3.21'],
      ['binary', 'truncate[2]', 'not-in', [bytes('010203'), bytes('010204')], 'true', 'p0 != 0x0102'],
      ['binary', 'truncate[1]', 'eq', bytes('c3a9'), 'p0 = 0xc3', 'false', 'bytes, not characters'],
      ['fixed[4]', 'truncate[2]', 'eq', bytes('01020304'), 'true', 'false', 'R14.3: fixed is not truncated'],
    ])
  })
})
