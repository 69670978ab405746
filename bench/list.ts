/**
 * Tables of very many manifests: a plan whose filter rules all of them out reads and sorts out the manifest list, and
 * nothing else. Cold, by a new planner; and warm, by one that remembers the rows.
 */
import { writeManifestList } from '../test/support/manifest-writer.ts'
import type { Group } from './corpus.ts'
import type { Size } from './fixtures.ts'
import { openPrunedTable } from './product.ts'

const MANIFESTS: Record<Size, readonly number[]> = { real: [10_000, 100_000], smoke: [10, 100] }
/** Partition values that there are: from 0 on. */
const DAYS = 400

export function listGroup(): Group {
  const names = MANIFESTS.real.flatMap((count) => ['cold', 'warm'].map((kind) => `list/${count}/${kind}`))
  return {
    name: 'list',
    cases: names,
    prepare: async (size) => {
      const tables = await Promise.all(
        MANIFESTS[size].map((count) =>
          openPrunedTable({ list: manifestList(count), metadata: metadataText, filter: `day = ${DAYS}` }),
        ),
      )
      return {
        subjects: tables.flatMap(({ planCold, planWarm }, i) => [
          { name: names[2 * i], agreesWith: names[2 * i], run: planCold },
          { name: names[2 * i + 1], agreesWith: names[2 * i], run: planWarm },
        ]),
        [Symbol.asyncDispose]: async () => {
          for (const table of tables) await table[Symbol.asyncDispose]()
        },
      }
    },
  }
}

function manifestList(count: number): Uint8Array {
  const bound = (value: number): Uint8Array => new Uint8Array(Int32Array.of(value).buffer)
  const rows = Array.from({ length: count }, (_, i) => ({
    manifestPath: `memory://lake/orders/metadata/${String(i).padStart(8, '0')}-4e5f-6789-abcd-ef0123456789-m0.avro`,
    manifestLength: 5000 + (i % 777),
    sequenceNumber: i + 1,
    minSequenceNumber: i + 1,
    addedSnapshotId: 3051729675574597001n + BigInt(i),
    addedFilesCount: 4,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    addedRowsCount: 4000,
    existingRowsCount: 0,
    deletedRowsCount: 0,
    partitions: [
      { containsNull: false, containsNan: false, lowerBound: bound(i % DAYS), upperBound: bound(i % DAYS) },
      { containsNull: false, containsNan: false, lowerBound: bound(0), upperBound: bound(15) },
    ],
  }))
  return writeManifestList({ rows, formatVersion: 2 })
}

/** Of a table partitioned by two ints. */
function metadataText(location: string, list: string): string {
  const fields = ['day', 'bucket'].map((name, i) => ({ id: i + 1, name, required: false, type: 'int' }))
  return JSON.stringify({
    'format-version': 2,
    'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    location,
    'last-sequence-number': 1,
    'last-updated-ms': 1_790_000_000_000,
    'last-column-id': 2,
    'current-schema-id': 0,
    schemas: [{ type: 'struct', 'schema-id': 0, fields }],
    'default-spec-id': 0,
    'partition-specs': [
      {
        'spec-id': 0,
        fields: fields.map(({ id, name }) => ({
          'source-id': id,
          'field-id': 999 + id,
          name,
          transform: 'identity',
        })),
      },
    ],
    'last-partition-id': 1001,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'current-snapshot-id': 1,
    snapshots: [
      {
        'snapshot-id': 1,
        'sequence-number': 1,
        'timestamp-ms': 1_790_000_000_000,
        'manifest-list': list,
        summary: { operation: 'append' },
        'schema-id': 0,
      },
    ],
  })
}
