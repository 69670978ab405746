/**
 * Signatures of GET requests: AWS Signature Version 4, by the SDK's signer. What is signed here is sent as it is: keys are
 * encoded once, and by this file.
 */
import { createHash, createHmac } from 'node:crypto'
import type { SignatureV4 } from '@smithy/signature-v4'
import type { S3Credentials } from './s3-options.ts'

type SignerOptions = ConstructorParameters<typeof SignatureV4>[0]

/** Given with each request, so that the signer hashes nothing for it. */
const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export interface UnsignedGet {
  readonly host: string
  /** Encoded by {@link encodeS3}, segment by segment. */
  readonly path: string
  /** Names and values as they are; sent as {@link queryTextOf} has them. */
  readonly query: Readonly<Record<string, string>>
  /** More headers to sign: names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** Signs for one region. */
export class S3Signer {
  readonly #sdkSigner: typeof SignatureV4
  readonly #region: string
  #credentials: S3Credentials | undefined
  #signer: SignatureV4 | undefined

  /** @param sdkSigner - The SDK's class, which is loaded late. */
  constructor(sdkSigner: typeof SignatureV4, region: string) {
    this.#sdkSigner = sdkSigner
    this.#region = region
  }

  /**
   * The headers to send, all but `host`.
   *
   * @param now - Milliseconds since the epoch, by the clock of the store.
   */
  async sign(
    { host, path, query, headers }: UnsignedGet,
    credentials: S3Credentials,
    now: number,
  ): Promise<Record<string, string>> {
    const signed = await this.#signerFor(credentials).sign(
      {
        method: 'GET',
        protocol: '',
        hostname: host,
        path,
        query: { ...query },
        headers: { ...headers, host, 'x-amz-content-sha256': SHA256_OF_NOTHING },
      },
      { signingDate: new Date(now) },
    )
    delete signed.headers['host']
    return signed.headers
  }

  #signerFor(credentials: S3Credentials): SignatureV4 {
    if (this.#signer === undefined || credentials !== this.#credentials) {
      this.#credentials = credentials
      this.#signer = new this.#sdkSigner({
        credentials,
        region: this.#region,
        service: 's3',
        // Wider than what the signer asks of a hash: text and bytes.
        sha256: Sha256 as unknown as SignerOptions['sha256'],
        uriEscapePath: false,
      })
    }
    return this.#signer
  }
}

/** Node's SHA-256 in the form that the signer wants; its own is written in JavaScript. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>

  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret)
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data)
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }
}

/** Everything but letters, digits and `-._~`, as UTF-8. */
export function encodeS3(text: string): string {
  if (/^[\w.~-]*$/.test(text)) return text
  // Half a surrogate pair has no UTF-8 form.
  const whole = text.replace(/\p{Surrogate}/gu, '\uFFFD')
  return encodeURIComponent(whole).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** A query to send and to sign, without the question mark: encoded, in the order of the names. */
export function queryTextOf(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeS3(name)}=${encodeS3(value)}`)
    .sort()
    .join('&')
}
