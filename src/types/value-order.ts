/**
 * The order of the values of a type (R5.19, R5.20). Where Java's order and the meaning of a filter differ, the meaning
 * decides: -0 equals 0, and NaN, which no comparison of a filter should meet, stands last and equals itself.
 */
import { InvalidArgumentError } from '../errors.ts'
import { formatType, type Type } from './type.ts'
import type { Value } from './value.ts'

/**
 * Below 0 if `a` comes before `b`, above 0 if after, 0 if they are equal. Both are values of `type`; decimals so have
 * one scale. A uuid is compared by unsigned bytes; that some bounds of uuids are in another order is for their reader to
 * know (R5.20).
 *
 * @throws InvalidArgumentError for a type that has no values, or none that are compared: unknown, variant, geometry,
 * geography, and nested types.
 */
export function compareValues(type: Type, a: Value, b: Value): number {
  switch (type.kind) {
    case 'boolean':
      return Number(a) - Number(b)
    case 'int':
    case 'date':
      return (a as number) - (b as number)
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'decimal':
    case 'uuid':
      // The digits of a uuid are in the order of its bytes.
      return a < b ? -1 : a > b ? 1 : 0
    case 'float':
    case 'double':
      return compareFloats(a as number, b as number)
    case 'string':
      return compareStrings(a as string, b as string)
    case 'fixed':
    case 'binary':
      return Buffer.compare(a as Uint8Array, b as Uint8Array)
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
      throw new InvalidArgumentError(
        `Cannot compare values of type ${formatType(type)}: they have no order in Iceberg`,
      )
  }
}

/** Whether the two are one value in a filter; same errors as {@link compareValues}. */
export function valuesEqual(type: Type, a: Value, b: Value): boolean {
  return compareValues(type, a, b) === 0
}

function compareFloats(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
}

/**
 * Order by code point, which is that of the UTF-8 bytes. `<` compares UTF-16 units and so puts U+10000, which begins
 * with the unit D800, before U+FFFF.
 */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const unitOfA = a.charCodeAt(at)
    const unitOfB = b.charCodeAt(at)
    if (unitOfA !== unitOfB) return ranked(unitOfA) - ranked(unitOfB)
  }
  return a.length - b.length
}

/** A UTF-16 unit with the surrogates, D800 to DFFF, moved above all others: they stand for code points above FFFF. */
function ranked(unit: number): number {
  return (unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit
}
