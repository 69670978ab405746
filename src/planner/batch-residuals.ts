/**
 * Residuals of the rows of a batch: worked out when first asked for, once per distinct partition tuple.
 */
import type { Expression } from '../expressions/expression.ts'
import type { ResidualEvaluator } from '../expressions/residual.ts'
import type { EntryBatch } from '../manifest/entry-batch.ts'

/** The residuals of the files of a spec. */
type ResidualsOf = (specId: number) => ResidualEvaluator

export class BatchResiduals {
  readonly #batch: EntryBatch
  readonly #of: ResidualsOf
  readonly #byTuple: (Expression | undefined)[] = []

  constructor(batch: EntryBatch, of: ResidualsOf) {
    this.#batch = batch
    this.#of = of
  }

  at(row: number): Expression {
    const { partitionType, missingPartitionFields: missing } = this.#batch.segmentOf(row)
    const evaluator = this.#of(partitionType.specId)
    const { constant } = evaluator
    if (constant !== undefined) return constant
    const evaluate = (): Expression =>
      evaluator.residualFor(
        this.#batch.partition(row),
        (position) => !missing.includes(partitionType.fields[position].name),
      )
    // An equal tuple from a file that lacks a field says less.
    if (missing.length > 0) return evaluate()
    return (this.#byTuple[this.#batch.partitionIndex[row]] ??= evaluate())
  }
}
