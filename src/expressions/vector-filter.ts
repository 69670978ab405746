/**
 * The filter of `metrics-evaluator.ts` for many files at once: one loop per predicate over the vectors of its column, with
 * the same answers where it answers. Of the others, which are rare, the metrics evaluator is to be asked, file by file.
 *
 * | answers             | predicates `=`, `<`, `<=`, `>`, `>=` on columns of int, date, long, time, timestamps; is null, not null |
 * | ------------------- | ---------------------------------------------------------------------------------------------------- |
 * | asks for the file   | both bounds are not there in the column's own width, or its number of rows is not positive           |
 * | asks for all files  | every other predicate, transforms of columns                                                         |
 *
 * AND and OR take three answers: what one operand decides, another that asks does not undo.
 *
 * Of vectors that were asked before it is known how far their bounds reach. Where that decides for all files alike, no
 * file is looked at.
 */
import type { BoundComparisonPredicate, BoundExpression, BoundPredicate } from './bound-expression.ts'
import { isBranch, operandsOfBranch } from './boolean-chain.ts'
import type { MetricVector, MetricVectors } from './column-metrics.ts'

/** Of a file: no row of it matches; some might; ask. */
export const VERDICT = { DROP: 0, KEEP: 1, ASK: 2 } as const
/** Instead of a verdict for all files: each has one of its own. */
export const MIXED = -1

/** Gives the verdict of all files, or {@link MIXED} and each file's in `verdicts`, which has room for them. */
export type VectorFilter = (vectors: MetricVectors, verdicts: Uint8Array) => number

/** Compiles a filter, to be asked for many batches. */
export function compileVectorFilter(filter: BoundExpression): VectorFilter {
  const verdictOf = compileNode(filter)
  return (vectors, verdicts) => {
    const verdict = verdictOf(vectors, verdicts)
    if (haveRows(vectors)) return verdict
    const { recordCounts, length } = vectors
    if (verdict !== MIXED) verdicts.fill(verdict, 0, length)
    for (let i = 0; i < length; i++) if (!(recordCounts[i] > 0)) verdicts[i] = VERDICT.ASK
    return MIXED
  }
}

const WITH_ROWS = new WeakMap<MetricVectors, boolean>()

/** Whether every file is known to have rows. */
function haveRows(vectors: MetricVectors): boolean {
  let answer = WITH_ROWS.get(vectors)
  if (answer === undefined) {
    const { recordCounts, length } = vectors
    answer = recordCounts.subarray(0, length).every((count) => count > 0)
    WITH_ROWS.set(vectors, answer)
  }
  return answer
}

function compileNode(node: BoundExpression): VectorFilter {
  if (node.op === 'true') return () => VERDICT.KEEP
  if (node.op === 'false') return () => VERDICT.DROP
  if (!isBranch(node)) return compileLeaf(node as BoundPredicate) ?? askForAll
  const operands = operandsOfBranch<BoundExpression>(node).map(compileNode)
  const decisive = node.op === 'or' ? VERDICT.KEEP : VERDICT.DROP
  const neutral = node.op === 'or' ? VERDICT.DROP : VERDICT.KEEP
  return (vectors, verdicts) => {
    // Of all files so far, or mixed.
    let all: number = neutral
    let others: Uint8Array | undefined
    for (const operand of operands) {
      const into = all === MIXED ? (others ??= new Uint8Array(vectors.length)) : verdicts
      const next = operand(vectors, into)
      if (next === decisive) return decisive
      if (next === neutral) continue
      if (all === neutral) all = next
      else if (next !== all || next === MIXED) {
        merge(verdicts, all, into, next, decisive, vectors.length)
        all = MIXED
      }
    }
    return all
  }
}

/** Puts two operands together; either may have one verdict for all. */
function merge(
  verdicts: Uint8Array,
  all: number,
  others: Uint8Array,
  next: number,
  decisive: number,
  length: number,
): void {
  for (let i = 0; i < length; i++) {
    const b = next === MIXED ? others[i] : next
    const a = all === MIXED ? verdicts[i] : all
    verdicts[i] = a === decisive || b === decisive ? decisive : a > b ? a : b
  }
}

const askForAll: VectorFilter = () => VERDICT.ASK

/** `undefined` for predicates that have no loop. */
function compileLeaf(predicate: BoundPredicate): VectorFilter | undefined {
  const { op, term } = predicate
  const { fieldId } = term
  if (term.transform.kind !== 'identity') return undefined
  switch (op) {
    case 'is-null':
      return ofColumn(fieldId, ({ recordCounts, length }, verdicts, vector) => {
        for (let i = 0; i < length; i++) verdicts[i] = mayHaveNull(vector, recordCounts, i) ? 1 : 0
        return MIXED
      })
    case 'not-null':
      return ofColumn(fieldId, ({ recordCounts, length }, verdicts, vector) => {
        for (let i = 0; i < length; i++) verdicts[i] = hasOnlyNulls(vector, recordCounts, i) ? 0 : 1
        return MIXED
      })
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
      return compileComparison(predicate)
    default:
      return undefined
  }
}

