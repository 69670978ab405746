/** What all stores check alike: that a range makes sense, and that a file is not absurdly big. */
import { InvalidArgumentError, StorageError } from '../errors.ts'
import type { ByteRange } from './file-io.ts'

/**
 * The most that one read may return. Writers aim at 8 MiB a manifest and the largest metadata JSON reported
 * is 300 MB, so a file above this is not one the planner wants, and a hostile length must not become an
 * allocation.
 */
export const MAX_READ_BYTES = 1024 * 1024 * 1024

/** @throws InvalidArgumentError unless `0 <= start <= end`, whole numbers. */
export function checkRange(location: string, range: ByteRange): void {
  const { start, end } = range
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new InvalidArgumentError(`Cannot read bytes ${start} to ${end} of ${location}: not a range`, {
      location,
    })
}

/** @throws StorageError if a read of so many bytes is above {@link MAX_READ_BYTES}. */
export function checkReadSize(location: string, bytes: number): void {
  if (bytes > MAX_READ_BYTES)
    throw new StorageError(
      `Cannot read ${location}: ${bytes} bytes in one read are more than the limit of ${MAX_READ_BYTES}`,
      { location },
    )
}

/**
 * The error for a file that ends inside a wanted range.
 *
 * @param size - Size of the file in bytes, as far as it is known.
 */
export function endsTooEarly(location: string, range: ByteRange, size: number | undefined): StorageError {
  const why = size === undefined ? 'the file ends before that' : `the file ends at ${size}`
  return new StorageError(`Cannot read bytes ${range.start} to ${range.end} of ${location}: ${why}`, {
    location,
  })
}
