/**
 * ANDs and ORs of a tree as closures, once for all evaluators. Chains of one operation become a list, so that an IN
 * list written as ten thousand ORs does not need ten thousand stack frames (B106).
 */

/** Answers for one set of facts: true is "might match". */
export type Test<Facts> = (facts: Facts) => boolean

interface Node {
  readonly op: string
}
interface Branch<N> {
  readonly op: 'and' | 'or'
  readonly left: N
  readonly right: N
}

/** The operands of a chain of one operation, in order. */
export function operandsOf<N extends Node>(branch: Branch<N>): N[] {
  const operands: N[] = []
  const waiting: N[] = [branch.right, branch.left]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isBranch(node) && node.op === branch.op) waiting.push(node.right, node.left)
    else operands.push(node)
  }
  return operands
}

function isBranch<N extends Node>(node: N): node is N & Branch<N> {
  return node.op === 'and' || node.op === 'or'
}

/** A test for a whole tree; operands are tried from the left, and none after the answer is known (R11.23). */
export function compileTree<N extends Node, Facts>(
  tree: N,
  compileLeaf: (leaf: N) => Test<Facts>,
): Test<Facts> {
  if (tree.op === 'true') return () => true
  if (tree.op === 'false') return () => false
  if (!isBranch(tree)) return compileLeaf(tree)
  const tests = operandsOf(tree).map((operand) => compileTree<N, Facts>(operand, compileLeaf))
  const decisive = tree.op === 'or'
  return (facts) => {
    for (const test of tests) if (test(facts) === decisive) return decisive
    return !decisive
  }
}
