/**
 * The tables of the corpus, planned with filters of their own values: bounds of their columns and values of their
 * partitions. What a plan must keep, and what it must not, is decided by a test that knows nothing but the decoded
 * bounds and the text of the partition tuples.
 */
import { assert } from 'chai'
import {
  equal,
  greaterThan,
  greaterThanOrEqual,
  isIn,
  isNull,
  lessThan,
  lessThanOrEqual,
  notEqual,
  notNull,
  startsWith,
} from '../../src/expressions/builders.ts'
import { expressionToJson } from '../../src/expressions/expression-json.ts'
import type { Expression } from '../../src/expressions/expression.ts'
import { formatExpression } from '../../src/expressions/format-expression.ts'
import type { Literal } from '../../src/expressions/literal.ts'
import type { Filter } from '../../src/expressions/to-expression.ts'
import type { SchemaField } from '../../src/metadata/schema.ts'
import type { FileScanTask } from '../../src/planner/file-scan-task.ts'
import { ScanPlanner } from '../../src/planner/scan-planner.ts'
import type { Table } from '../../src/planner/table.ts'
import { decodeSingleValue } from '../../src/types/single-value.ts'
import type { Type } from '../../src/types/type.ts'
import type { JsonValue, Value } from '../../src/types/value.ts'
import { corpusEntries, describeCorpus, type CorpusEntry } from '../support/corpus.ts'
import { digestOf, loadCorpusTable, nameOf, planTable } from '../support/corpus-table.ts'
import { seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const COLUMNS_PER_TABLE = 3
const FILTERS_PER_COLUMN = 4
const WORKER_TABLES = 6

/** Kinds whose bounds are values of the file, never cut or rounded. */
const EXACT_BOUNDS: readonly Type['kind'][] = [
  'int',
  'long',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
]
const NUMBERS_WITH_NAN: readonly Type['kind'][] = ['float', 'double']

/** Tables with files whose manifests lack a field of their spec: its value is not known, although it shows as null. */
const LACKING_FIELDS: readonly string[] = ['dremio/internal_metadata_inconsistent_partitions']

type Verdict = 'keep' | 'drop' | 'unknown'

/** A filter, with what becomes of each file. */
interface Probe {
  readonly filter: Expression
  readonly verdict: (file: FileScanTask) => Verdict
}

/** What the file says of a column. */
interface Range {
  readonly lower: Value | undefined
  readonly upper: Value | undefined
  readonly values: number | undefined
  readonly nulls: number | undefined
  readonly nans: number | undefined
}

const isNan = (value: Value | undefined) => typeof value === 'number' && Number.isNaN(value)

const rangesByFile = new WeakMap<FileScanTask, Map<number, Range>>()

function rangeOf(file: FileScanTask, field: SchemaField['field']): Range {
  let ranges = rangesByFile.get(file)
  if (ranges === undefined) rangesByFile.set(file, (ranges = new Map<number, Range>()))
  let range = ranges.get(field.id)
  if (range === undefined) ranges.set(field.id, (range = readRange(file, field)))
  return range
}

function readRange({ dataFile }: FileScanTask, { id, type }: SchemaField['field']): Range {
  const decode = (bytes: Uint8Array | undefined) => {
    const value = bytes === undefined ? undefined : decodeSingleValue(type, bytes)
    return isNan(value) ? undefined : value
  }
  return {
    lower: decode(dataFile.lowerBounds?.get(id)),
    upper: decode(dataFile.upperBounds?.get(id)),
    values: dataFile.valueCounts?.get(id),
    nulls: dataFile.nullValueCounts?.get(id),
    nans: dataFile.nanValueCounts?.get(id),
  }
}

/** Negative, zero or positive; both are of one type. */
function compare(a: Value, b: Value): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  return a < b ? -1 : a > b ? 1 : 0
}

function literalOf(type: Type, value: Value): Literal {
  const scale = type.kind === 'decimal' ? { scale: type.scale } : {}
  return { kind: type.kind, value, ...scale } as Literal
}

/** Which files a comparison may hold rows of, from both bounds. */
const COMPARISONS: readonly {
  make: (name: string, value: Literal) => Expression
  mightMatch: (lower: number, upper: number) => boolean
}[] = [
  { make: equal, mightMatch: (lower, upper) => lower <= 0 && upper >= 0 },
  { make: lessThan, mightMatch: (lower) => lower < 0 },
  { make: lessThanOrEqual, mightMatch: (lower) => lower <= 0 },
  { make: greaterThan, mightMatch: (_, upper) => upper > 0 },
  { make: greaterThanOrEqual, mightMatch: (_, upper) => upper >= 0 },
]

