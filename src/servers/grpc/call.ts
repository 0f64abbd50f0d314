import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Logger } from '../../base/log.ts';
import type { ReadingTurns } from '../../base/reading-turns.ts';
import { Failure } from '../../protocol/errors.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Client } from '../../protocol/serve.ts';
import type { Behind } from '../../streams/geyser/geyser-sink.ts';
import { ReadingRest } from '../reading-rest.ts';
import type { CallHandler, CallMaker, CallPeer } from './call-handler.ts';
import type { Compressors } from './compressed-runs.ts';
import type { CallHead } from './decode.ts';
import { answerEncoding, refusalHeaders, responseHeaders } from './encode.ts';
import { type Ending, endingOf, endingOfFailure, okay, trailersOf } from './errors.ts';
import type { GrpcServerOptions } from './options.ts';
import { type FlushTurns, Outbox, type OutboxOwner } from './outbox.ts';
import type { QueueBudget } from './queue-budget.ts';
import type { RequestBudget } from './request-budget.ts';
import { RequestFrames } from './request-frames.ts';

/** What all calls of a server have in common. */
export type CallSurroundings = Readonly<{
  options: GrpcServerOptions;
  requests: RequestBudget;
  readings: ReadingTurns;
  queues: QueueBudget;
  turns: FlushTurns;
  compressors: Compressors;
  log: Logger;
  /** So many pieces came that are tiny, and end no message. */
  trickled: (pieces: number) => void;
}>;

/** A piece below this size is tiny. */
const TINY_BYTES = 64;

/** The longest that a timer can be set for. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR } = constants;

/** Known to node:http2, but not to its types: no header says when. */
const withoutDate = { sendDate: false };

/** Ends an HTTP/2 stream with headers alone, whether or not its client has said all. */
export function refuseStream(stream: ServerHttp2Stream, headers: Record<string, unknown>): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  stream.respond(headers as Record<string, string>, { ...withoutDate, endStream: true });
  stream.close(NGHTTP2_NO_ERROR);
}

/** What the client might still send is of no interest; told sooner than that, the trailers would not be sent. */
function closeHalfOpen(stream: ServerHttp2Stream): void {
  if (!stream.destroyed && !stream.closed) stream.close(NGHTTP2_NO_ERROR);
}

/** One call: its HTTP/2 stream, what waits to be sent on it, its deadline, and the one status it ends with. */
export class Call implements CallPeer, OutboxOwner {
  readonly credential: string | null;
  readonly client: Client;
  readonly traceparent: string | null;
  readonly connection: object;
  readonly #stream: ServerHttp2Stream;
  readonly #surroundings: CallSurroundings;
  readonly #frames: RequestFrames;
  readonly #outbox: Outbox;
  readonly #encoding: ReturnType<typeof answerEncoding>;
  readonly #rest: ReadingRest;
  /** Waits for its turn to read a message. */
  #isInLine = false;
  #isPaused = false;
  /** Tiny pieces that came since the last message was whole, but for one: a message's head may come by itself. */
  #tinyPieces = -1;
  /** The client sends nothing more; it was not told on yet. */
  #isHalfClosed = false;
  /** Bytes that are held for the call besides those of its frames. */
  #heldBytes = 0;
  readonly #deadline: NodeJS.Timeout | null;
  #handler: CallHandler | null = null;
  /** The same, also when the call has ended: what waited then is still being sent. */
  #served: CallHandler | null = null;
  #ending: Ending | null = null;
  #endedAtMs = 0;
  /** Since when a request is waited for; null when none is. */
  #wantsSinceMs: number | null = performance.now();

