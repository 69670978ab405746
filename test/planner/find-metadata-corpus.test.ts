/**
 * Every real table, given as a folder: the file found is the one that the index of the corpus names. Where it
 * is not, the reason is below.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from 'chai'
import { CountingFileIO } from '../../src/io/counting-file-io.ts'
import { LocalFileIO } from '../../src/io/local-file-io.ts'
import { findMetadataLocation } from '../../src/planner/find-metadata.ts'
import { corpusEntries, corpusFolder, describeCorpus } from '../support/corpus.ts'
import { rejection } from '../support/rejection.ts'

const refused: Partial<Record<string, [code: string, why: string]>> = {
  'duckdb-iceberg/equality_delete_cross_partition': [
    'ERR_INVALID_ARGUMENT',
    'its only file is vfinal.metadata.json, which has no version and is not guessed at (B172)',
  ],
  'clickhouse-regression/iceberg_local_local': [
    'ERR_NOT_FOUND',
    'metadata_local.json is no name of a metadata file',
  ],
  'clickhouse-regression/iceberg_local_outside': [
    'ERR_NOT_FOUND',
    'metadata_outside.json is no name of a metadata file',
  ],
}

const warned: Partial<Record<string, [warning: RegExp, why: string]>> = {
  'iceberg-cxx/metadata_with_broken_files': [
    /broken1\.metadata\.json, .*broken2\.metadata\.json, .*empty\.metadata\.json/,
    'three files of that folder have no version in their names',
  ],
  'impala/iceberg_v3_deletion_vectors': [
    /version hint .*: its first line is empty/,
    'the hint is an empty file',
  ],
}

describeCorpus('finding the metadata of the tables of the corpus', (root) => {
  const entries = corpusEntries('table')

  it('has the tables that are spoken of here', () => {
    const names = entries.map(({ source, name }) => `${source}/${name}`)
    assert.includeMembers(names, [...Object.keys(refused), ...Object.keys(warned)])
  })

  for (const entry of entries) {
    const table = `${entry.source}/${entry.name}`
    const refusal = refused[table]
    const warning = warned[table]

    if (refusal !== undefined) {
      const [code, why] = refusal
      it(`${table}: ${code}, for ${why}`, async () => {
        assert.equal(
          (await rejection(findMetadataLocation(corpusFolder(entry), new LocalFileIO()))).code,
          code,
        )
      })
      continue
    }

    it(`${table}${warning === undefined ? '' : `, with a warning: ${warning[1]}`}`, async () => {
      const folder = corpusFolder(entry)
      const io = new CountingFileIO(new LocalFileIO())
      const found = await findMetadataLocation(folder, io)
      assert.equal(found.location, join(root, entry.metadata!))
      assert.match(found.warnings.join('\n'), warning === undefined ? /^$/ : warning[0])
      if (!existsSync(`${folder}/metadata`)) return

      // Two requests: the hint and its file (one more if that is compressed), or no hint and the listing.
      const isCompressed = found.location.includes('.gz')
      assert.equal(io.requests, isCompressed && found.bytes !== undefined ? 3 : 2)
      const inside = await findMetadataLocation(`file://${folder}/metadata/`, new LocalFileIO())
      assert.equal(inside.location, `file://${found.location}`)

      // A table with a good hint must be the same table where nothing can be listed.
      if (!existsSync(`${folder}/metadata/version-hint.text`) || warning !== undefined) return
      const { identity } = io
      const unlistable = { identity, open: (location: string) => new LocalFileIO().open(location) }
      assert.equal((await findMetadataLocation(folder, unlistable)).location, found.location)
    })
  }
})
