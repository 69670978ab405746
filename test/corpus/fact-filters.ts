/**
 * The filters of the facts, in iceplan's words. A fact gives the WHERE text of its source's dialect, and where that is
 * simple `predicate`, the same as expression JSON. Most texts stand as they are; a few habits of a dialect are rewritten,
 * and the table says what becomes of each of the others, and why, or why it cannot be said.
 */
import { assert } from 'chai'
import type { Filter } from '../../src/expressions/to-expression.ts'
import type { Schema } from '../../src/metadata/schema.ts'
import type { CorpusFact } from '../support/corpus.ts'
import { planTable, type FinishedPlan } from '../support/corpus-table.ts'
import { planOf, selectionOf, tableOf } from './fact-scan.ts'

/** How much of a filter its text says; what it leaves out only lets through more. */
export type Extent = 'all' | 'part' | 'nothing'

export interface SaidFilter {
  readonly extent: Extent
  readonly text: string
  /** What was changed, or what cannot be said. */
  readonly why?: string
}

interface FilterRow extends SaidFilter {
  /** The filter of the facts, and their table where others have the same. */
  readonly filter: string
  readonly table?: string
}

const NULL = 'nothing equals null; iceplan refuses it, and that engine leaves it to the scan'
const COMPUTED = 'no computed values'
const ITEM = 'items of lists are beyond filters'
const METADATA = 'columns of a metadata table, not of the table'
const QUERY = 'the value is the result of another query'
const LIKE = 'LIKE takes a prefix only; the rest of the pattern is left to readers'
const NO_PREFIX = 'LIKE takes a prefix only, and this pattern has none'
const BYTES = 'bytes are written as such'
const FOLLOWS = 'columns are compared with values only: what follows once the values are put in'
const TWICE = 'the local time comes twice that night, an hour apart'

const all = (filter: string, text: string, why: string, table?: string): FilterRow => ({
  extent: 'all',
  filter,
  text,
  why,
  ...(table === undefined ? {} : { table }),
})
const part = (filter: string, text: string, why: string): FilterRow => ({ extent: 'part', filter, text, why })
const nothing = (filter: string, why: string): FilterRow => ({ extent: 'nothing', filter, text: 'TRUE', why })

const ROWS: readonly FilterRow[] = [
  all('scan.id >= 4', 'id >= 4', 'no name of the table before that of the column'),
  all(
    'partition_col = 3.14159265358979323846264',
    "partition_col = DECIMAL '3.14159265358979323846264'",
    'a bare number is a double, and this is none exactly',
  ),
  all(
    "partition_col = 'hello world'",
    "partition_col = X'68656c6c6f20776f726c64'",
    BYTES,
    'partition_fixed_length_binary',
  ),
  all(
    "partition_col = 'fixed value'",
    "partition_col = X'66697865642076616c7565'",
    BYTES,
    'partition_fixed_length_binary',
  ),
  all('i = 1 and p_int = i', 'i = 1 AND p_int = 1', FOLLOWS),
  all(
    'i = 1 and p_bigint = 10 + i and p_int = p_bigint - 10',
    'i = 1 AND p_bigint = 11 AND p_int = 1',
    FOLLOWS,
  ),
  all("i.action in ('view') and j.id=1 and j.id=i.id", "action IN ('view') AND id = 1", FOLLOWS),
  all(
    "ts = '2021-10-31 02:15:00'",
    "ts IN (TIMESTAMPTZ '2021-10-31T00:15:00Z', TIMESTAMPTZ '2021-10-31T01:15:00Z')",
    TWICE,
  ),

  part('i in (1,2,3) and i = p_int', 'i IN (1, 2, 3) AND p_int IN (1, 2, 3)', FOLLOWS),
  part(
    'p_string = concat(chr(cast(p_int + 104 as int)), "mpala") and p_string = concat("i", "mpala") and p_decimal between 122 and 124 and i = floor(p_float)',
    "p_string = 'impala' AND p_decimal BETWEEN 122 AND 124",
    COMPUTED,
  ),
  part(
    "timestamp >= '2026-01-01' AND timestamp < '2026-01-02' AND metadata['key'] = 'value1'",
    "timestamp >= TIMESTAMPTZ '2026-01-01T00:00:00Z' AND timestamp < TIMESTAMPTZ '2026-01-02T00:00:00Z'",
    'values of maps are beyond filters',
  ),
  part("action = 'click' and user = null", "action = 'click'", NULL),
  part(
    'action = NULL and event_time < "2022-01-01"',
    "event_time < TIMESTAMPTZ '2022-01-01T00:00:00Z'",
    NULL,
  ),
  part(
    'action like "d%d" and event_time < "2022-01-01" and id < 10',
    "action LIKE 'd%' AND event_time < TIMESTAMPTZ '2022-01-01T00:00:00Z' AND id < 10",
    LIKE,
  ),
  part("action LIKE 'c____'", "action LIKE 'c%'", LIKE),
  part("user LIKE 'Al_%'", "user LIKE 'Al%'", LIKE),
  part("ts < '2021-10-31 02:15:00'", "ts < TIMESTAMPTZ '2021-10-31T01:15:00Z'", TWICE),
  part(
    "ts > '1969-01-01 00:15:00' and ts < '2021-10-31 02:15:00'",
    "ts > TIMESTAMPTZ '1968-12-31T23:15:00Z' AND ts < TIMESTAMPTZ '2021-10-31T01:15:00Z'",
    TWICE,
  ),
  part(
    "ts >= '1969-01-01 00:15:00' and ts <= '2021-10-31 02:15:00'",
    "ts >= TIMESTAMPTZ '1968-12-31T23:15:00Z' AND ts <= TIMESTAMPTZ '2021-10-31T01:15:00Z'",
    TWICE,
  ),
  part(
    "ts between '1969-01-01 00:15:00' and '2021-10-31 02:15:00'",
    "ts BETWEEN TIMESTAMPTZ '1968-12-31T23:15:00Z' AND TIMESTAMPTZ '2021-10-31T01:15:00Z'",
    TWICE,
  ),

  nothing("action LIKE '%lick'", NO_PREFIX),
  nothing("action LIKE '_lick'", NO_PREFIX),
  nothing('item > 3', ITEM),
  nothing('item is null', ITEM),
  nothing("inner_array.item.f = 'bbb'", ITEM),
  nothing("column_name = 'block_number'", METADATA),
  nothing("column_name = 'from'", METADATA),
  nothing('content != 1', METADATA),
  nothing('s.snapshot_id = e.snapshot_id', METADATA),
  nothing('ii > 1003', COMPUTED),
  nothing('rand(6) < 0.5', COMPUTED),
  nothing('i = (select max(i) from iceberg_v2_positional_update_all_rows)', QUERY),
  nothing('`data` not in (select min(`data`) from functional_parquet.iceberg_v2_delete_positional)', QUERY),
]

