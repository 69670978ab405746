/**
 * The FileIO of a call that names none: picks a store by the scheme of each location. The table of schemes is
 * here and nowhere else (B180). A store is made when its first location is opened.
 */
import { UnsupportedFeatureError } from '../errors.ts'
import type { FileIO, ReadOptions } from './file-io.ts'
import { HttpFileIO, toUrl } from './http-file-io.ts'
import { LocalFileIO } from './local-file-io.ts'
import { S3FileIO } from './s3/s3-file-io.ts'
import { s3OptionsFrom, type S3Options } from './s3/s3-options.ts'

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

export interface StorageOptions {
  /** As a catalog gives them: `s3.endpoint`, `client.region` and so on, see {@link s3OptionsFrom}. */
  properties?: Readonly<Record<string, string>>
  /** For S3; each option wins over the properties. */
  s3?: S3Options
}

/**
 * Local files, HTTP(S) without credentials, and S3. Makes no request and starts nothing by itself.
 *
 * @throws InvalidArgumentError or UnsupportedFeatureError for options or properties of S3 that cannot be used.
 */
export function defaultFileIO(options: StorageOptions = {}): FileIO {
  let local: LocalFileIO | undefined
  const byOrigin = new Map<string, HttpFileIO>()
  // Cheap: the SDK is loaded by its first request.
  const s3 = new S3FileIO(s3OptionsOf(options))

  const storeFor = (location: string): FileIO => {
    const scheme = schemeOf(location)
    const store = scheme === undefined ? 'local' : STORE_BY_SCHEME.get(scheme)
    if (store === 'local') return (local ??= new LocalFileIO())
    if (store === 'S3') return s3
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
    // Of local files and HTTP, the location says all there is to say.
    identity: `default+${s3.identity}`,
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

/** What the call says of credentials replaces what the properties say of them. */
function s3OptionsOf({ properties = {}, s3 = {} }: StorageOptions): S3Options {
  const { credentials, anonymous, ...others } = s3OptionsFrom(properties)
  const isReplaced = s3.credentials !== undefined || s3.anonymous !== undefined || s3.profile !== undefined
  return {
    ...others,
    ...(isReplaced || credentials === undefined ? {} : { credentials }),
    ...(isReplaced || anonymous === undefined ? {} : { anonymous }),
    ...s3,
  }
}
