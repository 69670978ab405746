/** Equality deletes that the metrics of their keys rule out for a data file, in whole tables (R7.4, R7.16, R7.18). */
import { assert } from 'chai'
import {
  buildTable,
  type BuiltTable,
  type DataFileInput,
  type EntryInput,
  type SchemaInput,
  singleValueBytes,
  type SnapshotInput,
  type SpecInput,
  type TableInput,
} from '../support/table-writer.ts'
import { namesOf, planBuilt, type Planned } from './planning.ts'

const FIELDS: SchemaInput['fields'] = [
  { id: 1, name: 'id', required: true, type: 'long' },
  { id: 2, name: 'n', required: false, type: 'int' },
  { id: 3, name: 'f', required: false, type: 'double' },
  { id: 4, name: 'u', required: true, type: 'uuid' },
  { id: 5, name: 'ts', required: true, type: 'timestamp' },
  { id: 6, name: 's', required: true, type: 'string' },
  {
    id: 10,
    name: 'st',
    required: false,
    type: { type: 'struct', fields: [{ id: 11, name: 'x', required: true, type: 'int' }] },
  },
  {
    id: 20,
    name: 'l',
    required: true,
    type: { type: 'list', 'element-id': 21, element: 'int', 'element-required': true },
  },
]
const REGION = { id: 30, name: 'region', required: false, type: 'string' }
const SCHEMA: SchemaInput = { fields: [...FIELDS, REGION] }
const SPECS: readonly SpecInput[] = [
  { fields: [] },
  { fields: [{ sourceId: 30, name: 'region', transform: 'identity' }] },
]

/** Metrics of one column, and of how many rows. */
interface Metrics {
  readonly rows?: number
  readonly values?: number
  readonly nulls?: number
  readonly nans?: number
  readonly lower?: Uint8Array
  readonly upper?: Uint8Array
}

function stated(id: number, { rows = 10, values, nulls, nans, lower, upper }: Metrics): DataFileInput {
  const map = <V>(value: V | undefined) => (value === undefined ? undefined : { [id]: value })
  const maps = {
    valueCounts: map(values),
    nullValueCounts: map(nulls),
    nanValueCounts: map(nans),
    lowerBounds: map(lower),
    upperBounds: map(upper),
  }
  return {
    recordCount: rows,
    ...Object.fromEntries(Object.entries(maps).filter(([, value]) => value !== undefined)),
  }
}

const bounds = (type: string, lower: unknown, upper: unknown): Metrics => ({
  lower: singleValueBytes(type, lower),
  upper: singleValueBytes(type, upper),
})
const int = (lower: number, upper: number) => bounds('int', lower, upper)
const long = (lower: number, upper: number) => bounds('long', lower, upper)
const double = (lower: number, upper: number) => bounds('double', lower, upper)
const text = (lower: string, upper: string) => bounds('string', lower, upper)
const uuid = (start: string): Uint8Array => new Uint8Array(Buffer.from(start.padEnd(32, '0'), 'hex'))
const uuids = (lower: string, upper: string): Metrics => ({ lower: uuid(lower), upper: uuid(upper) })
const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
/** No value is missing, and none is null. */
const full = (metrics: Metrics): Metrics => ({ values: 10, nulls: 0, ...metrics })

const SCOPES = ['partition', 'global'] as const

/** One data file, and one equality delete file that is newer. */
function tableOf(
  scope: (typeof SCOPES)[number],
  data: DataFileInput,
  deletes: DataFileInput,
  input: Partial<TableInput> & { snapshot?: Partial<SnapshotInput> } = {},
): BuiltTable {
  const { snapshot, ...table } = input
  const partition = scope === 'partition' ? ['eu'] : []
  return buildTable({
    schema: SCHEMA,
    specs: SPECS,
    snapshots: [
      {
        sequenceNumber: 6,
        ...snapshot,
        manifests: [
          {
            specId: 1,
            entries: [
              { sequenceNumber: 5, dataFile: { filePath: 'd', partition: ['eu'], ...data } },
              // Without metrics nothing can be proved of it, so the delete is there.
              { sequenceNumber: 5, dataFile: { filePath: 'other', partition: ['eu'] } },
            ],
          },
          {
            content: 'deletes',
            specId: scope === 'partition' ? 1 : 0,
            entries: [
              {
                sequenceNumber: 6,
                dataFile: { filePath: 'e', content: 2, fileSizeInBytes: 333, partition, ...deletes },
              },
            ],
          },
        ],
      },
    ],
    ...table,
  })
}

