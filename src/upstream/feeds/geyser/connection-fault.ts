/** What TLS calls the faults of a certificate. Sources: OpenSSL x509_vfy.h; Node.js, `tls`. */
const certificateFaults: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes without those of the authorities between',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: look at the clocks',
  CERT_REVOKED: 'its certificate was revoked',
  CERT_SIGNATURE_FAILURE: 'the signature of its certificate is wrong',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** What else keeps connections from being made. */
const otherFaults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'it cut the connection',
  ENOTFOUND: 'its name is not known',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_HTTP2_ERROR: 'it does not speak HTTP/2',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'it does not speak HTTP/2',
};

/** What an error of a connection is, in words and by its code: its own words may hold the address. */
export function connectionFault(error: Error): string {
  // A stream that never had a connection is cancelled, because of what happened to that.
  const { code } = (error.cause instanceof Error ? error.cause : error) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return error.name;
  const description = certificateFaults[code] ?? otherFaults[code];
  return description === undefined ? code : `${description} (${code})`;
}
