/**
 * Synchronous work in slices: after a few milliseconds the event loop gets a turn, so that timers, requests and
 * signals are not held up by planning. One for all that a planner does, so that plans that run side by side do not
 * add up.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 8

export class TimeSlice {
  /** False once the event loop has turned. */
  #isRunning = false
  #until = 0

  /** True when the slice is used up; the first question after the event loop has turned begins one. */
  get isOver(): boolean {
    const now = performance.now()
    if (this.#isRunning) return now >= this.#until
    this.#isRunning = true
    this.#until = now + SLICE_MS
    setImmediate(() => {
      this.#isRunning = false
    })
    return false
  }

  /** Lets the event loop turn: other work is done, and the next question begins another slice. */
  async turn(): Promise<void> {
    await nextTurn()
  }
}
