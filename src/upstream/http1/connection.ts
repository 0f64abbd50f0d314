import type { Socket } from 'node:net';
import type { ByteBudget } from '../../base/byte-budget.ts';
import type { Exchange } from '../exchange.ts';
import { Handover, type HandoverHome, type HandoverOwner, type LongLimits } from './handover.ts';
import { abandoned, late, lost, noRoom, tooLarge } from './outcomes.ts';
import type { Post, PostHolder } from './post.ts';
import { PostQueue } from './post-queue.ts';
import { ResponseReader } from './response-reader.ts';
import type { Dialer, SocketListener } from './socket.ts';
import { endLong, tellFailed } from './told.ts';

/** How long the answer to a light read is waited for that nobody wants any more, so that its connection can be used again. */
const LINGER_MS = 500;

export type ConnectionLimits = LongLimits &
  Readonly<{
    connectTimeoutMs: number;
    idleTimeoutMs: number;
    answerMaxBytes: number;
  }>;

/** Whose connections they are. */
export interface ConnectionHome extends HandoverHome {
  readonly limits: ConnectionLimits;
  /** Requests that may be under way on one connection. */
  readonly pipelining: number;
  /** What answers are gathered in, on all connections to all nodes. */
  readonly answers: ByteBudget;
  /** It has come about, and may be used. @param now - `performance.now()`, here and below. */
  opened(connection: Connection, now: number): void;
  /** Another request may be sent over it. */
  freed(connection: Connection, now: number): void;
  /** Requests were given to it that have not left: it wants to `flush` when others have come along. */
  mustFlush(connection: Connection): void;
  /** Told once. @param wasOpen - false when it never came about. */
  closed(connection: Connection, wasOpen: boolean, cause: unknown): void;
  /** Nobody waits for a connection, and there may be more. */
  readonly hasRoom: boolean;
}

/** One connection to a node, and the requests that are under way on it. */
export class Connection implements SocketListener, PostHolder, HandoverOwner {
  readonly #home: ConnectionHome;
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  readonly #handover: Handover;
  readonly #inFlight = new PostQueue();
  #state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** Until then it may wait: for its opening, or for its next request. `performance.now()`. */
  #waitsUntil: number;
  /** One of its requests was given up because it took too long: it gets no more. */
  #isSuspect = false;

  constructor(home: ConnectionHome, dialer: Dialer, now: number) {
    this.#home = home;
    this.#reader = new ResponseReader(home.limits, home.answers);
    this.#waitsUntil = now + home.limits.connectTimeoutMs;
    this.#socket = dialer.dial(this);
    this.#handover = new Handover(this, home, this.#reader, this.#socket);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isConnecting(): boolean {
    return this.#state === 'connecting';
  }

  /** Requests that are under way on it. */
  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Nobody waits for what is under way on it. */
  get isLingering(): boolean {
    return this.#state === 'open' && this.#inFlight.first !== null && !this.#hasWaiting(null);
  }

