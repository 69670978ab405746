import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { bind } from '../../src/expressions/bind.ts'
import { boundColumns } from '../../src/expressions/bound-columns.ts'
import {
  alwaysFalse,
  alwaysTrue,
  and,
  bucket,
  day,
  equal,
  greaterThan,
  greaterThanOrEqual,
  hour,
  isIn,
  isNan,
  isNull,
  lessThan,
  lessThanOrEqual,
  month,
  not,
  notEqual,
  notIn,
  notNan,
  notNull,
  notStartsWith,
  or,
  startsWith,
  truncate,
  year,
} from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { thrown } from '../support/rejection.ts'
import { boundText } from './bound-text.ts'

const column = (id: number, name: string, type: unknown, required = false): unknown => ({
  id,
  name,
  required,
  type,
})
const schema = parseSchema({
  type: 'struct',
  fields: [
    column(1, 'id', 'int', true),
    column(2, 'n', 'long'),
    column(3, 'f', 'float'),
    column(4, 'd', 'double'),
    column(5, 'dec', 'decimal(9,2)'),
    column(6, 's', 'string', true),
    column(7, 'b', 'boolean'),
    column(8, 'dt', 'date'),
    column(9, 'ts', 'timestamp'),
    column(10, 'tz', 'timestamptz', true),
    column(11, 'u', 'uuid'),
    column(12, 'bin', 'binary'),
    column(13, 'un', 'unknown'),
    column(14, 'v', 'variant'),
    column(15, 'geo', 'geometry'),
    column(16, 't', 'time'),
  ],
})

const decimal = (value: bigint, scale: number): Literal => ({ kind: 'decimal', value, scale })
const float = (value: number): Literal => ({ kind: 'float', value })
const check = (expression: Expression, expected: string): void => {
  assert.equal(boundText(bind(expression, schema)), expected)
}
const checkRefused = (expression: Expression, message: string | RegExp): void => {
  const error = thrown(() => bind(expression, schema))
  assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
  if (typeof message === 'string') assert.equal(error.message, message)
  else assert.match(error.message, message)
}
const table = (rule: string, cases: [expression: Expression, expected: string, reason: string][]): void => {
  for (const [expression, expected, reason] of cases)
    it(`${rule}: ${reason}: ${expected}`, () => {
      check(expression, expected)
    })
}

