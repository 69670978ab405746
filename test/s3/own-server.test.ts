/** The S3 suite on the strict server of the tests. */
import { startS3Server } from '../support/s3-server.ts'
import { s3Suite } from './suite.ts'

describe('S3: our own server', () => {
  s3Suite({
    async start() {
      const server = await startS3Server({ region: 'eu-north-1' })
      server.pageSize = 10
      server.put('suite', 'here', new Uint8Array(0))
      return {
        endpoint: server.endpoint,
        region: server.region,
        credentials: server.credentials[0],
        bucket: 'suite',
        pageSize: server.pageSize,
        put(key, bytes) {
          server.put('suite', key, bytes)
          return Promise.resolve()
        },
        close: () => server.close(),
      }
    },
  })
})
