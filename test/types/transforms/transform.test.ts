import { assert } from 'chai'
import { isIcebergError } from '../../../src/errors.ts'
import {
  formatTransform,
  parseTransform,
  transformResultType,
  type Transform,
} from '../../../src/types/transforms/transform.ts'
import { formatType, parseType } from '../../../src/types/type.ts'

describe('parseTransform (R14.2, B060)', () => {
  const rows: [text: string, transform: Transform, reason: string][] = [
    ['identity', { kind: 'identity' }, 'plain'],
    ['VOID', { kind: 'void' }, 'any case'],
    ['bucket[16]', { kind: 'bucket', numBuckets: 16 }, 'a parameter'],
    ['Bucket[016]', { kind: 'bucket', numBuckets: 16 }, 'any case, leading zeros'],
    ['truncate[2147483647]', { kind: 'truncate', width: 2_147_483_647 }, 'the greatest width'],
    ['bucketx[5]', { kind: 'unknown', text: 'bucketx[5]' }, 'B060: the whole text must match'],
    ['truncatefoo[10]', { kind: 'unknown', text: 'truncatefoo[10]' }, 'B060'],
    ['bucket[5] ', { kind: 'unknown', text: 'bucket[5] ' }, 'B060: not even white space'],
    ['bucket[x]', { kind: 'unknown', text: 'bucket[x]' }, 'R14.2'],
    ['bucket[-1]', { kind: 'unknown', text: 'bucket[-1]' }, 'R14.2'],
    ['bucket', { kind: 'unknown', text: 'bucket' }, 'no parameter'],
    ['years', { kind: 'unknown', text: 'years' }, 'R14.2'],
    ['ZOrder[3]', { kind: 'unknown', text: 'ZOrder[3]' }, 'B059: kept as written'],
  ]
  for (const [text, transform, reason] of rows)
    it(`${JSON.stringify(text)}: ${reason}`, () => {
      assert.deepEqual(parseTransform(text), transform)
      assert.deepEqual(parseTransform(formatTransform(transform)), transform)
    })

  for (const text of ['bucket[0]', 'truncate[0]', 'truncate[4294967296]', `bucket[${'9'.repeat(400)}]`])
    it(`B060: refuses ${text.slice(0, 30)}`, () => {
      assert.throws(() => parseTransform(text), /its parameter must be 1 to 2147483647/)
      try {
        parseTransform(text)
      } catch (error) {
        assert.isTrue(isIcebergError(error, 'ERR_INVALID_METADATA'))
      }
    })
})

describe('transformResultType (R14.4, R1.10)', () => {
  const rows: [transform: string, source: string, result: string][] = [
    ['identity', 'decimal(9,2)', 'decimal(9, 2)'],
    ['truncate[4]', 'string', 'string'],
    ['void', 'uuid', 'uuid'],
    ['bucket[16]', 'string', 'int'],
    ['year', 'date', 'int'],
    ['month', 'timestamp', 'int'],
    ['day', 'timestamptz', 'date'],
    ['hour', 'timestamp_ns', 'int'],
    ['zorder[3]', 'int', 'unknown'],
    ['identity', 'unknown', 'unknown'],
    ['truncate[4]', 'unknown', 'unknown'],
    ['bucket[16]', 'unknown', 'int'],
    ['day', 'unknown', 'date'],
  ]
  for (const [transform, source, result] of rows)
    it(`${transform} of ${source} is ${result}`, () => {
      assert.equal(formatType(transformResultType(parseTransform(transform), parseType(source))), result)
    })
})
