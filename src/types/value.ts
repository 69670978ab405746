/**
 * How a value of each type lives in memory. One table, so that bounds, partition values and literals can be compared
 * without asking where they came from.
 *
 * | type                               | in memory    | unit, range                                              |
 * | ---------------------------------- | ------------ | -------------------------------------------------------- |
 * | boolean                            | `boolean`    |                                                          |
 * | int                                | `number`     | 32 bits, signed                                          |
 * | long                               | `bigint`     | 64 bits, signed                                          |
 * | float, double                      | `number`     | NaN, infinities and -0 included; a float is widened      |
 * | decimal(P, S)                      | `bigint`     | unscaled: 1.50 at scale 2 is `150n`                      |
 * | date                               | `number`     | days since 1970-01-01                                    |
 * | time                               | `bigint`     | microseconds since midnight                              |
 * | timestamp, timestamptz             | `bigint`     | microseconds since 1970-01-01T00:00 (UTC)                |
 * | timestamp_ns, timestamptz_ns       | `bigint`     | nanoseconds since 1970-01-01T00:00 (UTC)                 |
 * | string                             | `string`     | any Unicode text; ordered by UTF-8 bytes, not by `<`     |
 * | uuid                               | `string`     | lower case with dashes, 36 characters                    |
 * | fixed, binary                      | `Uint8Array` | ordered by unsigned bytes                                |
 * | unknown, variant, geo, nested      | none         | never a value here                                       |
 *
 * A null is `null`, and only where a signature says `Value | null`; "not known" is `undefined`.
 */
export type Value = boolean | number | bigint | string | Uint8Array

/** What the lossless JSON writer prints: JSON plus `bigint`, which becomes a bare integer. */
export type JsonValue =
  null | boolean | number | bigint | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }
