import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import { literalOf, type LiteralValue } from '../../src/expressions/literal-of.ts'
import { thrown } from '../support/rejection.ts'

describe('literalOf', () => {
  const cases: [value: LiteralValue, literal: Literal, reason: string][] = [
    [true, { kind: 'boolean', value: true }, 'R11.7'],
    [5, { kind: 'int', value: 5 }, 'R11.12: 32 bits'],
    [-0, { kind: 'int', value: 0 }, 'R11.22a: -0 is 0'],
    [2147483647, { kind: 'int', value: 2147483647 }, 'R11.12: the last int'],
    [2147483648, { kind: 'long', value: 2147483648n }, 'R11.12: beyond 32 bits'],
    [-2147483648, { kind: 'int', value: -2147483648 }, 'R11.12: the first int'],
    [-2147483649, { kind: 'long', value: -2147483649n }, 'R11.12: below 32 bits'],
    [9007199254740991, { kind: 'long', value: 9007199254740991n }, 'the last safe integer'],
    [9007199254740992, { kind: 'double', value: 9007199254740992 }, 'no longer exact'],
    [1.5, { kind: 'double', value: 1.5 }, 'R11.7'],
    [Infinity, { kind: 'double', value: Infinity }, 'R11.6: infinity is allowed'],
    [5n, { kind: 'long', value: 5n }, 'R11.12: a bigint is a long'],
    [9007199254740993n, { kind: 'long', value: 9007199254740993n }, 'B123: exact'],
    [9223372036854775807n, { kind: 'long', value: 9223372036854775807n }, 'B123: the last long'],
    [2n ** 63n, { kind: 'decimal', value: 2n ** 63n, scale: 0 }, 'ours: beyond 64 bits'],
    [-(2n ** 63n) - 1n, { kind: 'decimal', value: -(2n ** 63n) - 1n, scale: 0 }, 'ours: below 64 bits'],
    ['a', { kind: 'string', value: 'a' }, 'R11.7'],
    [new Date(-1), { kind: 'timestamptz', value: -1000n }, 'an instant, in microseconds'],
    [Uint8Array.of(1), { kind: 'binary', value: Uint8Array.of(1) }, 'R11.7'],
    [Buffer.from([1]), { kind: 'binary', value: Uint8Array.of(1) }, 'a plain array, which threads can share'],
    [{ kind: 'uuid', value: 'AB' }, { kind: 'uuid', value: 'ab' }, 'B017: lower case'],
    [{ kind: 'float', value: 0.1 }, { kind: 'float', value: Math.fround(0.1) }, 'as 32 bits hold it'],
    [{ kind: 'date', value: 5 }, { kind: 'date', value: 5 }, 'a literal is itself'],
    [{ kind: 'decimal', value: 15n, scale: 1 }, { kind: 'decimal', value: 15n, scale: 1 }, 'a literal'],
  ]
  for (const [value, literal, reason] of cases)
    it(`${reason}: ${literal.kind} ${literal.value.toString()}`, () => {
      assert.deepEqual(literalOf(value), literal)
    })

  it('bytes are copied', () => {
    const bytes = Uint8Array.of(1)
    const literal = literalOf(bytes)
    bytes[0] = 2
    assert.deepEqual(literal, { kind: 'binary', value: Uint8Array.of(1) })
  })

  const refused: [value: unknown, message: RegExp, reason: string][] = [
    [NaN, /by NaN: no value equals it; test for it with isNan/, 'R11.6'],
    [{ kind: 'double', value: NaN }, /by NaN/, 'R11.6'],
    [null, /by null: .* test for null with isNull/, 'R11.6'],
    [undefined, /by missing/, 'R11.6'],
    [new Date('x'), /invalid date/, 'a Date without a time'],
    [{ kind: 'int', value: 1.5 }, /"int" literal 1\.5: its value is not of that kind/, 'no whole number'],
    [{ kind: 'int', value: 2147483648 }, /"int" literal/, 'beyond 32 bits'],
    [{ kind: 'long', value: 5 }, /"long" literal/, 'a number for a bigint'],
    [{ kind: 'long', value: 2n ** 63n }, /"long" literal/, 'beyond 64 bits'],
    [{ kind: 'decimal', value: 5n }, /"decimal" literal/, 'no scale'],
    [{ kind: 'double', value: '5' }, /"double" literal/, 'text'],
    [{ kind: 'boolean', value: 1 }, /"boolean" literal/, 'a number'],
    [{ kind: 'string', value: 1 }, /"string" literal/, 'a number'],
    [{ kind: 'binary', value: [1] }, /"binary" literal/, 'no bytes'],
    [{ kind: 'other', value: 1 }, /"other" literal/, 'no such kind'],
    [{}, /by an object/, 'no literal'],
  ]
  for (const [value, message, reason] of refused)
    it(`refuses ${reason}: ${String(message)}`, () => {
      const error = thrown(() => literalOf(value as LiteralValue))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
      assert.match(error.message, message)
    })
})
