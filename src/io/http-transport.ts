/**
 * One GET over HTTP or HTTPS, and how much of its body to keep: what all stores on a network are built on. Knows
 * nothing of locations, retries or what a status means.
 *
 * Built on `node:http` and its keep-alive agent, because most of the time of reading thousands of small files goes into
 * the client itself. Measured CPU of a GET of 5 KB: `node:http` 0.24 ms, the global `fetch` 0.6 ms, the client of the
 * AWS SDK 1.8 ms. The modules are loaded by the first request, so that a plan of local files does not pay for them.
 */
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { onAbort } from './abort-listeners.ts'
import { certificateHint } from './certificate-hint.ts'
import { countOf, timeoutOf } from './number-option.ts'

/** Where requests go: what is left of a URL without path and query. */
export interface HttpOrigin {
  readonly isSecure: boolean
  readonly hostname: string
  readonly port: number
  /** The header `host`: with the port only if it is not the scheme's own. */
  readonly host: string
}

export interface HttpRequest {
  readonly origin: HttpOrigin
  /** With the query, encoded, sent as it stands. */
  readonly path: string
  /** Without `host`. */
  readonly headers: Readonly<Record<string, string>>
}

export interface HttpHead {
  readonly status: number
  /** As the server words it; may be empty. */
  readonly statusText: string
  readonly headers: IncomingHttpHeaders
}

/** Which part of a body to keep. */
export interface BodyPart {
  /** Bytes before it, which are dropped. */
  readonly skip: number
  /** Its length; nothing after it is waited for. Undefined: all there is. */
  readonly length: number | undefined
  /** Called with the number of bytes kept so far, as they come; what it throws ends the request. */
  readonly check: (kept: number) => void
  /** Of an answer that is worth having for its head alone: if its body stalls or breaks off, what came will do. */
  readonly isOptional?: boolean
}

export interface HttpAnswer extends HttpHead {
  /** The part of the body; shorter than asked for if the body ends inside of it. */
  readonly bytes: Uint8Array
  /** Bytes of the body that came, those before the part included. */
  readonly seen: number
}

export interface HttpTransportOptions {
  /** For a new connection, TLS included. 0 and Infinity: no limit. */
  readonly connectTimeoutMs: number
  /** For the headers of an answer, and again for each few KiB of its body: one that stalls must not hang. 0 as above. */
  readonly requestTimeoutMs: number
  /** Connections per origin. A request that finds none free waits, which is not a part of its time. */
  readonly maxSockets: number
}

export const DEFAULT_TRANSPORT: HttpTransportOptions = {
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 20_000,
  maxSockets: 256,
}

/** Servers and what is between them and us forget idle connections, some without a word: the next request would hang. */
const MAX_IDLE_MS = 30_000
/** Connections of the pool that prove to be dead, in one request. */
const MAX_DEAD = 3

/** No connection, a broken one, or a server that does not go on. */
export class TransportError extends Error {
  /** Of the system or of Node, such as ECONNRESET; undefined for a time that ran out. */
  readonly code: string | undefined
  /** Whether another try may do better: not for names that do not resolve, and bad certificates. */
  readonly isTransient: boolean

  constructor(message: string, code: string | undefined, isTransient: boolean, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.isTransient = isTransient
  }
}

const TRANSIENT = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** A body begins with no more memory than this, whatever its length claims to be: it may lie. */
const FIRST_CAPACITY = 1024 * 1024
/** The same where no length is known. */
const UNKNOWN_CAPACITY = 64 * 1024
/** As few bytes in the time for a request are progress; fewer are none, since a body may come byte by byte for ever. */
const PROGRESS_BYTES = 4096
/** For the body of an answer that is not worth more. */
const OPTIONAL_BODY_MS = 5_000

interface Client {
  send(request: HttpRequest): ClientRequest
  /** Closes the idle connections to there: if one of them is dead, the others most likely are. */
  dropIdle(origin: HttpOrigin): void
}

export class HttpTransport {
  readonly #options: HttpTransportOptions
  #client: Client | undefined
  #loading: Promise<Client> | undefined
  #agents: readonly Agent[] = []
  /** Aborted by {@link close}, and then another. */
  #closing = new AbortController()

