/**
 * Every table of the corpus is planned, and gives what index.json counts: live files of each kind, rows, manifests.
 *
 * The same plan is made in several ways (without a cache, with a cold and a warm one, with a cache whose hashes all
 * collide, from memory, from a store without synchronous reads): the tasks must not differ by a byte.
 */
import { assert } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isIcebergError } from '../../src/errors.ts'
import type { FileIO } from '../../src/io/file-io.ts'
import { LocalFileIO } from '../../src/io/local-file-io.ts'
import { MemoryFileIO } from '../../src/io/memory-file-io.ts'
import { rebase } from '../../src/io/rebase.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import { inlineManifest } from '../../src/manifest/manifest-file.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { readManifestBytes } from '../../src/manifest/manifest-reader.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import { corpusEntries, corpusFolder, describeCorpus, type CorpusEntry } from '../support/corpus.ts'
import {
  corpusMetadata,
  corpusRebases,
  digestOf,
  loadCorpusTable,
  nameOf,
  planTable,
} from '../support/corpus-table.ts'
import { rejection, thrown } from '../support/rejection.ts'

/** Tables whose counts are not those of index.json, with what they are here and why. */
const COUNTED_OTHERWISE: Partial<Record<string, { data: number; records: number; why: string }>> = {
  'iceberg-cxx/perf_manifest_files': {
    data: 6,
    records: 10_000,
    why: 'one manifest of 6 files is listed 10,000 times: it is read once (R2.15), the index counts it each time',
  },
}

/** Tables of which a part is missing: the file that the error names, or why the part is not needed. */
const INCOMPLETE: Record<string, { missing: string; recordedAt: string } | { plans: string }> = {
  'dremio/dac_metastore_table': {
    missing: 'metadata/abf736aa-c054-478d-adc7-34411e8e49d2.avro',
    recordedAt: 's3://tmp.dremio.com/yzhu/yihai/dml_dcs_testing/s3table/',
  },
  'iceberg-cxx/partitioned_table_with_missing_spec': {
    missing: 'metadata/snap-3829439561253574382-1-8968fbb0-57cf-40b0-a725-7d147f07b4b8.avro',
    recordedAt: 's3a://warehouse/partitioned_table/',
  },
  'iceberg-cxx/partitioned_table_with_multiple_spec': {
    missing: 'metadata/snap-3829439561253574382-1-8968fbb0-57cf-40b0-a725-7d147f07b4b8.avro',
    recordedAt: 's3a://warehouse/partitioned_table/',
  },
  'iceberg-cxx/partitioned_table_with_void_transform': {
    missing: 'metadata/snap-3829439561253574382-1-8968fbb0-57cf-40b0-a725-7d147f07b4b8.avro',
    recordedAt: 's3a://warehouse/partitioned_table/',
  },
  'trino/materialized_view_expired_snapshots_source_table': {
    plans:
      'the 9 manifests that are missing hold deleted entries only, so their counts rule them out (R2.14)',
  },
}

const currentId = ({ current_snapshot_id: id = '' }: CorpusEntry) =>
  ['', 'null', '-1'].includes(id) ? undefined : id

