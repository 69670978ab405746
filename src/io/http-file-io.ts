/**
 * Files over plain HTTP and HTTPS: no credentials, no listing. One instance is one
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
 * `.` and `..` path segments are resolved, as everywhere on the web; there is no way to send those.
 *
 * What an answer means: 404 and 410 are NotFoundError; 401, 403 and other 4xx are StorageError for good; what
 * {@link isBusyStatus} says, broken connections and truncated bodies are tried again a few times and then a retryable
 * StorageError. Redirects are followed, a few of them, to other origins too: there are no secrets to take there.
 */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { InvalidArgumentError, NotFoundError, StorageError } from '../errors.ts'
import { endsTooEarly, MAX_READ_BYTES } from './byte-range.ts'
import type { ByteRange, FileIO, InputFile } from './file-io.ts'
import {
  checkRead,
  contentRangeOf,
  rangeHeader,
  readOnce,
  retryHint,
  type FileRequest,
  type Refusal,
} from './http-read.ts'
import { HttpTransport, originOf } from './http-transport.ts'
import { oneLine } from './one-line.ts'
import { Failure, retryPolicyOf, withRetries, type RetryPolicy } from './retry.ts'
import { withoutSecrets, withoutUser } from '../without-secrets.ts'

/**
 * First try included. Enough to get over a restart behind a balancer, few enough not to add to an overload.
 */
const ATTEMPTS = 4
const FIRST_PAUSE_MS = 200
/** As many as a shop front, a login and a signed link take; a circle ends here. */
const MAX_REDIRECTS = 5

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
  readonly #retries: RetryPolicy
  readonly #transport: HttpTransport

  /**
   * @param origin - Any location at the origin will do; what follows the host is not used.
   * @param transport - Whose connections it uses; by default its own.
   * @throws InvalidArgumentError if it is not an HTTP(S) URL, or for options that are no numbers to count by.
   */
  constructor(origin: string, options: HttpFileIOOptions = {}, transport = new HttpTransport()) {
    this.identity = toUrl(origin).origin
    this.#transport = transport
    this.#retries = retryPolicyOf({
      attempts: options.attempts ?? ATTEMPTS,
      firstPauseMs: options.firstPauseMs ?? FIRST_PAUSE_MS,
    })
  }

  /**
   * @throws InvalidArgumentError if the location is no URL, has a password in it, or is at another origin.
   */
  open(location: string): InputFile {
    const url = toUrl(location)
    // What is said of it, in messages and in errors.
    const shown = withoutSecrets(location)
    if (url.origin !== this.identity)
      throw new InvalidArgumentError(`Cannot open ${shown}: it is not at ${this.identity}`, {
        location: shown,
      })
    return {
      location,
      isRemote: true,
      read: async (range, { signal } = {}) => {
        signal?.throwIfAborted()
        checkRead(shown, range)
        if (range?.start === range?.end && range !== undefined) return new Uint8Array(0)
        return await withRetries(this.#retries, signal, () => this.#tryOnce(shown, url, range, signal))
      },
    }
  }

  /** One request, and those that it is redirected to. Throws what no further request would change. */
  async #tryOnce(
    location: string,
    url: URL,
    range: ByteRange | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | Failure> {
    // A compressed transfer would make lengths and ranges mean something else.
    const headers = { 'accept-encoding': 'identity', ...rangeHeader(range) }
    for (let redirects = 0; ; redirects++) {
      const request: FileRequest = {
        what: 'read',
        origin: originOf(url),
        path: url.pathname + url.search,
        headers,
        location,
        range,
        decode,
      }
      const outcome = await readOnce(this.#transport, request, signal)
      if (outcome instanceof Uint8Array || outcome instanceof Failure) return outcome
      const target = redirectOf(location, url, outcome)
      if (target === undefined) return refused(location, outcome, range)
      if (redirects === MAX_REDIRECTS)
        throw new StorageError(`Cannot read ${location}: redirected more than ${MAX_REDIRECTS} times`, {
          location,
        })
      url = target
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
  if (text === undefined || !URL.canParse(text)) {
    const shown = withoutUser(location)
    throw new InvalidArgumentError(`Cannot open ${shown}: not an HTTP URL`, { location: shown })
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    const shown = withoutSecrets(location)
    throw new InvalidArgumentError(`Cannot open ${shown}: a user and password in a URL are not supported`, {
      location: shown,
    })
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

/** Where an answer sends on to; undefined if it does not. */
function redirectOf(location: string, url: URL, { status, headers }: Refusal): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return undefined
  if (URL.canParse(headers.location, url.href)) {
    const target = new URL(headers.location, url)
    if (target.protocol === 'http:' || target.protocol === 'https:') return target
  }
  throw new StorageError(`Cannot read ${location}: redirected to what is no HTTP URL`, { location })
}

function refused(location: string, answer: Refusal, range: ByteRange | undefined): Failure {
  const { status, statusText } = answer
  const message = `Cannot read ${location}: the server answered ${oneLine(`${status} ${statusText}`)}`
  if (status === 404 || status === 410) throw new NotFoundError(message, { location })
  if (status === 416 && range !== undefined) throw endsTooEarly(location, range, contentRangeOf(answer).size)
  const { isRetryable, ...hint } = retryHint(answer)
  const error = new StorageError(message, { location, retryable: isRetryable, denied: status === 403 })
  if (!isRetryable) throw error
  return new Failure(error, hint)
}

type Decoder = (body: Uint8Array, limit: { maxOutputLength: number }) => Promise<Buffer>

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** A file on its way is at most so many times as long as its body; JSON that says the same a lot comes to twenty. */
const MAX_EXPANSION = 50
/** Small bodies may be more: this much memory is nothing to worry about. */
const FREE_BYTES = 64 * 1024 * 1024

/** Nobody asked for an encoding; some servers put one on all the same. */
async function decode(location: string, encoding: string, body: Uint8Array): Promise<Uint8Array> {
  const decoder = DECODERS.get(encoding)
  const maxOutputLength = Math.min(MAX_READ_BYTES, Math.max(FREE_BYTES, MAX_EXPANSION * body.length))
  try {
    if (decoder === undefined) throw new Error('not supported')
    return new Uint8Array(await decoder(body, { maxOutputLength }))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why =
      code === 'ERR_BUFFER_TOO_LARGE'
        ? `its ${body.length} bytes stand for more than the limit of ${maxOutputLength}`
        : message
    throw new StorageError(`Cannot read ${location}: its content encoding, ${oneLine(encoding)}: ${why}`, {
      location,
      cause: error,
    })
  }
}
