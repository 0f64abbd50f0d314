import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { OperatorError } from '../../base/operator-error.ts';
import type { Configuration } from '../../config/configuration.ts';
import { secureContextOf, type TlsIdentity } from '../../servers/tls.ts';

export type TlsFiles = Readonly<{
  cert: string;
  key: string;
  /** Option that sets `cert`, such as `server.tls.cert_file`. */
  certField: string;
  keyField: string;
}>;

/** @returns null if TLS is not configured. */
export function httpTlsFiles({ server: { tls } }: Configuration): TlsFiles | null {
  if (tls === null) return null;
  const fields = { certField: 'server.tls.cert_file', keyField: 'server.tls.key_file' };
  return { cert: tls.certFile, key: tls.keyFile, ...fields };
}

/** @returns null if TLS is not configured or gRPC is disabled. */
export function grpcTlsFiles({ grpc }: Configuration): TlsFiles | null {
  const { enabled, tlsCert: cert, tlsKey: key } = grpc;
  if (!enabled || cert === null || key === null) return null;
  return { cert, key, certField: 'grpc.tls_cert', keyField: 'grpc.tls_key' };
}

function read(field: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new OperatorError(
      `${field}: ${file} ${missing ? 'does not exist' : 'cannot be read: give this user read permission'}`,
    );
  }
}

/** Replaces an error thrown by `make`, because the error may quote the file, which may contain a private key. */
function withOperatorError<T>(message: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw new OperatorError(message);
  }
}

function check(identity: TlsIdentity, { certField, keyField }: TlsFiles): void {
  const certificate = withOperatorError(
    `${certField}: the file is not a PEM certificate`,
    () => new X509Certificate(identity.cert),
  );
  const key = withOperatorError(`${keyField}: the file is not an unencrypted PEM private key`, () =>
    createPrivateKey(identity.key),
  );
  if (!certificate.checkPrivateKey(key))
    throw new OperatorError(`${certField} and ${keyField}: the key does not match the certificate`);
  withOperatorError(
    `${certField} and ${keyField}: unusable for TLS: the key is too weak or the chain is invalid`,
    () => createSecureContext(secureContextOf(identity)),
  );
}

/** @throws OperatorError */
export function readTls(files: TlsFiles): TlsIdentity {
  const identity = { cert: read(files.certField, files.cert), key: read(files.keyField, files.key) };
  check(identity, files);
  return identity;
}

export function validityOf({ cert }: TlsIdentity): Readonly<{ from: Date; to: Date }> {
  const { validFromDate: from, validToDate: to } = new X509Certificate(cert);
  return { from, to };
}
