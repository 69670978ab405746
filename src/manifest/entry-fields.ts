/**
 * The fields of a manifest entry (spec: Manifests, ids 0-4 and 100-145) and the column of an entry batch that each
 * goes to. The only place that knows these ids, for reading.
 *
 * Fields come in groups, because a plan needs few of them: skipping the metric maps is the largest saving there is.
 */
import { NOT_KEYED, type ColumnLayout } from '../avro/column-store.ts'
import type { FieldBinding, Sink } from '../avro/cursor-plan.ts'

/**
 * - `layout`: split offsets, sort order and key metadata, which readers of data files need
 * - `deletes`: equality ids, referenced data file, content offset and size
 * - `sizes`, `counts`, `nans`, `bounds`: column sizes; value and null counts; NaN counts, which only columns of
 *   floating-point numbers have; lower and upper bounds
 */
export type FieldGroup = 'layout' | 'deletes' | MetricGroup
type MetricGroup = 'sizes' | 'counts' | 'nans' | 'bounds'
const METRIC_GROUPS: readonly MetricGroup[] = ['sizes', 'counts', 'nans', 'bounds']
export const FIELD_GROUPS: readonly FieldGroup[] = ['layout', 'deletes', ...METRIC_GROUPS]

/** What to read of each entry, besides what is always read (R4.13). */
export interface ManifestProjection {
  readonly groups: readonly FieldGroup[]
  /** Columns, by field id, of which the groups of metrics keep values. */
  readonly columnStats: 'none' | 'all' | readonly number[]
  /** True: metrics are kept by column, to be tested, and not in maps to be shown. `columnStats` names columns then. */
  readonly byColumn?: boolean
  /** True: nothing but metrics is read, for rows that are there already. */
  readonly metricsOnly?: boolean
}

/** What an entry batch was made with. */
export interface ReadFields {
  /** In a fixed order. */
  readonly groups: readonly FieldGroup[]
  /** Ids of the columns whose metrics are kept by column, in the order of their slots; `undefined`: they are in maps. */
  readonly metricColumns: readonly number[] | undefined
  readonly isMetricsOnly: boolean
}

/** Everything there is. */
export const FULL_PROJECTION: ManifestProjection = { groups: FIELD_GROUPS, columnStats: 'all' }

/** Numbers of the columns in each kind of array of the column store. */
export const COLUMN = {
  uint8: { status: 0, content: 1, fileFormat: 2 },
  int32: { sortOrderId: 0 },
  int64: { snapshotId: 0, sequenceNumber: 1, fileSequenceNumber: 2, firstRowId: 3 },
  float64: { recordCount: 0, fileSizeInBytes: 1, contentOffset: 2, contentSizeInBytes: 3 },
  bytes: { filePath: 0, referencedDataFile: 1, keyMetadata: 2 },
  cells: {
    splitOffsets: 0,
    equalityIds: 1,
    columnSizes: 2,
    valueCounts: 3,
    nullValueCounts: 4,
    nanValueCounts: 5,
    lowerBounds: 6,
    upperBounds: 7,
  },
} as const

/** Numbers of the maps whose items are kept by column. */
export const KEYED_MAP = {
  numbers: { valueCounts: 0, nullValueCounts: 1, nanValueCounts: 2 },
  bytes: { lowerBounds: 0, upperBounds: 1 },
} as const

/** Bits of the null mask of a row. */
export const NULL_BIT = {
  snapshotId: 0,
  sequenceNumber: 1,
  fileSequenceNumber: 2,
  firstRowId: 3,
  content: 4,
  contentOffset: 5,
  contentSizeInBytes: 6,
  sortOrderId: 7,
  referencedDataFile: 8,
  keyMetadata: 9,
  splitOffsets: 10,
  equalityIds: 11,
  columnSizes: 12,
  valueCounts: 13,
  nullValueCounts: 14,
  nanValueCounts: 15,
  lowerBounds: 16,
  upperBounds: 17,
} as const

/** Names of the file formats, by their number in the batch. */
export const FILE_FORMATS = ['avro', 'orc', 'parquet', 'puffin'] as const
/** Lower case. Others than these are kept as they are: which files apply does not depend on it. */
export type FileFormat = (typeof FILE_FORMATS)[number] | (string & {})

