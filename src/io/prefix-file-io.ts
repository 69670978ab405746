/**
 * One store out of several, chosen by the start of a location: how a catalog hands out credentials, one set for each
 * prefix.
 */
import type { FileIO } from './file-io.ts'
import { listFolder } from './list-folder.ts'

export interface PrefixedFileIO {
  /** Of locations, as they are stored: plain text, so `s3://b/t` also takes `s3://b/t2`. */
  readonly prefix: string
  readonly io: FileIO
}

/**
 * Opens a location by the store of the longest prefix that it begins with, and by `fallback` if it begins with none.
 * The stores keep their own errors; their identities and prefixes together are the identity.
 */
export function prefixFileIO(fallback: FileIO, byPrefix: readonly PrefixedFileIO[]): FileIO {
  const longestFirst = [...byPrefix].sort((a, b) => b.prefix.length - a.prefix.length)
  const storeFor = (location: string): FileIO =>
    longestFirst.find(({ prefix }) => location.startsWith(prefix))?.io ?? fallback
  return {
    identity: JSON.stringify([
      fallback.identity,
      ...longestFirst.map(({ prefix, io }) => [prefix, io.identity]),
    ]),
    open: (location, length) => storeFor(location).open(location, length),
    // A folder may be given without the slash that a prefix ends with.
    list: (folder, options) =>
      listFolder(storeFor(folder.endsWith('/') ? folder : `${folder}/`), folder, options),
  }
}
