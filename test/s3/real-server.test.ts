/**
 * The S3 suite on a server that is not ours, at ICEPLAN_S3_ENDPOINT, with ICEPLAN_S3_ACCESS_KEY_ID,
 * ICEPLAN_S3_SECRET_ACCESS_KEY and ICEPLAN_S3_REGION (default us-east-1). It gets a new bucket. `.ci/run` starts one.
 */
import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { s3Suite } from './suite.ts'

const {
  ICEPLAN_S3_ENDPOINT: endpoint = '',
  ICEPLAN_S3_ACCESS_KEY_ID: accessKeyId = '',
  ICEPLAN_S3_SECRET_ACCESS_KEY: secretAccessKey = '',
  ICEPLAN_S3_REGION: region = 'us-east-1',
} = process.env

if (endpoint === '') describe.skip('S3: a real server', () => it('needs ICEPLAN_S3_ENDPOINT'))
else
  describe('S3: a real server', () => {
    const inAFileSystem = 'the server keeps objects as files, where a folder holds no data'
    s3Suite({
      keysItLacks: { 'odd/a folder/': inAFileSystem },
      async start() {
        const credentials = { accessKeyId, secretAccessKey }
        const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
        const Bucket = `iceplan-${randomUUID()}`
        await client.send(new CreateBucketCommand({ Bucket }))
        return {
          endpoint,
          region,
          credentials,
          bucket: Bucket,
          pageSize: 1000,
          async put(Key, Body) {
            await client.send(new PutObjectCommand({ Bucket, Key, Body }))
          },
          close() {
            client.destroy()
            return Promise.resolve()
          },
        }
      },
    })
  })
