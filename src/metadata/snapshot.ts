/**
 * Snapshots, the refs that name them, and which of them a scan reads (R1.1 to R1.10).
 *
 * | selection                  | snapshot                                  | schema of the scan           |
 * | -------------------------- | ----------------------------------------- | ---------------------------- |
 * | none, or ref `main`        | the current one, perhaps none             | the table's current schema   |
 * | another branch             | the branch's                              | the table's current schema   |
 * | a tag, an id, a time       | the tag's, that one, the log's            | the snapshot's own schema    |
 *
 * A branch is a place to write, and writes use the current schema; the others look back.
 */
import { InvalidArgumentError, InvalidMetadataError } from '../errors.ts'
import { describeJson, type JsonObject } from '../types/json-object.ts'
import {
  asObject,
  optionalArray,
  optionalCount,
  optionalInt,
  optionalLong,
  optionalString,
  requiredCount,
  requiredLong,
  stringMap,
} from './json-fields.ts'
import type { PartitionSpec } from './partition-spec.ts'
import type { Schema } from './schema.ts'

export interface Snapshot {
  readonly snapshotId: bigint
  readonly parentSnapshotId: bigint | undefined
  /** 0 in v1. */
  readonly sequenceNumber: bigint
  readonly timestampMs: number
  /** Location of the manifest list; wins over `manifests` (R1.12). */
  readonly manifestList: string | undefined
  /** v1 only: locations of the manifests, where there is no list. */
  readonly manifests: readonly string[] | undefined
  /** Empty when the metadata has none (B169). */
  readonly summary: ReadonlyMap<string, string>
  /**
   * `summary.operation` as written, known or not; `overwrite` when a summary has none, `undefined` without a summary
   * (R1.13).
   */
  readonly operation: string | undefined
  readonly schemaId: number | undefined
  /** v3: row id of the first row the snapshot added. */
  readonly firstRowId: bigint | undefined
  readonly addedRows: number | undefined
  /** v3: the key that encrypts the manifest list. */
  readonly keyId: string | undefined
}

export interface SnapshotRef {
  readonly snapshotId: bigint
  readonly type: 'branch' | 'tag'
  readonly minSnapshotsToKeep: number | undefined
  /** `bigint`, since "for ever" is written as the greatest long. */
  readonly maxSnapshotAgeMs: bigint | undefined
  readonly maxRefAgeMs: bigint | undefined
}

/** When a snapshot became the current one of `main`. */
export interface SnapshotLogEntry {
  readonly timestampMs: number
  readonly snapshotId: bigint
}

export const MAIN_BRANCH = 'main'

/** @throws InvalidMetadataError if the id or the time is missing, or a field has the wrong type. */
export function parseSnapshot(json: unknown): Snapshot {
  const object = asObject(json, 'snapshot')
  const snapshotId = requiredLong(object, 'snapshot-id', 'snapshot')
  const place = `snapshot ${snapshotId}`
  const parent = optionalLong(object, 'parent-snapshot-id', place)
  const summary = stringMap(object, 'summary', place)
  return {
    snapshotId,
    // Some writers store -1 for "none".
    parentSnapshotId: parent === undefined || parent < 0n ? undefined : parent,
    sequenceNumber: optionalLong(object, 'sequence-number', place) ?? 0n,
    timestampMs: requiredCount(object, 'timestamp-ms', place),
    manifestList: optionalString(object, 'manifest-list', place),
    manifests: parseManifests(object, place),
    summary,
    operation: summary.get('operation') ?? (summary.size === 0 ? undefined : 'overwrite'),
    schemaId: optionalInt(object, 'schema-id', place),
    firstRowId: optionalLong(object, 'first-row-id', place),
    addedRows: optionalCount(object, 'added-rows', place),
    keyId: optionalString(object, 'key-id', place),
  }
}

function parseManifests(object: JsonObject, place: string): readonly string[] | undefined {
  const manifests = optionalArray(object, 'manifests', place)
  if (manifests === undefined) return undefined
  return manifests.map((location) => {
    if (typeof location === 'string') return location
    throw new InvalidMetadataError(
      `Cannot read ${place}: "manifests" holds ${describeJson(location)}, not a location`,
    )
  })
}

