/** Partition tuples: what writers store, what it means, and when two are the same partition (R4.11, R7.9). */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { partitionToJson } from '../../src/manifest/content-file.ts'
import type { EntryBatch } from '../../src/manifest/entry-batch.ts'
import { EntryBatchBuilder } from '../../src/manifest/entry-batch-builder.ts'
import { FULL_PROJECTION } from '../../src/manifest/entry-fields.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { type PartitionType, partitionType } from '../../src/manifest/partition-key.ts'
import { createPartitionSpec, parsePartitionSpec } from '../../src/metadata/partition-spec.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { parseType } from '../../src/types/type.ts'
import type { Value } from '../../src/types/value.ts'
import type { AvroSchema } from '../support/avro-encoder.ts'
import { type ManifestOptions, writeManifest } from '../support/manifest-writer.ts'
import { thrown } from '../support/rejection.ts'
import { extraFieldsOfEveryType, Preencoded } from '../support/table-writer.ts'
import { entryOf, manifestFile, MANIFEST_PATH, roundTrip } from './manifest-reading.ts'

/** A spec of identity fields with ids from 1000 on, of these types. */
function typeOf(types: Record<string, string>, specId = 0): PartitionType {
  const fields = Object.entries(types).map(([name, type], i) => ({
    fieldId: 1000 + i,
    name,
    type: parseType(type),
  }))
  const spec = createPartitionSpec(
    specId,
    fields.map(({ fieldId, name }) => ({ sourceId: 1, fieldId, name, transform: { kind: 'identity' } })),
  )
  return { spec, specId, fields }
}

interface Stored {
  avroType: AvroSchema
  value: unknown
  write?: Partial<ManifestOptions>
}

/** One manifest for each, with one entry, all in one batch. */
function batchOf(type: string, ...stored: Stored[]): EntryBatch {
  const builder = new EntryBatchBuilder(FULL_PROJECTION, new ManifestCache(), () => lookup)
  const lookup = typeOf({ p: type })
  for (const { avroType, value, write } of stored) {
    const partition = [{ fieldId: 1000, name: 'p', avroType }]
    const entries = [{ dataFile: { partition: [value] } }]
    builder.add(writeManifest({ entries, partition, ...write }), manifestFile(), MANIFEST_PATH)
  }
  return builder.finish()
}

const fixed = (size: number, logicalType?: string): AvroSchema => ({
  type: 'fixed',
  name: `fixed_${size}`,
  size,
  ...(logicalType === undefined ? {} : { logicalType }),
})
const logical = (type: string, logicalType: string, more: object = {}): AvroSchema => ({
  type,
  logicalType,
  ...more,
})
const decimal = (size?: number): AvroSchema => ({
  ...(size === undefined ? { type: 'bytes' } : { type: 'fixed', name: `decimal_${size}`, size }),
  logicalType: 'decimal',
  precision: 9,
  scale: 2,
})
/** A value of an optional field, branch byte included. */
const raw = (...bytes: number[]) => new Preencoded(Uint8Array.of(2, ...bytes))
const bytesOf = (...bytes: number[]) => Uint8Array.of(...bytes)

const UUID = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'
const UUID_BYTES = Uint8Array.from(Buffer.from(UUID.replaceAll('-', ''), 'hex'))
const NOT_A_NUMBER = [0, 0, 0xc0, 0x7f]
const ANOTHER_NAN = [1, 0, 0xc0, 0xff]

