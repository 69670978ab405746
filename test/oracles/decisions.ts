/**
 * Where iceplan plans something else than an oracle on purpose: `fixtures/oracles/decisions.json`, by oracle and rule,
 * with the reason and the part of each pair's difference that the rule accounts for. The parts of a pair make up its
 * whole difference, so an entry that is no longer true fails like a difference that has none.
 */
import type { JsonValue } from '../../src/types/value.ts'
import { readOracleFile } from './answers.ts'
import type { Difference } from './difference.ts'

/** `pyiceberg-on-java` decides only what we plan and PyIceberg leaves out, beyond what `java` accounts for. */
export type DecidedOracle = 'java' | 'pyiceberg' | 'pyiceberg-on-java'

export interface Decision {
  /** Of the planning rules. */
  readonly rule: string
  readonly why: string
  readonly pairs: Readonly<Record<string, Difference>>
}

export const DECISIONS = readOracleFile('decisions.json') as unknown as Readonly<
  Record<DecidedOracle, readonly Decision[]>
>

/** All that is decided about a pair, and the rules by which it is. */
export interface Decided {
  readonly rules: readonly string[]
  readonly difference: Difference
}

/** By pair id. @throws RangeError if two decisions account for the same part */
export function decidedBy(oracle: DecidedOracle): ReadonlyMap<string, Decided> {
  const decided = new Map<string, { rules: string[]; difference: Record<string, JsonValue> }>()
  for (const { rule, pairs } of DECISIONS[oracle])
    for (const [id, part] of Object.entries(pairs)) {
      const all = decided.get(id) ?? { rules: [], difference: {} }
      if (!all.rules.includes(rule)) all.rules.push(rule)
      for (const [key, value] of Object.entries(part) as [string, JsonValue][])
        all.difference[key] = joined(all.difference[key], value, `${key} of ${id}`)
      decided.set(id, all)
    }
  return decided
}

function joined(before: JsonValue | undefined, part: JsonValue, where: string): JsonValue {
  if (before === undefined) return part
  if (Array.isArray(before) && Array.isArray(part)) {
    const both = [...(before as string[]), ...(part as string[])].sort()
    if (new Set(both).size === both.length) return both
  } else if (isRecord(before) && isRecord(part)) {
    const both = { ...before, ...part }
    if (Object.keys(both).length === Object.keys(before).length + Object.keys(part).length) return both
  }
  throw new RangeError(`Cannot join decisions: two account for the same ${where}`)
}

function isRecord(value: JsonValue): value is Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
