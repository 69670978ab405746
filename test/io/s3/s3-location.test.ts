import { assert } from 'chai'
import { parseS3Location } from '../../../src/io/s3/s3-location.ts'
import { thrown } from '../../support/rejection.ts'

describe('S3 locations', () => {
  const rows: [location: string, bucket: string, key: string, why: string][] = [
    ['s3://b-1/k', 'b-1', 'k', 'the usual one'],
    ['s3a://b-1/k', 'b-1', 'k', 'Hadoop (B180)'],
    ['S3N://b-1/k', 'b-1', 'k', 'no case (B180)'],
    ['s3://b-1', 'b-1', '', 'the bucket itself'],
    ['s3://b-1/', 'b-1', '', 'the same'],
    ['s3://b-1//a//b/', 'b-1', '/a//b/', 'double slashes are in the key'],
    ['s3://b-1/k=a%2Fb/x%20y', 'b-1', 'k=a%2Fb/x%20y', 'percent signs stay (B178)'],
    ['s3://b-1/a#b?c d+e', 'b-1', 'a#b?c d+e', 'nothing is cut (B179)'],
    ['s3://b-1/a/../b/./c', 'b-1', 'a/../b/./c', 'dots are names'],
    ['s3://b-1/日本/\u0301\n', 'b-1', '日本/\u0301\n', 'any character'],
    ['s3://My_old.Bucket/k', 'My_old.Bucket', 'k', 'as buckets once could be named'],
  ]
  for (const [location, bucket, key, why] of rows)
    it(`${JSON.stringify(location)}: ${why}`, () => {
      assert.deepEqual(parseS3Location(location), { bucket, key })
    })

  const refused: [location: string, code: string, message: RegExp][] = [
    ['/b/k', 'ERR_INVALID_ARGUMENT', /not an S3 location/],
    ['s3:/b/k', 'ERR_INVALID_ARGUMENT', /not an S3 location/],
    ['gs://b/k', 'ERR_INVALID_ARGUMENT', /not an S3 location/],
    ['s3:///k', 'ERR_INVALID_ARGUMENT', /names no bucket/],
    ['s3://b c/k', 'ERR_INVALID_ARGUMENT', /no bucket can have the name b c/],
    ['s3://b?x/k', 'ERR_INVALID_ARGUMENT', /no bucket can have the name/],
    ['s3://arn:aws:s3:us-east-1:1:accesspoint/a/k', 'ERR_UNSUPPORTED', /access points/],
    ['s3://id:secret@bucket/k', 'ERR_INVALID_ARGUMENT', /keys do not belong into a location/],
  ]
  for (const [location, code, message] of refused)
    it(`refuses ${location}`, () => {
      const error = thrown(() => parseS3Location(location))
      assert.equal(error.code, code)
      assert.match(error.message, message)
      assert.notInclude(error.message, 'secret@')
    })
})
