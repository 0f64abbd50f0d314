import { Socket } from 'node:net';

/** What a socket of node:net has behind it. None of that is promised, so it is looked at before it is used. */
type Handle = Readonly<{ readStart(): number; useUserBuffer(buffer: Uint8Array): void }>;
type SocketInternals = { _handle?: Handle | null; _server?: object | null; server?: object | null };

/** All connections are read into this, one after the other; what is to stay is copied. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** Hears of a connection. Must not throw. */
export interface SocketListener {
  /** @param bytes - hold only until it returns. */
  onData(bytes: Buffer, end: number): void;
  /** The other side writes nothing more. */
  onEnd(): void;
  onClose(): void;
}

/**
 * A connection that is read into memory which all of them share, where the runtime lets that be done; else from the
 * events of its socket, which costs more.
 */
export class FastSocket {
  /** What is written to. */
  readonly socket: Socket;
  /** Whether it is read into shared memory. */
  readonly isShared: boolean;
  #listener: SocketListener | null = null;

  /** @param from - a socket of which nothing was read; not to be used any more. */
  constructor(from: Socket, sharesReads: boolean) {
    this.isShared = sharesReads && isMovable(from);
    this.socket = this.isShared ? moveHandle(from, this.#onSharedRead) : from;
    this.socket.on('error', ignore);
    this.socket.on('timeout', this.#onTimeout);
    this.socket.on('end', this.#onEnd);
    this.socket.on('close', this.#onClose);
  }

  /** Tells of what happens from now on. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
    if (!this.isShared) this.socket.on('data', this.#onData);
  }

  /** Lets go of the connection. @returns a socket as node:net has them, of which nobody here hears any more. */
  detach(): Socket {
    const { socket } = this;
    socket.off('error', ignore);
    socket.off('timeout', this.#onTimeout);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onClose);
    socket.off('data', this.#onData);
    if (!this.isShared) return socket;
    // By hand, because the handle goes on reading into memory that is given to it.
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

/** Whether a socket's handle can be given to another socket. */
function isMovable(socket: Socket): boolean {
  const { _handle: handle } = socket as SocketInternals;
  return typeof handle?.useUserBuffer === 'function' && typeof handle.readStart === 'function';
}

/**
 * The same connection as another socket, that reads into shared memory. Listeners to `close` go with it.
 * @param read - gets how much was read; false: no more for now.
 */
function moveHandle(from: Socket, onRead: (end: number) => boolean): Socket {
  const internals = from as SocketInternals;
  const onread = { buffer: shared, callback: onRead };
  const options: object = { handle: internals._handle, allowHalfOpen: true, onread };
  internals._handle = null;
  const to = new Socket(options);
  // Whoever listens for connections counts each until the socket is destroyed that says it is one of theirs.
  const target = to as SocketInternals;
  target._server = internals._server ?? null;
  target.server = internals.server ?? null;
  internals._server = null;
  for (const listener of from.listeners('close')) to.once('close', listener as () => void);
  return to;
}