/** Filters on one column, made of one of its bounds. */
function probesOf({ field, fullName: name, isOptional }: SchemaField, value: Value): Probe[] {
  const literal = literalOf(field.type, value)
  const holdsRows = (range: Range) =>
    range.values === undefined || range.values > (range.nulls ?? 0) + (range.nans ?? 0)
  const byBounds =
    (mightMatch: (lower: number, upper: number) => boolean) =>
    (file: FileScanTask): Verdict => {
      const range = rangeOf(file, field)
      const { lower, upper } = range
      if (lower === undefined || upper === undefined || compare(lower, upper) > 0) return 'unknown'
      if (!holdsRows(range)) return 'unknown'
      return mightMatch(compare(lower, value), compare(upper, value)) ? 'keep' : 'drop'
    }
  const probes: Probe[] = COMPARISONS.map(({ make, mightMatch }) => ({
    filter: make(name, literal),
    verdict: byBounds(mightMatch),
  }))
  probes.push({
    filter: isIn(name, [literal, literal]),
    verdict: byBounds((lower, upper) => lower <= 0 && upper >= 0),
  })
  probes.push({
    filter: notEqual(name, literal),
    verdict: (file) =>
      byBounds((lower, upper) => lower !== 0 || upper !== 0)(file) === 'keep' ? 'keep' : 'unknown',
  })
  probes.push({
    filter: notNull(name),
    verdict: (file) => {
      const { values, nulls } = rangeOf(file, field)
      if (values === undefined || nulls === undefined) return 'unknown'
      return values > nulls ? 'keep' : 'drop'
    },
  })
  if (isOptional)
    probes.push({
      filter: isNull(name),
      verdict: (file) => {
        const { nulls } = rangeOf(file, field)
        if (nulls === undefined) return 'unknown'
        return nulls > 0 ? 'keep' : 'drop'
      },
    })
  if (typeof value === 'string' && field.type.kind === 'string' && value.length > 0) {
    const prefix = String.fromCodePoint(value.codePointAt(0)!)
    const cut = (bound: Value) =>
      bound === '' ? '' : String.fromCodePoint((bound as string).codePointAt(0)!)
    probes.push({
      filter: startsWith(name, prefix),
      verdict: (file) => {
        const range = rangeOf(file, field)
        const { lower, upper } = range
        if (lower === undefined || upper === undefined || !holdsRows(range)) return 'unknown'
        return compare(cut(lower), prefix) <= 0 && compare(cut(upper), prefix) >= 0 ? 'keep' : 'drop'
      },
    })
  }
  return probes
}

/** Values of the partition tuples, by the text that they have there, for fields that are columns as they are. */
function partitionProbes(
  entry: CorpusEntry,
  table: Table,
  files: readonly FileScanTask[],
  random: () => number,
): Probe[] {
  const { schema, specs } = table.newScan().selected
  const probes: Probe[] = []
  for (const spec of specs.values())
    for (const { sourceId, name, transform } of spec.fields) {
      const column = schema.fullName(sourceId)
      const members = files.filter((file) => file.spec.specId === spec.specId)
      if (transform.kind !== 'identity' || column === undefined || members.length === 0) continue
      const { partition } = pick(members, random)
      const value = partition[name]
      const isSame = (file: FileScanTask) => textOf(file.partition[name]) === textOf(value)
      const verdict =
        (keeps: (file: FileScanTask) => boolean) =>
        (file: FileScanTask): Verdict => {
          const isUnknown = file.partition[name] === null && LACKING_FIELDS.includes(nameOf(entry))
          if (isUnknown || file.spec.specId !== spec.specId) return 'unknown'
          return keeps(file) ? 'keep' : 'drop'
        }
      if (value === null) {
        probes.push({ filter: isNull(column), verdict: verdict(isSame) })
        probes.push({ filter: notNull(column), verdict: verdict((file) => !isSame(file)) })
      } else {
        // The JSON of a float is its shortest text, which as a double is only near it.
        const isFloat = schema.findField(sourceId)?.type.kind === 'float'
        const literal = isFloat ? Math.fround(Number(value)) : (value as string | number | bigint | boolean)
        probes.push({ filter: equal(column, literal), verdict: verdict(isSame) })
        probes.push({ filter: notEqual(column, literal), verdict: verdict((file) => !isSame(file)) })
      }
    }
  return probes
}

function textOf(value: JsonValue): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]
}

/** The same random choice for a table whichever tests run. */
function randomOf(entry: CorpusEntry): () => number {
  return seededRandom(Buffer.from(nameOf(entry)).reduce((sum, byte) => sum + byte, SEED))
}

