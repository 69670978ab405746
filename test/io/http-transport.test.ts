import { execFile } from 'node:child_process'
import { createServer, type RequestListener, type Server } from 'node:http'
import {
  createServer as createRawServer,
  connect,
  type AddressInfo,
  type Server as RawServer,
  type Socket,
} from 'node:net'
import { promisify } from 'node:util'
import { assert } from 'chai'
import { HttpTransport, originOf, TransportError, type HttpAnswer } from '../../src/io/http-transport.ts'
import { rejection, thrown } from '../support/rejection.ts'

const portOf = (server: Server | RawServer): number => (server.address() as AddressInfo).port

describe('one GET over HTTP', () => {
  const closings: (() => void)[] = []
  afterEach(() => {
    for (const close of closings.splice(0)) close()
  })

  const listen = async <T extends Server | RawServer>(server: T): Promise<T> => {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    })
    closings.push(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
  const serve = (listener: RequestListener): Promise<Server> => listen(createServer(listener))
  /** Answers each request with these bytes and no more. */
  const serveRaw = (answer: string): Promise<RawServer> =>
    listen(createRawServer((socket) => socket.on('data', () => socket.write(answer))))

  const open = (options: ConstructorParameters<typeof HttpTransport>[0] = {}): HttpTransport => {
    const transport = new HttpTransport(options)
    closings.push(() => {
      transport.close()
    })
    return transport
  }
  const get = (
    transport: HttpTransport,
    port: number,
    part: { length?: number; isOptional?: boolean } = {},
  ): Promise<HttpAnswer> =>
    transport.get(
      { origin: originOf(new URL(`http://127.0.0.1:${port}/`)), path: '/', headers: {} },
      () => ({ skip: 0, length: part.length, check: () => undefined, isOptional: part.isOptional === true }),
      undefined,
    )

  it('a body that is slow and never stalls takes the time that it takes', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 8 * 8192 })
      let pieces = 0
      const timer = setInterval(() => {
        response.write(Buffer.alloc(8192))
        if (++pieces < 8) return
        clearInterval(timer)
        response.end()
      }, 60)
    })
    const answer = await get(open({ requestTimeoutMs: 250 }), portOf(server))
    assert.lengthOf(answer.bytes, 8 * 8192)
  })

  it('a body that comes byte by byte is one that stalls', async () => {
    const server = await serve((request, response) => {
      response.writeHead(200, { 'content-length': 100_000 })
      const timer = setInterval(() => response.write('x'), 20)
      request.socket.on('close', () => {
        clearInterval(timer)
      })
    })
    const error = await rejection(get(open({ requestTimeoutMs: 200 }), portOf(server)))
    assert.equal(error.message, 'waited 200 ms for the rest of the body')
  })

  describe('connections of the pool that are dead', () => {
    /** Passes on to a server what comes; once `isDead`, resets connections when they are used. */
    const relay = async (port: number) => {
      const state = { dead: new WeakSet<Socket>(), open: new Set<Socket>(), resets: 0 }
      const server = await listen(
        createRawServer((socket) => {
          state.open.add(socket)
          const up = connect(port, '127.0.0.1')
          up.on('error', () => undefined)
          socket.on('data', (bytes) => {
            if (!state.dead.has(socket)) {
              up.write(bytes)
              return
            }
            state.resets++
            socket.resetAndDestroy()
          })
          up.on('data', (bytes) => socket.write(bytes)).on('close', () => socket.destroy())
          socket.on('close', () => {
            state.open.delete(socket)
            up.destroy()
          })
        }),
      )
      return { state, port: portOf(server) }
    }

    it('are no error: others are opened, and the rest of the pool is not tried', async () => {
      const server = await serve((_, response) => setTimeout(() => response.end('hello'), 20))
      const { state, port } = await relay(portOf(server))
      const transport = open()
      await Promise.all(Array.from({ length: 16 }, () => get(transport, port)))
      assert.equal(state.open.size, 16)
      for (const socket of state.open) state.dead.add(socket)
      assert.equal(Buffer.from((await get(transport, port)).bytes).toString(), 'hello')
      assert.equal(state.resets, 1)
    })

    it('all of them used at once', async () => {
      const server = await serve((_, response) => setTimeout(() => response.end('hello'), 20))
      const { state, port } = await relay(portOf(server))
      const transport = open()
      const all = () => Promise.all(Array.from({ length: 16 }, () => get(transport, port)))
      await all()
      for (const socket of state.open) state.dead.add(socket)
      assert.lengthOf(await all(), 16)
    })

    it('a server that resets every request is not asked for ever', async () => {
      let requests = 0
      const server = await serve((request, response) => {
        if (requests++ === 0) response.end('hello')
        else request.socket.resetAndDestroy()
      })
      const transport = open()
      await get(transport, portOf(server))
      assert.equal(
        ((await rejection(get(transport, portOf(server)))) as unknown as TransportError).code,
        'ECONNRESET',
      )
      assert.equal(requests, 3)
    })
  })

  it('101 Switching Protocols is a failure at once, and for good', async () => {
    const server = await serveRaw(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    )
    const error = (await rejection(get(open(), portOf(server)))) as unknown as TransportError
    assert.match(error.message, /101/)
    assert.isFalse(error.isTransient)
  })

  it('103 Early Hints are passed over', async () => {
    const server = await serveRaw(
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
    )
    assert.lengthOf((await get(open(), portOf(server))).bytes, 5)
  })

  describe('an answer that is worth having for its head alone', () => {
    it('whose body stalls: what came', async () => {
      const server = await serveRaw('HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\nhello')
      const answer = await get(open({ requestTimeoutMs: 100 }), portOf(server), { isOptional: true })
      assert.equal(answer.status, 403)
      assert.lengthOf(answer.bytes, 5)
    })

    it('whose body breaks off: what came', async () => {
      const server = await serve((request, response) => {
        response.writeHead(403, { 'content-length': 100 }).write('hello')
        setTimeout(() => request.socket.destroy(), 20)
      })
      const answer = await get(open(), portOf(server), { isOptional: true })
      assert.equal(answer.status, 403)
      assert.lengthOf(answer.bytes, 5)
    })
  })

  describe('options', () => {
    for (const options of [
      { requestTimeoutMs: 0, connectTimeoutMs: Infinity },
      { requestTimeoutMs: 2 ** 40 },
    ])
      it(`${Object.entries(options).join(' ')}: no limit, and none that has passed`, async () => {
        const server = await serve((_, response) => setTimeout(() => response.end('hello'), 20))
        assert.lengthOf((await get(open(options), portOf(server))).bytes, 5)
      })
    for (const options of [{ requestTimeoutMs: NaN }, { connectTimeoutMs: -1 }, { maxSockets: 0 }])
      it(`${Object.entries(options).join(' ')}: refused`, () => {
        assert.equal(thrown(() => new HttpTransport(options)).code, 'ERR_INVALID_ARGUMENT')
      })
  })

  it('closing ends the requests under way and those in the queue; later ones open new connections', async () => {
    const server = await serve((_, response) => setTimeout(() => response.end('hello'), 50))
    const transport = open({ maxSockets: 2 })
    await get(transport, portOf(server))
    const running = Promise.all(Array.from({ length: 6 }, () => rejection(get(transport, portOf(server)))))
    await new Promise((resolve) => setTimeout(resolve, 10))
    transport.close()
    assert.deepEqual(
      [...new Set((await running).map(({ message }) => message))],
      ['its connections were closed'],
    )
    assert.lengthOf((await get(transport, portOf(server))).bytes, 5)
  })

  it('a process ends though bodies that nobody wants never do', async () => {
    const bodies = [
      'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n',
    ]
    const module = new URL('../../src/io/http-transport.js', import.meta.url).href
    for (const body of bodies) {
      const server = await serveRaw(body)
      // A minute, after which the test has failed for its own time.
      const code = `
        import { HttpTransport, originOf } from '${module}'
        const origin = originOf(new URL('http://127.0.0.1:${portOf(server)}/'))
        const part = { skip: 0, length: 5, check() {} }
        const answer = await new HttpTransport({ requestTimeoutMs: 60_000 }).get({ origin, path: '/', headers: {} }, () => part)
        console.log(answer.bytes.length)`
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
        timeout: 30_000,
      })
      assert.equal(stdout, '5\n')
    }
  })
})
