import { assert } from 'chai'
import type { ManifestFileFields } from '../../src/manifest/manifest-file.ts'
import { decodeWithAvsc } from '../../src/verify/avsc-decoder.ts'
import {
  compareManifest,
  compareManifestList,
  type ComparedDataFile,
  type ComparedEntry,
} from '../../src/verify/compare-manifest.ts'
import { Comparison, sameValue } from '../../src/verify/comparison.ts'
import {
  writeManifest,
  writeManifestList,
  type EntryInput,
  type ManifestOptions,
} from '../support/manifest-writer.ts'

const ROW = {
  manifestPath: 'm0.avro',
  manifestLength: 900,
  partitionSpecId: 0,
  content: 0,
  sequenceNumber: 7n,
  minSequenceNumber: 3n,
  addedSnapshotId: 2n ** 62n + 3n,
  addedFilesCount: 1,
  existingFilesCount: 2,
  deletedFilesCount: 0,
  addedRowsCount: 10,
  existingRowsCount: 20,
  deletedRowsCount: 0,
  partitions: [
    {
      containsNull: true,
      containsNan: undefined,
      lowerBound: Uint8Array.of(1),
      upperBound: Uint8Array.of(9),
    },
  ],
  keyMetadata: undefined,
  firstRowId: undefined,
} satisfies ManifestFileFields

const FILE: ComparedDataFile = {
  content: 0,
  filePath: 'f0.parquet',
  fileFormat: 'parquet',
  partition: [],
  recordCount: 10,
  fileSizeInBytes: 1000,
  columnSizes: undefined,
  valueCounts: undefined,
  nullValueCounts: undefined,
  nanValueCounts: undefined,
  lowerBounds: undefined,
  upperBounds: undefined,
  keyMetadata: undefined,
  splitOffsets: undefined,
  equalityIds: undefined,
  sortOrderId: undefined,
  firstRowId: undefined,
  referencedDataFile: undefined,
  contentOffset: undefined,
  contentSizeInBytes: undefined,
}

const ENTRY: ComparedEntry = {
  status: 1,
  snapshotId: ROW.addedSnapshotId,
  sequenceNumber: 7n,
  fileSequenceNumber: 7n,
  dataFile: FILE,
}

const STORED: EntryInput = { status: 1, dataFile: { filePath: 'f0.parquet', recordCount: 10 } }

function entry(changes: Partial<ComparedEntry>, file: Partial<ComparedDataFile> = {}): ComparedEntry {
  return { ...ENTRY, ...changes, dataFile: { ...FILE, ...file } }
}

/** Differences as `field: ours / avsc`. */
function differences(
  options: ManifestOptions,
  ours: ComparedEntry[],
  row: Partial<ManifestFileFields> = {},
): string[] {
  const comparison = new Comparison()
  const partitionFieldIds = (options.partition ?? []).map(({ fieldId }) => fieldId)
  const avsc = decodeWithAvsc(writeManifest(options))
  compareManifest('m0.avro', avsc, { ...ROW, ...row }, { partitionFieldIds, entries: ours }, comparison)
  return comparison.differences.map(({ field, ours, avsc }) => `${field}: ${ours} / ${avsc}`)
}

describe('compare manifest lists', () => {
  const avsc = decodeWithAvsc(writeManifestList({ rows: [ROW] }))

  function differing(ours: ManifestFileFields[]): string[] {
    const comparison = new Comparison()
    compareManifestList('snap.avro', avsc, ours, comparison)
    return comparison.differences.map(
      ({ entry, field, ours, avsc }) => `${entry} ${field}: ${ours} / ${avsc}`,
    )
  }

  it('agrees with the row that was written', () => {
    assert.deepEqual(differing([ROW]), [])
  })

  const rows: [changes: Partial<ManifestFileFields>, difference: string][] = [
    [{ sequenceNumber: 8n }, '0 sequenceNumber: 8n / 7n'],
    [{ addedFilesCount: undefined }, '0 addedFilesCount: undefined / 1'],
    [{ firstRowId: 0n }, '0 firstRowId: 0n / undefined'],
    [{ partitions: undefined }, '0 partitions.length: undefined / 1'],
    [
      { partitions: [{ ...ROW.partitions[0], lowerBound: new Uint8Array(0) }] },
      '0 partitions[0].lowerBound: 0x / 0x01',
    ],
    [
      { partitions: [{ ...ROW.partitions[0], containsNan: false }] },
      '0 partitions[0].containsNan: false / undefined',
    ],
  ]
  for (const [changes, difference] of rows) {
    it(`reports ${difference}`, () => {
      assert.deepEqual(differing([{ ...ROW, ...changes }]), [difference])
    })
  }

  it('R2.14 takes a negative count for an unknown one', () => {
    const comparison = new Comparison()
    const negative = decodeWithAvsc(writeManifestList({ rows: [{ ...ROW, addedFilesCount: -1 }] }))
    compareManifestList('snap.avro', negative, [{ ...ROW, addedFilesCount: undefined }], comparison)
    assert.deepEqual(comparison.differences, [])
  })

  it('reports a missing and a surplus row', () => {
    assert.deepEqual(differing([]), ['undefined rows: 0 / 1'])
    assert.deepEqual(differing([ROW, ROW]), ['undefined rows: 2 / 1'])
  })
})

