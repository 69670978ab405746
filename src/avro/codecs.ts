/**
 * Avro block codecs: null, deflate, snappy and zstandard, decompressed synchronously where the decoding happens.
 *
 * Output goes to one scratch buffer per thread and codec, reused from block to block: fresh memory costs more than
 * inflating small blocks. It is valid until the next call.
 *
 * Deflate has two ways to the same bytes. Node's synchronous API builds and closes a stream per call, which is 40 to
 * 90 % on top of inflating (much more for files with one entry a block). So the handle of one `InflateRaw` stream is
 * kept and driven directly. That handle is not a public interface; it is used only if a self-test of this very
 * process passes, and {@link inflateWithPublicApi} takes its place otherwise.
 */
import zlib from 'node:zlib'
import { decompress as fzstdDecompress } from 'fzstd'
import { snappyUncompressor } from 'hysnappy'
import { CorruptFileError, UnsupportedFeatureError } from '../errors.ts'

export type CodecName = 'null' | 'deflate' | 'snappy' | 'zstandard'

/** A decompressed block: `bytes[start..end)`; `view` covers all of `bytes`. */
export interface BlockBytes {
  bytes: Uint8Array
  view: DataView
  start: number
  end: number
}

/** No block may inflate to more: writers aim at 64 KB a block, and the largest seen is a few megabytes. */
export const MAX_BLOCK_BYTES = 256 * 1024 * 1024
/** A deflate stream cannot expand more than this (RFC 1951: 258 bytes from two bits). */
const MAX_DEFLATE_RATIO = 1032
const FIRST_SCRATCH_BYTES = 128 * 1024
/** A scratch buffer that one odd block made larger than this is given back. */
const KEPT_SCRATCH_BYTES = 64 * 1024 * 1024

/** The codec a header names; a missing `avro.codec` is `null`. */
export function parseCodec(header: Uint8Array | undefined, location: string): CodecName {
  const name = header === undefined ? 'null' : Buffer.from(header).toString('utf8')
  switch (name) {
    case 'null':
    case 'deflate':
    case 'snappy':
    case 'zstandard':
      return name
    default:
      throw new UnsupportedFeatureError(
        `Cannot read ${location}: Avro codec ${JSON.stringify(name)} is not supported (null, deflate, snappy and zstandard are)`,
        { location },
      )
  }
}

/**
 * Decompresses one block.
 *
 * @param codec of the file
 * @param file the whole file
 * @param start offset of the payload in the file
 * @param length of the payload in bytes
 * @param out where the result is put; its `bytes` are reused by the next call
 * @throws CorruptFileError naming the file and the byte of the block
 */
