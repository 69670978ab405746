/**
 * From what a user calls a table to the metadata file to load: a metadata file is taken as it is, a folder is
 * looked into. The rules, in order:
 *
 * 1. A name that ends in `.json`, or `.json` and a compression suffix, is a metadata file. No request is
 *    made.
 * 2. Else it is a table folder, whose metadata is in `metadata/`, or that folder itself (also the second try
 *    if a table folder has no `metadata/`).
 * 3. One listing decides, where the store can list: the highest version. It is the leading number of `v<N>`,
 *    `<N>-<uuid>` or `<N>`, of any length, compared as an integer. What follows `<N>-` need not be a real
 *    uuid: passing over a newer file for its unusual suffix would plan old data. `version-hint.text` is not
 *    read, for it is advisory and may lag, and costs a request:
 *    - A `v<N>` file is a commit by its being there, made by a rename that only one writer can win. A newer one
 *      than the hint says is a commit whose writer did not get to renew the hint. Java reads the hint to save
 *      the listing, walks forward from it all the same, and ends at the same file if none in between is gone.
 *    - A `<N>-<uuid>` file is a commit only once a catalog points to it; that pointer is not in the folder, and a
 *      file beyond it may be left over from a commit that failed. A hint beside such files would not know
 *      better: no catalog renews it, it was written by hand at some time. The leftover is gone from view with the
 *      next commit, which has its number or a higher one, while a hint that nobody renews hides every commit
 *      from then on. Whoever needs the catalog's word asks the catalog.
 * 4. What the listing leaves open the hint settles, if it shows one:
 *    a. among several files of the highest version the hinted one. Else, for which these files are read, the one
 *       with the greatest `last-updated-ms`; if that is equal too, an error that lists the candidates: two
 *       writers disagree about what the table is;
 *    b. a name with anything else beside its number (`v3.copy.metadata.json`, `vfinal.metadata.json`) is no
 *       candidate and is never guessed at (B172); the hint may name it, whatever numbered files there are.
 *       Otherwise it is mentioned in a warning; if there are only such names, that is an error that lists them.
 * 5. Where nothing can be listed (HTTP, or permission denied) the hint is needed: first line, trimmed; a number N
 *    means `v<N>.metadata.json` in one of its forms, other text is a file name with or without
 *    `.metadata.json`. If that is there it is taken. If not, the versions after it are tried one by one: a writer
 *    that deletes old metadata may have gone on without renewing its hint.
 * 6. If no folder has anything, the location itself may be a metadata file with an unusual name.
 *
 * | location          | requests                                                                |
 * | ----------------- | ----------------------------------------------------------------------- |
 * | a metadata file   | none                                                                    |
 * | a table folder    | the listing (and the hint, and files of equal version, where 4 says so) |
 * | the same, by HTTP | the hint and the file it names, whose bytes come along                  |
 * | listing denied    | the denied listing, the hint and the file                               |
 * | one loaded before | the listing, or where there is none the hint                            |
 *
 * Any other failure (a busy store, a wrong key or region, a bucket that does not exist) is passed on at once and not
 * taken for an absence, which could end in an older version of the table, or in an error that misleads.
 */
import {
  InvalidArgumentError,
  InvalidMetadataError,
  isIcebergError,
  NotFoundError,
  StorageError,
} from '../errors.ts'
import type { FileIO, ReadOptions } from '../io/file-io.ts'
import { decodeMetadataBytes } from '../metadata/metadata-bytes.ts'
import type { TableMetadata } from '../metadata/table-metadata.ts'

export interface FoundMetadata {
  /** The metadata file. */
  location: string
  /** What was odd on the way, a sentence each. */
  warnings: string[]
  /** The file, undecoded, if finding it took a read of it. */
  bytes?: Uint8Array
  /** It is what the caller has loaded before, and need not be read again. */
  isKnown?: boolean
}

/** Metadata that was loaded before. */
export type KnownMetadata = Pick<TableMetadata, 'metadataLocation' | 'currentSnapshotId' | 'snapshotById'>

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
/** Versions beyond the hinted one have likely names only: every form costs a request. */
const FORMS_PROBED = 2
/** Versions tried after a hint that points to nothing, where nothing can be listed. */
const MAX_PROBES = 100
/** More files than this of one version are a broken folder, not two writers at once. */
const MAX_TIED_FILES = 16
const NAMES_IN_A_MESSAGE = 8

const METADATA_FILE = /\.json(?:\.(?:gz|gzip|zst|zstd))?$/i
const UNNUMBERED = /\.metadata\.json(?:\.(?:gz|zst|zstd))?$/
const UUID = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i
const NUMBERED =
  /^(?:v(?<hadoop>\d+)|(?<catalog>\d+)(?:-[^.]+)?)(?:\.(?:gz|zst|zstd))?\.metadata\.json(?:\.(?:gz|zst|zstd))?$/

