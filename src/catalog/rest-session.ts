/**
 * Talking to one catalog: who the user is, what the catalog has said about itself, and calls that carry both. A
 * session begins with the token and the configuration, once each, whoever asks first; a beginning that failed is tried
 * again by the next who asks.
 */
import { createHash } from 'node:crypto'
import { InvalidArgumentError } from '../errors.ts'
import { SharedRun } from '../io/shared-run.ts'
import type { JsonObject } from '../types/json-object.ts'
import { fetchedBearer, fixedBearer, type Bearer } from './bearer.ts'
import { callHttp, type CallPolicy, type HttpAnswer } from './http-call.ts'
import { OAuth2Tokens, splitCredential } from './oauth2-token.ts'
import { answerError, busyError, readJsonObject, type AnswerContext } from './rest-answer.ts'
import { mergeConfig, type RestConfig } from './rest-config.ts'
import {
  authTypeOf,
  checkHeaderValue,
  headersOf,
  IGNORE_URI_OVERRIDE,
  switchProperty,
  valueOf,
  type Properties,
} from './rest-options.ts'
import { RestPaths } from './rest-paths.ts'

const DEFAULT_SCOPE = 'catalog'
const DEFAULT_TOKEN_PATH = 'v1/oauth/tokens'
/** Of everything but table metadata. */
export const MAX_SMALL_ANSWER_BYTES = 64 * 1024 * 1024

/** What the catalog's configuration decides. */
export interface OpenSession {
  readonly config: RestConfig
  readonly paths: RestPaths
  readonly bearer: Bearer
  readonly headers: Properties
}

export interface SessionCall {
  /** `load table db.orders`: after "Cannot", and before the catalog's uri. */
  readonly what: string
  readonly url: URL
  readonly maxBytes: number
  /** Default: the session's. */
  readonly bearer?: Bearer
  /** Further ones. */
  readonly headers?: Properties
  readonly signal?: AbortSignal | undefined
}

export class RestSession {
  /** The user's. */
  readonly base: URL
  /** Who the user is and where, for the identity of what is read; no secret. */
  readonly scope: string
  readonly #properties: Properties
  readonly #ignoresUriOverride: boolean
  readonly #policy: CallPolicy
  readonly #opening: SharedRun<OpenSession>
  #open: OpenSession | undefined

