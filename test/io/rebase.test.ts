import { assert } from 'chai'
import { LocationMap, parseRebase, rebase } from '../../src/io/rebase.ts'
import { thrown } from '../support/rejection.ts'

describe('rebase', () => {
  const map = new LocationMap([
    rebase('s3://old/', '/mnt/'),
    rebase('s3://old/t/', '/fast/'),
    rebase('/mnt/', '/elsewhere/'),
    rebase('s3://b/t', 's3://b/moved'),
  ])
  const rows: [stored: string, opened: string, why: string][] = [
    ['s3://old/x', '/mnt/x', 'a prefix is replaced'],
    ['s3://old/t/x', '/fast/x', 'the longest prefix wins'],
    ['/mnt/x', '/elsewhere/x', 'each on its own'],
    ['s3://old/mnt', '/mnt/mnt', 'applied once: the outcome is not rebased again'],
    ['s3://b/t2/x', 's3://b/moved2/x', 'a plain string prefix, not a path'],
    ['s3a://old/x', 's3a://old/x', 'other schemes are other strings'],
    ['S3://old/x', 'S3://old/x', 'case counts'],
    ['x/s3://old/', 'x/s3://old/', 'only at the beginning'],
    ['s3://old/a%2Fb//c?#', '/mnt/a%2Fb//c?#', 'the rest is kept byte for byte (B178)'],
  ]
  for (const [stored, opened, why] of rows)
    it(`${stored} opens ${opened}: ${why}`, () => {
      assert.equal(map.apply(stored), opened)
    })

  it('does nothing without rebases', () => {
    assert.equal(new LocationMap().apply('s3://b/t'), 's3://b/t')
  })

  it('with an empty old prefix moves everything that nothing longer matches', () => {
    const all = new LocationMap([rebase('', '/root/'), rebase('/abs', '/abs')])
    assert.equal(all.apply('data/x'), '/root/data/x')
    assert.equal(all.apply('/abs/x'), '/abs/x')
  })

  it('may be given twice, but not with two meanings', () => {
    assert.equal(new LocationMap([rebase('a', 'b'), rebase('a', 'b')]).apply('a'), 'b')
    const error = thrown(() => new LocationMap([rebase('a', 'b'), rebase('a', 'c')]))
    assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
    assert.include(error.message, "both 'b' and 'c'")
  })

  describe('on the command line', () => {
    const texts: [text: string, old: string, now: string, why: string][] = [
      ['s3://b/t=/mnt/t', 's3://b/t', '/mnt/t', 'OLD=NEW'],
      ['a=b=c', 'a', 'b=c', 'the first = splits'],
      ['a=', 'a', '', 'an empty new prefix takes the old one off'],
      ['=b', '', 'b', 'an empty old prefix matches everything'],
    ]
    for (const [text, oldPrefix, newPrefix, why] of texts)
      it(`${text}: ${why}`, () => {
        assert.deepEqual(parseRebase(text), { oldPrefix, newPrefix })
      })

    it('needs an =', () => {
      const error = thrown(() => parseRebase('s3://b/t'))
      assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
      assert.include(error.message, "'s3://b/t'")
    })
  })
})
