/**
 * The facts of kind `error`: which of them a planner has to fail on too, and with what; and why the others are none of
 * its business.
 */
import { assert } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isIcebergError, type IcebergErrorCode } from '../../src/errors.ts'
import { rebase } from '../../src/io/rebase.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { corpusFolder, type CorpusFact } from '../support/corpus.ts'
import { planTable } from '../support/corpus-table.ts'
import { rejection, thrown } from '../support/rejection.ts'
import { entryOf, metadataOf, planOf, selectionOf, tableOf } from './fact-scan.ts'

interface ErrorRow {
  /** Name of the table, and what the statement or its error holds. */
  readonly table: string
  readonly about?: RegExp
  /** Fails as it must, or does what the reason says; without it nothing of the fact can be tried. */
  readonly check?: (fact: CorpusFact) => Promise<void> | void
  /** Why a planner need not fail. */
  readonly notOurs?: string
}

function failsToLoad(code: IcebergErrorCode, message?: RegExp): (fact: CorpusFact) => Promise<void> {
  return async (fact) => {
    const error = await rejection(loadTable(metadataOf(fact)))
    assert.isTrue(isIcebergError(error, code), String(error))
    if (message !== undefined) assert.match(error.message, message)
  }
}

/** The very words of the source. */
async function failsAsTold(fact: CorpusFact): Promise<void> {
  const error = await rejection(loadTable(metadataOf(fact)))
  assert.isTrue(isIcebergError(error), String(error))
  assert.include(error.message, fact.expected['error'] as string)
}

async function failsToSelect(fact: CorpusFact): Promise<void> {
  const table = await tableOf(fact)
  const error = thrown(() => table.newScan(selectionOf(fact)))
  assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
  assert.match(
    error.message,
    fact.as_of === undefined ? /^Cannot find snapshot \d+ in / : /^Cannot find a snapshot older than /,
  )
}

async function plans(fact: CorpusFact): Promise<void> {
  const { tasks, report } = await planOf(fact)
  assert.isTrue(report.complete)
  assert.equal(tasks.length, entryOf(fact).files?.data)
}

const SQL = 'SQL on a variant column, which never reaches a planner; the table itself plans'
const DEFAULTS =
  'a limit of that engine on default values; they are no matter of planning, and the table plans'
const FINDING = 'iceplan finds such metadata by itself (compressed too), and has no such option'

