/** What loading a folder of S3 says when S3 refuses: the error of the refusal itself, after as few requests as it takes. */
import { assert } from 'chai'
import type { IcebergError } from '../../src/errors.ts'
import type { S3Options } from '../../src/io/s3/s3-options.ts'
import { loadTable } from '../../src/planner/load-table.ts'
import { rejection } from '../support/rejection.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { dataManifests, tableOf } from './planning.ts'

const KEYS = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' }
const built = tableOf(dataManifests(1))
const FOLDER = 's3://warehouse/db/table'

describe('a folder of S3 that is refused', () => {
  let server: S3Server
  beforeEach(async () => {
    server = await startS3Server()
    for (const [location, bytes] of built.files) {
      const [, bucket, key] = /^s3:\/\/([^/]+)\/(.*)$/s.exec(location)!
      server.put(bucket, key, bytes)
    }
  })
  afterEach(async () => {
    await server.close()
  })

  const load = (s3: S3Options = {}, location = FOLDER) => {
    const { endpoint, region } = server
    const who = s3.anonymous === true ? {} : { credentials: KEYS }
    const options = { endpoint, region, ...who, attempts: 2, firstPauseMs: 1, ...s3 }
    return loadTable(location, { storage: { s3: options } })
  }
  const isListing = ({ query }: { query: ReadonlyMap<string, string> }) => query.has('list-type')

  const rows: [
    what: string,
    s3: S3Options,
    location: string,
    code: string,
    message: RegExp,
    requests: number,
  ][] = [
    [
      'a wrong secret',
      { credentials: { ...KEYS, secretAccessKey: 'wrong' } },
      FOLDER,
      'ERR_STORAGE',
      /^Cannot list s3:\/\/warehouse\/db\/table\/metadata\/: S3 answered 403 SignatureDoesNotMatch.*secret access key is not/,
      1,
    ],
    [
      'a wrong key id',
      { credentials: { ...KEYS, accessKeyId: 'nobody' } },
      FOLDER,
      'ERR_STORAGE',
      /^Cannot list .*InvalidAccessKeyId.*not known there$/,
      1,
    ],
    [
      'a wrong region',
      { region: 'eu-west-1' },
      FOLDER,
      'ERR_STORAGE',
      /^Cannot list .* is in the region us-east-1, not eu-west-1; set s3\.region$/,
      1,
    ],
    [
      'credentials that fail',
      { credentials: () => Promise.reject(new Error('the vault is sealed')) },
      FOLDER,
      'ERR_STORAGE',
      /^Cannot list .*the vault is sealed/,
      0,
    ],
    [
      'a mistyped bucket',
      {},
      's3://warehose/db/table',
      'ERR_NOT_FOUND',
      /^Cannot list .*the bucket warehose does not exist; S3 answered 404 NoSuchBucket/,
      1,
    ],
    [
      'no permission for anything',
      { anonymous: true },
      FOLDER,
      'ERR_STORAGE',
      /^Cannot find the metadata of s3:\/\/warehouse\/db\/table: files cannot be listed here, so .* \(Cannot list .*403 AccessDenied/,
      2,
    ],
    [
      'no table there',
      {},
      's3://warehouse/db/tabel',
      'ERR_NOT_FOUND',
      /^Cannot find the metadata of .*: neither a table folder nor a metadata file is there$/,
      3,
    ],
  ]
  for (const [what, s3, location, code, message, requests] of rows)
    it(`${what}: ${code} after ${requests} requests`, async () => {
      const error: IcebergError & { retryable?: boolean; denied?: boolean } = await rejection(
        load(s3, location),
      )
      assert.equal(error.code, code)
      assert.match(error.message, message)
      assert.lengthOf(server.requests, requests)
      assert.isNotTrue(error.retryable)
    })

  for (const [status, code] of [
    [403, 'AccessDenied'],
    [405, 'MethodNotAllowed'],
    [501, 'NotImplemented'],
  ] as const)
    it(`a listing alone, by ${status} ${code}: the hint is asked`, async () => {
      server.put(
        'warehouse',
        'db/table/metadata/version-hint.text',
        Buffer.from(nameOf(built.metadataLocation)),
      )
      server.faults.push({ kind: 'status', status, code, when: isListing, times: Infinity })
      const table = await load()
      assert.equal(table.metadata.metadataLocation, built.metadataLocation)
      assert.lengthOf(
        server.requests.filter((request) => !isListing(request)),
        2,
      )
    })

  it('by HTTP, 403 may be all that is said of what is not there: the error is that of the store', async () => {
    const error: IcebergError & { retryable?: boolean; denied?: boolean } = await rejection(
      loadTable(`${server.endpoint}/warehouse/db/table`),
    )
    assert.deepEqual([error.code, error.denied], ['ERR_STORAGE', true])
    assert.match(
      error.message,
      /: files cannot be listed here, so .* \(Cannot read http.*version-hint\.text: .* 403/,
    )
    assert.lengthOf(server.requests, 3)
  })
})

function nameOf(location: string): string {
  return location.slice(location.lastIndexOf('/') + 1)
}