function assertVerdict({ plan, tasks }: Planned, expected: 'applies' | 'cannot'): void {
  const applied = expected === 'applies'
  assert.deepEqual(tasks.map(namesOf), [applied ? ['d', 'e'] : ['d'], ['other', 'e']])
  const { report } = plan
  assert.equal(report.equalityDeleteFiles, 1, 'the delete is indexed')
  assert.equal(report.resultDeleteFiles, applied ? 2 : 1)
  assert.equal(report.totalDeleteFileSizeInBytes, report.resultDeleteFiles * 333)
  assert.equal(report.skippedDeleteFiles, 0)
}

describe('R7.16: equality deletes that the metrics rule out', () => {
  const rows: [expected: 'applies' | 'cannot', key: number, data: Metrics, deletes: Metrics, why: string][] =
    [
      ['cannot', 1, long(1, 10), long(20, 30), 'step 7: no id in common'],
      ['cannot', 1, long(40, 50), long(20, 30), 'step 7: the other way round'],
      ['applies', 1, long(1, 20), long(20, 30), 'they share 20'],
      ['applies', 1, {}, long(20, 30), 'step 5: the data file has no bounds'],
      ['applies', 1, long(1, 10), {}, 'step 5: the delete file has none'],
      ['applies', 1, { lower: long(1, 10).lower! }, long(20, 30), 'step 6: one of the four is missing'],
      ['cannot', 2, full(int(1, 10)), full(int(20, 30)), 'example l: nulls 0 on both sides'],
      ['applies', 2, int(1, 10), int(20, 30), 'example m: nulls unknown on both sides'],
      ['cannot', 2, int(1, 10), full(int(20, 30)), 'example n: one side has no nulls'],
      ['cannot', 2, full(int(1, 10)), int(20, 30), 'or the other'],
      [
        'applies',
        2,
        { ...full(int(1, 10)), nulls: 1 },
        { ...full(int(20, 30)), nulls: 1 },
        'step 2: null deletes null',
      ],
      ['cannot', 2, full({ nulls: 10 }), full(int(20, 30)), 'step 3: only nulls, of which none is deleted'],
      ['cannot', 2, full(int(1, 10)), full({ nulls: 10 }), 'step 4: only nulls are deleted'],
      ['applies', 2, full({ nulls: 10 }), full({ nulls: 10 }), 'nulls on both sides'],
      [
        'applies',
        2,
        { ...int(1, 10), values: 9, nulls: 0 },
        { ...int(20, 30), values: 9, nulls: 0 },
        'R5.3: a row without value is null',
      ],
      [
        'applies',
        2,
        { ...full(int(1, 10)), rows: -1 },
        { ...full(int(20, 30)), rows: -1 },
        'R5.1: how many rows is not known, so values may be missing',
      ],
      [
        'applies',
        2,
        { ...full(int(1, 10)), nulls: -1 },
        { ...full(int(20, 30)), nulls: -1 },
        'a negative count says nothing',
      ],

      [
        'applies',
        3,
        full({ ...double(1, 5), nans: 1 }),
        full({ ...double(100, 100), nans: 1 }),
        'Java drops it: NaN deletes NaN',
      ],
      ['applies', 3, full(double(1, 5)), full(double(100, 100)), 'Java drops it: NaNs are not counted'],
      ['cannot', 3, full({ ...double(1, 5), nans: 0 }), full(double(100, 100)), 'no NaN in the data'],
      [
        'applies',
        3,
        full({ ...double(-0, -0), nans: 0 }),
        full({ ...double(0, 0), nans: 0 }),
        'Java drops it: -0.0 is 0.0',
      ],
      [
        'applies',
        3,
        full({ ...double(NaN, 5), nans: 0 }),
        full({ ...double(100, 100), nans: 0 }),
        'R5.9: a bound that is NaN',
      ],

      ['cannot', 4, uuids('10', '20'), uuids('50', '60'), 'apart in both orders'],
      ['applies', 4, uuids('10', 'f0'), uuids('50', '50'), 'Java drops it: f0… is below 10… there'],
      ['applies', 4, uuids('90', '20'), uuids('f5', 'f5'), 'bounds that were written in the signed order'],

      [
        'applies',
        5,
        { lower: hex('51440000'), upper: hex('51440000') },
        bounds('timestamp', 17489n * 86_400_000_000n, 17489n * 86_400_000_000n),
        'Java drops it: a date from before the promotion',
      ],
      [
        'cannot',
        5,
        { lower: hex('51440000'), upper: hex('51440000') },
        bounds('timestamp', 17490n * 86_400_000_000n, 17490n * 86_400_000_000n),
        'another day than that date',
      ],
      ['applies', 1, int(1, 10), long(5, 6), 'R5.22: ints from before the promotion to long'],
      ['cannot', 1, int(1, 10), long(20, 30), 'R5.22: and they prove'],
      ['applies', 1, { lower: hex('0102'), upper: hex('0304') }, long(20, 30), 'bounds of a wrong length'],
      ['applies', 1, long(10, 1), long(20, 30), 'R5.24: bounds upside down'],

      ['cannot', 6, text('a', 'c'), text('d', 'e'), 'text'],
      ['applies', 6, text('\uFB00', '\u{1F600}'), text('\uFF5E', '\uFF5E'), 'B095: text, by bytes'],

      [
        'applies',
        11,
        { ...int(1, 10), values: 8, nulls: 0 },
        { ...int(20, 30), values: 8, nulls: 0 },
        'Java drops it: rows without struct have no x, on both sides',
      ],
      ['applies', 11, int(1, 10), int(20, 30), 'B093: required in an optional struct may be null'],
      ['cannot', 11, full(int(1, 10)), int(20, 30), 'every row of the data has the struct'],
      ['applies', 10, full({}), full({}), 'step 1: a struct says nothing'],
      ['applies', 21, full(int(1, 10)), full(int(20, 30)), 'step 1: nor does what is in a list'],
      ['applies', 99, full(int(1, 10)), full(int(20, 30)), 'R7.18: nor does a column that no schema has'],
    ]
  for (const scope of SCOPES)
    for (const [expected, key, data, deletes, why] of rows)
      it(`${scope}: ${expected}, column ${key}: ${why}`, async () => {
        const built = tableOf(scope, stated(key, data), { equalityIds: [key], ...stated(key, deletes) })
        assertVerdict(await planBuilt(built), expected)
      })

  it('one key of two is enough', async () => {
    const two = (n: number): DataFileInput => ({
      recordCount: 10,
      lowerBounds: { 1: long(1, 1).lower!, 6: text(`${n}`, '').lower! },
      upperBounds: { 1: long(9, 9).lower!, 6: text(`${n}`, '').lower! },
    })
    for (const scope of SCOPES) {
      const deletes = { equalityIds: [1, 6], ...two(7) }
      assertVerdict(await planBuilt(tableOf(scope, two(7), deletes)), 'applies')
      assertVerdict(await planBuilt(tableOf(scope, two(8), deletes)), 'cannot')
    }
  })

  it('of many deletes of a file those stay that may apply, in the order of R7.11', async () => {
    const equality = (
      filePath: string,
      sequenceNumber: number,
      from: number,
      partition: string[],
    ): EntryInput => ({
      sequenceNumber,
      dataFile: {
        filePath,
        content: 2,
        equalityIds: [1],
        partition,
        fileSizeInBytes: 10 * sequenceNumber,
        ...stated(1, long(from, from + 5)),
      },
    })
    const position = (filePath: string): EntryInput => ({
      sequenceNumber: 9,
      dataFile: { filePath, content: 1, partition: ['eu'], fileSizeInBytes: 1 },
    })
    const built = buildTable({
      schema: SCHEMA,
      specs: SPECS,
      snapshots: [
        {
          sequenceNumber: 9,
          manifests: [
            {
              specId: 1,
              entries: [1, 101, 201].map((from, i): EntryInput => ({
                sequenceNumber: i + 1,
                dataFile: { filePath: `d${from}`, partition: ['eu'], ...stated(1, long(from, from + 50)) },
              })),
            },
            {
              content: 'deletes',
              specId: 0,
              entries: [equality('g40', 8, 40, []), equality('g120', 7, 120, []), equality('g1', 2, 1, [])],
            },
            {
              content: 'deletes',
              specId: 1,
              entries: [
                position('p'),
                equality('e20', 9, 20, ['eu']),
                equality('e10', 6, 10, ['eu']),
                equality('e130', 5, 130, ['eu']),
                equality('other', 9, 20, ['us']),
              ],
            },
          ],
        },
      ],
    })
    const { plan, tasks } = await planBuilt(built)
    assert.deepEqual(tasks.map(namesOf), [
      ['d1', 'g1', 'g40', 'e10', 'e20', 'p'],
      ['d101', 'g120', 'e130', 'p'],
      ['d201', 'p'],
    ])
    assert.equal(plan.report.resultDeleteFiles, 9)
    assert.equal(plan.report.totalDeleteFileSizeInBytes, 20 + 80 + 60 + 90 + 1 + (70 + 50 + 1) + 1)
    assert.deepEqual(
      tasks.map((task) => task.detach()).map(namesOf),
      tasks.map(namesOf),
      'detached tasks keep them',
    )
  })

  it('a deletion vector comes after those that stay', async () => {
    const built = buildTable({
      formatVersion: 3,
      schema: SCHEMA,
      snapshots: [
        {
          sequenceNumber: 9,
          manifests: [
            { entries: [{ sequenceNumber: 1, dataFile: { filePath: 'd', ...stated(1, long(1, 9)) } }] },
            {
              content: 'deletes',
              entries: [
                {
                  dataFile: {
                    filePath: 'v',
                    content: 1,
                    fileFormat: 'puffin',
                    referencedDataFile: 'd',
                    contentOffset: 4,
                    contentSizeInBytes: 6,
                  },
                },
                { dataFile: { filePath: 'far', content: 2, equalityIds: [1], ...stated(1, long(20, 30)) } },
                { dataFile: { filePath: 'near', content: 2, equalityIds: [1], ...stated(1, long(2, 3)) } },
              ],
            },
          ],
        },
      ],
    })
    assert.deepEqual((await planBuilt(built)).tasks.map(namesOf), [['d', 'near', 'v@4']])
  })
})

