/**
 * NOT is pushed down to the predicates at the door, so that nothing behind it sees one (R11.22, R11.22a).
 *
 * Evaluators answer "rows might match", and the negation of "might" is not "cannot" (B112): with NOT gone, they never
 * have to negate an answer.
 */
import { InvalidArgumentError } from '../errors.ts'
import { describeJson } from '../types/json-object.ts'
import { checkTurns, isBranch, operandsOf } from './boolean-chain.ts'
import { combineBalanced } from './combine-balanced.ts'
import {
  ALWAYS_FALSE,
  ALWAYS_TRUE,
  type And,
  type ComparisonOperation,
  type Expression,
  type Or,
  type SetOperation,
  type UnaryOperation,
} from './expression.ts'
import { conjunction, disjunction } from './simplify.ts'

const NEGATED_UNARY: Readonly<Record<UnaryOperation, UnaryOperation>> = {
  'is-null': 'not-null',
  'not-null': 'is-null',
  'is-nan': 'not-nan',
  'not-nan': 'is-nan',
}
const NEGATED_COMPARISON: Readonly<Record<ComparisonOperation, ComparisonOperation>> = {
  lt: 'gt-eq',
  'gt-eq': 'lt',
  'lt-eq': 'gt',
  gt: 'lt-eq',
  eq: 'not-eq',
  'not-eq': 'eq',
  'starts-with': 'not-starts-with',
  'not-starts-with': 'starts-with',
}
const NEGATED_SET: Readonly<Record<SetOperation, SetOperation>> = { in: 'not-in', 'not-in': 'in' }

/** A node, and whether an odd number of NOTs is around it. */
interface Negatable {
  readonly node: Expression
  readonly isNegated: boolean
}

/**
 * The expression without NOT. Constants are simplified away (R11.21), chains of AND and of OR come out balanced, in
 * their order; predicates that no NOT concerns are the same objects.
 *
 * @throws InvalidArgumentError if AND and OR alternate more than 500 times on one path, or for a node of another kind.
 */
export function rewriteNot(expression: Expression): Expression {
  return rewrite(skipNots({ node: expression, isNegated: false }), 0)
}

function rewrite(negatable: Negatable, turns: number): Expression {
  const { node, isNegated } = negatable
  if (!isBranch(node)) return rewriteLeaf(node, isNegated)
  checkTurns(turns, 'use filter')
  const op = chainOperation(node, isNegated)
  const operands = operandsOf(negatable, (next) => sidesOf(next, op)).map((operand) =>
    rewrite(operand, turns + 1),
  )
  return combineBalanced<Expression>(operands, op === 'and' ? conjunction : disjunction)
}

/** Of a node that comes to `op` by De Morgan. */
function sidesOf({ node, isNegated }: Negatable, op: 'and' | 'or'): [Negatable, Negatable] | undefined {
  if (!isBranch(node) || chainOperation(node, isNegated) !== op) return undefined
  return [skipNots({ node: node.left, isNegated }), skipNots({ node: node.right, isNegated })]
}

function skipNots({ node, isNegated }: Negatable): Negatable {
  while (node.op === 'not') {
    node = node.child
    isNegated = !isNegated
  }
  return { node, isNegated }
}

function chainOperation(node: And | Or, isNegated: boolean): 'and' | 'or' {
  if (!isNegated) return node.op
  return node.op === 'and' ? 'or' : 'and'
}

function rewriteLeaf(node: Exclude<Expression, And | Or>, isNegated: boolean): Expression {
  switch (node.op) {
    case 'true':
    case 'false':
      return (node.op === 'true') === isNegated ? ALWAYS_FALSE : ALWAYS_TRUE
    case 'is-null':
    case 'not-null':
    case 'is-nan':
    case 'not-nan':
      return isNegated ? { op: NEGATED_UNARY[node.op], term: node.term } : node
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'not-eq':
    case 'starts-with':
    case 'not-starts-with':
      return isNegated ? { op: NEGATED_COMPARISON[node.op], term: node.term, literal: node.literal } : node
    case 'in':
    case 'not-in':
      return isNegated ? { op: NEGATED_SET[node.op], term: node.term, literals: node.literals } : node
    default:
      // Aggregates and whatever else comes from outside TypeScript (R11.20).
      throw new InvalidArgumentError(
        `Cannot use filter: ${describeJson((node as { op: unknown }).op)} is no operation of a filter`,
      )
  }
}
