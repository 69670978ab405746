import { assert } from 'chai'
import { endpointOf, openEndpoints } from '../../../src/io/s3/s3-endpoints.ts'
import type { S3Options } from '../../../src/io/s3/s3-options.ts'
import { rejection } from '../../support/rejection.ts'

describe('where a bucket is', () => {
  const eu: S3Options = { region: 'eu-west-1', anonymous: true }
  const rows: [options: S3Options, bucket: string, url: string, why: string][] = [
    [eu, 'b-1', 'https://b-1.s3.eu-west-1.amazonaws.com', 'AWS names the bucket in the host'],
    [eu, 'b.1', 'https://s3.eu-west-1.amazonaws.com/b.1', 'but a dot does not fit its certificate'],
    [eu, 'B_1', 'https://s3.eu-west-1.amazonaws.com/B_1', 'nor is this a name of a host'],
    [{ ...eu, pathStyle: true }, 'b-1', 'https://s3.eu-west-1.amazonaws.com/b-1', 'asked for'],
    [{ ...eu, dualstack: true }, 'b-1', 'https://b-1.s3.dualstack.eu-west-1.amazonaws.com', 'asked for'],
    [{ ...eu, accelerate: true }, 'b-1', 'https://b-1.s3-accelerate.amazonaws.com', 'asked for'],
    [{ ...eu, region: 'cn-north-1' }, 'b-1', 'https://b-1.s3.cn-north-1.amazonaws.com.cn', 'China'],
    [{ ...eu, endpoint: 'http://h:9000' }, 'b-1', 'http://h:9000/b-1', 'other stores take the path'],
    [{ ...eu, endpoint: 'http://h:80/' }, 'b-1', 'http://h/b-1', 'a port that says nothing'],
    [
      { ...eu, endpoint: 'https://h/base/' },
      'b-1',
      'https://h/base/b-1',
      'a path of the endpoint comes first',
    ],
    [{ ...eu, endpoint: 'http://h:9000', pathStyle: false }, 'b-1', 'http://b-1.h:9000', 'asked for'],
    [
      { ...eu, endpoint: 'http://127.0.0.1:9000', pathStyle: false },
      'b-1',
      'http://127.0.0.1:9000/b-1',
      'cannot be',
    ],
    [{ ...eu, endpoint: 'http://[::1]:9000' }, 'b-1', 'http://[::1]:9000/b-1', 'IPv6'],
    [
      { ...eu, endpoint: 'https://s3.eu-west-1.amazonaws.com' },
      'b-1',
      'https://b-1.s3.eu-west-1.amazonaws.com',
      'AWS by its own name',
    ],
  ]
  for (const [options, name, url, why] of rows)
    it(`${url}: ${why}`, async () => {
      const { origin, path } = (await openEndpoints(options, endpointOf(options))).bucket(name)
      assert.equal(`http${origin.isSecure ? 's' : ''}://${origin.host}${path}`, url)
      assert.notMatch(origin.hostname, /[[\]]/)
    })

  it('an endpoint of one’s own needs no region', async () => {
    const { AWS_REGION, AWS_DEFAULT_REGION } = process.env
    delete process.env['AWS_REGION']
    delete process.env['AWS_DEFAULT_REGION']
    try {
      const endpoints = await openEndpoints({ anonymous: true }, 'http://h')
      assert.equal(endpoints.bucket('b-1').region, 'us-east-1')
    } finally {
      if (AWS_REGION !== undefined) process.env['AWS_REGION'] = AWS_REGION
      if (AWS_DEFAULT_REGION !== undefined) process.env['AWS_DEFAULT_REGION'] = AWS_DEFAULT_REGION
    }
  })

  it('a directory bucket is refused', async () => {
    const endpoints = await openEndpoints(eu, undefined)
    const error = await rejection(Promise.resolve().then(() => endpoints.bucket('b-1--use1-az4--x-s3')))
    assert.equal(error.code, 'ERR_UNSUPPORTED')
  })

  it('the environment may name the endpoint; the options win', () => {
    const before = { ...process.env }
    try {
      process.env['AWS_ENDPOINT_URL'] = 'http://any'
      assert.equal(endpointOf({}), 'http://any')
      process.env['AWS_ENDPOINT_URL_S3'] = 'http://s3'
      assert.equal(endpointOf({}), 'http://s3')
      assert.equal(endpointOf({ endpoint: 'http://mine' }), 'http://mine')
      process.env['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'] = 'true'
      assert.isUndefined(endpointOf({}))
    } finally {
      for (const name of ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3', 'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'])
        if (before[name] === undefined) Reflect.deleteProperty(process.env, name)
        else process.env[name] = before[name]
    }
  })
})
