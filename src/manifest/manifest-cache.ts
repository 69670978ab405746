/**
 * What is worth remembering between manifests: parsed headers, compiled cursor plans, and the bytes of files.
 *
 * Thousands of manifests share a handful of headers. Parsing one and compiling its plan costs as much as decoding
 * hundreds of entries, so both are kept, keyed on the raw bytes they came from. A hash of those bytes only chooses
 * where to look: a hit is confirmed by comparing the bytes, so a collision costs time and never a wrong answer.
 *
 * - `shapes`: manifest headers (the whole metadata map: schema, spec, codec, ...). Two specs never share one.
 * - `plans`: cursor plans, by writer schema and set of field groups.
 * - `lists`: manifest-list schemas with their plan.
 * - files: bytes of manifests and manifest lists, least recently used within `maxFileBytes`. Iceberg never rewrites
 *   these files, so their bytes are valid for ever; metadata JSON and version hints must not be kept here.
 *
 * - rows: manifest lists as decoded, with the bytes they came from, for every plan of a snapshot begins with all of them;
 *   within the same budget.
 * - entries: manifests as decoded, within `maxEntryBytes` (`entry-cache.ts`).
 *
 * One cache may serve many planners and tables. {@link ManifestCache.disabled} remembers nothing but is used the
 * same way, so that no code asks whether there is a cache.
 */
import { hashRange } from '../bytes/hash.ts'
import type { CursorPlan } from '../avro/cursor-plan.ts'
import { EntryCache } from './entry-cache.ts'
import type { ManifestShape } from './manifest-shape.ts'
import type { ListShape } from './list-shape.ts'
import type { ManifestFile } from './manifest-file.ts'

export interface ManifestCacheOptions {
  /** Budget for bytes of files, and for the rows of manifest lists that were decoded; default {@link DEFAULT_MAX_FILE_BYTES}. 0 keeps no files. */
  maxFileBytes?: number
  /** Budget for decoded entries; default {@link DEFAULT_MAX_ENTRY_BYTES}. 0 keeps none: every plan decodes again. */
  maxEntryBytes?: number
}

/** Enough for the manifests of most tables; a manifest aims at 8 MB and holds tens of thousands of entries. */
export const DEFAULT_MAX_FILE_BYTES = 64 * 1024 * 1024
/** Entries take some 250 bytes each with one column of bounds: half a million. */
export const DEFAULT_MAX_ENTRY_BYTES = 128 * 1024 * 1024
/** Headers kept per kind. A table has one per spec, schema and writer; 1,000 also covers a planner of many tables. */
const MAX_HEADERS = 1000
/** Headers with more bytes than this are not kept. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024
/** Bytes of headers kept per kind; what is parsed from them grows with them. */
const MAX_ALL_HEADER_BYTES = 32 * 1024 * 1024
/** Bytes of a header that its hash looks at. */
const HASHED_BYTES = 256

export class ManifestCache {
  readonly #shapes = new HeaderCache<ManifestShape>()
  readonly #plans = new HeaderCache<CursorPlan>()
  readonly #lists = new HeaderCache<ListShape>()
  /** The file used longest ago first. */
  readonly #files = new Set<KeptFile>()
  /** By store, then by location: one key made of both would have to be put together and hashed for each look-up. */
  readonly #byPlace = new Map<string, Map<string, KeptFile>>()
  readonly #fileOf = new WeakMap<Uint8Array, KeptFile>()
  /** Decoded entries of manifests. */
  readonly entries: EntryCache
  readonly #enabled: boolean
  readonly #maxFileBytes: number
  #fileBytes = 0
  /** Sum of the memory of the rows kept, about. */
  #rowBytes = 0
  #fileHits = 0
  #collide = false
  #hitsElsewhere = 0
  #missesElsewhere = 0

  constructor(options: ManifestCacheOptions = {}) {
    this.#maxFileBytes = options.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES
    this.#enabled = options !== DISABLED
    this.entries = new EntryCache(options.maxEntryBytes ?? DEFAULT_MAX_ENTRY_BYTES)
  }

  /** A cache that remembers nothing: every header is parsed again, every file read again. */
  static disabled(): ManifestCache {
    return new ManifestCache(DISABLED)
  }

  /** False for {@link ManifestCache.disabled}. */
  get enabled(): boolean {
    return this.#enabled
  }

  /** Number of compiled plans kept. */
  get plans(): number {
    return this.#plans.size
  }
  /** Number of manifest headers kept. */
  get shapes(): number {
    return this.#shapes.size
  }
  /** Number of manifest-list headers kept. */
  get lists(): number {
    return this.#lists.size
  }
  /** Look-ups of plans, shapes and lists that found something. */
  get hits(): number {
    return this.#plans.hits + this.#shapes.hits + this.#lists.hits + this.#hitsElsewhere
  }
  /** Look-ups of plans, shapes and lists that found nothing. */
  get misses(): number {
    return this.#plans.misses + this.#shapes.misses + this.#lists.misses + this.#missesElsewhere
  }

