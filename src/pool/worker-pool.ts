/**
 * Worker threads, behind a guard against the ways in which a Piscina pool can hang or lose errors:
 *
 * - a worker file that is missing, or throws or exits while it loads: one task rejects, the others wait for ever. Here
 *   the pool is dead from then on, and all tasks, waiting and new, reject with a WorkerError.
 * - with no minimum of threads, tasks queued behind a dying thread wait for ever. Here there is always a minimum.
 * - `close()` counts tasks where it means threads, and so ends threads that are at work; for one that dies it waits half
 *   a minute. Here the pool waits for its tasks and then ends the threads.
 * - a thread that is ended while Piscina has it load the worker file can abort the process (Node 20: `v8::Module::IsGraphAsync`).
 *   Here threads load to the end before they are ended.
 * - tasks that found no thread go to the end of the queue. Here they keep their place.
 * - classes and codes of errors are lost. Here they travel as data (messages.ts).
 *
 * No task is given a signal: Piscina would kill the worker, and give such a worker one task at a time. Tasks look at a
 * flag in shared memory instead.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort, type MessagePort, type Worker } from 'node:worker_threads'
import { Piscina, queueOptionsSymbol, type TaskQueue } from 'piscina'
import { fromPlainError, WorkerError } from '../errors.ts'
import type { Envelope, PostedTask } from './messages.ts'
import type { Pool, RunOptions } from './pool.ts'

export interface WorkerPoolOptions {
  /** The module whose default export runs a task. */
  filename: string
  /** Threads; at least 1. They start with the pool, so make it when there is work. */
  workers: number
  /** How long {@link WorkerPool.close} waits for threads that still load the module, in milliseconds; 5000 unless given. */
  maxLoadMs?: number
}

const MAX_LOAD_MS = 5000

export class WorkerPool<Task, Answer> implements Pool<Task, Answer> {
  readonly workers: number
  readonly #piscina: Piscina
  /** Tasks that are queued or at work, each with its way to reject. */
  readonly #pending = new Map<Promise<void>, (error: Error) => void>()
  /** Of every thread, whether it has loaded the module or failed to. */
  readonly #loading = new WeakMap<Worker, Promise<void>>()
  readonly #maxLoadMs: number
  #tasks = 0
  #dead: Error | undefined

  constructor({ filename, workers, maxLoadMs = MAX_LOAD_MS }: WorkerPoolOptions) {
    this.workers = workers
    this.#maxLoadMs = maxLoadMs
    this.#piscina = new Piscina({
      filename,
      minThreads: workers,
      maxThreads: workers,
      idleTimeout: Infinity,
      // Tasks are synchronous, so a worker may sleep on its queue instead of turning its event loop.
      atomics: 'sync',
      recordTiming: false,
      taskQueue: new UrgencyQueue(),
    })
    this.#piscina.on('error', (error: Error) => {
      this.#checkThreads(error)
    })
    // A thread that ends while it loads its module gives no error. It is still counted now, and its task, if it has one,
    // knows more.
    this.#piscina.on('workerDestroy', () => {
      setImmediate(() => {
        this.#checkThreads(new WorkerError('A worker thread ended while it was starting'))
        this.#watchThreads()
      })
    })
    this.#watchThreads()
  }

  /** True once no task can be run any more: the worker file does not load, or the pool was closed. */
  get isDead(): boolean {
    return this.#dead !== undefined
  }

  async run(task: Task, { urgency = 0 }: RunOptions = {}): Promise<Answer> {
    if (this.#dead !== undefined) throw this.#dead
    const { port1, port2 } = new MessageChannel()
    const posted: PostedTask<Task> = { task, port: port2 }
    const place: Place = { urgency, order: this.#tasks++ }
    const done = this.#post({ ...posted, [queueOptionsSymbol]: place }, [port2])
    try {
      await done
      // The worker posted before it was done, so the message is here.
      const received = receiveMessageOnPort(port1) as { message: Envelope<Answer> } | undefined
      if (received === undefined) throw new WorkerError('A worker thread ended a task without an answer')
      if ('error' in received.message) throw fromPlainError(received.message.error)
      return received.message.answer
    } finally {
      this.#pending.delete(done)
      port1.close()
    }
  }

  /** Settles when a worker has run a task, or when no worker ever will. */
  #post(task: object, transferList: MessagePort[]): Promise<void> {
    let giveUp!: (error: Error) => void
    const done = new Promise<void>((resolve, reject) => {
      giveUp = reject
      // Tasks that come in one turn go out together: a worker that wakes may take this thread's core, for milliseconds
      // where there are no more cores than workers.
      queueMicrotask(() => {
        this.#piscina.run(task, { transferList }).then(resolve, (error: unknown) => {
          const failed = workerFailure(error)
          this.#checkThreads(failed)
          reject(failed)
        })
      })
    })
    this.#pending.set(done, giveUp)
    return done
  }

  async close(): Promise<void> {
    this.#dead ??= new WorkerError('Cannot run a task: the worker pool is closed')
    await Promise.allSettled(this.#pending.keys())
    await this.#haveLoaded()
    await this.#piscina.destroy()
  }

  /** A thread's first message says that it has loaded the module. Piscina tells of it only where it replaces a thread. */
  #watchThreads(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#loading.has(thread)) continue
      const loaded = new Promise<void>((resolve) => {
        for (const event of ['message', 'error', 'exit']) thread.once(event, resolve)
      })
      this.#loading.set(thread, loaded)
    }
  }

  async #haveLoaded(): Promise<void> {
    const { threads } = this.#piscina
    // Idle threads do not keep the process alive; one that ends here would end it in the middle of a close.
    for (const thread of threads) thread.ref()
    const limit = new AbortController()
    const late = delay(this.#maxLoadMs, undefined, { signal: limit.signal }).catch(() => undefined)
    await Promise.race([Promise.all(threads.map(async (thread) => this.#loading.get(thread))), late])
    limit.abort()
  }

  /** Without threads there never will be any: Piscina replaces one that dies, unless it died while starting. */
  #checkThreads(error: Error): void {
    if (this.#piscina.threads.length > 0) return
    this.#dead ??= workerFailure(error)
    for (const giveUp of this.#pending.values()) giveUp(this.#dead)
  }
}

function workerFailure(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error
  const why = error instanceof Error ? error.message : String(error)
  return new WorkerError(`A worker thread failed: ${why}`, { cause: error })
}

type Queued = Parameters<TaskQueue['push']>[0]

interface Place {
  readonly urgency: number
  /** Of coming. */
  readonly order: number
}

/** Of the tasks that wait, the most urgent first; of equals, the one that came first. Few wait at a time. */
class UrgencyQueue implements TaskQueue {
  readonly #tasks: Queued[] = []

  get size(): number {
    return this.#tasks.length
  }

  push(task: Queued): void {
    this.#tasks.push(task)
  }

  shift(): Queued | null {
    let first = 0
    for (let i = 1; i < this.#tasks.length; i++) if (isBefore(this.#tasks[i], this.#tasks[first])) first = i
    return this.#tasks.length === 0 ? null : this.#tasks.splice(first, 1)[0]
  }

  remove(task: Queued): void {
    const at = this.#tasks.indexOf(task)
    if (at >= 0) this.#tasks.splice(at, 1)
  }
}

function isBefore(a: Queued, b: Queued): boolean {
  const [here, there] = [placeOf(a), placeOf(b)]
  return here.urgency === there.urgency ? here.order < there.order : here.urgency > there.urgency
}

/** Every task is queued with one. */
function placeOf(task: Queued): Place {
  return task[queueOptionsSymbol] as Place
}
