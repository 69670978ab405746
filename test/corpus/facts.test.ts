/**
 * What other projects state about the tables of the corpus (expected.json), each fact checked as far as planning goes:
 *
 * | outcome    |                                                                                      |
 * | ---------- | ------------------------------------------------------------------------------------ |
 * | `exact`    | our answer is the one stated                                                         |
 * | `at least` | our plan holds at least what is stated: deletes and residuals are for readers         |
 * | `later`    | waits for metadata tables or incremental scans                                       |
 * | `not ours` | about reading data or about one engine; the reason is kept                           |
 *
 * A filter is planned as text and, where the corpus gives it so, as expression JSON; a filter of which the text can say
 * nothing is not planned with (fact-filters.ts).
 *
 * A kind of fact that has no row here fails. The numbers are printed at the end and pinned, so that a fact cannot slip
 * into a weaker outcome unseen.
 */
import { assert } from 'chai'
import { ScanFilter } from '../../src/planner/scan-filter.ts'
import { Warnings } from '../../src/planner/warnings.ts'
import { corpusFacts, describeCorpus, type CorpusFact } from '../support/corpus.ts'
import {
  checkColumnBounds,
  checkManifestEntries,
  checkManifestList,
  checkMetadata,
  checkSchema,
  checkSnapshots,
} from './duckdb-facts.ts'
import { checkError } from './error-facts.ts'
import {
  filteredPlanOf,
  isInBudapest,
  recordsOf,
  saidFilter,
  unusedRows,
  type Extent,
} from './fact-filters.ts'
import { manifestsOf, planOf, selectionOf, tableOf } from './fact-scan.ts'
import {
  checkFilteredScans,
  checkHistory,
  checkImpalaScans,
  checkMetadataTable,
  checkShowFiles,
  checkShowPartitions,
  checkTableStats,
  METADATA_TABLES_LATER,
  partitionOf,
} from './impala-facts.ts'

const OUTCOMES = ['exact', 'at least', 'later', 'not ours'] as const

interface Outcome {
  readonly how: (typeof OUTCOMES)[number]
  /** Of all but `exact`. */
  readonly why?: string
}

type Check = (fact: CorpusFact) => Promise<Outcome> | Outcome

const EXACT: Outcome = { how: 'exact' }
const exactly =
  (check: (fact: CorpusFact) => Promise<void>): Check =>
  async (fact) => {
    await check(fact)
    return EXACT
  }

/** Tables whose plan holds more rows than a reader that knows the files would find, without any deletes. */
const MORE_ROWS: Partial<Record<string, { records: number; why: string }>> = {
  unknown_puffin: {
    records: 4,
    why: 'a data manifest lists a Puffin hash index of 2 "rows" and 0 bytes as a data file: a planner passes on what is listed, that reader leaves it out',
  },
}

/** Facts like those that the corpus itself calls none of planning, with which it has no `not_for_planning`. */
const NOT_FOR_PLANNING: readonly { table: string; version: string; why: string }[] = [
  {
    table: 'name_mapping',
    version: '4.1',
    why: 'the name mapping of this metadata was edited by hand, as with 3.1 and 3.2: the column metrics say that b is never null',
  },
]

async function checkRows(fact: CorpusFact): Promise<Outcome> {
  const rows = fact.expected['rows'] as number
  if (fact.not_for_planning !== undefined) return { how: 'not ours', why: fact.not_for_planning }
  const notPlanned = NOT_FOR_PLANNING.find(
    ({ table, version }) => table === fact.table && version === fact.version,
  )
  if (notPlanned !== undefined) return { how: 'not ours', why: notPlanned.why }
  const plan = await planOf(fact)
  const { report } = plan
  const records = recordsOf(plan)
  if (/\sunion all\s/.test(fact.query ?? '')) {
    // The other side of the query holds at most what the table ever held.
    assert.isAtLeast(2 * records, rows)
    return { how: 'at least', why: 'rows of two snapshots together' }
  }
  const more = MORE_ROWS[fact.table]
  if (more !== undefined) {
    assert.equal(records, more.records)
    assert.isAbove(records, rows)
    return { how: 'at least', why: more.why }
  }
  if (fact.filter !== undefined) return checkFilteredRows(fact, rows)
  if (/\sminus\s/.test(fact.query ?? '')) {
    assert.isAtLeast(records, rows)
    return { how: 'at least', why: 'the rows of one snapshot without those of another' }
  }
  if (report.resultDeleteFiles === 0) {
    assert.equal(records, rows)
    return EXACT
  }
  assert.isAtLeast(records, rows)
  return { how: 'at least', why: 'rows are counted after deletes, which readers apply' }
}

