/**
 * Credentials of the storage that a catalog hands out with a table: kept, and exchanged for new ones while plans go on.
 * When to ask for others is the store's business, which knows when a request fails for them; here is where they come
 * from: each set is given to its store once, the next call gets another.
 */
import { StorageError } from '../errors.ts'
import type { S3Credentials } from '../io/s3/s3-options.ts'
import { SharedRun } from '../planner/shared-run.ts'
import { valueOf, type Properties } from './rest-options.ts'
import type { StorageCredential } from './table-response.ts'

/** Credentials that wait to be taken are too old so long before their end, or after half of a shorter life. */
const TOO_OLD_BEFORE_MS = 5 * 60_000
/** Credentials that have ended when they come mean that one of two clocks is wrong; the storage knows which. */
const SHORTEST_LIFE_MS = 10_000

interface Vended {
  readonly credentials: S3Credentials
  /** Milliseconds since the epoch; Infinity for credentials without an end. */
  readonly freshUntil: number
  isTaken: boolean
}

/** The S3 credentials among properties, by either of the names that they have; undefined if there are none. */
export function s3CredentialsIn(config: Properties): S3Credentials | undefined {
  const either = (name: string): string | undefined =>
    valueOf(config, `s3.${name}`) ?? valueOf(config, `client.${name}`)
  const accessKeyId = either('access-key-id')
  const secretAccessKey = either('secret-access-key')
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const sessionToken = either('session-token')
  const expiresAt = Number(valueOf(config, 's3.session-token-expires-at-ms') ?? NaN)
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
  readonly #renewing: SharedRun<void>
  readonly #byPrefix = new Map<string, Vended>()

  /**
   * @param table for messages
   * @param renew asks the catalog for new ones
   */
  constructor(table: string, renew: (signal: AbortSignal) => Promise<readonly StorageCredential[]>) {
    this.#table = table
    this.#renewing = new SharedRun(async (signal) => {
      this.#exchange(await renew(signal))
    })
  }

  /** Takes what a load of the table has brought. */
  keep(received: readonly StorageCredential[]): void {
    for (const { prefix, config } of received) {
      const credentials = s3CredentialsIn(config)
      if (credentials !== undefined) this.#byPrefix.set(prefix, vended(credentials))
    }
  }

  has(prefix: string): boolean {
    return this.#byPrefix.has(prefix)
  }

  /**
   * Credentials for a prefix that was kept, others than before. Those who ask at once share one request. Rejects with
   * the errors of asking the catalog.
   */
  async take(prefix: string): Promise<S3Credentials> {
    const kept = this.#byPrefix.get(prefix)!
    if (kept.isTaken || Date.now() >= kept.freshUntil) await this.#renewing.join()
    const current = this.#byPrefix.get(prefix)!
    current.isTaken = true
    return current.credentials
  }

  /** A catalog may name its prefixes otherwise than it did: what covers a prefix is good for it. */
  #exchange(received: readonly StorageCredential[]): void {
    const usable = received.filter(({ config }) => s3CredentialsIn(config) !== undefined)
    for (const prefix of this.#byPrefix.keys()) {
      const covering = usable
        .filter((one) => prefix.startsWith(one.prefix))
        .sort((a, b) => b.prefix.length - a.prefix.length)
      const found = covering.at(0) ?? (usable.length === 1 ? usable[0] : undefined)
      if (found === undefined)
        throw new StorageError(
          `Cannot renew the storage credentials of ${this.#table}: the catalog answered none for '${prefix}'`,
        )
      this.#byPrefix.set(prefix, vended(s3CredentialsIn(found.config)!))
    }
  }
}

function vended(credentials: S3Credentials): Vended {
  const now = Date.now()
  const lifeMs = Math.max((credentials.expiration?.getTime() ?? Infinity) - now, SHORTEST_LIFE_MS)
  return { credentials, freshUntil: now + lifeMs - Math.min(TOO_OLD_BEFORE_MS, lifeMs / 2), isTaken: false }
}