describe('one partition value, written in several ways (R7.9)', () => {
  const rows: [why: string, type: string, value: Value | null, stored: Stored[]][] = [
    [
      'a promoted column: the old manifest has an int',
      'long',
      5n,
      [
        { avroType: 'int', value: 5 },
        { avroType: 'long', value: 5 },
      ],
    ],
    [
      'negative and promoted',
      'long',
      -2147483648n,
      [
        { avroType: 'int', value: -2147483648 },
        { avroType: 'long', value: -2147483648 },
      ],
    ],
    [
      'a long where the column is an int',
      'int',
      7,
      [
        { avroType: 'long', value: 7 },
        { avroType: 'int', value: 7 },
      ],
    ],
    [
      'B015: a day is written as date or as plain int',
      'date',
      17501,
      [
        { avroType: logical('int', 'date'), value: 17501 },
        { avroType: 'int', value: 17501 },
      ],
    ],
    [
      'B015: a day before 1970',
      'date',
      -1,
      [
        { avroType: logical('int', 'date'), value: -1 },
        { avroType: 'int', value: -1 },
      ],
    ],
    [
      'B016: decimal 1.23 as fixed of any width and as bytes',
      'decimal(9, 2)',
      123n,
      [
        { avroType: decimal(4), value: bytesOf(0, 0, 0, 123) },
        { avroType: decimal(9), value: bytesOf(0, 0, 0, 0, 0, 0, 0, 0, 123) },
        { avroType: decimal(), value: bytesOf(123) },
        { avroType: decimal(), value: bytesOf(0, 123) },
        { avroType: 'bytes', value: bytesOf(123) },
      ],
    ],
    [
      'B016: decimal -1.23',
      'decimal(9, 2)',
      -123n,
      [
        { avroType: decimal(4), value: bytesOf(255, 255, 255, 133) },
        { avroType: decimal(), value: bytesOf(133) },
      ],
    ],
    [
      'B016: decimal 0',
      'decimal(9, 2)',
      0n,
      [
        { avroType: decimal(4), value: bytesOf(0, 0, 0, 0) },
        { avroType: decimal(), value: bytesOf(0) },
      ],
    ],
    [
      'a decimal whose first bit is set but not its sign',
      'decimal(9, 2)',
      200n,
      [
        { avroType: decimal(4), value: bytesOf(0, 0, 0, 200) },
        { avroType: decimal(), value: bytesOf(0, 200) },
      ],
    ],
    [
      'the greatest decimal',
      'decimal(38, 0)',
      10n ** 38n - 1n,
      [
        { avroType: fixed(16), value: twosComplement(10n ** 38n - 1n, 16) },
        { avroType: 'bytes', value: twosComplement(10n ** 38n - 1n, 20) },
      ],
    ],
    [
      'B017: a uuid as fixed, with and without its logical type, as bytes, as text',
      'uuid',
      UUID,
      [
        { avroType: fixed(16, 'uuid'), value: UUID_BYTES },
        { avroType: fixed(16), value: UUID_BYTES },
        { avroType: 'bytes', value: UUID_BYTES },
        { avroType: logical('string', 'uuid'), value: UUID },
        { avroType: 'string', value: UUID.toUpperCase() },
        { avroType: 'string', value: UUID.replaceAll('-', '') },
      ],
    ],
    [
      'milliseconds and microseconds',
      'timestamp',
      1_512_151_975_038_000n,
      [
        { avroType: logical('long', 'timestamp-millis'), value: 1_512_151_975_038 },
        {
          avroType: logical('long', 'timestamp-micros', { 'adjust-to-utc': false }),
          value: 1_512_151_975_038_000n,
        },
        { avroType: 'long', value: 1_512_151_975_038_000n },
      ],
    ],
    [
      '"adjust-to-utc" as text',
      'timestamptz',
      -1n,
      [
        { avroType: logical('long', 'timestamp-micros', { 'adjust-to-utc': 'true' }), value: -1 },
        { avroType: logical('long', 'timestamp-micros', { 'adjust-to-utc': true }), value: -1 },
      ],
    ],
    [
      'time in milliseconds',
      'time',
      1000n,
      [
        { avroType: logical('int', 'time-millis'), value: 1 },
        { avroType: logical('long', 'time-micros'), value: 1000 },
      ],
    ],
    [
      'nanoseconds stay',
      'timestamp_ns',
      12345n,
      [{ avroType: logical('long', 'timestamp-nanos'), value: 12345 }],
    ],
    [
      'a promoted column: the old manifest has a date, or what is one as a plain int (B015)',
      'timestamp',
      1_512_086_400_000_000n,
      [
        { avroType: logical('int', 'date'), value: 17501 },
        { avroType: 'int', value: 17501 },
        { avroType: 'long', value: 1_512_086_400_000_000n },
      ],
    ],
    [
      'promoted to nanoseconds, before 1970',
      'timestamp_ns',
      -86_400_000_000_000n,
      [
        { avroType: logical('int', 'date'), value: -1 },
        { avroType: 'int', value: -1 },
      ],
    ],
    [
      'the last day that nanoseconds have',
      'timestamp_ns',
      9_223_286_400_000_000_000n,
      [{ avroType: logical('int', 'date'), value: 106_751 }],
    ],
    [
      'float and double',
      'double',
      1.5,
      [
        { avroType: 'float', value: 1.5 },
        { avroType: 'double', value: 1.5 },
      ],
    ],
    [
      'NaN is NaN, whatever its bits',
      'float',
      NaN,
      [
        { avroType: 'float', value: raw(...NOT_A_NUMBER) },
        { avroType: 'float', value: raw(...ANOTHER_NAN) },
        { avroType: 'double', value: NaN },
      ],
    ],
    [
      'fixed as fixed and as bytes',
      'fixed[3]',
      bytesOf(1, 2, 255),
      [
        { avroType: fixed(3), value: bytesOf(1, 2, 255) },
        { avroType: 'bytes', value: bytesOf(1, 2, 255) },
      ],
    ],
    [
      'binary, empty',
      'binary',
      bytesOf(),
      [
        { avroType: 'bytes', value: bytesOf() },
        { avroType: 'bytes', value: bytesOf(), write: { unionOrder: 'value-first' } },
      ],
    ],
    [
      'B010: unions in either order, and no union',
      'string',
      'eu-å💰',
      [
        { avroType: 'string', value: 'eu-å💰' },
        { avroType: 'string', value: 'eu-å💰', write: { unionOrder: 'value-first' } },
        { avroType: 'string', value: 'eu-å💰', write: { optional: { 1000: false } } },
        { avroType: 'bytes', value: Buffer.from('eu-å💰') },
      ],
    ],
    [
      'the empty string is a value',
      'string',
      '',
      [
        { avroType: 'string', value: '' },
        { avroType: 'string', value: '', write: { unionOrder: 'value-first' } },
      ],
    ],
    [
      'the least long',
      'long',
      -(2n ** 63n),
      [
        { avroType: 'long', value: -(2n ** 63n) },
        { avroType: 'long', value: -(2n ** 63n), write: { layout: { negativeCounts: true } } },
      ],
    ],
    ['the greatest long', 'long', 2n ** 63n - 1n, [{ avroType: 'long', value: 2n ** 63n - 1n }]],
    ['true', 'boolean', true, [{ avroType: 'boolean', value: true }]],
    ['false', 'boolean', false, [{ avroType: 'boolean', value: false }]],
    [
      'null, whatever the type; and a file that lacks the field',
      'timestamp',
      null,
      [
        { avroType: logical('long', 'timestamp-micros'), value: null },
        { avroType: 'int', value: null },
        { avroType: 'string', value: null, write: { unionOrder: 'value-first' } },
        { avroType: 'long', value: null, write: { omit: [1000] } },
        { avroType: 'long', value: null, write: { omit: [102] } },
      ],
    ],
    [
      'without ids, by name',
      'int',
      3,
      [
        { avroType: 'int', value: 3, write: { fieldIds: 'none' } },
        { avroType: 'int', value: 3, write: { fieldIds: 'strings' } },
        { avroType: 'int', value: 3 },
      ],
    ],
  ]
  for (const [why, type, value, stored] of rows)
    it(`${type}: ${why}`, () => {
      const batch = batchOf(type, ...stored)
      assert.equal(batch.partitionKeys.count, 1)
      for (let row = 0; row < stored.length; row++) assert.deepEqual(batch.partition(row), [value])
    })
})

