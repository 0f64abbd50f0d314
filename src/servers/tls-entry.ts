import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { secureContextOf, type TlsIdentity, type TlsVersion } from './tls-identity.ts';

/** How a listener speaks TLS. */
export type TlsEntryOptions = TlsIdentity &
  Readonly<{
    minVersion: TlsVersion;
    /** The only protocol that is spoken inside. Clients that name none are taken for speaking it. */
    protocol: string;
    /** Time for the handshake. */
    handshakeTimeoutMs: number;
  }>;

/** Between a listener and what is spoken on it: makes connections secure, and lets go of those that cannot be. */
export class TlsEntry {
  readonly #server: Server;
  readonly #minVersion: TlsVersion;
  /** Connections that came through here, those included that are still shaking hands. */
  readonly #open = new Set<Socket>();

  /** @param secured - gets each connection whose handshake is done. */
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

  /** Takes a connection on which nothing was said yet. */
  accept(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', ignore);
    socket.once('close', () => this.#open.delete(socket));
    this.#server.emit('connection', socket);
  }

  /** Connections from now on get this certificate. @throws Error when it cannot be read. */
  reload(identity: TlsIdentity): void {
    this.#server.setSecureContext(secureContextOf(identity, this.#minVersion));
  }

  /** Cuts every connection that came through here. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

const ignore = (): void => {};
