import { constants, type ServerHttp2Stream } from 'node:http2';
import type { TimeSlicedQueue } from '../../base/concurrency/time-sliced.ts';
import type { Logger } from '../../base/log.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { StreamBacklog } from '../../streams/geyser/geyser-sink.ts';
import { ReadPause } from '../connection-lifecycle.ts';
import type { Compressors } from './batches.ts';
import type { CallHandlerFactory, CallPeer, GrpcCallHandler } from './call-handler.ts';
import { type CallHead, type RequestBudget, RequestFrames } from './decode.ts';
import {
  type Ending,
  endingOf,
  endingOfFailure,
  okay,
  responseEncoding,
  responseHeaders,
  trailersOf,
  trailersOnlyHeaders,
} from './encode.ts';
import type { GrpcServerOptions } from './options.ts';
import { type FlushSchedulers, Outbox, type OutboxListener, type QueueBudget } from './outbox.ts';

export type CallContext = Readonly<{
  options: GrpcServerOptions;
  requests: RequestBudget;
  readQueue: TimeSlicedQueue;
  queues: QueueBudget;
  flushSchedulers: FlushSchedulers;
  compressors: Compressors;
  log: Logger;
  /** Reports tiny DATA frames that do not complete a message. */
  onTinyFrames: (frames: number) => void;
}>;

const TINY_BYTES = 64;

const TIMER_MAX_MS = 2 ** 31 - 1;

const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR } = constants;

// Omits the date header. Supported by node:http2 but missing from its types.
const withoutDate = { sendDate: false };

/** Ends a stream with headers only, even if the client is still sending. */
export function rejectStream(stream: ServerHttp2Stream, headers: Record<string, unknown>): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  stream.respond(headers as Record<string, string>, { ...withoutDate, endStream: true });
  stream.close(NGHTTP2_NO_ERROR);
}

/** Resets a stream whose client has not half-closed. Must follow the trailers, because a reset discards unsent ones. */
function closeHalfOpen(stream: ServerHttp2Stream): void {
  if (!stream.destroyed && !stream.closed) stream.close(NGHTTP2_NO_ERROR);
}

export class Call implements CallPeer, OutboxListener {
  readonly credential: string | null;
  readonly client: ClientInfo;
  readonly traceparent: string | null;
  readonly connection: object;
  readonly #stream: ServerHttp2Stream;
  readonly #context: CallContext;
  readonly #frames: RequestFrames;
  readonly outbox: Outbox;
  readonly #encoding: ReturnType<typeof responseEncoding>;
  readonly #readPause: ReadPause;
  #isQueued = false;
  #isPaused = false;
  /** Tiny frames since the last complete message, minus one, because a message header may arrive separately. */
  #tinyFrames = -1;
  /** Whether the client has half-closed but the handler has not been notified yet. */
  #isHalfClosed = false;
  #reservedBytes = 0;
  readonly #deadline: NodeJS.Timeout | null;
  #handler: GrpcCallHandler | null = null;
  /** Retained after the call ends, while queued messages are still being sent. */
  #lastHandler: GrpcCallHandler | null = null;
  #ending: Ending | null = null;
  #endedAtMs = 0;
  /** When the wait for a request started; null: no request is expected. */
  #waitingSinceMs: number | null = performance.now();

