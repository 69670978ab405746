/**
 * How a run ends: exit codes, and the reasons that only a command line has.
 *
 * | code | when                                                                                        |
 * | ---- | ------------------------------------------------------------------------------------------- |
 * | 0    | done; also when the reader of the output has gone, as in `iceplan plan t | head`            |
 * | 1    | failed: no such table, snapshot, ref or column, storage, damaged files, differences found   |
 * | 2    | not understood: unknown option; what is no number, time or filter; options that exclude each other |
 * | 130  | Ctrl-C                                                                                      |
 */
export const EXIT = { DONE: 0, FAILED: 1, NOT_UNDERSTOOD: 2, INTERRUPTED: 130 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The command line makes no sense; found before anything is read. */
export class UsageError extends Error {
  /** The place that is meant, on lines of their own; for a terminal. */
  readonly excerpt: string | undefined

  constructor(message: string, excerpt?: string) {
    super(message)
    this.excerpt = excerpt
  }
}

/** Reason of an abort: nobody reads the output any more. */
export class ClosedPipeError extends Error {}

/** Reason of an abort: Ctrl-C. */
export class InterruptedError extends Error {}

/** Reason of an abort: the output cannot be written, say because a disk is full. */
export class OutputError extends Error {}
