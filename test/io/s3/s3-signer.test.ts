/** Our signatures against those of the SDK's own signer, over random requests. */
import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { assert } from 'chai'
import fc from 'fast-check'
import { encodeS3, queryTextOf, S3Signer } from '../../../src/io/s3/s3-signer.ts'
import { SEED, WITH_SEED } from '../../support/seed.ts'

/** As the SDK wants a hash to be. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>

  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret)
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data)
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }

  reset(): void {
    throw new Error('not needed')
  }
}

type SignerOptions = ConstructorParameters<typeof SignatureV4>[0]

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
const ascii = fc.string({
  unit: fc.constantFrom('a', 'z', 'A', 'Z', '0', '9', '/', '+', '=', '_', '-'),
  minLength: 1,
  maxLength: 40,
})

describe('S3 signatures', () => {
  it(`are those of the SDK, for random keys, queries, ranges, credentials, regions and times ${WITH_SEED}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          key: fc.array(text, { minLength: 1, maxLength: 4 }),
          query: fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true }),
          range: fc.option(fc.nat(), { nil: undefined }),
          host: fc.constantFrom('b.s3.eu-west-1.amazonaws.com', '127.0.0.1:9000', 'h.example'),
          region: fc.constantFrom('us-east-1', 'eu-central-1', 'garage'),
          accessKeyId: ascii,
          secretAccessKey: ascii,
          sessionToken: fc.option(ascii, { nil: undefined }),
          time: fc.date({ min: new Date('2020-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
        }),
        async ({ key, query, range, host, region, accessKeyId, secretAccessKey, sessionToken, time }) => {
          const credentials = {
            accessKeyId,
            secretAccessKey,
            ...(sessionToken === undefined ? {} : { sessionToken }),
          }
          const path = `/${key.map(encodeS3).join('/')}`
          const headers: Record<string, string> =
            range === undefined ? {} : { range: `bytes=${range}-${range + 9}` }
          const own = new S3Signer(region).sign(
            { host, path, query: queryTextOf(query), headers },
            credentials,
            time.getTime(),
          )
          const theirs = new SignatureV4({
            credentials,
            region,
            service: 's3',
            sha256: Sha256 as unknown as SignerOptions['sha256'],
            uriEscapePath: false,
            applyChecksum: true,
          })
          const signed = await theirs.sign(
            { method: 'GET', protocol: 'https:', hostname: host, path, query, headers: { host, ...headers } },
            { signingDate: time },
          )
          assert.deepEqual({ host, ...own }, signed.headers)
        },
      ),
      { seed: SEED, numRuns: 300 },
    )
  })

  it('follow the day and the credentials, for which the key is kept', () => {
    const signer = new S3Signer('us-east-1')
    const request = { host: 'h', path: '/k', query: '', headers: {} }
    const one = { accessKeyId: 'a', secretAccessKey: 'b' }
    const days = [
      Date.UTC(2026, 10, 30, 23, 59, 59),
      Date.UTC(2026, 11, 1),
      Date.UTC(2026, 10, 30, 23, 59, 59),
    ]
    const signatures = days.map((now) => signer.sign(request, one, now)['authorization'])
    assert.equal(signatures[0], signatures[2])
    assert.notEqual(signatures[0], signatures[1])
    const other = signer.sign(request, { ...one, secretAccessKey: 'c' }, days[0])['authorization']
    assert.notEqual(other, signatures[0])
    assert.equal(signer.sign(request, one, days[0])['authorization'], signatures[0])
  })
})
