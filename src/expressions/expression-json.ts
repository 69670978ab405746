/**
 * Iceberg expression JSON, as REST planning and Java's `ExpressionParser` use it (R11.25 to R11.27). Written is the term
 * form, which every client reads; read is that and the form of the expressions spec of 2026:
 *
 *     {"type": "lt-eq", "term": "id", "value": 5}
 *     {"type": "lt-eq", "term": {"type": "transform", "transform": "bucket[16]", "term": "id"}, "value": 5}
 *     {"type": "lt-eq", "left": {"type": "reference", "name": "id"}, "right": 5}
 *     {"type": "lt-eq", "left": {"type": "apply", "function": "bucket", "arguments": [16, ...]}, "right": 5}
 */
import { InvalidArgumentError, isIcebergError } from '../errors.ts'
import { describeJson, isJsonObject, type JsonObject } from '../types/json-object.ts'
import { formatTransform, parseTransform, type Transform } from '../types/transforms/transform.ts'
import type { JsonValue } from '../types/value.ts'
import { not } from './builders.ts'
import { checkTurns, isBranch, operandsOf } from './boolean-chain.ts'
import { combineBalanced } from './combine-balanced.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type AlwaysFalse,
  type AlwaysTrue,
  type And,
  type ComparisonOperation,
  type Expression,
  type Or,
  type Predicate,
  type Term,
} from './expression.ts'
import { FLIPPED } from './flipped-comparison.ts'
import { literalToJson } from './literal-json.ts'
import { literalOf } from './literal-of.ts'
import type { Literal } from './literal.ts'
import { conjunction, disjunction } from './simplify.ts'

/**
 * The term form, with chains of AND and of OR balanced, and of a chain of NOTs one or none. Literals are JSON single
 * values, whose kind is lost: a date comes back as a string and is a date again when it is bound to a date column.
 * Integers past 2^53 are `bigint`, to be written by `formatJson`.
 *
 * @throws InvalidArgumentError if AND and OR alternate more than 500 times on one path.
 */
export function expressionToJson(expression: Expression): JsonValue {
  return writeExpression(expression, 0)
}

function writeExpression(expression: Expression, turns: number): JsonValue {
  const node = withoutDoubleNots(expression)
  if (node.op === 'not') return { type: 'not', child: writeExpression(node.child, turns) }
  return isBranch<Expression>(node) ? writeChain(node, turns) : writeLeaf(node)
}

function writeChain(chain: And | Or, turns: number): JsonValue {
  checkTurns(turns, 'write expression JSON')
  const operands = operandsOf<Expression>(chain, (operand) => {
    const node = withoutDoubleNots(operand)
    return isBranch<Expression>(node) && node.op === chain.op ? [node.left, node.right] : undefined
  })
  return combineBalanced<JsonValue>(
    operands.map((operand) => writeExpression(operand, turns + 1)),
    (left, right) => ({ type: chain.op, left, right }),
  )
}

function withoutDoubleNots(expression: Expression): Expression {
  let node = expression
  while (node.op === 'not' && node.child.op === 'not') node = node.child.child
  return node
}

function writeLeaf(expression: Predicate | AlwaysTrue | AlwaysFalse): JsonValue {
  switch (expression.op) {
    case 'true':
      return true
    case 'false':
      return false
    case 'is-null':
    case 'not-null':
    case 'is-nan':
    case 'not-nan':
      return { type: expression.op, term: termToJson(expression.term) }
    case 'in':
    case 'not-in':
      return {
        type: expression.op,
        term: termToJson(expression.term),
        values: expression.literals.map(literalToJson),
      }
    default:
      return {
        type: expression.op,
        term: termToJson(expression.term),
        value: literalToJson(expression.literal),
      }
  }
}

function termToJson({ name, transform }: Term): JsonValue {
  return transform === undefined || transform.kind === 'identity'
    ? name
    : { type: 'transform', transform: formatTransform(transform), term: name }
}

/**
 * The expression of parsed JSON, in either form. Whole numbers are longs, others doubles, and integers past 2^53 have
 * to be `bigint`, as `parseJson` gives them. AND and OR are simplified (R11.21) and their chains balanced.
 *
 * @throws InvalidArgumentError for what is no expression, a null or NaN to compare with (R11.6), a reference by id, or
 * AND and OR that alternate more than 500 times on one path.
 */
