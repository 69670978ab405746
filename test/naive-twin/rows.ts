/**
 * Random schemas of two versions, specs over them, and rows. Between the versions columns are added, dropped, renamed
 * and promoted, as in tables that have lived for a while.
 */
import type { FormatVersion, SchemaInput } from '../support/table-writer.ts'
import type { Random } from './random.ts'
import {
  applyOldTimeTransform,
  applyTransform,
  resultType,
  TIME_UNITS,
  transformKindsOf,
  type TwinTransform,
  twinTransform,
} from './transforms.ts'
import {
  type Cell,
  compare,
  keyOf,
  type Kind,
  MICROS_PER_DAY,
  randomValue,
  type TwinType,
  twinType,
  type Value,
} from './values.ts'

export interface Struct {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly parent: Struct | undefined
}

export interface Column {
  /** Position in a row. */
  readonly index: number
  readonly id: number
  readonly parent: Struct | undefined
  /** In the current schema, without the structs around it. */
  readonly shortName: string
  /** The same in the old schema. */
  readonly oldName: string
  /** In the current schema, dotted. */
  readonly name: string
  readonly type: TwinType
  /** In files of the old schema. */
  readonly oldType: TwinType
  /** Of the column itself, whatever is around it. */
  readonly required: boolean
  /** Not in the old schema. */
  readonly isNew: boolean
  /** Not in the current one: no filter names it, but specs may. */
  readonly isDropped: boolean
  /** What rows of older files hold. */
  readonly initialDefault: Cell
  /** Values of the table's rows, in order and NaN last; those of the old type first promoted. */
  readonly pool: readonly Value[]
  readonly oldPool: readonly Value[]
}

export interface SpecField {
  readonly column: Column
  readonly transform: TwinTransform
  readonly fieldId: number
  readonly name: string
}

export interface Spec {
  readonly id: number
  readonly fields: readonly SpecField[]
}

export interface Row {
  /** By {@link Column.index}. */
  readonly cells: readonly Cell[]
  /** Structs that are null. */
  readonly absent: ReadonlySet<Struct>
}

export interface TableShape {
  readonly version: FormatVersion
  readonly columns: readonly Column[]
  readonly structs: readonly Struct[]
  /** Old and current. */
  readonly schemas: readonly [SchemaInput, SchemaInput]
  readonly specs: readonly Spec[]
  /** Time partitions of instants before 1970 are those of old writers (R3.14). */
  readonly hasOldTimes: boolean
}

const PROMOTIONS: Readonly<Record<string, string>> = {
  long: 'int',
  double: 'float',
  'decimal(18,2)': 'decimal(9,2)',
  timestamp: 'date',
  timestamp_ns: 'date',
}

const TYPES: readonly string[] = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'decimal(9,2)',
  'decimal(18,2)',
  'decimal(38,10)',
  'decimal(4,0)',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'string',
  'string',
  'uuid',
  'fixed[3]',
  'binary',
]
const V3_TYPES: readonly string[] = [...TYPES, 'timestamp_ns', 'timestamptz_ns', 'unknown']
/** Types that a test gives defaults to; the planner reads none. */
const DEFAULTED: readonly Kind[] = ['boolean', 'int', 'string']

/** Every transform of every type, and truncations again: their many widths hide the most. */
const PARTITIONS = [...V3_TYPES, 'string', 'string', 'int', 'long'].flatMap((type, i) =>
  transformKindsOf(twinType(type).kind)
    .filter((kind) => i < V3_TYPES.length || kind === 'truncate')
    .map((kind) => ({ type, kind })),
)

