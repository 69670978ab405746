/** Short ways for the tests of the planner: a table in memory, its plan, and plans as plain lists of names. */
import type { FileIO, InputFile, ReadOptions } from '../../src/io/file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import type { DeleteFile } from '../../src/manifest/content-file.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { loadTable, type LoadTableOptions } from '../../src/planner/load-table.ts'
import type { PlanOptions, ScanPlan } from '../../src/planner/scan-plan.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import {
  type BuiltTable,
  buildTable,
  type EntryInput,
  type ManifestInput,
  type SchemaInput,
  type TableInput,
} from '../support/table-writer.ts'

export const LOCATION = 's3://warehouse/db/table'

export const SCHEMA: SchemaInput = {
  fields: [
    { id: 1, name: 'id', required: true, type: 'long' },
    { id: 2, name: 'region', required: false, type: 'string' },
    { id: 3, name: 'amount', required: false, type: 'double' },
  ],
}

/**
 * Data manifests of so many entries each, named `data/<manifest>-<entry>`. Those of thousands are half a megabyte, so
 * that each fills a batch of its own.
 */
export function dataManifests(...sizes: readonly number[]): ManifestInput[] {
  return sizes.map((size, m) => {
    const isLarge = size >= 1000
    const filling = isLarge ? { keyMetadata: new Uint8Array(60) } : {}
    return {
      entries: Array.from({ length: size }, (_, e): EntryInput => ({
        dataFile: { filePath: `data/${m}-${e}`, ...filling },
      })),
      write: { codec: isLarge ? 'null' : 'deflate' },
    }
  })
}

/** A table of one snapshot with these manifests. */
export function tableOf(manifests: readonly ManifestInput[], input: Partial<TableInput> = {}): BuiltTable {
  return buildTable({ schema: SCHEMA, snapshots: [{ manifests }], ...input })
}

export function loadBuilt(
  built: BuiltTable,
  options: LoadTableOptions & { io?: FileIO } = {},
): Promise<Table> {
  return loadTable(built.metadataLocation, { io: new MemoryFileIO(built.files), ...options })
}

/** A planner that remembers nothing, so that tests do not depend on each other. */
export function freshPlanner(): ScanPlanner {
  return new ScanPlanner({ cache: new ManifestCache() })
}

export interface Planned {
  plan: ScanPlan
  tasks: FileScanTask[]
}

/** Loads, plans and takes all tasks. */
export async function planBuilt(
  built: BuiltTable,
  options: ScanOptions & PlanOptions & { planner?: ScanPlanner; io?: FileIO } = {},
): Promise<Planned> {
  const { planner = freshPlanner(), io } = options
  const table = await loadBuilt(built, io === undefined ? {} : { io })
  const plan = await planner.plan(table.newScan(options), options)
  return { plan, tasks: await allOf(plan.tasks) }
}

export async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of source) all.push(item)
  return all
}

export function pathsOf(tasks: readonly FileScanTask[]): string[] {
  return tasks.map((task) => task.dataFile.filePath)
}

/** What tells deletes apart: several deletion vectors may lie in one file. */
export function deleteName(file: DeleteFile): string {
  return file.isDeletionVector ? `${file.filePath}@${file.contentOffset ?? '?'}` : file.filePath
}

/** Path of the data file, then the names of its deletes. */
export function namesOf(task: FileScanTask): string[] {
  return [task.dataFile.filePath, ...task.deletes.map(deleteName)]
}

/**
 * A store whose reads wait until they are let through, one by one or all: what has been asked for, and in what
 * order, is then visible. Aborted reads reject with the signal's reason.
 */
export class GatedFileIO implements FileIO {
  readonly identity: string
  /** Locations in the order in which reads of them began. */
  readonly begun: string[] = []
  /** Locations of reads that were aborted while they waited. */
  readonly aborted: string[] = []
  /** Reads for which this is false go straight through. */
  isHeld: (location: string) => boolean
  readonly #io: FileIO
  readonly #waiting: { location: string; go: () => void }[] = []

  constructor(io: FileIO, isHeld: (location: string) => boolean = () => true) {
    this.identity = io.identity
    this.#io = io
    this.isHeld = isHeld
  }

  get waiting(): string[] {
    return this.#waiting.map(({ location }) => location)
  }

  /** Lets the first `count` of those that wait through. */
  release(count = Infinity): void {
    for (const { go } of this.#waiting.splice(0, count)) go()
  }

  /** Lets the last one that waits through. */
  releaseLast(): void {
    this.#waiting.pop()?.go()
  }

  open(location: string): InputFile {
    const file = this.#io.open(location)
    return {
      location,
      read: async (range, options = {}) => {
        this.begun.push(location)
        if (this.isHeld(location)) await this.#turn(location, options)
        return file.read(range, options)
      },
    }
  }

  #turn(location: string, { signal }: ReadOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ location, go: resolve })
      signal?.addEventListener('abort', () => {
        this.aborted.push(location)
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(signal.reason)
      })
    })
  }
}

/** Lets everything that can happen without a further event happen. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
