/**
 * The filter of one plan, bound to the schema of the snapshot and projected to each partition spec: what manifests,
 * entries and tasks are asked with.
 */
import { bind } from '../expressions/bind.ts'
import { boundColumns } from '../expressions/bound-columns.ts'
import type { BoundExpression } from '../expressions/bound-expression.ts'
import type { Expression } from '../expressions/expression.ts'
import type { PartitionExpression } from '../expressions/partition-expression.ts'
import { inclusiveProjection } from '../expressions/project.ts'
import { ResidualEvaluator } from '../expressions/residual.ts'
import { rewriteNot } from '../expressions/rewrite-not.ts'
import { compileSummaryFilter, type SummaryFilter } from '../expressions/summary-evaluator.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { SelectedSnapshot } from '../metadata/snapshot.ts'
import type { EntryFilterSource } from './entry-filter.ts'
import type { Warnings } from './warnings.ts'

export class ScanFilter {
  readonly #rewritten: Expression
  readonly #bound: BoundExpression
  readonly #partitions: ReadonlyMap<number, PartitionExpression>
  readonly #summaries: ReadonlyMap<number, SummaryFilter>
  readonly #residuals: ReadonlyMap<number, ResidualEvaluator>
  /** Ids of the columns whose metrics the filter looks at. */
  readonly columns: readonly number[]

  /** @throws InvalidArgumentError for what cannot be bound: an unknown column, a literal of another type */
  constructor(
    filter: Expression,
    { schema, specs }: SelectedSnapshot,
    { caseSensitive = true }: { caseSensitive?: boolean | undefined } = {},
  ) {
    const rewritten = rewriteNot(filter)
    this.#rewritten = rewritten
    this.#bound = bind(rewritten, schema, { caseSensitive })
    this.columns = boundColumns(this.#bound)
    const of = <T>(make: (specId: number) => T): Map<number, T> =>
      new Map([...specs.keys()].map((specId) => [specId, make(specId)]))
    const partitions = of((specId) => inclusiveProjection(this.#bound, specs.get(specId)!, schema))
    this.#partitions = partitions
    this.#summaries = of((specId) => compileSummaryFilter(partitions.get(specId)!))
    this.#residuals = of(
      (specId) => new ResidualEvaluator(rewritten, this.#bound, specs.get(specId)!, schema),
    )
  }

  /** Whether a manifest may hold files that match, by its row in the manifest list (section 2). */
  mightMatch(manifest: ManifestFile, warnings: Warnings): boolean {
    if (this.#bound.op === 'true') return true
    if (this.#bound.op === 'false') return false
    const filter = this.#summaries.get(manifest.partitionSpecId)
    // Several predicates may come upon the same field.
    const contradictions = new Set<number>()
    const mightMatch = filter?.(manifest.partitions, manifest.liveFiles(), (position) => {
      contradictions.add(position)
    })
    for (const position of contradictions) {
      warnings.add(
        'a partition summary contradicts itself',
        `Manifest ${manifest.manifestPath} has files, but its summary of partition field ${position + 1} says that there is no value, null or NaN; it proves nothing.`,
      )
    }
    return mightMatch ?? true
  }

  /** What is to be asked of entries; nothing without a filter: files without rows are planned then (R4.23). */
  entryFilter(of: EntryFilterSource['of']): EntryFilterSource | undefined {
    return this.#rewritten.op === 'true'
      ? undefined
      : { bound: this.#bound, partitions: this.#partitions, of }
  }

  /** The residuals of the files of a spec. */
  residualsOf(specId: number): ResidualEvaluator | undefined {
    return this.#residuals.get(specId)
  }
}
