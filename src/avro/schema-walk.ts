/** Values that no operation of a cursor plan stands for, skipped by walking their schema: odd shapes, partition tuples. */
import { CursorFault, longLength, OVERLONG } from './cursor-fault.ts'
import type { AvroSchema } from './schema.ts'
import { readVarint, VARINT } from './varint.ts'

/** Looks through a union at its value. */
export function branch(
  type: AvroSchema,
  b: Uint8Array,
  at: number,
  end: number,
): { type: AvroSchema; at: number } {
  if (type.type !== 'union') return { type, at }
  if (!readVarint(b, at, end)) throw new CursorFault(OVERLONG, at)
  const { value, next } = VARINT
  if (value < 0 || value >= type.branches.length) throw new CursorFault(`a union has no branch ${value}`, at)
  return { type: type.branches[value], at: next }
}

/** Data may nest as deep as it likes in a schema that refers to itself; the stack may not. */
const MAX_DATA_DEPTH = 200

/**
 * Skips one value of any type by walking its schema.
 *
 * @returns where the next one starts, or -1 when the value does not end before `end`
 */
export function skipValue(type: AvroSchema, bytes: Uint8Array, at: number, end: number): number {
  try {
    const next = skipNode(type, bytes, at, end, 0)
    return next > end ? -1 : next
  } catch (fault) {
    if (fault instanceof CursorFault) return -1
    throw fault
  }
}

/**
 * Skips one value; gives where the next one starts, which may be past `end`.
 *
 * @throws CursorFault for what is no value of the type
 */
export function skipNode(type: AvroSchema, b: Uint8Array, at: number, end: number, depth: number): number {
  if (depth > MAX_DATA_DEPTH) throw new CursorFault(`a value nests deeper than ${MAX_DATA_DEPTH} levels`, at)
  if (at > end) throw new CursorFault('the record runs past the block', at)
  switch (type.type) {
    case 'null':
      return at
    case 'boolean':
      return at + 1
    case 'int':
    case 'long':
    case 'enum':
      if (!readVarint(b, at, end)) throw new CursorFault(OVERLONG, at)
      return VARINT.next
    case 'float':
      return at + 4
    case 'double':
      return at + 8
    case 'fixed':
      return at + type.size
    case 'bytes':
    case 'string': {
      const length = longLength(b, at, end, -1)
      return VARINT.next + length
    }
    case 'union': {
      const chosen = branch(type, b, at, end)
      return skipNode(chosen.type, b, chosen.at, end, depth + 1)
    }
    case 'record': {
      let p = at
      for (const field of type.fields) p = skipNode(field.type, b, p, end, depth + 1)
      return p
    }
    case 'array':
    case 'map': {
      let p = at
      for (;;) {
        if (!readVarint(b, p, end)) throw new CursorFault(OVERLONG, p)
        let n = VARINT.value
        p = VARINT.next | 0
        if (n === 0) return p
        if (n < 0) {
          if (!readVarint(b, p, end)) throw new CursorFault(OVERLONG, p)
          if (VARINT.value < 0 || VARINT.value > end - VARINT.next)
            throw new CursorFault(`a block of ${VARINT.value} bytes runs past its end`, p)
          p = VARINT.next + VARINT.value
          continue
        }
        if (n > end - p) throw new CursorFault(`${n} items are claimed in ${end - p} bytes`, p)
        for (; n > 0; n--) {
          const from = p
          if (type.type === 'map') p = longLength(b, p, end, -1) + VARINT.next
          p = skipNode(type.type === 'map' ? type.values : type.items, b, p, end, depth + 1)
          // Nulls take no bytes, and then none of them does.
          if (p === from) break
        }
      }
    }
  }
}
