/**
 * What each phase of a plan reads of the entries, and why: tasks, filter, and matching deletes need different columns.
 *
 * | read of             | always                                  | with a filter            | with equality deletes    |
 * | ------------------- | --------------------------------------- | ------------------------ | ------------------------ |
 * | data files          | layout; metrics that tasks are to show  | metrics of its columns   | metrics of their keys    |
 * | delete files        | layout, delete fields, bounds of paths  | metrics of the keys      | metrics of the keys      |
 */
import type { FieldGroup } from '../manifest/entry-fields.ts'
import { DELETE_FILE_PATH_ID } from '../manifest/entry-fields.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { PartitionType } from '../manifest/partition-key.ts'
import type { SchemaField } from '../metadata/schema.ts'
import type { DecodeContext } from './decode-job.ts'
import { newContextId } from './decode-job.ts'
import type { ScanFilter } from './scan-filter.ts'
import type { TableScan } from './table-scan.ts'

/** Decoding one kind of manifests for a plan. */
export interface DecodePhase {
  /** Drops what the filter rules out where it is decoded. */
  readonly filtering: DecodeContext
  /** How entries are decoded that later plans may use too; `undefined` where the plan wants them in a form of its own. */
  readonly keeping: KeepingContext | undefined
}

export interface KeepingContext {
  /** All rows, whatever the filter says. */
  readonly context: DecodeContext
  /** What the entries depend on, beside their manifest. */
  readonly under: string
  /** Columns whose metrics the plan looks at. */
  readonly columns: readonly number[]
  /** Reads the metrics of these columns only. */
  moreColumns: (columns: readonly number[]) => DecodeContext
}

/** Columns of metrics have room for every file, and maps for what a file has: of very many columns that is less. */
const MAX_METRIC_COLUMNS = 64

/** @param keyColumns ids of the columns that equality deletes compare */
export function dataPhase(
  scan: TableScan,
  filter: ScanFilter,
  manifests: readonly ManifestFile[],
  partitionTypes: readonly PartitionType[],
  keyColumns: readonly number[],
): DecodePhase {
  const { shownColumns } = scan
  const tested = [...new Set([...filter.columns, ...keyColumns])]
  const byColumn = shownColumns.length === 0 && tested.length <= MAX_METRIC_COLUMNS
  const metrics = (columns: readonly number[]): FieldGroup[] =>
    columns.some((id) => mayHaveNans(id, scan)) ? ['counts', 'nans', 'bounds'] : ['counts', 'bounds']
  const groups: FieldGroup[] =
    shownColumns.length > 0 ? ['layout', 'sizes', ...ALL_METRICS] : ['layout', ...metrics(tested)]
  const filtering: DecodeContext = {
    id: newContextId(),
    projection: {
      groups,
      columnStats: shownColumns === 'all' ? 'all' : [...new Set([...shownColumns, ...tested])],
      byColumn,
    },
    partitionTypes,
    filter: filter.entryFilter('data', manifests),
    allRows: false,
    shownColumns,
  }
  const keeping: KeepingContext | undefined = byColumn
    ? {
        context: keepingContext(filtering),
        under: `data ${fingerprint(partitionTypes)}`,
        columns: tested,
        moreColumns: oncePerList((columns) => ({
          ...keepingContext(filtering),
          projection: { groups: metrics(columns), columnStats: columns, byColumn: true, metricsOnly: true },
        })),
      }
    : undefined
  return { filtering, keeping }
}

/** Jobs of one context share what workers remember of it. */
function oncePerList<T>(make: (columns: readonly number[]) => T): (columns: readonly number[]) => T {
  const made = new Map<string, T>()
  return (columns) => {
    const key = columns.join()
    const known = made.get(key) ?? make(columns)
    made.set(key, known)
    return known
  }
}

const ALL_METRICS: readonly FieldGroup[] = ['counts', 'nans', 'bounds']

/**
 * The keys of equality deletes are not known before they are read, so all metrics are, unless the snapshot's summary
 * says that there are none. A summary that is wrong costs pruning only.
 */
export function deletePhase(
  scan: TableScan,
  filter: ScanFilter,
  manifests: readonly ManifestFile[],
  partitionTypes: readonly PartitionType[],
): DecodePhase {
  const hasNoKeys = scan.selected.snapshot?.summary.get('total-equality-deletes') === '0'
  const filtering: DecodeContext = {
    id: newContextId(),
    projection: hasNoKeys
      ? { groups: ['layout', 'deletes', 'bounds'], columnStats: [DELETE_FILE_PATH_ID] }
      : { groups: ['layout', 'deletes', ...ALL_METRICS], columnStats: 'all' },
    partitionTypes,
    filter: filter.entryFilter('deletes', manifests),
    allRows: false,
    shownColumns: 'keys',
  }
  return {
    filtering,
    keeping: {
      context: keepingContext(filtering),
      under: `deletes ${hasNoKeys ? 'of paths' : 'of keys'} ${fingerprint(partitionTypes)}`,
      // All there are, or all that is of use.
      columns: [],
      moreColumns: () => filtering,
    },
  }
}

function keepingContext(filtering: DecodeContext): DecodeContext {
  return { ...filtering, id: newContextId(), filter: undefined, allRows: true }
}

/** Equal for partition types that read tuples alike. */
function fingerprint(types: readonly PartitionType[]): string {
  return JSON.stringify(types.map(({ spec, fields }) => [spec, fields]))
}

/** Whether a test of the column asks for its NaN count. */
function mayHaveNans(id: number, scan: TableScan): boolean {
  const type = (scan.selected.schema.locate(id) ?? findKeyColumn(id, scan))?.field.type.kind
  return type === undefined || type === 'float' || type === 'double'
}

/** The column of an equality id: from the newest schema that has it, for it may be dropped by now (R7.18). */
export function findKeyColumn(id: number, scan: TableScan): SchemaField | undefined {
  const newestFirst = scan.table.metadata.schemas.toSorted((a, b) => b.schemaId - a.schemaId)
  for (const schema of newestFirst) {
    const column = schema.locate(id)
    if (column !== undefined) return column
  }
  return undefined
}
