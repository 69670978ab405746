/**
 * Checks AWS Signature Version 4 of S3 requests, in its header form, from the specification alone: no part of a
 * client is used, so that a client and this cannot be wrong together.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { S3Refusal } from './s3-refusal.ts'

export interface S3Credential {
  accessKeyId: string
  secretAccessKey: string
  /** Requests without this token are refused. */
  sessionToken?: string
  /** From then on requests are refused as expired. */
  expiration?: Date
  /** The buckets it may see; default all. */
  buckets?: readonly string[]
  /** Whether it may list; if not, a missing key looks forbidden, as on S3. Default true. */
  mayList?: boolean
}

export interface SignedRequest {
  readonly method: string
  /** As sent: the path and the query of the request line. */
  readonly rawPath: string
  readonly rawQuery: string
  readonly headers: IncomingHttpHeaders
}

export interface SignaturePolicy {
  readonly region: string
  readonly credentials: readonly S3Credential[]
  /** How a request that is signed for another region is refused. */
  readonly wrongRegion: 'malformed' | 'redirect'
  /** Milliseconds since 1970. */
  readonly now: number
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/
const MAX_SKEW_MS = 15 * 60_000

export class SignatureChecker {
  /** Signing keys, by secret, day, region: deriving one costs four HMACs. */
  readonly #keys = new Map<string, Buffer>()

  /**
   * Whose request it is.
   *
   * @throws S3Refusal with the code S3 gives.
   */
  check(request: SignedRequest, policy: SignaturePolicy): S3Credential {
    const { headers } = request
    const match = AUTHORIZATION.exec(headers.authorization ?? '')
    if (match === null)
      throw new S3Refusal(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.')
    const [, accessKeyId, day, region, service, signedHeaders, signature] = match
    if (service !== 's3')
      throw new S3Refusal(400, 'AuthorizationHeaderMalformed', `incorrect service ${service}; expecting "s3"`)

    const credential = policy.credentials.find((each) => each.accessKeyId === accessKeyId)
    if (credential === undefined)
      throw new S3Refusal(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist.', {
        fields: { AWSAccessKeyId: accessKeyId },
      })
    if (region !== policy.region) throw wrongRegion(policy.wrongRegion, region, policy.region)

    const date = headers['x-amz-date']
    if (typeof date !== 'string' || !/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(day))
      throw new S3Refusal(400, 'AuthorizationHeaderMalformed', 'Invalid credential date.')
    checkClock(date, policy.now)
    checkToken(credential, headers['x-amz-security-token'], policy.now)
    const names = signedHeaders.split(';')
    checkCoverage(names, headers)

    const payload = headers['x-amz-content-sha256']
    if (typeof payload !== 'string')
      throw new S3Refusal(400, 'InvalidRequest', 'Missing required header: x-amz-content-sha256')
    const canonical =
      `${request.method}\n${canonicalPath(request.rawPath)}\n${canonicalQuery(request.rawQuery)}\n` +
      `${names.map((name) => `${name}:${headerValue(headers, name)}\n`).join('')}\n${signedHeaders}\n${payload}`
    const scope = `${day}/${region}/s3/aws4_request`
    const toSign = `${ALGORITHM}\n${date}\n${scope}\n${hash('sha256', canonical, 'hex')}`
    const key = this.#signingKey(credential.secretAccessKey, day, region)
    const expected = createHmac('sha256', key).update(toSign).digest()
    if (!timingSafeEqual(expected, Buffer.from(signature, 'hex')))
      throw new S3Refusal(
        403,
        'SignatureDoesNotMatch',
        'The request signature does not match the signature.',
        {
          fields: {
            AWSAccessKeyId: accessKeyId,
            StringToSign: toSign,
            SignatureProvided: signature,
            CanonicalRequest: canonical,
          },
        },
      )
    return credential
  }