function columnProbes(table: Table, files: readonly FileScanTask[], random: () => number): Probe[] {
  const { schema, specs } = table.newScan().selected
  const bucketed = [...specs.values()].flatMap(({ fields }) =>
    fields.filter(({ transform }) => transform.kind === 'bucket').map(({ sourceId }) => sourceId),
  )
  const bounded = [...schema.allFields()].filter(
    ({ field, isRepeated }) =>
      !isRepeated &&
      !NUMBERS_WITH_NAN.includes(field.type.kind) &&
      files.some((file) => rangeOf(file, field).lower !== undefined),
  )
  const columns = Array.from({ length: COLUMNS_PER_TABLE }, () => bounded)
    .filter((of) => of.length > 0)
    .map((of) => pick(of, random))
  return [...new Set(columns)].flatMap((column) => {
    const { field } = column
    const file = pick(
      files.filter((of) => rangeOf(of, field).lower !== undefined),
      random,
    )
    const { lower, upper } = rangeOf(file, field)
    const value = upper !== undefined && random() < 0.5 ? upper : lower!
    if (bucketed.includes(field.id)) {
      // A bucket rules out files that their bounds do not, but never the one that has the value.
      if (!EXACT_BOUNDS.includes(field.type.kind)) return []
      const path = file.dataFile.filePath
      const literal = literalOf(field.type, value)
      return [equal(column.fullName, literal), isIn(column.fullName, [literal])].map((filter) => ({
        filter,
        verdict: (of: FileScanTask): Verdict => (of.dataFile.filePath === path ? 'keep' : 'unknown'),
      }))
    }
    const probes = probesOf(column, value)
    return Array.from({ length: FILTERS_PER_COLUMN }, () => pick(probes, random))
  })
}

describeCorpus(`the tables of the corpus, planned with filters of their own values ${WITH_SEED}`, () => {
  const tables = corpusEntries('table').filter(
    ({ complete, current_snapshot_id: id = '' }) => complete === true && !['', 'null', '-1'].includes(id),
  )
  const counts = { tables: 0, filters: 0, keep: 0, drop: 0, unknown: 0 }

  for (const entry of tables)
    it(`${nameOf(entry)} loses no file that may match, and keeps none that cannot`, async () => {
      const random = randomOf(entry)
      const table = await loadCorpusTable(entry)
      const planner = new ScanPlanner({ workers: 0 })
      const { tasks } = await planTable(table, { includeColumnStats: true }, planner)
      const files = tasks.filter(({ dataFile }) => dataFile.recordCount > 0)
      if (files.length === 0) return
      const paths = files.map(({ dataFile }) => dataFile.filePath)
      const probes = [...columnProbes(table, files, random), ...partitionProbes(entry, table, files, random)]
      if (probes.length > 0) counts.tables++
      for (const { filter, verdict } of probes) {
        const text = formatExpression(filter)
        // The forms of a filter in turn: each has to mean the same.
        const form = pick<Filter>([filter, text, expressionToJson(filter) as Filter], random)
        const plan = await planTable(table, { filter: form }, planner)
        const kept = new Set(plan.tasks.map(({ dataFile }) => dataFile.filePath))
        for (const [i, file] of files.entries()) {
          const answer = verdict(file)
          counts[answer]++
          if (answer !== 'unknown' && kept.has(paths[i]) !== (answer === 'keep'))
            assert.fail(`${text} has to ${answer} ${paths[i]}, of ${files.length} files`)
        }
        counts.filters++
      }
    })

  const ofManyManifests = tables
    .filter(({ name, manifests }) => name !== 'perf_manifest_files' && manifests!.data >= 3)
    .sort((a, b) => b.manifests!.data - a.manifests!.data)
    .slice(0, WORKER_TABLES)
  for (const entry of ofManyManifests)
    it(`${nameOf(entry)} gives the same tasks with two workers as with none`, async () => {
      const random = randomOf(entry)
      const table = await loadCorpusTable(entry)
      const inline = new ScanPlanner({ workers: 0, cache: 'off' })
      const threaded = new ScanPlanner({ workers: 2, cache: 'off' })
      try {
        const { tasks } = await planTable(table, { includeColumnStats: true }, inline)
        const probes = [
          ...columnProbes(table, tasks, random),
          ...partitionProbes(entry, table, tasks, random),
        ]
        assert.isNotEmpty(probes)
        for (const { filter } of probes) {
          const none = await planTable(table, { filter }, inline)
          const two = await planTable(table, { filter }, threaded)
          assert.equal(digestOf(two.tasks), digestOf(none.tasks), formatExpression(filter))
          assert.equal(two.report.skippedDataFiles, none.report.skippedDataFiles)
        }
      } finally {
        await threaded.close()
        await inline.close()
      }
    })

  it('has decided about files, and not only left them open', function () {
    if (counts.tables < 100) this.skip()
    console.log(
      `      ${counts.filters} filters on ${counts.tables} tables; files to keep ${counts.keep}, to drop ${counts.drop}, undecided ${counts.unknown}`,
    )
    assert.isAbove(counts.keep, 0)
    assert.isAbove(counts.drop, 0)
  })
})
