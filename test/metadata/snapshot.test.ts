import { assert } from 'chai'
import { isIcebergError, type IcebergErrorCode } from '../../src/errors.ts'
import { partitionFields } from '../../src/metadata/partition-spec.ts'
import { parseSnapshot, selectSnapshot, type SnapshotSelection } from '../../src/metadata/snapshot.ts'
import { parseTableMetadata, type TableMetadata } from '../../src/metadata/table-metadata.ts'
import { metadataText } from './metadata-text.ts'

/** Column 1 was called `a` in schema 0 and is called `b` in schema 1, the current one; column 2 came with schema 1. */
const SCHEMAS = [
  { type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'a', required: true, type: 'int' }] },
  {
    type: 'struct',
    'schema-id': 1,
    fields: [
      { id: 1, name: 'b', required: true, type: 'int' },
      { id: 2, name: 'day', required: false, type: 'date' },
    ],
  },
]
const BIG = 3_051_729_675_574_597_004n

const snapshot = (id: bigint | number, extra: object = {}): object => ({
  'snapshot-id': id,
  'timestamp-ms': 10,
  'manifest-list': `s3://b/t/metadata/snap-${id}.avro`,
  summary: { operation: 'append' },
  'schema-id': 0,
  ...extra,
})

/**
 * | snapshot | schema  | named by                                  |
 * | -------- | ------- | ----------------------------------------- |
 * | 1        | 0       | branch `dev`, tag `v1`; current at 10, 30 |
 * | 2        | none    | current at 20                             |
 * | BIG      | 0       | `main`, current since 40                  |
 */
const table = (changes: object = {}): TableMetadata =>
  parseTableMetadata(
    metadataText({
      schemas: SCHEMAS,
      'current-schema-id': 1,
      'partition-specs': [
        { 'spec-id': 0, fields: [] },
        { 'spec-id': 1, fields: [{ 'source-id': 2, 'field-id': 1000, name: 'day', transform: 'identity' }] },
      ],
      snapshots: [snapshot(1), snapshot(2, { 'schema-id': null }), snapshot(BIG)],
      'current-snapshot-id': BIG,
      refs: {
        main: { type: 'branch', 'snapshot-id': BIG },
        dev: { type: 'branch', 'snapshot-id': 1 },
        v1: { type: 'tag', 'snapshot-id': 1 },
      },
      'snapshot-log': [
        { 'timestamp-ms': 40, 'snapshot-id': BIG },
        { 'timestamp-ms': 10, 'snapshot-id': 1 },
        { 'timestamp-ms': 20, 'snapshot-id': 2 },
        { 'timestamp-ms': 30, 'snapshot-id': 1 },
        { 'timestamp-ms': 30, 'snapshot-id': 2 },
      ],
      ...changes,
    }),
    's3://b/t/metadata/v1.metadata.json',
  )

