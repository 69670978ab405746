import { assert } from 'chai'
import { s3OptionsFrom, type S3Options } from '../../../src/io/s3/s3-options.ts'
import { thrown } from '../../support/rejection.ts'

const KEYS = { 's3.access-key-id': 'id', 's3.secret-access-key': 'secret' }

describe('S3 options from properties', () => {
  const rows: [properties: Record<string, string>, options: S3Options, why: string][] = [
    [{}, {}, 'nothing'],
    [{ warehouse: 's3://b', 's3.delete.num-threads': '4' }, {}, 'other names are ignored'],
    [{ 's3.endpoint': 'http://h:9000' }, { endpoint: 'http://h:9000' }, 'all libraries'],
    [{ 's3.endpoint': '' }, {}, 'an empty value is none'],
    [{ 'client.region': 'eu-west-1' }, { region: 'eu-west-1' }, 'Java'],
    [{ 's3.region': 'a', 'client.region': 'b' }, { region: 'a' }, 'the one of S3 wins'],
    [{ 's3.path-style-access': 'TRUE' }, { pathStyle: true }, 'case does not matter'],
    [{ 's3.path-style-access': 'false' }, { pathStyle: false }, 'false is said, not left out'],
    [{ 's3.force-virtual-addressing': 'true' }, { pathStyle: false }, 'PyIceberg, Go'],
    [{ 's3.force-virtual-addressing': 'false' }, {}, 'which says nothing'],
    [KEYS, { credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } }, 'keys'],
    [
      { ...KEYS, 's3.session-token': 'token', 's3.session-token-expires-at-ms': '1790000000000' },
      {
        credentials: {
          accessKeyId: 'id',
          secretAccessKey: 'secret',
          sessionToken: 'token',
          expiration: new Date(1790000000000),
        },
      },
      'keys that end',
    ],
    [
      { 'client.access-key-id': 'i', 'client.secret-access-key': 's' },
      { credentials: { accessKeyId: 'i', secretAccessKey: 's' } },
      'PyIceberg, for all of AWS',
    ],
    [
      { ...KEYS, 'client.access-key-id': 'i', 'client.session-token': 't' },
      { credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } },
      'sets of keys are not mixed',
    ],
    [{ 's3.anonymous': 'true' }, { anonymous: true }, 'PyIceberg'],
    [{ 's3.allow-anonymous': 'true' }, { anonymous: true }, 'Rust, without keys'],
    [
      { ...KEYS, 's3.allow-anonymous': 'true' },
      { credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } },
      'Rust, with keys: it need not be',
    ],
    [
      {
        'client.credentials-provider': 'software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider',
      },
      { anonymous: true },
      'Java',
    ],
    [
      { 'client.credentials-provider': 'software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider' },
      {},
      'Java',
    ],
    [{ 'client.profile-name': 'dev' }, { profile: 'dev' }, 'PyIceberg'],
    [{ 's3.cross-region-access-enabled': 'true' }, { crossRegion: true }, 'Java'],
    [
      { 's3.dualstack-enabled': 'true', 's3.acceleration-enabled': 'false' },
      { dualstack: true, accelerate: false },
      'Java',
    ],
    [{ 's3.retry.num-retries': '5' }, { attempts: 6 }, 'retries come after the first attempt'],
    [{ 's3.retry.min-wait-ms': '2000' }, { firstPauseMs: 2000 }, 'Java'],
    [
      { 's3.connect-timeout': '60.0', 's3.request-timeout': '1.5' },
      { connectTimeoutMs: 60_000, requestTimeoutMs: 1500 },
      'PyIceberg counts seconds',
    ],
    [{ 's3.remote-signing-enabled': 'False' }, {}, 'what is switched off need not be refused'],
    [{ 's3.access-grants.enabled': 'false' }, {}, 'the same'],
    [{ 's3.sse.type': 'kms', 's3.sse.key': 'x' }, {}, "the store's own keys are its own affair"],
  ]
  for (const [properties, options, why] of rows)
    it(`${JSON.stringify(properties)}: ${why}`, () => {
      assert.deepEqual(s3OptionsFrom(properties), options)
    })

  const refused: [properties: Record<string, string>, code: string, message: RegExp][] = [
    [
      { 's3.path-style-access': 'yes' },
      'ERR_INVALID_ARGUMENT',
      /s3\.path-style-access=yes: neither true nor false/,
    ],
    [{ 's3.connect-timeout': 'soon' }, 'ERR_INVALID_ARGUMENT', /s3\.connect-timeout=soon: not a number/],
    [{ 's3.retry.num-retries': '1.5' }, 'ERR_INVALID_ARGUMENT', /not a whole number/],
    [{ 's3.retry.num-retries': '-1' }, 'ERR_INVALID_ARGUMENT', /not a whole number/],
    [{ 's3.access-key-id': 'id' }, 'ERR_INVALID_ARGUMENT', /s3\.secret-access-key is not among them/],
    [{ 's3.session-token': 't' }, 'ERR_INVALID_ARGUMENT', /s3\.access-key-id is not among them/],
    [
      { 's3.path-style-access': 'true', 's3.force-virtual-addressing': 'true' },
      'ERR_INVALID_ARGUMENT',
      /contradict/,
    ],
    [{ 's3.remote-signing-enabled': 'true' }, 'ERR_UNSUPPORTED', /signed by the catalog/],
    [{ 's3.signer': 'S3V4RestSigner' }, 'ERR_UNSUPPORTED', /signed by the catalog/],
    [{ 's3.role-arn': 'arn:aws:iam::1:role/r' }, 'ERR_UNSUPPORTED', /assuming a role/],
    [{ 'client.assume-role.arn': 'arn:aws:iam::1:role/r' }, 'ERR_UNSUPPORTED', /assuming a role/],
    [{ 's3.access-points.my-bucket': 'arn:x' }, 'ERR_UNSUPPORTED', /access points/],
    [{ 's3.access-grants.enabled': 'true' }, 'ERR_UNSUPPORTED', /access grants/],
    [{ 's3.sse.type': 'custom', 's3.sse.key': 'hush' }, 'ERR_UNSUPPORTED', /customer's own keys/],
    [{ 's3.proxy-uri': 'http://p' }, 'ERR_UNSUPPORTED', /a proxy/],
    [{ 'client.credentials-provider': 'com.example.Mine' }, 'ERR_UNSUPPORTED', /com\.example\.Mine/],
  ]
  for (const [properties, code, message] of refused)
    it(`refuses ${JSON.stringify(properties)}`, () => {
      const error = thrown(() => s3OptionsFrom(properties))
      assert.equal(error.code, code)
      assert.match(error.message, message)
      assert.notInclude(error.message, 'hush')
    })
})
