/**
 * Worker threads, behind a guard against the ways in which a Piscina pool can hang or lose errors:
 *
 * - a worker file that is missing or throws while it loads: one task rejects, the others wait for ever. Here the pool is
 *   dead from then on, and all tasks, waiting and new, reject with a WorkerError.
 * - with no minimum of threads, tasks queued behind a dying thread wait for ever. Here there is always a minimum.
 * - classes and codes of errors are lost. Here they travel as data (messages.ts).
 *
 * No task is given a signal: Piscina would kill the worker, and give such a worker one task at a time. Tasks look at a
 * flag in shared memory instead.
 */
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { Piscina, queueOptionsSymbol, type TaskQueue } from 'piscina'
import { fromPlainError, WorkerError } from '../errors.ts'
import type { Envelope, PostedTask } from './messages.ts'
import type { Pool } from './pool.ts'

export interface WorkerPoolOptions {
  /** The module whose default export runs a task. */
  filename: string
  /** Threads; at least 1. They start with the pool, so make it when there is work. */
  workers: number
}

export class WorkerPool<Task, Answer> implements Pool<Task, Answer> {
  readonly workers: number
  readonly #piscina: Piscina
  readonly #waiting = new Set<(error: Error) => void>()
  #dead: Error | undefined

  constructor({ filename, workers }: WorkerPoolOptions) {
    this.workers = workers
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
      if (this.#piscina.threads.length === 0) this.#die(error)
    })
  }

  /** True once no task can be run any more: the worker file does not load, or the pool was closed. */
  get isDead(): boolean {
    return this.#dead !== undefined
  }

  async run(task: Task, urgency = 0): Promise<Answer> {
    if (this.#dead !== undefined) throw this.#dead
    const { port1, port2 } = new MessageChannel()
    try {
      const posted: PostedTask<Task> = { task, port: port2 }
      await this.#done({ ...posted, [queueOptionsSymbol]: { urgency } }, port2)
      // The worker posted before it was done, so the message is here.
      const received = receiveMessageOnPort(port1) as { message: Envelope<Answer> } | undefined
      if (received === undefined) throw new WorkerError('A worker thread ended a task without an answer')
      if ('error' in received.message) throw fromPlainError(received.message.error)
      return received.message.answer
    } finally {
      port1.close()
    }
  }

  /** Settles when a worker has run a task, or when no worker ever will. */
  #done(task: object, port: MessagePort): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      this.#piscina
        .run(task, { transferList: [port] })
        .then(resolve, (error: unknown) => {
          const failed = workerFailure(error)
          if (this.#piscina.threads.length === 0) this.#die(failed)
          reject(failed)
        })
        .finally(() => this.#waiting.delete(reject))
    })
  }

  async close(): Promise<void> {
    if (this.#dead !== undefined) {
      await this.#piscina.destroy()
      return
    }
    this.#dead = new WorkerError('Cannot run a task: the worker pool is closed')
    await this.#piscina.close()
  }

  #die(error: Error): void {
    this.#dead ??= workerFailure(error)
    for (const reject of this.#waiting) reject(this.#dead)
    this.#waiting.clear()
  }
}

function workerFailure(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error
  const why = error instanceof Error ? error.message : String(error)
  return new WorkerError(`A worker thread failed: ${why}`, { cause: error })
}

type Queued = Parameters<TaskQueue['push']>[0]

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
    for (let i = 1; i < this.#tasks.length; i++)
      if (urgencyOf(this.#tasks[i]) > urgencyOf(this.#tasks[first])) first = i
    return this.#tasks.length === 0 ? null : this.#tasks.splice(first, 1)[0]
  }

  remove(task: Queued): void {
    const at = this.#tasks.indexOf(task)
    if (at >= 0) this.#tasks.splice(at, 1)
  }
}

function urgencyOf(task: Queued): number {
  return (task[queueOptionsSymbol] as { urgency: number } | null)?.urgency ?? 0
}
