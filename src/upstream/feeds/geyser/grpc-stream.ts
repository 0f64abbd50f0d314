import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { TimeSlicedQueue } from '../../../base/concurrency/time-sliced.ts';
import { ACCEPTED_ENCODINGS, encodeFrame, GrpcFrames, InvalidGrpc } from '../../../protocol/grpc/frames.ts';
import { type GrpcStatus, statusOf, statusOfHttp } from '../../../protocol/grpc/status.ts';
import { connectionFault } from './connection-fault.ts';
import type { GrpcStreamLimits } from './grpc-stream-limits.ts';

type Limits = Pick<
  GrpcStreamLimits,
  'connectTimeoutMs' | 'pingIntervalMs' | 'pongTimeoutMs' | 'messageMaxBytes' | 'windowBytes'
>;

export type GrpcStreamOptions = Limits &
  Readonly<{
    /** http (plaintext) or https; a path is put in front of the method's. May hold secrets. */
    url: string;
    /** Sent with the request, such as `x-token`. May hold secrets. */
    headers: Readonly<Record<string, string>>;
    /** Such as `/geyser.Geyser/Subscribe`. */
    method: string;
  }>;

interface GrpcStreamListener {
  /** The server accepted the stream. */
  onOpen(): void;
  /** One message; a view, never modified afterwards. */
  onMessage(bytes: Buffer): void;
  /** Nothing more comes, for whatever reason. Called once. */
  onEnd(status: GrpcStatus): void;
}

/**
 * What a compressed message may unpack to: so many times its size, and so many bytes in any case, since an account of
 * zeros, which may have 10 MiB, is compressed to a few hundred bytes.
 */
const UNPACKED = { unpackedRatioMax: 64, unpackedFreeBytes: 16 * 1024 * 1024 };

/** Of all streams together: however much they tell compressed, they unpack it in turns. */
const decompressionQueue = new TimeSlicedQueue();

const unavailable = (message: string): GrpcStatus => ({ code: 'UNAVAILABLE', message });

/** Headers of HTTP/2 itself and of connections must not be overwritten; names are in lower case there. */
function requestHeaders({ url, headers, method }: GrpcStreamOptions): Record<string, string> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...Object.fromEntries(own.filter(([name]) => !/^(:|(connection|host|te)$)/.test(name))),
    ':method': 'POST',
    ':path': new URL(url).pathname.replace(/\/$/, '') + method,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-accept-encoding': ACCEPTED_ENCODINGS,
    'user-agent': 'solway',
  };
}

/**
 * A gRPC call in which both sides send messages for as long as they like, on an HTTP/2 connection of its own.
 * Sources: grpc, doc/PROTOCOL-HTTP2.md; RFC 9113.
 */
