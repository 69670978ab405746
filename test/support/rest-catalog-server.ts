/**
 * A small, strict REST catalog for tests: tokens are really required, credentials of the storage really handed out and
 * really end, every request is recorded, and answers can be replaced. What it does not serve is refused.
 *
 * ```ts
 * const s3 = await startS3Server()
 * const server = await startRestCatalog({ auth: { clientId: 'me', clientSecret: 's3cret' }, vending: { s3 } })
 * server.addTable(['db'], 'orders', built)
 * // ... new RestCatalog({ uri: server.uri, credential: 'me:s3cret' }).loadTable('db.orders') ...
 * server.requests.map(({ line }) => line) // ['POST /v1/oauth/tokens', 'GET /v1/config', ...]
 * await server.close()
 * ```
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { S3Credential, S3Server } from './s3-server.ts'
import type { BuiltTable } from './table-writer.ts'

/** Who may come: everybody, those with this token, or those with a token fetched for these credentials. */
export type RestAuth =
  | { kind: 'none' }
  | { kind: 'token'; token: string }
  | { kind: 'oauth2'; clientId?: string; clientSecret: string; scope?: string; expiresIn?: number }

/** Handing out credentials for a storage. */
export interface Vending {
  readonly s3: S3Server
  /** How long they are good, as it is said; default: for ever, and nothing is said. */
  lifeMs?: number
  /** `storage-credentials` with the table's location as prefix, or, as in older catalogs, the table's config. */
  place?: 'storage-credentials' | 'config'
}

export interface RestCatalogServerOptions {
  auth?: RestAuth
  /** Of the uri; default `/catalog`. */
  path?: string
  /** What the configuration says as `prefix`, encoded; requests must have it. */
  prefix?: string
  /** That the configuration must be asked for; default any. */
  warehouse?: string
  defaults?: Readonly<Record<string, unknown>>
  overrides?: Readonly<Record<string, unknown>>
  endpoints?: readonly string[]
  /** Between levels of a namespace, unencoded; default U+001F. */
  separator?: string
  vending?: Vending
}

export interface RestRequestRecord {
  /** `GET /v1/config?warehouse=w`: without the path of the uri. */
  readonly line: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  status: number
}

