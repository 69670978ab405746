/**
 * A catalog's configuration, asked for once: defaults, which the user's properties win over, and overrides, which win
 * over the user's; and the end points that it serves.
 */
import { InvalidArgumentError, StorageError, UnsupportedFeatureError } from '../errors.ts'
import { optionalArray, stringMap } from '../metadata/json-fields.ts'
import type { JsonObject } from '../types/json-object.ts'
import { IGNORE_URI_OVERRIDE, parseBaseUri, type Properties, valueOf } from './rest-options.ts'

const TABLE = '/v1/{prefix}/namespaces/{namespace}/tables/{table}'

/** What this client may ask for, as the specification names it. */
export const ENDPOINTS = {
  loadTable: `GET ${TABLE}`,
  loadCredentials: `GET ${TABLE}/credentials`,
  listTables: 'GET /v1/{prefix}/namespaces/{namespace}/tables',
  listNamespaces: 'GET /v1/{prefix}/namespaces',
} as const

export type Endpoint = keyof typeof ENDPOINTS

/** Of a catalog that names none, or an empty list of them: Java takes both for a server older than the list. */
const DEFAULT_ENDPOINTS: readonly string[] = [
  ENDPOINTS.loadTable,
  ENDPOINTS.listTables,
  ENDPOINTS.listNamespaces,
]

export interface RestConfig {
  /** Merged. */
  readonly properties: Properties
  /**
   * Where to go on: the user's, or another path of the same server if the catalog overrides it and the user does not
   * say to stay.
   */
  readonly base: URL
  readonly endpoints: ReadonlySet<string>
}

/**
 * @param json the answer to `GET /v1/config`
 * @throws StorageError if it is not one, InvalidArgumentError if it sends the client to another server.
 */
export function mergeConfig(
  json: JsonObject,
  own: Properties,
  base: URL,
  isUriOverrideIgnored: boolean,
): RestConfig {
  const purpose = `Cannot use the configuration of the catalog ${base.href}`
  let defaults: Properties, overrides: Properties, endpoints: readonly unknown[] | undefined
  try {
    defaults = Object.fromEntries(stringMap(json, 'defaults', 'it'))
    overrides = Object.fromEntries(stringMap(json, 'overrides', 'it'))
    endpoints = optionalArray(json, 'endpoints', 'it')
  } catch (error) {
    // Without the value, which may be a secret in the wrong place.
    const why = (error as Error).message.replace('Cannot read it: ', '').replace(/ is .*, not /s, ' is not ')
    throw new StorageError(`${purpose}: ${why}`)
  }
  return {
    properties: { ...defaults, ...own, ...overrides },
    base: isUriOverrideIgnored ? base : checkOrigin(valueOf(overrides, 'uri'), base),
    endpoints: new Set(
      (endpoints === undefined || endpoints.length === 0 ? DEFAULT_ENDPOINTS : endpoints).filter(
        (endpoint): endpoint is string => typeof endpoint === 'string',
      ),
    ),
  }
}

/**
 * Tokens and headers were given for one server. An answer of that server, or of whoever stands in between, is not
 * enough to send them to another one: the user has to name it.
 */
function checkOrigin(uri: string | undefined, base: URL): URL {
  if (uri === undefined) return base
  const other = parseBaseUri(uri)
  if (other.origin === base.origin) return other
  throw new InvalidArgumentError(
    `Cannot use the catalog ${base.href}: its configuration goes on at ${other.href}, which is another server and must not see the token; give that as the uri if it is to be trusted, or stay at this one with the option ignoreUriOverride (property ${IGNORE_URI_OVERRIDE}=true)`,
  )
}

/** @throws UnsupportedFeatureError if the catalog does not serve it. */
export function requireEndpoint(config: RestConfig, endpoint: Endpoint, purpose: string): void {
  if (!config.endpoints.has(ENDPOINTS[endpoint]))
    throw new UnsupportedFeatureError(
      `${purpose}: the catalog does not offer '${ENDPOINTS[endpoint]}' among its endpoints`,
    )
}
