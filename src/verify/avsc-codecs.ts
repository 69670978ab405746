/** Decompression for the independent decoder: direct calls to the libraries, nothing shared with `src/avro`. */
import { decompress as zstdDecompress } from 'fzstd'
import { snappyUncompress } from 'hysnappy'
import * as zlib from 'node:zlib'
import { CorruptFileError, UnsupportedFeatureError } from '../errors.ts'

/** No writer makes blocks a tenth of this size; it stops a decompression bomb. */
const MAX_BLOCK_BYTES = 512 * 1024 * 1024

/**
 * The plain bytes of one block (R4.19). Bytes after the end of a deflate stream are ignored: PyIceberg leaves three.
 *
 * @throws {CorruptFileError} when the library refuses the data or the CRC-32 of a snappy block is wrong
 * @throws {UnsupportedFeatureError} for another codec
 */
export function decompressBlock(codec: string, data: Uint8Array, what: string): Uint8Array {
  const decompress = CODECS.get(codec)
  if (decompress === undefined) {
    throw new UnsupportedFeatureError(`Cannot decode ${what}: the Avro codec "${codec}" is not supported`)
  }
  try {
    return decompress(data)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CorruptFileError(`Cannot decode ${what} (${codec}): ${why}`, { cause })
  }
}

const CODECS = new Map<string, (data: Uint8Array) => Uint8Array>([
  ['null', (data) => data],
  ['deflate', (data) => zlib.inflateRawSync(data, { maxOutputLength: MAX_BLOCK_BYTES })],
  ['snappy', unsnap],
  ['zstandard', (data) => zstdDecompress(data)],
])

/** Raw snappy, then the big-endian CRC-32 of the plain bytes. */
function unsnap(data: Uint8Array): Uint8Array {
  const end = data.length - 4
  if (end < 1) throw new Error(`${data.length} bytes are too few for a snappy block and its CRC-32`)
  const compressed = data.subarray(0, end)
  const plain = snappyUncompress(compressed, snappyLength(compressed))
  const stored = new DataView(data.buffer, data.byteOffset + end, 4).getUint32(0)
  const actual = zlib.crc32(plain)
  if (stored !== actual) {
    throw new Error(`the CRC-32 of the plain bytes is ${hex(actual)}, the block says ${hex(stored)}`)
  }
  return plain
}

/** A raw snappy block opens with the length of the plain bytes, a base-128 varint of at most 32 bits. */
function snappyLength(data: Uint8Array): number {
  let length = 0
  for (let i = 0, scale = 1; i < 5 && i < data.length; i++, scale *= 128) {
    length += (data[i] & 0x7f) * scale
    if (data[i] < 0x80) {
      if (length <= MAX_BLOCK_BYTES) return length
      throw new Error(`${length} plain bytes are more than ${MAX_BLOCK_BYTES}`)
    }
  }
  throw new Error('the length of the snappy block does not end')
}

function hex(n: number): string {
  return `0x${n.toString(16).padStart(8, '0')}`
}
