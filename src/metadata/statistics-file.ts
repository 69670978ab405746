/** Statistics files and encryption keys that table metadata lists (format-reference 1.5). Informational to planning. */
import {
  asObject,
  optionalArray,
  optionalString,
  requiredCount,
  requiredLong,
  requiredString,
  stringMap,
} from './json-fields.ts'

/** A Puffin file with statistics of the columns of one snapshot. */
export interface StatisticsFile {
  readonly snapshotId: bigint
  readonly statisticsPath: string
  readonly fileSizeInBytes: number
  /** Bytes of the whole Puffin footer, magics included. */
  readonly fileFooterSizeInBytes: number
  /** Base64, as stored. */
  readonly keyMetadata: string | undefined
  readonly blobMetadata: readonly StatisticsBlob[]
}

export interface StatisticsBlob {
  readonly type: string
  readonly snapshotId: bigint
  readonly sequenceNumber: bigint
  /** Ids of the columns the blob was computed over. */
  readonly fields: readonly number[]
  readonly properties: ReadonlyMap<string, string>
}

/** A data file with one row of counts per partition of one snapshot. */
export interface PartitionStatisticsFile {
  readonly snapshotId: bigint
  readonly statisticsPath: string
  readonly fileSizeInBytes: number
}

/** v3: a key that encrypts manifest lists or other keys. */
export interface EncryptionKey {
  readonly keyId: string
  /** Base64, as stored. */
  readonly encryptedKeyMetadata: string
  readonly encryptedById: string | undefined
  readonly properties: ReadonlyMap<string, string>
}

export function parseStatisticsFile(json: unknown): StatisticsFile {
  const object = asObject(json, 'statistics file')
  const place = `statistics file of snapshot ${requiredLong(object, 'snapshot-id', 'statistics file')}`
  return {
    ...parsePartitionStatisticsFile(json),
    fileFooterSizeInBytes: requiredCount(object, 'file-footer-size-in-bytes', place),
    keyMetadata: optionalString(object, 'key-metadata', place),
    blobMetadata: (optionalArray(object, 'blob-metadata', place) ?? []).map((entry) => {
      const blob = asObject(entry, `a blob of ${place}`)
      return {
        type: requiredString(blob, 'type', place),
        snapshotId: requiredLong(blob, 'snapshot-id', place),
        sequenceNumber: requiredLong(blob, 'sequence-number', place),
        fields: (optionalArray(blob, 'fields', place) ?? []).filter((id) => typeof id === 'number'),
        properties: stringMap(blob, 'properties', place),
      }
    }),
  }
}

export function parsePartitionStatisticsFile(json: unknown): PartitionStatisticsFile {
  const object = asObject(json, 'statistics file')
  const snapshotId = requiredLong(object, 'snapshot-id', 'statistics file')
  const place = `statistics file of snapshot ${snapshotId}`
  return {
    snapshotId,
    statisticsPath: requiredString(object, 'statistics-path', place),
    fileSizeInBytes: requiredCount(object, 'file-size-in-bytes', place),
  }
}

export function parseEncryptionKey(json: unknown): EncryptionKey {
  const object = asObject(json, 'encryption key')
  const keyId = requiredString(object, 'key-id', 'encryption key')
  const place = `encryption key "${keyId}"`
  return {
    keyId,
    encryptedKeyMetadata: requiredString(object, 'encrypted-key-metadata', place),
    encryptedById: optionalString(object, 'encrypted-by-id', place),
    properties: stringMap(object, 'properties', place),
  }
}
