/**
 * One table of a catalog: loads it, finds out whether it has changed, and keeps the credentials of its storage good.
 */
import { InvalidMetadataError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import { checkRequestLimit, DEFAULT_REQUEST_LIMIT, limitRequests } from '../io/limit-file-io.ts'
import { textOf } from '../io/property-text.ts'
import { LocationMap } from '../io/rebase.ts'
import { MAX_METADATA_BYTES } from '../metadata/metadata-bytes.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'
import { rootFolder } from '../planner/find-metadata.ts'
import { Table, type ReloadedTable } from '../planner/table.ts'
import { tableBearer, type Bearer } from './bearer.ts'
import { formatIdentifier, type CatalogLoadOptions, type TableIdentifier } from './catalog.ts'
import { ENDPOINTS, requireEndpoint } from './rest-config.ts'
import { DELEGATION_HEADER, isHeaderValue, valueOf, type Properties } from './rest-options.ts'
import { MAX_SMALL_ANSWER_BYTES, type OpenSession, type RestSession } from './rest-session.ts'
import { checkScanPlanningMode } from './scan-planning-mode.ts'
import {
  parseCredentialsResponse,
  parseResponseMetadata,
  parseTableResponse,
  type StorageCredential,
  type TableResponse,
} from './table-response.ts'
import { EVERYWHERE, openTableStorage, storageShape } from './table-storage.ts'
import { s3CredentialsIn, VendedCredentials, withoutS3Credentials } from './vended-credentials.ts'

/** The metadata that a table has, and what the catalog calls that version. */
interface KnownVersion {
  readonly metadata: TableMetadata
  readonly etag: string | undefined
}

export class CatalogTable {
  readonly #rest: RestSession
  readonly #session: OpenSession
  readonly #identifier: TableIdentifier
  readonly #options: CatalogLoadOptions
  readonly #wantsVended: boolean
  /** For messages. */
  readonly #name: string
  readonly #url: URL
  readonly #vended: VendedCredentials
  #bearer: Bearer
  /** The catalog's with the table's, as last answered. */
  #properties: Properties = {}
  #shape = ''
  #known: KnownVersion | undefined

  /** @throws UnsupportedFeatureError if the catalog does not offer to load tables. */
  constructor(
    rest: RestSession,
    session: OpenSession,
    identifier: TableIdentifier,
    options: CatalogLoadOptions & { vendedCredentials: boolean },
  ) {
    this.#rest = rest
    this.#session = session
    this.#identifier = identifier
    this.#options = options
    this.#wantsVended = options.vendedCredentials
    this.#bearer = session.bearer
    this.#name = formatIdentifier(identifier)
    this.#url = session.paths.table(identifier)
    this.#vended = new VendedCredentials(this.#name, (signal) => this.#renew(signal))
    const purpose = rest.purpose(`load table ${this.#name}`)
    requireEndpoint(session.config, 'loadTable', purpose)
    checkRequestLimit(options.requestLimit, purpose)
  }

  /** One request. */
  async load(): Promise<Table> {
    const { signal, rebase = [], io } = this.#options
    const { response, etag } = (await this.#ask('load', undefined, signal))!
    const metadata = this.#parse(response)
    this.#known = { metadata, etag }
    const opened = io === undefined ? this.#openStorage(response) : this.#limit(io)
    const location = this.#options.tableLocation ?? rootOf(response)
    return new Table(metadata, opened, new LocationMap(rebase), {
      reload: (signal, known) => this.#reload(signal, known),
      ...(location === undefined ? {} : { location }),
    })
  }

  /** One request, answered with 304 if nothing has changed. */
  async #reload(signal: AbortSignal, known: TableMetadata): Promise<ReloadedTable | undefined> {
    // A version that the table did not take, as being of another table, must not be taken for the one it has.
    const etag = this.#known?.metadata === known ? this.#known.etag : undefined
    const answer = await this.#ask('refresh', etag, signal)
    if (answer === undefined) return undefined
    const { response } = answer
    const isSame =
      response.metadataLocation !== undefined && response.metadataLocation === known.metadataLocation
    const metadata = isSame ? known : this.#parse(response)
    const shape = this.#shape
    const io = this.#options.io === undefined ? this.#openStorage(response) : undefined
    this.#known = { metadata, etag: answer.etag }
    // The FileIO in use has the new credentials already; another one would only have other connections.
    const isNewStorage = io !== undefined && this.#shape !== shape
    if (isSame && !isNewStorage) return undefined
    return { metadata, ...(isNewStorage ? { io } : {}) }
  }

  /** `undefined` if the version of that tag is the current one. */
  async #ask(
    verb: 'load' | 'refresh',
    etag: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ response: TableResponse; etag: string | undefined } | undefined> {
    const what = `${verb} table ${this.#name}`
    const purpose = this.#rest.purpose(what)
    const call = {
      what,
      url: this.#url,
      maxBytes: MAX_METADATA_BYTES,
      bearer: this.#bearer,
      headers: { ...this.#delegation(), ...(etag === undefined ? {} : { 'if-none-match': etag }) },
      signal,
    }
    const answer = await this.#rest.get(this.#session, call)
    if (answer.status === 304) return undefined
    const response = parseTableResponse(this.#rest.read(answer, call), purpose)
    const { config } = response
    checkScanPlanningMode(purpose, config, this.#session.config.properties)
    const token = textOf(config, 'token')
    if (token !== undefined && !isHeaderValue(token))
      throw new InvalidMetadataError(
        `${purpose}: the token in the table's config has characters that no header may have`,
      )
    if (token !== undefined) this.#bearer = tableBearer(this.#session.bearer, token)
    return { response, etag: answer.headers.get('etag') ?? undefined }
  }

  /** The user may have said another one in a header of their own. */
  #delegation(): Properties {
    return this.#wantsVended && valueOf(this.#session.headers, DELEGATION_HEADER) === undefined
      ? { [DELEGATION_HEADER]: 'vended-credentials' }
      : {}
  }

  #parse(response: TableResponse): TableMetadata {
    return parseResponseMetadata(response, this.#url, this.#options.allowV4 ?? false)
  }

  /** Keeps the credentials that came and gives the FileIO that uses them, now and when they are renewed. */
  #openStorage(response: TableResponse): FileIO {
    const { config } = response
    const credentials = this.#credentialsIn(response)
    this.#properties = { ...withoutS3Credentials(this.#session.config.properties, config), ...config }
    this.#vended.keep(credentials)
    this.#shape = storageShape(this.#properties, credentials)
    const io = openTableStorage({
      properties: this.#properties,
      credentials,
      vended: this.#vended,
      scope: JSON.stringify([this.#rest.scope, this.#identifier.namespace, this.#identifier.name]),
      options: this.#options.storage ?? {},
    })
    return this.#limit(io)
  }

  #limit(io: FileIO): FileIO {
    return limitRequests(io, this.#options.requestLimit ?? DEFAULT_REQUEST_LIMIT)
  }

  #credentialsIn({ config, storageCredentials }: TableResponse): readonly StorageCredential[] {
    if (!this.#wantsVended) return []
    return s3CredentialsIn(config) === undefined
      ? storageCredentials
      : [...storageCredentials, { prefix: EVERYWHERE, config }]
  }

  /** From the end point for credentials if the catalog has one, else with the whole table. */
  async #renew(signal: AbortSignal): Promise<readonly StorageCredential[]> {
    const what = `renew the storage credentials of table ${this.#name}`
    const endpoint = this.#credentialsUrl()
    const call = { what, bearer: this.#bearer, headers: this.#delegation(), signal }
    if (endpoint !== undefined) {
      const json = await this.#rest.getJson(this.#session, {
        ...call,
        url: endpoint,
        maxBytes: MAX_SMALL_ANSWER_BYTES,
      })
      return parseCredentialsResponse(json, this.#rest.purpose(what))
    }
    const json = await this.#rest.getJson(this.#session, {
      ...call,
      url: this.#url,
      maxBytes: MAX_METADATA_BYTES,
    })
    return this.#credentialsIn(parseTableResponse(json, this.#rest.purpose(what)))
  }

  /** Advertised, or named in the table's config; there only at the catalog's own server. */
  #credentialsUrl(): URL | undefined {
    const { config, paths } = this.#session
    if (config.endpoints.has(ENDPOINTS.loadCredentials)) return paths.table(this.#identifier, '/credentials')
    const named = textOf(this.#properties, 'client.refresh-credentials-endpoint')
    const isOff = textOf(this.#properties, 'client.refresh-credentials-enabled')?.toLowerCase() === 'false'
    if (named === undefined || isOff) return undefined
    const url = paths.resolve(named)
    return url?.origin === config.base.origin ? url : undefined
  }
}

/** For metadata that does not say where its table is. */
function rootOf({ metadataLocation }: TableResponse): string | undefined {
  return metadataLocation === undefined ? undefined : rootFolder(metadataLocation)
}
