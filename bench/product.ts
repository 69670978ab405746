/**
 * All calls of the benches into the product, so that a change of its interfaces is one file's work here.
 */
import fs from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  ManifestCache,
  type CacheComparison,
  type CompareCachesOptions,
  type ManifestFile,
  MemoryFileIO,
  type PlannedBatch,
  ScanPlanner,
  type Table,
  compareCaches,
  loadTable,
  parseTableMetadata,
  readManifestListBytes,
  rebase,
} from '../src/index.ts'
import { drained } from '../src/avro/steps.ts'
import type { EntryBatch } from '../src/manifest/entry-batch.ts'
import { EntryBatchBuilder, type PartitionTypeLookup } from '../src/manifest/entry-batch-builder.ts'
import type { ManifestProjection } from '../src/manifest/entry-fields.ts'
import { tablePartitionTypes } from '../src/manifest/manifest-reader.ts'
import { type PartitionType, partitionType } from '../src/manifest/partition-key.ts'
import { type DecodeContext, decodeManifests, newContextId } from '../src/planner/decode-job.ts'
import { DeleteFileIndex } from '../src/planner/delete-file-index.ts'
import { Warnings } from '../src/planner/warnings.ts'
import type { GeneratedTable } from './fixtures.ts'
import type { Outcome } from './measure.ts'

/** `bytes`: files and headers are remembered, decoded entries are not. */
export type CacheSwitch = 'on' | 'bytes' | 'off'

export interface BenchPlanner extends AsyncDisposable {
  /** Plans all files of the table and touches every task; the answer is a checksum. */
  plan: (filter?: string) => Promise<number>
}

/** As the planner's option. */
export type Workers = number | 'auto'

/** Loads a table and makes a planner for it with a cache of its own. */
export async function openPlanner(
  metadataLocation: string,
  { cache, workers }: { cache: CacheSwitch; workers: Workers },
): Promise<BenchPlanner> {
  const table = await loadTable(metadataLocation)
  const planner = new ScanPlanner({ cache: openCache(cache), workers })
  return {
    plan: async (filter) => {
      const plan = await planner.plan(table.newScan({ filter }))
      let checksum = 0
      for await (const task of plan.tasks) {
        checksum = (Math.imul(checksum, 31) + task.dataFile.recordCount + task.deletes.length) | 0
      }
      return checksum
    },
    [Symbol.asyncDispose]: () => planner.close(),
  }
}

export function openCache(cache: CacheSwitch): ManifestCache | 'off' {
  if (cache === 'off') return 'off'
  return new ManifestCache(cache === 'bytes' ? { maxEntryBytes: 0 } : {})
}

/** What the planner reads to test a filter on columns 1 and 4; the yardstick reads the same. */
const FILTER_PROJECTION: ManifestProjection = { groups: ['bounds'], columnStats: [1, 4], byColumn: true }
/** What the planner reads of data files without a filter, and of delete files: there may be equality deletes. */
const DATA_PROJECTION: ManifestProjection = { groups: ['layout'], columnStats: 'none' }
const DELETE_PROJECTION: ManifestProjection = {
  groups: ['layout', 'deletes', 'counts', 'nans', 'bounds'],
  columnStats: 'all',
}
/** The planner hands a batch on when it has so many entries. */
const BATCH_ROWS = 4096

/** Manifests in memory, and what is needed to decode them. */
interface LoadedManifests {
  rows: ManifestFile[]
  bytes: Map<string, Uint8Array>
  lookup: PartitionTypeLookup
  partitionTypes: readonly PartitionType[]
  cache: ManifestCache
}

async function loadManifests(metadataLocation: string, paths: readonly string[]): Promise<LoadedManifests> {
  const { selected } = (await loadTable(metadataLocation)).newScan()
  const partitionTypes = [...selected.specs.values()].map((spec) => partitionType(spec, selected.schema))
  const types = new Map(partitionTypes.map((type) => [type.specId, type]))
  const rows = readManifestListBytes(fs.readFileSync(selected.snapshot!.manifestList!))
  return {
    rows: rows.filter(({ manifestPath }) => paths.includes(manifestPath)),
    bytes: new Map(paths.map((path) => [path, new Uint8Array(fs.readFileSync(path))])),
    lookup: tablePartitionTypes(types),
    partitionTypes,
    cache: new ManifestCache(),
  }
}

