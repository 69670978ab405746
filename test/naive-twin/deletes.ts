/**
 * Random delete files of every kind over a table's rows, and which rows each of them takes away (section 7 of the rules).
 */
import type { DataFileInput } from '../support/table-writer.ts'
import { measure, randomCare } from './metrics.ts'
import type { Random } from './random.ts'
import type { Column, Row, Spec, TableShape } from './rows.ts'
import { type Filed, partitionKey, type TwinFile } from './tables.ts'
import { type Cell, compare } from './values.ts'

export interface TwinDelete extends Filed {
  readonly kind: 'position' | 'vector' | 'equality'
  /** Path, and for a vector its offset: several share a file. */
  readonly name: string
  /** Whether the file is in the reach of this delete: its partition, its sequence number, its path. */
  reaches(file: TwinFile): boolean
  /** Whether the row at a position of a file in reach is deleted. */
  deletes(file: TwinFile, position: number): boolean
}

export interface Deletes {
  readonly deletes: readonly TwinDelete[]
}

const PATH_COLUMN = 2 ** 31 - 1 - 101
const LAST_SEQUENCE_NUMBER = 9

export function randomDeletes(
  shape: TableShape,
  files: readonly TwinFile[],
  random: Random,
): Deletes & { files: readonly TwinDelete[] } {
  if (files.length === 0 || random.chance(0.25)) return { deletes: [], files: [] }
  const deletes: TwinDelete[] = []
  for (let i = random.int(10); i > 0; i--) {
    const target = random.pick(files)
    const name = `s3://warehouse/db/table/deletes/${deletes.length}.parquet`
    const isVector = shape.version === 3 && target.rows.length > 0 && random.chance(0.3)
    if (isVector) {
      const isTaken = deletes.some((other) => other.kind === 'vector' && other.reaches(target))
      if (!isTaken) deletes.push(deletionVector(target, deletes.length, random))
    } else if (random.chance(0.4)) {
      deletes.push(positionDelete(name, target, files, random))
    } else {
      const equality = equalityDelete(name, shape, target, random)
      if (equality !== undefined) deletes.push(equality)
    }
  }
  return { deletes, files: deletes }
}

function deletionVector(target: TwinFile, index: number, random: Random): TwinDelete {
  // A vector of nothing is dropped by every filter (R7.4): there is none here.
  const positions = target.rows.map((_, i) => i).filter((i) => i === 0 || random.chance(0.5))
  const path = 's3://warehouse/db/table/deletes/vectors.puffin'
  return {
    kind: 'vector',
    name: `${path}@${4 + index * 50}`,
    spec: target.spec,
    tuple: target.tuple,
    isOld: target.isOld,
    sequenceNumber: random.between(target.sequenceNumber, LAST_SEQUENCE_NUMBER),
    input: {
      content: 1,
      filePath: path,
      fileFormat: 'PUFFIN',
      recordCount: positions.length,
      referencedDataFile: target.path,
      contentOffset: 4 + index * 50,
      contentSizeInBytes: 50,
    },
    reaches: (file) => file === target,
    deletes: (_, position) => positions.includes(position),
  }
}

/** Of one file, or of several in its partition. */
function positionDelete(
  name: string,
  target: TwinFile,
  files: readonly TwinFile[],
  random: Random,
): TwinDelete {
  const key = partitionKey(target)
  const beside = files.filter((file) => file === target || (partitionKey(file) === key && random.chance(0.5)))
  const deleted = new Map(beside.map((file) => [file, file.rows.map(() => random.chance(0.5))]))
  const paths = beside.map((file) => file.path).sort(compare)
  const sequenceNumber = random.between(1, LAST_SEQUENCE_NUMBER)
  const isBounded = random.chance(0.7)
  const isNamed = paths.length === 1 && random.chance(0.5)
  return {
    kind: 'position',
    name,
    spec: target.spec,
    tuple: target.tuple,
    isOld: target.isOld,
    sequenceNumber,
    input: {
      content: 1,
      filePath: name,
      recordCount: 1 + [...deleted.values()].flat().filter(Boolean).length,
      ...(isNamed ? { referencedDataFile: paths[0] } : {}),
      ...(isBounded
        ? {
            lowerBounds: { [PATH_COLUMN]: Buffer.from(paths[0]) },
            upperBounds: { [PATH_COLUMN]: Buffer.from(paths[paths.length - 1]) },
          }
        : {}),
    } satisfies DataFileInput,
    reaches: (file) =>
      file.sequenceNumber <= sequenceNumber &&
      partitionKey(file) === key &&
      ((!isNamed && !(isBounded && paths.length === 1)) || file.path === paths[0]),
    deletes: (file, position) => deleted.get(file)?.[position] ?? false,
  }
}

/** Of the rows of the table that equal those of `target`, or values of other files, in one or two columns. */
function equalityDelete(
  name: string,
  shape: TableShape,
  target: TwinFile,
  random: Random,
): TwinDelete | undefined {
  const { spec, isOld } = target
  const present = shape.columns.filter((column) => !(isOld ? column.isNew : column.isDropped))
  const keys = random
    .shuffled(present.filter(({ type }) => type.kind !== 'unknown'))
    .slice(0, random.between(1, 2))
  const taken = target.rows.filter(() => random.chance(0.6))
  if (taken.length === 0 || keys.length === 0) return undefined
  const sequenceNumber = random.between(2, LAST_SEQUENCE_NUMBER)
  const { metrics } = measure(taken, keys, isOld, randomCare(random), random)
  const scope = isUnpartitioned(spec) ? undefined : partitionKey(target)
  return {
    kind: 'equality',
    name,
    spec,
    tuple: target.tuple,
    isOld,
    sequenceNumber,
    input: {
      content: 2,
      filePath: name,
      recordCount: taken.length,
      equalityIds: keys.map((column) => column.id),
      ...metrics,
    },
    reaches: (file) =>
      file.sequenceNumber < sequenceNumber && (scope === undefined || partitionKey(file) === scope),
    deletes: (file, position) => taken.some((row) => isSameKey(row, file.rows[position], keys)),
  }
}

function isUnpartitioned({ fields }: Spec): boolean {
  return fields.every(({ transform }) => transform.kind === 'void')
}

/** Nulls are equal here, and so are NaNs and both zeros. */
function isSameKey(a: Row, b: Row, keys: readonly Column[]): boolean {
  return keys.every(({ index }) => isSameCell(a.cells[index], b.cells[index]))
}

function isSameCell(a: Cell, b: Cell): boolean {
  if (a === null || b === null) return a === b
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b)
  return compare(a, b) === 0
}
