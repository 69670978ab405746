/** What the package promises to those who install it. */
import { readFileSync } from 'node:fs'
import { assert } from 'chai'
import { projectRoot } from './support/root.ts'

interface PackageJson {
  name: string
  type: string
  license: string
  sideEffects: boolean
  engines: unknown
  bin: unknown
  exports: unknown
  files: string[]
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

const manifest = JSON.parse(readFileSync(new URL('package.json', projectRoot()), 'utf8')) as PackageJson

describe('package.json', () => {
  it('says what it is', () => {
    const { name, type, license, sideEffects } = manifest
    assert.deepEqual([name, type, license, sideEffects], ['iceplan', 'module', 'Apache-2.0', false])
  })

  it('has these dependencies and no others', () => {
    assert.deepEqual(manifest.dependencies, {
      '@aws-sdk/client-s3': '3.1175.0',
      '@smithy/signature-v4': '5.7.5',
      avsc: '5.7.9',
      'cli-progress': '3.12.0',
      commander: '14.0.3',
      fzstd: '0.1.1',
      hysnappy: '1.1.1',
      'p-limit': '7.3.3',
      peberminta: '0.10.0',
      picocolors: '1.1.1',
      piscina: '5.3.2',
    })
  })

  it('names exact versions', () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const [name, version] of Object.entries(all)) assert.match(version, /^\d+\.\d+\.\d+$/, name)
  })

  it('exports the library and its own description, nothing inside', () => {
    assert.deepEqual(manifest.exports, {
      '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' },
      './package.json': './package.json',
    })
  })

  it('has one command', () => {
    assert.deepEqual(manifest.bin, { iceplan: 'dist/src/cli/main.js' })
  })

  it('publishes the build and the sources that its maps name', () => {
    assert.deepEqual(manifest.files, ['dist', 'src', 'workers', 'CHANGELOG.md'])
  })

  it('runs on Node.js 20 and later', () => {
    assert.deepEqual(manifest.engines, { node: '>=20.19' })
  })
})