/** Decodes as the planner does, small manifests together. */
function decode(
  { rows, bytes, lookup, cache }: LoadedManifests,
  projection: ManifestProjection,
): EntryBatch[] {
  const batches: EntryBatch[] = []
  let builder = new EntryBatchBuilder(projection, cache, lookup)
  for (const row of rows) {
    builder.add(bytes.get(row.manifestPath)!, row, row.manifestPath)
    if (builder.rowCount < BATCH_ROWS) continue
    batches.push(builder.finish())
    builder = new EntryBatchBuilder(projection, cache, lookup)
  }
  if (builder.rowCount > 0) batches.push(builder.finish())
  return batches
}

function countRows(batches: readonly EntryBatch[]): number {
  return batches.reduce((sum, { rowCount }) => sum + rowCount, 0)
}

/** Decodes these manifests of a table from memory; the answer is the number of entries. Headers stay cached. */
export async function openDecoder(metadataLocation: string, paths: readonly string[]): Promise<() => number> {
  const manifests = await loadManifests(metadataLocation, paths)
  return () => countRows(decode(manifests, FILTER_PROJECTION))
}

/** Decodes these manifests with the projection of an unfiltered plan: by the builder alone, and as the planner does. */
export async function openJobs(
  metadataLocation: string,
  paths: readonly string[],
): Promise<{ builder: () => number; job: () => number }> {
  const { rows, bytes, lookup, cache, partitionTypes } = await loadManifests(metadataLocation, paths)
  const context: DecodeContext = {
    id: newContextId(),
    projection: DATA_PROJECTION,
    partitionTypes,
    filter: undefined,
    allRows: false,
    shownColumns: [],
  }
  const job = (run: readonly ManifestFile[]): number => {
    const manifests = run.map((manifest) => {
      const location = manifest.manifestPath
      return { manifest, bytes: bytes.get(location)!, location }
    })
    return drained(decodeManifests(manifests, context, cache)).batch.rowCount
  }
  const build = (run: readonly ManifestFile[]): number => {
    const builder = new EntryBatchBuilder(DATA_PROJECTION, cache, lookup)
    for (const row of run) builder.add(bytes.get(row.manifestPath)!, row, row.manifestPath)
    return builder.finish().rowCount
  }
  const runs = runsOf(rows)
  const all = (one: (run: readonly ManifestFile[]) => number): number =>
    runs.reduce((sum, run) => sum + one(run), 0)
  return { builder: () => all(build), job: () => all(job) }
}

/** Small manifests together, as the planner packs them. */
function runsOf(rows: readonly ManifestFile[]): ManifestFile[][] {
  const runs: ManifestFile[][] = []
  let room = 0
  for (const row of rows) {
    const run = runs.at(-1)
    room -= row.manifestLength ?? 0
    if (run !== undefined && run.length < 96 && room >= 0) run.push(row)
    else {
      runs.push([row])
      room = 512 * 1024 - (row.manifestLength ?? 0)
    }
  }
  return runs
}

export interface BenchDeletes {
  /** Decodes all manifests; the answer is the number of entries. */
  decode: () => number
  /** Indexes the deletes and looks every data file up; the answer is the number of deletes assigned. */
  indexAndLookUp: () => Promise<number>
  /** Plans, drops every task, and measures how memory grows while three fifths of the tasks pass, in MB. */
  stream: () => Promise<Outcome>
}