type ColumnFilter = (vectors: MetricVectors, verdicts: Uint8Array, vector: MetricVector) => number

/** Asks where a column, or its counts, were not read. */
function ofColumn(fieldId: number, filter: ColumnFilter): VectorFilter {
  return (vectors, verdicts) => {
    const vector = vectors.columns.get(fieldId)
    const { length } = vectors
    const isRead =
      vector !== undefined && vector.valueCounts.length >= length && vector.nullValueCounts.length >= length
    return isRead ? filter(vectors, verdicts, vector) : VERDICT.ASK
  }
}

function mayHaveNull(vector: MetricVector, recordCounts: Float64Array, i: number): boolean {
  const values = vector.valueCounts[i]
  return vector.nullValueCounts[i] !== 1 || (values > 0 && values - 1 < recordCounts[i])
}

function hasOnlyNulls(vector: MetricVector, recordCounts: Float64Array, i: number): boolean {
  const nulls = vector.nullValueCounts[i]
  const values = vector.valueCounts[i]
  return nulls > 0 && nulls - 1 === (values > 0 ? values - 1 : recordCounts[i])
}

/** What an integer comparison asks of the bounds: a lower one of at most, and an upper one of at least. */
interface Limits {
  readonly most: bigint | undefined
  readonly least: bigint | undefined
}

function limitsOf(op: BoundComparisonPredicate['op'], value: bigint): Limits {
  switch (op) {
    case 'lt':
      return { most: value - 1n, least: undefined }
    case 'lt-eq':
      return { most: value, least: undefined }
    case 'gt':
      return { most: undefined, least: value + 1n }
    case 'gt-eq':
      return { most: undefined, least: value }
    default:
      return { most: value, least: value }
  }
}

function compileComparison({ op, term, value }: BoundComparisonPredicate): VectorFilter | undefined {
  switch (term.type.kind) {
    case 'int':
    case 'date':
      return typeof value === 'number'
        ? compareIntegers(term.fieldId, INT, limitsOf(op, BigInt(value)))
        : undefined
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return typeof value === 'bigint' ? compareIntegers(term.fieldId, LONG, limitsOf(op, value)) : undefined
    default:
      return undefined
  }
}

/** Tags of bounds of four and of eight bytes. */
const INT = 5
const LONG = 9
type Width = typeof INT | typeof LONG

/**
 * Integers are compared as two words, high one first. The limits may lie just beyond a long, so they are no longs: their
 * high words are numbers.
 */
function compareIntegers(fieldId: number, width: Width, { most, least }: Limits): VectorFilter {
  const mostHigh = most === undefined ? Infinity : Number(most >> 32n)
  const mostLow = most === undefined ? 0 : Number(most & 0xffffffffn)
  const leastHigh = least === undefined ? -Infinity : Number(least >> 32n)
  const leastLow = least === undefined ? 0 : Number(least & 0xffffffffn)
  return ofColumn(fieldId, (vectors, verdicts, vector) => {
    if (vector.lower.tags.length < vectors.length) return VERDICT.ASK
    const reach = reachOf(vector, width, vectors)
    if (reach === undefined) {
      const limits = [mostHigh, mostLow, leastHigh, leastLow] as const
      compareWithCare(vectors, verdicts, vector, width, limits)
      return MIXED
    }
    // All lower bounds are low enough, or none is; and so with the upper ones.
    const lower = sideOf(reach.lower, most, (a, b) => a <= b)
    const upper = sideOf(reach.upper, least, (a, b) => a >= b)
    if (lower === VERDICT.DROP || upper === VERDICT.DROP) return VERDICT.DROP
    if (lower === VERDICT.KEEP && upper === VERDICT.KEEP) return VERDICT.KEEP
    verdicts.fill(VERDICT.KEEP, 0, vectors.length)
    if (lower !== VERDICT.KEEP)
      dropAbove(vector.lower.lanes, width, vectors.length, mostHigh, mostLow, verdicts)
    if (upper !== VERDICT.KEEP)
      dropBelow(vector.upper.lanes, width, vectors.length, leastHigh, leastLow, verdicts)
    return MIXED
  })
}

/** Whether all bounds of one kind pass a limit, or none, or some. */
function sideOf(
  { least, most }: Range,
  limit: bigint | undefined,
  passes: (bound: bigint, limit: bigint) => boolean,
): number {
  if (limit === undefined) return VERDICT.KEEP
  const ends = Number(passes(least, limit)) + Number(passes(most, limit))
  return ends === 2 ? VERDICT.KEEP : ends === 0 ? VERDICT.DROP : MIXED
}

interface Range {
  least: bigint
  most: bigint
}

