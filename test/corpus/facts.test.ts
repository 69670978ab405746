/**
 * What other projects state about the tables of the corpus (expected.json), each fact checked as far as planning goes:
 *
 * | outcome    |                                                                                      |
 * | ---------- | ------------------------------------------------------------------------------------ |
 * | `exact`    | our answer is the one stated                                                         |
 * | `at least` | our plan holds at least what is stated: deletes and filters are for readers to apply |
 * | `later`    | waits for filters, metadata tables or incremental scans                              |
 * | `not ours` | about reading data or about one engine; the reason is kept                           |
 *
 * A kind of fact that has no row here fails. The numbers are printed at the end and pinned, so that a fact cannot slip
 * into a weaker outcome unseen.
 */
import { assert, AssertionError } from 'chai'
import { corpusFacts, describeCorpus, type CorpusFact } from '../support/corpus.ts'
import { rejection } from '../support/rejection.ts'
import {
  checkColumnBounds,
  checkManifestEntries,
  checkManifestList,
  checkMetadata,
  checkSchema,
  checkSnapshots,
} from './duckdb-facts.ts'
import { checkError } from './error-facts.ts'
import { planOf } from './fact-scan.ts'
import {
  checkHistory,
  checkImpalaScans,
  checkMetadataTable,
  checkShowFiles,
  checkShowPartitions,
  checkTableStats,
  METADATA_TABLES_LATER,
  type ImpalaScan,
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

async function checkRows(fact: CorpusFact): Promise<Outcome> {
  const rows = fact.expected['rows'] as number
  if (fact.not_for_planning !== undefined) return { how: 'not ours', why: fact.not_for_planning }
  const { tasks, report } = await planOf(fact)
  const records = tasks.reduce((sum, task) => sum + task.dataFile.recordCount, 0)
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
  if (fact.filter !== undefined) {
    assert.isAtLeast(records, rows)
    return { how: 'at least', why: 'filters come later: nothing is left out yet' }
  }
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

/** Tables of which our plan attaches more deletes than Impala's, which leaves that to Java. */
const MORE_DELETES: Partial<Record<string, string>> = {
  iceberg_v2_delete_equality:
    'R7.16 is not there yet: Java spares the first file, whose bounds of the key do not meet those of the equality deletes',
}

/** Holds every delete that Impala scans, and the same data files. */
async function checkMoreDeletes(fact: CorpusFact, why: string): Promise<Outcome> {
  const error = await rejection(checkImpalaScans(fact))
  assert.instanceOf(error, AssertionError, 'it agrees with Impala now: remove its row')
  const files = (key: string) =>
    (fact.expected[key] as readonly ImpalaScan[]).reduce((sum, scan) => sum + scan.files!, 0)
  const { tasks } = await planOf(fact)
  const deletes = new Set(tasks.flatMap((task) => task.deletes.map((file) => file.filePath)))
  assert.lengthOf(tasks, files('data_scans'))
  assert.isAbove(deletes.size, files('delete_scans'))
  return { how: 'at least', why }
}

async function checkPlannedFiles(fact: CorpusFact): Promise<Outcome> {
  const { tasks, report } = await planOf(fact)
  const { data_scans: scans, ...counts } = fact.expected
  // A filter that is a query on another table is not known while planning.
  if (fact.filter !== undefined && fact.multi_table !== true) {
    const files = (scans as readonly ImpalaScan[]).reduce((sum, scan) => sum + (scan.files ?? 0), 0)
    assert.isAtLeast(tasks.length, files)
    return { how: 'at least', why: 'filters come later: nothing is left out yet' }
  }
  if (scans !== undefined) {
    const moreDeletes = MORE_DELETES[fact.table]
    if (moreDeletes !== undefined) return checkMoreDeletes(fact, moreDeletes)
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

/** With a filter only: what is stated to be kept is among what we keep without it. */
async function checkPruning(fact: CorpusFact): Promise<Outcome> {
  const { tasks, report } = await planOf(fact)
  const { planned_files: files, records_in_skipped_files: skipped, ...manifests } = fact.expected
  const leastOf = (kept: unknown) =>
    Array.isArray(kept) ? kept.length : Number(String(kept).replace('>=', ''))
  if (files !== undefined) assert.isAtLeast(tasks.length, files as number)
  if (skipped !== undefined)
    assert.isAtLeast(
      tasks.reduce((sum, task) => sum + task.dataFile.recordCount, 0),
      skipped as number,
    )
  for (const kept of Object.values(manifests)) assert.isAtLeast(report.scannedDataManifests, leastOf(kept))
  return { how: 'at least', why: 'filters come later: nothing is left out yet' }
}

/** Impala's profiles that speak of planning; the others count what was read. */
async function checkResult(fact: CorpusFact): Promise<Outcome> {
  const profile = (fact.expected['profile'] ?? []) as readonly string[]
  const result = (fact.expected['result'] ?? []) as readonly string[]
  if (profile.some((line) => line.startsWith('result-data-files')))
    return { how: 'later', why: 'scan metrics of a filtered scan' }
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

  it('is of kinds that are known here, and of all of them', () => {
    assert.lengthOf(facts, 597)
    assert.sameMembers([...new Set(facts.map(({ kind }) => kind))], Object.keys(CHECKS))
  })

  for (const fact of facts) {
    const chosen = [fact.metadata, fact.version, fact.snapshot_id, fact.as_of, fact.filter].filter(Boolean)
    it(`${fact.source}/${fact.table} ${fact.kind} ${chosen.join(' ')} (${fact.from} ${fact.line ?? ''})`, async () => {
      assert.property(CHECKS, fact.kind, `no check for facts of kind ${fact.kind}`)
      const outcome = await CHECKS[fact.kind](fact)
      assert.isTrue(outcome.how === 'exact' || outcome.why !== undefined, 'a reason')
      outcomes.set(fact.kind, [...(outcomes.get(fact.kind) ?? []), outcome])
    })
  }

  it('comes out as often as it did', function () {
    const all = [...outcomes.values()].flat()
    if (all.length < facts.length) this.skip()
    const count = (of: readonly Outcome[]) =>
      OUTCOMES.map((how) => of.filter((one) => one.how === how).length)
    const lines = [...outcomes].map(([kind, of]) => [kind, ...count(of)])
    for (const [kind, ...cells] of [['', ...OUTCOMES], ...lines, ['all', ...count(all)]])
      console.log(`      ${String(kind).padEnd(30)}${cells.map((cell) => String(cell).padStart(9)).join('')}`)
    for (const how of OUTCOMES.slice(1))
      for (const why of new Set(all.filter((one) => one.how === how).map((one) => one.why)))
        console.log(`      ${how}, ${all.filter((one) => one.how === how && one.why === why).length}: ${why}`)
    assert.deepEqual(Object.fromEntries(OUTCOMES.map((how, i) => [how, count(all)[i]])), {
      exact: 282,
      'at least': 250,
      later: 6,
      'not ours': 59,
    })
    assert.isAtLeast(outcomes.get('error')!.filter(({ how }) => how === 'exact').length, 17)
  })
})
