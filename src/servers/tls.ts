import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';

/** PEM-encoded certificate chain (leaf first) and private key. */
export type TlsIdentity = Readonly<{ cert: string | Buffer; key: string | Buffer }>;

export type TlsVersion = '1.2' | '1.3';

/**
 * Only suites with forward secrecy and authenticated encryption.
 * Source: Mozilla's server-side TLS guidelines 5.7, "intermediate", without finite-field key exchange.
 */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

export const secureContextOf = ({ cert, key }: TlsIdentity, minVersion: TlsVersion = '1.2') =>
  ({ cert, key, ciphers: CIPHERS, minVersion: `TLSv${minVersion}` }) as const satisfies TlsOptions;

export type TlsEntryOptions = TlsIdentity &
  Readonly<{
    minVersion: TlsVersion;
    /** The only ALPN protocol offered. The handshake also accepts clients that do not use ALPN. */
    protocol: string;
    handshakeTimeoutMs: number;
  }>;

/** Terminates TLS in front of a listener and closes connections whose handshake fails. */
export class TlsEntry {
  readonly #server: Server;
  readonly #minVersion: TlsVersion;
  readonly #open = new Set<Socket>();

  constructor(options: TlsEntryOptions, secured: (socket: TLSSocket) => void) {
    this.#minVersion = options.minVersion;
    this.#server = createServer(
      {
        ...secureContextOf(options, options.minVersion),
        ALPNProtocols: [options.protocol],
        handshakeTimeout: options.handshakeTimeoutMs,
      },
      secured,
    );
    this.#server.on('tlsClientError', (_fault, socket) => socket.destroy());
  }

  accept(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', ignore);
    socket.once('close', () => this.#open.delete(socket));
    this.#server.emit('connection', socket);
  }

  reload(identity: TlsIdentity): void {
    this.#server.setSecureContext(secureContextOf(identity, this.#minVersion));
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

const ignore = (): void => {};
