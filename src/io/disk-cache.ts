/**
 * Bytes of files that never change, kept in a folder for other processes and for later ones.
 *
 * A file is kept as `<hash>.iceplan`, by the SHA-256 of its key, which is all that says which bytes are meant: the store's identity, the
 * location, and the length that metadata claims. The key stands in the file too, so that nothing depends on the hash:
 *
 * | offset | bytes | what                                                |
 * | ------ | ----- | --------------------------------------------------- |
 * | 0      | 8     | `iceplan` and the version of this layout, a byte    |
 * | 8      | 4     | CRC-32 of the body                                  |
 * | 12     | 4     | length of the key; numbers are little-endian        |
 * | 16     | 8     | length of the body                                  |
 * | 24     | k     | the key, UTF-8                                      |
 * | 24 + k | rest  | the body                                            |
 *
 * A file is written under a name of its own and renamed, so a reader sees all of it or nothing, whoever else writes; one
 * that is not exactly as above was damaged, and is removed. Nothing is synced: what a crash leaves half written fails its
 * checksum. CRC-32 because it finds damage, costs 6 microseconds per 5 KB and 5 ms per 8 MB (SHA-256: 15 and 7, and
 * several times that on processors without instructions for it), and because no checksum helps against somebody who may
 * write to the folder. That is what its mode is for.
 *
 * The cache is never in the way: what goes wrong with the folder is said once, and then there is no cache.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readdir,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  type Stats,
  unlinkSync,
  utimesSync,
  write,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { InvalidArgumentError } from '../errors.ts'
import { SMALL_FILE_BYTES } from './local-file-io.ts'

export interface DiskCacheOptions {
  /** Budget for all files in the folder, by whatever process; default {@link DEFAULT_MAX_DISK_BYTES}. */
  maxBytes?: number | undefined
}

export const DEFAULT_MAX_DISK_BYTES = 1024 * 1024 * 1024

/** Which bytes are meant. */
export interface DiskCacheKey {
  /** Of the FileIO; it must mean the same in every process. */
  readonly identity: string
  readonly location: string
  /** As the metadata claims it; a file kept under another length is another file. */
  readonly length: number | undefined
}

const MAGIC = Buffer.from('iceplan\x01', 'latin1')
const CHECKSUM_AT = 8
const FIXED_BYTES = 24

/** Names in the folder that are ours, by their suffix; others are left alone, bare hashes too. */
const SUFFIX = '.iceplan'
const KEPT_NAME = /^[0-9a-f]{64}\.iceplan$/
const TEMPORARY_NAME = /^[0-9a-f]{64}\.iceplan\.\d+-\d+\.tmp$/
/**
 * The volume that all processes have written since the folder was last pruned: a byte per so many bytes. Appending is
 * atomic, so the bytes of several processes add up.
 */
const JOURNAL_NAME = 'written.iceplan'
const JOURNAL_UNIT = 64 * 1024
/** The folder is pruned when this share of the budget has been written, */
const WRITTEN_SHARE = 1 / 16
/** to this share of it: so that it stays within the budget until it is pruned again. */
const PRUNED_SHARE = 7 / 8
/** What a file takes on most disks is a multiple of this. */
const DISK_BLOCK = 4096
/** The time of use is noted when the last note is older: a day's order does not need every read. */
const TOUCH_AFTER_MS = 60 * 1000
/** A temporary file that is older belongs to nobody any more. */
const STALE_AFTER_MS = 60 * 60 * 1000
/** Big files are read and written in steps of this size; the checksum of one holds this thread up for 5 ms. */
const STEP_BYTES = 8 * 1024 * 1024
/** Pruning lets the event loop turn as often. */
const SLICE_MS = 5

// Windows has neither flag. A link must not lead out of the folder, and a FIFO must not be waited for.
const NO_FOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0
const NON_BLOCKING = (constants.O_NONBLOCK as number | undefined) ?? 0
const READ_FLAGS = constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING
const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW
const APPEND_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | NO_FOLLOW | NON_BLOCKING

