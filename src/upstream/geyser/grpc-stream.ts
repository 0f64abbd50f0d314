import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { TimeSlicedQueue } from '../../base/concurrency/time-sliced.ts';
import { ACCEPTED_ENCODINGS, encodeFrame, GrpcFrames, InvalidGrpc } from '../../protocol/grpc/frames.ts';
import { type GrpcStatus, statusOf, statusOfHttp } from '../../protocol/grpc/status.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';

export type GrpcStreamLimits = Pick<
  GeyserSourceOptions,
  | 'connectTimeoutMs'
  | 'pingIntervalMs'
  | 'pongTimeoutMs'
  | 'messageMaxBytes'
  | 'windowBytes'
  | 'stallMs'
  | 'reconnectMs'
  | 'reconnectMaxMs'
>;

/** TLS certificate error codes. Sources: OpenSSL x509_vfy.h; Node.js, `tls`. */
const certificateFaults: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate issued by an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate issued by an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate issued by an untrusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'intermediate certificates missing',
  CERT_HAS_EXPIRED: 'certificate expired',
  CERT_NOT_YET_VALID: 'certificate not valid yet: check the clocks',
  CERT_REVOKED: 'certificate revoked',
  CERT_SIGNATURE_FAILURE: 'invalid certificate signature',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate does not match the host name',
};

const otherFaults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host name not found',
  EPROTO: 'server does not support TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'server does not support TLS',
  ERR_HTTP2_ERROR: 'server does not support HTTP/2',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'server does not support HTTP/2',
};

/** Describes an error without its message, which may contain the address. */
function connectionFault(error: Error): string {
  // A stream that never connected is canceled; `cause` holds the connection error.
  const { code } = (error.cause instanceof Error ? error.cause : error) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return error.name;
  const description = certificateFaults[code] ?? otherFaults[code];
  return description === undefined ? code : `${description} (${code})`;
}

export type GrpcStreamOptions = Omit<GrpcStreamLimits, 'stallMs' | 'reconnectMs' | 'reconnectMaxMs'> &
  Readonly<{
    /** The path of this URL is prepended to `method`. May contain secrets. */
    url: string;
    /** Request metadata, such as `x-token`. May contain secrets. */
    headers: Readonly<Record<string, string>>;
    method: string;
  }>;

export interface GrpcStreamListener<Message> {
  /** The server accepted the stream. */
  onOpen(): void;
  /** A buffer passed here is never modified afterwards. */
  onMessage(message: Message): void;
  /** Called at most once, and never after `close`. */
  onEnd(status: GrpcStatus): void;
}

/** The maximum ratio applies only above 16 MiB, because a 10 MiB account of zeros compresses to a few hundred bytes. */
const DECOMPRESSION_LIMITS = { decompressionRatioMax: 64, ratioExemptBytes: 16 * 1024 * 1024 };

/** Shared by all streams, so that together they do not block the event loop with decompression. */
const decompressionQueue = new TimeSlicedQueue();

const unavailable = (message: string): GrpcStatus => ({ code: 'UNAVAILABLE', message });

const DROPPED_HEADER =
  /^(:|(connection|host|http2-settings|keep-alive|proxy-connection|te|transfer-encoding|upgrade)$)/;

/** Drops pseudo-headers, `host`, `te`, and headers that node:http2 rejects. HTTP/2 header names must be lowercase. */
function requestHeaders({ url, headers, method }: GrpcStreamOptions): Record<string, string> {
  const configured = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...Object.fromEntries(configured.filter(([name]) => !DROPPED_HEADER.test(name))),
    ':method': 'POST',
    ':path': new URL(url).pathname.replace(/\/$/, '') + method,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-accept-encoding': ACCEPTED_ENCODINGS,
    'user-agent': 'solway',
  };
}