describe('selectSnapshot', () => {
  const rows: [selection: SnapshotSelection, snapshotId: bigint, schemaId: number, reason: string][] = [
    [{}, BIG, 1, 'R1.1: the current snapshot, with the current schema and not its own'],
    [{ snapshotId: undefined, ref: undefined, asOf: undefined }, BIG, 1, 'R1.1: options left open'],
    [{ ref: 'main' }, BIG, 1, 'R1.6: main is no selection'],
    [{ ref: 'main', snapshotId: 1n }, 1n, 0, 'R1.6: main goes with another selection'],
    [{ snapshotId: BIG }, BIG, 0, 'R1.5: by id with its own schema, also the current one'],
    [{ snapshotId: 2n }, 2n, 1, 'R1.5: a snapshot without schema-id takes the current schema'],
    [{ ref: 'dev' }, 1n, 1, 'R1.6: a branch takes the current schema'],
    [{ ref: 'v1' }, 1n, 0, "R1.6: a tag takes the snapshot's schema"],
    [{ asOf: 10 }, 1n, 0, 'R1.7: inclusive'],
    [{ asOf: 29 }, 2n, 1, 'R1.7: the latest at or before'],
    [{ asOf: 35 }, 1n, 0, 'R1.7: after a rollback, and the first of equal times'],
    [{ asOf: 1e15 }, BIG, 0, 'R1.7: the log need not be sorted'],
  ]
  for (const [selection, snapshotId, schemaId, reason] of rows)
    it(reason, () => {
      const metadata = table()
      const selected = selectSnapshot(metadata, selection)
      assert.equal(selected.snapshot?.snapshotId, snapshotId)
      assert.equal(selected.schema.schemaId, schemaId)
      assert.equal(selected.schema, metadata.schemaById(schemaId))
    })

  const refused: [
    selection: SnapshotSelection,
    changes: object,
    code: IcebergErrorCode,
    message: RegExp,
    reason: string,
  ][] = [
    [
      { snapshotId: 3n },
      {},
      'ERR_INVALID_ARGUMENT',
      /Cannot find snapshot 3 in s3:.*: it has the snapshots 1, 2, 3051729675574597004$/,
      'R1.5: an unknown id, and says which there are',
    ],
    [
      { snapshotId: 3n },
      { snapshots: [1, 2, 4, 5, 6, 7, BIG].map((id) => snapshot(id)) },
      'ERR_INVALID_ARGUMENT',
      /the snapshots 1, 2, 4, 5, 6, \.\.\. \(7 in all\)$/,
      'R1.5: an unknown id in a long history',
    ],
    [
      { ref: 'Dev' },
      {},
      'ERR_INVALID_ARGUMENT',
      /Cannot find ref "Dev" in .*: it has the refs main, dev, v1$/,
      'R1.6: an unknown ref, and says which there are',
    ],
    [
      { asOf: 9 },
      {},
      'ERR_INVALID_ARGUMENT',
      /older than 1970-01-01T00:00:00.009Z in .* begins at 1970-01-01T00:00:00.010Z$/,
      'R1.7, B159: a time before the log',
    ],
    [
      { asOf: 100 },
      { 'snapshot-log': null },
      'ERR_INVALID_ARGUMENT',
      /its snapshot log is empty$/,
      'B159: no log, whatever times the snapshots have',
    ],
    [{ asOf: NaN }, {}, 'ERR_INVALID_ARGUMENT', /NaN ms/, 'a time that is no number'],
    [
      { asOf: 10 },
      { 'snapshot-log': [{ 'timestamp-ms': 5, 'snapshot-id': 77 }] },
      'ERR_INVALID_ARGUMENT',
      /Cannot find snapshot 77/,
      'R1.7: an expired snapshot in the log',
    ],
    [
      { snapshotId: 1n, ref: 'dev' },
      {},
      'ERR_INVALID_ARGUMENT',
      /by snapshot id 1 and by ref "dev": only one/,
      'R1.8: an id and a ref, even of the same snapshot',
    ],
    [
      { snapshotId: 1n, asOf: 10 },
      {},
      'ERR_INVALID_ARGUMENT',
      /by snapshot id 1 and by time 1970-01-01T00:00:00.010Z/,
      'R1.8: an id and a time',
    ],
    [
      { snapshotId: 1n },
      { snapshots: [snapshot(1, { 'schema-id': 9 }), snapshot(2), snapshot(BIG)] },
      'ERR_INVALID_METADATA',
      /its schema 9 is not in the metadata/,
      'R1.5: a schema-id without schema',
    ],
    [
      { snapshotId: 1n },
      { snapshots: [snapshot(1, { 'manifest-list': null }), snapshot(2), snapshot(BIG)] },
      'ERR_INVALID_METADATA',
      /neither a manifest list nor manifests/,
      'R1.12: a snapshot that names no manifests',
    ],
  ]
  for (const [selection, changes, code, message, reason] of refused)
    it(`refuses ${reason}`, () => {
      try {
        selectSnapshot(table(changes), selection)
      } catch (error) {
        assert.isTrue(isIcebergError(error, code), String(error))
        assert.match((error as Error).message, message)
        return
      }
      assert.fail('it must fail')
    })

  it('R1.2: a table without a snapshot gives none', () => {
    const empty = { snapshots: [], refs: {}, 'current-snapshot-id': -1 }
    for (const selection of [{}, { ref: 'main' }])
      assert.isUndefined(selectSnapshot(table(empty), selection).snapshot)
    assert.throws(() => selectSnapshot(table(empty), { snapshotId: 1n }), /it has no snapshots$/)
  })

  it('R1.9, R1.10, B161: specs serve the schema of the plan, also where it lacks their column', () => {
    const types = (selection: SnapshotSelection): unknown => {
      const { schema, specs } = selectSnapshot(table(), selection)
      return partitionFields(specs.get(1)!, schema).map(({ type }) => type.kind)
    }
    assert.deepEqual(types({}), ['date'])
    assert.deepEqual(types({ ref: 'dev' }), ['date'])
    assert.deepEqual(types({ ref: 'v1' }), ['unknown'])
  })
})

