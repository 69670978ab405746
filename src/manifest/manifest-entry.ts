/**
 * `ManifestEntry`: a view of one entry of a manifest, live or deleted, with everything inherited.
 */
import { DataFile, DeleteFile } from './content-file.ts'
import type { EntryBatch } from './entry-batch.ts'
import { FileContent } from './entry-batch.ts'
import { EntryStatus } from './inheritable-metadata.ts'

export class ManifestEntry {
  readonly #batch: EntryBatch
  readonly #row: number

  constructor(batch: EntryBatch, row: number) {
    this.#batch = batch
    this.#row = row
  }

  get status(): EntryStatus {
    return this.#batch.status(this.#row)
  }
  /** Existing or added, not deleted. */
  get isLive(): boolean {
    return this.status !== EntryStatus.DELETED
  }
  /** The snapshot that added the file, or removed it where the status is DELETED. */
  get snapshotId(): bigint | undefined {
    return this.#batch.int64(this.#row, 'snapshotId')
  }
  /** The data sequence number; `undefined` where the writer left it out and no rule gives one (R4.2). */
  get sequenceNumber(): bigint | undefined {
    return this.#batch.int64(this.#row, 'sequenceNumber')
  }
  get fileSequenceNumber(): bigint | undefined {
    return this.#batch.int64(this.#row, 'fileSequenceNumber')
  }
  get dataFile(): DataFile | DeleteFile {
    return this.#batch.content(this.#row) === FileContent.DATA
      ? new DataFile(this.#batch, this.#row)
      : new DeleteFile(this.#batch, this.#row)
  }

  toString(): string {
    const status = ['existing', 'added', 'deleted'][this.status]
    return `${status} ${this.dataFile.toString()}`
  }

  toJSON(): Record<string, unknown> {
    return {
      status: this.status,
      snapshotId: this.snapshotId,
      sequenceNumber: this.sequenceNumber,
      fileSequenceNumber: this.fileSequenceNumber,
      dataFile: this.dataFile.toJSON(),
    }
  }
}
