/**
 * What a filter costs and saves: warm plans in this thread, and the decoding alone with what filters brought into it.
 *
 * | case      | filter                       | files left | what it shows                                              |
 * | --------- | ---------------------------- | ---------- | ---------------------------------------------------------- |
 * | none      | none                         | all        | to compare with                                            |
 * | keeps-all | bounds of one column         | all        | the full price: bounds are read and tested, nothing saved  |
 * | bounds    | bounds of one column         | 1 %        | tasks, copies and transfers that are saved                 |
 * | partition | a day                        | few        | manifests pruned by their summaries, entries by their tuple |
 * | builder   | none, only entries decoded   |            | decoding without all that knows of filters                 |
 * | job       | none, as the planner decodes |            | what the filters cost where there is none                  |
 */
import type { Group } from './corpus.ts'
import { type ShapeName, tableOnDisk } from './fixtures.ts'
import type { Subject } from './measure.ts'
import { openJobs, openPlanner } from './product.ts'

export function filterGroup(shape: ShapeName): Group {
  const group = `filter/${shape}`
  const [none, keepsAll, bounds, partition, builder, job] = [
    'none',
    'keeps-all',
    'bounds',
    'partition',
    'builder',
    'job',
  ].map((kind) => `${group}/${kind}`)
  return {
    name: group,
    cases: [none, keepsAll, bounds, partition, builder, job],
    warmUps: 3,
    prepare: async (size) => {
      const { metadataLocation, manifestPaths, entries } = tableOnDisk(shape, size)
      const planner = await openPlanner(metadataLocation, { cache: 'bytes', workers: 0 })
      const jobs = await openJobs(metadataLocation, manifestPaths)
      const planned = (name: string, filter?: string): Subject => ({
        name,
        agreesWith: filter === undefined || name === keepsAll ? 'all files' : name,
        run: async () => ({ checksum: await planner.plan(filter) }),
      })
      const decoded = (name: string, run: () => number): Subject => ({
        name,
        agreesWith: 'entries',
        run: () => ({ checksum: run() }),
      })
      return {
        subjects: [
          planned(none),
          planned(keepsAll, 'id >= 0'),
          planned(bounds, `id < ${Math.ceil(entries / 100) * IDS_PER_FILE}`),
          planned(partition, "ts >= '2026-01-01T00:00:00Z' AND ts < '2026-01-02T00:00:00Z'"),
          decoded(builder, jobs.builder),
          decoded(job, jobs.job),
        ],
        ratios: [...[keepsAll, bounds, partition].map((of) => ({ of, to: none })), { of: job, to: builder }],
        [Symbol.asyncDispose]: () => planner[Symbol.asyncDispose](),
      }
    },
  }
}

/** As the tables are made: file after file. */
const IDS_PER_FILE = 100_000
