import { daysOf, microsOf } from '../support/instants.ts'
import { testProjections, type ProjectionRow } from './projection-rows.ts'
import type { Operation } from '../support/bound-predicates.ts'

const MICRO_TYPES = ['timestamp', 'timestamptz'] as const
const NANO_TYPES = ['timestamp_ns', 'timestamptz_ns'] as const

/**
 * The rows for all four timestamp types; an instant that is not a whole microsecond has no meaning here. Hours of
 * microseconds wrap besides: {@link withWrapped}.
 */
function onTimestamps(
  transform: string,
  micros: bigint,
  rows: [op: Operation, inclusive: string, strict: string, reason?: string][],
): ProjectionRow[] {
  return [...MICRO_TYPES, ...NANO_TYPES].flatMap((type) =>
    rows.map(([op, inclusive, strict, reason = '']): ProjectionRow => {
      const isNano = type.endsWith('ns')
      const isWrapped = transform === 'hour' && !isNano
      return [
        type,
        transform,
        op,
        isNano ? micros * 1000n : micros,
        ...(isWrapped ? withWrapped(op, inclusive, strict) : ([inclusive, strict] as const)),
        reason,
      ]
    }),
  )
}

/** What a range of hours of microseconds says of the partitions whose hour was no int. */
function withWrapped(op: Operation, inclusive: string, strict: string): [inclusive: string, strict: string] {
  switch (op) {
    case 'lt':
    case 'lt-eq':
      return [`${inclusive} or p0 >= 1732919507`, `${strict} and p0 > -1732919508`]
    case 'gt':
    case 'gt-eq':
      return [`${inclusive} or p0 <= -1732919508`, `${strict} and p0 < 1732919507`]
    default:
      return [inclusive, strict]
  }
}

