/**
 * Work that those who want it at the same time share. It belongs to nobody: one who is aborted leaves, and the last
 * one to leave aborts it.
 */
import { unlessAborted } from './file-fetcher.ts'

interface Run<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  waiting: number
}

export class SharedRun<T> {
  readonly #work: (signal: AbortSignal) => Promise<T>
  #run: Run<T> | undefined

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work
  }

  /** The result of the run under way, or of one that begins now. Rejects with its error or the signal's reason. */
  async join(signal?: AbortSignal): Promise<T> {
    const run = (this.#run ??= this.#begin())
    run.waiting++
    try {
      return await (signal === undefined ? run.result : unlessAborted(run.result, signal))
    } finally {
      if (--run.waiting === 0) {
        run.controller.abort()
        // Whoever comes now must not join what is being aborted.
        if (this.#run === run) this.#run = undefined
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
