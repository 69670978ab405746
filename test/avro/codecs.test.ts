import { assert } from 'chai'
import fc from 'fast-check'
import zlib from 'node:zlib'
import {
  decompressBlock,
  emptyBlock,
  inflateWithPublicApi,
  MAX_BLOCK_BYTES,
  parseCodec,
  type CodecName,
} from '../../src/avro/codecs.ts'
import { isIcebergError, type IcebergError } from '../../src/errors.ts'
import { thrown } from '../support/rejection.ts'
import { seededRandom } from '../support/record-shape.ts'
import { SEED, WITH_SEED } from '../support/seed.ts'

const LOCATION = 's3://b/m.avro'

function decompress(codec: CodecName, packed: Uint8Array): Uint8Array {
  const out = emptyBlock()
  decompressBlock(codec, packed, 0, packed.length, LOCATION, out)
  assert.equal(out.view.byteLength, out.bytes.length)
  assert.equal(out.view.buffer, out.bytes.buffer)
  return out.bytes.slice(out.start, out.end)
}

function refusal(codec: CodecName, packed: Uint8Array, message: RegExp): IcebergError {
  // Somewhere inside a file, so that the byte of the message is worth something.
  const file = new Uint8Array(packed.length + 7)
  file.set(packed, 5)
  const error = thrown(() => {
    decompressBlock(codec, file, 5, packed.length, LOCATION, emptyBlock())
  })
  assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
  assert.match(error.message, message)
  assert.include(error.message, `Cannot read ${LOCATION}: the ${codec} block at byte 5 does not decompress (`)
  assert.equal(error.location, LOCATION)
  assert.equal(error.byte, 5)
  return error
}

const text = (value: string) => new Uint8Array(Buffer.from(value))
const equal = (actual: Uint8Array, expected: Uint8Array) => {
  assert.equal(Buffer.compare(actual, expected), 0, `${actual.length} bytes, expected ${expected.length}`)
}

/** Partly random, partly repeated: compresses somewhat, as manifests do. */
function sample(length: number, seed = 1): Uint8Array {
  const random = seededRandom(seed)
  const page = Uint8Array.from({ length: 4096 }, (_, i) => (i % 64 < 32 ? Math.floor(random() * 256) : i & 3))
  const bytes = Buffer.alloc(length, page)
  for (let i = 0; i < length; i += 1000) bytes[i] = Math.floor(random() * 256)
  return new Uint8Array(bytes)
}

describe('parseCodec', () => {
  for (const name of ['null', 'deflate', 'snappy', 'zstandard'])
    it(name, () => {
      assert.equal(parseCodec(text(name), LOCATION), name)
    })

  it('a missing header key is null', () => {
    assert.equal(parseCodec(undefined, LOCATION), 'null')
  })

  for (const name of ['bzip2', 'xz', 'Deflate', 'zstd', ''])
    it(`B025: ${JSON.stringify(name)} is named in the error`, () => {
      const error = thrown(() => parseCodec(text(name), LOCATION))
      assert.isTrue(isIcebergError(error, 'ERR_UNSUPPORTED'))
      assert.include(
        error.message,
        `Cannot read ${LOCATION}: Avro codec ${JSON.stringify(name)} is not supported`,
      )
      assert.equal(error.location, LOCATION)
    })
})

describe('decompressBlock: null', () => {
  it('is a range of the file, without a copy', () => {
    const file = sample(100)
    const out = emptyBlock()
    decompressBlock('null', file, 10, 30, LOCATION, out)
    assert.equal(out.bytes, file)
    assert.deepEqual([out.start, out.end], [10, 40])
    const other = sample(50, 2)
    decompressBlock('null', other, 0, 50, LOCATION, out)
    assert.equal(out.bytes, other)
    assert.equal(out.view.byteLength, 50)
  })

  it('keeps the view on a file inside a larger buffer', () => {
    const file = sample(100).subarray(20, 60)
    const out = emptyBlock()
    decompressBlock('null', file, 0, 40, LOCATION, out)
    assert.equal(out.view.getUint8(3), file[3])
  })
})

