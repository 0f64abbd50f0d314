import type { ByteBudget } from '../../base/byte-budget.ts';
import type { Posted, Question } from '../exchange.ts';
import { Connection, type ConnectionHome, type ConnectionLimits } from './connection.ts';
import { abandoned, late, lost } from './outcomes.ts';
import { Post, type PostHolder } from './post.ts';
import { PostQueue } from './post-queue.ts';
import type { Dialer } from './socket.ts';
import { Sweeper } from './sweeper.ts';

export type PoolLimits = ConnectionLimits &
  Readonly<{
    connectionsMax: number;
    /** Long answers that may be passed on at a time; half of the connections are left to others. */
    longAnswersMax: number;
  }>;

/**
 * The connections to one node. A request goes out on the one that was used last, so that the others grow old and are
 * closed; when none is free and there may be no more, it waits its turn. How many may wait is for whoever asks to say.
 * None is ever sent twice.
 */
export class ConnectionPool implements ConnectionHome, PostHolder {
  readonly limits: PoolLimits;
  readonly answers: ByteBudget;
  readonly pipelining: number;
  longUnderWay = 0;
  readonly #dialer: Dialer;
  readonly #connections: Connection[] = [];
  /** Those with nothing under way; the one that was used last is the last. */
  readonly #idle: Connection[] = [];
  /** Those with requests that have not left; the last of them may take more before it is flushed. */
  readonly #unflushed: Connection[] = [];
  readonly #waiting = new PostQueue();
  readonly #sweeper = new Sweeper((now) => this.#sweep(now));
  #connecting = 0;
  #isClosed = false;

  /**
   * @param limits - read at each use: they may change while requests are under way.
   * @param answers - what answers are gathered in.
   * @param pipelining - requests that may be under way on one connection.
   */
  constructor(dialer: Dialer, limits: PoolLimits, answers: ByteBudget, pipelining = 1) {
    this.#dialer = dialer;
    this.limits = limits;
    this.answers = answers;
    this.pipelining = pipelining;
  }

  get hasLongPlace(): boolean {
    const { longAnswersMax, connectionsMax } = this.limits;
    return this.longUnderWay < Math.min(longAnswersMax, Math.floor(connectionsMax / 2));
  }

  get hasRoom(): boolean {
    return this.#waiting.first === null && !this.#isFull;
  }

  /**
   * Sends one request.
   * @param deadline - when it is given up, as `performance.now()`; up to 20 ms later, never earlier.
   * @param now - what that clock showed in this turn of the event loop.
   */
  post(bytes: Buffer, deadline: number, question: Question, now = performance.now()): Posted {
    const post = new Post(bytes, deadline, question, this);
    if (this.#isClosed) {
      post.settle(lost(false, new Error('the connections to the node are closed')));
      return post;
    }
    this.#sweeper.hurry();
    const connection = this.#waiting.first === null ? this.#connectionFor(post, now) : null;
    if (connection === null) this.#wait(post);
    else connection.send(post);
    return post;
  }

  /** Closes every connection at once; what is under way fails. */
  close(): void {
    this.#isClosed = true;
    this.#sweeper.stop();
    const cause = new Error('the connections to the node were closed');
    for (const connection of [...this.#connections]) connection.close(cause);
    this.#failWaiting(cause);
  }

  abandoned(post: Post): void {
    this.#waiting.remove(post);
    post.settle(abandoned(false));
  }

  opened(connection: Connection, now: number): void {
    this.#connecting--;
    this.freed(connection, now);
  }

  freed(connection: Connection, now: number): void {
    let next = this.#waiting.first;
    while (next !== null && connection.takes(next, now)) {
      this.#waiting.remove(next);
      connection.send(next);
      next = this.#waiting.first;
    }
    if (connection.inFlight === 0) this.#idle.push(connection);
  }

  mustFlush(connection: Connection): void {
    if (this.#unflushed.includes(connection)) return;
    if (this.#unflushed.length === 0) setImmediate(flushAll, this.#unflushed);
    this.#unflushed.push(connection);
  }

  closed(connection: Connection, wasOpen: boolean, cause: unknown): void {
    removeFrom(this.#connections, connection);
    removeFrom(this.#idle, connection);
    if (this.#isClosed) return;
    if (!wasOpen) {
      this.#connecting--;
      this.#notConnected(cause);
    }
    this.#connect();
  }

  #connectionFor(post: Post, now: number): Connection | null {
    const shares = this.pipelining > 1 && post.question.mayShare;
    const joined = shares ? this.#unflushed.at(-1) : undefined;
    if (joined !== undefined && joined.inFlight > 0 && joined.takes(post, now)) return joined;
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.takes(post, now)) return idle;
      idle.close(new Error('unused for too long'));
    }
    return shares && this.#isFull ? this.#leastBusyFor(post, now) : null;
  }

  #leastBusyFor(post: Post, now: number): Connection | null {
    let least: Connection | null = null;
    for (const connection of this.#connections) {
      if (connection.takes(post, now) && (least === null || connection.inFlight < least.inFlight))
        least = connection;
    }
    return least;
  }

  #wait(post: Post): void {
    this.#waiting.push(post);
    this.#connect();
  }

  /** Opens connections for those who wait, as many as there may be. */
  #connect(): void {
    while (this.#connecting < this.#waiting.length) {
      if (this.#isFull && !this.#makeRoom()) return;
      if (this.#isFull) continue;
      this.#connecting++;
      this.#connections.push(new Connection(this, this.#dialer, performance.now()));
    }
  }

  get #isFull(): boolean {
    return this.#connections.length >= this.limits.connectionsMax;
  }

  /** Gives up a connection whose answers nobody waits for. @returns whether there was one. */
  #makeRoom(): boolean {
    const lingering = this.#connections.find(({ isLingering }) => isLingering);
    lingering?.close(new Error('its place is needed'));
    return lingering !== undefined;
  }

  /**
   * A connection did not come about. While others stand one request fails with it, since they serve those who wait; else all
   * who wait hear of it, so that they may ask elsewhere.
   */
  #notConnected(cause: unknown): void {
    if (this.#connections.length === this.#connecting) this.#failWaiting(cause);
    else this.#waiting.shift()?.settle(lost(false, cause));
  }

  #failWaiting(cause: unknown): void {
    // Not those who begin to wait meanwhile.
    for (let left = this.#waiting.length; left > 0; left--) this.#waiting.shift()?.settle(lost(false, cause));
  }

  /** @returns whether anybody waits for anything; null when there is nothing left to look at. */
  #sweep(now: number): boolean | null {
    let post = this.#waiting.first;
    while (post !== null) {
      const { behind } = post;
      if (now >= post.deadline) {
        this.#waiting.remove(post);
        post.settle(late(false));
      }
      post = behind;
    }
    for (const connection of [...this.#connections]) connection.sweep(now);
    if (this.#connections.length === 0) return this.#waiting.first === null ? null : true;
    return this.#waiting.first !== null || this.#connections.length > this.#idle.length;
  }
}

function flushAll(connections: Connection[]): void {
  for (const connection of connections.splice(0)) connection.flush();
}

/** Looks from the end: what was used last stands there. */
function removeFrom(list: Connection[], connection: Connection): void {
  const at = list.lastIndexOf(connection);
  if (at >= 0) list.splice(at, 1);
}
