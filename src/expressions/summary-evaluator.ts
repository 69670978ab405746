/**
 * Whether a manifest might hold a file of a partition that satisfies a filter, by the summaries in its row of the
 * manifest list (section 2 of the planning rules). A summary speaks of the entries' partition values, deleted entries
 * included: is there a null, is there a NaN, and bounds of the rest, which are absent when there is no rest.
 *
 * | predicate                         | cannot match when                                                           |
 * | --------------------------------- | --------------------------------------------------------------------------- |
 * | is null                           | no null                                                                     |
 * | not null                          | a null and no bounds, and certainly no NaN                                  |
 * | is nan                            | certainly no NaN                                                            |
 * | not nan                           | a NaN, no null and no bounds                                                |
 * | comparisons, `=`, in, starts with | no bounds; or the bounds say so (`bound-test.ts`)                           |
 * | `!=`, not in, not starts with     | no null, certainly no NaN, and the bounds say so                            |
 *
 * Nothing is proven by a manifest without summaries, not even by a filter that is false (R2.2), by summaries that are not
 * as many as the spec has fields, for nobody knows which field is missing, by an upper bound that stands alone (R2.8), and
 * by a summary that says there is no value of any kind in a manifest with files (R2.7b). NaN is a value of floats only.
 */
import { compileBoundTest, isFloating, type Comparison } from './bound-test.ts'
import type { BoundBytes } from './bound-order.ts'
import { compileTree, type Test } from './compile-tree.ts'
import type { PartitionExpression, PartitionPredicate, PartitionTerm } from './partition-expression.ts'

/** What is known about the values of one partition field in a manifest. */
export interface SummaryFacts {
  readonly containsNull: boolean
  /** `undefined`: not known. */
  readonly containsNan: boolean | undefined
  /** Single-value bytes. */
  readonly lowerBound: Uint8Array | undefined
  readonly upperBound: Uint8Array | undefined
}

/** The summaries of a manifest, which may be made when they are asked for: an array will do. */
export interface SummaryList {
  readonly length: number
  at(position: number): SummaryFacts | undefined
}

/**
 * True: a file might match. False: none can.
 *
 * @param summaries in the order of the spec's fields; `undefined` when the manifest has none
 * @param liveFiles added plus existing files; `undefined` when either is not known
 * @param onContradiction told the position of a summary that contradicts itself, if a predicate came upon it; the
 *   manifest is kept as far as that field goes, and the caller may want to warn
 */
export type SummaryFilter = (
  summaries: SummaryList | undefined,
  liveFiles: number | undefined,
  onContradiction?: (position: number) => void,
) => boolean

/**
 * Compiles the projection of a filter to one spec, to be asked for many manifests of the spec.
 *
 * @param fieldCount number of the spec's fields
 */
export function compileSummaryFilter(expression: PartitionExpression, fieldCount: number): SummaryFilter {
  const facts = new ManifestFacts()
  const test = compileTree<PartitionExpression, ManifestFacts>(expression, (leaf) =>
    compileLeaf(leaf as PartitionPredicate),
  )
  return (summaries, liveFiles, onContradiction) => {
    if (summaries?.length !== fieldCount) return true
    facts.summaries = summaries
    facts.isEmpty = liveFiles === 0
    facts.onContradiction = onContradiction
    return test(facts)
  }
}

/** Of the manifest that is being tested: one object for all of them. */
class ManifestFacts {
  summaries: SummaryList = []
  isEmpty = false
  onContradiction: ((position: number) => void) | undefined
}

type SummaryTest = (summary: SummaryFacts) => boolean

function compileLeaf(predicate: PartitionPredicate): Test<ManifestFacts> {
  const { position, fieldType, transform } = predicate.term
  // Nothing is known of what they yield.
  if (transform?.kind === 'void' || transform?.kind === 'unknown') return () => true
  const test = compileSummaryTest(predicate)
  const floating = isFloating(fieldType)
  return ({ summaries, isEmpty, onContradiction }) => {
    const summary = summaries.at(position)
    // There are as many as the spec has fields.
    if (summary === undefined) return true
    if (!isEmpty && contradictsItself(summary, floating)) {
      onContradiction?.(position)
      return true
    }
    return test(summary)
  }
}

/** No null, no NaN that is known, and no other value: but the manifest has files. */
function contradictsItself(summary: SummaryFacts, floating: boolean): boolean {
  return hasNoBounds(summary) && !summary.containsNull && !(floating && summary.containsNan === true)
}

function compileSummaryTest(predicate: PartitionPredicate): SummaryTest {
  const { term } = predicate
  const floating = isFloating(term.fieldType)
  switch (predicate.op) {
    case 'is-null':
      return ({ containsNull }) => containsNull
    case 'not-null':
      return (summary) =>
        !(summary.containsNull && hasNoBounds(summary) && (!floating || summary.containsNan === false))
    case 'is-nan':
      return ({ containsNan }) => containsNan !== false
    case 'not-nan':
      return (summary) => !(summary.containsNan === true && !summary.containsNull && hasNoBounds(summary))
    case 'not-eq':
    case 'not-in':
    case 'not-starts-with': {
      const test = compileBounds(term, predicate)
      return (summary) => summary.containsNull || (floating && summary.containsNan !== false) || test(summary)
    }
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'in':
    case 'starts-with': {
      const test = compileBounds(term, predicate)
      return (summary) => !hasNoBounds(summary) && test(summary)
    }
  }
}

function compileBounds({ fieldType, transform, type }: PartitionTerm, comparison: Comparison): SummaryTest {
  const test = compileBoundTest(fieldType, transform ?? { kind: 'identity' }, type, comparison)
  const lower: Mutable<BoundBytes> = { bytes: NO_BYTES, offset: 0, length: 0 }
  const upper: Mutable<BoundBytes> = { bytes: NO_BYTES, offset: 0, length: 0 }
  return ({ lowerBound, upperBound }) => {
    // No writer leaves out the lower bound only, so the upper one is not to be trusted either (R2.8).
    if (lowerBound === undefined) return true
    pointAt(lower, lowerBound)
    if (upperBound === undefined) return test(lower, undefined)
    pointAt(upper, upperBound)
    return test(lower, upper)
  }
}

function hasNoBounds({ lowerBound, upperBound }: SummaryFacts): boolean {
  return lowerBound === undefined && upperBound === undefined
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const NO_BYTES = new Uint8Array(0)

function pointAt(slot: Mutable<BoundBytes>, bytes: Uint8Array): void {
  slot.bytes = bytes
  slot.length = bytes.length
}