/** Local times of the facts whose session is in Budapest. */
const BUDAPEST: Readonly<Record<string, string>> = {
  '1969-01-01 01:00:00': '1969-01-01T00:00:00Z',
  '1969-01-01 01:15:00': '1969-01-01T00:15:00Z',
  '2021-01-10 12:00:00': '2021-01-10T11:00:00Z',
  '2022-04-11 00:04:00': '2022-04-10T22:04:00Z',
  '2022-04-11 12:04:55': '2022-04-11T10:04:55Z',
}

export function isInBudapest({ session = [] }: CorpusFact): boolean {
  return session.some((line) => line.includes('Europe/Budapest'))
}

/** Habits of a dialect, rewritten in this order. All times of Impala's tables with such filters have a zone. */
function rewritten(fact: CorpusFact): string {
  const filter = fact.filter!
  if (fact.source === 'impala')
    return filter
      .replaceAll(/"([^"]*)"/g, "'$1'")
      .replaceAll(/to_timestamp\(('[^']*'),'yyyy-MM-dd HH:mm:ss'\)/g, '$1')
      .replaceAll(/'(\d{4}-\d\d-\d\d)( \d\d:\d\d:\d\d)?'/g, (_, date: string, time = ' 00:00:00') => {
        const local = `${date}${time}`
        return `TIMESTAMPTZ '${isInBudapest(fact) ? BUDAPEST[local] : `${local.replace(' ', 'T')}Z`}'`
      })
  return filter.replaceAll(/TIMESTAMP '(\S+) (\S+) UTC'/g, "TIMESTAMPTZ '$1T$2Z'")
}

/** The filter of a fact that has one, as text. */
export function saidFilter(fact: CorpusFact): SaidFilter {
  const row = ROWS.find(
    ({ filter, table = fact.table }) =>
      filter.replaceAll(/\s+/g, ' ') === fact.filter!.replaceAll(/\s+/g, ' ') && table === fact.table,
  )
  return row ?? { extent: 'all', text: rewritten(fact) }
}

/** Filters of the table that no fact has, which should not be there. */
export function unusedRows(facts: readonly CorpusFact[]): string[] {
  const filters = new Set(facts.map(({ filter }) => filter))
  return ROWS.map(({ filter }) => filter).filter((filter) => !filters.has(filter))
}

/** `predicate`, with whole numbers as numbers again: those beyond 2^53 are strings in the corpus. */
function predicateOf(fact: CorpusFact, schema: Schema): Filter {
  const revive = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node
    const { term, value } = node as { term?: string; value?: unknown }
    if (term === undefined)
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, revive(child)]))
    const isLong = schema.findFieldByName(term, true)?.type.kind === 'long'
    return isLong && typeof value === 'string' ? { ...node, value: BigInt(value) } : node
  }
  return revive(fact.predicate) as Filter
}

/**
 * The plan under the filter of the fact. Text and JSON must keep the same files, and no more and no fewer than the
 * second opinion of the corpus.
 */
export async function filteredPlanOf(fact: CorpusFact): Promise<FinishedPlan> {
  const table = await tableOf(fact)
  const selection = selectionOf(fact)
  // SQL takes no notice of the case of names; expression JSON does.
  const byText = await planTable(table, { ...selection, filter: saidFilter(fact).text, caseSensitive: false })
  if (fact.predicate === undefined) return byText
  const { schema } = table.newScan(selection).selected
  const byJson = await planTable(table, { ...selection, filter: predicateOf(fact, schema) })
  const filesOf = ({ tasks }: FinishedPlan) =>
    tasks.map(({ dataFile, deletes, residual }) => [dataFile.filePath, deletes.map(String), residual.op])
  assert.deepEqual(filesOf(byText), filesOf(byJson))
  if (fact.second_opinion !== undefined)
    assert.deepEqual(
      {
        files: byJson.tasks.length,
        of: (await planOf(fact)).tasks.length,
        records_in_files: recordsOf(byJson),
      },
      fact.second_opinion,
    )
  return byJson
}

export function recordsOf({ tasks }: FinishedPlan): number {
  return tasks.reduce((sum, task) => sum + task.dataFile.recordCount, 0)
}
