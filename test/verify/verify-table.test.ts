import { assert } from 'chai'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { ManifestFile } from '../../src/manifest/manifest-file.ts'
import { parsePartitionSpec } from '../../src/metadata/partition-spec.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { parseSnapshot } from '../../src/metadata/snapshot.ts'
import type { ComparedEntry } from '../../src/verify/compare-manifest.ts'
import { verifyTable, type ManifestReaders, type VerifyProgress } from '../../src/verify/verify-table.ts'
import { writeManifest, writeManifestList } from '../support/manifest-writer.ts'

/** Three snapshots over two manifests; the third names its manifests itself, as v1 may. */
const METADATA = {
  snapshots: [
    { 'snapshot-id': 1, 'timestamp-ms': 1, 'manifest-list': 'old/list-1' },
    { 'snapshot-id': 2, 'timestamp-ms': 2, 'manifest-list': 'old/list-2' },
    { 'snapshot-id': 3, 'timestamp-ms': 3, manifests: ['old/b'] },
  ].map(parseSnapshot),
  specs: new Map([[0, parsePartitionSpec([], 0)]]),
  schema: parseSchema({ type: 'struct', fields: [] }),
}

function row(manifestPath: string) {
  const fields = {
    manifestPath,
    manifestLength: 100,
    partitionSpecId: 0,
    content: 0,
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: 1n,
    addedFilesCount: 1,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    addedRowsCount: 1,
    existingRowsCount: 0,
    deletedRowsCount: 0,
    partitions: undefined,
    keyMetadata: undefined,
    firstRowId: undefined,
  } as const
  return { fields, file: new ManifestFile(fields) }
}

const A = row('old/a')
const B = row('old/b')

const ENTRY: ComparedEntry = {
  status: 1,
  snapshotId: 1n,
  sequenceNumber: 1n,
  fileSequenceNumber: 1n,
  dataFile: {
    content: 0,
    filePath: 'f',
    fileFormat: 'parquet',
    partition: [],
    recordCount: 1,
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
  },
}

const MANIFEST = writeManifest({ entries: [{ dataFile: { filePath: 'f' } }] })

function files(): Map<string, Uint8Array> {
  return new Map([
    ['new/list-1', writeManifestList({ rows: [A.fields] })],
    ['new/list-2', writeManifestList({ rows: [A.fields, B.fields] })],
    ['new/a', MANIFEST],
    ['new/b', MANIFEST],
  ])
}

/** A reader that answers by heart, told apart by the number of bytes. */
function readers(changes: Partial<ManifestReaders> = {}): ManifestReaders {
  const lengthOfFirst = files().get('new/list-1')!.length
  return {
    readManifestList: (bytes) => (bytes.length === lengthOfFirst ? [A.file] : [A.file, B.file]),
    readManifest: () => ({ partitionFieldIds: [], entries: [ENTRY] }),
    ...changes,
  }
}

function table(stored = files()) {
  return {
    metadata: METADATA,
    io: new MemoryFileIO(stored),
    resolve: (location: string) => location.replace('old/', 'new/'),
  }
}

describe('verify a table', () => {
  it('reads every list and every manifest once, and counts', async () => {
    const progress: VerifyProgress[] = []
    const summary = await verifyTable(table(), { onProgress: (p) => progress.push(p) })
    assert.deepInclude(summary, { manifestLists: 2, manifests: 2, entries: 5, differenceCount: 0 })
    assert.isAtLeast(summary.fields, 100)
    assert.deepEqual([summary.differences, summary.refused, summary.unreadable], [[], [], []])
    assert.deepEqual(progress.at(-1), { filesDone: 4, filesTotal: 4 })
  })

  it('reads one snapshot only, when told', async () => {
    const first = await verifyTable(table(), { snapshotId: 1n })
    assert.deepInclude(first, { manifestLists: 1, manifests: 1 })
    const inline = await verifyTable(table(), { snapshotId: 3n })
    assert.deepInclude(inline, { manifestLists: 0, manifests: 1 })
  })

  it('names the file, the entry and the field of a difference', async () => {
    const wrong = { ...ENTRY, sequenceNumber: 2n }
    const readManifest = () => ({ partitionFieldIds: [], entries: [wrong] })
    const summary = await verifyTable(table(), { readers: readers({ readManifest }), maxDifferences: 1 })
    assert.equal(summary.differenceCount, 2)
    assert.deepEqual(summary.differences, [
      { location: 'old/a', entry: 0, field: 'sequenceNumber', ours: '2n', avsc: '1n' },
    ])
  })

  it('says that a manifest is encrypted', async () => {
    const encrypted = new ManifestFile({ ...A.fields, keyMetadata: Uint8Array.of(1) })
    const summary = await verifyTable(table(), { readers: readers({ readManifestList: () => [encrypted] }) })
    const message = 'Cannot read old/a: the manifest is encrypted'
    assert.deepEqual(summary.unreadable[0], { location: 'old/a', by: 'iceplan', message })
  })

  it('goes on after files that one side cannot read, and says which side', async () => {
    const stored = files()
    stored.delete('new/list-1')
    stored.set('new/a', Uint8Array.of(1))
    const readManifest: ManifestReaders['readManifest'] = (bytes, { manifestPath }) => {
      if (manifestPath === 'old/b') throw new Error('our reader gave up')
      return readers().readManifest(bytes, A.file)
    }
    const summary = await verifyTable(table(stored), { readers: readers({ readManifest }) })
    assert.deepInclude(summary, { manifestLists: 1, manifests: 0 })
    assert.deepEqual(
      summary.unreadable.map(({ location, by, message }) => `${location}, ${by}: ${message}`),
      [
        'old/list-1, storage: Cannot read new/list-1: it does not exist',
        'old/a, avsc: Cannot decode a file as Avro: it does not start with "Obj" and 1',
        'old/b, iceplan: our reader gave up',
      ],
    )
  })

  it('reports what avsc refused, and whether it was compared all the same', async () => {
    const stored = files()
    const odd = { fieldId: 1000, name: 'a-b', avroType: 'int' }
    stored.set('new/a', writeManifest({ entries: [{ dataFile: { filePath: 'f' } }], partition: [odd] }))
    const undefinedName = {
      type: 'record',
      name: 'r',
      fields: [{ name: 'x', type: 'nowhere', 'field-id': 0 }],
    }
    const metadata = { 'avro.schema': JSON.stringify(undefinedName) }
    stored.set('new/b', writeManifest({ entries: [], metadata }))
    const dataFile = { ...ENTRY.dataFile, partition: [null] }
    const readManifest = () => ({ partitionFieldIds: [odd.fieldId], entries: [{ ...ENTRY, dataFile }] })
    const summary = await verifyTable(table(stored), { readers: readers({ readManifest }) })
    assert.deepEqual(summary.refused, [
      { location: 'old/a', message: 'invalid field name: a-b', compared: true },
      { location: 'old/b', message: 'undefined type name: nowhere', compared: false },
    ])
    assert.deepInclude(summary, { manifests: 1, differenceCount: 0 })
    assert.deepEqual(summary.unreadable, [])
  })

  it('stops when aborted, with the reason of the signal', async () => {
    const abort = new AbortController()
    const reason = new Error('enough')
    const onProgress = () => {
      abort.abort(reason)
    }
    let caught: unknown
    await verifyTable(table(), { onProgress, signal: abort.signal }).catch((error: unknown) => {
      caught = error
    })
    assert.equal(caught, reason)
  })
})