export interface ServedTable {
  metadataLocation: string | undefined
  /** As text: integers must come through as they are. */
  metadata: string
  config: Record<string, unknown>
  storageCredentials?: { prefix: string; config: Record<string, unknown> }[]
  /** A token for this table's own calls that the server takes besides the catalog's. */
  token?: string
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface RestCatalogServer {
  readonly uri: string
  readonly origin: string
  auth: RestAuth
  readonly requests: RestRequestRecord[]
  readonly options: RestCatalogServerOptions
  /** Answers, one after the other, that take the place of the right ones, for requests that fit. */
  readonly faults: { when?: (line: string) => boolean; times?: number; answer: Handler }[]
  /** Adds it, or takes it as the new version. */
  addTable(namespace: readonly string[], name: string, built: BuiltTable): ServedTable
  table(namespace: readonly string[], name: string): ServedTable
  /** Refuses every token handed out so far. */
  revokeTokens(): void
  /** Tokens handed out so far. */
  readonly tokens: readonly string[]
  /** Storage credentials handed out so far. */
  readonly vended: readonly S3Credential[]
  /** Ends those storage credentials now, earlier than was said. */
  expireVended(): void
  lines(): string[]
  reset(): void
  close(): Promise<void>
}

/** A refusal of the catalog. */
class Refusal extends Error {
  readonly status: number
  readonly type: string
  constructor(status: number, type: string, message: string) {
    super(message)
    this.status = status
    this.type = type
  }
}

export async function startRestCatalog(options: RestCatalogServerOptions = {}): Promise<RestCatalogServer> {
  const server = new Server(options)
  await server.start()
  return server
}

class Server implements RestCatalogServer {
  readonly options: RestCatalogServerOptions
  readonly requests: RestRequestRecord[] = []
  readonly faults: RestCatalogServer['faults'] = []
  readonly tokens: string[] = []
  readonly vended: S3Credential[] = []
  auth: RestAuth
  origin = ''
  readonly #valid = new Set<string>()
  readonly #tables = new Map<string, ServedTable>()
  readonly #http = createServer((request, response) => {
    void this.#serve(request, response)
  })

  constructor(options: RestCatalogServerOptions) {
    this.options = options
    this.auth = options.auth ?? { kind: 'none' }
  }

  get uri(): string {
    return this.origin + (this.options.path ?? '/catalog')
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve))
    this.origin = `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  addTable(namespace: readonly string[], name: string, built: BuiltTable): ServedTable {
    const key = JSON.stringify([namespace, name])
    const metadata = Buffer.from(built.files.get(built.metadataLocation)!).toString('utf8')
    const table = { config: {}, ...this.#tables.get(key), metadataLocation: built.metadataLocation, metadata }
    this.#tables.set(key, table)
    return table
  }

  table(namespace: readonly string[], name: string): ServedTable {
    return this.#tables.get(JSON.stringify([namespace, name]))!
  }

  revokeTokens(): void {
    this.#valid.clear()
  }

  expireVended(): void {
    for (const credential of this.vended) credential.expiration = new Date(0)
  }

  lines(): string[] {
    return this.requests.map(({ line }) => line)
  }

  reset(): void {
    this.requests.length = 0
    this.faults.length = 0
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = request.url!
    const base = this.options.path ?? '/catalog'
    const path = url.startsWith(`${base}/`) ? url.slice(base.length) : url
    const body = Buffer.concat(chunks).toString('utf8')
    const record = { line: `${request.method!} ${path}`, path, headers: request.headers, body, status: 0 }
    this.requests.push(record)
    response.on('close', () => (record.status = response.statusCode))

    const fault = this.faults.find(({ when }) => when?.(record.line) ?? true)
    if (fault !== undefined) {
      fault.times = (fault.times ?? 1) - 1
      if (fault.times <= 0) this.faults.splice(this.faults.indexOf(fault), 1)
      fault.answer(request, response)
      return
    }
    try {
      if (!url.startsWith(`${base}/v1/`)) throw new Refusal(404, 'NotFound', 'no such path')
      this.#answer(record, request, response)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, type, message } = error
      send(response, status, JSON.stringify({ error: { message, type, code: status } }))
    }
  }

  #answer(record: RestRequestRecord, request: IncomingMessage, response: ServerResponse): void {
    const [path, search] = record.path.split('?') as [string, string | undefined]
    const query = new URLSearchParams(search)
    if (path === '/v1/oauth/tokens') {
      this.#token(request, record.body, response)
      return
    }
    if (request.method !== 'GET') throw new Refusal(405, 'MethodNotAllowed', 'only GET')
    if (request.headers.accept !== 'application/json') throw new Refusal(400, 'BadRequest', 'want JSON')
    if (path === '/v1/config') {
      this.#authorize(request)
      this.#config(query, response)
      return
    }
    const root = this.options.prefix === undefined ? '/v1' : `/v1/${this.options.prefix}`
    if (!path.startsWith(`${root}/namespaces`)) throw new Refusal(404, 'NotFound', 'wrong prefix')
    const parts = path.slice(`${root}/namespaces`.length).split('/').slice(1)
    const [namespace, tables, name, further] = parts
    if (parts.length === 0) {
      this.#authorize(request)
      this.#namespaces(query, response)
    } else if (parts.length === 2 && tables === 'tables') {
      this.#authorize(request)
      this.#list(this.#levels(namespace), query, response)
    } else if (
      (parts.length === 3 || (parts.length === 4 && further === 'credentials')) &&
      tables === 'tables'
    ) {
      const levels = this.#levels(namespace)
      const table = this.#tables.get(JSON.stringify([levels, decodeOnce(name)]))
      this.#authorize(request, table)
      if (table === undefined) throw this.#missing(levels, decodeOnce(name))
      if (parts.length === 3) this.#table(table, request, response)
      else
        send(
          response,
          200,
          JSON.stringify({ 'storage-credentials': this.#credentials(table, request) ?? [] }),
        )
    } else throw new Refusal(404, 'NotFound', 'no such path')
  }

  #missing(levels: readonly string[], name: string): Refusal {
    const isKnown = [...this.#tables.keys()].some(
      (key) => JSON.stringify((JSON.parse(key) as unknown[])[0]) === JSON.stringify(levels),
    )
    return isKnown
      ? new Refusal(404, 'NoSuchTableException', `Table does not exist: ${[...levels, name].join('.')}`)
      : new Refusal(404, 'NoSuchNamespaceException', `Namespace does not exist: ${levels.join('.')}`)
  }

  #levels(text: string): string[] {
    const levels = decodeOnce(text).split(this.options.separator ?? '\u001f')
    if (levels.includes('')) throw new Refusal(400, 'BadRequest', 'an empty level')
    return levels
  }

  #authorize({ headers }: IncomingMessage, table?: ServedTable): void {
    const { auth } = this
    if (auth.kind === 'none') return
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
    if (table?.token !== undefined && token === table.token) return
    const isGood =
      auth.kind === 'token' ? token === auth.token : token !== undefined && this.#valid.has(token)
    // Repeating it is what careless servers do.
    if (!isGood)
      throw new Refusal(401, 'NotAuthorizedException', `Not authorized: ${headers.authorization ?? ''}`)
  }

  #token({ method, headers }: IncomingMessage, body: string, response: ServerResponse): void {
    const { auth } = this
    const form = Object.fromEntries(new URLSearchParams(body))
    const isGood =
      method === 'POST' &&
      /^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? '') &&
      headers.authorization === undefined &&
      form['grant_type'] === 'client_credentials' &&
      auth.kind === 'oauth2' &&
      form['client_id'] === auth.clientId &&
      form['client_secret'] === auth.clientSecret &&
      form['scope'] === (auth.scope ?? 'catalog')
    if (!isGood) {
      const problem = { error: 'invalid_client', error_description: `bad client: ${body}` }
      send(response, 401, JSON.stringify(problem))
      return
    }
    const token = createHash('sha256').update(`${auth.clientSecret}${this.tokens.length}`).digest('base64url')
    this.tokens.push(token)
    this.#valid.add(token)
    const life = auth.expiresIn === undefined ? {} : { expires_in: auth.expiresIn }
    send(response, 200, JSON.stringify({ access_token: token, token_type: 'bearer', ...life }))
  }

  #config(query: URLSearchParams, response: ServerResponse): void {
    const { warehouse, prefix, defaults = {}, overrides = {}, endpoints } = this.options
    if (warehouse !== undefined && query.get('warehouse') !== warehouse)
      throw new Refusal(404, 'NoSuchWarehouseException', `No warehouse ${query.get('warehouse') ?? ''}`)
    const all = prefix === undefined ? overrides : { prefix, ...overrides }
    send(response, 200, JSON.stringify({ defaults, overrides: all, endpoints }))
  }

  #table(table: ServedTable, { headers }: IncomingMessage, response: ServerResponse): void {
    const etag = `W/"${createHash('sha256').update(table.metadata).digest('hex').slice(0, 12)}"`
    if (headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end()
      return
    }
    const credentials = this.#credentials(table, { headers })
    const isInConfig = this.options.vending?.place === 'config'
    const config = { ...table.config, ...(table.token === undefined ? {} : { token: table.token }) }
    if (isInConfig) Object.assign(config, credentials?.[0]?.config)
    const members = [
      ...(table.metadataLocation === undefined
        ? []
        : [`"metadata-location":${JSON.stringify(table.metadataLocation)}`]),
      `"metadata":${table.metadata}`,
      `"config":${JSON.stringify(config)}`,
      ...(isInConfig || credentials === undefined
        ? []
        : [`"storage-credentials":${JSON.stringify(credentials)}`]),
    ]
    send(response, 200, `{${members.join(',')}}`, { etag })
  }

  /** New ones each time, if they are asked for. */
  #credentials(
    table: ServedTable,
    { headers }: Pick<IncomingMessage, 'headers'>,
  ): ServedTable['storageCredentials'] {
    const { vending } = this.options
    if (headers['x-iceberg-access-delegation'] !== 'vended-credentials') return undefined
    if (table.storageCredentials !== undefined || vending === undefined) return table.storageCredentials
    const { s3, lifeMs } = vending
    const count = this.vended.length + 1
    const credential: S3Credential = {
      accessKeyId: `VENDED${count}`,
      secretAccessKey: `vended-secret-${count}`,
      sessionToken: `vended-session-${count}`,
      ...(lifeMs === undefined ? {} : { expiration: new Date(Date.now() + lifeMs) }),
    }
    this.vended.push(credential)
    s3.credentials.push(credential)
    const { expiration } = credential
    const end =
      expiration === undefined ? {} : { 's3.session-token-expires-at-ms': String(expiration.getTime()) }
    const config = {
      's3.access-key-id': credential.accessKeyId,
      's3.secret-access-key': credential.secretAccessKey,
      's3.session-token': credential.sessionToken,
      's3.endpoint': s3.endpoint,
      's3.path-style-access': 'true',
      'client.region': s3.region,
      ...end,
    }
    return [{ prefix: /"location": ?"([^"]+)"/.exec(table.metadata)![1], config }]
  }

  #list(levels: readonly string[], query: URLSearchParams, response: ServerResponse): void {
    const identifiers = [...this.#tables.keys()]
      .map((key) => JSON.parse(key) as [string[], string])
      .filter(([namespace]) => JSON.stringify(namespace) === JSON.stringify(levels))
      .map(([namespace, name]) => ({ namespace, name }))
    if (identifiers.length === 0) throw this.#missing(levels, '')
    sendPage(response, 'identifiers', identifiers, query)
  }

  #namespaces(query: URLSearchParams, response: ServerResponse): void {
    const parent =
      query.get('parent') === null ? [] : query.get('parent')!.split(this.options.separator ?? '\u001f')
    const found = new Set<string>()
    for (const key of this.#tables.keys()) {
      const [namespace] = JSON.parse(key) as [string[]]
      if (namespace.length > parent.length && parent.every((level, i) => level === namespace[i]))
        found.add(JSON.stringify(namespace.slice(0, parent.length + 1)))
    }
    sendPage(
      response,
      'namespaces',
      [...found].map((text) => JSON.parse(text) as unknown),
      query,
    )
  }
}

function sendPage(response: ServerResponse, key: string, all: unknown[], query: URLSearchParams): void {
  const from = Number(query.get('pageToken') ?? '')
  const size = Number(query.get('pageSize') ?? all.length)
  const isLast = from + size >= all.length
  const page = { [key]: all.slice(from, from + size), 'next-page-token': isLast ? null : `${from + size}` }
  send(response, 200, JSON.stringify(page))
}

/** Also checks that nothing is left that was to be encoded. */
function decodeOnce(text: string): string {
  if (/[^A-Za-z0-9._~!*'()%-]/.test(text)) throw new Refusal(400, 'BadRequest', 'a name that is not encoded')
  return decodeURIComponent(text)
}

export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
