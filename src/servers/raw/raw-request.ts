import type { Asked } from '../../protocol/call.ts';
import type { Envelope, EnvelopeItem } from '../../protocol/envelope.ts';
import { endSingle, NULL_ID, pushFailure } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAnswer } from '../../protocol/long-answer.ts';
import type { Caller, Entered, LimitFacts, LongReplier, Outcome, Replier } from '../../protocol/serve.ts';
import type { AnswerRoom } from '../rpc/answer-room.ts';
import { type BatchReply, type EnvelopeCall, noLimits, pushOutcome, type Reply } from '../rpc/calls.ts';
import { statusOfSingle } from '../rpc/errors.ts';
import type { HeadBegin } from './answer-writer.ts';
import { ArrivingBody } from './arriving-body.ts';
import { CallerReader } from './caller-reader.ts';
import type { RawSocket } from './raw-socket.ts';
import type { RawSurroundings } from './raw-surroundings.ts';

/** Writes the answer to a request; once for each. */
export interface Answering {
  answer(
    begin: HeadBegin,
    limits: LimitFacts,
    retryAfter: number | undefined,
    pieces: readonly Buffer[],
  ): void;
  /** The same of a long result, which is written while it comes. @param id - of the request. */
  answerLong(begin: HeadBegin, limits: LimitFacts, answer: LongAnswer, id: Buffer): void;
}

/**
 * The request of a connection, from its head to what is answered. There is one for each connection, which is used again
 * for each request and hears itself what becomes of its call, so that nothing is made for one.
 */
export class RawRequest implements Replier, LongReplier {
  readonly #door: RawSurroundings;
  readonly #answering: Answering;
  readonly #callers: CallerReader;
  readonly #body: ArrivingBody;
  #caller: Caller | null = null;
  /** Only within the turn in which its head was read. */
  #entered: Entered | null = null;
  #id: Buffer = NULL_ID;
  #isCounted = false;
  #isAsked = false;
  #asked: Asked | null = null;
  /** What its answer holds until it has left. */
  #room: AnswerRoom | null = null;

  constructor(door: RawSurroundings, { socket }: RawSocket, answering: Answering) {
    this.#door = door;
    this.#answering = answering;
    this.#callers = new CallerReader(socket, door.calls.options.proxies, door.credentials);
    this.#body = new ArrivingBody(door.calls.budget);
  }

  /** Bytes of its body that are still to come. */
  get missing(): number {
    return this.#body.missing;
  }

  /** Whether its answer is waited for. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Begins with the head that was read last. */
  begin(): void {
    this.#isCounted = true;
    this.#door.begun();
    this.#body.begin(this.#door.head.contentLength);
  }

