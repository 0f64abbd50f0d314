import type { TlsOptions } from 'node:tls';

/** PEM: certificate chain (leaf first) and private key. */
export type TlsIdentity = Readonly<{ cert: string | Buffer; key: string | Buffer }>;

/** Minimum TLS version. */
export type TlsVersion = '1.2' | '1.3';

/**
 * Forward secrecy and authenticated encryption only.
 * Source: Mozilla's server-side TLS guidelines 5.7, "intermediate", without finite-field key exchange.
 */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

/** Options of a TLS listener; a reload has to pass all of them. */
export const secureContextOf = ({ cert, key }: TlsIdentity, minVersion: TlsVersion = '1.2') =>
  ({ cert, key, ciphers: CIPHERS, minVersion: `TLSv${minVersion}` }) as const satisfies TlsOptions;
