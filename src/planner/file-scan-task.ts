/**
 * One data file to read, with the deletes to apply: what a plan is made of.
 */
import type { Expression } from '../expressions/expression.ts'
import type { ContentFile, DataFile, DeleteFile } from '../manifest/content-file.ts'
import { DataFile as DataFileView, partitionToJson } from '../manifest/content-file.ts'
import type { EntryBatch } from '../manifest/entry-batch.ts'
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import type { JsonValue } from '../types/value.ts'
import type { DeleteAssignment } from './delete-assignment.ts'

/** What tasks are views of: a planned batch. */
export interface TaskSource {
  readonly batch: EntryBatch
  readonly deletes: DeleteAssignment
  residualAt(i: number): Expression
  readonly resolve: (location: string) => string
  /** A source of one task, the i-th of this one, that shares nothing with it. */
  detach(i: number): TaskSource
}

/**
 * A view of one row of a planned batch: nothing is made before it is touched. A task that is kept holds its whole
 * batch, and the manifest list behind it, in memory; {@link FileScanTask.detach} gives one that does not.
 */
export class FileScanTask {
  readonly #planned: TaskSource
  readonly #index: number
  #deletes: readonly DeleteFile[] | undefined

  /** @param index of the task among the batch's live rows */
  constructor(planned: TaskSource, index: number) {
    this.#planned = planned
    this.#index = index
  }

  get dataFile(): DataFile {
    return new DataFileView(this.#planned.batch, this.#planned.batch.liveRows[this.#index])
  }

  /** In the order of R7.11: equality deletes, then the deletion vector or the position deletes. */
  get deletes(): readonly DeleteFile[] {
    this.#deletes ??= this.#planned.deletes.filesAt(this.#index)
    return this.#deletes
  }

  /** What a reader still has to test on each row: no NOT is in it, and null makes comparisons false (R11.22a). */
  get residual(): Expression {
    return this.#planned.residualAt(this.#index)
  }

  /** First byte to read. */
  get start(): number {
    return 0
  }

  /** Bytes to read. */
  get length(): number {
    return this.dataFile.fileSizeInBytes
  }

  get spec(): PartitionSpec {
    return this.dataFile.spec
  }

  /** Partition field name to JSON single value; `{}` when unpartitioned. */
  get partition(): Record<string, JsonValue> {
    return partitionToJson(this.dataFile)
  }

  /** Where to open the data file, after rebase. */
  get location(): string {
    return this.locationOf(this.dataFile)
  }

  /** Where to open the data file or one of the deletes, after rebase. */
  locationOf({ filePath }: ContentFile): string {
    return this.#planned.resolve(filePath)
  }

  /** The same task, owning its memory: free of the batch that it came from. */
  detach(): FileScanTask {
    return new FileScanTask(this.#planned.detach(this.#index), 0)
  }

  toString(): string {
    const { length } = this.deletes
    return `${this.dataFile.filePath} with ${length} ${length === 1 ? 'delete' : 'deletes'}`
  }
}