/**
 * The metadata file of the table at a location, which is that of a metadata file, of a table folder, or of
 * its `metadata` folder.
 *
 * Rejects with NotFoundError if there is no metadata, StorageError if there may be some and the store denies access,
 * InvalidArgumentError if there is a choice (the message lists the candidates), and whatever the store rejects with.
 *
 * @param known - What was loaded from this location before: where it was is looked into first, and if it is
 *   still the one, no file is read.
 */
export async function findMetadataLocation(
  location: string,
  io: FileIO,
  options: ReadOptions = {},
  known?: KnownMetadata,
): Promise<FoundMetadata> {
  if (METADATA_FILE.test(withoutQuery(location))) return { location, warnings: [] }

  const search = new MetadataSearch(location, io, options, known)
  const own = location.endsWith('/') ? location : `${location}/`
  const inside = `${own}metadata/`
  const folders = /(?:^|\/)metadata\/$/.test(own) ? [own, inside] : [inside, own]
  if (known !== undefined && folderOf(known.metadataLocation) === folders[1]) folders.reverse()
  for (const folder of folders) {
    const found = await search.inFolder(folder)
    if (found !== undefined) return found
  }
  if (!location.endsWith('/') && (await search.looksLikeMetadata(location)))
    return { location, warnings: search.warnings }
  throw search.failure()
}

/**
 * The root folder of a table that is loaded from a location: the folder given, or the one above the `metadata`
 * folder given or that a metadata file is in (else the file's own). Without a slash at its end.
 */
export function rootFolder(location: string): string {
  const name = withoutQuery(location)
  const folder = METADATA_FILE.test(name) ? folderOf(name) : name
  // A path may begin in the working directory, or be the root of all.
  if (/^(?:metadata\/?)?$/.test(folder)) return '.'
  return folder.replace(/\/$/, '').replace(/\/metadata$/, '')
}

/** An HTTP location may have a query, such as a signature, after the name. */
function withoutQuery(location: string): string {
  return /^https?:/i.test(location) ? location.replace(/\?.*$/s, '') : location
}

/** Up to and with the last slash. */
function folderOf(location: string): string {
  return location.slice(0, location.lastIndexOf('/') + 1)
}

class MetadataSearch {
  readonly warnings: string[] = []
  readonly #location: string
  readonly #io: FileIO
  readonly #options: ReadOptions
  readonly #known: KnownMetadata | undefined
  /** Metadata files that were seen and not taken, because their names have no version. */
  readonly #unnumbered: string[] = []
  #cannotList = false
  /** The folder whose listing was denied, of several the last. */
  #deniedListing: string | undefined
  /** The first. */
  #denial: StorageError | undefined

  constructor(location: string, io: FileIO, options: ReadOptions, known: KnownMetadata | undefined) {
    this.#location = location
    this.#io = io
    this.#options = options
    this.#known = known
  }

  /** @param folder - Ends with a slash, as everywhere in this class. */
  async inFolder(folder: string): Promise<FoundMetadata | undefined> {
    const names = await this.#list(folder)
    return names === undefined ? await this.#byHint(folder) : await this.#newest(folder, names)
  }

  /** Whether a file begins as table metadata does: JSON, or one of the compressions it may have. */
  async looksLikeMetadata(location: string): Promise<boolean> {
    try {
      return beginsLikeJson(await this.#io.open(location).read({ start: 0, end: 4 }, this.#options))
    } catch (error) {
      if (isDenial(error)) this.#denial ??= error
      // A folder of a file system cannot be read, and a file of three bytes not that far.
      else if (!isAbsence(error) && !isForGood(error)) throw error
      return false
    }
  }

  /** The error for a search that found nothing. */
  failure(): Error {
    const location = this.#location
    const denial = this.#denial
    const place = { location, cause: denial }
    if (this.#unnumbered.length > 0)
      return new InvalidArgumentError(
        `Cannot choose the metadata file of ${location}: no name begins with a version; ` +
          `give one of these instead: ${listNames(this.#unnumbered)}`,
        place,
      )
    const what = this.#cannotList
      ? `files cannot be listed here, so a readable metadata/${HINT_NAME} that names a metadata file is needed; ` +
        'give the metadata file instead'
      : 'neither a table folder nor a metadata file is there'
    const message = `Cannot find the metadata of ${location}: ${what}`
    return denial === undefined
      ? new NotFoundError(message, place)
      : new StorageError(`${message} (${denial.message})`, { ...place, denied: true })
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
      if (isAbsence(error)) return undefined
      if (!isDenial(error)) throw error
      // Whoever may neither list nor read has no business here.
      if (this.#deniedListing === folder) throw this.failure()
      this.#denial ??= error
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
      if (isAbsence(error)) return []
      if (isDenial(error)) {
        this.#denial ??= error
        this.#deniedListing = folder
      } else if (!isIcebergError(error, 'ERR_UNSUPPORTED')) throw error
    }
    this.#cannotList = true
    return undefined
  }

  /** Rule 5. */
  async #byHint(folder: string): Promise<FoundMetadata | undefined> {
    const hint = await this.#readHint(folder)
    if (hint === undefined) return undefined
    const names = hintedNames(hint)
    const known = this.#known?.metadataLocation
    if (names.some((name) => folder + name === known)) return this.#found(known!, undefined, true)
    const found = await this.#readFirst(folder, names)
    if (found !== undefined) return found
    this.#warnOfHint(folder, `it says '${hint}' and there is no such metadata file`)
    if (!/^\d+$/.test(hint)) return undefined
    let last: FoundMetadata | undefined
    for (let probes = 1n; probes <= MAX_PROBES; probes++) {
      const names = hintedNames(String(BigInt(hint) + probes)).slice(0, FORMS_PROBED)
      const next = await this.#readFirst(folder, names)
      if (next === undefined) break
      last = next
    }
    return last
  }

  /** Rules 3 and 4; undefined if no name has a version. */
  async #newest(folder: string, names: readonly string[]): Promise<FoundMetadata | undefined> {
    let highest = -1n
    let tied: string[] = []
    const unnumbered: string[] = []
    for (const name of names) {
      const version = versionOf(name)
      if (version === undefined) {
        if (UNNUMBERED.test(name)) unnumbered.push(name)
        continue
      }
      if (version > highest) [highest, tied] = [version, []]
      if (version === highest) tied.push(name)
    }
    const candidates = new Set([...tied, ...unnumbered])
    if (unnumbered.length > 0 || tied.length > 1) {
      const hint = names.includes(HINT_NAME) ? await this.#readHint(folder) : undefined
      const hinted = hint === undefined ? undefined : hintedNames(hint).find((name) => candidates.has(name))
      if (hinted !== undefined) return this.#listed(folder, hinted, names)
    }
    const unchosen = unnumbered.map((name) => folder + name)
    if (tied.length === 0) {
      this.#unnumbered.push(...unchosen)
      return undefined
    }
    if (unchosen.length > 0)
      this.warnings.push(
        `Ignored metadata files whose names do not begin with a version: ${listNames(unchosen)}`,
      )
    if (tied.length === 1) return this.#listed(folder, tied[0], names)
    return await this.#lastUpdated(folder, tied.map((name) => folder + name).sort())
  }

