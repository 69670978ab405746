/**
 * How long planning a million entries holds up the event loop of the main thread at most: with 100,000 path-scoped
 * deletes, which have to be indexed and looked up here, and without.
 */
import { type GeneratedTable, tableOnDisk } from './fixtures.ts'
import type { Group } from './corpus.ts'
import { type Workers, measureStall } from './product.ts'

const WORKERS: readonly Workers[] = [0, 2]

export function stallGroup(): Group {
  const names = (kind: string) => WORKERS.map((workers) => `stall/${kind}/workers-${workers}`)
  const [plain, deletes] = [names('plain'), names('deletes')]
  return {
    name: 'stall',
    cases: [...plain, ...deletes],
    maxRounds: 5,
    prepare: (size) => {
      const subjects = (group: string[], table: GeneratedTable) =>
        WORKERS.map((workers, i) => ({
          name: group[i],
          agreesWith: table.metadataLocation,
          run: () => measureStall(table.metadataLocation, workers),
        }))
      return Promise.resolve({
        subjects: [
          ...subjects(plain, tableOnDisk('plain', size)),
          ...subjects(deletes, tableOnDisk('deletes', size)),
        ],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    },
  }
}
