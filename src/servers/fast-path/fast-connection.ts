import { Failure } from '../../protocol/errors.ts';
import type { LimitStatus } from '../../protocol/request-handler.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { refuseSocket } from '../http/refuse.ts';
import { NOT_FAST } from './fast-head.ts';
import type { FastHttpContext, OpenConnection } from './fast-http-context.ts';
import { FastRequest, type ResponseTarget } from './fast-request.ts';
import type { FastSocket, SocketListener } from './fast-socket.ts';
import { FastStreamWriter, streamBodyBytes } from './fast-stream-writer.ts';
import type { HeadPrefix } from './response-writer.ts';

/**
 *      ┌─────────────────────────────────────────────────────────────────────────┐
 *      ▼                                                                         │
 *    FREE ── head ──▶ BUSY ── answered ──▶ FLUSHING ── it has left ──────────────┤
 *      │              with a request               DISCARDING, when a body comes ┘
 *      ▼                                           that nobody wants
 *    LEFT: handed over, or closing
 */
const [IDLE, BUSY, FLUSHING, DISCARDING, DETACHED] = [0, 1, 2, 3, 4];

/** A kept connection is closed so much later than its answers say, for a request that is on its way. As node:http does. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** Bytes that are held before no more are read. Until then it is seen when the client hangs up. */
const BUFFERED_MAX_BYTES = 16 * 1024;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING = Buffer.alloc(0);

/** One connection of the raw door: reads its messages one at a time and in their order, and writes the answers. */
export class FastConnection implements OpenConnection, SocketListener, ResponseTarget {
  readonly #context: FastHttpContext;
  readonly #fastSocket: FastSocket;
  readonly #request: FastRequest;
  dueAt: number;
  #state = IDLE;
  /** Whether a request was answered on it. */
  #wasUsed = false;
  /** Whether the client lets it be kept. */
  #keepAlive = true;
  /** What came behind a message that is being answered. */
  #buffered: Buffer | null = null;
  /** Whether bytes are gone through just now: an answer that comes meanwhile leaves it to that to go on. */
  #isReading = false;

  constructor(context: FastHttpContext, fastSocket: FastSocket) {
    this.#context = context;
    this.#fastSocket = fastSocket;
    this.#request = new FastRequest(context, fastSocket, this);
    this.dueAt = context.clock.dueIn(context.options.headersTimeoutMs);
  }

  get isIdle(): boolean {
    return this.#state === IDLE && this.#wasUsed;
  }

