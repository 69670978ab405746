/**
 * A task as JSON: the keys that `--format json` and `jsonl` promise.
 */
import type { ContentFile, DeleteFile, FileScanTask, JsonValue } from '../index.ts'
import { expressionToJson, formatExpression } from '../index.ts'

export type JsonRecord = Record<string, JsonValue | undefined>

/**
 * Keys with `undefined` are left out of the text; ids are `bigint`, to be written by `formatJson`. `location` is there
 * only where it differs from `file-path`, of deletes likewise.
 */
export function taskToJson(task: FileScanTask): JsonRecord {
  const file = task.dataFile
  const { filePath, fileSizeInBytes } = file
  return {
    'file-path': filePath,
    location: movedLocation(task, file),
    'file-format': file.fileFormat,
    'record-count': file.recordCount,
    'file-size-in-bytes': fileSizeInBytes,
    'spec-id': file.specId,
    partition: task.partition,
    'data-sequence-number': file.dataSequenceNumber ?? null,
    start: task.start,
    length: task.length,
    residual: formatExpression(task.residual),
    'residual-filter': expressionToJson(task.residual),
    deletes: task.deletes.map((deleteFile) => deleteToJson(task, deleteFile) as JsonValue),
    'first-row-id': file.firstRowId,
    'split-offsets': file.splitOffsets,
    'sort-order-id': file.sortOrderId,
    'key-metadata': base64(file.keyMetadata),
  }
}

function deleteToJson(task: FileScanTask, file: DeleteFile): JsonRecord {
  return {
    content: file.isEqualityDelete ? 'equality-deletes' : 'position-deletes',
    'file-path': file.filePath,
    location: movedLocation(task, file),
    'file-format': file.fileFormat,
    'record-count': file.recordCount,
    'file-size-in-bytes': file.fileSizeInBytes,
    'spec-id': file.specId,
    'data-sequence-number': file.dataSequenceNumber ?? null,
    'content-offset': file.contentOffset,
    'content-size-in-bytes': file.contentSizeInBytes,
    'referenced-data-file': file.referencedDataFile,
    'equality-ids': file.equalityIds,
    'key-metadata': base64(file.keyMetadata),
  }
}

function movedLocation(task: FileScanTask, file: ContentFile): string | undefined {
  const location = task.locationOf(file)
  return location === file.filePath ? undefined : location
}

function base64(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('base64')
}
