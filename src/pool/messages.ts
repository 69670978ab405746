/**
 * The envelope of what crosses between threads. Errors cross as plain data and are rebuilt on arrival, for structured
 * clone and Piscina keep neither class nor code.
 */
import type { PlainError } from '../errors.ts'
import { toPlainError } from '../errors.ts'

export type Envelope<Answer> = { readonly answer: Answer } | { readonly error: PlainError }

/**
 * Piscina's mark for an answer with a transfer list. These are its documented symbols, by their registered names, so
 * that a worker need not load the whole of Piscina; a test compares them.
 */
const TRANSFERABLE = Symbol.for('Piscina.transferable')
const VALUE = Symbol.for('Piscina.valueOf')

/** Runs a task and puts its outcome into an envelope whose buffers are moved, not copied. */
export function inEnvelope<Answer>(
  task: () => Answer,
  buffersOf: (answer: Answer) => ArrayBuffer[],
): unknown {
  try {
    const answer = task()
    const buffers = buffersOf(answer)
    const envelope: Envelope<Answer> = { answer }
    return buffers.length === 0 ? envelope : { [TRANSFERABLE]: buffers, [VALUE]: envelope }
  } catch (error) {
    return { error: toPlainError(error) }
  }
}