/** @param number decides the type and the transform of one partition, so that in many tables all occur */
export function randomShape(random: Random, number: number): TableShape {
  const partition = PARTITIONS[number % PARTITIONS.length]
  const version = TYPES.includes(partition.type) ? random.pick<FormatVersion>([1, 2, 2, 3, 3]) : 3
  const structs = randomStructs(random)
  const columns = randomColumns(version, structs, partition.type, random)
  const wanted = columns[2]
  const hasOldTimes = random.chance(0.15)
  return {
    version,
    columns,
    structs,
    schemas: [schemaOf(columns, structs, 'old'), schemaOf(columns, structs, 'current')],
    specs: randomSpecs(columns, transformOf(partition.kind, wanted.type.kind, random), wanted, random),
    hasOldTimes,
  }
}

function randomStructs(random: Random): Struct[] {
  if (random.chance(0.3)) return []
  const outer: Struct = { id: 100, name: 'outer', required: random.chance(0.4), parent: undefined }
  if (random.chance(0.5)) return [outer]
  return [outer, { id: 101, name: 'Inner', required: random.chance(0.5), parent: outer }]
}

function randomColumns(
  version: FormatVersion,
  structs: readonly Struct[],
  wanted: string,
  random: Random,
): Column[] {
  const others = random.shuffled(version === 3 ? V3_TYPES : TYPES).slice(0, random.between(4, 8))
  const types = [...others.slice(0, 2), wanted, ...others.slice(2)]
  return types.map((text, index) => {
    const type = twinType(text)
    // Every struct has a child: the first columns are theirs.
    const parent = structs[index] ?? (random.chance(0.2) ? random.pick([undefined, ...structs]) : undefined)
    const fate = index < structs.length ? 1 : random.chance(0.5) ? 1 : random.int(10) / 10
    const isNew = fate < 0.3
    const isDropped = fate >= 0.3 && fate < 0.5 && index > 2
    const isDefaulted = version === 3 && isNew && DEFAULTED.includes(type.kind) && random.chance(0.5)
    const required = type.kind !== 'unknown' && (isNew ? isDefaulted : true) && random.chance(0.4)
    // The third one is the source of a partition that any type and transform may make.
    const promoted = isNew || isDropped || index === 2 || random.chance(0.5) ? undefined : PROMOTIONS[text]
    const oldType = promoted === undefined || (promoted === 'date' && version < 3) ? type : twinType(promoted)
    const oldPool = sorted(poolOf(oldType, random).map((value) => promote(value, oldType, type)))
    const pool = oldType === type ? oldPool : sorted([...oldPool, ...poolOf(type, random).slice(0, 2)])
    const shortName = `${random.pick(['c', 'C', 'col ', 'spalte.', 'é'])}${index}`
    return {
      index,
      id: index + 1,
      parent,
      shortName,
      oldName: random.chance(0.8) ? shortName : `was${index}`,
      name: dotted(parent, shortName),
      type,
      oldType,
      required,
      isNew,
      isDropped,
      initialDefault: isDefaulted ? pool[0] : null,
      pool,
      oldPool,
    }
  })
}

function dotted(parent: Struct | undefined, name: string): string {
  return parent === undefined ? name : dotted(parent.parent, `${parent.name}.${name}`)
}

export function structName(struct: Struct): string {
  return dotted(struct.parent, struct.name)
}

function poolOf(type: TwinType, random: Random): Value[] {
  if (type.kind === 'unknown') return []
  const values = Array.from({ length: random.between(4, 14) }, () => randomValue(type, random))
  return sorted(values)
}

function sorted(values: readonly Value[]): Value[] {
  const distinct = [...new Map(values.map((value) => [keyOf(value), value])).values()]
  const isNaN = (value: Value) => Number(Number.isNaN(value))
  return distinct.sort((a, b) => isNaN(a) - isNaN(b) || (Number.isNaN(a) ? 0 : compare(a, b)))
}

/** A value of an old type under the type that took its place; dates of very far years are brought near. */
export function promote(value: Value, from: TwinType, to: TwinType): Value {
  if (from.kind === 'int' && to.kind === 'long') return BigInt(value as number)
  if (from.kind !== 'date' || to.kind === 'date') return value
  const days = BigInt((value as number) % 100_000)
  return days * MICROS_PER_DAY * (to.kind === 'timestamp_ns' ? 1000n : 1n)
}

