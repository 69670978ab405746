/**
 * What a command gets from the process that it runs in.
 */
import type { WriteStream } from 'node:tty'
import type { Output } from './output.ts'

/** A standard stream: a terminal, or a pipe or file, which has no columns. */
export type StandardStream = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

export interface Run {
  /** Results. */
  readonly out: Output
  /** What stdout is: for its width, and whether it is a terminal. */
  readonly stdout: StandardStream
  /** Progress, warnings, reports and errors. */
  readonly stderr: StandardStream
  /** Aborted by Ctrl-C and by a closed pipe. */
  readonly signal: AbortSignal
  /** Set by `--debug`: errors come with their stack. */
  debug: boolean
}