/** @throws InvalidMetadataError if the id is missing or the type is neither `branch` nor `tag`. */
export function parseSnapshotRef(name: string, json: unknown): SnapshotRef {
  const place = `ref "${name}"`
  const object = asObject(json, place)
  const type = optionalString(object, 'type', place)?.toLowerCase()
  if (type !== 'branch' && type !== 'tag')
    throw new InvalidMetadataError(
      `Cannot read ${place}: "type" is ${describeJson(object.type)}, not branch or tag`,
    )
  return {
    snapshotId: requiredLong(object, 'snapshot-id', place),
    type,
    minSnapshotsToKeep: optionalInt(object, 'min-snapshots-to-keep', place),
    maxSnapshotAgeMs: optionalLong(object, 'max-snapshot-age-ms', place),
    maxRefAgeMs: optionalLong(object, 'max-ref-age-ms', place),
  }
}

export function parseSnapshotLogEntry(json: unknown): SnapshotLogEntry {
  const object = asObject(json, 'snapshot-log entry')
  return {
    timestampMs: requiredCount(object, 'timestamp-ms', 'snapshot-log entry'),
    snapshotId: requiredLong(object, 'snapshot-id', 'snapshot-log entry'),
  }
}

/** At most one of the three (R1.8); the ref `main` is no selection and goes with any other (R1.6). */
export interface SnapshotSelection {
  readonly snapshotId?: bigint | undefined
  readonly ref?: string | undefined
  /** Epoch milliseconds, inclusive. */
  readonly asOf?: number | undefined
}

/** What the choice needs to know of a table; `TableMetadata` is one. */
export interface SnapshotHistory {
  readonly metadataLocation: string
  readonly snapshots: readonly Snapshot[]
  readonly currentSnapshotId: bigint | undefined
  readonly snapshotLog: readonly SnapshotLogEntry[]
  readonly refs: ReadonlyMap<string, SnapshotRef>
  readonly schema: Schema
  readonly specs: ReadonlyMap<number, PartitionSpec>
  snapshotById(snapshotId: bigint): Snapshot | undefined
  schemaById(schemaId: number): Schema | undefined
}

/** The basis of one plan. */
export interface SelectedSnapshot {
  /** `undefined` when the table has no snapshot and none was asked for: the plan is empty (R1.2). */
  readonly snapshot: Snapshot | undefined
  /** The one schema of the plan: the filter and every spec are bound to it (B161). */
  readonly schema: Schema
  readonly specs: ReadonlyMap<number, PartitionSpec>
}

/**
 * The snapshot that a scan reads, with its schema.
 *
 * Java binds the specs to the current schema when the selected snapshot is the current one, whatever the filter is
 * bound to (the quirk of R1.9); here one schema serves both.
 *
 * @throws InvalidArgumentError for two selections, an unknown id or ref, or a time before the snapshot log begins.
 * @throws InvalidMetadataError if the snapshot names a schema that the table lacks, or no manifests.
 */
export function selectSnapshot(table: SnapshotHistory, selection: SnapshotSelection = {}): SelectedSnapshot {
  const { snapshotId, asOf } = selection
  // A number cannot hold every id, so a caller without types is told rather than given "not found".
  if (snapshotId !== undefined && typeof snapshotId !== 'bigint')
    throw new InvalidArgumentError(`Cannot select snapshot ${String(snapshotId)}: the id must be a bigint`)
  const ref = selection.ref === MAIN_BRANCH ? undefined : selection.ref
  const asked = [
    snapshotId === undefined ? [] : [`snapshot id ${snapshotId}`],
    ref === undefined ? [] : [`ref "${ref}"`],
    asOf === undefined ? [] : [`time ${formatTime(asOf)}`],
  ].flat()
  if (asked.length > 1)
    throw new InvalidArgumentError(
      `Cannot select a snapshot by ${asked.join(' and by ')}: only one selection is possible`,
    )

  if (snapshotId !== undefined) return ofSnapshot(table, findSnapshot(table, snapshotId))
  if (ref !== undefined) return ofRef(table, ref)
  if (asOf !== undefined) return ofSnapshot(table, findSnapshot(table, snapshotIdAsOf(table, asOf)))
  return ofCurrentSchema(
    table,
    table.currentSnapshotId === undefined ? undefined : findSnapshot(table, table.currentSnapshotId),
  )
}