  #signingKey(secret: string, day: string, region: string): Buffer {
    const name = `${secret}/${day}/${region}`
    let key = this.#keys.get(name)
    if (key === undefined) {
      key = Buffer.from(`AWS4${secret}`)
      for (const part of [day, region, 's3', 'aws4_request'])
        key = createHmac('sha256', key).update(part).digest()
      this.#keys.set(name, key)
    }
    return key
  }
}

/** The two ways in which S3 says that a bucket is elsewhere. */
export function wrongRegion(way: SignaturePolicy['wrongRegion'], wrong: string, right: string): S3Refusal {
  const headers = { 'x-amz-bucket-region': right }
  if (way === 'redirect')
    return new S3Refusal(
      301,
      'PermanentRedirect',
      'The bucket you are attempting to access must be addressed using the specified endpoint.',
      { fields: { Endpoint: `s3.${right}.example.com` }, headers },
    )
  return new S3Refusal(
    400,
    'AuthorizationHeaderMalformed',
    `The authorization header is malformed; the region '${wrong}' is wrong; expecting '${right}'`,
    { fields: { Region: right } },
  )
}

function checkClock(date: string, now: number): void {
  const iso = date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  // Also true for a date that is none.
  if (!(Math.abs(Date.parse(iso) - now) <= MAX_SKEW_MS))
    throw new S3Refusal(
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
      { fields: { RequestTime: date, ServerTime: new Date(now).toISOString() } },
    )
}

function checkToken(credential: S3Credential, token: string | string[] | undefined, now: number): void {
  if (credential.sessionToken !== token)
    throw new S3Refusal(400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')
  if (credential.expiration !== undefined && credential.expiration.getTime() <= now)
    throw new S3Refusal(400, 'ExpiredToken', 'The provided token has expired.')
}

/** `host` and every `x-amz-` header must be signed; names are sorted. */
function checkCoverage(names: readonly string[], headers: IncomingHttpHeaders): void {
  const covered = new Set(names)
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  const missing = needed.filter((name) => !covered.has(name))
  if (missing.length > 0)
    throw new S3Refusal(
      403,
      'AccessDenied',
      'There were headers present in the request which were not signed',
      {
        fields: { HeadersNotSigned: missing.join(', ') },
      },
    )
  for (let i = 1; i < names.length; i++)
    if (names[i - 1] >= names[i])
      throw new S3Refusal(400, 'AuthorizationHeaderMalformed', 'The signed headers are not sorted.')
}

function headerValue(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name] ?? ''
  return (typeof value === 'string' ? value : value.join(',')).trim().replace(/ {2,}/g, ' ')
}

/** Of S3 alone: each byte is encoded once, and nothing is normalized. */
function canonicalPath(rawPath: string): string {
  // Most paths are canonical as they stand.
  if (/^[A-Za-z0-9\-._~/]*$/.test(rawPath)) return rawPath
  return encodeStrictly(decodeStrictly(rawPath), true)
}

function canonicalQuery(rawQuery: string): string {
  if (rawQuery === '') return ''
  return parseQuery(rawQuery)
    .map(([name, value]) => [encodeStrictly(name), encodeStrictly(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** Names and values, decoded, in their order. A plus sign is itself. */
export function parseQuery(rawQuery: string): [name: string, value: string][] {
  if (rawQuery === '') return []
  return rawQuery.split('&').map((part) => {
    const at = part.indexOf('=')
    if (at === -1) return [decodeStrictly(part), '']
    return [decodeStrictly(part.slice(0, at)), decodeStrictly(part.slice(at + 1))]
  })
}

/** @throws S3Refusal for what is not percent-encoded UTF-8. */
export function decodeStrictly(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Refusal(400, 'InvalidURI', "Couldn't parse the specified URI.")
  }
}

/** Percent-encodes each byte but the unreserved ones of RFC 3986 (and the slash, in a path). */
export function encodeStrictly(text: string, isPath = false): string {
  const encoded = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return isPath ? encoded.replaceAll('%2F', '/') : encoded
}
