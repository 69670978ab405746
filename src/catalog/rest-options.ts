/**
 * What a user says about a REST catalog: options by name, or properties with the names that Iceberg's own clients
 * use, so that a configuration that works there works here. Both end as properties; an option wins over the property
 * of its name.
 *
 * | option              | property                                            |
 * | ------------------- | --------------------------------------------------- |
 * | `uri`               | `uri`                                               |
 * | `warehouse`         | `warehouse`                                         |
 * | `token`             | `token`                                             |
 * | `credential`        | `credential`                                        |
 * | `scope`             | `scope`                                             |
 * | `oauth2ServerUri`   | `oauth2-server-uri`                                 |
 * | `prefix`            | `prefix`                                            |
 * | `headers`           | `header.NAME` each                                  |
 * | `ignoreUriOverride` | `iceplan.ignore-uri-override`, true or false        |
 * | `vendedCredentials` | `iceplan.vended-credentials-enabled`, true or false |
 * |                     | `audience`, `resource`, for the token               |
 * |                     | `rest-page-size`, of listings                       |
 * |                     | `s3.*`, `client.*`, for the storage                 |
 *
 * The two that Iceberg's clients do not have begin with `iceplan.`. What those have for vended credentials is the header
 * of their name: `header.X-Iceberg-Access-Delegation` with an empty value says that none are wanted, and with any other
 * one it goes to the catalog as it stands.
 *
 * Messages of this file never show a value that may be secret.
 */
import { InvalidArgumentError, UnsupportedFeatureError } from '../errors.ts'
import { textOf } from '../io/property-text.ts'
import { withoutUser } from '../without-secrets.ts'

export type Properties = Readonly<Record<string, string>>

/** The value of a property, if there is one. */
export function valueOf(properties: Properties, name: string): string | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

export interface RestCatalogOptions {
  /** The catalog's base, without `/v1`; it may have a path and end with a slash. */
  uri: string
  /** Which of the catalog's warehouses; what it looks like is the catalog's choice. */
  warehouse?: string
  /** A bearer token, used as it is. */
  token?: string
  /** `id:secret` or a secret alone, for which tokens are fetched (OAuth2 client credentials). */
  credential?: string
  /** Of the tokens that are fetched. Default `catalog`. */
  scope?: string
  /** Where tokens are fetched, absolute or from `uri`. Default `v1/oauth/tokens`. The credential goes there. */
  oauth2ServerUri?: string
  /** A part of every path, if the catalog does not say it itself. */
  prefix?: string
  /** Sent with every request to the catalog. */
  headers?: Properties
  /** Further properties, by Iceberg's names. */
  properties?: Properties
  /**
   * Whether to ask for credentials of the storage, and to use those that come. Default true. Without it the storage
   * is read with the credentials of the properties, or of the environment.
   */
  vendedCredentials?: boolean
  /**
   * Whether to stay at `uri` when the catalog's configuration goes on at another one, which may have a name or a scheme
   * that only its own network knows. Default false: another path is followed, another server is refused, as it must not
   * see the token.
   */
  ignoreUriOverride?: boolean
  /** Requests per call, the first included. Default 4. */
  attempts?: number
  /** Longest pause before the second request, in milliseconds; doubles with every further one. Default 200. */
  firstPauseMs?: number
  /** For each request, its body included. Default 60,000. */
  requestTimeoutMs?: number
}

const PROPERTY_BY_OPTION = {
  uri: 'uri',
  warehouse: 'warehouse',
  token: 'token',
  credential: 'credential',
  scope: 'scope',
  oauth2ServerUri: 'oauth2-server-uri',
  prefix: 'prefix',
} as const

/** {@link RestCatalogOptions.ignoreUriOverride} */
export const IGNORE_URI_OVERRIDE = 'iceplan.ignore-uri-override'
const VENDED_CREDENTIALS = 'iceplan.vended-credentials-enabled'
/** How a client says what it wants to read the storage with. */
export const DELEGATION_HEADER = 'x-iceberg-access-delegation'

/** All that the user said, as properties. */
export function propertiesOf(options: RestCatalogOptions): Properties {
  const properties: Record<string, string> = { ...options.properties }
  for (const [option, property] of Object.entries(PROPERTY_BY_OPTION)) {
    const value = options[option as keyof typeof PROPERTY_BY_OPTION]
    if (value !== undefined) properties[property] = value
  }
  const { ignoreUriOverride, vendedCredentials } = options
  if (ignoreUriOverride !== undefined) properties[IGNORE_URI_OVERRIDE] = String(ignoreUriOverride)
  if (vendedCredentials !== undefined) properties[VENDED_CREDENTIALS] = String(vendedCredentials)
  for (const [name, value] of Object.entries(options.headers ?? {})) properties[`header.${name}`] = value
  for (const [name, value] of Object.entries(properties as Record<string, unknown>))
    if (typeof value !== 'string')
      throw new InvalidArgumentError(`Cannot use the catalog property '${name}': its value is not a string`)
  return properties
}

