/**
 * What a command that runs once costs: `iceplan`, bundled as it is installed, beside a process that does nothing and one
 * that only reads the same files.
 *
 * Two cases are timed inside their process, so that neither starting nor printing is in them: reading the manifests,
 * and a first plan, which reads and decodes them.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Group } from './corpus.ts'
import { tableOnDisk } from './fixtures.ts'
import type { Outcome, Subject } from './measure.ts'

const MAIN = fileURLToPath(new URL('../bundle/src/cli/main.js', import.meta.url))
const LIBRARY = new URL('../bundle/src/index.js', import.meta.url).href
const SCRIPT = fileURLToPath(new URL('./one-start.js', import.meta.url))

const KINDS = [
  'empty-process',
  'read-process',
  'version',
  'plan-table',
  'plan-jsonl',
  'read',
  'plan',
] as const

export function startGroup(): Group {
  const cases = KINDS.map((kind) => `start/${kind}`)
  const [empty, readProcess, version, planTable, planJsonl, read, plan] = cases
  return {
    name: 'start',
    cases,
    prepare: (size) => {
      const { metadataLocation } = tableOnDisk('narrow-small', size)
      const subject = (name: string, args: readonly string[], outcomeOf: OutcomeOf): Subject => ({
        name,
        agreesWith: name,
        run: async () => outcomeOf((await execute(process.execPath, args, { maxBuffer: MAX_OUTPUT })).stdout),
      })
      return Promise.resolve({
        subjects: [
          subject(empty, [SCRIPT], printed),
          subject(readProcess, [SCRIPT, 'read', metadataLocation], stated),
          subject(version, [MAIN, '--version'], printed),
          subject(planTable, [MAIN, 'plan', metadataLocation], printed),
          subject(planJsonl, [MAIN, 'plan', metadataLocation, '--format', 'jsonl'], printed),
          subject(read, [SCRIPT, 'read', metadataLocation], timed),
          subject(plan, [SCRIPT, 'plan', metadataLocation, LIBRARY], timed),
        ],
        ratios: [
          ...[readProcess, version, planTable, planJsonl].map((of) => ({ of, to: empty })),
          { of: plan, to: read },
        ],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    },
  }
}

const execute = promisify(execFile)
/** 2,000 tasks are about a megabyte. */
const MAX_OUTPUT = 64 * 1024 * 1024

type OutcomeOf = (stdout: string) => Outcome

/** Times the process; its output has to be as long as the last time. */
const printed: OutcomeOf = (stdout) => ({ checksum: stdout.length })

/** Times the process, which prints a checksum and a time of its own. */
const stated: OutcomeOf = (stdout) => ({ checksum: Number(stdout.split(' ')[0]) })

/** The time that the process states. */
const timed: OutcomeOf = (stdout) => {
  const [checksum, value] = stdout.split(' ').map(Number)
  return { checksum, value }
}
