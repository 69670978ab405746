/**
 * Credentials that end, kept until shortly before: whatever gives them is asked once, and again some minutes before
 * their end, never by two requests at once and never for each request. Requests go on with the old ones in the
 * meantime, and wait for the new ones only in the last half minute.
 */
import type { S3Credentials } from './s3-options.ts'

/** Time for requests that are on their way, and for clocks that differ; half of it for shorter lives. */
const RENEW_BEFORE_MS = 5 * 60_000
/** Time for one request; a quarter of shorter lives. */
const WAIT_BEFORE_MS = 30_000
/** Credentials that have ended when they come mean that a clock is wrong; the store knows whose. */
const SHORTEST_LIFE_MS = 10_000
/** After a renewal that failed while the old ones are still good. */
const PAUSE_MS = 10_000

export class CredentialCache {
  readonly #load: (isForced: boolean) => Promise<S3Credentials>
  #kept: S3Credentials | undefined
  #renewAt = Infinity
  /** From then on {@link #kept} is not good for another request. */
  #endAt = Infinity
  /** Under way. */
  #renewal: Promise<S3Credentials> | undefined

  /** @param load - Asked with true for others than those it may have kept itself. */
  constructor(load: (isForced: boolean) => Promise<S3Credentials>) {
    this.#load = load
  }

  /** Those in hand, if they are good for a request: without a promise, since all requests but a few get them so. */
  kept(): S3Credentials | undefined {
    const now = Date.now()
    if (now < this.#renewAt) return this.#kept
    if (now >= this.#endAt) return undefined
    // What fails in the background fails again, and with a reason, for the one who has to wait for it.
    if (this.#renewal === undefined) this.#renew(false).catch(() => undefined)
    return this.#kept
  }

  /** Rejects with what loading rejected with; the next call loads again. */
  async current(): Promise<S3Credentials> {
    return this.kept() ?? (await (this.#renewal ?? this.#renew(false)))
  }

  /** Credentials other than `stale`, which the store has refused; the same ones if there are no others. */
  async renewed(stale: S3Credentials): Promise<S3Credentials> {
    const current = this.#renewal === undefined ? this.#kept : await this.#renewal
    return current !== undefined && current !== stale ? current : await (this.#renewal ?? this.#renew(true))
  }

  #renew(isForced: boolean): Promise<S3Credentials> {
    const old = isForced ? undefined : this.#kept
    return (this.#renewal = this.#load(isForced).then(
      (credentials) => {
        this.#renewal = undefined
        this.#kept = credentials
        this.#renewAt = renewalOf(credentials)
        this.#endAt = endOf(credentials)
        return credentials
      },
      (error: unknown) => {
        this.#renewal = undefined
        const now = Date.now()
        const endAt = old?.expiration?.getTime() ?? 0
        // They are renewed before their end, so for a while they will do.
        if (old !== undefined && endAt > now) {
          this.#renewAt = Math.min(now + PAUSE_MS, endAt)
          this.#endAt = endAt
          return old
        }
        this.#kept = undefined
        throw error
      },
    ))
  }
}

/** When to ask for others, in milliseconds since 1970; Infinity for credentials without an end. */
export function renewalOf({ expiration }: S3Credentials): number {
  if (expiration === undefined) return Infinity
  const now = Date.now()
  const lifeMs = lifeOf(expiration, now)
  return now + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 2)
}

function endOf({ expiration }: S3Credentials): number {
  if (expiration === undefined) return Infinity
  const now = Date.now()
  const lifeMs = lifeOf(expiration, now)
  return now + lifeMs - Math.min(WAIT_BEFORE_MS, lifeMs / 4)
}

function lifeOf(expiration: Date, now: number): number {
  return Math.max(expiration.getTime() - now, SHORTEST_LIFE_MS)
}
