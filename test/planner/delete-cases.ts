/** Data files and delete files in one line each, and the plan of a table that holds them. */
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import type { ScanReport } from '../../src/planner/scan-report.ts'
import { type EntryInput, type ManifestInput, type SpecInput, buildTable } from '../support/table-writer.ts'
import { namesOf, planBuilt, SCHEMA } from './planning.ts'

/** The specs of every table here, by what is special about them. */
export const SPEC = { NONE: 0, REGION: 1, REGION_AGAIN: 2, VOID: 3, AMOUNT: 4, ID: 5, TWO: 6, NONE_AGAIN: 7 }

const identity = (sourceId: number, name: string) => ({ sourceId, name, transform: 'identity' })
export const SPECS: readonly SpecInput[] = [
  { fields: [] },
  { fields: [identity(2, 'region')] },
  { fields: [identity(2, 'region')] },
  { fields: [{ sourceId: 2, name: 'region', transform: 'void' }] },
  { fields: [identity(3, 'amount')] },
  { fields: [identity(1, 'id')] },
  { fields: [identity(2, 'region'), identity(1, 'id')] },
  { fields: [] },
]

/** Reserved field id of a position delete's `file_path`. */
export const FILE_PATH_ID = 2147483546

/** The sequence number in the manifest list's rows: above all that entries state. */
export const MANIFEST_SEQUENCE = 100

export interface FileCase {
  readonly name: string
  readonly specId: number
  readonly entry: EntryInput
  /** Overrides of the manifest that holds it, which it then has to itself. */
  readonly manifest?: Partial<ManifestInput>
}

/** `null`: the entry has no number and does not inherit one, for it is EXISTING. */
type Sequence = number | null

export interface Scope {
  /** Default 5 for data; every delete states its own. */
  seq?: Sequence
  fileSeq?: number
  /** Default {@link SPEC.NONE}. */
  spec?: number
  partition?: readonly unknown[]
  status?: number
  size?: number
  manifest?: Partial<ManifestInput>
}

function fileCase(
  name: string,
  scope: Scope,
  defaultSeq: number,
  dataFile: EntryInput['dataFile'],
): FileCase {
  const { seq = defaultSeq, fileSeq, spec = SPEC.NONE, partition = [], status, size = 1000, manifest } = scope
  const numbers = {
    ...(seq === null ? {} : { sequenceNumber: seq }),
    ...(fileSeq === undefined ? {} : { fileSequenceNumber: fileSeq }),
  }
  return {
    name,
    specId: spec,
    entry: {
      status: status ?? (seq === null ? 0 : 1),
      ...numbers,
      dataFile: { filePath: name, partition, fileSizeInBytes: size, ...dataFile },
    },
    ...(manifest === undefined ? {} : { manifest }),
  }
}

export function data(name: string, scope: Scope = {}): FileCase {
  return fileCase(name, scope, 5, {})
}

/** An equality delete file on column 1. */
export function eq(
  name: string,
  seq: Sequence,
  scope: Scope & { ids?: readonly number[] | null } = {},
): FileCase {
  const { ids = [1] } = scope
  return fileCase(name, { ...scope, seq }, 0, { content: 2, ...(ids === null ? {} : { equalityIds: ids }) })
}

/** A position delete file of a partition, or with `about` of one data file. */
export function pos(
  name: string,
  seq: Sequence,
  scope: Scope & { about?: string; lower?: string; upper?: string } = {},
): FileCase {
  const { about, lower, upper } = scope
  return fileCase(name, { ...scope, seq }, 0, {
    content: 1,
    ...(about === undefined ? {} : { referencedDataFile: about }),
    ...(lower === undefined ? {} : { lowerBounds: { [FILE_PATH_ID]: Buffer.from(lower) } }),
    ...(upper === undefined ? {} : { upperBounds: { [FILE_PATH_ID]: Buffer.from(upper) } }),
  })
}

/** A deletion vector: 40 bytes at byte `at` of a Puffin file of 1,000. */
export function dv(
  name: string,
  seq: Sequence,
  about: string | null,
  scope: Scope & { at?: number | null; blob?: number | null; format?: string } = {},
): FileCase {
  const { at = 4, blob = 40, format = 'PUFFIN' } = scope
  return fileCase(name, { ...scope, seq }, 0, {
    content: 1,
    fileFormat: format,
    ...(about === null ? {} : { referencedDataFile: about }),
    ...(at === null ? {} : { contentOffset: at }),
    ...(blob === null ? {} : { contentSizeInBytes: blob }),
  })
}

/** Manifests of neighbours that share a spec, in order. */
function manifestsOf(files: readonly FileCase[], content: 'data' | 'deletes'): ManifestInput[] {
  const manifests: (ManifestInput & { entries: EntryInput[] })[] = []
  let last: FileCase | undefined
  for (const file of files) {
    const isShared =
      last !== undefined &&
      last.specId === file.specId &&
      last.manifest === undefined &&
      file.manifest === undefined
    if (isShared) manifests.at(-1)!.entries.push(file.entry)
    else
      manifests.push({
        content,
        specId: file.specId,
        sequenceNumber: MANIFEST_SEQUENCE,
        ...file.manifest,
        entries: [file.entry],
      })
    last = file
  }
  return manifests
}

export interface CasePlan {
  /** Per task the data file's name, then its deletes'. */
  readonly tasks: readonly string[][]
  readonly report: ScanReport
}

export async function planCase(
  dataFiles: readonly FileCase[],
  deleteFiles: readonly FileCase[],
  options: ScanOptions = {},
): Promise<CasePlan> {
  const manifests = [...manifestsOf(dataFiles, 'data'), ...manifestsOf(deleteFiles, 'deletes')]
  const built = buildTable({
    formatVersion: 3,
    schema: SCHEMA,
    specs: SPECS,
    snapshots: [{ manifests, sequenceNumber: MANIFEST_SEQUENCE }],
  })
  const { tasks, plan } = await planBuilt(built, options)
  return { tasks: tasks.map(namesOf), report: plan.report }
}