export function decompressBlock(
  codec: CodecName,
  file: Uint8Array,
  start: number,
  length: number,
  location: string,
  out: BlockBytes,
): void {
  try {
    switch (codec) {
      case 'null':
        if (out.bytes !== file) {
          out.bytes = file
          out.view = new DataView(file.buffer, file.byteOffset, file.byteLength)
        }
        out.start = start
        out.end = start + length
        return
      case 'deflate':
        inflate(file, start, length, out)
        return
      case 'snappy':
        whole(unsnappy(file.subarray(start, start + length)), out)
        return
      case 'zstandard':
        whole(unzstd(file.subarray(start, start + length)), out)
        return
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CorruptFileError(
      `Cannot read ${location}: the ${codec} block at byte ${start} does not decompress (${why})`,
      { location, byte: start, cause },
    )
  }
}

function whole(bytes: Uint8Array, out: BlockBytes): void {
  out.bytes = bytes
  out.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  out.start = 0
  out.end = bytes.length
}

// --- deflate ---

interface ZlibHandle {
  onerror: (message: string, errno: number, code: string) => void
  reset(): void
  writeSync(
    flush: number,
    input: Uint8Array,
    inputStart: number,
    inputLength: number,
    output: Uint8Array,
    outputStart: number,
    outputLength: number,
  ): void
}

class Inflater {
  readonly #handle: ZlibHandle
  /** After a write: bytes of output space left, bytes of input left. */
  readonly #state: Uint32Array
  #error: string | undefined
  #scratch = Buffer.allocUnsafeSlow(FIRST_SCRATCH_BYTES)
  #view = new DataView(this.#scratch.buffer)

  constructor() {
    const stream = zlib.createInflateRaw() as unknown as { _handle: ZlibHandle; _writeState: Uint32Array }
    this.#handle = stream._handle
    this.#state = stream._writeState
    if (!(this.#state instanceof Uint32Array) || typeof this.#handle.writeSync !== 'function')
      throw new Error('this Node.js keeps its zlib handle elsewhere')
    this.#handle.onerror = (message) => {
      this.#error = message
    }
  }

  inflate(file: Uint8Array, start: number, length: number, out: BlockBytes): void {
    const handle = this.#handle
    const state = this.#state
    if (this.#scratch.length > KEPT_SCRATCH_BYTES)
      this.#useScratch(Buffer.allocUnsafeSlow(FIRST_SCRATCH_BYTES))
    handle.reset()
    let from = start
    let left = length
    let filled = 0
    for (;;) {
      const before = left
      const room = this.#scratch.length - filled
      handle.writeSync(zlib.constants.Z_FINISH, file, from, left, this.#scratch, filled, room)
      // A full output buffer is not reported; after an error the state is that of an earlier write.
      const error = this.#takeError()
      if (error !== undefined) throw new Error(error)
      const roomLeft = state[0]
      left = state[1]!
      from = start + (length - left)
      filled = this.#scratch.length - roomLeft
      if (roomLeft > 0) break
      if (left === 0 && before === 0) break
      this.#grow(filled, length)
    }
    out.bytes = this.#scratch
    out.view = this.#view
    out.start = 0
    out.end = filled
  }

  /** What the handle reported during the last write. */
  #takeError(): string | undefined {
    const error = this.#error
    this.#error = undefined
    return error
  }

  #grow(filled: number, inputLength: number): void {
    const most = Math.min(MAX_BLOCK_BYTES, inputLength * MAX_DEFLATE_RATIO + 64)
    if (filled >= most) throw new Error(`it inflates to more than ${most} bytes`)
    const next = Buffer.allocUnsafeSlow(Math.min(most + 1, filled * 2))
    next.set(this.#scratch.subarray(0, filled))
    this.#useScratch(next)
  }

  #useScratch(scratch: Buffer<ArrayBuffer>): void {
    this.#scratch = scratch
    this.#view = new DataView(scratch.buffer)
  }
}

/** Inflates with the documented API: the same bytes, 1.0 to 1.7 times the time. */
export function inflateWithPublicApi(file: Uint8Array, start: number, length: number): Uint8Array {
  // Writers compress manifests 2 to 4 times; a chunk near the true size saves copies, a huge one costs page faults.
  const chunkSize = Math.min(128 * 1024, Math.max(1024, 4 * length))
  return zlib.inflateRawSync(file.subarray(start, start + length), {
    chunkSize,
    maxOutputLength: MAX_BLOCK_BYTES,
  })
}

let inflater: Inflater | 'unusable' | undefined

function inflate(file: Uint8Array, start: number, length: number, out: BlockBytes): void {
  inflater ??= usableInflater() ?? 'unusable'
  if (inflater === 'unusable') whole(inflateWithPublicApi(file, start, length), out)
  else inflater.inflate(file, start, length, out)
}

/** An inflater whose answers were compared with the documented API, on good, long, broken and cut input. */
function usableInflater(): Inflater | undefined {
  try {
    const candidate = new Inflater()
    const out: BlockBytes = emptyBlock()
    const long = new Uint8Array(3 * FIRST_SCRATCH_BYTES)
    for (let i = 0; i < long.length; i += 97) long[i] = i
    for (const plain of [new Uint8Array(0), Uint8Array.of(1, 2, 3), long, Uint8Array.of(4)]) {
      const packed = zlib.deflateRawSync(plain, { level: 1 })
      candidate.inflate(packed, 0, packed.length, out)
      if (Buffer.compare(out.bytes.subarray(out.start, out.end), plain) !== 0) return undefined
    }
    const cut = zlib.deflateRawSync(long.subarray(0, 5000)).subarray(0, 20)
    for (const broken of [cut, Uint8Array.of(0xff, 0xff, 0xff)]) {
      try {
        candidate.inflate(broken, 0, broken.length, out)
        return undefined
      } catch {
        // as it must
      }
    }
    return candidate
  } catch {
    return undefined
  }
}

/** A {@link BlockBytes} to hand to {@link decompressBlock}. */
export function emptyBlock(): BlockBytes {
  const bytes = new Uint8Array(0)
  return { bytes, view: new DataView(bytes.buffer), start: 0, end: 0 }
}

// --- snappy ---

const SNAPPY_CRC_BYTES = 4
/** A snappy copy of three bytes yields at most 64. */
const MAX_SNAPPY_RATIO = 32
let snappy: ReturnType<typeof snappyUncompressor> | undefined

/** A raw snappy block followed by the big-endian CRC-32 of the uncompressed data. */
function unsnappy(block: Uint8Array): Uint8Array {
  if (block.length < SNAPPY_CRC_BYTES + 1) throw new Error(`${block.length} bytes are too few`)
  const body = block.subarray(0, block.length - SNAPPY_CRC_BYTES)
  let length = 0
  let scale = 1
  for (let i = 0; ; i++) {
    if (i === 5 || i === body.length) throw new Error('its length prefix is broken')
    const byte = body[i]
    length += (byte & 127) * scale
    if (byte < 128) break
    scale *= 128
  }
  if (length > Math.min(MAX_BLOCK_BYTES, body.length * MAX_SNAPPY_RATIO))
    throw new Error(`it claims to hold ${length} bytes`)
  snappy ??= snappyUncompressor()
  const plain = snappy(body, length)
  const tail = new DataView(block.buffer, block.byteOffset + body.length, SNAPPY_CRC_BYTES)
  if (zlib.crc32(plain) !== tail.getUint32(0)) throw new Error('its checksum does not match')
  return plain
}

// --- zstandard ---

const zstdSync = (
  zlib as unknown as {
    zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array
  }
).zstdDecompressSync

const MAX_ZSTD_BLOCK_BYTES = 128 * 1024

/** Node's own zstd from 22.15 on, a JavaScript one before. */
function unzstd(block: Uint8Array): Uint8Array {
  checkZstdFrames(block)
  if (zstdSync !== undefined) return zstdSync(block, { maxOutputLength: MAX_BLOCK_BYTES })
  return fzstdDecompress(block)
}

/**
 * Refuses frames that claim, or whose blocks can hold, more than a block may have, before a decoder allocates it:
 * four bytes of a run-length block become 128 KB.
 */
function checkZstdFrames(block: Uint8Array): void {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength)
  let total = 0
  let at = 0
  do {
    const header = zstdFrameHeader(block, view, at)
    at = header.end
    let most = 0
    for (let last = false; !last;) {
      if (at + 3 > block.length) throw new Error('it is cut off')
      const word = block[at] | (block[at + 1] << 8) | (block[at + 2] << 16)
      const size = word >>> 3
      const type = (word >>> 1) & 3
      if (size > MAX_ZSTD_BLOCK_BYTES) throw new Error(`it holds a block of ${size} bytes`)
      last = (word & 1) === 1
      most += type === ZSTD_COMPRESSED ? MAX_ZSTD_BLOCK_BYTES : size
      at += 3 + (type === ZSTD_RUN ? 1 : size)
    }
    at += header.checksumBytes
    if (at > block.length) throw new Error('it is cut off')
    if (header.size > most) throw new Error(`it claims to hold ${header.size} bytes`)
    total += most
    if (total > MAX_BLOCK_BYTES) throw new Error(`it can hold ${total} bytes`)
  } while (at < block.length)
}

/** Types of a zstandard block; the others are stored bytes and an error. */
const ZSTD_RUN = 1
const ZSTD_COMPRESSED = 2

/** Content size (0 when not stated), size of the checksum, and where the first block begins. */
function zstdFrameHeader(
  block: Uint8Array,
  view: DataView,
  start: number,
): { size: number; checksumBytes: number; end: number } {
  if (start + 6 > block.length) throw new Error(`${block.length - start} bytes are too few`)
  if (view.getUint32(start, true) !== 0xfd2fb528) throw new Error('it is not a zstandard frame')
  const descriptor = block[start + 4]
  const single = (descriptor & 0x20) !== 0
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]
  let at = start + 5
  if (!single) {
    const window = block[at++]
    const base = 2 ** (10 + (window >> 3))
    if (base + (base / 8) * (window & 7) > MAX_BLOCK_BYTES) throw new Error('it asks for too large a window')
  }
  at += dictionaryBytes
  if (at + sizeBytes > block.length) throw new Error('its frame header is cut off')
  let size = 0
  for (let i = sizeBytes - 1; i >= 0; i--) size = size * 256 + block[at + i]
  if (sizeBytes === 2) size += 256
  return { size, checksumBytes: (descriptor & 4) === 0 ? 0 : 4, end: at + sizeBytes }
}
