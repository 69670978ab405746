/**
 * One call over HTTP: a request, tried again while that may help, and the whole answer within bounds. Knows nothing of
 * catalogs; what an answer means is for the caller to say.
 *
 * Built on the global `fetch`: a table is one call, so its cost does not matter as it does to `io/http-transport.ts`, and
 * it follows redirects, decompresses and posts forms, which reading files does not need. The rules about statuses and
 * pauses are those of `io`.
 *
 * Secrets: a call sends its headers to the URL's own origin and to no other. A redirect within the origin is followed
 * (GET only); one to elsewhere is refused, with a sentence that names both, because it would take the token there.
 */
import { StorageError } from '../errors.ts'
import { onAbort } from '../io/abort-listeners.ts'
import { certificateHint } from '../io/certificate-hint.ts'
import { retryHintOf } from '../io/http-status.ts'
import { Failure, withRetries, type RetryPolicy } from '../io/retry.ts'

export interface CallPolicy extends RetryPolicy {
  /** For each request, its body included. */
  readonly requestTimeoutMs: number
}

export const DEFAULT_CALL_POLICY: CallPolicy = { attempts: 4, firstPauseMs: 200, requestTimeoutMs: 60_000 }

const MAX_REDIRECTS = 5
/** Of the body of an answer that says what went wrong, more of which nobody reads. */
const MAX_ERROR_BYTES = 64 * 1024

export interface HttpCall {
  /** The start of every message: `Cannot load table db.orders from the catalog http://host`. */
  readonly purpose: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Makes it a POST of a form. */
  readonly form?: Readonly<Record<string, string>>
  /** Most bytes of the body of a good answer, after decompression. */
  readonly maxBytes: number
  /** The error for an answer of a busy server, if there is no further try. */
  readonly busyError: (answer: HttpAnswer) => StorageError
  readonly signal?: AbortSignal | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** Cut if the status says that something went wrong. */
  readonly body: Uint8Array
}

/**
 * Whatever the server answered, unless it was busy: that (`retryHintOf`), broken connections and time-outs are tried
 * again.
 *
 * Rejects with StorageError, retryable if another call may succeed, when there is no answer or none within bounds; the
 * signal's reason if aborted, at once.
 */
export async function callHttp(call: HttpCall, policy: CallPolicy): Promise<HttpAnswer> {
  return await withRetries(policy, call.signal, async () => {
    call.signal?.throwIfAborted()
    return await tryOnce(call, policy)
  })
}

/** One request with its redirects. Rejects with what no further request would change, and the signal's reason. */
async function tryOnce(call: HttpCall, policy: CallPolicy): Promise<HttpAnswer | Failure> {
  const { signal, purpose } = call
  const controller = new AbortController()
  const abort = (): void => {
    controller.abort()
  }
  const late = setTimeout(abort, policy.requestTimeoutMs)
  const done = signal === undefined ? undefined : onAbort(signal, abort)
  try {
    const answer = await request(call, controller.signal)
    const { isRetryable, ...hint } = retryHintOf(answer.status, answer.headers.get('retry-after'))
    return isRetryable ? new Failure(call.busyError(answer), hint) : answer
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    if (error instanceof StorageError) throw error
    if (controller.signal.aborted)
      return new Failure(
        new StorageError(`${purpose}: no complete answer within ${policy.requestTimeoutMs} ms`, {
          retryable: true,
        }),
      )
    const failure = connectionError(purpose, error)
    if (!failure.retryable) throw failure
    return new Failure(failure)
  } finally {
    clearTimeout(late)
    done?.()
    // Frees the connection of a body that was not read to its end.
    abort()
  }
}

async function request(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const { purpose, headers, form } = call
  const init: RequestInit = { headers, redirect: 'manual', signal }
  if (form !== undefined) {
    init.method = 'POST'
    init.body = new URLSearchParams(form)
  }
  let url = call.url
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(url, init)
    const target = redirectOf(response, url)
    if (target === undefined) return await readAnswer(call, response)
    await response.body?.cancel()
    if (target.origin !== url.origin)
      throw new StorageError(
        `${purpose}: ${url.origin} redirects to ${target.origin}, which is another server and must not see the token; give its address as the uri if it is to be trusted`,
      )
    if (form !== undefined)
      throw new StorageError(`${purpose}: the server redirects a request that has a body`)
    if (redirects === MAX_REDIRECTS)
      throw new StorageError(`${purpose}: the server redirects more than ${MAX_REDIRECTS} times`)
    url = target
  }
}

/** Where an answer sends the client; undefined if it does not. */
function redirectOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get('location')
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return undefined
  return URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
}

async function readAnswer(call: HttpCall, response: Response): Promise<HttpAnswer> {
  const { status, statusText, headers, ok } = response
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    if (ok && length > call.maxBytes)
      throw new StorageError(`${call.purpose}: the answer is longer than ${call.maxBytes} bytes`)
    if (!ok && length >= MAX_ERROR_BYTES) break
  }
  return { status, statusText, headers, body: Buffer.concat(chunks) }
}

/** Connections that broke or were refused; names that do not resolve and bad certificates stay as they are. */
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
function connectionError(purpose: string, error: unknown): StorageError {
  const { message, cause } = error as Error
  const { code, message: detail } = (cause ?? {}) as NodeJS.ErrnoException
  const reasons = [message, detail, code].filter((text) => text !== undefined && text !== '')
  return new StorageError(`${purpose}: ${reasons.join(', ')}${certificateHint(code)}`, {
    cause: error,
    retryable: code !== undefined && RETRYABLE.has(code),
  })
}
