/**
 * A random table with its rows in hand: files of rows, grouped into manifests with partition summaries, written as
 * real ones are.
 */
import { avroTypeOf } from '../support/iceberg-values.ts'
import {
  type BuiltTable,
  buildTable,
  type DataFileInput,
  type EntryInput,
  type FieldSummaryInput,
  type ManifestInput,
  type PartitionFieldInput,
} from '../support/table-writer.ts'
import { type Deletes, randomDeletes } from './deletes.ts'
import { boundBytes, comparable, cutLower, cutUpper, type Facts, measure, randomCare } from './metrics.ts'
import type { Random } from './random.ts'
import {
  type Column,
  demote,
  partitionTuple,
  partitionType,
  randomRows,
  randomShape,
  type Row,
  type Spec,
  type SpecField,
  type TableShape,
} from './rows.ts'
import { shortestTwosComplement } from './transforms.ts'
import {
  type Cell,
  compare,
  compareSignedUuids,
  keyOf,
  type TwinType,
  uuidBytes,
  type Value,
} from './values.ts'

/** A data file, or a delete file as far as partitions and manifests go. */
export interface Filed {
  readonly spec: Spec
  readonly tuple: readonly Cell[]
  /** Written with the old schema. */
  readonly isOld: boolean
  readonly sequenceNumber: number
  readonly input: DataFileInput
}

export interface TwinFile extends Filed {
  readonly path: string
  readonly rows: readonly Row[]
  /** By {@link Column.index}. */
  readonly facts: readonly Facts[]
  readonly isLive: boolean
}

export interface TwinTable extends Deletes {
  readonly shape: TableShape
  /** Live ones. */
  readonly files: readonly TwinFile[]
  readonly built: BuiltTable
}

/** Of the snapshot; manifests and files have 1 to this. */
const LAST_SEQUENCE_NUMBER = 9

/** @param number of the table in its run: decides which partition it has for sure */
export function randomTable(random: Random, number: number): TwinTable {
  const shape = randomShape(random, number)
  const all = Array.from({ length: random.between(4, 20) }, (_, i) => randomFile(shape, i, random))
  const files = all.filter(({ isLive }) => isLive)
  const deletes = shape.version === 1 ? { deletes: [], files: [] } : randomDeletes(shape, files, random)
  const manifests = [
    ...manifestsOf(shape, all, 'data', random),
    ...manifestsOf(shape, deletes.files, 'deletes', random),
  ]
  const built = buildTable({
    formatVersion: shape.version,
    schema: shape.schemas,
    specs: shape.specs.map(({ id, fields }) => ({
      specId: id,
      fields: fields.map(({ column, transform, fieldId, name }) => ({
        sourceId: column.id,
        fieldId,
        name,
        transform: transform.text,
      })),
    })),
    snapshots: [{ manifests, ...(shape.version === 1 ? {} : { sequenceNumber: LAST_SEQUENCE_NUMBER }) }],
    write: { codec: 'null' },
  })
  return { shape, files, built, deletes: deletes.deletes }
}

function randomFile(shape: TableShape, index: number, random: Random): TwinFile {
  const spec = random.pick(shape.specs)
  const needs = (test: (column: Column) => boolean) => spec.fields.some(({ column }) => test(column))
  const isOld =
    !needs((column) => column.isNew) && (needs((column) => column.isDropped) || random.chance(0.4))
  const rows = randomRows(shape, spec, isOld, random.chance(0.03) ? 0 : random.between(1, 6), random)
  // A file without rows is in some partition all the same.
  const tuple = partitionTuple(
    spec,
    rows.at(0) ?? randomRows(shape, spec, isOld, 1, random)[0],
    shape.hasOldTimes,
  )
  const present = shape.columns.filter((column) => !(isOld ? column.isNew : column.isDropped))
  const care = randomCare(random)
  const { metrics, facts } = measure(rows, shape.columns, isOld, care, random)
  for (const map of Object.values(metrics) as Map<number, unknown>[])
    for (const id of map.keys()) if (!present.some((column) => column.id === id)) map.delete(id)
  const path = `s3://warehouse/db/table/data/${index}.parquet`
  const isUncounted = shape.version < 3 && care === 'none' && random.chance(0.2)
  return {
    path,
    spec,
    tuple,
    rows,
    facts,
    isOld,
    isLive: random.chance(0.93),
    sequenceNumber: shape.version === 1 ? 0 : random.between(1, LAST_SEQUENCE_NUMBER),
    input: { filePath: path, recordCount: isUncounted ? -1 : rows.length, ...metrics },
  }
}