  /** Whether a message has begun that is not whole. */
  get #isPartial(): boolean {
    return this.#state === DISCARDING || (this.#state === BUSY && !this.#request.isPending);
  }

  onData(bytes: Buffer, end: number): void {
    this.#readMessages(bytes, end, false);
  }

  /** @param isBehind - whether they came while the message before was being answered. */
  #readMessages(bytes: Buffer, end: number, isPipelined: boolean): void {
    let at = 0;
    this.#isReading = true;
    try {
      while (at < end && (this.#state === IDLE || this.#isPartial)) {
        if (this.#state === IDLE) at = this.#readHead(bytes, at, end, isPipelined || at > 0);
        else if (this.#state === BUSY) at = this.#readBody(bytes, at, end);
        else at = this.#discardBody(at, end);
      }
    } catch (thrown) {
      this.#request.fail(thrown);
      this.#close();
    }
    this.#isReading = false;
    if (at < end && this.#state !== DETACHED) this.#buffer(bytes.subarray(at, end));
  }

  #buffer(rest: Buffer): void {
    this.#buffered = this.#buffered === null ? Buffer.from(rest) : Buffer.concat([this.#buffered, rest]);
    if (this.#buffered.length > BUFFERED_MAX_BYTES) this.#fastSocket.socket.pause();
  }

  /** @returns how far it came, as the others. */
  #readHead(bytes: Buffer, at: number, end: number, isPipelined: boolean): number {
    const { clock, head, options } = this.#context;
    const headEnd = head.read(bytes, at, end);
    if (headEnd === NOT_FAST || !this.#isEligible(bytes)) {
      this.#moveToFallback(Buffer.from(bytes.subarray(at, end)), isPipelined);
      return end;
    }
    this.#state = BUSY;
    this.#keepAlive = head.keepAlive;
    this.dueAt = clock.dueIn(options.requestTimeoutMs);
    this.#request.start();
    const refusal = this.#request.refusalOf(bytes);
    if (refusal !== null) {
      const stop = this.#request.discard(headEnd, end);
      this.#request.refuse(refusal);
      return stop;
    }
    return this.#readBody(bytes, headEnd, end);
  }

  /** Whether a head that could be read is also for here. */
  #isEligible(bytes: Buffer): boolean {
    const { calls, head, hostCheck, options } = this.#context;
    const { contentLength } = head;
    if (contentLength > options.bodyMaxBytes || contentLength > calls.options.bodyMaxBytes) return false;
    return hostCheck.isValid(head, bytes);
  }

  #readBody(bytes: Buffer, at: number, end: number): number {
    const stop = this.#request.receive(bytes, at, end);
    if (this.#state === BUSY && this.#request.isPending) {
      this.dueAt = this.#context.clock.dueIn(this.#context.options.idleTimeoutMs);
    }
    return stop;
  }

  #discardBody(at: number, end: number): number {
    const stop = this.#request.discard(at, end);
    if (this.#request.missing === 0) this.#becomeIdle();
    return stop;
  }

  writeResponse(
    prefix: HeadPrefix,
    limits: LimitStatus,
    retryAfter: number | undefined,
    pieces: readonly Buffer[],
  ): void {
    const { socket } = this.#fastSocket;
    const { fallback, writer } = this.#context;
    const closes = !this.#keepAlive || fallback.draining;
    this.#state = FLUSHING;
    writer.write(socket, prefix, limits, retryAfter, pieces, closes);
    this.#onWritten(closes);
  }

  writeStream(prefix: HeadPrefix, limits: LimitStatus, response: StreamedResponse, id: Buffer): void {
    const { socket } = this.#fastSocket;
    const { fallback, options, writer } = this.#context;
    const closes = !this.#keepAlive || fallback.draining;
    this.#state = FLUSHING;
    this.dueAt = NEVER;
    socket.setTimeout(options.idleTimeoutMs);
    // With what there is of the answer in one piece.
    socket.cork();
    writer.writeStreamHead(socket, prefix, limits, streamBodyBytes(response, id), closes);
    new FastStreamWriter(response, socket, id, () => {
      socket.setTimeout(0);
      this.#onWritten(closes);
    }).start();
    socket.uncork();
  }

  /** All of an answer was handed to the socket. */
  #onWritten(closes: boolean): void {
    const { socket } = this.#fastSocket;
    const { options } = this.#context;
    if (closes) {
      this.#close();
    } else if (socket.writableLength === 0) {
      this.#onFlushed();
    } else {
      // node:net sees progress within a write, ticks do not.
      this.dueAt = NEVER;
      socket.setTimeout(options.idleTimeoutMs);
      socket.write(NOTHING, () => this.#onFlushedLate());
    }
  }

  #onFlushedLate(): void {
    if (this.#state !== FLUSHING) return;
    this.#fastSocket.socket.setTimeout(0);
    this.#onFlushed();
  }

  /** The answer has left. */
  #onFlushed(): void {
    this.#wasUsed = true;
    this.#request.settle();
    if (this.#request.missing > 0) {
      this.#state = DISCARDING;
      this.dueAt = this.#context.clock.dueIn(this.#context.options.requestTimeoutMs);
    } else {
      this.#becomeIdle();
    }
    if (this.#buffered !== null && !this.#isReading) this.#resume(this.#buffered);
  }

  #becomeIdle(): void {
    this.#state = IDLE;
    this.dueAt = this.#context.clock.dueIn(this.#context.options.keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS);
  }

  #resume(buffered: Buffer): void {
    this.#buffered = null;
    this.#readMessages(buffered, buffered.length, true);
    if (buffered.length > BUFFERED_MAX_BYTES && this.#state !== DETACHED) this.#resumeReading();
  }

  /** Reads again, unless there is still more held than that. */
  #resumeReading(): void {
    if (this.#buffered === null || this.#buffered.length <= BUFFERED_MAX_BYTES)
      this.#fastSocket.socket.resume();
  }

  #moveToFallback(bytes: Buffer, isPipelined: boolean): void {
    this.#state = DETACHED;
    this.#context.onConnectionEnd(this);
    this.#context.fallback.adopt(this.#fastSocket.detach(), bytes, isPipelined);
  }

  /** Closes once what was written has left. */
  #close(): void {
    this.#state = DETACHED;
    this.dueAt = NEVER;
    const { socket } = this.#fastSocket;
    if (socket.writableLength > 0) socket.setTimeout(this.#context.options.idleTimeoutMs);
    socket.destroySoon();
  }

  /** Tells of a message that is not whole, and closes. */
  #refusePartial(code: 'MALFORMED_HTTP' | 'REQUEST_TIMEOUT'): void {
    refuseSocket(this.#fastSocket.socket, new Failure(code));
    this.#close();
  }

  onEnd(): void {
    if (this.#isPartial) {
      this.#refusePartial('MALFORMED_HTTP');
      return;
    }
    this.#request.cancel();
    this.#close();
  }

  onClose(): void {
    this.#state = DETACHED;
    this.#request.cancel();
    this.#request.settle();
    this.#context.onConnectionEnd(this);
  }

  onTimeout(): void {
    const isSilent = this.#state === IDLE && !this.#wasUsed;
    if (isSilent || (this.#state === BUSY && this.#isPartial)) this.#refusePartial('REQUEST_TIMEOUT');
    else this.destroy();
  }

  destroy(): void {
    this.#fastSocket.socket.destroy();
  }
}
