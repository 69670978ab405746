/**
 * What a plan of a million data files takes in memory: the JavaScript heap while all its batches are held, which is little
 * because entries are columns outside of it; how soon a task is at hand once there is a batch; and the bytes of an entry
 * in the cache, with the bounds of one column. Each in a process of its own.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Group } from './corpus.ts'
import { tableOnDisk } from './fixtures.ts'
import type { Outcome } from './measure.ts'
import { MEMORY_KINDS, type MemoryKind } from './product.ts'

const UNITS: Record<MemoryKind, string> = {
  'plan-heap': 'MB',
  'first-task': 'ms',
  'cached-entry': 'B',
}

export function memoryGroup(): Group {
  const named = (kind: MemoryKind) => `memory/${kind}`
  return {
    name: 'memory',
    cases: MEMORY_KINDS.map(named),
    maxRounds: 3,
    warmUps: 0,
    prepare: (size) => {
      const { metadataLocation } = tableOnDisk('plain', size)
      return Promise.resolve({
        subjects: MEMORY_KINDS.map((kind) => ({
          name: named(kind),
          unit: UNITS[kind],
          run: () => runMemory(metadataLocation, kind),
        })),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    },
  }
}

const execute = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('./one-memory.js', import.meta.url))

async function runMemory(metadataLocation: string, kind: MemoryKind): Promise<Outcome> {
  const { stdout } = await execute(process.execPath, [SCRIPT, metadataLocation, kind])
  return JSON.parse(stdout) as Outcome
}
