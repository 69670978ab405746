/** Random filters over all predicates and terms, whose literals lie among the values of a table or right beside. */
import type { ComparisonOperation, Expression, Predicate, Term } from '../../src/expressions/expression.ts'
import { parseTransform } from '../../src/types/transforms/transform.ts'
import { literalFor } from './literals.ts'
import type { Random } from './random.ts'
import { type Column, type Struct, structName, transformOf, type TableShape } from './rows.ts'
import {
  applyTransform,
  IDENTITY,
  resultType,
  TIME_UNITS,
  transformKindsOf,
  type TwinTransform,
} from './transforms.ts'
import { codePoints, isFloating, neighbour, randomValue, type TwinType, type Value } from './values.ts'

const COMPARISONS: readonly ComparisonOperation[] = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'eq', 'not-eq']
const SETS = ['in', 'in', 'not-in'] as const
const NULL_TESTS = ['is-null', 'not-null'] as const
const NAN_TESTS = ['is-nan', 'not-nan'] as const
const PREFIXES: readonly ComparisonOperation[] = ['starts-with', 'not-starts-with']

export interface FilterOptions {
  /** Names are written in any case. */
  readonly ignoresCase: boolean
}

export function randomFilter(
  shape: TableShape,
  random: Random,
  options: FilterOptions,
  depth = 0,
): Expression {
  const choice = random.int(100)
  if (depth < 4 && choice < [70, 45, 25, 10][depth]) {
    const left = randomFilter(shape, random, options, depth + 1)
    if (choice % 5 === 0) return { op: 'not', child: left }
    return { op: random.pick(['and', 'or']), left, right: randomFilter(shape, random, options, depth + 1) }
  }
  if (choice === 99) return { op: random.pick(['true', 'false']) }
  return randomPredicate(shape, random, options)
}

function randomPredicate(shape: TableShape, random: Random, options: FilterOptions): Predicate {
  const named = (name: string) => (options.ignoresCase ? swapCase(name, random) : name)
  if (shape.structs.length > 0 && random.chance(0.02)) {
    const struct: Struct = random.pick(shape.structs)
    return { op: random.pick(NULL_TESTS), term: { name: named(structName(struct)) } }
  }
  const column = randomColumn(shape, random)
  const transform = randomTermTransform(shape, column, random)
  const type = resultType(transform, column.type)
  const term: Term = {
    name: named(column.name),
    ...(transform === IDENTITY ? {} : { transform: parseTransform(transform.text) }),
  }
  if (type.kind === 'unknown' || random.chance(0.1)) return { op: random.pick(NULL_TESTS), term }
  if (isFloating(type.kind) && random.chance(0.15)) return { op: random.pick(NAN_TESTS), term }
  const literal = () => literalFor(type, randomLiteralValue(column, transform, type, random), random)
  if (random.chance(0.2)) {
    const size = random.chance(0.02) ? random.between(199, 202) : random.int(6)
    return { op: random.pick(SETS), term, literals: Array.from({ length: size }, literal) }
  }
  if (type.kind === 'string' && random.chance(0.5)) {
    const letters = codePoints(randomLiteralValue(column, transform, type, random) as string)
    const prefix = letters.slice(0, random.pick([1, 1, 2, 3, letters.length])).join('')
    return { op: random.pick(PREFIXES), term, literal: { kind: 'string', value: prefix } }
  }
  return { op: random.pick(COMPARISONS), term, literal: literal() }
}

/** Often one that a partition is by. */
function randomColumn(shape: TableShape, random: Random): Column {
  const columns = shape.columns.filter(({ isDropped }) => !isDropped)
  const sources = columns.filter((column) =>
    shape.specs.some(({ fields }) => fields.some((field) => field.column === column)),
  )
  return random.pick(sources.length > 0 && random.chance(0.5) ? sources : columns)
}

/** Often one that a partition has, for the two meet then. */
function randomTermTransform(shape: TableShape, { type, index }: Column, random: Random): TwinTransform {
  if (random.chance(0.7)) return IDENTITY
  // Terms are compared with the right unit, which partitions of old writers do not have.
  const isUsable = ({ kind }: TwinTransform) =>
    transformKindsOf(type.kind).includes(kind) && !(shape.hasOldTimes && TIME_UNITS.includes(kind))
  const own = shape.specs
    .flatMap(({ fields }) => fields)
    .filter((field) => field.column.index === index && isUsable(field.transform))
  const any = transformKindsOf(type.kind).map((kind) => transformOf(kind, type.kind, random))
  const usable = any.filter(isUsable)
  if (usable.length === 0) return IDENTITY
  const transform = own.length > 0 && random.chance(0.6) ? random.pick(own).transform : random.pick(usable)
  return transform.kind === 'identity' ? IDENTITY : transform
}

function randomLiteralValue(
  { pool, type: source }: Column,
  transform: TwinTransform,
  type: TwinType,
  random: Random,
): Value {
  for (;;) {
    const fromRow = pool.length > 0 && random.chance(0.9)
    const value = applyTransform(
      transform,
      source,
      fromRow ? random.pick(pool) : randomValue(source, random),
    )!
    const near = random.chance(0.3) ? neighbour(type, value, random) : value
    if (!Number.isNaN(near)) return near
  }
}

function swapCase(name: string, random: Random): string {
  return codePoints(name)
    .map((letter) => (random.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase()))
    .join('')
}
