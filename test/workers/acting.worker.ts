/** A worker that does what its task says, to see what a pool makes of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { CorruptFileError, InvalidArgumentError, StorageError } from '../../src/errors.ts'
import { type PostedTask, runPosted } from '../../src/pool/messages.ts'

export type Act =
  | { readonly do: 'echo'; readonly value: unknown }
  /** Answers with a buffer of its own, moved. */
  | { readonly do: 'give'; readonly bytes: number }
  /** Length of the buffer that was given last, as this thread sees it. */
  | { readonly do: 'look' }
  | { readonly do: 'thread' }
  /** Stays until `gate[0]` is not 0, then writes its name behind the names in `log`, of which `log[0]` is the number. */
  | { readonly do: 'wait'; readonly gate: Int32Array }
  | { readonly do: 'log'; readonly log: Int32Array; readonly name: number }
  | { readonly do: 'fail'; readonly how: keyof typeof FAILURES }
  | { readonly do: 'answer a function' }
  | { readonly do: 'exit'; readonly code: number }
  /** Ends the thread after the task, not during it. */
  | { readonly do: 'exit later' }
  | { readonly do: 'allocate for ever' }

const FAILURES = {
  corrupt: () =>
    new CorruptFileError('Cannot read m0: odd', { location: 's3://w/m0.avro', entry: 5, byte: 2 ** 40 }),
  argument: () => new InvalidArgumentError('Cannot do it: no'),
  storage: () => new StorageError('Cannot read it: busy', { location: 'x', retryable: true }),
  builtin: () => new RangeError('out of range'),
  text: () => 'just text',
  nothing: () => undefined,
}

let given = new ArrayBuffer(0)

export default function run(posted: PostedTask<Act>): void {
  runPosted(posted, act, (answer) => (answer instanceof ArrayBuffer ? [answer] : []))
}

function act(task: Act): unknown {
  switch (task.do) {
    case 'echo':
      return task.value
    case 'give':
      given = new ArrayBuffer(task.bytes)
      new Uint8Array(given).fill(7)
      return given
    case 'look':
      return given.byteLength
    case 'thread':
      return threadId
    case 'wait':
      Atomics.wait(task.gate, 0, 0)
      return undefined
    case 'log':
      task.log[Atomics.add(task.log, 0, 1) + 1] = task.name
      return undefined
    case 'fail':
      // Anything can be thrown.
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw FAILURES[task.how]()
    case 'answer a function':
      return () => undefined
    case 'exit':
      return process.exit(task.code)
    case 'exit later':
      void sleep(1).then(() => process.exit(1))
      return undefined
    case 'allocate for ever': {
      const kept: unknown[] = []
      for (;;) kept.push(Array.from({ length: 1000 }, () => ({})))
    }
  }
}
