import { parseJson, type WritableJson } from '../../base/json.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { type SubscriptionKind, subscriptions } from '../../protocol/subscriptions.ts';
import { nextRequestId, requestBody } from '../request-body.ts';
import { type NodeMessage, type NodeSubscriptionId, subscriptionId } from './pubsub-message.ts';

/** Whoever hears what a node tells of one subscription. */
export interface NodeSubscriptionListener {
  /** @param result - raw `params.result`, a view of what was received. */
  onNotification(result: Buffer): void;
  /** The connection is gone: nothing more comes of this subscription. */
  onLost(): void;
}

/** What a node is asked to tell. Equal requests on one connection share one stream, as nodes have it. */
export type NodeSubscriptionRequest = Readonly<{ kind: SubscriptionKind; params: Buffer }>;

/** What came of a request to subscribe. */
export type SubscribeResponse = Readonly<
  | { kind: 'opened'; close: () => void }
  /** The node's own words. */
  | { kind: 'refused'; error: RpcError }
  /** No acknowledgement in time, or one that must not be shown. */
  | { kind: 'unanswered' }
  /** The connection is gone. */
  | { kind: 'gone' }
>;

type Entry = {
  readonly key: string;
  readonly request: NodeSubscriptionRequest;
  readonly listeners: Set<NodeSubscriptionListener>;
  /** Asked for and not yet acknowledged. */
  readonly waiting: ((response: SubscribeResponse) => void)[];
  id: NodeSubscriptionId | null;
  timer: NodeJS.Timeout | null;
};

export type NodeSubscriptionsOptions = Readonly<{
  send: (request: Buffer) => void;
  ackTimeoutMs: number;
  /** Whether the bytes name the node or a key of its. */
  isRevealing: (bytes: Buffer) => boolean;
  /** Whether a node in its senses may tell this now; a notification of which it may not is dropped. */
  isCredible: (kind: SubscriptionKind, result: Buffer) => boolean;
  /** The node gave one id to two streams, which cannot be told apart any more. */
  onDuplicateId: () => void;
}>;

/** Requests without an acknowledgement in time that are remembered. */
const OVERDUE_MAX = 1_000;

function rpcError(body: Buffer): RpcError {
  const { code, message, data } = parseJson(body.toString('utf8')) as Record<string, WritableJson>;
  return new RpcError(Number(code), typeof message === 'string' ? message : '', data);
}

/** The subscriptions of one connection: asked for, acknowledged by the request's id, routed by the node's id. */
export class NodeSubscriptions {
  readonly #options: NodeSubscriptionsOptions;
  readonly #byKey = new Map<string, Entry>();
  readonly #byRequest = new Map<number, Entry>();
  /** Requests whose acknowledgement may still come, and is then given back. */
  readonly #overdue: number[] = [];
  readonly #byId = new Map<NodeSubscriptionId, Entry>();

  constructor(options: NodeSubscriptionsOptions) {
    this.#options = options;
  }

  /** Streams that are open or asked for. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Asks for a subscription, or joins an equal one. The sink may hear before the promise is kept. */
  subscribe(
    request: NodeSubscriptionRequest,
    listener: NodeSubscriptionListener,
  ): Promise<SubscribeResponse> {
    const key = `${request.kind} ${request.params.toString('latin1')}`;
    const entry = this.#byKey.get(key) ?? this.#sendSubscribe(key, request);
    entry.listeners.add(listener);
    return new Promise((resolve) => {
      const settle = (response: SubscribeResponse): void => {
        if (response.kind === 'opened')
          resolve({ kind: 'opened', close: () => this.#unsubscribe(entry, listener) });
        else resolve(response);
      };
      if (entry.id === null) entry.waiting.push(settle);
      else settle({ kind: 'opened', close: () => {} });
    });
  }

  /** Takes one message of the node. */
  handle(message: NodeMessage): void {
    if (message.kind === 'answer') {
      this.#handleResponse(message);
      return;
    }
    const entry = this.#byId.get(message.id);
    // Told of an id that was given back: the node had sent it before it read that.
    if (entry === undefined || !this.#options.isCredible(entry.request.kind, message.result)) return;
    for (const listener of entry.listeners) listener.onNotification(message.result);
  }

  /** The node ended a subscription by itself, as with a signature: its id is nobody's any more. */
  endedByNode(request: NodeSubscriptionRequest): void {
    const entry = this.#byKey.get(`${request.kind} ${request.params.toString('latin1')}`);
    if (entry !== undefined) this.#remove(entry);
  }

  /** The connection is gone: everybody is told, once. */
  closeAll(): void {
    const entries = [...this.#byKey.values()];
    this.#byKey.clear();
    this.#byRequest.clear();
    this.#byId.clear();
    for (const entry of entries) {
      this.#settle(entry, { kind: 'gone' });
      const listeners = [...entry.listeners];
      entry.listeners.clear();
      for (const listener of listeners) listener.onLost();
    }
  }

  #sendSubscribe(key: string, request: NodeSubscriptionRequest): Entry {
    const id = nextRequestId();
    const entry: Entry = { key, request, listeners: new Set(), waiting: [], id: null, timer: null };
    this.#byKey.set(key, entry);
    this.#byRequest.set(id, entry);
    entry.timer = setTimeout(() => this.#handleTimeout(id, entry), this.#options.ackTimeoutMs);
    this.#options.send(requestBody(id, subscriptions[request.kind].subscribe, request.params));
    return entry;
  }

  #handleResponse({ id, body, errorCode }: Extract<NodeMessage, { kind: 'answer' }>): void {
    const entry = this.#byRequest.get(id);
    if (entry === undefined) return;
    this.#byRequest.delete(id);
    if (errorCode !== 0) this.#handleError(entry, body);
    else this.#handleAck(entry, subscriptionId(body));
  }

  #handleAck(entry: Entry, id: NodeSubscriptionId): void {
    const current = this.#byId.get(id);
    const isAwaited = entry.listeners.size > 0;
    if (current !== undefined && (isAwaited || current.key !== entry.key)) this.#options.onDuplicateId();
    else if (!isAwaited) this.#unsubscribeLate(entry, id);
    else {
      entry.id = id;
      this.#byId.set(id, entry);
      this.#settle(entry, { kind: 'opened', close: () => {} });
    }
  }

  /** It came too late. Nodes such as Agave give equal streams one id: then it ends with the one asked for since. */
  #unsubscribeLate({ key, request }: Entry, id: NodeSubscriptionId): void {
    if (!this.#byKey.has(key)) this.#sendUnsubscribe(request.kind, id);
  }

  #handleError(entry: Entry, body: Buffer): void {
    this.#remove(entry);
    entry.listeners.clear();
    const isRevealing = this.#options.isRevealing(body);
    this.#settle(entry, isRevealing ? { kind: 'unanswered' } : { kind: 'refused', error: rpcError(body) });
  }

  #handleTimeout(id: number, entry: Entry): void {
    this.#overdue.push(id);
    if (this.#overdue.length > OVERDUE_MAX) this.#byRequest.delete(this.#overdue.shift()!);
    this.#remove(entry);
    entry.listeners.clear();
    this.#settle(entry, { kind: 'unanswered' });
  }

  #settle(entry: Entry, response: SubscribeResponse): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    for (const settle of entry.waiting.splice(0)) settle(response);
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
