import { ByteBudget } from '../../base/byte-budget.ts';
import { inOrder } from '../../base/in-order.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Asked } from '../../protocol/call.ts';
import { decodeEnvelope, type Envelope, type EnvelopeItem } from '../../protocol/envelope.ts';
import { endSingle, joinBatch, pushAnswer, pushFailure } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Caller, Door, Entered, LimitFacts, Outcome, Replier, Request } from '../../protocol/serve.ts';
import { isJsonType } from '../request-body.ts';
import { type Ending, sharedFailure } from './errors.ts';
import { type RpcServerOptions, rpcServerOptions } from './options.ts';

/** What a body, or one call of it, led to. No pieces: it has no answer. */
export type Reply = { pieces: Buffer[]; ending: Ending; limits: LimitFacts };

/** A member of a body that makes the journey. */
export type EnvelopeCall = Extract<EnvelopeItem, { kind: 'call' }>;

export const noLimits: LimitFacts = { rateLimit: null };

/** JSON-RPC calls over HTTP, whatever door they come through: what is looked at, in which order, and what is answered. */
export class RpcCalls {
  readonly options: RpcServerOptions;
  /** Bodies that are held. */
  readonly budget: ByteBudget;
  readonly #door: Door;

  constructor(door: Door, options: Partial<RpcServerOptions> = {}) {
    this.options = withDefaults(rpcServerOptions, options);
    this.budget = new ByteBudget(() => this.options.bodiesMaxBytes);
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

  /** The answer to a body, all of its calls together. */
  async answer({ batch, items }: Envelope, caller: Caller, signal: AbortSignal): Promise<Reply> {
    const reply = (item: EnvelopeItem): Promise<Reply> => this.#reply(item, caller, signal);
    if (batch) return joinReplies(await inOrder(items, this.options.batchConcurrency, reply));
    const single = await reply(items[0] as EnvelopeItem);
    if (single.pieces.length > 0) endSingle(single.pieces);
    return single;
  }

  /** One call makes the journey; what cannot is answered here. */
  async #reply(item: EnvelopeItem, caller: Caller, signal: AbortSignal): Promise<Reply> {
    if (item.kind !== 'call') return replyAtOnce(item);
    const outcome = await this.#door.serve(this.#requestOf(item, caller), signal);
    const pieces: Buffer[] = [];
    pushOutcome(pieces, outcome, item.id);
    return { pieces, ending: outcome.failure, limits: outcome };
  }

  #requestOf({ method, params, bytes: bytesIn }: EnvelopeCall, caller: Caller): Request {
    const { credential, client, traceparent, session } = caller;
    const { network } = this.options;
    return { credential, client, traceparent, session, product: 'rpc', network, method, params, bytesIn };
  }
}

/** The answer to a member of a body that does not make the journey; in a body of its own it is still to be ended. */
export function replyAtOnce(item: Exclude<EnvelopeItem, EnvelopeCall>): Reply {
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