  /** Whether the request may be sent over it now. */
  takes({ question }: Post, now: number): boolean {
    const { first, length } = this.#inFlight;
    if (this.#state !== 'open' || this.#isSuspect) return false;
    if (first === null) return now < this.#waitsUntil;
    if (first.isSettled) return false;
    return (
      question.mayShare &&
      first.question.mayShare &&
      length < this.#home.pipelining &&
      !this.#handover.isUnderWay
    );
  }

  send(post: Post): void {
    post.holder = this;
    this.#inFlight.push(post);
    if (this.#home.pipelining > 1) this.#home.mustFlush(this);
    else this.#write(post);
  }

  /** Sends what was given to it, in one piece. */
  flush(): void {
    if (this.#state !== 'open') return;
    const unsent: Buffer[] = [];
    for (let post = this.#inFlight.first; post !== null; post = post.behind) {
      if (!post.hasLeft) unsent.push(post.bytes);
      post.hasLeft = true;
    }
    if (unsent.length > 0) this.#socket.write(unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent));
  }

  /** Gives up what has waited for too long. */
  sweep(now: number): void {
    if (this.isLingering) this.#endLingering(now);
    else if (this.#inFlight.first !== null) this.#giveUpLate(now);
    else if (now >= this.#waitsUntil)
      this.close(new Error(this.isConnecting ? 'no connection in time' : 'unused'));
  }

  /** What is under way on it fails. */
  close(cause: unknown): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#socket.destroy();
    this.#reader.free();
    this.#home.closed(this, wasOpen, cause);
    let sink = this.#handover.end();
    for (let post = this.#inFlight.shift(); post !== null; post = this.#inFlight.shift()) {
      tellFailed(post, sink, lost(post.hasLeft, cause));
      sink = null;
    }
  }

  opened(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'open';
    const now = performance.now();
    this.#waitsUntil = now + this.#home.limits.idleTimeoutMs;
    this.#home.opened(this, now);
  }

  get room(): Buffer | null {
    return this.#handover.room;
  }

  /** What is thrown over the bytes of a node ends their connection, and nothing else. */
  received(bytes: Buffer, length: number): void {
    try {
      this.#read(bytes, length);
    } catch (thrown) {
      this.close(thrown);
    }
  }

  finished(): void {
    try {
      this.#finish();
    } catch (thrown) {
      this.close(thrown);
    }
  }

  closed(cause: unknown): void {
    this.close(cause);
  }

  abandoned(post: Post): void {
    post.deadline = Math.min(post.deadline, performance.now() + LINGER_MS);
    if (this.#mayLinger(post)) post.settle(abandoned(true));
    else this.#giveUp(post, abandoned(post.hasLeft));
  }

  #read(bytes: Buffer, length: number): void {
    let at = 0;
    while (at < length && this.#state === 'open') {
      const post = this.#inFlight.first;
      // Nobody has asked for it: taken for the answer to the next request, it would be somebody else's.
      if (post === null || !post.hasLeft) {
        this.close(new Error('bytes that nobody asked for'));
        return;
      }
      this.#reader.longFromBytes = this.#handover.fromBytes(post);
      at = this.#reader.read(bytes, at, length);
      if (this.#reader.reading === 'more') {
        this.#handover.take(post);
        return;
      }
      this.#end(post, at < length);
    }
  }

  #finish(): void {
    if (this.#state !== 'open') return;
    this.#reader.finish();
    const post = this.#inFlight.first;
    if (post?.hasLeft === true && this.#reader.reading !== 'more') this.#end(post, false);
    this.close(new Error('closed by the node'));
  }

  #write(post: Post): void {
    post.hasLeft = true;
    this.#socket.write(post.bytes);
  }

  /** What was being read has ended, one way or another. */
  #end(post: Post, moreFollows: boolean): void {
    const { reading } = this.#reader;
    if (reading === 'whole') this.#answered(post, moreFollows);
    else if (reading === 'too-large') this.#giveUp(post, tooLarge, true);
    else if (reading === 'no-room') this.#giveUp(post, noRoom, true);
    else this.close(new Error('not the HTTP that was asked for'));
  }

  #answered(post: Post, moreFollows: boolean): void {
    const reader = this.#reader;
    const { keepAlive, keepAliveMs, status, retryAfter } = reader;
    const sink = this.#handover.end();
    const body = sink === null ? reader.body.take() : reader.body.piece(!moreFollows);
    reader.next();
    this.#letGo(post);
    const isAlone = this.#inFlight.first === null;
    if (!keepAlive || this.#socket.writableLength > 0 || (isAlone && moreFollows))
      this.close(new Error('used up'));
    const isBelieved =
      sink === null ? post.settle({ kind: 'response', status, retryAfter, body }) : endLong(post, sink, body);
    if (this.#state === 'closed') return;
    if (!isBelieved) this.close(new Error('an answer to something else'));
    else this.#free(keepAliveMs);
  }

  /** It may be used for another request. @param keepAliveMs - how long it may be unused; null when the node did not say. */
  #free(keepAliveMs: number | null): void {
    const { idleTimeoutMs } = this.#home.limits;
    const idleMs = keepAliveMs === null ? idleTimeoutMs : Math.min(idleTimeoutMs, keepAliveMs);
    const now = performance.now();
    this.#waitsUntil = now + idleMs;
    if (idleMs <= 0 && this.#inFlight.first === null) this.close(new Error('used up'));
    else this.#home.freed(this, now);
  }

  /** A connection is worth more than the little that a light read costs its node. */
  #mayLinger({ hasLeft, question }: Post): boolean {
    return (
      hasLeft &&
      question.mayShare &&
      !this.#handover.isUnderWay &&
      !this.#reader.isInBody &&
      this.#home.hasRoom
    );
  }

  #endLingering(now: number): void {
    if (now >= (this.#inFlight.first?.deadline ?? 0)) this.close(new Error('given up'));
  }

  #giveUpLate(now: number): void {
    let post = this.#inFlight.first;
    while (post !== null && this.#state !== 'closed') {
      const { behind } = post;
      if (now >= post.deadline && !post.isSettled) {
        this.#isSuspect ||= post.hasLeft;
        this.#giveUp(post, late(post.hasLeft));
      }
      post = behind;
    }
  }

  /**
   * Ends one request. What has left cannot be called back: its answer is read and dropped as long as others wait for theirs
   * on this connection, which is closed with the last of them.
   */
  #giveUp(post: Post, exchange: Exchange, mustClose = false): void {
    const sink = post === this.#inFlight.first ? this.#handover.end() : null;
    const isInTheWay = mustClose || sink !== null || (post.hasLeft && !this.#hasWaiting(post));
    if (isInTheWay || !post.hasLeft) this.#letGo(post);
    if (isInTheWay) this.close(new Error('given up'));
    tellFailed(post, sink, exchange);
    if (this.#state === 'open' && this.#inFlight.first === null) this.#home.freed(this, performance.now());
  }

  /** It is not this connection's any more: what it came to is told next, when others have heard. */
  #letGo(post: Post): void {
    this.#inFlight.remove(post);
    post.holder = nobody;
  }

  /** Others still want to hear of a request that is under way on it. */
  #hasWaiting(besides: Post | null): boolean {
    for (let post = this.#inFlight.first; post !== null; post = post.behind) {
      if (post !== besides && !post.isSettled) return true;
    }
    return false;
  }
}

/** Holds requests that are about to be told what they came to. */
const nobody: PostHolder = { abandoned: (post) => post.settle(abandoned(post.hasLeft)) };
