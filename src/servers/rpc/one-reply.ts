import type { ServerResponse } from 'node:http';
import { endSingle } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAnswer } from '../../protocol/long-answer.ts';
import type { LimitFacts, LongReplier, Outcome, Replier } from '../../protocol/serve.ts';
import { pushOutcome, type RpcCalls } from './calls.ts';
import { answerHeaders, send } from './encode.ts';
import { statusOfSingle } from './errors.ts';
import { LongReply } from './long-reply.ts';

/** The answer of node:http to one call that makes the journey. */
export class OneReply implements Replier, LongReplier {
  readonly #calls: RpcCalls;
  readonly #response: ServerResponse;
  readonly #id: Buffer;

  /** @param id - of the caller's request. */
  constructor(calls: RpcCalls, response: ServerResponse, id: Buffer) {
    this.#calls = calls;
    this.#response = response;
    this.#id = id;
  }

  get long(): LongReplier {
    return this;
  }

  replied(outcome: Outcome): void {
    if (this.#response.destroyed) return;
    const room = this.#calls.roomFor(outcome);
    if (room instanceof Failure) {
      this.#send({ ...outcome, answer: null, failure: room });
      return;
    }
    room?.giveBackAfter(this.#response);
    this.#send(outcome);
  }

  #send(outcome: Outcome): void {
    const { failure } = outcome;
    const pieces: Buffer[] = [];
    pushOutcome(pieces, outcome, this.#id);
    const headers = answerHeaders(outcome, failure?.retryAfter);
    send(this.#response, statusOfSingle(failure), headers, endSingle(pieces));
  }

  repliedLong(answer: LongAnswer, limits: LimitFacts): void {
    if (this.#response.destroyed) answer.leave();
    else new LongReply(answer, this.#response, this.#id).begin(answerHeaders(limits, undefined));
  }
}
