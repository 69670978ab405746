/**
 * Many waits on one AbortSignal through one listener: a plan has one signal and may have thousands of reads under way,
 * Node warns of more than ten listeners, and removing one of many takes a search.
 */
const waitsOf = new WeakMap<AbortSignal, Waits>()

/** Calls `leave` once if the signal is aborted before the function returned is called. It must not be aborted yet. */
export function onAbort(signal: AbortSignal, leave: () => void): () => void {
  let waits = waitsOf.get(signal)
  if (waits === undefined) waitsOf.set(signal, (waits = new Waits(signal)))
  return waits.add(leave)
}

/**
 * What the promise gives, or the signal's reason as soon as it is aborted. The work behind the promise goes on; its end
 * is then nobody's concern.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  if (signal.aborted) promise.catch(() => undefined)
  return new Promise<T>((resolve, reject) => {
    signal.throwIfAborted()
    const done = onAbort(signal, () => {
      done()
      // The reason is the caller's own value, an error or not.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal.reason)
    })
    promise.then(
      (value) => {
        done()
        resolve(value)
      },
      (error: unknown) => {
        done()
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(error)
      },
    )
  })
}

/** Listens only while there is somebody who waits: a signal may outlive many plans. */
class Waits {
  readonly #signal: AbortSignal
  readonly #leaves = new Set<() => void>()
  readonly #leaveAll = (): void => {
    for (const leave of this.#leaves) leave()
  }

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(leave: () => void): () => void {
    // Two waits may leave in the same way.
    const own = (): void => {
      leave()
    }
    if (this.#leaves.size === 0) this.#signal.addEventListener('abort', this.#leaveAll)
    this.#leaves.add(own)
    return () => {
      this.#leaves.delete(own)
      if (this.#leaves.size === 0) this.#signal.removeEventListener('abort', this.#leaveAll)
    }
  }
}
