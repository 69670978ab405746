/** Section 11.6 of the rules, row by row. Where a rule says what we do instead of Java, the row names it. */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { bind } from '../../src/expressions/bind.ts'
import {
  and,
  bucket,
  day,
  equal,
  greaterThan,
  isIn,
  isNan,
  isNull,
  lessThan,
  not,
  notEqual,
  notIn,
  notNan,
  notNull,
  notStartsWith,
  or,
  greaterThanOrEqual,
  startsWith,
  truncate,
  year,
} from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { rewriteNot } from '../../src/expressions/rewrite-not.ts'
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
    column(2, 'd', 'double'),
    column(3, 'st', { type: 'struct', fields: [column(4, 'x', 'int', true), column(5, 'f', 'float')] }),
    column(6, 'rs', { type: 'struct', fields: [column(7, 'x', 'int', true)] }, true),
    column(8, 's', 'string'),
    column(9, 'ts', 'timestamp'),
    column(10, 'dec', 'decimal(9,2)'),
    column(11, 'un', 'unknown'),
  ],
})

const decimal = (value: bigint, scale: number): Literal => ({ kind: 'decimal', value, scale })
const double = (value: number): Literal => ({ kind: 'double', value })

describe('verified binding outcomes (11.6)', () => {
  const rows: [unbound: string, expression: Expression, bound: string][] = [
    ['is_null(id)', isNull('id'), 'false'],
    ['is_null(rs.x)', isNull('rs.x'), 'false'],
    ['not_null(id)', notNull('id'), 'true'],
    ['is_null(st.x)', isNull('st.x'), 'st.x is-null'],
    ['not_null(st.x)', notNull('st.x'), 'st.x not-null'],
    ['is_null(st)', isNull('st'), 'st is-null'],
    ['is_null(un)', isNull('un'), 'true'],
    ['not_null(un)', notNull('un'), 'false'],
    ['id < 2147483648', lessThan('id', 2147483648n), 'true'],
    ['id > 2147483648', greaterThan('id', 2147483648n), 'false'],
    ['id = 2147483648', equal('id', 2147483648n), 'false'],
    ['id != -2147483649', notEqual('id', -2147483649n), 'true'],
    ['id in (1, 2147483648)', isIn('id', [1, 2147483648n]), 'id eq 1'],
    ['id in (2147483648, 2147483649)', isIn('id', [2147483648n, 2147483649n]), 'false'],
    ['id not in (2147483648, 2147483649)', notIn('id', [2147483648n, 2147483649n]), 'true'],
    ['id in ()', isIn('id', []), 'false'],
    ['id not in ()', notIn('id', []), 'true'],
    ['id in (1, 1)', isIn('id', [1, 1]), 'id eq 1'],
    ['id not in (1, 1)', notIn('id', [1, 1]), 'id not-eq 1'],
    ['id in (1, 2, 1)', isIn('id', [1, 2, 1]), 'id in 1, 2'],
    ['dec = 1.234 (decimal; R11.9, ours)', equal('dec', decimal(1234n, 3)), 'false'],
    ['dec = 1.234 (double)', equal('dec', 1.234), 'dec eq 123'],
    ['dec in (1.0, 1.00) (R11.9, ours)', isIn('dec', [decimal(10n, 1), decimal(100n, 2)]), 'dec eq 100'],
    ['d in (-0.0, 0.0) (R11.22a, ours)', isIn('d', [double(-0), double(0)]), 'd eq 0'],
    ['day(ts) = "2017-12-01"', equal(day('ts'), '2017-12-01'), 'day(ts) eq 17501'],
    ['day(ts) = 5', equal(day('ts'), 5), 'day(ts) eq 5'],
    ['year(ts) = 2017', equal(year('ts'), 2017), 'year(ts) eq 2017'],
    [
      'truncate[3](s) startsWith "abc"',
      startsWith(truncate(3, 's'), 'abc'),
      'truncate[3](s) starts-with abc',
    ],
    ['is_null(bucket[16](id))', isNull(bucket(16, 'id')), 'bucket[16](id) is-null'],
    ['is_null(truncate[10](id))', isNull(truncate(10, 'id')), 'false'],
    ['not(id < 2147483648)', not(lessThan('id', 2147483648n)), 'false'],
  ]
  for (const [unbound, expression, bound] of rows)
    it(`${unbound} is ${bound}`, () => {
      assert.equal(boundText(bind(expression, schema)), bound)
    })

  const errors: [unbound: string, expression: Expression][] = [
    ['is_nan(id)', isNan('id')],
    ['not_nan(s)', notNan('s')],
    ['startsWith(id, "a")', startsWith('id', 'a')],
    ['id = "5"', equal('id', '5')],
    ['id = 1.5', equal('id', 1.5)],
    ['st = 5', equal('st', 5)],
    ['un = 5', equal('un', 5)],
    ['year(id) = 5', equal(year('id'), 5)],
    ['bucket[16](d) = 3', equal(bucket(16, 'd'), 3)],
  ]
  for (const [unbound, expression] of errors)
    it(`${unbound} is an error`, () => {
      const error = thrown(() => bind(expression, schema))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
    })

  it('rewriteNot(not(id < 1 and (is_null(id) or s startsWith "a")))', () => {
    assert.deepEqual(
      rewriteNot(not(and(lessThan('id', 1), or(isNull('id'), startsWith('s', 'a'))))),
      or(greaterThanOrEqual('id', 1), and(notNull('id'), notStartsWith('s', 'a'))),
    )
  })
})
