import { assert } from 'chai'
import { convertLiteral, type Converted } from '../../src/expressions/convert-literal.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { parseType, type Type } from '../../src/types/type.ts'
import { valueToJson } from '../../src/types/single-value.ts'
import type { Value } from '../../src/types/value.ts'

const TYPES = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'decimal(9,2)',
  'string',
  'uuid',
  'fixed[4]',
  'binary',
] as const
type Target = (typeof TYPES)[number]

const text = (value: string): Literal => ({ kind: 'string', value })
const decimal = (value: bigint, scale: number): Literal => ({ kind: 'decimal', value, scale })
const long = (value: bigint): Literal => ({ kind: 'long', value })
const int = (value: number): Literal => ({ kind: 'int', value })
const float = (value: number): Literal => ({ kind: 'float', value })
const double = (value: number): Literal => ({ kind: 'double', value })
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

const exactly = (value: Value): Converted => ({ kind: 'value', value })
const between = (below: Value, above: Value, rounded?: Value): Converted =>
  rounded === undefined ? { kind: 'between', below, above } : { kind: 'between', below, above, rounded }
const ABOVE: Converted = { kind: 'above-max' }
const BELOW: Converted = { kind: 'below-min' }

function convert(literal: Literal, type: string | Type): Converted {
  return convertLiteral(literal, typeof type === 'string' ? parseType(type) : type)
}

function show(literal: Literal): string {
  const shown =
    literal.value instanceof Uint8Array ? `${literal.value.length} bytes` : literal.value.toString()
  return `${literal.kind} ${shown}${literal.kind === 'decimal' ? ` at scale ${literal.scale}` : ''}`
}

/** 2017-12-01, as days, and its midnight. */
const DAY = 17_501
const MICROS = 1_512_086_400_000_000n
const NANOS = 1_512_086_400_000_000_000n
const UUID = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'