/** Of this process, or of the moment: nothing is wrong with the file. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'])

const readAsync = promisify(read)
const writeAsync = promisify(write)
const readdirAsync = promisify(readdir)

let temporaryFiles = 0

export class DiskCache {
  readonly maxBytes: number
  /** Absolute. */
  #folder: string
  #isReadable = true
  #isWritable = true
  /** Sentences that nobody has taken yet. */
  #troubles: string[] = []
  /** Bytes that may be written before the journal has to be told. */
  #credit = 0
  #pruning: Promise<void> | undefined
  /** What was written since pruning began is to be looked at too. */
  #isPruningDue = false

  /**
   * Makes the folder, mode 0700, if it is not there. A folder that cannot be made is a trouble, not an error.
   *
   * @throws InvalidArgumentError for a budget that is none, and for a folder that others may write to (not on Windows)
   */
  constructor(folder: string, { maxBytes = DEFAULT_MAX_DISK_BYTES }: DiskCacheOptions = {}) {
    if (folder === '') throw new InvalidArgumentError('Cannot keep files in "": it names no folder')
    if (!(maxBytes >= 0))
      throw new InvalidArgumentError(
        `Cannot keep ${String(maxBytes)} bytes in ${folder}: the most must be 0 or more`,
      )
    this.maxBytes = maxBytes
    this.#folder = resolve(folder)
    try {
      this.#folder = preparedFolder(this.#folder)
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw error
      this.#stopReading(error)
      this.#isWritable = false
    }
  }

  /** What went wrong since this was last asked, a sentence each: at most one about reading and one about writing. */
  takeTroubles(): string[] {
    return this.#troubles.splice(0)
  }

  /** The bytes kept under a key; the caller's own. Small files are read in this very turn. Never rejects. */
  async read(key: DiskCacheKey): Promise<Uint8Array | undefined> {
    if (!this.#isReadable) return undefined
    const keyBytes = bytesOf(key)
    const path = this.#pathOf(keyBytes)
    let stats: Stats | undefined
    try {
      // Asking first: an error thrown costs three times as much, and in a new folder every read would throw one.
      stats = lstatSync(path, { throwIfNoEntry: false })
    } catch (error) {
      this.#stopReading(error)
    }
    if (stats === undefined) return undefined
    try {
      const body = stats.isFile() ? await readKept(path, keyBytes, stats.size) : undefined
      if (body === undefined) removeQuietly(path)
      else if (Date.now() - stats.mtimeMs > TOUCH_AFTER_MS) touchQuietly(path)
      return body
    } catch (error) {
      if (!PASSING.has(codeOf(error))) removeQuietly(path)
      return undefined
    }
  }

  /** Keeps bytes, which must not change before the promise settles; small ones are written in this very turn. Never rejects. */
  async write(key: DiskCacheKey, body: Uint8Array): Promise<void> {
    const keyBytes = bytesOf(key)
    const size = diskSize(FIXED_BYTES + keyBytes.length + body.length)
    if (!this.#isWritable || size > this.maxBytes) return
    try {
      try {
        await this.#write(keyBytes, body)
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error
        // Somebody removed the folder.
        this.#folder = preparedFolder(this.#folder)
        await this.#write(keyBytes, body)
      }
      if (this.#isTimeToPrune(size)) this.#beginPruning()
    } catch (error) {
      if (!PASSING.has(codeOf(error))) this.#stopWriting(error)
    }
  }

  /** When pruning that has begun is over. */
  async settled(): Promise<void> {
    await this.#pruning
  }

  async #write(key: Uint8Array, body: Uint8Array): Promise<void> {
    const path = this.#pathOf(key)
    const temporary = `${path}.${process.pid}-${++temporaryFiles}.tmp`
    const fd = openSync(temporary, WRITE_FLAGS, 0o600)
    try {
      try {
        const checksum = await checksumOf(body)
        writeWhole(fd, headerOf(key, body.length, checksum))
        await writeBody(fd, body)
      } finally {
        closeSync(fd)
      }
      renameSync(temporary, path)
    } catch (error) {
      removeQuietly(temporary)
      // Windows does not replace a file that somebody reads: it is there, then.
      if (process.platform === 'win32' && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
        return
      throw error
    }
  }

  /** Counts what this process has written together with what others have; true about once per sixteenth of the budget. */
  #isTimeToPrune(size: number): boolean {
    this.#credit -= size
    if (this.#credit >= 0) return false
    // In advance, so that processes which write little are counted too, and the journal is not written to every time.
    const units = Math.ceil(-this.#credit / JOURNAL_UNIT)
    this.#credit += units * JOURNAL_UNIT
    const fd = openSync(join(this.#folder, JOURNAL_NAME), APPEND_FLAGS, 0o600)
    try {
      writeWhole(fd, Buffer.alloc(units))
      if (fstatSync(fd).size * JOURNAL_UNIT <= this.maxBytes * WRITTEN_SHARE) return false
      // At once: what is written while the folder is pruned counts for the next time, and no other process begins.
      ftruncateSync(fd, 0)
      return true
    } finally {
      closeSync(fd)
    }
  }

  #beginPruning(): void {
    this.#isPruningDue = true
    this.#pruning ??= (async () => {
      while (this.#isPruningDue) {
        this.#isPruningDue = false
        await this.#prune()
      }
      this.#pruning = undefined
    })()
  }

  /** Removes what was used longest ago, and what dead processes left. Others may do so at the same time. Never rejects. */
  async #prune(): Promise<void> {
    try {
      const slice = new Slice()
      const kept: { path: string; size: number; usedAt: number }[] = []
      let total = 0
      for (const name of await readdirAsync(this.#folder)) {
        const isTemporary = TEMPORARY_NAME.test(name)
        if (!isTemporary && !KEPT_NAME.test(name)) continue
        if (slice.isOver) await slice.turn()
        const path = join(this.#folder, name)
        const stats = lstatSync(path, { throwIfNoEntry: false })
        if (stats?.isFile() !== true) continue
        const size = diskSize(stats.size)
        if (isTemporary && Date.now() - stats.mtimeMs > STALE_AFTER_MS) removeQuietly(path)
        else total += size
        if (!isTemporary) kept.push({ path, size, usedAt: stats.mtimeMs })
      }
      if (total <= this.maxBytes * (1 - WRITTEN_SHARE)) return
      kept.sort((a, b) => a.usedAt - b.usedAt)
      for (const { path, size } of kept) {
        if (total <= this.maxBytes * PRUNED_SHARE) return
        if (slice.isOver) await slice.turn()
        removeQuietly(path)
        total -= size
      }
    } catch (error) {
      // A folder that cannot be kept within its budget must not grow.
      if (codeOf(error) !== 'ENOENT') this.#stopWriting(error)
    }
  }

  #pathOf(keyBytes: Uint8Array): string {
    return join(this.#folder, createHash('sha256').update(keyBytes).digest('hex') + SUFFIX)
  }

  #stopReading(error: unknown): void {
    this.#isReadable = false
    this.#troubles.push(`The disk cache ${this.#folder} is not used: ${messageOf(error)}.`)
  }

  #stopWriting(error: unknown): void {
    if (!this.#isWritable) return
    this.#isWritable = false
    this.#troubles.push(`Nothing more is kept in the disk cache ${this.#folder}: ${messageOf(error)}.`)
  }
}

/**
 * The folder without links, made if need be.
 *
 * @throws InvalidArgumentError if it is no folder of this user's own; errors of the system
 */
function preparedFolder(folder: string): string {
  const refuse = (why: string): never => {
    throw new InvalidArgumentError(`Cannot keep files in ${folder}: ${why}`)
  }
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  const user = process.getuid?.()
  const link = lstatSync(folder)
  const stats = statSync(folder)
  if (!stats.isDirectory()) refuse('it is not a folder')
  if (user !== undefined) {
    if (stats.uid !== user) refuse(`it belongs to user ${stats.uid}, and this process is user ${user}`)
    if (link.uid !== user && link.uid !== 0) refuse(`it is a symbolic link of user ${link.uid}`)
    const mode = stats.mode & 0o777
    if ((mode & 0o022) !== 0)
      refuse(`others may write to it (its mode is 0${mode.toString(8)}); 0700 is what it should be`)
  }
  return realpathSync(folder)
}

/** Not by concatenation: every part may hold every character. */
function bytesOf({ identity, location, length }: DiskCacheKey): Buffer {
  return Buffer.from(JSON.stringify([identity, location, length ?? null]))
}

function headerOf(key: Uint8Array, bodyLength: number, checksum: number): Buffer {
  const header = Buffer.alloc(FIXED_BYTES + key.length)
  header.set(MAGIC)
  header.writeUInt32LE(checksum, CHECKSUM_AT)
  header.writeUInt32LE(key.length, 12)
  header.writeBigUInt64LE(BigInt(bodyLength), 16)
  header.set(key, FIXED_BYTES)
  return header
}

/** The body of a kept file, or nothing if it is not that of the key to the last byte. */
async function readKept(path: string, key: Uint8Array, size: number): Promise<Uint8Array | undefined> {
  const start = FIXED_BYTES + key.length
  if (size < start) return undefined
  const fd = openSync(path, READ_FLAGS)
  try {
    const header = Buffer.alloc(start)
    if (readSync(fd, header, 0, start, 0) !== start) return undefined
    const checksum = header.readUInt32LE(CHECKSUM_AT)
    if (!header.equals(headerOf(key, size - start, checksum))) return undefined
    const body = new Uint8Array(size - start)
    const isSmall = size <= SMALL_FILE_BYTES
    let sum = 0
    for (let filled = 0; filled < body.length;) {
      const step = Math.min(STEP_BYTES, body.length - filled)
      const count = isSmall
        ? readSync(fd, body, filled, step, start + filled)
        : (await readAsync(fd, body, filled, step, start + filled)).bytesRead
      if (count === 0) return undefined
      sum = crc32(body.subarray(filled, filled + count), sum)
      filled += count
    }
    return sum === checksum ? body : undefined
  } finally {
    closeSync(fd)
  }
}

async function checksumOf(body: Uint8Array): Promise<number> {
  let sum = 0
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    if (at > 0) await nextTurn()
    sum = crc32(body.subarray(at, at + STEP_BYTES), sum)
  }
  return sum
}

async function writeBody(fd: number, body: Uint8Array): Promise<void> {
  if (body.length <= SMALL_FILE_BYTES) {
    writeWhole(fd, body)
    return
  }
  for (let written = 0; written < body.length;) {
    const step = Math.min(STEP_BYTES, body.length - written)
    written += (await writeAsync(fd, body, written, step)).bytesWritten
  }
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;)
    written += writeSync(fd, bytes, written, bytes.length - written)
}

function diskSize(size: number): number {
  return Math.ceil(size / DISK_BLOCK) * DISK_BLOCK
}

/** Another process may have been faster, and what cannot be removed now is odd the next time too. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // See above.
  }
}

/** Where the time cannot be noted, files are dropped in the order in which they were written. */
function touchQuietly(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {
    // See above.
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A few milliseconds of synchronous work. */
class Slice {
  #until = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() >= this.#until
  }

  async turn(): Promise<void> {
    await nextTurn()
    this.#until = performance.now() + SLICE_MS
  }
}