/** How far the bounds of a column reach. */
interface Reach {
  readonly lower: Range
  readonly upper: Range
}

/** By width, for a column may have been promoted; `false`: some file needs a second look. */
const REACHES = {
  [INT]: new WeakMap<MetricVector, Reach | false>(),
  [LONG]: new WeakMap<MetricVector, Reach | false>(),
}

/** Where every file has values and both bounds, in this width and in order; `undefined` where one has not. */
function reachOf(vector: MetricVector, width: Width, vectors: MetricVectors): Reach | undefined {
  const known = REACHES[width].get(vector)
  if (known !== undefined) return known === false ? undefined : known
  const reach = measureReach(vector, width, vectors) ?? false
  REACHES[width].set(vector, reach)
  return reach === false ? undefined : reach
}

function measureReach(
  vector: MetricVector,
  width: Width,
  { recordCounts, length }: MetricVectors,
): Reach | undefined {
  const { lower, upper } = vector
  // Of each, the file with the least and the one with the most.
  const ends = [0, 0, 0, 0]
  for (let i = 0; i < length; i++) {
    if (lower.tags[i] !== width || upper.tags[i] !== width || hasOnlyNulls(vector, recordCounts, i))
      return undefined
    if (isAbove(lower.lanes, i, upper.lanes, i, width)) return undefined
    if (isAbove(lower.lanes, ends[0], lower.lanes, i, width)) ends[0] = i
    if (isAbove(lower.lanes, i, lower.lanes, ends[1], width)) ends[1] = i
    if (isAbove(upper.lanes, ends[2], upper.lanes, i, width)) ends[2] = i
    if (isAbove(upper.lanes, i, upper.lanes, ends[3], width)) ends[3] = i
  }
  if (length === 0) return undefined
  const range = (lanes: Int32Array, least: number, most: number): Range => ({
    least: integerAt(lanes, least, width),
    most: integerAt(lanes, most, width),
  })
  return { lower: range(lower.lanes, ends[0], ends[1]), upper: range(upper.lanes, ends[2], ends[3]) }
}

function highWord(lanes: Int32Array, i: number, width: Width): number {
  return width === LONG ? lanes[2 * i + 1] : lanes[2 * i] >> 31
}

function integerAt(lanes: Int32Array, i: number, width: Width): bigint {
  return (BigInt(highWord(lanes, i, width)) << 32n) | BigInt(lanes[2 * i] >>> 0)
}

function isAbove(a: Int32Array, i: number, b: Int32Array, j: number, width: Width): boolean {
  const difference = highWord(a, i, width) - highWord(b, j, width)
  return difference > 0 || (difference === 0 && a[2 * i] >>> 0 > b[2 * j] >>> 0)
}

/** Drops files whose bound is above a limit. */
function dropAbove(
  lanes: Int32Array,
  width: Width,
  length: number,
  high: number,
  low: number,
  verdicts: Uint8Array,
): void {
  for (let i = 0; i < length; i++) {
    const word = highWord(lanes, i, width)
    if (word > high || (word === high && lanes[2 * i] >>> 0 > low)) verdicts[i] = VERDICT.DROP
  }
}

function dropBelow(
  lanes: Int32Array,
  width: Width,
  length: number,
  high: number,
  low: number,
  verdicts: Uint8Array,
): void {
  for (let i = 0; i < length; i++) {
    const word = highWord(lanes, i, width)
    if (word < high || (word === high && lanes[2 * i] >>> 0 < low)) verdicts[i] = VERDICT.DROP
  }
}

/** Each file by itself: some have only nulls, no bounds, or bounds of another width, or upside down. */
function compareWithCare(
  { recordCounts, length }: MetricVectors,
  verdicts: Uint8Array,
  vector: MetricVector,
  width: Width,
  [mostHigh, mostLow, leastHigh, leastLow]: readonly [number, number, number, number],
): void {
  const { lower, upper } = vector
  for (let i = 0; i < length; i++) {
    if (hasOnlyNulls(vector, recordCounts, i)) verdicts[i] = VERDICT.DROP
    else if (lower.tags[i] !== width || upper.tags[i] !== width) verdicts[i] = VERDICT.ASK
    else {
      const lowHigh = highWord(lower.lanes, i, width)
      const lowLow = lower.lanes[2 * i] >>> 0
      const highHigh = highWord(upper.lanes, i, width)
      const highLow = upper.lanes[2 * i] >>> 0
      const mightMatch =
        // Bounds that are upside down prove nothing (R5.24).
        isAbove(lower.lanes, i, upper.lanes, i, width) ||
        ((lowHigh < mostHigh || (lowHigh === mostHigh && lowLow <= mostLow)) &&
          (highHigh > leastHigh || (highHigh === leastHigh && highLow >= leastLow)))
      verdicts[i] = mightMatch ? VERDICT.KEEP : VERDICT.DROP
    }
  }
}