export function expressionFromJson(json: unknown): Expression {
  return readExpression(json, 0)
}

function readExpression(json: unknown, turns: number): Expression {
  let isNegated = false
  while (isJsonObject(json) && operationOf(json) === 'not') {
    json = json.child
    isNegated = !isNegated
  }
  const expression = readUnnegated(json, turns)
  return isNegated ? not(expression) : expression
}

function readUnnegated(json: unknown, turns: number): Expression {
  if (typeof json === 'boolean') return json ? ALWAYS_TRUE : ALWAYS_FALSE
  if (!isJsonObject(json)) throw refuse(`${describeJson(json)} is no expression`)
  const op = operationOf(json)
  switch (op) {
    case 'and':
    case 'or': {
      checkTurns(turns, 'read expression JSON')
      const operands = operandsOf<unknown>(json, (node) =>
        isJsonObject(node) && operationOf(node) === op ? [node.left, node.right] : undefined,
      ).map((operand) => readExpression(operand, turns + 1))
      return combineBalanced<Expression>(operands, op === 'and' ? conjunction : disjunction)
    }
    case 'literal':
      if (typeof json.value !== 'boolean')
        throw refuse(`the literal ${describeJson(json.value)} is no condition`)
      return json.value ? ALWAYS_TRUE : ALWAYS_FALSE
    case 'is-null':
    case 'not-null':
    case 'is-nan':
    case 'not-nan':
      refuseKeys(json, op, 'value', 'values')
      return { op, term: readTerm(operand(json, op)) }
    case 'in':
    case 'not-in':
      refuseKeys(json, op, 'value')
      return { op, term: readTerm(operand(json, op)), literals: readLiterals(json.values, op) }
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'not-eq':
    case 'starts-with':
    case 'not-starts-with':
      return readComparison(json, op)
    default:
      throw refuse(`${describeJson(json.type)} is no type of an expression`)
  }
}

/** The type as our operations are spelt: Java reads any case, and underscores for dashes. */
function operationOf({ type }: JsonObject): string | undefined {
  return typeof type === 'string' ? type.toLowerCase().replaceAll('_', '-') : undefined
}

/** What a predicate of one operand tests: `term`, or `child` of the new form. */
function operand(json: JsonObject, op: string): unknown {
  if ('term' in json === 'child' in json) throw refuse(`"${op}" needs either a "term" or a "child"`)
  return 'term' in json ? json.term : asOperand(json.child)
}

function readComparison(json: JsonObject, op: ComparisonOperation): Expression {
  if ('term' in json) {
    refuseKeys(json, op, 'values')
    if (!('value' in json)) throw refuse(`"${op}" needs a "value"`)
    return { op, term: readTerm(json.term), literal: readLiteral(json.value) }
  }
  const { left, right } = json
  if (left === undefined || right === undefined)
    throw refuse(`"${op}" needs a "term" and a "value", or a "left" and a "right"`)
  if (isValueExpression(left)) {
    if (isValueExpression(right))
      throw refuse(`"${op}" compares two columns, and only values can be compared with`)
    return { op, term: readTerm(left), literal: readLiteral(right) }
  }
  if (op === 'starts-with' || op === 'not-starts-with') throw refuse(`"${op}" needs a column on the left`)
  return { op: FLIPPED[op], term: readTerm(asOperand(right)), literal: readLiteral(left) }
}

/** In the new form a string is a value; what has a value for each row is an object. */
function isValueExpression(json: unknown): json is JsonObject {
  return isJsonObject(json) && ['reference', 'apply', 'transform'].includes(operationOf(json) ?? '')
}

function asOperand(json: unknown): JsonObject {
  if (isValueExpression(json)) return json
  throw refuse(`${describeJson(json)} is neither a reference nor a function of one`)
}

function readTerm(json: unknown): Term {
  if (typeof json === 'string') return { name: json }
  if (!isJsonObject(json)) throw refuse(`${describeJson(json)} is no term`)
  switch (operationOf(json)) {
    case 'reference':
      return { name: readReference(json) }
    case 'transform':
      return withTransform(json.transform, json.term)
    case 'apply':
      return readFunction(json)
    default:
      throw refuse(`${describeJson(json.type)} is no type of a term`)
  }
}

