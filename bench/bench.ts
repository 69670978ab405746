/**
 * Times the cases of corpus.ts; see README.md.
 *
 *     node build/bench/bench.js [PATTERN] [--rounds N] [--smoke] [--list] [--save NAME]
 */
import { parseArgs } from 'node:util'
import { GROUPS, type Group, type Ratio } from './corpus.ts'
import { type Result, measure } from './measure.ts'
import { RESULTS, saveResults } from './save-results.ts'

interface Options {
  pattern: RegExp
  rounds: number
  smoke: boolean
  list: boolean
  save: string | undefined
}

/** @throws Error with a sentence for the user */
function parseOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '9' },
      smoke: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      save: { type: 'string' },
    },
  })
  if (positionals.length > 1) throw new Error(`Cannot take more than one pattern: ${positionals.join(' ')}`)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`Cannot run ${values.rounds} rounds`)
  const { smoke, list, save } = values
  // From the beginning of the name: `cache` is that group, not all cases with a cache.
  const pattern = new RegExp(`^(?:${positionals[0] ?? ''})`)
  return { pattern, rounds, smoke, list, save }
}

interface RatioResult {
  name: string
  ratio: number
}

/** Runs the matching cases of a group and prints a line for each. */
async function runGroup(
  group: Group,
  options: Options,
): Promise<{ results: Result[]; ratios: RatioResult[] }> {
  await using prepared = await group.prepare(options.smoke ? 'smoke' : 'real')
  const subjects = prepared.subjects.filter(({ name }) => options.pattern.test(name))
  for (const note of prepared.notes ?? []) console.log(`# ${group.name}: ${note}`)
  if (subjects.length === 0) return { results: [], ratios: [] }
  const rounds = Math.min(options.rounds, group.maxRounds ?? Infinity)
  const results = await measure(subjects, { rounds, warmUps: group.warmUps ?? 1 })
  for (const result of results) {
    console.log(formatResult(result))
    if (result.note !== undefined) console.log(result.note.replace(/^/gm, '    '))
  }
  const ratios = (prepared.ratios ?? []).flatMap((ratio) => computeRatio(ratio, results))
  for (const { name, ratio } of ratios)
    console.log(`${name.padEnd(NAME_WIDTH)} ${ratio.toFixed(3).padStart(10)} x`)
  return { results, ratios }
}

const NAME_WIDTH = 48

function formatResult({ name, unit, median, quartiles, rounds, checksum }: Result): string {
  const spread = `${quartiles[0].toFixed(2)} .. ${quartiles[1].toFixed(2)}`
  const figure = `${median.toFixed(2).padStart(10)} ${unit}`
  return `${name.padEnd(NAME_WIDTH)} ${figure} [${spread}] ${rounds} rounds, checksum ${checksum}, node ${process.version}`
}

function computeRatio({ of, to }: Ratio, results: readonly Result[]): RatioResult[] {
  const find = (wanted: string) => results.find(({ name }) => name === wanted)?.median
  const [a, b] = [find(of), find(to)]
  return a === undefined || b === undefined
    ? []
    : [{ name: `${of} : ${withoutCommonFolder(to, of)}`, ratio: a / b }]
}

/** `plan/a/warm/off` beside `plan/a/cold/on` is `warm/off`. */
function withoutCommonFolder(name: string, other: string): string {
  const parts = other.split('/')
  const same = name.split('/').findIndex((part, i) => part !== parts[i])
  return name.split('/').slice(same).join('/')
}

async function main(): Promise<number> {
  let options: Options
  try {
    options = parseOptions(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 2
  }
  const groups = GROUPS.filter(({ cases }) => cases.some((name) => options.pattern.test(name)))
  if (groups.length === 0) {
    console.error(
      `No case matches ${options.pattern}; the cases are:\n${GROUPS.flatMap(({ cases }) => cases).join('\n')}`,
    )
    return 1
  }
  if (options.list) {
    console.log(groups.flatMap(({ cases }) => cases.filter((name) => options.pattern.test(name))).join('\n'))
    return 0
  }
  const results: Result[] = []
  const ratios: RatioResult[] = []
  for (const group of groups) {
    const measured = await runGroup(group, options)
    results.push(...measured.results)
    ratios.push(...measured.ratios)
  }
  if (options.save !== undefined)
    console.log(`saved: ${saveResults(RESULTS, options.save, 'build/bench/bench.js', { results, ratios })}`)
  return 0
}

process.exitCode = await main()
