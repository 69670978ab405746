/**
 * Iceberg types and single values as tests need them to write tables: independent of the library on purpose, so
 * that a mistake there does not cancel itself out here.
 */
import type { AvroSchema } from './avro-encoder.ts'

export interface SourceField {
  id: number
  name: string
  required: boolean
  type: unknown
}

/** The field with this id, nested ones included. */
export function findField(type: unknown, id: number): SourceField | undefined {
  if (typeof type !== 'object' || type === null) return undefined
  const { fields = [], element, key, value } = type as Record<string, unknown> & { fields?: SourceField[] }
  for (const field of fields) {
    const found = field.id === id ? field : findField(field.type, id)
    if (found !== undefined) return found
  }
  return findField(element, id) ?? findField(key, id) ?? findField(value, id)
}

/** Result type of a transform: section "Partition Transforms" of the specification. */
export function transformResultType(transform: string, sourceType: string): string {
  if (transform === 'day') return 'date'
  if (['year', 'month', 'hour'].includes(transform) || transform.startsWith('bucket')) return 'int'
  return sourceType
}

/** The Avro type of a primitive Iceberg type, as the Java writer names it. */
export function avroTypeOf(type: string): AvroSchema {
  const fixed = /^fixed\[\s*(\d+)\s*\]$/.exec(type)
  if (fixed !== null) return { type: 'fixed', name: `fixed_${fixed[1]}`, size: Number(fixed[1]) }
  const decimal = /^decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(type)
  if (decimal !== null) return decimalAvroType(Number(decimal[1]), Number(decimal[2]))
  switch (type) {
    case 'binary':
      return 'bytes'
    case 'date':
      return { type: 'int', logicalType: 'date' }
    case 'time':
      return { type: 'long', logicalType: 'time-micros' }
    case 'timestamp':
      return { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': false }
    case 'timestamptz':
      return { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': true }
    case 'timestamp_ns':
      return { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': false }
    case 'timestamptz_ns':
      return { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': true }
    case 'uuid':
      return { type: 'fixed', name: 'uuid_fixed', size: 16, logicalType: 'uuid' }
    default:
      return type
  }
}

function decimalAvroType(precision: number, scale: number): AvroSchema {
  let size = 1
  while (2n ** BigInt(8 * size - 1) < 10n ** BigInt(precision)) size++
  return {
    type: 'fixed',
    name: `decimal_${precision}_${scale}`,
    size,
    logicalType: 'decimal',
    precision,
    scale,
  }
}

/**
 * The bytes of a bound (Appendix D of the specification) from a raw value: booleans, numbers or bigints, strings,
 * bytes; a decimal is its unscaled bigint or the bytes of its Avro fixed.
 */
export function singleValueBytes(type: string, value: unknown): Uint8Array {
  if (type.startsWith('decimal'))
    return minimalBytes(typeof value === 'bigint' ? value : fromTwosComplement(value))
  const out = Buffer.alloc(8)
  switch (type) {
    case 'boolean':
      return Uint8Array.of(value === true ? 1 : 0)
    case 'int':
    case 'date':
      out.writeInt32LE(Number(value))
      return new Uint8Array(out.subarray(0, 4))
    case 'float':
      out.writeFloatLE(value as number)
      return new Uint8Array(out.subarray(0, 4))
    case 'double':
      out.writeDoubleLE(value as number)
      return new Uint8Array(out)
    case 'string':
      return new Uint8Array(Buffer.from(value as string))
    default:
      if (value instanceof Uint8Array) return value
      out.writeBigInt64LE(BigInt(value as number | bigint))
      return new Uint8Array(out)
  }
}

function fromTwosComplement(value: unknown): bigint {
  const bytes = value as Uint8Array
  const unsigned = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  return BigInt.asIntN(8 * bytes.length, unsigned)
}

function minimalBytes(unscaled: bigint): Uint8Array {
  let size = 1
  while (BigInt.asIntN(8 * size, unscaled) !== unscaled) size++
  return Uint8Array.from({ length: size }, (_, i) =>
    Number(BigInt.asUintN(8, unscaled >> BigInt(8 * (size - 1 - i)))),
  )
}

/** Order of two raw values of one type, as a number below, equal to or above 0; neither is null or NaN. */
export function compareRawValues(type: string, a: unknown, b: unknown): number {
  if (type.startsWith('decimal')) return compareNumbers(fromTwosComplement(a), fromTwosComplement(b))
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  // UTF-8 bytes, not UTF-16 units, decide the order of strings.
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  return compareNumbers(a as number | bigint, b as number | bigint)
}

function compareNumbers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
