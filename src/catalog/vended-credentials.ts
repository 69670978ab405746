/**
 * Credentials of the storage that a catalog hands out with a table: kept, and exchanged for new ones while plans go on.
 * When to ask for others is the store's business, which knows when a request fails for them; here is where they come
 * from: each set is given to its store once, the next call gets another.
 */
import { StorageError } from '../errors.ts'
import { textOf } from '../io/property-text.ts'
import { renewalOf } from '../io/s3/s3-credentials.ts'
import type { S3Credentials } from '../io/s3/s3-options.ts'
import { SharedRun } from '../io/shared-run.ts'
import type { Properties } from './rest-options.ts'
import type { StorageCredential } from './table-response.ts'

interface Vended {
  readonly credentials: S3Credentials
  /** Those that wait longer to be taken are too old; milliseconds since the epoch. */
  readonly freshUntil: number
  isTaken: boolean
}

/** The S3 credentials among properties, by either of the names that they have; undefined unless both keys are there. */
export function s3CredentialsIn(config: Properties): S3Credentials | undefined {
  const either = (name: string): string | undefined =>
    textOf(config, `s3.${name}`) ?? textOf(config, `client.${name}`)
  const accessKeyId = either('access-key-id')
  const secretAccessKey = either('secret-access-key')
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const sessionToken = either('session-token')
  const expiresAt = Number(textOf(config, 's3.session-token-expires-at-ms') ?? NaN)
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(Number.isSafeInteger(expiresAt) ? { expiration: new Date(expiresAt) } : {}),
  }
}

/** A set of credentials is used as a whole: a session token of another set would spoil it. */
export function withoutS3Credentials(properties: Properties, config: Properties): Properties {
  if (s3CredentialsIn(config) === undefined) return properties
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !isS3Credential(name)))
}

/** Whether a property is a part of {@link s3CredentialsIn}. */
export function isS3Credential(name: string): boolean {
  return /^(?:s3|client)\.(?:access-key-id|secret-access-key|session-token(?:-expires-at-ms)?)$/.test(name)
}

/** The credentials of one table, one set for each prefix. */
export class VendedCredentials {
  readonly #table: string
  readonly #renewing: SharedRun<readonly StorageCredential[]>
  /** Those of the prefixes that the last load brought. */
  #byPrefix: ReadonlyMap<string, Vended> = new Map()

  /**
   * @param table for messages
   * @param renew asks the catalog for new ones
   */
  constructor(table: string, renew: (signal: AbortSignal) => Promise<readonly StorageCredential[]>) {
    this.#table = table
    this.#renewing = new SharedRun(async (signal) => {
      const received = (await renew(signal)).filter(({ config }) => s3CredentialsIn(config) !== undefined)
      this.#exchange(received)
      return received
    })
  }

  /** Takes what a load of the table has brought, in place of all that it had. */
  keep(received: readonly StorageCredential[]): void {
    this.#byPrefix = new Map(
      received.flatMap(({ prefix, config }) => {
        const credentials = s3CredentialsIn(config)
        return credentials === undefined ? [] : [[prefix, vended(credentials)]]
      }),
    )
  }

  has(prefix: string): boolean {
    return this.#byPrefix.has(prefix)
  }

  /**
   * Credentials for a prefix that was kept at some time, others than before: a scan of an older version of the table
   * may ask for a prefix that the current one does not have. Those who ask at once share one request. Rejects with the
   * errors of asking the catalog, and with StorageError if it has none for this prefix any more.
   */
  async take(prefix: string): Promise<S3Credentials> {
    const kept = this.#byPrefix.get(prefix)
    if (kept !== undefined && !kept.isTaken && Date.now() < kept.freshUntil) return taken(kept)
    const received = await this.#renewing.join()
    const renewed = this.#byPrefix.get(prefix)
    if (renewed !== undefined && renewed !== kept) return taken(renewed)
    const covering = coveringOf(prefix, received)
    if (covering === undefined)
      throw new StorageError(
        `Cannot renew the storage credentials of ${this.#table}: the catalog answered none for '${prefix}'`,
      )
    return s3CredentialsIn(covering.config)!
  }

  /** One answer is for all prefixes. One that it does not cover keeps what it has, and fails only if it is used. */
  #exchange(received: readonly StorageCredential[]): void {
    this.#byPrefix = new Map(
      [...this.#byPrefix].map(([prefix, kept]) => {
        const covering = coveringOf(prefix, received)
        return [prefix, covering === undefined ? kept : vended(s3CredentialsIn(covering.config)!)]
      }),
    )
  }
}

/** A catalog may name its prefixes otherwise than it did: what covers a prefix is good for it. */
function coveringOf(prefix: string, received: readonly StorageCredential[]): StorageCredential | undefined {
  const covering = received
    .filter((one) => prefix.startsWith(one.prefix))
    .sort((a, b) => b.prefix.length - a.prefix.length)
  return covering.at(0) ?? (received.length === 1 ? received[0] : undefined)
}

function vended(credentials: S3Credentials): Vended {
  return { credentials, freshUntil: renewalOf(credentials), isTaken: false }
}

function taken(vended: Vended): S3Credentials {
  vended.isTaken = true
  return vended.credentials
}