describe('projection through year, month, day and hour (R3.12 to R3.18)', () => {
  describe('R3.16: the worked examples', () => {
    testProjections([
      ...onTimestamps('day', microsOf('2017-12-01T10:00:00.000000'), [
        ['lt', 'p0 <= 17501', 'p0 < 17501'],
        ['lt-eq', 'p0 <= 17501', 'p0 < 17501'],
        ['gt', 'p0 >= 17501', 'p0 > 17501'],
        ['gt-eq', 'p0 >= 17501', 'p0 > 17501'],
        ['eq', 'p0 = 17501', 'false'],
        ['not-eq', 'true', 'p0 != 17501'],
      ]),
      ...onTimestamps('day', microsOf('1969-12-31T10:00:00.000000'), [
        ['lt', 'p0 <= 0', 'p0 < -1'],
        ['lt-eq', 'p0 <= 0', 'p0 < -1'],
        ['gt', 'p0 >= -1', 'p0 > 0'],
        ['gt-eq', 'p0 >= -1', 'p0 > 0'],
        ['eq', 'p0 in (-1, 0)', 'false'],
        ['not-eq', 'true', 'p0 not in (-1, 0)'],
      ]),
      ...onTimestamps('hour', microsOf('1969-12-31T10:00:00.000000'), [
        // R3.18: the literal is in the first second of its hour, whose last instant Java stores in -15.
        ['lt', 'p0 <= -14', 'p0 < -15', 'Java has < -14: -15 may hold 10:00:00.999999, which is not before'],
        ['lt-eq', 'p0 <= -13', 'p0 < -15', 'Java has < -14'],
        ['gt', 'p0 >= -15', 'p0 > -13', 'Java has >= -14, and loses 10:00:00.999999 in -15'],
        ['gt-eq', 'p0 >= -15', 'p0 > -14', 'Java has >= -14'],
        ['eq', 'p0 in (-14, -13)', 'false'],
        ['not-eq', 'true', 'p0 not in (-14, -13)'],
      ]),
      ['date', 'day', 'lt', -1, 'p0 <= -2', 'p0 < -1'],
      ['date', 'day', 'lt-eq', -1, 'p0 <= -1', 'p0 < 0'],
      ['date', 'day', 'gt', -1, 'p0 >= 0', 'p0 > -1'],
      ['date', 'day', 'gt-eq', -1, 'p0 >= -1', 'p0 > -2'],
      ['date', 'day', 'eq', -1, 'p0 = -1', 'false', 'R3.15: days of dates are right'],
      ['date', 'day', 'not-eq', -1, 'true', 'p0 != -1'],
      ['date', 'month', 'lt', -1, 'p0 <= 0', 'p0 < -1'],
      ['date', 'month', 'lt-eq', -1, 'p0 <= 0', 'p0 < 0'],
      ['date', 'month', 'gt', -1, 'p0 >= 0', 'p0 > 0'],
      ['date', 'month', 'gt-eq', -1, 'p0 >= -1', 'p0 > 0'],
      ['date', 'month', 'eq', -1, 'p0 in (-1, 0)', 'false'],
      ['date', 'month', 'not-eq', -1, 'true', 'p0 not in (-1, 0)'],
      ['date', 'year', 'lt', 0, 'p0 <= 0', 'p0 < 0'],
      ['date', 'year', 'lt-eq', 0, 'p0 <= 0', 'p0 < 0'],
      ['date', 'year', 'gt', 0, 'p0 >= 0', 'p0 > 1'],
      ['date', 'year', 'gt-eq', 0, 'p0 >= 0', 'p0 > 0'],
      ['date', 'year', 'eq', 0, 'p0 = 0', 'false'],
      ['date', 'year', 'not-eq', 0, 'true', 'p0 != 0'],
      ...onTimestamps('day', 0n, [
        ['lt', 'p0 <= 0', 'p0 < 0'],
        ['lt-eq', 'p0 <= 0', 'p0 < 0'],
        ['gt', 'p0 >= 0', 'p0 > 1'],
        ['gt-eq', 'p0 >= 0', 'p0 > 0'],
        ['eq', 'p0 = 0', 'false'],
        ['not-eq', 'true', 'p0 != 0'],
      ]),
    ])
  })

  describe('R3.17: exact boundaries', () => {
    testProjections([
      ...onTimestamps('day', microsOf('2017-12-01T00:00:00.000000'), [
        ['lt', 'p0 <= 17500', 'p0 < 17501', 'the day of the literal is out'],
      ]),
      ...onTimestamps('day', microsOf('2017-12-02T00:00:00.000000'), [
        ['gt-eq', 'p0 >= 17502', 'p0 > 17501'],
        ['lt', 'p0 <= 17501', 'p0 < 17502', 'trap 13'],
      ]),
      ...onTimestamps('hour', microsOf('2017-12-01T10:00:00.000000'), [
        ['lt', 'p0 <= 420033', 'p0 < 420034'],
        ['gt-eq', 'p0 >= 420034', 'p0 > 420033'],
      ]),
      ...onTimestamps('month', microsOf('2017-12-01T00:00:00.000000'), [
        ['lt', 'p0 <= 574', 'p0 < 575'],
        ['gt-eq', 'p0 >= 575', 'p0 > 574'],
      ]),
      ...onTimestamps('year', microsOf('2017-01-01T00:00:00.000000'), [
        ['lt', 'p0 <= 46', 'p0 < 47'],
        ['gt-eq', 'p0 >= 47', 'p0 > 46'],
      ]),
      ['date', 'month', 'lt', daysOf('2017-12-01'), 'p0 <= 574', 'p0 < 575'],
      ['date', 'month', 'lt-eq', daysOf('2017-11-30'), 'p0 <= 574', 'p0 < 575'],
      ['date', 'year', 'gt', daysOf('2016-12-31'), 'p0 >= 47', 'p0 > 46'],
      ['date', 'year', 'gt-eq', daysOf('2017-01-01'), 'p0 >= 47', 'p0 > 46'],
      // The last microsecond of a day and the first of the next; in nanoseconds there is more between them.
      ['timestamp', 'day', 'lt-eq', 1_512_172_799_999_999n, 'p0 <= 17501', 'p0 < 17502'],
      ['timestamp', 'day', 'gt', 1_512_172_799_999_999n, 'p0 >= 17502', 'p0 > 17501'],
      ['timestamp_ns', 'day', 'lt-eq', 1_512_172_799_999_999_000n, 'p0 <= 17501', 'p0 < 17501'],
      ['timestamp_ns', 'day', 'gt', 1_512_172_799_999_999_000n, 'p0 >= 17501', 'p0 > 17501'],
      ['timestamp_ns', 'day', 'lt-eq', 1_512_172_799_999_999_999n, 'p0 <= 17501', 'p0 < 17502'],
    ])
  })

  describe('R3.12: sets', () => {
    const first = microsOf('2017-12-01T10:00:00.000000')
    const second = microsOf('2017-12-02T10:00:00.000000')
    const negative = microsOf('1969-12-31T10:00:00.000000')
    testProjections([
      ['timestamp', 'day', 'in', [first, second], 'p0 in (17501, 17502)', 'false'],
      ['timestamp', 'day', 'not-in', [first, second], 'true', 'p0 not in (17501, 17502)'],
      ['timestamptz', 'month', 'in', [first, second], 'p0 = 575', 'false', 'R3.21'],
      ['timestamptz', 'year', 'not-in', [first, second], 'true', 'p0 != 47', 'R3.21'],
      ['timestamp', 'day', 'in', [first, negative], 'p0 in (17501, -1, 0)', 'false', 'R3.14'],
      ['timestamp', 'day', 'not-in', [0n, negative], 'true', 'p0 not in (0, -1)', 'R3.14'],
      ['timestamp_ns', 'hour', 'in', [first * 1000n, negative * 1000n], 'p0 in (420034, -14, -13)', 'false'],
      ['date', 'day', 'in', [-1, -2], 'p0 in (-1, -2)', 'false', 'R3.15'],
      ['date', 'year', 'in', [-1, -366], 'p0 in (-1, 0, -2)', 'false', 'R3.14'],
      ['date', 'month', 'not-in', [-1, -32], 'true', 'p0 not in (-1, 0, -2)', 'R3.14'],
    ])
  })

  describe('R3.14, R3.15: the time fix', () => {
    testProjections([
      ...onTimestamps('year', microsOf('1969-06-01T00:00:00.000000'), [
        ['lt', 'p0 <= 0', 'p0 < -1'],
        ['eq', 'p0 in (-1, 0)', 'false'],
        ['gt', 'p0 >= -1', 'p0 > 0'],
      ]),
      ...onTimestamps('month', microsOf('1969-06-15T00:00:00.000000'), [
        ['lt-eq', 'p0 <= -6', 'p0 < -7'],
        ['eq', 'p0 in (-7, -6)', 'false'],
        ['gt-eq', 'p0 >= -7', 'p0 > -6'],
        ['not-eq', 'true', 'p0 not in (-7, -6)'],
      ]),
      ['date', 'year', 'gt-eq', -1, 'p0 >= -1', 'p0 > 0'],
      ['date', 'year', 'lt-eq', -400, 'p0 <= -1', 'p0 < -2'],
    ])
  })

  describe('R3.13, R3.7', () => {
    testProjections([
      ...[...MICRO_TYPES, ...NANO_TYPES].flatMap((type) =>
        ['year', 'month', 'day', 'hour'].flatMap((transform): ProjectionRow[] => [
          [type, transform, 'is-null', undefined, 'p0 is null', 'p0 is null'],
          [type, transform, 'not-null', undefined, 'p0 is not null', 'p0 is not null'],
        ]),
      ),
      ['date', 'day', 'is-null', undefined, 'p0 is null', 'p0 is null'],
      ['date', 'hour', 'eq', 5, 'true', 'false', 'R14.3: a date has no hours'],
      ['date', 'hour', 'is-null', undefined, 'true', 'false', 'R14.3'],
      ['long', 'day', 'eq', 5n, 'true', 'false', 'R14.3'],
    ])
  })

  // R14.10: Java stores these instants one partition too low: the last one of the first second of the unit.
  describe('R3.18: instants that Java stores too low', () => {
    const hour = microsOf('1969-12-31T23:00:00.999999')
    const day = microsOf('1969-12-31T00:00:00.999999')
    testProjections([
      ['timestamp', 'hour', 'eq', hour, 'p0 in (-2, -1, 0)', 'false'],
      ['timestamp', 'hour', 'not-eq', hour, 'true', 'p0 not in (-2, -1, 0)'],
      ['timestamp_ns', 'hour', 'eq', hour * 1000n + 999n, 'p0 in (-2, -1, 0)', 'false'],
      ['timestamp', 'day', 'eq', day, 'p0 in (-2, -1, 0)', 'false'],
      ['timestamp', 'hour', 'eq', day, 'p0 in (-25, -24, -23)', 'false'],
      ['timestamptz', 'day', 'in', [day, 0n], 'p0 in (-2, -1, 0)', 'false'],
      ['timestamptz', 'month', 'eq', day, 'p0 in (-1, 0)', 'false', 'not the first second of a month'],
      ['timestamp', 'month', 'eq', microsOf('1969-12-01T00:00:00.999999'), 'p0 in (-2, -1, 0)', 'false'],
      ['timestamp', 'year', 'eq', microsOf('1969-01-01T00:00:00.999999'), 'p0 in (-2, -1, 0)', 'false'],
      ['timestamp', 'hour', 'eq', hour + 1n, 'p0 in (-1, 0)', 'false', 'a whole second'],
      ['timestamp', 'hour', 'eq', hour - 1n, 'p0 in (-1, 0)', 'false'],
      ['timestamp', 'hour', 'eq', hour + 1_000_000n, 'p0 in (-1, 0)', 'false', 'the second second'],
      ['timestamp', 'day', 'eq', microsOf('1970-01-01T00:00:00.999999'), 'p0 = 0', 'false', 'after 1970'],
      ['timestamp_ns', 'day', 'eq', day * 1000n + 999n, 'p0 in (-2, -1, 0)', 'false', 'all nines'],
      ['timestamp_ns', 'day', 'eq', day * 1000n, 'p0 in (-1, 0)', 'false', 'microseconds only'],
      ['timestamptz_ns', 'day', 'gt-eq', day * 1000n + 999n, 'p0 >= -2', 'p0 > 0'],
    ])

    // A range that parts such an instant from the day before: from the start of the second up to the instant itself.
    const start = microsOf('1969-12-31T00:00:00.000000')
    testProjections([
      ...onTimestamps('day', start, [
        ['gt-eq', 'p0 >= -2', 'p0 > -1', '00:00:00.999999 matches, and is in -2'],
        ['gt', 'p0 >= -2', 'p0 > 0', 'it matches still'],
        ['lt', 'p0 <= -1', 'p0 < -2', 'it does not match: -2 proves nothing'],
        ['lt-eq', 'p0 <= 0', 'p0 < -2', 'nor does it here'],
        ['eq', 'p0 in (-1, 0)', 'false', 'another instant: no wider'],
        ['not-eq', 'true', 'p0 not in (-1, 0)', 'nor narrower'],
      ]),
      ...onTimestamps('hour', microsOf('1969-12-31T23:00:00.500000'), [
        ['gt-eq', 'p0 >= -2', 'p0 > 0'],
        ['gt', 'p0 >= -2', 'p0 > 0'],
        ['lt', 'p0 <= 0', 'p0 < -2'],
        ['lt-eq', 'p0 <= 0', 'p0 < -2'],
        ['eq', 'p0 in (-1, 0)', 'false'],
      ]),
      ...onTimestamps('hour', microsOf('1969-12-31T23:00:01.000000'), [
        ['gt-eq', 'p0 >= -1', 'p0 > 0', 'the second second'],
        ['gt', 'p0 >= -1', 'p0 > 0', 'the second second'],
        ['lt', 'p0 <= 0', 'p0 < -1', 'all of the first second is before'],
        ['lt-eq', 'p0 <= 0', 'p0 < -1'],
      ]),
      ...onTimestamps('month', microsOf('1969-12-01T00:00:00.000001'), [
        ['gt-eq', 'p0 >= -2', 'p0 > 0'],
        ['lt', 'p0 <= 0', 'p0 < -2'],
      ]),
      ...onTimestamps('year', microsOf('1969-01-01T00:00:00.000001'), [
        ['gt-eq', 'p0 >= -2', 'p0 > 0'],
        ['lt', 'p0 <= 0', 'p0 < -2'],
      ]),
      ...onTimestamps('year', start, [['gt-eq', 'p0 >= -1', 'p0 > 0', 'not the first second of a year']]),
      ['timestamp', 'day', 'gt', start - 1n, 'p0 >= -2', 'p0 > -1', 'literal + u is the start'],
      ['timestamp', 'day', 'gt', day, 'p0 >= -1', 'p0 > 0', 'literal + u is in the next second'],
      ['timestamp', 'day', 'lt-eq', day, 'p0 <= 0', 'p0 < -1', 'literal + u is in the next second'],
      ['timestamp', 'day', 'lt-eq', start - 1n, 'p0 <= -1', 'p0 < -2', 'literal + u is the start'],
      ['timestamp_ns', 'day', 'gt', day * 1000n + 998n, 'p0 >= -2', 'p0 > 0', 'literal + u is the instant'],
      ['timestamp_ns', 'day', 'gt', day * 1000n + 999n, 'p0 >= -1', 'p0 > 0', 'literal + u is past it'],
      ['timestamp', 'day', 'gt-eq', 500_000n, 'p0 >= 0', 'p0 > 1', 'after 1970'],
      ['date', 'month', 'gt-eq', daysOf('1969-12-01'), 'p0 >= -1', 'p0 > -1', 'dates have no seconds'],
    ])
  })

  // Java casts hours to int: 9223372036825200000, in the last hour 2562047788, is stored in -1732919508.
  describe('R3.12: hours of microseconds that are no int', () => {
    const instant = microsOf('2026-01-01T00:30:00.000000')
    // The second int from each end, in the middle of the hour.
    const first = (-(2n ** 31n) + 1n) * 3_600_000_000n + 1_800_000_000n
    const last = (2n ** 31n - 2n) * 3_600_000_000n + 1_800_000_000n
    testProjections([
      ...onTimestamps('hour', instant, [
        ['lt', 'p0 <= 490896', 'p0 < 490896'],
        ['lt-eq', 'p0 <= 490896', 'p0 < 490896'],
        ['gt', 'p0 >= 490896', 'p0 > 490896'],
        ['gt-eq', 'p0 >= 490896', 'p0 > 490896'],
        ['eq', 'p0 = 490896', 'false', 'no hour that wraps is this one'],
        ['not-eq', 'true', 'p0 != 490896', 'no hour that wraps is this one'],
      ]),
      [
        'timestamp',
        'hour',
        'gt',
        instant,
        'p0 >= 490896 or p0 <= -1732919508',
        'p0 > 490896 and p0 < 1732919507',
        'a row of the year 294247 is in -1732919508',
      ],
      [
        'timestamptz',
        'hour',
        'lt',
        instant,
        'p0 <= 490896 or p0 >= 1732919507',
        'p0 < 490896 and p0 > -1732919508',
        'and one of 290308 BC in 1732919507',
      ],
      [
        'timestamp_ns',
        'hour',
        'gt',
        instant * 1000n,
        'p0 >= 490896',
        'p0 > 490896',
        'nanoseconds end before',
      ],
      ['timestamp', 'day', 'gt', instant, 'p0 >= 20454', 'p0 > 20454', 'days are ints'],
      [
        'timestamp',
        'hour',
        'gt',
        last,
        'p0 >= 2147483646 or p0 <= -1732919508',
        'p0 > 2147483646 and p0 < 1732919507',
      ],
      [
        'timestamp',
        'hour',
        'lt',
        first,
        'p0 <= -2147483646 or p0 >= 1732919507',
        'p0 < -2147483647 and p0 > -1732919508',
      ],
      ['timestamp', 'hour', 'gt', last + 2n * 3_600_000_000n, 'true', 'false', 'the literal has no hour'],
      [
        'timestamp',
        'hour',
        'gt',
        last + 3_600_000_000n + 1_799_999_999n,
        'p0 >= 2147483647 or p0 <= -1732919508',
        'p0 > 2147483647 and p0 < 1732919507',
        'literal + u has none',
      ],
      [
        'timestamp',
        'hour',
        'eq',
        first - 3_600_000_000n - 1_800_000_000n + 999_999n,
        'p0 in (2147483647, -2147483648, -2147483647)',
        'false',
        'R3.18 at the first int: Java stores the last',
      ],
    ])
  })

  describe('R3.12: the ends of the range', () => {
    testProjections([
      ['date', 'day', 'lt', -2_147_483_648, 'p0 <= -2147483648', 'p0 < -2147483648', 'saturates'],
      ['date', 'day', 'gt', 2_147_483_647, 'p0 >= 2147483647', 'p0 > 2147483647', 'saturates'],
      ['date', 'day', 'lt-eq', 2_147_483_647, 'p0 <= 2147483647', 'p0 < 2147483647', 'saturates'],
      ['timestamp_ns', 'day', 'gt', 2n ** 63n - 1n, 'p0 >= 106751', 'p0 > 106751', 'saturates'],
      ['timestamp_ns', 'day', 'lt', -(2n ** 63n), 'p0 <= -106751', 'p0 < -106752', 'saturates, then R3.14'],
      ['timestamp', 'hour', 'eq', 2n ** 63n - 1n, 'true', 'false', 'hour 2562047788 is no int'],
      ['timestamp', 'hour', 'lt', 2n ** 63n - 1n, 'true', 'false', 'hour 2562047788 is no int'],
      ['timestamp', 'day', 'eq', 2n ** 63n - 1n, 'p0 = 106751991', 'false'],
    ])
  })
})
