/**
 * How to reach S3: the options of {@link S3FileIO}, and how they are read from the properties of a catalog or table.
 *
 * Properties have the names that Iceberg's libraries gave them, each its own; all are understood:
 *
 * | property                                                         | option                                 |
 * | ---------------------------------------------------------------- | -------------------------------------- |
 * | `s3.endpoint`                                                    | `endpoint`                             |
 * | `s3.region`, `client.region`                                     | `region`; the first wins               |
 * | `s3.access-key-id`, `s3.secret-access-key`, `s3.session-token`   | `credentials`                          |
 * | `client.access-key-id` and so on                                 | the same, where `s3.` has none         |
 * | `s3.session-token-expires-at-ms`                                 | their `expiration`                     |
 * | `s3.profile-name`, `client.profile-name`                         | `profile`                              |
 * | `s3.path-style-access`                                           | `pathStyle`                            |
 * | `s3.force-virtual-addressing`                                    | its opposite                           |
 * | `s3.anonymous`; `s3.allow-anonymous` where no keys are given     | `anonymous`                            |
 * | `client.credentials-provider`                                    | the anonymous or the default one       |
 * | `s3.cross-region-access-enabled`                                 | `crossRegion`                          |
 * | `s3.dualstack-enabled`, `s3.acceleration-enabled`                | `dualstack`, `accelerate`              |
 * | `s3.retry.num-retries`, `s3.retry.min-wait-ms`                   | `attempts` less one, `firstPauseMs`    |
 * | `s3.connect-timeout`, `s3.request-timeout` (seconds)             | `connectTimeoutMs`, `requestTimeoutMs` |
 *
 * What would change which bytes are read, or by whose leave, and is not supported is refused: remote signing, roles to
 * assume, access points and grants, keys of the customer's own (SSE-C), proxies. Everything else is ignored.
 */
import { InvalidArgumentError, UnsupportedFeatureError } from '../../errors.ts'
import { textOf } from '../property-text.ts'
import { withoutUndefined } from '../without-undefined.ts'

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  /** When they end; a function that gives credentials is called again some minutes before. */
  expiration?: Date
}

export interface S3Options {
  /**
   * Default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, and with an endpoint of one's own `us-east-1`, which other
   * stores take for their own name.
   */
  region?: string
  /**
   * URL of a store other than AWS; a path in it goes before the bucket. Default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL,
   * `endpoint_url` of the profile or its services, or what AWS has for the region.
   */
  endpoint?: string
  /**
   * True: `https://host/bucket/key`. False: `https://bucket.host/key` where the bucket's name allows it. Default: true
   * with an endpoint that is not of AWS, else false.
   */
  pathStyle?: boolean
  /**
   * Keys, or a function that gives them: called for the first request, and again shortly before they end, never by two
   * requests at once. Default: the SDK's chain (environment, profile, single sign-on, container, instance).
   */
  credentials?: S3Credentials | (() => Promise<S3Credentials>)
  /** Requests without a signature, for public buckets. */
  anonymous?: boolean
  /** Of the shared config files, for the default chain. Default: AWS_PROFILE, or `default`. */
  profile?: string
  /**
   * Who the credentials stand for; no secret. Two FileIOs share cached bytes only if it is the same. Default: from the
   * key's id, `anonymous`, or the profile; with a function each FileIO is on its own.
   */
  credentialScope?: string
  /** Whether to follow a bucket into the region that the store says it is in; else that is an error. Default false. */
  crossRegion?: boolean
  /** Endpoints that also have IPv6 addresses (AWS only). */
  dualstack?: boolean
  /** S3 Transfer Acceleration (AWS only). */
  accelerate?: boolean
  /** Requests per read, the first included. Default 4. */
  attempts?: number
  /** Longest pause before the second request, in milliseconds; doubles with every further one. Default 100. */
  firstPauseMs?: number
  /** For a new connection, TLS included; 0 for no limit. Default 5000. */
  connectTimeoutMs?: number
  /** For the headers of an answer, and again for each few KiB of its body; 0 for no limit. Default 20,000. */
  requestTimeoutMs?: number
  /** Connections per host. A request that finds none free waits. Default 256. */
  maxSockets?: number
}

type Properties = Readonly<Record<string, string>>

/** What is refused if it is set, and whether `false` counts as not set. */
const REFUSED: readonly { name: RegExp; what: string; isSwitch: boolean }[] = [
  { name: /^s3\.remote-signing-enabled$/, what: 'requests signed by the catalog', isSwitch: true },
  { name: /^s3\.signer$/, what: 'requests signed by the catalog', isSwitch: false },
  {
    name: /^(s3\.role-arn|client\.role-arn|client\.assume-role\.arn)$/,
    what: 'assuming a role; put it into a profile of the AWS config file',
    isSwitch: false,
  },
  { name: /^s3\.access-points\..+$/, what: 'access points', isSwitch: false },
  { name: /^s3\.access-grants\.enabled$/, what: 'access grants', isSwitch: true },
  { name: /^(s3\.proxy-uri|http-client\.proxy-endpoint)$/, what: 'a proxy', isSwitch: false },
]

const ANONYMOUS_PROVIDER = /(^|\.)AnonymousCredentialsProvider$/
const DEFAULT_PROVIDER = /(^|\.)DefaultCredentialsProvider$/

/**
 * @throws InvalidArgumentError for a value that is not of its kind, or for keys of which one half is missing;
 *   UnsupportedFeatureError for what cannot be done, see the file's head.
 */
