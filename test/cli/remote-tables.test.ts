/** The command against tables that are elsewhere: an S3 server and a REST catalog of ours, and a process for each plan. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { projectRoot } from '../support/root.ts'
import { startRestCatalog, type RestCatalogServer } from '../support/rest-catalog-server.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { argumentsOf, exitCode, type Finished, iceplan, startIceplan } from './command-line.ts'

const LOCATION = 's3://warehouse/db/orders'
const KEY = { accessKeyId: 'cli-key', secretAccessKey: 'cli-secret' }
const TOKEN = 'cli-token'

describe('command line: tables that are elsewhere', function () {
  this.timeout(60_000)
  let s3: S3Server
  let catalog: RestCatalogServer
  let cacheDir: string
  let here: Finished

  before(async () => {
    s3 = await startS3Server({ credentials: [KEY] })
    const folder = fileURLToPath(new URL('fixtures/orders', projectRoot()))
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile()) s3.put('warehouse', `db/orders${path.slice(folder.length)}`, readFileSync(path))
    }
    catalog = await startRestCatalog({
      auth: { kind: 'token', token: TOKEN },
      warehouse: 'prod',
      vending: { s3 },
    })
    const metadata = readdirSync(join(folder, 'metadata')).filter((name) => name.endsWith('.metadata.json'))
    const last = metadata.sort().at(-1)!
    catalog.addTable(['db'], 'orders', {
      location: LOCATION,
      snapshots: [],
      metadataLocation: `${LOCATION}/metadata/${last}`,
      files: new Map([[`${LOCATION}/metadata/${last}`, readFileSync(join(folder, 'metadata', last))]]),
    })
    cacheDir = mkdtempSync(join(tmpdir(), 'iceplan-cli-'))
    here = await run({}, 'plan', folder, '--rebase', `${LOCATION}=${folder}`, '--format', 'jsonl')
  })
  after(async () => {
    await Promise.all([s3.close(), catalog.close()])
    rmSync(cacheDir, { recursive: true, force: true })
  })
  beforeEach(() => {
    s3.reset()
    catalog.reset()
  })

  /** With these variables and none of the caller's that S3 would look at. */
  async function run(variables: Record<string, string>, ...args: string[]): Promise<Finished> {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(AWS|ICEPLAN)_/.test(name)),
    )
    const child = startIceplan(args, { ...env, AWS_EC2_METADATA_DISABLED: 'true', ...variables })
    const exit = exitCode(child)
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await exit, stdout, stderr }
  }

  /** Tasks of a table that was not moved: the same but for where its files are opened. */
  function assertSamePlan({ code, stdout, stderr }: Finished): void {
    assert.equal(code, 0, stderr)
    const withoutLocations = here.stdout.replaceAll(/"location":"[^"]*",/g, '')
    assert.equal(stdout, withoutLocations)
    assert.notInclude(stderr, 'Warning')
  }

  const keys = { AWS_ACCESS_KEY_ID: KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey }
  const endpoint = (): string[] => ['--property', `s3.endpoint=${s3.endpoint}`]

  it('S3, with keys of the environment: one listing, and a request a file', async () => {
    assertSamePlan(await run(keys, 'plan', LOCATION, ...endpoint(), '--format', 'jsonl'))
    assert.equal(s3.requests.filter(({ key }) => key === '').length, 1)
    const files = s3.requests.map(({ key }) => key).filter((key) => key !== '')
    assert.equal(new Set(files).size, files.length)
    assert.isTrue(s3.requests.every(({ method }) => method === 'GET'))
  })

  it('S3, with keys as properties; s3a is the same', async () => {
    const properties = [
      `s3.access-key-id=${KEY.accessKeyId}`,
      `s3.secret-access-key=${KEY.secretAccessKey}`,
    ].flatMap((property) => ['--property', property])
    const moved = LOCATION.replace('s3:', 's3a:')
    assertSamePlan(await run({}, 'plan', moved, ...endpoint(), ...properties, '--format', 'jsonl'))
  })

  it('S3 again with --cache-dir: only what finds the current metadata is requested', async () => {
    const args = ['plan', LOCATION, ...endpoint(), '--cache-dir', cacheDir, '--format', 'jsonl']
    assertSamePlan(await run(keys, ...args))
    const first = s3.requests.length
    s3.reset()
    const again = await run(keys, ...args)
    assertSamePlan(again)
    assert.isAbove(first, 2)
    assert.deepEqual(
      s3.requests.map(({ key }) => /[^/]*$/.exec(key)![0].replace(/^v\d+\.metadata/, 'vN.metadata')),
      ['', 'vN.metadata.json'],
    )
    assert.match(again.stderr, /files from the cache on disk/)
  })

  it('verify reads S3 too', async () => {
    const { code, stdout } = await run(keys, 'verify', LOCATION, ...endpoint())
    assert.equal(code, 0, stdout)
  })

  it('S3 without keys, or with wrong ones: a sentence', async () => {
    const none = await run({}, 'plan', LOCATION, ...endpoint())
    assert.equal(none.code, 1)
    assert.match(none.stderr, /^iceplan: .*credentials.*\n$/)
    const wrong = await run({ ...keys, AWS_SECRET_ACCESS_KEY: 'guess' }, 'plan', LOCATION, ...endpoint())
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /^iceplan: .*SignatureDoesNotMatch.*\n$/)
    assert.notInclude(wrong.stderr, 'guess')
  })

  it('a catalog, whose credentials open the storage', async () => {
    const args = [
      'plan',
      '--catalog',
      catalog.uri,
      '--warehouse',
      'prod',
      ...endpoint(),
      'db.orders',
      '--format',
      'jsonl',
    ]
    assertSamePlan(await run({ ICEPLAN_TOKEN: TOKEN }, ...args))
    assert.deepEqual(catalog.lines(), [
      'GET /v1/config?warehouse=prod',
      'GET /v1/namespaces/db/tables/orders',
    ])
    const refused = await run({}, ...args)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^iceplan: .*401.*\n$/)
    const missing = await run(
      { ICEPLAN_TOKEN: TOKEN },
      ...args.map((arg) => arg.replace('db.orders', 'db.none')),
    )
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /^iceplan: .*db\.none.*\n$/)
  })

  const readme = readFileSync(new URL('README.md', projectRoot()), 'utf8')
  const section = /^## Tables that are elsewhere\n(.*?)^## /ms.exec(readme)![1]
  for (const [, command] of section.matchAll(/^iceplan (.*)$/gm))
    it(`README: iceplan ${command}`, async () => {
      s3.anonymous = command.includes('s3.anonymous')
      const args = argumentsOf(command).map((arg) =>
        arg
          .replace('http://localhost:9000', s3.endpoint)
          .replace('s3://public/', 's3://warehouse/')
          .replace('https://catalog.example.com', catalog.uri)
          .replace('~/.cache/iceplan', cacheDir),
      )
      const variables = { ...keys, AWS_ENDPOINT_URL_S3: s3.endpoint, ICEPLAN_TOKEN: TOKEN }
      assertSamePlan(
        await run(
          s3.anonymous ? { AWS_ENDPOINT_URL_S3: s3.endpoint } : variables,
          ...args,
          '--format',
          'jsonl',
        ),
      )
      s3.anonymous = false
    })

  it('README: the program', async () => {
    const [, program] = /^```ts\n(.*?)^```$/ms.exec(section)!
    const file = fileURLToPath(new URL('../readme-remote.mjs', import.meta.url))
    writeFileSync(
      file,
      program
        .replace("'iceplan'", JSON.stringify(new URL('../../src/index.js', import.meta.url).href))
        .replaceAll('https://catalog.example.com', catalog.uri),
    )
    const env = { ...process.env, ...keys, AWS_ENDPOINT_URL_S3: s3.endpoint, ICEPLAN_TOKEN: TOKEN }
    s3.region = 'eu-west-1'
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
    s3.region = 'us-east-1'
    rmSync(file)
    assert.match(stdout, /^(s3:\/\/warehouse\/db\/orders\/data\/.*\n)+true\n$/)
  })

  it('options that make no sense', async () => {
    for (const [args, message] of [
      [['plan', 't', '--warehouse', 'w'], /--warehouse without --catalog/],
      [['plan', 't', '--property', 'secret'], /want NAME=VALUE/],
      [['verify', 't', '--requests', '0'], /whole number/],
    ] as const) {
      const { code, stderr } = await iceplan(...args)
      assert.equal(code, 2)
      assert.match(stderr, message)
      assert.notInclude(stderr, 'secret')
    }
  })
})
