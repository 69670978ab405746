/**
 * A small, strict S3 server for tests: objects in memory, signatures really checked, every request recorded, and
 * faults on demand. It does what S3 does where a client could tell, and refuses what it does not do.
 *
 * ```ts
 * const server = await startS3Server()
 * server.put('warehouse', 'db/t/metadata/a b%2F#.avro', bytes)
 * server.faults.push({ kind: 'stalled-body', when: ({ key }) => key.endsWith('.avro') })
 * // ... reads at server.endpoint, with server.credentials[0] ...
 * server.requests // what was asked, and how it was answered
 * await server.close()
 * ```
 */
import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { crc32 } from 'node:zlib'
import { listingXml, sortKeys } from './s3-listing.ts'
import { S3Refusal } from './s3-refusal.ts'
import {
  decodeStrictly,
  parseQuery,
  SignatureChecker,
  wrongRegion,
  type S3Credential,
  type SignaturePolicy,
} from './s3-signature.ts'

export type { S3Credential } from './s3-signature.ts'

export interface S3ServerOptions {
  /** Default `us-east-1`. */
  region?: string
  /** Default one, `test-key` with `test-secret`. */
  credentials?: readonly S3Credential[]
  /** Whether buckets may be read without credentials; default false. */
  anonymous?: boolean
  /** See {@link S3Server.latencyMs}. */
  latencyMs?: number
}

/** A request, as it was understood, and how it was answered. */
export interface S3RequestRecord {
  readonly method: string
  readonly bucket: string
  /** Decoded once; empty for requests about a bucket. */
  readonly key: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The header, as sent. */
  readonly range: string | undefined
  /** Whether the bucket was named by the host. */
  readonly isVirtualHosted: boolean
  /** Which connection brought it, counted from 1: few numbers mean that connections are kept. */
  readonly connection: number
  /** `undefined` for a request without a signature, or one that was refused for it. */
  accessKeyId: string | undefined
  /** 0 as long as, or if ever, there is no answer. */
  status: number
  /** Of S3, for what was refused. */
  code: string | undefined
  /** Bytes of the body that were sent. */
  bytes: number
}

/**
 * What goes wrong. A fault is for the first request, rightly signed, that fits `when` (default any), and then for
 * `times - 1` more (default 1); of several that fit, the first is taken.
 *
 * | kind              | what the client sees                                                                  |
 * | ----------------- | ------------------------------------------------------------------------------------- |
 * | `status`          | that status: an error of S3 with that code, or the body as it is (a proxy's page)     |
 * | `wrong-region`    | 301 PermanentRedirect, or 400 AuthorizationHeaderMalformed: the bucket is elsewhere   |
 * | `reset`           | the connection reset before any answer                                                |
 * | `reset-mid-body`  | right headers, half of the body, a reset                                              |
 * | `short-body`      | right headers, half of the body, an orderly end                                       |
 * | `short-range`     | half of the range, in headers that agree with it; only requests with a range          |
 * | `ignored-range`   | 200 and the whole object                                                              |
 * | `slow-body`       | all of it, in pieces with pauses between them                                         |
 * | `stalled-body`    | right headers, half of the body, then nothing for ever                                |
 * | `stalled-headers` | nothing for ever                                                                      |
 * | `wrong-byte`      | one byte of the body changed                                                          |
 */
export type S3Fault = S3FaultKind & {
  when?: (request: S3RequestRecord) => boolean
  times?: number
}

export type S3FaultKind =
  | { kind: 'status'; status: number; code?: string; body?: string; headers?: Record<string, string> }
  | { kind: 'wrong-region'; way: SignaturePolicy['wrongRegion']; region: string }
  | { kind: 'slow-body'; pieces: number; pauseMs: number }
  | {
      kind:
        | 'reset'
        | 'reset-mid-body'
        | 'short-body'
        | 'short-range'
        | 'ignored-range'
        | 'stalled-body'
        | 'stalled-headers'
        | 'wrong-byte'
    }

