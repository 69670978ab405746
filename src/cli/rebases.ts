/**
 * The `--rebase OLD=NEW` options, all together.
 */
import type { Rebase } from '../index.ts'
import { isIcebergError, LocationMap, parseRebase } from '../index.ts'
import { UsageError } from './failure.ts'

/** @throws UsageError for one without `=`, and for two that move the same prefix to different places */
export function parseRebases(texts: readonly string[]): Rebase[] {
  try {
    const rebases = texts.map((text) => parseRebase(text))
    new LocationMap(rebases)
    return rebases
  } catch (error) {
    if (!isIcebergError(error, 'ERR_INVALID_ARGUMENT')) throw error
    throw new UsageError(error.message)
  }
}
