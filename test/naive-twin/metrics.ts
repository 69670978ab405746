/**
 * Column metrics of a file as writers leave them: most are right, some are cut, some are missing, some are odd in ways
 * that the rules of section 5 tell readers to bear.
 */
import { type DataFileInput, singleValueBytes } from '../support/table-writer.ts'
import type { Random } from './random.ts'
import { type Column, demote, isInside, type Row } from './rows.ts'
import {
  type Cell,
  codePoints,
  compare,
  compareSignedUuids,
  isFloating,
  type TwinType,
  uuidBytes,
  type Value,
} from './values.ts'

/** What is true of a column in a file. */
export interface Facts {
  readonly hasNull: boolean
  readonly hasNaN: boolean
  /** Of the values that are neither null nor NaN; undefined without any. */
  readonly least: Value | undefined
  readonly greatest: Value | undefined
  /** Whether the file's metrics say all of this, bounds of text and bytes perhaps cut. */
  readonly isTold: boolean
}

/** How careful the writer of a file was. */
export type Care = 'full' | 'cut' | 'counts' | 'none' | 'ragged'

export function randomCare(random: Random): Care {
  return random.pick<Care>([
    'full',
    'full',
    'full',
    'full',
    'full',
    'full',
    'cut',
    'cut',
    'ragged',
    'ragged',
    'counts',
    'none',
  ])
}

type Metrics = Required<
  Pick<DataFileInput, 'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'>
>

export interface MeasuredFile {
  readonly metrics: Partial<Metrics>
  /** By {@link Column.index}. */
  readonly facts: readonly Facts[]
}

/**
 * @param isOld whether bounds are those of the old types
 * @param columns those that the file may have metrics of
 */
export function measure(
  rows: readonly Row[],
  columns: readonly Column[],
  isOld: boolean,
  care: Care,
  random: Random,
): MeasuredFile {
  const maps = {
    valueCounts: new Map<number, number>(),
    nullValueCounts: new Map<number, number>(),
    nanValueCounts: new Map<number, number>(),
    lowerBounds: new Map<number, Uint8Array>(),
    upperBounds: new Map<number, Uint8Array>(),
  }
  const cut = random.pick([1, 2, 4, 16])
  // Some writers count the nulls of a struct as nulls of what is in it, some do not count them at all (R5.3).
  const skipsAbsent = random.chance(0.3)
  const facts = columns.map((column): Facts => {
    const truth = factsOf(rows, column)
    const { id, type } = column
    const isMissing = (isOld && column.isNew) || type.kind === 'unknown'
    if (care === 'none' || isMissing) return truth
    const odd = care === 'ragged'
    const counted = skipsAbsent ? rows.filter((row) => !isInside(column.parent, row.absent)) : rows
    const nulls = counted.filter((row) => row.cells[column.index] === null).length
    // A null count that skips nulls is understood only beside the value count.
    if (!odd || skipsAbsent || random.chance(0.6)) maps.valueCounts.set(id, counted.length)
    if (!odd || random.chance(0.6)) maps.nullValueCounts.set(id, nulls)
    if (isFloating(type.kind) && (!odd || random.chance(0.6)))
      maps.nanValueCounts.set(id, rows.filter((row) => Number.isNaN(row.cells[column.index])).length)
    if (care === 'counts' || truth.least === undefined) return { ...truth, isTold: care !== 'counts' && !odd }
    const [least, greatest] = storedBounds(rows, column)
    const stored = isOld ? column.oldType : type
    const encode = (value: Value) => boundBytes(stored, isOld ? demote(value, stored, type) : value, random)
    let lower: Uint8Array | undefined = encode(least)
    let upper: Uint8Array | undefined = encode(greatest)
    if (care === 'cut' && (type.kind === 'string' || type.kind === 'binary')) {
      lower = cutLower(least as string | Uint8Array, cut)
      upper = cutUpper(greatest as string | Uint8Array, cut)
    }
    if (odd) [lower, upper] = oddBounds(column, stored, lower, upper, truth, random)
    if (lower !== undefined) maps.lowerBounds.set(id, lower)
    if (upper !== undefined) maps.upperBounds.set(id, upper)
    return { ...truth, isTold: !odd && upper !== undefined }
  })
  const metrics: Partial<Metrics> = {}
  for (const [name, map] of Object.entries(maps)) {
    if (map.size > 0 || random.chance(0.5)) Object.assign(metrics, { [name]: map })
  }
  return { metrics: care === 'none' ? {} : metrics, facts }
}

export function factsOf(rows: readonly Row[], column: Column): Facts {
  const cells = rows.map((row) => row.cells[column.index])
  const values = comparable(cells).sort(compare)
  return {
    hasNull: cells.includes(null),
    hasNaN: cells.some((cell) => Number.isNaN(cell)),
    least: values.at(0),
    greatest: values.at(-1),
    isTold: false,
  }
}