/** The way back; exact for what {@link promote} made. */
export function demote(value: Value, from: TwinType, to: TwinType): Value {
  if (from.kind === 'int' && to.kind === 'long') return Number(value)
  if (from.kind !== 'date' || to.kind === 'date') return value
  return Number((value as bigint) / (MICROS_PER_DAY * (to.kind === 'timestamp_ns' ? 1000n : 1n)))
}

function schemaOf(
  columns: readonly Column[],
  structs: readonly Struct[],
  which: 'old' | 'current',
): SchemaInput {
  const fieldsIn = (parent: Struct | undefined): SchemaInput['fields'] => [
    ...columns
      .filter((column) => column.parent === parent && !(which === 'old' ? column.isNew : column.isDropped))
      .map((column) => ({
        id: column.id,
        name: which === 'old' ? column.oldName : column.shortName,
        required: column.required,
        type: (which === 'old' ? column.oldType : column.type).text,
        ...(column.initialDefault === null
          ? {}
          : { 'initial-default': column.initialDefault, 'write-default': column.initialDefault }),
      })),
    ...structs
      .filter((struct) => struct.parent === parent)
      .map((struct) => ({
        id: struct.id,
        name: struct.name,
        required: struct.required,
        type: { type: 'struct', fields: fieldsIn(struct) },
      })),
  ]
  return { fields: fieldsIn(undefined) }
}

function randomSpecs(
  columns: readonly Column[],
  wantedTransform: TwinTransform,
  wanted: Column,
  random: Random,
): Spec[] {
  const count = random.between(1, 3)
  const ids = new Map<string, number>()
  return Array.from({ length: count }, (_, id) => {
    // The first spec is older than new columns, the last one must do without those that are gone.
    const sources = columns.filter(
      (column) => !(id === 0 && column.isNew) && !(id === count - 1 && column.isDropped),
    )
    const fields = new Map<string, SpecField>()
    const add = (column: Column, transform: TwinTransform) => {
      const key = `${column.id} ${transform.text}`
      const fieldId = ids.get(key) ?? 1000 + ids.size
      ids.set(key, fieldId)
      fields.set(key, { column, transform, fieldId, name: `p${fieldId}` })
    }
    for (let i = random.pick([0, 1, 1, 1, 2, 2, 3]); i > 0 && sources.length > 0; i--) {
      const column = random.pick(sources)
      const transform = randomTransform(column, random)
      if (transform !== undefined) add(column, transform)
    }
    if (id === count - 1) add(wanted, wantedTransform)
    return { id, fields: [...fields.values()] }
  })
}

function randomTransform(column: Column, random: Random): TwinTransform | undefined {
  const { type, oldType } = column
  if (type.kind === 'unknown') return undefined
  if (random.chance(0.03)) return twinTransform('void')
  if (random.chance(0.03) && oldType === type) return twinTransform('zorder[3]')
  // A promotion must not change what a partition holds: the wrapped truncation and all of dates do.
  const kinds = transformKindsOf(type.kind).filter(
    (kind) => oldType === type || (oldType.kind !== 'date' && kind !== 'truncate'),
  )
  return kinds.length === 0 ? undefined : transformOf(random.pick(kinds), type.kind, random)
}

export function transformOf(kind: TwinTransform['kind'], source: Kind, random: Random): TwinTransform {
  if (kind === 'bucket') return twinTransform(`bucket[${random.pick([1, 2, 3, 5, 16])}]`)
  if (kind !== 'truncate') return twinTransform(kind)
  const isText = source === 'string' || source === 'binary'
  const widths = isText ? [1, 2, 2, 3, 16] : [1, 7, 10, 50]
  const isHuge = (source === 'int' || source === 'long') && random.chance(0.3)
  return twinTransform(`truncate[${isHuge ? random.pick([2 ** 30, 2 ** 31 - 1]) : random.pick(widths)}]`)
}

