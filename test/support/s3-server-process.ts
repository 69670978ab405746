/**
 * The S3 server of the tests in a process of its own, so that its work is not counted as ours: for benches, and for
 * tests of memory.
 *
 * ```ts
 * await using server = await startS3ServerProcess()
 * await server.call('putFolder', 'warehouse', 'db/orders/', folder)
 * await server.call('set', { latencyMs: 20 })
 * // ... reads at server.endpoint ...
 * const { requests, cpuMs } = await server.call('counts')
 * ```
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { S3FaultKind, S3RequestRecord, S3Server, S3ServerOptions } from './s3-server.ts'

export type GeneratedObjects =
  | Iterable<readonly [key: string, bytes: Uint8Array]>
  | AsyncIterable<readonly [key: string, bytes: Uint8Array]>

export interface ServerCounts {
  readonly requests: number
  /** Of bodies, as sent. */
  readonly bytes: number
  readonly connections: number
  readonly mostInFlight: number
  /** Answers of 400 and above. */
  readonly refused: number
  /** CPU time of the process since it began, all its threads. */
  readonly cpuMs: number
}

/** What the process can be asked to do. Counts and requests are those since the last `reset`. */
export interface ServerCalls {
  address: () => { endpoint: string; region: string }
  put: (bucket: string, key: string, bytes: Uint8Array) => void
  /** All files below a folder, at the prefix and their path; says how many. */
  putFolder: (bucket: string, prefix: string, folder: string) => number
  /**
   * The objects that an exported function makes of the parameters, there and not here; says how many.
   *
   * @param module - URL of the compiled module.
   */
  putFrom: (bucket: string, module: string, name: string, parameters: unknown) => number | Promise<number>
  set: (
    settings: Partial<
      Pick<S3Server, 'anonymous' | 'clockSkewMs' | 'credentials' | 'latencyMs' | 'pageSize' | 'region'>
    >,
  ) => void
  /** One that fits every request: conditions do not cross processes. */
  fault: (fault: S3FaultKind & { times?: number }) => void
  counts: () => ServerCounts
  requests: () => Pick<S3RequestRecord, 'method' | 'bucket' | 'key' | 'status'>[]
  reset: () => void
}

export interface ServerCall {
  readonly id: number
  readonly name: keyof ServerCalls
  readonly args: readonly unknown[]
}

export interface ServerReply {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

export interface S3ServerProcess extends AsyncDisposable {
  readonly endpoint: string
  readonly region: string
  readonly pid: number
  /** Rejects with what the call throws there, or if the process ends. */
  call<N extends keyof ServerCalls>(
    name: N,
    ...args: Parameters<ServerCalls[N]>
  ): Promise<Awaited<ReturnType<ServerCalls[N]>>>
  close(): Promise<void>
}

export async function startS3ServerProcess(options: S3ServerOptions = {}): Promise<S3ServerProcess> {
  const file = fileURLToPath(new URL('./processes/s3-server.js', import.meta.url))
  const child = fork(file, [JSON.stringify(options)], { serialization: 'advanced', execArgv: [] })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let calls = 0
  child.on('message', ({ id, value, error }: ServerReply) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new Error(error))
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      for (const { reject } of waiting.values())
        reject(new Error(`The S3 server ended with ${code ?? 'a signal'}`))
      waiting.clear()
      resolve()
    })
  })
  const call: S3ServerProcess['call'] = (name, ...args) =>
    new Promise((resolve, reject) => {
      const id = ++calls
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      child.send({ id, name, args } satisfies ServerCall, (error) => {
        if (error !== null) reject(error)
      })
    })
  const close = async (): Promise<void> => {
    if (child.connected) child.disconnect()
    await ended
  }
  const { endpoint, region } = await call('address')
  return { endpoint, region, pid: child.pid!, call, close, [Symbol.asyncDispose]: close }
}
