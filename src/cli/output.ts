/**
 * Results on their way to stdout: collected into chunks, written one at a time, so that a slow reader slows the plan
 * down and a million tasks are never held.
 *
 * What is collected and not yet flushed when a run fails is never written. An output that cannot be written aborts
 * the run, with ClosedPipeError as the reason when its reader has gone.
 */
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { ClosedPipeError, OutputError } from './failure.ts'

/** Characters; about the capacity of a pipe, beyond which larger writes gain nothing. */
const CHUNK_LENGTH = 64 * 1024

export class Output {
  readonly #stream: Writable
  readonly #signal: AbortSignal
  #texts: string[] = []
  #length = 0

  /** @param controller of the run: aborted when the stream fails, and heeded while writing */
  constructor(stream: Writable, controller: AbortController) {
    this.#stream = stream
    this.#signal = controller.signal
    // Without a listener a closed pipe is an uncaught error with a stack.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      controller.abort(
        error.code === 'EPIPE'
          ? new ClosedPipeError()
          : new OutputError(`Cannot write the output: ${error.message}`),
      )
    })
  }

  /** Collects a text. True when enough is there for {@link flush}. */
  add(text: string): boolean {
    this.#texts.push(text)
    this.#length += text.length
    return this.#length >= CHUNK_LENGTH
  }

  /** Writes what is collected; settles when it is written. Rejects with the reason of an abort. */
  async flush(): Promise<void> {
    const text = this.#texts.join('')
    this.#texts = []
    this.#length = 0
    this.#signal.throwIfAborted()
    if (text !== '') await this.#write(text)
    // Files are written synchronously: without a turn of the event loop, Ctrl-C would not be seen.
    await setImmediate()
    this.#signal.throwIfAborted()
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        reject(this.#signal.reason as Error)
      }
      this.#signal.addEventListener('abort', abort, { once: true })
      this.#stream.write(text, (error) => {
        // The stream's own 'error' event aborts, and says why.
        if (error) return
        this.#signal.removeEventListener('abort', abort)
        resolve()
      })
    })
  }
}
