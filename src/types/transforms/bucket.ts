/**
 * The bucket transform (spec: Bucket Transform Details, Appendix B; R14.5). What is hashed:
 *
 * | type                              | bytes                                                       |
 * | --------------------------------- | ----------------------------------------------------------- |
 * | int, long, date, time, timestamp  | the value as 8-byte little-endian long                      |
 * | timestamp_ns                      | the same of its microseconds, rounded down (B049)           |
 * | decimal                           | the shortest big-endian two's complement of it, unscaled    |
 * | string                            | UTF-8                                                       |
 * | uuid                              | its 16 bytes                                                |
 * | fixed, binary                     | as they are                                                 |
 *
 * Equal numbers of different width so have equal hashes, and promoting a column leaves its buckets as they are.
 */
import { InvalidArgumentError } from '../../errors.ts'
import { formatType, type Type } from '../type.ts'
import { unscaledBytes } from '../unscaled-bytes.ts'
import type { Value } from '../value.ts'
import { floorDivide } from './floor-divide.ts'
import { murmur3 } from './murmur3.ts'

const NANOS_PER_MICRO = 1000n
const MAX_INT = 0x7fffffff
/** The one bit pattern that every NaN is hashed as. */
const CANONICAL_NAN = 0x7ff8000000000000n

/** The bucket of a value of `type`, from 0 to `numBuckets` - 1. Same errors as {@link bucketHash}. */
export function bucketOf(numBuckets: number, type: Type, value: Value): number {
  return (bucketHash(type, value) & MAX_INT) % numBuckets
}

/**
 * The hash that decides the bucket, as a signed 32-bit number. Appendix B defines it for boolean, float and double too,
 * which have no bucket transform.
 *
 * @throws InvalidArgumentError for a type whose values are not hashed.
 */
export function bucketHash(type: Type, value: Value): number {
  switch (type.kind) {
    case 'boolean':
      return hashLong(value === true ? 1n : 0n)
    case 'int':
    case 'date':
      return hashLong(BigInt(value as number))
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return hashLong(value as bigint)
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return hashLong(floorDivide(value as bigint, NANOS_PER_MICRO))
    case 'float':
    case 'double':
      return hashDouble(value as number)
    case 'decimal':
      return murmur3(unscaledBytes(value as bigint))
    case 'string':
      return murmur3(Buffer.from(value as string, 'utf8'))
    case 'uuid':
      return murmur3(Buffer.from((value as string).replaceAll('-', ''), 'hex'))
    case 'fixed':
    case 'binary':
      return murmur3(value as Uint8Array)
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
      throw new InvalidArgumentError(`Cannot hash a value of type ${formatType(type)}: it has no bucket`)
  }
}

function hashLong(value: bigint): number {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64LE(BigInt.asIntN(64, value))
  return murmur3(bytes)
}

function hashDouble(value: number): number {
  const bytes = Buffer.allocUnsafe(8)
  if (Number.isNaN(value)) bytes.writeBigUInt64LE(CANONICAL_NAN)
  // Adding 0 makes -0 the 0 that it equals.
  else bytes.writeDoubleLE(value + 0)
  return murmur3(bytes)
}
