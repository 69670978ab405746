/** Buckets: 34 and -1 of [16] are 3 and 8, 5 is 7; 5 of [7] is 1, of [5] it is 3 (vectors 48 to 53). */
import { testProjections, type ProjectionRow } from './projection-rows.ts'

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

describe('projection through bucket (R3.9)', () => {
  const rows: ProjectionRow[] = [
    ['int', 'bucket[16]', 'eq', 34, 'p0 = 3', 'false'],
    ['int', 'bucket[16]', 'not-eq', 34, 'true', 'p0 != 3'],
    ['int', 'bucket[16]', 'in', [34, -1, 5], 'p0 in (3, 8, 7)', 'false'],
    ['int', 'bucket[16]', 'not-in', [34, -1, 5], 'true', 'p0 not in (3, 8, 7)'],
    ['int', 'bucket[16]', 'lt', 34, 'true', 'false'],
    ['int', 'bucket[16]', 'lt-eq', 34, 'true', 'false'],
    ['int', 'bucket[16]', 'gt', 34, 'true', 'false'],
    ['int', 'bucket[16]', 'gt-eq', 34, 'true', 'false'],
    ['int', 'bucket[16]', 'is-null', undefined, 'p0 is null', 'p0 is null', 'R3.7'],
    ['int', 'bucket[16]', 'not-null', undefined, 'p0 is not null', 'p0 is not null', 'R3.7'],
    ['string', 'bucket[10]', 'starts-with', 'ice', 'true', 'false'],
    ['string', 'bucket[10]', 'not-starts-with', 'ice', 'true', 'false'],
    ['int', 'bucket[1]', 'in', [1, 2, 3], 'p0 = 0', 'false', 'R3.21: a set that became one value'],
    ['int', 'bucket[1]', 'not-in', [1, 2, 3], 'true', 'p0 != 0', 'R3.21'],

    ['long', 'bucket[16]', 'eq', 34n, 'p0 = 3', 'false', 'the bucket of a long is that of the int'],
    ['decimal(9,2)', 'bucket[16]', 'eq', 1420n, 'p0 = 3', 'false', '14.20, at the scale of the column'],
    ['date', 'bucket[16]', 'eq', 17_486, 'p0 = 10', 'false'],
    ['time', 'bucket[2147483647]', 'eq', 81_068_000_000n, 'p0 = 1484720659', 'false', 'hash -662762989'],
    ['timestamp', 'bucket[16]', 'eq', 1_510_871_468_000_000n, 'p0 = 7', 'false'],
    ['timestamptz', 'bucket[16]', 'not-eq', 1_510_871_468_000_000n, 'true', 'p0 != 7'],
    ['timestamp_ns', 'bucket[16]', 'eq', 1_510_871_468_000_000_000n, 'p0 = 7', 'false', 'B049'],
    ['timestamptz_ns', 'bucket[16]', 'eq', -1n, 'p0 = 8', 'false', 'B049'],
    ['string', 'bucket[10]', 'eq', 'iceberg', 'p0 = 9', 'false'],
    ['uuid', 'bucket[4]', 'eq', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'p0 = 0', 'false'],
    // The hash is -188683207: 1958800441 without its sign, 9 of 16.
    ['fixed[4]', 'bucket[16]', 'eq', bytes('00010203'), 'p0 = 9', 'false'],
    ['binary', 'bucket[16]', 'not-eq', bytes('00010203'), 'true', 'p0 != 9'],

    ['double', 'bucket[16]', 'eq', 1, 'true', 'false', 'R14.3: no double has a bucket'],
    ['boolean', 'bucket[16]', 'is-null', undefined, 'true', 'false', 'R14.3'],
  ]
  testProjections(rows)
})
