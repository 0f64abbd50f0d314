import { ByteBudget } from '../../base/byte-budget.ts';
import { inOrder } from '../../base/in-order.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Asked } from '../../protocol/call.ts';
import { decodeEnvelope, type Envelope, type EnvelopeItem } from '../../protocol/envelope.ts';
import { endSingle, joinBatch, pushAnswer, pushFailure } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Caller, Door, Entered, LimitFacts, Outcome, Replier, Request } from '../../protocol/serve.ts';
import { isJsonType } from '../request-body.ts';
import { AnswerRoom } from './answer-room.ts';
import { JOIN_MAX_BYTES } from './encode.ts';
import { type Ending, sharedFailure } from './errors.ts';
import { type RpcServerOptions, rpcServerOptions } from './options.ts';

/** What a body, or one call of it, led to. No pieces: it has no answer. */
export type Reply = { pieces: Buffer[]; ending: Ending; limits: LimitFacts };

/** What a batch led to. Whoever writes it gives the room back when it has left, or when nobody wants it. */
export type BatchReply = Reply & { room: AnswerRoom };

/** A member of a body that makes the journey. */
export type EnvelopeCall = Extract<EnvelopeItem, { kind: 'call' }>;

export const noLimits: LimitFacts = { rateLimit: null };

/** JSON-RPC calls over HTTP, whatever door they come through: what is looked at, in which order, and what is answered. */
export class RpcCalls {
  readonly options: RpcServerOptions;
  /** Bodies that are held. */
  readonly budget: ByteBudget;
  /** Answers that wait until their callers have taken them. */
  readonly answers: ByteBudget;
  readonly #door: Door;

  constructor(door: Door, options: Partial<RpcServerOptions> = {}) {
    this.options = withDefaults(rpcServerOptions, options);
    this.budget = new ByteBudget(() => this.options.bodiesMaxBytes);
    this.answers = new ByteBudget(() => this.options.answersMaxBytes);
    this.#door = door;
  }

  /** Why a request gets no further than its head; null when its body may be read. */
  refusalOf(contentType: string | undefined, caller: Caller): Failure | null {
    if (!isJsonType(contentType)) return new Failure('UNSUPPORTED_MEDIA_TYPE');
    return this.#door.admit(caller, 'rpc', this.options.network);
  }

  /** The same of a request whose body is there already. */
  enter(contentType: string | undefined, caller: Caller): Entered | Failure {
    if (!isJsonType(contentType)) return new Failure('UNSUPPORTED_MEDIA_TYPE');
    return this.#door.enter(caller, 'rpc', this.options.network);
  }

  /** The calls of a body. @throws Failure as `decodeEnvelope`. */
  decode(body: Buffer): Envelope {
    return decodeEnvelope(body, this.options.envelope);
  }

  /** Sends one call on its journey. @param entered - what `enter` said in this turn; null: it was not asked in this one. */
  put(call: EnvelopeCall, caller: Caller, replier: Replier, entered: Entered | null = null): Asked {
    return this.#door.put(this.#requestOf(call, caller), replier, entered);
  }

  /**
   * Room for the answer to one call, to be given back when it has left. A small one is not counted: it leaves with the
   * head in one piece, and there is one for each connection.
   * @returns a Failure: there is none; null: it needs none.
   */
  roomFor({ answer }: Outcome): AnswerRoom | Failure | null {
    if (answer === null || answer.body.length <= JOIN_MAX_BYTES) return null;
    const room = new AnswerRoom(this.answers, Number.POSITIVE_INFINITY);
    return room.take(answer.body.length) ?? room;
  }

  /** The answer to a batch, all of its calls together. */
  async answerBatch({ items }: Envelope, caller: Caller, signal: AbortSignal): Promise<BatchReply> {
    const room = new AnswerRoom(this.answers, this.options.batchAnswersMaxBytes);
    const reply = (item: EnvelopeItem): Promise<Reply> => this.#reply(item, caller, signal, room);
    try {
      return { ...joinReplies(await inOrder(items, this.options.batchConcurrency, reply)), room };
    } catch (thrown) {
      room.giveBack();
      throw thrown;
    }
  }

  /** One call makes the journey; what cannot is answered here, and so is what has no room beside those before it. */
  async #reply(item: EnvelopeItem, caller: Caller, signal: AbortSignal, room: AnswerRoom): Promise<Reply> {
    if (item.kind !== 'call') return replyAtOnce(item);
    const pieces: Buffer[] = [];
    if (room.isFull) {
      const refusal = room.refusal();
      pushFailure(pieces, refusal, item.id);
      return { pieces, ending: refusal, limits: noLimits };
    }
    const outcome = await this.#door.serve(this.#requestOf(item, caller), signal);
    const refusal = outcome.answer === null ? null : room.take(outcome.answer.body.length);
    if (refusal === null) pushOutcome(pieces, outcome, item.id);
    else pushFailure(pieces, refusal, item.id);
    return { pieces, ending: refusal ?? outcome.failure, limits: outcome };
  }

  #requestOf({ method, params, bytes: bytesIn }: EnvelopeCall, caller: Caller): Request {
    const { credential, client, traceparent, session } = caller;
    const { network } = this.options;
    return { credential, client, traceparent, session, product: 'rpc', network, method, params, bytesIn };
  }
}

/** The answer to a body of one that does not make the journey. */
export function replyAlone(item: Exclude<EnvelopeItem, EnvelopeCall>): Reply {
  const reply = replyAtOnce(item);
  if (reply.pieces.length > 0) endSingle(reply.pieces);
  return reply;
}

/** The same in a batch: it is still to be ended. */
function replyAtOnce(item: Exclude<EnvelopeItem, EnvelopeCall>): Reply {
  const pieces: Buffer[] = [];
  if (item.kind === 'notification') return { pieces, ending: null, limits: noLimits };
  const failure = new Failure(item.code);
  pushFailure(pieces, failure, item.id);
  return { pieces, ending: failure, limits: noLimits };
}

/** Adds the answer to a call that made the journey. */
export function pushOutcome(pieces: Buffer[], { answer, failure }: Outcome, id: Buffer): void {
  if (failure === null) pushAnswer(pieces, answer, id);
  else pushFailure(pieces, failure, id);
}

function joinReplies(replies: readonly Reply[]): Reply {
  const answered = replies.filter(({ pieces }) => pieces.length > 0);
  const ending = sharedFailure(answered.map(({ ending }) => ending));
  const { limits } = replies.findLast((reply) => reply.limits !== noLimits) ?? { limits: noLimits };
  const pieces = answered.length === 0 ? [] : joinBatch(answered.map(({ pieces }) => pieces));
  return { pieces, ending, limits };
}
