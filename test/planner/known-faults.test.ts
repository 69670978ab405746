/**
 * Faults of other planners that concern filters, by their ids, as whole plans: each with the least input that shows it.
 * Those of a single rule stand, with their ids too, in the tests of that rule.
 */
import { assert } from 'chai'
import { and, equal, isIn, lessThanOrEqual, or } from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import type { AvroSchema } from '../support/avro-encoder.ts'
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

  describe('values of partitions', () => {
    const bytesOf = (digits: string) => Buffer.from(digits, 'hex')
    /** A manifest for each value, with a file of that name; `avroType` in place of the usual one. */
    const partitions = (values: readonly unknown[], avroType?: AvroSchema): ManifestInput[] =>
      values.map((value) =>
        manifest(
          {
            [value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)]: {
              partition: [value],
            },
          },
          avroType === undefined ? {} : { write: { partition: [{ fieldId: 1000, name: 'p', avroType }] } },
        ),
      )
    const rows: [
      why: string,
      type: string,
      transform: string,
      manifests: ManifestInput[],
      filter: Filter,
      left: string[],
    ][] = [
      ['B014: a null date is null', 'date', 'identity', partitions([null, 18262]), 'x IS NULL', ['null']],
      ['B014: and no date', 'date', 'identity', partitions([null, 18262]), "x = '2020-01-01'", ['18262']],
      ...(['date', 'int'] as const).map((written): (typeof rows)[number] => [
        `B015: days that were written as ${written}`,
        'timestamp',
        'day',
        partitions([null, 17501, 17502], written === 'int' ? 'int' : { type: 'int', logicalType: 'date' }),
        "x >= '2017-12-01T10:00:00' AND x < '2017-12-02T00:00:00'",
        ['17501'],
      ]),
      ...([undefined, 'bytes'] as const).map((avroType): (typeof rows)[number] => [
        `B016: decimals that were written as ${avroType ?? 'fixed'}`,
        'decimal(9,2)',
        'identity',
        partitions([bytesOf('0000007b'), bytesOf('ffffff85'), bytesOf('00000000')], avroType),
        'x < 0',
        ['ffffff85'],
      ]),
      [
        'B017: uuids against their text',
        'uuid',
        'identity',
        partitions([
          bytesOf('f79c3e09677c4bbda4793f349cb785e7'),
          bytesOf('f79c3e09677c4bbda4793f349cb785e8'),
        ]),
        "x = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
        ['f79c3e09677c4bbda4793f349cb785e7'],
      ],
      [
        'B049: nanoseconds are hashed as the microseconds that they are in',
        'timestamp_ns',
        'bucket[16]',
        partitions(Array.from({ length: 16 }, (_, i) => i)),
        "x = '2017-11-16T22:31:08.000001001'",
        ['6'],
      ],
      [
        'B049: the nanosecond before 1970 is in the day before (or, of an old writer, the day after)',
        'timestamp_ns',
        'day',
        partitions([-2, -1, 0, 1]),
        "x = '1969-12-31T23:59:59.999999999'",
        ['-1', '0'],
      ],
      ['B054: -1 is cut to -10', 'int', 'truncate[10]', partitions([-20, -10, 0]), 'x = -1', ['-10']],
      ['B054: -11 to -20', 'int', 'truncate[10]', partitions([-20, -10, 0]), 'x = -11', ['-20']],
      [
        'B054: -0.01 to -0.50, by its digits',
        'decimal(9,2)',
        'truncate[50]',
        partitions([bytesOf('ffffff9c'), bytesOf('ffffffce'), bytesOf('00000000')]),
        "x = DECIMAL '-0.01'",
        ['ffffffce'],
      ],
      [
        'B055: text is cut between characters',
        'string',
        'truncate[2]',
        partitions(['é', 'é😀', '']),
        "x = 'é😀x'",
        ['é😀'],
      ],
      ['B055: and may be empty', 'string', 'truncate[2]', partitions(['é', 'é😀', '']), "x = ''", ['']],
      [
        'B056: he also holds heat',
        'string',
        'truncate[2]',
        partitions(['he']),
        "x NOT LIKE 'hello%'",
        ['he'],
      ],
      [
        'B059: what an unknown transform made says nothing',
        'string',
        'zorder[3]',
        partitions(['5', null]),
        "x = '7'",
        ['5', 'null'],
      ],
      ['B062: 2017 is the year 47', 'date', 'year', partitions([46, 47, 2017]), "x = '2017-06-01'", ['47']],
      [
        'B077: IS NULL finds the null partition',
        'string',
        'identity',
        partitions(['a', null]),
        'x IS NULL',
        ['null'],
      ],
      [
        'B078: a manifest of nulls and values is not one of nulls',
        'int',
        'identity',
        [manifest({ null: { partition: [null] }, 1: { partition: [1] }, 5: { partition: [5] } })],
        'x IS NOT NULL',
        ['1', '5'],
      ],
    ]
    for (const [why, type, transform, manifests, filter, left] of rows)
      it(why, async () => {
        const built = tableOf(type, manifests, {
          formatVersion: 3,
          specs: [{ fields: [{ sourceId: 1, name: 'p', transform }] }],
        })
        assert.sameMembers(await pathsLeft(built, filter), left)
      })

    it('B009: summaries that are null, and an empty list of a spec without fields, prove nothing', async () => {
      const manifests = [
        manifest({ five: { partition: [5] } }, { row: { partitions: undefined } }),
        manifest({ unpartitioned: {} }, { specId: 1, row: { partitions: [] } }),
      ]
      assert.deepEqual(
        await pathsLeft(tableOf('int', manifests, { specs: [identity, { fields: [] }] }), 'x = 5'),
        ['five', 'unpartitioned'],
      )
    })

    it('B018: a name that Avro does not allow', async () => {
      const built = tableOf('int', partitions([1, 2]), {
        specs: [{ fields: [{ sourceId: 1, name: 'ä-1.x', transform: 'identity' }] }],
        write: { names: { 1000: '_xE4_x2D1_x2Ex' } },
      })
      assert.deepEqual(await pathsLeft(built, 'x = 1'), ['1'])
    })

    it('B071: specs are found by their id', async () => {
      const specs = [
        { specId: 3, ...identity },
        { specId: 7, fields: [{ sourceId: 1, fieldId: 1001, name: 'q', transform: 'bucket[16]' }] },
      ]
      const manifests = [
        manifest({ 'spec 3, 34': { partition: [34] }, 'spec 3, 3': { partition: [3] } }, { specId: 3 }),
        manifest({ 'spec 7, 34': { partition: [2] }, 'spec 7, 3': { partition: [3] } }, { specId: 7 }),
      ]
      assert.deepEqual(await pathsLeft(tableOf('int', manifests, { specs }), 'x = 34'), [
        'spec 3, 34',
        // Bucket 3 of 16 is that of 34.
        'spec 7, 3',
      ])
    })

    it('B085: both fields of a column count', async () => {
      const fields = [
        { sourceId: 1, name: 'b', transform: 'bucket[16]' },
        { sourceId: 1, name: 'i', transform: 'identity' },
      ]
      const built = tableOf('int', [manifest({ 34: { partition: [3, 34] }, 35: { partition: [3, 35] } })], {
        specs: [{ fields }],
      })
      const { tasks } = await planBuilt(built, { filter: 'x = 34' })
      assert.deepEqual(
        tasks.map(({ dataFile, residual }) => [dataFile.filePath, formatExpression(residual)]),
        [['34', 'true']],
      )
    })
  })

  describe('metrics', () => {
    const counted = (values: number | undefined, nulls?: number, nans?: number): DataFileInput => ({
      recordCount: 10,
      ...(values === undefined ? {} : { valueCounts: { 1: values } }),
      ...(nulls === undefined ? {} : { nullValueCounts: { 1: nulls } }),
      ...(nans === undefined ? {} : { nanValueCounts: { 1: nans } }),
    })
    const rawBounds = (lower: string | undefined, upper: string | undefined): DataFileInput => ({
      recordCount: 10,
      ...(lower === undefined ? {} : { lowerBounds: { 1: Buffer.from(lower, 'hex') } }),
      ...(upper === undefined ? {} : { upperBounds: { 1: Buffer.from(upper, 'hex') } }),
    })
    const cut = 'a'.repeat(15)
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
    const anyOf = (values: readonly number[]) => values.map((value) => equal('x', value))
    const decimals = ['00', 'ff', '00ff', '00ffff', 'ff7fff'].map((digits, i) => {
      const value = [0, -1, 255, 65535, -32769][i]
      return {
        value,
        file: rawBounds(digits, digits),
        longer: rawBounds(`${digits.startsWith('f') ? 'ff' : '00'}${digits}`, digits),
      }
    })
    const rows: [
      why: string,
      type: string,
      file: DataFileInput,
      kept: readonly Filter[],
      dropped: readonly Filter[],
    ][] = [
      [
        'B086: ints of a column that is long now',
        'long',
        bounds('int', 3, 9),
        ['x = 5'],
        ['x = 2', 'x = 10'],
      ],
      ['B086: ints below zero', 'long', bounds('int', -9, -3), ['x = -5'], ['x = 5', 'x = -2', 'x = -10']],
      [
        'B086: floats of one that is double',
        'double',
        bounds('float', 1.5, 2.5),
        ['x = 2'],
        ['x = 1.25', 'x = 3'],
      ],
      ['B086: a length of no type', 'long', rawBounds('010203', '010203'), ['x = 5'], []],
      ['B087: bounds that are NaN', 'float', bounds('float', NaN, NaN), ['x < 5', 'x > 5', 'x = 5'], []],
      [
        'B095: text by its bytes',
        'string',
        bounds('string', '\uFB00', '\u{1F600}'),
        ["x = '\uFF5E'"],
        ["x = '\uFA00'", "x = '\u{1F601}'"],
      ],
      [
        'B096: a cut bound whose last character stood before the surrogates',
        'string',
        bounds('string', `${cut}\uD7FF`, `${cut}\uE000`),
        [`x = '${cut}\uD7FFzzz'`],
        [`x = '${cut}\uE001'`],
      ],
      [
        'B096: one that cannot be raised is absent',
        'string',
        rawBounds(Buffer.from('\u{10FFFF}').toString('hex'), undefined),
        ["x = '\u{10FFFF}\u{10FFFF}'"],
        ["x = 'a'"],
      ],
      ['B099: bounds that are upside down', 'int', bounds('int', 1000, 10), ['x < 500', 'x = 5'], []],
      ...[0, 2].flatMap((scale) =>
        decimals.flatMap(({ value, file, longer }): (typeof rows)[number][] =>
          [file, longer].map((of, i) => [
            `B100: bounds of decimal(10,${scale}) with the digits ${value}${i === 0 ? '' : ', longer than need be'}`,
            `decimal(10,${scale})`,
            of,
            [equal('x', { kind: 'decimal', value: BigInt(value), scale })],
            [value - 1, value + 1].map((other) =>
              equal('x', { kind: 'decimal', value: BigInt(other), scale }),
            ),
          ]),
        ),
      ),
      ['B101: no bytes are the empty text', 'string', bounds('string', '', ''), ["x = ''"], ["x = 'x'"]],
      [
        'B104: nulls only, and no bounds',
        'int',
        counted(10, 10),
        ['x IS NULL', 'x <> 5'],
        ['x = 5', 'x < 5'],
      ],
      ['B104: counts that are absent', 'int', counted(undefined), ['x = 5', 'x < 5', 'x IS NULL'], []],
      [
        'B106: IN of 100,000 values',
        'int',
        bounds('int', 3, 9),
        [isIn('x', numbers(9, 100_000)), isIn('x', numbers(10, 100_000))],
        [isIn('x', numbers(10, 200))],
      ],
      [
        'B106: OR of 10,000 comparisons',
        'int',
        bounds('int', 3, 9),
        [or(...anyOf(numbers(9, 10_000)))],
        [or(...anyOf(numbers(10, 10_000)))],
      ],
      [
        'B112: NOT of what may match is not what cannot',
        'int',
        bounds('int', 1, 5),
        ['NOT (x = 1 AND bucket(4, x) = 1)', 'NOT (x = 1)', 'NOT (x > 3)'],
        ['NOT (x <> 9)', 'NOT (x < 9)'],
      ],
      [
        'B117: every one of four operands counts',
        'int',
        bounds('int', 1, 5),
        [or(...anyOf([8, 9, 10, 5])), and(...[1, 2, 3, 5].map((value) => lessThanOrEqual('x', value)))],
        [or(...anyOf([8, 9, 10, 6])), and(...[1, 2, 3, 0].map((value) => lessThanOrEqual('x', value)))],
      ],
      ['B118: a NaN and a number', 'float', counted(2, 0, 1), ['x IS NAN', 'x IS NOT NAN'], []],
      ['B118: NaNs that are not counted', 'float', counted(2, 0), ['x IS NAN', 'x IS NOT NAN'], []],
      ['B118: no NaN', 'float', counted(2, 0, 0), ['x IS NOT NAN'], ['x IS NAN']],
      ['B118: nulls only', 'float', counted(10, 10), [], ['x IS NAN']],
      [
        'B122: decimals are compared as numbers, whatever their scale',
        'decimal(9,2)',
        bounds('decimal(9,2)', 150n, 150n),
        ["x = DECIMAL '1.5'", "x = DECIMAL '1.50'", "x < DECIMAL '1.501'", "x <> DECIMAL '1.501'"],
        ["x = DECIMAL '1.501'", "x > DECIMAL '1.501'", "x < DECIMAL '1.5'"],
      ],
      [
        'B123: 2^53 + 1 is no float',
        'long',
        bounds('long', 9007199254740993n, 9007199254740993n),
        ['x = 9007199254740993'],
        ['x = 9007199254740992', 'x = 9007199254740994'],
      ],
      [
        'B123: 2^63 - 1 neither',
        'long',
        bounds('long', 9223372036854775807n, 9223372036854775807n),
        ['x = 9223372036854775807', '{"type": "eq", "term": "x", "value": 9223372036854775807}'],
        ['x = 9223372036854775806', '{"type": "eq", "term": "x", "value": 9223372036854775806}'],
      ],
      [
        'B124: seven digits are a fraction, not a number of nanoseconds',
        'timestamp_ns',
        bounds('timestamp_ns', 123_456_700n, 123_456_700n),
        ["x = '1970-01-01T00:00:00.1234567'"],
        ["x = '1970-01-01T00:00:00.001234567'", "x = '1970-01-01T00:00:00.1234568'"],
      ],
      [
        'B224: bounds of an int that are too long',
        'int',
        rawBounds('0500000000', '0500000000'),
        ['x = 9'],
        [],
      ],
      ['B224: and of a long', 'long', rawBounds('050000000000000000', '050000000000000000'), ['x = 9'], []],
    ]
    for (const [why, type, file, kept, dropped] of rows)
      it(why, async () => {
        const built = tableOf(type, [manifest({ file })], { formatVersion: 3 })
        for (const [i, filter] of kept.entries())
          assert.deepEqual(await pathsLeft(built, filter), ['file'], `the ${i + 1}. that may match`)
        for (const [i, filter] of dropped.entries())
          assert.deepEqual(await pathsLeft(built, filter), [], `the ${i + 1}. that cannot`)
      })

    it('B092, B093: a required field of an optional struct is null where its struct is', async () => {
      const y = { id: 2, name: 'y', required: true, type: 'double' }
      const schema = {
        fields: [{ id: 1, name: 'x', required: false, type: { type: 'struct', fields: [y] } }],
      }
      const file = { recordCount: 2, valueCounts: { 2: 1 }, nullValueCounts: { 2: 0 } }
      assert.deepEqual(await pathsLeft(tableOf('int', [manifest({ file })], { schema }), 'x.y IS NULL'), [
        'file',
      ])
    })

    for (const title of ['left', 'right'])
      it(`B126: AND of 20,000 terms that leans to the ${title}`, async () => {
        const built = tableOf('int', [
          manifest({ few: bounds('int', 1, 5), none: bounds('int', 30_000, 30_000) }),
        ])
        const terms = Array.from({ length: 20_000 }, (_, i) => lessThanOrEqual('x', i + 1))
        const join = (left: Expression, right: Expression): Expression => ({ op: 'and', left, right })
        const tree =
          title === 'left'
            ? terms.reduce<Expression>(join, terms[0])
            : terms.reduce<Expression>((tail, term) => join(term, tail), terms[0])
        assert.deepEqual(await pathsLeft(built, tree), ['few'])
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
