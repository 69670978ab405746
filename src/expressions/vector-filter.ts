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
 */
import type { BoundComparisonPredicate, BoundExpression, BoundPredicate } from './bound-expression.ts'
import { isBranch, operandsOfBranch } from './boolean-chain.ts'
import type { MetricVector, MetricVectors } from './metric-vectors.ts'

/** Of a file: no row of it matches; some might; ask. */
export const VERDICT = { DROP: 0, KEEP: 1, ASK: 2 } as const

/** Gives every file its verdict. */
export type VectorFilter = (vectors: MetricVectors, verdicts: Uint8Array) => void

/** Compiles a filter, to be asked for many batches. */
export function compileVectorFilter(filter: BoundExpression): VectorFilter {
  const fill = compileNode(filter)
  return (vectors, verdicts) => {
    fill(vectors, verdicts)
    const { recordCounts, length } = vectors
    for (let i = 0; i < length; i++) if (!(recordCounts[i] > 0)) verdicts[i] = VERDICT.ASK
  }
}

function compileNode(node: BoundExpression): VectorFilter {
  if (node.op === 'true' || node.op === 'false') {
    const verdict = node.op === 'true' ? VERDICT.KEEP : VERDICT.DROP
    return ({ length }, verdicts) => verdicts.fill(verdict, 0, length)
  }
  if (!isBranch(node)) return compileLeaf(node as BoundPredicate) ?? askForAll
  const operands = operandsOfBranch<BoundExpression>(node).map(compileNode)
  const decisive = node.op === 'or' ? VERDICT.KEEP : VERDICT.DROP
  return (vectors, verdicts) => {
    operands[0](vectors, verdicts)
    const others = new Uint8Array(vectors.length)
    for (let o = 1; o < operands.length; o++) {
      operands[o](vectors, others)
      for (let i = 0; i < others.length; i++) {
        const a = verdicts[i]
        const b = others[i]
        verdicts[i] = a === decisive || b === decisive ? decisive : a > b ? a : b
      }
    }
  }
}

const askForAll: VectorFilter = ({ length }, verdicts) => verdicts.fill(VERDICT.ASK, 0, length)

/** `undefined` for predicates that have no loop. */
function compileLeaf(predicate: BoundPredicate): VectorFilter | undefined {
  const { op, term } = predicate
  if (term.transform.kind !== 'identity') return undefined
  switch (op) {
    case 'is-null':
      return ofColumn(term.fieldId, false, (vector, { recordCounts, length }, verdicts) => {
        for (let i = 0; i < length; i++) verdicts[i] = mayHaveNull(vector, recordCounts, i) ? 1 : 0
      })
    case 'not-null':
      return ofColumn(term.fieldId, false, (vector, { recordCounts, length }, verdicts) => {
        for (let i = 0; i < length; i++) verdicts[i] = hasOnlyNulls(vector, recordCounts, i) ? 0 : 1
      })
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
      return compileComparison(predicate as BoundComparisonPredicate)
    default:
      return undefined
  }
}

type ColumnFilter = (vector: MetricVector, vectors: MetricVectors, verdicts: Uint8Array) => void

/** Asks where a column, or what is needed of it, was not read. */
function ofColumn(fieldId: number, needsBounds: boolean, filter: ColumnFilter): VectorFilter {
  return (vectors, verdicts) => {
    const vector = vectors.column(fieldId)
    const { length } = vectors
    const isRead =
      vector !== undefined &&
      vector.valueCounts.length >= length &&
      vector.nullValueCounts.length >= length &&
      !(needsBounds && vector.lower.tags.length < length)
    if (isRead) filter(vector, vectors, verdicts)
    else askForAll(vectors, verdicts)
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
      if (typeof value !== 'number') return undefined
      return compareInts(term.fieldId, limitsOf(op, BigInt(value)))
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (typeof value !== 'bigint') return undefined
      return compareLongs(term.fieldId, limitsOf(op, value))
    default:
      return undefined
  }
}

/** Tags of bounds of four and of eight bytes. */
const [INT, LONG] = [5, 9]

function compareInts(fieldId: number, limits: Limits): VectorFilter {
  const most = limits.most === undefined ? Infinity : Number(limits.most)
  const least = limits.least === undefined ? -Infinity : Number(limits.least)
  return ofColumn(fieldId, true, (vector, { recordCounts, length }, verdicts) => {
    const { lower, upper } = vector
    for (let i = 0; i < length; i++) {
      if (hasOnlyNulls(vector, recordCounts, i)) verdicts[i] = VERDICT.DROP
      else if (lower.tags[i] !== INT || upper.tags[i] !== INT) verdicts[i] = VERDICT.ASK
      else {
        const low = lower.lanes[2 * i]
        const high = upper.lanes[2 * i]
        // Bounds that are upside down prove nothing (R5.24).
        verdicts[i] = low > high || (low <= most && high >= least) ? VERDICT.KEEP : VERDICT.DROP
      }
    }
  })
}

/** As two words, high one first: the limits may lie just beyond a long, so they are no longs. */
function compareLongs(fieldId: number, { most, least }: Limits): VectorFilter {
  const mostHigh = most === undefined ? Infinity : Number(most >> 32n)
  const mostLow = most === undefined ? 0 : Number(most & 0xffffffffn)
  const leastHigh = least === undefined ? -Infinity : Number(least >> 32n)
  const leastLow = least === undefined ? 0 : Number(least & 0xffffffffn)
  return ofColumn(fieldId, true, (vector, { recordCounts, length }, verdicts) => {
    const { lower, upper } = vector
    for (let i = 0; i < length; i++) {
      if (hasOnlyNulls(vector, recordCounts, i)) verdicts[i] = VERDICT.DROP
      else if (lower.tags[i] !== LONG || upper.tags[i] !== LONG) verdicts[i] = VERDICT.ASK
      else {
        const lowHigh = lower.lanes[2 * i + 1]
        const lowLow = lower.lanes[2 * i] >>> 0
        const highHigh = upper.lanes[2 * i + 1]
        const highLow = upper.lanes[2 * i] >>> 0
        const mightMatch =
          lowHigh > highHigh ||
          (lowHigh === highHigh && lowLow > highLow) ||
          ((lowHigh < mostHigh || (lowHigh === mostHigh && lowLow <= mostLow)) &&
            (highHigh > leastHigh || (highHigh === leastHigh && highLow >= leastLow)))
        verdicts[i] = mightMatch ? VERDICT.KEEP : VERDICT.DROP
      }
    }
  })
}