  /** @throws InvalidArgumentError, UnsupportedFeatureError for properties that cannot be used. */
  constructor(base: URL, properties: Properties, policy: CallPolicy) {
    this.base = base
    this.#properties = properties
    this.#ignoresUriOverride = switchProperty(properties, IGNORE_URI_OVERRIDE) ?? false
    this.#policy = policy
    const { paths, headers } = this.#beginning()
    const bearer = this.#bearerOf(properties, paths, headers)
    this.scope = JSON.stringify([
      base.href,
      valueOf(properties, 'warehouse') ?? '',
      principalOf(properties),
      digestOf(JSON.stringify(decidingProperties(properties))),
    ])
    this.#opening = new SharedRun(async (signal) => {
      this.#open = await this.#ask(bearer, signal)
      return this.#open
    })
  }

  /** Rejects with the errors of getting a token and the configuration, the signal's reason. */
  async open(signal?: AbortSignal): Promise<OpenSession> {
    return this.#open ?? (await this.#opening.join(signal))
  }

  /**
   * One GET, with the session's headers and the token; with another token, once, if the catalog refuses that one.
   * Resolves to a good answer, or one of status 304 if the call has the header that allows it.
   */
  async get(session: OpenSession, call: SessionCall): Promise<HttpAnswer> {
    const bearer = call.bearer ?? session.bearer
    const context = this.#context(call.what, bearer)
    const request = async (token: string | undefined): Promise<HttpAnswer> =>
      await callHttp(
        {
          purpose: context.purpose,
          url: call.url,
          headers: {
            accept: 'application/json',
            ...session.headers,
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...call.headers,
          },
          maxBytes: call.maxBytes,
          busyError: (answer) => busyError(answer, context),
          signal: call.signal,
        },
        this.#policy,
      )
    const token = await bearer.current(call.signal)
    let answer = await request(token)
    if ((answer.status === 401 || answer.status === 419) && token !== undefined && bearer.refused(token))
      answer = await request(await bearer.current(call.signal))
    if (answer.status === 200 || (answer.status === 304 && 'if-none-match' in (call.headers ?? {})))
      return answer
    throw answerError(answer, context)
  }

  /** The JSON object that {@link get} brings. */
  async getJson(session: OpenSession, call: SessionCall): Promise<JsonObject> {
    return this.read(await this.get(session, call), call)
  }

  read(answer: HttpAnswer, { what }: Pick<SessionCall, 'what'>): JsonObject {
    return readJsonObject(answer, this.#context(what, fixedBearer(undefined)))
  }

  /** How messages begin. */
  purpose(what: string): string {
    return `Cannot ${what} of the catalog ${this.base.href.replace(/\/$/, '')}`
  }

  #context(what: string, bearer: Bearer): AnswerContext {
    const headers = Object.entries(this.#properties).filter(([name]) => name.startsWith('header.'))
    return {
      purpose: this.purpose(what),
      secrets: [...bearer.secrets, ...headers.map(([, value]) => value)],
      credentialHint: "the catalog's token, or its credential and scope, and what the user behind it may see",
    }
  }

  /** As far as the user has said it. */
  #beginning(): { paths: RestPaths; headers: Properties } {
    return { paths: new RestPaths(this.base), headers: headersOf(this.#properties) }
  }

  async #ask(bearer: Bearer, signal: AbortSignal): Promise<OpenSession> {
    const { paths, headers } = this.#beginning()
    const beginning: OpenSession = {
      config: unknownConfig(this.base, this.#properties),
      paths,
      bearer,
      headers,
    }
    const json = await this.getJson(beginning, {
      what: 'read the configuration',
      url: paths.config(valueOf(this.#properties, 'warehouse')),
      maxBytes: MAX_SMALL_ANSWER_BYTES,
      signal,
    })
    const config = mergeConfig(json, this.#properties, this.base, this.#ignoresUriOverride)
    const { properties } = config
    const token = valueOf(properties, 'token')
    // A catalog may have a token for who comes without one. A user's own stays what it is.
    const isGiven =
      token !== undefined &&
      authTypeOf(properties) === 'oauth2' &&
      (await bearer.current(signal)) === undefined
    return {
      config,
      paths: new RestPaths(
        config.base,
        valueOf(properties, 'prefix'),
        valueOf(properties, 'namespace-separator'),
      ),
      headers: headersOf(properties),
      bearer: isGiven ? fixedBearer(checkHeaderValue('token', token)) : bearer,
    }
  }

  /** The credential wins over the token, as it lasts longer. */
  #bearerOf(properties: Properties, paths: RestPaths, headers: Properties): Bearer {
    if (authTypeOf(properties) === 'none') return fixedBearer(undefined)
    const credential = valueOf(properties, 'credential') ?? ''
    const token = valueOf(properties, 'token') ?? ''
    if (credential === '') return fixedBearer(token === '' ? undefined : checkHeaderValue('token', token))
    const place = valueOf(properties, 'oauth2-server-uri') ?? DEFAULT_TOKEN_PATH
    const url = paths.resolve(place)
    if (url === undefined)
      throw new InvalidArgumentError(
        "Cannot use the catalog property 'oauth2-server-uri': it is neither a path nor an HTTP URL without a user",
      )
    const further = Object.fromEntries(
      Object.entries(properties).filter(([name]) => name === 'audience' || name === 'resource'),
    )
    return fetchedBearer(
      new OAuth2Tokens({
        url,
        credential,
        scope: valueOf(properties, 'scope') ?? DEFAULT_SCOPE,
        further,
        headers: url.origin === this.base.origin ? headers : {},
        policy: this.#policy,
      }),
    )
  }
}

function unknownConfig(base: URL, properties: Properties): RestConfig {
  return { base, properties, endpoints: new Set() }
}

/** A name for the user that is the same next time: the client's id, or a digest of what is secret. */
function principalOf(properties: Properties): string {
  const credential = valueOf(properties, 'credential')
  const clientId = credential === undefined ? undefined : splitCredential(credential).clientId
  if (clientId !== undefined) return clientId
  const secret = credential ?? valueOf(properties, 'token')
  return secret === undefined ? '' : digestOf(secret)
}

/** What else may decide as whom, and in which role, a catalog takes the user. Headers may hold keys, cookies, tenants. */
function decidingProperties(properties: Properties): (readonly [name: string, value: string])[] {
  return Object.entries(properties)
    .map(([name, value]) => [name.startsWith('header.') ? name.toLowerCase() : name, value] as const)
    .filter(([name]) => name.startsWith('header.') || DECIDING.has(name))
    .sort()
}

const DECIDING: ReadonlySet<string> = new Set([
  'scope',
  'prefix',
  'audience',
  'resource',
  'oauth2-server-uri',
])

/** Tells users apart, and does not show who they are. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
