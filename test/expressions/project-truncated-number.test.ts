import { testProjections } from './projection-rows.ts'

const MIN_INT = -2_147_483_648
const MAX_INT = 2_147_483_647
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

describe('projection of numbers through truncate (R3.10)', () => {
  describe('a width that divides 2^31 wraps nothing', () => {
    testProjections([
      ['int', 'truncate[8]', 'lt', 16, 'p0 <= 8', 'p0 < 16'],
      ['int', 'truncate[8]', 'lt', 17, 'p0 <= 16', 'p0 < 16'],
      ['int', 'truncate[8]', 'lt-eq', 15, 'p0 <= 8', 'p0 < 16'],
      ['int', 'truncate[8]', 'lt-eq', 16, 'p0 <= 16', 'p0 < 16'],
      ['int', 'truncate[8]', 'gt', 15, 'p0 >= 16', 'p0 > 8'],
      ['int', 'truncate[8]', 'gt', 16, 'p0 >= 16', 'p0 > 16'],
      ['int', 'truncate[8]', 'gt-eq', 16, 'p0 >= 16', 'p0 > 8'],
      ['int', 'truncate[8]', 'gt-eq', 17, 'p0 >= 16', 'p0 > 16'],
      ['int', 'truncate[8]', 'eq', 17, 'p0 = 16', 'false'],
      ['int', 'truncate[8]', 'not-eq', 17, 'true', 'p0 != 16'],
      ['int', 'truncate[8]', 'in', [17, 24], 'p0 in (16, 24)', 'false'],
      ['int', 'truncate[8]', 'in', [17, 18], 'p0 = 16', 'false', 'R3.21'],
      ['int', 'truncate[8]', 'not-in', [17, 24], 'true', 'p0 not in (16, 24)'],
      ['int', 'truncate[8]', 'not-in', [17, 18], 'true', 'p0 != 16', 'R3.21'],
      ['int', 'truncate[8]', 'is-null', undefined, 'p0 is null', 'p0 is null', 'R3.7'],
      ['int', 'truncate[8]', 'not-null', undefined, 'p0 is not null', 'p0 is not null', 'R3.7'],
      ['int', 'truncate[8]', 'lt', 0, 'p0 <= -8', 'p0 < 0', 'B054: below 0'],
      ['int', 'truncate[8]', 'gt-eq', -1, 'p0 >= -8', 'p0 > -8', 'B054'],
      ['int', 'truncate[8]', 'eq', -1, 'p0 = -8', 'false', 'B054'],
      ['int', 'truncate[1]', 'lt', 5, 'p0 <= 4', 'p0 < 5'],
      ['long', 'truncate[8]', 'lt', 16n, 'p0 <= 8n', 'p0 < 16n'],
      ['long', 'truncate[8]', 'lt-eq', 15n, 'p0 <= 8n', 'p0 < 16n'],
      ['long', 'truncate[8]', 'gt', 15n, 'p0 >= 16n', 'p0 > 8n'],
      ['long', 'truncate[8]', 'gt-eq', 16n, 'p0 >= 16n', 'p0 > 8n'],
      ['long', 'truncate[8]', 'eq', 2n ** 53n + 1n, 'p0 = 9007199254740992n', 'false', 'exact beyond 2^53'],
      ['long', 'truncate[8]', 'not-eq', 17n, 'true', 'p0 != 16n'],
      ['long', 'truncate[8]', 'in', [17n, 24n], 'p0 in (16n, 24n)', 'false'],
      ['long', 'truncate[8]', 'not-in', [17n, 18n], 'true', 'p0 != 16n'],
    ])
  })

  describe('the ends of the range', () => {
    testProjections([
      ['int', 'truncate[8]', 'lt', MIN_INT, 'false', 'p0 < -2147483648', 'nothing is below'],
      ['int', 'truncate[8]', 'lt-eq', MIN_INT, 'p0 <= -2147483648', 'p0 < -2147483648'],
      ['int', 'truncate[8]', 'gt', MAX_INT, 'false', 'p0 > 2147483640', 'nothing is above'],
      ['int', 'truncate[8]', 'lt-eq', MAX_INT, 'p0 <= 2147483640', 'p0 is not null', 'all but nulls'],
      ['int', 'truncate[8]', 'gt-eq', MIN_INT, 'p0 >= -2147483648', 'p0 is not null', 'all but nulls'],
      ['int', 'truncate[10]', 'lt', MIN_INT, 'false', 'false', 'Java has <= 2147483640'],
      ['long', 'truncate[8]', 'lt', MIN_LONG, 'false', 'p0 < -9223372036854775808n'],
      ['long', 'truncate[8]', 'gt', MAX_LONG, 'false', 'p0 > 9223372036854775800n'],
      ['long', 'truncate[8]', 'lt-eq', MAX_LONG, 'p0 <= 9223372036854775800n', 'p0 is not null'],
      ['long', 'truncate[8]', 'gt-eq', MIN_LONG, 'p0 >= -9223372036854775808n', 'p0 is not null'],
    ])
  })

  // Rows from -2147483648 to -2147483641 are stored in partition 2147483646 (vector 70).
  describe('the wrapped partition', () => {
    testProjections([
      ['int', 'truncate[10]', 'lt', 5, 'p0 <= 0 or p0 = 2147483646', 'p0 < 0', 'rows near MIN match'],
      ['int', 'truncate[10]', 'lt', 10, 'p0 <= 0 or p0 = 2147483646', 'p0 < 10'],
      ['int', 'truncate[10]', 'lt-eq', 9, 'p0 <= 0 or p0 = 2147483646', 'p0 < 10'],
      ['int', 'truncate[10]', 'gt', 5, 'p0 >= 0', 'p0 > 0 and p0 != 2147483646', 'rows near MIN do not'],
      ['int', 'truncate[10]', 'gt', 9, 'p0 >= 10', 'p0 > 0 and p0 != 2147483646'],
      ['int', 'truncate[10]', 'gt-eq', 10, 'p0 >= 10', 'p0 > 0 and p0 != 2147483646'],
      [
        'int',
        'truncate[10]',
        'lt-eq',
        -2_147_483_600,
        'p0 <= -2147483600 or p0 = 2147483646',
        'p0 < -2147483600',
        'a row MIN would be lost',
      ],
      [
        'int',
        'truncate[10]',
        'lt',
        -2_147_483_640,
        'p0 = 2147483646',
        'p0 < -2147483640',
        'only it has rows below; Java has <= 2147483646',
      ],
      ['int', 'truncate[10]', 'eq', MIN_INT, 'p0 = 2147483646', 'false'],
      ['int', 'truncate[10]', 'not-eq', MIN_INT, 'true', 'p0 != 2147483646'],
      ['int', 'truncate[10]', 'in', [MIN_INT, 5], 'p0 in (2147483646, 0)', 'false'],
      ['int', 'truncate[10]', 'lt-eq', MIN_INT, 'p0 = 2147483646', 'false', 'all its rows? not known'],
      [
        'int',
        'truncate[10]',
        'gt',
        MIN_INT,
        'p0 is not null',
        'p0 > 2147483646',
        'any partition; Java loses all',
      ],
      ['int', 'truncate[10]', 'gt-eq', MIN_INT, 'p0 is not null', 'p0 is not null'],
      ['int', 'truncate[10]', 'gt-eq', -2_147_483_640, 'p0 >= -2147483640', 'p0 > 2147483646'],
      // 7: rows from -2147483648 to -2147483647 lie in 2147483643, and the last partition 2147483646 is above it.
      ['int', 'truncate[7]', 'lt-eq', MAX_INT, 'p0 <= 2147483646', 'p0 is not null', 'it is below'],
      ['int', 'truncate[7]', 'gt', MAX_INT - 1, 'p0 >= 2147483646', 'p0 > 2147483646', 'it is below'],
      ['long', 'truncate[10]', 'eq', MIN_LONG, 'p0 = 9223372036854775806n', 'false'],
      ['long', 'truncate[10]', 'gt', MIN_LONG, 'p0 is not null', 'p0 > 9223372036854775806n'],
    ])
  })

  // R14.6: 2147483646 lies in -2147483647 (vector 74), 0 in 0. No order is left.
  describe('ints of a width above 2^30', () => {
    testProjections([
      ['int', 'truncate[2147483647]', 'lt', 5, 'true', 'false'],
      ['int', 'truncate[2147483647]', 'lt-eq', 5, 'true', 'false'],
      ['int', 'truncate[2147483647]', 'gt', 5, 'true', 'false'],
      ['int', 'truncate[2147483647]', 'gt-eq', 5, 'true', 'false'],
      ['int', 'truncate[2147483647]', 'eq', 2_147_483_646, 'p0 = -2147483647', 'false'],
      ['int', 'truncate[2147483647]', 'not-eq', 2_147_483_646, 'true', 'p0 != -2147483647'],
      ['int', 'truncate[1073741824]', 'gt-eq', 5, 'p0 >= 0', 'p0 > 0', '2^30 itself is in order'],
    ])
  })

  describe('R3.27: a long that may have been an int', () => {
    const both = 'p0 = 2147483646n or p0 = 9223372036854775806n'
    const neither = 'p0 != 2147483646n and p0 != 9223372036854775806n'
    testProjections([
      ['long', 'truncate[10]', 'lt', 5n, `p0 <= 0n or ${both}`, 'p0 < 0n', 'the int MIN is in 2147483646'],
      ['long', 'truncate[10]', 'lt-eq', 9n, `p0 <= 0n or ${both}`, 'p0 < 10n'],
      ['long', 'truncate[10]', 'gt', 5n, 'p0 >= 0n', `p0 > 0n and ${neither}`, 'the int MIN does not match'],
      ['long', 'truncate[10]', 'gt-eq', 5n, 'p0 >= 0n', `p0 > 0n and ${neither}`],
      [
        'long',
        'truncate[10]',
        'lt',
        3_000_000_005n,
        'p0 <= 3000000000n or p0 = 9223372036854775806n',
        'p0 < 3000000000n',
        'the partition of ints is below anyway',
      ],
      [
        'long',
        'truncate[10]',
        'gt',
        3_000_000_005n,
        'p0 >= 3000000000n',
        'p0 > 3000000000n and p0 != 9223372036854775806n',
        'the partition of ints is not above anyway',
      ],
      ['long', 'truncate[10]', 'eq', -2_147_483_648n, 'p0 in (-2147483650n, 2147483646n)', 'false'],
      ['long', 'truncate[10]', 'not-eq', -2_147_483_648n, 'true', 'p0 not in (-2147483650n, 2147483646n)'],
      ['long', 'truncate[10]', 'in', [-2_147_483_641n, 5n], 'p0 in (-2147483650n, 2147483646n, 0n)', 'false'],
      ['long', 'truncate[10]', 'eq', -2_147_483_640n, 'p0 = -2147483640n', 'false', 'the first in order'],
      ['long', 'truncate[10]', 'eq', -2_147_483_649n, 'p0 = -2147483650n', 'false', 'no int'],
      ['long', 'truncate[8]', 'lt', 5n, 'p0 <= 0n', 'p0 < 0n', '8 divides 2^31'],
      ['long', 'truncate[2147483647]', 'lt', 5n, 'true', 'false', 'ints of that width have no order'],
      ['long', 'truncate[2147483647]', 'gt-eq', 5n, 'true', 'false', 'ints of that width have no order'],
      [
        'long',
        'truncate[2147483647]',
        'eq',
        2_147_483_646n,
        'p0 in (0n, -2147483647n)',
        'false',
        'as a long and as an int',
      ],
      ['long', 'truncate[2147483647]', 'not-eq', 2_147_483_646n, 'true', 'p0 not in (0n, -2147483647n)'],
      ['long', 'truncate[2147483647]', 'eq', 3_000_000_000n, 'p0 = 2147483647n', 'false', 'no int'],
    ])
  })

  describe('decimals, by unscaled values', () => {
    testProjections([
      ['decimal(9,2)', 'truncate[10]', 'lt', 10_050n, 'p0 <= 10040n', 'p0 < 10050n', '100.50: u is 0.01'],
      ['decimal(9,2)', 'truncate[10]', 'lt-eq', 10_049n, 'p0 <= 10040n', 'p0 < 10050n'],
      ['decimal(9,2)', 'truncate[10]', 'gt', 10_049n, 'p0 >= 10050n', 'p0 > 10040n'],
      ['decimal(9,2)', 'truncate[10]', 'gt-eq', 10_050n, 'p0 >= 10050n', 'p0 > 10040n'],
      ['decimal(9,2)', 'truncate[10]', 'eq', 1234n, 'p0 = 1230n', 'false'],
      ['decimal(9,2)', 'truncate[10]', 'not-eq', -5n, 'true', 'p0 != -10n', 'B054'],
      ['decimal(9,2)', 'truncate[50]', 'in', [1065n, 1049n], 'p0 in (1050n, 1000n)', 'false'],
      ['decimal(9,2)', 'truncate[50]', 'not-in', [1065n, 1051n], 'true', 'p0 != 1050n'],
      ['decimal(9,2)', 'truncate[10]', 'is-null', undefined, 'p0 is null', 'p0 is null', 'R3.7'],
      [
        'decimal(4,0)',
        'truncate[10]',
        'gt',
        9999n,
        'p0 >= 10000n',
        'p0 > 9990n',
        'decimals have no end here',
      ],
      ['decimal(4,0)', 'truncate[10]', 'lt', -9999n, 'p0 <= -10000n', 'p0 < -10000n', 'nor here'],
      ['decimal(38,0)', 'truncate[10]', 'eq', -(10n ** 38n - 1n), `p0 = -${10n ** 38n}n`, 'false', 'no wrap'],
    ])
  })

  testProjections([
    ['double', 'truncate[10]', 'lt', 5, 'true', 'false', 'R14.3: doubles are not truncated'],
    ['date', 'truncate[10]', 'eq', 5, 'true', 'false', 'R14.3'],
  ])
})
