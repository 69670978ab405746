/**
 * Valid manifests and manifest lists with bytes flipped, put in, taken out and doubled: every outcome is a clean
 * decode or an error of ours, and no claim of the file makes a reader take more memory than its bytes can bear out.
 */
import { assert } from 'chai'
import { isIcebergError } from '../../src/errors.ts'
import { inlineManifest } from '../../src/manifest/manifest-file.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { readManifestBytes, type Manifest } from '../../src/manifest/manifest-reader.ts'
import type { ContainerOptions } from '../support/avro-container.ts'
import { writeManifest, writeManifestList, type EntryInput } from '../support/manifest-writer.ts'
import { extraFieldsOfEveryType, seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const MUTANTS = 2000
const LOCATION = 's3://b/m.avro'

function entries(count: number): EntryInput[] {
  return Array.from({ length: count }, (_, i) => ({
    status: i % 3,
    snapshotId: 2n ** 60n + BigInt(i),
    sequenceNumber: i,
    fileSequenceNumber: i,
    dataFile: {
      filePath: `s3://warehouse/db/table/data/day=${i}/part-${i}.parquet`,
      partition: [i % 2 === 0 ? i : null, `name ${i}`],
      recordCount: 1000 * i,
      fileSizeInBytes: 2 ** 33 + i,
      columnSizes: { 1: 100 + i, 2: 200, 300: 5000 },
      valueCounts: { 1: 10, 2: 20 },
      nullValueCounts: { 1: 0, 2: i },
      lowerBounds: { 1: Uint8Array.of(1, 2, 3, 4), 2: new Uint8Array(20).fill(i) },
      upperBounds: { 1: Uint8Array.of(9, 9, 9, 9), 2: new Uint8Array(8).fill(i) },
      splitOffsets: [4, 2 ** 27],
      sortOrderId: 0,
    },
  }))
}

const manifest = (options: ContainerOptions) =>
  writeManifest({
    entries: entries(8),
    partition: [
      { fieldId: 1000, name: 'day', avroType: 'int' },
      { fieldId: 1001, name: 'name', avroType: 'string', sourceId: 2 },
    ],
    schema: {
      type: 'struct',
      'schema-id': 0,
      fields: [
        { id: 1, name: 'day', required: false, type: 'int' },
        { id: 2, name: 'name', required: false, type: 'string' },
      ],
    },
    extraFields: extraFieldsOfEveryType('dataFile', 3),
    ...options,
  })

const list = (options: ContainerOptions) =>
  writeManifestList({
    rows: Array.from({ length: 8 }, (_, i) => ({
      manifestPath: `s3://warehouse/db/table/metadata/m${i}.avro`,
      manifestLength: 5000 + i,
      sequenceNumber: i,
      addedSnapshotId: 2n ** 61n,
      addedFilesCount: i,
      existingFilesCount: 0,
      deletedFilesCount: 0,
      addedRowsCount: 2 ** 35,
      existingRowsCount: 0,
      deletedRowsCount: 0,
      partitions: [
        {
          containsNull: false,
          containsNan: true,
          lowerBound: Uint8Array.of(1),
          upperBound: new Uint8Array(30),
        },
        { containsNull: true },
      ],
    })),
    extraFields: extraFieldsOfEveryType('summary', 2),
    ...options,
  })

/** One to three damages: a byte or a bit changed, bytes put in, taken out, doubled or moved; the tail cut. */
function damage(valid: Uint8Array, random: () => number): Uint8Array {
  const below = (n: number) => Math.floor(random() * n)
  let bytes = Uint8Array.from(valid)
  for (let times = 1 + below(3); times > 0; times--) {
    const at = below(bytes.length)
    const length = 1 + below(6)
    const cut = (from: number, to: number, ...between: number[]) =>
      Uint8Array.of(...bytes.subarray(0, from), ...between, ...bytes.subarray(to))
    switch (below(8)) {
      case 0:
        bytes[at] ^= 1 << below(8)
        break
      case 1:
        bytes[at] = below(256)
        break
      case 2:
        bytes[at] = [0, 1, 127, 128, 255][below(5)]
        break
      case 3:
        bytes = cut(at, at, ...Array.from({ length }, () => below(256)))
        break
      case 4:
        bytes = cut(at, Math.min(bytes.length, at + length))
        break
      case 5:
        bytes = cut(at, at, ...bytes.subarray(at, at + length))
        break
      case 6:
        bytes = cut(at, Math.min(bytes.length, at + 10), ...Array<number>(9).fill(0xff), 1)
        break
      default:
        if (below(10) === 0) bytes = cut(at, bytes.length)
        else bytes[at] ^= 0x80
    }
    if (bytes.length === 0) break
  }
  return bytes
}

/** Everything that a reader of a manifest may look at. */
function readAll(read: Manifest): number {
  let seen = 0
  const { batch } = read
  for (let row = 0; row < batch.rowCount; row++) {
    seen += batch.text(row, 'filePath').length + batch.partition(row).length
    seen += batch.boundMap(row, 'lowerBounds')?.size ?? 0
    seen += batch.countMap(row, 'columnSizes')?.size ?? 0
  }
  return seen
}

/** Typed arrays double when they grow, and rows are reserved for twice as many. */
function assertModest(read: Manifest, bytes: Uint8Array): void {
  const { store, rowCount } = read.batch
  assert.isAtMost(rowCount, bytes.length)
  assert.isAtMost(store.capacity, 2 * bytes.length)
  assert.isAtMost(store.heap.length, Math.max(2 * bytes.length, 1024))
  assert.isAtMost(store.cellKey.length, Math.max(2 * bytes.length, 64))
}

const MANIFEST_FILE = inlineManifest(LOCATION, 5n)

interface Tally {
  read: number
  refused: number
}

/** Runs a reader over damaged copies; gives how many were read and how many refused. */
function tally(valid: Uint8Array, read: (bytes: Uint8Array) => void): Tally {
  const random = seededRandom(SEED)
  const counts: Tally = { read: 0, refused: 0 }
  for (let i = 0; i < MUTANTS; i++) {
    const bytes = damage(valid, random)
    try {
      read(bytes)
      counts.read++
    } catch (error) {
      if (!isIcebergError(error)) {
        const { stack } = error as Error
        assert.fail(`mutant ${i} (${Buffer.from(bytes).toString('base64')}) is refused with ${stack}`)
      }
      assert.include(error.message, LOCATION)
      assert.isBelow(error.message.length, 2000)
      counts.refused++
    }
  }
  return counts
}

const CODECS = ['null', 'deflate', 'snappy', 'zstandard'] as const

describe('damaged files', () => {
  for (const codec of CODECS)
    it(`B221, B222: a manifest, ${codec}: ${MUTANTS} damaged copies are read or refused ${WITH_SEED}`, function () {
      this.timeout(120_000)
      const valid = manifest({ codec, entriesPerBlock: 3 })
      const counts = tally(valid, (bytes) => {
        const decoded = readManifestBytes(bytes, MANIFEST_FILE, { location: LOCATION })
        readAll(decoded)
        if (codec === 'null') assertModest(decoded, bytes)
      })
      assert.isAbove(counts.refused, MUTANTS / 20)
      assert.isAbove(counts.read, MUTANTS / 100)
    })

  it(`a manifest without framing errors: ${MUTANTS} copies damaged inside their one block ${WITH_SEED}`, function () {
    this.timeout(120_000)
    const valid = manifest({ codec: 'null' })
    const sync = valid.subarray(valid.length - 16)
    // Header and sync marker stay; the length is not touched either, so that every damage reaches the cursor.
    const random = seededRandom(SEED + 1)
    const start = Buffer.from(valid).indexOf(sync) + 16 + 4
    const counts = tally(valid, () => {
      const bytes = Uint8Array.from(valid)
      for (let times = 1 + Math.floor(random() * 3); times > 0; times--)
        bytes[start + Math.floor(random() * (valid.length - 16 - start))] = Math.floor(random() * 256)
      const decoded = readManifestBytes(bytes, MANIFEST_FILE, { location: LOCATION })
      readAll(decoded)
      assertModest(decoded, bytes)
    })
    assert.isAbove(counts.refused, MUTANTS / 20)
    assert.isAbove(counts.read, MUTANTS / 20)
  })

  for (const codec of ['null', 'deflate'] as const)
    it(`a manifest list, ${codec}: ${MUTANTS} damaged copies are read or refused ${WITH_SEED}`, function () {
      this.timeout(120_000)
      const counts = tally(list({ codec, entriesPerBlock: 3 }), (bytes) => {
        for (const file of readManifestListBytes(bytes, { location: LOCATION }))
          assert.isAtMost(file.partitions?.length ?? 0, codec === 'null' ? bytes.length : Infinity)
      })
      assert.isAbove(counts.refused, MUTANTS / 20)
      assert.isAbove(counts.read, MUTANTS / 100)
    })
})
