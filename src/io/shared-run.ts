/**
 * Work that those who want it at the same time share. It belongs to nobody: one who is aborted leaves, and the last
 * one to leave aborts it.
 */
import { unlessAborted } from './abort-listeners.ts'

interface Run<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  waiting: number
}

export class SharedRun<T> {
  readonly #work: (signal: AbortSignal) => Promise<T>
  /** Until it ends, or is aborted. */
  #run: Run<T> | undefined

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work
  }

  /** Whether there is a run to be joined. */
  get isUnderWay(): boolean {
    return this.#run !== undefined
  }

  /** The result of the run under way, or of one that begins now. Rejects with its error or the signal's reason. */
  async join(signal?: AbortSignal): Promise<T> {
    const run = (this.#run ??= this.#begin())
    run.waiting++
    try {
      return await unlessAborted(run.result, signal)
    } finally {
      // One that has ended has nobody to tell, and an abort costs an error with a stack.
      if (--run.waiting === 0 && this.#run === run) {
        // Whoever comes now must not join what is being aborted.
        this.#run = undefined
        run.controller.abort()
      }
    }
  }

  #begin(): Run<T> {
    const controller = new AbortController()
    const result = this.#work(controller.signal).finally(() => {
      if (this.#run === run) this.#run = undefined
    })
    // Those who left do not hear of its end.
    result.catch(() => undefined)
    const run: Run<T> = { result, controller, waiting: 0 }
    return run
  }
}