describe('bind', () => {
  table('R11.10', [
    [lessThan('id', 2147483648), 'true', '< above max'],
    [lessThanOrEqual('id', 2147483648), 'true', '<= above max'],
    [notEqual('id', 2147483648), 'true', '!= above max'],
    [greaterThan('id', 2147483648), 'false', '> above max'],
    [greaterThanOrEqual('id', 2147483648), 'false', '>= above max'],
    [equal('id', 2147483648), 'false', '= above max'],
    [lessThan('id', -2147483649), 'false', '< below min'],
    [lessThanOrEqual('id', -2147483649), 'false', '<= below min'],
    [equal('id', -2147483649), 'false', '= below min'],
    [greaterThan('id', -2147483649), 'true', '> below min'],
    [greaterThanOrEqual('id', -2147483649), 'true', '>= below min'],
    [notEqual('id', -2147483649), 'true', '!= below min'],
    [lessThan('dt', 2147483648n), 'true', 'on an optional column too, for null rows as well'],
    [lessThan('f', 3.5e38), 'true', 'beyond float'],
    [equal('f', -Infinity), 'f eq -Infinity', 'infinity is a float (Java: false, which loses its rows)'],
    [greaterThan('f', 1e39), 'f gt-eq Infinity', 'beyond the floats there is infinity (Java: false)'],
    [lessThanOrEqual('f', -1e39), 'f lt-eq -Infinity', 'on both sides'],
    [lessThan('f', 1e39), 'true', 'the rest is as for other types'],
    [equal('f', 1e39), 'false', 'infinity is not equal to it'],
    [equal('d', -Infinity), 'd eq -Infinity', 'and a double among doubles'],
    [lessThan('id', 2147483647), 'id lt 2147483647', 'the last int is in range'],
  ])

  // 16777217 lies between the floats 16777216 and 16777218, and becomes the lower one in Java; 16777219 becomes the
  // upper one, 16777220, of its two.
  table('R11.10', [
    [lessThan('f', 16777217), 'f lt-eq 16777216', '< between floats keeps the lower'],
    [lessThanOrEqual('f', 16777217), 'f lt-eq 16777216', '<= between floats'],
    [greaterThan('f', 16777217), 'f gt-eq 16777218', '> between floats'],
    [greaterThanOrEqual('f', 16777217), 'f gt-eq 16777216', '>= keeps what Java keeps'],
    [equal('f', 16777217), 'f eq 16777216', '= keeps what Java keeps'],
    [notEqual('f', 16777217), 'true', '!= is true of every float'],
    [isIn('f', [16777217, 1]), 'f in 16777216, 1', 'in keeps what Java keeps'],
    [notIn('f', [16777217, 1]), 'f not-eq 1', 'not in drops it'],
    [notIn('f', [16777217]), 'true', 'not in of nothing else'],
    [lessThan('f', 16777219), 'f lt-eq 16777218', '< rounded up'],
    [lessThanOrEqual('f', 16777219), 'f lt-eq 16777220', '<= keeps what Java keeps, rounded up'],
    [greaterThan('f', 16777219), 'f gt-eq 16777220', '> keeps the exact answer, rounded up'],
    [greaterThanOrEqual('f', 16777219), 'f gt-eq 16777220', '>= rounded up'],
    [lessThan('d', 9007199254740993n), 'd lt-eq 9007199254740992', 'B123: longs among doubles'],
  ])

  // Evaluators of residuals may compare with the double itself, Java compares with 1.23 and with the float 0.7, which is
  // a little less than the double; 1.236 becomes 1.24.
  table('R11.9, R11.10: a double is taken both ways', [
    [lessThan('dec', 1.234), 'dec lt-eq 123', '1.23 is less than 1.234'],
    [lessThanOrEqual('dec', 1.234), 'dec lt-eq 123', '<='],
    [greaterThan('dec', 1.234), 'dec gt-eq 124', '>'],
    [greaterThanOrEqual('dec', 1.234), 'dec gt-eq 123', '>= keeps what Java keeps'],
    [lessThan('dec', 1.236), 'dec lt-eq 123', '< rounded up'],
    [lessThanOrEqual('dec', 1.236), 'dec lt-eq 124', '<= keeps what Java keeps'],
    [greaterThan('dec', 1.236), 'dec gt-eq 124', '1.24 is greater than 1.236'],
    [greaterThanOrEqual('dec', -1.236), 'dec gt-eq -124', '>= below zero'],
    [notEqual('dec', 1.234), 'true', '!= is true of every decimal'],
    [isIn('dec', [1.234, 5]), 'dec in 123, 500', 'in keeps what Java keeps'],
    [notIn('dec', [1.234, 5]), 'dec not-eq 500', 'not in drops it'],
    [lessThan('dec', 1e300), 'true', 'beyond every decimal'],
    [lessThan('f', 0.7), 'f lt-eq 0.699999988079071', 'the float 0.7 is less than the double'],
    [greaterThan('f', 0.7), 'f gt-eq 0.7000000476837158', '> is the same either way'],
    [greaterThanOrEqual('f', 0.7), 'f gt-eq 0.699999988079071', '>= keeps what Java keeps'],
    [greaterThan('f', 0.1), 'f gt-eq 0.10000000149011612', 'the float 0.1 is greater than the double'],
    [equal('f', 0.1), 'f eq 0.10000000149011612', '= keeps what Java keeps'],
    [notEqual('f', 0.1), 'true', '!= is true of every float'],
    [notEqual('f', 0.5), 'f not-eq 0.5', 'what is a float is one value'],
  ])

  table('R11.9, B122', [
    [equal('dec', decimal(15n, 1)), 'dec eq 150', '1.5 is rescaled'],
    [equal('dec', decimal(150n, 2)), 'dec eq 150', '1.50 as it is'],
    [equal('dec', decimal(1501n, 3)), 'false', '= 1.501 matches no value of two digits'],
    [notEqual('dec', decimal(1501n, 3)), 'true', '!= 1.501 matches all'],
    [lessThan('dec', decimal(1501n, 3)), 'dec lt-eq 150', '< 1.501'],
    [lessThanOrEqual('dec', decimal(1501n, 3)), 'dec lt-eq 150', '<= 1.501'],
    [greaterThan('dec', decimal(1501n, 3)), 'dec gt-eq 151', '> 1.501'],
    [greaterThanOrEqual('dec', decimal(1501n, 3)), 'dec gt-eq 151', '>= 1.501'],
    [lessThan('dec', decimal(-1501n, 3)), 'dec lt-eq -151', '< -1.501'],
    [greaterThanOrEqual('dec', decimal(-1501n, 3)), 'dec gt-eq -150', '>= -1.501'],
    [isIn('dec', [decimal(1501n, 3), decimal(15n, 1)]), 'dec eq 150', 'in drops 1.501'],
    [isIn('dec', [decimal(1501n, 3)]), 'false', 'in of nothing else'],
    [notIn('dec', [decimal(1501n, 3), decimal(15n, 1)]), 'dec not-eq 150', 'not in drops 1.501'],
    [equal('dec', 1.234), 'dec eq 123', 'a double is rounded'],
    [equal('dec', '1.50'), 'dec eq 150', 'text'],
    [isIn('dec', [decimal(10n, 1), decimal(100n, 2)]), 'dec eq 100', '1.0 and 1.00 are one (ours)'],
    [equal('dec', 10n ** 30n), `dec eq 1${'0'.repeat(32)}`, 'a bigint beyond 64 bits'],
  ])

  table('R11.11', [
    [equal('dt', '2017-12-01'), 'dt eq 17501', 'a date'],
    [equal('t', '00:00:01'), 't eq 1000000', 'a time'],
    [equal('ts', '1969-12-31T23:59:59.999999999'), 'ts eq -1', 'floored, before 1970 too'],
    [lessThan('ts', '1969-12-31T23:59:59.999999999'), 'ts lt-eq -1', 'the microsecond it is in is before it'],
    [greaterThan('ts', '1970-01-01T00:00:00.0000005'), 'ts gt-eq 1', 'and is not after it'],
    [
      equal('u', 'F79C3E09-677C-4BBD-A479-3F349CB785E7'),
      'u eq f79c3e09-677c-4bbd-a479-3f349cb785e7',
      'a uuid',
    ],
    [equal('bin', '00fF'), 'bin eq 00ff', 'hex'],
    [equal('tz', new Date(5)), 'tz eq 5000', 'a Date is an instant'],
    [equal('ts', new Date(5)), 'ts eq 5000', 'its UTC wall clock'],
    [equal('dt', new Date(-86_400_000)), 'dt eq -1', 'its UTC day'],
    [lessThan('dt', new Date(5)), 'dt lt-eq 0', 'midnight is before any other time of the day'],
    [greaterThan('dt', new Date(5)), 'dt gt-eq 1', 'and not after it'],
  ])

  table('R11.13', [
    [isNull('id'), 'false', 'a required column has no null'],
    [notNull('id'), 'true', 'a required column has only values'],
    [isNull('n'), 'n is-null', 'optional'],
    [notNull('n'), 'n not-null', 'optional'],
    [isNull('un'), 'true', 'unknown is always null'],
    [notNull('un'), 'false', 'unknown is never a value'],
    [isNull('v'), 'v is-null', 'a variant'],
    [notNull('geo'), 'geo not-null', 'a geometry'],
    [isNull(bucket(16, 'id')), 'bucket[16](id) is-null', 'a bucket does not keep the order'],
    [notNull(bucket(16, 'id')), 'bucket[16](id) not-null', 'a bucket does not keep the order'],
    [isNull(truncate(10, 'id')), 'false', 'truncate does'],
    [notNull(day('tz')), 'true', 'day does'],
    [isNull(truncate(10, 'n')), 'truncate[10](n) is-null', 'of an optional column'],
  ])

  table('R11.14', [
    [isIn('id', [1, 2147483648]), 'id eq 1', 'an element above max is dropped'],
    [isIn('id', [-2147483649, 1, 2]), 'id in 1, 2', 'an element below min is dropped'],
    [notIn('id', [1, 2147483648]), 'id not-eq 1', 'in not in too'],
    [isIn('id', [2147483648, 2147483649]), 'false', 'nothing is left'],
    [notIn('id', [2147483648, 2147483649]), 'true', 'nothing is left'],
    [isIn('id', []), 'false', 'empty from the start'],
    [notIn('id', []), 'true', 'empty from the start'],
    [isIn('id', [1, 1]), 'id eq 1', 'one distinct value'],
    [notIn('id', [1, 1]), 'id not-eq 1', 'one distinct value'],
    [isIn('id', [1, 2, 1]), 'id in 1, 2', 'each once, in their order'],
    [isIn('n', [1, 1n, 2]), 'n in 1, 2', 'an int and a long of one value'],
    [isIn('d', [-0.0, 0.0]), 'd eq 0', 'R11.22a: -0 and 0 are one'],
    [isIn('d', [{ kind: 'double', value: -0 }, { kind: 'double', value: 0 }, 1]), 'd in 0, 1', 'R11.22a'],
    [isIn('bin', [Uint8Array.of(1), '01', '02']), 'bin in 01, 02', 'bytes by content'],
    [isIn('s', ['a', 'a', 'b']), 's in a, b', 'strings by content'],
  ])
  it('R11.14: one element that is not convertible refuses the list', () => {
    checkRefused(isIn('id', [1, 'x']), /with the string "x"/)
  })
  it('B106: 100,000 elements, each twice', () => {
    const values = Array.from({ length: 200_000 }, (_, i) => i % 100_000)
    const bound = bind(isIn('n', values), schema)
    assert.lengthOf('values' in bound ? bound.values : [], 100_000)
  })

  table('R11.15', [
    [isNan('f'), 'f is-nan', 'float'],
    [notNan('d'), 'd not-nan', 'double'],
  ])
  it('R11.15: other types have no NaN', () => {
    checkRefused(isNan('id'), 'Cannot test column "id" (int) for NaN: only float and double columns have it')
    checkRefused(notNan('s'), /column "s" \(string\)/)
    checkRefused(isNan('un'), /column "un" \(unknown\)/)
  })

  table('R11.16', [
    [startsWith('s', 'ab'), 's starts-with ab', 'a string'],
    [notStartsWith('s', ''), 's not-starts-with ', 'a string'],
    [startsWith(truncate(3, 's'), 'abc'), 'truncate[3](s) starts-with abc', 'what is left of a string'],
  ])
  it('R11.16: other types have no prefix', () => {
    checkRefused(startsWith('id', 'a'), 'Cannot test column "id" (int) for a prefix: only strings have one')
    checkRefused(notStartsWith('bin', 'a'), /column "bin" \(binary\)/)
    checkRefused(startsWith(truncate(3, 'id'), 'a'), /truncate\[3\] of column "id" \(int\)/)
  })

  table('R11.17', [
    [lessThan('b', true), 'b lt true', 'booleans have an order'],
    [equal('n', 5), 'n eq 5', 'an int among longs'],
    [equal('f', float(0.5)), 'f eq 0.5', 'a float'],
  ])
  const refused: [expression: Expression, message: string][] = [
    [
      equal('id', '5'),
      'Cannot compare column "id" (int) with the string "5": write a whole number, without quotes',
    ],
    [
      equal('id', 1.5),
      'Cannot compare column "id" (int) with the double 1.5: write a whole number, without quotes',
    ],
    [
      equal('ts', '2026-10-28'),
      'Cannot compare column "ts" (timestamp) with the string "2026-10-28": write a time too, as in "2026-10-28T00:00:00"',
    ],
    [
      lessThan('tz', { kind: 'timestamp', value: 0n }),
      'Cannot compare column "tz" (timestamptz) with the timestamp 1970-01-01T00:00:00.000000: write it with an offset, as in TIMESTAMPTZ \'1970-01-01T00:00:00.000000Z\'',
    ],
    [
      equal('s', decimal(-1234n, 3)),
      'Cannot compare column "s" (string) with the decimal -1.234: write a string',
    ],
    [equal('s', decimal(5n, -7)), 'Cannot compare column "s" (string) with the decimal 5E7: write a string'],
    [
      equal('un', 5),
      'Cannot compare column "un" (unknown) with the int 5: such a column can only be tested for null',
    ],
    [
      equal('u', Uint8Array.of(255)),
      `Cannot compare column "u" (uuid) with the binary X'ff': write 36 characters, as in "f79c3e09-677c-4bbd-a479-3f349cb785e7"`,
    ],
    [
      equal(day('ts'), 'x'),
      'Cannot compare day of column "ts" (date) with the string "x": write a date, as in "2026-10-28"',
    ],
    [
      { op: 'eq', term: { name: 'd' }, literal: { kind: 'double', value: NaN } },
      'Cannot compare column "d" (double) with the double NaN: NaN equals nothing, test for it with IS NAN or IS NOT NAN',
    ],
  ]
  for (const [expression, message] of refused)
    it(`R11.17: ${message}`, () => {
      checkRefused(expression, message)
    })

  table('R11.18', [
    [equal(day('ts'), '2017-12-01'), 'day(ts) eq 17501', 'day takes a date'],
    [equal(day('ts'), 17501), 'day(ts) eq 17501', 'or its number'],
    [equal(year('ts'), 2017), 'year(ts) eq 2017', 'an ordinal: the year 3987'],
    [equal(month('dt'), 5), 'month(dt) eq 5', 'of a date'],
    [equal(hour('tz'), 5), 'hour(tz) eq 5', 'of an instant'],
    [equal(bucket(16, 's'), 3), 'bucket[16](s) eq 3', 'an int whatever the source'],
    [equal(truncate(10, 'n'), 30), 'truncate[10](n) eq 30', 'of the source type'],
    [equal(truncate(10, 'dec'), decimal(15n, 1)), 'truncate[10](dec) eq 150', 'of the source type'],
    [equal({ name: 'id', transform: { kind: 'identity' } }, 5), 'id eq 5', 'identity is the column'],
  ])
  const transforms: [expression: Expression, message: string][] = [
    [equal(year('id'), 5), 'Cannot filter on column "id" (int): its values have no year'],
    [equal(hour('dt'), 5), 'Cannot filter on column "dt" (date): its values have no hour'],
    [equal(bucket(16, 'd'), 3), 'Cannot filter on column "d" (double): its values have no bucket[16]'],
    [isNull(truncate(3, 'u')), 'Cannot filter on column "u" (uuid): its values have no truncate[3]'],
    [
      isNull({ name: 'id', transform: { kind: 'void' } }),
      'Cannot filter on column "id" (int): its values have no void',
    ],
    [
      isNull({ name: 'id', transform: { kind: 'unknown', text: 'zorder[3]' } }),
      'Cannot filter on column "id" (int): its values have no zorder[3]',
    ],
  ]
  for (const [expression, message] of transforms)
    it(`R11.18: ${message}`, () => {
      checkRefused(expression, message)
    })
  it('R11.18: the term tells its types', () => {
    const bound = bind(equal(day('tz'), 5), schema)
    assert.deepInclude(bound, {
      term: {
        fieldId: 10,
        name: 'tz',
        sourceType: { kind: 'timestamptz' },
        transform: { kind: 'day' },
        type: { kind: 'date' },
        isOptional: false,
      },
    })
  })

  it('R11.17: the error shows only the beginning of a long uuid', () => {
    const error = thrown(() => bind(equal('u', { kind: 'uuid', value: 'x'.repeat(1e6) }), schema))
    assert.isBelow(error.message.length, 300)
  })

  it('R11.19: a bound predicate', () => {
    checkRefused(bind(equal('id', 5), schema) as unknown as Expression, /on "id" is bound already/)
  })

  it('R6.4: a predicate keeps the one it was bound from', () => {
    const five = equal('id', 5)
    const list = isIn('n', [1, 1])
    const bound = bind(and(five, list), schema)
    assert.isTrue(bound.op === 'and' && 'unbound' in bound.left && bound.left.unbound === five)
    assert.isTrue(bound.op === 'and' && 'unbound' in bound.right && bound.right.unbound === list)
    const negated = bind(not(five), schema)
    assert.deepEqual('unbound' in negated && negated.unbound, { ...five, op: 'not-eq' })
  })

  it('R11.24: constants are kept, and simplified with the rest', () => {
    check(alwaysTrue(), 'true')
    check(alwaysFalse(), 'false')
    check(and(lessThan('id', 2147483648), equal('n', 1)), 'n eq 1')
    check(or(isNull('id'), equal('n', 1)), 'n eq 1')
    check(and(isNull('id'), equal('n', 1)), 'false')
    check(not(lessThan('id', 2147483648)), 'false')
  })
})

describe('boundColumns', () => {
  it('names each column once, in order', () => {
    const filter = or(
      and(equal('s', 'a'), equal(bucket(4, 'id'), 1)),
      and(isNull('n'), equal('s', 'b'), isNull('un')),
    )
    assert.deepEqual(boundColumns(bind(filter, schema)), [6, 1, 2])
    assert.deepEqual(boundColumns(bind(isNull('id'), schema)), [])
  })
})
