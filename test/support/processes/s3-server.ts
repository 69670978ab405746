/** The test server in a process of its own, told what to do by messages: see ../s3-server-process.ts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { startS3Server } from '../s3-server.ts'
import type { GeneratedObjects, ServerCall, ServerCalls, ServerReply } from '../s3-server-process.ts'

const server = await startS3Server(JSON.parse(process.argv[2]) as object)

const calls: ServerCalls = {
  address: () => ({ endpoint: server.endpoint, region: server.region }),
  put: (bucket, key, bytes) => {
    server.put(bucket, key, bytes)
  },
  putFolder(bucket, prefix, folder) {
    let count = 0
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      server.put(bucket, prefix + relative(folder, path).split(sep).join('/'), readFileSync(path))
      count++
    }
    return count
  },
  async putFrom(bucket, module, name, parameters) {
    const make = ((await import(module)) as Record<string, (given: unknown) => GeneratedObjects>)[name]
    let count = 0
    for await (const [key, bytes] of make(parameters)) {
      server.put(bucket, key, bytes)
      count++
    }
    return count
  },
  set: (settings) => {
    Object.assign(server, settings)
  },
  fault: (fault) => {
    server.faults.push(fault)
  },
  counts: () => ({
    requests: server.requests.length,
    bytes: server.requests.reduce((sum, { bytes }) => sum + bytes, 0),
    connections: new Set(server.requests.map(({ connection }) => connection)).size,
    mostInFlight: server.mostInFlight,
    refused: server.requests.filter(({ status }) => status >= 400).length,
    cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
  }),
  requests: () => server.requests.map(({ method, bucket, key, status }) => ({ method, bucket, key, status })),
  reset: () => {
    server.reset()
  },
}

process.on('message', ({ id, name, args }: ServerCall) => {
  const call = calls[name] as (...given: unknown[]) => unknown
  // A promise, so that what a call throws is answered too.
  void Promise.resolve()
    .then(() => call(...args))
    .then(
      (value): ServerReply => ({ id, value }),
      (error: unknown): ServerReply => ({ id, error: String(error) }),
    )
    .then((reply) => process.send!(reply))
})
// The end of the parent, however it comes, is the end of the server.
process.on('disconnect', () => process.exit())
