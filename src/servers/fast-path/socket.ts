import { Socket } from 'node:net';

/** Internals of node:net sockets. Undocumented, so their presence is checked before use. */
type Handle = Readonly<{ readStart(): number; useUserBuffer(buffer: Uint8Array): void }>;
type SocketInternals = { _handle?: Handle | null; _server?: object | null; server?: object | null };

/** Read buffer of all connections; listeners copy what they keep. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** Must not throw. */
export interface SocketListener {
  /** @param bytes - valid until it returns. */
  onData(bytes: Buffer, end: number): void;
  onEnd(): void;
  onClose(): void;
}

/** Socket that reads into the shared buffer if the runtime supports it, else from `data` events, which cost more. */
export class FastSocket {
  readonly socket: Socket;
  readonly isShared: boolean;
  #listener: SocketListener | null = null;

  /** @param from - a socket that was not read from; not to be used afterwards. */
  constructor(from: Socket, sharesReads: boolean) {
    this.isShared = sharesReads && isMovable(from);
    this.socket = this.isShared ? moveHandle(from, this.#onSharedRead) : from;
    this.socket.on('error', ignore);
    this.socket.on('timeout', this.#onTimeout);
    this.socket.on('end', this.#onEnd);
    this.socket.on('close', this.#onClose);
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
    if (!this.isShared) this.socket.on('data', this.#onData);
  }

  /** Hands the connection over. @returns an ordinary socket without listeners of this class. */
  detach(): Socket {
    const { socket } = this;
    socket.off('error', ignore);
    socket.off('timeout', this.#onTimeout);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onClose);
    socket.off('data', this.#onData);
    if (!this.isShared) return socket;
    // The handle keeps reading into a user buffer, so data is pushed by hand.
    const to: Socket = moveHandle(socket, (end) => to.push(Buffer.from(shared.subarray(0, end))));
    return to;
  }

  readonly #onSharedRead = (end: number): boolean => {
    this.#listener?.onData(shared, end);
    return true;
  };
  readonly #onData = (bytes: Buffer): void => this.#listener?.onData(bytes, bytes.length);
  readonly #onEnd = (): void => this.#listener?.onEnd();
  readonly #onClose = (): void => this.#listener?.onClose();
  readonly #onTimeout = (): void => void this.socket.destroy();
}

const ignore = (): void => {};

function isMovable(socket: Socket): boolean {
  const { _handle: handle } = socket as SocketInternals;
  return typeof handle?.useUserBuffer === 'function' && typeof handle.readStart === 'function';
}

/**
 * Moves a connection with its `close` listeners to a new socket that reads into the shared buffer.
 * @param onRead - gets the number of bytes read; returns false to pause reading.
 */
function moveHandle(from: Socket, onRead: (end: number) => boolean): Socket {
  const internals = from as SocketInternals;
  const onread = { buffer: shared, callback: onRead };
  const options: object = { handle: internals._handle, allowHalfOpen: true, onread };
  internals._handle = null;
  const to = new Socket(options);
  // The net.Server counts a connection until the socket that refers to it is destroyed.
  const target = to as SocketInternals;
  target._server = internals._server ?? null;
  target.server = internals.server ?? null;
  internals._server = null;
  for (const listener of from.listeners('close')) to.once('close', listener as () => void);
  return to;
}
