import { assert } from 'chai'
import { certificateHint } from '../../src/io/certificate-hint.ts'

describe('what helps with a certificate that is not trusted', () => {
  const rows: [code: string | undefined, isCertificate: boolean][] = [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
    ['SELF_SIGNED_CERT_IN_CHAIN', true],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', true],
    ['CERT_HAS_EXPIRED', true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', true],
    ['ECONNRESET', false],
    ['ENOTFOUND', false],
    [undefined, false],
  ]
  for (const [code, isCertificate] of rows)
    it(`${code ?? 'no code'}: ${isCertificate ? 'NODE_EXTRA_CA_CERTS' : 'nothing'}`, () => {
      assert.equal(certificateHint(code).includes('NODE_EXTRA_CA_CERTS'), isCertificate)
    })
})