/**
 * The base of a catalog's paths: without query, fragment and slashes at the end.
 *
 * @throws InvalidArgumentError if it is no HTTP(S) URL, or has what a base cannot have.
 */
export function parseBaseUri(uri: string | undefined): URL {
  if (uri === undefined || uri === '')
    throw new InvalidArgumentError("Cannot use a REST catalog: the property 'uri' is missing")
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new InvalidArgumentError(`Cannot use a REST catalog at '${shown(uri)}': not an HTTP URL`)
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError(
      `Cannot use a REST catalog at ${shown(uri)} with a user and password in its URL: give a token or a credential instead`,
    )
  if (url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError(
      `Cannot use a REST catalog at ${url.origin}${url.pathname}: its URL has a query or a fragment`,
    )
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

/** For messages: without user, query and fragment, whether it is a URL or not. */
function shown(uri: string): string {
  return withoutUser(uri).replace(/[?#].*$/s, '')
}

/**
 * The `header.NAME` properties, as headers.
 *
 * @throws InvalidArgumentError, without the value, for what cannot be a header.
 */
export function headersOf(properties: Properties): Record<string, string> {
  const headers = new Map<string, string>()
  for (const [property, value] of Object.entries(properties)) {
    if (!property.startsWith('header.')) continue
    const name = property.slice('header.'.length)
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new InvalidArgumentError(
        `Cannot send the catalog property '${property}': not the name of a header`,
      )
    headers.set(name.toLowerCase(), checkHeaderValue(property, value))
  }
  // Says that none are wanted, which is said by no header at all.
  if (headers.get(DELEGATION_HEADER) === '') headers.delete(DELEGATION_HEADER)
  return Object.fromEntries(headers)
}

/** @throws InvalidArgumentError, without the value, if it cannot stand in a header. */
export function checkHeaderValue(property: string, value: string): string {
  const trimmed = value.trim()
  if (!isHeaderValue(trimmed))
    throw new InvalidArgumentError(
      `Cannot send the catalog property '${property}': its value has characters that no header may have`,
    )
  return trimmed
}

/** `fetch` would refuse others with an error that shows the value. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** Whether credentials of the storage are asked for and used, as the user says it. */
export function wantsVendedCredentials(properties: Properties): boolean {
  const isRefused = Object.entries(properties).some(
    ([name, value]) => name.toLowerCase() === `header.${DELEGATION_HEADER}` && value.trim() === '',
  )
  return switchProperty(properties, VENDED_CREDENTIALS) ?? !isRefused
}

/**
 * A property that is true or false, or undefined if it is not given.
 *
 * @throws InvalidArgumentError if it is something else.
 */
export function switchProperty(properties: Properties, name: string): boolean | undefined {
  const text = textOf(properties, name)?.toLowerCase()
  if (text === undefined) return undefined
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InvalidArgumentError(
    `Cannot use the catalog property '${name}': '${text}' is neither true nor false`,
  )
}

/** How requests are signed, as `rest.auth.type` says it in lower case, and what is not here. */
export function authTypeOf(properties: Properties): 'oauth2' | 'none' {
  const type = (valueOf(properties, 'rest.auth.type') ?? '').toLowerCase()
  if (type === 'sigv4' || valueOf(properties, 'rest.sigv4-enabled')?.toLowerCase() === 'true')
    throw new UnsupportedFeatureError(
      'Cannot use the REST catalog: it wants requests signed with SigV4 (rest.sigv4-enabled), which is not supported; load the table by its metadata location instead',
    )
  if (type === '' || type === 'oauth2') return 'oauth2'
  if (type === 'none') return 'none'
  throw new UnsupportedFeatureError(
    `Cannot use the REST catalog: authentication of the type '${type}' (rest.auth.type) is not supported; give a token, a credential, or the property 'header.Authorization'`,
  )
}

/**
 * A property that is a whole number above zero, or undefined.
 *
 * @throws InvalidArgumentError if it is something else.
 */
export function positiveProperty(properties: Properties, name: string): number | undefined {
  const text = valueOf(properties, name)
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : 0
  if (value === 0 || !Number.isSafeInteger(value))
    throw new InvalidArgumentError(
      `Cannot use the catalog property '${name}': '${text}' is not a whole number above zero`,
    )
  return value
}
