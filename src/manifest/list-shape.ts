/**
 * The fields of a manifest list (spec: Manifest Lists, ids 500-520) and the compiled form of a list's writer schema.
 *
 * Everything is decided by the fields of the embedded writer schema: the header keys of lists are in no
 * specification, and some writers leave them out (B001).
 */
import { NOT_KEYED, type ColumnLayout } from '../avro/column-store.ts'
import type { CursorPlan, FieldBinding } from '../avro/cursor-plan.ts'

/** What is remembered of a manifest list's writer schema. */
export interface ListShape {
  readonly plan: CursorPlan
}

export const LIST_COLUMN = {
  uint8: { content: 0 },
  int32: { partitionSpecId: 0 },
  int64: { sequenceNumber: 0, minSequenceNumber: 1, addedSnapshotId: 2, firstRowId: 3 },
  float64: {
    manifestLength: 0,
    addedFilesCount: 1,
    existingFilesCount: 2,
    deletedFilesCount: 3,
    addedRowsCount: 4,
    existingRowsCount: 5,
    deletedRowsCount: 6,
  },
  bytes: { manifestPath: 0, keyMetadata: 1 },
  cells: { partitions: 0 },
} as const

export const LIST_NULL_BIT = {
  content: 0,
  sequenceNumber: 1,
  minSequenceNumber: 2,
  addedSnapshotId: 3,
  firstRowId: 4,
  addedFilesCount: 5,
  existingFilesCount: 6,
  deletedFilesCount: 7,
  addedRowsCount: 8,
  existingRowsCount: 9,
  deletedRowsCount: 10,
  keyMetadata: 11,
  partitions: 12,
} as const

export const SUMMARY_COLUMN = {
  uint8: { containsNull: 0, containsNan: 1 },
  bytes: { lowerBound: 0, upperBound: 1 },
} as const

export const SUMMARY_NULL_BIT = { containsNan: 0, lowerBound: 1, upperBound: 2 } as const

export const LIST_LAYOUT: ColumnLayout = {
  uint8: [true],
  int32: [true],
  int64: [true, true, true, true],
  float64: [true, true, true, true, true, true, true],
  bytes: [true, true],
  cells: [true],
  cellKeys: false,
  tuple: false,
  child: {
    uint8: [true, true],
    int32: [],
    int64: [],
    float64: [],
    bytes: [true, true],
    cells: [],
    cellKeys: false,
    tuple: false,
    child: undefined,
    keyed: NOT_KEYED,
  },
  keyed: NOT_KEYED,
}

type Name = keyof typeof LIST_NULL_BIT

function count(id: number, name: Name & keyof typeof LIST_COLUMN.float64, ...names: string[]): FieldBinding {
  return {
    id,
    names,
    sink: { kind: 'float64', column: LIST_COLUMN.float64[name] },
    nullBit: LIST_NULL_BIT[name],
  }
}

function long(id: number, name: Name & keyof typeof LIST_COLUMN.int64, onDisk: string): FieldBinding {
  return {
    id,
    names: [onDisk],
    sink: { kind: 'int64', column: LIST_COLUMN.int64[name] },
    nullBit: LIST_NULL_BIT[name],
  }
}

function bound(id: number, name: 'lowerBound' | 'upperBound', onDisk: string): FieldBinding {
  return {
    id,
    names: [onDisk],
    sink: { kind: 'bytes', column: SUMMARY_COLUMN.bytes[name] },
    nullBit: SUMMARY_NULL_BIT[name],
  }
}

/** Old writers called the counts of files `added_data_files_count` and so on (B005). */
export const LIST_BINDINGS: readonly FieldBinding[] = [
  {
    id: 500,
    names: ['manifest_path'],
    sink: { kind: 'bytes', column: LIST_COLUMN.bytes.manifestPath },
    nullBit: -1,
  },
  {
    id: 501,
    names: ['manifest_length'],
    sink: { kind: 'float64', column: LIST_COLUMN.float64.manifestLength },
    nullBit: -1,
  },
  {
    id: 502,
    names: ['partition_spec_id'],
    sink: { kind: 'int32', column: LIST_COLUMN.int32.partitionSpecId },
    nullBit: -1,
  },
  {
    id: 517,
    names: ['content'],
    sink: { kind: 'uint8', column: LIST_COLUMN.uint8.content },
    nullBit: LIST_NULL_BIT.content,
  },
  long(515, 'sequenceNumber', 'sequence_number'),
  long(516, 'minSequenceNumber', 'min_sequence_number'),
  long(503, 'addedSnapshotId', 'added_snapshot_id'),
  count(504, 'addedFilesCount', 'added_files_count', 'added_data_files_count'),
  count(505, 'existingFilesCount', 'existing_files_count', 'existing_data_files_count'),
  count(506, 'deletedFilesCount', 'deleted_files_count', 'deleted_data_files_count'),
  count(512, 'addedRowsCount', 'added_rows_count'),
  count(513, 'existingRowsCount', 'existing_rows_count'),
  count(514, 'deletedRowsCount', 'deleted_rows_count'),
  {
    id: 507,
    names: ['partitions'],
    sink: {
      kind: 'rows',
      column: LIST_COLUMN.cells.partitions,
      fields: [
        {
          id: 509,
          names: ['contains_null'],
          sink: { kind: 'uint8', column: SUMMARY_COLUMN.uint8.containsNull },
          nullBit: -1,
        },
        {
          id: 518,
          names: ['contains_nan'],
          sink: { kind: 'uint8', column: SUMMARY_COLUMN.uint8.containsNan },
          nullBit: SUMMARY_NULL_BIT.containsNan,
        },
        bound(510, 'lowerBound', 'lower_bound'),
        bound(511, 'upperBound', 'upper_bound'),
      ],
    },
    nullBit: LIST_NULL_BIT.partitions,
  },
  {
    id: 519,
    names: ['key_metadata'],
    sink: { kind: 'bytes', column: LIST_COLUMN.bytes.keyMetadata },
    nullBit: LIST_NULL_BIT.keyMetadata,
  },
  long(520, 'firstRowId', 'first_row_id'),
]