describe('different partition values (R7.9)', () => {
  const rows: [why: string, type: string, stored: Stored[]][] = [
    [
      '-0.0 and 0.0',
      'float',
      [
        { avroType: 'float', value: -0 },
        { avroType: 'float', value: 0 },
      ],
    ],
    [
      '-0.0 and 0.0 as doubles',
      'double',
      [
        { avroType: 'double', value: -0 },
        { avroType: 'double', value: 0 },
      ],
    ],
    [
      'null and zero',
      'int',
      [
        { avroType: 'int', value: null },
        { avroType: 'int', value: 0 },
      ],
    ],
    [
      'null and the empty string',
      'string',
      [
        { avroType: 'string', value: null },
        { avroType: 'string', value: '' },
      ],
    ],
    [
      'longs that are one number in float64',
      'long',
      [
        { avroType: 'long', value: 2n ** 53n },
        { avroType: 'long', value: 2n ** 53n + 1n },
      ],
    ],
    [
      'a decimal and the same bytes with the other sign',
      'decimal(9, 2)',
      [
        { avroType: 'bytes', value: bytesOf(200) },
        { avroType: 'bytes', value: bytesOf(0, 200) },
      ],
    ],
    [
      'strings that differ in case',
      'string',
      [
        { avroType: 'string', value: 'EU' },
        { avroType: 'string', value: 'eu' },
      ],
    ],
    [
      'fixed values with leading zeros: bytes, not numbers',
      'fixed[2]',
      [
        { avroType: 'bytes', value: bytesOf(0, 1) },
        { avroType: 'bytes', value: bytesOf(1) },
      ],
    ],
  ]
  for (const [why, type, stored] of rows)
    it(`${type}: ${why}`, () => {
      assert.equal(batchOf(type, ...stored).partitionKeys.count, stored.length)
    })

  it('-0.0 comes back as -0.0', () => {
    const [value] = batchOf('double', { avroType: 'double', value: -0 }).partition(0)
    assert.isTrue(Object.is(value, -0))
  })

  it('where one value ends and the next begins', () => {
    const partition = ['a', 'b'].map((name, i) => ({ fieldId: 1000 + i, name, avroType: 'string' }))
    const tuples = [
      ['x', 'yz'],
      ['xy', 'z'],
      ['xyz', ''],
      ['xyz', null],
      [null, 'xyz'],
      ['x', 'yz'],
    ]
    const manifest = roundTrip(
      { entries: tuples.map((tuple) => ({ dataFile: { partition: tuple } })), partition },
      {},
      { partitionType: typeOf({ a: 'string', b: 'string' }) },
    )
    assert.equal(manifest.batch.partitionKeys.count, 5)
    assert.equal(manifest.batch.partitionIndex[0], manifest.batch.partitionIndex[5])
    tuples.forEach((tuple, row) => {
      assert.deepEqual(manifest.batch.partition(row), tuple)
    })
  })

  it('the same values under two spec ids', () => {
    const types = [typeOf({ p: 'int' }, 0), typeOf({ p: 'int' }, 1)]
    const builder = new EntryBatchBuilder(
      FULL_PROJECTION,
      new ManifestCache(),
      (manifest) => types[manifest.partitionSpecId],
    )
    const partition = [{ fieldId: 1000, name: 'p', avroType: 'int' }]
    const bytes = writeManifest({ entries: [{ dataFile: { partition: [1] } }], partition })
    for (const partitionSpecId of [0, 1, 0])
      builder.add(bytes, manifestFile({ partitionSpecId }), MANIFEST_PATH)
    const batch = builder.finish()
    assert.deepEqual(Array.from(batch.partitionIndex.subarray(0, 3)), [0, 1, 0])
  })
})

