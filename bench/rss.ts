/**
 * What a process that goes on planning takes of the machine: 1,000 plans over tables with ten times the bytes that its
 * caches may keep, from a store behind a network. The figure is how much more than the budget is resident after the last
 * plan, the program itself included; at most 100 MB is the aim. Each in a process of its own; the store is this one.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Group } from './corpus.ts'
import { type GeneratedTable, type Size, tableOnDisk } from './fixtures.ts'
import type { Outcome } from './measure.ts'
import type { RssSetup } from './product.ts'

/** Share of the budget that is for bytes of files; the rest is for decoded entries. */
const BYTES_SHARE = { bytes: 1, 'bytes-and-entries': 0.5 } as const
const WORKERS = [0, 2]
const PLANS: Record<Size, number> = { real: 1000, smoke: 3 }
const BUDGET: Record<Size, number> = { real: 64 * 1024 * 1024, smoke: 20_000 }
const TIMES_THE_BUDGET = 10

export function rssGroup(): Group {
  const subjects = (Object.keys(BYTES_SHARE) as (keyof typeof BYTES_SHARE)[]).flatMap((kept) =>
    WORKERS.map((workers) => ({ name: `rss/${kept}/workers-${workers}`, kept, workers })),
  )
  return {
    name: 'rss',
    cases: subjects.map(({ name }) => name),
    maxRounds: 1,
    warmUps: 0,
    prepare: async (size) => {
      const table = tableOnDisk('narrow-some', size)
      const folder = path.dirname(path.dirname(table.metadataLocation))
      const server = http.createServer(copiesOf(table, folder)).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const budget = BUDGET[size]
      const setup = {
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        folder,
        metadata: path.relative(folder, table.metadataLocation),
        tables: Math.ceil((budget * TIMES_THE_BUDGET) / table.bytes),
        plans: PLANS[size],
      }
      return {
        subjects: subjects.map(({ name, kept, workers }) => ({
          name,
          unit: 'MB',
          run: () => {
            const maxFileBytes = budget * BYTES_SHARE[kept]
            return runRss({ ...setup, workers, maxFileBytes, maxEntryBytes: budget - maxFileBytes })
          },
        })),
        [Symbol.asyncDispose]: () =>
          new Promise((resolve) => {
            server.closeAllConnections()
            server.close(() => {
              resolve()
            })
          }),
      }
    },
  }
}

/** Answers `/N/FILE` with the table's own file, whatever N: as many tables as are asked for, from one. */
function copiesOf(table: GeneratedTable, folder: string): http.RequestListener {
  const files = new Map(
    fs
      .readdirSync(path.dirname(table.metadataLocation))
      .map((name) => [`metadata/${name}`, fs.readFileSync(path.join(folder, 'metadata', name))]),
  )
  return ({ url = '' }, response) => {
    const bytes = files.get(url.replace(/^\/\d+\//, ''))
    if (bytes === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
  }
}

const execute = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('./one-rss.js', import.meta.url))

async function runRss(setup: RssSetup): Promise<Outcome> {
  const { stdout } = await execute(process.execPath, [SCRIPT, JSON.stringify(setup)])
  return JSON.parse(stdout) as Outcome
}
