import { assert } from 'chai'
import { gzipSync } from 'node:zlib'
import { isIcebergError, type IcebergErrorCode } from '../../src/errors.ts'
import { parseTableMetadata, type TableMetadata } from '../../src/metadata/table-metadata.ts'
import { metadataText, metadataV1Text, SCHEMA } from './metadata-text.ts'

const LOCATION = 's3://b/t/metadata/v7.metadata.json'
const parse = (text: string | Uint8Array): TableMetadata => parseTableMetadata(text, LOCATION)
const snapshot = (id: bigint | number, sequenceNumber = 1): object => ({
  'snapshot-id': id,
  'sequence-number': sequenceNumber,
  'timestamp-ms': 1,
  'manifest-list': 's3://b/list.avro',
})

describe('parseTableMetadata', () => {
  it('reads every field of a full v3 file', () => {
    const metadata = parse(
      metadataText({
        'format-version': 3,
        'next-row-id': 2n ** 60n,
        properties: { 'write.format.default': 'parquet' },
        snapshots: [snapshot(3_051_729_675_574_597_004n)],
        'current-snapshot-id': 3_051_729_675_574_597_004n,
        'snapshot-log': [{ 'timestamp-ms': 1, 'snapshot-id': 3_051_729_675_574_597_004n }],
        'metadata-log': [{ 'timestamp-ms': 1, 'metadata-file': 's3://b/t/metadata/v6.metadata.json' }],
        refs: {
          main: { type: 'branch', 'snapshot-id': 3_051_729_675_574_597_004n },
          old: { type: 'TAG', 'snapshot-id': 3_051_729_675_574_597_004n, 'max-ref-age-ms': 2n ** 63n - 1n },
        },
        'sort-orders': [
          { 'order-id': 0, fields: [] },
          {
            'order-id': 1,
            fields: [
              { transform: 'bucket[4]', 'source-id': 1, direction: 'desc', 'null-order': 'nulls-last' },
            ],
          },
        ],
        'default-sort-order-id': 1,
        statistics: [
          {
            'snapshot-id': 3_051_729_675_574_597_004n,
            'statistics-path': 's3://b/stats.puffin',
            'file-size-in-bytes': 413,
            'file-footer-size-in-bytes': 42,
            'blob-metadata': [
              { type: 'ndv', 'snapshot-id': 1, 'sequence-number': 2, fields: [1], properties: { ndv: '5' } },
            ],
          },
        ],
        'partition-statistics': [
          { 'snapshot-id': 1, 'statistics-path': 's3://b/p.parquet', 'file-size-in-bytes': 43 },
        ],
        'encryption-keys': [{ 'key-id': 'k', 'encrypted-key-metadata': 'c2VjcmV0' }],
      }),
    )
    assert.equal(metadata.metadataLocation, LOCATION)
    assert.equal(metadata.location, 's3://b/t')
    assert.equal(metadata.lastSequenceNumber, 34n)
    assert.equal(metadata.nextRowId, 2n ** 60n)
    assert.equal(metadata.lastUpdatedMs, 1_602_638_573_874)
    assert.equal(metadata.properties.get('write.format.default'), 'parquet')
    assert.equal(metadata.currentSnapshotId, 3_051_729_675_574_597_004n)
    assert.equal(metadata.snapshotById(3_051_729_675_574_597_004n), metadata.snapshots[0])
    assert.deepEqual(metadata.refs.get('old'), {
      snapshotId: 3_051_729_675_574_597_004n,
      type: 'tag',
      minSnapshotsToKeep: undefined,
      maxSnapshotAgeMs: undefined,
      maxRefAgeMs: 2n ** 63n - 1n,
    })
    assert.equal(metadata.metadataLog[0].metadataFile, 's3://b/t/metadata/v6.metadata.json')
    assert.deepEqual(metadata.sortOrders[1].fields, [
      {
        sourceIds: [1],
        transform: { kind: 'bucket', numBuckets: 4 },
        direction: 'desc',
        nullOrder: 'nulls-last',
      },
    ])
    assert.equal(metadata.defaultSortOrderId, 1)
    assert.equal(metadata.statistics[0].blobMetadata[0].properties.get('ndv'), '5')
    assert.equal(metadata.partitionStatistics[0].fileSizeInBytes, 43)
    assert.equal(metadata.encryptionKeys[0].encryptedKeyMetadata, 'c2VjcmV0')
  })

  describe('versions', () => {
    it('v4 is a draft behind a switch, and may lack a location', () => {
      const text = metadataText({ 'format-version': 4, location: undefined })
      assertFails(() => parse(text), 'ERR_UNSUPPORTED', /^Cannot read unsupported version 4 of s3:.*allowV4/)
      const metadata = parseTableMetadata(text, LOCATION, { allowV4: true })
      assert.equal(metadata.formatVersion, 4)
      assert.isUndefined(metadata.location)
    })

    const rows: [version: unknown, code: IcebergErrorCode, message: RegExp][] = [
      [5, 'ERR_UNSUPPORTED', /^Cannot read unsupported version 5 of s3:/],
      [42, 'ERR_UNSUPPORTED', /^Cannot read unsupported version 42 of s3:/],
      [0, 'ERR_INVALID_METADATA', /"format-version" is 0/],
      ['2', 'ERR_INVALID_METADATA', /"format-version" is "2"/],
      [undefined, 'ERR_INVALID_METADATA', /"format-version" is missing/],
    ]
    for (const [version, code, message] of rows)
      it(`refuses version ${String(version)}`, () => {
        const text = metadataText({ 'format-version': version })
        assertFails(() => parseTableMetadata(text, LOCATION, { allowV4: true }), code, message)
      })

    it('unknown top-level fields are tolerated in any version', () => {
      for (const version of [1, 2, 3])
        assert.equal(
          parse(metadataText({ 'format-version': version, 'some-later-idea': [1] })).formatVersion,
          version,
        )
    })
  })

  describe('what v2 and v3 must have (format-reference 1.1)', () => {
    const required: [key: string, message: RegExp][] = [
      ['schemas', /schemas must exist in format v/],
      ['partition-specs', /partition-specs must exist in format v/],
      ['sort-orders', /sort-orders must exist in format v/],
      ['last-partition-id', /last-partition-id must exist in format v/],
      ['current-schema-id', /"current-schema-id" is missing/],
      ['default-spec-id', /"default-spec-id" is missing/],
      ['last-sequence-number', /"last-sequence-number" is missing/],
      ['table-uuid', /"table-uuid" is missing/],
      ['location', /"location" is missing/],
      ['last-updated-ms', /"last-updated-ms" is missing/],
      ['last-column-id', /"last-column-id" is missing/],
    ]
    for (const [key, message] of required)
      for (const version of [2, 3])
        for (const absent of [undefined, null])
          it(`v${version} without ${key}${absent === null ? ' (null)' : ''}`, () => {
            // The v1 forms do not stand in.
            const text = metadataText({
              'format-version': version,
              schema: SCHEMA,
              'partition-spec': [],
              [key]: absent,
            })
            assertFails(() => parse(text), 'ERR_INVALID_METADATA', message)
          })
  })

  describe('what v1 may lack (format-reference 1.1)', () => {
    it('everything that came later', () => {
      const metadata = parse(metadataV1Text({ 'table-uuid': undefined }))
      assert.isUndefined(metadata.tableUuid)
      assert.equal(metadata.lastSequenceNumber, 0n)
      assert.equal(metadata.currentSchemaId, 0)
      assert.deepEqual(metadata.schemas, [metadata.schema])
      assert.deepEqual([...metadata.specs.keys()], [0])
      assert.equal(metadata.defaultSpecId, 0)
      assert.equal(metadata.lastPartitionId, 999)
      assert.deepEqual(metadata.sortOrders, [{ orderId: 0, fields: [] }])
      assert.equal(metadata.defaultSortOrderId, 0)
      assert.isEmpty(metadata.refs)
    })

    it('its schema keeps its id', () => {
      assert.equal(parse(metadataV1Text({ schema: { ...SCHEMA, 'schema-id': 4 } })).currentSchemaId, 4)
    })

    it('schemas without current-schema-id: the field schema is current', () => {
      const other = { type: 'struct', 'schema-id': 3, fields: [] }
      const metadata = parse(metadataV1Text({ schemas: [other] }))
      assert.equal(metadata.schema.fields[0].name, 'a')
      assert.equal(metadata.schemaById(3)?.fields.length, 0)
    })

    it('R1.11, B082: partition-spec is spec 0, with ids from 1000', () => {
      const fields = [{ name: 'a', transform: 'identity', 'source-id': 1 }]
      const metadata = parse(metadataV1Text({ 'partition-spec': fields }))
      assert.equal(metadata.specs.get(0)?.fields[0].fieldId, 1000)
      assert.equal(metadata.lastPartitionId, 1000)
    })

    it('partition-specs without default-spec-id: the greatest is the default', () => {
      const specs = [2, 1].map((id) => ({ 'spec-id': id, fields: [] }))
      assert.equal(parse(metadataV1Text({ 'partition-specs': specs })).defaultSpecId, 2)
    })

    it('not a schema, nor a spec', () => {
      assertFails(
        () => parse(metadataV1Text({ schema: undefined })),
        'ERR_INVALID_METADATA',
        /read schema: it is missing/,
      )
      assertFails(
        () => parse(metadataV1Text({ 'partition-spec': null })),
        'ERR_INVALID_METADATA',
        /read partition spec: it is missing/,
      )
    })
  })

  describe('snapshots and refs', () => {
    for (const none of [undefined, null, -1, -5])
      it(`R1.2, B163: current-snapshot-id ${String(none)} is no snapshot`, () => {
        const metadata = parse(metadataText({ 'current-snapshot-id': none, snapshots: [] }))
        assert.isUndefined(metadata.currentSnapshotId)
        assert.isEmpty(metadata.refs)
      })

    it('R1.4: without refs, main is at the current snapshot', () => {
      for (const refs of [undefined, null]) {
        const metadata = parse(metadataText({ refs, 'current-snapshot-id': 5, snapshots: [snapshot(5)] }))
        assert.deepInclude(metadata.refs.get('main'), { snapshotId: 5n, type: 'branch' })
      }
    })

    const refused: [changes: object, message: RegExp, reason: string][] = [
      [
        { 'current-snapshot-id': 5, snapshots: [snapshot(6)] },
        /current snapshot 5 is not among its 1 snap/,
        'R1.3',
      ],
      [{ 'current-snapshot-id': 0, snapshots: [] }, /current snapshot 0 is not among/, 'R1.3: 0 is an id'],
      [
        { refs: { dev: { type: 'branch', 'snapshot-id': 5 } }, snapshots: [] },
        /ref "dev" names snapshot 5/,
        'R1.4: a ref to nothing',
      ],
      [
        {
          'current-snapshot-id': 5,
          snapshots: [snapshot(5), snapshot(6)],
          refs: { main: { type: 'branch', 'snapshot-id': 6 } },
        },
        /main is at snapshot 6, but the current snapshot is 5/,
        'R1.4: main elsewhere',
      ],
      [
        { snapshots: [snapshot(6)], refs: { main: { type: 'branch', 'snapshot-id': 6 } } },
        /main is at snapshot 6, but the current snapshot is not set/,
        'R1.4: main without a current snapshot',
      ],
      [
        { snapshots: [snapshot(5, 35)] },
        /sequence number 35, beyond the last one, 34/,
        'R1.4: a sequence number',
      ],
      [{ refs: { x: { 'snapshot-id': 5 } } }, /ref "x": "type" is missing/, 'a ref without type'],
      [
        { snapshots: [{ 'timestamp-ms': 1 }] },
        /read snapshot: "snapshot-id" is missing/,
        'a snapshot without id',
      ],
      [
        { snapshots: [{ 'snapshot-id': 1 }] },
        /read snapshot 1: "timestamp-ms" is missing/,
        'a snapshot without time',
      ],
      [{ snapshots: {} }, /"snapshots" is an object, not an array/, 'the wrong type'],
      [{ snapshots: [[0]] }, /read snapshot: it is an array/, 'B221: an array in place of a snapshot'],
    ]
    for (const [changes, message, reason] of refused)
      it(`refuses ${reason}`, () => {
        assertFails(() => parse(metadataText(changes)), 'ERR_INVALID_METADATA', message)
      })

    it('R1.4: v1 knows no sequence numbers', () => {
      assert.equal(parse(metadataV1Text({ snapshots: [snapshot(5, 35)] })).snapshots.length, 1)
    })

    it('B174: null is absent for every optional field', () => {
      const keys = ['properties', 'current-snapshot-id', 'snapshots', 'snapshot-log', 'metadata-log', 'refs']
      const later = [
        'statistics',
        'partition-statistics',
        'encryption-keys',
        'next-row-id',
        'default-sort-order-id',
      ]
      const metadata = parse(metadataText(Object.fromEntries([...keys, ...later].map((key) => [key, null]))))
      assert.isEmpty(metadata.snapshots)
      assert.isEmpty(metadata.snapshotLog)
      assert.isEmpty(metadata.metadataLog)
      assert.isEmpty(metadata.statistics)
      assert.isEmpty(metadata.partitionStatistics)
      assert.isEmpty(metadata.encryptionKeys)
      assert.equal(metadata.nextRowId, 0n)
    })
  })

  describe('schemas and specs', () => {
    it('refuses a current schema or a default spec that is not there', () => {
      assertFails(
        () => parse(metadataText({ 'current-schema-id': 9 })),
        'ERR_INVALID_METADATA',
        /current schema 9 is not among its 1 schemas/,
      )
      assertFails(
        () => parse(metadataText({ 'default-spec-id': 9 })),
        'ERR_INVALID_METADATA',
        /default partition spec 9 is not among its 1 specs/,
      )
    })

    const spec = (id: number, transform: string, sourceId: number): object => ({
      'spec-id': id,
      fields: [{ name: 'p', transform, 'source-id': sourceId, 'field-id': 1000 }],
    })

    it('R1.10: the default spec needs its source column, past specs do not', () => {
      assertFails(
        () => parse(metadataText({ 'partition-specs': [spec(0, 'identity', 9)] })),
        'ERR_INVALID_METADATA',
        /source column 9 of field "p" of the default partition spec 0/,
      )
      const past = parse(
        metadataText({ 'partition-specs': [spec(0, 'identity', 1), spec(1, 'identity', 9)] }),
      )
      assert.equal(past.specs.size, 2)
    })

    it('R3.24, B059: a void or unknown transform needs none', () => {
      for (const transform of ['void', 'zorder[3]'])
        assert.equal(parse(metadataText({ 'partition-specs': [spec(0, transform, 9)] })).specs.size, 1)
    })

    it('B059: an unknown transform in the current spec and in a past one', () => {
      const metadata = parse(
        metadataText({ 'partition-specs': [spec(0, 'zorder[3]', 1), spec(1, 'zorder[3]', 1)] }),
      )
      for (const known of metadata.specs.values()) assert.equal(known.fields[0].transform.kind, 'unknown')
    })

    it('a past schema is parsed when asked for, and its defects are errors then', () => {
      const past = {
        type: 'struct',
        'schema-id': 1,
        fields: [{ id: 1, name: 'a', required: true, type: 'interval' }],
      }
      const metadata = parse(metadataText({ schemas: [{ ...SCHEMA, 'schema-id': 0 }, past] }))
      assert.equal(metadata.schemaById(0), metadata.schema)
      assert.isUndefined(metadata.schemaById(2))
      assertFails(
        () => metadata.schemaById(1),
        'ERR_UNSUPPORTED',
        /v7.metadata.json: cannot read type "interval"/,
      )
      assertFails(() => metadata.schemas, 'ERR_UNSUPPORTED', /interval/)
    })

    it('defects in what planning never looks at are errors when asked for', () => {
      const metadata = parse(metadataText({ statistics: [{}], 'sort-orders': [{ 'order-id': 'x' }] }))
      assertFails(
        () => metadata.statistics,
        'ERR_INVALID_METADATA',
        /v7.metadata.json: cannot read statistics file/,
      )
      assertFails(() => metadata.sortOrders, 'ERR_INVALID_METADATA', /"order-id" is "x"/)
    })

    it('B221: a schema nested without end', () => {
      let type = '"int"'
      for (let i = 0; i < 10_000; i++)
        type = `{"type":"list","element-id":1,"element-required":true,"element":${type}}`
      const text = metadataText().replace('"type":"int"', `"type":${type}`)
      assertFails(() => parse(text), 'ERR_INVALID_METADATA', /nested deeper than/)
    })
  })

  describe('bytes', () => {
    const text = metadataText({ properties: { city: 'Zürich' } })
    const rows: [bytes: Uint8Array | string, reason: string][] = [
      [Buffer.from(text), 'plain'],
      [text, 'text'],
      [`\uFEFF${text}`, 'text with a byte order mark'],
      [Buffer.from(`\uFEFF${text}`), 'a byte order mark'],
      [gzipSync(text), 'gzip, whatever the name'],
      [rawZstd(Buffer.from(text)), 'zstandard, whatever the name'],
      [new Uint8Array(Buffer.from(`xx${text}`)).subarray(2), 'a part of a buffer'],
    ]
    for (const [bytes, reason] of rows)
      it(`reads ${reason}`, () => {
        assert.equal(parse(bytes).properties.get('city'), 'Zürich')
      })

    const refused: [bytes: Uint8Array, message: RegExp, reason: string][] = [
      [Buffer.from(''), /not valid JSON: Unexpected end at offset 0/, 'no bytes'],
      [Buffer.from('{"a":1}}'), /not valid JSON: Unexpected "}" at offset 7/, 'bytes after the end'],
      [Buffer.from('[1]'), /it is an array, not an object/, 'an array'],
      [gzipSync(text).subarray(0, 40), /cannot be decompressed as gzip/, 'a gzip file that ends early'],
      [
        rawZstd(Buffer.from(text)).subarray(0, 40),
        /cannot be decompressed as zstandard/,
        'a zstandard file that ends early',
      ],
      [
        Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xff]),
        /cannot be decompressed as zstandard/,
        'a broken zstandard header',
      ],
      [Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/, 'bytes that are no UTF-8'],
    ]
    for (const [bytes, message, reason] of refused)
      it(`refuses ${reason}`, () => {
        assertFails(() => parse(bytes), 'ERR_INVALID_METADATA', message)
      })
  })

  it('B175: finds one of 50,000 snapshots', () => {
    const base = 3_051_729_675_574_597_004n
    const snapshots = Array.from({ length: 50_000 }, (_, i) => snapshot(base + BigInt(i)))
    const metadata = parse(metadataText({ snapshots, 'current-snapshot-id': base + 49_999n }))
    assert.equal(metadata.snapshotById(base + 25_000n)?.snapshotId, base + 25_000n)
  })
})

/** A zstandard frame that stores `bytes` (at most 128 KiB) as they are: header, window of 128 KiB, one raw last block. */
function rawZstd(bytes: Uint8Array): Buffer {
  const blockHeader = Buffer.alloc(3)
  blockHeader.writeUIntLE((bytes.byteLength << 3) | 1, 0, 3)
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]), blockHeader, bytes])
}

/** Every error has its class, names the file as field and in the message, and reads on. */
function assertFails(action: () => unknown, code: IcebergErrorCode, message: RegExp): void {
  try {
    action()
  } catch (error) {
    assert.isTrue(isIcebergError(error, code), String(error))
    assert.equal((error as { location?: string }).location, LOCATION)
    assert.include((error as Error).message, LOCATION)
    assert.match((error as Error).message, message)
    return
  }
  assert.fail('it must fail')
}
