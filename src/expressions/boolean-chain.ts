/**
 * Chains of one operation, AND or OR, as lists of operands. A chain is as deep as it is long, and an IN list may be
 * written as ten thousand ORs: no walk may need a stack frame for each (B106, B126). What remains for recursion is how
 * often AND and OR take turns, and that is limited.
 */
import { InvalidArgumentError } from '../errors.ts'

/** How often AND and OR may take turns from the root down to a predicate. */
const MAX_TURNS = 500

/** @param sidesOf left and right of a node that belongs to the chain; `undefined` for an operand */
export function operandsOf<N>(chain: N, sidesOf: (node: N) => readonly [N, N] | undefined): N[] {
  const operands: N[] = []
  const pending = [chain]
  while (pending.length > 0) {
    const next = pending.pop() as N
    const sides = sidesOf(next)
    if (sides === undefined) operands.push(next)
    else pending.push(sides[1], sides[0])
  }
  return operands
}

interface Node {
  readonly op: string
}
interface Branch<N> {
  readonly op: 'and' | 'or'
  readonly left: N
  readonly right: N
}

/** The operands of the chain that the branch is the root of, in order. */
export function operandsOfBranch<N extends Node>(branch: N & Branch<N>): N[] {
  return operandsOf<N>(branch, (node) =>
    isBranch(node) && node.op === branch.op ? [node.left, node.right] : undefined,
  )
}

export function isBranch<N extends Node>(node: N): node is N & Branch<N> {
  return node.op === 'and' || node.op === 'or'
}

/**
 * @param turns how many chains are around this one
 * @param action what cannot be done with a deeper tree: "use filter"
 * @throws InvalidArgumentError for more than 500
 */
export function checkTurns(turns: number, action: string): void {
  if (turns > MAX_TURNS)
    throw new InvalidArgumentError(
      `Cannot ${action}: AND and OR are nested in each other more than ${MAX_TURNS} times`,
    )
}
