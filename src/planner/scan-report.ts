/**
 * What a plan did, in the names of Java's scan metrics (R12.8), and what it asked of storage and caches.
 * Returned and never logged; all numbers grow while the plan is consumed.
 */
export interface ScanReport {
  /** From `plan()` until the tasks ended, or until now. */
  readonly totalPlanningDurationMs: number
  readonly snapshotId: bigint | undefined
  readonly schemaId: number
  /** Tasks of the batches taken so far: a consumer that stops early may not have seen the last ones. */
  readonly resultDataFiles: number
  /** Sum over tasks of their deletes: a file counts once per task. */
  readonly resultDeleteFiles: number
  /** In the snapshot, before anything is skipped. */
  readonly totalDataManifests: number
  readonly totalDeleteManifests: number
  /** Decoded, now or before. */
  readonly scannedDataManifests: number
  readonly scannedDeleteManifests: number
  readonly skippedDataManifests: number
  readonly skippedDeleteManifests: number
  /** Live entries that the filter ruled out. */
  readonly skippedDataFiles: number
  readonly skippedDeleteFiles: number
  readonly totalFileSizeInBytes: number
  /** Sum over tasks; of a deletion vector its blob's size. */
  readonly totalDeleteFileSizeInBytes: number
  readonly indexedDeleteFiles: number
  readonly equalityDeleteFiles: number
  /** Without deletion vectors. */
  readonly positionalDeleteFiles: number
  readonly dvs: number
  /** Requests and bytes of this plan, metadata file not included; requests that were stopped while they waited count. */
  readonly ioRequests: number
  readonly ioBytes: number
  /** Files of which the bytes were in the cache. */
  readonly cacheFileHits: number
  /** Files that were read from the disk cache and not from storage. */
  readonly cacheDiskHits: number
  /** Manifests of which the decoded entries were in the cache: they are neither read nor decoded again. */
  readonly cacheEntryHits: number
  /** Look-ups of headers and compiled plans. */
  readonly planCacheHits: number
  readonly planCacheMisses: number
  readonly workers: number
  /** False until all tasks were taken; stays false when the consumer stops early or the plan fails. */
  readonly complete: boolean
  readonly warnings: readonly string[]
}
