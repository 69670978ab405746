/**
 * Iceberg's REST catalog.
 *
 * ```ts
 * const catalog = new RestCatalog({
 *   uri: 'https://catalog.example.com/api',
 *   warehouse: 'analytics',
 *   credential: process.env.CATALOG_CREDENTIAL,
 * })
 * const table = await catalog.loadTable('db.orders')
 * for await (const task of table.planFiles("region = 'emea'")) console.log(task.location)
 * ```
 *
 * A catalog costs one request for its configuration, and one for a token if it has a credential, when it is first
 * used; a table costs one, and a refresh of it one.
 */
import { InvalidArgumentError, StorageError } from '../errors.ts'
import { timeoutOf } from '../io/number-option.ts'
import { retryPolicyOf } from '../io/retry.ts'
import { withoutUndefined } from '../io/without-undefined.ts'
import { asObject, optionalArray, optionalString, requiredString } from '../metadata/json-fields.ts'
import type { Table } from '../planner/table.ts'
import type { JsonObject } from '../types/json-object.ts'
import { CatalogTable } from './catalog-table.ts'
import {
  describeName,
  parseIdentifier,
  parseNamespace,
  type Catalog,
  type CatalogLoadOptions,
  type TableIdentifier,
} from './catalog.ts'
import { DEFAULT_CALL_POLICY } from './http-call.ts'
import { requireEndpoint, type Endpoint } from './rest-config.ts'
import {
  parseBaseUri,
  positiveProperty,
  propertiesOf,
  wantsVendedCredentials,
  type Properties,
  type RestCatalogOptions,
  valueOf,
} from './rest-options.ts'
import type { RestPaths } from './rest-paths.ts'
import { MAX_SMALL_ANSWER_BYTES, RestSession } from './rest-session.ts'

/** A listing with more pages than this is one that does not end. */
const MAX_PAGES = 10_000

export class RestCatalog implements Catalog {
  /** Without a slash at its end. */
  readonly uri: string
  readonly warehouse: string | undefined
  readonly #rest: RestSession
  readonly #vendedCredentials: boolean

  /**
   * Makes no request.
   *
   * @throws InvalidArgumentError for options that cannot be used; UnsupportedFeatureError for a kind of
   *   authentication that is not here (SigV4).
   */
  constructor(options: RestCatalogOptions) {
    const properties = propertiesOf(options)
    const base = parseBaseUri(valueOf(properties, 'uri'))
    const { attempts, firstPauseMs, requestTimeoutMs } = {
      ...DEFAULT_CALL_POLICY,
      ...withoutUndefined(options),
    }
    this.uri = base.href.replace(/\/$/, '')
    this.warehouse = valueOf(properties, 'warehouse')
    this.#rest = new RestSession(base, properties, {
      ...retryPolicyOf({ attempts, firstPauseMs }),
      requestTimeoutMs: timeoutOf('requestTimeoutMs', requestTimeoutMs),
    })
    this.#vendedCredentials = wantsVendedCredentials(properties)
  }

  async loadTable(identifier: string | readonly string[], options: CatalogLoadOptions = {}): Promise<Table> {
    const parsed = parseIdentifier(identifier)
    const session = await this.#rest.open(options.signal)
    const vendedCredentials = this.#vendedCredentials
    return await new CatalogTable(this.#rest, session, parsed, { ...options, vendedCredentials }).load()
  }

  /**
   * The tables directly in a namespace, as the catalog orders them. As many requests as there are pages.
   *
   * Rejects with NotFoundError if there is no such namespace, InvalidArgumentError, UnsupportedFeatureError if the
   * catalog does not list, StorageError, the signal's reason.
   */
  async listTables(
    namespace: string | readonly string[],
    options: { signal?: AbortSignal } = {},
  ): Promise<TableIdentifier[]> {
    const levels = parseNamespace(namespace)
    if (levels.length === 0)
      throw new InvalidArgumentError('Cannot list tables: they are in namespaces, and none is given')
    return await this.#list(
      {
        what: `list the tables in ${describeName(levels)}`,
        endpoint: 'listTables',
        key: 'identifiers',
        url: (paths, query) => paths.tables(levels, query),
        parse(item) {
          const entry = asObject(item, 'a table')
          return { namespace: namesIn(entry['namespace']), name: requiredString(entry, 'name', 'a table') }
        },
      },
      options.signal,
    )
  }

  /**
   * The namespaces directly in a namespace, by default the outermost ones, each with all its levels. Rejects as
   * {@link listTables} does.
   */
  async listNamespaces(
    parent: string | readonly string[] = [],
    options: { signal?: AbortSignal } = {},
  ): Promise<(readonly string[])[]> {
    const levels = parseNamespace(parent)
    return await this.#list(
      {
        what: levels.length === 0 ? 'list the namespaces' : `list the namespaces in ${describeName(levels)}`,
        endpoint: 'listNamespaces',
        key: 'namespaces',
        url: (paths, query) => paths.namespaces(levels, query),
        parse: namesIn,
      },
      options.signal,
    )
  }

  async #list<T>(listing: Listing<T>, signal: AbortSignal | undefined): Promise<T[]> {
    const session = await this.#rest.open(signal)
    const { what, endpoint, key, url, parse } = listing
    const purpose = this.#rest.purpose(what)
    requireEndpoint(session.config, endpoint, purpose)
    const pageSize = positiveProperty(session.config.properties, 'rest-page-size')
    const all: T[] = []
    let query: Record<string, string> =
      pageSize === undefined ? {} : { pageSize: `${pageSize}`, pageToken: '' }
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const json = await this.#rest.getJson(session, {
        what,
        url: url(session.paths, query),
        maxBytes: MAX_SMALL_ANSWER_BYTES,
        signal,
      })
      const next = readPage(json, key, parse, all, purpose)
      if (next === undefined || next === '') return all
      if (next === query['pageToken']) break
      query = { ...query, pageToken: next }
    }
    throw new StorageError(`${purpose}: the pages do not end`)
  }
}

/**
 * A REST catalog from properties alone, as they stand in the configuration of another Iceberg client: `uri`,
 * `warehouse`, `credential`, `s3.endpoint`, ... Those that mean nothing here are let be.
 *
 * @throws InvalidArgumentError without `uri`; else as the constructor of {@link RestCatalog}.
 */
export function restCatalogFrom(properties: Properties): RestCatalog {
  return new RestCatalog({ uri: valueOf(properties, 'uri') ?? '', properties })
}

interface Listing<T> {
  readonly what: string
  readonly endpoint: Endpoint
  readonly key: string
  readonly url: (paths: RestPaths, query: Readonly<Record<string, string>>) => URL
  readonly parse: (item: unknown) => T
}

/** Adds the items to `all`; the token of the next page if there is one. */
function readPage<T>(
  json: JsonObject,
  key: string,
  parse: (item: unknown) => T,
  all: T[],
  purpose: string,
): string | undefined {
  try {
    for (const item of optionalArray(json, key, 'the answer') ?? []) all.push(parse(item))
    return optionalString(json, 'next-page-token', 'the answer')
  } catch (error) {
    throw new StorageError(`${purpose}: ${(error as Error).message.replace(/^Cannot read /, 'cannot read ')}`)
  }
}

function namesIn(json: unknown): readonly string[] {
  if (Array.isArray(json) && json.every((level): level is string => typeof level === 'string')) return json
  throw new StorageError('Cannot read a namespace: it is not an array of names')
}
