import { assert } from 'chai'
import { decodeWithAvsc, AvscRefusal } from '../../src/verify/avsc-decoder.ts'
import type { AvscValue } from '../../src/verify/avsc-shape.ts'
import { CorruptFileError, UnsupportedFeatureError } from '../../src/errors.ts'
import { writeContainer, type Codec, type ContainerOptions } from '../support/avro-container.ts'
import type { AvroSchema } from '../support/avro-encoder.ts'

/** One record type of every Avro type that manifests use, with ids in an order of their own. */
const SCHEMA = {
  type: 'record',
  name: 'entry',
  fields: [
    { name: 'id', type: ['null', 'long'], default: null, 'field-id': 9 },
    { name: 'small', type: 'int', 'field-id': '3' },
    { name: 'text', type: ['string', 'null'], 'field-id': 4 },
    { name: 'raw', type: 'bytes', 'field-id': 5 },
    { name: 'real', type: 'double', 'field-id': 6 },
    { name: 'flag', type: { type: 'boolean' }, 'field-id': 7 },
    { name: 'offsets', type: { type: 'array', items: { type: 'long' }, 'element-id': 133 }, 'field-id': 132 },
    {
      name: 'counts',
      type: {
        type: 'array',
        logicalType: 'map',
        items: {
          type: 'record',
          name: 'k117_v118',
          fields: [
            { name: 'key', type: 'int', 'field-id': 117 },
            { name: 'value', type: 'long', 'field-id': 118 },
          ],
        },
      },
      'field-id': 108,
    },
  ],
}

const RECORD = {
  id: 2n ** 62n + 1n,
  small: -7,
  text: 'größe',
  raw: Uint8Array.of(1, 0, 255),
  real: -0.5,
  flag: true,
  offsets: [4n, 2n ** 53n + 1n],
  counts: [
    { key: 1, value: 10n },
    { key: 2, value: 20n },
    { key: 1, value: 11n },
  ],
}

function container(options: ContainerOptions = {}, records: unknown[] = [RECORD]): Uint8Array {
  return writeContainer(SCHEMA, records, { 'format-version': '2' }, options)
}

/** The only record of a file with the one field `f`, id 1, of the given type. */
function decodeField(type: unknown, value: unknown): AvscValue | undefined {
  const schema = { type: 'record', name: 'r', fields: [{ name: 'f', type, 'field-id': 1 }] }
  return decodeWithAvsc(writeContainer(schema as AvroSchema, [{ f: value }])).records[0].get(1)
}

