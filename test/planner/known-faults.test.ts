/**
 * Faults of other planners that concern filters, by their ids, as whole plans: each with the least input that shows it.
 * Those of a single rule stand, with their ids too, in the tests of that rule.
 */
import { assert } from 'chai'
import { equal, isIn } from '../../src/expressions/builders.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import { daysOf, microsOf } from '../support/instants.ts'
import { rejection } from '../support/rejection.ts'
import {
  type BuiltTable,
  buildTable,
  type DataFileInput,
  type ManifestInput,
  type SchemaInput,
  singleValueBytes,
  type TableInput,
} from '../support/table-writer.ts'
import { allOf, freshPlanner, loadBuilt, namesOf, pathsOf, planBuilt } from './planning.ts'

const column = (name: string, type: string): SchemaInput => ({
  fields: [{ id: 1, name, required: false, type }],
})
const identity = { fields: [{ sourceId: 1, name: 'p', transform: 'identity' }] }

/** A manifest with these files, by path. */
const manifest = (
  files: Record<string, DataFileInput>,
  more: Partial<ManifestInput> = {},
): ManifestInput => ({
  entries: Object.entries(files).map(([filePath, file]) => ({ dataFile: { filePath, ...file } })),
  ...more,
})

function tableOf(
  type: string,
  manifests: readonly ManifestInput[],
  input: Partial<TableInput> = {},
): BuiltTable {
  return buildTable({ schema: column('x', type), snapshots: [{ manifests }], ...input })
}

async function pathsLeft(built: BuiltTable, filter: Filter): Promise<string[]> {
  return pathsOf((await planBuilt(built, { filter })).tasks)
}

/** Bounds of column 1. */
const bounds = (type: string, lower: unknown, upper: unknown): DataFileInput => ({
  recordCount: 10,
  lowerBounds: { 1: singleValueBytes(type, lower) },
  upperBounds: { 1: singleValueBytes(type, upper) },
})

