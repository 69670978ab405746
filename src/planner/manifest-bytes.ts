/**
 * The bytes of manifests, in the order they are needed, fetched ahead within a window.
 *
 * Small local files are read synchronously when their turn comes: an asynchronous read of 5 KB costs ten times more.
 * Everything else is requested ahead, at most {@link WINDOW_BYTES} of it (by the list's lengths) and
 * {@link WINDOW_FILES} files; the next manifest in order is always requested, whatever its size. A slow consumer
 * therefore slows the fetching down.
 */
import { NotFoundError } from '../errors.ts'
import type { FileIO } from '../io/file-io.ts'
import { SMALL_FILE_BYTES } from '../io/local-file-io.ts'
import type { ManifestCache } from '../manifest/manifest-cache.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { Warnings } from './warnings.ts'

/** Bytes requested and not yet decoded. */
export const WINDOW_BYTES = 32 * 1024 * 1024
/** Files requested and not yet decoded: twice what the request limit lets run at once. */
export const WINDOW_FILES = 64
/** What a manifest of unknown length is counted as. */
const ASSUMED_BYTES = 8 * 1024 * 1024

export interface ManifestBytesContext {
  readonly io: FileIO
  readonly cache: ManifestCache
  readonly resolve: (location: string) => string
  readonly signal: AbortSignal
  readonly warnings: Warnings
}

export class ManifestBytes {
  readonly #manifests: readonly ManifestFile[]
  readonly #context: ManifestBytesContext
  readonly #requested = new Map<number, Promise<Uint8Array>>()
  #nextRequest = 0
  #windowBytes = 0

  constructor(manifests: readonly ManifestFile[], context: ManifestBytesContext) {
    this.#manifests = manifests
    this.#context = context
  }

  /** Starts requesting; to be called early where something else is done first. */
  prefetch(): void {
    while (this.#nextRequest < this.#manifests.length && this.#mayRequest()) {
      const index = this.#nextRequest++
      const manifest = this.#manifests[index]
      if (this.#isCheapLater(manifest)) continue
      this.#windowBytes += lengthOf(manifest)
      const bytes = this.#read(manifest)
      // The rejection is seen when its turn comes; until then it is nobody's.
      bytes.catch(() => undefined)
      this.#requested.set(index, bytes)
    }
  }

  /** The bytes of manifest `index`; to be asked in order. Synchronous where that is cheaper. */
  take(index: number): Uint8Array | Promise<Uint8Array> {
    this.#context.signal.throwIfAborted()
    this.#nextRequest = Math.max(this.#nextRequest, index)
    this.prefetch()
    const requested = this.#requested.get(index)
    if (requested !== undefined) {
      return requested.finally(() => {
        this.#requested.delete(index)
        this.#windowBytes -= lengthOf(this.#manifests[index])
        this.prefetch()
      })
    }
    return this.#readNow(this.#manifests[index])
  }

  #mayRequest(): boolean {
    if (this.#requested.size === 0) return true
    if (this.#requested.size >= WINDOW_FILES) return false
    return this.#windowBytes + lengthOf(this.#manifests[this.#nextRequest]) <= WINDOW_BYTES
  }

  /** In the cache, or a small local file: not worth a request ahead. */
  #isCheapLater(manifest: ManifestFile): boolean {
    const { cache, io, resolve } = this.#context
    const location = resolve(manifest.manifestPath)
    if (cache.hasFile(location, io.identity)) return true
    return isSmall(manifest) && io.open(location, manifest.manifestLength).readSync !== undefined
  }

  #readNow(manifest: ManifestFile): Uint8Array | Promise<Uint8Array> {
    const { io, resolve } = this.#context
    const location = resolve(manifest.manifestPath)
    const kept = this.#kept(manifest, location)
    if (kept !== undefined) return kept
    const file = io.open(location, manifest.manifestLength)
    if (!isSmall(manifest) || file.readSync === undefined) return this.#read(manifest)
    try {
      return this.#arrived(manifest, location, file.readSync())
    } catch (error) {
      throw namedManifest(error, manifest, location)
    }
  }

  async #read(manifest: ManifestFile): Promise<Uint8Array> {
    const { io, resolve, signal } = this.#context
    const location = resolve(manifest.manifestPath)
    const kept = this.#kept(manifest, location)
    if (kept !== undefined) return kept
    try {
      const bytes = await io.open(location, manifest.manifestLength).read(undefined, { signal })
      return this.#arrived(manifest, location, bytes)
    } catch (error) {
      throw namedManifest(error, manifest, location)
    }
  }

  #kept(manifest: ManifestFile, location: string): Uint8Array | undefined {
    const { cache, io } = this.#context
    const bytes = cache.lend(location, io.identity)
    if (bytes !== undefined) this.#checkLength(manifest, location, bytes)
    return bytes
  }

  #arrived(manifest: ManifestFile, location: string, bytes: Uint8Array): Uint8Array {
    const { cache, io } = this.#context
    this.#checkLength(manifest, location, bytes)
    cache.keepFile(location, bytes, io.identity)
    return bytes
  }

  #checkLength(manifest: ManifestFile, location: string, bytes: Uint8Array): void {
    const claimed = manifest.manifestLength
    if (claimed === undefined || claimed === bytes.length) return
    this.#context.warnings.add(
      'a manifest has another length than its list says',
      `Manifest ${location} has ${bytes.length} bytes, but the manifest list says ${claimed}.`,
    )
  }
}

function isSmall(manifest: ManifestFile): boolean {
  return (manifest.manifestLength ?? 0) <= SMALL_FILE_BYTES
}

function lengthOf(manifest: ManifestFile): number {
  return manifest.manifestLength ?? ASSUMED_BYTES
}

/** A missing manifest is named as the metadata names it too, where a rebase moved it. */
function namedManifest(error: unknown, manifest: ManifestFile, location: string): unknown {
  if (!(error instanceof NotFoundError) || location === manifest.manifestPath) return error
  return new NotFoundError(`${error.message} (manifest ${manifest.manifestPath}, moved by a rebase)`, {
    location,
    cause: error,
  })
}
