/**
 * Literals of an unbound predicate: a value with the kind it was written as. The kind decides what the literal can be
 * converted to when the column is known (R11.7, R11.8).
 */

export type Literal =
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** 32 bits, signed. */
  | { readonly kind: 'int'; readonly value: number }
  /** 64 bits, signed. */
  | { readonly kind: 'long'; readonly value: bigint }
  /** Never NaN (R11.6); infinities are allowed. */
  | { readonly kind: 'float' | 'double'; readonly value: number }
  /** `value` is unscaled: 1.50 is 150n with scale 2. */
  | { readonly kind: 'decimal'; readonly value: bigint; readonly scale: number }
  /** Days since 1970-01-01. */
  | { readonly kind: 'date'; readonly value: number }
  /** Microseconds since midnight. */
  | { readonly kind: 'time'; readonly value: bigint }
  /** Micro- or nanoseconds since 1970-01-01T00:00 (UTC where zoned). */
  | {
      readonly kind: 'timestamp' | 'timestamptz' | 'timestamp_ns' | 'timestamptz_ns'
      readonly value: bigint
    }
  | { readonly kind: 'string'; readonly value: string }
  /** Lower case with dashes. */
  | { readonly kind: 'uuid'; readonly value: string }
  | { readonly kind: 'fixed' | 'binary'; readonly value: Uint8Array }
