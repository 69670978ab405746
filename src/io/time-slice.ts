/**
 * Synchronous work in slices: after a few milliseconds the event loop gets a turn, so that timers, requests and
 * signals are not held up by planning. Plans that run side by side share the milliseconds of a turn: none starves
 * another, and together they do not add up.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Of one turn of the event loop, for all plans together. */
const TURN_MS = 8

/** What the plans of one planner share. */
export class TimeShare {
  #turn = 0
  #isCounting = false
  /** Slices begun in this turn, and in the last one. */
  #begun = 0
  #begunBefore = 0

  /** The number of the event loop's turn. */
  get turn(): number {
    if (!this.#isCounting) {
      this.#isCounting = true
      setImmediate(() => {
        this.#isCounting = false
        this.#turn++
        this.#begunBefore = this.#begun
        this.#begun = 0
      })
    }
    return this.#turn
  }

  /** Milliseconds of a slice that begins now: as many plans are at work as were in the last turn, or more. */
  begin(): number {
    this.#begun++
    return TURN_MS / Math.max(this.#begun, this.#begunBefore)
  }
}

/**
 * Takes steps to their end; between two of them the event loop turns when it is time.
 *
 * @throws the signal's reason, once the event loop has turned
 */
export async function inSlices<T>(
  steps: Iterator<unknown, T>,
  slice: TimeSlice,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (!slice.isOver) continue
    await slice.turn()
    signal.throwIfAborted()
  }
}

/** The slices of one plan. */
export class TimeSlice {
  readonly #share: TimeShare
  #turn = -1
  #until = 0

  constructor(share = new TimeShare()) {
    this.#share = share
  }

  /** True when the slice is used up; the first question after the event loop has turned begins one. */
  get isOver(): boolean {
    const now = performance.now()
    const { turn } = this.#share
    if (turn === this.#turn) return now >= this.#until
    this.#turn = turn
    this.#until = now + this.#share.begin()
    return false
  }

  /** Lets the event loop turn: other work is done, and the next question begins another slice. */
  async turn(): Promise<void> {
    await nextTurn()
  }
}