describe('compare manifests: inheritance', () => {
  const existing = { ...STORED, status: 0 }
  const deleted = { ...STORED, status: 2 }
  const rows: [
    title: string,
    stored: EntryInput[],
    row: Partial<ManifestFileFields>,
    expected: (Partial<ComparedEntry> & { firstRowId?: bigint })[],
  ][] = [
    ['R4.1 a null snapshot id is that of the manifest', [STORED], {}, [{}]],
    ['R4.1 a stored snapshot id stays', [{ ...STORED, snapshotId: 5 }], {}, [{ snapshotId: 5n }]],
    [
      'R4.2 an EXISTING entry inherits no sequence number',
      [existing],
      {},
      [{ status: 0, sequenceNumber: undefined, fileSequenceNumber: undefined }],
    ],
    [
      'R4.2 unless that of the manifest is 0 (R4.5)',
      [existing],
      { sequenceNumber: 0n },
      [{ status: 0, sequenceNumber: 0n, fileSequenceNumber: 0n }],
    ],
    [
      'R4.3 the two numbers inherit each on its own',
      [{ ...STORED, sequenceNumber: 3 }],
      {},
      [{ sequenceNumber: 3n, fileSequenceNumber: 7n }],
    ],
    [
      'R4.8 row ids count the live files without one',
      [STORED, deleted, existing, { ...STORED, dataFile: { ...STORED.dataFile, firstRowId: 5 } }, STORED],
      { firstRowId: 100n },
      [
        { firstRowId: 100n },
        { status: 2, sequenceNumber: undefined, fileSequenceNumber: undefined },
        { status: 0, sequenceNumber: undefined, fileSequenceNumber: undefined, firstRowId: 110n },
        { firstRowId: 5n },
        { firstRowId: 120n },
      ],
    ],
    [
      'R4.8 a manifest without an id clears stored ones',
      [{ ...STORED, dataFile: { ...STORED.dataFile, firstRowId: 5 } }],
      {},
      [{}],
    ],
  ]
  for (const [title, entries, row, expected] of rows) {
    it(title, () => {
      const ours = expected.map(({ firstRowId, ...changes }) => entry(changes, { firstRowId }))
      assert.deepEqual(differences({ entries, formatVersion: 3 }, ours, row), [])
    })
  }

  it('reports an entry that inherited what it should not', () => {
    const ours = entry({ status: 0, sequenceNumber: 7n, fileSequenceNumber: undefined })
    assert.deepEqual(differences({ entries: [existing] }, [ours]), ['sequenceNumber: 7n / undefined'])
  })
})

describe('compare manifests: data files', () => {
  const columns = { columnSizes: { 1: 2 ** 40 }, lowerBounds: { 1: Uint8Array.of(0, 255) } }
  const ours = {
    columnSizes: new Map([[1, 2 ** 40]]),
    lowerBounds: new Map([[1, Uint8Array.of(0, 255)]]),
  }
  const entries = [{ ...STORED, dataFile: { ...STORED.dataFile, ...columns, splitOffsets: [4, 900] } }]

  it('agrees on maps, lists and the lower case of the format', () => {
    assert.deepEqual(differences({ entries }, [entry({}, { ...ours, splitOffsets: [4, 900] })]), [])
  })

  const rows: [changes: Partial<ComparedDataFile>, difference: string][] = [
    [{ columnSizes: new Map([[2, 2 ** 40]]) }, 'columnSizes: {2: 1099511627776} / {1: 1099511627776}'],
    [{ lowerBounds: new Map([[1, Uint8Array.of(0, 254)]]) }, 'lowerBounds: {1: 0x00fe} / {1: 0x00ff}'],
    [{ splitOffsets: [4] }, 'splitOffsets: [4] / [4, 900]'],
    [{ fileFormat: 'PARQUET' }, 'fileFormat: "PARQUET" / "parquet"'],
    [{ keyMetadata: new Uint8Array(0) }, 'keyMetadata: 0x / undefined'],
  ]
  for (const [changes, difference] of rows) {
    it(`reports ${difference}`, () => {
      const mine = entry({}, { ...ours, splitOffsets: [4, 900], ...changes })
      assert.deepEqual(differences({ entries }, [mine]), [`dataFile.${difference}`])
    })
  }

  it('reports a missing and a surplus entry', () => {
    assert.deepEqual(differences({ entries: [STORED] }, []), ['entries: 0 / 1'])
    assert.deepEqual(differences({ entries: [STORED] }, [ENTRY, ENTRY]), ['entries: 2 / 1'])
  })
})

