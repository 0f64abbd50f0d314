import type { Socket } from 'node:net';
import { LENT_FROM_BYTES, lentPieces } from '../../http1/lent-pieces.ts';
import type { BodyFlow, BodySink } from '../exchange.ts';
import type { Post } from './post.ts';
import type { ResponseReader } from './response-reader.ts';

/** Bytes of a body of known length before it is offered piece by piece: enough to see what it begins with. */
const OFFERED_FROM_BYTES = 256;

export type LongLimits = Readonly<{
  /** Answers from here on are passed on while they come, to those who take them so. */
  longAnswerFromBytes: number;
  /** How long such an answer may stand still, because of the node or of whoever gets it. */
  longAnswerStallMs: number;
}>;

/** What all connections to a node share. */
export interface HandoverHome {
  readonly limits: LongLimits;
  /** Long answers that are being passed on, on all of them. */
  longUnderWay: number;
  /** Whether another may be. */
  readonly hasLongPlace: boolean;
}

/** The connection that bodies come over. */
export interface HandoverOwner {
  readonly isOpen: boolean;
  close(cause: unknown): void;
}

/** Gathers the bodies that come over one connection, or hands long ones over while they come to whoever takes them so. */
export class Handover implements BodyFlow {
  readonly #owner: HandoverOwner;
  readonly #home: HandoverHome;
  readonly #reader: ResponseReader;
  readonly #socket: Socket;
  /** Whose body is handed over, and who gets it. */
  #post: Post | null = null;
  #sink: BodySink | null = null;
  #isPaused = false;
  /** Where the next of it is read into. */
  #room: Buffer | null = null;

  constructor(owner: HandoverOwner, home: HandoverHome, reader: ResponseReader, socket: Socket) {
    this.#owner = owner;
    this.#home = home;
    this.#reader = reader;
    this.#socket = socket;
  }

  /** A body is being handed over. */
  get isUnderWay(): boolean {
    return this.#sink !== null;
  }

  /**
   * Where more of a body that is handed over is to be read into, so that it need not be copied; null when hardly anything
   * of it is left, or nobody knows.
   */
  get room(): Buffer | null {
    if (this.#sink === null || this.#reader.plainLeft < LENT_FROM_BYTES) return null;
    this.#room ??= lentPieces.room();
    return this.#room;
  }

  /** From how many bytes on the body may be handed over. */
  fromBytes({ question, isSettled }: Post): number {
    const mayBe = question.takesLong && !isSettled && this.#home.hasLongPlace;
    return mayBe ? this.#home.limits.longAnswerFromBytes : Number.POSITIVE_INFINITY;
  }

  /** Takes what has come of a body that goes on. */
  take(post: Post): void {
    if (this.#sink !== null) this.#give(post, this.#sink);
    else if (this.#isLong(post)) this.#offer(post);
    else this.#reader.body.keep();
  }

  /** It ends: nothing more is handed over. @returns who has to hear of it; null when it was not handed over. */
  end(): BodySink | null {
    const sink = this.#sink;
    if (sink === null) return null;
    this.#sink = null;
    this.#post = null;
    // Not given back: the connection may be read into it still.
    this.#room = null;
    this.#home.longUnderWay--;
    this.resume();
    return sink;
  }

  pause(): void {
    // Whoever gets the last of a body may still say so: what is held up then is the next answer.
    if (this.#post === null || this.#isPaused || !this.#owner.isOpen) return;
    this.#isPaused = true;
    this.#socket.pause();
    this.#restartStall();
  }

  resume(): void {
    if (!this.#isPaused || !this.#owner.isOpen) return;
    this.#isPaused = false;
    this.#restartStall();
    this.#socket.resume();
  }

  stop(): void {
    const post = this.#post;
    this.end();
    if (post !== null) post.isSettled = true;
    this.#owner.close(new Error('no longer wanted'));
  }

  #isLong({ isOffered }: Post): boolean {
    const { body, contentLength, isInBody, longFromBytes, status } = this.#reader;
    if (isOffered || !isInBody || status !== 200) return false;
    return contentLength < 0
      ? body.bytes >= longFromBytes
      : contentLength >= longFromBytes && body.bytes >= OFFERED_FROM_BYTES;
  }

  #offer(post: Post): void {
    const { body, contentLength } = this.#reader;
    post.isOffered = true;
    this.#post = post;
    this.pause();
    const sink = post.question.began(body.piece(true), contentLength < 0 ? null : contentLength, this);
    if (!this.#owner.isOpen) return;
    if (sink === null) {
      this.#post = null;
      body.keep();
      this.resume();
      return;
    }
    body.clear();
    this.#sink = sink;
    this.#home.longUnderWay++;
    this.#restartStall();
  }

  #give(post: Post, sink: BodySink): void {
    const { body } = this.#reader;
    if (body.bytes === 0) return;
    post.deadline = performance.now() + this.#home.limits.longAnswerStallMs;
    const piece = body.piece(true);
    // It is whoever's gets it.
    if (this.#room !== null && piece.buffer === this.#room.buffer) this.#room = null;
    body.clear();
    sink.piece(piece);
  }

  #restartStall(): void {
    if (this.#post === null || this.#sink === null) return;
    this.#post.deadline = performance.now() + this.#home.limits.longAnswerStallMs;
  }
}
