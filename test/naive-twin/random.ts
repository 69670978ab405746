/** Choices from a seed: the same ones on every run. */
import { seededRandom } from '../support/record-shape.ts'

export class Random {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seededRandom(seed)
  }

  /** An integer from 0 to `end` - 1. */
  int(end: number): number {
    return Math.floor(this.#next() * end)
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.int(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]
  }

  /** A signed integer of so many bits, all of them random. */
  bits(count: number): bigint {
    let value = 0n
    for (let i = 0; i < count; i += 16) value = (value << 16n) | BigInt(this.int(0x10000))
    return BigInt.asIntN(count, value)
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items]
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.int(i + 1)
      ;[result[i], result[j]] = [result[j], result[i]]
    }
    return result
  }
}
