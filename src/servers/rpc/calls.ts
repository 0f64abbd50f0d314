import { ByteBudget } from '../../base/cache/byte-budget.ts';
import { mapConcurrent } from '../../base/concurrency/map-concurrent.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Network, PendingCall } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { decodeEnvelope, type Envelope, type EnvelopeItem } from '../../protocol/request-envelope.ts';
import {
  type AdmittedRequest,
  type Caller,
  type InvalidRequestOutcome,
  type LimitStatus,
  type Outcome,
  outcomeOf,
  type RequestHandler,
  type Responder,
  type RpcRequest,
} from '../../protocol/request-handler.ts';
import {
  endSingle,
  joinBatch,
  NULL_ID,
  pushFailure,
  pushResponse,
} from '../../protocol/response-envelope.ts';
import { isJsonType } from '../http/request-body.ts';
import { networkRefusal } from '../network-parameter.ts';
import { JOIN_MAX_BYTES } from './encode.ts';
import { type Ending, sharedFailure } from './errors.ts';
import { type RpcServerOptions, rpcServerOptions } from './options.ts';
import { ResponseMemoryReservation } from './response-memory.ts';

/** What a body, or one call of it, led to. No pieces: it has no answer. */
export type Reply = { pieces: Buffer[]; ending: Ending; limits: LimitStatus };

/** What a batch led to. Whoever writes it gives the room back when it has left, or when nobody wants it. */
export type BatchReply = Reply & { reservation: ResponseMemoryReservation };

/** A member of a body that makes the journey. */
export type EnvelopeCall = Extract<EnvelopeItem, { kind: 'call' }>;

/** One that does not. */
type UndispatchedItem = Exclude<EnvelopeItem, EnvelopeCall>;

export const noLimits: LimitStatus = { rateLimit: null };

/** JSON-RPC calls over HTTP, whatever door they come through: what is looked at, in which order, and what is answered. */
export class RpcCalls {
  readonly options: RpcServerOptions;
  /** Bodies that are held. */
  readonly bodyBudget: ByteBudget;
  /** Answers that wait until their callers have taken them. */
  readonly responseBudget: ByteBudget;
  readonly #handler: RequestHandler;

  constructor(handler: RequestHandler, options: Partial<RpcServerOptions> = {}) {
    this.options = withDefaults(rpcServerOptions, options);
    this.bodyBudget = new ByteBudget(() => this.options.bodiesMaxBytes);
    this.responseBudget = new ByteBudget(() => this.options.answersMaxBytes);
    this.#handler = handler;
  }

  /** Checks the head of a request. A Failure refuses it before its body is read. */
  admit(contentType: string | undefined, caller: Caller): AdmittedRequest | Failure {
    if (!isJsonType(contentType)) return new Failure('UNSUPPORTED_MEDIA_TYPE');
    const refusal = networkRefusal(caller.network, this.options.served());
    if (refusal === null) return this.#handler.admit(caller, 'rpc', this.#networkOf(caller));
    // An invalid key is reported before an invalid network.
    const admitted = this.#handler.admit(caller, 'rpc', null);
    return admitted instanceof Failure ? admitted : refusal;
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
  dispatch(
    call: EnvelopeCall,
    caller: Caller,
    responder: Responder,
    admitted: AdmittedRequest | null = null,
  ): PendingCall {
    return this.#handler.dispatch(this.#requestOf(call, caller), responder, admitted);
  }

  /**
   * Takes what is no call from its caller's limits as one, and meters it.
   * @param fault - why it is none; null where nothing is wrong with it.
   * @param id - under which it is told what is wrong; null: it is told nothing.
   * @param entered - as of `put`.
   */
  recordInvalidRequest(
    fault: Failure | null,
    bytesIn: number,
    id: Buffer | null,
    caller: Caller,
    admitted: AdmittedRequest | null = null,
  ): InvalidRequestOutcome {
    const { credential, client, traceparent } = caller;
    const network = this.#networkOf(caller);
    const from = { credential, client, traceparent, product: 'rpc', network } as const;
    return this.#handler.recordInvalidRequest(
      { ...from, fault, bytesIn, idBytes: id?.length ?? null },
      admitted,
    );
  }

  /** The answer to a body of one that does not make the journey. @param entered - as of `put`. */
  replyToSingle(item: UndispatchedItem, caller: Caller, admitted: AdmittedRequest | null = null): Reply {
    // HTTP answers whatever is sent: where a notification has no answer, its body still says why it was not let in.
    const reply = this.#replyImmediately(item, item.kind === 'fault' ? item.id : NULL_ID, caller, admitted);
    if (reply.pieces.length > 0) endSingle(reply.pieces);
    return reply;
  }

