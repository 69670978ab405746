/**
 * iceplan: which data files a scan of an Apache Iceberg table must read, which delete files apply to each, and what is
 * left of the filter.
 *
 * ```ts
 * import { formatExpression, loadTable } from 'iceplan'
 *
 * const table = await loadTable('/warehouse/db/orders')
 * for await (const task of table.planFiles("region = 'emea' AND amount > 500"))
 *   console.log(task.dataFile.filePath, task.deletes.length, formatExpression(task.residual))
 * ```
 */

// Tables and plans
export { loadTable, type TableInCatalog } from './catalog/load-catalog-table.ts'
export { type LoadTableOptions } from './planner/load-table.ts'
export { Table, type ReloadedTable, type TableOptions } from './planner/table.ts'
export { TableScan, type ScanOptions } from './planner/table-scan.ts'
export { ScanPlanner, type ScanPlannerOptions } from './planner/scan-planner.ts'
export { ScanPlan, type PlanOptions, type PlanProgress } from './planner/scan-plan.ts'
export { FileScanTask } from './planner/file-scan-task.ts'
export { PlannedBatch } from './planner/planned-batch.ts'
export { type DeleteAssignment } from './planner/delete-assignment.ts'
export { type ScanReport } from './planner/scan-report.ts'
export { compareCaches, type CacheComparison, type CompareCachesOptions } from './planner/compare-caches.ts'
export { verifyTable, type VerifyOptions, type VerifyProgress, type VerifySummary } from './verify/verify.ts'

// Catalogs
export { type Catalog, type CatalogLoadOptions, type TableIdentifier } from './catalog/catalog.ts'
export { RestCatalog, restCatalogFrom } from './catalog/rest-catalog.ts'
export { type RestCatalogOptions } from './catalog/rest-options.ts'

// Manifests
export { ManifestCache, type ManifestCacheOptions } from './manifest/manifest-cache.ts'
export {
  Manifest,
  readManifest,
  readManifestBytes,
  readManifestList,
  type ReadManifestBytesOptions,
  type ReadOptions as ReadManifestOptions,
} from './manifest/manifest-reader.ts'
export { readManifestListBytes } from './manifest/manifest-list.ts'
export {
  ManifestContent,
  ManifestFile,
  type ManifestFileFields,
  type PartitionFieldSummary,
} from './manifest/manifest-file.ts'
export { ManifestEntry } from './manifest/manifest-entry.ts'
export { EntryStatus } from './manifest/inheritable-metadata.ts'
export { ContentFile, DataFile, DeleteFile, partitionToJson } from './manifest/content-file.ts'
export { EntryBatch, FileContent, type BatchSegment } from './manifest/entry-batch.ts'
export { type FieldGroup, type FileFormat, type ManifestProjection } from './manifest/entry-fields.ts'
export { type PartitionTuple, type PartitionType } from './manifest/partition-key.ts'

// Table metadata
export { parseTableMetadata, TableMetadata } from './metadata/table-metadata.ts'
export { type Snapshot, type SnapshotRef, type SnapshotSelection } from './metadata/snapshot.ts'
export { Schema } from './metadata/schema.ts'
export { type PartitionField, type PartitionSpec } from './metadata/partition-spec.ts'
export { formatType, type NestedField, type Type } from './types/type.ts'
export { type Transform } from './types/transforms/transform.ts'
export { type JsonValue, type Value } from './types/value.ts'
export { formatJson, parseJson } from './metadata/lossless-json.ts'

// Expressions
export {
  type And,
  type AlwaysFalse,
  type AlwaysTrue,
  type ComparisonPredicate,
  type Expression,
  type Not,
  type Or,
  type Predicate,
  type SetPredicate,
  type Term,
  type UnaryPredicate,
} from './expressions/expression.ts'
export { type Literal } from './expressions/literal.ts'
export { type LiteralValue } from './expressions/literal-of.ts'
export {
  alwaysFalse,
  alwaysTrue,
  and,
  bucket,
  day,
  equal,
  greaterThan,
  greaterThanOrEqual,
  hour,
  isIn,
  isNan,
  isNull,
  lessThan,
  lessThanOrEqual,
  month,
  not,
  notEqual,
  notIn,
  notNan,
  notNull,
  notStartsWith,
  or,
  ref,
  startsWith,
  truncate,
  year,
} from './expressions/builders.ts'
export { parseFilter } from './expressions/parse-filter.ts'
export { expressionFromJson, expressionToJson } from './expressions/expression-json.ts'
export { formatExpression } from './expressions/format-expression.ts'
export { type Filter, toExpression } from './expressions/to-expression.ts'

// Storage
export { type ByteRange, type FileIO, type InputFile, type ReadOptions } from './io/file-io.ts'
export { defaultFileIO, type StorageOptions } from './io/default-file-io.ts'
export { LocalFileIO } from './io/local-file-io.ts'
export { MemoryFileIO } from './io/memory-file-io.ts'
export { HttpFileIO } from './io/http-file-io.ts'
export { S3FileIO } from './io/s3/s3-file-io.ts'
export { s3OptionsFrom, type S3Credentials, type S3Options } from './io/s3/s3-options.ts'
export { prefixFileIO, type PrefixedFileIO } from './io/prefix-file-io.ts'
export { CountingFileIO, type RequestCounts } from './io/counting-file-io.ts'
export { limitRequests } from './io/limit-file-io.ts'
export { LocationMap, parseRebase, rebase, type Rebase } from './io/rebase.ts'

// Errors
export {
  CorruptFileError,
  IcebergError,
  InvalidArgumentError,
  InvalidMetadataError,
  isIcebergError,
  NotFoundError,
  StorageError,
  UnsupportedFeatureError,
  WorkerError,
  type ErrorPlace,
  type IcebergErrorCode,
} from './errors.ts'
