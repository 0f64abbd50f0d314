import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { READ_MAX_BYTES } from '../../http/buffer-pool.ts';

/** What happens on a connection. */
export interface SocketListener {
  onOpen(): void;
  /** The bytes are looked at only until it returns, unless it named where they were read into. */
  onData(bytes: Buffer, length: number): void;
  /** Where what comes next is read into; null: where all read. Asked after each read, of plain connections alone. */
  readonly readBuffer: Buffer | null;
  /** The other side sends nothing more. */
  onEnd(): void;
  /** Told once, last of all. */
  onClose(cause: unknown): void;
}

/** Where a node listens. */
export type Origin = Readonly<{
  /** A name, or an address without brackets. */
  host: string;
  port: number;
  tls: boolean;
  /** The name that its certificate must bear. */
  serverName: string;
}>;

const TCP_KEEP_ALIVE_MS = 60_000;

/** All plain connections read into it, one at a time: what is to last is copied out before the next is read. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_MAX_BYTES);

/**
 * How a plain connection is read: into what all share, or where its listener wants what comes next. node:net asks for memory
 * after each read, when what is none leaves it as it is; and before the first one for each address that it tries.
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

/** @param url - http or https. */
export function originOf(url: URL, serverName: string): Origin {
  const tls = url.protocol === 'https:';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls, serverName };
}

/** Opens connections to one origin: its name is looked up for each, and every address that it has is tried. */
export class Dialer {
  readonly #origin: Origin;
  /** Of the last connection with TLS: the next is quicker with it. */
  #session: Buffer | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  /** Connections keep no process alive: whoever waits for an answer does. */
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

  /** Certificates are verified, by what Node.js trusts. */
  #dialTls(listener: SocketListener): TLSSocket {
    const { host, port, serverName } = this.#origin;
    const socket = connectTls({
      host,
      port,
      // An address has no place in the greeting: its certificate is held against `host` then.
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
