/** Listing by one of several stores: not all of them can. */
import { UnsupportedFeatureError } from '../errors.ts'
import type { FileIO, ReadOptions } from './file-io.ts'
import { withoutSecrets } from '../without-secrets.ts'

/** As {@link FileIO.list}. Rejects with UnsupportedFeatureError if the store has no listing. */
export async function listFolder(store: FileIO, folder: string, options?: ReadOptions): Promise<string[]> {
  if (store.list !== undefined) return await store.list(folder, options)
  const location = withoutSecrets(folder)
  throw new UnsupportedFeatureError(`Cannot list ${location}: ${store.identity} has no way to list files`, {
    location,
  })
}
