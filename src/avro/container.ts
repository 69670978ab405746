/**
 * The Avro object container: header, then blocks, each framed by a count, a length and the file's sync marker.
 *
 *     "Obj" 01 | metadata: map<bytes> | sync marker, 16 bytes
 *     ( count | byte length | bytes | sync marker ) *
 *
 * {@link openContainer} walks the frames without decompressing anything: the total of the counts is known before
 * the first entry is decoded, every sync marker is checked, and a file that ends early is found here.
 */
import { CorruptFileError } from '../errors.ts'
import { readVarint, VARINT } from './varint.ts'

const SYNC_BYTES = 16
const MAGIC_BYTES = 4

/** One container in memory; positions are byte offsets into `bytes`. */
export interface AvroContainer {
  readonly bytes: Uint8Array
  readonly location: string
  /** The raw metadata map, from after the magic to the sync marker: the key of header caches. */
  readonly header: Uint8Array
  /** Per block: count of objects, offset of the payload, length of the payload. */
  readonly blocks: readonly number[]
  /** Sum of the block counts, as the file claims. */
  readonly count: number
}

/** True when the bytes begin with the magic of an Avro container. */
export function isAvroContainer(bytes: Uint8Array): boolean {
  return bytes[0] === 0x4f && bytes[1] === 0x62 && bytes[2] === 0x6a && bytes[3] === 1
}

/**
 * Frames a container.
 *
 * @throws CorruptFileError naming the file and the byte when the frames do not add up
 */
export function openContainer(bytes: Uint8Array, location: string): AvroContainer {
  if (!isAvroContainer(bytes)) {
    const found = Buffer.from(bytes.subarray(0, MAGIC_BYTES)).toString('hex')
    const what = bytes.length === 0 ? 'it is empty' : `it begins with the bytes ${found}`
    throw new CorruptFileError(`Cannot read ${location}: not an Avro file, ${what}`, { location, byte: 0 })
  }
  const headerEnd = walkHeader(bytes, location, undefined)
  const sync = headerEnd
  if (sync + SYNC_BYTES > bytes.length) throw truncated(location, bytes.length, 'inside the header')
  const blocks: number[] = []
  let count = 0
  let at = sync + SYNC_BYTES
  while (at < bytes.length) {
    const frame = at
    if (!readVarint(bytes, at, bytes.length)) throw truncated(location, frame, 'inside a block')
    const objects = VARINT.value
    if (!readVarint(bytes, VARINT.next, bytes.length)) throw truncated(location, frame, 'inside a block')
    const length = VARINT.value
    const start = VARINT.next
    if (objects < 0 || length < 0) {
      throw new CorruptFileError(
        `Cannot read ${location}: the block at byte ${frame} claims ${objects} objects in ${length} bytes`,
        { location, byte: frame },
      )
    }
    if (start + length + SYNC_BYTES > bytes.length) {
      throw new CorruptFileError(
        `Cannot read ${location}: the block at byte ${frame} claims ${length} bytes but the file ends at byte ${bytes.length}`,
        { location, byte: frame },
      )
    }
    at = start + length
    for (let i = 0; i < SYNC_BYTES; i++) {
      if (bytes[at + i] !== bytes[sync + i]) {
        throw new CorruptFileError(
          `Cannot read ${location}: the block at byte ${frame} does not end in the file's sync marker`,
          { location, byte: at },
        )
      }
    }
    at += SYNC_BYTES
    blocks.push(objects, start, length)
    count += objects
  }
  return { bytes, location, header: bytes.subarray(MAGIC_BYTES, headerEnd), blocks, count }
}

/** The metadata map of a container, values as raw bytes. A repeated key keeps its last value. */
export function readHeader(container: AvroContainer): Map<string, Uint8Array> {
  const entries = new Map<string, Uint8Array>()
  walkHeader(container.bytes, container.location, entries)
  return entries
}

function walkHeader(bytes: Uint8Array, location: string, into: Map<string, Uint8Array> | undefined): number {
  let at = MAGIC_BYTES
  for (;;) {
    if (!readVarint(bytes, at, bytes.length)) throw truncated(location, at, 'inside the header')
    let remaining = VARINT.value
    at = VARINT.next
    if (remaining === 0) return at
    if (remaining < 0) {
      // A negative count is followed by the byte size of the block, which a reader of every entry can ignore.
      remaining = -remaining
      if (!readVarint(bytes, at, bytes.length)) throw truncated(location, at, 'inside the header')
      at = VARINT.next
    }
    for (; remaining > 0; remaining--) {
      const keyStart = sized(bytes, at, location)
      const keyEnd = keyStart + VARINT.value
      const valueStart = sized(bytes, keyEnd, location)
      const valueEnd = valueStart + VARINT.value
      into?.set(text(bytes, keyStart, keyEnd), bytes.subarray(valueStart, valueEnd))
      at = valueEnd
    }
  }
}

/** Reads a length and checks that so many bytes follow; gives where they start and leaves the length in VARINT. */
function sized(bytes: Uint8Array, at: number, location: string): number {
  if (!readVarint(bytes, at, bytes.length)) throw truncated(location, at, 'inside the header')
  const length = VARINT.value
  const start = VARINT.next
  if (length < 0 || start + length > bytes.length) {
    throw new CorruptFileError(
      `Cannot read ${location}: the header at byte ${at} claims ${length} bytes but ${bytes.length - start} are left`,
      { location, byte: at },
    )
  }
  return start
}

function text(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}

function truncated(location: string, byte: number, where: string): CorruptFileError {
  return new CorruptFileError(`Cannot read ${location}: it ends or breaks off ${where} at byte ${byte}`, {
    location,
    byte,
  })
}
