import { assert } from 'chai'
import { UsageError } from '../../src/cli/failure.ts'
import {
  parseAsOf,
  parseSelect,
  parseSnapshotId,
  parseWorkers,
  parseProperty,
  parseRequests,
} from '../../src/cli/option-values.ts'
import { thrown } from '../support/rejection.ts'

const noon = Date.UTC(2026, 9, 28, 12)

describe('command line: --as-of', () => {
  const times: [text: string, epochMs: number, why: string][] = [
    ['2026-10-28T12:00:00Z', noon, 'UTC'],
    ['2026-10-28t12:00:00z', noon, 'lower case, as RFC 3339 allows'],
    ['2026-10-28T14:00:00+02:00', noon, 'east of UTC'],
    ['2026-10-28T05:30:00-0630', noon, 'west of UTC, basic form of the offset'],
    ['2026-10-28 12:00Z', noon, 'no seconds, and a space'],
    ['2026-10-28T12:00:00.5Z', noon + 500, 'a fraction of a second'],
    ['2026-10-28T12:00:00.123999Z', noon + 123, 'digits beyond the millisecond are cut off'],
    ['1969-12-31T23:59:59.999Z', -1, 'before 1970'],
    ['0026-01-01T00:00:00Z', Date.parse('0026-01-01T00:00:00Z'), 'a year is not abbreviated'],
    [String(noon), noon, 'epoch milliseconds'],
    ['-1', -1, 'negative epoch milliseconds'],
  ]
  for (const [text, epochMs, why] of times)
    it(`${text}: ${why}`, () => {
      assert.equal(parseAsOf(text), epochMs)
    })

  const refusals: [text: string, message: RegExp][] = [
    ['2026-10-28T12:00:00', /it has no time zone; write 2026-10-28T12:00:00Z for UTC/],
    ['2026-10-28 12:00', /it has no time zone; write 2026-10-28T12:00Z for UTC/],
    ['2026-10-28', /it has no time zone; write 2026-10-28T00:00:00Z for UTC/],
    ['2026-02-30T12:00:00Z', /want ISO 8601 with a zone/],
    ['2026-13-01T12:00:00Z', /want ISO 8601 with a zone/],
    ['2026-10-28T24:00:00Z', /want ISO 8601 with a zone/],
    ['2026-10-28T12:00:00+25:00', /want ISO 8601 with a zone/],
    ['yesterday', /Cannot use --as-of yesterday: want ISO 8601/],
    ['1e12', /or epoch milliseconds/],
    ['9999999999999999', /or epoch milliseconds/],
    ['', /want ISO 8601/],
  ]
  for (const [text, message] of refusals)
    it(`refuses '${text}'`, () => {
      const error = thrown(() => parseAsOf(text))
      assert.instanceOf(error, UsageError)
      assert.match(error.message, message)
    })
})

describe('command line: --snapshot-id', () => {
  it('is exact beyond 2^53', () => {
    assert.equal(parseSnapshotId('3051729675574597004'), 3051729675574597004n)
    assert.equal(parseSnapshotId('9223372036854775807'), 2n ** 63n - 1n)
    assert.equal(parseSnapshotId('9876543210123456789'), 9876543210123456789n)
  })
  for (const text of ['', '-1', '1.5', '0x10', '12a', '18446744073709551616', '1'.repeat(5000)])
    it(`refuses '${text.slice(0, 20)}'`, () => {
      assert.instanceOf(
        thrown(() => parseSnapshotId(text)),
        UsageError,
      )
    })
})

describe('command line: --workers and --select', () => {
  it('knows auto and whole numbers of workers', () => {
    assert.equal(parseWorkers('auto'), 'auto')
    assert.equal(parseWorkers('0'), 0)
    assert.equal(parseWorkers('4'), 4)
    for (const text of ['', '-1', '1.5', 'many'])
      assert.match(thrown(() => parseWorkers(text)).message, /want a number of worker threads, or auto/)
  })
  it('adds names up', () => {
    assert.deepEqual(parseSelect('a, b.c', undefined), ['a', 'b.c'])
    assert.deepEqual(parseSelect('d', ['a']), ['a', 'd'])
    assert.match(thrown(() => parseSelect('a,,b', undefined)).message, /separated by commas/)
  })
})

describe('command line: --property and --requests', () => {
  it('splits at the first equals sign', () => {
    assert.deepEqual(parseProperty('s3.endpoint=http://h/?a=b'), ['s3.endpoint', 'http://h/?a=b'])
    assert.deepEqual(parseProperty('scope='), ['scope', ''])
  })
  it('does not repeat what may be a secret', () => {
    for (const text of ['', 'hunter2', '=hunter2']) {
      const { message } = thrown(() => parseProperty(text))
      assert.match(message, /want NAME=VALUE/)
      assert.notInclude(message, 'hunter2')
    }
  })
  it('knows whole numbers above zero', () => {
    assert.equal(parseRequests('64'), 64)
    for (const text of ['', '0', '-1', '1.5', '10000', 'many'])
      assert.match(thrown(() => parseRequests(text)).message, /whole number from 1 to 9999/)
  })
})
