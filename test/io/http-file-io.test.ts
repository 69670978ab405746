import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { assert } from 'chai'
import { MAX_READ_BYTES } from '../../src/io/byte-range.ts'
import { HttpFileIO, toUrl } from '../../src/io/http-file-io.ts'
import { rejection, thrown } from '../support/rejection.ts'

const BODY = Buffer.from('0123456789abcdefghij')

type Handler = (request: IncomingMessage, response: ServerResponse, attempt: number) => void

/** Answers as a good server does. */
const good: Handler = (request, response) => {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (range === null) return response.writeHead(200, { 'content-length': BODY.length }).end(BODY)
  const [start, end] = [Number(range[1]), Number(range[2])]
  if (start >= BODY.length)
    return response.writeHead(416, { 'content-range': `bytes */${BODY.length}` }).end()
  const part = BODY.subarray(start, end + 1)
  const last = start + part.length - 1
  return response.writeHead(206, { 'content-range': `bytes ${start}-${last}/${BODY.length}` }).end(part)
}

describe('files over HTTP', () => {
  let server: Server
  let origin: string
  let handler: Handler = good
  let requests: IncomingMessage[] = []

  before(async () => {
    server = createServer((request, response) => {
      requests.push(request)
      handler(request, response, requests.length)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    handler = good
    requests = []
  })

  const read = async (
    range?: { start: number; end: number },
    path = '/f',
    signal?: AbortSignal,
  ): Promise<string> => {
    const io = new HttpFileIO(origin, { firstPauseMs: 1 })
    const bytes = await io.open(origin + path).read(range, signal === undefined ? {} : { signal })
    return Buffer.from(bytes).toString('utf8')
  }

  describe('answers', () => {
    const rows: [
      title: string,
      range: { start: number; end: number } | undefined,
      answer: Handler,
      want: string,
    ][] = [
      ['the whole file', undefined, good, BODY.toString()],
      [
        'the whole file without a length',
        undefined,
        (_, response) => response.writeHead(200).end(BODY),
        BODY.toString(),
      ],
      [
        'an empty file',
        undefined,
        (_, response) => response.writeHead(200, { 'content-length': 0 }).end(),
        '',
      ],
      ['a range', { start: 3, end: 6 }, good, '345'],
      ['a range up to the end', { start: 18, end: 20 }, good, 'ij'],
      [
        'a range from a server that ignores ranges: cut out of the whole body',
        { start: 3, end: 6 },
        (_, response) => response.writeHead(200, { 'content-length': BODY.length }).end(BODY),
        '345',
      ],
      [
        'the same, in pieces smaller than the range and around its ends',
        { start: 3, end: 17 },
        (_, response) => void sendSlowly(response, [2, 5, 4, 4, 5]),
        BODY.toString().slice(3, 17),
      ],
      [
        'a compressed transfer all the same: the length in the header is not that of the file',
        undefined,
        (_, response) => {
          const zipped = gzipSync(BODY)
          response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length }).end(zipped)
        },
        BODY.toString(),
      ],
      [
        'a range though the whole file was asked for, if it is all of it',
        undefined,
        (_, response) => response.writeHead(206, { 'content-range': 'bytes 0-19/20' }).end(BODY),
        BODY.toString(),
      ],
    ]
    for (const [title, range, answer, want] of rows)
      it(title, async () => {
        handler = answer
        assert.equal(await read(range), want)
        assert.equal(requests.length, 1)
      })

    for (const status of [301, 302, 303, 307, 308])
      it(`after a redirect, ${status}, with the range`, async () => {
        handler = (request, response, attempt) => {
          if (attempt === 1) response.writeHead(status, { location: '../g?x=%2F#y' }).end('moved')
          else good(request, response, attempt)
        }
        assert.equal(await read({ start: 3, end: 6 }), '345')
        assert.equal(requests[1].url, '/g?x=%2F')
      })

    it('an empty range asks nothing', async () => {
      assert.equal(await read({ start: 5, end: 5 }), '')
      assert.equal(requests.length, 0)
    })

    it('are asked for without compression, so that lengths and ranges mean the file', async () => {
      await read({ start: 0, end: 1 })
      assert.match(requests[0].headers['accept-encoding']!, /^identity/)
      assert.equal(requests[0].headers.range, 'bytes=0-0')
    })
  })

  describe('failures', () => {
    const status =
      (code: number): Handler =>
      (_, response) =>
        void response.writeHead(code).end('sorry')
    const rows: [
      title: string,
      range: { start: number; end: number } | undefined,
      Handler,
      code: string,
      retryable: boolean | undefined,
      message: RegExp,
      tries: number,
    ][] = [
      ['404', undefined, status(404), 'ERR_NOT_FOUND', undefined, /404/, 1],
      ['410', undefined, status(410), 'ERR_NOT_FOUND', undefined, /410/, 1],
      ['401', undefined, status(401), 'ERR_STORAGE', false, /401/, 1],
      ['403', undefined, status(403), 'ERR_STORAGE', false, /403/, 1],
      ['400', undefined, status(400), 'ERR_STORAGE', false, /400/, 1],
      ['204, which has no body', undefined, (_, r) => r.writeHead(204).end(), 'ERR_STORAGE', false, /204/, 1],
      ['429', undefined, status(429), 'ERR_STORAGE', true, /429/, 4],
      ['503', undefined, status(503), 'ERR_STORAGE', true, /503/, 4],
      ['500', undefined, status(500), 'ERR_STORAGE', true, /500/, 4],
      ['501', undefined, status(501), 'ERR_STORAGE', false, /501/, 1],
      [
        'a refusal whose body breaks off',
        undefined,
        (request, response) => {
          response.writeHead(403, { 'content-length': 100 }).write('sorry')
          setTimeout(() => request.socket.destroy(), 5)
        },
        'ERR_STORAGE',
        false,
        /403 Forbidden/,
        1,
      ],
      [
        'a protocol that is none of HTTP',
        undefined,
        (_, response) => response.writeHead(101, { upgrade: 'x', connection: 'upgrade' }).end(),
        'ERR_STORAGE',
        false,
        /101/,
        1,
      ],
      [
        'a part though the whole file was asked for',
        undefined,
        (_, response) =>
          response.writeHead(206, { 'content-range': 'bytes 0-4/20' }).end(BODY.subarray(0, 5)),
        'ERR_STORAGE',
        false,
        /206/,
        1,
      ],
      [
        'a small body that stands for a large one',
        undefined,
        (_, response) =>
          response
            .writeHead(200, { 'content-encoding': 'gzip' })
            .end(gzipSync(Buffer.alloc(65 * 1024 * 1024))),
        'ERR_STORAGE',
        false,
        /its content encoding, gzip: its \d+ bytes stand for more than the limit of 67108864/,
        1,
      ],
      [
        'an encoding with the name of a property of objects',
        undefined,
        (_, response) => response.writeHead(200, { 'content-encoding': 'constructor' }).end('x'),
        'ERR_STORAGE',
        false,
        /its content encoding, constructor: not supported/,
        1,
      ],
      [
        'a reset',
        undefined,
        (request) => request.socket.resetAndDestroy(),
        'ERR_STORAGE',
        true,
        /ECONNRESET/,
        4,
      ],
      [
        'a body that breaks off',
        undefined,
        (request, response) => {
          response.writeHead(200, { 'content-length': 100 }).write(BODY)
          setTimeout(() => request.socket.destroy(), 5)
        },
        'ERR_STORAGE',
        true,
        /Cannot read/,
        4,
      ],
      [
        'a range behind the end: 416',
        { start: 30, end: 40 },
        good,
        'ERR_STORAGE',
        false,
        /the file ends at 20/,
        1,
      ],
      [
        'a range over the end: a short 206',
        { start: 15, end: 25 },
        good,
        'ERR_STORAGE',
        false,
        /the file ends at 20/,
        1,
      ],
      [
        'a range over the end, from a server that ignores ranges',
        { start: 15, end: 25 },
        (_, response) => response.writeHead(200).end(BODY),
        'ERR_STORAGE',
        false,
        /the file ends at 20/,
        1,
      ],
      [
        'another part than asked for, as servers with a bug answer',
        { start: 5, end: 10 },
        (_, response) =>
          response.writeHead(206, { 'content-range': 'bytes 0-4/20' }).end(BODY.subarray(0, 5)),
        'ERR_STORAGE',
        false,
        /another part, bytes 0-4\/20/,
        1,
      ],
      [
        'a part that does not say which',
        { start: 5, end: 10 },
        (_, response) => response.writeHead(206).end(BODY.subarray(5, 10)),
        'ERR_STORAGE',
        false,
        /another part, no content-range/,
        1,
      ],
      [
        'a part shorter than it says',
        { start: 5, end: 10 },
        (_, response) =>
          response.writeHead(206, { 'content-range': 'bytes 5-9/20' }).end(BODY.subarray(5, 8)),
        'ERR_STORAGE',
        true,
        /5 bytes were announced and 3 came/,
        4,
      ],
      [
        'a body above the limit, before memory is taken for it (B222)',
        undefined,
        (_, response) => response.writeHead(200, { 'content-length': MAX_READ_BYTES + 1 }).write('x'),
        'ERR_STORAGE',
        false,
        /more than the limit/,
        1,
      ],
    ]
    for (const [title, range, answer, code, retryable, message, tries] of rows)
      it(`${title}: ${code}${retryable === true ? ', retryable' : ''}`, async () => {
        handler = answer
        const error = await rejection(read(range))
        assert.equal(error.code, code)
        assert.equal((error as { retryable?: boolean }).retryable, retryable)
        assert.match(error.message, message)
        assert.include(error.message, `${origin}/f`)
        assert.equal(error.location, `${origin}/f`)
        assert.equal(requests.length, tries)
      })

    describe('a body without a length, which ends where the connection does: a cut one looks whole', () => {
      const rows: [why: string, lengths: number[], requests: number, want: string | RegExp][] = [
        ['it comes twice: it is the file', [20], 2, BODY.toString()],
        ['the first was cut: both are asked for again', [4, 20], 4, BODY.toString()],
        ['the second was cut: likewise', [20, 4, 20], 4, BODY.toString()],
        ['each is another', [1, 2, 3, 4, 5, 6, 7, 8], 8, /no length was announced, .* 7 bytes came, then 8/],
      ]
      for (const [why, lengths, count, want] of rows)
        it(why, async () => {
          handler = (request, _, attempt) => {
            const length = lengths[Math.min(attempt, lengths.length) - 1]
            const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'
            request.socket.end(head + BODY.subarray(0, length).toString())
          }
          if (typeof want === 'string') assert.equal(await read(), want)
          else {
            const error = await rejection(read())
            assert.equal(error.code, 'ERR_STORAGE')
            assert.isTrue((error as { retryable?: boolean }).retryable)
            assert.match(error.message, want)
          }
          assert.equal(requests.length, count)
        })

      it('a range out of it is counted, and needs no second look', async () => {
        handler = (request) =>
          request.socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${BODY.toString()}`)
        assert.equal(await read({ start: 2, end: 6 }), '2345')
        assert.equal(requests.length, 1)
      })
    })

    it('503, a reset and a broken body, then an answer: nothing is seen of it', async () => {
      handler = (request, response, attempt) => {
        if (attempt === 1) response.writeHead(503, { 'retry-after': '0' }).end()
        else if (attempt === 2) request.socket.resetAndDestroy()
        else if (attempt === 3) {
          response.writeHead(200, { 'content-length': 20 }).write('01')
          setTimeout(() => request.socket.destroy(), 5)
        } else good(request, response, attempt)
      }
      assert.equal(await read(), BODY.toString())
      assert.equal(requests.length, 4)
    })

    it('say nothing of what makes a signed location work', async () => {
      handler = status(403)
      const error = await rejection(read(undefined, '/f?X-Amz-Date=d&X-Amz-Signature=hush'))
      assert.include(error.message, '/f?X-Amz-Date=d&X-Amz-Signature=***')
      assert.notInclude(JSON.stringify(error), 'hush')
      assert.equal(requests[0].url, '/f?X-Amz-Date=d&X-Amz-Signature=hush')
    })

    it('a server that sends in circles', async () => {
      handler = (_, response) => response.writeHead(302, { location: '/f' }).end()
      const error = await rejection(read())
      assert.equal(error.code, 'ERR_STORAGE')
      assert.match(error.message, /redirected more than 5 times/)
      assert.equal(requests.length, 6)
    })

    it('a redirect to what is not HTTP', async () => {
      handler = (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()
      assert.match((await rejection(read())).message, /redirected to what is no HTTP URL/)
    })

    it('a server that is not there', async () => {
      const gone = createServer()
      await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
      const { port } = gone.address() as AddressInfo
      await new Promise((resolve) => gone.close(resolve))
      const io = new HttpFileIO(`http://127.0.0.1:${port}`, { attempts: 2, firstPauseMs: 1 })
      const error = await rejection(io.open(`http://127.0.0.1:${port}/f`).read())
      assert.equal(error.code, 'ERR_STORAGE')
      assert.isTrue((error as { retryable?: boolean }).retryable)
      assert.include(error.message, 'ECONNREFUSED')
    })
  })

  describe('an abort rejects with its reason', () => {
    const reason = new Error('enough')

    it('before the request', async () => {
      assert.equal(await rejection(read(undefined, '/f', AbortSignal.abort(reason))), reason)
      assert.equal(requests.length, 0)
    })

    it('before the answer, and ends the connection', async () => {
      const controller = new AbortController()
      const closed = new Promise<void>((resolve) => {
        handler = (request) => {
          request.socket.once('close', resolve)
          controller.abort(reason)
        }
      })
      assert.equal(await rejection(read(undefined, '/f', controller.signal)), reason)
      await closed
    })

    it('in the middle of the body', async () => {
      const controller = new AbortController()
      handler = (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write(BODY)
        setTimeout(() => {
          controller.abort(reason)
        }, 10)
      }
      assert.equal(await rejection(read(undefined, '/f', controller.signal)), reason)
    })

    it('in the pause before another try', async () => {
      const controller = new AbortController()
      handler = (_, response) => {
        response.writeHead(503, { 'retry-after': '3600' }).end()
        setTimeout(() => {
          controller.abort(reason)
        }, 10)
      }
      assert.equal(await rejection(read(undefined, '/f', controller.signal)), reason)
      assert.equal(requests.length, 1)
    })
  })

  describe('what is sent for a location (B178, B179)', () => {
    const rows: [location: string, sent: string, why: string][] = [
      ['/t/k=a%2Fb/x', '/t/k=a%2Fb/x', 'valid URL text is sent as written'],
      ['/t/a%252Fb', '/t/a%252Fb', 'and not decoded'],
      ['/t/a b', '/t/a%20b', 'a space is not URL text'],
      ['/t/a#b', '/t/a%23b', 'a fragment would not be sent, so it is a part of the key'],
      ['/t/100%', '/t/100%25', 'a percent sign that encodes nothing'],
      ['/t/日本', '/t/%E6%97%A5%E6%9C%AC', 'UTF-8'],
      ['/t/\ud800', '/t/%EF%BF%BD', 'half a surrogate pair'],
      ['/t//a///b', '/t//a///b', 'double slashes survive'],
      ['/t/a\\b|c"<>^`{}', '/t/a%5Cb%7Cc%22%3C%3E%5E%60%7B%7D', 'not URL text, or taken for a slash'],
      ["/t/!$&'()*+,;=:@~[]", "/t/!$&'()*+,;=:@~[]", 'all of these may stand in a path'],
      ['/t/f?sig=a%2Bb&x=1', '/t/f?sig=a%2Bb&x=1', 'a query, such as a signature'],
    ]
    for (const [location, sent, why] of rows)
      it(`${JSON.stringify(location)}: ${why}`, async () => {
        await read(undefined, location)
        assert.equal(requests[0].url, sent)
      })

    it('refuses what is no HTTP URL', () => {
      for (const location of ['/a', 'http:', 'http:///a', 'ftp://h/a', 'http://a b/c', 'http://h:99999/'])
        assert.equal(thrown(() => toUrl(location)).code, 'ERR_INVALID_ARGUMENT', location)
    })

    it('refuses a password in the URL, without repeating it', () => {
      for (const host of ['example.org', 'example.org:99999']) {
        const error = thrown(() => toUrl(`https://me:secret@${host}/a`))
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
        assert.include(error.message, `https://***@${host}/a`)
        assert.notInclude(JSON.stringify(error), 'secret')
      }
    })

    it('reads its own origin only, which is its identity', () => {
      const io = new HttpFileIO('HTTPS://Example.org:443/some/where')
      assert.equal(io.identity, 'https://example.org')
      assert.equal(io.open('https://example.org/f').location, 'https://example.org/f')
      assert.equal(thrown(() => io.open('https://example.com/f')).code, 'ERR_INVALID_ARGUMENT')
      assert.isUndefined((io as { list?: unknown }).list)
    })
  })
})

/** Sends the body in pieces of these sizes, each in a packet of its own as far as that can be had. */
async function sendSlowly(response: ServerResponse, sizes: number[]): Promise<void> {
  response.writeHead(200, { 'content-length': BODY.length })
  let at = 0
  for (const size of sizes) {
    response.write(BODY.subarray(at, (at += size)))
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  response.end()
}
