/** What README.md shows is run as written: programs, commands and filters; programs print what stands below them. */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { bind } from '../src/expressions/bind.ts'
import { parseFilter, ScanPlanner } from '../src/index.ts'
import { Schema } from '../src/metadata/schema.ts'
import { parseType } from '../src/types/type.ts'
import { argumentsOf, iceplan, loadOrders } from './cli/command-line.ts'
import { projectRoot } from './support/root.ts'

const root = fileURLToPath(projectRoot())
const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms)].map(
  ([, language, text, output]: (string | undefined)[]) => ({ language, text: text ?? '', output }),
)
/** The build that this test is part of. */
const build = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

async function outputOf(program: string, name: string): Promise<string> {
  const file = path.join(build, name)
  const entry = JSON.stringify(path.join(build, 'src', 'index.js'))
  // `await using` is newer than Node 20; what it does is closing at the end.
  const text = program.replaceAll("'iceplan'", entry).replace('await using', 'const')
  fs.writeFileSync(file, text)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root })
    return stdout
  } finally {
    fs.rmSync(file)
  }
}

/** The rows of the table below a heading: the pieces of code in the first column, or both columns. */
function tableBelow(heading: string): string[][] {
  const [, rows] = new RegExp(`^\\| ${heading} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm').exec(readme)!
  return rows
    .trimEnd()
    .split('\n')
    .map((row) => row.split(' | '))
}

function codesIn(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, code]) => code)
}

describe('README', () => {
  // Programs for storage that is elsewhere: cli/remote-tables.test.ts runs them.
  const programs = blocks.filter(
    ({ language, text }) => language === 'ts' && !text.includes("loadTable('s3:"),
  )
  programs.forEach(({ text, output }, i) => {
    it(`program ${i + 1} ${output === undefined ? 'runs and completes' : 'prints what stands below it'}`, async () => {
      const printed = await outputOf(text, `readme-${i + 1}.mjs`)
      if (output === undefined) assert.match(printed, /\d+ \d+ true\n$/)
      else assert.equal(printed, output)
    })
  })

  it('programs are there, with and without output', () => {
    assert.deepEqual(
      programs.map(({ output }) => output !== undefined),
      [true, true, false],
    )
  })

  const COMMAND = /^node dist\/src\/cli\/main\.js (.*)$/gm
  for (const { language, text } of blocks)
    if (language === 'sh')
      for (const [command, given] of text.matchAll(COMMAND))
        it(`${command} runs`, async () => {
          const { code, stderr } = await iceplan(...argumentsOf(given))
          assert.equal(code, 0, stderr)
        })

  for (const [cell] of tableBelow('text')) {
    const [filter] = codesIn(cell)
    it(`${filter} is a filter`, async () => {
      const plan = await new ScanPlanner({ workers: 0 }).plan((await loadOrders()).newScan({ filter }))
      let tasks = 0
      for await (const batch of plan.batches) tasks += batch.length
      assert.isAtMost(tasks, 26)
    })
  }

  for (const [cell, values] of tableBelow('column'))
    for (const name of cell.slice(2).split(/, (?!\d)/))
      for (const value of codesIn(values))
        it(`${value} is a value of ${name}`, () => {
          const field = { id: 1, name: 'x', required: false, type: parseType(name.trim()) }
          const bound = bind(parseFilter(`x = ${value}`), new Schema([field]))
          assert.equal(bound.op, 'eq')
        })
})
