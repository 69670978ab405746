/**
 * Where a bucket is and with which credentials it is read, by the SDK: its rules for endpoints (hosts, path style,
 * regions, dual stack), its config files, its chain of credentials. This is the one place that loads it, when a first
 * request is made.
 */
import type { S3Client } from '@aws-sdk/client-s3'
import { InvalidArgumentError, UnsupportedFeatureError } from '../../errors.ts'
import { originOf, type HttpOrigin } from '../http-transport.ts'
import { withoutSecrets, withoutUser } from '../../without-secrets.ts'
import { CredentialCache } from './s3-credentials.ts'
import type { S3Credentials, S3Options } from './s3-options.ts'
import { profileEndpoint } from './s3-profile-endpoint.ts'
import { S3Signer } from './s3-signer.ts'

/** A region that stores other than AWS take for their own name. */
const ANY_REGION = 'us-east-1'

export interface S3Bucket {
  readonly origin: HttpOrigin
  /** Before the key: empty, or begins with a slash and does not end with one. */
  readonly path: string
  readonly region: string
  readonly signer: S3Signer
}

export interface S3Endpoints {
  /** By default in the region of the options, environment or profile. */
  bucket(name: string, region?: string): S3Bucket
  /** Undefined for anonymous requests. */
  readonly credentials: CredentialCache | undefined
}

/** A problem of the setting, in words that come after "Cannot read s3://...: ". */
export class SetupError extends Error {}

/**
 * @param endpoint - By {@link endpointOf}.
 *
 * Rejects with SetupError if no region is known, what loading the SDK or its config files rejects with.
 */
export async function openEndpoints(options: S3Options, endpoint: string | undefined): Promise<S3Endpoints> {
  const [sdk, { SignatureV4 }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@smithy/signature-v4'),
  ])
  const profile = options.profile === undefined ? {} : { profile: options.profile }
  const defaults = new sdk.S3Client({
    ...profile,
    ...(options.region === undefined ? {} : { region: options.region }),
  })
  const region = await regionOf(defaults, endpoint)
  const client = new sdk.S3Client({ ...profile, region })
  const { config } = client
  const [useFips, useDualstack] = await Promise.all([config.useFipsEndpoint(), config.useDualstackEndpoint()])
  const credentials = options.anonymous === true ? undefined : new CredentialCache(loader(options, client))
  return {
    credentials,
    bucket(name, wanted = region) {
      const { url, properties } = config.endpointProvider({
        Bucket: name,
        Region: wanted,
        ForcePathStyle: options.pathStyle ?? (endpoint !== undefined && !isOfAws(endpoint)),
        UseFIPS: useFips,
        UseDualStack: options.dualstack ?? useDualstack,
        Accelerate: options.accelerate ?? false,
        UseArnRegion: false,
        DisableMultiRegionAccessPoints: true,
        ...(endpoint === undefined ? {} : { Endpoint: endpoint }),
      })
      const scheme = (
        properties?.['authSchemes'] as { name: string; signingRegion?: string }[] | undefined
      )?.[0]
      if (scheme !== undefined && scheme.name !== 'sigv4')
        throw new UnsupportedFeatureError(
          `Cannot open the bucket ${name}: directory buckets are not supported`,
        )
      const signingRegion = scheme?.signingRegion ?? wanted
      return {
        origin: originOf(new URL(url.href)),
        path: url.pathname.replace(/\/+$/, ''),
        region: signingRegion,
        signer: new S3Signer(SignatureV4, signingRegion),
      }
    },
  }
}

/**
 * The endpoint to use, without a slash at its end: the options', the environment's, the profile's, or undefined for
 * that of AWS.
 *
 * @throws InvalidArgumentError if it is no HTTP URL, or one with a query, a fragment or a password.
 */
export function endpointOf(options: S3Options): string | undefined {
  const text = options.endpoint ?? configuredEndpoint(options)
  return text === undefined ? undefined : checkedEndpoint(text)
}

function configuredEndpoint({ profile }: S3Options): string | undefined {
  const { env } = process
  if (env['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS']?.toLowerCase() === 'true') return undefined
  return env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || profileEndpoint(profile)
}

function checkedEndpoint(text: string): string {
  const fail = (shown: string, why: string): InvalidArgumentError =>
    new InvalidArgumentError(`Cannot open S3 at the endpoint ${shown}: ${why}`)
  if (!/^https?:\/\//i.test(text)) throw fail(withoutUser(text), 'it must begin with http:// or https://')
  if (!URL.canParse(text)) throw fail(withoutUser(text), 'not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw fail(withoutUser(text), 'a user or password in the URL is not supported')
  if (/[?#]/.test(text)) throw fail(withoutSecrets(text), 'it has a query or a fragment')
  return url.href.replace(/\/+$/, '')
}

function isOfAws(endpoint: string): boolean {
  return /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname)
}

async function regionOf(client: S3Client, endpoint: string | undefined): Promise<string> {
  try {
    return await client.config.region()
  } catch (error) {
    if (endpoint !== undefined) return ANY_REGION
    const why = error instanceof Error && error.message !== 'Region is missing' ? ` (${error.message})` : ''
    throw new SetupError(
      `no region is known${why}; set s3.region, AWS_REGION, or a region in the AWS profile`,
      {
        cause: error,
      },
    )
  }
}

function loader({ credentials }: S3Options, client: S3Client): (isForced: boolean) => Promise<S3Credentials> {
  if (typeof credentials === 'function') return async () => checkedCredentials(await credentials())
  if (credentials !== undefined) return () => Promise.resolve(credentials)
  return async (isForced) => {
    try {
      return await client.config.credentials(isForced ? { forceRefresh: true } : {})
    } catch (error) {
      const why = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error)
      throw new SetupError(
        `no credentials were found (${why}); set s3.access-key-id and s3.secret-access-key, the environment or an AWS profile, or s3.anonymous=true for a public bucket`,
        { cause: error },
      )
    }
  }
}

/** What a function of the user's gives, in JavaScript perhaps. @throws SetupError if it is no credentials. */
function checkedCredentials(given: S3Credentials | undefined): S3Credentials {
  if (typeof given?.accessKeyId !== 'string' || typeof given.secretAccessKey !== 'string')
    throw new SetupError('the function for credentials gave no accessKeyId and secretAccessKey')
  if (given.expiration === undefined) return given
  const expiration = new Date(given.expiration)
  if (Number.isNaN(expiration.getTime()))
    throw new SetupError('the function for credentials gave an expiration that is no date')
  return { ...given, expiration }
}