export function s3OptionsFrom(properties: Properties): S3Options {
  refuseUnsupported(properties)
  const credentials = credentialsIn(properties)
  return withoutUndefined({
    endpoint: textOf(properties, 's3.endpoint'),
    region: textOf(properties, 's3.region') ?? textOf(properties, 'client.region'),
    pathStyle: pathStyleIn(properties),
    credentials,
    anonymous: isAnonymous(properties, credentials !== undefined),
    profile: textOf(properties, 's3.profile-name') ?? textOf(properties, 'client.profile-name'),
    crossRegion: switchOf(properties, 's3.cross-region-access-enabled'),
    dualstack: switchOf(properties, 's3.dualstack-enabled'),
    accelerate: switchOf(properties, 's3.acceleration-enabled'),
    attempts: plusOne(numberOf(properties, 's3.retry.num-retries', { isWhole: true })),
    firstPauseMs: numberOf(properties, 's3.retry.min-wait-ms'),
    connectTimeoutMs: inMilliseconds(numberOf(properties, 's3.connect-timeout')),
    requestTimeoutMs: inMilliseconds(numberOf(properties, 's3.request-timeout')),
  })
}

/**
 * The properties without those that say with which credentials to read, or with none: for a caller who says so.
 */
export function withoutCredentials(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !CREDENTIALS.test(name)))
}

const CREDENTIALS =
  /^(?:(?:s3|client)\.(?:access-key-id|secret-access-key|session-token|session-token-expires-at-ms|role-arn)|client\.credentials-provider|client\.assume-role\.arn|s3\.(?:allow-)?anonymous)$/

function refuseUnsupported(properties: Properties): void {
  for (const name of Object.keys(properties))
    for (const refused of REFUSED) {
      if (!refused.name.test(name) || textOf(properties, name) === undefined) continue
      if (refused.isSwitch && switchOf(properties, name) === false) continue
      throw new UnsupportedFeatureError(
        `Cannot open S3 with the property ${name}: ${refused.what}: not supported`,
      )
    }
  // Objects under keys of the store's own are read like any other.
  if (textOf(properties, 's3.sse.type')?.toLowerCase() === 'custom')
    throw new UnsupportedFeatureError(
      "Cannot open S3 with the property s3.sse.type=custom: objects under the customer's own keys are not supported",
    )
}

function credentialsIn(properties: Properties): S3Credentials | undefined {
  const prefix = ['s3', 'client'].find((prefix) =>
    ['access-key-id', 'secret-access-key', 'session-token'].some(
      (name) => textOf(properties, `${prefix}.${name}`) !== undefined,
    ),
  )
  if (prefix === undefined) return undefined
  const accessKeyId = textOf(properties, `${prefix}.access-key-id`)
  const secretAccessKey = textOf(properties, `${prefix}.secret-access-key`)
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const missing = accessKeyId === undefined ? 'access-key-id' : 'secret-access-key'
    throw new InvalidArgumentError(
      `Cannot open S3 with keys from the properties: ${prefix}.${missing} is not among them`,
    )
  }
  const sessionToken = textOf(properties, `${prefix}.session-token`)
  const expiresAt = numberOf(properties, 's3.session-token-expires-at-ms', { isWhole: true })
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(expiresAt === undefined ? {} : { expiration: new Date(expiresAt) }),
  }
}

function isAnonymous(properties: Properties, hasKeys: boolean): boolean | undefined {
  const anonymous = switchOf(properties, 's3.anonymous')
  if (anonymous !== undefined) return anonymous
  const isAllowed = switchOf(properties, 's3.allow-anonymous')
  if (hasKeys) return undefined
  if (isAllowed === true) return true
  const provider = textOf(properties, 'client.credentials-provider')
  if (provider === undefined || DEFAULT_PROVIDER.test(provider)) return undefined
  if (ANONYMOUS_PROVIDER.test(provider)) return true
  throw new UnsupportedFeatureError(
    `Cannot open S3 with the property client.credentials-provider=${provider}: only the default and the anonymous provider can be named; pass credentials as a function instead`,
  )
}

function pathStyleIn(properties: Properties): boolean | undefined {
  const isPath = switchOf(properties, 's3.path-style-access')
  const isVirtual = switchOf(properties, 's3.force-virtual-addressing')
  if (isPath === true && isVirtual === true)
    throw new InvalidArgumentError(
      'Cannot open S3 with both s3.path-style-access and s3.force-virtual-addressing: they contradict each other',
    )
  return isVirtual === true ? false : isPath
}

function switchOf(properties: Properties, name: string): boolean | undefined {
  const text = textOf(properties, name)
  if (text === undefined) return undefined
  const value = text.toLowerCase()
  if (value !== 'true' && value !== 'false')
    throw new InvalidArgumentError(`Cannot open S3 with the property ${name}=${text}: neither true nor false`)
  return value === 'true'
}

function numberOf(properties: Properties, name: string, { isWhole = false } = {}): number | undefined {
  const text = textOf(properties, name)
  if (text === undefined) return undefined
  if (!(isWhole ? /^\d{1,15}$/ : /^\d{1,15}(\.\d+)?$/).test(text))
    throw new InvalidArgumentError(
      `Cannot open S3 with the property ${name}=${text}: not a ${isWhole ? 'whole ' : ''}number`,
    )
  return Number(text)
}

function plusOne(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value + 1
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}
