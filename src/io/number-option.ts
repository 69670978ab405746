/** Options that are numbers, checked once where they come in: a timer takes NaN and what is too long for "at once". */
import { InvalidArgumentError } from '../errors.ts'

/** The longest that a timer of Node can wait, 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * The time that a timer can be set to: 0 and Infinity are no limit, as far as there is none.
 *
 * @throws InvalidArgumentError for NaN and negative ones.
 */
export function timeoutOf(name: string, ms: number): number {
  checkNumber(name, ms, 0)
  return ms === 0 ? LONGEST_MS : Math.min(ms, LONGEST_MS)
}

/**
 * A pause; 0 is none.
 *
 * @throws InvalidArgumentError for NaN and negative ones.
 */
export function pauseOf(name: string, ms: number): number {
  checkNumber(name, ms, 0)
  return Math.min(ms, LONGEST_MS)
}

/**
 * A whole number above zero, or Infinity.
 *
 * @throws InvalidArgumentError if it is another.
 */
export function countOf(name: string, count: number): number {
  checkNumber(name, count, 1)
  if (!Number.isInteger(count) && count !== Infinity) throw invalid(name, count, 'it is not a whole number')
  return count
}

function checkNumber(name: string, value: number, least: number): void {
  // Options may come from JavaScript.
  if (typeof value !== 'number' || Number.isNaN(value)) throw invalid(name, value, 'it is not a number')
  if (value < least) throw invalid(name, value, `it must be at least ${least}`)
}

function invalid(name: string, value: unknown, why: string): InvalidArgumentError {
  return new InvalidArgumentError(`Cannot make requests with the option ${name}=${String(value)}: ${why}`)
}
