/**
 * The cases, in groups: what stands in one group is run interleaved and may be compared. bench.ts times them,
 * profile.ts runs one alone, and the test suite runs each once on small inputs.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type GeneratedTable, type ShapeName, type Size, tableOnDisk } from './fixtures.ts'
import type { Outcome, Subject } from './measure.ts'
import { type CacheSwitch, openDecoder, openDeletes, openPlanner } from './product.ts'
import { findYardstick, runYardstick, type YardstickRun } from './yardstick.ts'

/** The median of `of` divided by that of `to`. */
export interface Ratio {
  of: string
  to: string
}

export interface Prepared extends AsyncDisposable {
  subjects: Subject[]
  ratios?: Ratio[]
  /** Sentences for the user, for instance why a case is missing. */
  notes?: string[]
}

export interface Group {
  name: string
  /** Names of all cases that `prepare` may give. */
  cases: string[]
  maxRounds?: number
  /** Default 1. */
  warmUps?: number
  prepare: (size: Size) => Promise<Prepared>
}

const CACHE: readonly CacheSwitch[] = ['on', 'off']
const PLANNED: readonly ShapeName[] = ['narrow-small', 'narrow-big', 'narrow-py']
const DECODED: readonly ShapeName[] = ['narrow-small', 'narrow-big', 'narrow-py', 'wide-small', 'wide-big']
/** The yardstick keeps the bytes of its files for every round, so a few big files must do. */
const MAX_YARDSTICK_BYTES = 16 * 1024 * 1024

/** Every case there is, by group. */
export const GROUPS: readonly Group[] = [
  ...PLANNED.map(planGroup),
  ...DECODED.map(cursorGroup),
  deletesGroup(),
]

/**
 * One table planned in a new process, by a new planner with an empty cache, and again by a planner that has planned
 * it before; each with the cache on and off.
 */
function planGroup(shape: ShapeName): Group {
  const group = `plan/${shape}`
  const emptyProcess = `${group}/empty-process`
  const named = (kind: string) => CACHE.map((cache) => `${group}/${kind}/cache-${cache}`)
  const kinds = ['cold-process', 'cold-planner', 'warm']
  return {
    name: group,
    cases: [emptyProcess, ...kinds.flatMap(named)],
    prepare: async (size) => {
      const { metadataLocation } = tableOnDisk(shape, size)
      const subjects: Subject[] = [
        { name: emptyProcess, agreesWith: 'nothing', run: () => runProcess(['-e', 'console.log(0)']) },
      ]
      const warmPlanners = await Promise.all(CACHE.map((cache) => openPlanner(metadataLocation, cache)))
      for (const [i, cache] of CACHE.entries()) {
        const [coldProcess, coldPlanner, warm] = kinds.map((kind) => named(kind)[i])
        const script = fileURLToPath(new URL('./one-plan.js', import.meta.url))
        subjects.push(
          { name: coldProcess, run: () => runProcess([script, metadataLocation, cache]) },
          { name: coldPlanner, run: () => planOnce(metadataLocation, cache) },
          { name: warm, run: async () => ({ checksum: await warmPlanners[i].plan() }) },
        )
      }
      return {
        subjects,
        ratios: kinds.map((kind) => ({ of: named(kind)[0], to: named(kind)[1] })),
        [Symbol.asyncDispose]: async () => {
          for (const planner of warmPlanners) await planner[Symbol.asyncDispose]()
        },
      }
    },
  }
}

async function planOnce(metadataLocation: string, cache: CacheSwitch): Promise<Outcome> {
  await using planner = await openPlanner(metadataLocation, cache)
  return { checksum: await planner.plan() }
}

const execute = promisify(execFile)

/** Runs Node.js with these arguments; what it prints is the checksum. */
async function runProcess(args: string[]): Promise<Outcome> {
  const { stdout } = await execute(process.execPath, args)
  return { checksum: Number(stdout) }
}

/** Our decoding of manifests in memory beside that of the yardstick: same files, same process, same projection. */
function cursorGroup(shape: ShapeName): Group {
  const group = `cursor/yardstick/${shape}`
  const [ours, theirs, floor] = ['ours', 'prototype', 'inflate-floor'].map((kind) => `${group}/${kind}`)
  return {
    name: group,
    cases: [ours, theirs, floor],
    prepare: async (size) => {
      const { metadataLocation, manifestPaths } = tableOnDisk(shape, size)
      const paths = firstFiles(manifestPaths, MAX_YARDSTICK_BYTES)
      const decode = await openDecoder(metadataLocation, paths)
      const subjects: Subject[] = [{ name: ours, run: () => thirdOf(decode) }]
      const script = findYardstick()
      const notes: string[] = []
      if (script === undefined) notes.push('there is no yardstick, so only our own time is measured')
      else subjects.push(...yardstickSubjects(script, paths, theirs, floor))
      return {
        subjects,
        notes,
        ratios: [
          { of: ours, to: theirs },
          { of: ours, to: floor },
        ],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }
    },
  }
}

function yardstickSubjects(script: string, paths: string[], theirs: string, floor: string): Subject[] {
  let last: YardstickRun | undefined
  const run = async () => (last ??= await runYardstick(script, paths))
  return [
    {
      name: theirs,
      run: async () => {
        last = undefined
        const { entries, inflateAndDecodeMs } = await run()
        return { checksum: entries, value: inflateAndDecodeMs }
      },
    },
    {
      // Measured in the same run as the decoding; only a run of its own if the pattern excludes that.
      name: floor,
      run: async () => {
        const { entries, inflateFloorMs } = await run()
        return { checksum: entries, value: inflateFloorMs }
      },
    },
  ]
}

/** The yardstick times the third of three passes, so we do. */
function thirdOf(decode: () => number): Outcome {
  decode()
  decode()
  const start = performance.now()
  const checksum = decode()
  return { checksum, value: performance.now() - start }
}

/** At least one file, and more while they fit into the budget. */
function firstFiles(paths: readonly string[], budget: number): string[] {
  let bytes = 0
  return paths.filter((path, i) => {
    bytes += fs.statSync(path).size
    return i === 0 || bytes <= budget
  })
}

/**
 * A million data files against a hundred thousand path-scoped position deletes: decoding the manifests, building the
 * index and asking it about every data file, and what stays in memory when tasks are streamed and dropped.
 */
function deletesGroup(): Group {
  const [decode, index, growth] = ['decode', 'index', 'stream-memory'].map((kind) => `deletes/${kind}`)
  return {
    name: 'deletes',
    cases: [decode, index, growth],
    maxRounds: 3,
    warmUps: 0,
    prepare: async (size) => {
      const table: GeneratedTable = tableOnDisk('deletes', size)
      const deletes = await openDeletes(table)
      return {
        subjects: [
          { name: decode, agreesWith: 'entries', run: () => ({ checksum: deletes.decode() }) },
          { name: index, agreesWith: 'assigned', run: () => ({ checksum: deletes.indexAndLookUp() }) },
          { name: growth, agreesWith: 'tasks', unit: 'MB', run: () => deletes.stream() },
        ],
        ratios: [{ of: index, to: decode }],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }
    },
  }
}