/** In the time zone of a place, as if the process had been started there. */
async function inZone<T>(zone: string, run: () => Promise<T>): Promise<T> {
  const before = process.env.TZ
  process.env.TZ = zone
  try {
    return await run()
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
}

describe('known faults that concern filters', () => {
  describe('time zones', () => {
    const lastDay = tableOf(
      'timestamptz',
      [manifest({ 'of 2025-12-31': { partition: [daysOf('2025-12-31')] } })],
      {
        specs: [{ fields: [{ sourceId: 1, name: 'p', transform: 'day' }] }],
      },
    )
    // From half past two in summer time to half past two in winter time.
    const night = ['2025-10-26T00:30:00.000000', '2025-10-26T01:30:00.000000'].map(microsOf)
    const october = tableOf('timestamptz', [manifest({ night: bounds('timestamptz', night[0], night[1]) })])
    const rows: [table: BuiltTable, filter: string, isKept: boolean, why: string][] = [
      [lastDay, "x >= '2026-01-01T00:00:00+03:00'", true, 'B064: from 21:00 UTC of the day before'],
      [lastDay, "x >= '2026-01-01T00:00:00-03:00'", false, 'B064: from 03:00 UTC of the day after'],
      [october, "x = '2025-10-26T02:45:00+02:00'", true, 'B065: a quarter past the lower bound'],
      [october, "x = '2025-10-26T02:15:00+01:00'", true, 'B065: a quarter before the upper one'],
      [october, "x < '2025-10-26T02:31:00+02:00'", true, 'B065: a minute past the lower bound'],
      [october, "x > '2025-10-26T02:31:00+01:00'", false, 'B065: a minute past the upper one'],
      [october, "x < '2025-10-26T02:29:00+02:00'", false, 'B065: a minute before the lower one'],
    ]
    for (const zone of ['UTC', 'Asia/Tokyo', 'Europe/Berlin', 'America/New_York'])
      for (const [table, filter, isKept, why] of rows)
        it(`${why}: ${isKept ? 'kept' : 'dropped'} in ${zone}`, async () => {
          assert.lengthOf(await inZone(zone, () => pathsLeft(table, filter)), isKept ? 1 : 0)
        })
  })

  describe('terms that are no columns', () => {
    const built = tableOf('string', [manifest({ file: bounds('string', 'apple', 'pear') })])
    const refused = [
      'length(x) = 5',
      "lower(x) = 'zebra'",
      "x || 'a' = 'zebra'",
      'x + 1 = 7',
      "CAST(x AS timestamp) = TIMESTAMP '2020-06-14T00:00:00'",
      "x LIKE '%zebra'",
      "x LIKE 'zebr_'",
    ]
    for (const filter of refused)
      it(`B067, B107: ${filter} is refused, not compared with bounds of x`, async () => {
        assert.equal((await rejection(planBuilt(built, { filter }))).code, 'ERR_INVALID_ARGUMENT')
      })

    const kept: [filter: string, why: string][] = [
      ['bucket(16, x) = 15', 'buckets are not in the order of x'],
      ["x NOT LIKE 'zebra%'", 'and other text is what is asked for'],
    ]
    for (const [filter, why] of kept)
      it(`B107: ${filter} keeps the file: ${why}`, async () => {
        assert.deepEqual(await pathsLeft(built, filter), ['file'])
      })
  })

  describe('partitions', () => {
    it('B083: files outside a wrong summary are found without a filter, and where the summary does not decide', async () => {
      const [a, b] = ['aa', 'bb'].map((digits) => Buffer.from(digits, 'hex'))
      const wrong = { containsNull: false, containsNan: false, lowerBound: b, upperBound: b }
      const files = { a: { partition: [a] }, b: { partition: [b] } }
      const built = tableOf('binary', [manifest(files, { row: { partitions: [wrong] } })], {
        specs: [identity],
      })
      assert.deepEqual(pathsOf((await planBuilt(built)).tasks), ['a', 'b'])
      assert.deepEqual(await pathsLeft(built, "x >= X'aa'"), ['a', 'b'])
      assert.deepEqual(await pathsLeft(built, "x IN (X'aa', X'bb')"), ['a', 'b'])
    })

    it('B084: one manifest of a thousand partitions, no metrics: files are asked one by one', async () => {
      const files = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`d${i}`, { partition: [i] }]))
      const { plan, tasks } = await planBuilt(tableOf('int', [manifest(files)], { specs: [identity] }), {
        filter: 'x IN (7, 500)',
      })
      assert.deepEqual(pathsOf(tasks), ['d7', 'd500'])
      assert.equal(plan.report.skippedDataFiles, 998)
    })

    it('B189, B195: one of many manifests matches, so that one is read, once', async () => {
      const manifests = Array.from({ length: 200 }, (_, i) => manifest({ [`d${i}`]: { partition: [i] } }))
      const { plan, tasks } = await planBuilt(tableOf('int', manifests, { specs: [identity] }), {
        filter: equal('x', 7),
      })
      assert.deepEqual(pathsOf(tasks), ['d7'])
      assert.equal(plan.report.ioRequests, 1 + 1, 'the list and one manifest')
    })
  })

  it('B161: time travel binds the filter and the specs to the schema of the snapshot', async () => {
    const later = { fields: [{ sourceId: 2, fieldId: 1001, name: 'q', transform: 'identity' }] }
    const built = buildTable({
      schema: [
        column('a', 'int'),
        { fields: [...column('b', 'int').fields, { id: 2, name: 'c', required: false, type: 'int' }] },
      ],
      specs: [identity, later],
      snapshots: [
        {
          schemaId: 0,
          manifests: [
            manifest({ one: { partition: [1] }, two: { partition: [2] } }),
            // No such file can have been there; one that names the later spec proves nothing, and is no error.
            manifest({ later: { partition: [9] } }, { specId: 1 }),
          ],
        },
        { schemaId: 1, manifests: [] },
      ],
    })
    const { snapshotId } = built.snapshots[0]
    const { tasks } = await planBuilt(built, { snapshotId, filter: 'a = 1' })
    assert.deepEqual(
      tasks.map(({ dataFile, residual }) => [dataFile.filePath, formatExpression(residual)]),
      [
        ['one', 'true'],
        ['later', 'a = 1'],
      ],
    )
    for (const filter of ['b = 1', 'c = 9'])
      assert.match((await rejection(planBuilt(built, { snapshotId, filter }))).message, /column "[bc]"/)
  })

  describe('B196: nothing is left in an evaluator from one manifest to the next', () => {
    const manifests = [1, 2, 3, 4, 5].map((first) =>
      manifest({ [`d${first}`]: { partition: [first] }, [`d${first + 2}`]: { partition: [first + 2] } }),
    )
    const built = tableOf('int', manifests, { specs: [identity] })
    const filters = [equal('x', 3), isIn('x', [1, 4]), 'x > 5', 'x < 2 OR x IS NULL']
    const want = [['d3', 'd3'], ['d1', 'd4', 'd4'], ['d6', 'd7'], ['d1']]

    it('plans of one planner, task by task in turn', async () => {
      const table = await loadBuilt(built)
      const planner = freshPlanner()
      const plans = await Promise.all(filters.map((filter) => planner.plan(table.newScan({ filter }))))
      const sources = plans.map((plan) => plan.tasks[Symbol.asyncIterator]())
      const left = filters.map((): string[] => [])
      for (let isDone = false; !isDone;) {
        const results = await Promise.all(sources.map((source) => source.next()))
        for (const [i, { value, done }] of results.entries())
          if (done !== true) left[i].push(...pathsOf([value]))
        isDone = results.every(({ done }) => done)
      }
      assert.deepEqual(left, want)
    })

    it('one scan, planned twice at once', async () => {
      const scan = (await loadBuilt(built)).newScan({ filter: filters[1] })
      const planner = freshPlanner()
      const all = [0, 1].map(async () => pathsOf(await allOf((await planner.plan(scan)).tasks)))
      assert.deepEqual(await Promise.all(all), [want[1], want[1]])
    })
  })

  describe('equality deletes', () => {
    const schema = {
      fields: ['id', 'n', 'name'].map((name, i) => ({
        id: i + 1,
        name,
        required: i === 0,
        type: i === 2 ? 'string' : 'int',
      })),
    }
    type Column = readonly [id: number, lower: unknown, upper: unknown, nulls?: number]
    /** A file of ten rows with metrics of these columns. */
    const metrics = (...columns: readonly Column[]): DataFileInput => {
      const bytes = (id: number, value: unknown) => singleValueBytes(id === 3 ? 'string' : 'int', value)
      const stated = columns.filter(([, lower]) => lower !== undefined)
      const counted = columns.filter(([, , , nulls]) => nulls !== undefined)
      return {
        recordCount: 10,
        valueCounts: Object.fromEntries(columns.map(([id]) => [id, 10])),
        nullValueCounts: Object.fromEntries(counted.map(([id, , , nulls]) => [id, nulls!])),
        lowerBounds: Object.fromEntries(stated.map(([id, lower]) => [id, bytes(id, lower)])),
        upperBounds: Object.fromEntries(stated.map(([id, , upper]) => [id, bytes(id, upper)])),
      }
    }
    interface Case {
      readonly data: DataFileInput
      readonly key: readonly number[]
      readonly deletes: DataFileInput
      readonly schemas?: readonly SchemaInput[]
      readonly filter?: Filter
    }
    const rows: [why: string, applies: boolean, Case][] = [
      [
        'B140: a key whose column was dropped still applies',
        true,
        {
          data: metrics([3, 'a', 'm', 0]),
          key: [3],
          deletes: metrics([3, 'k', 'z', 0]),
          schemas: [schema, { fields: schema.fields.slice(0, 2) }],
        },
      ],
      [
        'B140: and its metrics are those of the type it had',
        false,
        {
          data: metrics([3, 'a', 'm', 0]),
          key: [3],
          deletes: metrics([3, 'n', 'z', 0]),
          schemas: [schema, { fields: schema.fields.slice(0, 2) }],
        },
      ],
      [
        'B140: a key whose column was renamed and promoted',
        true,
        {
          data: metrics([1, 1, 9]),
          key: [1],
          deletes: metrics([1, 9, 20]),
          schemas: [schema, { fields: [{ id: 1, name: 'renamed', required: true, type: 'long' }] }],
        },
      ],
      [
        'B141: null deletes null, whatever the bounds',
        true,
        { data: metrics([2, 1, 5, 3]), key: [2], deletes: metrics([2, undefined, undefined, 10]) },
      ],
      [
        'B141: so do nulls beside values that are far off',
        true,
        { data: metrics([2, 1, 5, 3]), key: [2], deletes: metrics([2, 100, 200, 1]) },
      ],
      [
        'B141: and nulls that are not counted',
        true,
        { data: metrics([2, 1, 5, 3]), key: [2], deletes: metrics([2, 100, 200]) },
      ],
      [
        'B141: data without nulls has none to delete',
        false,
        { data: metrics([2, 1, 5, 0]), key: [2], deletes: metrics([2, undefined, undefined, 10]) },
      ],
      [
        'B141: a delete file without nulls deletes none',
        false,
        { data: metrics([2, 1, 5, 3]), key: [2], deletes: metrics([2, 100, 200, 0]) },
      ],
      [
        'B142: keys that the filter does not want',
        false,
        { data: {}, key: [1], deletes: metrics([1, 1, 4]), filter: 'id = 9' },
      ],
      [
        'B142: a filter on a column that the delete file does not hold',
        true,
        { data: {}, key: [1], deletes: metrics([1, 1, 4]), filter: "name = 'x'" },
      ],
      [
        'B142: a filter on a column that it holds, but that is no key: the row it deletes may say something else by now',
        true,
        { data: {}, key: [1], deletes: metrics([1, 1, 4], [3, 'a', 'b', 0]), filter: "name = 'x'" },
      ],
      [
        'B143: a column that is no key does not tell the files apart',
        true,
        {
          data: metrics([1, 1, 9], [3, 'a', 'b', 0]),
          key: [1],
          deletes: metrics([3, 'y', 'z', 0], [1, 5, 5]),
        },
      ],
      [
        'B143: the key does, in whatever order the columns are',
        false,
        {
          data: metrics([1, 1, 9], [3, 'a', 'b', 0]),
          key: [1],
          deletes: metrics([3, 'a', 'b', 0], [1, 50, 50]),
        },
      ],
    ]
    for (const [why, applies, { data, key, deletes, schemas = [schema], filter }] of rows)
      it(`${why}: ${applies ? 'applies' : 'is left out'}`, async () => {
        const built = buildTable({
          schema: schemas,
          snapshots: [
            {
              sequenceNumber: 2,
              manifests: [
                manifest({ d: data }, { sequenceNumber: 1 }),
                manifest({ e: { content: 2, equalityIds: key, ...deletes } }, { content: 'deletes' }),
              ],
            },
          ],
        })
        const { tasks } = await planBuilt(built, { filter })
        assert.deepEqual(tasks.map(namesOf), [applies ? ['d', 'e'] : ['d']])
      })
  })
})
