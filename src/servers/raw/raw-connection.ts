import { Failure } from '../../protocol/errors.ts';
import type { LongAnswer } from '../../protocol/long-answer.ts';
import type { LimitFacts } from '../../protocol/serve.ts';
import { refuseSocket } from '../http-refuse.ts';
import type { HeadBegin } from './answer-writer.ts';
import { NOT_FAST } from './fast-head.ts';
import { longBodyBytes, RawLongReply } from './raw-long-reply.ts';
import { type Answering, RawRequest } from './raw-request.ts';
import type { RawSocket, SocketListener } from './raw-socket.ts';
import type { OpenConnection, RawSurroundings } from './raw-surroundings.ts';

/**
 *      ┌─────────────────────────────────────────────────────────────────────────┐
 *      ▼                                                                         │
 *    FREE ── head ──▶ BUSY ── answered ──▶ FLUSHING ── it has left ──────────────┤
 *      │              with a request               DISCARDING, when a body comes ┘
 *      ▼                                           that nobody wants
 *    LEFT: handed over, or closing
 */
const [FREE, BUSY, FLUSHING, DISCARDING, LEFT] = [0, 1, 2, 3, 4];

/** A kept connection is closed so much later than its answers say, for a request that is on its way. As node:http does. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** Bytes that are held before no more are read. Until then it is seen when the client hangs up. */
const HELD_MAX_BYTES = 16 * 1024;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING = Buffer.alloc(0);

/** One connection of the raw door: reads its messages one at a time and in their order, and writes the answers. */
export class RawConnection implements OpenConnection, SocketListener, Answering {
  readonly #door: RawSurroundings;
  readonly #raw: RawSocket;
  readonly #request: RawRequest;
  dueAt: number;
  #state = FREE;
  /** Whether a request was answered on it. */
  #wasUsed = false;
  /** Whether the client lets it be kept. */
  #keepAlive = true;
  /** What came behind a message that is being answered. */
  #held: Buffer | null = null;
  /** Whether bytes are gone through just now: an answer that comes meanwhile leaves it to that to go on. */
  #isReading = false;

  constructor(door: RawSurroundings, raw: RawSocket) {
    this.#door = door;
    this.#raw = raw;
    this.#request = new RawRequest(door, raw, this);
    this.dueAt = door.clock.dueIn(door.options.headersTimeoutMs);
  }

  get isIdle(): boolean {
    return this.#state === FREE && this.#wasUsed;
  }

