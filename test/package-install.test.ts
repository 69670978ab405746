/** The package as others get it: packed, unpacked into an empty project, and used there by API and by command. */
import { execFile, type ExecFileOptions } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { loadOrders, ORDERS } from './cli/command-line.ts'
import { pathsOf } from './planner/planning.ts'
import { planTable } from './support/corpus-table.ts'
import { projectRoot } from './support/root.ts'

const run = promisify(execFile)
const root = fileURLToPath(projectRoot())

/** What makes a package, besides the compiled files. */
const SOURCES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
  'workers',
  'CHANGELOG.md',
  'LICENSE',
]

/** What a user would write. */
const PROGRAM = `
import { loadTable, rebase, ScanPlanner } from 'iceplan'

const [folder] = process.argv.slice(2)
const table = await loadTable(folder, { rebase: [rebase('s3://warehouse/db/orders', folder)] })
const planner = new ScanPlanner({ workers: 2 })
const plan = await planner.plan(table.newScan())
const paths = []
for await (const task of plan.tasks) paths.push(task.dataFile.filePath)
const { workers, warnings } = plan.report
console.log(JSON.stringify({ paths, workers, warnings }))
`

interface PackageJson {
  bin: { iceplan: string }
  dependencies: Record<string, string>
}

describe('the installed package', function () {
  this.timeout(60_000)
  let folder: string
  let app: string
  let installed: string
  let manifest: PackageJson
  let want: string[]

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'iceplan-package-'))
    // Built apart, so that neither an old build is packed nor the project's own is disturbed.
    const source = join(folder, 'source')
    mkdirSync(source)
    for (const name of SOURCES) cpSync(join(root, name), join(source, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'), 'junction')
    const inSource: ExecFileOptions = { cwd: source, shell: process.platform === 'win32' }
    await run('npm', ['run', '-s', 'build'], inSource)
    await run('npm', ['pack', '--ignore-scripts', '--offline', '--pack-destination', folder], inSource)

    manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson
    const { version } = manifest as PackageJson & { version: string }
    app = join(folder, 'app')
    installed = join(app, 'node_modules', 'iceplan')
    mkdirSync(installed, { recursive: true })
    const tarball = join(folder, `iceplan-${version}.tgz`)
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    // As npm would install them, without asking a registry; and no others.
    for (const name of Object.keys(manifest.dependencies)) {
      const link = join(app, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), link, 'junction')
    }
    want = pathsOf((await planTable(await loadOrders())).tasks)
  })

  after(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  it('plans with two workers by API', async () => {
    writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(app, 'program.js'), PROGRAM.replace('const planner', 'const planner'))
    const { stdout } = await run(process.execPath, ['program.js', join(root, 'fixtures', 'orders')], {
      cwd: app,
    })
    assert.deepEqual(JSON.parse(stdout), { paths: want, workers: 2, warnings: [] })
  })

  it('plans with two workers by command', async () => {
    const main = join(installed, manifest.bin.iceplan)
    const args = [main, 'plan', ...ORDERS, '--workers', '2', '--format', 'json']
    const { stdout } = await run(process.execPath, args, { cwd: root })
    const { tasks, report } = JSON.parse(stdout) as {
      tasks: { 'file-path': string }[]
      report: { workers: number; warnings: string[] }
    }
    assert.deepEqual(
      tasks.map((task) => task['file-path']),
      want,
    )
    assert.equal(report.workers, 2)
    assert.isEmpty(report.warnings)
  })
})
