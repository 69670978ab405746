/** What workers are told of manifests comes out as it went in, and nothing else does. */
import { assert } from 'chai'
import { inlineManifest, ManifestContent, type ManifestFileFields } from '../../src/manifest/manifest-file.ts'
import { packRows, unpackRows } from '../../src/manifest/manifest-rows.ts'
import { manifestFile } from './manifest-reading.ts'

/** All that decoding goes by. */
const PACKED = [
  'manifestPath',
  'manifestLength',
  'partitionSpecId',
  'content',
  'sequenceNumber',
  'addedSnapshotId',
  'keyMetadata',
  'firstRowId',
] as const satisfies (keyof ManifestFileFields)[]

const pick = (manifest: Partial<ManifestFileFields>) =>
  Object.fromEntries(PACKED.map((name) => [name, manifest[name]]))

const key = Uint8Array.of(1, 0, 255)

describe('manifest rows', () => {
  const rows: [why: string, fields: Partial<ManifestFileFields>][] = [
    ['plain', {}],
    ['ids beyond 2^53, up to the ends', { addedSnapshotId: 2n ** 63n - 1n, sequenceNumber: 2n ** 53n + 1n }],
    ['negative ids', { addedSnapshotId: -(2n ** 63n), sequenceNumber: -1n, firstRowId: -5n }],
    ['ids that are zero are known', { addedSnapshotId: 0n, firstRowId: 0n, sequenceNumber: 0n }],
    ['no snapshot', { addedSnapshotId: undefined, firstRowId: 7n }],
    ['no first row id', { addedSnapshotId: 7n, firstRowId: undefined }],
    ['deletes', { content: ManifestContent.DELETES, firstRowId: undefined }],
    ['the largest spec id', { partitionSpecId: 2 ** 31 - 1 }],
    ['a negative spec id', { partitionSpecId: -1 }],
    ['a long length', { manifestLength: 2 ** 53 }],
    ['lengths that cannot be', { manifestLength: 0 }],
    ['negative length', { manifestLength: -1 }],
    ['unknown length', { manifestLength: undefined }],
    ['encrypted', { keyMetadata: key }],
    ['encrypted with an empty key', { keyMetadata: new Uint8Array(0) }],
    ['a path of any characters', { manifestPath: 's3://b/a b/é\u{1F600}?#%20\n' }],
    ['no path', { manifestPath: '' }],
  ]
  for (const [why, fields] of rows)
    it(`one: ${why}`, () => {
      const manifest = manifestFile(fields)
      const [received] = unpackRows(structuredClone(packRows([manifest])))
      assert.deepEqual(pick(received), pick(manifest))
    })

  it('none', () => {
    assert.isEmpty(unpackRows(structuredClone(packRows([]))))
  })

  it('all at once, in order, with an inline manifest between', () => {
    const manifests = rows.map(([, fields]) => manifestFile(fields))
    manifests.splice(3, 0, inlineManifest('inline', 2n ** 60n))
    const received = unpackRows(structuredClone(packRows(manifests)))
    assert.deepEqual(received.map(pick), manifests.map(pick))
    assert.isUndefined(received[3].manifestLength)
  })

  it('of what is not packed nothing is claimed: counts and summaries are unknown', () => {
    const summary = { containsNull: false, containsNan: false, lowerBound: key, upperBound: key }
    const manifest = manifestFile({
      addedFilesCount: 0,
      existingFilesCount: 0,
      deletedRowsCount: 3,
      partitions: [summary],
    })
    const [received] = unpackRows(packRows([manifest]))
    assert.isUndefined(received.liveFiles())
    assert.isUndefined(received.deletedRowsCount)
    assert.isUndefined(received.partitions)
  })
})
