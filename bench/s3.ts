/**
 * Object storage: 10,000 manifests of some 5 KB from an S3 server in another process. What a GET costs the main thread, by
 * the SDK's client and by ours; and how long a plan takes by latency and by the number of requests in flight, beside the
 * least time that these two allow.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { dirname } from 'node:path'
import pLimit from 'p-limit'
import { loadTable, rebase, S3FileIO, ScanPlanner, type StorageOptions } from '../src/index.ts'
import { type S3ServerProcess, startS3ServerProcess } from '../test/support/s3-server-process.ts'
import type { Group } from './corpus.ts'
import { type GeneratedTable, tableOnDisk } from './fixtures.ts'
import type { Outcome, Subject } from './measure.ts'

const BUCKET = 'bench'
const PREFIX = 'orders'
const CREDENTIALS = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
const CLIENTS = ['sdk', 'ours'] as const
const GETS_IN_FLIGHT = 64
/** Milliseconds of latency, and requests in flight that are worth trying with it. */
const PLANS: readonly [latencyMs: number, limits: readonly number[]][] = [
  [0, [16, 32, 64]],
  [1, [16, 32, 64]],
  [20, [32, 64, 128]],
  [100, [64, 128, 256]],
]

export function s3Group(): Group {
  const gets = CLIENTS.map((client) => `s3/get/${client}`)
  const plans = PLANS.flatMap(([latency, limits]) =>
    limits.map((limit) => ({ name: `s3/plan/${latency}-ms/${limit}-requests`, latency, limit })),
  )
  return {
    name: 's3',
    cases: [...gets, ...plans.map(({ name }) => name)],
    maxRounds: 3,
    prepare: async (size) => {
      const table = tableOnDisk('many', size)
      const server = await startS3ServerProcess()
      await server.call('putFolder', BUCKET, `${PREFIX}/metadata/`, dirname(table.metadataLocation))
      return {
        subjects: [
          ...CLIENTS.map((client, i): Subject => ({
            name: gets[i],
            unit: 'us',
            agreesWith: 'bytes',
            run: () => measureGets(client, server, table),
          })),
          ...plans.map(({ name, latency, limit }): Subject => ({
            name,
            agreesWith: 'entries',
            run: () => measurePlan(server, table, latency, limit),
          })),
        ],
        ratios: [{ of: gets[0], to: gets[1] }],
        [Symbol.asyncDispose]: () => server.close(),
      }
    },
  }
}

/** CPU of this process per GET, of all manifests. */
async function measureGets(
  client: (typeof CLIENTS)[number],
  server: S3ServerProcess,
  { manifestPaths }: GeneratedTable,
): Promise<Outcome> {
  await server.call('set', { latencyMs: 0 })
  const keys = manifestPaths.map((path) => `${PREFIX}/metadata/${path.slice(path.lastIndexOf('/') + 1)}`)
  const { region, endpoint } = server
  const options = { region, endpoint, credentials: CREDENTIALS }
  const reader = client === 'sdk' ? await sdkReader(options) : ourReader(options)
  const limit = pLimit(GETS_IN_FLIGHT)
  // The client is loaded and its connections are open.
  await limit.map(keys.slice(0, GETS_IN_FLIGHT), reader.read)
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  const lengths = await limit.map(keys, reader.read)
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  reader.close()
  return {
    checksum: lengths.reduce((sum, length) => sum + length, 0),
    value: (user + system) / keys.length,
    note: `CPU time; ${Math.round(keys.length / seconds)} GETs a second, ${GETS_IN_FLIGHT} in flight`,
  }
}

interface Reader {
  /** Length of the object. */
  read: (key: string) => Promise<number>
  close: () => void
}

interface ReaderOptions {
  region: string
  endpoint: string
  credentials: typeof CREDENTIALS
}

async function sdkReader(options: ReaderOptions): Promise<Reader> {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const { GetObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
  const client = new S3Client({
    ...options,
    forcePathStyle: true,
    requestHandler: { httpAgent: { keepAlive: true, maxSockets: 2 * GETS_IN_FLIGHT } },
  })
  return {
    async read(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }))
      return (await Body!.transformToByteArray()).length
    },
    close: () => {
      client.destroy()
    },
  }
}

function ourReader(options: ReaderOptions): Reader {
  const io = new S3FileIO(options)
  return {
    read: async (key) => (await io.open(`s3://${BUCKET}/${key}`).read()).length,
    close: () => {
      io.close()
    },
  }
}

/** A plan by a new planner in this thread. */
async function measurePlan(
  server: S3ServerProcess,
  { metadataLocation, manifestPaths }: GeneratedTable,
  latencyMs: number,
  requestLimit: number,
): Promise<Outcome> {
  await server.call('set', { latencyMs })
  const { endpoint, region } = server
  const storage: StorageOptions = { s3: { endpoint, region, credentials: CREDENTIALS } }
  const folder = dirname(dirname(metadataLocation))
  const table = await loadTable(metadataLocation.replace(folder, `s3://${BUCKET}/${PREFIX}`), {
    storage,
    requestLimit,
    rebase: [rebase(folder, `s3://${BUCKET}/${PREFIX}`)],
  })
  await using planner = new ScanPlanner({ workers: 0 })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const start = performance.now()
  const plan = await planner.plan(table.newScan())
  let entries = 0
  for await (const batch of plan.batches) entries += batch.length
  const milliseconds = performance.now() - start
  delay.disable()
  const requests = Math.round(plan.report.ioRequests / (milliseconds / 1000))
  // One latency for the list, and then as many requests at a time as there may be.
  const least = latencyMs * (1 + manifestPaths.length / requestLimit)
  const beside = latencyMs === 0 ? '' : `, ${(milliseconds / least).toFixed(2)}x latency and limit alone`
  return {
    checksum: entries,
    value: milliseconds,
    note: `${requests} requests a second${beside}; longest stall ${(delay.max / 1e6).toFixed(0)} ms`,
  }
}
