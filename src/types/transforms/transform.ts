/**
 * Partition transforms as data: how they are written, and the type of what they produce (spec: Partition Transforms).
 *
 * | text          | result type          | text       | result type             |
 * | ------------- | -------------------- | ---------- | ----------------------- |
 * | `identity`    | the source type      | `month`    | int, months since 1970  |
 * | `bucket[N]`   | int                  | `day`      | date                    |
 * | `truncate[W]` | the source type      | `hour`     | int, hours since 1970   |
 * | `year`        | int, years since 1970| `void`     | the source type         |
 *
 * Anything else is an unknown transform: its values take part in the equality of partition tuples, and it filters
 * nothing (R3.20, B059).
 */
import { InvalidMetadataError } from '../../errors.ts'
import type { Type } from '../type.ts'

export type Transform =
  | { readonly kind: 'identity' | 'year' | 'month' | 'day' | 'hour' | 'void' }
  | { readonly kind: 'bucket'; readonly numBuckets: number }
  | { readonly kind: 'truncate'; readonly width: number }
  | { readonly kind: 'unknown'; readonly text: string }

const MAX_INT = 2 ** 31 - 1

/**
 * Reads a transform's text in any case (R14.2). The whole text must match: `bucketx[5]`, `bucket[x]` and `years` are
 * unknown transforms (B060).
 *
 * @throws InvalidMetadataError for `bucket[N]` or `truncate[W]` with 0 or more than 2^31 - 1.
 */
export function parseTransform(text: string): Transform {
  const lower = text.toLowerCase()
  switch (lower) {
    case 'identity':
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'void':
      return { kind: lower }
  }
  const match = /^(bucket|truncate)\[(\d+)\]$/.exec(lower)
  if (match === null) return { kind: 'unknown', text }
  const parameter = Number(match[2])
  if (parameter < 1 || parameter > MAX_INT)
    throw new InvalidMetadataError(
      `Cannot parse transform "${text.slice(0, 80)}": its parameter must be 1 to ${MAX_INT}`,
    )
  return match[1] === 'bucket'
    ? { kind: 'bucket', numBuckets: parameter }
    : { kind: 'truncate', width: parameter }
}

/** The text that {@link parseTransform} reads back; an unknown transform keeps its own. */
export function formatTransform(transform: Transform): string {
  switch (transform.kind) {
    case 'bucket':
      return `bucket[${transform.numBuckets}]`
    case 'truncate':
      return `truncate[${transform.width}]`
    case 'unknown':
      return transform.text
    default:
      return transform.kind
  }
}

/**
 * The type of the partition value (R14.4). A source of type `unknown`, which stands for a dropped column, leaves
 * `identity`, `truncate` and `void` unknown and the others fixed (R1.10).
 */
export function transformResultType(transform: Transform, sourceType: Type): Type {
  switch (transform.kind) {
    case 'identity':
    case 'truncate':
    case 'void':
      return sourceType
    case 'bucket':
    case 'year':
    case 'month':
    case 'hour':
      return { kind: 'int' }
    case 'day':
      return { kind: 'date' }
    case 'unknown':
      return { kind: 'unknown' }
  }
}
