/**
 * A batch of data files that are to be read, with their deletes: the columns behind the tasks.
 */
import type { Expression } from '../expressions/expression.ts'
import type { DeleteFile } from '../manifest/content-file.ts'
import type { EntryBatch } from '../manifest/entry-batch.ts'
import type { DeleteAssignment } from './delete-assignment.ts'
import { FileScanTask, type TaskSource } from './file-scan-task.ts'

/** What is left of the filter, by row. */
export interface ResidualsAt {
  at(row: number): Expression
}

export class PlannedBatch implements TaskSource {
  /** The files: `batch.liveRows` are the rows to read, in plan order. */
  readonly batch: EntryBatch
  /** Deletes by position in `batch.liveRows`. */
  readonly deletes: DeleteAssignment
  readonly #residuals: ResidualsAt
  /** Where to open a stored location. */
  readonly resolve: (location: string) => string

  constructor(
    batch: EntryBatch,
    deletes: DeleteAssignment,
    residuals: ResidualsAt,
    resolve: (location: string) => string,
  ) {
    this.batch = batch
    this.deletes = deletes
    this.#residuals = residuals
    this.resolve = resolve
  }

  get length(): number {
    return this.batch.liveRows.length
  }

  /** The task of the i-th live row. */
  task(i: number): FileScanTask {
    return new FileScanTask(this, i)
  }

  /** What is left of the filter for the i-th live row. */
  residualAt(i: number): Expression {
    return this.#residuals.at(this.batch.liveRows[i])
  }

  /** A batch of one task that shares nothing with this one. */
  detach(i: number): PlannedBatch {
    const files = this.deletes.filesAt(i).map((file) => file.detach())
    const residual = this.residualAt(i)
    return new PlannedBatch(
      this.batch.detachRow(this.batch.liveRows[i]),
      new KeptDeletes(files, this.deletes.sizeAt(i)),
      { at: () => residual },
      this.resolve,
    )
  }
}

/** The deletes of one detached task. */
class KeptDeletes implements DeleteAssignment {
  readonly #files: readonly DeleteFile[]
  readonly sizeInBytes: number

  constructor(files: readonly DeleteFile[], sizeInBytes: number) {
    this.#files = files
    this.sizeInBytes = sizeInBytes
  }
  get count(): number {
    return this.#files.length
  }
  countAt(): number {
    return this.#files.length
  }
  sizeAt(): number {
    return this.sizeInBytes
  }
  filesAt(): readonly DeleteFile[] {
    return this.#files
  }
}
