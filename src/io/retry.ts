/**
 * Trying again, the same for all stores on a network. The policy is the standard one of the AWS SDKs: the pause before
 * a try is a random part of one that doubles from try to try, longer where the store says it is asked too much. Theirs
 * cannot be aborted while it pauses, so this one is our own. It keeps no budget for retries across reads: the first read
 * that fails for good ends its plan.
 */
import type { StorageError } from '../errors.ts'
import { unlessAborted } from './abort-listeners.ts'
import { countOf, pauseOf } from './number-option.ts'

/** Such as Retry-After may ask for, but not for one longer than this; nor does a pause grow beyond it. */
const MAX_PAUSE_MS = 20_000
/** Pauses after "slow down" are this many times as long as others. */
const THROTTLED = 5

/** Far beyond the longest pause, and below what a number can hold. */
const MAX_DOUBLINGS = 64

export interface RetryPolicy {
  /** The first try included. */
  readonly attempts: number
  /** Longest pause before the second try, in milliseconds. */
  readonly firstPauseMs: number
}

/** @throws InvalidArgumentError for what cannot be counted or waited for. */
export function retryPolicyOf({ attempts, firstPauseMs }: RetryPolicy): RetryPolicy {
  return {
    attempts: countOf('attempts', attempts),
    firstPauseMs: pauseOf('firstPauseMs', firstPauseMs),
  }
}

/** What a try returns that is worth another one. */
export class Failure {
  /** What to reject with if there is no further try. */
  readonly error: StorageError
  /** The least pause that the store asked for. */
  readonly waitMs: number
  readonly isThrottled: boolean

  constructor(error: StorageError, { waitMs = 0, isThrottled = false } = {}) {
    this.error = error
    this.waitMs = waitMs
    this.isThrottled = isThrottled
  }
}

/** The first answer that is no Failure. Rejects with the error of the last one, or at once if a try rejects. */
export async function withRetries<T>(
  { attempts, firstPauseMs }: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T | Failure>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const outcome = await attempt()
    if (!(outcome instanceof Failure)) return outcome
    if (tries >= attempts) throw outcome.error
    const longestMs =
      firstPauseMs * (outcome.isThrottled ? THROTTLED : 1) * 2 ** Math.min(tries - 1, MAX_DOUBLINGS)
    const ms = Math.min(Math.max(longestMs * Math.random(), outcome.waitMs), MAX_PAUSE_MS)
    await pause(ms, signal)
  }
}

/** Rejects with the signal's reason, at once. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await unlessAborted(over, signal)
  } finally {
    clearTimeout(timer)
  }
}