describe('convertLiteral', () => {
  // A type that is not named is one the literal cannot become.
  const table: [literal: Literal, becomes: Partial<Record<Target, Value>>][] = [
    [{ kind: 'boolean', value: true }, { boolean: true }],
    [int(34), { int: 34, long: 34n, float: 34, double: 34, date: 34, 'decimal(9,2)': 3400n }],
    [
      long(34n),
      {
        int: 34,
        long: 34n,
        float: 34,
        double: 34,
        date: 34,
        time: 34n,
        timestamp: 34n,
        timestamptz: 34n,
        timestamp_ns: 34_000n,
        timestamptz_ns: 34_000n,
        'decimal(9,2)': 3400n,
      },
    ],
    [float(34.5), { float: 34.5, double: 34.5, 'decimal(9,2)': 3450n }],
    [double(34.5), { float: 34.5, double: 34.5, 'decimal(9,2)': 3450n }],
    [{ kind: 'date', value: DAY }, { date: DAY }],
    [{ kind: 'time', value: 5n }, { time: 5n }],
    // Ours: without a zone it is no instant, so a column of instants refuses it.
    [
      { kind: 'timestamp', value: MICROS },
      { date: DAY, timestamp: MICROS, timestamp_ns: NANOS },
    ],
    [
      { kind: 'timestamptz', value: MICROS },
      { date: DAY, timestamp: MICROS, timestamptz: MICROS, timestamp_ns: NANOS, timestamptz_ns: NANOS },
    ],
    [
      { kind: 'timestamp_ns', value: NANOS },
      { date: DAY, timestamp: MICROS, timestamp_ns: NANOS },
    ],
    [
      { kind: 'timestamptz_ns', value: NANOS },
      { date: DAY, timestamp: MICROS, timestamptz: MICROS, timestamp_ns: NANOS, timestamptz_ns: NANOS },
    ],
    [decimal(150n, 2), { 'decimal(9,2)': 150n }],
    [text('5'), { 'decimal(9,2)': 500n, string: '5' }],
    [text('true'), { string: 'true' }],
    [text('1.5'), { 'decimal(9,2)': 150n, string: '1.5' }],
    [text('2017-12-01'), { date: DAY, string: '2017-12-01' }],
    [text('00:00:01'), { time: 1_000_000n, string: '00:00:01' }],
    [text('2017-12-01T00:00:00'), { timestamp: MICROS, timestamp_ns: NANOS, string: '2017-12-01T00:00:00' }],
    [
      text('2017-12-01T00:00:00Z'),
      { timestamptz: MICROS, timestamptz_ns: NANOS, string: '2017-12-01T00:00:00Z' },
    ],
    [text(UUID), { uuid: UUID, string: UUID }],
    [
      text('00fF10ab'),
      { 'fixed[4]': bytes(0, 255, 16, 171), binary: bytes(0, 255, 16, 171), string: '00fF10ab' },
    ],
    [{ kind: 'uuid', value: UUID }, { uuid: UUID }],
    [
      { kind: 'fixed', value: bytes(1, 2, 3, 4) },
      { 'fixed[4]': bytes(1, 2, 3, 4), binary: bytes(1, 2, 3, 4) },
    ],
    [{ kind: 'fixed', value: bytes(1, 2, 3) }, { binary: bytes(1, 2, 3) }],
    [
      { kind: 'binary', value: bytes(1, 2, 3, 4) },
      { 'fixed[4]': bytes(1, 2, 3, 4), binary: bytes(1, 2, 3, 4) },
    ],
    [{ kind: 'binary', value: bytes() }, { binary: bytes() }],
  ]
  for (const [literal, becomes] of table)
    for (const type of TYPES) {
      const value = becomes[type]
      const title =
        value === undefined ? `${type} refuses ${show(literal)}` : `${type} takes ${show(literal)}`
      it(`R11.8: ${title}`, () => {
        const converted = convert(literal, type)
        if (value === undefined) assert.equal(converted.kind, 'not-convertible')
        else assert.deepEqual(converted, exactly(value))
      })
    }

  const valueless = [
    'unknown',
    'variant',
    'geometry',
    'geography',
    { kind: 'struct', fields: [] },
    { kind: 'list', elementId: 1, elementRequired: true, element: { kind: 'int' } },
    {
      kind: 'map',
      keyId: 1,
      key: { kind: 'int' },
      valueId: 2,
      valueRequired: true,
      value: { kind: 'int' },
    },
  ] as const
  for (const type of valueless)
    it(`R11.5: ${typeof type === 'string' ? type : type.kind} takes no literal`, () => {
      for (const [literal] of table) assert.equal(convert(literal, type).kind, 'not-convertible')
    })

  const cases: [rule: string, literal: Literal, type: string, expected: Converted | 'refused'][] = [
    ['R11.8: beyond int', long(2147483648n), 'int', ABOVE],
    ['R11.8: the last int', long(2147483647n), 'int', exactly(2147483647)],
    ['R11.8: below int', long(-2147483649n), 'int', BELOW],
    ['R11.8: the first int', long(-2147483648n), 'int', exactly(-2147483648)],
    ['R11.10: beyond 64 bits', decimal(2n ** 63n, 0), 'long', ABOVE],
    ['R11.10: below 64 bits', decimal(-(2n ** 63n) - 1n, 0), 'long', BELOW],
    ['R11.10: a decimal of 64 bits is no long', decimal(2n ** 63n - 1n, 0), 'long', 'refused'],
    ['R11.10: a decimal with a point is no long', decimal(10n ** 30n, 1), 'long', 'refused'],
    ['R11.10: beyond 64 bits', decimal(10n ** 400n, 0), 'int', ABOVE],
    ['R11.10: below 64 bits', decimal(-(2n ** 64n), 0), 'int', BELOW],
    ['R11.10: days beyond 64 bits', decimal(2n ** 63n, 0), 'date', ABOVE],
    ['R11.10: days below 64 bits', decimal(-(2n ** 64n), 0), 'date', BELOW],
    ['R11.8: days beyond int', long(2147483648n), 'date', ABOVE],
    ['R11.8: days below int', long(-2147483649n), 'date', BELOW],
    [
      'beyond float, before infinity (R11.8 in Java: above-max)',
      double(3.5e38),
      'float',
      { kind: 'above-max', beyond: Infinity },
    ],
    ['and on the other side', double(-1e39), 'float', { kind: 'below-min', beyond: -Infinity }],
    [
      'R11.8: just beyond float',
      double(3.4028234663852886e38 + 2 ** 75),
      'float',
      { kind: 'above-max', beyond: Infinity },
    ],
    ['R11.8: the greatest float', double(3.4028234663852886e38), 'float', exactly(3.4028234663852886e38)],
    [
      'an infinite double is a float (R11.8 in Java: above-max)',
      double(Infinity),
      'float',
      exactly(Infinity),
    ],
    ['and so is its opposite', double(-Infinity), 'float', exactly(-Infinity)],
    ['R11.8: an infinite float is one', float(Infinity), 'float', exactly(Infinity)],
    ['R11.6: infinity is allowed', double(-Infinity), 'double', exactly(-Infinity)],
    ['R11.6: NaN', double(NaN), 'double', 'refused'],
    ['R11.6: NaN', float(NaN), 'float', 'refused'],
    ['R11.6: NaN', double(NaN), 'decimal(9,2)', 'refused'],
    [
      'R11.8: a double means the nearest float, here the one above',
      double(0.1),
      'float',
      between(0.09999999403953552, 0.10000000149011612, 0.10000000149011612),
    ],
    [
      'R11.8: here the one below',
      double(0.7),
      'float',
      between(0.699999988079071, 0.7000000476837158, 0.699999988079071),
    ],
    [
      'R11.8: below zero',
      double(-0.7),
      'float',
      between(-0.7000000476837158, -0.699999988079071, -0.699999988079071),
    ],
    ['R11.8: a double that is a float', double(0.5), 'float', exactly(0.5)],
    ['R11.10: too small for a float', double(1e-50), 'float', between(0, 2 ** -149, 0)],
    ['R11.10: too small, below zero', double(-1e-50), 'float', between(-(2 ** -149), -0, -0)],
    [
      'R11.10: just below the greatest float',
      double(3.4028234663852882e38),
      'float',
      between(3.4028232635611926e38, 3.4028234663852886e38, 3.4028234663852886e38),
    ],
    ['R11.8: micros beyond nanos', long(9223372036854775807n), 'timestamp_ns', 'refused'],
    ['R11.8: micros beyond nanos', { kind: 'timestamp', value: 2n ** 62n }, 'timestamp_ns', 'refused'],

    ['R11.10: 2^24 + 1 is no float', int(16777217), 'float', between(16777216, 16777218, 16777216)],
    ['R11.10: a tie goes to the even', int(16777219), 'float', between(16777218, 16777220, 16777220)],
    ['R11.10: below zero', int(-16777217), 'float', between(-16777218, -16777216, -16777216)],
    ['R11.10: an even one is', int(16777218), 'float', exactly(16777218)],
    ['R11.10: all ints are doubles', int(16777217), 'double', exactly(16777217)],
    [
      'R11.10: 2^53 + 1 is no double',
      long(9007199254740993n),
      'double',
      between(9007199254740992, 9007199254740994, 9007199254740992),
    ],
    [
      'R11.10: rounded once, not by way of a double',
      long(9007199791611905n),
      'float',
      between(9007199254740992, 9007200328482816, 9007200328482816),
    ],
    [
      'R11.10: the greatest long',
      long(9223372036854775807n),
      'double',
      between(9223372036854774784, 9223372036854775808, 9223372036854775808),
    ],
    ['R11.10: 2^63 as a double', decimal(2n ** 63n, 0), 'double', exactly(2 ** 63)],
    [
      'R11.10: 2^63 + 1 is no double',
      decimal(2n ** 63n + 1n, 0),
      'double',
      between(2 ** 63, 2 ** 63 + 2048, 2 ** 63),
    ],
    [
      'R11.10: beyond the finite doubles',
      decimal(10n ** 400n, 0),
      'double',
      between(Number.MAX_VALUE, Infinity),
    ],
    [
      'R11.10: below the finite doubles',
      decimal(-(10n ** 400n), 0),
      'double',
      between(-Infinity, -Number.MAX_VALUE),
    ],
    ['R11.10: 2^64 as a float', decimal(2n ** 64n, 0), 'float', exactly(2 ** 64)],
    [
      'R11.10: beyond the finite floats',
      decimal(10n ** 39n, 0),
      'float',
      between(3.4028234663852886e38, Infinity),
    ],
    ['R11.10: a decimal with a point is no float', decimal(2n ** 64n, 1), 'float', 'refused'],
    ['R11.10: the least long', long(-9223372036854775808n), 'double', exactly(-9223372036854775808)],

    ['R11.9: no check of the precision', int(2147483647), 'decimal(4,2)', exactly(214748364700n)],
    ['R11.9: by its double text', float(Math.fround(0.1)), 'decimal(38,20)', exactly(10000000149011612000n)],
    ['R11.9: half up', double(1.005), 'decimal(9,2)', between(100n, 101n, 101n)],
    ['R11.9: half away from zero', double(-1.005), 'decimal(9,2)', between(-101n, -100n, -101n)],
    ['R11.9: less than half', double(1.0049), 'decimal(9,2)', between(100n, 101n, 100n)],
    ['R11.9: rounded', double(1.234), 'decimal(9,2)', between(123n, 124n, 123n)],
    ['R11.9: rounded', double(-1.236), 'decimal(9,2)', between(-124n, -123n, -124n)],
    ['R11.9: text with an exponent', double(1e21), 'decimal(38,2)', exactly(10n ** 23n)],
    ['R11.9: text with an exponent', double(5e-324), 'decimal(9,2)', between(0n, 1n, 0n)],
    ['R11.9: half of the unit', double(0.005), 'decimal(9,2)', between(0n, 1n, 1n)],
    ['R11.9: half of the unit below zero', double(-0.005), 'decimal(9,2)', between(-1n, 0n, -1n)],
    [
      'R11.9: a float that is no such decimal',
      float(Math.fround(0.1)),
      'decimal(9,2)',
      between(10n, 11n, 10n),
    ],
    ['R11.9: a double that is one', double(1.23), 'decimal(9,2)', exactly(123n)],
    ['R11.9: a double of 301 digits', double(1e300), 'decimal(9,2)', ABOVE],
    ['R11.9: and below zero', double(-1e300), 'decimal(9,2)', BELOW],
    ['R11.9: infinity has no digits', double(Infinity), 'decimal(9,2)', 'refused'],
    ['R11.9, B122: fewer digits', decimal(15n, 1), 'decimal(9,2)', exactly(150n)],
    ['R11.9, B122: zeros to spare', decimal(15000n, 4), 'decimal(9,2)', exactly(150n)],
    ['R11.9, B122: a digit too many', decimal(1501n, 3), 'decimal(9,2)', between(150n, 151n)],
    ['R11.9, B122: below zero', decimal(-1501n, 3), 'decimal(9,2)', between(-151n, -150n)],
    ['R11.9: less than one unit', decimal(1n, 3), 'decimal(9,2)', between(0n, 1n)],
    ['R11.9: less than one unit', decimal(-9n, 40), 'decimal(9,2)', between(-1n, 0n)],
    ['R11.9: a negative scale', decimal(2n, -3), 'decimal(9,2)', exactly(200000n)],
    ['R11.9: an absurd exponent', text('1e2000000000'), 'decimal(9,2)', ABOVE],
    ['R11.9: an absurd exponent', text('-1e2000000000'), 'decimal(9,2)', BELOW],
    ['R11.9: an exponent that costs time', text('1e9990'), 'decimal(9,2)', ABOVE],
    ['R11.9: an exponent that costs time', text('-2e9990'), 'decimal(9,2)', BELOW],
    ['R11.9: 39 digits, which truncate may make', text('1e36'), 'decimal(38,2)', exactly(10n ** 38n)],
    ['R11.9: 40 digits', text('1e37'), 'decimal(38,2)', ABOVE],
    ['R11.9: 40 digits and a fraction', decimal(10n ** 42n + 1n, 5), 'decimal(38,2)', ABOVE],
    ['R11.9: 40 digits of the same scale', decimal(-(10n ** 39n), 2), 'decimal(38,2)', BELOW],
    ['R11.9: many digits, all of them zeros', decimal(10n ** 500n, 500), 'decimal(9,2)', exactly(100n)],
    ['R11.9: an absurd exponent', text('-1e-2000000000'), 'decimal(9,2)', between(-1n, 0n)],
    ['R11.9: an absurd exponent of zero', text('0e2000000000'), 'decimal(9,2)', exactly(0n)],
    ['R11.9: an absurd column', int(5), 'decimal(9,2147483647)', ABOVE],
    ['R11.9: an absurd column', double(-0.5), 'decimal(9,2147483647)', BELOW],

    ['R11.11: an exponent', text('1e3'), 'decimal(9,2)', exactly(100000n)],
    ['R11.11: a plus', text('+5'), 'decimal(9,2)', exactly(500n)],
    ['R11.11: no whole part', text('.5'), 'decimal(9,2)', exactly(50n)],
    ['R11.11: no fraction', text('5.'), 'decimal(9,2)', exactly(500n)],
    ['R11.11: its own scale', text('1.234'), 'decimal(9,2)', between(123n, 124n)],
    ['R11.11: a space', text(' 5'), 'decimal(9,2)', 'refused'],
    ['R11.11: no digit', text('.'), 'decimal(9,2)', 'refused'],
    ['R11.11: nothing', text(''), 'decimal(9,2)', 'refused'],
    ['R11.11: two points', text('1.2.3'), 'decimal(9,2)', 'refused'],
    ['R11.11: an exponent beyond 32 bits', text('1e99999999999'), 'decimal(9,2)', 'refused'],

    ['R11.11: the epoch', text('1970-01-01'), 'date', exactly(0)],
    ['R11.11: the day before', text('1969-12-31'), 'date', exactly(-1)],
    ['R11.11: a leap day', text('2016-02-29'), 'date', exactly(16860)],
    ['R11.11: a leap day of a century', text('2000-02-29'), 'date', exactly(11016)],
    ['R11.11: not a leap day', text('1900-02-29'), 'date', 'refused'],
    ['R11.11: not a leap day', text('2017-02-29'), 'date', 'refused'],
    ['R11.11: day 31 of a short month', text('2017-04-31'), 'date', 'refused'],
    ['R11.11: month 13', text('2017-13-01'), 'date', 'refused'],
    ['R11.11: day 0', text('2017-01-00'), 'date', 'refused'],
    ['R11.11: one digit', text('2017-8-18'), 'date', 'refused'],
    ['R11.11: a time after it', text('2017-08-18T00:00:00'), 'date', 'refused'],
    ['R11.11: a space after it', text('2017-08-18 '), 'date', 'refused'],
    // Ten thousand years later: 25 times 146097 days more.
    ['R11.11: five digits with a sign', text('+12017-08-18'), 'date', exactly(17396 + 25 * 146097)],
    ['R11.11: five digits without', text('12017-08-18'), 'date', 'refused'],
    ['R11.11: a sign before four', text('+2017-08-18'), 'date', 'refused'],
    // 0000-01-01 is day -719528; -0001 has 365 days.
    ['R11.11: before year 0', text('-0001-01-01'), 'date', exactly(-719528 - 365)],
    ['R11.11: year -0', text('-0000-01-01'), 'date', 'refused'],
    ['R11.11: days beyond 32 bits', text('+9999999-01-01'), 'date', 'refused'],

    ['R11.11: no seconds', text('14:21'), 'time', exactly(51_660_000_000n)],
    ['R11.11: a fraction', text('14:21:01.919'), 'time', exactly(51_661_919_000n)],
    ['R11.11: nine digits of fraction', text('00:00:00.000001999'), 'time', between(1n, 2n, 1n)],
    ['R11.11: ten digits', text('00:00:00.0000000001'), 'time', 'refused'],
    ['R11.11: 24:00', text('24:00'), 'time', 'refused'],
    ['R11.11: minute 60', text('12:60'), 'time', 'refused'],
    ['R11.11: second 60', text('12:00:60'), 'time', 'refused'],
    ['R11.11: one digit of hour', text('9:00'), 'time', 'refused'],

    ['R11.11: no seconds', text('1970-01-01T00:01'), 'timestamp', exactly(60_000_000n)],
    ['R11.11: a small t', text('1970-01-01t00:01:00'), 'timestamp', exactly(60_000_000n)],
    ['ours: a space', text('1970-01-01 00:01:00'), 'timestamp', exactly(60_000_000n)],
    ['R11.11: six digits', text('1970-01-01T00:00:00.000001'), 'timestamp', exactly(1n)],
    ['R11.11: an offset', text('1970-01-01T00:00:00Z'), 'timestamp', 'refused'],
    ['R11.11: a date only', text('2026-10-28'), 'timestamp', 'refused'],
    ['R11.11: no such day', text('2017-02-30T00:00:00'), 'timestamp', 'refused'],
    ['R11.11: micros beyond 64 bits', text('+999999-01-01T00:00:00'), 'timestamp', 'refused'],
    [
      'R11.11: sub-microsecond digits are floored',
      text('1969-12-31T23:59:59.999999999'),
      'timestamp',
      between(-1n, 0n, -1n),
    ],
    ['R11.11: after 1970 too', text('1970-01-01T00:00:00.0000019'), 'timestamp', between(1n, 2n, 1n)],
    ['R11.11: nanos are exact', text('1969-12-31T23:59:59.999999999'), 'timestamp_ns', exactly(-1n)],
    [
      'B124: seven digits are padded on the right',
      text('1970-01-01T00:00:00.1234567'),
      'timestamp_ns',
      exactly(123_456_700n),
    ],
    ['B124: eight digits', text('1970-01-01T00:00:00.12345678Z'), 'timestamptz_ns', exactly(123_456_780n)],
    [
      'R11.11: nanos end in 2262',
      text('2262-04-11T23:47:16.854775807'),
      'timestamp_ns',
      exactly(2n ** 63n - 1n),
    ],
    ['R11.11: beyond', text('2262-04-11T23:47:16.854775808'), 'timestamp_ns', 'refused'],
    ['R11.11: 2263', text('2263-01-01T00:00:00Z'), 'timestamptz_ns', 'refused'],

    ['R11.11: west', text('1970-01-01T00:00:00-07:00'), 'timestamptz', exactly(25_200_000_000n)],
    ['R11.11: east', text('1970-01-01T00:00:00+05:30'), 'timestamptz', exactly(-19_800_000_000n)],
    ['R11.11: a small z', text('1970-01-01T00:00:00z'), 'timestamptz', exactly(0n)],
    ['R11.11: a region', text('1970-01-01T01:00:00+01:00[Europe/Paris]'), 'timestamptz', exactly(0n)],
    ['R11.11: no offset', text('1970-01-01T00:00:00'), 'timestamptz', 'refused'],
    ['R11.11: no colon', text('1970-01-01T00:00:00+0100'), 'timestamptz', 'refused'],
    ['R11.11: hours only', text('1970-01-01T00:00:00+01'), 'timestamptz', 'refused'],
    ['R11.11: beyond 18 hours', text('1970-01-01T00:00:00+18:01'), 'timestamptz', 'refused'],
    [
      'B064: an instant near midnight stays in UTC',
      text('2026-01-01T00:00:00+03:00'),
      'timestamptz',
      exactly(1_767_214_800_000_000n),
    ],
    [
      'R11.8: an instant of a day',
      { kind: 'timestamptz', value: MICROS + 1n },
      'date',
      between(DAY, DAY + 1, DAY),
    ],
    ['R11.8: floored before 1970', { kind: 'timestamp', value: -1n }, 'date', between(-1, 0, -1)],
    ['R11.8: floored before 1970', { kind: 'timestamp_ns', value: -1n }, 'date', between(-1, 0, -1)],
    ['B049: nanos are floored', { kind: 'timestamp_ns', value: -1n }, 'timestamp', between(-1n, 0n, -1n)],

    ['R11.11, B017: upper case', text(UUID.toUpperCase()), 'uuid', exactly(UUID)],
    ['R11.11: no dashes', text(UUID.replaceAll('-', '')), 'uuid', 'refused'],
    ['ours: short groups', text('1-2-3-4-5'), 'uuid', 'refused'],
    ['R11.11: a wrong length', text('00ff10'), 'fixed[4]', 'refused'],
    ['R11.11: an odd length', text('00f'), 'binary', 'refused'],
    ['R11.11: no hex', text('0g'), 'binary', 'refused'],
    ['R11.11: nothing', text(''), 'binary', exactly(bytes())],
  ]
  for (const [rule, literal, type, expected] of cases)
    it(`${rule}: ${show(literal)} as ${type}`, () => {
      const converted = convert(literal, type)
      if (expected === 'refused') assert.equal(converted.kind, 'not-convertible')
      else assert.deepEqual(converted, expected)
    })

  it('R11.11: reads every date and timestamp that values are written as', () => {
    // A step that is coprime to the eras of the calendar, from the first day of 32 bits to the last.
    for (let day = -(2 ** 31); day < 2 ** 31; day += 6_498_545) {
      const written = text(valueToJson({ kind: 'date' }, day) as string)
      assert.deepEqual(convert(written, 'date'), exactly(day), written.value as string)
    }
    for (let micros = -(2n ** 63n); micros < 2n ** 63n; micros += 77_429_315_000_000_005n) {
      const written = text(valueToJson({ kind: 'timestamptz' }, micros) as string)
      assert.deepEqual(convert(written, 'timestamptz'), exactly(micros), written.value as string)
    }
  })

  it('a long text of digits that ends badly is refused in linear time', () => {
    assert.equal(convert(text(`${'1'.repeat(200_000)}x`), 'decimal(9,2)').kind, 'not-convertible')
  })

  const reasons: [literal: Literal, type: string, reason: string][] = [
    [text('2026-10-28'), 'timestamp', 'write a time too, as in "2026-10-28T00:00:00"'],
    [text('2026-10-28'), 'timestamptz', 'write a time too, as in "2026-10-28T00:00:00Z"'],
    [text('2026-10-28T12:00:00'), 'timestamptz', 'write it with an offset, as in "2026-10-28T12:00:00Z"'],
    [
      { kind: 'timestamp', value: 0n },
      'timestamptz_ns',
      "write it with an offset, as in TIMESTAMPTZ_NS '1970-01-01T00:00:00.000000Z'",
    ],
    [text('2026-10-28T12:00:00Z'), 'timestamp', 'write it without an offset, since the column has no zone'],
    [text('5'), 'int', 'write a whole number, without quotes'],
    [text('00'), 'fixed[4]', 'write 4 bytes, as 8 hexadecimal digits'],
    [double(NaN), 'float', 'NaN equals nothing, test for it with IS NAN or IS NOT NAN'],
    [text('2263-01-01T00:00:00'), 'timestamp_ns', 'it is beyond the range of timestamp_ns'],
  ]
  for (const [literal, type, reason] of reasons)
    it(`says how to write a ${type}: not ${show(literal)}`, () => {
      assert.deepEqual(convert(literal, type), { kind: 'not-convertible', reason })
    })
})
