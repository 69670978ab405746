/**
 * A catalog's answer about one table, taken apart:
 *
 *     {"metadata-location": "s3://...", "metadata": {...}, "config": {...},
 *      "storage-credentials": [{"prefix": "s3://b/t", "config": {"s3.access-key-id": "..."}}]}
 */
import { InvalidMetadataError } from '../errors.ts'
import {
  asObject,
  optionalArray,
  optionalObject,
  optionalString,
  requiredString,
  stringMap,
} from '../metadata/json-fields.ts'
import { parseTableMetadata, type TableMetadata } from '../metadata/table-metadata.ts'
import type { JsonObject } from '../types/json-object.ts'
import type { Properties } from './rest-options.ts'

/** Properties for the files whose locations begin with a prefix. */
export interface StorageCredential {
  readonly prefix: string
  readonly config: Properties
}

export interface TableResponse {
  /** Undefined if the catalog does not say it. */
  readonly metadataLocation: string | undefined
  /** Unparsed: a reload that brings the metadata that is known already does not need it. */
  readonly metadata: JsonObject
  readonly config: Properties
  readonly storageCredentials: readonly StorageCredential[]
}

/** @throws InvalidMetadataError that begins with `purpose`. */
export function parseTableResponse(json: JsonObject, purpose: string): TableResponse {
  return within(purpose, () => {
    const metadata = optionalObject(json, 'metadata', 'the answer')
    if (metadata === undefined)
      throw new InvalidMetadataError('Cannot read the answer: "metadata" is missing')
    return {
      metadataLocation: optionalString(json, 'metadata-location', 'the answer'),
      metadata,
      config: properties(json, 'config', 'the answer'),
      storageCredentials: storageCredentialsIn(json),
    }
  })
}

/** @throws InvalidMetadataError that begins with `purpose`. */
export function parseCredentialsResponse(json: JsonObject, purpose: string): readonly StorageCredential[] {
  return within(purpose, () => storageCredentialsIn(json))
}

/** @throws InvalidMetadataError, UnsupportedFeatureError as parsing a metadata file does. */
export function parseResponseMetadata(
  { metadata, metadataLocation }: TableResponse,
  url: URL,
  allowV4: boolean,
): TableMetadata {
  return parseTableMetadata(metadata, metadataLocation ?? url.href, { allowV4 })
}

function storageCredentialsIn(json: JsonObject): StorageCredential[] {
  return (optionalArray(json, 'storage-credentials', 'the answer') ?? []).map((item) => {
    const entry = asObject(item, 'a storage credential')
    return {
      prefix: requiredString(entry, 'prefix', 'a storage credential'),
      config: properties(entry, 'config', 'a storage credential'),
    }
  })
}

/** An empty value says nothing, as in a file of properties: it must not hide one of the user's own. */
function properties(json: JsonObject, key: string, place: string): Properties {
  return Object.fromEntries([...stringMap(json, key, place)].filter(([, value]) => value.trim() !== ''))
}

/** What is wrong is said without the value of a field: it may be a secret in the wrong place. */
function within<T>(purpose: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof InvalidMetadataError)) throw error
    const why = error.message.replace(/^Cannot read /, 'cannot read ').replace(/ is .*, not /s, ' is not ')
    throw new InvalidMetadataError(`${purpose}: ${why}`)
  }
}
