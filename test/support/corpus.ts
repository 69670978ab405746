/**
 * The corpus: metadata trees of real tables and what their sources state about them. It is not part of the project;
 * it is looked for beside it, or where ICEPLAN_CORPUS says. Without it the tests that need it are skipped with one
 * line, except on CI (CI=true), where that is an error.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectRoot } from './root.ts'

export type CorpusKind =
  'table' | 'metadata-set' | 'metadata-only' | 'metadata-case' | 'manifest-set' | 'malformed'

/** An entry of index.json. Counts are of the current snapshot of the file `metadata`; absent where unreadable. */
export interface CorpusEntry {
  readonly source: string
  readonly name: string
  readonly kind: CorpusKind
  /** Relative to the corpus root. */
  readonly metadata?: string
  /** Every metadata file, relative to the table folder `<source>/<name>`. */
  readonly other_metadata?: readonly {
    readonly file: string
    /** Absent where the file is no table metadata. */
    readonly format_version?: number
    readonly snapshots?: number
    /** Empty, "null" or "-1" for none. */
    readonly current_snapshot_id?: string
    /** Why it cannot be read. */
    readonly error?: string
  }[]
  readonly format_version?: number
  readonly table_uuid?: string
  readonly location?: string
  readonly path_prefixes?: readonly { readonly prefix: string; readonly paths: number }[]
  readonly partition_specs?: readonly string[]
  readonly default_spec_id?: number
  readonly snapshots?: number
  readonly snapshots_with_manifest_list_here?: number
  readonly current_snapshot_id?: string
  readonly manifests?: { readonly total: number; readonly data: number; readonly delete: number }
  readonly files?: {
    readonly data: number
    readonly position_deletes: number
    readonly equality_deletes: number
    readonly deletion_vectors: number
    readonly deleted_entries: number
    readonly existing_entries: number
  }
  readonly record_count?: number
  readonly file_formats?: readonly string[]
  readonly codecs?: Readonly<Record<string, number>>
  readonly writer?: string | null
  readonly columns?: number
  readonly types?: readonly string[]
  readonly features: readonly string[]
  readonly complete?: boolean
  readonly data_files_included?: boolean
  readonly notes?: readonly string[]
}

/** A fact of expected.json. */
export interface CorpusFact {
  readonly source: string
  /** The `name` of the entry. */
  readonly table: string
  readonly kind: string
  readonly from: string
  readonly line?: number
  readonly expected: Readonly<Record<string, unknown>>
  readonly query?: string
  readonly filter?: string
  /** The filter as expression JSON, where it is simple enough. */
  readonly predicate?: unknown
  readonly second_opinion?: Readonly<Record<string, unknown>>
  readonly second_opinion_agrees?: boolean
  readonly snapshot_id?: string
  /** Relative to the table folder. */
  readonly metadata?: string
  readonly version?: string
  readonly as_of?: string
  readonly time_travel?: string
  readonly options?: string
  readonly session?: readonly string[]
  readonly comment?: string
  readonly note?: string
  readonly checked_against_manifests?: boolean
  readonly multi_table?: boolean
  readonly not_for_planning?: string
  readonly disabled_in_source?: boolean
}

let root: string | undefined
let looked = false

/** The folder of the corpus, or `undefined` after saying once that there is none. Throws then when CI=true. */
export function corpusRoot(): string | undefined {
  if (looked) return root
  looked = true
  const asked = process.env.ICEPLAN_CORPUS
  const folder =
    asked === undefined ? fileURLToPath(new URL('../shared/corpus/', projectRoot())) : resolve(asked)
  if (existsSync(join(folder, 'index.json'))) root = folder
  else if (process.env.CI === 'true')
    throw new Error(`Cannot find the corpus at ${folder}: set ICEPLAN_CORPUS`)
  else console.log(`No corpus at ${folder}: its tests are skipped; set ICEPLAN_CORPUS to run them`)
  return root
}

/** The entries of index.json, of the given kinds only; none without a corpus. */
export function corpusEntries(...kinds: readonly CorpusKind[]): readonly CorpusEntry[] {
  const all = (readCorpusJson('index.json') as { tables: CorpusEntry[] } | undefined)?.tables ?? []
  return kinds.length === 0 ? all : all.filter((entry) => kinds.includes(entry.kind))
}

/** The facts of expected.json, of one entry only where one is given; none without a corpus. */
export function corpusFacts(entry?: CorpusEntry): readonly CorpusFact[] {
  const all = (readCorpusJson('expected.json') as { facts: CorpusFact[] } | undefined)?.facts ?? []
  if (entry === undefined) return all
  return all.filter((fact) => fact.source === entry.source && fact.table === entry.name)
}

/** The folder of an entry, which its paths are relative to. */
export function corpusFolder(entry: CorpusEntry): string {
  const folder = corpusRoot()
  if (folder === undefined) throw new Error('There is no corpus')
  return join(folder, entry.source, entry.name)
}

/** `describe` for a suite over the corpus: skipped, as pending, when there is none. */
export function describeCorpus(title: string, body: (root: string) => void): void {
  const folder = corpusRoot()
  if (folder === undefined) describe.skip(title, () => it('needs the corpus'))
  else
    describe(title, () => {
      body(folder)
    })
}

const parsed = new Map<string, unknown>()

function readCorpusJson(file: string): unknown {
  const folder = corpusRoot()
  if (folder === undefined) return undefined
  if (!parsed.has(file)) parsed.set(file, JSON.parse(readFileSync(join(folder, file), 'utf8')))
  return parsed.get(file)
}
