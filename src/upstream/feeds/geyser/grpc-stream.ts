import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { ACCEPTED_ENCODINGS, frameOf, GrpcFrames, InvalidGrpc } from '../../../protocol/grpc/frames.ts';
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
  opened(): void;
  /** One message; a view, never modified afterwards. */
  message(bytes: Buffer): void;
  /** Nothing more comes, for whatever reason. Called once. */
  ended(status: GrpcStatus): void;
}

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
  #ended = false;

  constructor(options: GrpcStreamOptions, listener: GrpcStreamListener) {
    this.#options = options;
    this.#listener = listener;
    this.#frames = new GrpcFrames(options.messageMaxBytes);
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
    if (!this.#ended) this.#stream.write(frameOf(message));
  }

  /** Says that no more messages are sent: servers of calls with one request may wait for it. */
  finishSending(): void {
    if (!this.#ended) this.#stream.end();
  }

  /** Reads no further; the server is held back by flow control. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Ends it; the listener hears nothing more. */
  close(): void {
    this.#finish();
  }

  #listen(): void {
    // The stream's own error says what went wrong on the way; the session's comes with it.
    this.#session.on('error', (error) => this.#end(unavailable(connectionFault(error))));
    this.#session.on('goaway', () => this.#end(unavailable('the server says goodbye')));
    this.#session.on('close', () => this.#end(unavailable('the connection is gone')));
    this.#stream.on('response', (headers) => this.#respond(headers));
    this.#stream.on('trailers', (headers) => {
      this.#status ??= statusOf(headers);
    });
    this.#stream.on('data', (piece: Buffer) => this.#take(piece));
    this.#stream.on('error', (error) => this.#end(this.#status ?? unavailable(connectionFault(error))));
    // The server's half is over; ours would stay open.
    this.#stream.on('end', () => this.#end(this.#status ?? unavailable('the stream was cut')));
    this.#stream.on('close', () => this.#end(this.#status ?? unavailable('the stream was cut')));
  }

  #respond(headers: Readonly<Record<string, string | string[] | number | undefined>>): void {
    clearTimeout(this.#connectTimer);
    const status = Number(headers[':status']);
    const ended = statusOf(headers) ?? (status === 200 ? null : statusOfHttp(status));
    if (ended !== null) {
      this.#end(ended);
      return;
    }
    const encoding = headers['grpc-encoding'];
    if (typeof encoding === 'string') this.#frames.encoding = encoding;
    this.#listener.opened();
  }

  #take(piece: Buffer): void {
    if (this.#ended) return;
    try {
      this.#frames.push(piece, (message) => {
        if (!this.#ended) this.#listener.message(message);
      });
    } catch (error) {
      // What breaks whoever reads it ends the stream that it came over, and nothing else.
      const message = error instanceof InvalidGrpc ? error.message : 'a message that cannot be read';
      this.#end({ code: 'INTERNAL', message });
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

  #end(status: GrpcStatus): void {
    if (this.#ended) return;
    this.#finish();
    this.#listener.ended(status);
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#connectTimer);
    clearInterval(this.#pingTimer);
    this.#endPong();
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#session.destroy();
  }
}
