/**
 * Binding: a filter's names become columns of a schema, its literals values of their types (R11.13-R11.19). What the
 * schema alone decides becomes a constant: `id IS NULL` on a required column is false, and so is `id > 3000000000` on
 * an int.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { Schema, SchemaField } from '../metadata/schema.ts'
import { describeJson } from '../types/json-object.ts'
import { canTransform } from '../types/transforms/apply-transform.ts'
import { formatTransform, transformResultType, type Transform } from '../types/transforms/transform.ts'
import { formatType, isPrimitive, type Type } from '../types/type.ts'
import type { Value } from '../types/value.ts'
import { valueKey } from '../types/value-set.ts'
import type { BoundExpression, BoundTerm } from './bound-expression.ts'
import { closestNames } from './closest-names.ts'
import { convertLiteral, type BetweenValues } from './convert-literal.ts'
import { describeLiteral } from './describe-literal.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type AlwaysFalse,
  type AlwaysTrue,
  type ComparisonOperation,
  type ComparisonPredicate,
  type Expression,
  type Predicate,
  type SetPredicate,
  type Term,
  type UnaryPredicate,
} from './expression.ts'
import type { Literal } from './literal.ts'
import { rewriteNot } from './rewrite-not.ts'
import { conjunction, disjunction } from './simplify.ts'

const MAX_NAMES_SHOWN = 5

export interface BindOptions {
  /** Default true. False looks names up in lower case (R10.5). */
  readonly caseSensitive?: boolean
}

/**
 * The filter bound to `schema`, without NOT and with constants simplified away. The `unbound` of each predicate is the
 * one of `rewriteNot(expression)`: for a predicate that no NOT concerns, the very object that was given.
 *
 * @throws InvalidArgumentError in one sentence that names the column and its type: for a name the schema lacks (with the
 * closest ones), a column in a list or map, a transform the column's type does not have, a literal that is no value of
 * the type, IS NAN on other than floats, STARTS WITH on other than strings, an expression that is bound already.
 */
export function bind(expression: Expression, schema: Schema, options: BindOptions = {}): BoundExpression {
  const { caseSensitive = true } = options
  // Filters repeat their columns: each is looked up once, which matters for long chains.
  const terms = new Map<string, BoundTerm>()
  const resolve = (term: Term): BoundTerm => {
    const key = JSON.stringify([term.name, term.transform && formatTransform(term.transform)])
    let bound = terms.get(key)
    if (bound === undefined) terms.set(key, (bound = bindTerm(term, schema, caseSensitive)))
    return bound
  }
  return bindNode(rewriteNot(expression), resolve)
}

function bindNode(node: Expression, resolve: (term: Term) => BoundTerm): BoundExpression {
  switch (node.op) {
    case 'true':
    case 'false':
      return node
    case 'and':
      return conjunction(bindNode(node.left, resolve), bindNode(node.right, resolve))
    case 'or':
      return disjunction(bindNode(node.left, resolve), bindNode(node.right, resolve))
    case 'not':
      return bindNode(rewriteNot(node), resolve)
    default:
      return bindPredicate(node, resolve)
  }
}

function bindPredicate(predicate: Predicate, resolve: (term: Term) => BoundTerm): BoundExpression {
  if ('unbound' in predicate)
    throw new InvalidArgumentError(
      `Cannot bind filter: its predicate on ${describeJson(predicate.term.name)} is bound already`,
    )
  const term = resolve(predicate.term)
  switch (predicate.op) {
    case 'is-null':
    case 'not-null':
      return bindNullTest(predicate, term)
    case 'is-nan':
    case 'not-nan':
      if (term.type.kind === 'float' || term.type.kind === 'double')
        return { op: predicate.op, term, unbound: predicate }
      throw new InvalidArgumentError(
        `Cannot test ${describeTerm(term)} for NaN: only float and double columns have it`,
      )
    case 'in':
    case 'not-in':
      return bindSet(predicate, term)
    case 'starts-with':
    case 'not-starts-with':
      if (term.type.kind !== 'string')
        throw new InvalidArgumentError(
          `Cannot test ${describeTerm(term)} for a prefix: only strings have one`,
        )
      return bindComparison(predicate, term)
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'not-eq':
      return bindComparison(predicate, term)
  }
}

/** R11.1-R11.5, R11.18. */
function bindTerm(term: Term, schema: Schema, caseSensitive: boolean): BoundTerm {
  const located = schema.locateByName(term.name, caseSensitive)
  if (located === undefined) throw unknownColumn(term.name, schema)
  const { field, fullName, isOptional, isRepeated } = located
  if (isRepeated)
    throw new InvalidArgumentError(
      `Cannot filter on column ${describeJson(fullName)} (${describeType(field.type)}): it is in a list or map, so a row has many of them`,
    )
  const transform = term.transform ?? { kind: 'identity' }
  checkTransform(transform, located)
  return {
    fieldId: field.id,
    name: fullName,
    sourceType: field.type,
    transform,
    type: transformResultType(transform, field.type),
    isOptional,
  }
}

function checkTransform(transform: Transform, { field, fullName }: SchemaField): void {
  if (transform.kind === 'identity') return
  const isUseful = transform.kind !== 'void' && transform.kind !== 'unknown'
  if (isUseful && canTransform(transform, field.type)) return
  throw new InvalidArgumentError(
    `Cannot filter on column ${describeJson(fullName)} (${describeType(field.type)}): its values have no ${formatTransform(transform).slice(0, 80)}`,
  )
}

