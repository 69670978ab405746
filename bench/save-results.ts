/** Results of a bench as a file under `bench/results/`: what was measured, where, when and by which command. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** The folder of the project's results, when run from its root. */
export const RESULTS = path.resolve('bench/results')

/**
 * Writes `<name>-<date>.json`.
 *
 * @param script the compiled bench, as in the command line
 * @returns the file
 */
export function saveResults(folder: string, name: string, script: string, results: object): string {
  const date = new Date().toISOString()
  const report = {
    date,
    commit: currentCommit(),
    command: ['node', script, ...process.argv.slice(2)].join(' '),
    machine: {
      cpu: os.cpus().at(0)?.model ?? 'unknown',
      cores: os.availableParallelism(),
      memoryMiB: Math.round(os.totalmem() / 2 ** 20),
      platform: `${os.platform()} ${os.arch()}`,
      node: process.version,
      // More than the cores means that something else was running too.
      loadAverage: os.loadavg(),
    },
    ...results,
  }
  fs.mkdirSync(folder, { recursive: true })
  const file = path.join(folder, `${name}-${date.slice(0, 10)}.json`)
  fs.writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  return file
}

function currentCommit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
