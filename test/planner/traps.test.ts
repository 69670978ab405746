/**
 * The traps: what planners of Iceberg tables get wrong most often, by their numbers in section 16 of the planning rules.
 * Each is a whole plan of a table that is as small as the trap allows; the rules behind them have tests of their own.
 */
import { assert } from 'chai'
import {
  bucket,
  equal,
  greaterThan,
  isIn,
  isNull,
  lessThan,
  notEqual,
  notStartsWith,
  startsWith,
} from '../../src/expressions/builders.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import { bucketHash } from '../../src/types/transforms/bucket.ts'
import { daysOf } from '../support/instants.ts'
import { rejection } from '../support/rejection.ts'
import {
  buildTable,
  type DataFileInput,
  type EntryInput,
  type FieldSummaryInput,
  type ManifestInput,
  singleValueBytes,
  type SpecInput,
  type TableInput,
} from '../support/table-writer.ts'
import { data, dv, eq, planCase, pos, SPEC } from './delete-cases.ts'
import { pathsOf, planBuilt, type Planned } from './planning.ts'

type Files = Readonly<Record<string, DataFileInput>>
/** By data file, what it leaves of the filter. */
type Left = Record<string, string>

/** The schema of one column, `x`, whose id is 1. */
const column = (type: unknown) => ({ fields: [{ id: 1, name: 'x', required: false, type }] })
const specOf = (transform: string): SpecInput => ({
  fields: [{ sourceId: 1, name: 'p', transform }],
})
const entriesOf = (files: Files): EntryInput[] =>
  Object.entries(files).map(([filePath, file]) => ({ dataFile: { filePath, ...file } }))
/** With a manifest for each file, so that summaries are asked as well. */
const manifestsOf = (files: Files): ManifestInput[] => entriesOf(files).map((entry) => ({ entries: [entry] }))
/** A file for each value of the one partition field, named by the value. */
const partitions = (...values: readonly unknown[]): Files =>
  Object.fromEntries(values.map((value) => [String(value), { partition: [value] }]))

const tableOf = (manifests: readonly ManifestInput[], input: Partial<TableInput> = {}) =>
  buildTable({ schema: column('int'), snapshots: [{ manifests }], ...input })

const plannedBy = (manifests: readonly ManifestInput[], input: Partial<TableInput>, filter: Filter) =>
  planBuilt(tableOf(manifests, input), { filter })

const leftOf = ({ tasks }: Planned): Left =>
  Object.fromEntries(tasks.map(({ dataFile, residual }) => [dataFile.filePath, formatExpression(residual)]))

/** What a filter leaves of files with metrics, or of those partitioned by a transform of `x`. */
async function left(
  type: string,
  transform: string | undefined,
  files: Files,
  filter: Filter,
): Promise<Left> {
  const specs = transform === undefined ? {} : { specs: [specOf(transform)] }
  return leftOf(await plannedBy(manifestsOf(files), { schema: column(type), ...specs }, filter))
}

/** Bounds of `x` in a file of ten rows. */
const bounds = (lower: Uint8Array, upper: Uint8Array): DataFileInput => ({
  recordCount: 10,
  lowerBounds: { 1: lower },
  upperBounds: { 1: upper },
})
const ints = (lower: number, upper: number) =>
  bounds(singleValueBytes('int', lower), singleValueBytes('int', upper))
const hex = (digits: string) => new Uint8Array(Buffer.from(digits, 'hex'))
/** The filter as it stands: nothing of it is decided. */
const same = (filter: Expression) => formatExpression(filter)

const summary = (lower: number | undefined, upper: number | undefined, containsNull: boolean) => ({
  containsNull,
  containsNan: false,
  ...(lower === undefined ? {} : { lowerBound: singleValueBytes('int', lower) }),
  ...(upper === undefined ? {} : { upperBound: singleValueBytes('int', upper) }),
})
/** A manifest whose one row in the list says this. */
const summarized = (partitionSummary: FieldSummaryInput, files: Files): ManifestInput => ({
  entries: entriesOf(files),
  row: { partitions: [partitionSummary] },
})
const IDENTITY = { specs: [specOf('identity')] }