/** A row's value of a partition field. */
export function partitionValue({ column, transform }: SpecField, cell: Cell, hasOldTimes: boolean): Cell {
  return hasOldTimes && TIME_UNITS.includes(transform.kind)
    ? applyOldTimeTransform(transform, column.type, cell)
    : applyTransform(transform, column.type, cell)
}

export function partitionTuple({ fields }: Spec, row: Row, hasOldTimes: boolean): Cell[] {
  return fields.map((field) => partitionValue(field, row.cells[field.column.index], hasOldTimes))
}

/** Type of a partition value as a file of that age stores it. */
export function partitionType({ column, transform }: SpecField, isOld: boolean): TwinType {
  return resultType(transform, isOld ? column.oldType : column.type)
}

/** How many of a file's cells are null, and which part of a column's values it holds. */
interface Habits {
  readonly windows: readonly (readonly Value[])[]
  readonly nullRates: readonly number[]
  readonly absenceRate: number
}

/** Rows of one file: all in one partition of `spec`. */
export function randomRows(
  { columns, structs, hasOldTimes }: TableShape,
  spec: Spec,
  isOld: boolean,
  count: number,
  random: Random,
): Row[] {
  const habits: Habits = {
    windows: columns.map((column) => windowOf(isOld ? column.oldPool : column.pool, random)),
    nullRates: columns.map(() => random.pick([0, 0, 0, 0.2, 0.5, 1])),
    absenceRate: random.pick([0, 0, 0.3]),
  }
  const rows: Row[] = []
  for (let i = 0; i < count; i++) {
    const first = rows.at(0)
    const isNested = spec.fields.some(({ column }) => column.parent !== undefined)
    const absent = first !== undefined && isNested ? first.absent : randomAbsence(structs, habits, random)
    const cells = columns.map((column): Cell => {
      if (isInside(column.parent, absent)) return null
      if (isOld && column.isNew) return column.initialDefault
      const candidates =
        first === undefined ? undefined : samePartition(spec, column, first, isOld, hasOldTimes)
      if (candidates !== undefined) return random.pick(candidates)
      const canBeNull = !column.required || column.type.kind === 'unknown'
      const window = habits.windows[column.index]
      return window.length === 0 || (canBeNull && random.chance(habits.nullRates[column.index]))
        ? null
        : random.pick(window)
    })
    rows.push({ cells, absent })
  }
  return rows
}

function windowOf(pool: readonly Value[], random: Random): readonly Value[] {
  if (pool.length === 0 || random.chance(0.1)) return pool
  const start = random.int(pool.length)
  return pool.slice(start, start + random.between(1, 3))
}

function randomAbsence(
  structs: readonly Struct[],
  { absenceRate }: Habits,
  random: Random,
): ReadonlySet<Struct> {
  const absent = new Set<Struct>()
  for (const struct of structs) {
    const isGone = struct.parent !== undefined && absent.has(struct.parent)
    if (isGone || (!struct.required && random.chance(absenceRate))) absent.add(struct)
  }
  return absent
}

export function isInside(parent: Struct | undefined, absent: ReadonlySet<Struct>): boolean {
  return parent !== undefined && (absent.has(parent) || isInside(parent.parent, absent))
}

/** The values that leave a row in the partition of `first`; undefined where the column does not matter to it. */
function samePartition(
  spec: Spec,
  column: Column,
  first: Row,
  isOld: boolean,
  hasOldTimes: boolean,
): Cell[] | undefined {
  const fields = spec.fields.filter((field) => field.column === column)
  if (fields.length === 0) return undefined
  const cell = first.cells[column.index]
  const all: Cell[] = [...(isOld ? column.oldPool : column.pool), ...(column.required ? [] : [null])]
  const key = (of: Cell) => fields.map((field) => keyOf(partitionValue(field, of, hasOldTimes))).join()
  const wanted = key(cell)
  return [cell, ...all.filter((other) => key(other) === wanted)]
}