/** Kept files hold at least the rows that match, and no others where neither deletes nor a residual are left. */
async function checkFilteredRows(fact: CorpusFact, rows: number): Promise<Outcome> {
  const { extent, why } = saidFilter(fact)
  const plan = await filteredPlanOf(fact)
  const { tasks, report } = plan
  const records = recordsOf(plan)
  assert.isAtLeast(records, rows)
  const { partitions, row_groups_read: rowGroups } = fact.expected
  if (partitions !== undefined)
    assert.equal(new Set(tasks.map(({ dataFile }) => partitionOf(dataFile))).size, partitions as number)
  // Each of these files is one row group. That engine prunes less where its session's clock is set back in autumn.
  if (rowGroups !== undefined && isInBudapest(fact)) assert.isAtMost(tasks.length, rowGroups as number)
  else if (rowGroups !== undefined) assert.equal(tasks.length, rowGroups as number)
  if (extent !== 'all') return { how: 'at least', why: why! }
  if (report.resultDeleteFiles > 0)
    return { how: 'at least', why: 'rows are counted after deletes, which readers apply' }
  if (tasks.every(({ residual }) => residual.op === 'true')) assert.equal(records, rows)
  if (records === rows) return EXACT
  return { how: 'at least', why: 'a residual is left, which readers test' }
}

