/**
 * Rows that a data file may hold, to tell two residuals apart: null, NaN, every literal of the filter and what lies
 * beside it, and the first and last values of the file's partition; all of them only as far as they belong there.
 */
import type { Expression, Predicate } from '../../src/expressions/expression.ts'
import type { Schema } from '../../src/metadata/schema.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { formatTransform } from '../../src/types/transforms/transform.ts'
import { formatType } from '../../src/types/type.ts'
import {
  applyOldTimeTransform,
  applyTransform,
  resultType,
  TIME_UNITS,
  type TwinTransform,
  twinTransform,
} from '../naive-twin/transforms.ts'
import {
  type Cell,
  codePoints,
  INT,
  isFloating,
  isNano,
  keyOf,
  MAX_INT,
  MAX_LONG,
  MICROS_PER_DAY,
  MIN_INT,
  MIN_LONG,
  type TwinType,
  twinType,
  uuidBytes,
  uuidOf,
  type Value,
} from '../naive-twin/values.ts'
import { isBeyond, isFraction, operandOf } from './literal-values.ts'
import { type Columns, literalsOf, type Row, transformOf } from './meaning.ts'

const MOST_ROWS = 4000
/** Values that are tried until some fall into a bucket. */
const BUCKET_TRIES = 400

interface PartitionField {
  readonly transform: TwinTransform
  readonly value: Cell
}

/** The columns that the expressions name, as far as they are in the schema. */
export function columnsOf(
  expressions: readonly Expression[],
  schema: Schema,
  caseSensitive = true,
): Map<string, TwinType> {
  const columns = new Map<string, TwinType>()
  for (const { term } of expressions.flatMap(predicatesOf)) {
    const field = schema.locateByName(term.name, caseSensitive)?.field
    if (field !== undefined) columns.set(term.name.toLowerCase(), twinTypeOf(formatType(field.type)))
  }
  return columns
}

/** Types without values, structs among them, can be tested for null only: any value will do. */
function twinTypeOf(text: string): TwinType {
  const type = twinType(text)
  return type.kind in BASES ? type : twinType('boolean')
}

export function predicatesOf(expression: Expression): Predicate[] {
  switch (expression.op) {
    case 'true':
    case 'false':
      return []
    case 'not':
      return predicatesOf(expression.child)
    case 'and':
    case 'or':
      return [...predicatesOf(expression.left), ...predicatesOf(expression.right)]
    default:
      return [expression]
  }
}

/** Every combination of the columns' values, or an even sample of them; none if no value of a column belongs there. */
export function rowsOf(
  task: FileScanTask,
  expressions: readonly Expression[],
  columns: Columns,
  schema: Schema,
  caseSensitive = true,
): Row[] {
  const predicates = expressions.flatMap(predicatesOf)
  const names = [...columns.keys()]
  const values = names.map((name) => {
    const own = predicates.filter(({ term }) => term.name.toLowerCase() === name)
    const { field, isOptional } = schema.locateByName(own[0].term.name, caseSensitive)!
    const partition = partitionOf(task, field.id)
    const cells = candidates(columns.get(name)!, own, partition)
    if (isOptional) cells.push(null)
    // A term is what its partition field holds, whoever wrote that (R3.6).
    const withOldRows = own.every(({ term }) => term.transform === undefined)
    return belonging(cells, columns.get(name)!, partition, withOldRows)
  })
  const count = values.reduce((product, cells) => product * cells.length, 1)
  const step = Math.max(1, Math.ceil(count / MOST_ROWS))
  const rows: Row[] = []
  for (let i = 0; i < count; i += step) {
    let rest = i
    rows.push(
      new Map(
        values.map((cells, column) => {
          const cell = cells[rest % cells.length]
          rest = Math.floor(rest / cells.length)
          return [names[column], cell]
        }),
      ),
    )
  }
  return rows
}