  constructor(
    stream: ServerHttp2Stream,
    head: CallHead,
    client: ClientInfo,
    messageMaxBytes: number,
    context: CallContext,
  ) {
    const { options, requests, queues, flushSchedulers, compressors } = context;
    this.credential = head.credential;
    this.client = client;
    this.traceparent = head.traceparent;
    this.connection = stream.session ?? stream;
    this.#stream = stream;
    this.#context = context;
    this.#encoding = responseEncoding(head, options.compression);
    this.#frames = new RequestFrames(head.encoding, { ...options, messageMaxBytes }, requests);
    const compressor = compressors[this.#encoding];
    this.outbox = new Outbox(stream, options, { queues, flushSchedulers, compressor, listener: this });
    this.#readPause = new ReadPause({ pause: () => this.#pause(), resume: () => this.#read() });
    this.#deadline =
      head.timeoutMs === null
        ? null
        : setTimeout(
            () => this.fail(new GrpcError('DEADLINE_EXCEEDED', 'Deadline exceeded')),
            Math.min(head.timeoutMs, TIMER_MAX_MS),
          );
  }

  start(createHandler: CallHandlerFactory): void {
    const stream = this.#stream;
    stream.on('close', () => this.#onStreamClose());
    stream.on('wantTrailers', () => this.#sendTrailers());
    try {
      this.#handler = createHandler(this);
      this.#lastHandler = this.#handler;
      // The handler may have ended the call in its constructor.
      if (this.#ending !== null) this.#release();
    } catch (thrown) {
      this.fail(thrown);
      return;
    }
    stream.on('data', (piece: Buffer) => this.#receive(piece));
    stream.on('end', () => this.#onHalfClose());
  }

  open(): void {
    if (this.#stream.headersSent || this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.respond(responseHeaders(this.#encoding), { ...withoutDate, waitForTrailers: true });
  }

  pauseReading(forMs: number): void {
    if (forMs === Number.POSITIVE_INFINITY) this.fail(new Failure('RATE_LIMITED'));
    else if (this.#ending === null) this.#readPause.extend(performance.now() + forMs);
  }

  reserve(bytes: number): void {
    this.#context.requests.reserve(bytes);
    this.#reservedBytes += bytes;
  }

  complete(): void {
    this.#end(okay);
  }

  fail(thrown: unknown): void {
    const ending = endingOf(thrown);
    if (ending === null) this.#context.log.error({ err: thrown }, 'gRPC call failed unexpectedly');
    this.#end(ending ?? endingOfFailure(new Failure('INTERNAL')));
  }

  onLagging(behind: StreamBacklog): void {
    this.#handler?.onLagging?.();
    this.fail(new Failure('LAGGING', { facts: { ...behind } }));
  }

  /** Frees memory: ends the call with LAGGING or, if it has already ended, resets its stream. */
  cut(): void {
    const behind = this.outbox.cut();
    if (this.#ending === null) this.onLagging(behind);
    else this.#stream.close(NGHTTP2_INTERNAL_ERROR);
  }

  drain(): void {
    if (this.#handler?.isEndless === true) this.fail(new Failure('DRAINING'));
  }

  tick(nowMs: number): void {
    const { endTimeoutMs, requestTimeoutMs } = this.#context.options;
    if (this.#ending !== null) {
      if (nowMs - this.#endedAtMs >= endTimeoutMs) this.#stream.close(NGHTTP2_INTERNAL_ERROR);
      return;
    }
    if (this.#waitingSinceMs !== null && nowMs - this.#waitingSinceMs >= requestTimeoutMs) {
      this.fail(new Failure('REQUEST_TIMEOUT'));
    } else this.#handler?.tick?.(nowMs);
  }

  #receive(piece: Buffer): void {
    if (piece.length < TINY_BYTES) this.#tinyFrames += 1;
    if (this.#ending !== null) {
      this.#reportTinyFrames();
      return;
    }
    this.#frames.push(piece);
    try {
      this.#handler?.onMessages([], piece.length);
    } catch (thrown) {
      this.fail(thrown);
    }
    this.#read();
  }

  #read(isScheduled = false): void {
    if (this.#isQueued) return;
    try {
      this.#deliver(isScheduled);
      if (this.#ending === null && this.#frames.hasUnread) {
        this.#pause();
        this.#frames.retain();
      }
    } catch (thrown) {
      this.fail(thrown);
    }
    if (this.#isQueued || this.#readPause.isPaused) return;
    if (this.#isPaused) this.#stream.resume();
    this.#isPaused = false;
    if (this.#isHalfClosed) this.#notifyHalfClose();
  }

  /** Delivers messages to the handler. Messages that are slow to read go through the read queue, one at a time. */
  #deliver(isScheduled: boolean): void {
    let mayReadHeavy = isScheduled;
    while (this.#ending === null && !this.#readPause.isPaused) {
      const { isHeavy } = this.#frames;
      if (isHeavy && !mayReadHeavy) {
        this.#enqueueRead();
        return;
      }
      if (isHeavy) mayReadHeavy = false;
      const next = this.#frames.next();
      if (next !== null) this.#handler?.onMessages([next.message], next.message.length - next.packedBytes);
      this.#updateWaiting(next !== null);
      if (next === null) {
        this.#reportTinyFrames();
        return;
      }
      this.#tinyFrames = -1;
    }
  }

  #reportTinyFrames(): void {
    const frames = this.#tinyFrames;
    if (frames <= 0) return;
    this.#tinyFrames = 0;
    this.#context.onTinyFrames(frames);
  }

  #enqueueRead(): void {
    this.#isQueued = true;
    this.#context.readQueue.enqueue(() => {
      this.#isQueued = false;
      if (this.#ending === null) this.#read(true);
    });
  }

  #pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  #updateWaiting(isNew: boolean): void {
    if (!this.#frames.isPartial && this.#handler?.needsRequest !== true) this.#waitingSinceMs = null;
    else if (isNew || this.#waitingSinceMs === null) this.#waitingSinceMs = performance.now();
  }

  #onHalfClose(): void {
    this.#isHalfClosed = true;
    if (!this.#isQueued && !this.#readPause.isPaused) this.#notifyHalfClose();
  }

  #notifyHalfClose(): void {
    this.#isHalfClosed = false;
    if (this.#ending !== null || this.#stream.aborted || this.#stream.destroyed) return;
    try {
      if (this.#frames.isPartial) throw new GrpcError('INTERNAL', 'Unexpected EOF decoding stream.');
      this.#handler?.onHalfClose();
      this.#updateWaiting(false);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** Only the first status counts; queued messages are still sent before it. */
  #end(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#endedAtMs = performance.now();
    this.#release();
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    if (stream.headersSent) this.outbox.finish();
    else {
      this.outbox.close();
      rejectStream(stream, trailersOnlyHeaders(ending));
    }
    stream.resume();
  }

  #sendTrailers(): void {
    if (this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.sendTrailers(trailersOf(this.#ending ?? okay));
    setImmediate(closeHalfOpen, this.#stream);
  }

  #onStreamClose(): void {
    this.#ending ??= okay;
    this.#release();
    this.outbox.close();
    this.#notify(() => this.#lastHandler?.onStreamClose?.());
  }

  #release(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#frames.close();
    this.#context.requests.release(this.#reservedBytes);
    this.#reservedBytes = 0;
    this.#readPause.resume();
    const handler = this.#handler;
    this.#handler = null;
    if (handler !== null) this.#notify(() => handler.onClose());
  }

  /** Runs the callback in a microtask, because the handler itself may have ended the call. */
  #notify(callback: () => void): void {
    queueMicrotask(() => {
      try {
        callback();
      } catch (thrown) {
        this.#context.log.error({ err: thrown }, 'gRPC call handler failed unexpectedly');
      }
    });
  }
}
