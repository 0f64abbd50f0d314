import { Socket } from 'node:net';

/** What a socket of node:net has behind it. None of that is promised, so it is looked at before it is used. */
type Handle = Readonly<{ readStart(): number; useUserBuffer(buffer: Uint8Array): void }>;
type Inside = { _handle?: Handle | null; _server?: object | null; server?: object | null };

/** All connections are read into this, one after the other; what is to stay is copied. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** Hears of a connection. Must not throw. */
export interface SocketListener {
  /** @param bytes - hold only until it returns. */
  read(bytes: Buffer, end: number): void;
  /** The other side writes nothing more. */
  ended(): void;
  closed(): void;
}

/**
 * A connection that is read into memory which all of them share, where the runtime lets that be done; else from the
 * events of its socket, which costs more.
 */
export class RawSocket {
  /** What is written to. */
  readonly socket: Socket;
  /** Whether it is read into shared memory. */
  readonly isShared: boolean;
  #listener: SocketListener | null = null;

  /** @param from - a socket of which nothing was read; not to be used any more. */
  constructor(from: Socket, sharesReads: boolean) {
    this.isShared = sharesReads && isMovable(from);
    this.socket = this.isShared ? moved(from, this.#readShared) : from;
    this.socket.on('error', ignore);
    this.socket.on('timeout', this.#cut);
    this.socket.on('end', this.#end);
    this.socket.on('close', this.#close);
  }

  /** Tells of what happens from now on. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
    if (!this.isShared) this.socket.on('data', this.#data);
  }

  /** Lets go of the connection. @returns a socket as node:net has them, of which nobody here hears any more. */
  letGo(): Socket {
    const { socket } = this;
    socket.off('error', ignore);
    socket.off('timeout', this.#cut);
    socket.off('end', this.#end);
    socket.off('close', this.#close);
    socket.off('data', this.#data);
    if (!this.isShared) return socket;
    // By hand, because the handle goes on reading into memory that is given to it.
    const to: Socket = moved(socket, (end) => to.push(Buffer.from(shared.subarray(0, end))));
    return to;
  }

  readonly #readShared = (end: number): boolean => {
    this.#listener?.read(shared, end);
    return true;
  };
  readonly #data = (bytes: Buffer): void => this.#listener?.read(bytes, bytes.length);
  readonly #end = (): void => this.#listener?.ended();
  readonly #close = (): void => this.#listener?.closed();
  readonly #cut = (): void => void this.socket.destroy();
}

const ignore = (): void => {};

/** Whether a socket's handle can be given to another socket. */
function isMovable(socket: Socket): boolean {
  const { _handle: handle } = socket as Inside;
  return typeof handle?.useUserBuffer === 'function' && typeof handle.readStart === 'function';
}

/**
 * The same connection as another socket, that reads into shared memory. Listeners to `close` go with it.
 * @param read - gets how much was read; false: no more for now.
 */
function moved(from: Socket, read: (end: number) => boolean): Socket {
  const inside = from as Inside;
  const onread = { buffer: shared, callback: read };
  const options: object = { handle: inside._handle, allowHalfOpen: true, onread };
  inside._handle = null;
  const to = new Socket(options);
  // Whoever listens for connections counts each until the socket is destroyed that says it is one of theirs.
  const place = to as Inside;
  place._server = inside._server ?? null;
  place.server = inside.server ?? null;
  inside._server = null;
  for (const listener of from.listeners('close')) to.once('close', listener as () => void);
  return to;
}