function partitionOf(task: FileScanTask, fieldId: number): PartitionField[] {
  const { dataFile, spec } = task
  return spec.fields.flatMap(({ sourceId, transform }, i) =>
    sourceId === fieldId
      ? [{ transform: twinTransform(formatTransform(transform)), value: dataFile.partition[i] }]
      : [],
  )
}

/** @param withOldRows whether the partition also holds what old writers put there of the time before 1970 (R3.14) */
function belonging(
  cells: readonly Cell[],
  type: TwinType,
  partition: readonly PartitionField[],
  withOldRows: boolean,
): Cell[] {
  const distinct = new Map(cells.map((cell) => [keyOf(cell), cell]))
  return [...distinct.values()].filter((cell) =>
    partition.every(({ transform, value }) => {
      const isOf = (result: Cell): boolean => keyOf(result) === keyOf(value)
      if (!isKnown(transform) || isOf(applyTransform(transform, type, cell))) return true
      if (!withOldRows || !TIME_UNITS.includes(transform.kind)) return false
      return isOf(applyOldTimeTransform(transform, type, cell))
    }),
  )
}

function isKnown({ kind }: TwinTransform): boolean {
  return ['identity', 'bucket', 'truncate', 'year', 'month', 'day', 'hour'].includes(kind)
}

function candidates(
  type: TwinType,
  predicates: readonly Predicate[],
  partition: readonly PartitionField[],
): Cell[] {
  const cells: Cell[] = [...BASES[type.kind]!]
  if (isFloating(type.kind)) cells.push(NaN)
  for (const predicate of predicates) {
    const transform = transformOf(predicate)
    const result = resultType(transform, type)
    for (const literal of literalsOf(predicate)) {
      const operand = operandOf(literal, result)
      if (isBeyond(operand)) continue
      const near = isFraction(operand)
        ? [operand.numerator / operand.denominator]
        : typeof operand === 'bigint'
          ? [Number(operand)]
          : [operand]
      for (const value of near) cells.push(...preimages(transform, type, inMemory(result, value)))
    }
  }
  for (const { transform, value } of partition)
    if (value !== null && isKnown(transform)) cells.push(...preimages(transform, type, value))
  return cells
}

/** Some values that the transform takes to `value` or close to it. */
function preimages(transform: TwinTransform, type: TwinType, value: Value): Value[] {
  switch (transform.kind) {
    case 'identity':
      return besides(type, value)
    case 'truncate':
      return typeof value === 'number' || typeof value === 'bigint'
        ? [...besides(type, value), ...besides(type, moved(type, value, BigInt(transform.parameter)))]
        : besides(type, value)
    case 'bucket':
      return inBucket(transform, type, value)
    case 'year':
    case 'month':
    case 'day':
    case 'hour': {
      const [first, next] = [
        startOf(transform, type, Number(value)),
        startOf(transform, type, Number(value) + 1),
      ]
      return [...besides(type, first), ...besides(type, next)]
    }
    default:
      return []
  }
}

function inBucket(transform: TwinTransform, type: TwinType, value: Value): Value[] {
  const found: Value[] = []
  for (let i = 0; i < BUCKET_TRIES && found.length < 4; i++) {
    const tried = numbered(type, i)
    if (applyTransform(transform, type, tried) === value) found.push(tried)
  }
  return found
}

function numbered(type: TwinType, i: number): Value {
  const hex = i.toString(16).padStart(type.length > 0 ? type.length * 2 : 32, '0')
  switch (type.kind) {
    case 'string':
      return `v${i}`
    case 'uuid':
      return uuidOf(new Uint8Array(Buffer.from(hex, 'hex')))
    case 'fixed':
    case 'binary':
      return new Uint8Array(Buffer.from(hex, 'hex'))
    default:
      return inMemory(type, BigInt(i) * (isNano(type.kind) ? 1000n : 1n))
  }
}