interface EntryField extends FieldBinding {
  readonly group: FieldGroup | undefined
}

function field(id: number, name: string, sink: Sink, nullBit: number, group?: FieldGroup): EntryField {
  return { id, names: [name], sink, nullBit, group }
}

function map(
  id: number,
  name: keyof typeof COLUMN.cells & keyof typeof NULL_BIT,
  onDisk: string,
  group: FieldGroup,
): EntryField {
  const of = group === 'bounds' ? 'bytes-map' : 'number-map'
  return field(id, onDisk, { kind: 'cells', column: COLUMN.cells[name], of }, NULL_BIT[name], group)
}

const { uint8, int32, int64, float64, bytes, cells } = COLUMN

const DATA_FILE_FIELDS: readonly EntryField[] = [
  field(134, 'content', { kind: 'uint8', column: uint8.content }, NULL_BIT.content),
  field(100, 'file_path', { kind: 'bytes', column: bytes.filePath }, -1),
  field(101, 'file_format', { kind: 'symbol', column: uint8.fileFormat, symbols: FILE_FORMATS }, -1),
  field(102, 'partition', { kind: 'tuple' }, -1),
  field(103, 'record_count', { kind: 'float64', column: float64.recordCount }, -1),
  field(104, 'file_size_in_bytes', { kind: 'float64', column: float64.fileSizeInBytes }, -1),
  map(108, 'columnSizes', 'column_sizes', 'sizes'),
  map(109, 'valueCounts', 'value_counts', 'counts'),
  map(110, 'nullValueCounts', 'null_value_counts', 'counts'),
  map(137, 'nanValueCounts', 'nan_value_counts', 'nans'),
  map(125, 'lowerBounds', 'lower_bounds', 'bounds'),
  map(128, 'upperBounds', 'upper_bounds', 'bounds'),
  field(131, 'key_metadata', { kind: 'bytes', column: bytes.keyMetadata }, NULL_BIT.keyMetadata, 'layout'),
  field(
    132,
    'split_offsets',
    { kind: 'cells', column: cells.splitOffsets, of: 'numbers' },
    NULL_BIT.splitOffsets,
    'layout',
  ),
  field(
    135,
    'equality_ids',
    { kind: 'cells', column: cells.equalityIds, of: 'keys' },
    NULL_BIT.equalityIds,
    'deletes',
  ),
  field(140, 'sort_order_id', { kind: 'int32', column: int32.sortOrderId }, NULL_BIT.sortOrderId, 'layout'),
  field(142, 'first_row_id', { kind: 'int64', column: int64.firstRowId }, NULL_BIT.firstRowId),
  field(
    143,
    'referenced_data_file',
    { kind: 'bytes', column: bytes.referencedDataFile },
    NULL_BIT.referencedDataFile,
    'deletes',
  ),
  field(
    144,
    'content_offset',
    { kind: 'float64', column: float64.contentOffset },
    NULL_BIT.contentOffset,
    'deletes',
  ),
  field(
    145,
    'content_size_in_bytes',
    { kind: 'float64', column: float64.contentSizeInBytes },
    NULL_BIT.contentSizeInBytes,
    'deletes',
  ),
]

/** Ids that carry meaning for a delete file's path bounds (spec: Reserved Field IDs). */
export const DELETE_FILE_PATH_ID = 2147483546

/** The bindings of a projection: what the cursor plan is compiled from. */
export function entryBindings({ groups, metricColumns, isMetricsOnly }: ReadFields): FieldBinding[] {
  const wanted = DATA_FILE_FIELDS.filter(({ group }) =>
    group === undefined ? !isMetricsOnly : groups.includes(group),
  )
  const dataFile: FieldBinding = {
    id: 2,
    names: ['data_file'],
    sink: { kind: 'record', fields: metricColumns === undefined ? wanted : wanted.map(byColumn) },
    nullBit: -1,
  }
  if (isMetricsOnly) return [dataFile]
  return [
    { id: 0, names: ['status'], sink: { kind: 'uint8', column: uint8.status }, nullBit: -1 },
    { id: 1, names: ['snapshot_id'], sink: { kind: 'int64', column: int64.snapshotId }, nullBit: 0 },
    { id: 3, names: ['sequence_number'], sink: { kind: 'int64', column: int64.sequenceNumber }, nullBit: 1 },
    {
      id: 4,
      names: ['file_sequence_number'],
      sink: { kind: 'int64', column: int64.fileSequenceNumber },
      nullBit: 2,
    },
    dataFile,
  ]
}

