/**
 * The manifests of a snapshot, sorted out: data and delete manifests in list order, each path once, without those
 * that hold no live entries (R1.15, R2.14, R2.15), or none that the filter could match (R2.16).
 */
import { InvalidMetadataError } from '../errors.ts'
import { ManifestContent, type ManifestFile } from '../manifest/manifest-file.ts'
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
const ROWS_PER_STEP = 512

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
  const pathOf = ({ manifestPath }: ManifestFile): string => absolute?.(manifestPath) ?? manifestPath
  const totals = [0, 0]
  const seen = new Set<string>()
  const repeated = new Map<string, ManifestFile[]>()
  for (const [i, row] of manifests.entries()) {
    if (i % ROWS_PER_STEP === 0) yield
    totals[row.content]++
    const path = pathOf(row)
    if (seen.size === seen.add(path).size) repeated.set(path, [])
  }
  // Of several rows for one path the first that may hold live files counts, unless no row might match: skipping is what
  // needs agreement.
  const decided = new Map<ManifestFile, boolean>()
  if (repeated.size > 0) {
    for (const [i, row] of manifests.entries()) {
      if (i % ROWS_PER_STEP === 0) yield
      repeated.get(pathOf(row))?.push(row)
    }
  }
  let asked = 0
  for (const [path, rows] of repeated) {
    checkRepeated(path, rows, warnings)
    const live = rows.filter(mayHoldLiveFiles)
    for (const row of live) {
      if (asked++ % ROWS_PER_STEP === 0) yield
      decided.set(row, false)
      if (decided.get(live[0]) !== true && mightMatch(row)) decided.set(live[0], true)
    }
  }
  const selected: ManifestFile[][] = [[], []]
  for (const [i, row] of manifests.entries()) {
    if (i % ROWS_PER_STEP === 0) yield
    if (mayHoldLiveFiles(row) && (decided.get(row) ?? mightMatch(row))) selected[row.content].push(row)
  }
  const ofKind = (content: ManifestContent): ManifestSelection => ({
    total: totals[content],
    selected: selected[content],
  })
  return { data: ofKind(ManifestContent.DATA), deletes: ofKind(ManifestContent.DELETES) }
}

/** @throws InvalidMetadataError for a path that is listed with both contents */
function checkRepeated(path: string, rows: readonly ManifestFile[], warnings: Warnings): void {
  if (rows.some(({ content }) => content !== rows[0].content)) {
    throw new InvalidMetadataError(
      `Cannot plan: manifest ${path} is listed both as a data and as a delete manifest`,
      { location: path },
    )
  }
  warnings.add(
    'a manifest is listed more than once',
    `Manifest ${path} is listed ${rows.length} times in the manifest list; it is read once.`,
  )
}

/** Skipped only if added and existing are both known to be zero; the deleted count never matters (R2.14, B045). */
function mayHoldLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0
}
