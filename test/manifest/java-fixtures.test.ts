/**
 * Tables written by Iceberg for Java, against what its own reader said about them: every manifest of the current
 * snapshot, every entry, all that is inherited. See fixtures/README.md.
 */
import { assert } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { openContainer, readHeader } from '../../src/avro/container.ts'
import { partitionToJson } from '../../src/manifest/content-file.ts'
import type { EntryStatus } from '../../src/manifest/inheritable-metadata.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { ManifestContent, type ManifestFile } from '../../src/manifest/manifest-file.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { readManifestBytes } from '../../src/manifest/manifest-reader.ts'
import { partitionType } from '../../src/manifest/partition-key.ts'
import { selectSnapshot } from '../../src/metadata/snapshot.ts'
import { parseTableMetadata, type TableMetadata } from '../../src/metadata/table-metadata.ts'
import { projectRoot } from '../support/root.ts'

interface ExpectedEntry {
  status: number
  snapshotId: string
  dataSequenceNumber?: string
  fileSequenceNumber?: string
  firstRowId?: string
  filePath: string
  recordCount: number
}

interface ExpectedManifest {
  path: string
  content: 'data' | 'deletes'
  specId: number
  length: number
  sequenceNumber: string
  minSequenceNumber: string
  addedSnapshotId: string
  firstRowId?: string
  entries: ExpectedEntry[]
}

interface ExpectedDelete {
  path: string
  content: string
  specId: number
  dataSequenceNumber: string
  equalityIds?: number[]
  referencedDataFile?: string
  contentOffset?: number
  contentSizeInBytes?: number
}

interface ExpectedTask {
  filePath: string
  specId: number
  partition: Record<string, unknown>
  recordCount: number
  fileSize: number
  deletes: ExpectedDelete[]
}

interface Expected {
  location: string
  manifests: ExpectedManifest[]
  scans: { selections: { current?: boolean }[]; tasks: ExpectedTask[] }[]
}

class JavaTable {
  readonly expected: Expected
  readonly metadata: TableMetadata
  readonly #name: string

  constructor(name: string) {
    this.#name = name
    this.expected = JSON.parse(readFileSync(fixture(`${name}.expected.json`), 'utf8')) as Expected
    const version = readFileSync(fixture(`${name}/metadata/version-hint.text`), 'utf8').trim()
    const plain = `${name}/metadata/v${version}.metadata.json`
    const file = existsSync(fixture(plain)) ? plain : `${name}/metadata/v${version}.gz.metadata.json`
    this.metadata = parseTableMetadata(readFileSync(fixture(file)), file)
  }

