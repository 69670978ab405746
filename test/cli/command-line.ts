/** Runs the compiled command as a process of its own, and the bundled table that most of its tests plan. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { loadTable, rebase, type JsonValue, type Table } from '../../src/index.ts'
import { projectRoot } from '../support/root.ts'

export const ROOT = fileURLToPath(projectRoot())
const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** The bundled table, as arguments for a process whose folder is the project's. */
export const ORDERS = ['fixtures/orders', '--rebase', 's3://warehouse/db/orders=fixtures/orders']

/** The bundled table in process. */
export function loadOrders(): Promise<Table> {
  const folder = fileURLToPath(new URL('fixtures/orders', projectRoot()))
  return loadTable(folder, { rebase: [rebase('s3://warehouse/db/orders', folder)] })
}

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts `iceplan` in the project's folder, with pipes as its streams. */
export function startIceplan(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [MAIN, ...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

export async function iceplan(...args: string[]): Promise<Finished> {
  const child = startIceplan(args)
  const exit = exitCode(child)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await exit, stdout, stderr }
}

/** The arguments of a command line as documents show them: with "quotes", over lines, up to a pipe. */
export function argumentsOf(commandLine: string): string[] {
  const words: string[] = commandLine.replaceAll('\\\n', ' ').match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  const pipe = words.indexOf('|')
  return words.slice(0, pipe < 0 ? undefined : pipe).map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'))
}

/** `null` when a signal ended it. */
export function exitCode(child: ReturnType<typeof startIceplan>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
}

/** What Java planned: `fixtures/orders.expected.json`. Ids are strings. */
export interface JavaScan {
  snapshotId: string
  selections: ({ current: true } | { ref: string } | { asOf: number } | { snapshotId: string })[]
  tasks: JavaTask[]
  scanMetrics: Record<string, number>
}

export interface JavaTask {
  filePath: string
  specId: number
  partition: Record<string, JsonValue>
  recordCount: number
  fileSize: number
  dataSequenceNumber: string
  firstRowId?: string
  deletes: JavaDelete[]
}

export interface JavaDelete {
  content: 'position-deletes' | 'equality-deletes'
  path: string
  specId: number
  dataSequenceNumber: string
  equalityIds?: number[]
  contentOffset?: number
  contentSizeInBytes?: number
  referencedDataFile?: string
}

/** Java's unfiltered scans of the bundled table, the current snapshot's first. */
export function javaScans(): JavaScan[] {
  const json = readFileSync(new URL('fixtures/orders.expected.json', projectRoot()), 'utf8')
  return (JSON.parse(json) as { scans: JavaScan[] }).scans
}
