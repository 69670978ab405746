/**
 * From what a user calls a table to the metadata file to load: a metadata file is taken as it is, a folder is
 * looked into. The rules, in order:
 *
 * 1. A name that ends in `.json`, or `.json` and a compression suffix, is a metadata file. No request is
 *    made.
 * 2. Else it is a table folder, whose metadata is in `metadata/`, or that folder itself (also the second try
 *    if a table folder has no `metadata/`).
 * 3. `version-hint.text`, if it can be read, decides: first line, trimmed; a number N means
 *    `v<N>.metadata.json` in one of its forms, other text is a file name with or without `.metadata.json`. A
 *    newer file beside the hinted one is not looked for: the hint is how a writer publishes, and every store
 *    must give the same answer.
 * 4. A hint that cannot be used, or that points to nothing, costs a warning, and one listing decides:
 *    a. the highest version. It is the leading number of `v<N>`, `<N>-<uuid>` or `<N>`, of any length,
 *       compared as an integer; a name with anything else in it (`v3.copy.metadata.json`,
 *       `vfinal.metadata.json`) is no candidate, is never guessed at, and is mentioned in a warning (B172).
 *       What follows `<N>-` need not be a real uuid: passing over a newer file for its unusual suffix would
 *       plan old data;
 *    b. among files of the same version, the greatest `last-updated-ms`, for which these files are read;
 *    c. if that is equal too, an error that lists the candidates: two writers disagree about what the table
 *       is.
 * 5. Where nothing can be listed (HTTP, or permission refused) a hint is needed. If it points to nothing, the
 *    versions after it are tried one by one: a writer that deletes old metadata may have gone on without
 *    renewing its hint. Elsewhere the listing answers that with one request.
 * 6. If no folder has anything, the location itself may be a metadata file with an unusual name.
 *
 * A failure that another try may cure (a busy store) is passed on and not taken for an absence, which could
 * end in an older version of the table.
 */
import {
  InvalidArgumentError,
  InvalidMetadataError,
  isIcebergError,
  NotFoundError,
  type IcebergError,
  type StorageError,
} from '../errors.ts'
import type { FileIO, ReadOptions } from '../io/file-io.ts'
import { decodeMetadataBytes } from '../metadata/metadata-bytes.ts'

export interface FoundMetadata {
  /** The metadata file. */
  location: string
  /** What was odd on the way, a sentence each. */
  warnings: string[]
  /** The file, undecoded, if finding it took a read of it. */
  bytes?: Uint8Array
}

const HINT_NAME = 'version-hint.text'
/** No file system allows longer names, so a longer hint is not one. */
const MAX_HINT_LENGTH = 255
/** Forms after `v<N>`, likeliest first; the compressed ones are the preferred and the older name of each. */
const METADATA_SUFFIXES = [
  '.metadata.json',
  '.gz.metadata.json',
  '.metadata.json.gz',
  '.zst.metadata.json',
  '.metadata.json.zst',
]
/** So many forms are tried before a listing is cheaper. */
const FORMS_BEFORE_LISTING = 2
/** Versions tried after a hint that points to nothing, where nothing can be listed. */
const MAX_PROBES = 100
/** More files than this of one version are a broken folder, not two writers at once. */
const MAX_TIED_FILES = 16
const NAMES_IN_A_MESSAGE = 8

const METADATA_FILE = /\.json(?:\.(?:gz|gzip|zst|zstd))?$/i
const UNNUMBERED = /\.metadata\.json(?:\.(?:gz|zst|zstd))?$/
const NUMBERED =
  /^(?:v(?<hadoop>\d+)|(?<catalog>\d+)(?:-[^.]+)?)(?:\.(?:gz|zst|zstd))?\.metadata\.json(?:\.(?:gz|zst|zstd))?$/

/**
 * The metadata file of the table at a location, which is that of a metadata file, of a table folder, or of
 * its `metadata` folder. Requests at best: none for a file, two for a folder (the hint and the file it names,
 * whose bytes come along; or the missing hint and a listing).
 *
 * Rejects with NotFoundError if there is no metadata, InvalidArgumentError if there is a choice (the message
 * lists the candidates), and whatever the store rejects with.
 */
export async function findMetadataLocation(
  location: string,
  io: FileIO,
  options: ReadOptions = {},
): Promise<FoundMetadata> {
  // An HTTP location may have a query, such as a signature, after the name.
  const name = /^https?:/i.test(location) ? location.replace(/\?.*$/s, '') : location
  if (METADATA_FILE.test(name)) return { location, warnings: [] }

  const search = new MetadataSearch(io, options)
  const own = location.endsWith('/') ? location : `${location}/`
  const inside = `${own}metadata/`
  const folders = /(?:^|\/)metadata\/$/.test(own) ? [own, inside] : [inside, own]
  for (const folder of folders) {
    const found = await search.inFolder(folder)
    if (found !== undefined) return found
  }
  if (!location.endsWith('/') && (await search.looksLikeMetadata(location)))
    return { location, warnings: search.warnings }
  throw search.failure(location)
}

