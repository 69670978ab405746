/**
 * The bytes of a metadata file to its text: plain, gzip or zstandard, told apart by the first bytes and not by the
 * name (format-reference 1.6), UTF-8 with or without a byte order mark.
 */
import zlib from 'node:zlib'
import { Decompress } from 'fzstd'
import { InvalidMetadataError } from '../errors.ts'

/** Most bytes of metadata JSON that are read, decompressed (B175): V8 holds no longer string. */
export const MAX_METADATA_BYTES = 512 * 1024 * 1024 - 32

/** Absent from Node 20 and its types. */
type ZstdDecompress = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array
const { zstdDecompressSync } = zlib as { zstdDecompressSync?: ZstdDecompress }

/** @throws InvalidMetadataError, its message without the file's name, if the bytes are damaged, longer than {@link MAX_METADATA_BYTES}, or not UTF-8. */
export function decodeMetadataBytes(bytes: Uint8Array): string {
  const plain = decompress(bytes)
  if (plain.byteLength > MAX_METADATA_BYTES) throw tooLong()
  try {
    // The decoder drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(plain)
  } catch (cause) {
    throw new InvalidMetadataError('it is not UTF-8 text', { cause })
  }
}

function decompress(bytes: Uint8Array): Uint8Array {
  const isGzip = startsWith(bytes, [0x1f, 0x8b])
  if (!isGzip && !startsWith(bytes, [0x28, 0xb5, 0x2f, 0xfd])) return bytes
  try {
    if (isGzip) return zlib.gunzipSync(bytes, { maxOutputLength: MAX_METADATA_BYTES })
    return zstdDecompressSync?.(bytes, { maxOutputLength: MAX_METADATA_BYTES }) ?? decompressZstd(bytes)
  } catch (cause) {
    if (cause instanceof InvalidMetadataError) throw cause
    if ((cause as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong()
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidMetadataError(`it cannot be decompressed as ${isGzip ? 'gzip' : 'zstandard'}: ${why}`, {
      cause,
    })
  }
}

/** By hand and in chunks, so that a small file that claims to be huge is stopped before it is. */
function decompressZstd(bytes: Uint8Array): Uint8Array {
  const chunks: Uint8Array[] = []
  let total = 0
  let finished = false as boolean
  const stream = new Decompress((chunk, isLast) => {
    total += chunk.byteLength
    if (total > MAX_METADATA_BYTES) throw tooLong()
    chunks.push(chunk)
    finished = isLast ?? false
  })
  stream.push(bytes, true)
  if (!finished) throw new InvalidMetadataError('it cannot be decompressed as zstandard: it ends early')
  return Buffer.concat(chunks)
}

function tooLong(): InvalidMetadataError {
  return new InvalidMetadataError(`it is longer than ${MAX_METADATA_BYTES} bytes`)
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte)
}