  open(location: string): Uint8Array {
    assert.isTrue(location.startsWith(`${this.expected.location}/`), location)
    return readFileSync(fixture(this.#name + location.slice(this.expected.location.length)))
  }

  manifests(cache?: ManifestCache): ManifestFile[] {
    const { snapshot } = selectSnapshot(this.metadata)
    return readManifestListBytes(this.open(snapshot!.manifestList!), cache === undefined ? {} : { cache })
  }

  read(row: ManifestFile, cache?: ManifestCache) {
    const spec = this.metadata.specs.get(row.partitionSpecId)!
    const type = partitionType(spec, this.metadata.schema)
    return readManifestBytes(this.open(row.manifestPath), row, {
      partitionType: type,
      ...(cache === undefined ? {} : { cache }),
    })
  }

  currentTasks(): ExpectedTask[] {
    return this.expected.scans.find(({ selections }) => selections.some(({ current }) => current))!.tasks
  }
}

function fixture(path: string): URL {
  return new URL(`fixtures/${path}`, projectRoot())
}

const long = (text: string | undefined) => (text === undefined ? undefined : BigInt(text))

for (const name of ['codecs', 'upgraded', 'orders'])
  describe(`the table ${name} of Iceberg for Java`, () => {
    const table = new JavaTable(name)

    it('every row of the manifest list', () => {
      assert.deepEqual(
        table.manifests().map((row) => ({
          path: row.manifestPath,
          content: row.content === ManifestContent.DATA ? 'data' : 'deletes',
          specId: row.partitionSpecId,
          length: row.manifestLength,
          sequenceNumber: row.sequenceNumber,
          minSequenceNumber: row.minSequenceNumber,
          addedSnapshotId: row.addedSnapshotId,
          firstRowId: row.firstRowId,
        })),
        table.expected.manifests.map(({ entries: _, ...row }) => ({
          ...row,
          sequenceNumber: BigInt(row.sequenceNumber),
          minSequenceNumber: BigInt(row.minSequenceNumber),
          addedSnapshotId: BigInt(row.addedSnapshotId),
          firstRowId: long(row.firstRowId),
        })),
      )
    })

    it('the counts of the list are those of the manifests', () => {
      for (const row of table.manifests()) {
        const files = [0, 0, 0]
        const rows = [0, 0, 0]
        for (const { status, dataFile } of table.read(row).entries) {
          files[status]++
          rows[status] += dataFile.recordCount
        }
        const { existingFilesCount, addedFilesCount, deletedFilesCount } = row
        const { existingRowsCount, addedRowsCount, deletedRowsCount } = row
        assert.deepEqual([existingFilesCount, addedFilesCount, deletedFilesCount], files)
        assert.deepEqual([existingRowsCount, addedRowsCount, deletedRowsCount], rows)
        assert.equal(row.liveFiles(), files[0] + files[1])
        assert.equal(row.partitions?.length, table.metadata.specs.get(row.partitionSpecId)!.fields.length)
      }
    })

    for (const [n, { path, entries }] of table.expected.manifests.entries())
      it(`all ${entries.length} entries of ${path.slice(path.lastIndexOf('/') + 1)}`, () => {
        const manifest = table.read(table.manifests()[n])
        assert.deepEqual(
          Array.from(manifest.entries, ({ status, snapshotId, dataFile }) => ({
            status,
            snapshotId,
            dataSequenceNumber: dataFile.dataSequenceNumber,
            fileSequenceNumber: dataFile.fileSequenceNumber,
            firstRowId: dataFile.firstRowId,
            filePath: dataFile.filePath,
            recordCount: dataFile.recordCount,
          })),
          entries.map((entry) => ({
            ...entry,
            status: entry.status as EntryStatus,
            snapshotId: BigInt(entry.snapshotId),
            dataSequenceNumber: long(entry.dataSequenceNumber),
            fileSequenceNumber: long(entry.fileSequenceNumber),
            firstRowId: long(entry.firstRowId),
          })),
        )
      })

    it('partition tuples, sizes and what a delete file says, of all live files', () => {
      const files = new Map(
        table
          .manifests()
          .flatMap((row) => Array.from(table.read(row).liveEntries(), ({ dataFile }) => dataFile))
          .map((file) => [`${file.filePath} ${file.referencedDataFile ?? ''}`, file]),
      )
      for (const task of table.currentTasks()) {
        const file = files.get(`${task.filePath} `)!
        assert.isTrue(file.isData)
        assert.deepEqual(partitionToJson(file), task.partition)
        assert.equal(file.fileSizeInBytes, task.fileSize)
        assert.equal(file.specId, task.specId)
        for (const expected of task.deletes) {
          const file = files.get(`${expected.path} ${expected.referencedDataFile ?? ''}`)!
          assert.isFalse(file.isData)
          assert.equal(file.dataSequenceNumber, BigInt(expected.dataSequenceNumber))
          assert.deepEqual(file.equalityIds, expected.equalityIds)
          assert.equal(file.contentOffset, expected.contentOffset)
          assert.equal(file.contentSizeInBytes, expected.contentSizeInBytes)
          assert.equal(file.specId, expected.specId)
        }
      }
    })

    it('the same with a cache as without', () => {
      const cache = new ManifestCache()
      for (const row of table.manifests(cache)) {
        const [cached, plain] = [table.read(row, cache), table.read(row)]
        assert.deepEqual(
          Array.from(cached.entries, (entry) => entry.toJSON()),
          Array.from(plain.entries, (entry) => entry.toJSON()),
        )
      }
    })
  })

describe('codecs of manifests (R4.19)', () => {
  it('the table codecs has a snappy, a zstandard and an uncompressed manifest', () => {
    const table = new JavaTable('codecs')
    const codecs = table.manifests().map(({ manifestPath }) => {
      const header = readHeader(openContainer(table.open(manifestPath), manifestPath))
      return Buffer.from(header.get('avro.codec')!).toString()
    })
    assert.sameMembers(codecs, ['snappy', 'zstandard', 'null'])
  })
})
