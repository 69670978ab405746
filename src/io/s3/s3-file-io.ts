/**
 * Files in S3, and in stores that speak its language: one GET for a file or a range, no HEAD before it.
 *
 * Credentials, endpoints, regions and signatures are the SDK's, loaded when the first request is made; how the bytes
 * travel is ours (see http-transport.ts), because the SDK's own client costs five times the CPU for a small file.
 *
 * What an answer means: 404 is NotFoundError, for a bucket that does not exist with that sentence; what isBusyStatus
 * says, broken connections, short bodies and stalled ones are tried again; credentials that have ended or are not known
 * are renewed once, a wrong clock is allowed for once; all else is StorageError with S3's own code and words, and for a
 * bucket of another region with the name of that region.
 */
import { createHash, randomUUID } from 'node:crypto'
import { InvalidArgumentError, isIcebergError, StorageError } from '../../errors.ts'
import { unlessAborted } from '../abort-listeners.ts'
import type { ByteRange, FileIO, InputFile, ReadOptions } from '../file-io.ts'
import { checkRead, rangeHeader, readOnce, type FileRequest } from '../http-read.ts'
import { HttpTransport } from '../http-transport.ts'
import { Failure, retryPolicyOf, withRetries, type RetryPolicy } from '../retry.ts'
import { endpointOf, openEndpoints, SetupError, type S3Bucket, type S3Endpoints } from './s3-endpoints.ts'
import { parseS3Location } from './s3-location.ts'
import type { S3Credentials, S3Options } from './s3-options.ts'
import { explainRefusal } from './s3-refusal.ts'
import { encodeS3, queryTextOf } from './s3-signer.ts'
import { parseListingPage } from './s3-xml.ts'

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 100
/** A page has 1000 keys of at most 1024 bytes, each up to three times as long when encoded, and more about each. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024
/** A million files; a server that always has a next page must come to an end. */
const MAX_PAGES = 1000

/** What a request is about. */
interface Wanted {
  readonly what: 'read' | 'list'
  readonly location: string
  readonly bucket: string
  /** Encoded, with a slash at its start; empty for the bucket itself. */
  readonly path: string
  /** Names and values, not encoded. */
  readonly query: Readonly<Record<string, string>>
  readonly range: ByteRange | undefined
  readonly maxBytes?: number
}

/** How a request is made. */
interface Setting {
  readonly endpoints: S3Endpoints
  readonly bucket: S3Bucket
  /** Undefined for anonymous requests. */
  readonly credentials: S3Credentials | undefined
}

/** All buckets of one endpoint that one set of credentials can read. */
export class S3FileIO implements FileIO {
  readonly identity: string
  readonly #options: S3Options
  readonly #endpoint: string | undefined
  /** Whether the identity means the same in another process; else it stands for this FileIO and no other. */
  readonly isLasting: boolean
  readonly #transport: HttpTransport
  readonly #retries: RetryPolicy
  #endpoints: Promise<S3Endpoints> | undefined
  #endpointsInHand: S3Endpoints | undefined
  readonly #buckets = new Map<string, S3Bucket>()
  #clockOffsetMs = 0

  /**
   * Makes no request, and does not load the SDK.
   *
   * @param transport - Whose connections it uses; by default its own, which {@link close} closes.
   * @throws InvalidArgumentError for an endpoint that is no URL, and options that are no numbers to count by.
   */
  constructor(options: S3Options = {}, transport: HttpTransport = new HttpTransport(options)) {
    this.#options = options
    this.#endpoint = endpointOf(options)
    const scope = scopeOf(options)
    this.isLasting = scope !== undefined
    this.identity = JSON.stringify(['s3', this.#endpoint ?? partitionOf(options), scope ?? randomUUID()])
    this.#transport = transport
    this.#retries = retryPolicyOf({
      attempts: options.attempts ?? ATTEMPTS,
      firstPauseMs: options.firstPauseMs ?? FIRST_PAUSE_MS,
    })
  }