describe('R7.18: the column of a key', () => {
  const withKey = (schemaId: number, key?: { required: boolean; type: string }): SchemaInput => ({
    'schema-id': schemaId,
    fields: [
      ...FIELDS.slice(0, 1),
      REGION,
      ...(key === undefined ? [] : [{ id: 40, name: `k${schemaId}`, ...key }]),
    ],
  })
  const required = { required: true, type: 'int' }
  const optional = { required: false, type: 'int' }
  const rows: [
    expected: 'applies' | 'cannot',
    schemas: SchemaInput[],
    data: Metrics,
    deletes: Metrics,
    why: string,
  ][] = [
    ['cannot', [withKey(0, required), withKey(1)], int(1, 9), int(20, 30), 'a dropped column is still known'],
    ['cannot', [withKey(0, optional), withKey(1)], full(int(1, 9)), int(20, 30), 'with its counts'],
    ['applies', [withKey(0, optional), withKey(1)], int(1, 9), int(20, 30), 'optional as it was'],
    [
      'applies',
      [withKey(0, required), withKey(1, optional)],
      int(1, 9),
      int(20, 30),
      'the newest says optional',
    ],
    [
      'cannot',
      [withKey(5, required), withKey(2, optional), withKey(3)],
      int(1, 9),
      int(20, 30),
      'the highest id wins, wherever it stands',
    ],
    [
      'applies',
      [withKey(2, required), withKey(5, optional), withKey(3)],
      int(1, 9),
      int(20, 30),
      'also where it says less',
    ],
    [
      'cannot',
      [withKey(0, required), withKey(1, { required: true, type: 'long' })],
      int(1, 9),
      long(20, 30),
      'its type is that of the newest',
    ],
  ]
  for (const scope of SCOPES)
    for (const [expected, schema, data, deletes, why] of rows)
      it(`${scope}: ${expected}: ${why}`, async () => {
        const built = tableOf(
          scope,
          stated(40, data),
          { equalityIds: [40], ...stated(40, deletes) },
          { schema },
        )
        assertVerdict(await planBuilt(built), expected)
      })

  it('also when an older snapshot is read, whose schema does not have it', async () => {
    const schema = [withKey(0), withKey(1, required)]
    const deletes = { equalityIds: [40], ...stated(40, int(20, 30)) }
    const built = tableOf('global', stated(40, int(1, 9)), deletes, { schema, snapshot: { schemaId: 0 } })
    assertVerdict(await planBuilt(built, { snapshotId: built.snapshots[0].snapshotId }), 'cannot')
  })
})

