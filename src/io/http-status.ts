/** What the head of an answer over HTTP says about another try: whether it may help, and when. One rule for all clients. */

/**
 * 408, 425, 429, 500, 502, 503 and 504: of any other status the same request would be answered alike (501 and 505 are
 * refusals, and a 509 or 599 is nobody's promise).
 */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether the same request may be answered better later. */
export function isBusyStatus(status: number): boolean {
  return BUSY.has(status)
}

export interface RetryHint {
  readonly isRetryable: boolean
  /** The pause that the server asks for. */
  readonly waitMs: number
  /** Whether it is asked too much. */
  readonly isThrottled: boolean
}

/** All of it, by the status and the header Retry-After. */
export function retryHintOf(status: number, retryAfter: string | null | undefined): RetryHint {
  return {
    isRetryable: isBusyStatus(status),
    waitMs: retryAfterMs(retryAfter),
    isThrottled: status === 429 || status === 503,
  }
}

/**
 * How long the header Retry-After asks to wait from `now` (ms since 1970); 0 if it is absent, past or not understood.
 * Seconds or a date (RFC 9110, section 10.2.3).
 */
export function retryAfterMs(header: string | null | undefined, now: number = Date.now()): number {
  const text = header?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
