/**
 * Synchronous work in slices: after a few milliseconds the event loop gets a turn, so that timers, requests and
 * signals are not held up by decoding. One for all that a planner does, so that plans that run side by side do not
 * add up.
 */
import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 8

export class TimeSlice {
  #until = 0

  /** True when the slice is used up; a question after a pause begins one. */
  get isOver(): boolean {
    const now = performance.now()
    if (now > this.#until + SLICE_MS) this.#until = now + SLICE_MS
    return now >= this.#until
  }

  /** Lets the event loop turn, then begins another slice. */
  async turn(): Promise<void> {
    await setImmediate()
    this.#until = performance.now() + SLICE_MS
  }
}
