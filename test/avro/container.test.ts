import { assert } from 'chai'
import { isAvroContainer, openContainer, readHeader } from '../../src/avro/container.ts'
import { isIcebergError, type IcebergError } from '../../src/errors.ts'
import { writeContainer, type ContainerOptions } from '../support/avro-container.ts'
import { ByteWriter } from '../support/byte-writer.ts'
import { bind, decodeFile } from '../support/cursor-rows.ts'
import { thrown } from '../support/rejection.ts'

const SCHEMA = {
  type: 'record',
  name: 'r',
  fields: [
    { name: 'n', type: 'long', 'field-id': 1 },
    { name: 's', type: 'string', 'field-id': 2 },
  ],
}
const RECORDS = [
  { n: 1, s: 'one' },
  { n: -2, s: '' },
  { n: 2n ** 40n, s: 'three' },
]
const BINDINGS = [bind(1, 'n', { kind: 'float64', column: 0 }), bind(2, 's', { kind: 'bytes', column: 0 })]
const SYNC_BYTES = 16

const write = (options: ContainerOptions = {}) =>
  writeContainer(SCHEMA, RECORDS, {}, { codec: 'null', entriesPerBlock: 1, ...options })

/** Offsets at which a file may end: after its header and after each block. */
function boundaries(file: Uint8Array): number[] {
  const { header, blocks } = openContainer(file, 'x')
  const ends = [4 + header.length + SYNC_BYTES]
  for (let i = 0; i < blocks.length; i += 3) ends.push(blocks[i + 1] + blocks[i + 2] + SYNC_BYTES)
  return ends
}

/** A container made by hand: header entries, sync marker, then blocks as they are given. */
function container(header: (out: ByteWriter) => void, ...blocks: ((out: ByteWriter) => void)[]): Uint8Array {
  const out = new ByteWriter()
  out.raw(Uint8Array.of(0x4f, 0x62, 0x6a, 1))
  header(out)
  out.raw(new Uint8Array(SYNC_BYTES).fill(7))
  for (const block of blocks) block(out)
  return out.toBytes()
}

const noEntries = (out: ByteWriter) => {
  out.long(0)
}

function assertCorrupt(error: IcebergError, message: RegExp, byte?: number): void {
  assert.isTrue(isIcebergError(error, 'ERR_CORRUPT_FILE'), String(error))
  assert.match(error.message, message)
  assert.match(error.message, /^Cannot read s3:\/\/b\/m\.avro: /)
  assert.equal(error.location, 's3://b/m.avro')
  if (byte === undefined) assert.isNumber(error.byte)
  else assert.equal(error.byte, byte)
}

const openError = (bytes: Uint8Array) => thrown(() => openContainer(bytes, 's3://b/m.avro'))