/** Of a calendar unit, since 1970. */
function startOf({ kind: unit }: TwinTransform, type: TwinType, value: number): Value {
  const days =
    unit === 'day'
      ? BigInt(value)
      : BigInt(
          new Date(0).setUTCFullYear(1970 + (unit === 'year' ? value : 0), unit === 'month' ? value : 0, 1) /
            86_400_000,
        )
  if (type.kind === 'date') return Number(days)
  const micros = unit === 'hour' ? BigInt(value) * (MICROS_PER_DAY / 24n) : days * MICROS_PER_DAY
  return micros * (isNano(type.kind) ? 1000n : 1n)
}

/** The value itself and the nearest ones on both sides, within the type's range. */
function besides(type: TwinType, value: Value): Value[] {
  switch (type.kind) {
    case 'boolean':
    case 'unknown':
      return [value]
    case 'float':
    case 'double': {
      const number = Number(value)
      const step = Math.abs(number) * 2 ** -20 + 2 ** -20
      const near = [number, number - step, number + step, number - 0.5, number + 0.5]
      return type.kind === 'float' ? near.map(Math.fround) : near
    }
    case 'string': {
      const points = codePoints(value as string)
      return [
        value,
        `${value as string}a`,
        `${value as string}\u{10FFFF}`,
        points.slice(0, -1).join(''),
        `${points.slice(0, -1).join('')}\u{10FFFF}`,
      ]
    }
    case 'uuid': {
      const bytes = uuidBytes(value as string)
      bytes[15] ^= 1
      return [value, uuidOf(bytes)]
    }
    case 'fixed': {
      const bytes = (value as Uint8Array).slice()
      bytes[bytes.length - 1] ^= 1
      return [value, bytes]
    }
    case 'binary': {
      const bytes = value as Uint8Array
      return [bytes, Uint8Array.of(...bytes, 0), Uint8Array.of(...bytes, 255), bytes.slice(0, -1)]
    }
    default:
      return [-1n, 0n, 1n, 2n].map((by) => moved(type, value as number | bigint, by))
  }
}

function moved(type: TwinType, value: number | bigint, by: bigint): Value {
  const sum = BigInt(value) + by
  const limits =
    type.kind === 'int' || type.kind === 'date'
      ? [BigInt(MIN_INT), BigInt(MAX_INT)]
      : type.kind === 'decimal'
        ? [1n - 10n ** BigInt(type.precision), 10n ** BigInt(type.precision) - 1n]
        : type.kind === 'time'
          ? [0n, MICROS_PER_DAY - 1n]
          : [MIN_LONG, MAX_LONG]
  const inside = sum < limits[0] ? limits[0] : sum > limits[1] ? limits[1] : sum
  return inMemory(type, inside)
}

/** Ints and days are numbers, all else that is counted is a bigint. */
function inMemory(type: TwinType, value: Value): Value {
  if (type.kind === INT.kind || type.kind === 'date') return Number(value)
  return typeof value === 'number' && !isFloating(type.kind) ? BigInt(value) : value
}

/** Of every type that has values. */
const BASES: Partial<Record<TwinType['kind'], readonly Value[]>> = {
  boolean: [false, true],
  int: [MIN_INT, -1, 0, 1, 7, MAX_INT],
  long: [MIN_LONG, -1n, 0n, 1n, 7n, MAX_LONG],
  float: [-Infinity, -1, -0, 0, 1, Infinity],
  double: [-Infinity, -1, -0, 0, 1, Infinity],
  decimal: [-1n, 0n, 1n],
  date: [-1, 0, 1],
  time: [0n, MICROS_PER_DAY - 1n],
  timestamp: [-1n, 0n, 1n],
  timestamptz: [-1n, 0n, 1n],
  timestamp_ns: [-1n, 0n, 1n],
  timestamptz_ns: [-1n, 0n, 1n],
  string: ['', 'a', '\u{10FFFF}'],
  uuid: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  fixed: [],
  binary: [new Uint8Array(), Uint8Array.of(255)],
}
