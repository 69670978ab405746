/** ANDs and ORs of a tree as closures, once for all evaluators of two values; a chain of one operation is one closure. */
import { isBranch, operandsOfBranch } from './boolean-chain.ts'

/** Answers for one set of facts: true is "might match". */
export type Test<Facts> = (facts: Facts) => boolean

/** A test for a whole tree; operands are tried from the left, and none after the answer is known (R11.23). */
export function compileTree<N extends { readonly op: string }, Facts>(
  tree: N,
  compileLeaf: (leaf: N) => Test<Facts>,
): Test<Facts> {
  if (tree.op === 'true') return () => true
  if (tree.op === 'false') return () => false
  if (!isBranch(tree)) return compileLeaf(tree)
  const tests = operandsOfBranch<N>(tree).map((operand) => compileTree<N, Facts>(operand, compileLeaf))
  const decisive = tree.op === 'or'
  return (facts) => {
    for (const test of tests) if (test(facts) === decisive) return decisive
    return !decisive
  }
}
