import { inspect } from 'node:util'
import { assert } from 'chai'
import { inlineManifest, ManifestContent, type ManifestFileFields } from '../../src/manifest/manifest-file.ts'
import { formatJson, parseJson } from '../../src/metadata/lossless-json.ts'
import { MANIFEST_PATH, manifestFile } from './manifest-reading.ts'

describe('ManifestFile', () => {
  const counts: [why: string, fields: Partial<ManifestFileFields>, live: number | undefined][] = [
    [
      'added and existing, deleted ones do not count',
      { addedFilesCount: 2, existingFilesCount: 3, deletedFilesCount: 9 },
      5,
    ],
    ['both 0 are known', { addedFilesCount: 0, existingFilesCount: 0 }, 0],
    ['trap 5: added is not known', { existingFilesCount: 3 }, undefined],
    ['trap 5: existing is not known', { addedFilesCount: 3 }, undefined],
    ['neither is known', { deletedFilesCount: 3 }, undefined],
  ]
  for (const [why, fields, live] of counts)
    it(`liveFiles: ${why}`, () => {
      assert.equal(manifestFile(fields).liveFiles(), live)
    })

  it('isDeleteManifest', () => {
    assert.isFalse(manifestFile().isDeleteManifest)
    assert.isTrue(manifestFile({ content: ManifestContent.DELETES }).isDeleteManifest)
    assert.deepEqual(ManifestContent, { DATA: 0, DELETES: 1 })
  })

  it('toString tells kind, path, spec and what is known of the files', () => {
    assert.equal(
      manifestFile({ addedFilesCount: 2, existingFilesCount: 3, partitionSpecId: 4 }).toString(),
      `data manifest ${MANIFEST_PATH} (spec 4, 5 live files)`,
    )
    assert.equal(
      manifestFile({ content: ManifestContent.DELETES }).toString(),
      `delete manifest ${MANIFEST_PATH} (spec 0, unknown number of files)`,
    )
  })

  it('a console shows the fields', () => {
    assert.include(inspect(manifestFile({ addedFilesCount: 77 })), 'addedFilesCount: 77')
  })

  it('toJSON is plain: ids survive as bare integers, bytes as base64', () => {
    const file = manifestFile({
      sequenceNumber: 2n ** 62n + 1n,
      firstRowId: 0n,
      addedFilesCount: 1,
      keyMetadata: Uint8Array.of(255, 0),
      partitions: [
        { containsNull: false, containsNan: undefined, lowerBound: Uint8Array.of(1), upperBound: undefined },
      ],
    })
    const text = formatJson(file.toJSON())
    assert.include(text, '4611686018427387905')
    assert.include(text, '3051729675574597004')
    const back = parseJson(text) as Record<string, unknown>
    assert.deepInclude(back, {
      manifestPath: MANIFEST_PATH,
      sequenceNumber: 2n ** 62n + 1n,
      addedFilesCount: 1,
      keyMetadata: '/wA=',
      partitions: [{ containsNull: false, lowerBound: 'AQ==' }],
    })
    assert.notProperty(back, 'existingFilesCount')
    assert.notProperty(back, 'isDeleteManifest')
  })

  it('R1.12: an inline manifest knows its snapshot and nothing else', () => {
    const file = inlineManifest(MANIFEST_PATH, 5n)
    assert.deepInclude(file, {
      manifestPath: MANIFEST_PATH,
      manifestLength: undefined,
      partitionSpecId: 0,
      content: ManifestContent.DATA,
      sequenceNumber: 0n,
      minSequenceNumber: 0n,
      addedSnapshotId: 5n,
      partitions: undefined,
      firstRowId: undefined,
    })
    assert.isUndefined(file.liveFiles())
  })
})
