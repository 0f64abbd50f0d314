import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { Failure } from '../../protocol/errors.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { Heartbeat } from '../connection-lifecycle.ts';
import { LeakyBucket } from './abuse-limits.ts';
import { Call, type CallContext, rejectStream } from './call.ts';
import { decodeHead, isGrpc } from './decode.ts';
import { endingOf, endingOfFailure, trailersOnlyHeaders } from './encode.ts';
import type { Services } from './services.ts';

type ConnectionEvents = Readonly<{ onClose: (connection: Connection) => void; onAbuse: () => void }>;

export type ConnectionContext = Omit<CallContext, 'onTinyFrames'> & Readonly<{ services: Services }>;

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = constants;

/** Calls, heartbeat and abuse limits of one HTTP/2 connection. */
export class Connection {
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #onAbuse: () => void;
  readonly #context: CallContext & Readonly<{ services: Services }>;
  readonly #heartbeat = new Heartbeat(performance.now());
  readonly #openedAtMs = performance.now();
  readonly calls = new Set<Call>();
  #hasSettings = false;
  #hasCalled = false;
  #isDraining = false;
  readonly #controlFrames: LeakyBucket;
  readonly #tinyFrames: LeakyBucket;
  readonly #cancels: LeakyBucket;
  #bytesOut = 0;
  /** Whether the last tick found the session destroyed but the socket open, because the client keeps its half open. */
  #isHalfOpen = false;

