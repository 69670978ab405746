/**
 * Credentials that end, kept until shortly before: whatever gives them is asked once, and again some minutes before
 * their end, never by two requests at once and never for each request.
 */
import type { S3Credentials } from './s3-options.ts'

/** Time for requests that are on their way, and for clocks that differ; half of it for shorter lives. */
const RENEW_BEFORE_MS = 5 * 60_000
/** Credentials that have ended when they come mean that a clock is wrong; the store knows whose. */
const SHORTEST_LIFE_MS = 10_000

export class CredentialCache {
  readonly #load: (isForced: boolean) => Promise<S3Credentials>
  #current: Promise<S3Credentials> | undefined
  /** What {@link #current} gave. */
  #kept: S3Credentials | undefined
  #renewAt = Infinity
  #isRenewing = false

  /** @param load - Asked with true for others than those it may have kept itself. */
  constructor(load: (isForced: boolean) => Promise<S3Credentials>) {
    this.#load = load
  }

  /** Those in hand, if they need not be renewed: without a promise, since all requests but a few get them so. */
  kept(): S3Credentials | undefined {
    return Date.now() < this.#renewAt ? this.#kept : undefined
  }

  /** Rejects with what loading rejected with; the next call loads again. */
  current(): Promise<S3Credentials> {
    if (this.#current === undefined) return this.#renew(false)
    if (Date.now() >= this.#renewAt && !this.#isRenewing) return this.#renew(false)
    return this.#current
  }

  /** Credentials other than `stale`, which the store has refused; the same ones if there are no others. */
  async renewed(stale: S3Credentials): Promise<S3Credentials> {
    const current = this.#isRenewing ? await this.#current! : this.#kept
    return current !== undefined && current !== stale ? current : await this.#renew(true)
  }

  #renew(isForced: boolean): Promise<S3Credentials> {
    const old = isForced ? undefined : this.#kept
    this.#isRenewing = true
    const renewal = this.#load(isForced)
      .catch((error: unknown) => {
        // They are renewed before their end, so for a while they will do.
        if (old?.expiration !== undefined && old.expiration.getTime() > Date.now()) return old
        throw error
      })
      .then(
        (credentials) => {
          this.#kept = credentials
          this.#renewAt = renewalOf(credentials)
          this.#isRenewing = false
          return credentials
        },
        (error: unknown) => {
          this.#kept = this.#current = undefined
          this.#isRenewing = false
          throw error
        },
      )
    return (this.#current = renewal)
  }
}

function renewalOf({ expiration }: S3Credentials): number {
  if (expiration === undefined) return Infinity
  const now = Date.now()
  const lifeMs = Math.max(expiration.getTime() - now, SHORTEST_LIFE_MS)
  return now + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 2)
}
