/**
 * Decimals between scales: a filter's number is written with its own digits, a column stores its own (R11.9, B122).
 *
 * Scales come from table metadata and from text, so a shift may be absurd (`1e2000000000`); no power of ten is computed
 * before its size is known, and none that is larger than the number that was written or than any column holds.
 */

/** `unscaled` x 10^-`scale`. */
export interface Decimal {
  readonly unscaled: bigint
  readonly scale: number
}

/**
 * A decimal at another scale: unscaled and exact, or the two neighbours it lies between, or a size (more than 39 digits)
 * that no column holds.
 */
export type Rescaled =
  | { readonly kind: 'exact'; readonly unscaled: bigint }
  /** `nearest` is the nearer of the two, of two equally near the one away from zero, as Java rounds doubles. */
  | { readonly kind: 'between'; readonly below: bigint; readonly above: bigint; readonly nearest: bigint }
  | { readonly kind: 'above-max' | 'below-min' }

/** A decimal type has 38, and what truncate makes of its least values one more. */
const MAX_DIGITS = 39
const TOO_LARGE = 10n ** BigInt(MAX_DIGITS)
const MAX_INT = 2 ** 31 - 1

/** Plain or with an exponent, as Java's BigDecimal reads it: `1.50`, `.5`, `+5`, `1e3`; no spaces. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,11}))?$/.exec(text)
  if (match === null) return undefined
  const fraction = match.at(3) ?? match.at(4) ?? ''
  const scale = fraction.length - Number(match.at(5) ?? '0')
  if (Math.abs(scale) > MAX_INT) return undefined
  const magnitude = BigInt((match.at(2) ?? '') + fraction)
  return { unscaled: match[1] === '-' ? -magnitude : magnitude, scale }
}

/** The decimal at `scale` digits after the point. */
export function rescale({ unscaled, scale: from }: Decimal, scale: number): Rescaled {
  if (unscaled < 0n) return mirrored(rescale({ unscaled: -unscaled, scale: from }, scale))
  if (unscaled === 0n) return { kind: 'exact', unscaled }
  const dropped = from - scale
  if (dropped <= 0) {
    if (-dropped > MAX_DIGITS) return { kind: 'above-max' }
    const whole = unscaled * 10n ** BigInt(-dropped)
    return whole < TOO_LARGE ? { kind: 'exact', unscaled: whole } : { kind: 'above-max' }
  }
  // Fewer digits than are dropped: less than a tenth of the column's unit.
  if (dropped > unscaled.toString().length) return { kind: 'between', below: 0n, above: 1n, nearest: 0n }

  const unit = 10n ** BigInt(dropped)
  const below = unscaled / unit
  if (below >= TOO_LARGE) return { kind: 'above-max' }
  const rest = unscaled - below * unit
  if (rest === 0n) return { kind: 'exact', unscaled: below }
  const above = below + 1n
  return { kind: 'between', below, above, nearest: 2n * rest < unit ? below : above }
}

function mirrored(rescaled: Rescaled): Rescaled {
  switch (rescaled.kind) {
    case 'exact':
      return { kind: 'exact', unscaled: -rescaled.unscaled }
    case 'between':
      return { kind: 'between', below: -rescaled.above, above: -rescaled.below, nearest: -rescaled.nearest }
    case 'above-max':
      return { kind: 'below-min' }
    case 'below-min':
      return { kind: 'above-max' }
  }
}
