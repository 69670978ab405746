const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|^ERR_TLS|^ERR_SSL/

/**
 * What helps with a certificate that is not trusted, to be put after the words of Node; empty for other errors.
 *
 * @param code - Of the error, as Node gives it.
 */
export function certificateHint(code: string | undefined): string {
  return code !== undefined && CERTIFICATE.test(code)
    ? '; a certificate of your own authority is trusted by the environment variable NODE_EXTRA_CA_CERTS'
    : ''
}