const ROWS: readonly ErrorRow[] = [
  // Loading
  { table: 'TableMetadataV2MissingLastPartitionId', check: failsAsTold },
  { table: 'TableMetadataV2MissingPartitionSpecs', check: failsAsTold },
  { table: 'TableMetadataV2MissingSchemas', check: failsAsTold },
  { table: 'TableMetadataV2MissingSortOrder', check: failsAsTold },
  {
    table: 'TableMetadataUnsupportedVersion',
    // The case of iceberg-rust is of version 3, which is supported by now: it lacks what v3 must have.
    check: async (fact) => {
      if (entryOf(fact).format_version === 3) await failsToLoad('ERR_INVALID_METADATA')(fact)
      else await failsAsTold(fact)
    },
  },
  { table: 'bad_data', check: failsToLoad('ERR_INVALID_METADATA', /it is not valid JSON/) },
  {
    table: 'lineitem_iceberg',
    about: /v%s%s\.metadata\.gz/,
    check: async (fact) => {
      const location = join(corpusFolder(entryOf(fact)), 'metadata', 'v1.metadata.gz')
      const error = await rejection(loadTable(location))
      assert.isTrue(isIcebergError(error, 'ERR_NOT_FOUND'), String(error))
      assert.include(error.message, location)
    },
  },
  // Selecting
  { table: 'lineitem_iceberg', about: /Could not find latest snapshots/, check: failsToSelect },
  { table: 'spark_bunnies', about: /Snapshot 1234 not found/, check: failsToSelect },
  { table: 'iceberg_alltypes_part', about: /Cannot find a snapshot older than/, check: failsToSelect },
  { table: 'iceberg-table', about: /snapshot ID not found/, check: failsToSelect },
  {
    table: 'generated_spec2_0_001',
    about: /DESCRIBE SELECT schema_evol_added_col_1/,
    check: async (fact) => {
      const table = await tableOf(fact)
      const error = thrown(() => table.newScan({ select: ['schema_evol_added_col_1'] }))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
      assert.match(error.message, /^Cannot select column "schema_evol_added_col_1" of /)
    },
  },
  // Reading
  {
    table: 'metadata_with_broken_files',
    check: (fact) => {
      for (const name of ['empty.avro', 'broken1.avro', 'broken2.avro']) {
        const location = join(corpusFolder(entryOf(fact)), 'metadata', name)
        const error = thrown(() => readManifestListBytes(readFileSync(location), { location }))
        assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
        assert.include(error.message, location)
      }
    },
  },
  {
    table: 'manifests_lists',
    about: /encrypted/,
    check: (fact) => {
      const location = join(corpusFolder(entryOf(fact)), 'manifest-list-v3-encrypted.avro')
      const error = thrown(() => readManifestListBytes(readFileSync(location), { location }))
      assert.isTrue(isIcebergError(error), String(error))
      assert.match(error.message, /encrypted/)
    },
  },
  // None of ours
  {
    table: 'partitioned_table_with_missing_spec',
    notOurs:
      'spec 0 of the metadata lacks a field of the manifests: tuples are read by field id, all files are kept, and there are no deletes to match by tuple',
    check: plansOthersManifests,
  },
  {
    table: 'partitioned_table_with_multiple_spec',
    notOurs: 'specs are chosen by id here, as the source itself allows',
    check: plansOthersManifests,
  },
  {
    table: 'legacy_bare_deletion_vector',
    notOurs: 'a planner does not read Puffin files; the deletion vector is planned',
    check: async (fact) => {
      const { report } = await planOf(fact)
      assert.equal(report.dvs, 1)
    },
  },
  { table: 'lineitem_iceberg', about: /version_name_format='%s'/, notOurs: FINDING, check: plans },
  { table: 'lineitem_iceberg_gz', about: /metadata file not found/, notOurs: FINDING, check: plans },
  {
    table: 'lineitem_iceberg_no_hint',
    about: /unsafe_enable_version_guessing/,
    notOurs: FINDING,
    check: plans,
  },
  {
    table: 'iceberg_v2_delete_equality_partition_evolution',
    notOurs: 'a limit of that engine: equality deletes match by spec id and tuple',
    check: plans,
  },
  {
    table: 'iceberg_v3_all_types',
    about: /Default values are not supported/,
    notOurs: DEFAULTS,
    check: plans,
  },
  {
    table: 'test_complex_default',
    about: /Default values are not supported/,
    notOurs: DEFAULTS,
    check: plans,
  },
  { table: 'trino_variant', about: /VARIANT/, notOurs: SQL, check: plans },
]

/** These two tables have only their metadata; the manifests are those of `partitioned_table` beside them. */
async function plansOthersManifests(fact: CorpusFact): Promise<void> {
  const folder = join(corpusFolder(entryOf(fact)), '..', 'partitioned_table/')
  const moved = [rebase('s3a://warehouse/partitioned_table/', folder)]
  const { tasks } = await planTable(await loadTable(metadataOf(fact), { rebase: moved }))
  assert.lengthOf(tasks, 6)
}

/** @returns why the fact is none of ours, or undefined if it is and was checked */
export async function checkError(fact: CorpusFact): Promise<string | undefined> {
  const text = [fact.query, fact.expected['error'], fact.expected['note'], fact.options].join('\n')
  const row = ROWS.find(
    ({ table, about }) => table === fact.table && (about === undefined || about.test(text)),
  )
  assert.isDefined(row, `no row for the error of ${fact.table}: ${text}`)
  await row.check?.(fact)
  return row.notOurs
}
