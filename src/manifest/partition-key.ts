/**
 * Partition tuples as canonical bytes: spec id, then one tagged value per spec field. Two tuples are equal exactly
 * when their keys are (R7.9): under one spec id, null equals null, NaN equals NaN, -0.0 differs from 0.0, and it
 * does not matter whether one manifest stored an int and another a long, or a decimal as fixed and as bytes.
 *
 *     int32 LE  spec id
 *     per field, in the order of the spec:
 *       00                           null, or a field that the file lacks
 *       01  int64 LE                 boolean, int, long, date, time, timestamps (micros or nanos as the type says)
 *       02  float64 LE               float and double, NaN in one form
 *       03  uint32 LE length, bytes  string
 *       04  uint32 LE length, bytes  binary, fixed
 *       05  uint32 LE length, bytes  decimal, shortest big-endian two's complement
 *       06  16 bytes                 uuid
 *       07  int64 LE                 boolean of a field whose type is unknown
 */
import { skipValue } from '../avro/schema-walk.ts'
import type { AvroPrimitive, AvroSchema } from '../avro/schema.ts'
import { readVarint, VARINT } from '../avro/varint.ts'
import { CorruptFileError } from '../errors.ts'
import type { PartitionSpec } from '../metadata/partition-spec.ts'
import { partitionFields, sanitizeName } from '../metadata/partition-spec.ts'
import type { Schema } from '../metadata/schema.ts'
import { decodeUnscaled, formatUuid } from '../types/single-value.ts'
import { formatType, type Type } from '../types/type.ts'
import type { Value } from '../types/value.ts'

/** A spec with the types of its values under one schema. */
export interface PartitionType {
  readonly spec: PartitionSpec
  readonly specId: number
  readonly fields: readonly PartitionTypeField[]
}

export interface PartitionTypeField {
  readonly fieldId: number
  readonly name: string
  /** `unknown` when the source column is gone (R1.10): the file's own type is trusted then. */
  readonly type: Type
}

/** A tuple's values in the order of the spec's fields. */
export type PartitionTuple = readonly (Value | null)[]

/** Binds a spec to a schema, leniently (R1.10). */
export function partitionType(spec: PartitionSpec, schema: Schema): PartitionType {
  return {
    spec,
    specId: spec.specId,
    fields: partitionFields(spec, schema).map(({ field, type }) => ({
      fieldId: field.fieldId,
      name: field.name,
      type,
    })),
  }
}

/** 38 digits. */
const MAX_DECIMAL_BYTES = 16

const TAG = { NULL: 0, INTEGER: 1, DOUBLE: 2, STRING: 3, BYTES: 4, DECIMAL: 5, UUID: 6, BOOLEAN: 7 } as const

interface SourceField {
  readonly schema: AvroSchema
  /** Position in the spec, or -1 for a field that the spec does not have. */
  readonly position: number
}

/** Turns raw Avro encodings of one writer's partition record into keys. */
export class PartitionKeyEncoder {
  readonly #type: PartitionType
  readonly #writerType: AvroSchema | undefined
  readonly #sources: readonly SourceField[]
  readonly #starts: Int32Array
  readonly #schemas: (AvroSchema | undefined)[]
  /** Names of spec fields that the writer's record lacks: their values are not known (B074). */
  readonly missing: readonly string[]
  /** Names of fields of the writer's record that the spec does not have: tuples that differ only there look equal. */
  readonly extra: readonly string[]
  #out = new Uint8Array(256)
  #view = new DataView(this.#out.buffer)
  #length = 0

