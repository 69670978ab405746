/**
 * Synchronous work in slices: after a few milliseconds the event loop gets a turn, so that timers, requests and
 * signals are not held up by decoding.
 */
import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 8

export class TimeSlice {
  #until = 0

  /** True when the slice is used up; the first question begins one. */
  get isOver(): boolean {
    const now = performance.now()
    if (this.#until === 0) this.#until = now + SLICE_MS
    return now >= this.#until
  }

  /** Lets the event loop turn, then begins another slice; throws the signal's reason if it was aborted. */
  async turn(signal: AbortSignal): Promise<void> {
    await setImmediate()
    signal.throwIfAborted()
    this.#until = performance.now() + SLICE_MS
  }
}