function readReference(json: JsonObject): string {
  const name = json.term ?? json.name
  if (typeof name === 'string') return name
  throw refuse(
    'id' in json
      ? `a reference by id (${describeJson(json.id)}) is not understood, write its name`
      : `a reference needs the name of a column, not ${describeJson(name)}`,
  )
}

/** A transform of a column, by its text: `bucket[16]`. */
function withTransform(text: unknown, column: unknown): Term {
  const transform = typeof text === 'string' ? transformOf(text) : undefined
  if (transform === undefined) throw refuse(`${describeJson(text)} is no transform`)
  if (!isJsonObject(column)) return readTransformed(transform, column)
  if (operationOf(column) !== 'reference')
    throw refuse('a transform takes a column, and nothing that is made of one')
  return readTransformed(transform, readReference(column))
}

function readTransformed(transform: Transform, name: unknown): Term {
  if (typeof name !== 'string') throw refuse(`${describeJson(name)} is no column`)
  return transform.kind === 'identity' ? { name } : { name, transform }
}

function transformOf(text: string): Transform | undefined {
  try {
    const transform = parseTransform(text)
    return transform.kind === 'unknown' ? undefined : transform
  } catch (error) {
    // A parameter out of range; here it is no fault of any metadata.
    if (isIcebergError(error, 'ERR_INVALID_METADATA')) return undefined
    throw error
  }
}

/** `apply`: parameters come before the column. */
function readFunction({ function: named, arguments: given }: JsonObject): Term {
  const name = functionName(named)
  const parameters: unknown[] = Array.isArray(given) ? given.slice(0, -1).map(unwrap) : []
  if (name === undefined || !Array.isArray(given) || given.length === 0 || given.length > 2)
    throw refuse('a function needs a "function" of Iceberg and its "arguments"')
  const text = parameters.length === 0 ? name : `${name}[${describeJson(parameters[0])}]`
  return withTransform(text, asOperand(given[given.length - 1]))
}

/** `"bucket"`, `["bucket"]`, `{"identifier": ["bucket"]}`, with or without the catalog of Iceberg's functions. */
function functionName(json: unknown): string | undefined {
  if (typeof json === 'string') return json
  if (Array.isArray(json)) {
    const last: unknown = json.at(-1)
    return json.length === 1 && typeof last === 'string' ? last : undefined
  }
  if (!isJsonObject(json)) return undefined
  const isOurs = json.catalog === undefined || json.catalog === 'iceberg_functions'
  return isOurs && Array.isArray(json.identifier) ? functionName(json.identifier) : undefined
}

function readLiterals(json: unknown, op: string): Literal[] {
  const values = isJsonObject(json) && operationOf(json) === 'literals' ? json.values : json
  if (Array.isArray(values)) return values.map(readLiteral)
  throw refuse(`"${op}" needs "values", which is ${describeJson(json)}`)
}

function readLiteral(json: unknown): Literal {
  const value = unwrap(json)
  switch (typeof value) {
    case 'number':
      // `literalOf` would make an int of it, which no timestamp column takes.
      return Number.isSafeInteger(value) ? { kind: 'long', value: BigInt(value) } : literalOf(value)
    case 'bigint':
      // Doubles such as 1e20 are written without an exponent, and beyond 64 bits they are no longs.
      return isLong(value) || String(Number(value)) !== value.toString()
        ? literalOf(value)
        : { kind: 'double', value: Number(value) }
    case 'boolean':
    case 'string':
      return literalOf(value)
    default:
      throw refuse(`${describeJson(value)} is no value to compare with`)
  }
}

function isLong(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

/** The value of a literal node. Its `data-type` tells nothing that binding to a column does not tell. */
function unwrap(json: unknown): unknown {
  return isJsonObject(json) && operationOf(json) === 'literal' ? json.value : json
}

function refuseKeys(json: JsonObject, op: string, ...keys: string[]): void {
  for (const key of keys) if (key in json) throw refuse(`"${op}" takes no "${key}"`)
}

function refuse(why: string): InvalidArgumentError {
  return new InvalidArgumentError(`Cannot read expression JSON: ${why}`)
}
