/**
 * The shape of src/: which folder may import which. Layers look down, never up, so that each can be read, tested
 * and replaced without those above it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { assert } from 'chai'
import ts from 'typescript'
import { projectRoot } from './support/root.ts'

interface Import {
  /** File in src/, from src/. */
  readonly from: string
  /** As `from`, or the name of a package. */
  readonly to: string
  readonly isRelative: boolean
  /** Nothing of it is left in the compiled file. */
  readonly isTypeOnly: boolean
}

/**
 * What each layer may import, besides itself: a folder, a file, or `type:` and either, for types only. Files beside
 * the folders are layers of their own.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'without-secrets.ts': [],
  'errors.ts': ['without-secrets.ts'],
  bytes: ['errors.ts'],
  types: ['errors.ts'],
  metadata: ['types', 'errors.ts'],
  expressions: ['types', 'metadata', 'errors.ts'],
  avro: ['bytes', 'errors.ts'],
  io: ['errors.ts', 'without-secrets.ts'],
  manifest: [
    'avro',
    'bytes',
    'types',
    'metadata',
    'errors.ts',
    'type:io/file-io.ts',
    // The facts that evaluators ask for: a batch supplies them.
    'type:expressions/column-metrics.ts',
  ],
  pool: ['errors.ts'],
  planner: [
    'manifest',
    'pool',
    'expressions',
    'avro',
    'bytes',
    'metadata',
    'types',
    'errors.ts',
    'type:io/file-io.ts',
    'io/abort-listeners.ts',
    'io/shared-run.ts',
    'io/time-slice.ts',
    // The one place that loads a table, and its public options.
    'io/default-file-io.ts',
    'io/limit-file-io.ts',
    'io/rebase.ts',
    // The report counts requests.
    'io/counting-file-io.ts',
    'io/disk-cache.ts',
    // SMALL_FILE_BYTES: what is read synchronously.
    'io/local-file-io.ts',
  ],
  catalog: ['planner', 'metadata', 'types', 'io', 'errors.ts', 'without-secrets.ts'],
  verify: ['planner', 'manifest', 'expressions', 'avro', 'bytes', 'metadata', 'types', 'io', 'errors.ts'],
  'index.ts': [
    'verify',
    'catalog',
    'planner',
    'manifest',
    'expressions',
    'avro',
    'bytes',
    'metadata',
    'types',
    'io',
    'errors.ts',
  ],
  cli: ['index.ts'],
}

/** The packages that each layer may load; those of Node are free. */
const PACKAGES: Readonly<Partial<Record<string, readonly string[]>>> = {
  avro: ['fzstd', 'hysnappy'],
  metadata: ['fzstd'],
  expressions: ['peberminta'],
  io: ['p-limit', '@aws-sdk/client-s3', '@smithy/signature-v4'],
  pool: ['piscina'],
  verify: ['avsc', 'fzstd', 'hysnappy'],
  cli: ['cli-progress', 'commander', 'picocolors'],
}

/** Storage clients, and what starts threads or decodes twice. */
const NEVER_IN_WORKERS: readonly string[] = [
  'avsc',
  'p-limit',
  'piscina',
  'node:http',
  'node:https',
  '@aws-sdk/client-s3',
]

const root = projectRoot()
// What is installed or built inside of a folder.
const NOT_OURS = /(^|\/)(node_modules|target|\.venv|\.build)\//
const source = filesIn('src')
const imports = source.flatMap(importsOf)

