/**
 * Filtered plans against Java's and PyIceberg's, pair by pair: files, deletes, counters, and residuals by their meaning.
 * Where ours is another plan, `decisions.json` says exactly how and why; no file that holds a matching row is missing.
 */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { expressionFromJson } from '../../src/expressions/expression-json.ts'
import { formatJson } from '../../src/metadata/lossless-json.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import type { Table } from '../../src/planner/table.ts'
import type { JsonValue } from '../../src/types/value.ts'
import { namesOf } from '../planner/planning.ts'
import {
  type Answer,
  type AnsweredTable,
  answersOf,
  fileName,
  type Pair,
  pyicebergOnJava,
} from './answers.ts'
import { type Decided, decidedBy, DECISIONS } from './decisions.ts'
import { type Difference, differenceOf, hasSameMeaning } from './difference.ts'
import { loadAnswered, type OurPlan, planPair } from './our-plan.ts'

for (const oracle of ['java', 'pyiceberg'] as const) {
  const decisions = decidedBy(oracle)
  const looser = oracle === 'java' ? decidedBy('pyiceberg-on-java') : new Map<string, Decided>()
  const others = oracle === 'java' ? pyicebergOnJava() : {}
  const tables = answersOf(oracle)

  describe(`${oracle === 'java' ? 'Java' : 'PyIceberg'}'s filtered plans`, () => {
    for (const answered of tables)
      describe(answered.folder, () => {
        let table: Table

        before(async () => {
          table = await loadAnswered(answered)
        })

        for (const pair of answered.pairs) {
          const decided = decisions.get(pair.id)
          const exceptFor = decided === undefined ? '' : `, but for ${decided.rules.join(' and ')}`
          it(`${pair.id} (${pair.rules.join(', ')}): ${pair.reason}${exceptFor}`, async () => {
            const plan = await planPair(table, pair)
            const expected = decided?.difference ?? {}
            if (isIcebergError(plan)) {
              const difference = pair.error === undefined ? { refused: plan.code } : {}
              assertSame(difference, expected, plan.message)
              // Tables of deletes are refused for what is in them, all else for the filter.
              if (pair.error !== undefined && !answered.folder.includes('/deletes_'))
                assert.equal(plan.code, 'ERR_INVALID_ARGUMENT', plan.message)
              if (pair.rowFilterText !== undefined) {
                const byText = await planPair(table, pair, pair.rowFilterText)
                assert.isTrue(isIcebergError(byText), pair.rowFilterText)
              }
              return
            }
            const difference = differenceOf(answered, pair, plan, oracle === 'java')
            const byText = await differenceByText(answered, table, plan, pair)
            assertSame({ ...difference, ...byText }, expected)
            assertResiduals(plan, pair)
            assertKept(answered, plan, pair)
            const other = others[pair.id]
            if (other !== undefined) {
              const rest = moreThan(answered, plan, other, difference)
              assertSame(rest, looser.get(pair.id)?.difference ?? {}, 'looser than PyIceberg')
            }
          })
        }
      })

    it('are of pairs whose ids are unique', () => {
      const ids = tables.flatMap(({ pairs }) => pairs.map(({ id }) => id))
      assert.lengthOf(new Set(ids), ids.length)
    })

    if (oracle === 'java')
      it('are of pairs that PyIceberg has been asked too', () => {
        const ids = tables.flatMap(({ pairs }) => pairs.map(({ id }) => id))
        assert.sameMembers(Object.keys(others), ids)
      })

    it('have every pair that a decision names', () => {
      const ids = tables.flatMap(({ pairs }) => pairs.map(({ id }) => id))
      for (const id of [...decisions.keys(), ...looser.keys()]) assert.include(ids, id)
    })
  })
}

describe('Decisions against the oracles', () => {
  for (const [oracle, decisions] of Object.entries(DECISIONS))
    for (const { rule, why, pairs } of decisions)
      it(`${oracle}, ${rule}: ${why}`, () => {
        assert.match(rule, /^R\d+\.\d+[a-z]?$/)
        assert.match(why, /^\S.{20,}\.$/)
        assert.isNotEmpty(pairs)
      })
})

function assertSame(actual: Difference, expected: Difference, message?: string): void {
  assert.equal(textOf(actual), textOf(expected), message)
}

/** With keys in order. */
function textOf(value: object): string {
  return formatJson(sorted(value as JsonValue), 1)
}

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as JsonValue[]).map(sorted)
  const entries = Object.entries(value as Record<string, JsonValue>)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]),
  )
}

/** What is left of the filter says the same of every row of the partition. */
function assertResiduals(plan: OurPlan, { filter, caseSensitive }: Pair): void {
  const whole = expressionFromJson(filter)
  for (const task of plan.tasks) {
    const isSame = hasSameMeaning(plan, task, task.residual, whole, caseSensitive)
    assert.isTrue(isSame, `residual of ${task.dataFile.filePath}`)
  }
}

function assertKept(answered: AnsweredTable, plan: OurPlan, { mustKeep = [] }: Pair): void {
  const planned = new Set(plan.tasks.map(({ dataFile }) => dataFile.filePath))
  const missing = mustKeep.filter((path) => !planned.has(path))
  assert.deepEqual(
    missing.map((path) => fileName(answered, path)),
    [],
    'files with matching rows',
  )
}

/** The text of the filter has the plan of its JSON, but for files that it plans besides. */
async function differenceByText(
  answered: AnsweredTable,
  table: Table,
  plan: OurPlan,
  pair: Pair,
): Promise<Difference> {
  if (pair.rowFilterText === undefined) return {}
  const byText = await planPair(table, pair, pair.rowFilterText)
  if (isIcebergError(byText)) throw byText
  const byJson = new Map(plan.tasks.map((task) => [task.dataFile.filePath, task]))
  const more: string[] = []
  const shared: FileScanTask[] = []
  for (const task of byText.tasks) {
    const same = byJson.get(task.dataFile.filePath)
    if (same === undefined) more.push(fileName(answered, task.dataFile.filePath))
    else {
      shared.push(task)
      const isSame = hasSameMeaning(plan, task, task.residual, same.residual, pair.caseSensitive)
      assert.isTrue(isSame, `residual of ${task.dataFile.filePath} for ${pair.rowFilterText}`)
    }
  }
  assert.deepEqual(shared.map(namesOf), plan.tasks.map(namesOf), pair.rowFilterText)
  return more.length === 0 ? {} : { moreByText: more.sort() }
}

/** The files that we plan and the other oracle does not, without those that we plan and Java does not. */
function moreThan(
  answered: AnsweredTable,
  { tasks }: OurPlan,
  { files, dataFiles = files?.map(({ path }) => path) }: Answer,
  { more: decided = [] }: Difference,
): Difference {
  if (dataFiles === undefined) return {}
  const kept = new Set([...dataFiles.map((path) => fileName(answered, path)), ...decided])
  const names = tasks.map(({ dataFile }) => fileName(answered, dataFile.filePath))
  const more = names.filter((name) => !kept.has(name)).sort()
  return more.length === 0 ? {} : { more }
}