describe('fields of the tuple', () => {
  const int = (fieldId: number, name: string) => ({ fieldId, name, avroType: 'int' })

  it('are matched by id: their order in the file does not matter', () => {
    const manifest = roundTrip(
      {
        entries: [{ dataFile: { partition: [2, 1] } }],
        partition: [int(1001, 'wrong'), int(1000, 'also_wrong')],
      },
      {},
      { partitionType: typeOf({ a: 'int', b: 'int' }) },
    )
    assert.deepEqual(entryOf(manifest).dataFile.partition, [1, 2])
    assert.deepEqual(manifest.batch.segments[0].missingPartitionFields, [])
  })

  it('B074: one that the file lacks is null, and known to be missing', () => {
    const manifest = roundTrip(
      { entries: [{ dataFile: { partition: [1, 3] } }], partition: [int(1000, 'a'), int(1002, 'c')] },
      {},
      { partitionType: typeOf({ a: 'int', b: 'int', c: 'int' }) },
    )
    assert.deepEqual(entryOf(manifest).dataFile.partition, [1, null, 3])
    assert.deepEqual(manifest.batch.segments[0].missingPartitionFields, ['b'])
  })

  it('R4.15: the whole tuple is absent', () => {
    const unpartitioned = roundTrip({ entries: [{}], omit: [102] })
    assert.deepEqual(entryOf(unpartitioned).dataFile.partition, [])
    assert.deepEqual(unpartitioned.batch.segments[0].missingPartitionFields, [])
    const partitioned = roundTrip(
      { entries: [{}, {}], omit: [102] },
      {},
      { partitionType: typeOf({ p: 'int' }) },
    )
    assert.deepEqual(entryOf(partitioned, 1).dataFile.partition, [null])
    assert.deepEqual(partitioned.batch.segments[0].missingPartitionFields, ['p'])
  })

  it('R4.15: an empty record', () => {
    const manifest = roundTrip({ entries: [{}, {}] })
    assert.deepEqual(entryOf(manifest).dataFile.partition, [])
    assert.equal(manifest.batch.partitionKeys.count, 1)
  })

  it('one that the spec lacks is passed over, wherever it stands and whatever its type', () => {
    const simple = extraFieldsOfEveryType('partition', 0).filter(({ field }) => isSimple(field.type))
    assert.isAtLeast(simple.length, 10)
    for (const at of [0, 1, 9]) {
      const manifest = roundTrip(
        {
          entries: [{ dataFile: { partition: [1, 2] } }, { dataFile: { partition: [null, 3] } }],
          partition: [int(1000, 'a'), int(1001, 'b')],
          extraFields: simple.map((extra, i) => ({ ...extra, at: at + i })),
        },
        {},
        { partitionType: typeOf({ a: 'int', b: 'int' }) },
      )
      assert.deepEqual(entryOf(manifest).dataFile.partition, [1, 2])
      assert.deepEqual(entryOf(manifest, 1).dataFile.partition, [null, 3])
    }
  })

  it('the record may be a union with null', () => {
    for (const unionOrder of ['null-first', 'value-first'] as const) {
      const manifest = roundTrip(
        {
          entries: [{ dataFile: { partition: [7] } }],
          partition: [int(1000, 'p')],
          optional: { 102: true },
          unionOrder,
        },
        {},
        { partitionType: typeOf({ p: 'int' }) },
      )
      assert.deepEqual(entryOf(manifest).dataFile.partition, [7])
    }
  })

  const names: [original: string, inAvro: string][] = [
    ['ä-1.x', '_xE4_x2D1_x2Ex'],
    ['1st', '_1st'],
    ['a b', 'a_x20b'],
    ['日', '_x65E5'],
    ['plain_name', 'plain_name'],
  ]
  for (const [original, inAvro] of names)
    for (const fieldIds of ['all', 'none'] as const)
      it(`B018: "${original}" is ${inAvro} in Avro (${fieldIds === 'all' ? 'found by id' : 'by name'})`, () => {
        const manifest = roundTrip(
          {
            entries: [{ dataFile: { partition: [4] } }],
            partition: [int(1000, original)],
            names: { 1000: inAvro },
            fieldIds,
          },
          {},
          { partitionType: typeOf({ [original]: 'int' }) },
        )
        assert.deepEqual(entryOf(manifest).dataFile.partition, [4])
        assert.deepEqual(partitionToJson(entryOf(manifest).dataFile), { [original]: 4 })
      })

  it('B014: null in every logical type', () => {
    const types: Record<string, AvroSchema> = {
      date: logical('int', 'date'),
      time: logical('long', 'time-micros'),
      timestamp: logical('long', 'timestamp-micros'),
      'decimal(9, 2)': decimal(4),
      uuid: fixed(16, 'uuid'),
    }
    const kinds = Object.keys(types)
    const manifest = roundTrip(
      {
        entries: [{ dataFile: { partition: [] } }],
        partition: kinds.map((kind, i) => ({ fieldId: 1000 + i, name: `f${i}`, avroType: types[kind] })),
      },
      {},
      { partitionType: typeOf(Object.fromEntries(kinds.map((kind, i) => [`f${i}`, kind]))) },
    )
    assert.deepEqual(
      entryOf(manifest).dataFile.partition,
      kinds.map(() => null),
    )
  })

  it('R1.10: where the source column is gone the type of the file is trusted', () => {
    const schema = parseSchema({ type: 'struct', 'schema-id': 0, fields: [] })
    const gone = (name: string, id: number) => ({
      name,
      transform: 'identity',
      'source-id': 77,
      'field-id': id,
    })
    const names = ['text', 'bytes', 'number', 'uuid', 'decimal', 'double', 'yes', 'no']
    const spec = parsePartitionSpec(
      names.map((name, i) => gone(name, 1000 + i)),
      0,
    )
    const avroTypes = [
      'string',
      'bytes',
      'int',
      fixed(16, 'uuid'),
      decimal(4),
      'double',
      'boolean',
      'boolean',
    ]
    const values = ['a', bytesOf(1), 5, UUID_BYTES, bytesOf(0, 0, 0, 9), 0.5, true, false]
    const manifest = roundTrip(
      {
        entries: [{ dataFile: { partition: values } }],
        partition: names.map((name, i) => ({ fieldId: 1000 + i, name, avroType: avroTypes[i] })),
      },
      {},
      { partitionType: partitionType(spec, schema) },
    )
    assert.deepEqual(entryOf(manifest).dataFile.partition, ['a', bytesOf(1), 5n, UUID, 9n, 0.5, true, false])
  })
})

