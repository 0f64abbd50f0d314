import type { TlsOptions } from 'node:tls';

/** Certificates (its own first, then those of authorities in between) and private key, both PEM. */
export type TlsIdentity = Readonly<{ cert: string | Buffer; key: string | Buffer }>;

/** The oldest version that is spoken. */
export type TlsVersion = '1.2' | '1.3';

/**
 * What is spoken in TLS 1.2: forward secrecy and authenticated encryption only. 1.3 has no others.
 * Source: Mozilla's server-side TLS guidelines 5.7, "intermediate", without the finite-field key exchange.
 */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

/** What a listener shows and speaks; when another certificate takes over, the whole of it is given again. */
export const secureContextOf = ({ cert, key }: TlsIdentity, minVersion: TlsVersion = '1.2') =>
  ({ cert, key, ciphers: CIPHERS, minVersion: `TLSv${minVersion}` }) as const satisfies TlsOptions;