  /** Adds look-ups that workers made in caches of their own, so that {@link hits} and {@link misses} are the sums. */
  countElsewhere(hits: number, misses: number): void {
    this.#hitsElsewhere += hits
    this.#missesElsewhere += misses
  }

  /** The hash that files header bytes: a filter over a sample of them, not an identity. */
  hashOf(bytes: Uint8Array): number {
    if (this.#collide) return 0
    if (bytes.length <= HASHED_BYTES) return hashRange(bytes, 0, bytes.length)
    // The tail differs most: it holds the codec, the spec id or the schema of the partition, by writer.
    const tail = hashRange(bytes, bytes.length - HASHED_BYTES / 2, bytes.length)
    return (Math.imul(hashRange(bytes, 0, HASHED_BYTES / 2), 31) ^ tail ^ bytes.length) >>> 0
  }

  /** Test seam: from now on all hashes are equal, so that only the comparison of bytes tells headers apart. */
  collideAllHashes(): void {
    this.#collide = true
    this.#shapes.clear()
    this.#plans.clear()
    this.#lists.clear()
  }

  /** The parsed form of a manifest header. */
  findShape(header: Uint8Array): ManifestShape | undefined {
    return this.#shapes.find(header, '', this)
  }
  addShape(header: Uint8Array, shape: ManifestShape): void {
    if (this.#enabled) this.#shapes.add(this.hashOf(header), header, '', shape)
  }

  /** @param variant what else the plan depends on: the set of field groups */
  findPlan(schema: Uint8Array, variant: string): CursorPlan | undefined {
    return this.#plans.find(schema, variant, this)
  }
  addPlan(schema: Uint8Array, variant: string, plan: CursorPlan): void {
    if (this.#enabled) this.#plans.add(this.hashOf(schema), schema, variant, plan)
  }

  /** The parsed form of a manifest list's writer schema. */
  findList(schema: Uint8Array): ListShape | undefined {
    return this.#lists.find(schema, '', this)
  }
  addList(schema: Uint8Array, shape: ListShape): void {
    if (this.#enabled) this.#lists.add(this.hashOf(schema), schema, '', shape)
  }

  /** Sum of the bytes of the files kept, lent ones included. */
  get fileBytes(): number {
    return this.#fileBytes
  }
  get maxFileBytes(): number {
    return this.#maxFileBytes
  }
  /** How often {@link lend} and {@link file} found a file. */
  get fileHits(): number {
    return this.#fileHits
  }

  /**
   * @param identity of the FileIO the location belongs to; without it, any will do
   * @param length what the metadata says of the file's length; a file of another length is another file, or a part of one
   */
  hasFile(location: string, identity?: string, length?: number): boolean {
    return this.#find(location, identity, length) !== undefined
  }

  /** A copy of a kept file's bytes. */
  file(location: string, identity?: string, length?: number): Uint8Array | undefined {
    const bytes = this.lend(location, identity, length)
    if (bytes === undefined) return undefined
    const copy = Uint8Array.from(bytes)
    this.giveBack(bytes)
    return copy
  }

  /**
   * The kept bytes themselves: not to be changed. A lent file is not dropped, and counts, until {@link giveBack} was
   * called as often as it was lent.
   */
  lend(location: string, identity?: string, length?: number): Uint8Array | undefined {
    const file = this.#find(location, identity, length)
    if (file === undefined) return undefined
    this.#fileHits++
    // A Set iterates in order of insertion: to move a file to the young end, insert it again.
    this.#files.delete(file)
    this.#files.add(file)
    this.hold(file.bytes)
    return file.bytes
  }

  /** Lends bytes that were just given to {@link keepFile}, without counting a hit. */
  hold(bytes: Uint8Array): void {
    const file = this.#fileOf.get(bytes)
    if (file !== undefined) file.lent++
  }

  /** The end of a loan; of bytes that are not (or no longer) kept it is none. */
  giveBack(bytes: Uint8Array): void {
    const file = this.#fileOf.get(bytes)
    if (file === undefined || file.lent === 0) return
    file.lent--
    this.#dropOldest()
  }

  /**
   * Keeps all the bytes of a file that will never change; the array must not be changed afterwards. Drops the files
   * used longest ago when over budget. A file larger than the whole budget is not kept.
   */
  keepFile(location: string, bytes: Uint8Array, identity = ''): void {
    if (!this.#enabled) return
    this.#drop(this.#byPlace.get(identity)?.get(location))
    if (bytes.byteLength > this.#maxFileBytes) return
    const file: KeptFile = { identity, location, bytes, lent: 0, rows: undefined, rowBytes: 0 }
    this.#files.add(file)
    let places = this.#byPlace.get(identity)
    if (places === undefined) this.#byPlace.set(identity, (places = new Map<string, KeptFile>()))
    places.set(location, file)
    this.#fileOf.set(bytes, file)
    this.#fileBytes += bytes.byteLength
    this.#dropOldest()
  }

  /** The rows of a manifest list, as remembered for the kept bytes of its file. */
  rowsOf(list: Uint8Array): readonly ManifestFile[] | undefined {
    return this.#fileOf.get(list)?.rows
  }

  /**
   * Remembers the rows of a manifest list as long as its bytes are kept, within the same budget.
   *
   * @param bytes memory of the rows
   */
  keepRows(list: Uint8Array, rows: readonly ManifestFile[], bytes: number): void {
    const file = this.#fileOf.get(list)
    if (file === undefined || file.rows !== undefined) return
    if (file.bytes.byteLength + bytes > this.#maxFileBytes) return
    file.rows = rows
    file.rowBytes = bytes
    this.#rowBytes += bytes
    // Not the list itself, whose rows these are.
    file.lent++
    this.#dropOldest()
    file.lent--
  }

  #find(location: string, identity: string | undefined, length: number | undefined): KeptFile | undefined {
    const file =
      identity === undefined ? this.#findAnywhere(location) : this.#byPlace.get(identity)?.get(location)
    return length === undefined || file?.bytes.length === length ? file : undefined
  }

  /** For people who look into the cache; plans know the store. */
  #findAnywhere(location: string): KeptFile | undefined {
    for (const places of this.#byPlace.values()) {
      const file = places.get(location)
      if (file !== undefined) return file
    }
    return undefined
  }

  #dropOldest(): void {
    for (const file of this.#files) {
      if (this.#fileBytes + this.#rowBytes <= this.#maxFileBytes) return
      if (file.lent === 0) this.#drop(file)
    }
  }

  #drop(file: KeptFile | undefined): void {
    if (file === undefined) return
    this.#files.delete(file)
    const places = this.#byPlace.get(file.identity)
    places?.delete(file.location)
    if (places?.size === 0) this.#byPlace.delete(file.identity)
    this.#rowBytes -= file.rowBytes
    file.rows = undefined
    file.rowBytes = 0
    this.#fileOf.delete(file.bytes)
    this.#fileBytes -= file.bytes.byteLength
  }
}

interface KeptFile {
  /** Of the store. */
  readonly identity: string
  readonly location: string
  readonly bytes: Uint8Array
  lent: number
  /** If it is a manifest list that was decoded. */
  rows: readonly ManifestFile[] | undefined
  /** Their memory. */
  rowBytes: number
}

const DISABLED: ManifestCacheOptions = Object.freeze({ maxFileBytes: 0, maxEntryBytes: 0 })

interface HeaderEntry<T> {
  readonly bytes: Uint8Array
  readonly variant: string
  readonly value: T
}

/** Values keyed on bytes and a variant: a hash chooses a bucket, the bytes decide. Oldest out first. */
class HeaderCache<T> {
  readonly #buckets = new Map<number, HeaderEntry<T>[]>()
  readonly #order: { hash: number; entry: HeaderEntry<T> }[] = []
  #last: HeaderEntry<T> | undefined
  #bytes = 0
  hits = 0
  misses = 0

  get size(): number {
    return this.#order.length
  }

  /** Most look-ups are for what was found last: that is tried first, before there is a hash. */
  find(bytes: Uint8Array, variant: string, cache: ManifestCache): T | undefined {
    const last = this.#last
    if (last !== undefined && isSame(last, bytes, variant)) {
      this.hits++
      return last.value
    }
    for (const entry of this.#buckets.get(cache.hashOf(bytes)) ?? []) {
      if (isSame(entry, bytes, variant)) {
        this.hits++
        this.#last = entry
        return entry.value
      }
    }
    this.misses++
    return undefined
  }

  add(hash: number, bytes: Uint8Array, variant: string, value: T): void {
    if (bytes.length > MAX_HEADER_BYTES) return
    if (this.#buckets.get(hash)?.some((entry) => isSame(entry, bytes, variant)) === true) return
    // A copy: the bytes given are a part of a file that must be free to go.
    const entry: HeaderEntry<T> = { bytes: Uint8Array.from(bytes), variant, value }
    const bucket = this.#buckets.get(hash)
    if (bucket === undefined) this.#buckets.set(hash, [entry])
    else bucket.push(entry)
    this.#order.push({ hash, entry })
    this.#bytes += entry.bytes.length
    this.#last = entry
    while (this.#order.length > MAX_HEADERS || this.#bytes > MAX_ALL_HEADER_BYTES) this.#dropOldest()
  }

  clear(): void {
    this.#buckets.clear()
    this.#order.length = 0
    this.#bytes = 0
    this.#last = undefined
  }

  #dropOldest(): void {
    const oldest = this.#order.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.entry.bytes.length
    const bucket = this.#buckets.get(oldest.hash) ?? []
    const rest = bucket.filter((entry) => entry !== oldest.entry)
    if (rest.length === 0) this.#buckets.delete(oldest.hash)
    else this.#buckets.set(oldest.hash, rest)
  }
}

function isSame<T>(entry: HeaderEntry<T>, bytes: Uint8Array, variant: string): boolean {
  return (
    entry.variant === variant &&
    entry.bytes.length === bytes.length &&
    Buffer.compare(entry.bytes, bytes) === 0
  )
}
