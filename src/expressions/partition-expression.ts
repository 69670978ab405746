/**
 * Predicates on partition tuples: what a filter says about the partitions of one spec (section 3 of the planning rules).
 */
import type { Transform } from '../types/transforms/transform.ts'
import type { Type } from '../types/type.ts'
import type { Value } from '../types/value.ts'
import type {
  AlwaysFalse,
  AlwaysTrue,
  ComparisonOperation,
  SetOperation,
  UnaryOperation,
} from './expression.ts'

export interface PartitionTerm {
  /** Of the field in the spec, and so in tuples and summaries. */
  readonly position: number
  /** Of the stored value. */
  readonly fieldType: Type
  /** Applied to the stored value before it is compared; absent for the value itself (R3.6). */
  readonly transform?: Transform
  /** Of what is compared. */
  readonly type: Type
}

export type PartitionPredicate =
  | { readonly op: UnaryOperation; readonly term: PartitionTerm }
  | { readonly op: ComparisonOperation; readonly term: PartitionTerm; readonly value: Value }
  | { readonly op: SetOperation; readonly term: PartitionTerm; readonly values: readonly Value[] }

export type PartitionExpression =
  | AlwaysTrue
  | AlwaysFalse
  | { readonly op: 'and' | 'or'; readonly left: PartitionExpression; readonly right: PartitionExpression }
  | PartitionPredicate
