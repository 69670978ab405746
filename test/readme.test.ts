/** The programs of README.md run as written, and print what stands below them. */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { projectRoot } from './support/root.ts'

const root = fileURLToPath(projectRoot())
const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
  language,
  text,
}))
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

describe('README', () => {
  const programs = blocks.filter(({ language }) => language === 'ts')

  it('the first program prints what stands below it', async () => {
    const expected = blocks.find(({ language }) => language === 'text')
    assert.equal(await outputOf(programs[0].text, 'readme-1.mjs'), expected?.text)
  })

  it('the second program runs and completes', async () => {
    assert.match(await outputOf(programs[1].text, 'readme-2.mjs'), /\d+ \d+ true\n$/)
  })
})
