/** What errors keep on their way between threads. */
import { assert } from 'chai'
import {
  fromPlainError,
  InvalidMetadataError,
  NotFoundError,
  StorageError,
  toPlainError,
} from '../src/errors.ts'

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

  it('say nothing that gives access to the location', () => {
    const location = 'https://user:pass@host/t/v1.metadata.json?X-Amz-Signature=abc&v=1'
    const shown = 'https://***@host/t/v1.metadata.json?X-Amz-Signature=***&v=1'
    const error = new InvalidMetadataError(`Cannot read ${location}: ${location} is not JSON`, { location })
    assert.equal(error.message, `Cannot read ${shown}: ${shown} is not JSON`)
    assert.equal(error.location, shown)
    assert.notInclude(error.stack, 'abc')
  })
})