  /** Whether a message has begun that is not whole. */
  get #isHalf(): boolean {
    return this.#state === DISCARDING || (this.#state === BUSY && !this.#request.isAsked);
  }

  read(bytes: Buffer, end: number): void {
    this.#readMessages(bytes, end, false);
  }

  /** @param isBehind - whether they came while the message before was being answered. */
  #readMessages(bytes: Buffer, end: number, isBehind: boolean): void {
    let at = 0;
    this.#isReading = true;
    try {
      while (at < end && (this.#state === FREE || this.#isHalf)) {
        if (this.#state === FREE) at = this.#readHead(bytes, at, end, isBehind || at > 0);
        else if (this.#state === BUSY) at = this.#readBody(bytes, at, end);
        else at = this.#discardBody(at, end);
      }
    } catch (thrown) {
      this.#request.fail(thrown);
      this.#close();
    }
    this.#isReading = false;
    if (at < end && this.#state !== LEFT) this.#hold(bytes.subarray(at, end));
  }

  #hold(rest: Buffer): void {
    this.#held = this.#held === null ? Buffer.from(rest) : Buffer.concat([this.#held, rest]);
    if (this.#held.length > HELD_MAX_BYTES) this.#raw.socket.pause();
  }

  /** @returns how far it came, as the others. */
  #readHead(bytes: Buffer, at: number, end: number, isBehind: boolean): number {
    const { clock, head, options } = this.#door;
    const headEnd = head.read(bytes, at, end);
    if (headEnd === NOT_FAST || !this.#isFit(bytes)) {
      this.#handOver(Buffer.from(bytes.subarray(at, end)), isBehind);
      return end;
    }
    this.#state = BUSY;
    this.#keepAlive = head.keepAlive;
    this.dueAt = clock.dueIn(options.requestTimeoutMs);
    this.#request.begin();
    const refusal = this.#request.refusalOf(bytes);
    if (refusal !== null) {
      const stop = this.#request.discard(headEnd, end);
      this.#request.refuse(refusal);
      return stop;
    }
    return this.#readBody(bytes, headEnd, end);
  }

  /** Whether a head that could be read is also for here. */
  #isFit(bytes: Buffer): boolean {
    const { calls, head, hosts, options } = this.#door;
    const { contentLength } = head;
    if (contentLength > options.bodyMaxBytes || contentLength > calls.options.bodyMaxBytes) return false;
    return hosts.isFit(head, bytes);
  }

  #readBody(bytes: Buffer, at: number, end: number): number {
    const stop = this.#request.take(bytes, at, end);
    if (this.#state === BUSY && this.#request.isAsked) {
      this.dueAt = this.#door.clock.dueIn(this.#door.options.idleTimeoutMs);
    }
    return stop;
  }

  #discardBody(at: number, end: number): number {
    const stop = this.#request.discard(at, end);
    if (this.#request.missing === 0) this.#rest();
    return stop;
  }

  answer(
    begin: HeadBegin,
    limits: LimitFacts,
    retryAfter: number | undefined,
    pieces: readonly Buffer[],
  ): void {
    const { socket } = this.#raw;
    const { behind, writer } = this.#door;
    const closes = !this.#keepAlive || behind.draining;
    this.#state = FLUSHING;
    writer.write(socket, begin, limits, retryAfter, pieces, closes);
    this.#written(closes);
  }

  answerLong(begin: HeadBegin, limits: LimitFacts, answer: LongAnswer, id: Buffer): void {
    const { socket } = this.#raw;
    const { behind, options, writer } = this.#door;
    const closes = !this.#keepAlive || behind.draining;
    this.#state = FLUSHING;
    this.dueAt = NEVER;
    socket.setTimeout(options.idleTimeoutMs);
    // With what there is of the answer in one piece.
    socket.cork();
    writer.writeLongHead(socket, begin, limits, longBodyBytes(answer, id), closes);
    new RawLongReply(answer, socket, id, () => {
      socket.setTimeout(0);
      this.#written(closes);
    }).begin();
    socket.uncork();
  }

  /** All of an answer was handed to the socket. */
  #written(closes: boolean): void {
    const { socket } = this.#raw;
    const { options } = this.#door;
    if (closes) {
      this.#close();
    } else if (socket.writableLength === 0) {
      this.#flushed();
    } else {
      // node:net sees progress within a write, ticks do not.
      this.dueAt = NEVER;
      socket.setTimeout(options.idleTimeoutMs);
      socket.write(NOTHING, () => this.#flushedLate());
    }
  }

  #flushedLate(): void {
    if (this.#state !== FLUSHING) return;
    this.#raw.socket.setTimeout(0);
    this.#flushed();
  }

  /** The answer has left. */
  #flushed(): void {
    this.#wasUsed = true;
    this.#request.settle();
    if (this.#request.missing > 0) {
      this.#state = DISCARDING;
      this.dueAt = this.#door.clock.dueIn(this.#door.options.requestTimeoutMs);
    } else {
      this.#rest();
    }
    if (this.#held !== null && !this.#isReading) this.#resume(this.#held);
  }

  #rest(): void {
    this.#state = FREE;
    this.dueAt = this.#door.clock.dueIn(this.#door.options.keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS);
  }

  #resume(held: Buffer): void {
    this.#held = null;
    this.#readMessages(held, held.length, true);
    if (held.length > HELD_MAX_BYTES && this.#state !== LEFT) this.#readOn();
  }

  /** Reads again, unless there is still more held than that. */
  #readOn(): void {
    if (this.#held === null || this.#held.length <= HELD_MAX_BYTES) this.#raw.socket.resume();
  }

  #handOver(bytes: Buffer, isBehind: boolean): void {
    this.#state = LEFT;
    this.#door.left(this);
    this.#door.behind.takeOver(this.#raw.letGo(), bytes, isBehind);
  }

  /** Closes once what was written has left. */
  #close(): void {
    this.#state = LEFT;
    this.dueAt = NEVER;
    const { socket } = this.#raw;
    if (socket.writableLength > 0) socket.setTimeout(this.#door.options.idleTimeoutMs);
    socket.destroySoon();
  }

  /** Tells of a message that is not whole, and closes. */
  #refuseHalf(code: 'MALFORMED_HTTP' | 'REQUEST_TIMEOUT'): void {
    refuseSocket(this.#raw.socket, new Failure(code));
    this.#close();
  }

  ended(): void {
    if (this.#isHalf) {
      this.#refuseHalf('MALFORMED_HTTP');
      return;
    }
    this.#request.leave();
    this.#close();
  }

  closed(): void {
    this.#state = LEFT;
    this.#request.leave();
    this.#request.settle();
    this.#door.left(this);
  }

  overdue(): void {
    const isSilent = this.#state === FREE && !this.#wasUsed;
    if (isSilent || (this.#state === BUSY && this.#isHalf)) this.#refuseHalf('REQUEST_TIMEOUT');
    else this.cut();
  }

  cut(): void {
    this.#raw.socket.destroy();
  }
}