export async function openDeletes(table: GeneratedTable): Promise<BenchDeletes> {
  const data = await loadManifests(table.metadataLocation, table.manifestPaths)
  const deletes = await loadManifests(table.metadataLocation, table.deleteManifestPaths)
  let decoded: { data: EntryBatch[]; deletes: EntryBatch[] } | undefined
  const decodeAll = () =>
    (decoded = { deletes: decode(deletes, DELETE_PROJECTION), data: decode(data, DATA_PROJECTION) })
  return {
    decode: () => {
      const { data, deletes } = decodeAll()
      return countRows(data) + countRows(deletes)
    },
    indexAndLookUp: async () => {
      const { data, deletes } = decoded ?? decodeAll()
      const index = await DeleteFileIndex.build(deletes, { warnings: new Warnings() })
      let assigned = 0
      for (const batch of data) {
        const assignment = await index.assign(batch)
        for (let i = 0; i < batch.liveRows.length; i++) assigned += assignment.countAt(i)
      }
      return assigned
    },
    stream: () => {
      // What the other cases keep would only disturb.
      decoded = undefined
      return measureStream(table)
    },
  }
}

async function measureStream(table: GeneratedTable): Promise<Outcome> {
  await using planner = new ScanPlanner({ cache: 'off' })
  const plan = await planner.plan((await loadTable(table.metadataLocation)).newScan())
  let tasks = 0
  let bytesEarly = 0
  let bytesLate = 0
  for await (const task of plan.tasks) {
    tasks += task.length > 0 ? 1 : 0
    // Neither near the start nor near the end, where fewer manifests are being fetched ahead.
    if (tasks === Math.ceil(table.entries * 0.2)) bytesEarly = memoryInUse()
    if (tasks === Math.ceil(table.entries * 0.8)) bytesLate = memoryInUse()
  }
  return { checksum: tasks, value: (bytesLate - bytesEarly) / 1e6 }
}

/** Bytes reachable: after a full collection, on the heap and in buffers. */
function memoryInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

/** The library's own comparison of cache on and off. */
export async function comparePlans(
  metadataLocation: string,
  options: CompareCachesOptions,
): Promise<CacheComparison[]> {
  return compareCaches(await loadTable(metadataLocation), options)
}

/** A plan whose tasks were looked at and dropped. */
export interface StreamedPlan {
  /** Of all manifests in the list. */
  entries: number
  tasks: number
  checksum: number
  /** From `plan()` to the last task, and to the first, if there is one. */
  milliseconds: number
  firstTaskMs?: number
  /** The most that the process had resident, whatever it did until now. */
  peakBytes: number
}

/** Plans with a new planner and its default cache, and looks at the path and the record count of every task. */
export async function streamPlan(
  metadataLocation: string,
  { workers, filter }: { workers: Workers; filter: string | undefined },
): Promise<StreamedPlan> {
  const table = await loadTable(metadataLocation)
  await using planner = new ScanPlanner({ workers })
  const start = performance.now()
  const plan = await planner.plan(table.newScan({ filter }))
  let tasks = 0
  let checksum = 0
  let firstTaskMs: number | undefined
  for await (const task of plan.tasks) {
    if (tasks++ === 0) firstTaskMs = performance.now() - start
    const { filePath, recordCount } = task.dataFile
    checksum = (Math.imul(checksum, 31) + recordCount + filePath.charCodeAt(filePath.length - 20)) | 0
  }
  const milliseconds = performance.now() - start
  const { skippedDataFiles } = plan.report
  return {
    entries: tasks + skippedDataFiles,
    tasks,
    checksum,
    milliseconds,
    ...(firstTaskMs === undefined ? {} : { firstTaskMs }),
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }
}

