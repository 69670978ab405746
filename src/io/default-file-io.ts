/**
 * The FileIO of a call that names none: picks a store by the scheme of each location. The table of schemes is
 * here and nowhere else (B180). A store is made when its first location is opened.
 */
import { UnsupportedFeatureError } from '../errors.ts'
import type { FileIO, ReadOptions } from './file-io.ts'
import { HttpFileIO, toUrl } from './http-file-io.ts'
import { LocalFileIO } from './local-file-io.ts'

type Store = 'local' | 'http' | 'S3' | 'Google Cloud Storage' | 'Azure Storage' | 'Aliyun OSS' | 'HDFS'

/** No scheme means a local path. */
const STORE_BY_SCHEME: ReadonlyMap<string, Store> = new Map([
  ['file', 'local'],
  ['http', 'http'],
  ['https', 'http'],
  ['s3', 'S3'],
  ['s3a', 'S3'],
  ['s3n', 'S3'],
  ['gs', 'Google Cloud Storage'],
  ['gcs', 'Google Cloud Storage'],
  ['abfs', 'Azure Storage'],
  ['abfss', 'Azure Storage'],
  ['wasb', 'Azure Storage'],
  ['wasbs', 'Azure Storage'],
  ['oss', 'Aliyun OSS'],
  ['hdfs', 'HDFS'],
  ['viewfs', 'HDFS'],
])

/**
 * The scheme of a location in lower case, without the colon; undefined if it has none and so is a path. A
 * scheme is a letter and at least one more letter, digit, `+`, `-` or `.`: a single letter is a Windows
 * drive.
 */
export function schemeOf(location: string): string | undefined {
  return /^([a-z][a-z0-9+.-]+):/i.exec(location)?.[1]!.toLowerCase()
}

/** Local files, and HTTP(S) without credentials. Makes no request and starts nothing by itself. */
export function defaultFileIO(): FileIO {
  let local: LocalFileIO | undefined
  const byOrigin = new Map<string, HttpFileIO>()

  const storeFor = (location: string): FileIO => {
    const scheme = schemeOf(location)
    const store = scheme === undefined ? 'local' : STORE_BY_SCHEME.get(scheme)
    if (store === 'local') return (local ??= new LocalFileIO())
    if (store === 'http') {
      const { origin } = toUrl(location)
      let http = byOrigin.get(origin)
      if (http === undefined) byOrigin.set(origin, (http = new HttpFileIO(origin)))
      return http
    }
    const what = store === undefined ? 'an unknown one' : `that of ${store}`
    throw new UnsupportedFeatureError(
      `Cannot open ${location}: no store for its scheme, ${scheme!}: (${what}); pass a FileIO that reads it, or rebase the location if the table has moved`,
      { location },
    )
  }

  return {
    // Without credentials, scheme and host in the location say all there is to say.
    identity: 'default',
    open: (location, length) => storeFor(location).open(location, length),
    async list(folder: string, options?: ReadOptions) {
      const store = storeFor(folder)
      if (store.list === undefined)
        throw new UnsupportedFeatureError(
          `Cannot list ${folder}: ${store.identity} has no way to list files`,
          {
            location: folder,
          },
        )
      return await store.list(folder, options)
    },
  }
}
