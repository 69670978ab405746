/**
 * What a fact of expected.json is about: which version of the table's metadata, which snapshot; and what is known of
 * that: the plan, every manifest and every entry. Plans are kept, since hundreds of facts share them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest, readManifestList, type Manifest } from '../../src/manifest/manifest-reader.ts'
import { inlineManifest, type ManifestFile } from '../../src/manifest/manifest-file.ts'
import type { ManifestEntry } from '../../src/manifest/manifest-entry.ts'
import { partitionType } from '../../src/manifest/partition-key.ts'
import type { Table } from '../../src/planner/table.ts'
import type { ScanOptions } from '../../src/planner/table-scan.ts'
import { corpusEntries, corpusFolder, type CorpusEntry, type CorpusFact } from '../support/corpus.ts'
import { corpusMetadata, loadCorpusTable, planTable, type FinishedPlan } from '../support/corpus-table.ts'

/** An entry with the manifest that it is in. */
export interface ListedEntry {
  readonly manifestFile: ManifestFile
  readonly entry: ManifestEntry
}

export function entryOf(fact: CorpusFact): CorpusEntry {
  const entry = corpusEntries().find(({ source, name }) => source === fact.source && name === fact.table)
  if (entry === undefined) throw new Error(`No entry ${fact.source}/${fact.table} in index.json`)
  return entry
}

/** The metadata file that a fact chooses by `metadata` or by DuckDB's `version`; else the one of index.json. */
export function metadataOf(fact: CorpusFact): string {
  const entry = entryOf(fact)
  if (fact.metadata !== undefined) return join(corpusFolder(entry), fact.metadata)
  // '?' lets the reader find the newest, as no version does.
  if (fact.version === undefined || fact.version === '?') return corpusMetadata(entry)
  const candidates = [`v${fact.version}`, fact.version, `v${fact.version}.gz`].map((name) =>
    join(corpusFolder(entry), 'metadata', `${name}.metadata.json`),
  )
  const found = candidates.find((path) => existsSync(path))
  if (found === undefined) throw new Error(`No metadata of version ${fact.version} for ${fact.table}`)
  return found
}

/** A time as the facts write it, in UTC; what is finer than a millisecond is cut off. */
export function timeOf(text: string): number {
  const match = /^(\S+) (\d\d:\d\d:\d\d)(\.\d+)?( UTC)?$/.exec(text)
  if (match === null) throw new Error(`Not a time: ${text}`)
  const [, date, time, fraction = ''] = match
  return Date.parse(`${date}T${time}${fraction.slice(0, 4)}Z`)
}

export function selectionOf(fact: CorpusFact): ScanOptions {
  if (fact.snapshot_id !== undefined) return { snapshotId: BigInt(fact.snapshot_id) }
  if (fact.as_of !== undefined) return { asOf: timeOf(fact.as_of) }
  return {}
}

const tables = new Map<string, Promise<Table>>()
const plans = new Map<string, Promise<FinishedPlan>>()

export function tableOf(fact: CorpusFact): Promise<Table> {
  const metadata = metadataOf(fact)
  let table = tables.get(metadata)
  if (table === undefined) tables.set(metadata, (table = loadCorpusTable(entryOf(fact), { metadata })))
  return table
}

/** @param selection default the fact's own */
export function planOf(fact: CorpusFact, selection: ScanOptions = selectionOf(fact)): Promise<FinishedPlan> {
  const key = `${metadataOf(fact)} ${selection.snapshotId ?? ''} ${selection.asOf ?? ''}`
  let plan = plans.get(key)
  if (plan === undefined) plans.set(key, (plan = tableOf(fact).then((table) => planTable(table, selection))))
  return plan
}

/** The manifests of the snapshot that the fact chooses, in the order of the list. */
export async function manifestsOf(fact: CorpusFact): Promise<readonly ManifestFile[]> {
  const table = await tableOf(fact)
  const { snapshot } = table.newScan(selectionOf(fact)).selected
  if (snapshot === undefined) return []
  const { manifestList, manifests = [], snapshotId } = snapshot
  if (manifestList === undefined) return manifests.map((path) => inlineManifest(path, snapshotId))
  return readManifestList(table.resolve(manifestList), { io: table.io })
}

/** All entries of the snapshot, deleted ones too, in the order of list and file, with all their fields. */
export async function entriesOf(fact: CorpusFact): Promise<readonly ListedEntry[]> {
  const table = await tableOf(fact)
  const { schema, specs } = table.newScan(selectionOf(fact)).selected
  const listed: ListedEntry[] = []
  for (const manifestFile of await manifestsOf(fact)) {
    const spec = specs.get(manifestFile.partitionSpecId)!
    const manifest: Manifest = await readManifest(manifestFile, {
      io: table.io,
      location: table.resolve(manifestFile.manifestPath),
      partitionType: partitionType(spec, schema),
    })
    for (const entry of manifest.entries) listed.push({ manifestFile, entry })
  }
  return listed
}

export async function liveEntriesOf(fact: CorpusFact): Promise<readonly ListedEntry[]> {
  return (await entriesOf(fact)).filter(({ entry }) => entry.isLive)
}
