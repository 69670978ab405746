/**
 * The FileIO of a call that names none: picks a store by the scheme of each location. The table of schemes is
 * here and nowhere else (B180). A store is made when its first location is opened.
 */
import { UnsupportedFeatureError } from '../errors.ts'
import type { FileIO } from './file-io.ts'
import { HttpFileIO, toUrl } from './http-file-io.ts'
import { listFolder } from './list-folder.ts'
import { LocalFileIO } from './local-file-io.ts'
import type { S3FileIO } from './s3/s3-file-io.ts'
import { s3OptionsFrom, withoutCredentials, type S3Options } from './s3/s3-options.ts'
import { sharedS3FileIO, sharedTransport } from './shared-connections.ts'
import { withoutSecrets } from '../without-secrets.ts'
import { withoutUndefined } from './without-undefined.ts'

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
 * Options or properties of S3 that cannot be used are an error of `open` and `list`, InvalidArgumentError or
 * UnsupportedFeatureError, for locations in S3 and for no others.
 */
export function defaultFileIO(options: StorageOptions = {}): FileIO {
  let local: LocalFileIO | undefined
  const byOrigin = new Map<string, HttpFileIO>()
  const s3 = s3StoreOf(options)

  const storeFor = (location: string): FileIO => {
    const scheme = schemeOf(location)
    const store = scheme === undefined ? 'local' : STORE_BY_SCHEME.get(scheme)
    if (store === 'local') return (local ??= new LocalFileIO())
    if (store === 'S3') return s3.open()
    if (store === 'http') {
      const { origin } = toUrl(location)
      let http = byOrigin.get(origin)
      if (http === undefined) byOrigin.set(origin, (http = new HttpFileIO(origin, {}, sharedTransport())))
      return http
    }
    const what = store === undefined ? 'an unknown one' : `that of ${store}`
    const shown = withoutSecrets(location)
    throw new UnsupportedFeatureError(
      `Cannot open ${shown}: no store for its scheme, ${scheme!}: (${what}); pass a FileIO that reads it, or rebase the location if the table has moved`,
      { location: shown },
    )
  }

  return {
    // Of local files and HTTP, the location says all there is to say.
    identity: `default+${s3.identity}`,
    open(location, length) {
      const store = storeFor(location)
      const file = store.open(location, length)
      // The identity is also that of the files over HTTP, so what it is worth on disk is as little for them.
      return store instanceof HttpFileIO && !s3.isLasting ? { ...file, isRemote: false } : file
    },
    list: async (folder, options) => await listFolder(storeFor(folder), folder, options),
  }
}

interface S3Store {
  readonly identity: string
  /** See {@link S3FileIO.isLasting}. */
  readonly isLasting: boolean
  /** @throws what is wrong with the options. */
  open(): S3FileIO
}

/** A table that has nothing in S3 is none of the concern of options, properties or an environment for S3. */
function s3StoreOf(options: StorageOptions): S3Store {
  try {
    // Cheap: the SDK is loaded by its first request.
    const io = sharedS3FileIO(s3OptionsOf(options))
    return { identity: io.identity, isLasting: io.isLasting, open: () => io }
  } catch (error) {
    return {
      identity: 'no S3',
      isLasting: true,
      open: () => {
        throw error
      },
    }
  }
}

/** What the call says of credentials replaces what the properties say of them. */
function s3OptionsOf({ properties = {}, s3 = {} }: StorageOptions): S3Options {
  const isReplaced = s3.credentials !== undefined || s3.anonymous !== undefined || s3.profile !== undefined
  return {
    ...s3OptionsFrom(isReplaced ? withoutCredentials(properties) : properties),
    ...withoutUndefined(s3),
  }
}
