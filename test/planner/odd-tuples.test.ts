/** B074: deletes are not matched by tuples of which a part is not known, or not the spec's. */
import { assert } from 'chai'
import { rejection } from '../support/rejection.ts'
import { type BuiltTable, buildTable, type EntryInput, type ManifestInput } from '../support/table-writer.ts'
import { namesOf, planBuilt, SCHEMA } from './planning.ts'

const identity = (sourceId: number, fieldId: number, name: string) => ({
  sourceId,
  fieldId,
  name,
  transform: 'identity',
})
const FIELDS = [identity(2, 1000, 'region'), identity(1, 1001, 'id')]

const manifest = (
  content: 'data' | 'deletes',
  entry: EntryInput,
  omit: readonly number[],
): ManifestInput => ({
  content,
  entries: [entry],
  ...(omit.length === 0 ? {} : { write: { omit } }),
})
const dataFile = (filePath: string, omit: readonly number[] = []): ManifestInput =>
  manifest('data', { sequenceNumber: 5n, dataFile: { filePath, partition: ['a', 1n] } }, omit)
const deleteFile = (omit: readonly number[] = []): ManifestInput =>
  manifest(
    'deletes',
    {
      sequenceNumber: 6n,
      dataFile: { filePath: 'e', content: 2, equalityIds: [1], partition: ['a', 1n] },
    },
    omit,
  )

/** @param specFields how many of the fields that the manifests were written with the table's spec still names */
function table(manifests: readonly ManifestInput[], specFields = 2): BuiltTable {
  const input = {
    formatVersion: 2 as const,
    schema: SCHEMA,
    specs: [{ fields: FIELDS }],
    snapshots: [{ manifests: [...manifests], sequenceNumber: 10n }],
  }
  if (specFields === 2) return buildTable(input)
  const fields = FIELDS.slice(0, specFields).map(({ sourceId, fieldId, name, transform }) => ({
    'source-id': sourceId,
    'field-id': fieldId,
    name,
    transform,
  }))
  return buildTable({ ...input, metadata: { 'partition-specs': [{ 'spec-id': 0, fields }] } })
}

describe('B074: tuples that are not those of the spec', () => {
  const rows: [manifests: ManifestInput[], specFields: number, outcome: RegExp | string[], why: string][] = [
    [[dataFile('d'), deleteFile()], 2, ['d', 'e'], 'all fields are there'],
    [[dataFile('d', [1001])], 2, ['d'], 'without deletes nothing depends on the tuple'],
    [
      [dataFile('d', [1001]), deleteFile()],
      2,
      /lacks the field "id"/,
      'the data file may be in the partition',
    ],
    [[dataFile('d'), deleteFile([1001])], 2, /lacks the field "id"/, 'the delete may be of the partition'],
    [[dataFile('d')], 1, ['d'], 'without deletes nothing depends on the spec'],
    [
      [dataFile('d'), deleteFile()],
      1,
      /has the field "id" beyond it/,
      'other partitions would look the same',
    ],
  ]
  for (const [manifests, specFields, outcome, why] of rows)
    it(`${outcome instanceof RegExp ? 'refused' : 'planned'}, because ${why}`, async () => {
      const built = table(manifests, specFields)
      if (outcome instanceof RegExp) {
        const error = await rejection(planBuilt(built))
        assert.equal(error.code, 'ERR_INVALID_METADATA')
        assert.match(error.message, outcome)
        assert.match(error.location!, /\.avro$/)
      } else assert.deepEqual((await planBuilt(built)).tasks.flatMap(namesOf), outcome)
    })
})