  constructor(
    session: ServerHttp2Session,
    socket: Socket,
    context: ConnectionContext,
    { onClose, onAbuse }: ConnectionEvents,
  ) {
    this.#session = session;
    this.#socket = socket;
    this.#onAbuse = onAbuse;
    const { requests, options } = context;
    this.#context = {
      ...context,
      requests: requests.createChild(options.requestsPerConnectionMaxBytes),
      onTinyFrames: (frames) => this.#onTinyFrames(frames),
    };
    const { controlFramesPerSecondMax, cancelsPerSecondMax, cancelsBurstMax } = options;
    this.#controlFrames = new LeakyBucket(controlFramesPerSecondMax, controlFramesPerSecondMax);
    this.#tinyFrames = new LeakyBucket(controlFramesPerSecondMax, controlFramesPerSecondMax);
    this.#cancels = new LeakyBucket(cancelsPerSecondMax, cancelsBurstMax);
    session.on('stream', (stream, headers, _flags, raw) => this.#onStream(stream, headers, raw));
    session.on('remoteSettings', () => {
      this.#hasSettings = true;
      this.#onControlFrame();
    });
    session.on('ping', () => this.#onControlFrame());
    session.on('error', (fault) => this.#onError(fault));
    session.on('close', () => onClose(this));
  }

  tick(nowMs: number): void {
    if (this.#session.destroyed) {
      this.#closeHalfOpen();
      return;
    }
    const { options } = this.#context;
    for (const call of this.calls) call.tick(nowMs);
    const ageMs = nowMs - this.#openedAtMs;
    const isLate = !this.#hasSettings && ageMs >= options.handshakeTimeoutMs;
    if (isLate || (!this.#hasCalled && ageMs >= options.firstCallTimeoutMs)) this.destroy();
    else this.#beat(nowMs);
  }

  #closeHalfOpen(): void {
    if (this.#isHalfOpen && this.#socket.writableLength === 0) this.#socket.destroy();
    this.#isHalfOpen = true;
  }

  drain(): void {
    this.#isDraining = true;
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
    for (const call of this.calls) call.drain();
  }

  destroy(code: number = NGHTTP2_NO_ERROR): void {
    if (!this.#session.destroyed) this.#session.destroy(undefined, code);
    this.#socket.destroy();
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    stream.on('error', ignore);
    if (this.#session.destroyed || stream.destroyed) return;
    this.#hasCalled = true;
    this.#heartbeat.recordActivity(performance.now());
    const rejection = httpRejection(headers);
    if (rejection !== null) {
      rejectStream(stream, rejection);
      return;
    }
    try {
      // node:http2 enforces this limit only after the client has acknowledged the settings.
      if (sizeOf(raw) > this.#context.options.headerListMaxBytes) throw new Failure('HEADERS_TOO_LARGE');
      this.#call(stream, headers);
    } catch (thrown) {
      if (endingOf(thrown) === null)
        this.#context.log.error({ err: thrown }, 'gRPC call failed unexpectedly');
      rejectStream(stream, trailersOnlyHeaders(endingOf(thrown) ?? endingOfFailure(new Failure('INTERNAL'))));
    }
  }

  #call(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    if (this.#isDraining) throw new Failure('DRAINING');
    const head = decodeHead(headers);
    const createHandler = this.#context.services.find(head.path);
    if (createHandler === undefined) throw new GrpcError('UNIMPLEMENTED', `unknown method ${head.path}`);
    const messageMaxBytes = this.#context.services.messageMaxBytes(head.path);
    const client = this.#context.options.proxies.clientOf(this.#socket, headers);
    const call = new Call(stream, head, client, messageMaxBytes, this.#context);
    this.calls.add(call);
    stream.once('close', () => {
      this.calls.delete(call);
      if (stream.rstCode !== NGHTTP2_NO_ERROR) this.#onCancel();
    });
    call.start(createHandler);
  }

  /** An HTTP/2 error, such as a reset flood that node:http2 detects, counts as abuse if the client has made calls. */
  #onError(fault: Error): void {
    if (this.#hasCalled && 'code' in fault && fault.code === 'ERR_HTTP2_ERROR') this.#onAbuse();
  }

  #calm(): void {
    this.#onAbuse();
    this.destroy(NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** node:http2 also counts resets, but checks the count only after processing all the data of one read. */
  #onCancel(): void {
    if (this.#cancels.add(1, performance.now())) this.#calm();
  }

  /** Detects PING and SETTINGS floods, in which each frame needs a reply. Clients that also receive data are exempt. */
  #onControlFrame(): void {
    if (!this.#controlFrames.add(1, performance.now())) return;
    const { bytesWritten } = this.#socket;
    const isUsed = bytesWritten - this.#bytesOut > this.#controlFrames.level * CONTROL_FRAME_MAX_BYTES;
    this.#bytesOut = bytesWritten;
    this.#controlFrames.reset();
    if (!isUsed) this.#calm();
  }

  #onTinyFrames(frames: number): void {
    if (this.#tinyFrames.add(frames, performance.now())) this.#calm();
  }

  #beat(nowMs: number): void {
    const { keepaliveIntervalMs, keepaliveTimeoutMs, idleTimeoutMs } = this.#context.options;
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const traffic = { bytesIn: bytesRead, bytesOut: bytesWritten - writableLength };
    const pulse = { ...traffic, isBusy: this.calls.size > 0, hasBacklog: true };
    const times = { pingIntervalMs: keepaliveIntervalMs, pongTimeoutMs: keepaliveTimeoutMs, idleTimeoutMs };
    const action = this.#heartbeat.check(pulse, nowMs, times);
    if (action === 'ping') this.#session.ping(ignore);
    else if (action === 'IDLE') this.#session.close();
    else if (action === 'UNRESPONSIVE') this.destroy();
  }
}

/** Upper bound on the size of the reply to a PING or SETTINGS frame, including its share of TCP overhead. */
const CONTROL_FRAME_MAX_BYTES = 64;

const ignore = (): void => {};

/** Overhead per header. Source: RFC 9113 §10.5.1. */
const HEADER_OVERHEAD_BYTES = 32;

function sizeOf(raw: readonly string[]): number {
  let bytes = (raw.length / 2) * HEADER_OVERHEAD_BYTES;
  for (const text of raw) bytes += text.length;
  return bytes;
}

/** Returns the response headers that reject a non-gRPC request, else null. Source: grpc, doc/PROTOCOL-HTTP2.md. */
function httpRejection(headers: IncomingHttpHeaders): Record<string, unknown> | null {
  if (headers[':method'] !== 'POST') return { ':status': 405, allow: 'POST' };
  return isGrpc(headers['content-type']) ? null : { ':status': 415 };
}