/** The same field; if it is a map of metrics, with its items by column. */
function byColumn(field: EntryField): FieldBinding {
  const { sink } = field
  if (sink.kind !== 'cells' || (sink.of !== 'number-map' && sink.of !== 'bytes-map')) return field
  const number = KEYED_COLUMNS.get(sink.column)
  return number === undefined ? field : { ...field, sink: { kind: 'keyed', column: number, of: sink.of } }
}

/** By the column of cells that a map has otherwise. */
const KEYED_COLUMNS: ReadonlyMap<number, number> = new Map(
  [...Object.entries(KEYED_MAP.numbers), ...Object.entries(KEYED_MAP.bytes)].map(([name, number]) => [
    cells[name as keyof typeof cells],
    number,
  ]),
)

/** Null bits of the fields that a projection leaves out: they read as null. */
export function unreadNulls(groups: readonly FieldGroup[]): number {
  let mask = 0
  for (const { group, nullBit } of DATA_FILE_FIELDS)
    if (group !== undefined && !groups.includes(group)) mask |= 1 << nullBit
  return mask
}

/** The columns that a projection fills. */
export function entryLayout({ groups, metricColumns, isMetricsOnly }: ReadFields): ColumnLayout {
  const files = !isMetricsOnly
  const layout = groups.includes('layout')
  const deletes = groups.includes('deletes')
  const sizes = groups.includes('sizes')
  const counts = groups.includes('counts')
  const nans = groups.includes('nans')
  const bounds = groups.includes('bounds')
  const inMaps = metricColumns === undefined
  return {
    uint8: [files, files, files],
    int32: [layout],
    int64: [files, files, files, files],
    float64: [files, files, deletes, deletes],
    bytes: [files, deletes, layout],
    cells: [
      layout,
      deletes,
      sizes,
      ...[counts, counts, nans, bounds, bounds].map((isRead) => isRead && inMaps),
    ],
    cellKeys: deletes || sizes || (inMaps && (counts || nans || bounds)),
    tuple: files,
    child: undefined,
    keyed: inMaps
      ? NOT_KEYED
      : { slots: metricColumns.length, numbers: [counts, counts, nans], bytes: [bounds, bounds] },
  }
}

/**
 * A layout without the columns that are null in every row.
 *
 * @param nulls null bits that all rows have
 */
export function withoutNullColumns(layout: ColumnLayout, nulls: number): ColumnLayout {
  const dropped = DATA_FILE_FIELDS.filter(({ nullBit }) => nullBit >= 0 && ((nulls >>> nullBit) & 1) === 1)
  const without = (kind: Sink['kind'], columns: readonly boolean[]): boolean[] =>
    columns.map(
      (filled, i) =>
        filled && !dropped.some(({ sink }) => sink.kind === kind && 'column' in sink && sink.column === i),
    )
  return {
    ...layout,
    int32: without('int32', layout.int32),
    float64: without('float64', layout.float64),
    int64: without('int64', layout.int64),
    bytes: without('bytes', layout.bytes),
    cells: without('cells', layout.cells),
  }
}

/** What a projection reads: the groups for which it names no column are left out. */
export function readFields({
  groups,
  columnStats,
  byColumn = false,
  metricsOnly = false,
}: ManifestProjection): ReadFields {
  const noStats = columnStats === 'none' || (columnStats !== 'all' && columnStats.length === 0)
  const unread: readonly FieldGroup[] = noStats ? METRIC_GROUPS : []
  return {
    groups: FIELD_GROUPS.filter((group) => groups.includes(group) && !unread.includes(group)),
    metricColumns:
      byColumn && columnStats !== 'none' && columnStats !== 'all' ? [...new Set(columnStats)] : undefined,
    isMetricsOnly: metricsOnly,
  }
}