describe('R7.4: equality deletes that the filter rules out', () => {
  const rows: [filter: string, deletes: DataFileInput, isKept: boolean, why: string][] = [
    ['id = 9', stated(1, long(1, 4)), false, 'keys 1 to 4'],
    ['id = 9', stated(1, long(1, 10)), true, 'keys 1 to 10'],
    ["s = 'x'", stated(6, text('a', 'b')), true, 'the upsert hole: s is no key'],
    [
      "id = 9 AND s = 'x'",
      { ...stated(1, long(1, 4)), lowerBounds: { 1: long(1, 4).lower!, 6: text('x', 'x').lower! } },
      false,
      'by the key',
    ],
  ]
  for (const scope of SCOPES)
    for (const [filter, deletes, isKept, why] of rows)
      it(`${scope}: ${isKept ? 'kept' : 'dropped'} for ${filter}: ${why}`, async () => {
        const built = tableOf(scope, {}, { equalityIds: [1], ...deletes })
        const { plan, tasks } = await planBuilt(built, { filter })
        assert.deepEqual(
          tasks.map(namesOf),
          isKept
            ? [
                ['d', 'e'],
                ['other', 'e'],
              ]
            : [['d'], ['other']],
        )
        assert.equal(plan.report.skippedDeleteFiles, isKept ? 0 : 1)
        assert.equal(plan.report.indexedDeleteFiles, isKept ? 1 : 0)
        assert.equal(plan.report.scannedDeleteManifests, 1)
      })
})

describe('a snapshot whose summary says that there are no equality deletes', () => {
  for (const count of ['0', '1'])
    it(`total-equality-deletes ${count}: where it is wrong, deletes apply all the same`, async () => {
      const deletes = { equalityIds: [1], ...stated(1, long(20, 30)) }
      const snapshot = { summary: { 'total-equality-deletes': count } }
      const built = tableOf('partition', stated(1, long(1, 10)), deletes, { snapshot })
      assertVerdict(await planBuilt(built), count === '0' ? 'applies' : 'cannot')
      const filtered = await planBuilt(built, { filter: 'id = 9' })
      const names =
        count === '0'
          ? [
              ['d', 'e'],
              ['other', 'e'],
            ]
          : [['d'], ['other']]
      assert.deepEqual(filtered.tasks.map(namesOf), names)
    })
})