describe('parseSnapshot', () => {
  it('reads every field', () => {
    assert.deepEqual(
      parseSnapshot({
        'snapshot-id': BIG,
        'parent-snapshot-id': 2,
        'sequence-number': 3,
        'timestamp-ms': 1_602_638_573_874,
        'manifest-list': 's3://b/list.avro',
        summary: { operation: 'delete', 'total-records': '5' },
        'schema-id': 1,
        'first-row-id': 2n ** 60n,
        'added-rows': 12,
        'key-id': 'k',
      }),
      {
        snapshotId: BIG,
        parentSnapshotId: 2n,
        sequenceNumber: 3n,
        timestampMs: 1_602_638_573_874,
        manifestList: 's3://b/list.avro',
        manifests: undefined,
        summary: new Map([
          ['operation', 'delete'],
          ['total-records', '5'],
        ]),
        operation: 'delete',
        schemaId: 1,
        firstRowId: 2n ** 60n,
        addedRows: 12,
        keyId: 'k',
      },
    )
  })

  const operations: [summary: unknown, operation: string | undefined, reason: string][] = [
    [undefined, undefined, 'R1.13, B169: no summary'],
    [null, undefined, 'B174: null'],
    [{}, undefined, 'R1.13: an empty summary'],
    [{ 'added-files': '1' }, 'overwrite', 'R1.13: a summary without operation'],
    [{ operation: 'merge' }, 'merge', 'B169: an unknown operation is kept'],
    [{ operation: 'append', n: 5, none: null }, 'append', 'values that are no strings'],
  ]
  for (const [summary, operation, reason] of operations)
    it(`${reason}: the operation is ${operation ?? 'not known'}`, () => {
      assert.equal(parseSnapshot({ 'snapshot-id': 1, 'timestamp-ms': 1, summary }).operation, operation)
    })

  it('R1.12: keeps inline manifests of v1', () => {
    const parsed = parseSnapshot({ 'snapshot-id': 1, 'timestamp-ms': 1, manifests: ['a', 'b'] })
    assert.deepEqual(parsed.manifests, ['a', 'b'])
    assert.throws(
      () => parseSnapshot({ 'snapshot-id': 1, 'timestamp-ms': 1, manifests: [1] }),
      /"manifests" holds 1/,
    )
  })

  it('takes a parent of -1 as none, and ids from all 64 bits', () => {
    const parsed = parseSnapshot({
      'snapshot-id': 2n ** 64n - 1n,
      'parent-snapshot-id': -1,
      'timestamp-ms': 1,
    })
    assert.equal(parsed.snapshotId, 2n ** 64n - 1n)
    assert.isUndefined(parsed.parentSnapshotId)
    assert.throws(
      () => parseSnapshot({ 'snapshot-id': 2n ** 64n, 'timestamp-ms': 1 }),
      /not a 64-bit integer/,
    )
  })
})
