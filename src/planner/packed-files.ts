/**
 * The files of a job on their way to a worker: small ones are copied into one buffer that is moved, for a view of
 * shared memory costs more to send than 64 KB to copy; large ones are sent as views of shared memory.
 */

/** Largest file that is copied. */
const MAX_COPIED_BYTES = 64 * 1024

export interface PackedFiles {
  readonly copied: ArrayBuffer
  /** Where each copied file ends in `copied`; of a shared one, where the one before it ends. */
  readonly ends: Int32Array
  /** By position. */
  readonly shared: ReadonlyMap<number, Uint8Array>
}

/** @param share gives the same bytes in shared memory */
export function packFiles(
  files: readonly Uint8Array[],
  share: (bytes: Uint8Array) => Uint8Array,
): PackedFiles {
  const ends = new Int32Array(files.length)
  const shared = new Map<number, Uint8Array>()
  let end = 0
  for (const [i, bytes] of files.entries()) {
    if (bytes.length > MAX_COPIED_BYTES) shared.set(i, share(bytes))
    else end += bytes.length
    ends[i] = end
  }
  const copied = new Uint8Array(end)
  for (const [i, bytes] of files.entries()) if (!shared.has(i)) copied.set(bytes, ends[i] - bytes.length)
  return { copied: copied.buffer, ends, shared }
}

/** Views, one per file. */
export function unpackFiles({ copied, ends, shared }: PackedFiles): Uint8Array[] {
  return Array.from(ends, (end, i) => {
    const start = i === 0 ? 0 : ends[i - 1]
    return shared.get(i) ?? new Uint8Array(copied, start, end - start)
  })
}
