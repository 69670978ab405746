/** What errors keep on their way between threads. */
import { assert } from 'chai'
import { fromPlainError, NotFoundError, StorageError, toPlainError } from '../src/errors.ts'

describe('errors', () => {
  const location = 's3://b/k'
  for (const error of [
    new StorageError('busy', { location, retryable: true }),
    new StorageError('not permitted', { location, denied: true }),
    new NotFoundError('no such key', { location }),
    new NotFoundError('no such bucket', { location, storeMissing: true }),
  ])
    it(`cross threads with all they say: ${error.message}`, () => {
      const copy = fromPlainError(structuredClone(toPlainError(error)))
      assert.instanceOf(copy, error.constructor as typeof StorageError)
      assert.deepEqual(Object.entries(copy), Object.entries(error))
      assert.deepEqual([copy.message, copy.stack], [error.message, error.stack])
    })
})
