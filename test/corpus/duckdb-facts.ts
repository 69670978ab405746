/** Facts that DuckDB, glaredb and others state about metadata: entries, snapshots, schemas, bounds, manifest lists. */
import { assert } from 'chai'
import { CONTENT_NAMES } from '../../src/manifest/content-file.ts'
import type { Type } from '../../src/types/type.ts'
import { decodeSingleValue } from '../../src/types/single-value.ts'
import type { CorpusFact } from '../support/corpus.ts'
import { entriesOf, liveEntriesOf, manifestsOf, selectionOf, tableOf, type ListedEntry } from './fact-scan.ts'

const STATUS_NAMES = ['EXISTING', 'ADDED', 'DELETED']

export function expectedRows(fact: CorpusFact): readonly string[] {
  return fact.expected['rows'] as readonly string[]
}

const contentOf = ({ entry }: ListedEntry) =>
  CONTENT_NAMES[entry.dataFile.content].toUpperCase().replace('-', '_')
const manifestContentOf = ({ manifestFile }: ListedEntry) =>
  manifestFile.isDeleteManifest ? 'DELETE' : 'DATA'

/** A row of iceberg_metadata; versions of DuckDB before 2025-03 called the content EXISTING and gave 8 columns. */
function metadataRow(listed: ListedEntry, columns: number): string {
  const { manifestFile, entry } = listed
  const { filePath, fileFormat, recordCount } = entry.dataFile
  return [
    manifestFile.manifestPath,
    manifestFile.sequenceNumber,
    manifestContentOf(listed),
    STATUS_NAMES[entry.status],
    columns === 8 ? 'EXISTING' : contentOf(listed),
    filePath,
    fileFormat.toUpperCase(),
    recordCount,
    entry.sequenceNumber,
    entry.fileSequenceNumber,
  ]
    .slice(0, columns)
    .join('\t')
}

/** Queries on iceberg_metadata other than `select *`, and glaredb's own words. */
const ENTRY_QUERIES: readonly [query: RegExp, rows: (entries: readonly ListedEntry[]) => string[]][] = [
  [/^SELECT COUNT\(\*\) FROM/, (entries) => [String(entries.length)]],
  [
    /^select distinct content, data_sequence_number, file_sequence_number\s/,
    (entries) =>
      distinct(
        entries,
        (listed) =>
          `${contentOf(listed)}\t${listed.entry.sequenceNumber}\t${listed.entry.fileSequenceNumber}`,
      ),
  ],
  [
    /^select distinct manifest_sequence_number, manifest_content\s/,
    (entries) =>
      distinct(entries, (listed) => `${listed.manifestFile.sequenceNumber}\t${manifestContentOf(listed)}`),
  ],
  [
    /^SELECT manifest_content, content, count\(\*\)\s/,
    (entries) => counted(entries, (listed) => `${manifestContentOf(listed)}\t${contentOf(listed)}`),
  ],
]

export async function checkManifestEntries(fact: CorpusFact): Promise<void> {
  const rows = expectedRows(fact)
  // DuckDB lists what its scan would look at, and that includes deleted entries.
  const entries = await entriesOf(fact)
  if (fact.query === undefined) {
    assert.deepEqual(
      entries.map((listed) => {
        const { filePath, fileFormat, recordCount } = listed.entry.dataFile
        const status = STATUS_NAMES[listed.entry.status]
        return `${status} ${contentOf(listed)} ${filePath} ${fileFormat.toUpperCase()} ${recordCount}`
      }),
      rows,
    )
    return
  }
  if (/^SELECT \* FROM/i.test(fact.query)) {
    const columns = rows[0].split('\t').length
    assert.deepEqual(
      entries.map((listed) => metadataRow(listed, columns)),
      rows,
    )
    return
  }
  const known = ENTRY_QUERIES.find(([query]) => query.test(fact.query!))
  assert.isDefined(known, `no such query is known: ${fact.query}`)
  assert.deepEqual(known[1](entries), rows)
}

function distinct(entries: readonly ListedEntry[], rowOf: (listed: ListedEntry) => string): string[] {
  return [...new Set(entries.map(rowOf))].sort()
}

export function counted(entries: readonly ListedEntry[], rowOf: (listed: ListedEntry) => string): string[] {
  const counts = new Map<string, number>()
  for (const listed of entries) counts.set(rowOf(listed), (counts.get(rowOf(listed)) ?? 0) + 1)
  return [...counts].map(([row, count]) => `${row}\t${count}`).sort()
}