  /** @throws InvalidArgumentError for what is no S3 location or has no key. */
  open(location: string): InputFile {
    const { bucket, key } = parseS3Location(location)
    if (key === '')
      throw new InvalidArgumentError(`Cannot open ${location}: it names a bucket and no key in it`, {
        location,
      })
    const path = `/${encodeKey(key)}`
    return {
      location,
      isRemote: this.isLasting,
      read: async (range, { signal } = {}) => {
        signal?.throwIfAborted()
        checkRead(location, range)
        // HTTP has no way to ask for no bytes.
        if (range?.start === range?.end && range !== undefined) return new Uint8Array(0)
        return await this.#get({ what: 'read', location, bucket, path, query: {}, range }, signal)
      },
    }
  }

  /** A folder that does not exist has no files: S3 has no folders. */
  async list(folder: string, { signal }: ReadOptions = {}): Promise<string[]> {
    signal?.throwIfAborted()
    const { bucket, key } = parseS3Location(folder)
    const prefix = key === '' || key.endsWith('/') ? key : `${key}/`
    const fail = (why: string): StorageError =>
      new StorageError(`Cannot list ${folder}: ${why}`, { location: folder })
    const names: string[] = []
    const asked = new Set<string>()
    let next: string | undefined
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = {
        'list-type': '2',
        delimiter: '/',
        'encoding-type': 'url',
        prefix,
        ...(next === undefined ? {} : { 'continuation-token': next }),
      }
      const bytes = await this.#get(
        {
          what: 'list',
          location: folder,
          bucket,
          path: '',
          query,
          range: undefined,
          maxBytes: MAX_PAGE_BYTES,
        },
        signal,
      )
      const listed = parseListingPage(new TextDecoder().decode(bytes))
      if (listed === undefined) throw fail('the answer is not a page of a listing')
      for (const key of listed.keys) {
        const name = key.slice(prefix.length)
        // Servers that do not know a parameter answer with more than was asked for.
        if (key.startsWith(prefix) && name !== '' && !name.includes('/')) names.push(name)
      }
      next = listed.next
      if (next === undefined) return names
      if (asked.has(next)) throw fail('a page names one before it as the next')
      asked.add(next)
    }
    throw fail(`there are more than ${MAX_PAGES} pages of names`)
  }

  /** Closes the connections. Reads that are under way end with an error; later ones open new connections. */
  close(): void {
    this.#transport.close()
  }

  async #get(wanted: Wanted, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const remedies = new Set<string>()
    return await withRetries(this.#retries, signal, () => this.#attempt(wanted, remedies, signal))
  }

  /** One request, and another at once after a remedy, each of which is tried once in a read. */
  async #attempt(
    wanted: Wanted,
    remedies: Set<string>,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | Failure> {
    for (;;) {
      const setting =
        this.#settingInHand(wanted.bucket) ?? (await unlessAborted(this.#setting(wanted), signal))
      const outcome = await readOnce(this.#transport, await this.#signed(wanted, setting), signal)
      if (outcome instanceof Uint8Array || outcome instanceof Failure) return outcome
      const refusal = explainRefusal(
        { ...wanted, region: setting.bucket.region, isAnonymous: setting.credentials === undefined },
        outcome,
      )
      const { error, remedy, hint } = refusal
      if (remedy === 'wait' && error instanceof StorageError) return new Failure(error, hint)
      if (remedies.has(remedy)) throw error
      remedies.add(remedy)
      const isRemedied =
        remedy === 'renew'
          ? await unlessAborted(this.#renew(wanted, setting), signal)
          : remedy === 'clock'
            ? this.#setClock(refusal.clockOffsetMs)
            : remedy === 'region' && this.#move(wanted.bucket, refusal.region!, setting.endpoints)
      if (!isRemedied) throw error
    }
  }

  /** As that of almost all requests, so without a promise. */
  #settingInHand(name: string): Setting | undefined {
    const endpoints = this.#endpointsInHand
    const bucket = this.#buckets.get(name)
    if (endpoints === undefined || bucket === undefined) return undefined
    if (endpoints.credentials === undefined) return { endpoints, bucket, credentials: undefined }
    const credentials = endpoints.credentials.kept()
    return credentials === undefined ? undefined : { endpoints, bucket, credentials }
  }

  async #setting(wanted: Wanted): Promise<Setting> {
    const { bucket: name } = wanted
    const endpoints = await this.#opened(wanted)
    try {
      let bucket = this.#buckets.get(name)
      if (bucket === undefined) this.#buckets.set(name, (bucket = endpoints.bucket(name)))
      return { endpoints, bucket, credentials: await endpoints.credentials?.current() }
    } catch (error) {
      throw setupError(wanted, error)
    }
  }

  async #signed(
    { what, location, path, query, range, maxBytes }: Wanted,
    { bucket, credentials }: Setting,
  ): Promise<FileRequest> {
    const { origin, signer } = bucket
    const text = queryTextOf(query)
    const whole = `${bucket.path}${path}` || '/'
    const headers = rangeHeader(range)
    return {
      what,
      location,
      range,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      origin,
      path: text === '' ? whole : `${whole}?${text}`,
      headers:
        credentials === undefined
          ? headers
          : await signer.sign(
              { host: origin.host, path: whole, query, headers },
              credentials,
              Date.now() + this.#clockOffsetMs,
            ),
    }
  }

  async #opened(wanted: Wanted): Promise<S3Endpoints> {
    this.#endpoints ??= openEndpoints(this.#options, this.#endpoint)
    try {
      return (this.#endpointsInHand = await this.#endpoints)
    } catch (error) {
      // The environment may be put right while the process runs.
      this.#endpoints = undefined
      throw setupError(wanted, error)
    }
  }

  /** True if there are other credentials now. */
  async #renew(wanted: Wanted, { endpoints, credentials }: Setting): Promise<boolean> {
    if (credentials === undefined) return false
    try {
      const renewed = await endpoints.credentials!.renewed(credentials)
      return (
        renewed.accessKeyId !== credentials.accessKeyId || renewed.sessionToken !== credentials.sessionToken
      )
    } catch (error) {
      throw setupError(wanted, error)
    }
  }

  #setClock(offsetMs: number): boolean {
    this.#clockOffsetMs = offsetMs
    return offsetMs !== 0
  }

  /** Where the caller allows it. */
  #move(name: string, region: string, endpoints: S3Endpoints): boolean {
    if (this.#options.crossRegion !== true) return false
    this.#buckets.set(name, endpoints.bucket(name, region))
    return true
  }
}

