/**
 * Filters over vectors of metrics: whatever they answer, the metrics evaluator answers too, file by file. They may ask,
 * but of plain bounds of integers they must not.
 */
import { assert } from 'chai'
import type { BoundExpression } from '../../src/expressions/bound-expression.ts'
import { bind } from '../../src/expressions/bind.ts'
import type { ByteSlot, ColumnMetrics, MetricVector } from '../../src/expressions/column-metrics.ts'
import { compileMetricsFilter } from '../../src/expressions/metrics-evaluator.ts'
import { parseFilter } from '../../src/expressions/parse-filter.ts'
import { compileVectorFilter, MIXED, VERDICT } from '../../src/expressions/vector-filter.ts'
import { parseSchema } from '../../src/metadata/schema.ts'
import { seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const SCHEMA = parseSchema({
  type: 'struct',
  fields: [
    { id: 1, name: 'l', required: false, type: 'long' },
    { id: 2, name: 'i', required: false, type: 'int' },
    { id: 3, name: 's', required: false, type: 'string' },
  ],
})
const IDS = [1, 2, 3]

interface FileColumn {
  values: number | undefined
  nulls: number | undefined
  lower: Uint8Array | undefined
  upper: Uint8Array | undefined
}
interface File {
  rows: number
  columns: Map<number, FileColumn>
}

function long(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value, true)
  return bytes
}
const int = (value: bigint): Uint8Array => long(value).slice(0, 4)

/** The answers of the metrics evaluator. */
function judge(filter: BoundExpression, files: readonly File[]): boolean[] {
  const might = compileMetricsFilter(filter)
  return files.map(({ rows, columns }) => {
    const point = (bytes: Uint8Array | undefined, slot: ByteSlot): boolean => {
      if (bytes === undefined) return false
      Object.assign(slot, { bytes, offset: 0, length: bytes.length })
      return true
    }
    const metrics: ColumnMetrics = {
      recordCount: rows,
      valueCount: (id) => columns.get(id)?.values ?? -1,
      nullValueCount: (id) => columns.get(id)?.nulls ?? -1,
      nanValueCount: () => -1,
      lowerBound: (id, slot) => point(columns.get(id)?.lower, slot),
      upperBound: (id, slot) => point(columns.get(id)?.upper, slot),
    }
    return might(metrics)
  })
}

function vectorOf(files: readonly File[], id: number): MetricVector {
  const counts = (of: 'values' | 'nulls'): Uint32Array =>
    Uint32Array.from(files, ({ columns }) => (columns.get(id)?.[of] ?? -1) + 1)
  const bounds = (of: 'lower' | 'upper'): MetricVector['lower'] => {
    const lanes = new Int32Array(2 * files.length)
    const bytes = new Uint8Array(lanes.buffer)
    const tags = Uint8Array.from(files, ({ columns }, i) => {
      const bound = columns.get(id)?.[of]
      if (bound === undefined) return 0
      if (bound.length > 8) return 255
      bytes.set(bound, 8 * i)
      return bound.length + 1
    })
    return { tags, lanes }
  }
  const nans = new Uint32Array(0)
  return {
    valueCounts: counts('values'),
    nullValueCounts: counts('nulls'),
    nanValueCounts: nans,
    lower: bounds('lower'),
    upper: bounds('upper'),
  }
}

/** Compares, and gives how many files were asked about. */
function check(filter: string, files: readonly File[]): number {
  const bound = bind(parseFilter(filter), SCHEMA)
  const vectors = {
    length: files.length,
    recordCounts: Float64Array.from(files, ({ rows }) => rows),
    columns: new Map(IDS.map((id) => [id, vectorOf(files, id)])),
  }
  const want = judge(bound, files)
  let asked = 0
  // The second time it is known how far the bounds reach.
  for (let time = 0; time < 2; time++) {
    const verdicts = new Uint8Array(files.length).fill(77)
    const all = compileVectorFilter(bound)(vectors, verdicts)
    asked = 0
    for (const [i, might] of want.entries()) {
      const verdict = all === MIXED ? verdicts[i] : all
      if (verdict === VERDICT.ASK) asked++
      else assert.equal(verdict === VERDICT.KEEP, might, `${filter}, file ${i}: ${show(files[i])}`)
    }
  }
  return asked
}

function show({ rows, columns }: File): string {
  return JSON.stringify({ rows, columns: [...columns] }, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  )
}

const LONGS = [
  -(2n ** 63n),
  -(2n ** 32n) - 1n,
  -(2n ** 32n),
  -1n,
  0n,
  1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 63n - 1n,
]
const INTS = [-(2n ** 31n), -(2n ** 31n) + 1n, -1n, 0n, 1n, 65_536n, 2n ** 31n - 1n]

/** A file whose columns have both bounds, in order, and no nulls. */
function plainFile(lower: readonly bigint[], upper: readonly bigint[]): File {
  const column = (low: Uint8Array, high: Uint8Array): FileColumn => ({
    values: 5,
    nulls: 0,
    lower: low,
    upper: high,
  })
  return {
    rows: 5,
    columns: new Map([
      [1, column(long(lower[0]), long(upper[0]))],
      [2, column(int(lower[1]), int(upper[1]))],
      [3, column(Buffer.from('a'), Buffer.from('c'))],
    ]),
  }
}