describe('avsc decoder: values by field id', () => {
  it('keeps longs exact, takes unions and maps apart, and knows nothing of names', () => {
    const { records, metadata, blocks, codec, refusal } = decodeWithAvsc(container())
    assert.equal(blocks, 1)
    assert.equal(codec, 'deflate')
    assert.isUndefined(refusal)
    assert.equal(Buffer.from(metadata.get('format-version')!).toString(), '2')
    assert.deepEqual(
      [...records[0]].map(([id, value]) => [id, value instanceof Uint8Array ? [...value] : value]),
      [
        [9, 2n ** 62n + 1n],
        [3, -7],
        [4, 'größe'],
        [5, [1, 0, 255]],
        [6, -0.5],
        [7, true],
        [132, [4n, 2n ** 53n + 1n]],
        [
          108,
          new Map([
            [1, 11n],
            [2, 20n],
          ]),
        ],
      ],
    )
  })

  it('keeps a null as null, in either order of branches', () => {
    const record = decodeWithAvsc(container({}, [{ ...RECORD, id: null, text: null }])).records[0]
    assert.isNull(record.get(9))
    assert.isNull(record.get(4))
  })

  it('finds ids behind a named type used twice', () => {
    const pair = { type: 'record', name: 'p', fields: [{ name: 'x', type: 'int', 'field-id': 2 }] }
    const schema = {
      type: 'record',
      name: 'r',
      namespace: 'some.where',
      fields: [
        { name: 'a', type: pair, 'field-id': 1 },
        { name: 'b', type: ['null', 'p'], 'field-id': 3 },
      ],
    }
    const [record] = decodeWithAvsc(writeContainer(schema, [{ a: { x: 5 }, b: { x: 6 } }])).records
    assert.deepEqual(record.get(1), new Map([[2, 5]]))
    assert.deepEqual(record.get(3), new Map([[2, 6]]))
  })

  it('knows a map without logicalType by its ids, and one without ids by its names (R4.12)', () => {
    const byId = {
      type: 'record',
      name: 'm',
      fields: [
        { name: 'k', type: 'int', 'field-id': 119 },
        { name: 'v', type: 'long', 'field-id': 120 },
      ],
    }
    assert.deepEqual(decodeField({ type: 'array', items: byId }, [{ k: 1, v: 2n }]), new Map([[1, 2n]]))
    const byName = {
      type: 'record',
      name: 'm',
      fields: [
        { name: 'value', type: ['null', 'long'] },
        { name: 'key', type: ['null', 'int'] },
      ],
    }
    const optional = { type: 'array', logicalType: 'map', items: ['null', byName] }
    assert.deepEqual(decodeField(optional, [{ value: 2n, key: 1 }]), new Map([[1, 2n]]))
  })

  it('refuses a schema with only some ids', () => {
    const schema = {
      type: 'record',
      name: 'r',
      fields: [
        { name: 'status', type: 'int', 'field-id': 0 },
        { name: 'snapshot_id', type: 'long' },
      ],
    }
    const bytes = writeContainer(schema, [{ status: 1, snapshot_id: 2n }])
    assert.throws(
      () => decodeWithAvsc(bytes),
      CorruptFileError,
      'the field "snapshot_id" has none, others do',
    )
  })

  it('takes ids from names, old ones included, where a file has none at all (format-reference 3.4)', () => {
    const list = {
      type: 'record',
      name: 'manifest_file',
      fields: [
        { name: 'manifest_path', type: 'string' },
        { name: 'added_data_files_count', type: ['null', 'int'] },
        { name: 'engine_note', type: 'string' },
        {
          name: 'partitions',
          type: {
            type: 'array',
            items: { type: 'record', name: 'r508', fields: [{ name: 'contains_null', type: 'boolean' }] },
          },
        },
      ],
    }
    const row = {
      manifest_path: 'm',
      added_data_files_count: 3,
      engine_note: 'x',
      partitions: [{ contains_null: true }],
    }
    const { records } = decodeWithAvsc(writeContainer(list, [row]))
    assert.deepEqual(
      [...records[0]],
      [
        [500, 'm'],
        [504, 3],
        [507, [new Map([[509, true]])]],
      ],
    )
  })

  it('takes the ids of the partition from the header where a file has none at all', () => {
    const fields = [{ name: 'day', type: 'int' }]
    const entry = {
      type: 'record',
      name: 'manifest_entry',
      fields: [
        {
          name: 'data_file',
          type: {
            type: 'record',
            name: 'r2',
            fields: [{ name: 'partition', type: { type: 'record', name: 'r102', fields } }],
          },
        },
      ],
    }
    const spec = JSON.stringify([{ name: 'day', transform: 'day', 'source-id': 4, 'field-id': 1007 }])
    const bytes = writeContainer(entry, [{ data_file: { partition: { day: 20_000 } } }], {
      'partition-spec': spec,
    })
    assert.deepEqual(
      decodeWithAvsc(bytes).records[0],
      new Map([[2, new Map([[102, new Map([[1007, 20_000]])]])]]),
    )
  })
})