export function comparable(cells: readonly Cell[]): Value[] {
  return cells.filter((cell): cell is Value => cell !== null && !Number.isNaN(cell))
}

/** Least and greatest by the writer's order: for uuids that may be the signed one. */
function storedBounds(rows: readonly Row[], column: Column): [Value, Value] {
  const values = comparable(rows.map((row) => row.cells[column.index]))
  // Decided by the data, so that both bounds are of one order.
  const isSigned = column.type.kind === 'uuid' && rows.length % 2 === 0
  values.sort(isSigned ? (a, b) => compareSignedUuids(a as string, b as string) : compare)
  return [values[0], values[values.length - 1]]
}

/** The bytes of a bound; a zero may have either sign, a decimal may be padded. */
export function boundBytes(type: TwinType, value: Value, random: Random): Uint8Array {
  if (type.kind === 'uuid') return uuidBytes(value as string)
  if (value === 0 && isFloating(type.kind)) return singleValueBytes(type.text, random.pick([0, -0]))
  const bytes = singleValueBytes(type.text, value)
  if (type.kind !== 'decimal' || random.chance(0.8)) return bytes
  return Uint8Array.of(bytes[0] >= 0x80 ? 0xff : 0, ...bytes)
}

/** Bounds that are wider, missing, malformed, turned around or NaN: they say less, and nothing that is wrong. */
function oddBounds(
  { type }: Column,
  stored: TwinType,
  lower: Uint8Array,
  upper: Uint8Array | undefined,
  { hasNaN }: Facts,
  random: Random,
): [Uint8Array | undefined, Uint8Array | undefined] {
  const isNumber = ['int', 'long', 'float', 'double', 'decimal', 'date'].includes(stored.kind)
  switch (random.int(6)) {
    case 0:
      return [undefined, upper]
    case 1:
      return [lower, undefined]
    case 2:
      return isNumber ? [widest(stored, -1), random.chance(0.5) ? widest(stored, 1) : upper] : [lower, upper]
    case 3:
      // Lengths that no value of the type has; text and bytes have every length.
      return type.kind === 'string' ||
        type.kind === 'binary' ||
        type.kind === 'fixed' ||
        type.kind === 'decimal'
        ? [lower, upper]
        : [new Uint8Array(3), random.chance(0.5) ? new Uint8Array(3) : upper]
    case 4:
      // The order of uuids is in doubt, so turned around they would not look it.
      return type.kind === 'uuid' ? [lower, upper] : [upper, lower]
    default: {
      if (!isFloating(type.kind) || !hasNaN) return [lower, upper]
      const nan = singleValueBytes(stored.text, NaN)
      return random.pick([
        [nan, nan],
        [nan, upper],
        [lower, nan],
      ])
    }
  }
}

function widest(type: TwinType, sign: 1 | -1): Uint8Array {
  const beyond: Readonly<Record<string, Value>> = {
    int: sign > 0 ? 2 ** 31 - 1 : -(2 ** 31),
    date: sign > 0 ? 2 ** 31 - 1 : -(2 ** 31),
    long: sign > 0 ? 2n ** 63n - 1n : -(2n ** 63n),
    float: sign * Infinity,
    double: sign * Infinity,
    decimal: BigInt(sign) * (10n ** BigInt(type.precision) - 1n),
  }
  return singleValueBytes(type.text, beyond[type.kind])
}

/** R5.23: a prefix of so many code points or bytes. */
export function cutLower(value: string | Uint8Array, width: number): Uint8Array {
  if (value instanceof Uint8Array) return value.slice(0, width)
  return new Uint8Array(Buffer.from(codePoints(value).slice(0, width).join('')))
}

/** R5.23: a prefix whose last part is one greater; undefined when no part can be. */
export function cutUpper(value: string | Uint8Array, width: number): Uint8Array | undefined {
  if (value instanceof Uint8Array) {
    if (value.length <= width) return value
    for (let last = width - 1; last >= 0; last--)
      if (value[last] < 0xff) return Uint8Array.of(...value.slice(0, last), value[last] + 1)
    return undefined
  }
  const points = codePoints(value).map((letter) => letter.codePointAt(0)!)
  if (points.length <= width) return new Uint8Array(Buffer.from(value))
  for (let last = width - 1; last >= 0; last--) {
    const next = points[last] === 0xd7ff ? 0xe000 : points[last] + 1
    if (next <= 0x10ffff)
      return new Uint8Array(Buffer.from(String.fromCodePoint(...points.slice(0, last), next)))
  }
  return undefined
}