function unknownColumn(name: string, schema: Schema): InvalidArgumentError {
  const names: string[] = []
  for (const { fullName, isRepeated } of schema.allFields()) if (!isRepeated) names.push(fullName)
  if (names.length === 0)
    return new InvalidArgumentError(
      `Cannot filter on column ${describeJson(name)}: the schema has no columns`,
    )
  const closest = closestNames(name, names, MAX_NAMES_SHOWN).map(describeJson).join(', ')
  const those = names.length > MAX_NAMES_SHOWN ? 'the closest of its columns are' : 'its columns are'
  return new InvalidArgumentError(
    `Cannot filter on column ${describeJson(name)}: the schema has none of that name; ${those} ${closest}`,
  )
}

/** R11.13. */
function bindNullTest(predicate: UnaryPredicate, term: BoundTerm): BoundExpression {
  // A bucket of a required column stays a predicate, as in Java: order is what tells that no value is lost.
  if (!term.isOptional && term.transform.kind !== 'bucket') return constant(predicate.op === 'not-null')
  if (term.type.kind === 'unknown') return constant(predicate.op === 'is-null')
  return { op: predicate.op, term, unbound: predicate }
}

/** R11.10, R11.17, and R11.9 for what lies between two values. */
function bindComparison(predicate: ComparisonPredicate, term: BoundTerm): BoundExpression {
  const { op } = predicate
  const converted = convert(predicate.literal, term)
  switch (converted.kind) {
    case 'value':
      return { op, term, value: converted.value, unbound: predicate }
    case 'above-max':
      if (converted.beyond !== undefined && (op === 'gt' || op === 'gt-eq'))
        return { op: 'gt-eq', term, value: converted.beyond, unbound: predicate }
      return constant(op === 'lt' || op === 'lt-eq' || op === 'not-eq')
    case 'below-min':
      if (converted.beyond !== undefined && (op === 'lt' || op === 'lt-eq'))
        return { op: 'lt-eq', term, value: converted.beyond, unbound: predicate }
      return constant(op === 'gt' || op === 'gt-eq' || op === 'not-eq')
    case 'between': {
      const nearby = compareNearby(op, converted)
      return 'value' in nearby ? { ...nearby, term, unbound: predicate } : nearby
    }
  }
}

/**
 * The comparison that says the same of values of the type. Where others compare with the rounded literal, it is true
 * whenever theirs or the exact one is, so that no row is lost to either reading.
 */
function compareNearby(
  op: ComparisonOperation,
  { below, above, rounded }: BetweenValues,
): { readonly op: ComparisonOperation; readonly value: Value } | AlwaysTrue | AlwaysFalse {
  switch (op) {
    case 'lt':
      return { op: 'lt-eq', value: below }
    case 'lt-eq':
      return { op, value: rounded ?? below }
    case 'gt':
      return { op: 'gt-eq', value: above }
    case 'gt-eq':
      return { op, value: rounded ?? above }
    case 'eq':
      return rounded === undefined ? ALWAYS_FALSE : { op, value: rounded }
    case 'not-eq':
    case 'starts-with':
    case 'not-starts-with':
      return ALWAYS_TRUE
  }
}

/** R11.14. Elements that no value of the type equals are dropped. */
function bindSet(predicate: SetPredicate, term: BoundTerm): BoundExpression {
  const { op } = predicate
  const distinct = new Map<Value, Value>()
  for (const literal of predicate.literals) {
    const converted = convert(literal, term)
    if (converted.kind === 'value') distinct.set(valueKey(converted.value), converted.value)
    else if (converted.kind === 'between' && converted.rounded !== undefined && op === 'in')
      distinct.set(valueKey(converted.rounded), converted.rounded)
  }
  const values = [...distinct.values()]
  if (values.length === 0) return constant(op === 'not-in')
  if (values.length > 1) return { op, term, values, unbound: predicate }
  return { op: op === 'in' ? 'eq' : 'not-eq', term, value: values[0], unbound: predicate }
}

function convert(
  literal: Literal,
  term: BoundTerm,
): Exclude<ReturnType<typeof convertLiteral>, { kind: 'not-convertible' }> {
  const converted = convertLiteral(literal, term.type)
  if (converted.kind !== 'not-convertible') return converted
  throw new InvalidArgumentError(
    `Cannot compare ${describeTerm(term)} with ${describeKind(literal)} ${describeLiteral(literal)}: ${converted.reason}`,
  )
}

function describeKind(literal: Literal): string {
  return literal.kind.startsWith('timestamp') ? 'the timestamp' : `the ${literal.kind}`
}

/** `column "ts" (timestamp)` or `day of column "ts" (date)`. */
function describeTerm(term: BoundTerm): string {
  const transform = term.transform.kind === 'identity' ? '' : `${formatTransform(term.transform)} of `
  return `${transform}column ${describeJson(term.name)} (${describeType(term.type)})`
}

/** Nested types by their kind alone: their fields would fill the screen. */
function describeType(type: Type): string {
  return isPrimitive(type) ? formatType(type) : type.kind
}

function constant(value: boolean): AlwaysTrue | AlwaysFalse {
  return value ? ALWAYS_TRUE : ALWAYS_FALSE
}