describe('avsc decoder: the container', () => {
  const codecs: [Codec, ContainerOptions, string][] = [
    ['null', {}, 'plain'],
    ['null', { codecName: null }, 'no avro.codec in the header'],
    ['deflate', {}, 'raw deflate'],
    ['deflate', { deflateTrailing: 3 }, 'three stray bytes after the stream, as PyIceberg leaves'],
    ['snappy', {}, 'with its CRC-32'],
    ['zstandard', {}, 'raw block, content size given'],
    ['zstandard', { zstandardWithoutSize: true }, 'raw block, content size missing'],
  ]
  for (const [codec, options, why] of codecs) {
    it(`reads ${codec}: ${why} (R4.19)`, () => {
      const file = decodeWithAvsc(container({ codec, ...options }, [RECORD, RECORD, RECORD]))
      assert.equal(file.codec, codec)
      assert.equal(file.records.length, 3)
      assert.equal(file.records[2].get(9), RECORD.id)
    })
  }

  it('reads one record per block', () => {
    const file = decodeWithAvsc(container({ entriesPerBlock: 1 }, [RECORD, RECORD, RECORD]))
    assert.equal(file.blocks, 3)
    assert.equal(file.records.length, 3)
  })

  it('reads a file of no blocks', () => {
    const file = decodeWithAvsc(container({}, []))
    assert.equal(file.blocks, 0)
    assert.deepEqual(file.records, [])
  })

  it('refuses a snappy block with a wrong CRC-32 (B025)', () => {
    const bytes = container({ codec: 'snappy' })
    bytes[bytes.length - 17] ^= 1
    assert.throws(
      () => decodeWithAvsc(bytes),
      CorruptFileError,
      /block 0 \(snappy\): the CRC-32 of the plain bytes is 0x/,
    )
  })

  it('refuses a codec it does not know, by name', () => {
    assert.throws(() => decodeWithAvsc(container({ codecName: 'bzip2' })), UnsupportedFeatureError, '"bzip2"')
  })

  it('refuses a wrong sync marker', () => {
    const bytes = container()
    bytes[bytes.length - 1] ^= 1
    assert.throws(() => decodeWithAvsc(bytes), CorruptFileError, 'sync marker')
  })

  it('refuses every truncation', () => {
    const bytes = container({ codec: 'null' })
    const headerEnd = decodeHeaderLength(bytes)
    for (let length = 0; length < bytes.length; length++) {
      if (length === headerEnd) continue // a file of no blocks
      assert.throws(() => decodeWithAvsc(bytes.subarray(0, length)), CorruptFileError)
    }
  })

  /** The sync marker closes the header and the only block. */
  function decodeHeaderLength(bytes: Uint8Array): number {
    return Buffer.from(bytes).indexOf(bytes.subarray(-16)) + 16
  }
})

describe('avsc decoder: names that avsc refuses', () => {
  const fixed = { type: 'fixed', name: 'x', size: 2 }
  const rows: [
    why: string,
    fields: unknown[],
    record: object,
    refusal: string,
    expected: [number, AvscValue][],
  ][] = [
    [
      'a dash in a field name',
      [{ name: 'a-b', type: 'long', 'field-id': 1 }],
      { 'a-b': 1n },
      'invalid field name: a-b',
      [[1, 1n]],
    ],
    [
      'a field name that is not ASCII',
      [{ name: '日', type: ['null', 'int'], 'field-id': 1 }],
      { 日: 3 },
      'invalid field name: 日',
      [[1, 3]],
    ],
    [
      'a type defined twice, alike',
      [
        { name: 'a', type: fixed, 'field-id': 1 },
        { name: 'b', type: fixed, 'field-id': 2 },
        { name: 'c', type: 'x', 'field-id': 3 },
      ],
      { a: Buffer.of(1, 2), b: Buffer.of(3, 4), c: Buffer.of(5, 6) },
      'duplicate type name: x',
      [
        [1, Buffer.of(1, 2)],
        [2, Buffer.of(3, 4)],
        [3, Buffer.of(5, 6)],
      ],
    ],
    [
      'a name that sets a prototype',
      [
        { name: '__proto__', type: 'int', 'field-id': 1 },
        { name: 'b', type: 'int', 'field-id': 2 },
      ],
      JSON.parse('{ "__proto__": 1, "b": 2 }') as object,
      'unsafe name: __proto__',
      [
        [1, 1],
        [2, 2],
      ],
    ],
  ]
  for (const [why, fields, record, refusal, expected] of rows) {
    it(`decodes with other names and says so: ${why}`, () => {
      const bytes = writeContainer({ type: 'record', name: 'r', fields } as AvroSchema, [record])
      const file = decodeWithAvsc(bytes)
      assert.equal(file.refusal, refusal)
      assert.deepEqual([...file.records[0]], expected)
    })
  }

  it('gives up with the message of avsc where a reference could mean two types', () => {
    const fields = [
      { name: 'a', type: fixed, 'field-id': 1 },
      { name: 'b', type: { ...fixed, size: 3 }, 'field-id': 2 },
      { name: 'c', type: 'x', 'field-id': 3 },
    ]
    const readable = { type: 'record', name: 'r', fields: [] }
    const schema = { type: 'record', name: 'r', fields }
    const bytes = writeContainer(readable, [], { 'avro.schema': JSON.stringify(schema) })
    assert.throws(() => decodeWithAvsc(bytes), AvscRefusal, 'duplicate type name: x')
  })
})
