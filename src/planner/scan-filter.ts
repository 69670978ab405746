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
import { createPartitionSpec } from '../metadata/partition-spec.ts'
import type { SelectedSnapshot } from '../metadata/snapshot.ts'
import type { EntryFilterSource } from './entry-filter.ts'
import type { Warnings } from './warnings.ts'

/** What the filter says of the partitions of one spec. */
interface SpecFilter {
  readonly partitions: PartitionExpression
  readonly mightMatch: SummaryFilter
}

export class ScanFilter {
  readonly #rewritten: Expression
  readonly #bound: BoundExpression
  readonly #selected: SelectedSnapshot
  /** By spec id, made when first asked for: a table may have many specs, and a filter many values. */
  readonly #specs = new Map<number, SpecFilter>()
  readonly #residuals = new Map<number, ResidualEvaluator>()
  /** Fields of the manifest that is being tested: several predicates may come upon the same. */
  readonly #contradictions = new Set<number>()
  readonly #onContradiction = (position: number): void => {
    this.#contradictions.add(position)
  }
  /** Ids of the columns whose metrics the filter looks at. */
  readonly columns: readonly number[]

  /** @throws InvalidArgumentError for what cannot be bound: an unknown column, a literal of another type */
  constructor(
    filter: Expression,
    selected: SelectedSnapshot,
    { caseSensitive = true }: { caseSensitive?: boolean | undefined } = {},
  ) {
    this.#rewritten = rewriteNot(filter)
    this.#bound = bind(this.#rewritten, selected.schema, { caseSensitive })
    this.#selected = selected
    this.columns = boundColumns(this.#bound)
  }

  /** Of a spec that the table does not have, nothing. */
  #ofSpec(specId: number): SpecFilter | undefined {
    const { schema, specs } = this.#selected
    const spec = specs.get(specId)
    let filter = this.#specs.get(specId)
    if (filter === undefined && spec !== undefined) {
      const partitions = inclusiveProjection(this.#bound, spec, schema)
      filter = { partitions, mightMatch: compileSummaryFilter(partitions, spec.fields.length) }
      this.#specs.set(specId, filter)
    }
    return filter
  }

  /** Whether a manifest may hold files that match, by its row in the manifest list (section 2). */
  mightMatch(manifest: ManifestFile, warnings: Warnings): boolean {
    if (this.#bound.op === 'true') return true
    if (this.#bound.op === 'false') return false
    const filter = this.#ofSpec(manifest.partitionSpecId)
    const mightMatch = filter?.mightMatch(manifest.summaries, manifest.liveFiles(), this.#onContradiction)
    if (this.#contradictions.size > 0) this.#warnOfContradictions(manifest, warnings)
    return mightMatch ?? true
  }

  #warnOfContradictions({ manifestPath }: ManifestFile, warnings: Warnings): void {
    for (const position of this.#contradictions) {
      warnings.add(
        'a partition summary contradicts itself',
        `Manifest ${manifestPath} has files, but by its summary partition field ${position + 1} has no value, not even null; it proves nothing.`,
      )
    }
    this.#contradictions.clear()
  }

  /**
   * What is to be asked of the entries of these manifests; nothing without a filter: files without rows are planned
   * then (R4.23).
   */
  entryFilter(
    of: EntryFilterSource['of'],
    manifests: readonly ManifestFile[],
  ): EntryFilterSource | undefined {
    if (this.#rewritten.op === 'true') return undefined
    // What an inline manifest's spec is, only its header says.
    const isAnySpec = manifests.some(({ manifestLength }) => manifestLength === undefined)
    const specIds = isAnySpec
      ? [...this.#selected.specs.keys()]
      : manifests.map(({ partitionSpecId }) => partitionSpecId)
    const partitions = new Map<number, PartitionExpression>()
    for (const specId of new Set(specIds)) {
      const filter = this.#ofSpec(specId)
      if (filter !== undefined) partitions.set(specId, filter.partitions)
    }
    return { bound: this.#bound, partitions, of }
  }

  /** What is left of the filter for the files of a spec; all of it for those of an unknown one. */
  residualsOf(specId: number): ResidualEvaluator {
    let residuals = this.#residuals.get(specId)
    if (residuals === undefined) {
      const { schema, specs } = this.#selected
      const spec = specs.get(specId) ?? createPartitionSpec(specId, [])
      residuals = new ResidualEvaluator(this.#rewritten, this.#bound, spec, schema)
      this.#residuals.set(specId, residuals)
    }
    return residuals
  }
}
