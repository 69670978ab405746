/**
 * Files over plain HTTP and HTTPS, by the global `fetch`: no credentials, no listing. One instance is one
 * origin.
 *
 * What a location says and what is sent. A location is URL text here, so what already is valid URL text is
 * sent as it was written: `%2F` stays `%2F`, neither decoded nor encoded again (B178), and `?` begins a
 * query. Only what cannot stand in a URL is encoded:
 *
 * | in the location                                       | sent                                         |
 * | ----------------------------------------------------- | -------------------------------------------- |
 * | space, control characters, `" < > \ ^ { } |` backtick | percent-encoded                              |
 * | anything outside ASCII                                | its UTF-8 bytes, percent-encoded             |
 * | `#`                                                   | `%23`: a part of the key, no fragment (B179) |
 * | `%` without two hexadecimal digits after it           | `%25`                                        |
 *
 * `fetch` itself resolves `.` and `..` path segments; there is no way to send those.
 *
 * What an answer means: 404 and 410 are NotFoundError; 401, 403 and other 4xx are StorageError for good; 408,
 * 429, 5xx, broken connections and truncated bodies are tried again a few times and then a retryable
 * StorageError.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidArgumentError, isIcebergError, NotFoundError, StorageError } from '../errors.ts'
import { checkRange, checkReadSize, endsTooEarly } from './byte-range.ts'
import type { ByteRange, FileIO, InputFile } from './file-io.ts'

/**
 * First try included. Enough to get over a restart behind a balancer, few enough not to add to an overload.
 */
const ATTEMPTS = 4
/**
 * Longest pause before the second try; it doubles from try to try, and the real one is a random part of it.
 */
const FIRST_PAUSE_MS = 200
/** A server may ask for a longer pause (Retry-After, seconds), but not for one longer than this. */
const MAX_PAUSE_MS = 10_000

export interface HttpFileIOOptions {
  /** Requests per read, the first included. */
  attempts?: number
  /** Longest pause before the second request, in milliseconds; doubles with every further one. */
  firstPauseMs?: number
}

/** Reads the files of one origin, such as `https://example.org:8443`. */
export class HttpFileIO implements FileIO {
  /** The origin: bytes depend on nothing else, since no credentials are sent. */
  readonly identity: string
  readonly #options: Required<HttpFileIOOptions>

  /**
   * @param origin - Any location at the origin will do; what follows the host is not used.
   * @throws InvalidArgumentError if it is not an HTTP(S) URL.
   */
  constructor(origin: string, options: HttpFileIOOptions = {}) {
    this.identity = toUrl(origin).origin
    this.#options = {
      attempts: options.attempts ?? ATTEMPTS,
      firstPauseMs: options.firstPauseMs ?? FIRST_PAUSE_MS,
    }
  }

  /**
   * @throws InvalidArgumentError if the location is no URL, has a password in it, or is at another origin.
   */
  open(location: string): InputFile {
    const url = toUrl(location)
    if (url.origin !== this.identity)
      throw new InvalidArgumentError(`Cannot open ${location}: it is not at ${this.identity}`, { location })
    const { attempts, firstPauseMs } = this.#options
    return {
      location,
      async read(range, { signal } = {}) {
        signal?.throwIfAborted()
        if (range !== undefined) {
          checkRange(location, range)
          checkReadSize(location, range.end - range.start)
          // HTTP has no way to ask for no bytes.
          if (range.start === range.end) return new Uint8Array(0)
        }
        for (let attempt = 1; ; attempt++) {
          const answer = await tryOnce(location, url, range, signal)
          if (answer instanceof Uint8Array) return answer
          if (attempt >= attempts) throw answer.error
          const backoffMs = firstPauseMs * 2 ** (attempt - 1) * Math.random()
          await pause(Math.min(Math.max(backoffMs, answer.waitMs), MAX_PAUSE_MS), signal)
        }
      },
    }
  }
}

/**
 * The URL to send for a location, by the table above.
 *
 * @throws InvalidArgumentError if it is not an HTTP(S) URL with a host, or has a user or password.
 */