  /** Why it gets no further than its head, which stands in these bytes; null when its body is wanted. */
  refusalOf(bytes: Buffer): Failure | null {
    const { behind, calls, head, options, types } = this.#door;
    if (behind.inFlight > options.requestsInFlightMax) return new Failure('OVERLOADED');
    this.#caller = this.#callers.read(head, bytes);
    const { isThere, start, end } = head.contentType;
    const entered = calls.enter(isThere ? types.of(bytes, start, end) : undefined, this.#caller);
    if (entered instanceof Failure) return entered;
    this.#entered = entered;
    return null;
  }

  /**
   * Takes what there is of its body, and goes on its way when that is all. To be called in the turn of its head, even if
   * nothing is there yet.
   * @returns how far that goes.
   */
  take(bytes: Buffer, at: number, end: number): number {
    const entered = this.#entered;
    this.#entered = null;
    const stop = Math.min(end, at + this.#body.missing);
    if (stop === at && this.#body.missing > 0) return at;
    let body: Buffer | null = null;
    try {
      body = this.#body.take(bytes, at, stop);
      if (body !== null) this.#ask(this.#door.calls.decode(body), this.#caller as Caller, entered);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      this.#refuseBody(thrown, body?.length ?? 0, this.#caller as Caller, entered);
    }
    return stop;
  }

  /** Refuses a body that holds no calls; it is counted as one. */
  #refuseBody(fault: Failure, bytes: number, caller: Caller, entered: Entered | null): void {
    const outcome = this.#door.calls.countNonCall(fault, bytes, NULL_ID, caller, entered);
    this.refuse(outcome.failure ?? fault, outcome);
  }

  /** Throws away what there is of the body of a request that was refused. @returns how far that goes. */
  discard(at: number, end: number): number {
    return this.#body.discard(at, end);
  }

  #ask(envelope: Envelope, caller: Caller, entered: Entered | null): void {
    this.#isAsked = true;
    const item = envelope.items[0] as EnvelopeItem;
    if (envelope.batch) this.#askAll(envelope, caller);
    else if (item.kind === 'call') this.#askOne(item, caller, entered);
    else this.#reply(this.#door.calls.replyAlone(item, caller, entered));
  }

  #askOne(call: EnvelopeCall, caller: Caller, entered: Entered | null): void {
    this.#id = call.id;
    const asked = this.#door.calls.put(call, caller, this, entered);
    // It may have been answered before there was anything to leave, or have begun to be.
    if (this.#isAsked) this.#asked ??= asked;
  }

  replied(outcome: Outcome): void {
    if (!this.#isAsked) return;
    const room = this.#door.calls.roomFor(outcome);
    if (room instanceof Failure) {
      this.#replyWith({ ...outcome, answer: null, failure: room });
      return;
    }
    this.#room = room;
    this.#replyWith(outcome);
  }

  #replyWith(outcome: Outcome): void {
    const { failure } = outcome;
    const pieces = this.#door.pieces();
    pushOutcome(pieces, outcome, this.#id);
    this.#answer(this.#door.writer.beginOf(statusOfSingle(failure)), outcome, failure, endSingle(pieces));
  }

  get long(): LongReplier {
    return this;
  }

  repliedLong(answer: LongAnswer, limits: LimitFacts): void {
    if (!this.#isAsked) {
      answer.leave();
      return;
    }
    this.#asked = answer;
    this.#answering.answerLong(this.#door.writer.beginOf(statusOfSingle(null)), limits, answer, this.#id);
  }

  #askAll(envelope: Envelope, caller: Caller): void {
    const leaving = new AbortController();
    this.#asked = { leave: () => leaving.abort() };
    this.#door.calls
      .answerBatch(envelope, caller, leaving.signal)
      .then((reply) => this.#replyAll(reply))
      .catch((thrown: unknown) => this.fail(thrown));
  }

  #replyAll(reply: BatchReply): void {
    if (this.#isAsked) {
      this.#room = reply.room;
      this.#reply(reply);
    } else {
      reply.room.giveBack();
    }
  }

  #reply({ pieces, ending, limits }: Reply): void {
    if (!this.#isAsked) return;
    this.#answer(this.#door.writer.beginOf(statusOfSingle(ending)), limits, ending, pieces);
  }

  /** Answers the request as a whole. */
  refuse(failure: Failure, limits: LimitFacts = noLimits): void {
    const pieces = this.#door.pieces();
    pushFailure(pieces, failure, NULL_ID);
    this.#answer(this.#door.writer.beginOfRefusal(failure), limits, failure, endSingle(pieces));
  }

  /** Our own fault, of which the client learns no more than that. */
  fail(thrown: unknown): void {
    this.#door.log.error({ err: thrown }, 'a request went wrong');
    if (this.#isCounted) this.refuse(new Failure('INTERNAL'));
  }

  #answer(begin: HeadBegin, limits: LimitFacts, failure: Failure | null, pieces: readonly Buffer[]): void {
    this.#isAsked = false;
    this.#asked = null;
    this.#answering.answer(begin, limits, failure?.retryAfter, pieces);
  }

  /** Nobody waits for its answer any more. */
  leave(): void {
    const asked = this.#asked;
    this.#isAsked = false;
    this.#asked = null;
    asked?.leave();
  }

  /** It has ended: gives back what it took. */
  settle(): void {
    this.#isAsked = false;
    this.#asked = null;
    this.#caller = null;
    this.#id = NULL_ID;
    this.#body.giveBack();
    this.#room?.giveBack();
    this.#room = null;
    if (this.#isCounted) this.#door.ended();
    this.#isCounted = false;
  }
}