/** As the signature has it: everything but letters, digits, `-._~` and slashes, once. */
function encodeKey(key: string): string {
  if (/^[\w.~/-]*$/.test(key)) return key
  return key.split('/').map(encodeS3).join('/')
}

function setupError({ what, location }: Wanted, error: unknown): Error {
  if (isIcebergError(error)) return error
  const why = error instanceof SetupError ? error.message : `S3 could not be set up, ${String(error)}`
  return new StorageError(`Cannot ${what} ${location}: ${why}`, { location, cause: error })
}

/** Bucket names are global, but AWS has three globes. */
function partitionOf({ region = process.env['AWS_REGION'] ?? '' }: S3Options): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}

/** Of the environment, what decides where the default chain finds its credentials. */
const CHAIN = [
  'AWS_PROFILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_ROLE_ARN',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
]

/** Undefined if nothing is known of the credentials, so that they can stand for nobody but themselves. */
function scopeOf(options: S3Options): string | undefined {
  const { credentialScope, anonymous, credentials, profile } = options
  if (credentialScope !== undefined) return `scope:${credentialScope}`
  if (anonymous === true) return 'anonymous'
  if (typeof credentials === 'function') return undefined
  if (credentials !== undefined) return `key:${digest(credentials.accessKeyId)}`
  return `chain:${digest(JSON.stringify([profile, ...CHAIN.map((name) => process.env[name])]))}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
