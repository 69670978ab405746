/**
 * Decimals between scales: a filter's number is written with its own digits, a column stores its own (R11.9, B122).
 *
 * Scales come from table metadata and from text, so a shift may be absurd (`1e2000000000`); no power of ten is computed
 * before its size is known.
 */

/** `unscaled` x 10^-`scale`. */
export interface Decimal {
  readonly unscaled: bigint
  readonly scale: number
}

/**
 * A decimal at another scale: unscaled and exact, or the two neighbours it lies between, or a size (more than ten
 * thousand digits) that no column holds.
 */
export type Rescaled =
  | { readonly kind: 'exact'; readonly unscaled: bigint }
  | { readonly kind: 'between'; readonly below: bigint; readonly above: bigint }
  | { readonly kind: 'above-max' | 'below-min' }

const MAX_SHIFT = 10_000
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
  if (unscaled === 0n || from === scale) return { kind: 'exact', unscaled }
  const dropped = from - scale
  if (dropped < -MAX_SHIFT) return { kind: unscaled > 0n ? 'above-max' : 'below-min' }
  if (dropped < 0) return { kind: 'exact', unscaled: unscaled * 10n ** BigInt(-dropped) }
  // Fewer digits than are dropped: less than one unit of the column.
  if (dropped > digitsOf(unscaled))
    return unscaled > 0n
      ? { kind: 'between', below: 0n, above: 1n }
      : { kind: 'between', below: -1n, above: 0n }

  const unit = 10n ** BigInt(dropped)
  const quotient = unscaled / unit
  if (quotient * unit === unscaled) return { kind: 'exact', unscaled: quotient }
  const below = unscaled < 0n ? quotient - 1n : quotient
  return { kind: 'between', below, above: below + 1n }
}

/** Like {@link rescale}, but rounded half away from zero, as Java does with floats and doubles. */
export function rescaleHalfUp(
  decimal: Decimal,
  scale: number,
): Exclude<Rescaled, { readonly kind: 'between' }> {
  const finer = rescale(decimal, scale + 1)
  const isNegative = decimal.unscaled < 0n
  let tenths: bigint
  if (finer.kind === 'exact') tenths = finer.unscaled
  else if (finer.kind === 'between') tenths = isNegative ? finer.above : finer.below
  else return finer
  return { kind: 'exact', unscaled: (tenths + (isNegative ? -5n : 5n)) / 10n }
}

function digitsOf(value: bigint): number {
  return value.toString().length - (value < 0n ? 1 : 0)
}
