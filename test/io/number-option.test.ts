import { assert } from 'chai'
import { countOf, pauseOf, timeoutOf } from '../../src/io/number-option.ts'
import { thrown } from '../support/rejection.ts'

const LONGEST = 2 ** 31 - 1

describe('options that are numbers', () => {
  const rows: [title: string, value: number, want: number][] = [
    ['a time-out', timeoutOf('x', 1500), 1500],
    ['a time-out of 0 is no limit', timeoutOf('x', 0), LONGEST],
    ['a time-out for ever', timeoutOf('x', Infinity), LONGEST],
    ['a time-out longer than a timer can wait', timeoutOf('x', 2_592_000_000), LONGEST],
    ['no pause', pauseOf('x', 0), 0],
    ['a pause longer than a timer can wait', pauseOf('x', Infinity), LONGEST],
    ['a count', countOf('x', 1), 1],
    ['no end of them', countOf('x', Infinity), Infinity],
  ]
  for (const [title, value, want] of rows)
    it(title, () => {
      assert.equal(value, want)
    })

  const refused: [title: string, call: () => number, message: RegExp][] = [
    ['NaN', () => timeoutOf('requestTimeoutMs', NaN), /option requestTimeoutMs=NaN: it is not a number/],
    ['a negative time', () => pauseOf('firstPauseMs', -1), /firstPauseMs=-1: it must be at least 0/],
    ['a text', () => countOf('attempts', '3' as unknown as number), /attempts=3: it is not a number/],
    ['none', () => countOf('attempts', 0), /attempts=0: it must be at least 1/],
    ['one and a half', () => countOf('attempts', 1.5), /it is not a whole number/],
    ['NaN of them', () => countOf('attempts', NaN), /attempts=NaN/],
  ]
  for (const [title, call, message] of refused)
    it(`refuses ${title}`, () => {
      const error = thrown(call)
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.match(error.message, message)
    })
})