export class GrpcStream {
  readonly #options: GrpcStreamOptions;
  readonly #listener: GrpcStreamListener;
  readonly #frames: GrpcFrames;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #connectTimer: NodeJS.Timeout;
  readonly #pingTimer: NodeJS.Timeout;
  #pongTimer: NodeJS.Timeout | null = null;
  #status: GrpcStatus | null = null;
  #isEnded = false;
  /** Holds back what comes, whoever listens. */
  #isPaused = false;
  /** Waits for its turn to unpack a message; nothing more is read meanwhile. */
  #isQueued = false;
  /** How the server ended it while something that it had told before was still in line. */
  #endStatus: GrpcStatus | null = null;
  readonly #readQueued = (): void => {
    this.#isQueued = false;
    this.#read(true);
  };

  constructor(options: GrpcStreamOptions, listener: GrpcStreamListener) {
    this.#options = options;
    this.#listener = listener;
    this.#frames = new GrpcFrames({ ...UNPACKED, messageMaxBytes: options.messageMaxBytes });
    const { windowBytes, connectTimeoutMs, pingIntervalMs } = options;
    const { origin } = new URL(options.url);
    this.#session = connect(origin, { settings: { initialWindowSize: windowBytes, enablePush: false } });
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(windowBytes);
    });
    this.#connectTimer = setTimeout(() => this.#end(unavailable('no answer in time')), connectTimeoutMs);
    this.#pingTimer = setInterval(() => this.#ping(), pingIntervalMs);
    this.#stream = this.#session.request(requestHeaders(options), { endStream: false });
    this.#listen();
  }

  /** Sends one message. */
  send(message: Uint8Array): void {
    if (!this.#isEnded) this.#stream.write(encodeFrame(message));
  }

  /** Says that no more messages are sent: servers of calls with one request may wait for it. */
  finishSending(): void {
    if (!this.#isEnded) this.#stream.end();
  }

  /** Reads no further; the server is held back by flow control. */
  pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isQueued) this.#stream.resume();
  }

  /** Ends it; the listener hears nothing more. */
  close(): void {
    this.#finish();
  }

  #listen(): void {
    // The stream's own error says what went wrong on the way; the session's comes with it.
    this.#session.on('error', (error) => this.#endAfterRead(unavailable(connectionFault(error))));
    this.#session.on('goaway', () => this.#endAfterRead(unavailable('the server says goodbye')));
    this.#session.on('close', () => this.#endAfterRead(unavailable('the connection is gone')));
    this.#stream.on('response', (headers) => this.#handleResponse(headers));
    this.#stream.on('trailers', (headers) => {
      this.#status ??= statusOf(headers);
    });
    this.#stream.on('data', (piece: Buffer) => this.#handleData(piece));
    this.#stream.on('error', (error) =>
      this.#endAfterRead(this.#status ?? unavailable(connectionFault(error))),
    );
    // The server's half is over; ours would stay open.
    this.#stream.on('end', () => this.#endAfterRead(this.#status ?? unavailable('the stream was cut')));
    this.#stream.on('close', () => this.#endAfterRead(this.#status ?? unavailable('the stream was cut')));
  }

  #handleResponse(headers: Readonly<Record<string, string | string[] | number | undefined>>): void {
    clearTimeout(this.#connectTimer);
    const status = Number(headers[':status']);
    const ended = statusOf(headers) ?? (status === 200 ? null : statusOfHttp(status));
    if (ended !== null) {
      this.#end(ended);
      return;
    }
    const encoding = headers['grpc-encoding'];
    if (typeof encoding === 'string') this.#frames.encoding = encoding;
    this.#listener.onOpen();
  }

  #handleData(piece: Buffer): void {
    if (this.#isEnded) return;
    this.#frames.push(piece);
    if (!this.#isQueued) this.#read(false);
  }

  /** Hands on what came, and goes on reading when that is done. */
  #read(hasTimeSlice: boolean): void {
    try {
      this.#deliver(hasTimeSlice);
    } catch (error) {
      // What breaks whoever reads it ends the stream that it came over, and nothing else.
      const message = error instanceof InvalidGrpc ? error.message : 'a message that cannot be read';
      this.#end({ code: 'INTERNAL', message });
    }
    if (this.#isQueued || this.#isEnded) return;
    if (this.#endStatus !== null) this.#end(this.#endStatus);
    else if (hasTimeSlice && !this.#isPaused) this.#stream.resume();
  }

  /** What has to be unpacked waits for a turn, one message at a time. */
  #deliver(hasTimeSlice: boolean): void {
    let mayTakeLong = hasTimeSlice;
    while (!this.#isEnded) {
      const { isHeavy } = this.#frames;
      if (isHeavy && !mayTakeLong) {
        this.#isQueued = true;
        this.#stream.pause();
        decompressionQueue.enqueue(this.#readQueued);
        return;
      }
      if (isHeavy) mayTakeLong = false;
      const message = this.#frames.next();
      if (message === null) return;
      this.#listener.onMessage(message);
    }
  }

  #ping(): void {
    if (this.#session.connecting || this.#pongTimer !== null) return;
    if (!this.#session.ping(() => this.#endPong())) return;
    const { pongTimeoutMs } = this.#options;
    this.#pongTimer = setTimeout(() => this.#end(unavailable('no answer to a ping')), pongTimeoutMs);
  }

  #endPong(): void {
    if (this.#pongTimer !== null) clearTimeout(this.#pongTimer);
    this.#pongTimer = null;
  }

  /** The server ended it, or the way to it did; what it told before is read first. */
  #endAfterRead(status: GrpcStatus): void {
    if (this.#isQueued) this.#endStatus ??= status;
    else this.#end(status);
  }

  #end(status: GrpcStatus): void {
    if (this.#isEnded) return;
    this.#finish();
    this.#listener.onEnd(status);
  }

  #finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#connectTimer);
    clearInterval(this.#pingTimer);
    this.#endPong();
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#session.destroy();
  }
}
