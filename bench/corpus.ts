/**
 * The cases, in groups: what stands in one group is run interleaved and may be compared. bench.ts times them,
 * profile.ts runs one alone, and the test suite runs each once on small inputs.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ShapeName, type Size, tableOnDisk } from './fixtures.ts'
import type { Outcome, Subject } from './measure.ts'
import { filterGroup } from './filter.ts'
import { stallGroup } from './stall.ts'
import { startGroup } from './start.ts'
import { togetherGroup } from './together.ts'
import { workerStartGroup } from './worker-start.ts'
import { metadataGroup } from './metadata.ts'
import { listGroup } from './list.ts'
import { cacheGroups } from './cache.ts'
import { memoryGroup } from './memory.ts'
import { rssGroup } from './rss.ts'
import { s3Group } from './s3.ts'
import { scaleGroup } from './scale.ts'
import { type CacheSwitch, type Workers, openDecoder, openDeletes, openPlanner } from './product.ts'
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
const FILTERED: readonly ShapeName[] = ['narrow-small', 'narrow-big', 'wide-big']
/** By the bytes of their manifests. */
const CHOSEN: readonly ShapeName[] = [
  'tiny',
  'narrow-small',
  'narrow-some',
  'narrow-half',
  'narrow-big',
  'wide-big',
  'deletes',
]
const DECODED: readonly ShapeName[] = ['narrow-small', 'narrow-big', 'narrow-py', 'wide-small', 'wide-big']
/** The yardstick keeps the bytes of its files for every round, so a few big files must do. */
const MAX_YARDSTICK_BYTES = 16 * 1024 * 1024

/** Every case there is, by group. */
export const GROUPS: readonly Group[] = [
  ...PLANNED.map(planGroup),
  ...DECODED.map(cursorGroup),
  ...FILTERED.map(filterGroup),
  deletesGroup('deletes', 'deletes'),
  deletesGroup('vectors', 'vectors-big'),
  ...cacheGroups(),
  ...CHOSEN.map(autoGroup),
  stallGroup(),
  togetherGroup(),
  s3Group(),
  startGroup(),
  workerStartGroup(),
  metadataGroup(),
  listGroup(),
  scaleGroup(),
  memoryGroup(),
  rssGroup(),
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
      const warmPlanners = await Promise.all(
        CACHE.map((cache) => openPlanner(metadataLocation, { cache, workers: 0 })),
      )
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
  await using planner = await openPlanner(metadataLocation, { cache, workers: 0 })
  return { checksum: await planner.plan() }
}

/**
 * Who should decode? In this thread, by one worker, by two, or as the planner chooses: in a new process that plans
 * once, and by planners that have planned the table before.
 */
function autoGroup(shape: ShapeName): Group {
  const group = `auto/${shape}`
  const choices: readonly Workers[] = [0, 1, 2, 'auto']
  const named = (kind: string) => choices.map((workers) => `${group}/${kind}/workers-${workers}`)
  const kinds = ['cold-process', 'warm']
  return {
    name: group,
    cases: kinds.flatMap(named),
    warmUps: 2,
    prepare: async (size) => {
      const { metadataLocation } = tableOnDisk(shape, size)
      const script = fileURLToPath(new URL('./one-plan.js', import.meta.url))
      const planners = await Promise.all(
        choices.map((workers) => openPlanner(metadataLocation, { cache: 'bytes', workers })),
      )
      const [cold, warm] = kinds.map(named)
      const subjects = choices.flatMap((workers, i): Subject[] => [
        { name: cold[i], run: () => runProcess([script, metadataLocation, 'on', String(workers)]) },
        { name: warm[i], run: async () => ({ checksum: await planners[i].plan() }) },
      ])
      return {
        subjects,
        ratios: [cold, warm].flatMap((names) => [0, 1, 2].map((i) => ({ of: names[3], to: names[i] }))),
        [Symbol.asyncDispose]: async () => {
          for (const planner of planners) await planner[Symbol.asyncDispose]()
        },
      }
    },
  }
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
 * Data files against the deletes of one of them each: decoding the manifests, building the index and asking it about every
 * data file; of `deletes` also what stays in memory when tasks are streamed and dropped.
 */
function deletesGroup(name: 'deletes' | 'vectors', shape: ShapeName): Group {
  const [decode, index, growth] = ['decode', 'index', 'stream-memory'].map((kind) => `${name}/${kind}`)
  const isStreamed = name === 'deletes'
  return {
    name,
    cases: isStreamed ? [decode, index, growth] : [decode, index],
    maxRounds: 3,
    warmUps: 0,
    prepare: async (size) => {
      const deletes = await openDeletes(tableOnDisk(shape, size))
      const stream: Subject = {
        name: growth,
        agreesWith: 'tasks',
        unit: 'MB',
        run: () => deletes.stream(),
      }
      return {
        subjects: [
          { name: decode, agreesWith: 'entries', run: () => ({ checksum: deletes.decode() }) },
          {
            name: index,
            agreesWith: 'assigned',
            run: async () => ({ checksum: await deletes.indexAndLookUp() }),
          },
          ...(isStreamed ? [stream] : []),
        ],
        ratios: [{ of: index, to: decode }],
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }
    },
  }
}
