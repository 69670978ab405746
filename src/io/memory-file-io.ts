/**
 * Files in memory that behave like an object store: keys without folders, nothing but asynchronous reads, a
 * listing of a prefix that does not exist is empty. For tests, for tables that came out of an archive, for
 * browsers.
 */
import { NotFoundError } from '../errors.ts'
import { checkRange, checkReadSize, endsTooEarly } from './byte-range.ts'
import type { ByteRange, FileIO, InputFile, ReadOptions } from './file-io.ts'

let instances = 0

export class MemoryFileIO implements FileIO {
  /** One per instance: what lies at a location here says nothing about another instance. */
  readonly identity = `memory:${++instances}`
  /** Location to bytes. Add, replace and remove as you like; a read that has begun is not affected. */
  readonly files: Map<string, Uint8Array>

  constructor(files: Iterable<readonly [location: string, bytes: Uint8Array]> = []) {
    this.files = new Map(files)
  }

  open(location: string): InputFile {
    const read = (range?: ByteRange): Uint8Array => {
      const bytes = this.files.get(location)
      if (bytes === undefined)
        throw new NotFoundError(`Cannot read ${location}: it does not exist`, { location })
      const { start, end } = range ?? { start: 0, end: bytes.length }
      if (end > bytes.length && end > start) throw endsTooEarly(location, { start, end }, bytes.length)
      checkReadSize(location, end - start)
      // A copy: the reader may transfer its buffer to a worker, which would empty the store.
      return bytes.slice(start, end)
    }
    return {
      location,
      async read(range, { signal } = {}) {
        signal?.throwIfAborted()
        if (range !== undefined) checkRange(location, range)
        // Answers come later, as from any store, so that code which counts on the order of answers fails here
        // too.
        await Promise.resolve()
        signal?.throwIfAborted()
        return read(range)
      },
    }
  }

  async list(folder: string, { signal }: ReadOptions = {}): Promise<string[]> {
    signal?.throwIfAborted()
    await Promise.resolve()
    const prefix = folder.endsWith('/') ? folder : `${folder}/`
    const names: string[] = []
    for (const location of this.files.keys()) {
      const name = location.startsWith(prefix) ? location.slice(prefix.length) : ''
      if (name !== '' && !name.includes('/')) names.push(name)
    }
    return names
  }
}
