import type { ServerResponse } from 'node:http';
import { ByteBudget } from '../../base/cache/byte-budget.ts';
import { mapConcurrent } from '../../base/concurrency/map-concurrent.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Network, PendingCall, RpcResponse } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Envelope, EnvelopeItem } from '../../protocol/request-envelope.ts';
import {
  type AdmittedRequest,
  type Caller,
  type InvalidRequestOutcome,
  type LimitStatus,
  type Outcome,
  outcomeOf,
  type RequestHandler,
  type Responder,
} from '../../protocol/request-handler.ts';
import {
  endSingle,
  joinBatch,
  NULL_ID,
  pushFailure,
  pushResponse,
} from '../../protocol/response-envelope.ts';
import { networkRejection } from '../caller.ts';
import type { ResponseCompression } from '../compression.ts';
import { isJsonType } from '../http/decode.ts';
import { type RpcServerOptions, rpcServerOptions } from './options.ts';

/** `pieces` is empty if there is no response. */
export type Reply = { pieces: Buffer[]; ending: Ending; limits: LimitStatus };

export type BatchReply = Reply & { reservation: ResponseMemoryReservation };

export type EnvelopeCall = Extract<EnvelopeItem, { kind: 'call' }>;

type UndispatchedItem = Exclude<EnvelopeItem, EnvelopeCall>;

const JSON_TYPE = 'application/json';

export const noLimits: LimitStatus = { rateLimit: null };

/** JSON-RPC calls over HTTP, shared by the fast path and node:http. */
export class RpcCalls {
  readonly options: RpcServerOptions;
  readonly bodyBudget: ByteBudget;
  readonly responseBudget: ByteBudget;
  readonly compression: ResponseCompression;
  readonly #handler: RequestHandler;

  constructor(handler: RequestHandler, options: Partial<RpcServerOptions> = {}) {
    this.options = withDefaults(rpcServerOptions, options);
    this.bodyBudget = new ByteBudget(() => this.options.bodiesMaxBytes);
    this.responseBudget = new ByteBudget(() => this.options.responsesMaxBytes);
    this.compression = this.options.compression;
    this.#handler = handler;
  }

  /** Checks a request before its body is read. @returns a Failure if the request must be rejected. */
  admit(contentType: string | undefined, caller: Caller): AdmittedRequest | Failure {
    if (contentType !== JSON_TYPE && !isJsonType(contentType)) return new Failure('UNSUPPORTED_MEDIA_TYPE');
    const { network } = caller;
    if (network == null) return this.#handler.admit(caller, 'rpc', this.options.network);
    const rejection = networkRejection(network, this.options.served());
    if (rejection === null) return this.#handler.admit(caller, 'rpc', network as Network);
    // Meters the request. An invalid key is reported before an invalid network.
    const { credential, client, traceparent } = caller;
    const from = { credential, client, traceparent, product: 'rpc', network: null } as const;
    const invalid = { ...from, fault: rejection, bytesIn: 0, idBytes: null };
    return this.#handler.recordInvalidRequest(invalid).failure ?? rejection;
  }

  /** `admit` has checked the network; if the network has lost its nodes since, the pool rejects the call. */
  #networkOf({ network }: Caller): Network {
    return (network ?? this.options.network) as Network;
  }

  /** @param admitted - result of `admit` from the same synchronous run; null: the caller is authenticated again. */
  dispatch(
    call: EnvelopeCall,
    caller: Caller,
    responder: Responder,
    admitted: AdmittedRequest | null = null,
  ): PendingCall {
    const { id, method, params, bytes: bytesIn } = call;
    const { credential, client, traceparent, session } = caller;
    const network = (caller.network ?? this.options.network) as Network;
    const idBytes = id.length;
    return this.#handler.dispatch(
      // biome-ignore format: one object, not one line per member
      { credential, client, traceparent, session, product: 'rpc', network, method, params, bytesIn, idBytes },
      responder,
      admitted,
    );
  }

  /** @param fault - null for a valid request, such as a notification. @param id - response id; null: no response. */
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

  replyToSingle(item: UndispatchedItem, caller: Caller, admitted: AdmittedRequest | null = null): Reply {
    // Every HTTP request needs a response; for a rejected notification, it contains the reason.
    const reply = this.#replyImmediately(item, item.kind === 'fault' ? item.id : NULL_ID, caller, admitted);
    if (reply.pieces.length > 0) endSingle(reply.pieces);
    return reply;
  }

  /**
   * Reserves memory until the response is sent. Responses up to JOIN_MAX_BYTES need no reservation, because each
   * connection writes at most one of them at a time, together with its head.
   */
  reserve(response: RpcResponse): ResponseMemoryReservation | Failure {
    const reservation = new ResponseMemoryReservation(this.responseBudget, Number.POSITIVE_INFINITY);
    return reservation.reserve(response.body.length) ?? reservation;
  }

  async handleBatch({ items, bytes }: Envelope, caller: Caller, signal: AbortSignal): Promise<BatchReply> {
    const reservation = new ResponseMemoryReservation(
      this.responseBudget,
      this.options.batchResponsesMaxBytes,
    );
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
      const rejection = reservation.rejection();
      pushFailure(pieces, rejection, item.id);
      return { pieces, ending: rejection, limits: noLimits };
    }
    const outcome = await outcomeOf((responder) => this.dispatch(item, caller, responder), signal);
    const rejection = outcome.response === null ? null : reservation.reserve(outcome.response.body.length);
    if (rejection === null) pushOutcome(pieces, outcome, item.id);
    else pushFailure(pieces, rejection, item.id);
    return { pieces, ending: rejection ?? outcome.failure, limits: outcome };
  }

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
}

export function pushOutcome(pieces: Buffer[], { response, failure }: Outcome, id: Buffer): void {
  if (failure === null) pushResponse(pieces, response, id);
  else pushFailure(pieces, failure, id);
}

/** Joins replies into one batch reply. If all replies are empty, it is the failure that all of them share, if any. */
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

export type Ending = Failure | null;

export const statusOfSingle = (ending: Ending): number => ending?.row.http ?? 200;

/** Returns the failure that all calls share, such as 401 or 429, to set the HTTP status; null: the status is 200. */
export function sharedFailure(endings: readonly Ending[]): Failure | null {
  const first = endings[0];
  if (first === undefined || first === null || first.row.http === 200) return null;
  return endings.every((ending) => ending?.code === first.code) ? first : null;
}

/** Memory for the responses to one request, reserved from the shared budget until they are sent. */
export class ResponseMemoryReservation {
  readonly #budget: ByteBudget;
  readonly #responsesMaxBytes: number;
  #reservedBytes = 0;
  /** Whether the limit of this request was exceeded, which makes further calls pointless. */
  isFull = false;

  constructor(budget: ByteBudget, responsesMaxBytes: number) {
    this.#budget = budget;
    this.#responsesMaxBytes = responsesMaxBytes;
  }

  reserve(bytes: number): Failure | null {
    if (this.#reservedBytes + bytes > this.#responsesMaxBytes) {
      this.isFull = true;
      return this.rejection();
    }
    if (!this.#budget.tryReserve(bytes)) return new Failure('OVERLOADED');
    this.#reservedBytes += bytes;
    return null;
  }

  rejection(): Failure {
    return new Failure('BATCH_ANSWER_TOO_LARGE', { facts: { answersMaxBytes: this.#responsesMaxBytes } });
  }

  releaseAfter(response: ServerResponse): void {
    if (response.destroyed || response.socket?.destroyed === true) this.release();
    else response.once('close', () => this.release());
  }

  release(): void {
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }
}