describe('partition values that cannot be', () => {
  const rows: [why: string, type: string, stored: Stored, message: RegExp][] = [
    ['a uuid of 15 bytes', 'uuid', { avroType: fixed(15), value: new Uint8Array(15) }, /uuid .* 15 bytes/],
    ['a uuid that is no hex', 'uuid', { avroType: 'string', value: 'x'.repeat(36) }, /uuid .* 36 bytes/],
    [
      'a decimal of 17 bytes',
      'decimal(38, 0)',
      { avroType: 'bytes', value: twosComplement(2n ** 130n, 17) },
      /decimal .* 17 bytes/,
    ],
    ['a decimal of no bytes', 'decimal(9, 2)', { avroType: 'bytes', value: bytesOf() }, /decimal .* 0 bytes/],
    [
      'a day after all nanoseconds',
      'timestamp_ns',
      { avroType: logical('int', 'date'), value: 106_752 },
      /106752 .* range of timestamp_ns/,
    ],
    [
      'a day before all nanoseconds',
      'timestamp_ns',
      { avroType: logical('int', 'date'), value: -106_752 },
      /-106752 .* range of timestamp_ns/,
    ],
    [
      'a day after all microseconds',
      'timestamp',
      { avroType: 'int', value: 2_147_483_647 },
      /2147483647 .* range of timestamp/,
    ],
    [
      'milliseconds after all microseconds',
      'timestamp',
      { avroType: logical('long', 'timestamp-millis'), value: 2n ** 62n },
      /4611686018427387904 .* range of timestamp/,
    ],
    ['an array', 'string', { avroType: { type: 'array', items: 'string' }, value: ['a'] }, /Avro type array/],
  ]
  for (const [why, type, stored, message] of rows)
    it(`${type}: ${why}`, () => {
      const error = thrown(() => batchOf(type, stored))
      assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), error.stack)
      assert.match(error.message, message)
      assert.equal(error.location, MANIFEST_PATH)
    })
})

describe('long keys', () => {
  it('a tuple longer than the buffer of the encoder', () => {
    const long = 'x'.repeat(1000)
    const longer = 'y'.repeat(100_000)
    const partition = ['a', 'b'].map((name, i) => ({ fieldId: 1000 + i, name, avroType: 'string' }))
    const manifest = roundTrip(
      {
        entries: [{ dataFile: { partition: [long, longer] } }, { dataFile: { partition: ['', long] } }],
        partition,
      },
      {},
      { partitionType: typeOf({ a: 'string', b: 'string' }) },
    )
    assert.deepEqual(manifest.batch.partition(0), [long, longer])
    assert.deepEqual(manifest.batch.partition(1), ['', long])
  })
})

function twosComplement(value: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) =>
    Number(BigInt.asUintN(8, value >> BigInt(8 * (size - 1 - i)))),
  )
}

/** What a partition field of any table could be. */
function isSimple(type: AvroSchema): boolean {
  if (Array.isArray(type)) return (type as AvroSchema[]).every(isSimple)
  if (typeof type === 'string') return true
  const { type: kind } = type as { type: AvroSchema }
  return !['array', 'map', 'record'].includes(kind as string)
}
