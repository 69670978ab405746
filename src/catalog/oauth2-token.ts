/**
 * Tokens of OAuth2 client credentials: fetched when first needed, used until shortly before they expire, and fetched
 * anew after that or when the catalog refuses one. Callers at the same time share one request.
 */
import { StorageError } from '../errors.ts'
import { SharedRun } from '../io/shared-run.ts'
import { callHttp, type CallPolicy } from './http-call.ts'
import { answerError, busyError, readJsonObject, type AnswerContext } from './rest-answer.ts'

export interface OAuth2Client {
  /** Where tokens are; the credential goes there and nowhere else. */
  readonly url: URL
  /** `id:secret`, or a secret alone. */
  readonly credential: string
  readonly scope: string
  /** Such as audience and resource. */
  readonly further: Readonly<Record<string, string>>
  /** Headers for this server. */
  readonly headers: Readonly<Record<string, string>>
  readonly policy: CallPolicy
}

/** A token is renewed so long before its end, or in the last tenth of its life if that is shorter. */
const RENEW_BEFORE_MS = 60_000
const MAX_TOKEN_BYTES = 1024 * 1024

interface Token {
  readonly value: string
  /** Milliseconds since the epoch; Infinity if the server did not say. */
  readonly renewAt: number
}

export class OAuth2Tokens {
  readonly #client: OAuth2Client
  readonly #fetching: SharedRun<Token>
  #token: Token | undefined

  constructor(client: OAuth2Client) {
    this.#client = client
    this.#fetching = new SharedRun(async (signal) => (this.#token = await fetchToken(client, signal)))
  }

  /** What must not be in a message. */
  get secrets(): string[] {
    const { credential } = this.#client
    const { clientSecret } = splitCredential(credential)
    return [credential, clientSecret, ...(this.#token === undefined ? [] : [this.#token.value])]
  }

  /** A token that is good now, as far as its server has said. Rejects with StorageError, the signal's reason. */
  async current(signal?: AbortSignal): Promise<string> {
    if (this.#token !== undefined && Date.now() < this.#token.renewAt) return this.#token.value
    const { value } = await this.#fetching.join(signal)
    return value
  }

  /** The catalog does not take this token any more. */
  forget(value: string): void {
    if (this.#token?.value === value) this.#token = undefined
  }
}

/** The id is `undefined` if the credential is a secret alone. */
export function splitCredential(credential: string): { clientId: string | undefined; clientSecret: string } {
  const at = credential.indexOf(':')
  if (at === -1) return { clientId: undefined, clientSecret: credential.trim() }
  return { clientId: credential.slice(0, at).trim(), clientSecret: credential.slice(at + 1).trim() }
}

async function fetchToken(client: OAuth2Client, signal: AbortSignal): Promise<Token> {
  const { clientId, clientSecret } = splitCredential(client.credential)
  const context: AnswerContext = {
    purpose: `Cannot get a token from ${client.url.origin}${client.url.pathname}`,
    secrets: [client.credential, clientSecret],
    credentialHint: "the catalog's credential and scope, and where tokens are fetched (oauth2-server-uri)",
  }
  const form = {
    grant_type: 'client_credentials',
    ...(clientId === undefined ? {} : { client_id: clientId }),
    client_secret: clientSecret,
    scope: client.scope,
    ...client.further,
  }
  const { url, headers, policy } = client
  const askedAt = Date.now()
  const answer = await callHttp(
    {
      purpose: context.purpose,
      url,
      headers,
      form,
      maxBytes: MAX_TOKEN_BYTES,
      busyError: (answer) => busyError(answer, context),
      signal,
    },
    policy,
  )
  if (answer.status !== 200) throw refusal(answerError(answer, context))
  const json = readJsonObject(answer, context)
  const { access_token: value, token_type: type, expires_in: seconds } = json
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value))
    throw new StorageError(`${context.purpose}: the answer has no "access_token" that could be sent`)
  if (typeof type === 'string' && !/^(?:bearer|n_a)$/i.test(type))
    throw new StorageError(
      `${context.purpose}: its type is not bearer but ${JSON.stringify(type.slice(0, 80))}`,
    )
  const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Infinity
  return { value, renewAt: askedAt + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 10) }
}

/** A missing token end point is not a missing table. */
function refusal(error: Error): Error {
  return error.name === 'NotFoundError' ? new StorageError(error.message) : error
}
