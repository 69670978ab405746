/**
 * How a plan is stopped: one controller, aborted by the caller's signal, by the timeout, or by the plan's own end.
 */
import { setMaxListeners } from 'node:events'
import { InvalidArgumentError } from '../errors.ts'

export interface StopOptions {
  /** Aborting rejects what is pending with the signal's reason and stops all requests. */
  signal?: AbortSignal | undefined
  /** The same after so many milliseconds, with a `TimeoutError`. */
  timeoutMs?: number | undefined
}

/** Timers are 32 bits wide. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export class PlanStop {
  readonly controller = new AbortController()
  readonly #sources: readonly AbortSignal[]
  #unlisten = new AbortController()

  /** @throws InvalidArgumentError for a timeout that is none */
  constructor({ signal, timeoutMs }: StopOptions) {
    if (
      timeoutMs !== undefined &&
      !(Number.isFinite(timeoutMs) && timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)
    ) {
      throw new InvalidArgumentError(
        `Cannot plan within ${String(timeoutMs)} ms: a number from 0 to ${MAX_TIMEOUT_MS} is needed`,
      )
    }
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(timeoutMs))
    this.#sources = [signal, timeout].filter((source) => source !== undefined)
    // Every request may listen to the plan, and many plans to one caller: that is no leak to warn of.
    setMaxListeners(0, this.controller.signal, ...this.#sources)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** Listens to the caller's signal and the timeout, while there is something to stop. */
  listen(): void {
    this.#unlisten = new AbortController()
    for (const source of this.#sources) {
      const abort = (): void => {
        this.controller.abort(source.reason)
      }
      if (source.aborted) abort()
      else source.addEventListener('abort', abort, { once: true, signal: this.#unlisten.signal })
    }
  }

  /** Leaves the caller's signal alone: a plan that nobody consumes must not hang on it. */
  unlisten(): void {
    this.#unlisten.abort()
  }

  /** The end of the plan, if nothing stopped it before. */
  end(): void {
    this.unlisten()
    this.controller.abort()
  }
}
