/** What users of the package see: every name, so that a review sees every addition and every loss. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { assert } from 'chai'
import ts from 'typescript'
import * as api from '../src/index.ts'
import { projectRoot } from './support/root.ts'

const VALUES = [
  'ContentFile',
  'CorruptFileError',
  'CountingFileIO',
  'DataFile',
  'DeleteFile',
  'EntryBatch',
  'EntryStatus',
  'FileContent',
  'FileScanTask',
  'HttpFileIO',
  'IcebergError',
  'InvalidArgumentError',
  'InvalidMetadataError',
  'LocalFileIO',
  'LocationMap',
  'Manifest',
  'ManifestCache',
  'ManifestContent',
  'ManifestEntry',
  'ManifestFile',
  'MemoryFileIO',
  'NotFoundError',
  'PlannedBatch',
  'RestCatalog',
  'S3FileIO',
  'ScanPlan',
  'ScanPlanner',
  'Schema',
  'StorageError',
  'Table',
  'TableMetadata',
  'TableScan',
  'UnsupportedFeatureError',
  'WorkerError',
  'alwaysFalse',
  'alwaysTrue',
  'and',
  'bucket',
  'compareCaches',
  'day',
  'defaultFileIO',
  'equal',
  'expressionFromJson',
  'expressionToJson',
  'formatExpression',
  'formatJson',
  'formatType',
  'greaterThan',
  'greaterThanOrEqual',
  'hour',
  'isIcebergError',
  'isIn',
  'isNan',
  'isNull',
  'lessThan',
  'lessThanOrEqual',
  'limitRequests',
  'loadTable',
  'month',
  'not',
  'notEqual',
  'notIn',
  'notNan',
  'notNull',
  'notStartsWith',
  'or',
  'parseFilter',
  'parseJson',
  'parseRebase',
  'parseTableMetadata',
  'partitionToJson',
  'prefixFileIO',
  'readManifest',
  'readManifestBytes',
  'readManifestList',
  'readManifestListBytes',
  'rebase',
  'ref',
  'restCatalogFrom',
  's3OptionsFrom',
  'startsWith',
  'toExpression',
  'truncate',
  'verifyTable',
  'year',
]

const TYPES = [
  'AlwaysFalse',
  'AlwaysTrue',
  'And',
  'BatchSegment',
  'ByteRange',
  'CacheComparison',
  'Catalog',
  'CatalogLoadOptions',
  'CompareCachesOptions',
  'ComparisonPredicate',
  'DeleteAssignment',
  'ErrorPlace',
  'Expression',
  'FieldGroup',
  'FileFormat',
  'FileIO',
  'Filter',
  'IcebergErrorCode',
  'InputFile',
  'JsonValue',
  'Literal',
  'LiteralValue',
  'LoadTableOptions',
  'ManifestCacheOptions',
  'ManifestFileFields',
  'ManifestProjection',
  'NestedField',
  'Not',
  'Or',
  'PartitionField',
  'PartitionFieldSummary',
  'PartitionSpec',
  'PartitionTuple',
  'PartitionType',
  'PlanOptions',
  'PlanProgress',
  'Predicate',
  'PrefixedFileIO',
  'ReadManifestBytesOptions',
  'ReadManifestOptions',
  'ReadOptions',
  'Rebase',
  'ReloadedTable',
  'RequestCounts',
  'RestCatalogOptions',
  'S3Credentials',
  'S3Options',
  'ScanOptions',
  'ScanPlannerOptions',
  'ScanReport',
  'SetPredicate',
  'Snapshot',
  'SnapshotRef',
  'SnapshotSelection',
  'StorageOptions',
  'TableIdentifier',
  'TableInCatalog',
  'TableOptions',
  'Term',
  'Transform',
  'Type',
  'UnaryPredicate',
  'Value',
  'VerifyOptions',
  'VerifyProgress',
  'VerifySummary',
]

/** Packages that only some calls need: importing the library must not load them. */
const LOADED_LATE = [
  '@aws-sdk/client-s3',
  '@smithy/signature-v4',
  'avsc',
  'cli-progress',
  'commander',
  'picocolors',
]

describe('public API', () => {
  it('exports these values', () => {
    assert.deepEqual(Object.keys(api).sort(), VALUES)
  })

  it('exports these types', () => {
    const text = readFileSync(new URL('src/index.ts', projectRoot()), 'utf8')
    const types: string[] = []
    for (const statement of ts.createSourceFile('index.ts', text, ts.ScriptTarget.ES2023).statements) {
      assert.isTrue(ts.isExportDeclaration(statement), 'index.ts only passes on')
      if (!ts.isExportDeclaration(statement)) continue
      const clause = statement.exportClause
      if (clause === undefined || !ts.isNamedExports(clause))
        throw new Error('index.ts exports a whole module')
      for (const element of clause.elements)
        if (statement.isTypeOnly || element.isTypeOnly) types.push(element.name.text)
    }
    assert.deepEqual(types.sort(), TYPES)
  })

  it('importing it loads no package that only some calls need, and leaves nothing running', () => {
    const loaded = packagesAfter('../src/index.js')
    for (const name of LOADED_LATE) assert.notInclude(loaded, name)
  })

  it('that test would see them: the module behind verifyTable loads avsc', () => {
    assert.include(packagesAfter('../src/verify/verify-table.js'), 'avsc')
  })
})

/** CommonJS packages that importing a module loads, in a process of its own that has to end by itself. */
function packagesAfter(module: string): string[] {
  const script = `
    import { createRequire } from 'node:module'
    await import(${JSON.stringify(new URL(module, import.meta.url).href)})
    console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'))
  `
  const run = [process.execPath, ['--input-type=module', '-e', script]] as const
  const output = execFileSync(...run, { encoding: 'utf8', timeout: 15_000 })
  return Array.from(output.replaceAll('\\', '/').matchAll(/\/node_modules\/([^/\n]+)/g), ([, name]) => name)
}