export const MEMORY_KINDS = ['plan-heap', 'first-task', 'cached-entry'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** One figure, measured in this process: it should have done nothing else. The checksum is the number of tasks. */
export async function measureMemory(metadataLocation: string, kind: MemoryKind): Promise<Outcome> {
  const table = await loadTable(metadataLocation)
  switch (kind) {
    case 'plan-heap':
      return measurePlanHeap(table)
    case 'first-task':
      return measureFirstTask(table)
    case 'cached-entry':
      return measureCachedEntry(table)
  }
}

/** Megabytes of JavaScript heap that the batches of a plan hold; without a cache, so that nothing else does. */
async function measurePlanHeap(table: Table): Promise<Outcome> {
  await using planner = new ScanPlanner({ cache: 'off', workers: 0 })
  const planAll = async (): Promise<PlannedBatch[]> => {
    const batches: PlannedBatch[] = []
    for await (const batch of (await planner.plan(table.newScan())).batches) batches.push(batch)
    return batches
  }
  // What compiled code takes is not the plan's. Only a number of this plan is left when the collector comes.
  await planAll().then(({ length }) => length)
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const batches = await planAll()
  collectGarbage()
  const after = process.memoryUsage().heapUsed
  const columns = batches.reduce((sum, { batch }) => sum + batch.byteLength, 0)
  return {
    checksum: batches.reduce((sum, { length }) => sum + length, 0),
    value: (after - before) / 1e6,
    note: `${batches.length} batches, and ${(columns / 1e6).toFixed(0)} MB of columns outside of the heap`,
  }
}

/** Milliseconds from the first batch until a task of it is there, with its path and record count; in a new process. */
async function measureFirstTask(table: Table): Promise<Outcome> {
  await using planner = new ScanPlanner({ workers: 0 })
  const planned = performance.now()
  const { batches } = await planner.plan(table.newScan())
  const first = await batches.next()
  if (first.done === true)
    throw new Error(`Cannot time the first task of ${table.metadata.metadataLocation}: it has none`)
  const start = performance.now()
  const task = first.value.task(0)
  const { filePath, recordCount } = task.dataFile
  const value = performance.now() - start
  const note = `${filePath.slice(-40)} of ${recordCount} records; its batch was there after ${(start - planned).toFixed(1)} ms`
  let tasks = first.value.length
  for await (const batch of batches) tasks += batch.length
  return { checksum: tasks, value, note }
}

/** Bytes by which the cache counts an entry that was read for a filter on one column. */
async function measureCachedEntry(table: Table): Promise<Outcome> {
  const cache = new ManifestCache({ maxEntryBytes: 2 ** 30 })
  await using planner = new ScanPlanner({ cache, workers: 0 })
  const plan = await planner.plan(table.newScan({ filter: 'id >= 0' }))
  let tasks = 0
  for await (const batch of plan.batches) tasks += batch.length
  return { checksum: tasks, value: cache.entries.bytes / tasks }
}

/** Plans all of a table without a cache while a monitor looks how long the event loop is held up at most. */
export async function measureStall(metadataLocation: string, workers: Workers): Promise<Outcome> {
  await using planner = await openPlanner(metadataLocation, { cache: 'off', workers })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const checksum = await planner.plan()
  delay.disable()
  const milliseconds = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(1)
  return {
    checksum,
    value: delay.max / 1e6,
    note: `99 % of the turns within ${milliseconds(delay.percentile(99))} ms`,
  }
}

/** Times a small plan alone and beside a huge one, by one planner without a cache. */
export async function openTogether(
  small: string,
  big: string,
  workers: Workers,
): Promise<AsyncDisposable & { alone: () => Promise<Outcome>; beside: () => Promise<Outcome> }> {
  const planner = new ScanPlanner({ cache: 'off', workers })
  const [smallTable, bigTable] = await Promise.all([loadTable(small), loadTable(big)])
  const alone = async (): Promise<Outcome> => {
    const start = performance.now()
    const plan = await planner.plan(smallTable.newScan())
    let checksum = 0
    for await (const batch of plan.batches) checksum += batch.length
    return { checksum, value: performance.now() - start }
  }
  const beside = async (): Promise<Outcome> => {
    const controller = new AbortController()
    const bigPlan = await planner.plan(bigTable.newScan(), { signal: controller.signal })
    const batches = bigPlan.batches
    await batches.next()
    const rest = (async () => {
      let files = 0
      for await (const batch of batches) files += batch.length
      return files
    })()
    const outcome = await alone()
    controller.abort()
    await rest.catch(() => undefined)
    return outcome
  }
  return { alone, beside, [Symbol.asyncDispose]: () => planner.close() }
}

/** A table whose manifests a filter rules out. */
export interface PrunedTable {
  list: Uint8Array
  /** The text of the metadata file of a table at a location, with one snapshot. */
  metadata: (location: string, list: string) => string
  filter: string
}

/** Plans it with a new planner, and with one that has planned it before; the answer is the number of manifests. */
export async function openPrunedTable({
  list,
  metadata,
  filter,
}: PrunedTable): Promise<
  AsyncDisposable & { planCold: () => Promise<Outcome>; planWarm: () => Promise<Outcome> }
> {
  const location = 'memory://lake/orders'
  const [metadataLocation, listLocation] = ['v1.metadata.json', 'snap-1.avro'].map(
    (name) => `${location}/metadata/${name}`,
  )
  const io = new MemoryFileIO([
    [metadataLocation, Buffer.from(metadata(location, listLocation))],
    [listLocation, list],
  ])
  const table = await loadTable(metadataLocation, { io })
  const plan = async (planner: ScanPlanner): Promise<Outcome> => {
    const plan = await planner.plan(table.newScan({ filter }))
    const { done } = await plan.batches.next()
    if (done !== true) throw new Error('Cannot time how all manifests are ruled out: one was read')
    return { checksum: plan.report.skippedDataManifests }
  }
  const warm = new ScanPlanner({ workers: 0 })
  return {
    planCold: async () => {
      await using cold = new ScanPlanner({ workers: 0 })
      return await plan(cold)
    },
    planWarm: () => plan(warm),
    [Symbol.asyncDispose]: () => warm.close(),
  }
}

/** Parses a metadata file; the answer is the number of snapshots. */
export function parseMetadata(location: string): number {
  return parseTableMetadata(fs.readFileSync(location), location).snapshots.length
}

/** Many plans over many tables with small caches. */
export interface RssSetup {
  /** The store has a copy of the table at each of the URLs `origin`/0 to `origin`/`tables` - 1. */
  origin: string
  /** Where the table's metadata says it is. */
  folder: string
  /** The metadata file, from the table's folder. */
  metadata: string
  tables: number
  plans: number
  workers: Workers
  maxFileBytes: number
  maxEntryBytes: number
}

/** Megabytes resident after the last plan beyond the budgets of the caches; the checksum is the number of tasks. */
export async function measureRss(setup: RssSetup): Promise<Outcome> {
  const { origin, folder, maxFileBytes, maxEntryBytes, workers } = setup
  const tables = await Promise.all(
    Array.from({ length: setup.tables }, (_, i) =>
      loadTable(`${origin}/${i}/${setup.metadata}`, { rebase: [rebase(folder, `${origin}/${i}`)] }),
    ),
  )
  const cache = new ManifestCache({ maxFileBytes, maxEntryBytes })
  await using planner = new ScanPlanner({ cache, workers })
  const budget = maxFileBytes + maxEntryBytes
  const beyond = (bytes: number) => (bytes - budget) / 1e6
  const before = process.memoryUsage.rss()
  let tasks = 0
  let highest = 0
  for (let n = 0; n < setup.plans; n++) {
    const plan = await planner.plan(tables[n % tables.length].newScan())
    for await (const batch of plan.batches) tasks += batch.length
    highest = Math.max(highest, process.memoryUsage.rss())
  }
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0)
  const kept = `${mb(cache.fileBytes)} MB of files and ${mb(cache.entries.bytes)} MB of entries kept`
  return {
    checksum: tasks,
    value: beyond(rss),
    note:
      `${setup.plans} plans over ${tables.length} tables; budget ${mb(budget)} MB, ${kept}; resident ` +
      `${mb(before)} MB before, ${mb(rss)} MB after, ${mb(highest)} MB at most; heap ${mb(heapUsed)}, external ${mb(external)}, of it buffers ${mb(arrayBuffers)}`,
  }
}