export interface S3Server {
  /**
   * By address, so for path style. A host `BUCKET.localhost` or `BUCKET.s3.localhost` names the bucket; such names do
   * not resolve everywhere.
   */
  readonly endpoint: string
  readonly port: number
  region: string
  /** Who may come; change as you like. */
  credentials: S3Credential[]
  anonymous: boolean
  /** How a signature for another region is refused. */
  wrongRegion: SignaturePolicy['wrongRegion']
  /** Milliseconds that each answer waits before it begins. */
  latencyMs: number
  /** The most entries of a listing's page; default 1000. */
  pageSize: number
  /** Its clock minus the machine's, in milliseconds. */
  clockSkewMs: number
  /** In the order in which they came, refused ones too. */
  readonly requests: S3RequestRecord[]
  /** The most requests that were being answered at one time. */
  mostInFlight: number
  /** Faults to come; those that are spent are gone. */
  readonly faults: S3Fault[]
  /** Stores an object, without a request; the bucket comes into being. */
  put(bucket: string, key: string, bytes: Uint8Array): void
  /** Removes an object, without a request. */
  delete(bucket: string, key: string): void
  /** Forgets requests and faults; keeps objects and settings. */
  reset(): void
  close(): Promise<void>
}

interface StoredObject {
  readonly bytes: Uint8Array
  /** In quotes, made when first asked for. */
  etag?: string
  /** Base64 of the big-endian CRC-32, if it was uploaded with one. */
  readonly crc32?: string
}

interface Bucket {
  readonly objects: Map<string, StoredObject>
  /** In the order of a listing; `undefined` after a change. */
  sorted: string[] | undefined
}

const LAST_MODIFIED = 'Thu, 01 Jan 2026 00:00:00 GMT'

export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const server = new Server(options)
  await server.listen()
  return server
}

