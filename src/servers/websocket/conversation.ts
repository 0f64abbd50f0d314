import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { mapConcurrent } from '../../base/concurrency/map-concurrent.ts';
import { Failure } from '../../protocol/errors.ts';
import { invalidSubscriptionId, parseRawUnsubscribe } from '../../protocol/pubsub/parse-subscription.ts';
import type { Envelope, EnvelopeItem, EnvelopeLimits } from '../../protocol/request-envelope.ts';
import { NULL_ID, pushFailure, pushResponse } from '../../protocol/response-envelope.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Notification, NotificationFrame } from '../../streams/notification.ts';
import type { OpenSubscription, Session, Subscriber } from '../../streams/session.ts';
import { textFrame } from '../../streams/text-frame.ts';
import { ResponseMemoryReservation } from '../rpc/calls.ts';
import { type CallConcurrencyLimit, CallQueue, type CallQueueOptions } from './call-queue.ts';
import { type ClientCall, decodeMessage, subscriptionMethodOf } from './decode.ts';
import { batchFrame, errorBody } from './encode.ts';

export interface Peer {
  /** False as soon as the connection is closing. */
  readonly isOpen: boolean;
  /** Whether the send queue is full; if so, no further calls are dispatched. */
  readonly isFull: boolean;
  send(frame: Buffer): void;
  /** Sends a response, whose size does not count as lag. */
  sendResponse(frame: Buffer): void;
  sendNotification(frame: NotificationFrame): void;
  end(failure: Failure): void;
  onMessageSettled(): void;
  /** Logs an unexpected exception and closes with INTERNAL. */
  onError(thrown: unknown): void;
}

export type ConversationOptions = CallQueueOptions &
  Readonly<{
    batchConcurrency: number;
    responseBudget: ByteBudget;
    /** Maximum memory for the unsent responses of one batch; further calls get BATCH_ANSWER_TOO_LARGE. */
    batchResponsesMaxBytes: number;
    envelope: EnvelopeLimits;
  }>;

/** Reply to one call; `pieces` is empty if no response is sent. */
type Reply = Readonly<{
  pieces: Buffer[];
  isCallResponse: boolean;
  /** Subscription to start after the response is sent. */
  opened: OpenSubscription | null;
}>;

const TRUE = Buffer.from('true');
/** Best-effort delay before notifications: @solana/kit loses those that it reads together with the acknowledgment. */
const ACKNOWLEDGMENT_LEAD_MS = 5;

/** JSON-RPC over one connection. Sends one response message per request message, in the order in which calls finish. */
export class Conversation {
  readonly #session: Session;
  readonly #peer: Peer;
  readonly #options: ConversationOptions;
  readonly #callLimit: CallConcurrencyLimit;
  readonly #subscriptions: ClientSubscriptions;
  #answering = 0;
  // Created with the first call, because most connections only subscribe.
  #queue: CallQueue | null = null;
  #controller: AbortController | null = null;
  /** Timers of acknowledged subscriptions that have not started yet. */
  #starting: Set<NodeJS.Timeout> | null = null;
  #isClosed = false;

