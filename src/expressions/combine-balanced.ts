/**
 * One binary tree out of many operands, in their order and as shallow as can be: a chain of 100,000 terms becomes 17
 * levels, which every recursive walk survives (B106, B126).
 */

/** `combine` over all operands, of which there is at least one. */
export function combineBalanced<T>(operands: readonly T[], combine: (left: T, right: T) => T): T {
  const combineRange = (start: number, end: number): T => {
    if (end - start === 1) return operands[start]
    const middle = Math.ceil((start + end) / 2)
    return combine(combineRange(start, middle), combineRange(middle, end))
  }
  return combineRange(0, operands.length)
}
