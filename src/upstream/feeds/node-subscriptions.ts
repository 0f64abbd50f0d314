import { parseJson, type WritableJson } from '../../base/json.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { type SubscriptionKind, subscriptions } from '../../protocol/subscriptions.ts';
import { nextRequestId, requestBody } from '../request-body.ts';
import { type NodeMessage, type NodeSubscriptionId, subscriptionId } from './pubsub-message.ts';

export interface NodeSubscriptionListener {
  /** @param result - raw `params.result`, a view of the received bytes. */
  onNotification(result: Buffer): void;
  onLost(): void;
}

/** Identical requests on one connection share one subscription, as on the node. */
export type NodeSubscriptionRequest = Readonly<{ kind: SubscriptionKind; params: Buffer }>;

export type SubscribeResponse = Readonly<
  | { kind: 'opened'; close: () => void }
  | { kind: 'rejected'; error: RpcError }
  /** No response before the timeout, or a rejection that contains a secret. */
  | { kind: 'timeout' }
  | { kind: 'closed' }
>;

type SubscribeFailure = Exclude<SubscribeResponse, { kind: 'opened' }>;

type Entry = {
  readonly key: string;
  readonly request: NodeSubscriptionRequest;
  readonly listeners: Set<NodeSubscriptionListener>;
  /** Resolves to null once the node acknowledges the subscription, otherwise to the failure. */
  readonly response: PromiseWithResolvers<SubscribeFailure | null>;
  id: NodeSubscriptionId | null;
  timer: NodeJS.Timeout | null;
};

type NodeSubscriptionsOptions = Readonly<{
  send: (request: Buffer) => void;
  ackTimeoutMs: number;
  /** Whether the bytes contain the node's host or a credential. */
  containsSecret: (bytes: Buffer) => boolean;
  isCredible: (kind: SubscriptionKind, result: Buffer) => boolean;
  onDuplicateId: () => void;
}>;

/** Number of timed-out requests to remember, so that a subscription that is acknowledged late can be ended. */
const OVERDUE_MAX = 1_000;

const keyOf = ({ kind, params }: NodeSubscriptionRequest): string => `${kind} ${params.toString('latin1')}`;

function rpcError(body: Buffer): RpcError {
  const { code, message, data } = parseJson(body.toString('utf8')) as Record<string, WritableJson>;
  return new RpcError(Number(code), typeof message === 'string' ? message : '', data);
}

/** The subscriptions of one connection. Matches responses by request id and notifications by subscription id. */
export class NodeSubscriptions {
  readonly #options: NodeSubscriptionsOptions;
  readonly #byKey = new Map<string, Entry>();
  readonly #byRequest = new Map<number, Entry>();
  readonly #overdue: number[] = [];
  readonly #byId = new Map<NodeSubscriptionId, Entry>();

  constructor(options: NodeSubscriptionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Joins an identical subscription if there is one. The listener may be notified before the promise resolves. */
  async subscribe(
    request: NodeSubscriptionRequest,
    listener: NodeSubscriptionListener,
  ): Promise<SubscribeResponse> {
    const key = keyOf(request);
    const entry = this.#byKey.get(key) ?? this.#sendSubscribe(key, request);
    entry.listeners.add(listener);
    const failure = await entry.response.promise;
    return failure ?? { kind: 'opened', close: () => this.#unsubscribe(entry, listener) };
  }

  handle(message: NodeMessage): void {
    if (message.kind === 'response') {
      this.#handleResponse(message);
      return;
    }
    const entry = this.#byId.get(message.id);
    // If there is no entry, the node sent the notification before it read our unsubscribe request.
    if (entry === undefined || !this.#options.isCredible(entry.request.kind, message.result)) return;
    for (const listener of entry.listeners) listener.onNotification(message.result);
  }

  /** Call when the node has ended a subscription itself, as it does for `signature`. The node may reuse the id. */
  endedByNode(request: NodeSubscriptionRequest): void {
    const entry = this.#byKey.get(keyOf(request));
    if (entry !== undefined) this.#remove(entry);
  }

  closeAll(): void {
    const entries = [...this.#byKey.values()];
    this.#byKey.clear();
    this.#byRequest.clear();
    this.#byId.clear();
    for (const entry of entries) {
      this.#settle(entry, { kind: 'closed' });
      const listeners = [...entry.listeners];
      entry.listeners.clear();
      for (const listener of listeners) listener.onLost();
    }
  }

  #sendSubscribe(key: string, request: NodeSubscriptionRequest): Entry {
    const id = nextRequestId();
    const response: Entry['response'] = Promise.withResolvers();
    const entry: Entry = { key, request, listeners: new Set(), response, id: null, timer: null };
    this.#byKey.set(key, entry);
    this.#byRequest.set(id, entry);
    entry.timer = setTimeout(() => {
      this.#overdue.push(id);
      if (this.#overdue.length > OVERDUE_MAX) this.#byRequest.delete(this.#overdue.shift()!);
      this.#remove(entry);
      entry.listeners.clear();
      this.#settle(entry, { kind: 'timeout' });
    }, this.#options.ackTimeoutMs);
    this.#options.send(requestBody(id, subscriptions[request.kind].subscribe, request.params));
    return entry;
  }

  #handleResponse({ id, body, errorCode }: Extract<NodeMessage, { kind: 'response' }>): void {
    const entry = this.#byRequest.get(id);
    if (entry === undefined) return;
    this.#byRequest.delete(id);
    if (errorCode !== 0) {
      this.#remove(entry);
      entry.listeners.clear();
      const isRevealing = this.#options.containsSecret(body);
      this.#settle(entry, isRevealing ? { kind: 'timeout' } : { kind: 'rejected', error: rpcError(body) });
    } else this.#handleAck(entry, subscriptionId(body));
  }

  #handleAck(entry: Entry, id: NodeSubscriptionId): void {
    const current = this.#byId.get(id);
    const isAwaited = entry.listeners.size > 0;
    if (current !== undefined && (isAwaited || current.key !== entry.key)) this.#options.onDuplicateId();
    else if (!isAwaited) {
      // Agave gives identical subscriptions the same id, so the id may belong to a newer subscription.
      const { key, request } = entry;
      if (!this.#byKey.has(key)) this.#sendUnsubscribe(request.kind, id);
    } else {
      entry.id = id;
      this.#byId.set(id, entry);
      this.#settle(entry, null);
    }
  }

  #settle({ timer, response }: Entry, failure: SubscribeFailure | null): void {
    if (timer !== null) clearTimeout(timer);
    response.resolve(failure);
  }

  #unsubscribe(entry: Entry, listener: NodeSubscriptionListener): void {
    if (!entry.listeners.delete(listener) || entry.listeners.size > 0 || this.#byKey.get(entry.key) !== entry)
      return;
    this.#remove(entry);
    if (entry.id !== null) this.#sendUnsubscribe(entry.request.kind, entry.id);
  }

  #remove(entry: Entry): void {
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key);
    if (entry.id !== null && this.#byId.get(entry.id) === entry) this.#byId.delete(entry.id);
  }

  #sendUnsubscribe(kind: SubscriptionKind, id: NodeSubscriptionId): void {
    const params = Buffer.from(`[${id}]`);
    this.#options.send(requestBody(nextRequestId(), subscriptions[kind].unsubscribe, params));
  }
}
