/** How the SDK's signer is used. That odd keys and queries come out right, servers that check signatures say (test/s3). */
import { SignatureV4 } from '@smithy/signature-v4'
import { assert } from 'chai'
import { queryTextOf, S3Signer } from '../../../src/io/s3/s3-signer.ts'

const KEY = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}

describe('S3 signatures', () => {
  // "Examples of the complete Version 4 signing process" in the documentation of S3.
  const signer = new S3Signer(SignatureV4, 'us-east-1')
  const host = 'examplebucket.s3.amazonaws.com'
  const now = Date.UTC(2013, 4, 24)

  it('GET of a range, as documented', async () => {
    const headers = await signer.sign(
      { host, path: '/test.txt', query: {}, headers: { range: 'bytes=0-9' } },
      KEY,
      now,
    )
    assert.deepEqual(headers, {
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    })
  })

  it('GET of a listing, as documented', async () => {
    const query = { 'max-keys': '2', prefix: 'J' }
    assert.equal(queryTextOf(query), 'max-keys=2&prefix=J')
    const { authorization } = await signer.sign({ host, path: '/', query, headers: {} }, KEY, now)
    assert.match(authorization, /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/)
  })

  it('follow the day and the credentials, for which a key is kept; a session token goes along', async () => {
    const sign = async (credentials: typeof KEY & { sessionToken?: string }, day: number) =>
      signer.sign({ host, path: '/k', query: {}, headers: {} }, credentials, Date.UTC(2026, 10, day))
    const first = await sign(KEY, 29)
    assert.deepEqual(await sign(KEY, 29), first)
    const others = [
      await sign(KEY, 30),
      await sign({ ...KEY, secretAccessKey: 'c' }, 29),
      await sign({ ...KEY, sessionToken: 't' }, 29),
    ]
    for (const { authorization } of others) assert.notEqual(authorization, first.authorization)
    assert.equal(others[2]['x-amz-security-token'], 't')
    assert.deepEqual(await sign(KEY, 29), first)
  })
})
