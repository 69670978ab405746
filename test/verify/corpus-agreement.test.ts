/**
 * Every manifest and manifest list of the corpus, read by this library and by avsc.
 *
 * Tables are verified as `iceplan verify` does it; Avro files that no table's snapshot names are then compared on
 * their own, each with the row that stands for an inline manifest. What one side does not read is pinned here with
 * its message: a new refusal fails, and so does one that is gone.
 */
import { assert } from 'chai'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { LocalFileIO } from '../../src/io/local-file-io.ts'
import { ManifestCache } from '../../src/manifest/manifest-cache.ts'
import {
  inlineManifest,
  ManifestContent,
  ManifestFile,
  type ManifestFileFields,
} from '../../src/manifest/manifest-file.ts'
import { readManifestListBytes } from '../../src/manifest/manifest-list.ts'
import { readManifestBytes } from '../../src/manifest/manifest-reader.ts'
import { parseTableMetadata } from '../../src/metadata/table-metadata.ts'
import { decodeWithAvsc, type AvscFile } from '../../src/verify/avsc-decoder.ts'
import { compareManifest, compareManifestList } from '../../src/verify/compare-manifest.ts'
import { Comparison, type Difference } from '../../src/verify/comparison.ts'
import { comparedManifest, verifyTable } from '../../src/verify/verify-table.ts'
import { corpusEntries, corpusFolder, describeCorpus, type CorpusEntry } from '../support/corpus.ts'

/** Files that avsc does not decode. None of them for its schema: avsc itself refuses nothing in the corpus. */
const NOT_READ_BY_AVSC: Record<string, string> = {
  'iceberg-cxx/metadata_with_broken_files/metadata/broken1.avro':
    'Cannot decode the header: it runs over the end',
  'iceberg-cxx/metadata_with_broken_files/metadata/broken2.avro':
    'Cannot decode a file as Avro: it does not start with "Obj" and 1',
  'iceberg-cxx/metadata_with_broken_files/metadata/empty.avro':
    'Cannot decode a file as Avro: it does not start with "Obj" and 1',
  'iceberg-rust/manifests_lists/manifest-list-v3-encrypted.avro':
    'Cannot decode a file as Avro: it does not start with "Obj" and 1',
}

/** Neither manifests nor manifest lists: statistics, data, another format's manifest. */
const NOT_COMPARED = [
  'dremio/internal_metadata_inconsistent_partitions/metadata/dremio-partitionStats-0-7abb460d-c1fa-4eb2-9cec-fb85b05087fd.avro',
  'dremio/partitionednation/metadata/dremio-partitionStats-0-348cabd1-9bc4-442c-92b4-7f8ac8e26a6d.avro',
  'dremio/partitionednation/metadata/dremio-partitionStats-0-9f0488cd-235e-44d2-b88b-c901424ee372.avro',
  'duckdb-avro/loose_manifests/manifest.avro',
  'impala/iceberg_v3_default_value_avro/data/00000-3-e9b0ad3b-49a1-4da4-a830-8e39b42a2731-0-00001.avro',
  'impala/iceberg_v3_default_value_avro/data/00000-4-809b106d-737e-4ec3-a49d-814716a2b794-0-00001.avro',
]

interface Totals {
  manifestLists: number
  manifests: number
  entries: number
  fields: number
  differences: Difference[]
}

