import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { READ_MAX_BYTES } from '../../http/buffer-pool.ts';

export interface SocketListener {
  onOpen(): void;
  /** The bytes are valid until it returns, unless `readBuffer` provided them. */
  onData(bytes: Buffer, length: number): void;
  /** Buffer for the next read; null: the shared one. Called after each read of plain connections. */
  readonly readBuffer: Buffer | null;
  onEnd(): void;
  onClose(cause: unknown): void;
}

export type Origin = Readonly<{
  /** Name, or address without brackets. */
  host: string;
  port: number;
  tls: boolean;
  serverName: string;
}>;

const TCP_KEEP_ALIVE_MS = 60_000;

/** Read buffer of all plain connections: data that must last is copied before the next read. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_MAX_BYTES);

/**
 * Read options of a plain connection: shared buffer, or the listener's. node:net calls `buffer` after each
 * read and before the first one per address.
 * Source: Node.js, lib/net.js, `initSocketHandle`; lib/internal/stream_base_commons.js, `onStreamRead`.
 */
function readOptionsFor(listener: SocketListener): OnReadOpts {
  let last: Uint8Array | null = null;
  return {
    buffer: () => {
      if (last === null) return sharedBuffer;
      const next = listener.readBuffer ?? sharedBuffer;
      return next === last ? SAME_BUFFER : next;
    },
    callback: (length, bytes) => {
      last = bytes;
      listener.onData(bytes as Buffer, length);
      return true;
    },
  };
}

const SAME_BUFFER = undefined as unknown as Uint8Array;

export function originOf(url: URL, serverName: string): Origin {
  const tls = url.protocol === 'https:';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls, serverName };
}

/** Opens connections to one origin. Resolves the name each time and tries all addresses. */
export class Dialer {
  readonly #origin: Origin;
  #session: Buffer | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  /** Unreferenced: pending requests keep the process alive, not connections. */
  dial(listener: SocketListener): Socket {
    const socket = this.#origin.tls ? this.#dialTls(listener) : this.#dialPlain(listener);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.unref();
    let cause: unknown = null;
    socket.on('error', (error) => {
      cause = error;
    });
    socket.once('end', () => listener.onEnd());
    socket.once('close', () => listener.onClose(cause));
    return socket;
  }

  #dialPlain(listener: SocketListener): Socket {
    const { host, port } = this.#origin;
    const socket = connect({ host, port, onread: readOptionsFor(listener) });
    socket.once('connect', () => listener.onOpen());
    return socket;
  }

  /** Verifies certificates with the roots of Node.js. */
  #dialTls(listener: SocketListener): TLSSocket {
    const { host, port, serverName } = this.#origin;
    const socket = connectTls({
      host,
      port,
      // SNI takes no addresses: the certificate is then checked against `host`.
      servername: isIP(serverName) === 0 ? serverName : '',
      ALPNProtocols: ['http/1.1'],
      ...(this.#session !== undefined && { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    socket.on('data', (bytes: Buffer) => listener.onData(bytes, bytes.length));
    socket.once('secureConnect', () => listener.onOpen());
    return socket;
  }
}
