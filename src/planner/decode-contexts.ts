/**
 * What each phase of a plan reads of the entries, and why: tasks, filter, and matching deletes need different columns.
 *
 * | read of             | always                                  | with a filter            | with equality deletes    |
 * | ------------------- | --------------------------------------- | ------------------------ | ------------------------ |
 * | data files          | layout; metrics that tasks are to show  | metrics of its columns   | metrics of their keys    |
 * | delete files        | layout, delete fields, bounds of paths  | metrics of the keys      | metrics of the keys      |
 */
import type { FieldGroup, ManifestProjection } from '../manifest/entry-fields.ts'
import { DELETE_FILE_PATH_ID } from '../manifest/entry-fields.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { PartitionType } from '../manifest/partition-key.ts'
import type { SchemaField } from '../metadata/schema.ts'
import type { DecodeContext } from './decode-job.ts'
import { newContextId } from './decode-job.ts'
import type { ScanFilter } from './scan-filter.ts'
import type { TableScan } from './table-scan.ts'

/** Columns of metrics have room for every file, and maps for what a file has: of very many columns that is less. */
const MAX_METRIC_COLUMNS = 64

/** @param keyColumns ids of the columns that equality deletes compare */
export function dataContext(
  scan: TableScan,
  filter: ScanFilter,
  manifests: readonly ManifestFile[],
  partitionTypes: readonly PartitionType[],
  keyColumns: readonly number[],
): DecodeContext {
  const { shownColumns } = scan
  const tested = [...filter.columns, ...keyColumns]
  const groups: FieldGroup[] = ['layout', 'counts', 'bounds']
  if (shownColumns.length > 0) groups.push('sizes', 'nans')
  else if (tested.some((id) => mayHaveNans(id, scan))) groups.push('nans')
  const projection: ManifestProjection = {
    groups,
    columnStats: shownColumns === 'all' ? 'all' : [...new Set([...shownColumns, ...tested])],
    byColumn: shownColumns.length === 0 && tested.length <= MAX_METRIC_COLUMNS,
  }
  return {
    id: newContextId(),
    projection,
    partitionTypes,
    filter: filter.entryFilter('data', manifests),
    shownColumns,
  }
}

/**
 * The keys of equality deletes are not known before they are read, so all metrics are, unless the snapshot's summary
 * says that there are none. A summary that is wrong costs pruning only.
 */
export function deleteContext(
  scan: TableScan,
  filter: ScanFilter,
  manifests: readonly ManifestFile[],
  partitionTypes: readonly PartitionType[],
): DecodeContext {
  const hasNoKeys = scan.selected.snapshot?.summary.get('total-equality-deletes') === '0'
  return {
    id: newContextId(),
    projection: hasNoKeys
      ? { groups: ['layout', 'deletes', 'bounds'], columnStats: [DELETE_FILE_PATH_ID] }
      : { groups: ['layout', 'deletes', 'counts', 'nans', 'bounds'], columnStats: 'all' },
    partitionTypes,
    filter: filter.entryFilter('deletes', manifests),
    shownColumns: 'keys',
  }
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
