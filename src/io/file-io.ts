/**
 * Storage, as the planner sees it: open a location, read the file or a range of it. Everything else (limits,
 * counting, caching, credentials) is a wrapper that is itself a FileIO.
 *
 * A location is an opaque string, the one the table's metadata holds. A store takes its own scheme off and
 * uses what is left as it stands: percent signs, spaces, `#`, `?` and double slashes are parts of a key. Do
 * not get the key by `new URL(location)`, which changes all of these.
 *
 * Another store in 30 lines, over a client with `get(key, from, to, signal)` (`to` inclusive) and
 * `names(prefix)`:
 *
 * ```ts
 * import { NotFoundError, StorageError, type FileIO } from 'iceplan'
 *
 * export function bucketFileIO(client: BucketClient, account: string): FileIO {
 *   const keyOf = (location: string) => location.slice('bucket://'.length)
 *   return {
 *     identity: `bucket:${account}`,
 *     open: location => ({
 *       location,
 *       async read(range, { signal } = {}) {
 *         signal?.throwIfAborted()
 *         if (range?.start === range?.end && range !== undefined) return new Uint8Array(0)
 *         const answer = await client.get(keyOf(location), range?.start, range && range.end - 1, signal)
 *         signal?.throwIfAborted()
 *         if (answer.status === 404)
 *           throw new NotFoundError(`Cannot read ${location}: no such key`, { location })
 *         if (answer.status >= 300)
 *           throw new StorageError(`Cannot read ${location}: status ${answer.status}`, {
 *             location,
 *             retryable: answer.status >= 500,
 *           })
 *         if (range !== undefined && answer.bytes.length !== range.end - range.start)
 *           throw new StorageError(`Cannot read ${location}: short answer`, { location })
 *         return answer.bytes
 *       },
 *     }),
 *     async list(folder) {
 *       const prefix = keyOf(folder).replace(/\/?$/, '/')
 *       return (await client.names(prefix)).filter(name => !name.includes('/'))
 *     },
 *   }
 * }
 * ```
 */

/** A range of bytes of a file: `0 <= start <= end`, both whole numbers. */
export interface ByteRange {
  /** First byte, zero-based. */
  start: number
  /** Exclusive. */
  end: number
}

export interface ReadOptions {
  /** Aborting rejects the read with the signal's own reason. */
  signal?: AbortSignal
}

/** One file of a store, not yet looked at: nothing is known to exist until a read answers. */
export interface InputFile {
  /** As given to {@link FileIO.open}. */
  readonly location: string

  /**
   * The whole file, or exactly the bytes of the range; the array is the caller's to keep, change or transfer.
   *
   * Rejects with NotFoundError if there is no such file, StorageError if the store fails or the file ends
   * before the range does (a short answer is never passed on), the signal's reason if aborted.
   */
  read(range?: ByteRange, options?: ReadOptions): Promise<Uint8Array>

  /**
   * The whole file, at once, with the errors of {@link read}. Present only where a synchronous read is
   * cheaper than an asynchronous one: small local files. The caller decides what is small (see
   * SMALL_FILE_BYTES).
   */
  readSync?(): Uint8Array

  /**
   * True where a read is a request over a network, and the FileIO's identity means the same in every process: a disk
   * cache keeps copies of such files, and of no others. A wrapper passes it on.
   */
  readonly isRemote?: boolean | undefined
}

export interface FileIO {
  /**
   * Scheme, endpoint and credential scope: two FileIOs with the same identity read the same bytes at the same
   * location. It is a part of the key of every cache of file bytes.
   */
  readonly identity: string

  /** How many reads it runs at once, if that is bounded: readers that have more to read may ask for twice as much. */
  readonly requestLimit?: number | undefined

  /**
   * Makes no request and so cannot say that a file is missing.
   *
   * @param length - The length in bytes that metadata claims. A hint only: it may be wrong, and no store cuts
   *   a file at it or allocates by it.
   * @throws UnsupportedFeatureError if this FileIO has no store for the location's scheme.
   */
  open(location: string, length?: number): InputFile

  /**
   * Names (not locations) of the files directly in a folder, unsorted; sub-folders may be among them or not.
   * A folder that does not exist gives NotFoundError, or nothing at all in stores that have no folders.
   * Absent where the store cannot list (HTTP). A FileIO over several stores rejects with
   * UnsupportedFeatureError for the locations of one that cannot, a store that does not permit it with a StorageError
   * that says `denied`: then a table is looked for without a listing.
   */
  list?(folder: string, options?: ReadOptions): Promise<string[]>
}