export function toUrl(location: string): URL {
  const parts = /^(https?:\/\/[^/?#]+)(.*)$/is.exec(location)
  const text = parts === null ? undefined : parts[1] + encodeIllegal(parts[2])
  if (text === undefined || !URL.canParse(text))
    throw new InvalidArgumentError(`Cannot open ${location}: not an HTTP URL`, { location })
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    url.username = url.password = ''
    // The message must not repeat the password.
    throw new InvalidArgumentError(
      `Cannot open ${url.href} with a user and password in its URL: not supported`,
    )
  }
  return url
}

function encodeIllegal(text: string): string {
  return (
    text
      // Half a surrogate pair has no UTF-8 form.
      .replace(/\p{Surrogate}/gu, '\uFFFD')
      .replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
      .replace(/[^!$-;=?-[\]_a-z~]+/g, encodeURIComponent)
  )
}

/** A failure worth another try, and how long the server asked to wait before it. */
interface Retryable {
  error: StorageError
  waitMs: number
}

/** One request. Throws what no further request would change. */
async function tryOnce(
  location: string,
  url: URL,
  range: ByteRange | undefined,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | Retryable> {
  // A compressed transfer would make lengths and ranges mean something else.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (range !== undefined) headers['range'] = `bytes=${range.start}-${range.end - 1}`
  let waitMs = 0
  let response: Response | undefined
  try {
    response = await fetch(url, { headers, ...(signal === undefined ? {} : { signal }) })
    if (response.status === 200 || (response.status === 206 && range !== undefined))
      return await readBody(location, response, range)
    waitMs = retryAfterMs(response)
    throw statusError(location, response, range)
  } catch (error) {
    // A body that is not read to its end holds the connection. One that has failed already says so again
    // here.
    await response?.body?.cancel().catch(() => undefined)
    // What a broken-off body rejects with differs between versions of fetch; the promise is the signal's
    // reason.
    if (signal?.aborted === true) throw signal.reason
    const failure = isIcebergError(error) ? error : connectionError(location, error)
    if (failure instanceof StorageError && failure.retryable) return { error: failure, waitMs }
    throw failure
  }
}

function statusError(location: string, response: Response, range: ByteRange | undefined): Error {
  const { status } = response
  const message = `Cannot read ${location}: the server answered ${`${status} ${response.statusText}`.trim()}`
  if (status === 404 || status === 410) return new NotFoundError(message, { location })
  if (status === 416 && range !== undefined)
    return endsTooEarly(location, range, contentRangeOf(response).size)
  return new StorageError(message, { location, retryable: status === 408 || status === 429 || status >= 500 })
}

/**
 * Connections that broke or were refused; names that do not resolve and bad certificates stay as they are.
 */
const RETRYABLE = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
])

/** `fetch` says only "fetch failed" or "terminated"; what happened is in the cause. */
function connectionError(location: string, error: unknown): StorageError {
  const { message, cause } = error as Error
  const { code, message: detail } = (cause ?? {}) as NodeJS.ErrnoException
  const reasons = [message, detail, code].filter((text) => text !== undefined && text !== '')
  return new StorageError(`Cannot read ${location}: ${reasons.join(', ')}`, {
    location,
    cause: error,
    retryable: code !== undefined && RETRYABLE.has(code),
  })
}

/**
 * The bytes asked for, out of an answer of status 200 (the whole file, whatever was asked) or 206 (the
 * range). Holds no more than these: what a server sends before the range is dropped, what it sends after is
 * not fetched.
 */
async function readBody(
  location: string,
  response: Response,
  range: ByteRange | undefined,
): Promise<Uint8Array> {
  const isPart = response.status === 206
  const isEncoded = !['', 'identity'].includes(response.headers.get('content-encoding') ?? '')
  if (isPart) checkPart(location, response, range!, isEncoded)
  // fetch has taken an encoding off, so the length is not that of the body we see.
  const declared = isEncoded ? undefined : wholeNumber(response.headers.get('content-length'))
  const first = isPart || range === undefined ? 0 : range.start
  const wanted = range === undefined ? undefined : range.end - range.start
  if (wanted === undefined) checkReadSize(location, declared ?? 0)

  const parts: Uint8Array[] = []
  let seen = 0
  let kept = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    // A chunk before the range gives an empty part; both ends stay within 0 and its length.
    const part = chunk.subarray(
      Math.max(0, first - seen),
      wanted === undefined ? chunk.length : first + wanted - seen,
    )
    seen += chunk.length
    kept += part.length
    checkReadSize(location, kept)
    if (part.length > 0) parts.push(part)
    // Leaving the loop cancels the rest of the body.
    if (kept === wanted) break
  }
  if (kept === wanted) return concat(parts, kept)
  const expected = isPart ? wanted : declared
  if (expected !== undefined && seen !== expected)
    throw new StorageError(`Cannot read ${location}: ${expected} bytes were announced and ${seen} came`, {
      location,
      retryable: true,
    })
  if (wanted !== undefined) throw endsTooEarly(location, range!, seen)
  return concat(parts, kept)
}

/** Makes sure that a 206 is the range that was asked for: servers are known to answer with another one. */
function checkPart(location: string, response: Response, range: ByteRange, isEncoded: boolean): void {
  const part = contentRangeOf(response)
  if (part.start === range.start && part.end === range.end && !isEncoded) return
  if (part.start === range.start && part.end !== undefined && part.end < range.end)
    throw endsTooEarly(location, range, part.size ?? part.end)
  const what = response.headers.get('content-range') ?? 'no content-range'
  throw new StorageError(
    `Cannot read bytes ${range.start} to ${range.end} of ${location}: the server answered with another part, ${what}`,
    { location },
  )
}

/** The header `content-range`, `bytes 0-9/100`; the range (status 416) or the size may be an asterisk. */
function contentRangeOf(response: Response): Partial<ByteRange> & { size?: number } {
  const header = response.headers.get('content-range') ?? ''
  const [, first, last, size] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(header.trim()) ?? []
  const [start, end, total] = [first, last, size].map(wholeNumber)
  return {
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end: end + 1 }),
    ...(total === undefined ? {} : { size: total }),
  }
}

function wholeNumber(text: string | null | undefined): number | undefined {
  return text != null && /^\d+$/.test(text) ? Number(text) : undefined
}

function retryAfterMs(response: Response): number {
  return (wholeNumber(response.headers.get('retry-after')) ?? 0) * 1000
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal })
  } catch {
    // Timers reject with an error of their own that only mentions the reason.
    throw signal?.reason
  }
}