  /**
   * @param writerType the type of the `partition` field in the manifest, if it has one
   * @param byName true for a file without field ids
   */
  constructor(type: PartitionType, writerType: AvroSchema | undefined, byName: boolean) {
    this.#type = type
    this.#writerType = writerType
    const record =
      writerType?.type === 'union'
        ? writerType.branches.find(({ type: kind }) => kind === 'record')
        : writerType
    const positions = new Set<number>()
    this.#sources =
      record?.type === 'record'
        ? record.fields.map((field): SourceField => {
            const position = type.fields.findIndex(({ fieldId, name }) =>
              byName
                ? name === field.originalName || sanitizeName(name) === field.name
                : fieldId === field.id,
            )
            if (position >= 0) positions.add(position)
            return { schema: field.type, position }
          })
        : []
    this.missing = type.fields
      .filter((_, position) => !positions.has(position) && !isVoid(type, position))
      .map(({ name }) => name)
    this.extra =
      record?.type === 'record'
        ? record.fields.filter((_, i) => this.#sources[i].position < 0).map((field) => field.originalName)
        : []
    this.#starts = new Int32Array(type.fields.length)
    this.#schemas = type.fields.map(() => undefined)
  }

  /**
   * Encodes one tuple.
   *
   * @param raw holds the Avro encoding in `[start, end)`
   * @returns the key: a view that the next call overwrites
   */
  encode(raw: Uint8Array, start: number, end: number, location: string): Uint8Array {
    this.#schemas.fill(undefined)
    this.#locate(raw, start, end, location)
    this.#length = 4
    this.#view.setInt32(0, this.#type.specId, true)
    for (let position = 0; position < this.#schemas.length; position++) {
      const schema = this.#schemas[position]
      if (schema === undefined || schema.type === 'null') this.#tag(TAG.NULL, 0)
      else this.#value(schema, this.#type.fields[position].type, raw, this.#starts[position], end, location)
    }
    return this.#out.subarray(0, this.#length)
  }

  /** Finds where each spec field's value starts, looking through unions. */
  #locate(raw: Uint8Array, start: number, end: number, location: string): void {
    let at = start
    if (this.#writerType?.type === 'union') {
      at = varint(raw, at, end, location)
      if (this.#writerType.branches.at(VARINT.value)?.type !== 'record') return
    }
    for (const { schema, position } of this.#sources) {
      let chosen = schema
      if (schema.type === 'union') {
        at = varint(raw, at, end, location)
        if (VARINT.value < 0 || VARINT.value >= schema.branches.length) throw broken(location)
        chosen = schema.branches[VARINT.value]
      }
      if (position >= 0) {
        this.#starts[position] = at
        this.#schemas[position] = chosen
      }
      at = skipValue(chosen, raw, at, end)
      if (at < 0) throw broken(location)
    }
  }

  #value(
    schema: AvroSchema,
    type: Type,
    raw: Uint8Array,
    start: number,
    end: number,
    location: string,
  ): void {
    switch (schema.type) {
      case 'boolean':
        this.#integer(BigInt(raw[start]), type.kind === 'unknown' ? TAG.BOOLEAN : TAG.INTEGER)
        return
      case 'int':
      case 'long': {
        const units = unitsPerStored(schema, type)
        // A varint of up to seven bytes is exact as a number, which is much cheaper than a BigInt.
        const next = varint(raw, start, end, location)
        if (units === 1n && next - start <= EXACT_VARINT_BYTES) this.#smallInteger(VARINT.value)
        else this.#integer(converted(bigVarint(raw, start, end, location), units, type, location))
        return
      }
      case 'float':
      case 'double': {
        const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
        const value = schema.type === 'float' ? view.getFloat32(start, true) : view.getFloat64(start, true)
        this.#tag(TAG.DOUBLE, 8)
        // NaN has many bit patterns; setFloat64 of the one JavaScript NaN writes the canonical one.
        this.#view.setFloat64(this.#length - 8, Number.isNaN(value) ? NaN : value, true)
        return
      }
      case 'fixed':
        this.#sized(schema, type, raw, start, start + schema.size, location)
        return
      case 'bytes':
      case 'string': {
        const from = varint(raw, start, end, location)
        this.#sized(schema, type, raw, from, from + VARINT.value, location)
        return
      }
      default:
        throw new CorruptFileError(
          `Cannot read ${location}: a partition field has the Avro type ${schema.type}, which it cannot have`,
          { location },
        )
    }
  }

  #sized(
    schema: Extract<AvroSchema, { logicalType: string | undefined }>,
    type: Type,
    raw: Uint8Array,
    start: number,
    end: number,
    location: string,
  ): void {
    if (type.kind === 'uuid' || schema.logicalType === 'uuid') {
      const bytes = schema.type === 'string' ? parseUuid(raw.subarray(start, end)) : raw.subarray(start, end)
      if (bytes?.length !== 16)
        throw new CorruptFileError(
          `Cannot read ${location}: a uuid in a partition has ${end - start} bytes`,
          {
            location,
          },
        )
      this.#tag(TAG.UUID, 16)
      this.#out.set(bytes, this.#length - 16)
      return
    }
    if (type.kind === 'decimal' || schema.logicalType === 'decimal') {
      let from = start
      // A leading byte that only repeats the sign of the next one says nothing.
      while (from < end - 1 && raw[from] === (raw[from + 1] > 127 ? 255 : 0)) from++
      if (end - from < 1 || end - from > MAX_DECIMAL_BYTES)
        throw new CorruptFileError(
          `Cannot read ${location}: a decimal in a partition has ${end - start} bytes`,
          {
            location,
          },
        )
      this.#bytes(TAG.DECIMAL, raw, from, end)
      return
    }
    const isText = type.kind === 'string' || (type.kind === 'unknown' && schema.type === 'string')
    this.#bytes(isText ? TAG.STRING : TAG.BYTES, raw, start, end)
  }

  #smallInteger(value: number): void {
    this.#tag(TAG.INTEGER, 8)
    this.#view.setInt32(this.#length - 8, value | 0, true)
    this.#view.setInt32(this.#length - 4, Math.floor(value / 2 ** 32), true)
  }

  #integer(value: bigint, tag: number = TAG.INTEGER): void {
    this.#tag(tag, 8)
    this.#view.setBigInt64(this.#length - 8, value, true)
  }

  #bytes(tag: number, raw: Uint8Array, start: number, end: number): void {
    this.#tag(tag, 4 + end - start)
    const at = this.#length - (4 + end - start)
    this.#view.setUint32(at, end - start, true)
    this.#out.set(raw.subarray(start, end), at + 4)
  }

  /** Writes a tag and makes room for what follows; `#length` is then behind it. */
  #tag(tag: number, following: number): void {
    const needed = this.#length + 1 + following
    if (needed > this.#out.length) {
      const out = new Uint8Array(needed * 2)
      out.set(this.#out.subarray(0, this.#length))
      this.#out = out
      this.#view = new DataView(out.buffer)
    }
    this.#out[this.#length] = tag
    this.#length = needed
  }
}

