import { assert } from 'chai'
import { CredentialCache } from '../../../src/io/s3/s3-credentials.ts'
import type { S3Credentials } from '../../../src/io/s3/s3-options.ts'
import { rejection } from '../../support/rejection.ts'

const MINUTE = 60_000

describe('credentials that end', () => {
  const realNow = Date.now
  let now = 0
  beforeEach(() => {
    now = realNow()
    Date.now = () => now
  })
  afterEach(() => {
    Date.now = realNow
  })

  /** Gives keys `1`, `2` and so on, each for so many minutes. */
  const source = (minutes: number | undefined) => {
    const calls: boolean[] = []
    const state = { calls, fails: false }
    const load = (isForced: boolean): Promise<S3Credentials> => {
      calls.push(isForced)
      if (state.fails) return Promise.reject(new Error('no'))
      return Promise.resolve({
        accessKeyId: String(calls.length),
        secretAccessKey: 's',
        ...(minutes === undefined ? {} : { expiration: new Date(now + minutes * MINUTE) }),
      })
    }
    return { state, cache: new CredentialCache(load) }
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const idOf = async (cache: CredentialCache): Promise<string> => (await cache.current()).accessKeyId

  it('are asked for once, however many requests want them at once', async () => {
    const { cache, state } = source(60)
    await Promise.all(Array.from({ length: 50 }, () => cache.current()))
    assert.equal(await idOf(cache), '1')
    assert.equal(cache.kept()?.accessKeyId, '1')
    assert.lengthOf(state.calls, 1)
  })

  const rows: [minutes: number | undefined, after: number, got: string, calls: number, why: string][] = [
    [undefined, 1e6, '1', 1, 'without an end they last'],
    [60, 54, '1', 1, 'six minutes before the end they are good'],
    [60, 56, '1', 2, 'four minutes before the end they will do, and new ones are asked for'],
    [60, 59.6, '2', 2, 'in the last half minute new ones are waited for'],
    [60, 61, '2', 2, 'after the end as well'],
    [4, 1, '1', 1, 'of a short life the first half is good'],
    [4, 2.5, '1', 2, 'in the second new ones are asked for'],
    [1, 0.8, '2', 2, 'of a very short one the last quarter is for waiting'],
    [-1, 0, '1', 1, 'ended when they came: not asked for again at once'],
  ]
  for (const [minutes, after, got, calls, why] of rows)
    it(`${minutes ?? 'no'} minutes, after ${after}: ${why}`, async () => {
      const { cache, state } = source(minutes)
      await cache.current()
      now += after * MINUTE
      const ids = await Promise.all(Array.from({ length: 10 }, () => idOf(cache)))
      assert.deepEqual([...new Set(ids)], [got])
      await settled()
      assert.equal(cache.kept()?.accessKeyId, String(calls))
      assert.equal(await idOf(cache), String(calls))
      assert.lengthOf(state.calls, calls)
    })

  it('nobody waits for new ones while the old ones are good', async () => {
    let give: (credentials: S3Credentials) => void = () => undefined
    let calls = 0
    const end = new Date(now + 60 * MINUTE)
    const cache = new CredentialCache(() => {
      const credentials = { accessKeyId: String(++calls), secretAccessKey: 's', expiration: end }
      return calls === 1 ? Promise.resolve(credentials) : new Promise((resolve) => (give = resolve))
    })
    await cache.current()
    now += 56 * MINUTE
    assert.equal(cache.kept()?.accessKeyId, '1')
    assert.equal(await idOf(cache), '1')
    assert.equal(calls, 2)
    now += 3.7 * MINUTE
    assert.isUndefined(cache.kept())
    const waiting = idOf(cache)
    give({ accessKeyId: 'late', secretAccessKey: 's' })
    assert.equal(await waiting, 'late')
    assert.equal(calls, 2)
  })

  it('are kept until their end when there are no new ones, which are not asked for all the time', async () => {
    const { cache, state } = source(60)
    await cache.current()
    state.fails = true
    now += 57 * MINUTE
    assert.equal(await idOf(cache), '1')
    await settled()
    for (let i = 0; i < 10; i++) assert.equal(await idOf(cache), '1')
    assert.lengthOf(state.calls, 2)
    now += MINUTE
    assert.equal(await idOf(cache), '1')
    assert.lengthOf(state.calls, 3)
    await settled()
    now += 3 * MINUTE
    assert.equal((await rejection(cache.current())).message, 'no')
    state.fails = false
    assert.notEqual(await idOf(cache), '1')
  })

  it('are exchanged when the store refuses them, once for all who were refused', async () => {
    const { cache, state } = source(60)
    const stale = await cache.current()
    const renewed = await Promise.all(Array.from({ length: 10 }, () => cache.renewed(stale)))
    assert.deepEqual([...new Set(renewed.map(({ accessKeyId }) => accessKeyId))], ['2'])
    assert.deepEqual(state.calls, [false, true])
  })
})
