import { assert } from 'chai'
import { applyTransform } from '../../../src/types/transforms/apply-transform.ts'
import { calendarDate, calendarUnits } from '../../../src/types/transforms/calendar.ts'
import { parseType } from '../../../src/types/type.ts'
import { microsOf } from '../../support/instants.ts'
import { SEED, WITH_SEED } from '../../support/seed.ts'
import { seededRandom } from '../../support/record-shape.ts'

const UNITS = ['year', 'month', 'day', 'hour'] as const

describe('year, month, day, hour of timestamps (R14.9, B062; vectors 88 to 97 of section 14.4)', () => {
  const rows: [vector: number, micros: bigint, units: [number, number, number, number]][] = [
    [88, microsOf('2017-12-01T10:12:55.038194'), [47, 575, 17_501, 420_034]],
    [88, 1_512_123_175_038_194n, [47, 575, 17_501, 420_034]],
    [89, 1_512_151_975_038_194n, [47, 575, 17_501, 420_042]],
    [90, 0n, [0, 0, 0, 0]],
    [91, -1n, [-1, -1, -1, -1]],
    [91, microsOf('1969-12-31T23:59:59.999999'), [-1, -1, -1, -1]],
    [92, microsOf('1969-12-31T22:59:59.999999'), [-1, -1, -1, -2]],
    [93, microsOf('1969-12-31T10:00:00.000000'), [-1, -1, -1, -14]],
    [94, microsOf('1969-12-31T00:00:00.000000'), [-1, -1, -1, -24]],
    [95, microsOf('1965-01-01T10:11:12.123456'), [-5, -60, -1826, -43_814]],
    // R14.10: Java has -2 hours, and -2 days with -25 hours. We round down.
    [96, microsOf('1969-12-31T23:00:00.999999'), [-1, -1, -1, -1]],
    [97, microsOf('1969-12-31T00:00:00.999999'), [-1, -1, -1, -24]],
  ]
  for (const [vector, micros, expected] of rows)
    for (const [type, value] of [
      ['timestamp', micros],
      ['timestamptz', micros],
      ['timestamp_ns', micros * 1000n],
      ['timestamptz_ns', micros * 1000n + 999n],
    ] as const)
      it(`${vector}: ${type} ${value}`, () => {
        assert.deepEqual(
          UNITS.map((kind) => applyTransform({ kind }, parseType(type), value)),
          expected,
        )
      })

  it('B049: a nanosecond before 1970 is in the hour before', () => {
    for (const kind of UNITS) assert.equal(applyTransform({ kind }, { kind: 'timestamp_ns' }, -1n), -1)
  })

  it('R14.10: the first seconds of a month and a year are rounded down too', () => {
    const month = microsOf('1969-12-01T00:00:00.999999')
    const year = microsOf('1969-01-01T00:00:00.999999')
    const units = (micros: bigint): number[] =>
      UNITS.map((unit) => calendarUnits(unit, { kind: 'timestamp' }, micros))
    assert.deepEqual(units(month), [-1, -1, -31, -744])
    assert.deepEqual(units(year), [-1, -12, -365, -8760])
  })

  it('all 64 bits are exact, though not all hours are ints', () => {
    assert.equal(calendarUnits('hour', { kind: 'timestamp' }, 2n ** 63n - 1n), 2_562_047_788)
    assert.equal(calendarUnits('hour', { kind: 'timestamp' }, -(2n ** 63n)), -2_562_047_789)
    assert.equal(calendarUnits('year', { kind: 'timestamp' }, 2n ** 63n - 1n), 294_247 - 1970)
    assert.equal(calendarUnits('day', { kind: 'timestamp_ns' }, 2n ** 63n - 1n), 106_751)
  })
})

describe('year, month, day of dates (R14.11; vectors 98 to 104)', () => {
  const rows: [vector: number, days: number, year: number, month: number][] = [
    [98, 17_501, 47, 575],
    [99, 19_723, 54, 648],
    [100, -1, -1, -1],
    [101, -31, -1, -1],
    [101, -32, -1, -2],
    [102, -334, -1, -11],
    [102, -335, -1, -12],
    [103, -365, -1, -12],
    [103, -366, -2, -13],
    [104, -719_162, -1969, -23_628],
  ]
  for (const [vector, days, year, month] of rows)
    it(`${vector}: date ${days}`, () => {
      assert.deepEqual(
        (['year', 'month', 'day'] as const).map((kind) => applyTransform({ kind }, { kind: 'date' }, days)),
        [year, month, days],
      )
    })

  it(`agree with Date for random days ${WITH_SEED}`, () => {
    const random = seededRandom(SEED)
    for (let i = 0; i < 5000; i++) {
      const days = Math.floor(random() * 200_000_000) - 100_000_000
      const date = new Date(days * 86_400_000)
      assert.deepEqual(
        calendarDate(days),
        { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
        `day ${days}`,
      )
    }
  })
})

describe('time zones (B064)', () => {
  it('do not matter: the units are those of UTC', () => {
    const zone = process.env.TZ
    try {
      for (const tz of ['Asia/Tokyo', 'America/Los_Angeles', 'Pacific/Apia']) {
        process.env.TZ = tz
        const micros = microsOf('2025-12-31T22:00:00.000000')
        assert.equal(calendarUnits('day', { kind: 'timestamp' }, micros), 20_453, tz)
        assert.equal(calendarUnits('day', { kind: 'timestamptz' }, micros), 20_453, tz)
        // 2026-01-01T00:00:00+03:00, an hour earlier on the same day of UTC
        assert.equal(calendarUnits('day', { kind: 'timestamptz' }, micros - 3_600_000_000n), 20_453, tz)
      }
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })
})