async function checkPlannedFiles(fact: CorpusFact): Promise<Outcome> {
  const { tasks, report } = await planOf(fact)
  const { data_scans: scans, ...counts } = fact.expected
  // A filter that is a query on another table is not known while planning.
  if (fact.filter !== undefined && fact.multi_table !== true) {
    await checkFilteredScans(fact)
    return EXACT
  }
  if (scans !== undefined) {
    await checkImpalaScans(fact)
    return EXACT
  }
  // iceberg-cxx calls files of one partition that have the same deletes a partition.
  const partitions = new Set(
    tasks.map((task) => JSON.stringify([task.spec.specId, task.partition, task.deletes.map(String)])),
  )
  const names = tasks.map(({ dataFile }) => dataFile.filePath.replace(/^.*\//, ''))
  const ours: Record<string, unknown> = {
    data_files: tasks.length,
    partitions: partitions.size,
    position_delete_files: report.positionalDeleteFiles + report.dvs,
    paths: names.sort(),
  }
  for (const [name, value] of Object.entries(counts)) assert.deepEqual(ours[name], value, name)
  if (fact.note?.endsWith('each of the 6 tasks has 1 delete file') === true)
    assert.deepEqual(
      tasks.map((task) => task.deletes.length),
      [1, 1, 1, 1, 1, 1],
    )
  return EXACT
}

async function checkMetadataTables(fact: CorpusFact): Promise<Outcome> {
  const later = METADATA_TABLES_LATER.find(([query]) => query.test(fact.query!))
  if (later !== undefined) return { how: 'later', why: later[1] }
  await checkMetadataTable(fact)
  return EXACT
}

/** With a filter only: manifests that their summaries keep, and files that the plan keeps. */
async function checkPruning(fact: CorpusFact): Promise<Outcome> {
  const plan = await filteredPlanOf(fact)
  const { planned_files: files, records_in_skipped_files: skipped, ...manifests } = fact.expected
  if (files !== undefined) assert.lengthOf(plan.tasks, files as number)
  if (skipped !== undefined) assert.equal(recordsOf(await planOf(fact)) - recordsOf(plan), skipped as number)
  const { manifests_kept: names, manifests_kept_by_partition_summary: kept, ...others } = manifests
  assert.isEmpty({ ...others })
  const ours = await keptManifests(fact)
  assert.equal(plan.report.scannedDataManifests, ours.length)
  if (names !== undefined) assert.sameMembers(ours, [...(names as readonly string[])])
  if (kept !== undefined) {
    assert.equal(kept, '>=1')
    assert.isAtLeast(ours.length, 1)
  }
  return EXACT
}

/** Names of the data manifests that their partition summaries keep. */
async function keptManifests(fact: CorpusFact): Promise<string[]> {
  const scan = (await tableOf(fact)).newScan({ ...selectionOf(fact), filter: saidFilter(fact).text })
  const filter = new ScanFilter(scan.filter, scan.selected)
  const kept = (await manifestsOf(fact)).filter(
    (manifest) => !manifest.isDeleteManifest && filter.mightMatch(manifest, new Warnings()),
  )
  return kept.map(({ manifestPath }) => manifestPath.replace(/^.*\//, ''))
}

/** Impala's profiles that speak of planning; the others count what was read. */
async function checkResult(fact: CorpusFact): Promise<Outcome> {
  const profile = (fact.expected['profile'] ?? []) as readonly string[]
  const result = (fact.expected['result'] ?? []) as readonly string[]
  if (profile.some((line) => line.startsWith('result-data-files'))) {
    await checkMetrics(fact, profile)
    return EXACT
  }
  // A query of plain columns of the table: as many rows as are shown.
  if (fact.predicate !== undefined && result.length > 0)
    return checkRows({ ...fact, expected: { rows: result.length } })
  const rowsRead = profile.flatMap((line) => /^aggregation\(SUM, RowsRead\): (\d+)$/.exec(line)?.[1] ?? [])
  if (rowsRead.length > 0) return checkRows({ ...fact, expected: { rows: Number(rowsRead[0]) } })
  return {
    how: 'not ours',
    why:
      result.length === 0
        ? 'how much of the files was read, or how that engine planned'
        : 'values of columns, or counts of what is inside them',
  }
}

/** Lines `result-data-files: 6`; durations and sizes are only said to be there. */
async function checkMetrics(fact: CorpusFact, profile: readonly string[]): Promise<void> {
  const { report } = await filteredPlanOf(fact)
  const counts = profile.flatMap((line) => {
    const match = /^([a-z-]+): (\d+)$/.exec(line)
    return match === null ? [] : [[match[1], Number(match[2])] as const]
  })
  assert.lengthOf(counts, 13)
  const ours = new Map<string, unknown>(
    Object.entries(report).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      value,
    ]),
  )
  for (const [name, count] of counts) assert.equal(ours.get(name), count, name)
}

const CHECKS: Readonly<Record<string, Check>> = {
  rows: checkRows,
  'row-count': checkRows,
  'planned-files': checkPlannedFiles,
  error: async (fact) => {
    const why = await checkError(fact)
    return why === undefined ? EXACT : { how: 'not ours', why }
  },
  result: checkResult,
  'manifest-entries': exactly(checkManifestEntries),
  'show-table-stats': exactly(checkTableStats),
  'manifest-pruning': checkPruning,
  'skipped-records': checkPruning,
  metadata: exactly(checkMetadata),
  snapshots: exactly(checkSnapshots),
  schema: exactly(checkSchema),
  'show-files': exactly(checkShowFiles),
  'column-bounds': exactly(checkColumnBounds),
  history: exactly(checkHistory),
  'manifest-list': exactly(checkManifestList),
  'show-partitions': exactly(checkShowPartitions),
  'metadata-table:all_files': checkMetadataTables,
  'metadata-table:files': checkMetadataTables,
  'metadata-table:snapshots': checkMetadataTables,
  'metadata-table:all_manifests': checkMetadataTables,
  'metadata-table:partitions': checkMetadataTables,
  'metadata-table:all_data_files': checkMetadataTables,
  'metadata-table:refs': checkMetadataTables,
  explain: () => ({ how: 'not ours', why: 'the operators of that engine' }),
  incremental: () => ({ how: 'later', why: 'incremental scans' }),
}

describeCorpus('what is known about the tables of the corpus', () => {
  const facts = corpusFacts()
  const outcomes = new Map<string, Outcome[]>()
  const ofPredicates: Outcome[] = []

  it('is of kinds that are known here, and of all of them', () => {
    assert.lengthOf(facts, 597)
    assert.sameMembers([...new Set(facts.map(({ kind }) => kind))], Object.keys(CHECKS))
  })

  it('has filters that are said in whole, in part or not at all', () => {
    assert.deepEqual(unusedRows(facts), [])
    const filtered = facts.filter(({ filter }) => filter !== undefined)
    const extents: Record<string, Record<Extent, number>> = {}
    const reasons = new Map<string, number>()
    for (const fact of filtered) {
      const { extent, why } = saidFilter(fact)
      const counts = (extents[fact.predicate === undefined ? 'without predicate' : 'with predicate'] ??= {
        all: 0,
        part: 0,
        nothing: 0,
      })
      counts[extent]++
      if (extent === 'all') continue
      const reason = `said in ${extent}: ${fact.filter} (${why})`.replaceAll(/\s+/g, ' ')
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    }
    for (const [of, { all, part, nothing }] of Object.entries(extents))
      console.log(`      filters ${of}: ${all} said in whole, ${part} in part, ${nothing} not at all`)
    for (const [reason, count] of reasons) console.log(`      ${count} ${reason}`)
    assert.deepEqual(extents, {
      'with predicate': { all: 154, part: 0, nothing: 0 },
      'without predicate': { all: 18, part: 12, nothing: 22 },
    })
  })

  for (const fact of facts) {
    const chosen = [fact.metadata, fact.version, fact.snapshot_id, fact.as_of, fact.filter].filter(Boolean)
    it(`${fact.source}/${fact.table} ${fact.kind} ${chosen.join(' ')} (${fact.from} ${fact.line ?? ''})`, async () => {
      assert.property(CHECKS, fact.kind, `no check for facts of kind ${fact.kind}`)
      const outcome = await CHECKS[fact.kind](fact)
      assert.isTrue(outcome.how === 'exact' || outcome.why !== undefined, 'a reason')
      outcomes.set(fact.kind, [...(outcomes.get(fact.kind) ?? []), outcome])
      if (fact.predicate !== undefined) ofPredicates.push(outcome)
    })
  }

  it('comes out as often as it did', function () {
    const all = [...outcomes.values()].flat()
    if (all.length < facts.length) this.skip()
    const count = (of: readonly Outcome[]) =>
      OUTCOMES.map((how) => of.filter((one) => one.how === how).length)
    const lines = [...outcomes].map(([kind, of]) => [kind, ...count(of)])
    for (const [kind, ...cells] of [
      ['', ...OUTCOMES],
      ...lines,
      ['all', ...count(all)],
      ['with a predicate', ...count(ofPredicates)],
    ])
      console.log(`      ${String(kind).padEnd(30)}${cells.map((cell) => String(cell).padStart(9)).join('')}`)
    for (const how of OUTCOMES.slice(1))
      for (const why of new Set(all.filter((one) => one.how === how).map((one) => one.why)))
        console.log(`      ${how}, ${all.filter((one) => one.how === how && one.why === why).length}: ${why}`)
    assert.deepEqual(Object.fromEntries(OUTCOMES.map((how, i) => [how, count(all)[i]])), {
      exact: 415,
      'at least': 118,
      later: 5,
      'not ours': 59,
    })
    assert.deepEqual(count(ofPredicates), [111, 43, 0, 0])
    assert.isAtLeast(outcomes.get('error')!.filter(({ how }) => how === 'exact').length, 17)
  })
})