describe('filters over vectors of metrics', () => {
  const pairs = <T>(values: readonly T[]): [T, T][] =>
    values.flatMap((a, i) => values.slice(i).map((b): [T, T] => [a, b]))

  for (const [name, values, column] of [
    ['longs', LONGS, 'l'],
    ['ints', INTS, 'i'],
  ] as const)
    for (const op of ['<', '<=', '>', '>=', '='])
      it(`${name} ${op}: bounds and values at every edge, one file and all of them`, () => {
        const files = pairs(values).map(([a, b]) =>
          plainFile([a, column === 'i' ? a : 0n], [b, column === 'i' ? b : 0n]),
        )
        for (const value of values) {
          assert.equal(check(`${column} ${op} ${value}`, files), 0)
          for (const file of files) assert.equal(check(`${column} ${op} ${value}`, [file]), 0)
        }
      })

  const half = plainFile([0n, 0n], [10n, 10n])
  const withColumn = (change: Partial<FileColumn>, rows = 5): File => ({
    rows,
    columns: new Map(half.columns).set(1, { ...half.columns.get(1)!, ...change }),
  })
  const odd: [why: string, file: File][] = [
    ['bounds upside down', withColumn({ lower: long(9n), upper: long(-9n) })],
    ['bounds of an int, from before the promotion', withColumn({ lower: int(3n), upper: int(4n) })],
    ['a lower bound alone', withColumn({ upper: undefined })],
    ['an upper bound alone', withColumn({ lower: undefined })],
    ['no bounds', withColumn({ lower: undefined, upper: undefined })],
    ['a bound of nine bytes', withColumn({ upper: new Uint8Array(9) })],
    ['nulls only', withColumn({ nulls: 5 })],
    ['nulls only, values not counted', withColumn({ nulls: 5, values: undefined })],
    ['more nulls than rows', withColumn({ nulls: 9, values: undefined })],
    ['nothing counted', withColumn({ nulls: undefined, values: undefined })],
    ['fewer values than rows', withColumn({ values: 3 })],
    ['no rows', withColumn({}, 0)],
    ['an unknown number of rows', withColumn({}, -1)],
    ['neither values nor nulls', withColumn({ values: 0, nulls: 0 })],
  ]
  for (const [why, file] of odd)
    it(`${why}, beside files that are plain`, () => {
      for (const filter of [
        'l < 0',
        'l <= 0',
        'l > 10',
        'l >= 3',
        'l = 4',
        'l IS NULL',
        'l IS NOT NULL',
        'l = 4 OR i = 4',
      ])
        for (const files of [[file], [half, file], [file, half, file]]) check(filter, files)
    })

  it('an int column that was asked as an int, and as a long after the promotion', () => {
    const files = [plainFile([0n, 5n], [0n, 7n])]
    const asInt = bind(parseFilter('i > 6'), SCHEMA)
    const vectors = {
      length: 1,
      recordCounts: Float64Array.of(5),
      columns: new Map([[2, vectorOf(files, 2)]]),
    }
    assert.equal(compileVectorFilter(asInt)(vectors, new Uint8Array(1)), VERDICT.KEEP)
    const promoted = parseSchema({
      type: 'struct',
      fields: [{ id: 2, name: 'i', required: false, type: 'long' }],
    })
    const verdicts = new Uint8Array(1)
    const all = compileVectorFilter(bind(parseFilter('i > 6'), promoted))(vectors, verdicts)
    assert.equal(all === MIXED ? verdicts[0] : all, VERDICT.ASK)
  })

  it('a column of which nothing was read is asked about', () => {
    const vectors = { length: 1, recordCounts: Float64Array.of(5), columns: new Map<number, MetricVector>() }
    assert.equal(
      compileVectorFilter(bind(parseFilter('l > 6'), SCHEMA))(vectors, new Uint8Array(1)),
      VERDICT.ASK,
    )
  })

  it(`random trees over random files ${WITH_SEED}`, () => {
    const random = seededRandom(SEED)
    const below = (n: number): number => Math.floor(random() * n)
    const pick = <T>(items: readonly T[]): T => items[below(items.length)]
    const chance = (share: number): boolean => random() < share
    const column = (
      values: readonly bigint[],
      encode: (value: bigint) => Uint8Array,
      plain: boolean,
    ): FileColumn => {
      const [a, b] = [pick(values), pick(values)]
      const [low, high] = a <= b || (!plain && chance(0.2)) ? [a, b] : [b, a]
      if (plain) return { values: 5, nulls: 0, lower: encode(low), upper: encode(high) }
      return {
        values: pick([undefined, 5, 5, 3, 0]),
        nulls: pick([undefined, 0, 0, 1, 5]),
        lower: chance(0.1) ? undefined : chance(0.1) ? int(low) : encode(low),
        upper: chance(0.1) ? undefined : encode(high),
      }
    }
    const leaf = (): string => {
      const op = pick(['<', '<=', '>', '>=', '=', '!='])
      switch (below(7)) {
        case 0:
          return `${pick(['l', 'i', 's'])} IS ${pick(['', 'NOT '])}NULL`
        case 1:
          return `s ${op} '${pick(['a', 'b', 'd'])}'`
        case 2:
          return `l IN (${pick(LONGS)}, ${pick(LONGS)})`
        case 3:
        case 4:
          return `i ${op} ${pick(INTS)}`
        default:
          return `l ${op} ${pick(LONGS)}`
      }
    }
    const tree = (depth: number): string =>
      depth === 0 || chance(0.3) ? leaf() : `(${tree(depth - 1)} ${pick(['AND', 'OR'])} ${tree(depth - 1)})`
    for (let run = 0; run < 3000; run++) {
      const plain = chance(0.4)
      const files = Array.from({ length: 1 + below(6) }, (): File => ({
        rows: plain || chance(0.9) ? 5 : pick([0, -1]),
        columns: new Map([
          [1, column(LONGS, long, plain)],
          [2, column(INTS, int, plain)],
          [3, { values: 5, nulls: 0, lower: Buffer.from('a'), upper: Buffer.from('c') }],
        ]),
      }))
      check(tree(3), files)
    }
  })
})
