/** Every metadata file of the corpus parses, or fails as its source states; what index.json counts comes out. */
import { assert } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isIcebergError } from '../../src/errors.ts'
import { selectSnapshot } from '../../src/metadata/snapshot.ts'
import { parseTableMetadata, type TableMetadata } from '../../src/metadata/table-metadata.ts'
import {
  corpusEntries,
  corpusFacts,
  corpusFolder,
  describeCorpus,
  type CorpusEntry,
  type CorpusFact,
} from '../support/corpus.ts'

describeCorpus('table metadata of the corpus', (root) => {
  const parse = (path: string): TableMetadata => parseTableMetadata(readFileSync(path), path)

  /** The readable metadata files of an entry: the named one, then the others. */
  function metadataFiles(entry: CorpusEntry): string[] {
    const others = (entry.other_metadata ?? [])
      .filter((other) => other.format_version !== undefined)
      .map((other) => join(corpusFolder(entry), other.file))
    return [...new Set(entry.metadata === undefined ? others : [join(root, entry.metadata), ...others])]
  }

  /** The fact that parsing must fail, if a source states it. */
  function parseFailure(entry: CorpusEntry): CorpusFact | undefined {
    if (entry.kind !== 'metadata-case' && entry.kind !== 'malformed') return undefined
    return corpusFacts(entry).find((fact) => fact.kind === 'error')
  }

  for (const entry of corpusEntries('metadata-case', 'metadata-only', 'metadata-set', 'malformed', 'table')) {
    const failure = parseFailure(entry)
    if (failure !== undefined) continue
    it(`${entry.source}/${entry.name} parses`, () => {
      for (const path of metadataFiles(entry)) {
        const metadata = parse(path)
        // The lazy parts too: schemas, orders, statistics, keys.
        assert.isNotEmpty(metadata.schemas)
        assert.isNotEmpty(metadata.sortOrders)
        assert.isArray(metadata.statistics)
        assert.isArray(metadata.partitionStatistics)
        assert.isArray(metadata.encryptionKeys)
        assert.isNotEmpty([...metadata.schema.allFields()])
      }
    })
  }

  for (const entry of corpusEntries('metadata-case', 'metadata-only', 'metadata-set', 'table')) {
    if (parseFailure(entry) !== undefined) continue
    it(`${entry.source}/${entry.name} holds what index.json counts`, () => {
      const metadata = parse(join(root, entry.metadata!))
      assert.equal(metadata.formatVersion, entry.format_version)
      assert.equal(metadata.tableUuid, entry.table_uuid)
      assert.equal(metadata.location, entry.location)
      assert.equal(metadata.snapshots.length, entry.snapshots)
      // index.json counts no columns where it finds no current schema; v1 has one all the same.
      if (entry.columns !== 0) assert.equal(metadata.schema.fields.length, entry.columns)
      assert.equal(metadata.specs.size, entry.partition_specs?.length)
      assert.equal(metadata.currentSnapshotId, currentId(entry.current_snapshot_id))
      assert.equal(selectSnapshot(metadata).snapshot?.snapshotId, metadata.currentSnapshotId)
      for (const other of entry.other_metadata ?? []) {
        const path = join(corpusFolder(entry), other.file)
        if (other.format_version === undefined) {
          assert.isTrue(
            isIcebergError(
              failureOf(() => parse(path)),
              'ERR_INVALID_METADATA',
            ),
            other.file,
          )
          continue
        }
        const file = parse(path)
        assert.equal(file.formatVersion, other.format_version, other.file)
        assert.equal(file.snapshots.length, other.snapshots, other.file)
        assert.equal(file.currentSnapshotId, currentId(other.current_snapshot_id), other.file)
      }
    })
  }

  for (const entry of corpusEntries('metadata-case', 'malformed')) {
    const failure = parseFailure(entry)
    if (failure === undefined) continue
    it(`${entry.source}/${entry.name} fails: ${String(failure.expected.error)}`, () => {
      const path = join(root, entry.metadata!)
      const error = failureOf(() => parse(path))
      assert.isTrue(isIcebergError(error), String(error))
      assert.include(error.message, path)
      // Version 3 is one that we read: iceberg-rust's case of that name fails for what it lacks as v3. Others' words
      // for broken JSON are not ours.
      if (entry.format_version !== undefined && entry.format_version !== 3)
        assert.include(error.message, String(failure.expected.error))
    })
  }

  it('facts of kind metadata come out', () => {
    const facts: Record<string, (metadata: TableMetadata) => unknown> = {
      current_schema_id: (metadata) => metadata.currentSchemaId,
      last_updated_ms: (metadata) => metadata.lastUpdatedMs,
      default_spec_id: (metadata) => metadata.defaultSpecId,
    }
    let checked = 0
    for (const entry of corpusEntries('metadata-case', 'table'))
      for (const fact of corpusFacts(entry).filter((known) => known.kind === 'metadata')) {
        const metadata = parse(
          fact.metadata === undefined
            ? join(root, entry.metadata!)
            : join(corpusFolder(entry), fact.metadata),
        )
        for (const [name, valueOf] of Object.entries(facts))
          if (name in fact.expected) {
            assert.equal(valueOf(metadata), fact.expected[name], `${entry.source}/${entry.name} ${name}`)
            checked++
          }
      }
    assert.isAbove(checked, 2)
  })

  it('R1.5, B159: facts of unknown snapshots and of times before the log are errors', () => {
    let checked = 0
    for (const entry of corpusEntries('table'))
      for (const fact of corpusFacts(entry).filter((known) => known.kind === 'error')) {
        const { snapshot_id: id, as_of: asOf } = fact
        if (id === undefined && asOf === undefined) continue
        const path =
          fact.metadata === undefined ? join(root, entry.metadata!) : join(corpusFolder(entry), fact.metadata)
        const selection =
          id === undefined ? { asOf: Date.parse(`${asOf!.replace(' ', 'T')}Z`) } : { snapshotId: BigInt(id) }
        const error = failureOf(() => selectSnapshot(parse(path), selection))
        assert.isTrue(isIcebergError(error, 'ERR_INVALID_ARGUMENT'), String(error))
        assert.match(
          error.message,
          id === undefined ? /^Cannot find a snapshot older than / : /^Cannot find snapshot /,
        )
        checked++
      }
    assert.isAbove(checked, 4)
  })
})

/** index.json writes "no snapshot" in four ways. */
function currentId(text = ''): bigint | undefined {
  return ['', 'null', '-1'].includes(text) ? undefined : BigInt(text)
}

function failureOf(action: () => unknown): Error {
  try {
    action()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return assert.fail('it must fail')
}
