/**
 * Moved tables: metadata holds full locations, so a copied or renamed table points at where it was. A rebase
 * says which prefix of a stored location becomes which other when a file is opened. Stored locations
 * themselves do not change: deletes refer to data files by them, compared as raw strings.
 *
 * What follows the prefix is kept byte for byte, with one exception. Keys of object stores and paths are opaque text,
 * and HTTP locations are URLs: where a key or path moves into a URL, it is percent-encoded, `%` and `?` too (B178,
 * B179). The folder `k=a%2Fb` of a bucket is at `k=a%252Fb` of its web address. The other way nothing is decoded.
 */
import { InvalidArgumentError } from '../errors.ts'

export interface Rebase {
  readonly oldPrefix: string
  readonly newPrefix: string
}

/**
 * Locations that begin with `oldPrefix` begin with `newPrefix` instead. A plain string prefix: `s3://b/t`
 * also moves `s3://b/t2`, so end both with a slash, or neither. An empty old prefix moves everything.
 */
export function rebase(oldPrefix: string, newPrefix: string): Rebase {
  return { oldPrefix, newPrefix }
}

/**
 * The `OLD=NEW` of the command line; the first `=` splits, so a prefix with `=` in it needs {@link rebase}.
 *
 * @throws InvalidArgumentError without an `=`.
 */
export function parseRebase(text: string): Rebase {
  const at = text.indexOf('=')
  if (at === -1)
    throw new InvalidArgumentError(
      `Cannot rebase by '${text}': want OLD=NEW, two prefixes with an equals sign`,
    )
  return rebase(text.slice(0, at), text.slice(at + 1))
}

/** Some rebases at once: the longest old prefix that matches wins, and it is applied once. */
export class LocationMap {
  /** Longest old prefix first. */
  readonly #rebases: readonly Rebase[]

  /** @throws InvalidArgumentError if two rebases move the same prefix to different places. */
  constructor(rebases: Iterable<Rebase> = []) {
    const byOld = new Map<string, string>()
    for (const { oldPrefix, newPrefix } of rebases) {
      const other = byOld.get(oldPrefix)
      if (other !== undefined && other !== newPrefix)
        throw new InvalidArgumentError(
          `Cannot rebase '${oldPrefix}': both '${other}' and '${newPrefix}' are given as its new prefix`,
        )
      byOld.set(oldPrefix, newPrefix)
    }
    this.#rebases = Array.from(byOld, ([oldPrefix, newPrefix]) => rebase(oldPrefix, newPrefix)).sort(
      (a, b) => b.oldPrefix.length - a.oldPrefix.length,
    )
  }

  /** Where to open what is stored as `location`, absolute; the location itself if no rebase matches. */
  apply(location: string): string {
    for (const { oldPrefix, newPrefix } of this.#rebases) {
      if (!location.startsWith(oldPrefix)) continue
      const rest = location.slice(oldPrefix.length)
      return newPrefix + (isUrl(newPrefix) && !isUrl(location) ? encodePath(rest) : rest)
    }
    return location
  }
}

function isUrl(location: string): boolean {
  return /^https?:/i.test(location)
}

/** What may stand in a URL's path as itself does, but for `+`, which some servers take for a space. */
function encodePath(path: string): string {
  // Half a surrogate pair has no UTF-8 form.
  return path.replace(/\p{Surrogate}/gu, '\uFFFD').replace(/[^\w\-.~!$&'()*,;=:@/]+/g, encodeURIComponent)
}
