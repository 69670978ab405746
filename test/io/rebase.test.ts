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

  describe('a key or path that moves into a URL is encoded, all else is kept (B178, B179)', () => {
    const moves: [oldPrefix: string, newPrefix: string, stored: string, opened: string][] = [
      ['s3://b/', 'https://h/', 's3://b/k=a%2Fb/x', 'https://h/k=a%252Fb/x'],
      ['s3://b/', 'http://h/', 's3://b/a?b#c d+e//f', 'http://h/a%3Fb%23c%20d%2Be//f'],
      ['/wh/', 'https://h/', '/wh/日本/é', 'https://h/%E6%97%A5%E6%9C%AC/%C3%A9'],
      ['file:///wh/', 'https://h/', 'file:///wh/100%/a&b', 'https://h/100%25/a&b'],
      ['s3://b/', 'https://h/?key=', 's3://b/\uD800', 'https://h/?key=%EF%BF%BD'],
      ['', 'https://h/', 'data/a b', 'https://h/data/a%20b'],
      ['http://old/', 'https://h/', 'http://old/k=a%2Fb?sig=1', 'https://h/k=a%2Fb?sig=1'],
      ['https://h/', 's3://b/', 'https://h/k=a%2Fb', 's3://b/k=a%2Fb'],
      ['s3://b/', 'file:///wh/', 's3://b/k=a%2Fb?#', 'file:///wh/k=a%2Fb?#'],
      ['/wh/', 's3://b/', '/wh/k=a%2Fb?#', 's3://b/k=a%2Fb?#'],
    ]
    for (const [oldPrefix, newPrefix, stored, opened] of moves)
      it(`${stored} is opened at ${opened}`, () => {
        assert.equal(new LocationMap([rebase(oldPrefix, newPrefix)]).apply(stored), opened)
      })
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
