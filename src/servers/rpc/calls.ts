import { ByteBudget } from '../../base/byte-budget.ts';
import { inOrder } from '../../base/in-order.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Asked, Network } from '../../protocol/call.ts';
import { decodeEnvelope, type Envelope, type EnvelopeItem } from '../../protocol/envelope.ts';
import { endSingle, joinBatch, NULL_ID, pushAnswer, pushFailure } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type {
  Caller,
  Door,
  Entered,
  LimitFacts,
  NonCallOutcome,
  Outcome,
  Replier,
  Request,
} from '../../protocol/serve.ts';
import { networkRefusal } from '../network-parameter.ts';
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

/** One that does not. */
type NoJourney = Exclude<EnvelopeItem, EnvelopeCall>;

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
    return this.#networkRefusal(caller) ?? this.#door.admit(caller, 'rpc', this.#networkOf(caller));
  }

  /** The same of a request whose body is there already. */
  enter(contentType: string | undefined, caller: Caller): Entered | Failure {
    if (!isJsonType(contentType)) return new Failure('UNSUPPORTED_MEDIA_TYPE');
    return this.#networkRefusal(caller) ?? this.#door.enter(caller, 'rpc', this.#networkOf(caller));
  }

  /** Whoever has no good key hears of that first. */
  #networkRefusal(caller: Caller): Failure | null {
    const refusal = networkRefusal(caller.network, this.options.served());
    return refusal === null ? null : (this.#door.admit(caller, 'rpc', null) ?? refusal);
  }

  /** The name was checked with the head; a network that lost its nodes since then is refused by the pool. */
  #networkOf({ network }: Caller): Network {
    return (network ?? this.options.network) as Network;
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
   * Takes what is no call from its caller's limits as one, and meters it.
   * @param fault - why it is none; null where nothing is wrong with it.
   * @param id - under which it is told what is wrong; null: it is told nothing.
   * @param entered - as of `put`.
   */
  countNonCall(
    fault: Failure | null,
    bytesIn: number,
    id: Buffer | null,
    caller: Caller,
    entered: Entered | null = null,
  ): NonCallOutcome {
    const { credential, client, traceparent } = caller;
    const network = this.#networkOf(caller);
    const from = { credential, client, traceparent, product: 'rpc', network } as const;
    return this.#door.countNonCall({ ...from, fault, bytesIn, idBytes: id?.length ?? null }, entered);
  }

  /** The answer to a body of one that does not make the journey. @param entered - as of `put`. */
  replyAlone(item: NoJourney, caller: Caller, entered: Entered | null = null): Reply {
    // HTTP answers whatever is sent: where a notification has no answer, its body still says why it was not let in.
    const reply = this.#replyAtOnce(item, item.kind === 'fault' ? item.id : NULL_ID, caller, entered);
    if (reply.pieces.length > 0) endSingle(reply.pieces);
    return reply;
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
  async answerBatch({ items, bytes }: Envelope, caller: Caller, signal: AbortSignal): Promise<BatchReply> {
    const room = new AnswerRoom(this.answers, this.options.batchAnswersMaxBytes);
    if (items.length === 0) return { ...this.replyAlone({ kind: 'notification', bytes }, caller), room };
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
    if (item.kind !== 'call') return this.#replyAtOnce(item, item.kind === 'fault' ? item.id : null, caller);
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

  /** What does not make the journey is counted, and told what is wrong with it. @param id - as of `countNonCall`. */
  #replyAtOnce(item: NoJourney, id: Buffer | null, caller: Caller, entered: Entered | null = null): Reply {
    const fault = item.kind === 'fault' ? new Failure(item.code) : null;
    const limits = this.countNonCall(fault, item.bytes, id, caller, entered);
    const { failure } = limits;
    const pieces: Buffer[] = [];
    if (id !== null && failure !== null) pushFailure(pieces, failure, id);
    return { pieces, ending: failure, limits };
  }

  #requestOf({ id, method, params, bytes: bytesIn }: EnvelopeCall, caller: Caller): Request {
    const { credential, client, traceparent, session } = caller;
    const network = this.#networkOf(caller);
    const idBytes = id.length;
    return {
      credential,
      client,
      traceparent,
      session,
      product: 'rpc',
      network,
      method,
      params,
      bytesIn,
      idBytes,
    };
  }
}

/** Adds the answer to a call that made the journey. */
export function pushOutcome(pieces: Buffer[], { answer, failure }: Outcome, id: Buffer): void {
  if (failure === null) pushAnswer(pieces, answer, id);
  else pushFailure(pieces, failure, id);
}

/** Where no member has an answer the body still says why none of them was let in. */
function joinReplies(replies: readonly Reply[]): Reply {
  const answered = replies.filter(({ pieces }) => pieces.length > 0);
  const { limits } = replies.findLast((reply) => reply.limits !== noLimits) ?? { limits: noLimits };
  if (answered.length > 0) {
    return {
      pieces: joinBatch(answered.map(({ pieces }) => pieces)),
      ending: sharedEnding(answered),
      limits,
    };
  }
  const [pieces, ending] = [[] as Buffer[], sharedEnding(replies)];
  if (ending !== null) pushFailure(pieces, ending, NULL_ID);
  return { pieces: ending === null ? pieces : endSingle(pieces), ending, limits };
}

const sharedEnding = (replies: readonly Reply[]): Ending =>
  sharedFailure(replies.map(({ ending }) => ending));
