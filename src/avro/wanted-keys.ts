/** Which keys of maps a decoding keeps: an argument of the run, not of the plan. */

/**
 * Which keys of maps are kept: all, or those in a table of small ids and a short list of large ones. Wanted keys have
 * slots, in the order in which they were given.
 */
export interface WantedKeys {
  readonly all: boolean
  /** How many different keys are wanted; -1 for all. */
  readonly count: number
  /** Slot plus one of wanted ids; ids past its end are looked up in `large`. */
  readonly small: Int32Array
  readonly large: Int32Array
  /** Slots of the ids in `large`. */
  readonly slotOfLarge: Int32Array
  /** `mayBegin[byte] === 0` for bytes that the encoding of no wanted key begins with: the rest need not be decoded. */
  readonly mayBegin: Uint8Array
}

/** Ids below this get a byte each in {@link WantedKeys.small}. */
const MAX_SMALL_KEY = 65_536

/**
 * Builds the look-up of wanted keys.
 *
 * @param ids a repeated one counts once
 */
export function wantedKeys(ids: 'all' | readonly number[]): WantedKeys {
  const mayBegin = new Uint8Array(256)
  const none = new Int32Array(0)
  if (ids === 'all')
    return { all: true, count: -1, small: none, large: none, slotOfLarge: none, mayBegin: mayBegin.fill(1) }
  const slots = [...new Set(ids)].map((id, slot) => ({ id, slot }))
  const isSmall = ({ id }: { id: number }): boolean => id >= 0 && id < MAX_SMALL_KEY
  const small = new Int32Array(Math.max(0, ...slots.filter(isSmall).map(({ id }) => id + 1)))
  for (const { id, slot } of slots.filter(isSmall)) small[id] = slot + 1
  for (const { id } of slots) {
    const zigzag = ((id << 1) ^ (id >> 31)) >>> 0
    // A small key may be written in more bytes than it needs.
    mayBegin[(zigzag & 127) | 128] = 1
    if (zigzag < 128) mayBegin[zigzag] = 1
  }
  const large = slots.filter((key) => !isSmall(key))
  return {
    all: false,
    count: slots.length,
    small,
    large: Int32Array.from(large, ({ id }) => id),
    slotOfLarge: Int32Array.from(large, ({ slot }) => slot),
    mayBegin,
  }
}

/** The slot of a key, or -1 for one that is not wanted; 0 where all are. */
export function slotOf(key: number, wanted: WantedKeys): number {
  if (wanted.all) return 0
  if (key >= 0 && key < wanted.small.length) return wanted.small[key] - 1
  const { large } = wanted
  for (let i = 0; i < large.length; i++) if (large[i] === key) return wanted.slotOfLarge[i]
  return -1
}
