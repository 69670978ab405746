/** Facts of Impala's tests: its scans per table, and its statements on metadata. */
import { assert } from 'chai'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import { parseFilter } from '../../src/expressions/parse-filter.ts'
import { partitionToJson, type ContentFile, type DeleteFile } from '../../src/manifest/content-file.ts'
import type { ManifestEntry } from '../../src/manifest/manifest-entry.ts'
import { base64 } from '../../src/manifest/manifest-file.ts'
import type { CorpusFact } from '../support/corpus.ts'
import type { FinishedPlan } from '../support/corpus-table.ts'
import { boundText, counted } from './duckdb-facts.ts'
import { filteredPlanOf } from './fact-filters.ts'
import { liveEntriesOf, planOf, selectionOf, tableOf } from './fact-scan.ts'

/** Impala's way to write a number of bytes. */
function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(2)}KB`
  return `${(bytes / 1024 ** 2).toFixed(2)}MB`
}

/** One scan node: Impala scans files without deletes, files with deletes and each kind of delete on its own. */
export interface ImpalaScan {
  readonly partitions?: number
  readonly partitions_total?: number
  readonly files?: number
  readonly size?: string
  readonly residual?: string
  readonly fully_applied_by_planning?: string
  readonly virtual_table?: string
}

/** Impala asks the file system how large a file is; these are not of the size that their manifest says. */
const BYTES_ON_DISK: Partial<Record<string, number>> = {
  '00191-4-6e780302-527b-4911-8c6e-88d416adac57-00001.parquet': 1581,
}

const sizeOnDisk = ({ filePath, fileSizeInBytes }: ContentFile): number =>
  BYTES_ON_DISK[filePath.replace(/^.*\//, '')] ?? fileSizeInBytes

function scanOf(files: readonly ContentFile[], partitionsTotal: number): ImpalaScan {
  return {
    partitions: new Set(files.map(partitionOf)).size,
    partitions_total: partitionsTotal,
    files: files.length,
    size: formatSize(files.reduce((sum, file) => sum + sizeOnDisk(file), 0)),
  }
}

/** Two files are of one partition if these texts are the same. */
export function partitionOf(file: ContentFile): string {
  return `${file.specId} ${JSON.stringify(partitionToJson(file))}`
}

const filesOf = ({ tasks }: FinishedPlan): ContentFile[] =>
  tasks.flatMap((task) => [task.dataFile, ...task.deletes])

/**
 * The scans that Impala makes of a plan; its plan nodes are numbered, so virtual tables are told by kind only.
 *
 * @param whole the plan without a filter, which says how many partitions there are
 */
export function impalaScans(
  plan: FinishedPlan,
  whole: FinishedPlan = plan,
): { data: ImpalaScan[]; deletes: ImpalaScan[] } {
  const { tasks } = plan
  const plain = tasks.filter((task) => task.deletes.length === 0).map((task) => task.dataFile)
  const deleted = tasks.filter((task) => task.deletes.length > 0).map((task) => task.dataFile)
  const deletes = new Map<string, Map<string, DeleteFile>>()
  for (const file of tasks.flatMap((task) => task.deletes)) {
    const kind = file.isEqualityDelete ? `EQUALITY-DELETE ${String(file.equalityIds)}` : 'POSITION-DELETE'
    if (!deletes.has(kind)) deletes.set(kind, new Map())
    deletes.get(kind)!.set(file.filePath, file)
  }
  const total = new Set(filesOf(whole).map(partitionOf)).size
  return {
    data: [plain, deleted].filter((files) => files.length > 0).map((files) => scanOf(files, total)),
    deletes: [...deletes].map(([kind, files]) => ({
      virtual_table: kind.split(' ')[0],
      ...scanOf([...files.values()], total),
    })),
  }
}

const withoutNumber = (scan: ImpalaScan): ImpalaScan =>
  scan.virtual_table === undefined
    ? scan
    : { ...scan, virtual_table: scan.virtual_table.replace(/-\d+$/, '') }

/**
 * All scans of a query that reads the table once. One that reads it several times, or counts its rows, leaves some
 * out and makes others twice: then each scan that Impala names must be among ours.
 */
export async function checkImpalaScans(fact: CorpusFact): Promise<void> {
  const versions = [...(fact.query ?? '').matchAll(/system_version as of (\d+)/g)].map(([, id]) => BigInt(id))
  const selections = versions.map((snapshotId) => ({ snapshotId }))
  const plans = await Promise.all(
    (selections.length === 0 ? [selectionOf(fact)] : selections).map((selection) => planOf(fact, selection)),
  )
  const ours = plans.map((plan) => impalaScans(plan))
  const isPlain = /^select [^()]*$/i.test(fact.query!) && plans.length === 1
  for (const [kind, key] of [
    ['data', 'data_scans'],
    ['deletes', 'delete_scans'],
  ] as const) {
    const expected = (fact.expected[key] as readonly ImpalaScan[]).map(withoutNumber)
    const got = ours.flatMap((scans) => scans[kind])
    if (isPlain) {
      const sorted = (scans: readonly ImpalaScan[]) => scans.map((scan) => JSON.stringify(scan)).sort()
      assert.deepEqual(sorted(got), sorted(expected))
      continue
    }
    // Of some scans the source gives no numbers.
    for (const scan of expected)
      assert.isTrue(
        got.some((own) =>
          Object.entries(scan).every(([name, value]) => own[name as keyof ImpalaScan] === value),
        ),
        `${JSON.stringify(scan)} is among ${JSON.stringify(got)}`,
      )
  }
}

/**
 * Residuals of ours where Impala leaves more to its scan: it does so when it cannot find a conjunct again that Iceberg
 * gave back, and always where the test switches the finding off; and where the filter is said in part only.
 */
const RESIDUALS: Readonly<Record<string, string>> = {
  'action = "download" and user = "Lisa"': "user = 'Lisa'",
  'action like "d%" and (event_time < "2020-01-01" or id > 10)': 'id > 10',
  "action in ('click', 'view') and (id > 5 or (id < 2))": 'id > 5 OR id < 2',
  'i in (1,2,3) and i = p_int': 'i IN (1, 2, 3)',
  'p_string = concat(chr(cast(p_int + 104 as int)), "mpala") and p_string = concat("i", "mpala") and p_decimal between 122 and 124 and i = floor(p_float)':
    'TRUE',
  "action = 'click' and user = null": 'TRUE',
  'action = NULL and event_time < "2022-01-01"': 'TRUE',
  'action like "d%d" and event_time < "2022-01-01" and id < 10': 'id < 10',
  'ii > 1003': 'TRUE',
}

/** Exactly the scans of the filtered plan: their files and deletes, and what is left of the filter. */
export async function checkFilteredScans(fact: CorpusFact): Promise<void> {
  const plan = await filteredPlanOf(fact)
  const { data, deletes } = impalaScans(plan, await planOf(fact))
  const scans = fact.expected['data_scans'] as readonly ImpalaScan[]
  const none: ImpalaScan = {
    partitions: 0,
    partitions_total: data[0]?.partitions_total ?? scans[0].partitions_total!,
    files: 0,
    size: '0B',
  }
  assert.sameDeepMembers(
    data.length === 0 ? [none] : data,
    scans.map(({ residual: _, fully_applied_by_planning: __, ...scan }) => scan),
  )
  assert.sameDeepMembers(deletes, (fact.expected['delete_scans'] as readonly ImpalaScan[]).map(withoutNumber))
  const ours = new Set(plan.tasks.map(({ residual }) => formatExpression(residual)))
  const residuals = new Set(
    scans.map(({ residual = 'TRUE' }) => {
      const text = RESIDUALS[fact.filter!] ?? residual.replaceAll(/CAST\((\w+) AS \w+\)/g, '$1')
      return formatExpression(parseFilter(text))
    }),
  )
  if (ours.size > 0) assert.sameMembers([...ours], [...residuals])
}

/** A path as Impala shows it: of HDFS without the name node. */
const pathOf = (file: ContentFile) => file.filePath.replace(/^hdfs:\/\/[^/]*/, '')

function results(fact: CorpusFact): readonly string[] {
  return fact.expected['result'] as readonly string[]
}

/** Every file that the snapshot holds is shown once, deletes too. */
export async function checkShowFiles(fact: CorpusFact): Promise<void> {
  const paths = (await liveEntriesOf(fact)).map(({ entry }) => pathOf(entry.dataFile))
  const patterns = results(fact).map((row) => {
    const path = /^(?:row_regex:)?'\$NAMENODE([^']*)'/.exec(row)![1]
    return new RegExp(`^${row.startsWith('row_regex:') ? path : path.replace(/[.+]/g, '\\$&')}$`)
  })
  assert.lengthOf(paths, patterns.length)
  // The same pattern stands for several files: each must find as many as there are lines with it.
  for (const pattern of patterns) {
    const lines = patterns.filter(({ source }) => source === pattern.source).length
    assert.lengthOf(
      paths.filter((path) => pattern.test(path)),
      lines,
      pattern.source,
    )
  }
}

/** Rows, files and size; the rows are the catalog's statistics, taken before or after the deletes. */
export async function checkTableStats(fact: CorpusFact): Promise<void> {
  const [rows, files, size] = results(fact)[0].split(',')
  const entries = await liveEntriesOf(fact)
  const { tasks, report } = await planOf(fact)
  const records = tasks.reduce((sum, task) => sum + task.dataFile.recordCount, 0)
  assert.lengthOf(entries, Number(files))
  const bytes = entries.reduce((sum, { entry }) => sum + entry.dataFile.fileSizeInBytes, 0)
  assert.equal(`'${formatSize(bytes)}'`, size)
  if (report.indexedDeleteFiles === 0) assert.equal(records, Number(rows))
  else assert.isAtLeast(records, Number(rows))
}

export async function checkShowPartitions(fact: CorpusFact): Promise<void> {
  const partitions = new Map<string, { rows: number; files: number }>()
  for (const { entry } of await liveEntriesOf(fact)) {
    const values = Object.entries(partitionToJson(entry.dataFile)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
    const key = JSON.stringify(Object.fromEntries(values))
    const counts = partitions.get(key) ?? { rows: 0, files: 0 }
    counts.rows += entry.dataFile.recordCount
    counts.files++
    partitions.set(key, counts)
  }
  const rows = [...partitions].map(([key, counts]) => `'${key}',${counts.rows},${counts.files}`)
  assert.sameMembers(rows, [...results(fact)])
}

/** `'2020-08-31 07:58:08.440000000'` in the session's zone. */
function timeText(epochMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(epochMs)
  return `${parts}.${String(epochMs % 1000).padStart(3, '0')}000000`
}

export async function checkHistory(fact: CorpusFact): Promise<void> {
  const { metadata } = await tableOf(fact)
  if (fact.query === undefined) {
    // Trino's test says when the snapshots were made current, in UTC.
    assert.deepEqual(
      metadata.snapshotLog.map(({ timestampMs }) => `${timeText(timestampMs, 'UTC').slice(0, -6)} UTC`),
      fact.expected['made_current_at'],
    )
    return
  }
  const zone = /timezone=(\w+)/.exec(String(fact.session))![1]
  const rows = metadata.snapshotLog.map(({ timestampMs, snapshotId }) => {
    const parent = metadata.snapshotById(snapshotId)?.parentSnapshotId ?? 'NULL'
    const isAncestor = snapshotId === metadata.currentSnapshotId
    return `'${timeText(timestampMs, zone)}','${snapshotId}','${parent}','${String(isAncestor).toUpperCase()}'`
  })
  assert.deepEqual(rows, results(fact))
}

/** Maps and lists as Impala's tests show them: without spaces and in quotes; NULL for none. */
const mapText = (map: ReadonlyMap<number, number | Uint8Array> | undefined): string =>
  map === undefined
    ? "'NULL'"
    : `'{${[...map].map(([id, value]) => `${id}:${typeof value === 'number' ? value : JSON.stringify(base64(value))}`).join()}}'`
const listText = (list: readonly number[] | undefined): string =>
  list === undefined ? "'NULL'" : `'[${list.join()}]'`

const FILE_COLUMNS: Record<string, (entry: ManifestEntry) => string> = {
  content: ({ dataFile }) => String(dataFile.content),
  file_path: ({ dataFile }) => `'${pathOf(dataFile)}'`,
  column_sizes: ({ dataFile }) => mapText(dataFile.columnSizes),
  value_counts: ({ dataFile }) => mapText(dataFile.valueCounts),
  lower_bounds: ({ dataFile }) => mapText(dataFile.lowerBounds),
  upper_bounds: ({ dataFile }) => mapText(dataFile.upperBounds),
  split_offsets: ({ dataFile }) => listText(dataFile.splitOffsets),
  equality_ids: ({ dataFile }) => listText(dataFile.equalityIds),
}

/** Queries that no plan and no field of an entry answers yet. */
export const METADATA_TABLES_LATER: readonly [query: RegExp, why: string][] = [
  [/select partition_summaries/, 'needs values of transforms as text: 2020-01-01-08 for an hour'],
  [/readable_metrics FROM|select \* from/, 'needs the metadata table with its readable_metrics'],
]

export async function checkMetadataTable(fact: CorpusFact): Promise<void> {
  const query = fact.query!.replace(/\s+/g, ' ')
  const { metadata } = await tableOf(fact)
  if (fact.kind === 'metadata-table:refs') {
    const rows = [...metadata.refs].map(([name, { type }]) => `'${name}','${type.toUpperCase()}'`)
    assert.deepEqual(rows, results(fact))
    return
  }
  const entries = await liveEntriesOf(fact)
  if (query.startsWith('SELECT `partition`, file_count')) {
    const rows = counted(entries, ({ entry }) => `'${JSON.stringify(partitionToJson(entry.dataFile))}'`)
    assert.sameMembers(
      rows.map((row) => row.replace('\t', ',')),
      [...results(fact)],
    )
    return
  }
  if (query.includes('sum(file_size_in_bytes)')) {
    const sums = new Map<string, number>()
    for (const { entry } of entries) {
      const key = partitionColumns(entry)
      sums.set(key, (sums.get(key) ?? 0) + entry.dataFile.fileSizeInBytes)
    }
    assert.sameMembers(
      [...sums].map(([key, sum]) => `${key},${sum}`),
      [...results(fact)],
    )
    return
  }
  if (query.includes('MAX(s.committed_at)')) {
    const times = new Map<string, number>()
    for (const { entry } of entries) {
      const { timestampMs } = metadata.snapshotById(entry.snapshotId!)!
      const key = partitionColumns(entry)
      times.set(key, Math.max(times.get(key) ?? 0, timestampMs))
    }
    assert.sameMembers(
      [...times].map(([key, time]) => `${key},${timeText(time, 'UTC')}`),
      [...results(fact)],
    )
    return
  }
  if (fact.kind === 'metadata-table:snapshots') {
    const rows = metadata.snapshots.map(({ snapshotId, manifestList, summary }) => {
      // The operation is a column of its own.
      const rest = Object.fromEntries([...summary].filter(([key]) => key !== 'operation'))
      const path = manifestList!.replace(/^hdfs:\/\/[^/]*/, '')
      const text = `'${JSON.stringify(rest)}'`
      return query.startsWith('select snapshot_id') ? `${snapshotId},'${path}',${text}` : text
    })
    assert.deepEqual(rows, results(fact))
    return
  }
  const [, columns] = /select ((?:[\w.]+(?:, )?)+) from/.exec(query)!
  const { schema } = metadata
  const rows = entries.map(({ entry }) =>
    columns
      .split(', ')
      .map((column) => {
        const bound = /^readable_metrics\.(\w+)\.(lower|upper)_bound$/.exec(column)
        if (bound === null) return FILE_COLUMNS[column](entry)
        const { id, type } = schema.findFieldByName(bound[1], true)!
        const bounds = bound[2] === 'lower' ? entry.dataFile.lowerBounds : entry.dataFile.upperBounds
        const bytes = bounds?.get(id)
        if (type.kind !== 'date' || bytes === undefined) return boundText(type, bytes)
        return new Date(Number(boundText(type, bytes)) * 86_400_000).toISOString().slice(0, 10)
      })
      .join(),
  )
  assert.sameMembers(rows, [...results(fact)])
}

function partitionColumns(entry: ManifestEntry): string {
  return Object.values(partitionToJson(entry.dataFile))
    .map((value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value)))
    .join()
}
