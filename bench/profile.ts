/**
 * Runs one case alone, for the profiler:
 *
 *     node --cpu-prof --cpu-prof-dir=profile build/bench/profile.js CASE [RUNS]
 */
import { GROUPS } from './corpus.ts'

const [name, runs = '10'] = process.argv.slice(2)
const group = GROUPS.find(({ cases }) => cases.includes(name))
if (group === undefined) {
  console.error(`No case is called ${name}; bench.js --list prints them`)
  process.exitCode = 1
} else {
  await using prepared = await group.prepare('real')
  const subject = prepared.subjects.find((candidate) => candidate.name === name)
  if (subject === undefined) throw new Error(`Cannot run ${name}: ${prepared.notes?.join('; ')}`)
  for (let i = 0; i < Number(runs); i++) await subject.run()
}
