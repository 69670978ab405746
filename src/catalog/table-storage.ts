/**
 * From what a catalog says about a table's storage to the FileIO that reads it. Of properties with the same name the
 * later wins:
 *
 *     catalog (defaults, the user's, overrides)  <  the table's config  <  a storage credential's config  <  the call's
 *
 * The properties of the call come last because they are the last word of the user: a catalog in a container may say an
 * endpoint that only containers can reach.
 */
import { defaultFileIO, type StorageOptions } from '../io/default-file-io.ts'
import type { FileIO } from '../io/file-io.ts'
import { prefixFileIO, type PrefixedFileIO } from '../io/prefix-file-io.ts'
import { textOf } from '../io/property-text.ts'
import { withoutCredentials } from '../io/s3/s3-options.ts'
import type { Properties } from './rest-options.ts'
import {
  isS3Credential,
  s3CredentialsIn,
  withoutS3Credentials,
  type VendedCredentials,
} from './vended-credentials.ts'
import type { StorageCredential } from './table-response.ts'

/** The prefix that stands for credentials in a table's own config: those of every location. */
export const EVERYWHERE = ''

export interface TableStorage {
  /** Of the catalog, merged with the table's config. */
  readonly properties: Properties
  /** Those in the table's config among them, as {@link EVERYWHERE}. */
  readonly credentials: readonly StorageCredential[]
  /** Where the current credentials of each prefix are. */
  readonly vended: VendedCredentials
  /** Who the user is to this catalog, and which table it is: a part of the identity of what is read. */
  readonly scope: string
  /** Of the call. */
  readonly options: StorageOptions
}

export function openTableStorage(storage: TableStorage): FileIO {
  const { properties, credentials } = storage
  const everywhere = credentials.find(({ prefix }) => prefix === EVERYWHERE)
  const byPrefix = credentials
    .filter((credential) => credential !== everywhere)
    .flatMap(({ prefix, config }): PrefixedFileIO[] => {
      const io = openStore(storage, prefix, { ...withoutS3Credentials(properties, config), ...config })
      return spellings(prefix).map((prefix) => ({ prefix, io }))
    })
  const fallback = openStore(storage, EVERYWHERE, { ...properties, ...everywhere?.config })
  return byPrefix.length === 0 ? fallback : prefixFileIO(fallback, byPrefix)
}

function openStore({ vended, scope, options }: TableStorage, prefix: string, properties: Properties): FileIO {
  const isOwn = namesCredentials(options)
  const isVended = vended.has(prefix) && !isOwn
  return defaultFileIO({
    ...options,
    properties: { ...(isOwn ? withoutCredentials(properties) : properties), ...options.properties },
    s3: {
      ...(isVended
        ? { credentials: () => vended.take(prefix), credentialScope: JSON.stringify([scope, prefix]) }
        : {}),
      ...options.s3,
    },
  })
}

/** Whether the call says with which credentials to read, or with none. */
function namesCredentials({ properties = {}, s3 = {} }: StorageOptions): boolean {
  return (
    s3.credentials !== undefined ||
    s3.anonymous === true ||
    s3.profile !== undefined ||
    s3CredentialsIn(properties) !== undefined ||
    textOf(properties, 's3.anonymous')?.toLowerCase() === 'true' ||
    textOf(properties, 's3.profile-name') !== undefined ||
    textOf(properties, 'client.profile-name') !== undefined
  )
}

/** One bucket has several schemes: locations of a table may have another than the catalog's prefix. */
function spellings(prefix: string): string[] {
  const parts = /^s3[an]?:\/\/(.*)$/s.exec(prefix)
  return parts === null ? [prefix] : ['s3', 's3a', 's3n'].map((scheme) => `${scheme}://${parts[1]}`)
}

/** Everything about a storage but its credentials: as long as it stays, so does the FileIO. */
export function storageShape(properties: Properties, credentials: readonly StorageCredential[]): string {
  const shapeOf = (config: Properties): unknown =>
    Object.entries(config)
      .filter(([name]) => !isS3Credential(name) && name !== 'token')
      .sort()
  return JSON.stringify([
    shapeOf(properties),
    credentials
      .map(({ prefix, config }) => [prefix, s3CredentialsIn(config) !== undefined, shapeOf(config)])
      .sort(),
  ])
}