class MetadataSearch {
  readonly warnings: string[] = []
  readonly #io: FileIO
  readonly #options: ReadOptions
  /** Metadata files that were seen and not taken, because their names have no version. */
  readonly #unnumbered: string[] = []
  #listingRefused = false
  #cause: Error | undefined

  constructor(io: FileIO, options: ReadOptions) {
    this.#io = io
    this.#options = options
  }

  /** @param folder - Ends with a slash, as everywhere in this class. */
  async inFolder(folder: string): Promise<FoundMetadata | undefined> {
    const hint = await this.#readHint(folder)
    const hinted = hint === undefined ? [] : hintedNames(hint)
    const found = await this.#readFirst(folder, hinted.slice(0, FORMS_BEFORE_LISTING))
    if (found !== undefined) return found

    const names = await this.#list(folder)
    if (names === undefined)
      return await this.#withoutListing(folder, hint, hinted.slice(FORMS_BEFORE_LISTING))
    if (hint !== undefined) {
      const present = new Set(names)
      const name = hinted.find((name) => present.has(name))
      if (name !== undefined) return this.#found(folder + name)
      this.#warnOfHint(folder, `it says '${hint}' and there is no such metadata file`)
    }
    return await this.#newest(folder, names)
  }

  /** Whether a file begins as table metadata does: JSON, or one of the compressions it may have. */
  async looksLikeMetadata(location: string): Promise<boolean> {
    const start = await this.#orUndefined(this.#io.open(location).read({ start: 0, end: 4 }, this.#options))
    return start !== undefined && beginsLikeJson(start)
  }

  /** The error for a search that found nothing. */
  failure(location: string): Error {
    const place = { location, cause: this.#cause }
    if (this.#unnumbered.length > 0)
      return new InvalidArgumentError(
        `Cannot choose the metadata file of ${location}: no name begins with a version; ` +
          `give one of these instead: ${listNames(this.#unnumbered)}`,
        place,
      )
    const because = this.#cause === undefined ? '' : ` (${this.#cause.message})`
    return new NotFoundError(
      this.#listingRefused
        ? `Cannot find the metadata of ${location}: files cannot be listed here, so a readable metadata/${HINT_NAME} ` +
            `that names a metadata file is needed; give the metadata file instead${because}`
        : `Cannot find the metadata of ${location}: neither a table folder nor a metadata file is there${because}`,
      place,
    )
  }

  /**
   * The first line of the hint; undefined, with a warning unless there is no hint at all, if it cannot be
   * used.
   */
  async #readHint(folder: string): Promise<string | undefined> {
    let bytes: Uint8Array
    try {
      bytes = await this.#io.open(folder + HINT_NAME).read(undefined, this.#options)
    } catch (error) {
      if (isIcebergError(error, 'ERR_NOT_FOUND')) return undefined
      if (!isForGood(error)) throw error
      this.#cause = error
      this.#warnOfHint(folder, error.message)
      return undefined
    }
    const text = Buffer.from(bytes.subarray(0, 4 * MAX_HINT_LENGTH)).toString('utf8')
    // Some writers give the whole location. The file is in this folder, wherever the table was when it was
    // written.
    const line = text.replace(/^\uFEFF/, '').replace(/[\r\n].*$/s, '')
    const name = line.trim().replace(/^.*[/\\]/, '')
    if (name === '' || name.length > MAX_HINT_LENGTH || name.includes('\0')) {
      this.#warnOfHint(folder, name === '' ? 'its first line is empty' : 'its first line is not a name')
      return undefined
    }
    return name
  }

  #warnOfHint(folder: string, why: string): void {
    this.warnings.push(`Ignored the version hint ${folder}${HINT_NAME}: ${why}`)
  }

  /** Names in the folder, none if there is no such folder; undefined if it cannot be listed. */
  async #list(folder: string): Promise<string[] | undefined> {
    try {
      if (this.#io.list !== undefined) return await this.#io.list(folder, this.#options)
    } catch (error) {
      if (isIcebergError(error, 'ERR_NOT_FOUND')) return []
      if (isForGood(error)) this.#cause ??= error
      else if (!isIcebergError(error, 'ERR_UNSUPPORTED')) throw error
    }
    this.#listingRefused = true
    return undefined
  }

