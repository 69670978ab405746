import { assert } from 'chai'
import { isAbsolute, relativeTo } from '../../src/metadata/relative-location.ts'

describe('relative locations (format-reference 1.7)', () => {
  const rows: [root: string, stored: string, resolved: string, why: string][] = [
    ['s3://b/db/t', 'data/0.parquet', 's3://b/db/t/data/0.parquet', 'concatenation'],
    ['s3://b/db/t', 'hdfs://wh/x.parquet', 'hdfs://wh/x.parquet', 'absolute'],
    ['s3://b/db/t/', 'data/0.parquet', 's3://b/db/t//data/0.parquet', 'double slashes survive'],
    ['s3://b/db/t', '/data/0.parquet', 's3://b/db/t//data/0.parquet', 'a leading slash is not absolute'],
    ['s3://b/db/t', '../x/./y', 's3://b/db/t/../x/./y', 'no normalisation'],
    ['s3://b/db/t', 'k=a%2Fb/x y#1?z', 's3://b/db/t/k=a%2Fb/x y#1?z', 'the rest is opaque (B178, B179)'],
    ['s3://b/db/t', '', 's3://b/db/t/', 'nothing'],
    ['/wh/t', 'data/0', '/wh/t/data/0', 'a root without a scheme'],
  ]
  for (const [root, stored, resolved, why] of rows)
    it(`${stored} in ${root}: ${resolved}, ${why}`, () => {
      assert.equal(relativeTo(root, stored), resolved)
    })

  const schemes: [location: string, is: boolean, why: string][] = [
    ['file:/x', true, 'one slash'],
    ['S3A://b/k', true, 'any case'],
    ['a1+.-:x', true, 'all that a scheme may have'],
    ['C:/x', true, 'one letter is a scheme by the RFC'],
    ['1a:x', false, 'begins with a letter'],
    [':x', false, 'at least one'],
    ['ts=12:00/x', false, 'an equals sign is not part of a scheme'],
    ['data/a:b', false, 'nor is a slash'],
    ['é:x', false, 'nor is a letter beyond ASCII'],
  ]
  for (const [location, is, why] of schemes)
    it(`${location} is ${is ? 'absolute' : 'relative'}: ${why}`, () => {
      assert.equal(isAbsolute(location), is)
    })
})
