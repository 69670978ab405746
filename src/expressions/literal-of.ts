/** JavaScript values as literals. Their kind follows from the value alone; the column decides later what it becomes. */
import { InvalidArgumentError } from '../errors.ts'
import { describeJson } from '../types/json-object.ts'
import type { Literal } from './literal.ts'

/** What builders take for a value; see {@link literalOf} for what each becomes. */
export type LiteralValue = boolean | number | bigint | string | Date | Uint8Array | Literal

const MIN_INT = -(2 ** 31)
const MAX_INT = 2 ** 31 - 1
const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n
const MICROS_PER_MILLI = 1000n

/**
 * The literal that a value stands for:
 *
 * | value        | literal                                                                                    |
 * | ------------ | ------------------------------------------------------------------------------------------ |
 * | `boolean`    | boolean                                                                                    |
 * | `number`     | int if it is a whole number of 32 bits, long up to 2^53, else double                       |
 * | `bigint`     | long; beyond 64 bits a decimal without fraction, which is beyond every int and long        |
 * | `string`     | string: what dates, times, timestamps, uuids, decimals and bytes in hex are written as too |
 * | `Date`       | timestamptz; on a column without zone its UTC wall clock, on a date column its UTC day     |
 * | `Uint8Array` | binary, copied                                                                             |
 * | a `Literal`  | itself, checked                                                                            |
 *
 * Whole numbers on a date column are days since 1970; on times and timestamps ints are refused and longs are
 * microseconds, so `Date.now()` is wrong there and `new Date()` right.
 *
 * @throws InvalidArgumentError for null, NaN (R11.6), an invalid date, or a literal whose value its kind does not have.
 */
export function literalOf(value: LiteralValue): Literal {
  switch (typeof value) {
    case 'boolean':
      return { kind: 'boolean', value }
    case 'number':
      return numberLiteral(value)
    case 'bigint':
      if (value < MIN_LONG || value > MAX_LONG) return { kind: 'decimal', value, scale: 0 }
      return { kind: 'long', value }
    case 'string':
      return { kind: 'string', value }
  }
  if (value instanceof Date) return instantLiteral(value)
  if (value instanceof Uint8Array) return { kind: 'binary', value: new Uint8Array(value) }
  return checkLiteral(value)
}

function numberLiteral(value: number): Literal {
  if (Number.isNaN(value)) throw nanError()
  if (!Number.isSafeInteger(value)) return { kind: 'double', value }
  return value >= MIN_INT && value <= MAX_INT
    ? { kind: 'int', value: value === 0 ? 0 : value }
    : { kind: 'long', value: BigInt(value) }
}

function instantLiteral(date: Date): Literal {
  const millis = date.getTime()
  if (Number.isNaN(millis)) throw new InvalidArgumentError('Cannot filter by a Date: it is an invalid date')
  return { kind: 'timestamptz', value: BigInt(millis) * MICROS_PER_MILLI }
}

/**
 * The literal, if its value is one of its kind; floats come out as 32 bits hold them, uuids in lower case.
 *
 * @throws InvalidArgumentError for a value of another kind or range, NaN (R11.6), or what is no literal.
 */
export function checkLiteral(literal: Literal): Literal {
  switch ((literal as Literal | null | undefined)?.kind) {
    case 'float':
    case 'double':
      if (Number.isNaN(literal.value)) throw nanError()
      if (typeof literal.value !== 'number') break
      return literal.kind === 'float' ? { kind: 'float', value: Math.fround(literal.value) } : literal
    case 'int':
    case 'date':
      if (!isInt(literal.value)) break
      return literal
    case 'decimal':
      if (typeof literal.value !== 'bigint' || !isInt((literal as { scale?: unknown }).scale)) break
      return literal
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (typeof literal.value !== 'bigint' || literal.value < MIN_LONG || literal.value > MAX_LONG) break
      return literal
    case 'boolean':
      if (typeof literal.value !== 'boolean') break
      return literal
    case 'string':
    case 'uuid':
      if (typeof literal.value !== 'string') break
      return literal.kind === 'uuid' ? { kind: 'uuid', value: literal.value.toLowerCase() } : literal
    case 'fixed':
    case 'binary':
      if (!(literal.value instanceof Uint8Array)) break
      return literal
    case undefined:
      throw new InvalidArgumentError(
        `Cannot filter by ${describeJson(literal)}: it is no value of a column; test for null with isNull`,
      )
  }
  throw new InvalidArgumentError(
    `Cannot filter by the ${describeJson(literal.kind)} literal ${describeJson(literal.value)}: its value is not of that kind`,
  )
}

function isInt(value: unknown): boolean {
  return typeof value === 'number' && value === (value | 0)
}

function nanError(): InvalidArgumentError {
  return new InvalidArgumentError('Cannot filter by NaN: no value equals it; test for it with isNan')
}
