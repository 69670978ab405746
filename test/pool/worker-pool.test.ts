/** The pool's promises, kept with workers that misbehave in every way that a thread can. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { BroadcastChannel } from 'node:worker_threads'
import { assert } from 'chai'
import { CorruptFileError, InvalidArgumentError, StorageError, WorkerError } from '../../src/errors.ts'
import { WorkerPool } from '../../src/pool/worker-pool.ts'
import { rejection } from '../support/rejection.ts'
import type { Act } from '../workers/acting.worker.ts'

const compiled = (name: string) => fileURLToPath(new URL(`${name}.js`, import.meta.url))

/** Longer than any thread takes to start; a hang is what it tells from. */
const SOON_MS = 5000

/** The same promise, or a failure if it does not settle. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Still waiting after ${SOON_MS} ms`))
    }, SOON_MS)
  })
  return Promise.race([promise, late]).finally(() => {
    clearTimeout(timer)
  })
}

const shared = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length))

function open(gate: Int32Array): void {
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
}

describe('worker pool', () => {
  const pools: WorkerPool<Act, unknown>[] = []
  function newPool(workers: number, name = 'acting'): WorkerPool<Act, unknown> {
    const pool = new WorkerPool<Act, unknown>({ filename: compiled(`../workers/${name}.worker`), workers })
    pools.push(pool)
    return pool
  }

  afterEach(async () => {
    for (const pool of pools.splice(0)) await soon(pool.close())
  })

  describe('answers', () => {
    it('come from other threads, as many as were asked for', async () => {
      const pool = newPool(2)
      assert.equal(pool.workers, 2)
      const gates = [shared(1), shared(1)]
      const waiting = gates.map((gate) => pool.run({ do: 'wait', gate }))
      gates.forEach(open)
      await Promise.all(waiting)
      const threads = await Promise.all(Array.from({ length: 40 }, () => pool.run({ do: 'thread' })))
      assert.isAtMost(new Set(threads).size, 2)
      assert.notInclude(threads, 0)
    })

    it('buffers are moved: the worker has lost what it answered', async () => {
      const pool = newPool(1)
      const buffer = await pool.run({ do: 'give', bytes: 1000 })
      assert.instanceOf(buffer, ArrayBuffer)
      assert.equal(buffer.byteLength, 1000)
      assert.isTrue(new Uint8Array(buffer).every((byte) => byte === 7))
      assert.equal(await pool.run({ do: 'look' }), 0)
    })

    it('shared memory is shared, other bytes are copied', async () => {
      const pool = newPool(1)
      const own = Uint8Array.of(1, 2)
      const echoed = await pool.run({ do: 'echo', value: own })
      assert.deepEqual(echoed, own)
      assert.notStrictEqual((echoed as Uint8Array).buffer, own.buffer)
      assert.equal(own.length, 2)
      const log = shared(2)
      await pool.run({ do: 'log', log, name: 9 })
      assert.deepEqual(Array.from(log), [1, 9])
    })

    it('undefined is an answer', async () => {
      assert.isUndefined(await newPool(1).run({ do: 'echo', value: undefined }))
    })
  })

  describe('errors', () => {
    it('of this library arrive whole: class, code, place and stack', async () => {
      const error = await rejection(newPool(1).run({ do: 'fail', how: 'corrupt' }))
      assert.instanceOf(error, CorruptFileError)
      assert.deepEqual(
        [error.code, error.name, error.message, error.location, error.entry, error.byte],
        ['ERR_CORRUPT_FILE', 'CorruptFileError', 'Cannot read m0: odd', 's3://w/m0.avro', 5, 2 ** 40],
      )
      assert.include(error.stack, 'acting.worker')
    })

    it('keep what only their class has', async () => {
      const pool = newPool(1)
      const storage = await rejection(pool.run({ do: 'fail', how: 'storage' }))
      assert.instanceOf(storage, StorageError)
      assert.isTrue(storage.retryable)
      const argument = await rejection(pool.run({ do: 'fail', how: 'argument' }))
      assert.instanceOf(argument, InvalidArgumentError)
      assert.deepEqual([argument.location, argument.entry, argument.byte], [undefined, undefined, undefined])
    })

    for (const [how, message] of [
      ['builtin', /RangeError: out of range/],
      ['text', /just text/],
      ['nothing', /undefined/],
    ] as const)
      it(`of other kinds are WorkerErrors: ${how}`, async () => {
        const error = await rejection(newPool(1).run({ do: 'fail', how }))
        assert.instanceOf(error, WorkerError)
        assert.match(error.message, message)
      })

    it('an answer, and a task, that cannot be sent', async () => {
      const pool = newPool(1)
      assert.instanceOf(await rejection(pool.run({ do: 'answer a function' })), WorkerError)
      assert.instanceOf(await rejection(pool.run({ do: 'echo', value: () => 1 })), WorkerError)
      assert.equal(await pool.run({ do: 'echo', value: 1 }), 1)
    })

    it('do no harm to the worker', async () => {
      const pool = newPool(1)
      const before = await pool.run({ do: 'thread' })
      await rejection(pool.run({ do: 'fail', how: 'text' }))
      assert.equal(await pool.run({ do: 'thread' }), before)
    })
  })

  describe('order', () => {
    /** Names in the order in which one worker ran them, queued as listed. */
    async function orderOf(tasks: readonly (readonly [name: number, urgency?: number])[]): Promise<number[]> {
      const pool = newPool(1)
      const gate = shared(1)
      const log = shared(tasks.length + 1)
      const first = pool.run({ do: 'wait', gate })
      const all = tasks.map(([name, urgency = 0]) => pool.run({ do: 'log', log, name }, { urgency }))
      open(gate)
      await Promise.all([first, ...all])
      return Array.from(log.subarray(1))
    }

    it('first come, first served', async () => {
      const names = Array.from({ length: 20 }, (_, i) => i)
      assert.deepEqual(await orderOf(names.map((name) => [name])), names)
    })

    it('the most urgent first; among equals, first come, first served', async () => {
      const tasks = [[1, -3], [2, -1], [3, 0], [4, -1], [5, -3], [6, 2], [7, -1], [8], [9, -3]] as const
      assert.deepEqual(await orderOf(tasks), [6, 3, 8, 2, 4, 7, 1, 5, 9])
    })
  })

  describe('a thread that dies', () => {
    it('fails its task; those that wait, and those of other threads, go on; it is replaced', async () => {
      const pool = newPool(2)
      const gate = shared(1)
      const other = pool.run({ do: 'wait', gate })
      const dying = pool.run({ do: 'exit', code: 3 })
      const waiting = [1, 2, 3].map((value) => pool.run({ do: 'echo', value }))
      const error = await soon(rejection(dying))
      assert.instanceOf(error, WorkerError)
      assert.match(error.message, /A worker thread failed: .*3/)
      assert.deepEqual(await soon(Promise.all(waiting)), [1, 2, 3])
      open(gate)
      await soon(other)
      assert.isFalse(pool.isDead)
    })

    it('the only one, again and again', async () => {
      const pool = newPool(1)
      for (let i = 0; i < 3; i++) {
        const dying = pool.run({ do: 'exit', code: 0 })
        const next = pool.run({ do: 'echo', value: i })
        assert.instanceOf(await soon(rejection(dying)), WorkerError)
        assert.equal(await soon(next), i)
      }
      assert.isFalse(pool.isDead)
    })

    it('all at once', async () => {
      const pool = newPool(2)
      const dying = [1, 2, 3, 4].map((code) => rejection(pool.run({ do: 'exit', code })))
      for (const error of await soon(Promise.all(dying))) assert.instanceOf(error, WorkerError)
      assert.equal(await soon(pool.run({ do: 'echo', value: 'alive' })), 'alive')
    })

    it('between tasks: the task that meets it fails or works, later ones work', async () => {
      const pool = newPool(1)
      await pool.run({ do: 'exit later' })
      const [met] = await soon(Promise.allSettled([pool.run({ do: 'echo', value: 1 })]))
      if (met.status === 'rejected') assert.instanceOf(met.reason, WorkerError)
      const later = await soon(Promise.allSettled([pool.run({ do: 'echo', value: 2 })]))
      if (later[0].status === 'rejected') assert.instanceOf(later[0].reason, WorkerError)
      assert.equal(await soon(pool.run({ do: 'echo', value: 3 })), 3)
    })

    it('for lack of memory: its task fails and says so, the next one works', async () => {
      const { code, lines } = await program('out-of-memory', '--max-old-space-size=40')
      assert.equal(code, 0)
      const [before, during, after] = JSON.parse(lines[0]) as string[]
      assert.deepEqual([before, after], ['before', 'after'])
      assert.match(during, /^A worker thread failed: .*memory/)
    })
  })

  describe('a worker file that is of no use', () => {
    for (const [what, file, message] of [
      ['does not exist', 'missing', /missing\.worker\.js/],
      ['throws while it loads', 'throws-while-loading', /nothing works today/],
      ['exits while it loads', 'exits-while-loading', /A worker thread (failed|ended)/],
      ['exports no function', 'no-function', /no-function\.worker\.js/],
    ] as const)
      for (const workers of [1, 2])
        it(`${what}: tasks that wait and tasks that come reject, of ${workers} threads`, async () => {
          const pool = newPool(workers, file)
          const all = Array.from({ length: 8 }, (_, value) => pool.run({ do: 'echo', value }))
          const errors = await soon(Promise.all(all.map(rejection)))
          for (const error of errors) {
            assert.instanceOf(error, WorkerError)
            assert.match(error.message, /^A worker thread /)
          }
          assert.match(errors[0].message, message)
          const later = await soon(rejection(pool.run({ do: 'echo', value: 1 })))
          assert.instanceOf(later, WorkerError)
        })

    it('found out before there is a task', async () => {
      const pool = newPool(2, 'throws-while-loading')
      await soon(
        (async () => {
          while (!pool.isDead) await new Promise((resolve) => setTimeout(resolve, 10))
        })(),
      )
      const error = await soon(rejection(pool.run({ do: 'echo', value: 1 })))
      assert.instanceOf(error, WorkerError)
      assert.match(error.message, /nothing works today/)
    })
  })

  describe('closing', () => {
    it('lets the tasks end that run and that wait; refuses new ones', async () => {
      const pool = newPool(2)
      const gates = [shared(1), shared(1)]
      const running = gates.map((gate) => pool.run({ do: 'wait', gate }))
      const waiting = [1, 2, 3].map((value) => pool.run({ do: 'echo', value }))
      const closed = pool.close()
      assert.isTrue(pool.isDead)
      const refused = await rejection(pool.run({ do: 'echo', value: 4 }))
      assert.instanceOf(refused, WorkerError)
      assert.match(refused.message, /the worker pool is closed/)
      open(gates[0])
      await soon(running[0])
      assert.deepEqual(await soon(Promise.all(waiting)), [1, 2, 3])
      // The other thread is still at work.
      open(gates[1])
      await soon(running[1])
      await soon(closed)
    })

    it('while a thread dies', async () => {
      const pool = newPool(2)
      const dying = [
        rejection(pool.run({ do: 'exit', code: 1 })),
        rejection(pool.run({ do: 'exit', code: 1 })),
      ]
      const closed = pool.close()
      for (const error of await soon(Promise.all(dying))) assert.instanceOf(error, WorkerError)
      await soon(closed)
    })

    it('lets threads load to the end: to end one before can abort the process', async () => {
      const channel = new BroadcastChannel('slow-loading')
      let loaded = 0
      channel.onmessage = () => loaded++
      const pool = newPool(2, 'slow-loading')
      await soon(pool.close())
      // Messages that were sent before the threads ended are on their way.
      await new Promise((resolve) => setTimeout(resolve, 50))
      channel.close()
      assert.equal(loaded, 2)
    })

    it('does not wait for ever for a thread that never loads', async () => {
      const pool = new WorkerPool<Act, unknown>({
        filename: compiled('../workers/never-loading.worker'),
        workers: 2,
        maxLoadMs: 100,
      })
      await soon(pool.close())
    })

    it('twice, and when there is nothing to do', async () => {
      const pool = newPool(2)
      await soon(Promise.all([pool.close(), pool.close()]))
      await soon(pool.close())
      assert.instanceOf(await rejection(pool.run({ do: 'echo', value: 1 })), WorkerError)
    })

    it('is not needed: a program ends by itself while its workers are idle', async () => {
      const { code, lines } = await program('idle-workers')
      assert.deepEqual([code, lines], [0, ['[1,2,3]']])
    })
  })
})

/** Runs a program of the folder `support/processes` to its end. */
async function program(
  name: string,
  ...options: string[]
): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [...options, compiled(`../support/processes/${name}`)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = await soon(text(child.stdout))
  return { code: await soon(exit), lines: output.trimEnd().split('\n') }
}