  /** @throws InvalidArgumentError for times that are none, and for less than one connection. */
  constructor({
    connectTimeoutMs = DEFAULT_TRANSPORT.connectTimeoutMs,
    requestTimeoutMs = DEFAULT_TRANSPORT.requestTimeoutMs,
    maxSockets = DEFAULT_TRANSPORT.maxSockets,
  }: { [K in keyof HttpTransportOptions]?: HttpTransportOptions[K] | undefined } = {}) {
    this.#options = {
      connectTimeoutMs: timeoutOf('connectTimeoutMs', connectTimeoutMs),
      requestTimeoutMs: timeoutOf('requestTimeoutMs', requestTimeoutMs),
      maxSockets: countOf('maxSockets', maxSockets),
    }
  }

  /**
   * A connection of the pool that was closed at the other end in the meantime is not an error: another one is taken.
   *
   * @param partOf which part of the body to keep, by the head of the answer; what it throws ends the request.
   *
   * Rejects with TransportError, the signal's reason if aborted (at once), or what the callbacks throw.
   */
  async get(
    request: HttpRequest,
    partOf: (head: HttpHead) => BodyPart,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const client = this.#client ?? (await (this.#loading ??= this.#load()))
    signal?.throwIfAborted()
    return await new Promise((resolve, reject) => {
      new Exchange(client, request, partOf, [signal, this.#closing.signal], this.#options, resolve, reject)
    })
  }

  /** Closes the connections; requests under way end with a TransportError. Another request opens new ones. */
  close(): void {
    this.#closing.abort(new TransportError('its connections were closed', undefined, false))
    this.#closing = new AbortController()
    for (const agent of this.#agents) agent.destroy()
  }

  async #load(): Promise<Client> {
    const [http, https] = await Promise.all([import('node:http'), import('node:https')])
    const { maxSockets } = this.#options
    const settings = {
      keepAlive: true,
      maxSockets,
      maxFreeSockets: maxSockets,
      scheduling: 'lifo',
      // Of Node's agent: counts while a connection is idle, and says nothing to requests.
      timeout: MAX_IDLE_MS,
    } as const
    const agent = new http.Agent(settings)
    const secure = new https.Agent(settings)
    this.#agents = [agent, secure]
    return (this.#client = {
      send: ({ origin, path, headers }) =>
        (origin.isSecure ? https : http).request({
          agent: origin.isSecure ? secure : agent,
          host: origin.hostname,
          port: origin.port,
          method: 'GET',
          path,
          headers: { host: origin.host, ...headers },
        }),
      dropIdle: (origin) => {
        const { freeSockets } = origin.isSecure ? secure : agent
        // The names of Node's pools begin with host and port.
        const name = `${origin.hostname}:${origin.port}:`
        for (const [pool, sockets = []] of Object.entries(freeSockets))
          if (pool.startsWith(name)) for (const socket of sockets) socket.destroy()
      },
    })
  }
}

export function originOf(url: URL): HttpOrigin {
  const isSecure = url.protocol === 'https:'
  return {
    isSecure,
    // The brackets of an IPv6 address belong to the URL.
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    host: url.host,
  }
}

/** A request and its answer. Settles once; after that only sees to it that the connection is free or closed. */
class Exchange {
  readonly #client: Client
  readonly #asked: HttpRequest
  readonly #partOf: (head: HttpHead) => BodyPart
  readonly #options: HttpTransportOptions
  readonly #resolve: (answer: HttpAnswer) => void
  readonly #reject: (error: unknown) => void
  readonly #leaves: readonly (() => void)[]
  #request: ClientRequest | undefined
  #isSettled = false
  /** Since the socket is there; what it is about is in {@link #waitsFor}. */
  #timer: NodeJS.Timeout | undefined
  #waitsFor = ''
  /** Connections of the pool that were. */
  #dead = 0
  #head: HttpHead | undefined
  #part: BodyPart | undefined
  #bytes = new Uint8Array(0)
  #kept = 0
  #seen = 0
  #progress = 0

