import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from 'chai'
import { endpointOf } from '../../../src/io/s3/s3-endpoints.ts'
import { S3FileIO } from '../../../src/io/s3/s3-file-io.ts'
import { thrown } from '../../support/rejection.ts'

const CONFIG = `
# endpoint_url = http://comment
[default]
region = us-east-1
endpoint_url = http://default:1   ; and a comment

[profile plain]
region=eu-west-1

[profile "my minio"]
services = local
endpoint_url = http://not-this

[profile lost]
services = nowhere

[profile off]
endpoint_url = http://off
ignore_configured_endpoint_urls = true

[profile nested]
s3 =
  endpoint_url = http://not-here
  addressing_style = path
endpoint_url = http://nested

[services local]
dynamodb =
  endpoint_url = http://dynamo
s3 =
  endpoint_url = http://minio:9000/
`

describe('the endpoint of an AWS profile', () => {
  const NAMES = ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_PROFILE', 'AWS_ENDPOINT_URL'] as const
  const before: (string | undefined)[] = NAMES.map((name) => process.env[name])
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'iceplan-profile-'))
    for (const name of NAMES) Reflect.deleteProperty(process.env, name)
    process.env['AWS_CONFIG_FILE'] = join(folder, 'config')
    process.env['AWS_SHARED_CREDENTIALS_FILE'] = join(folder, 'credentials')
    writeFileSync(join(folder, 'config'), CONFIG)
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
    NAMES.forEach((name, i) => {
      if (before[i] === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = before[i]
    })
  })

  const rows: [profile: string | undefined, endpoint: string | undefined, why: string][] = [
    [undefined, 'http://default:1', 'the default profile'],
    ['plain', undefined, 'that of AWS'],
    ['none', undefined, 'a profile that is not there: the SDK will say so'],
    ['my minio', 'http://minio:9000', 'its services come first'],
    ['off', undefined, 'not to be used'],
    ['nested', 'http://nested', 'settings of S3 are none of the profile'],
  ]
  for (const [profile, endpoint, why] of rows)
    it(`${profile ?? 'no name'}: ${endpoint ?? 'none'}, ${why}`, () => {
      assert.equal(endpointOf(profile === undefined ? {} : { profile }), endpoint)
    })

  it('AWS_PROFILE names the profile, and other settings win', () => {
    process.env['AWS_PROFILE'] = 'nested'
    assert.equal(endpointOf({}), 'http://nested')
    assert.equal(endpointOf({ endpoint: 'http://mine' }), 'http://mine')
    process.env['AWS_ENDPOINT_URL'] = 'http://env'
    assert.equal(endpointOf({}), 'http://env')
  })

  it('the file of credentials may name it, too', () => {
    writeFileSync(join(folder, 'credentials'), '[plain]\r\nendpoint_url=http://secret-file\r\n')
    assert.equal(endpointOf({ profile: 'plain' }), 'http://secret-file')
  })

  it('services that are not there are an error', () => {
    const error = thrown(() => endpointOf({ profile: 'lost' }))
    assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
    assert.match(error.message, /the AWS profile lost: it names the services nowhere/)
  })

  it('is a part of the identity', () => {
    const keys = { credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }
    assert.include(new S3FileIO(keys).identity, 'http://default:1')
    assert.notEqual(new S3FileIO(keys).identity, new S3FileIO({ ...keys, profile: 'plain' }).identity)
  })
})