  /**
   * Room for the answer to one call, to be given back when it has left. A small one is not counted: it leaves with the
   * head in one piece, and there is one for each connection.
   * @returns a Failure: there is none; null: it needs none.
   */
  reserveFor({ response }: Outcome): ResponseMemoryReservation | Failure | null {
    if (response === null || response.body.length <= JOIN_MAX_BYTES) return null;
    const reservation = new ResponseMemoryReservation(this.responseBudget, Number.POSITIVE_INFINITY);
    return reservation.reserve(response.body.length) ?? reservation;
  }

  /** The answer to a batch, all of its calls together. */
  async handleBatch({ items, bytes }: Envelope, caller: Caller, signal: AbortSignal): Promise<BatchReply> {
    const reservation = new ResponseMemoryReservation(this.responseBudget, this.options.batchAnswersMaxBytes);
    if (items.length === 0)
      return { ...this.replyToSingle({ kind: 'notification', bytes }, caller), reservation };
    const reply = (item: EnvelopeItem): Promise<Reply> => this.#replyTo(item, caller, signal, reservation);
    try {
      return {
        ...joinReplies(await mapConcurrent(items, this.options.batchConcurrency, reply)),
        reservation,
      };
    } catch (thrown) {
      reservation.release();
      throw thrown;
    }
  }

  /** One call makes the journey; what cannot is answered here, and so is what has no room beside those before it. */
  async #replyTo(
    item: EnvelopeItem,
    caller: Caller,
    signal: AbortSignal,
    reservation: ResponseMemoryReservation,
  ): Promise<Reply> {
    if (item.kind !== 'call')
      return this.#replyImmediately(item, item.kind === 'fault' ? item.id : null, caller);
    const pieces: Buffer[] = [];
    if (reservation.isFull) {
      const refusal = reservation.refusal();
      pushFailure(pieces, refusal, item.id);
      return { pieces, ending: refusal, limits: noLimits };
    }
    const outcome = await outcomeOf((responder) => this.dispatch(item, caller, responder), signal);
    const refusal = outcome.response === null ? null : reservation.reserve(outcome.response.body.length);
    if (refusal === null) pushOutcome(pieces, outcome, item.id);
    else pushFailure(pieces, refusal, item.id);
    return { pieces, ending: refusal ?? outcome.failure, limits: outcome };
  }

  /** What does not make the journey is counted, and told what is wrong with it. @param id - as of `countNonCall`. */
  #replyImmediately(
    item: UndispatchedItem,
    id: Buffer | null,
    caller: Caller,
    admitted: AdmittedRequest | null = null,
  ): Reply {
    const fault = item.kind === 'fault' ? new Failure(item.code) : null;
    const limits = this.recordInvalidRequest(fault, item.bytes, id, caller, admitted);
    const { failure } = limits;
    const pieces: Buffer[] = [];
    if (id !== null && failure !== null) pushFailure(pieces, failure, id);
    return { pieces, ending: failure, limits };
  }

  #requestOf({ id, method, params, bytes: bytesIn }: EnvelopeCall, caller: Caller): RpcRequest {
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
export function pushOutcome(pieces: Buffer[], { response, failure }: Outcome, id: Buffer): void {
  if (failure === null) pushResponse(pieces, response, id);
  else pushFailure(pieces, failure, id);
}

/** Where no member has an answer the body still says why none of them was let in. */
function joinReplies(replies: readonly Reply[]): Reply {
  const nonEmpty = replies.filter(({ pieces }) => pieces.length > 0);
  const { limits } = replies.findLast((reply) => reply.limits !== noLimits) ?? { limits: noLimits };
  if (nonEmpty.length > 0) {
    return {
      pieces: joinBatch(nonEmpty.map(({ pieces }) => pieces)),
      ending: sharedEnding(nonEmpty),
      limits,
    };
  }
  const [pieces, ending] = [[] as Buffer[], sharedEnding(replies)];
  if (ending !== null) pushFailure(pieces, ending, NULL_ID);
  return { pieces: ending === null ? pieces : endSingle(pieces), ending, limits };
}

const sharedEnding = (replies: readonly Reply[]): Ending =>
  sharedFailure(replies.map(({ ending }) => ending));