describe('compare manifests: partition values (R13.8)', () => {
  const uuid = { type: 'fixed', name: 'uuid_fixed', size: 16, logicalType: 'uuid' }
  const decimal = {
    type: 'fixed',
    name: 'decimal_9_2',
    size: 4,
    logicalType: 'decimal',
    precision: 9,
    scale: 2,
  }
  const rows: [why: string, avroType: unknown, stored: unknown, ours: unknown, wrong: unknown][] = [
    ['a null', 'int', null, null, undefined],
    ['an int', 'int', 5, 5, 6],
    ['an int read as long', 'int', 5, 5n, 6n],
    ['a long', 'long', 2n ** 60n, 2n ** 60n, 2n ** 60n + 1n],
    ['milliseconds read as microseconds', { type: 'long', logicalType: 'timestamp-millis' }, 5n, 5000n, 5n],
    ['microseconds', { type: 'long', logicalType: 'timestamp-micros' }, 5n, 5n, 5000n],
    ['a decimal in fixed', decimal, Uint8Array.of(255, 255, 255, 106), -150n, 106n],
    [
      'a decimal in bytes',
      { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 },
      Uint8Array.of(0, 150),
      150n,
      -106n,
    ],
    ['a uuid', uuid, new Uint8Array(16).fill(0xab), 'abababab-abab-abab-abab-abababababab', 'abab'],
    ['bytes', 'bytes', Uint8Array.of(1), Uint8Array.of(1), Uint8Array.of(1, 0)],
    ['NaN', 'double', NaN, NaN, null],
    ['minus zero', 'float', -0, -0, 0],
    ['text', 'string', '日', '日', ''],
  ]
  for (const [why, avroType, stored, right, wrong] of rows) {
    it(`${why} agrees, and something else does not`, () => {
      const partition = [{ fieldId: 1000, name: 'p', avroType: avroType as never }]
      const entries = [{ ...STORED, dataFile: { ...STORED.dataFile, partition: [stored] } }]
      assert.deepEqual(differences({ entries, partition }, [entry({}, { partition: [right] })]), [])
      const differing = differences({ entries, partition }, [entry({}, { partition: [wrong] })])
      assert.lengthOf(differing, 1)
      assert.match(differing[0], /^dataFile\.partition\[1000\]: /)
    })
  }
})

describe('comparison', () => {
  it('counts all differences and keeps the first ones', () => {
    const comparison = new Comparison(2)
    for (let i = 0; i < 5; i++) comparison.check('m', i, 'f', i, i + 1)
    assert.equal(comparison.differenceCount, 5)
    assert.equal(comparison.fields, 5)
    assert.deepEqual(
      comparison.differences.map(({ entry }) => entry),
      [0, 1],
    )
  })

  const same: [why: string, unknown, unknown, boolean][] = [
    ['a number is not a bigint', 1, 1n, false],
    ['zero is not minus zero', 0, -0, false],
    ['NaN is NaN', NaN, NaN, true],
    ['absent is not null', undefined, null, false],
    ['an empty list is not absent', [], undefined, false],
    ['maps go by content', new Map([[1, 2]]), new Map([[1, 2]]), true],
    ['an absent key is not a key without value', new Map([[1, undefined]]), new Map([[2, undefined]]), false],
    ['bytes go by content', Buffer.of(1), Uint8Array.of(1), true],
  ]
  for (const [why, a, b, expected] of same) {
    it(why, () => {
      assert.equal(sameValue(a, b), expected)
    })
  }
})
