/**
 * Every real table, given as a folder: the file found is the one that the index of the corpus names. Where it
 * is not, the reason is below. One request finds it.
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

const newer: Partial<Record<string, [metadata: string, why: string]>> = {
  'dremio/partitionednation': [
    'dremio/partitionednation/metadata/v4.metadata.json',
    'its hint says 2, but v3 and v4 were committed after that (the metadata log of v4 names v2 and v3): ' +
      'Java walks on from the hint to v4, the index of the corpus stops at it',
  ],
}

const warned: Partial<Record<string, [warning: RegExp, why: string]>> = {
  'iceberg-cxx/metadata_with_broken_files': [
    /broken1\.metadata\.json, .*broken2\.metadata\.json, .*empty\.metadata\.json/,
    'three files of that folder have no version in their names',
  ],
}

/** Have metadata files without a version in their names, beside others. */
const withOddNames = new Set(['duckdb-iceberg/name_mapping', 'dremio/empty_table'])
/** Its hint is an empty file. */
const EMPTY_HINT = 'impala/iceberg_v3_deletion_vectors'

describeCorpus('finding the metadata of the tables of the corpus', (root) => {
  const entries = corpusEntries('table')

  it('has the tables that are spoken of here', () => {
    const names = entries.map(({ source, name }) => `${source}/${name}`)
    assert.includeMembers(names, [
      ...Object.keys(refused),
      ...Object.keys(newer),
      ...Object.keys(warned),
      ...withOddNames,
      EMPTY_HINT,
    ])
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

    const remark = newer[table]?.[1] ?? (warning === undefined ? '' : `with a warning: ${warning[1]}`)
    it(`${table}${remark === '' ? '' : `, ${remark}`}`, async () => {
      const folder = corpusFolder(entry)
      const io = new CountingFileIO(new LocalFileIO())
      const found = await findMetadataLocation(folder, io)
      assert.equal(found.location, join(root, newer[table]?.[0] ?? entry.metadata!))
      assert.match(found.warnings.join('\n'), warning === undefined ? /^$/ : warning[0])
      if (!existsSync(`${folder}/metadata`)) return

      // The listing; the hint too, where there are names without a version.
      const hasHint = existsSync(`${folder}/metadata/version-hint.text`)
      assert.equal(io.requests, hasHint && withOddNames.has(table) ? 2 : 1)
      const inside = await findMetadataLocation(`file://${folder}/metadata/`, new LocalFileIO())
      assert.equal(inside.location, `file://${found.location}`)

      // A table with a good hint is the one of the index where nothing can be listed.
      if (!hasHint || table === EMPTY_HINT) return
      const { identity } = io
      const unlistable = { identity, open: (location: string) => new LocalFileIO().open(location) }
      assert.equal((await findMetadataLocation(folder, unlistable)).location, join(root, entry.metadata!))
    })
  }
})
