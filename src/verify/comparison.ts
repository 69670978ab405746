/** The ledger of a verification: what was compared, and where two readers disagreed. */

export interface Difference {
  /** The manifest or manifest list, as the metadata names it. */
  location: string
  /** Zero-based ordinal of the entry or row; `undefined` for what concerns the whole file. */
  entry: number | undefined
  /** Name in `ManifestFile` or `ManifestEntry`, dotted below; partition fields as `dataFile.partition[<field id>]`. */
  field: string
  /** Both sides as short text; absent is `undefined`. */
  ours: string
  avsc: string
}

/** Differences kept in full unless told otherwise; beyond, they are counted only. */
export const DEFAULT_MAX_DIFFERENCES = 100

export class Comparison {
  manifestLists = 0
  manifests = 0
  /** Manifest entries and manifest-list rows. */
  entries = 0
  /** Pairs of values looked at, absent ones included. */
  fields = 0
  /** All differences, also those beyond the cap. */
  differenceCount = 0
  readonly differences: Difference[] = []
  readonly #maxDifferences: number

  constructor(maxDifferences = DEFAULT_MAX_DIFFERENCES) {
    this.#maxDifferences = maxDifferences
  }

  /** Counts one pair, and keeps it where the values are not the same ({@link sameValue}). */
  check(location: string, entry: number | undefined, field: string, ours: unknown, avsc: unknown): void {
    this.fields++
    if (sameValue(ours, avsc)) return
    this.differenceCount++
    if (this.differences.length >= this.#maxDifferences) return
    this.differences.push({ location, entry, field, ours: show(ours), avsc: show(avsc) })
  }
}

/**
 * Same representation and same content: `1` is not `1n`, `-0` not `0`, NaN is NaN, an empty list is not `undefined`.
 * Bytes, lists and maps go by content; the order of a map does not count.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i]))
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && sameValue(value, b.get(key)))
  }
  return Object.is(a, b)
}

const MAX_SHOWN_LENGTH = 120

function show(value: unknown): string {
  const text = format(value)
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`
}

function format(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return JSON.stringify(value)
  if (Object.is(value, -0)) return '-0'
  if (value instanceof Uint8Array)
    return `0x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`
  if (Array.isArray(value)) return `[${value.map(format).join(', ')}]`
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${format(key)}: ${format(item)}`).join(', ')}}`
  }
  return String(value)
}