  constructor(session: Session, peer: Peer, options: ConversationOptions, callLimit: CallConcurrencyLimit) {
    this.#session = session;
    this.#peer = peer;
    this.#options = options;
    this.#callLimit = callLimit;
    this.#subscriptions = new ClientSubscriptions(peer);
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  get hasPendingMessages(): boolean {
    return this.#answering > 0;
  }

  receive(message: Buffer): number {
    const { envelope, failure } = decodeMessage(message, this.#options.envelope);
    if (envelope === null || envelope.items.length === 0) {
      const rejection = this.#session.recordInvalidRequest(failure, message.length, NULL_ID.length);
      if (rejection !== null) this.#peer.send(textFrame(failureReply(rejection, NULL_ID).pieces));
      return 1;
    }
    this.#answering += 1;
    this.#handle(envelope)
      .catch((thrown: unknown) => this.#peer.onError(thrown))
      .finally(() => {
        this.#answering -= 1;
        this.#peer.onMessageSettled();
      });
    return envelope.items.length;
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#starting ?? []) clearTimeout(timer);
    this.#starting = null;
    this.#controller?.abort();
    this.#queue?.close();
    this.#subscriptions.clear();
    this.#session.end();
  }

  #handle({ batch, items }: Envelope): Promise<void> {
    return batch ? this.#handleBatch(items) : this.#handleSingle(items[0] as EnvelopeItem);
  }

  async #handleSingle(item: EnvelopeItem): Promise<void> {
    const reply = await this.#reply(item);
    if (reply.pieces.length > 0) this.#send(textFrame(reply.pieces), reply.isCallResponse);
    this.#start(reply);
  }

  async #handleBatch(items: readonly EnvelopeItem[]): Promise<void> {
    const { responseBudget: budget, batchResponsesMaxBytes, batchConcurrency } = this.#options;
    const reservation = new ResponseMemoryReservation(budget, batchResponsesMaxBytes);
    try {
      this.#sendBatch(await mapConcurrent(items, batchConcurrency, (item) => this.#reply(item, reservation)));
    } finally {
      reservation.release();
    }
  }

  #sendBatch(replies: readonly Reply[]): void {
    const responses = replies.map(({ pieces }) => pieces).filter(({ length }) => length > 0);
    const isCallResponse = replies.some((reply) => reply.isCallResponse);
    if (responses.length > 0) this.#send(batchFrame(responses), isCallResponse);
    for (const reply of replies) this.#start(reply);
  }

  #start({ opened }: Reply): void {
    if (opened === null || this.#isClosed) return;
    this.#starting ??= new Set();
    const timer = setTimeout(() => {
      this.#starting?.delete(timer);
      opened.start();
    }, ACKNOWLEDGMENT_LEAD_MS);
    this.#starting.add(timer);
  }

  #send(frame: Buffer, isCallResponse: boolean): void {
    if (isCallResponse) this.#peer.sendResponse(frame);
    else this.#peer.send(frame);
  }

  async #reply(item: EnvelopeItem, reservation: ResponseMemoryReservation | null = null): Promise<Reply> {
    if (!this.#peer.isOpen) return noReply;
    if (item.kind !== 'call') return this.#replyToInvalid(item);
    const method = subscriptionMethodOf(item);
    if (method?.action === 'unsubscribe') return this.#unsubscribe(item, method.kind);
    // Subscriptions are not queued: the plan limits them, and after a reconnect a client opens all of them at once.
    if (method !== undefined) return this.#subscribe(item, method.kind);
    return this.#call(item, reservation);
  }

  /** Notifications never get a response, not even when a limit is exceeded. */
  #replyToInvalid(item: Exclude<EnvelopeItem, ClientCall>): Reply {
    const [fault, id] = item.kind === 'fault' ? [new Failure(item.code), item.id] : [null, null];
    const failure = this.#session.recordInvalidRequest(fault, item.bytes, id?.length ?? null);
    return id !== null && failure !== null ? failureReply(failure, id) : noReply;
  }

  async #call(call: ClientCall, reservation: ResponseMemoryReservation | null): Promise<Reply> {
    if (reservation?.isFull === true) return failureReply(reservation.rejection(), call.id);
    if (this.#peer.isFull) return failureReply(new Failure('OVERLOADED'), call.id);
    this.#queue ??= new CallQueue(this.#options);
    const queue = this.#queue;
    const acquired = queue.acquire(call.bytes);
    // Await only if needed, so that a call is dispatched before the next message is read.
    const isAdmitted = typeof acquired === 'boolean' ? acquired : await acquired;
    if (!isAdmitted) return failureReply(new Failure('OVERLOADED'), call.id);
    try {
      return await this.#dispatch(call, reservation);
    } finally {
      queue.release();
    }
  }

  async #dispatch(call: ClientCall, reservation: ResponseMemoryReservation | null): Promise<Reply> {
    const { method, params, id, bytes } = call;
    if (!this.#callLimit.tryAcquire()) return failureReply(new Failure('OVERLOADED'), id);
    this.#controller ??= new AbortController();
    const { response, failure } = await this.#session
      .call(method, params, bytes, id.length, this.#controller.signal)
      .finally(() => this.#callLimit.release());
    if (failure !== null) return failureReply(failure, id);
    const overflow = reservation?.reserve(response.body.length) ?? null;
    if (overflow !== null) return failureReply(overflow, id);
    const pieces: Buffer[] = [];
    pushResponse(pieces, response, id);
    return { pieces, isCallResponse: true, opened: null };
  }

  async #subscribe({ method, params, id, bytes }: ClientCall, kind: SubscriptionKind): Promise<Reply> {
    const subscription = this.#subscriptions.create(kind);
    const outcome = await this.#session.subscribe(method, params, bytes, subscription);
    if (outcome.opened === null) return failureReply(outcome.error, id);
    const { opened } = outcome;
    if (!this.#peer.isOpen) {
      opened.close();
      return noReply;
    }
    const result = Buffer.from(`${this.#subscriptions.add(subscription, opened)}`);
    return { pieces: resultPieces(result, id), isCallResponse: false, opened };
  }

  #unsubscribe({ params, id }: ClientCall, kind: SubscriptionKind): Reply {
    try {
      const subscriptionId = parseRawUnsubscribe(params);
      if (!this.#subscriptions.end(subscriptionId, kind)) throw invalidSubscriptionId();
      return { pieces: resultPieces(TRUE, id), isCallResponse: false, opened: null };
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      return failureReply(thrown, id);
    }
  }
}

