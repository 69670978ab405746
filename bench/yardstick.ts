/**
 * A prototype of the manifest cursor that lives outside this project (`ICEPLAN_YARDSTICK`, or `../shared/yardstick`):
 * it checks nothing and cannot be used, but shows how fast these very files can be decoded on this very machine.
 * Its `run.mjs` is loaded anew for each round, with its arguments, so that it measures exactly what it always does,
 * in this process; its inner modules are loaded once and stay warm.
 */
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

export interface YardstickRun {
  entries: number
  inflateFloorMs: number
  inflateAndDecodeMs: number
}

/** The script, or undefined where there is none. */
export function findYardstick(): string | undefined {
  const script = path.resolve(process.env.ICEPLAN_YARDSTICK ?? '../shared/yardstick', 'run.mjs')
  return fs.existsSync(script) ? script : undefined
}

let loads = 0

export async function runYardstick(script: string, files: readonly string[]): Promise<YardstickRun> {
  const { argv } = process
  const { log } = console
  const lines: unknown[] = []
  process.argv = [argv[0], script, '--rounds', '1', ...files]
  console.log = (line: unknown) => lines.push(line)
  try {
    await import(`${pathToFileURL(script).href}?load=${loads++}`)
  } finally {
    process.argv = argv
    console.log = log
  }
  return JSON.parse(String(lines.at(-1))) as YardstickRun
}