/** A void field is null whether it is stored or not. */
function isVoid({ spec }: PartitionType, position: number): boolean {
  return spec.fields.at(position)?.transform.kind === 'void'
}

/** The values behind a key, in the order of the spec's fields. */
export function decodePartitionKey(key: Uint8Array, type: PartitionType): PartitionTuple {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength)
  let at = 4
  return type.fields.map((field): Value | null => {
    const tag = view.getUint8(at++)
    switch (tag) {
      case TAG.NULL:
        return null
      case TAG.BOOLEAN:
        at += 8
        return view.getBigInt64(at - 8, true) !== 0n
      case TAG.INTEGER:
        at += 8
        return integerValue(field.type, view.getBigInt64(at - 8, true))
      case TAG.DOUBLE:
        at += 8
        return view.getFloat64(at - 8, true)
      case TAG.UUID:
        at += 16
        return formatUuid(key.subarray(at - 16, at))
      default: {
        const length = view.getUint32(at, true)
        const bytes = key.subarray(at + 4, at + 4 + length)
        at += 4 + length
        if (tag === TAG.STRING) return Buffer.from(bytes).toString('utf8')
        if (tag === TAG.DECIMAL) return decodeUnscaled(bytes) ?? null
        return bytes.slice()
      }
    }
  })
}

function integerValue(type: Type, value: bigint): Value {
  switch (type.kind) {
    case 'boolean':
      return value !== 0n
    case 'int':
    case 'date':
      return Number(value)
    default:
      return value
  }
}

/** 49 bits. */
const EXACT_VARINT_BYTES = 7
const MICROS_PER_DAY = 86_400_000_000n

/** How many units of the partition type one unit of the stored value is: files may be older than a promotion. */
function unitsPerStored({ type: avroType, logicalType }: AvroPrimitive, type: Type): bigint {
  const isNanos = type.kind === 'timestamp_ns' || type.kind === 'timestamptz_ns'
  const perMicro = isNanos ? 1000n : 1n
  // B015: some write dates as plain ints, and no timestamp is an int.
  const isDay = logicalType === 'date' || (logicalType === undefined && avroType === 'int')
  if (isDay && (type.kind === 'timestamp' || type.kind === 'timestamp_ns')) return MICROS_PER_DAY * perMicro
  switch (logicalType) {
    case 'timestamp-millis':
    case 'time-millis':
      return 1000n * perMicro
    case 'timestamp-micros':
      return perMicro
    default:
      return 1n
  }
}

/** @throws CorruptFileError if the type has no such value: a day of the year 2300 in nanoseconds. */
function converted(stored: bigint, units: bigint, type: Type, location: string): bigint {
  const value = stored * units
  if (BigInt.asIntN(64, value) !== value)
    throw new CorruptFileError(
      `Cannot read ${location}: ${stored} in a partition is out of the range of ${formatType(type)}`,
      { location },
    )
  return value
}

function varint(raw: Uint8Array, at: number, end: number, location: string): number {
  if (!readVarint(raw, at, end)) throw broken(location)
  return VARINT.next
}

function bigVarint(raw: Uint8Array, start: number, end: number, location: string): bigint {
  let value = 0n
  let shift = 0n
  for (let at = start; at < end && shift < 70n; at++) {
    const byte = raw[at]
    value |= BigInt(byte & 127) << shift
    shift += 7n
    if (byte < 128) return (value >> 1n) ^ -(value & 1n)
  }
  throw broken(location)
}

function parseUuid(text: Uint8Array): Uint8Array | undefined {
  const hex = Buffer.from(text).toString('latin1').replaceAll('-', '')
  return /^[0-9a-fA-F]{32}$/.test(hex) ? Uint8Array.from(Buffer.from(hex, 'hex')) : undefined
}

function broken(location: string): CorruptFileError {
  return new CorruptFileError(`Cannot read ${location}: a partition tuple is broken off`, { location })
}
