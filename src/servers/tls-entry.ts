import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { secureContextOf, type TlsIdentity, type TlsVersion } from './tls-identity.ts';

export type TlsEntryOptions = TlsIdentity &
  Readonly<{
    minVersion: TlsVersion;
    /** The only ALPN protocol; clients without ALPN are assumed to speak it. */
    protocol: string;
    handshakeTimeoutMs: number;
  }>;

/** Terminates TLS in front of a listener and closes connections whose handshake fails. */
export class TlsEntry {
  readonly #server: Server;
  readonly #minVersion: TlsVersion;
  /** Includes connections in the handshake. */
  readonly #open = new Set<Socket>();

  /** @param secured - gets each connection after its handshake. */
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

  /** Replaces the certificate for new connections. @throws Error when it is invalid. */
  reload(identity: TlsIdentity): void {
    this.#server.setSecureContext(secureContextOf(identity, this.#minVersion));
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

const ignore = (): void => {};