  /** @param messageMaxBytes - bytes of one request, compressed and not. */
  constructor(
    stream: ServerHttp2Stream,
    head: CallHead,
    client: Client,
    messageMaxBytes: number,
    surroundings: CallSurroundings,
  ) {
    const { options, requests, queues, turns, compressors } = surroundings;
    this.credential = head.credential;
    this.client = client;
    this.traceparent = head.traceparent;
    this.connection = stream.session ?? stream;
    this.#stream = stream;
    this.#surroundings = surroundings;
    this.#encoding = answerEncoding(head, options.compression);
    this.#frames = new RequestFrames(head.encoding, { ...options, messageMaxBytes }, requests);
    const compressor = compressors.of(this.#encoding);
    this.#outbox = new Outbox(stream, options, { queues, turns, compressor, owner: this });
    this.#rest = new ReadingRest({ pause: () => this.#pause(), resume: () => this.#read() });
    this.#deadline =
      head.timeoutMs === null
        ? null
        : setTimeout(
            () => this.fail(new GrpcError('DEADLINE_EXCEEDED', 'Deadline exceeded')),
            Math.min(head.timeoutMs, TIMER_MAX_MS),
          );
  }

  get waitingBytes(): number {
    return this.#outbox.waitingBytes;
  }

  get waitingMessages(): number {
    return this.#outbox.waitingMessages;
  }

  get queuedBytes(): number {
    return this.#outbox.queuedBytes;
  }

  /** Begins to answer; what `make` throws refuses the call. */
  begin(make: CallMaker): void {
    const stream = this.#stream;
    stream.on('close', () => this.#gone());
    stream.on('wantTrailers', () => this.#sendTrailers());
    try {
      this.#handler = make(this);
      this.#served = this.#handler;
      // It may have ended what it had not even begun.
      if (this.#ending !== null) this.#release();
    } catch (thrown) {
      this.fail(thrown);
      return;
    }
    stream.on('data', (piece: Buffer) => this.#receive(piece));
    stream.on('end', () => this.#halfClose());
  }

  open(): void {
    if (this.#stream.headersSent || this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.respond(responseHeaders(this.#encoding), { ...withoutDate, waitForTrailers: true });
  }

  push(names: Uint8Array, tail: Uint8Array): void {
    this.#outbox.push(names, tail);
  }

  hurry(): void {
    this.#outbox.hurry();
  }

  takeSent(): { messages: number; bytes: number } {
    return this.#outbox.takeSent();
  }

  rest(forMs: number): void {
    if (forMs === Number.POSITIVE_INFINITY) this.fail(new Failure('RATE_LIMITED'));
    else if (this.#ending === null) this.#rest.extend(performance.now() + forMs);
  }

  hold(bytes: number): void {
    this.#surroundings.requests.take(bytes);
    this.#heldBytes += bytes;
  }

  done(): void {
    this.#end(okay);
  }

  fail(thrown: unknown): void {
    const ending = endingOf(thrown);
    if (ending === null) this.#surroundings.log.error({ err: thrown }, 'a call went wrong');
    this.#end(ending ?? endingOfFailure(new Failure('INTERNAL')));
  }

  lagged(behind: Behind): void {
    this.#handler?.lagged?.();
    this.fail(new Failure('LAGGING', { facts: { ...behind } }));
  }

  /** Makes room: drops what waits and says so, or what is left of a call that has ended. */
  cut(): void {
    const behind = this.#outbox.cut();
    if (this.#ending === null) this.lagged(behind);
    else this.#stream.close(NGHTTP2_INTERNAL_ERROR);
  }

  /** Ends what would not end by itself. */
  drain(): void {
    if (this.#handler?.isEndless === true) this.fail(new Failure('DRAINING'));
  }

  /** Does what is due. */
  look(nowMs: number): void {
    const { endTimeoutMs, requestTimeoutMs } = this.#surroundings.options;
    if (this.#ending !== null) {
      if (nowMs - this.#endedAtMs >= endTimeoutMs) this.#stream.close(NGHTTP2_INTERNAL_ERROR);
      return;
    }
    if (this.#wantsSinceMs !== null && nowMs - this.#wantsSinceMs >= requestTimeoutMs) {
      this.fail(new Failure('REQUEST_TIMEOUT'));
    } else this.#handler?.look(nowMs);
  }

  #receive(piece: Buffer): void {
    if (piece.length < TINY_BYTES) this.#tinyPieces += 1;
    if (this.#ending !== null) {
      this.#tellTrickled();
      return;
    }
    this.#frames.push(piece);
    try {
      this.#handler?.messages([], piece.length);
    } catch (thrown) {
      this.fail(thrown);
    }
    this.#read();
  }

  /** Hands on what came, and goes on reading when that is done. */
  #read(hasTurn = false): void {
    if (this.#isInLine) return;
    try {
      this.#handOn(hasTurn);
      if (this.#ending === null && this.#frames.waiting) {
        this.#pause();
        this.#frames.keep();
      }
    } catch (thrown) {
      this.fail(thrown);
    }
    if (this.#isInLine || this.#rest.isResting) return;
    if (this.#isPaused) this.#stream.resume();
    this.#isPaused = false;
    if (this.#isHalfClosed) this.#tellHalfClosed();
  }

  /** What may take long to read waits for a turn, one message at a time. */
  #handOn(hasTurn: boolean): void {
    let mayTakeLong = hasTurn;
    while (this.#ending === null && !this.#rest.isResting) {
      const { isHeavy } = this.#frames;
      if (isHeavy && !mayTakeLong) {
        this.#standInLine();
        return;
      }
      if (isHeavy) mayTakeLong = false;
      const next = this.#frames.next();
      if (next !== null) this.#handler?.messages([next.message], next.message.length - next.packedBytes);
      this.#noteWants(next !== null);
      if (next === null) {
        this.#tellTrickled();
        return;
      }
      this.#tinyPieces = -1;
    }
  }

  #tellTrickled(): void {
    const pieces = this.#tinyPieces;
    if (pieces <= 0) return;
    this.#tinyPieces = 0;
    this.#surroundings.trickled(pieces);
  }

  #standInLine(): void {
    this.#isInLine = true;
    this.#surroundings.readings.ask(() => {
      this.#isInLine = false;
      if (this.#ending === null) this.#read(true);
    });
  }

  #pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  #noteWants(isNew: boolean): void {
    if (!this.#frames.partial && this.#handler?.wants !== true) this.#wantsSinceMs = null;
    else if (isNew || this.#wantsSinceMs === null) this.#wantsSinceMs = performance.now();
  }

  #halfClose(): void {
    this.#isHalfClosed = true;
    if (!this.#isInLine && !this.#rest.isResting) this.#tellHalfClosed();
  }

  #tellHalfClosed(): void {
    this.#isHalfClosed = false;
    if (this.#ending !== null || this.#stream.aborted || this.#stream.destroyed) return;
    try {
      if (this.#frames.partial) throw new GrpcError('INTERNAL', 'Unexpected EOF decoding stream.');
      this.#handler?.halfClosed();
      this.#noteWants(false);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** The first status is the one; what waits still goes out ahead of it. */
  #end(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#endedAtMs = performance.now();
    this.#release();
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    if (stream.headersSent) this.#outbox.finish();
    else {
      this.#outbox.close();
      refuseStream(stream, refusalHeaders(ending));
    }
    stream.resume();
  }

  #sendTrailers(): void {
    if (this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.sendTrailers(trailersOf(this.#ending ?? okay));
    setImmediate(closeHalfOpen, this.#stream);
  }

  #gone(): void {
    this.#ending ??= okay;
    this.#release();
    this.#outbox.close();
    this.#tell(() => this.#served?.gone?.());
  }

  #release(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#frames.close();
    this.#surroundings.requests.give(this.#heldBytes);
    this.#heldBytes = 0;
    this.#rest.end();
    const handler = this.#handler;
    this.#handler = null;
    if (handler !== null) this.#tell(() => handler.closed());
  }

  /** What answers is told apart from whatever is being done: it may be what ended the call. */
  #tell(tell: () => void): void {
    queueMicrotask(() => {
      try {
        tell();
      } catch (thrown) {
        this.#surroundings.log.error({ err: thrown }, 'a call went wrong');
      }
    });
  }
}
