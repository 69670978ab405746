/**
 * Integers as floating-point numbers, and doubles as floats. Beyond 2^24 (float) and 2^53 (double) not every integer is
 * one, and few doubles are floats; what lies between two of them must say between which (R11.10).
 */

/** What is no number of the width: its neighbours, and the nearer one (of two equally near, the even). */
export interface BetweenFloats {
  readonly below: number
  readonly above: number
  readonly nearest: number
}

/** The number equal to `value`, else where it lies. `value` lies within the finite numbers of the width. */
export function nearestFloat(value: bigint, width: 'float' | 'double'): number | BetweenFloats {
  if (value < 0n) {
    const mirrored = nearestFloat(-value, width)
    if (typeof mirrored === 'number') return -mirrored
    return { below: -mirrored.above, above: -mirrored.below, nearest: -mirrored.nearest }
  }
  const rounded = width === 'float' ? Math.fround(Number(value)) : Number(value)
  if (BigInt(rounded) === value) return rounded
  const below = BigInt(rounded) < value ? rounded : neighbour(rounded, width, -1)
  const above = neighbour(below, width, 1)
  const middle = BigInt(below) + BigInt(above)
  const isLower = 2n * value < middle || (2n * value === middle && isEven(below, width))
  return { below, above, nearest: isLower ? below : above }
}

/** The float equal to a double, else where it lies. `value` lies within the finite floats. */
export function floatOfDouble(value: number): number | BetweenFloats {
  const nearest = Math.fround(value)
  if (nearest === value) return nearest
  if (value < 0) {
    const { below, above, nearest } = floatOfDouble(-value) as BetweenFloats
    return { below: -above, above: -below, nearest: -nearest }
  }
  return nearest < value
    ? { below: nearest, above: neighbour(nearest, 'float', 1), nearest }
    : { below: neighbour(nearest, 'float', -1), above: nearest, nearest }
}

const CELL = new DataView(new ArrayBuffer(8))

/** The next number up or down from a positive one, or up from zero: its bits count. */
function neighbour(value: number, width: 'float' | 'double', step: 1 | -1): number {
  if (width === 'float') {
    CELL.setFloat32(0, value)
    CELL.setInt32(0, CELL.getInt32(0) + step)
    return CELL.getFloat32(0)
  }
  CELL.setFloat64(0, value)
  CELL.setBigInt64(0, CELL.getBigInt64(0) + BigInt(step))
  return CELL.getFloat64(0)
}

function isEven(value: number, width: 'float' | 'double'): boolean {
  if (width === 'float') CELL.setFloat32(0, value)
  else CELL.setFloat64(0, value)
  return (CELL.getUint8(width === 'float' ? 3 : 7) & 1) === 0
}
