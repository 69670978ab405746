/**
 * Avro object container files for tests: header, blocks and codecs under full control, and the same bytes every
 * time. Compression is done by zlib for deflate; snappy and zstandard frames are written by hand from literals and
 * raw blocks, which every decompressor must read.
 */
import { constants, crc32, deflateSync } from 'node:zlib'
import { type AvroSchema, type BlockLayout, compileEncoder } from './avro-encoder.ts'
import { ByteWriter } from './byte-writer.ts'

export type Codec = 'null' | 'deflate' | 'snappy' | 'zstandard'

export interface ContainerOptions {
  /** Default `deflate`, as Java writes. */
  codec?: Codec
  /** What the header says instead of `codec`; null: no `avro.codec` key. */
  codecName?: string | null
  /** 0 to 9; default 9, as Java writes. */
  deflateLevel?: number
  /** Stray bytes after each deflate stream: 0 to 4; PyIceberg leaves 3 of the zlib checksum. */
  deflateTrailing?: number
  /** Leave the content size out of zstandard frames, as streaming compressors do. */
  zstandardWithoutSize?: boolean
  /** Records per block; default: as many as reach `blockBytes`. PyIceberg writes 1. */
  entriesPerBlock?: number
  /** Uncompressed size in bytes at which a block is closed; default 64,000, as Java does. */
  blockBytes?: number
  /** 16 bytes. */
  syncMarker?: Uint8Array
  /** Layout of arrays and maps inside records. */
  layout?: BlockLayout
  /** Layout of the header's own map. */
  headerLayout?: BlockLayout
}

/** Header keys to text or bytes; null or undefined: the key is absent. */
export type HeaderMetadata = Record<string, string | Uint8Array | null | undefined>

const MAGIC = Uint8Array.of(0x4f, 0x62, 0x6a, 1)
const SYNC = Uint8Array.from({ length: 16 }, (_, i) => 0xa0 + i)
const JAVA_BLOCK_BYTES = 64_000

const encodeHeader = (layout: BlockLayout | undefined) =>
  compileEncoder({ type: 'map', values: 'bytes' }, layout)

/** A whole container file. The schema is written as given, unknown attributes included. */
export function writeContainer(
  schema: AvroSchema,
  records: Iterable<unknown>,
  metadata: HeaderMetadata = {},
  options: ContainerOptions = {},
): Uint8Array {
  const out = new ByteWriter(8192)
  const sync = options.syncMarker ?? SYNC
  out.raw(MAGIC)
  encodeHeader(options.headerLayout)(out, headerMap(schema, metadata, options))
  out.raw(sync)

  const encode = compileEncoder(schema, options.layout)
  const body = new ByteWriter(options.entriesPerBlock === 1 ? 1024 : 128 * 1024)
  const {
    entriesPerBlock = Infinity,
    blockBytes = options.entriesPerBlock === undefined ? JAVA_BLOCK_BYTES : Infinity,
  } = options
  let count = 0
  const flush = () => {
    const payload = compress(body.view(), options)
    out.long(count)
    out.long(payload.length)
    out.raw(payload)
    out.raw(sync)
    body.clear()
    count = 0
  }
  for (const record of records) {
    encode(body, record)
    count++
    if (count >= entriesPerBlock || body.length >= blockBytes) flush()
  }
  if (count > 0) flush()
  return out.toBytes()
}

function headerMap(
  schema: AvroSchema,
  metadata: HeaderMetadata,
  options: ContainerOptions,
): Map<string, Uint8Array> {
  const codecName = options.codecName === undefined ? (options.codec ?? 'deflate') : options.codecName
  const all: HeaderMetadata = { 'avro.schema': JSON.stringify(schema), 'avro.codec': codecName, ...metadata }
  const map = new Map<string, Uint8Array>()
  for (const [key, value] of Object.entries(all)) {
    if (value == null) continue
    map.set(key, typeof value === 'string' ? Buffer.from(value) : value)
  }
  return map
}

function compress(bytes: Uint8Array, options: ContainerOptions): Uint8Array {
  switch (options.codec ?? 'deflate') {
    case 'null':
      return bytes
    case 'deflate':
      return deflate(
        bytes,
        options.deflateLevel ?? constants.Z_BEST_COMPRESSION,
        options.deflateTrailing ?? 0,
      )
    case 'snappy':
      return snappy(bytes)
    case 'zstandard':
      return zstandard(bytes, options.zstandardWithoutSize === true)
  }
}

/** A zlib stream without its two bytes of header and all but `trailing` of its four bytes of checksum. */
function deflate(bytes: Uint8Array, level: number, trailing: number): Uint8Array {
  const stream = deflateSync(bytes, { level })
  return stream.subarray(2, stream.length - 4 + trailing)
}

const SNAPPY_LITERAL_MAX = 65_536

function snappy(bytes: Uint8Array): Uint8Array {
  const out = new ByteWriter(bytes.length + 64)
  let size = bytes.length
  for (; size > 127; size >>>= 7) out.byte((size & 127) | 128)
  out.byte(size)
  for (let at = 0; at < bytes.length; at += SNAPPY_LITERAL_MAX) {
    const literal = bytes.subarray(at, at + SNAPPY_LITERAL_MAX)
    // Tag 61 << 2: a literal whose length minus one follows in two bytes, little-endian.
    out.byte(61 << 2)
    out.byte((literal.length - 1) & 255)
    out.byte((literal.length - 1) >>> 8)
    out.raw(literal)
  }
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(bytes))
  out.raw(checksum)
  return out.toBytes()
}

const ZSTD_BLOCK_MAX = 128 * 1024

function zstandard(bytes: Uint8Array, withoutSize: boolean): Uint8Array {
  const out = new ByteWriter(bytes.length + 64)
  out.raw(Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd))
  if (withoutSize) {
    // No flags; then the window: 2^(10 + 10) bytes.
    out.raw(Uint8Array.of(0x00, 10 << 3))
  } else {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(bytes.length)
    // Single segment, content size in four bytes.
    out.byte(0xa0)
    out.raw(size)
  }
  let at = 0
  do {
    const block = bytes.subarray(at, at + ZSTD_BLOCK_MAX)
    at += block.length
    const header = (block.length << 3) | (at >= bytes.length ? 1 : 0)
    out.raw(Uint8Array.of(header & 255, (header >>> 8) & 255, header >>> 16))
    out.raw(block)
  } while (at < bytes.length)
  return out.toBytes()
}
