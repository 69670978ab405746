/** Division of 64-bit values that rounds down, where `/` rounds towards zero: -1 divided by 1000 is -1. */

/** `divisor` is above 0. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  return value % divisor < 0n ? quotient - 1n : quotient
}

/** What {@link floorDivide} leaves: 0 to `divisor` - 1. */
export function floorRemainder(value: bigint, divisor: bigint): bigint {
  const remainder = value % divisor
  return remainder < 0n ? remainder + divisor : remainder
}
