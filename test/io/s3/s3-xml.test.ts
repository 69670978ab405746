import { assert } from 'chai'
import { parseErrorBody, parseListingPage, type ListingPage } from '../../../src/io/s3/s3-xml.ts'

describe('XML of S3', () => {
  it('an error', () => {
    const xml =
      '<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code><Message>It&apos;s &lt;gone&gt; &#x26; &#228;</Message><Region>eu-west-1</Region><RequestId>R</RequestId></Error>'
    assert.deepEqual(parseErrorBody(xml), {
      code: 'NoSuchKey',
      message: "It's <gone> & ä",
      region: 'eu-west-1',
      requestId: 'R',
    })
  })

  for (const body of ['', '<html><Code>x</Code></html>', 'Bad Gateway'])
    it(`no error of S3: ${JSON.stringify(body)}`, () => {
      assert.deepEqual(parseErrorBody(body), {})
    })

  const page = (inside: string): string =>
    `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListBucketResult>\n`
  const url = '<EncodingType>url</EncodingType>'
  const key = (text: string): string => `<Contents><Key>${text}</Key><Size>1</Size></Contents>`
  const rows: [xml: string, want: ListingPage | undefined, why: string][] = [
    [page(''), { keys: [], next: undefined }, 'nothing'],
    [page(key('a') + key('b')), { keys: ['a', 'b'], next: undefined }, 'two keys'],
    [
      page(url + key('a%2520b+c%2B')),
      { keys: ['a%20b c+'], next: undefined },
      'encoded keys are decoded once',
    ],
    [page(key('a%20b+c&amp;d')), { keys: ['a%20b+c&d'], next: undefined }, 'others are not'],
    [page(url + key('%ff')), { keys: ['%ff'], next: undefined }, 'not UTF-8'],
    [
      page(`${key('a')}<CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes>`),
      { keys: ['a'], next: undefined },
      'folders are no files',
    ],
    [
      page('<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;=</NextContinuationToken>'),
      { keys: [], next: 't&=' },
      'a page of several',
    ],
    [page('<IsTruncated>true</IsTruncated>'), undefined, 'a next page that cannot be asked for'],
    [page(key('a')).slice(0, -30), undefined, 'cut off'],
    [page('<Contents><Key>a</Key>'), undefined, 'an element that does not end'],
    [page('<Contents></Contents>'), undefined, 'a file without a key'],
    [page(key('a&constructor;&amp;b')), { keys: ['a&constructor;&b'], next: undefined }, 'no such entity'],
    ['<html></html>', undefined, 'something else'],
  ]
  for (const [xml, want, why] of rows)
    it(`a page: ${why}`, () => {
      assert.deepEqual(parseListingPage(xml), want)
    })

  describe('hostile text takes no longer than other text of its length', () => {
    const N = 300_000
    const texts: [title: string, xml: string][] = [
      ['elements that only begin', page('<Contents>'.repeat(N))],
      ['elements that only begin, before one that ends', page(`${'<Contents>'.repeat(N)}</Contents>`)],
      ['ends of the listing', `${page('')}${'</ListBucketResult> '.repeat(N)}x`],
      ['space', `${page('')}${' '.repeat(10 * N)}x`],
      ['ampersands', page(key('&'.repeat(10 * N)))],
    ]
    for (const [title, xml] of texts)
      it(title, () => {
        // By the square of the length it would take many minutes.
        parseListingPage(xml)
        parseErrorBody(xml)
      })
  })
})
