/**
 * Residuals: what is left to evaluate on the rows of a file whose partition is known (section 6 of the planning rules).
 *
 * For the spec `day(ts)` and the filter `ts > 2017-12-01T10:00 AND id = 5`:
 *
 *     day          residual
 *     2017-11-30   false                            no row of that day is later
 *     2017-12-01   ts > 2017-12-01T10:00 AND id = 5   some rows may be
 *     2017-12-02   id = 5                           every row is later; the partition says nothing about id
 *
 * A leaf becomes `true` where its strict projection holds, and `false` where its inclusive projection does not: both are
 * exact for the leaf alone, which is why the walk goes leaf by leaf (R6.4). A value that is NaN (R6.10) or not known
 * decides no leaf. What stays is the unbound predicate, so that an engine reads column names.
 */
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import type { Schema } from '../metadata/schema.ts'
import type { Value } from '../types/value.ts'
import type { BoundExpression, BoundPredicate } from './bound-expression.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE, type Expression } from './expression.ts'
import { compilePartitionFilter, type PartitionFilter } from './partition-evaluator.ts'
import { projectLeafInclusive, projectLeafStrict } from './project-leaf.ts'
import { conjunction, disjunction } from './simplify.ts'

type Tuple = readonly (Value | null)[]
type IsKnown = (position: number) => boolean
type Residual = (tuple: Tuple, isKnown: IsKnown | undefined) => Expression

/** The residuals of one filter under one spec. */
export class ResidualEvaluator {
  /** An expression where the partition decides nothing. */
  readonly #residual: Expression | Residual

  /**
   * @param rewritten the filter without NOT: the residual of a spec without fields, as it is (R6.2)
   * @param bound the same, bound to `schema`
   */
  constructor(rewritten: Expression, bound: BoundExpression, spec: PartitionSpec, schema: Schema) {
    this.#residual = spec.fields.length === 0 ? rewritten : compileNode(bound, spec, schema)
  }

  /** The one residual of all files, if their partitions make no difference. */
  get constant(): Expression | undefined {
    return typeof this.#residual === 'function' ? undefined : this.#residual
  }

  /**
   * The residual of a file with this partition tuple; files with equal tuples have equal residuals.
   *
   * @param isKnown whether the tuple's value at a position is known; without it all are
   */
  residualFor(tuple: Tuple, isKnown?: IsKnown): Expression {
    return typeof this.#residual === 'function' ? this.#residual(tuple, isKnown) : this.#residual
  }
}

function compileNode(bound: BoundExpression, spec: PartitionSpec, schema: Schema): Expression | Residual {
  switch (bound.op) {
    case 'true':
    case 'false':
      return bound
    case 'and':
    case 'or': {
      const left = compileNode(bound.left, spec, schema)
      const right = compileNode(bound.right, spec, schema)
      const join = bound.op === 'and' ? conjunction<Expression> : disjunction<Expression>
      if (typeof left !== 'function' && typeof right !== 'function') return join(left, right)
      return (tuple, isKnown) => join(resolve(left, tuple, isKnown), resolve(right, tuple, isKnown))
    }
    default:
      return compileLeaf(bound, spec, schema)
  }
}

function resolve(node: Expression | Residual, tuple: Tuple, isKnown: IsKnown | undefined): Expression {
  return typeof node === 'function' ? node(tuple, isKnown) : node
}

function compileLeaf(leaf: BoundPredicate, spec: PartitionSpec, schema: Schema): Expression | Residual {
  const deciders = spec.fields.flatMap((field, position): Decider[] => {
    const strict = projectLeafStrict(leaf, field, position, schema)
    const inclusive = projectLeafInclusive(leaf, field, position, schema)
    if (strict.op === 'false' && inclusive.op === 'true') return []
    return [{ position, proves: compilePartitionFilter(strict), admits: compilePartitionFilter(inclusive) }]
  })
  if (deciders.length === 0) return leaf.unbound
  return (tuple, isKnown) => {
    for (const { position, proves, admits } of deciders) {
      if (Number.isNaN(tuple[position])) continue
      if (proves(tuple, isKnown) === true) return ALWAYS_TRUE
      if (admits(tuple, isKnown) === false) return ALWAYS_FALSE
    }
    return leaf.unbound
  }
}

/** What one partition field says about a leaf. */
interface Decider {
  readonly position: number
  readonly proves: PartitionFilter
  readonly admits: PartitionFilter
}
