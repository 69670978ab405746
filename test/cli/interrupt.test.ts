import { assert } from 'chai'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { projectRoot } from '../support/root.ts'
import { exitCode, startIceplan } from './command-line.ts'

/** The bundled table over HTTP, except that manifests are never answered. */
describe('command line: Ctrl-C', () => {
  let server: Server
  let location: string
  let manifestAsked: Promise<void>

  beforeEach(async () => {
    let ask: () => void
    manifestAsked = new Promise((resolve) => (ask = resolve))
    server = createServer((request, response) => {
      if (/-m\d+\.avro$/.test(request.url!)) {
        ask()
        return
      }
      try {
        response.end(readFileSync(new URL(`fixtures${request.url!}`, projectRoot())))
      } catch {
        response.writeHead(404).end()
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    location = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`
  })

  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  for (const args of [['plan', '--format', 'json'], ['plan', '--format', 'table'], ['verify']])
    it(`ends ${args.join(' ')} with 130, and nothing that looks complete`, async () => {
      const child = startIceplan([...args, location, '--rebase', `s3://warehouse/db/orders=${location}`])
      const exit = exitCode(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      await manifestAsked
      child.kill('SIGINT')
      assert.equal(await exit, 130)
      assert.equal(output, '')
    })
})
