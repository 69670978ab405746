import { getEventListeners } from 'node:events'
import { assert } from 'chai'
import { StorageError } from '../../src/errors.ts'
import { Failure, retryPolicyOf, withRetries } from '../../src/io/retry.ts'
import { rejection, thrown } from '../support/rejection.ts'

const failure = (waitMs = 0): Failure =>
  new Failure(new StorageError('busy', { retryable: true }), { waitMs })

describe('trying again', () => {
  const policy = { attempts: 3, firstPauseMs: 1 }

  it('until there is an answer, or no attempt left', async () => {
    let tries = 0
    assert.equal(
      await withRetries(policy, undefined, () => Promise.resolve(++tries < 3 ? failure() : tries)),
      3,
    )
    tries = 0
    const error = await rejection(withRetries(policy, undefined, () => Promise.resolve((tries++, failure()))))
    assert.equal(error.message, 'busy')
    assert.equal(tries, 3)
  })

  it('a hundred pauses on one signal have one listener, and none when they are over', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const reason = new Error('enough')
    const all = Array.from({ length: 100 }, () =>
      rejection(withRetries(policy, signal, () => Promise.resolve(failure(3_600_000)))),
    )
    await new Promise((resolve) => setImmediate(resolve))
    assert.lengthOf(getEventListeners(signal, 'abort'), 1)
    controller.abort(reason)
    assert.deepEqual([...new Set(await Promise.all(all))], [reason as never])
    assert.lengthOf(getEventListeners(signal, 'abort'), 0)
  })

  it('a pause that ends leaves no listener', async () => {
    const { signal } = new AbortController()
    let tries = 0
    await withRetries(policy, signal, () => Promise.resolve(++tries < 3 ? failure() : tries))
    assert.lengthOf(getEventListeners(signal, 'abort'), 0)
  })

  it('an abort before the pause is not waited for', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const attempt = (): Promise<Failure> => {
      controller.abort(reason)
      return Promise.resolve(failure(3_600_000))
    }
    assert.equal(await rejection(withRetries(policy, controller.signal, attempt)), reason)
  })

  for (const attempts of [0, -1, 1.5, NaN])
    it(`refuses ${attempts} attempts`, () => {
      assert.equal(thrown(() => retryPolicyOf({ ...policy, attempts })).code, 'ERR_INVALID_ARGUMENT')
    })
})
