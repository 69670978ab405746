/**
 * What crosses between threads, whatever the task is.
 *
 * The outcome of a task comes back through a port that came with it: Piscina would move buffers only for answers made
 * by its own `move()`, which a worker would have to load all of Piscina for, and would strip errors of class and code.
 * So the worker posts the envelope itself, then tells Piscina that it is done.
 */
import type { MessagePort } from 'node:worker_threads'
import type { PlainError } from '../errors.ts'
import { toPlainError } from '../errors.ts'

export interface PostedTask<Task> {
  readonly task: Task
  readonly port: MessagePort
}

export type Envelope<Answer> = { readonly answer: Answer } | { readonly error: PlainError }

/**
 * The worker's side: runs a task and posts its outcome.
 *
 * @param buffersOf buffers of the answer that are moved, not copied
 */
export function runPosted<Task, Answer>(
  { task, port }: PostedTask<Task>,
  run: (task: Task) => Answer,
  buffersOf: (answer: Answer) => ArrayBuffer[],
): void {
  try {
    const answer = run(task)
    port.postMessage({ answer } satisfies Envelope<Answer>, buffersOf(answer))
  } catch (error) {
    port.postMessage({ error: toPlainError(error) } satisfies Envelope<Answer>)
  } finally {
    port.close()
  }
}