function ofCurrentSchema(table: SnapshotHistory, snapshot: Snapshot | undefined): SelectedSnapshot {
  return { snapshot, schema: table.schema, specs: table.specs }
}

/** With the snapshot's own schema; the current one for snapshots that do not say (R1.5). */
function ofSnapshot(table: SnapshotHistory, snapshot: Snapshot): SelectedSnapshot {
  const { schemaId } = snapshot
  if (schemaId === undefined) return ofCurrentSchema(table, snapshot)
  const schema = table.schemaById(schemaId)
  if (schema === undefined)
    throw new InvalidMetadataError(
      `Cannot read snapshot ${snapshot.snapshotId} of ${table.metadataLocation}: its schema ${schemaId} is not in the metadata`,
      { location: table.metadataLocation },
    )
  return { snapshot, schema, specs: table.specs }
}

function ofRef(table: SnapshotHistory, name: string): SelectedSnapshot {
  const ref = table.refs.get(name)
  if (ref === undefined)
    throw new InvalidArgumentError(
      `Cannot find ref "${name}" in ${table.metadataLocation}: it has ${listOf('ref', [...table.refs.keys()])}`,
      { location: table.metadataLocation },
    )
  const snapshot = findSnapshot(table, ref.snapshotId)
  return ref.type === 'branch' ? ofCurrentSchema(table, snapshot) : ofSnapshot(table, snapshot)
}

function findSnapshot(table: SnapshotHistory, snapshotId: bigint): Snapshot {
  const place = { location: table.metadataLocation }
  const snapshot = table.snapshotById(snapshotId)
  if (snapshot === undefined)
    throw new InvalidArgumentError(
      `Cannot find snapshot ${snapshotId} in ${table.metadataLocation}: it has ${listOf(
        'snapshot',
        table.snapshots.map((known) => known.snapshotId.toString()),
      )}`,
      place,
    )
  if (snapshot.manifestList === undefined && snapshot.manifests === undefined)
    throw new InvalidMetadataError(
      `Cannot read snapshot ${snapshotId} of ${table.metadataLocation}: it names neither a manifest list nor manifests`,
      place,
    )
  return snapshot
}

/**
 * The snapshot that was current at a time: of the log entries at or before it the latest, of equal ones the first
 * (R1.7). The log is not assumed sorted, and nothing stands in for it: not parents, not the snapshots' own times (B159).
 */
function snapshotIdAsOf(table: SnapshotHistory, asOf: number): bigint {
  let latest: SnapshotLogEntry | undefined
  let oldestMs = Infinity
  for (const entry of table.snapshotLog) {
    oldestMs = Math.min(oldestMs, entry.timestampMs)
    if (entry.timestampMs <= asOf && (latest === undefined || entry.timestampMs > latest.timestampMs))
      latest = entry
  }
  if (latest === undefined)
    throw new InvalidArgumentError(
      `Cannot find a snapshot older than ${formatTime(asOf)} in ${table.metadataLocation}: its snapshot log ${
        oldestMs === Infinity ? 'is empty' : `begins at ${formatTime(oldestMs)}`
      }`,
      { location: table.metadataLocation },
    )
  return latest.snapshotId
}

const MAX_NAMES_LISTED = 5

function listOf(noun: string, names: readonly string[]): string {
  if (names.length === 0) return `no ${noun}s`
  const shown = names.slice(0, MAX_NAMES_LISTED).join(', ')
  const rest = names.length > MAX_NAMES_LISTED ? `, ... (${names.length} in all)` : ''
  return `the ${noun}${names.length === 1 ? '' : 's'} ${shown}${rest}`
}

function formatTime(epochMs: number): string {
  const date = new Date(epochMs)
  return Number.isNaN(date.getTime()) ? `${epochMs} ms` : date.toISOString()
}
