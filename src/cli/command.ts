/**
 * A run of the command: signals, streams and exit code around it. Importing this runs it.
 */
import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import type { ExitCode } from './failure.ts'
import { ClosedPipeError, EXIT, InterruptedError, UsageError } from './failure.ts'
import { Output } from './output.ts'
import { makeProgram } from './program.ts'
import type { Run } from './run.ts'
import { printable } from './text.ts'

const controller = new AbortController()
const run: Run = {
  out: new Output(process.stdout, controller),
  stdout: process.stdout,
  stderr: process.stderr,
  signal: controller.signal,
  debug: false,
}
// A closed stderr has nobody to complain to.
process.stderr.on('error', () => undefined)
// Once: a second Ctrl-C finds no listener and kills the process.
process.once('SIGINT', () => {
  controller.abort(new InterruptedError())
})

let exitCode: ExitCode = EXIT.DONE
try {
  await makeProgram(run, (code) => {
    exitCode = code
  }).parseAsync()
} catch (error) {
  exitCode = explain(run.signal.aborted ? run.signal.reason : error)
}
// What was aborted may still be on its way; nobody waits for it.
if (run.signal.aborted) process.exit(exitCode)
process.exitCode = exitCode

/** Says on stderr, in a sentence, why the run ends, and gives its exit code. */
function explain(error: unknown): ExitCode {
  if (error instanceof ClosedPipeError) return EXIT.DONE
  if (error instanceof InterruptedError) return EXIT.INTERRUPTED
  // The parser has already said it, or it was asked for help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.DONE : EXIT.NOT_UNDERSTOOD
  const sentence = error instanceof Error ? error.message : String(error)
  process.stderr.write(`iceplan: ${printable(sentence)}\n`)
  if (error instanceof UsageError) {
    if (error.excerpt !== undefined && process.stderr.isTTY) process.stderr.write(error.excerpt)
    return EXIT.NOT_UNDERSTOOD
  }
  if (run.debug) process.stderr.write(`${inspect(error)}\n`)
  return EXIT.FAILED
}