  async #withoutListing(
    folder: string,
    hint: string | undefined,
    names: readonly string[],
  ): Promise<FoundMetadata | undefined> {
    if (hint === undefined) return undefined
    const found = await this.#readFirst(folder, names)
    if (found !== undefined) return found
    this.#warnOfHint(folder, `it says '${hint}' and there is no such metadata file`)
    if (!/^\d+$/.test(hint)) return undefined
    let last: FoundMetadata | undefined
    for (let probes = 1n; probes <= MAX_PROBES; probes++) {
      const names = hintedNames(String(BigInt(hint) + probes)).slice(0, FORMS_BEFORE_LISTING)
      const next = await this.#readFirst(folder, names)
      if (next === undefined) break
      last = next
    }
    return last
  }

  /** Rules 4a to 4c; undefined if no name has a version. */
  async #newest(folder: string, names: readonly string[]): Promise<FoundMetadata | undefined> {
    let highest = -1n
    let tied: string[] = []
    const unnumbered: string[] = []
    for (const name of names) {
      const version = versionOf(name)
      if (version === undefined) {
        if (UNNUMBERED.test(name)) unnumbered.push(folder + name)
        continue
      }
      if (version > highest) [highest, tied] = [version, []]
      if (version === highest) tied.push(folder + name)
    }
    if (tied.length === 0) {
      this.#unnumbered.push(...unnumbered)
      return undefined
    }
    if (unnumbered.length > 0)
      this.warnings.push(
        `Ignored metadata files whose names do not begin with a version: ${listNames(unnumbered)}`,
      )
    return tied.length === 1 ? this.#found(tied[0]) : await this.#lastUpdated(folder, tied.sort())
  }

  async #lastUpdated(folder: string, tied: readonly string[]): Promise<FoundMetadata> {
    const undecided = (why: string): InvalidArgumentError =>
      new InvalidArgumentError(
        `Cannot choose the metadata file in ${folder}: ${why}; give one of these instead: ${listNames(tied)}`,
        { location: folder },
      )
    if (tied.length > MAX_TIED_FILES) throw undecided(`${tied.length} files have the same version`)
    let newest = -Infinity
    let best: FoundMetadata[] = []
    // One after the other, so that no two big files are held at once for long.
    for (const location of tied) {
      const bytes = await this.#io.open(location).read(undefined, this.#options)
      const updated = lastUpdatedMs(location, bytes)
      if (updated > newest) [newest, best] = [updated, []]
      if (updated === newest) best.push(this.#found(location, bytes))
    }
    if (best.length > 1)
      throw undecided(`${best.length} files have the same version and last-updated-ms ${newest}`)
    return best[0]
  }

  /** Reads the first of these files that exists. */
  async #readFirst(folder: string, names: readonly string[]): Promise<FoundMetadata | undefined> {
    for (const name of names) {
      const location = folder + name
      try {
        return this.#found(location, await this.#io.open(location).read(undefined, this.#options))
      } catch (error) {
        if (!isIcebergError(error, 'ERR_NOT_FOUND')) throw error
      }
    }
    return undefined
  }

  /** What a read gives, or undefined if it fails for good; the reason is kept for {@link failure}. */
  async #orUndefined(read: Promise<Uint8Array>): Promise<Uint8Array | undefined> {
    try {
      return await read
    } catch (error) {
      if (isIcebergError(error, 'ERR_NOT_FOUND')) return undefined
      if (!isForGood(error)) throw error
      this.#cause ??= error
      return undefined
    }
  }

  #found(location: string, bytes?: Uint8Array): FoundMetadata {
    return { location, warnings: this.warnings, ...(bytes === undefined ? {} : { bytes }) }
  }
}

/** A failure of the store that trying again will not cure, such as a refused permission. */
function isForGood(error: unknown): error is IcebergError {
  return isIcebergError(error, 'ERR_STORAGE') && !(error as Partial<StorageError>).retryable
}

/** The files that a hint may mean, likeliest first. */
function hintedNames(hint: string): string[] {
  if (METADATA_FILE.test(hint)) return [hint]
  const asWritten = METADATA_SUFFIXES.map((suffix) => hint + suffix)
  const withV = METADATA_SUFFIXES.map((suffix) => `v${hint}${suffix}`)
  return /^\d+$/.test(hint) ? [...withV, ...asWritten] : [...asWritten, ...withV]
}

/** The version in the name of a metadata file (rule 4a); undefined if it has none. */
export function versionOf(name: string): bigint | undefined {
  const groups = NUMBERED.exec(name)?.groups
  return groups === undefined ? undefined : BigInt(groups['hadoop'] ?? groups['catalog'])
}

/** Whether a file that begins so may be JSON: an object, or the magic of gzip or zstandard. */
function beginsLikeJson(start: Uint8Array): boolean {
  const magic = Buffer.from(start).toString('hex')
  return (
    magic.startsWith('1f8b') ||
    magic === '28b52ffd' ||
    /^\s*(?:\{|$)/.test(Buffer.from(start).toString('utf8'))
  )
}

/**
 * Only this one field, which is small enough for plain JSON numbers; the file chosen is parsed with all care
 * later.
 */
function lastUpdatedMs(location: string, bytes: Uint8Array): number {
  let updated: unknown
  try {
    const metadata = JSON.parse(decodeMetadataBytes(bytes)) as Record<string, unknown> | null
    updated = metadata?.['last-updated-ms']
  } catch (cause) {
    throw new InvalidMetadataError(
      `Cannot read the last-updated-ms of ${location}: ${(cause as Error).message}`,
      {
        location,
        cause,
      },
    )
  }
  if (!Number.isSafeInteger(updated))
    throw new InvalidMetadataError(
      `Cannot read the last-updated-ms of ${location}: it is ${String(updated)}`,
      {
        location,
      },
    )
  return updated as number
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_IN_A_MESSAGE).join(', ')
  return names.length > NAMES_IN_A_MESSAGE ? `${shown} and ${names.length - NAMES_IN_A_MESSAGE} more` : shown
}