describe('openContainer', () => {
  it('frames a file: counts, payloads and header without decompressing anything', () => {
    const file = write()
    const { blocks, count, header } = openContainer(file, 'x')
    assert.equal(count, 3)
    assert.equal(blocks.length, 9)
    assert.deepEqual(
      [0, 3, 6].map((i) => blocks[i]),
      [1, 1, 1],
    )
    assert.equal(Buffer.from(file.subarray(blocks[1], blocks[1] + blocks[2])).toString('hex'), '02066f6e65')
    assert.equal(header[0], file[4])
  })

  it('a file of zero blocks is a valid file of zero records', () => {
    const file = writeContainer(SCHEMA, [], {}, { codec: 'null' })
    const opened = openContainer(file, 'x')
    assert.equal(opened.count, 0)
    assert.deepEqual(opened.blocks, [])
    assert.deepEqual(decodeFile(file, BINDINGS).rows, [])
  })

  it('a block of zero records is allowed', () => {
    const empty = (out: ByteWriter) => {
      out.long(0)
      out.long(0)
      out.raw(new Uint8Array(SYNC_BYTES).fill(7))
    }
    const { blocks, count } = openContainer(container(noEntries, empty, empty), 'x')
    assert.equal(count, 0)
    assert.deepEqual([blocks[0], blocks[2], blocks[3], blocks[5]], [0, 0, 0, 0])
  })

  it('reads a file inside a larger buffer', () => {
    const file = write()
    const larger = new Uint8Array(file.length + 20).fill(0xee)
    larger.set(file, 7)
    const inside = larger.subarray(7, 7 + file.length)
    assert.deepEqual(decodeFile(inside, BINDINGS).rows, decodeFile(file, BINDINGS).rows)
  })

  for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const)
    it(`cut at every byte, ${codec}: valid after the header and after each block, an error with its byte elsewhere`, () => {
      const file = write({ codec })
      const ends = boundaries(file)
      const whole = decodeFile(file, BINDINGS).rows
      assert.equal(ends.at(-1), file.length)
      for (let length = 0; length < file.length; length++) {
        const cut = file.subarray(0, length)
        const kept = ends.indexOf(length)
        if (kept >= 0)
          assert.deepEqual(decodeFile(cut, BINDINGS).rows, whole.slice(0, kept), `cut at ${length}`)
        else assertCorrupt(openError(cut), /./)
      }
    })

  const magics: [bytes: Uint8Array, message: RegExp, why: string][] = [
    [new Uint8Array(0), /not an Avro file, it is empty/, 'nothing'],
    [Uint8Array.of(0x4f, 0x62, 0x6a), /it begins with the bytes 4f626a$/, 'three bytes of the magic'],
    [Uint8Array.of(0x4f, 0x62, 0x6a, 2), /it begins with the bytes 4f626a02$/, 'another version'],
    [Buffer.from('PAR1 and more'), /it begins with the bytes 50415231$/, 'a Parquet file'],
    [new Uint8Array(100), /it begins with the bytes 00000000$/, 'zeros'],
  ]
  for (const [bytes, message, why] of magics)
    it(`refuses ${why}`, () => {
      assert.isFalse(isAvroContainer(bytes))
      assertCorrupt(openError(bytes), message, 0)
    })

  const at = 4 + 1 + SYNC_BYTES
  const frames: [why: string, block: (out: ByteWriter) => void, message: RegExp, byte: number][] = [
    ['a negative count', frame(-1, 0), /the block at byte 21 claims -1 objects in 0 bytes/, at],
    ['a negative length', frame(1, -1), /the block at byte 21 claims 1 objects in -1 bytes/, at],
    ['a length of one byte too many', frame(1, 1), /claims 1 bytes but the file ends at byte 39/, at],
    ['a length of 2^62', frame(1, 2n ** 62n), /claims 4611686018427388000 bytes but the file ends/, at],
    ['the greatest length', frame(1, 2n ** 63n - 1n), /claims 9223372036854776000 bytes/, at],
    ['the least length', frame(1, -(2n ** 63n)), /claims/, at],
    ['the least count', frame(-(2n ** 63n), 2n ** 62n), /claims/, at],
    ['an overlong count', raw(...Array<number>(11).fill(0x80)), /breaks off inside a block at byte 21/, at],
    [
      'an overlong length',
      raw(2, ...Array<number>(11).fill(0x80)),
      /breaks off inside a block at byte 21/,
      at,
    ],
    ['garbage', raw(0xde, 0xad, 0xbe, 0xef), /Cannot read/, at],
    ['one zero byte', raw(0), /breaks off inside a block/, at],
  ]
  for (const [why, block, message, byte] of frames)
    it(`refuses a block with ${why}`, () => {
      assertCorrupt(openError(container(noEntries, block)), message, byte)
    })

  it('refuses garbage after the last block', () => {
    const file = write()
    for (const tail of [[0], [2, 0], [1, 2, 3, 4, 5], Array<number>(40).fill(0)])
      assertCorrupt(openError(Uint8Array.of(...file, ...tail)), /./)
  })

  it('refuses a sync marker with one wrong byte, and names its place', () => {
    const file = write()
    for (const end of boundaries(file).slice(1)) {
      for (let i = 1; i <= SYNC_BYTES; i++) {
        const damaged = file.slice()
        damaged[end - i] ^= 1
        assertCorrupt(openError(damaged), /does not end in the file's sync marker/, end - SYNC_BYTES)
      }
    }
  })

  it('a wrong sync marker in the header is found at the first block', () => {
    const file = write()
    const damaged = file.slice()
    damaged[boundaries(file)[0] - 1] ^= 1
    assertCorrupt(openError(damaged), /does not end in the file's sync marker/)
  })

  it('a count larger than the block is not believed: the error names it, and nothing is allocated for it', () => {
    const file = container(
      (out) => {
        out.long(1)
        out.string('avro.schema')
        out.string(JSON.stringify(SCHEMA))
        out.long(0)
      },
      frame(2 ** 50, 3),
    )
    const error = thrown(() => decodeFile(file, BINDINGS, { location: 's3://b/m.avro' }))
    assertCorrupt(error, /claims 1125899906842624 objects in 3 bytes/)
    assert.equal(error.entry, 0)
  })
})

function frame(count: number | bigint, length: number | bigint): (out: ByteWriter) => void {
  return (out) => {
    out.long(count)
    out.long(length)
    if (length === 3) out.raw(new Uint8Array(3))
    out.raw(new Uint8Array(SYNC_BYTES).fill(7))
  }
}

function raw(...bytes: number[]): (out: ByteWriter) => void {
  return (out) => {
    out.raw(Uint8Array.from(bytes))
  }
}

describe('readHeader', () => {
  const header = (write: (out: ByteWriter) => void) =>
    readHeader(openContainer(container(write), 's3://b/m.avro'))
  const texts = (map: Map<string, Uint8Array>) =>
    [...map].map(([key, value]) => [key, Buffer.from(value).toString()])

  it('gives keys and raw values', () => {
    const map = header((out) => {
      out.long(2)
      out.string('a')
      out.bytes(Uint8Array.of(0xff, 0))
      out.string('ä')
      out.bytes(new Uint8Array(0))
      out.long(0)
    })
    assert.deepEqual([...map.keys()], ['a', 'ä'])
    assert.deepEqual([...map.get('a')!], [0xff, 0])
    assert.equal(map.get('ä')!.length, 0)
  })

  it('B024: several blocks, some with a negative count and a size', () => {
    const map = header((out) => {
      out.long(-2)
      out.long(8)
      for (const name of ['a', 'b']) {
        out.string(name)
        out.string(name)
      }
      out.long(1)
      out.string('c')
      out.string('c')
      out.long(0)
    })
    assert.deepEqual(texts(map), [
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ])
  })

  it('of a repeated key the last value counts', () => {
    const map = header((out) => {
      out.long(2)
      out.string('k')
      out.string('first')
      out.string('k')
      out.string('last')
      out.long(0)
    })
    assert.deepEqual(texts(map), [['k', 'last']])
  })

  it('no entries at all', () => {
    assert.equal(header(noEntries).size, 0)
  })

  const broken: [why: string, write: (out: ByteWriter) => void, message: RegExp][] = [
    [
      'a key longer than the file',
      lengths(2 ** 40),
      /the header at byte 5 claims 1099511627776 bytes but \d+ are left/,
    ],
    ['a negative key length', lengths(-1), /the header at byte 5 claims -1 bytes/],
    ['a value of 2^62 bytes', lengths(0, 2n ** 62n), /the header at byte 6 claims 4611686018427388000 bytes/],
    ['an overlong length', raw(2, ...Array<number>(11).fill(0xff)), /breaks off inside the header at byte 5/],
    ['more entries than bytes', counts(2n ** 62n), /header/],
    ['the least count', counts(-(2n ** 63n)), /header/],
    ['an entry count without end', raw(0x80), /header/],
  ]
  for (const [why, write, message] of broken)
    it(`refuses ${why}`, () => {
      assertCorrupt(openError(container(write)), message)
    })
})

function lengths(...values: (number | bigint)[]): (out: ByteWriter) => void {
  return (out) => {
    out.long(1)
    for (const value of values) out.long(value)
  }
}

function counts(count: bigint): (out: ByteWriter) => void {
  return (out) => {
    out.long(count)
    out.raw(new Uint8Array(30))
  }
}