  /** A file of the listing that was chosen by its name. */
  #listed(folder: string, name: string, names: readonly string[]): FoundMetadata {
    const location = folder + name
    const isKnown = location === this.#known?.metadataLocation && isUnchanged(this.#known, names)
    return this.#found(location, undefined, isKnown)
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

  /**
   * Reads the first of these files that exists. A store that must not tell what exists refuses what does not, so the
   * first denial counts only if there is no file that can be read.
   */
  async #readFirst(folder: string, names: readonly string[]): Promise<FoundMetadata | undefined> {
    let denial: StorageError | undefined
    for (const name of names) {
      const location = folder + name
      try {
        return this.#found(location, await this.#io.open(location).read(undefined, this.#options))
      } catch (error) {
        if (isDenial(error)) denial ??= error
        else if (!isAbsence(error)) throw error
      }
    }
    if (denial !== undefined) throw denial
    return undefined
  }

  #found(location: string, bytes?: Uint8Array, isKnown = false): FoundMetadata {
    return { location, warnings: this.warnings, isKnown, ...(bytes === undefined ? {} : { bytes }) }
  }
}

/** A file or folder that is not there, in a store that is. */
function isAbsence(error: unknown): boolean {
  return isIcebergError(error, 'ERR_NOT_FOUND') && (error as Partial<NotFoundError>).storeMissing !== true
}

/** This request is not permitted, or not known; others may be. */
function isDenial(error: unknown): error is StorageError {
  return isIcebergError(error, 'ERR_STORAGE') && (error as Partial<StorageError>).denied === true
}

/**
 * Whether a metadata file of a name seen before is the file seen before. Metadata files are not written over, but a
 * table that was dropped and made again counts from `v1` on again (B184). Names with a uuid are never used again; of
 * the others the manifest list of the current snapshot, whose name has one, must still be in the folder.
 */
function isUnchanged(known: KnownMetadata, names: readonly string[]): boolean {
  const { metadataLocation, currentSnapshotId } = known
  if (UUID.test(metadataLocation.slice(metadataLocation.lastIndexOf('/')))) return true
  const list =
    currentSnapshotId === undefined ? undefined : known.snapshotById(currentSnapshotId)?.manifestList
  return list !== undefined && names.includes(list.replace(/^.*\//s, ''))
}

/** A failure of the store that trying again will not cure. */
function isForGood(error: unknown): boolean {
  return isIcebergError(error, 'ERR_STORAGE') && !(error as Partial<StorageError>).retryable
}

/** The files that a hint may mean, likeliest first. */
function hintedNames(hint: string): string[] {
  if (METADATA_FILE.test(hint)) return [hint]
  const asWritten = METADATA_SUFFIXES.map((suffix) => hint + suffix)
  const withV = METADATA_SUFFIXES.map((suffix) => `v${hint}${suffix}`)
  return /^\d+$/.test(hint) ? [...withV, ...asWritten] : [...asWritten, ...withV]
}

/** The version in the name of a metadata file (rule 3); undefined if it has none. */
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
