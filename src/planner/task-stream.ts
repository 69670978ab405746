/**
 * Batches, one task at a time. While a batch lasts, `next()` makes one small object and one settled promise; an
 * async generator per task would cost several times more.
 */
import type { FileScanTask } from './file-scan-task.ts'
import type { PlannedBatch } from './planned-batch.ts'

type Answer = IteratorResult<FileScanTask, undefined>

export class TaskStream implements AsyncIterableIterator<FileScanTask> {
  readonly #batches: AsyncGenerator<PlannedBatch>
  readonly #controller: AbortController
  #batch: PlannedBatch | undefined
  #position = 0
  /** Calls that wait for a batch, or for a call before them: tasks keep their order. */
  #waiting = 0
  /** Settles with the last call that had to wait; never rejects. */
  #last: Promise<unknown> = Promise.resolve()
  #isStopped = false

  /** @param controller of the plan behind the batches; aborted when the stream is left */
  constructor(batches: AsyncGenerator<PlannedBatch>, controller: AbortController) {
    this.#batches = batches
    this.#controller = controller
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Answer> {
    // An aborted plan gives no more tasks, not even those it has; the slow way finds out how to end.
    if (this.#waiting === 0 && !this.#controller.signal.aborted) {
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
    this.#controller.abort()
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
      for (;;) {
        const task = this.#controller.signal.aborted ? undefined : this.#take()
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
