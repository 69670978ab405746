/** Tables with many manifests, several specs and deletes of every kind, made at random. */
import { seededRandom } from '../support/record-shape.ts'
import { type BuiltTable, buildTable, type EntryInput, type ManifestInput } from '../support/table-writer.ts'
import { SCHEMA } from './planning.ts'

const REGIONS = ['eu', 'us', 'asia', null]

export interface GeneratedTableInput {
  seed: number
  formatVersion: 2 | 3
  manifests: number
}

export function generatedTable({ seed, formatVersion, manifests }: GeneratedTableInput): BuiltTable {
  const random = seededRandom(seed)
  const int = (below: number) => Math.floor(random() * below)
  const pick = <T>(items: readonly T[]): T => items[int(items.length)]

  const dataManifest = (m: number): ManifestInput => {
    const specId = int(3)
    // Some fill a batch of their own, most travel in a run with others.
    const isLarge = m % 50 === 7
    const size = isLarge ? 800 : int(12)
    const entries = Array.from({ length: size }, (_, e): EntryInput => {
      const filePath = `data/${m}-${e}${'x'.repeat(int(30))}`
      const status = pick([0, 1, 1, 1, 2])

      return {
        status,
        sequenceNumber: 1 + int(6),
        dataFile: {
          filePath,
          fileFormat: pick(['PARQUET', 'orc', 'avro', 'lance']),
          partition: specId === 0 ? [] : [pick(REGIONS)],
          recordCount: int(1000),
          fileSizeInBytes: int(2 ** 40),
          splitOffsets: Array.from({ length: int(3) }, (_, i) => 4 + i * 1000),
          lowerBounds: { 1: new Uint8Array(8), 2: Buffer.from('a') },
          valueCounts: { 1: int(9) },
          ...(random() < 0.3 ? { sortOrderId: int(3) } : {}),
          ...(isLarge || random() < 0.3 ? { keyMetadata: new Uint8Array(isLarge ? 800 : int(60)) } : {}),
        },
      }
    })
    return {
      specId,
      entries,
      sequenceNumber: 7,
      write: {
        codec: isLarge ? 'null' : pick(['deflate', 'null', 'snappy', 'zstandard']),
        shuffleSeed: int(3),
      },
    }
  }

  const deleteManifest = (m: number): ManifestInput => {
    const specId = int(3)
    const entries = Array.from({ length: 1 + int(3) }, (_, e): EntryInput => {
      const isEquality = random() < 0.5
      return {
        status: pick([0, 1, 1, 2]),
        sequenceNumber: 1 + int(7),
        dataFile: {
          content: isEquality ? 2 : 1,
          filePath: `deletes/${m}-${e}`,
          partition: specId === 0 ? [] : [pick(REGIONS)],
          ...(isEquality ? { equalityIds: [pick([1, 2])] } : {}),
        },
      }
    })
    return { content: 'deletes', specId, entries, sequenceNumber: 7 }
  }

  const data = Array.from({ length: manifests }, (_, m) => dataManifest(m))
  const deletes = Array.from({ length: Math.ceil(manifests / 12) }, (_, m) => deleteManifest(m))
  return buildTable({
    formatVersion,
    schema: SCHEMA,
    specs: [
      { fields: [] },
      { fields: [{ sourceId: 2, name: 'region', transform: 'identity' }] },
      { fields: [{ sourceId: 2, fieldId: 1001, name: 'start', transform: 'truncate[1]' }] },
    ],
    // Both kinds come mixed.
    snapshots: [{ sequenceNumber: 7, manifests: [...data, ...deletes].sort(() => random() - 0.5) }],
  })
}
