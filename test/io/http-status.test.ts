import { assert } from 'chai'
import { isBusyStatus, retryAfterMs } from '../../src/io/http-status.ts'

describe('what the head of an answer says about another try', () => {
  for (const status of [408, 425, 429, 500, 502, 503, 504])
    it(`${status}: later`, () => {
      assert.isTrue(isBusyStatus(status))
    })
  for (const status of [200, 206, 301, 400, 401, 403, 404, 409, 501, 505, 509, 599, 999])
    it(`${status}: not for waiting`, () => {
      assert.isFalse(isBusyStatus(status))
    })

  const now = Date.UTC(2026, 10, 30, 12, 0, 0)
  const rows: [header: string | null | undefined, ms: number, why: string][] = [
    [undefined, 0, 'absent'],
    [null, 0, 'absent, as Headers say it'],
    ['3', 3000, 'seconds'],
    [' 120 ', 120_000, 'space around'],
    ['0.5', 500, 'a fraction, which some servers send'],
    ['Mon, 30 Nov 2026 12:00:03 GMT', 3000, 'a date'],
    ['Monday, 30-Nov-26 12:00:03 GMT', 3000, 'a date of the old form'],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0, 'a date that is past'],
    ['-5', 0, 'not a delay, and not the year five'],
    ['soon', 0, 'words'],
    ['', 0, 'nothing'],
  ]
  for (const [header, ms, why] of rows)
    it(`Retry-After ${JSON.stringify(header)}: ${why}`, () => {
      assert.equal(retryAfterMs(header, now), ms)
    })
})