  constructor(
    client: Client,
    asked: HttpRequest,
    partOf: (head: HttpHead) => BodyPart,
    signals: readonly (AbortSignal | undefined)[],
    options: HttpTransportOptions,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#client = client
    this.#asked = asked
    this.#partOf = partOf
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    this.#leaves = signals
      .filter((signal) => signal !== undefined)
      .map((signal) =>
        onAbort(signal, () => {
          this.#fail(signal.reason)
        }),
      )
    this.#guard(() => {
      this.#start()
    })
  }

  /** @throws TransportError for what cannot stand in a header, such as a token with a line break in it. */
  #start(): void {
    let request: ClientRequest
    try {
      request = this.#request = this.#client.send(this.#asked)
    } catch (error) {
      throw new TransportError((error as Error).message, (error as NodeJS.ErrnoException).code, false, error)
    }
    request
      .on('socket', (socket) => {
        this.#onSocket(socket)
      })
      .on('response', (response) => {
        this.#onResponse(response)
      })
      .on('upgrade', (_, socket) => {
        // Unheard, Node would close the connection, which looks like one that broke.
        socket.destroy()
        this.#fail(new TransportError('the server answered 101, to speak another protocol', undefined, false))
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        if (this.#isDead(request, error)) this.#startAgain()
        else this.#fail(transportError(error))
      })
      .end()
  }

  /** Whether a connection of the pool, and not the server, is the reason for an error. */
  #isDead({ reusedSocket }: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
    return (
      reusedSocket &&
      this.#head === undefined &&
      !this.#isSettled &&
      (code === 'ECONNRESET' || code === 'EPIPE') &&
      this.#dead++ < MAX_DEAD
    )
  }

  #startAgain(): void {
    clearTimeout(this.#timer)
    this.#client.dropIdle(this.#asked.origin)
    this.#guard(() => {
      this.#start()
    })
  }

  #onSocket(socket: Socket): void {
    if (this.#isSettled) return
    const { connectTimeoutMs, requestTimeoutMs } = this.#options
    if (!socket.connecting) {
      this.#wait('an answer', requestTimeoutMs)
      return
    }
    this.#wait('a connection', connectTimeoutMs)
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      if (!this.#isSettled) this.#wait('an answer', requestTimeoutMs)
    })
  }

  #wait(waitsFor: string, ms: number): void {
    clearTimeout(this.#timer)
    this.#waitsFor = waitsFor
    this.#timer = setTimeout(() => {
      this.#breakOff(new TransportError(`waited ${ms} ms for ${this.#waitsFor}`, undefined, true))
    }, ms)
    // While somebody waits for the answer, it is the connection that keeps the process alive.
    this.#timer.unref()
  }

  /** The end of an answer that did not come to its end. */
  #breakOff(error: TransportError): void {
    clearTimeout(this.#timer)
    if (this.#part?.isOptional === true) this.#finish()
    this.#fail(error)
    // The answer may be complete for us while the body, longer than we want, never ends.
    this.#request?.destroy()
  }

  #onResponse(response: IncomingMessage): void {
    const head = (this.#head = {
      status: response.statusCode!,
      statusText: response.statusMessage!,
      headers: response.headers,
    })
    this.#guard(() => {
      this.#part = this.#partOf(head)
      const declared = Number(head.headers['content-length'] ?? UNKNOWN_CAPACITY)
      const expected = Math.min(this.#part.length ?? Infinity, declared)
      this.#bytes = new Uint8Array(Math.min(expected, FIRST_CAPACITY))
    })
    if (this.#isSettled) return
    if (this.#part!.isOptional === true)
      this.#wait('the rest of the body', Math.min(this.#options.requestTimeoutMs, OPTIONAL_BODY_MS))
    else {
      this.#waitsFor = 'the rest of the body'
      this.#timer?.refresh()
    }
    response
      .on('data', (chunk: Buffer) => {
        this.#onData(chunk)
      })
      .on('end', () => {
        clearTimeout(this.#timer)
        this.#finish()
      })
      .on('error', (error) => {
        this.#breakOff(transportError(error))
      })
  }

  #onData(chunk: Buffer): void {
    // More than anybody wants: closing the connection is cheaper than to take it all.
    if (this.#isSettled) {
      this.#request?.destroy()
      return
    }
    const { skip, length = Infinity, check } = this.#part!
    const from = Math.max(0, skip - this.#seen)
    const to = Math.min(chunk.length, skip + length - this.#seen)
    this.#seen += chunk.length
    if ((this.#progress += chunk.length) >= PROGRESS_BYTES) {
      this.#progress = 0
      this.#timer?.refresh()
    }
    if (to > from)
      this.#guard(() => {
        check(this.#kept + to - from)
        this.#reserve(this.#kept + to - from)
        this.#bytes.set(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to), this.#kept)
        this.#kept += to - from
      })
    if (this.#kept === length) {
      this.#finish()
      const declared = this.#head!.headers['content-length']
      if (to < chunk.length || (declared !== undefined && Number(declared) > this.#seen))
        this.#request?.destroy()
      // Its end is most likely here already, and if not, nobody waits for it.
      else if (declared === undefined) this.#request?.socket?.unref()
    }
  }

  /** Room for so many bytes: doubles, up to what is expected. */
  #reserve(needed: number): void {
    if (needed <= this.#bytes.length) return
    const declared = Number(this.#head!.headers['content-length'])
    const most = this.#part!.length ?? (declared >= needed ? declared : Infinity)
    const grown = new Uint8Array(Math.max(needed, Math.min(most, 2 * this.#bytes.length)))
    grown.set(this.#bytes.subarray(0, this.#kept))
    this.#bytes = grown
  }

  #finish(): void {
    if (!this.#settle()) return
    // The caller may transfer the buffer, so it must be all of it.
    const bytes = this.#kept === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#kept)
    const { status, statusText, headers } = this.#head!
    this.#resolve({ status, statusText, headers, bytes, seen: this.#seen })
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return
    clearTimeout(this.#timer)
    this.#request?.destroy()
    this.#reject(error)
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    for (const leave of this.#leaves) leave()
    return true
  }

  #guard(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#fail(error)
    }
  }
}

function transportError(error: NodeJS.ErrnoException): TransportError {
  const { code, message } = error
  // Several addresses of one name were tried; the first says why.
  const inner =
    message === '' && error instanceof AggregateError ? (error.errors as Error[])[0]?.message : undefined
  const text = inner ?? message
  const isSaid = code === undefined || text.includes(code)
  return new TransportError(
    (isSaid ? text : `${text}, ${code}`) + certificateHint(code),
    code,
    code !== undefined && TRANSIENT.has(code),
    error,
  )
}
