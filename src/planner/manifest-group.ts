/**
 * The manifests of a snapshot, sorted out: data and delete manifests in list order, each path once, without those
 * that hold no live entries (R1.15, R2.14, R2.15), or none that the filter could match (R2.16).
 */
import { InvalidMetadataError } from '../errors.ts'
import type { ManifestContent, ManifestFile } from '../manifest/manifest-file.ts'
import type { Warnings } from './warnings.ts'

/** One kind of manifests: how many there were, and which are to be read. */
export interface ManifestSelection {
  readonly total: number
  readonly selected: readonly ManifestFile[]
}

export interface ManifestGroup {
  readonly data: ManifestSelection
  readonly deletes: ManifestSelection
}

/** A fraction of a millisecond. */
const ROWS_PER_STEP = 256

/**
 * In steps, for there may be a hundred thousand manifests.
 *
 * @param mightMatch asked for each row whose manifest may hold live files, until one of a path's rows does
 * @param absolute what a stored path stands for, where different texts may name one manifest
 */
export function* selectManifests(
  manifests: readonly ManifestFile[],
  warnings: Warnings,
  mightMatch: (manifest: ManifestFile) => boolean = () => true,
  absolute?: (path: string) => string,
): Generator<undefined, ManifestGroup> {
  const timesListed = new Map<string, number>()
  // Of several rows for one path the first that may hold live files counts, unless no row might match: skipping is
  // what needs agreement.
  const live = new Map<string, ManifestFile[]>()
  const contentOf = new Map<string, ManifestContent>()
  for (const [i, manifest] of manifests.entries()) {
    if (i % ROWS_PER_STEP === 0) yield
    const path = absolute?.(manifest.manifestPath) ?? manifest.manifestPath
    timesListed.set(path, (timesListed.get(path) ?? 0) + 1)
    const content = contentOf.get(path)
    if (content !== undefined && content !== manifest.content) {
      throw new InvalidMetadataError(
        `Cannot plan: manifest ${path} is listed both as a data and as a delete manifest`,
        { location: path },
      )
    }
    contentOf.set(path, manifest.content)
    if (!mayHoldLiveFiles(manifest)) continue
    const rows = live.get(path)
    if (rows === undefined) live.set(path, [manifest])
    else rows.push(manifest)
  }
  for (const [path, times] of timesListed) {
    if (times > 1)
      warnings.add(
        'a manifest is listed more than once',
        `Manifest ${path} is listed ${times} times in the manifest list; it is read once.`,
      )
  }
  const selected: ManifestFile[] = []
  let asked = 0
  for (const rows of live.values()) {
    if (asked++ % ROWS_PER_STEP === 0) yield
    if (rows.some(mightMatch)) selected.push(rows[0])
  }
  const ofKind = (deletes: boolean): ManifestSelection => ({
    total: manifests.filter((manifest) => manifest.isDeleteManifest === deletes).length,
    selected: selected.filter((manifest) => manifest.isDeleteManifest === deletes),
  })
  return { data: ofKind(false), deletes: ofKind(true) }
}

/** Skipped only if added and existing are both known to be zero; the deleted count never matters (R2.14, B045). */
function mayHoldLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0
}
