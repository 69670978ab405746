/**
 * Batches, one task at a time. While a batch lasts, `next()` makes one small object and one settled promise; an
 * async generator per task would cost several times more.
 */
import type { FileScanTask } from './file-scan-task.ts'
import type { PlanStop } from './plan-stop.ts'
import type { PlannedBatch } from './planned-batch.ts'
import type { TimeSlice } from '../io/time-slice.ts'

/** Tasks between two looks at the clock: a fraction of a millisecond, unless the consumer takes its time. */
const TASKS_PER_LOOK = 64

type Answer = IteratorResult<FileScanTask, undefined>

export class TaskStream implements AsyncIterableIterator<FileScanTask> {
  readonly #batches: AsyncGenerator<PlannedBatch>
  readonly #stop: PlanStop
  readonly #slice: TimeSlice
  #batch: PlannedBatch | undefined
  #position = 0
  /** Calls that wait for a batch, or for a call before them: tasks keep their order. */
  #waiting = 0
  /** Settles with the last call that had to wait; never rejects. */
  #last: Promise<unknown> = Promise.resolve()
  #isStopped = false

  /**
   * @param stop of the plan behind the batches; ended when the stream is left
   * @param slice a consumer that only takes tasks would never let the event loop turn while there are batches
   */
  constructor(batches: AsyncGenerator<PlannedBatch>, stop: PlanStop, slice: TimeSlice) {
    this.#batches = batches
    this.#stop = stop
    this.#slice = slice
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Answer> {
    // An aborted plan gives no more tasks, not even those it has; the slow way finds out how to end.
    const isTimeToLook = this.#position % TASKS_PER_LOOK === 0
    if (this.#waiting === 0 && !isTimeToLook && !this.#stop.signal.aborted) {
      const task = this.#take()
      if (task !== undefined) return Promise.resolve({ value: task, done: false })
    }
    this.#waiting++
    const answer = this.#last.then(() => this.#advance())
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /** Stops the plan: requests are aborted, nothing more is decoded, calls that wait are answered with the end. */
  async return(): Promise<Answer> {
    this.#isStopped = true
    this.#batch = undefined
    this.#stop.end()
    await this.#batches.return(undefined)
    return { value: undefined, done: true }
  }

  #take(): FileScanTask | undefined {
    const batch = this.#batch
    if (batch === undefined) return undefined
    if (this.#position < batch.length) return batch.task(this.#position++)
    this.#batch = undefined
    return undefined
  }

  async #advance(): Promise<Answer> {
    try {
      if (this.#slice.isOver) await this.#slice.turn()
      for (;;) {
        const task = this.#stop.signal.aborted ? undefined : this.#take()
        if (task !== undefined) return { value: task, done: false }
        const step = await this.#batches.next()
        if (step.done === true || this.#isStopped) return { value: undefined, done: true }
        this.#batch = step.value
        this.#position = 0
      }
    } catch (error) {
      if (this.#isStopped) return { value: undefined, done: true }
      throw error
    } finally {
      this.#waiting--
    }
  }
}