/** The files in manifests of one spec and one schema each, in random order. */
function manifestsOf(
  shape: TableShape,
  files: readonly Filed[],
  content: 'data' | 'deletes',
  random: Random,
): ManifestInput[] {
  const groups = new Map<string, Filed[]>()
  for (const file of random.shuffled(files)) {
    const key = `${file.spec.id} ${file.isOld}`
    const group = groups.get(key) ?? []
    groups.set(key, [...group, file])
  }
  const manifests: ManifestInput[] = []
  for (const group of groups.values()) {
    for (let rest = group; rest.length > 0;) {
      const size = random.between(1, 6)
      manifests.push(manifestOf(shape, rest.slice(0, size), content, random))
      rest = rest.slice(size)
    }
  }
  return random.shuffled(manifests)
}

function manifestOf(
  shape: TableShape,
  files: readonly Filed[],
  content: 'data' | 'deletes',
  random: Random,
): ManifestInput {
  const { spec, isOld } = files[0]
  const types = spec.fields.map((field) => partitionType(field, isOld))
  const ownNumber = Math.max(...files.map((file) => file.sequenceNumber))
  const partition = spec.fields.map((field, i) => partitionField(field, types[i]))
  const tuples = files.map((file) => file.tuple)
  const partitions = random.chance(0.05)
    ? undefined
    : spec.fields.map((field, i) =>
        summary(
          field,
          types[i],
          tuples.map((tuple) => tuple[i]),
          random,
        ),
      )
  return {
    content,
    specId: spec.id,
    entries: files.map((file) => entryOf(shape, file, types, ownNumber, random)),
    row: { partitions },
    write: { partition },
    ...(shape.version === 1 ? {} : { sequenceNumber: ownNumber }),
  }
}

function entryOf(
  shape: TableShape,
  file: Filed,
  types: readonly TwinType[],
  ownNumber: number,
  random: Random,
): EntryInput {
  const { sequenceNumber } = file
  const isLive = !('isLive' in file) || file.isLive === true
  const partition = file.tuple.map((cell, i) => avroValue(file.spec.fields[i], types[i], file.isOld, cell))
  const dataFile = { ...file.input, partition }
  if (shape.version === 1) return { status: isLive ? random.int(2) : 2, dataFile }
  // Added with the manifest, its number may be left to be inherited.
  const inherits = isLive && sequenceNumber === ownNumber && random.chance(0.7)
  if (inherits) return { status: 1, dataFile }
  return { status: isLive ? random.int(2) : 2, sequenceNumber, fileSequenceNumber: sequenceNumber, dataFile }
}

function partitionField(
  { fieldId, name, column, transform }: SpecField,
  type: TwinType,
): PartitionFieldInput {
  return { fieldId, name, avroType: avroTypeOf(type.text), sourceId: column.id, transform: transform.text }
}

/** A partition value as Avro has it. */
function avroValue(field: SpecField, type: TwinType, isOld: boolean, cell: Cell): unknown {
  if (cell === null) return null
  const value = storedValue(field, type, isOld, cell)
  if (type.kind === 'uuid') return uuidBytes(value as string)
  if (type.kind !== 'decimal') return value
  const shortest = shortestTwosComplement(value as bigint)
  const { size } = avroTypeOf(type.text) as { size: number }
  const padding = new Uint8Array(size - shortest.length).fill(shortest[0] >= 0x80 ? 0xff : 0)
  return Uint8Array.of(...padding, ...shortest)
}

function storedValue({ column, transform }: SpecField, type: TwinType, isOld: boolean, value: Value): Value {
  const isPromoted = isOld && (transform.kind === 'identity' || transform.kind === 'truncate')
  return isPromoted ? demote(value, type, column.type) : value
}

function summary(
  field: SpecField,
  type: TwinType,
  cells: readonly Cell[],
  random: Random,
): FieldSummaryInput {
  const values = comparable(cells)
  const isFloat = type.kind === 'float' || type.kind === 'double'
  const containsNull = cells.includes(null)
  const containsNan = random.chance(isFloat ? 0.8 : 0.5)
    ? cells.some((cell) => Number.isNaN(cell))
    : undefined
  if (values.length === 0) return { containsNull, containsNan }
  const isSigned = type.kind === 'uuid' && random.chance(0.5)
  values.sort(isSigned ? (a, b) => compareSignedUuids(a as string, b as string) : compare)
  const [least, greatest] = [values[0], values[values.length - 1]]
  const isText = type.kind === 'string' || type.kind === 'binary'
  const isOld = type.text !== partitionType(field, false).text
  const encode = (value: Value) => boundBytes(type, storedValue(field, type, isOld, value), random)
  const isCut = isText && random.chance(0.1)
  const width = random.between(1, 3)
  const lowerBound = isCut ? cutLower(least as string | Uint8Array, width) : encode(least)
  const upperBound = isCut ? cutUpper(greatest as string | Uint8Array, width) : encode(greatest)
  const isHalf = random.chance(0.02)
  return { containsNull, containsNan, lowerBound, upperBound: isHalf ? undefined : upperBound }
}

/** What a file's partition is by: files of one key share their partition-scoped deletes. */
export function partitionKey({ spec, tuple }: Filed): string {
  return `${spec.id}/${tuple.map(keyOf).join('/')}`
}
