/** Objects that differ and are of one size, for a server process to make by itself. */
export interface NumberedObjects {
  /** What each key begins with; its number follows. */
  readonly prefix: string
  readonly count: number
  /** Of each object. */
  readonly bytes: number
}

export function* numberedObjects({
  prefix,
  count,
  bytes,
}: NumberedObjects): Generator<[key: string, bytes: Uint8Array]> {
  for (let i = 0; i < count; i++) yield [`${prefix}${i}`, Buffer.alloc(bytes, `object ${i} `)]
}