describeCorpus('corpus: our reader and avsc', (root) => {
  const totals: Totals = { manifestLists: 0, manifests: 0, entries: 0, fields: 0, differences: [] }
  const visited = new Set<string>()
  const refused: Record<string, string> = {}
  const notReadByAvsc: Record<string, string> = {}
  const notReadByUs: Record<string, string> = {}
  const notCompared: string[] = []

  before(async function () {
    this.timeout(120_000)
    for (const entry of corpusEntries('table')) await verifyEntry(entry)
    for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.avro') || visited.has(file) || !statSync(join(root, file)).isFile()) continue
      compareLoose(file)
    }
  })

  it('agree on every field', () => {
    const { manifestLists, manifests, entries, fields, differences } = totals
    console.log(
      `      ${manifestLists} manifest lists, ${manifests} manifests, ${entries} entries, ${fields} fields`,
    )
    assert.deepEqual(differences, [])
    assert.isAtLeast(manifestLists, 250)
    assert.isAtLeast(manifests, 280)
    assert.isAtLeast(fields, 700_000)
  })

  it('avsc refuses no schema', () => {
    assert.deepEqual(refused, {})
  })

  it('avsc reads all but the pinned files', () => {
    assert.deepEqual(notReadByAvsc, NOT_READ_BY_AVSC)
  })

  it('we read all that avsc reads', () => {
    assert.deepEqual(notReadByUs, {})
  })

  it('only the pinned files are something else', () => {
    assert.deepEqual(notCompared.sort(), NOT_COMPARED)
  })

  /** A table as `iceplan verify` sees it; files that are not in the corpus are passed over. */
  async function verifyEntry(entry: CorpusEntry): Promise<void> {
    if (entry.metadata === undefined) return
    const location = join(root, entry.metadata)
    const metadata = parseTableMetadata(readFileSync(location), location)
    const resolve = resolver(entry)
    const opened = (path: string) => relative(root, resolve(path))
    const summary = await verifyTable({ metadata, io: new LocalFileIO(), resolve })
    add(summary)
    for (const { location, message } of summary.refused) refused[opened(location)] = message
    for (const { location, by, message } of summary.unreadable) {
      if (by === 'storage') continue
      if (by === 'avsc') notReadByAvsc[opened(location)] = message
      // Whether avsc reads it is for the walk over all files to say.
      if (by === 'iceplan') visited.delete(opened(location))
    }

    function resolver({ path_prefixes = [] }: CorpusEntry): (path: string) => string {
      const prefixes = path_prefixes.map(({ prefix }) => prefix).sort((a, b) => b.length - a.length)
      return (path) => {
        const prefix = prefixes.find((candidate) => path.startsWith(candidate))
        const local = prefix === undefined ? path : join(corpusFolder(entry), path.slice(prefix.length))
        visited.add(relative(root, local))
        return local
      }
    }
  }

  function compareLoose(file: string): void {
    const bytes = readFileSync(join(root, file))
    let avsc: AvscFile
    try {
      avsc = decodeWithAvsc(bytes)
    } catch (error) {
      notReadByAvsc[file] = (error as Error).message
      assert.throws(() => readManifestListBytes(bytes))
      assert.throws(() => readManifestBytes(bytes, inlineManifest(file, 1n)))
      return
    }
    if (avsc.refusal !== undefined) refused[file] = avsc.refusal
    const ids = new Set(avsc.shape.fields.map(({ id }) => id))
    const comparison = new Comparison()
    const cache = new ManifestCache()
    try {
      if (ids.has(500)) compareManifestList(file, avsc, readManifestListBytes(bytes, { cache }), comparison)
      else if (ids.has(0) && ids.has(2)) {
        const row = looseRow(file, avsc)
        compareManifest(
          file,
          avsc,
          row,
          comparedManifest(readManifestBytes(bytes, row, { cache })),
          comparison,
        )
      } else notCompared.push(file)
    } catch (error) {
      notReadByUs[file] = (error as Error).message
    }
    add(comparison)
  }

  function looseRow(file: string, avsc: AvscFile): ManifestFile {
    const row = inlineManifest(file, 1n)
    const content = Buffer.from(avsc.metadata.get('content') ?? []).toString()
    return content === 'deletes' ? deleteManifest(row.toObject()) : row
  }

  function add(more: Totals): void {
    totals.manifestLists += more.manifestLists
    totals.manifests += more.manifests
    totals.entries += more.entries
    totals.fields += more.fields
    totals.differences.push(...more.differences)
  }
})

function deleteManifest(row: ManifestFileFields): ManifestFile {
  return new ManifestFile({ ...row, content: ManifestContent.DELETES })
}