const noReply: Reply = { pieces: [], isCallResponse: false, opened: null };

function resultPieces(body: Buffer, id: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  pushResponse(pieces, { body, errorCode: 0 }, id);
  return pieces;
}

function failureReply(why: Failure | RpcError, id: Buffer): Reply {
  const pieces: Buffer[] = [];
  if (why instanceof Failure) pushFailure(pieces, why, id);
  else pushResponse(pieces, { body: errorBody(why), errorCode: why.code }, id);
  return { pieces, isCallResponse: false, opened: null };
}

/** Subscriptions of one connection. Ids count from 1 and are not reused. */
export class ClientSubscriptions {
  readonly #peer: Peer;
  readonly #open = new Map<number, ClientSubscription>();
  #lastId = 0;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  get size(): number {
    return this.#open.size;
  }

  create(kind: SubscriptionKind): ClientSubscription {
    return new ClientSubscription(kind, this.#peer, this);
  }

  add(subscription: ClientSubscription, opened: OpenSubscription): number {
    this.#lastId += 1;
    subscription.opened = opened;
    subscription.id = this.#lastId;
    this.#open.set(this.#lastId, subscription);
    return this.#lastId;
  }

  /** @returns false if no subscription has this id and kind. */
  end(id: bigint, kind: SubscriptionKind): boolean {
    const subscription = this.#open.get(Number(id));
    if (subscription?.kind !== kind) return false;
    this.remove(subscription.id);
    subscription.opened?.close();
    return true;
  }

  remove(id: number): void {
    this.#open.delete(id);
  }

  clear(): void {
    this.#open.clear();
  }
}

export class ClientSubscription implements Subscriber {
  readonly kind: SubscriptionKind;
  id = 0;
  opened: OpenSubscription | null = null;
  readonly #peer: Peer;
  readonly #all: ClientSubscriptions;

  constructor(kind: SubscriptionKind, peer: Peer, all: ClientSubscriptions) {
    this.kind = kind;
    this.#peer = peer;
    this.#all = all;
  }

  onNotification(notification: Notification, isLast: boolean): void {
    if (isLast) this.#all.remove(this.id);
    this.#peer.sendNotification(notification.frame(this.id));
  }

  /** The protocol has no message for a lost subscription, so the connection is closed. */
  onError(failure: Failure): void {
    this.#peer.end(failure);
  }
}