describe('architecture', () => {
  it('there is something to check', () => {
    assert.isAbove(source.length, 50)
    assert.isTrue(imports.some(({ to, isTypeOnly }) => to === 'io/file-io.ts' && isTypeOnly))
    assert.isTrue(
      imports.some(({ from, to }) => from === 'verify/verify.ts' && to === 'verify/verify-table.ts'),
    )
  })

  it('every file belongs to a layer', () => {
    for (const file of source) assert.property(LAYERS, layerOf(file), file)
  })

  for (const [layer, allowed] of Object.entries(LAYERS))
    it(`${layer} imports ${allowed.length === 0 ? 'nothing' : allowed.join(', ')}`, () => {
      const wrong = imports.filter(
        ({ from, to, isRelative, isTypeOnly }) =>
          isRelative &&
          layerOf(from) === layer &&
          layerOf(to) !== layer &&
          !isAllowed(allowed, to, isTypeOnly),
      )
      assert.deepEqual(wrong.map(describeImport), [])
    })

  it('the planner uses all that it is allowed of io', () => {
    const used = new Set(imports.filter(({ from }) => layerOf(from) === 'planner').map(({ to }) => to))
    const allowed = LAYERS.planner
      .map((name) => name.replace('type:', ''))
      .filter((name) => name.startsWith('io/'))
    for (const file of allowed) assert.isTrue(used.has(file), file)
  })

  it('packages are loaded where they belong', () => {
    const wrong = imports.filter(
      ({ from, to, isRelative }) =>
        !isRelative && !to.startsWith('node:') && !(PACKAGES[layerOf(from)] ?? []).includes(to),
    )
    assert.deepEqual(wrong.map(describeImport), [])
  })

  it('files import each other by their whole name', () => {
    for (const { from, to, isRelative } of imports)
      if (isRelative) assert.include(source, to, `${from} imports ${to}`)
  })

  it('no file imports itself by way of others, types included', () => {
    assert.deepEqual(cyclesOf(imports), [])
  })

  it('a worker reaches no storage, no pool and no decoder but our own', () => {
    const doors = filesIn('workers').flatMap((file) => importsOf(`../workers/${file}`))
    const reached = new Set<string>()
    const reach = ({ to, isTypeOnly }: Import): void => {
      if (isTypeOnly || reached.has(to)) return
      reached.add(to)
      imports.filter(({ from }) => from === to).forEach(reach)
    }
    doors.forEach(reach)
    const wrong = [...reached].filter(
      (name) => /^(io|verify|cli|index\.ts)(\/|$)/.test(name) || NEVER_IN_WORKERS.includes(name),
    )
    assert.deepEqual(wrong, [])
  })

  it('file names are kebab-case', () => {
    for (const file of [...source, ...filesIn('workers'), ...filesIn('test'), ...filesIn('bench')])
      for (const part of file.split('/'))
        assert.match(part, /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|worker))?(\.ts)?$/, file)
  })

  it('a test of a file is where the file is', () => {
    const folders = new Set(source.map(dirname))
    const special = ['.', 'support', 'corpus', 'cli', 'workers', 'naive-twin', 'oracles', 's3']
    for (const file of filesIn('test'))
      if (!special.includes(file.split('/')[0])) assert.include([...folders, ...special], dirname(file), file)
  })
})

/** TypeScript files below a folder of the project, from that folder; none if it is not there. */
function filesIn(folder: string): string[] {
  const url = new URL(`${folder}/`, root)
  if (!existsSync(url)) return []
  return readdirSync(url, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !NOT_OURS.test(name))
    .sort()
}

/** All imports and re-exports of a file, dynamic ones too. */
function importsOf(file: string): Import[] {
  const text = readFileSync(new URL(`src/${file}`, root), 'utf8')
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    const isRelative = specifier.text.startsWith('.')
    const to = isRelative ? join(dirname(file), specifier.text) : specifier.text
    found.push({ from: file, to, isRelative, isTypeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, isTypeExport(node))
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      assert.isTrue(ts.isStringLiteralLike(node.arguments[0]), `${file} imports what only it knows`)
      add(node.arguments[0], false)
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2023))
  return found
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings } = clause
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
}

function isTypeExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return false
  return exportClause.elements.every((element) => element.isTypeOnly)
}

/** The folder right below src/, or the file itself. */
function layerOf(file: string): string {
  return file.split('/')[0]
}

function isAllowed(allowed: readonly string[], to: string, isTypeOnly: boolean): boolean {
  const names = [layerOf(to), to]
  return names.some((name) => allowed.includes(name) || (isTypeOnly && allowed.includes(`type:${name}`)))
}

function describeImport({ from, to, isTypeOnly }: Import): string {
  return `${from} imports ${isTypeOnly ? 'types of ' : ''}${to}`
}

/** Sets of files that all reach each other, sorted (Tarjan's strongly connected components). */
function cyclesOf(edges: readonly Import[]): string[][] {
  const next = new Map<string, string[]>(source.map((file) => [file, []]))
  for (const { from, to, isRelative } of edges) if (isRelative) next.get(from)!.push(to)
  const cycles: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const visit = (file: string): void => {
    const own = order.size
    order.set(file, own)
    lowest.set(file, own)
    path.push(file)
    for (const other of next.get(file) ?? []) {
      if (!order.has(other)) visit(other)
      if (path.includes(other)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(other)!))
    }
    if (lowest.get(file) !== own) return
    const component = path.splice(path.indexOf(file))
    if (component.length > 1 || next.get(file)?.includes(file) === true) cycles.push(component.sort())
  }
  for (const file of source) if (!order.has(file)) visit(file)
  return cycles.sort()
}
