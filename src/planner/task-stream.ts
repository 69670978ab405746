/**
 * Batches, one task at a time. While a batch lasts, `next()` makes one small object and one settled promise; an
 * async generator per task would cost several times more.
 */
import type { FileScanTask } from './file-scan-task.ts'
import type { PlannedBatch } from './planned-batch.ts'

export class TaskStream implements AsyncIterableIterator<FileScanTask> {
  readonly #batches: AsyncGenerator<PlannedBatch>
  #batch: PlannedBatch | undefined
  #position = 0
  /** Settles when the calls made while a batch was awaited are answered. */
  #pending: Promise<unknown> | undefined

  constructor(batches: AsyncGenerator<PlannedBatch>) {
    this.#batches = batches
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<FileScanTask, undefined>> {
    if (this.#pending === undefined) {
      const task = this.#take()
      if (task !== undefined) return Promise.resolve({ value: task, done: false })
    }
    // Calls made before the last one is answered wait for it, so that tasks keep their order.
    const before = this.#pending
    const answer = before === undefined ? this.#advance() : before.then(() => this.#advance())
    const pending = answer
      .catch(() => undefined)
      .then(() => {
        if (this.#pending === pending) this.#pending = undefined
      })
    this.#pending = pending
    return answer
  }

  /** Stops the plan: requests are aborted, nothing more is decoded. */
  async return(): Promise<IteratorResult<FileScanTask, undefined>> {
    this.#batch = undefined
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

  async #advance(): Promise<IteratorResult<FileScanTask, undefined>> {
    for (;;) {
      const task = this.#take()
      if (task !== undefined) return { value: task, done: false }
      const step = await this.#batches.next()
      if (step.done === true) return { value: undefined, done: true }
      this.#batch = step.value
      this.#position = 0
    }
  }
}