/** Bidirectional gRPC stream on its own HTTP/2 connection. Sources: grpc, doc/PROTOCOL-HTTP2.md; RFC 9113. */
export class GrpcStream {
  readonly #options: GrpcStreamOptions;
  readonly #listener: GrpcStreamListener<Buffer>;
  readonly #frames: GrpcFrames;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #connectTimer: NodeJS.Timeout;
  readonly #pingTimer: NodeJS.Timeout;
  #pongTimer: NodeJS.Timeout | null = null;
  #trailersStatus: GrpcStatus | null = null;
  #isEnded = false;
  #isPaused = false;
  #isQueued = false;
  #pendingEndStatus: GrpcStatus | null = null;
  readonly #readQueued = (): void => {
    this.#isQueued = false;
    this.#read(true);
  };

  constructor(options: GrpcStreamOptions, listener: GrpcStreamListener<Buffer>) {
    this.#options = options;
    this.#listener = listener;
    this.#frames = new GrpcFrames({ ...DECOMPRESSION_LIMITS, messageMaxBytes: options.messageMaxBytes });
    const { windowBytes, connectTimeoutMs, pingIntervalMs } = options;
    const { origin } = new URL(options.url);
    this.#session = connect(origin, { settings: { initialWindowSize: windowBytes, enablePush: false } });
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(windowBytes);
    });
    this.#connectTimer = setTimeout(
      () => this.#end(unavailable('no response within the connect timeout')),
      connectTimeoutMs,
    );
    this.#pingTimer = setInterval(() => {
      if (this.#session.connecting || this.#pongTimer !== null) return;
      if (!this.#session.ping(() => this.#clearPongTimer())) return;
      const { pongTimeoutMs } = this.#options;
      this.#pongTimer = setTimeout(() => this.#end(unavailable('ping timeout')), pongTimeoutMs);
    }, pingIntervalMs);
    this.#stream = this.#session.request(requestHeaders(options), { endStream: false });
    this.#listen();
  }

  send(message: Uint8Array): void {
    if (!this.#isEnded) this.#stream.write(encodeFrame(message));
  }

  /** Half-closes the stream. Servers may wait for this if the method takes a single request. */
  finishSending(): void {
    if (!this.#isEnded) this.#stream.end();
  }

  pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isQueued) this.#stream.resume();
  }

  close(): void {
    this.#destroy();
  }

  #listen(): void {
    // The stream's error, which contains the cause, precedes the session's error.
    this.#session.on('error', (error) => this.#endAfterRead(unavailable(connectionFault(error))));
    this.#session.on('goaway', () => this.#endAfterRead(unavailable('server sent GOAWAY')));
    this.#session.on('close', () => this.#endAfterRead(unavailable('connection closed')));
    this.#stream.on('response', (headers) => {
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
    });
    this.#stream.on('trailers', (headers) => {
      this.#trailersStatus ??= statusOf(headers);
    });
    this.#stream.on('data', (piece: Buffer) => {
      if (this.#isEnded) return;
      this.#frames.push(piece);
      if (!this.#isQueued) this.#read(false);
    });
    const endWith = (fault: string): void => this.#endAfterRead(this.#trailersStatus ?? unavailable(fault));
    this.#stream.on('error', (error) => endWith(connectionFault(error)));
    // If the server ends the stream, close our side too.
    for (const event of ['end', 'close'])
      this.#stream.on(event, () => endWith('stream closed without a status'));
  }

  #read(hasTimeSlice: boolean): void {
    try {
      this.#deliver(hasTimeSlice);
    } catch (error) {
      // An error in the listener ends only this stream.
      const message = error instanceof InvalidGrpc ? error.message : 'failed to process a message';
      this.#end({ code: 'INTERNAL', message });
    }
    if (this.#isQueued || this.#isEnded) return;
    if (this.#pendingEndStatus !== null) this.#end(this.#pendingEndStatus);
    else if (hasTimeSlice && !this.#isPaused) this.#stream.resume();
  }

  /** Delivers messages. Decompresses each compressed message in its own queued task. */
  #deliver(hasTimeSlice: boolean): void {
    let mayDecompress = hasTimeSlice;
    while (!this.#isEnded) {
      const { isCompressedReady } = this.#frames;
      if (isCompressedReady && !mayDecompress) {
        this.#isQueued = true;
        this.#stream.pause();
        decompressionQueue.enqueue(this.#readQueued);
        return;
      }
      if (isCompressedReady) mayDecompress = false;
      const message = this.#frames.next();
      if (message === null) return;
      this.#listener.onMessage(message);
    }
  }

  #clearPongTimer(): void {
    if (this.#pongTimer !== null) clearTimeout(this.#pongTimer);
    this.#pongTimer = null;
  }

  #endAfterRead(status: GrpcStatus): void {
    if (this.#isQueued) this.#pendingEndStatus ??= status;
    else this.#end(status);
  }

  #end(status: GrpcStatus): void {
    if (this.#isEnded) return;
    this.#destroy();
    this.#listener.onEnd(status);
  }

  #destroy(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#connectTimer);
    clearInterval(this.#pingTimer);
    this.#clearPongTimer();
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#session.destroy();
  }
}
