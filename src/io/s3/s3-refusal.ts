/** What an answer of S3 that is not the file means: an error in words, and what might help. */
import { NotFoundError, StorageError, type IcebergError } from '../../errors.ts'
import { endsTooEarly } from '../byte-range.ts'
import type { ByteRange } from '../file-io.ts'
import { contentRangeOf, retryHint, type Refusal } from '../http-read.ts'
import { oneLine } from '../one-line.ts'
import type { Failure } from '../retry.ts'
import { parseErrorBody, type S3ErrorBody } from './s3-xml.ts'

export interface S3Refusal {
  /** What to reject with if nothing helps. */
  readonly error: IcebergError
  /**
   * - `wait`: the same request later
   * - `renew`: other credentials, these have ended or were taken back
   * - `clock`: the store's time for signing; it differs from that of this machine
   * - `region`: the region that the bucket is in
   * - `none`: nothing
   */
  readonly remedy: 'wait' | 'renew' | 'clock' | 'region' | 'none'
  readonly hint: Pick<Failure, 'waitMs' | 'isThrottled'>
  /** Of the bucket, as far as the store says. */
  readonly region: string | undefined
  /** The store's time minus that of this machine, in milliseconds. */
  readonly clockOffsetMs: number
}

export interface RefusedRequest {
  readonly what: 'read' | 'list'
  readonly location: string
  readonly bucket: string
  readonly range: ByteRange | undefined
  /** That the request was signed for. */
  readonly region: string
  readonly isAnonymous: boolean
}

export function explainRefusal(request: RefusedRequest, answer: Refusal): S3Refusal {
  const body = parseErrorBody(new TextDecoder().decode(answer.bytes))
  const { isRetryable, ...hint } = retryHint(answer)
  const region = headerOf(answer, 'x-amz-bucket-region') ?? body.region
  const remedy = remedyOf(request, answer.status, body, region, isRetryable)
  const date = Date.parse(body.serverTime ?? headerOf(answer, 'date') ?? '')
  return {
    error: errorOf(request, answer, body, region, remedy),
    remedy,
    hint: { ...hint, isThrottled: hint.isThrottled || THROTTLING.has(body.code ?? '') },
    region,
    clockOffsetMs: Number.isNaN(date) ? 0 : date - Date.now(),
  }
}

/** Codes that some servers send with other statuses than 503 and 429. */
const THROTTLING = new Set([
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TooManyRequests',
])
const TRANSIENT = new Set(['RequestTimeout', 'InternalError', 'ServiceUnavailable'])
/** Of credentials that were good and are not any more, or of a set that changed while it was read: others may do. */
const EXPIRED = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidToken',
  'InvalidTokenId',
  'InvalidAccessKeyId',
])
const ELSEWHERE = new Set([
  'PermanentRedirect',
  'TemporaryRedirect',
  'Redirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
])

function remedyOf(
  request: RefusedRequest,
  status: number,
  { code = '' }: S3ErrorBody,
  region: string | undefined,
  isRetryable: boolean,
): S3Refusal['remedy'] {
  if (isRetryable || THROTTLING.has(code) || TRANSIENT.has(code)) return 'wait'
  if (EXPIRED.has(code)) return 'renew'
  if (code === 'RequestTimeTooSkewed') return 'clock'
  const isElsewhere = ELSEWHERE.has(code) || (status >= 300 && status < 400)
  if (isElsewhere || status === 400)
    return region !== undefined && region !== request.region ? 'region' : 'none'
  return 'none'
}

function errorOf(
  request: RefusedRequest,
  answer: Refusal,
  body: S3ErrorBody,
  region: string | undefined,
  remedy: S3Refusal['remedy'],
): IcebergError {
  const { what, location, bucket, range } = request
  const { status, statusText } = answer
  const { code = '' } = body
  const requestId = headerOf(answer, 'x-amz-request-id') ?? body.requestId
  const said =
    code === ''
      ? oneLine(statusText)
      : `${oneLine(code)}${body.message === undefined ? '' : `, ${oneLine(body.message)}`}`
  const answered = `S3 answered ${`${status} ${said}`.trim()}${requestId === undefined ? '' : ` (request ${oneLine(requestId)})`}`
  const fail = (why: string): string => `Cannot ${what} ${location}: ${why}`

  if (code === 'NoSuchBucket')
    return new NotFoundError(fail(`the bucket ${bucket} does not exist; ${answered}`), {
      location,
      storeMissing: true,
    })
  if (status === 404) return new NotFoundError(fail(answered), { location })
  if (status === 416 && range !== undefined) return endsTooEarly(location, range, contentRangeOf(answer).size)
  const advice =
    remedy === 'region'
      ? `the bucket ${bucket} is in the region ${oneLine(region!)}, not ${request.region}; set s3.region`
      : (ADVICE.get(code) ??
        (status === 403 && request.isAnonymous
          ? 'the request was anonymous; it may need credentials'
          : undefined))
  return new StorageError(fail(advice === undefined ? answered : `${answered}; ${advice}`), {
    location,
    retryable: remedy === 'wait',
    denied: (status === 403 && (code === '' || code === 'AccessDenied')) || status === 405 || status === 501,
  })
}

const ENDED = 'the session token has expired'
const WRONG_TOKEN = 'the session token is not one of these credentials'

const ADVICE: ReadonlyMap<string, string> = new Map([
  ['AccessDenied', 'these credentials may not do that, or the key does not exist and they may not know'],
  [
    'SignatureDoesNotMatch',
    'the secret access key is not the one of this access key id, or something on the way changed the request',
  ],
  ['InvalidAccessKeyId', 'the access key id is not known there'],
  ['ExpiredToken', ENDED],
  ['ExpiredTokenException', ENDED],
  ['TokenRefreshRequired', ENDED],
  ['RequestTimeTooSkewed', 'the clock of this machine is wrong'],
  ['InvalidToken', WRONG_TOKEN],
  ['InvalidTokenId', WRONG_TOKEN],
  ['InvalidObjectState', 'the object is archived and must be restored before it can be read'],
])

function headerOf({ headers }: Refusal, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
