import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { GrpcTls } from '../servers/grpc/options.ts';
import type { Configuration } from './configuration.ts';

/** A certificate or its key cannot be used; the message names the field, and holds nothing of the files. */
export class TlsFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TlsFileError';
  }
}

function read(field: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new TlsFileError(
      `${field}: ${file} ${missing ? 'does not exist' : 'cannot be read: let this user read it'}`,
    );
  }
}

function check({ cert, key }: GrpcTls): void {
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new TlsFileError(
      'grpc.tls_cert and grpc.tls_key: not a certificate and the key to it, both in PEM without a password',
    );
  }
}

/** The certificate of the gRPC door and its key; null when it has none. @throws TlsFileError */
export function readTls({ grpc: { tlsCert, tlsKey } }: Configuration): GrpcTls | null {
  if (tlsCert === null || tlsKey === null) return null;
  const tls = { cert: read('grpc.tls_cert', tlsCert), key: read('grpc.tls_key', tlsKey) };
  check(tls);
  return tls;
}

/** Until when a certificate is good. */
export const expiryOf = ({ cert }: GrpcTls): Date => new X509Certificate(cert).validToDate;