describeCorpus('the tables of the corpus, planned', (root) => {
  const tables = corpusEntries('table')
  const complete = tables.filter((entry) => entry.complete === true)
  const withSnapshot = complete.filter((entry) => currentId(entry) !== undefined)

  it('are as many as were counted', () => {
    assert.lengthOf(complete, 162)
    assert.lengthOf(withSnapshot, 156)
    assert.sameMembers(
      tables.filter((entry) => entry.complete === false).map(nameOf),
      Object.keys(INCOMPLETE),
    )
    assert.includeMembers(complete.map(nameOf), Object.keys(COUNTED_OTHERWISE))
  })

  for (const entry of withSnapshot) {
    const other = COUNTED_OTHERWISE[nameOf(entry)]
    it(`${nameOf(entry)} gives what index.json counts${other === undefined ? '' : `, except: ${other.why}`}`, async () => {
      const { tasks, report } = await planTable(await loadCorpusTable(entry))
      const { files, manifests } = entry
      assert.equal(String(report.snapshotId), currentId(entry))
      assert.isTrue(report.complete)
      assert.deepEqual(
        {
          data: tasks.length,
          records: tasks.reduce((sum, task) => sum + task.dataFile.recordCount, 0),
          position_deletes: report.positionalDeleteFiles,
          equality_deletes: report.equalityDeleteFiles,
          deletion_vectors: report.dvs,
          manifests: { data: report.totalDataManifests, delete: report.totalDeleteManifests },
        },
        {
          data: other?.data ?? files!.data,
          records: other?.records ?? entry.record_count!,
          position_deletes: files!.position_deletes,
          equality_deletes: files!.equality_deletes,
          deletion_vectors: files!.deletion_vectors,
          manifests: { data: manifests!.data, delete: manifests!.delete },
        },
      )
      assert.equal(report.resultDataFiles, tasks.length)
      assert.equal(
        report.resultDeleteFiles,
        tasks.reduce((sum, task) => sum + task.deletes.length, 0),
      )
    })

    it(`${nameOf(entry)} gives the same tasks whatever the cache and the store`, async () => {
      const table = await loadCorpusTable(entry)
      const expected = digestOf((await planTable(table)).tasks)
      const check = async (way: string, planner: ScanPlanner, of = table) => {
        assert.equal(digestOf((await planTable(of, {}, planner)).tasks), expected, way)
      }

      const planner = new ScanPlanner()
      await check('cold cache', planner)
      assert.isAbove(planner.cache.fileBytes, 0)
      await check('warm cache', planner)
      assert.isAbove(planner.cache.fileHits + planner.cache.entries.hits, 0)

      const bytesOnly = new ScanPlanner({ cache: new ManifestCache({ maxEntryBytes: 0 }) })
      await check('bytes only, cold', bytesOnly)
      await check('bytes only, warm', bytesOnly)
      assert.isAbove(bytesOnly.cache.fileHits, 0)

      const colliding = new ManifestCache()
      colliding.collideAllHashes()
      const collidingPlanner = new ScanPlanner({ cache: colliding })
      await check('colliding hashes, cold', collidingPlanner)
      await check('colliding hashes, warm', collidingPlanner)

      const { io: recording, files } = recordingFileIO()
      await planTable(await loadCorpusTable(entry, { io: recording }))
      const io = new MemoryFileIO(files)
      await check('memory', new ScanPlanner({ cache: 'off' }), await loadCorpusTable(entry, { io }))
      const asynchronous = await loadCorpusTable(entry, { io: asynchronousFileIO() })
      await check('no synchronous reads', new ScanPlanner({ cache: 'off' }), asynchronous)
      await check('no synchronous reads, warm cache', planner, asynchronous)
    })
  }

  for (const entry of complete.filter((entry) => currentId(entry) === undefined))
    it(`${nameOf(entry)} has no snapshot and plans to nothing (R1.2)`, async () => {
      const { tasks, report } = await planTable(await loadCorpusTable(entry))
      assert.lengthOf(tasks, 0)
      assert.isTrue(report.complete)
      assert.isUndefined(report.snapshotId)
      assert.equal(report.ioRequests, 0)
    })

  for (const entry of tables.filter((entry) => entry.complete === false)) {
    const known = INCOMPLETE[nameOf(entry)]
    if ('plans' in known)
      it(`${nameOf(entry)} plans without what is missing: ${known.plans}`, async () => {
        const { tasks, report } = await planTable(await loadCorpusTable(entry))
        assert.lengthOf(tasks, entry.files!.data)
        assert.equal(report.skippedDataManifests + report.skippedDeleteManifests, 9)
        assert.equal(report.scannedDataManifests, 1)
      })
    else
      it(`${nameOf(entry)} is not whole: the error names ${known.missing}`, async () => {
        const here = join(corpusFolder(entry), known.missing)
        const moved = [...corpusRebases(entry), rebase(known.recordedAt, `${corpusFolder(entry)}/`)]
        const table = await loadTable(corpusMetadata(entry), { rebase: moved })
        const error = await rejection(planTable(table))
        assert.isTrue(isIcebergError(error, 'ERR_NOT_FOUND'), error.message)
        assert.include(error.message, here)
        assert.equal(error.location, here)
      })
  }

  for (const entry of corpusEntries('malformed'))
    it(`${nameOf(entry)} is malformed and fails, naming the file`, async () => {
      const error = await rejection(loadTable(corpusMetadata(entry)))
      assert.isTrue(isIcebergError(error, 'ERR_INVALID_METADATA'), String(error))
      assert.include(error.message, corpusMetadata(entry))
    })

  describe('loose files', () => {
    /** `rows` of the notes, or what is wrong. */
    const loose: Record<
      string,
      Record<string, { list: number } | { manifest: number } | { fails: RegExp }>
    > = {
      'duckdb-avro/loose_manifests': {
        '4551fe85-feb8-43ec-8408-730e593c8b12-m0.avro': { manifest: 1 },
        'iceberg/snap-4438118734176652631-1-2936af0b-e8dd-4ca3-b8b5-3e0346b5c662.avro': { list: 0 },
        // An Apache Paimon manifest: Avro and zstandard, but not Iceberg.
        'manifest.avro': { fails: /^Cannot read manifest.avro: / },
      },
      'iceberg-go/duckdb_v3_manifest_list': { 'duckdb_v3_manifest_list.avro': { list: 2 } },
      'iceberg-rust/manifests_lists': {
        'manifest-list-v2-1.avro': { list: 1 },
        'manifest-list-v2-2.avro': { list: 1 },
        'manifest-list-v3-encrypted.avro': { fails: /^Cannot read .*encrypted/ },
      },
      'pg_lake/loose_manifests': {
        'e1d648c8-9076-48aa-ba99-3e181f21f433-m0.avro': { manifest: 1 },
        'e2a44fb7-8e3b-4dfe-80fa-e37c28e8e227-m0.avro': { manifest: 1 },
        'fb108f8a-7a95-4ffb-adf4-014040732448-m0.avro': { manifest: 1 },
        'snap-1090305341596015032-1-e2a44fb7-8e3b-4dfe-80fa-e37c28e8e227.avro': { list: 2 },
        'snap-488156656739391699-1-e1d648c8-9076-48aa-ba99-3e181f21f433.avro': { list: 2 },
        'snap-5519858476622110340-1-fb108f8a-7a95-4ffb-adf4-014040732448.avro': { list: 1 },
      },
    }

    it('are all spoken of here', () => {
      assert.sameMembers(corpusEntries('manifest-set').map(nameOf), Object.keys(loose))
      for (const entry of corpusEntries('manifest-set')) {
        const noted = (entry.notes ?? []).flatMap((note) => /^(\S+\.avro):/.exec(note)?.[1] ?? [])
        assert.sameMembers(noted, Object.keys(loose[nameOf(entry)]))
      }
    })

    for (const [set, files] of Object.entries(loose))
      for (const [file, known] of Object.entries(files)) {
        const bytes = () => readFileSync(join(root, set, file))
        if ('list' in known)
          it(`${set}/${file} is a manifest list of ${known.list} rows`, () => {
            assert.lengthOf(readManifestListBytes(bytes(), { location: file }), known.list)
          })
        else if ('manifest' in known)
          it(`${set}/${file} is a manifest of ${known.manifest} entries`, () => {
            assert.lengthOf(readManifestBytes(bytes(), inlineManifest(file, 1n)).entries, known.manifest)
          })
        else
          it(`${set}/${file} is neither`, () => {
            for (const read of [
              () => readManifestListBytes(bytes(), { location: file }),
              () => readManifestBytes(bytes(), inlineManifest(file, 1n)),
            ]) {
              const error = thrown(read)
              assert.isTrue(isIcebergError(error), String(error))
              assert.match(error.message, known.fails)
            }
          })
      }
  })
})

/** Local files of which nothing can be read at once, as from any store over the network. */
function asynchronousFileIO(): FileIO {
  const local = new LocalFileIO()
  return {
    identity: local.identity,
    open: (location) => {
      const file = local.open(location)
      return { location, read: (range, options) => file.read(range, options) }
    },
    list: (folder, options) => local.list(folder, options),
  }
}

/** Local files, and a map of all that was read of them. */
function recordingFileIO(): { io: FileIO; files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>()
  const local = asynchronousFileIO()
  const io: FileIO = {
    identity: local.identity,
    open: (location) => ({
      location,
      async read(range, options) {
        const bytes = await local.open(location).read(range, options)
        if (range === undefined) files.set(location, bytes.slice())
        return bytes
      },
    }),
  }
  return { io, files }
}