export async function checkColumnBounds(fact: CorpusFact): Promise<void> {
  const query =
    /^select lower_bound FROM iceberg_column_stats\(.*\) where column_name = '(\w+)' offset (\d+) limit (\d+)$/.exec(
      fact.query!,
    )
  assert.isNotNull(query, `no such query is known: ${fact.query}`)
  const [, column, offset, limit] = query
  const { schema } = (await tableOf(fact)).newScan(selectionOf(fact)).selected
  const field = schema.findFieldByName(column, true)!
  const entries = await liveEntriesOf(fact)
  const page = entries.slice(Number(offset), Number(offset) + Number(limit))
  assert.deepEqual(
    page.map(({ entry }) => boundText(field.type, entry.dataFile.lowerBounds?.get(field.id))),
    expectedRows(fact),
  )
}

/** A bound as the facts write it: decoded, NULL for none. */
export function boundText(type: Type, bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'NULL' : String(decodeSingleValue(type, bytes))
}

export async function checkSnapshots(fact: CorpusFact): Promise<void> {
  const { snapshots } = (await tableOf(fact)).metadata
  const rows = snapshots.map(({ snapshotId, sequenceNumber, timestampMs, manifestList }) => {
    if (fact.query === undefined) return `${snapshotId} ${sequenceNumber} ${manifestList}`
    if (fact.query.startsWith('select manifest_list is null')) return String(manifestList === undefined)
    assert.match(fact.query, /^SELECT \* FROM ICEBERG_SNAPSHOTS/i)
    // DuckDB drops zeros at the end of a time.
    const time = new Date(timestampMs).toISOString().replace('T', ' ').replace(/0*Z$/, '')
    return `${sequenceNumber}\t${snapshotId}\t${time}\t${manifestList}`
  })
  assert.deepEqual(rows, expectedRows(fact))
}

const DUCKDB_TYPES: Partial<Record<Type['kind'], string>> = {
  int: 'INTEGER',
  long: 'BIGINT',
  timestamptz_ns: 'TIMESTAMPTZ_NS',
}

export async function checkSchema(fact: CorpusFact): Promise<void> {
  const { schema, specs } = (await tableOf(fact)).newScan(selectionOf(fact)).selected
  if (fact.query === undefined) {
    // Dremio, in words: "column n_regionkey was renamed regionkey; the partition field keeps the name n_regionkey".
    assert.include(fact.expected['note'], 'column n_regionkey was renamed regionkey')
    const [{ name, sourceId }] = [...specs.values()].flatMap((spec) => spec.fields)
    assert.equal(name, 'n_regionkey')
    assert.isUndefined(schema.findFieldByName('n_regionkey', true))
    assert.equal(schema.findFieldByName('regionkey', true)?.id, sourceId)
    return
  }
  const described = /^DESCRIBE SELECT (\w+) FROM/.exec(fact.query)?.[1]
  if (described === undefined) {
    assert.match(fact.query, /^select column_name from \(describe/)
    assert.deepEqual(distinctNames(schema.fields.map(({ name }) => name)).sort(), expectedRows(fact))
    return
  }
  const field = schema.findFieldByName(described, true)!
  const nullable = field.required ? 'NO' : 'YES'
  assert.deepEqual(
    [`${described}\t${DUCKDB_TYPES[field.type.kind]}\t${nullable}\tNULL\tNULL\tNULL`],
    expectedRows(fact),
  )
}

/** Names as DuckDB gives them out: it takes no notice of case, and so numbers the second of two that differ in it only. */
function distinctNames(names: readonly string[]): string[] {
  const lower = names.map((name) => name.toLowerCase())
  return names.map((name, i) => (lower.indexOf(lower[i]) < i ? `${name}_1` : name))
}

export async function checkManifestList(fact: CorpusFact): Promise<void> {
  const manifests = await manifestsOf(fact)
  assert.deepEqual(
    manifests.map(
      ({ manifestPath, manifestLength, isDeleteManifest, sequenceNumber }) =>
        `${manifestPath} length ${manifestLength} content ${isDeleteManifest ? 'deletes' : 'data'} sequence ${sequenceNumber}`,
    ),
    expectedRows(fact),
  )
}

const METADATA_FIELDS = {
  current_schema_id: 'currentSchemaId',
  last_updated_ms: 'lastUpdatedMs',
  default_spec_id: 'defaultSpecId',
} as const

export async function checkMetadata(fact: CorpusFact): Promise<void> {
  const { metadata } = await tableOf(fact)
  const {
    note = 'must parse',
    current_version: version,
    ...fields
  } = fact.expected as {
    note?: string
    current_version?: number
  }
  assert.match(note, /^must parse/)
  // icelake counts versions of the metadata file; the name says it.
  if (version !== undefined)
    assert.match(metadata.metadataLocation, new RegExp(`/0*${version}-|/v${version}\\.`))
  for (const [name, value] of Object.entries(fields)) {
    assert.property(METADATA_FIELDS, name)
    assert.equal(metadata[METADATA_FIELDS[name as keyof typeof METADATA_FIELDS]], value, name)
  }
  if (note.endsWith('the current schema is taken from the schema field: x, y, z'))
    assert.deepEqual(
      metadata.schema.fields.map(({ name }) => name),
      ['x', 'y', 'z'],
    )
}