describe('traps of section 16', () => {
  describe('selection', () => {
    it('trap 1: ids of 63 bits do not go through a number', async () => {
      const id = 3051729675574597004n
      const manifests = manifestsOf({ a: {} })
      const built = tableOf([], { snapshots: [{ snapshotId: id, manifests }] })
      const { plan, tasks } = await planBuilt(built, { snapshotId: id })
      assert.deepEqual([plan.report.snapshotId, pathsOf(tasks)], [id, ['a']])
      const asNumber = BigInt(Number(id))
      assert.match(
        (await rejection(planBuilt(built, { snapshotId: asNumber }))).message,
        new RegExp(String(asNumber)),
      )
    })

    it('trap 2: -1 is no snapshot, so the plan is empty', async () => {
      const built = tableOf([], { snapshots: [], metadata: { 'current-snapshot-id': -1 } })
      for (const options of [{}, { filter: 'x = 5' }]) {
        const { plan, tasks } = await planBuilt(built, options)
        assert.isEmpty(tasks)
        assert.deepEqual([plan.report.snapshotId, plan.report.ioRequests], [undefined, 0])
      }
    })

    it("trap 3: a tag binds the filter to its snapshot's schema, a branch to the current one", async () => {
      const named = (schemaId: number, name: string) => ({
        'schema-id': schemaId,
        fields: [{ id: 1, name, required: false, type: 'int' }],
      })
      const old = 11n
      const built = buildTable({
        schema: [named(1, 'a'), named(2, 'b')],
        specs: [specOf('identity')],
        snapshots: [
          { snapshotId: old, schemaId: 1, manifests: manifestsOf(partitions(1, 2)) },
          { snapshotId: 12n, schemaId: 2, manifests: manifestsOf(partitions(1, 3)) },
        ],
        refs: { tag: { 'snapshot-id': old, type: 'tag' }, branch: { 'snapshot-id': old, type: 'branch' } },
      })
      const error = await rejection(planBuilt(built, { ref: 'tag', filter: 'b = 1' }))
      assert.match(error.message, /column "b": the schema has .*\ba\b/)
      for (const [ref, filter] of [
        ['tag', 'a = 1'],
        ['branch', 'b = 1'],
      ])
        assert.deepEqual(leftOf(await planBuilt(built, { ref, filter })), { 1: 'true' }, ref)
      assert.deepEqual(pathsOf((await planBuilt(built, { ref: 'branch' })).tasks), ['1', '2'])
    })

    it('trap 4: what was current then is in the log, not in the times of the snapshots', async () => {
      const built = tableOf([], {
        snapshots: [
          { snapshotId: 1n, timestampMs: 10, manifests: manifestsOf({ first: {} }) },
          { snapshotId: 2n, timestampMs: 20, manifests: manifestsOf({ second: {} }) },
        ],
        currentSnapshotId: 1n,
        metadata: {
          'snapshot-log': [
            { 'timestamp-ms': 10, 'snapshot-id': 1 },
            { 'timestamp-ms': 20, 'snapshot-id': 2 },
            { 'timestamp-ms': 30, 'snapshot-id': 1 },
          ],
        },
      })
      for (const [asOf, path] of [
        [25, 'second'],
        [35, 'first'],
      ] as const)
        assert.deepEqual(pathsOf((await planBuilt(built, { asOf })).tasks), [path])
    })
  })

  describe('manifests', () => {
    it('trap 5: counts that are not known are not zero', async () => {
      const row = { addedFilesCount: undefined, existingFilesCount: undefined, deletedFilesCount: 3 }
      const { plan, tasks } = await plannedBy([{ entries: entriesOf({ a: {} }), row }], {}, 'x = 5')
      assert.deepEqual([plan.report.scannedDataManifests, pathsOf(tasks)], [1, ['a']])
    })

    it('trap 6: no summaries prove nothing; files are rejected one by one, or by a filter that is false', async () => {
      const manifests = [{ entries: entriesOf(partitions(5, 6, null)), row: { partitions: undefined } }]
      const input = { schema: column('int'), ...IDENTITY }
      const { plan, tasks } = await plannedBy(manifests, input, 'x = 5')
      assert.deepEqual([plan.report.scannedDataManifests, plan.report.skippedDataFiles], [1, 2])
      assert.deepEqual(pathsOf(tasks), ['5'])
      assert.isEmpty((await plannedBy(manifests, input, 'x = 2147483648')).tasks)
    })

    it('trap 7: IN is asked value by value, so values around the range do not keep a manifest', async () => {
      const manifests = [summarized(summary(10, 20, false), partitions(10, 20))]
      const rows: [values: number[], skipped: number, why: string][] = [
        [[1, 30], 1, 'one below, one above'],
        [[1, 15, 30], 0, 'one within'],
      ]
      for (const [values, skipped, why] of rows) {
        const { plan, tasks } = await plannedBy(manifests, IDENTITY, isIn('x', values))
        assert.deepEqual([plan.report.skippedDataManifests, tasks.length], [skipped, 0], why)
      }
    })

    it('trap 8: a manifest of nulls holds no 5, and nothing but what is not 5', async () => {
      const manifests = [summarized(summary(undefined, undefined, true), partitions(null))]
      const rows: [filter: string, left: Left, skipped: number][] = [
        ['x = 5', {}, 1],
        ['x <> 5', { null: 'true' }, 0],
        ['x NOT IN (5, 6)', { null: 'true' }, 0],
      ]
      for (const [filter, want, skipped] of rows) {
        const planned = await plannedBy(manifests, IDENTITY, filter)
        assert.deepEqual([leftOf(planned), planned.plan.report.skippedDataManifests], [want, skipped], filter)
      }
    })
  })

  describe('entries', () => {
    const input = { formatVersion: 3 as const }
    const rowIdsOf = ({ tasks }: Planned) =>
      Object.fromEntries(tasks.map(({ dataFile }) => [dataFile.filePath, dataFile.firstRowId]))

    it('trap 9: an EXISTING entry without a sequence number does not take that of its manifest, unless that is 0', async () => {
      const deletes: ManifestInput = {
        content: 'deletes',
        entries: [{ sequenceNumber: 5, dataFile: { filePath: 'e', content: 2, equalityIds: [1] } }],
      }
      const existing = (sequenceNumber: number) => {
        const entries: EntryInput[] = [{ status: 0, dataFile: { filePath: 'a' } }]
        const manifests = [{ entries, sequenceNumber }, deletes]
        return tableOf([], { snapshots: [{ sequenceNumber: 7, manifests }] })
      }
      assert.match((await rejection(planBuilt(existing(7)))).message, /\ba\b.*sequence number/)
      const { tasks } = await planBuilt(existing(0))
      assert.equal(tasks[0].dataFile.dataSequenceNumber, 0n)
      assert.lengthOf(tasks[0].deletes, 1)
    })

    it('trap 10: deletes go by the data sequence number, which a compacted file keeps', async () => {
      const { tasks } = await planCase([data('compacted', { seq: 3, fileSeq: 10 })], [eq('e', 5)])
      assert.deepEqual(tasks, [['compacted', 'e']])
    })

    it('trap 11: which files advance the row id, whatever the filter leaves of them', async () => {
      const added = { ...ints(1, 9), recordCount: 20 }
      const manifest: ManifestInput = {
        entries: [
          { status: 2, dataFile: { filePath: 'deleted', recordCount: 50 } },
          { dataFile: { filePath: 'own', recordCount: 10, firstRowId: 7 } },
          { dataFile: { filePath: 'added', ...added } },
          { status: 0, sequenceNumber: 1, dataFile: { filePath: 'existing', recordCount: 5 } },
        ],
        row: { firstRowId: 100 },
      }
      const built = tableOf([manifest], input)
      assert.deepEqual(rowIdsOf(await planBuilt(built)), { own: 7n, added: 100n, existing: 120n })
      assert.deepEqual(rowIdsOf(await planBuilt(built, { filter: 'x = 20' })), { own: 7n, existing: 120n })
    })

    it('trap 12: a manifest without row ids has none, even where an entry states one', async () => {
      const entries = entriesOf({ a: { firstRowId: 42 } })
      const built = tableOf([{ entries, row: { firstRowId: undefined } }], input)
      assert.deepEqual(rowIdsOf(await planBuilt(built)), { a: undefined })
    })
  })

  describe('transforms', () => {
    type Row = readonly [
      title: string,
      type: string,
      transform: string,
      files: Files,
      filter: Expression,
      left: Left,
    ]
    const day = daysOf('2017-12-02')
    const beforeNoon = equal('x', '1969-12-31T10:00:00')
    const lastDay = equal('x', '1969-12-31')
    const notAbc = notStartsWith('x', 'abc')
    const isNothing = isNull('x')
    const minusOne = equal('x', -1)
    const accent = equal('x', 'é')
    const price = equal('x', { kind: 'decimal', value: 142n, scale: 1 })
    const buckets = partitions(...Array.from({ length: 16 }, (_, i) => i))
    const table: readonly Row[] = [
      [
        'trap 13: the end of a half-open range is not in it, on the day',
        'timestamp',
        'day',
        partitions(day - 1, day),
        lessThan('x', '2017-12-02T00:00:00'),
        { [day - 1]: 'true' },
      ],
      [
        'trap 14: before 1970 days of timestamps may have been written one too high',
        'timestamp',
        'day',
        partitions(-2, -1, 0, 1),
        beforeNoon,
        { [-1]: same(beforeNoon), 0: same(beforeNoon) },
      ],
      [
        'trap 14: days of dates were not',
        'date',
        'day',
        partitions(-2, -1, 0, 1),
        lastDay,
        { [-1]: same(lastDay) },
      ],
      [
        'trap 15: a prefix is as long as its code points',
        'string',
        'truncate[2]',
        partitions('💰', '💰a', '💱'),
        startsWith('x', '💰'),
        { '💰': 'true', '💰a': 'true' },
      ],
      [
        'trap 16: the partition of a longer prefix also holds what does not start with it',
        'string',
        'truncate[2]',
        partitions('ab', 'ac'),
        notAbc,
        { ab: same(notAbc), ac: 'true' },
      ],
      [
        'trap 17: the nulls of void are not those of the rows',
        'int',
        'void',
        partitions(null),
        isNothing,
        { null: same(isNothing) },
      ],
      ['trap 19: ints are hashed as longs', 'int', 'bucket[16]', buckets, minusOne, { 8: same(minusOne) }],
      [
        'trap 19: bytes of text are not signed',
        'string',
        'bucket[16]',
        buckets,
        accent,
        { [269551495 % 16]: same(accent) },
      ],
      [
        'trap 20: 14.2 is hashed as the 14.20 of its column',
        'decimal(9,2)',
        'bucket[16]',
        buckets,
        price,
        { 3: "x = DECIMAL '14.2'" },
      ],
    ]
    for (const [title, type, transform, files, filter, want] of table)
      it(title, async () => {
        assert.deepEqual(await left(type, transform, files, filter), want)
      })

    it('trap 17: nor are those of a field that version 1 has turned into void', async () => {
      const specs = [specOf('identity'), specOf('void')]
      const manifests = [0, 1].map((specId): ManifestInput => ({
        specId,
        entries: entriesOf({ [`of spec ${specId}`]: { partition: [specId === 0 ? 5 : null] } }),
      }))
      const planned = await plannedBy(manifests, { formatVersion: 1, specs }, isNothing)
      assert.deepEqual(leftOf(planned), { 'of spec 1': same(isNothing) })
    })

    it('trap 18: each manifest is asked by its own spec', async () => {
      const specs = [specOf('bucket[8]'), specOf('bucket[16]')]
      const manifests = [8, 16].flatMap((count, specId) =>
        Array.from({ length: count }, (_, i): ManifestInput => ({
          specId,
          entries: entriesOf({ [`bucket ${i} of ${count}`]: { partition: [i] } }),
        })),
      )
      const filter = equal('x', 34)
      assert.deepEqual(leftOf(await plannedBy(manifests, { specs }, filter)), {
        'bucket 3 of 8': same(filter),
        'bucket 3 of 16': same(filter),
      })
      const byBucket = equal(bucket(16, 'x'), 3)
      const kept = leftOf(await plannedBy(manifests, { specs }, byBucket))
      assert.lengthOf(Object.keys(kept), 8 + 1, 'bucket 3 of 16 says nothing of those of 8')
      assert.equal(kept['bucket 3 of 16'], 'true')
    })

    it('trap 19: the hash of bytes from 0x80 on', () => {
      assert.equal(bucketHash({ kind: 'string' }, 'é'), 269551495)
    })
  })

  describe('metrics', () => {
    const NAN = singleValueBytes('float', NaN)
    const micros = (days: number) => BigInt(days) * 86_400_000_000n
    const uuid = (start: string) => hex(start.padEnd(32, '0'))
    const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
    const rows: [
      title: string,
      type: string,
      file: DataFileInput,
      kept: readonly Filter[],
      dropped: readonly Filter[],
    ][] = [
      [
        'trap 7: IN with one below the bounds and one above',
        'int',
        ints(10, 20),
        [isIn('x', [1, 15, 30])],
        [isIn('x', [1, 30])],
      ],
      [
        'trap 21: text is ordered by code points, not by units of UTF-16',
        'string',
        bounds(utf8('\uFFFF'), utf8('\u{10000}')),
        [equal('x', '\uFFFF'), equal('x', '\u{10000}')],
        [equal('x', '\uFFFE'), equal('x', '\u{10001}')],
      ],
      [
        'trap 22: uuids are ordered by their bytes, but may have been written as signed halves',
        'uuid',
        bounds(uuid('10'), uuid('f0')),
        [equal('x', '50000000-0000-0000-0000-000000000000')],
        [],
      ],
      [
        'trap 22: one bound alone is above a value in one order, and below it in the other',
        'uuid',
        { recordCount: 10, lowerBounds: { 1: uuid('10') } },
        [equal('x', 'f0000000-0000-0000-0000-000000000000')],
        [],
      ],
      [
        'trap 22: what both orders rule out is dropped',
        'uuid',
        bounds(uuid('10'), uuid('20')),
        [equal('x', '18000000-0000-0000-0000-000000000000')],
        [equal('x', '50000000-0000-0000-0000-000000000000')],
      ],
      [
        'trap 23: a bound that is NaN is none',
        'float',
        bounds(NAN, NAN),
        [lessThan('x', 1), greaterThan('x', 1), equal('x', 1)],
        [],
      ],
      [
        'trap 24: an int from before the promotion to long',
        'long',
        bounds(hex('0a000000'), hex('0a000000')),
        [equal('x', 10)],
        [equal('x', 9), equal('x', 11)],
      ],
      [
        'trap 24: a date from before the promotion to timestamp',
        'timestamp',
        bounds(hex('51440000'), hex('51440000')),
        [equal('x', { kind: 'timestamp', value: 1_511_049_600_000_000n })],
        [
          equal('x', { kind: 'timestamp', value: micros(17488) }),
          equal('x', { kind: 'timestamp', value: micros(17490) }),
        ],
      ],
      [
        'trap 25: counts of nulls that are missing are not zero',
        'int',
        { recordCount: 10, valueCounts: { 1: 10 }, ...ints(1, 9) },
        [isNull('x')],
        [],
      ],
      [
        'trap 25: a column without metrics may hold anything',
        'int',
        { recordCount: 10 },
        [isNull('x'), equal('x', 5), notEqual('x', 5)],
        [],
      ],
      [
        'trap 26: a file without rows matches no filter, not even one that all rows satisfy',
        'int',
        { recordCount: 0 },
        ['true'],
        ['x < 2147483648', 'x = 5 OR x <> 5'],
      ],
      [
        'trap 26: with an unknown number of rows nothing is proved',
        'int',
        { ...ints(1, 9), recordCount: -1 },
        ['x = 20'],
        [],
      ],
      ['trap 26: the same bounds of known rows', 'int', { ...ints(1, 9), recordCount: 1 }, [], ['x = 20']],
    ]
    for (const [title, type, file, kept, dropped] of rows)
      it(title, async () => {
        const isKept = async (filter: Filter) => {
          const of = await left(type, undefined, { file }, filter)
          return 'file' in of
        }
        for (const filter of kept) assert.isTrue(await isKept(filter), JSON.stringify(filter, text))
        for (const filter of dropped) assert.isFalse(await isKept(filter), JSON.stringify(filter, text))
      })

    it('trap 26: without a filter a file without rows is planned', async () => {
      const { tasks } = await planBuilt(tableOf(manifestsOf({ empty: { recordCount: 0 } })))
      assert.deepEqual(pathsOf(tasks), ['empty'])
    })
  })

  describe('deletes', () => {
    const inA = { spec: SPEC.REGION, partition: ['a'] }

    it('trap 27: equality deletes are of older files and may be global, position deletes neither', async () => {
      const deletes = [eq('eq 5', 5, inA), pos('pos 5', 5, inA), eq('eq global', 6), pos('pos global', 6)]
      const { tasks } = await planCase([data('d', { ...inA, seq: 5 })], deletes)
      assert.deepEqual(tasks, [['d', 'eq global', 'pos 5']])
    })

    it('trap 28: a deletion vector replaces position deletes only, is one per file, no older, and may share its file', async () => {
      const one = await planCase([data('d')], [dv('v', 7, 'd'), pos('p', 9, { about: 'd' }), eq('e', 8)])
      assert.deepEqual(one.tasks, [['d', 'e', 'v@4']])
      const refused = [[dv('v', 7, 'd'), dv('w', 8, 'd')], [dv('v', 4, 'd')]]
      for (const deletes of refused)
        assert.equal((await rejection(planCase([data('d')], deletes))).code, 'ERR_INVALID_METADATA')
      const two = [dv('v', 7, 'd1', { at: 4 }), dv('v', 7, 'd2', { at: 44 })]
      assert.deepEqual((await planCase([data('d1'), data('d2')], two)).tasks, [
        ['d1', 'v@4'],
        ['d2', 'v@44'],
      ])
    })
  })

  describe('nulls', () => {
    it('trap 30: a required field is null where its optional struct is', async () => {
      const field = { id: 2, name: 'y', required: true, type: 'int' }
      const schema = column({ type: 'struct', fields: [field] })
      const filter = isNull('x.y')
      const file = { recordCount: 10, valueCounts: { 2: 9 }, nullValueCounts: { 2: 0 } }
      const planned = await plannedBy(manifestsOf({ unknown: {}, file }), { schema }, filter)
      assert.deepEqual(leftOf(planned), { unknown: same(filter), file: same(filter) })
    })

    it('trap 30: null is not below 5, so the residual is not true', async () => {
      const files = partitions(4, 5, null)
      const built = tableOf([{ entries: entriesOf(files) }], IDENTITY)
      assert.deepEqual(leftOf(await planBuilt(built, { filter: 'x < 5' })), { 4: 'true' })
      const filter = 'x < 5 OR (x IS NULL AND x < 7)'
      assert.deepEqual(leftOf(await planBuilt(built, { filter })), { 4: 'true' }, 'nor in a part of a filter')
    })
  })
})

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
