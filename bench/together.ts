/**
 * A small plan beside a huge one of the same planner: 500 manifests of 4 entries, alone and begun while a million entries
 * are being planned. No plan may starve another.
 */
import { tableOnDisk } from './fixtures.ts'
import type { Group } from './corpus.ts'
import { type Workers, openTogether } from './product.ts'

const WORKERS: readonly Workers[] = [0, 2]

export function togetherGroup(): Group {
  const named = (workers: Workers) => ['alone', 'beside'].map((kind) => `together/${kind}/workers-${workers}`)
  return {
    name: 'together',
    cases: WORKERS.flatMap(named),
    maxRounds: 7,
    warmUps: 2,
    prepare: async (size) => {
      const small = tableOnDisk('narrow-small', size)
      const big = tableOnDisk('plain', size)
      const opened = await Promise.all(
        WORKERS.map((workers) => openTogether(small.metadataLocation, big.metadataLocation, workers)),
      )
      const subjects = opened.flatMap(({ alone, beside }, i) => {
        const [aloneName, besideName] = named(WORKERS[i])
        return [
          { name: aloneName, run: alone },
          { name: besideName, run: beside },
        ]
      })
      return {
        subjects,
        ratios: WORKERS.map((workers) => {
          const [to, of] = named(workers)
          return { of, to }
        }),
        [Symbol.asyncDispose]: async () => {
          for (const planners of opened) await planners[Symbol.asyncDispose]()
        },
      }
    },
  }
}
