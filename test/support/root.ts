/** Where the project is, for tests that read its files: they run from a build folder of any depth. */
import { existsSync } from 'node:fs'

/** The folder that holds tsconfig.json, with a trailing slash. */
export function projectRoot(): URL {
  let folder = new URL('.', import.meta.url)
  while (!existsSync(new URL('tsconfig.json', folder))) {
    const parent = new URL('..', folder)
    if (parent.href === folder.href) throw new Error(`Cannot find tsconfig.json above ${import.meta.url}`)
    folder = parent
  }
  return folder
}