describe('decompressBlock: deflate', () => {
  const bothWays = (packed: Uint8Array): Uint8Array => {
    const plain = decompress('deflate', packed)
    equal(inflateWithPublicApi(packed, 0, packed.length), plain)
    return plain
  }

  it('this Node.js passes the self-test of the kept stream: output stands in its scratch buffer', () => {
    const packed = zlib.deflateRawSync(text('small'))
    const out = emptyBlock()
    decompressBlock('deflate', packed, 0, packed.length, LOCATION, out)
    assert.isAbove(out.bytes.length, out.end)
  })

  it('nothing at all, packed', () => {
    equal(bothWays(zlib.deflateRawSync(new Uint8Array(0))), new Uint8Array(0))
  })

  it('R4.19: stray bytes after the stream are no part of it (PyIceberg leaves three)', () => {
    const plain = sample(10_000)
    for (const stray of [1, 3, 4, 100])
      equal(bothWays(Buffer.concat([zlib.deflateRawSync(plain), sample(stray)])), plain)
  })

  it('output around the size of the scratch buffer, 1 MB, and around its doubles', () => {
    for (const base of [1, 2, 4])
      for (const near of [-1, 0, 1]) {
        const plain = sample(base * 1024 * 1024 + near)
        const packed = zlib.deflateRawSync(plain, { level: 1 })
        equal(decompress('deflate', packed), plain)
        // With bytes left over when the output is exactly full.
        equal(decompress('deflate', Buffer.concat([packed, Uint8Array.of(1, 2, 3)])), plain)
      }
  })

  it('a block past the scratch buffer that is kept, 64 MB, and a small one after it', () => {
    const zeros = zlib.deflateRawSync(new Uint8Array(65 * 1024 * 1024), { level: 1 })
    const out = emptyBlock()
    decompressBlock('deflate', zeros, 0, zeros.length, LOCATION, out)
    assert.equal(out.end - out.start, 65 * 1024 * 1024)
    assert.equal(out.bytes[out.end - 1], 0)
    const small = zlib.deflateRawSync(text('small'))
    decompressBlock('deflate', small, 0, small.length, LOCATION, out)
    equal(out.bytes.subarray(out.start, out.end), text('small'))
    assert.isBelow(out.bytes.length, 64 * 1024 * 1024, 'the large buffer is given back')
  })

  it('cut at every byte', () => {
    const packed = zlib.deflateRawSync(sample(300))
    for (let length = 0; length < packed.length; length++)
      refusal('deflate', packed.subarray(0, length), /unexpected end of file|invalid/)
  })

  it('garbage, and a good block after it', () => {
    refusal('deflate', new Uint8Array(10).fill(0xff), /invalid block type/)
    equal(decompress('deflate', zlib.deflateRawSync(text('good'))), text('good'))
  })

  it('a zlib header is not raw deflate', () => {
    refusal('deflate', zlib.deflateSync(sample(100)), /invalid/)
  })

  it('B222: a bomb is stopped at the largest block; broken and good blocks after it are told apart', function () {
    this.timeout(60_000)
    // Zeros, flushed to a byte boundary so that the same bytes can be repeated.
    const piece = zlib.deflateRawSync(new Uint8Array(16 * 1024 * 1024), {
      finishFlush: zlib.constants.Z_FULL_FLUSH,
    })
    const pieces = Array<Uint8Array>(MAX_BLOCK_BYTES / (16 * 1024 * 1024) + 1).fill(piece)
    refusal('deflate', Buffer.concat(pieces), /inflates to more than 268435456 bytes/)
    refusal('deflate', new Uint8Array(10).fill(0xff), /invalid block type/)
    refusal('deflate', zlib.deflateRawSync(sample(100)).subarray(0, 50), /unexpected end of file/)
    equal(decompress('deflate', zlib.deflateRawSync(text('good'))), text('good'))
  })

  it(`gives what the documented API gives, for good and for damaged blocks ${WITH_SEED}`, () => {
    const options = fc.record({
      level: fc.integer({ min: 0, max: 9 }),
      strategy: fc.constantFrom(zlib.constants.Z_DEFAULT_STRATEGY, zlib.constants.Z_FIXED),
    })
    const damage = fc.option(fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) }))
    fc.assert(
      fc.property(fc.nat(70_000), fc.nat(), options, damage, (length, seed, options, damage) => {
        const packed = Uint8Array.from(zlib.deflateRawSync(sample(length, seed), options))
        if (damage !== null) packed[damage.at % packed.length] ^= damage.mask
        let expected: Uint8Array | undefined
        try {
          expected = inflateWithPublicApi(packed, 0, packed.length)
        } catch {
          refusal('deflate', packed, /./)
        }
        if (expected !== undefined) equal(decompress('deflate', packed), expected)
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})

describe('decompressBlock: snappy', () => {
  const withCrc = (body: readonly number[], plain: Uint8Array) => {
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(zlib.crc32(plain))
    return Uint8Array.of(...body, ...crc)
  }
  // Length 12; literal "abcd" (tag (4 - 1) << 2); copy of 8 from 4 back (tag 01: length 8, offset 4).
  const BODY = [12, 3 << 2, 0x61, 0x62, 0x63, 0x64, ((8 - 4) << 2) | 1, 4]
  const PLAIN = text('abcdabcdabcd')

  it('B025: a literal, a copy that overlaps itself, and the CRC-32 of the plain bytes', () => {
    equal(decompress('snappy', withCrc(BODY, PLAIN)), PLAIN)
  })

  it('nothing at all', () => {
    equal(decompress('snappy', withCrc([0], new Uint8Array(0))), new Uint8Array(0))
  })

  it('B025: a wrong CRC-32, of the compressed bytes for instance', () => {
    refusal('snappy', withCrc(BODY, Uint8Array.from(BODY)), /its checksum does not match/)
  })

  it('a flipped byte in a literal is found by the checksum', () => {
    const damaged = withCrc(BODY, PLAIN)
    damaged[3] ^= 1
    refusal('snappy', damaged, /its checksum does not match/)
  })

  it('cut at every byte', () => {
    const packed = withCrc(BODY, PLAIN)
    for (let length = 0; length < packed.length; length++) refusal('snappy', packed.subarray(0, length), /./)
  })

  const lies: [prefix: number[], message: RegExp, why: string][] = [
    [[0xff, 0xff, 0xff, 0xff, 0x0f], /it claims to hold 4294967295 bytes/, '2^32 - 1'],
    [[0x80, 0x80, 0x80, 0x80, 0x02], /it claims to hold 536870912 bytes/, '512 MB out of a few bytes'],
    [[0x80, 0x80, 0x80, 0x80, 0x80, 0x01], /its length prefix is broken/, 'six bytes of length'],
    [[13], /./, 'one byte too many'],
    [[11], /./, 'one byte too few'],
    [[0], /./, 'nothing'],
  ]
  for (const [prefix, message, why] of lies)
    it(`B222: a length prefix that lies: ${why}`, () => {
      refusal('snappy', withCrc([...prefix, ...BODY.slice(1)], PLAIN), message)
      equal(decompress('snappy', withCrc(BODY, PLAIN)), PLAIN)
    })

  it('a copy from before the beginning', () => {
    refusal('snappy', withCrc([4, (0 << 2) | 1, 200], new Uint8Array(4)), /./)
  })
})

describe('decompressBlock: zstandard', () => {
  const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
  /** Type 0: stored, 1: a run; the last block of a frame has the lowest bit set. */
  const block = (type: number, size: number, last: boolean, ...body: number[]) => {
    const word = (size << 3) | (type << 1) | (last ? 1 : 0)
    return [word & 255, (word >>> 8) & 255, word >>> 16, ...body]
  }
  const HELLO = [...text('hello')]
  const frame = (...body: number[]) => Uint8Array.of(...MAGIC, ...body)

  const good: [packed: Uint8Array, plain: string, why: string][] = [
    [frame(0x20, 5, ...block(0, 5, true, ...HELLO)), 'hello', 'one stored block, size in one byte'],
    [frame(0xa0, 5, 0, 0, 0, ...block(0, 5, true, ...HELLO)), 'hello', 'size in four bytes'],
    [frame(0xe0, 5, 0, 0, 0, 0, 0, 0, 0, ...block(0, 5, true, ...HELLO)), 'hello', 'size in eight bytes'],
    [frame(0x00, 0x50, ...block(0, 5, true, ...HELLO)), 'hello', 'a window and no size'],
    [
      frame(0x20, 10, ...block(0, 5, false, ...HELLO), ...block(0, 5, true, ...HELLO)),
      'hellohello',
      'two blocks',
    ],
    [frame(0x20, 7, ...block(1, 7, true, 0x61)), 'aaaaaaa', 'a run'],
    [frame(0x20, 0, ...block(0, 0, true)), '', 'nothing'],
    [
      Uint8Array.of(
        ...frame(0x20, 5, ...block(0, 5, true, ...HELLO)),
        ...frame(0x00, 0x50, ...block(0, 5, true, ...HELLO)),
      ),
      'hellohello',
      'two frames',
    ],
    [
      frame(0x60, 0, 0, ...block(0, 256, true, ...Array<number>(256).fill(0x62))),
      'b'.repeat(256),
      'size in two bytes, which count from 256',
    ],
  ]
  for (const [packed, plain, why] of good)
    it(`reads ${why}`, () => {
      equal(decompress('zstandard', packed), text(plain))
    })

  // Made by the zstd command 1.5.4 at level 19.
  const PACKED: [packed: string, plain: string, why: string][] = [
    ['28b52ffd2464550000206162636401006dba44d7efc95d', 'abcd'.repeat(25), 'a frame with a checksum'],
    [
      '28b52ffd605201d50400120f1f12a015a43960ff1400de462f2d6d2232ff3ff481dc5273c3ac1d24d78589f54c17' +
        'bb1b348547d91564ea43b55c2fc31c3a8c57dc24f3d412ea562685e3e862a7b9c766095eb159728470b526ea73b7' +
        '90ee709a1d31974c554fe8d27089e6f1e05d33933d618bc8ad30031ded4537dd3ce432764d6610c701030002013b' +
        'a81024be19b01d0310123f88638483d61fd9e9608f6b9a9120a5',
      Array.from({ length: 60 }, (_, i) => `path/${i % 7}/${(i * 37) % 100};`).join(''),
      'a frame with compressed literals',
    ],
  ]
  for (const [packed, plain, why] of PACKED)
    it(`reads ${why}`, () => {
      equal(decompress('zstandard', Buffer.from(packed, 'hex')), text(plain))
    })

  const bad: [packed: Uint8Array, message: RegExp, why: string][] = [
    [new Uint8Array(0), /0 bytes are too few/, 'nothing'],
    [Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), /it is not a zstandard frame/, 'another magic'],
    [zlib.deflateRawSync(sample(100)), /it is not a zstandard frame/, 'a deflate stream'],
    [
      frame(0x20, 200, ...block(0, 5, true, ...HELLO)),
      /it claims to hold 200 bytes/,
      'a size that lies: more',
    ],
    [frame(0x20, 2, ...block(0, 5, true, ...HELLO)), /./, 'a size that lies: less'],
    [
      frame(0xe0, 0, 0, 0, 0, 1, 0, 0, 0, ...block(0, 5, true, ...HELLO)),
      /it claims to hold 4294967296 bytes/,
      'a size of 2^32',
    ],
    [
      frame(0xe0, ...Array<number>(8).fill(0xff), ...block(0, 5, true, ...HELLO)),
      /it claims to hold 18446744073709552000 bytes/,
      'a size of 2^64 - 1',
    ],
    [
      frame(0x00, 0xff, ...block(0, 5, true, ...HELLO)),
      /it asks for too large a window/,
      'a window of terabytes',
    ],
    [frame(0xe0, 5, 0, 0), /its frame header is cut off/, 'a header that is cut off'],
    [frame(0x20, 5, 1), /it is cut off/, 'a block header that is cut off'],
    [frame(0x20, 5, ...block(0, 5, true, ...HELLO.slice(1))), /it is cut off/, 'a block that is cut off'],
    [frame(0x20, 5, ...block(0, 5, false, ...HELLO)), /it is cut off/, 'no last block'],
    [frame(0x24, 5, ...block(0, 5, true, ...HELLO), 1, 2), /it is cut off/, 'half a checksum'],
    [frame(0x20, 5, ...block(3, 5, true, ...HELLO)), /./, 'a block of a reserved type'],
    [
      Uint8Array.of(
        ...frame(0x20, 5, ...block(0, 5, true, ...HELLO)),
        ...frame(0x00, 0xff, ...block(0, 0, true)),
      ),
      /it asks for too large a window/,
      'a second frame with a window of terabytes',
    ],
    [
      Uint8Array.of(...frame(0x20, 5, ...block(0, 5, true, ...HELLO)), 1, 2, 3, 4, 5, 6),
      /it is not a zstandard frame/,
      'garbage after the frame',
    ],
    [
      frame(0x00, 0x50, ...block(1, 2 ** 21 - 1, true, 0x61)),
      /it holds a block of 2097151 bytes/,
      'a run of 2 MB',
    ],
    [
      frame(
        0x00,
        0x50,
        ...Array<number[]>(5000)
          .fill(block(1, 128 * 1024, false, 0))
          .flat(),
        ...block(0, 0, true),
      ),
      /it can hold 655360000 bytes/,
      'B222: a bomb of runs, 128 KB out of four bytes each',
    ],
  ]
  for (const [packed, message, why] of bad)
    it(`refuses ${why}`, () => {
      refusal('zstandard', packed, message)
    })
})