class Server implements S3Server {
  region: string
  credentials: S3Credential[]
  anonymous: boolean
  wrongRegion: SignaturePolicy['wrongRegion'] = 'malformed'
  latencyMs: number
  pageSize = 1000
  clockSkewMs = 0
  readonly requests: S3RequestRecord[] = []
  mostInFlight = 0
  readonly faults: S3Fault[] = []
  readonly #buckets = new Map<string, Bucket>()
  readonly #signatures = new SignatureChecker()
  readonly #connections = new WeakMap<Socket, number>()
  #connectionCount = 0
  #requestCount = 0
  #inFlight = 0
  readonly #http = createServer(
    // Real ones wait far longer than Node does for the next request of a connection.
    { keepAliveTimeout: 60_000, noDelay: true },
    (request, response) => void this.#answer(request, response),
  )

  constructor({ region = 'us-east-1', credentials, anonymous = false, latencyMs = 0 }: S3ServerOptions) {
    this.region = region
    this.credentials = [...(credentials ?? [{ accessKeyId: 'test-key', secretAccessKey: 'test-secret' }])]
    this.anonymous = anonymous
    this.latencyMs = latencyMs
    this.#http.on('connection', (socket: Socket) => {
      this.#connections.set(socket, ++this.#connectionCount)
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve))
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`
  }

  put(bucket: string, key: string, bytes: Uint8Array): void {
    this.#store(bucket, key, { bytes })
  }

  delete(bucket: string, key: string): void {
    const found = this.#buckets.get(bucket)
    if (found?.objects.delete(key) === true) found.sorted = undefined
  }

  reset(): void {
    this.requests.length = 0
    this.faults.length = 0
    this.mostInFlight = 0
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve))
    this.#http.closeAllConnections()
    await closed
  }

  #store(name: string, key: string, object: StoredObject): void {
    let bucket = this.#buckets.get(name)
    if (bucket === undefined) this.#buckets.set(name, (bucket = { objects: new Map(), sorted: undefined }))
    if (!bucket.objects.has(key)) bucket.sorted = undefined
    bucket.objects.set(key, object)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = (++this.#requestCount).toString(16).toUpperCase().padStart(16, '0')
    response.setHeader('x-amz-request-id', id)
    this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight)
    response.once('close', () => this.#inFlight--)
    let record: S3RequestRecord | undefined
    try {
      const raw = request.url ?? ''
      const at = raw.indexOf('?')
      const rawPath = at === -1 ? raw : raw.slice(0, at)
      const rawQuery = at === -1 ? '' : raw.slice(at + 1)
      record = this.#record(request, rawPath, rawQuery)
      this.requests.push(record)
      const body = request.method === 'PUT' ? await bodyOf(request) : EMPTY
      const credential = this.#authenticate(request, rawPath, rawQuery, body)
      record.accessKeyId = credential?.accessKeyId
      const fault = this.#takeFault(record)
      if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs))
      if (fault !== undefined && refuses(fault, request, record, response)) return
      this.#authorize(record, credential)
      this.#carryOut(record, credential, body, response, fault)
    } catch (error) {
      const refusal =
        error instanceof S3Refusal
          ? error
          : new S3Refusal(500, 'TestServerError', error instanceof Error ? error.message : String(error))
      if (record !== undefined) {
        record.status = refusal.status
        record.code = refusal.code
      }
      if (refusal.status === 304) response.writeHead(304, refusal.headers).end()
      else {
        const xml = Buffer.from(refusal.toXml(id))
        const headers = {
          ...refusal.headers,
          'content-type': 'application/xml',
          'content-length': xml.length,
        }
        response.writeHead(refusal.status, headers).end(xml)
      }
    }
  }

  #record(request: IncomingMessage, rawPath: string, rawQuery: string): S3RequestRecord {
    const host = /^(.+?)(?:\.s3)?\.localhost(?::\d+)?$/.exec(request.headers.host ?? '')
    // The first slash ends the host or the bucket; all others belong to the key.
    const path = decodeStrictly(rawPath).slice(1)
    const at = path.indexOf('/')
    const [bucket, key] =
      host !== null ? [host[1], path] : at === -1 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)]
    return {
      method: request.method ?? '',
      bucket,
      key,
      query: new Map(parseQuery(rawQuery)),
      headers: request.headers,
      range: request.headers.range,
      isVirtualHosted: host !== null,
      connection: this.#connections.get(request.socket) ?? 0,
      accessKeyId: undefined,
      status: 0,
      code: undefined,
      bytes: 0,
    }
  }

  #authenticate(
    request: IncomingMessage,
    rawPath: string,
    rawQuery: string,
    body: Uint8Array,
  ): S3Credential | undefined {
    const { headers } = request
    if (headers.authorization === undefined) {
      if (this.anonymous) return undefined
      throw new S3Refusal(403, 'AccessDenied', 'Access Denied')
    }
    const { region, credentials, wrongRegion } = this
    const signed = { method: request.method ?? '', rawPath, rawQuery, headers }
    const now = Date.now() + this.clockSkewMs
    const credential = this.#signatures.check(signed, { region, credentials, wrongRegion, now })
    checkPayload(headers['x-amz-content-sha256'] as string, body)
    return credential
  }

  #authorize({ method, bucket, key }: S3RequestRecord, credential: S3Credential | undefined): void {
    const isReading = method === 'GET' || method === 'HEAD'
    const isAllowed =
      credential === undefined
        ? isReading
        : (credential.buckets ?? [bucket]).includes(bucket) && (key !== '' || credential.mayList !== false)
    if (!isAllowed) throw new S3Refusal(403, 'AccessDenied', 'Access Denied')
  }

  #takeFault(record: S3RequestRecord): S3Fault | undefined {
    const at = this.faults.findIndex(
      (fault) =>
        (fault.kind !== 'short-range' || record.range !== undefined) && (fault.when?.(record) ?? true),
    )
    if (at === -1) return undefined
    const fault = this.faults[at]
    const left = (fault.times ?? 1) - 1
    if (left > 0) fault.times = left
    else this.faults.splice(at, 1)
    return fault
  }

  #carryOut(
    record: S3RequestRecord,
    credential: S3Credential | undefined,
    body: Uint8Array,
    response: ServerResponse,
    fault: S3Fault | undefined,
  ): void {
    const { method, bucket: name, key, headers } = record
    if (name === '') throw new S3Refusal(501, 'NotImplemented', 'Listing buckets is not implemented')
    const bucket = this.#buckets.get(name)
    if (method === 'PUT' && key === '') {
      if (bucket === undefined) this.#buckets.set(name, { objects: new Map(), sorted: undefined })
      send(record, response, 200, { location: `/${name}` }, EMPTY, fault)
      return
    }
    if (bucket === undefined)
      throw new S3Refusal(404, 'NoSuchBucket', 'The specified bucket does not exist', {
        fields: { BucketName: name },
      })
    if (method === 'PUT') {
      const object: StoredObject = { bytes: body, ...checkedCrc(headers, body) }
      this.#store(name, key, object)
      send(record, response, 200, { etag: etagOf(object) }, EMPTY, fault)
      return
    }
    if (method !== 'GET' && method !== 'HEAD')
      throw new S3Refusal(405, 'MethodNotAllowed', 'The specified method is not allowed')
    if (key === '') {
      if (method === 'HEAD') {
        send(record, response, 200, { 'x-amz-bucket-region': this.region }, EMPTY, fault)
        return
      }
      if (record.query.get('list-type') !== '2')
        throw new S3Refusal(501, 'NotImplemented', 'Of a bucket, ListObjectsV2 alone is implemented')
      bucket.sorted ??= sortKeys(bucket.objects.keys())
      const xml = listingXml(
        { bucket: name, parameters: record.query, pageSize: this.pageSize },
        bucket.sorted,
        (listed) => {
          const object = bucket.objects.get(listed)!
          return { size: object.bytes.length, etag: etagOf(object) }
        },
      )
      send(record, response, 200, { 'content-type': 'application/xml' }, Buffer.from(xml), fault)
      return
    }
    const object = bucket.objects.get(key)
    if (object === undefined) {
      if (credential?.mayList === false) throw new S3Refusal(403, 'AccessDenied', 'Access Denied')
      throw new S3Refusal(404, 'NoSuchKey', 'The specified key does not exist.', { fields: { Key: key } })
    }
    sendObject(record, object, response, fault)
  }
}

const EMPTY = new Uint8Array(0)
const EMPTY_SHA256 = hash('sha256', '', 'hex')

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function checkPayload(stated: string, body: Uint8Array): void {
  if (stated === 'UNSIGNED-PAYLOAD') return
  if (stated.startsWith('STREAMING-'))
    throw new S3Refusal(501, 'NotImplemented', 'Uploads in signed pieces are not implemented')
  if (stated !== (body.length === 0 ? EMPTY_SHA256 : hash('sha256', body, 'hex')))
    throw new S3Refusal(
      400,
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    )
}

function checkedCrc(headers: S3RequestRecord['headers'], body: Uint8Array): { crc32?: string } {
  const stated = headers['x-amz-checksum-crc32']
  if (typeof stated !== 'string') return {}
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(body))
  if (stated !== bytes.toString('base64'))
    throw new S3Refusal(400, 'BadDigest', 'The CRC32 you specified did not match the calculated checksum.')
  return { crc32: stated }
}

function etagOf(object: StoredObject): string {
  return (object.etag ??= `"${hash('md5', object.bytes, 'hex')}"`)
}

function sendObject(
  record: S3RequestRecord,
  object: StoredObject,
  response: ServerResponse,
  fault: S3Fault | undefined,
): void {
  const { bytes } = object
  const etag = etagOf(object)
  const given = record.headers
  if (given['if-match'] !== undefined && given['if-match'] !== etag)
    throw new S3Refusal(
      412,
      'PreconditionFailed',
      'At least one of the pre-conditions you specified did not hold',
    )
  if (given['if-none-match'] === etag)
    throw new S3Refusal(304, 'NotModified', 'Not Modified', { headers: { etag } })
  const headers: Record<string, string> = {
    etag,
    'last-modified': LAST_MODIFIED,
    'accept-ranges': 'bytes',
    'content-type': 'binary/octet-stream',
  }
  const range = fault?.kind === 'ignored-range' ? undefined : rangeOf(record.range, bytes.length)
  if (range === undefined) {
    if (object.crc32 !== undefined && given['x-amz-checksum-mode'] === 'ENABLED') {
      headers['x-amz-checksum-crc32'] = object.crc32
      headers['x-amz-checksum-type'] = 'FULL_OBJECT'
    }
    send(record, response, 200, headers, bytes, fault)
    return
  }
  const { start } = range
  const end = fault?.kind === 'short-range' ? (start + range.end) >> 1 : range.end
  headers['content-range'] = `bytes ${start}-${end - 1}/${bytes.length}`
  send(record, response, 206, headers, bytes.subarray(start, end), fault)
}

/**
 * The bytes that a Range header means; `undefined` for all of them, which is also what S3 makes of a header that
 * is no range, or several.
 *
 * @throws S3Refusal 416 for a range that begins after the end.
 */
function rangeOf(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const [, first, last] = match
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < start) return undefined
  if (start >= size)
    throw new S3Refusal(416, 'InvalidRange', 'The requested range is not satisfiable', {
      fields: { RangeRequested: header!, ActualObjectSize: String(size) },
      headers: { 'content-range': `bytes */${size}` },
    })
  return { start, end }
}

/** Carries out a fault that comes instead of an answer; false if there is to be an answer. */
function refuses(
  fault: S3Fault,
  request: IncomingMessage,
  record: S3RequestRecord,
  response: ServerResponse,
): boolean {
  switch (fault.kind) {
    case 'stalled-headers':
      return true
    case 'reset':
      request.socket.resetAndDestroy()
      return true
    case 'wrong-region':
      throw wrongRegion(fault.way, '?', fault.region)
    case 'status': {
      if (fault.body === undefined) {
        const code = fault.code ?? CODES[fault.status] ?? 'Unknown'
        throw new S3Refusal(fault.status, code, `${code}, said on purpose`, { headers: fault.headers ?? {} })
      }
      record.status = fault.status
      response.writeHead(fault.status, { 'content-type': 'text/html', ...fault.headers }).end(fault.body)
      return true
    }
    default:
      return false
  }
}

const CODES: Readonly<Partial<Record<number, string>>> = {
  400: 'InvalidRequest',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'SlowDown',
}

function send(
  record: S3RequestRecord,
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  whole: Uint8Array,
  fault: S3Fault | undefined,
): void {
  record.status = status
  headers['content-length'] = String(whole.length)
  response.writeHead(status, headers)
  if (record.method === 'HEAD') {
    response.end()
    return
  }
  const half = whole.subarray(0, whole.length >> 1)
  record.bytes = whole.length
  switch (fault?.kind) {
    case 'reset-mid-body':
    case 'short-body':
    case 'stalled-body':
      record.bytes = half.length
      response.flushHeaders()
      response.write(half, () => {
        if (fault.kind === 'short-body') response.socket?.end()
        // A reset may overtake what was sent before it, so it waits for the client to have it.
        else if (fault.kind === 'reset-mid-body') setTimeout(() => response.socket?.resetAndDestroy(), 5)
      })
      return
    case 'slow-body':
      sendSlowly(response, whole, fault)
      return
    case 'wrong-byte':
      response.end(whole.map((byte, i) => (i === whole.length >> 1 ? byte ^ 1 : byte)))
      return
    default:
      response.end(whole)
  }
}

function sendSlowly(
  response: ServerResponse,
  whole: Uint8Array,
  { pieces, pauseMs }: { pieces: number; pauseMs: number },
): void {
  const size = Math.max(1, Math.ceil(whole.length / pieces))
  let timer: NodeJS.Timeout | undefined
  response.once('close', () => {
    clearTimeout(timer)
  })
  const step = (at: number): void => {
    if (at >= whole.length) {
      response.end()
      return
    }
    response.write(whole.subarray(at, at + size))
    timer = setTimeout(() => {
      step(at + size)
    }, pauseMs)
  }
  step(0)
}
