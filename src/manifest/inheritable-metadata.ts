/**
 * What a manifest entry takes from its manifest's row in the list (R4.1-R4.8): snapshot id, both sequence numbers and
 * first row id. Done over columns, before anything is filtered: row ids depend on every entry before.
 *
 * | null field            | status          | manifest's number | becomes                                       |
 * | --------------------- | --------------- | ----------------- | --------------------------------------------- |
 * | snapshot_id           | any             |                   | the manifest's added_snapshot_id               |
 * | sequence numbers      | ADDED           | any               | the manifest's                                 |
 * | sequence numbers      | EXISTING/DELETED| 0 (v1)            | 0                                              |
 * | sequence numbers      | EXISTING/DELETED| not 0             | stays null                                     |
 * | first_row_id          | not DELETED     | first_row_id set  | the running counter, which record_count advances |
 * | first_row_id, any     | any             | first_row_id null | null, even where a value is stored             |
 */
import type { ColumnStore } from '../avro/column-store.ts'
import { CorruptFileError, InvalidMetadataError } from '../errors.ts'
import { COLUMN, NULL_BIT } from './entry-fields.ts'
import type { ManifestFile } from './manifest-file.ts'

/** State of an entry relative to its manifest's snapshot (id 0). */
export const EntryStatus = { EXISTING: 0, ADDED: 1, DELETED: 2 } as const
export type EntryStatus = (typeof EntryStatus)[keyof typeof EntryStatus]

/**
 * Applies the three rules to rows `[firstRow, firstRow + count)` of a store.
 *
 * @throws InvalidMetadataError when a snapshot id is needed and the manifest has none
 * @throws CorruptFileError for a status that does not exist, a live entry with a negative data sequence number, or a
 * negative record count where row ids are assigned
 */
export function inheritMetadata(
  store: ColumnStore,
  manifest: ManifestFile,
  location: string,
  firstRow: number,
  count: number,
): void {
  checkStatus(store, location, firstRow, count)
  inheritSnapshotId(store, manifest, location, firstRow, count)
  inheritSequenceNumber(
    store,
    manifest,
    COLUMN.int64.sequenceNumber,
    NULL_BIT.sequenceNumber,
    firstRow,
    count,
  )
  inheritSequenceNumber(
    store,
    manifest,
    COLUMN.int64.fileSequenceNumber,
    NULL_BIT.fileSequenceNumber,
    firstRow,
    count,
  )
  checkSequenceNumber(store, location, firstRow, count)
  inheritFirstRowId(store, manifest, location, firstRow, count)
}

function checkStatus(store: ColumnStore, location: string, firstRow: number, count: number): void {
  const status = store.uint8[COLUMN.uint8.status]
  for (let row = firstRow; row < firstRow + count; row++) {
    if (status[row] > EntryStatus.DELETED) {
      throw new CorruptFileError(
        `Cannot read ${location}: entry ${row - firstRow} has the status ${status[row]}, which is none of 0, 1 and 2`,
        { location, entry: row - firstRow },
      )
    }
  }
}

function inheritSnapshotId(
  store: ColumnStore,
  manifest: ManifestFile,
  location: string,
  firstRow: number,
  count: number,
): void {
  const { nulls } = store
  const lanes = store.int64[COLUMN.int64.snapshotId]
  const bit = 1 << NULL_BIT.snapshotId
  const own = manifest.addedSnapshotId
  const low = own === undefined ? 0 : Number(BigInt.asIntN(32, own))
  const high = own === undefined ? 0 : Number(own >> 32n)
  for (let row = firstRow; row < firstRow + count; row++) {
    if ((nulls[row] & bit) === 0) continue
    if (own === undefined) {
      throw new InvalidMetadataError(
        `Cannot read ${location}: entry ${row - firstRow} has no snapshot id and its manifest has no added_snapshot_id`,
        { location, entry: row - firstRow },
      )
    }
    lanes[2 * row] = low
    lanes[2 * row + 1] = high
    nulls[row] &= ~bit
  }
}

function inheritSequenceNumber(
  store: ColumnStore,
  manifest: ManifestFile,
  column: number,
  nullBit: number,
  firstRow: number,
  count: number,
): void {
  const { nulls } = store
  const lanes = store.int64[column]
  const status = store.uint8[COLUMN.uint8.status]
  const bit = 1 << nullBit
  const own = manifest.sequenceNumber
  const low = Number(BigInt.asIntN(32, own))
  const high = Number(own >> 32n)
  const toAll = own === 0n
  for (let row = firstRow; row < firstRow + count; row++) {
    if ((nulls[row] & bit) === 0 || !(toAll || status[row] === EntryStatus.ADDED)) continue
    lanes[2 * row] = low
    lanes[2 * row + 1] = high
    nulls[row] &= ~bit
  }
}

/** -1 is what writers hold before a commit; taken for a number it would undo a delete, or apply all of them (R4.6). */
function checkSequenceNumber(store: ColumnStore, location: string, firstRow: number, count: number): void {
  const { nulls } = store
  const lanes = store.int64[COLUMN.int64.sequenceNumber]
  const status = store.uint8[COLUMN.uint8.status]
  const bit = 1 << NULL_BIT.sequenceNumber
  for (let row = firstRow; row < firstRow + count; row++) {
    if (lanes[2 * row + 1] >= 0 || (nulls[row] & bit) !== 0 || status[row] === EntryStatus.DELETED) continue
    const number = new BigInt64Array(lanes.buffer)[row]
    throw new CorruptFileError(
      `Cannot read ${location}: entry ${row - firstRow} has the data sequence number ${number}, which is negative`,
      { location, entry: row - firstRow },
    )
  }
}

const TWO_TO_32 = 2 ** 32
/** Below this, base plus `above` is exact as float64. */
const SMALL_BASE = 1n << 52n

function inheritFirstRowId(
  store: ColumnStore,
  manifest: ManifestFile,
  location: string,
  firstRow: number,
  count: number,
): void {
  const { nulls } = store
  const bit = 1 << NULL_BIT.firstRowId
  if (manifest.firstRowId === undefined || manifest.isDeleteManifest) {
    // A manifest from before the upgrade to v3 has no lineage, whatever is stored (R4.8).
    for (let row = firstRow; row < firstRow + count; row++) nulls[row] |= bit
    return
  }
  const lanes = store.int64[COLUMN.int64.firstRowId]
  const longs = new BigInt64Array(lanes.buffer)
  const status = store.uint8[COLUMN.uint8.status]
  const recordCount = store.float64[COLUMN.float64.recordCount]
  // The counter is a base and an exact float64 above it, so that no BigInt is made per row in the common case.
  let base = manifest.firstRowId
  let above = 0
  for (let row = firstRow; row < firstRow + count; row++) {
    if ((nulls[row] & bit) === 0 || status[row] === EntryStatus.DELETED) continue
    const records = recordCount[row]
    if (records < 0) {
      throw new CorruptFileError(
        `Cannot assign row ids in ${location}: entry ${row - firstRow} has the record count ${records}`,
        { location, entry: row - firstRow },
      )
    }
    if (base >= 0n && base < SMALL_BASE) {
      const id = Number(base) + above
      lanes[2 * row] = id | 0
      lanes[2 * row + 1] = Math.floor(id / TWO_TO_32)
    } else longs[row] = base + BigInt(above)
    nulls[row] &= ~bit
    // Each of the two is exact; from 2^53 on their sum might not be.
    if (above + records < 2 ** 52) above += records
    else {
      base += BigInt(above) + BigInt(records)
      above = 0
    }
  }
}
