/**
 * Growing byte buffer with the primitive writes of Avro (varints are zig-zag base-128, floats little-endian).
 * Fast enough to generate a million manifest entries, plain enough to damage on purpose.
 */
export class ByteWriter {
  private buffer: Buffer
  /** Bytes written so far. */
  length = 0

  constructor(capacity = 1024) {
    this.buffer = Buffer.allocUnsafeSlow(capacity)
  }

  /** A copy of everything written. */
  toBytes(): Uint8Array {
    return new Uint8Array(this.view())
  }

  /** What was written, without a copy: valid until the next write. */
  view(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }

  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.length++] = value
  }

  boolean(value: boolean): void {
    this.byte(value ? 1 : 0)
  }

  /** Avro int or long. */
  long(value: number | bigint): void {
    if (typeof value === 'bigint') {
      this.bigLong(value)
      return
    }
    if (!Number.isSafeInteger(value)) throw new RangeError(`Cannot write ${value} as an Avro long: not exact`)
    // Doubling stays exact below 2^52; beyond it only bigint arithmetic is.
    if (Math.abs(value) >= 2 ** 51) {
      this.bigLong(BigInt(value))
      return
    }
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  float(value: number): void {
    this.reserve(4)
    this.length = this.buffer.writeFloatLE(value, this.length)
  }

  double(value: number): void {
    this.reserve(8)
    this.length = this.buffer.writeDoubleLE(value, this.length)
  }

  /** The bytes as they are, without a length. */
  raw(bytes: Uint8Array): void {
    const { length } = bytes
    this.reserve(length)
    // A short copy is cheaper as a loop than as a call into the runtime.
    if (length <= 32) for (let i = 0; i < length; i++) this.buffer[this.length + i] = bytes[i]
    else this.buffer.set(bytes, this.length)
    this.length += length
  }

  /** Avro bytes: a length, then the bytes. */
  bytes(bytes: Uint8Array): void {
    this.long(bytes.length)
    this.raw(bytes)
  }

  /** Avro string: a length in bytes, then UTF-8. */
  string(text: string): void {
    const bytes = Buffer.byteLength(text)
    this.long(bytes)
    this.reserve(bytes)
    this.length += this.buffer.write(text, this.length, bytes === text.length ? 'latin1' : 'utf8')
  }

  /** Unsigned base-128; `value` is an integer below 2^53. */
  private varint(value: number): void {
    this.reserve(10)
    while (value >= 2 ** 31) {
      this.buffer[this.length++] = (value % 128) + 128
      value = Math.floor(value / 128)
    }
    while (value > 127) {
      this.buffer[this.length++] = (value & 127) | 128
      value >>>= 7
    }
    this.buffer[this.length++] = value
  }

  private bigLong(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value)
      throw new RangeError(`Cannot write ${value} as an Avro long: over 64 bits`)
    this.reserve(10)
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
    while (rest > 127n) {
      this.buffer[this.length++] = Number(rest & 127n) | 128
      rest >>= 7n
    }
    this.buffer[this.length++] = Number(rest)
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const bigger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.length + bytes))
    bigger.set(this.view())
    this.buffer = bigger
  }
}
