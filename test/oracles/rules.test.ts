/**
 * Every rule of planning, from manifests to deletes (R2 to R7), is shown by a pair of an oracle, or
 * `rules-without-pair.json` says why none can show it. The table of rules and pairs is printed.
 */
import { assert } from 'chai'
import { answersOf, readOracleFile } from './answers.ts'

/** Last rule by section: the first two digits of a rule's name. */
const LAST_RULES = { 2: 20, 3: 29, 4: 27, 5: 26, 6: 14, 7: 27 }
/** Beside the numbered ones. */
const MORE_RULES = ['R2.7b']
const SHOWN_IDS = 4

describe('Rules of filtered planning', () => {
  const rules = [
    ...Object.entries(LAST_RULES).flatMap(([section, last]) =>
      Array.from({ length: last }, (_, i) => `R${section}.${i + 1}`),
    ),
    ...MORE_RULES,
  ]
  const reasons = readOracleFile('rules-without-pair.json') as Readonly<Record<string, string>>
  const pairs = new Map<string, string[]>()
  for (const oracle of ['java', 'pyiceberg'] as const)
    for (const table of answersOf(oracle))
      for (const pair of table.pairs)
        for (const rule of pair.rules) pairs.set(rule, [...(pairs.get(rule) ?? []), `${oracle} ${pair.id}`])

  for (const rule of rules)
    it(`${rule}: ${String(pairs.get(rule)?.length ?? 0)} pairs`, () => {
      const shown = pairs.has(rule)
      assert.notEqual(
        shown,
        rule in reasons,
        `${rule} has ${shown ? 'pairs and a reason for none' : 'neither'}`,
      )
    })

  it('are the ones that reasons are given for', () => {
    assert.includeMembers(rules, Object.keys(reasons))
  })

  after(() => {
    const named = [...new Set([...rules, ...pairs.keys()])].sort(byNumber)
    for (const rule of named) {
      const ids = pairs.get(rule) ?? []
      const some = ids.length > SHOWN_IDS ? [...ids.slice(0, SHOWN_IDS), '...'] : ids
      const shown = ids.length === 0 ? reasons[rule] : some.join(', ')
      console.log(`      ${rule.padEnd(9)}${String(ids.length).padStart(4)}  ${shown}`)
    }
  })
})

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
